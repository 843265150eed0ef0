//! How fast terms are built and blasted, and how arithmetic is solved, beside z3.
//!
//! `cargo bench -p leno-logic --bench terms -- [--no-z3]`

use leno_logic::blast::Blaster;
use leno_logic::core::{Answer, ClauseSink};
use leno_logic::limits::Limits;
use leno_logic::literal::{Lit, Var};
use leno_logic::smtlib::{External, ExternalError, Script, Verdict};
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Sort, Term, Terms};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Counts clauses, and forgets them.
#[derive(Default)]
struct Count {
    variables: u32,
    clauses: usize,
}

impl ClauseSink for Count {
    fn new_var(&mut self) -> Var {
        self.variables += 1;
        Var(self.variables)
    }

    fn add_clause(&mut self, _: &[Lit]) {
        self.clauses += 1;
    }
}

/// What symbolic execution of loops over arrays builds: guards, merged values, addresses, comparisons. Returns the
/// asserted terms, and how many operations were asked for.
fn program(terms: &mut Terms, steps: u32) -> (Vec<Term>, usize) {
    let (base, size) = (terms.variable(Sort::Bits(64), "base"), terms.bits(64, 12));
    let (mut index, mut total) = (terms.bits(32, 0), terms.bits(32, 0));
    let one = terms.bits(32, 1);
    let mut guard = Term::TRUE;
    let mut asserted = Vec::new();
    let before = terms.len();
    for step in 0..steps {
        let (read, other) = (terms.variable(Sort::Bits(32), "read"), terms.variable(Sort::Bool, "other"));
        let wide = terms.sign_extend(index, 64);
        let scaled = terms.mul(wide, size);
        let address = terms.add(base, scaled);
        let end = terms.bits(64, u128::from(step) * 12 + 100);
        let limit = terms.add(base, end);
        let inside = terms.ult(address, limit);
        let low = terms.extract(read, 0, 8);
        let byte = terms.zero_extend(low, 32);
        let sum = terms.add(total, byte);
        let overflow = terms.sadd_overflow(total, byte);
        let branch = terms.slt(sum, read);
        let taken = terms.and2(guard, branch);
        total = terms.ite(taken, sum, total);
        let raised = terms.add(index, one);
        let choice = terms.and2(guard, other);
        index = terms.ite(choice, raised, index);
        let bad = terms.or2(overflow, inside);
        let checked = terms.and2(guard, bad);
        asserted.push(checked);
        if step % 16 == 0 {
            guard = terms.or2(branch, other);
        }
    }
    (asserted, (terms.len() - before).max(steps as usize * 19))
}

/// The processor time of this process, where the system tells it: other things may be going on.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn speed() {
    let mut terms = Terms::new();
    let started = processor_time();
    let (asserted, operations) = program(&mut terms, 10_000);
    let built = processor_time() - started;
    let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64() / 1e6;
    println!(
        "build: {operations} operations, {} terms, {:.0} ms: {:.1} million operations a second",
        terms.len(),
        built.as_secs_f64() * 1e3,
        per_second(operations, built)
    );
    let (mut blaster, mut sink) = (Blaster::new(), Count::default());
    let started = processor_time();
    for term in asserted {
        blaster.literal(&terms, term, &mut sink);
    }
    let blasted = processor_time() - started;
    println!(
        "blast: {} gates, {} variables, {} clauses, {:.0} ms: {:.1} million gates a second",
        blaster.gates(),
        sink.variables,
        sink.clauses,
        blasted.as_secs_f64() * 1e3,
        per_second(blaster.gates(), blasted)
    );
}

type Puzzle = fn(&mut Terms, u32, &[Term]) -> Term;

