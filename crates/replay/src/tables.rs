//! The witness, as C: tables that the runtime reads.

use crate::goal::{Claimed, Code, Goal, Test, code_at};
use crate::prepare::Prepared;
use leno_ir::interp::{Place, ViolationKind};
use leno_ir::program::{FuncId, LocalId, Op, Program, Reuse};
use leno_ir::witness::{Claim, Witness};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const SCHEDULE: &str = include_str!("runtime/schedule.c");
const SYNCHRONISE: &str = include_str!("runtime/synchronise.c");
const CONFINE: &str = include_str!("runtime/confine.c");
const LEAK: &str = include_str!("runtime/leak.c");
const REUSE: &str = include_str!("runtime/reuse.c");
/// What takes the place of the allocator if leaks are not looked for.
const REUSED: &str = "#define leno_allocate(...) LENO_ALLOCATE(__VA_ARGS__)\n#define free(object) LENO_FREE(object)\n";
const CLAIM: &str = include_str!("runtime/claim.c");

/// All that the emitted program needs besides itself.
pub(crate) fn runtime(
    program: &Program,
    places: &[Place],
    witness: &Witness,
    goal: &Goal,
    prepared: &Prepared,
    spurious_wakeups: bool,
) -> Result<String, String> {
    let names = names(witness, goal);
    let mut text = String::new();
    let _ = writeln!(text, "#define LENO_SPURIOUS {}", u8::from(spurious_wakeups));
    write_names(&names, &mut text)?;
    write_steps(places, witness, &names, &mut text)?;
    write_inputs(&names, prepared, &mut text);
    write_settled(prepared, &mut text);
    write_fresh(prepared, &names, &mut text);
    write_claim(goal, &names, &mut text);
    let after_scope = matches!(&witness.claim, Claim::Violation { kind: ViolationKind::UseAfterScope, .. });
    let _ = writeln!(text, "#define LENO_NOTES_ACCESSES {}", u8::from(goal.test == Test::Atomicity));
    let reads_ahead = goal.test == Test::Violation && goal.needs_address_sanitizer;
    let _ = writeln!(text, "#define LENO_READS_AHEAD {}", u8::from(reads_ahead));
    let _ = writeln!(text, "#define LENO_AFTER_SCOPE {}", u8::from(after_scope));
    write_sections(program, places, &mut text);
    let (reuse, leak) = match (program.reuse, goal.watches_leaks()) {
        (Reuse::Unnoticed, true) => ("", LEAK),
        (Reuse::Unnoticed, false) => ("", ""),
        (_, true) => (REUSE, LEAK),
        (_, false) => (REUSE, REUSED),
    };
    if !reuse.is_empty() {
        write_reuses(prepared, &mut text);
    }
    Ok([text.as_str(), SCHEDULE, SYNCHRONISE, CONFINE, CLAIM, reuse, leak].join("\n"))
}

type Names<'a> = BTreeMap<&'a str, usize>;

/// All threads that the witness speaks of, numbered.
fn names<'a>(witness: &'a Witness, goal: &'a Goal) -> Names<'a> {
    let mut names: BTreeSet<&str> = BTreeSet::from(["main"]);
    names.extend(witness.steps.iter().map(|step| step.thread.as_str()));
    names.extend(witness.inputs.keys().map(String::as_str));
    names.extend(goal.threads.iter().map(|claimed| claimed.thread.as_str()));
    names.into_iter().enumerate().map(|(number, name)| (name, number)).collect()
}

fn write_names(names: &Names<'_>, out: &mut String) -> Result<(), String> {
    let _ = writeln!(out, "#define LENO_NAMES {}u", names.len());
    out.push_str("static const char *const leno_names[] = {");
    for name in names.keys() {
        // `main.1.2`: nothing else is a name, and nothing else gets into the C text.
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
            return Err(format!("{name:?} is not the name of a thread"));
        }
        let _ = write!(out, "\"{name}\", ");
    }
    out.push_str("};\n");
    Ok(())
}

fn write_steps(places: &[Place], witness: &Witness, names: &Names<'_>, out: &mut String) -> Result<(), String> {
    let numbers: BTreeMap<Place, usize> = places.iter().enumerate().map(|(number, place)| (*place, number)).collect();
    let _ = writeln!(out, "#define LENO_STEPS {}u", witness.steps.len());
    out.push_str("static const struct { u32 thread, place; } leno_steps[] = {");
    for (index, step) in witness.steps.iter().enumerate() {
        let Some(number) = numbers.get(&step.place) else {
            return Err(format!("step {} is at a place that the program does not have", index + 1));
        };
        let thread = names.get(step.thread.as_str()).copied().unwrap_or(0);
        let separator = if index % 16 == 0 { "\n    " } else { " " };
        let _ = write!(out, "{separator}{{{thread}, {number}}},");
    }
    out.push_str("\n    {0, 0}};\n");
    Ok(())
}

