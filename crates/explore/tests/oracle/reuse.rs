//! Freed memory that is given out again: the reduced search against a search of all states.
//!
//! The threads of the generated programs allocate, free, keep and compare addresses. The reduced search offers an
//! allocation only freed objects that something still refers to, and takes frees and allocations for independent where
//! none is. The search of all states is made of the same program as if every freed object were remembered, so that it
//! uses none of this.

use super::{compiled, most, number, reduced, same};
use crate::states::{self, Fault};
use leno_engine::Properties;
use leno_ir::program::{Program, Reuse};
use std::fmt::Write;

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// One line of a thread, on its registers `a` and `b` and the shared cells `g` and `h`. `owned` says which of its registers
/// have objects of its own: now and then it frees what is not.
fn line(random: &mut Random, owned: &mut [bool; 2]) -> String {
    let number = random.below(2) as usize;
    let own = ["a", "b"][number];
    let cell = ["g", "h"][random.below(2) as usize];
    let choice = match random.below(9) {
        2 if !owned[number] && random.below(8) > 0 => 0,
        choice => choice,
    };
    owned[number] = match choice {
        0 | 1 => true,
        2 | 4 => false,
        _ => owned[number],
    };
    match choice {
        0 | 1 => format!("{own} = calloc(1, 4);"),
        2 | 3 if choice == 2 || owned[number] => {
            owned[number] = false;
            format!("free({own});")
        }
        4 => format!("{own} = __atomic_load_n(&{cell}, 5);"),
        3 | 5 => format!("__atomic_store_n(&{cell}, {own}, 5);"),
        6 => "if (a && a == b) reach_error();".to_string(),
        7 => format!("if ({own} && {own} == __atomic_load_n(&{cell}, 5)) reach_error();"),
        _ => {
            owned[0] = false;
            format!("if (a && __atomic_compare_exchange_n(&{cell}, &a, b, 0, 5, 5)) reach_error();")
        }
    }
}

fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = format!("{}void reach_error(void);\nint *g, *h;\n", super::DECLARATIONS);
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let _ = writeln!(text, "void *t{thread}(void *unused) {{\n    int *a = 0, *b = 0;");
        let mut owned = [false; 2];
        for _ in 0..3 + random.below(3) {
            let _ = writeln!(text, "    {}", line(&mut random, &mut owned));
        }
        text.push_str("    return 0;\n}\n");
    }
    text.push_str("int main(void) {\n    pthread_t t;\n    g = calloc(1, 4);\n");
    for thread in 0..threads {
        let _ = writeln!(text, "    pthread_create(&t, 0, t{thread}, 0);");
    }
    text.push_str("    return 0;\n}\n");
    text
}

#[test]
fn freed_memory_that_is_given_out_again() {
    let from = number("LENO_ORACLE_FROM", 0);
    let (mut compared, mut errors, mut noticed, mut faults, mut redundant) = (0, 0, 0, 0, 0);
    for seed in from..from + number("LENO_ORACLE", 100) {
        let text = program(seed);
        let program = compiled(&text);
        let remembering = Program { reuse: Reuse::ByNumber, ..program.clone() };
        let Some(truth) = states::search(&remembering, false, most() as usize) else { continue };
        let (explored, found) = reduced(&program, Properties::DEFAULT, false);
        if explored.incomplete.is_some() {
            continue;
        }
        if let Some(astray) = found.astray {
            panic!("seed {seed}: {astray}\n{text}");
        }
        let is_error = |fault: &Fault| matches!(fault, Fault::Violation(kind, _) if kind != "Assertion");
        if truth.faults.iter().any(is_error) {
            // The error is found without reuse; what happens after it, with reuse, is no longer of interest.
            assert!(found.faults.iter().any(is_error), "seed {seed}: no error is found\n{text}");
            errors += 1;
            continue;
        }
        if let Err((_, message)) = same("reuse", &truth, &found.faults) {
            panic!("seed {seed}: {message}\n{text}");
        }
        noticed += u64::from(program.reuse != Reuse::Unnoticed);
        redundant += explored.stats.redundant;
        compared += 1;
        faults += truth.faults.len();
    }
    println!(
        "{compared} programs compared ({errors} more have memory errors), {noticed} could notice, {faults} faults, {redundant} redundant executions"
    );
    assert!(compared > 0);
}