/// The name, the width, and the formula over some variables of that width.
const PUZZLES: &[(&str, u32, Puzzle)] = &[
    ("factor a product of two primes", 32, |terms, width, v| {
        let (product, one) = (terms.bits(width, 63_241 * 64_553), terms.bits(width, 1));
        let result = terms.mul(v[0], v[1]);
        let parts = [
            terms.eq(result, product),
            terms.ult(one, v[0]),
            terms.ult(one, v[1]),
            terms.umul_overflow(v[0], v[1]),
            terms.ule(v[0], v[1]),
        ];
        let fits = terms.not(parts[3]);
        terms.and(&[parts[0], parts[1], parts[2], fits, parts[4]])
    }),
    ("a product is distributive", 6, |terms, _, v| {
        let sum = terms.add(v[1], v[2]);
        let (left, first, second) = (terms.mul(v[0], sum), terms.mul(v[0], v[1]), terms.mul(v[0], v[2]));
        let right = terms.add(first, second);
        let same = terms.eq(left, right);
        terms.not(same)
    }),
    ("quotient and remainder make the dividend", 11, |terms, width, v| {
        let (quotient, remainder) = (terms.udiv(v[0], v[1]), terms.urem(v[0], v[1]));
        let back = terms.mul(quotient, v[1]);
        let sum = terms.add(back, remainder);
        let (same, zero) = (terms.eq(sum, v[0]), terms.bits(width, 0));
        let (by_zero, different) = (terms.eq(v[1], zero), terms.not(same));
        let divides = terms.not(by_zero);
        terms.and(&[different, divides])
    }),
    ("divided by 10, and by 5 and 2", 20, |terms, width, v| {
        let (ten, five, two) = (terms.bits(width, 10), terms.bits(width, 5), terms.bits(width, 2));
        let (at_once, half) = (terms.udiv(v[0], ten), terms.udiv(v[0], two));
        let by_steps = terms.udiv(half, five);
        let same = terms.eq(at_once, by_steps);
        terms.not(same)
    }),
    ("digits of a 32-bit number", 32, |terms, width, v| {
        let ten = terms.bits(width, 10);
        let mut rest = v[0];
        let mut all = Vec::new();
        for digit in [7, 3, 9, 1, 4] {
            let (found, wanted) = (terms.urem(rest, ten), terms.bits(width, digit));
            all.push(terms.eq(found, wanted));
            rest = terms.udiv(rest, ten);
        }
        terms.and(&all)
    }),
    ("two ways to add six numbers", 32, |terms, _, v| {
        let masked: Vec<Term> = (0..6).map(|n| terms.bvxor(v[n], v[(n + 1) % 6])).collect();
        let (mut left, mut right) = (masked[0], masked[5]);
        for n in 1..6 {
            left = terms.add(left, masked[n]);
            right = terms.sub(right, masked[5 - n]);
        }
        let twice = terms.add(masked[5], masked[5]);
        let right = terms.sub(twice, right);
        let same = terms.eq(left, right);
        terms.not(same)
    }),
    ("multiply by shifting", 9, |terms, width, v| {
        let mut total = terms.bits(width, 0);
        for bit in 0..width {
            let (amount, zero) = (terms.bits(width, u128::from(bit)), terms.bits(width, 0));
            let (shifted, set) = (terms.shl(v[0], amount), terms.extract(v[1], bit, 1));
            let set = terms.bits_to_bool(set);
            let part = terms.ite(set, shifted, zero);
            total = terms.add(total, part);
        }
        let product = terms.mul(v[1], v[0]);
        let same = terms.eq(total, product);
        terms.not(same)
    }),
    ("a hash with a given value", 32, |terms, width, v| {
        let (mut hash, prime) = (terms.bits(width, 2_166_136_261), terms.bits(width, 16_777_619));
        for letter in &v[..4] {
            let low = terms.extract(*letter, 0, 8);
            let low = terms.zero_extend(low, width);
            let mixed = terms.bvxor(hash, low);
            hash = terms.mul(mixed, prime);
        }
        let wanted = terms.bits(width, 0xDEAD_BEEF);
        terms.eq(hash, wanted)
    }),
];

fn solve(kind: CoreKind, terms: &Terms, goal: Term) -> String {
    let mut limits = Limits::default();
    limits.deadline = Some(Instant::now() + PATIENCE);
    let started = processor_time();
    let mut solver = Solver::new(kind);
    let goal = solver.literal(terms, goal);
    let answer = match solver.solve(&[goal], &limits) {
        Answer::Satisfiable => "sat",
        Answer::Unsatisfiable => "unsat",
        Answer::Unknown(_) => "unknown",
    };
    format!("{answer} {:.2} s", (processor_time() - started).as_secs_f64())
}

fn solve_with_z3(terms: &Terms, goal: Term) -> String {
    let mut limits = Limits::default();
    limits.deadline = Some(Instant::now() + PATIENCE);
    let started = Instant::now();
    let mut script = Script::new("QF_BV");
    script.assert(terms, goal);
    let answer = match External::new("z3 -in").and_then(|z3| z3.solve(&script.question(), &limits)) {
        Ok(Verdict::Satisfiable(_)) => "sat",
        Ok(Verdict::Unsatisfiable) => "unsat",
        Ok(Verdict::Unknown(_)) | Err(ExternalError::Stopped(_)) => "unknown",
        Err(error) => return error.to_string(),
    };
    format!("{answer} {:.2} s", started.elapsed().as_secs_f64())
}

fn main() {
    let with_z3 = !std::env::args().any(|argument| argument == "--no-z3");
    speed();
    for &(name, width, puzzle) in PUZZLES {
        let mut terms = Terms::new();
        let variables: Vec<Term> = (0..6).map(|n| terms.variable(Sort::Bits(width), format!("v{n}"))).collect();
        let goal = puzzle(&mut terms, width, &variables);
        let cadical = solve(CoreKind::Cadical, &terms, goal);
        let batsat = solve(CoreKind::Batsat, &terms, goal);
        let z3 = if with_z3 { solve_with_z3(&terms, goal) } else { "-".to_string() };
        println!("{name}, {width} bits: cadical {cadical}, batsat {batsat}, z3 {z3}");
    }
}