fn write_inputs(names: &Names<'_>, prepared: &Prepared, out: &mut String) {
    out.push_str("struct leno_value { u64 low, high; };\n");
    for (name, number) in names {
        let values = prepared.inputs.get(*name).map_or(&[][..], Vec::as_slice);
        let _ = write!(out, "static const struct leno_value leno_values{number}[] = {{");
        for value in values {
            let _ = write!(out, "{{{:#x}ull, {:#x}ull}}, ", value.bits as u64, (value.bits >> 64) as u64);
        }
        out.push_str("{0, 0}};\n");
    }
    out.push_str("static const struct { const struct leno_value *values; u32 count; } leno_inputs[] = {");
    for (name, number) in names {
        let count = prepared.inputs.get(*name).map_or(0, Vec::len);
        let _ = write!(out, "{{leno_values{number}, {count}}}, ");
    }
    out.push_str("};\n");
}

fn write_settled(prepared: &Prepared, out: &mut String) {
    let bytes = |bits: u128| bits.to_le_bytes().map(|byte| byte.to_string()).join(",");
    let _ = writeln!(out, "#define LENO_SETTLED {}u", prepared.settled.len());
    out.push_str("static const struct { u32 step; u8 left_by_function, mask[16], bits[16]; } leno_settled[] = {\n");
    for settled in &prepared.settled {
        let (mask, bits, left) = (bytes(settled.mask), bytes(settled.bits), u8::from(settled.is_left_by_function));
        let _ = writeln!(out, "    {{{}, {left}, {{{mask}}}, {{{bits}}}}},", settled.step);
    }
    out.push_str("    {0, 0, {0}, {0}}};\n");
}

fn write_reuses(prepared: &Prepared, out: &mut String) {
    out.push_str("static const struct { u32 step, from; ptr room; } leno_reuses[] = {\n");
    for reuse in &prepared.reuses {
        let _ = writeln!(out, "    {{{}, {}, {}}},", reuse.step, reuse.from, reuse.room);
    }
    out.push_str("    {0, 0, 0}};\n");
}

/// The registers that do not begin as 0, each once.
pub(crate) fn fresh_registers(prepared: &Prepared) -> Vec<(FuncId, LocalId)> {
    let registers: BTreeSet<_> = prepared.fresh.iter().map(|fresh| fresh.register).collect();
    registers.into_iter().collect()
}

fn write_fresh(prepared: &Prepared, names: &Names<'_>, out: &mut String) {
    let registers = fresh_registers(prepared);
    let _ = writeln!(out, "#define LENO_FRESH_REGISTERS {}u", registers.len());
    let _ = writeln!(out, "#define LENO_FRESH {}u", prepared.fresh.len());
    out.push_str("static const struct { u32 thread, number, activation; u64 bits; } leno_fresh_values[] = {\n");
    for fresh in &prepared.fresh {
        let thread = names.get(fresh.thread.as_str()).copied().unwrap_or(0);
        let number = registers.binary_search(&fresh.register).unwrap_or(0);
        let _ = writeln!(out, "    {{{thread}, {number}, {}, {:#x}ull}},", fresh.activation, fresh.bits);
    }
    out.push_str("    {0, 0, 0, 0}};\n");
}

fn write_claim(goal: &Goal, names: &Names<'_>, out: &mut String) {
    let test = match goal.test {
        Test::Violation => "violation",
        Test::Race => "race",
        Test::Deadlock => "deadlock",
        Test::Atomicity => "atomicity",
        Test::Leak | Test::LostMemory => "leak",
    };
    let _ = writeln!(out, "#define LENO_CLAIM leno_claim_{test}");
    if let Test::Leak | Test::LostMemory = goal.test {
        let _ = writeln!(out, "static void leno_claim_leak(void);");
        let _ = writeln!(out, "#define LENO_LEAKS {}", u8::from(goal.test == Test::LostMemory));
    }
    let _ = writeln!(out, "#define LENO_CLAIMED {}u", goal.threads.len());
    for (index, Claimed { places, .. }) in goal.threads.iter().enumerate() {
        let _ = writeln!(out, "static const u32 leno_claimed_places{index}[] = {{{}0}};", listed(places));
    }
    out.push_str("struct leno_claimed { u32 thread; const u32 *places; u32 count; };\n");
    out.push_str("static const struct leno_claimed leno_claim[] = {");
    for (index, Claimed { thread, places }) in goal.threads.iter().enumerate() {
        let thread = names.get(thread.as_str()).copied().unwrap_or(0);
        let _ = write!(out, "{{{thread}, leno_claimed_places{index}, {}}}, ", places.len());
    }
    out.push_str("};\n");
}

/// The places where atomic sections begin.
fn write_sections(program: &Program, places: &[Place], out: &mut String) {
    let begins =
        |place: Place| matches!(code_at(program, place), Some(Code::Instr(instr)) if instr.op == Op::AtomicBegin);
    let numbers: Vec<usize> =
        places.iter().enumerate().filter(|(_, place)| begins(**place)).map(|(number, _)| number).collect();
    let _ = writeln!(out, "#define LENO_SECTIONS {}u", numbers.len());
    let _ = writeln!(out, "static const u32 leno_sections[] = {{{}0}};", listed(&numbers));
}

fn listed(numbers: &[usize]) -> String {
    numbers.iter().map(|number| format!("{number}, ")).collect()
}
