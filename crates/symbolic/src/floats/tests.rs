//! Terms and lemmas against the interpreter's arithmetic, which is the machine's.

use super::*;
use leno_ir::interp::Prng;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use leno_logic::term::{Assignment, Evaluation, Node, Sort};

const MODEL: DataModel = DataModel::Lp64;
const WIDTHS: [u32; 2] = [32, 64];

/// Floats of all classes, with the interesting ones more often.
fn float(random: &mut Prng, width: u32) -> u128 {
    let format = Format::of(width).expect("32 or 64 bits");
    let sign = if random.below(2) == 0 { 0 } else { format.sign() };
    let any = u128::from(random.next_u64()) & (format.sign() - 1);
    let magnitude = match random.below(10) {
        0 => 0,
        1 => format.infinity(),
        2 => format.infinity() | (any & (format.infinity() - 1) & ((1 << format.fraction) - 1)),
        3 => any & ((1 << format.fraction) - 1),
        4 => format.one() + (any & 7),
        5 => format.infinity() - 1 - (any & 3),
        6 => 1 + (any & 3),
        7 => operate::cast(
            MODEL,
            CastOp::SIntToFloat,
            Type::Int(64),
            Type::Float(kind(width)),
            u128::from(random.below(1000)),
        ),
        8 => format.one().wrapping_add(any >> 12) & (format.sign() - 1),
        _ => any,
    };
    sign | magnitude
}

fn integer(random: &mut Prng, width: u32) -> u128 {
    let mask: u128 = (1 << width) - 1;
    let any = u128::from(random.next_u64());
    (match random.below(6) {
        0 => any & 3,
        1 => mask.wrapping_sub(any & 3),
        2 => mask >> 1,
        3 => (mask >> 1) + 1 + (any & 3),
        4 => (1u128 << random.below(u64::from(width))) + (any & 1),
        _ => any,
    }) & mask
}

#[test]
fn comparisons_are_exact_on_all_classes() {
    for width in WIDTHS {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(Sort::Bits(width), name));
        let mut floats = Floats { terms: &mut terms, model: MODEL };
        let ops = [BinaryOp::FEq, BinaryOp::FNe, BinaryOp::FLt, BinaryOp::FLe];
        let compared = ops.map(|op| floats.binary(op, x, y));
        let (least, greatest) = (floats.library("fmin", width, &[x, y]), floats.library("fmax", width, &[x, y]));
        let mut random = Prng::new(u64::from(width));
        for _ in 0..20_000 {
            let (a, b) = (float(&mut random, width), float(&mut random, width));
            let mut assignment = Assignment::new();
            assignment.set(&terms, x, a);
            assignment.set(&terms, y, b);
            let mut evaluation = Evaluation::new(&terms, &assignment);
            for (op, term) in ops.into_iter().zip(compared) {
                let expected = operate::binary(MODEL, op, Type::Float(kind(width)), a, b);
                assert_eq!(evaluation.value(term).number(), expected, "{op:?}{width} {a:#x} {b:#x}");
            }
            let suffix = if width == 32 { "f" } else { "" };
            for (name, term) in [("fmin", least), ("fmax", greatest)] {
                let expected = pure_call(MODEL, &format!("{name}{suffix}"), &[a, b]);
                assert_eq!(Some(evaluation.value(term).number()), expected, "{name}{width} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn conversions_are_exact() {
    let integers = [1, 8, 16, 31, 32, 33, 63, 64];
    let mut random = Prng::new(7);
    for width in WIDTHS {
        for size in integers {
            let (to, from) = (Type::Float(kind(width)), Type::Int(size as u16));
            for op in [CastOp::SIntToFloat, CastOp::UIntToFloat] {
                check_cast(op, from, to, || integer(&mut random, size));
            }
            for op in [CastOp::FloatToSInt, CastOp::FloatToUInt] {
                check_cast(op, to, from, || {
                    let near = integer(&mut random, 64);
                    match near % 3 {
                        0 => operate::cast(MODEL, CastOp::SIntToFloat, Type::Int(64), to, near),
                        1 => operate::cast(MODEL, CastOp::UIntToFloat, Type::Int(64), to, near),
                        _ => float(&mut random, width),
                    }
                });
            }
        }
    }
    check_cast(CastOp::FloatToFloat, Type::Float(FloatKind::F32), Type::Float(FloatKind::F64), || {
        float(&mut random, 32)
    });
}

fn check_cast(op: CastOp, from: Type, to: Type, mut value: impl FnMut() -> u128) {
    let mut terms = Terms::new();
    let x = terms.variable(Sort::Bits(from.bits(MODEL).into()), "x");
    let term = Floats { terms: &mut terms, model: MODEL }.cast(op, to, x);
    assert!(!terms.reachable(&[term]).iter().any(|&part| matches!(terms.node(part), Node::Apply(..))));
    for _ in 0..3_000 {
        let bits = value();
        let mut assignment = Assignment::new();
        assignment.set(&terms, x, bits);
        let found = Evaluation::new(&terms, &assignment).value(term).number();
        assert_eq!(found, operate::cast(MODEL, op, from, to, bits), "{op:?} from {from:?} to {to:?} of {bits:#x}");
    }
}

/// The operations that are decided lazily, of two variables of their width.
fn applications(floats: &mut Floats<'_>, x: Term, y: Term) -> Vec<(&'static str, Term)> {
    let width = floats.terms.width(x);
    let suffix = |name: &str| if width == 32 { format!("{name}f") } else { name.to_string() };
    let mut all = vec![
        ("sum", floats.binary(BinaryOp::FAdd, x, y)),
        ("product", floats.binary(BinaryOp::FMul, x, y)),
        ("quotient", floats.binary(BinaryOp::FDiv, x, y)),
        ("root", floats.root(x)),
        ("floor", floats.library(&suffix("floor"), width, &[x])),
        ("round", floats.library(&suffix("round"), width, &[x])),
        ("pow", floats.library(&suffix("pow"), width, &[x, y])),
    ];
    if width == 64 {
        all.push(("narrowed", floats.cast(CastOp::FloatToFloat, Type::Float(FloatKind::F32), x)));
    }
    all
}

/// Each lemma holds everywhere, and some lemma does not hold in the model that it is for.
#[test]
fn lemmas_are_true_and_exclude_the_model() {
    for width in WIDTHS {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(Sort::Bits(width), name));
        let all = applications(&mut Floats { terms: &mut terms, model: MODEL }, x, y);
        let mut random = Prng::new(u64::from(width) + 1);
        let (mut from_rules, mut cases) = (0, 0);
        for (name, application) in all {
            let Node::Apply(function, arguments) = terms.node(application) else { panic!("{name} is no application") };
            let arguments: Vec<Term> = arguments.into_iter().flatten().collect();
            let function = terms.function_of(function).clone();
            for _ in 0..300 {
                let values: Vec<u128> = arguments.iter().map(|_| float(&mut random, width)).collect();
                let exact = function.compute(&values);
                let found = match random.below(3) {
                    0 => exact ^ (1 << random.below(u64::from(function.width()))),
                    _ => float(&mut random, function.width()),
                };
                if found == exact {
                    continue;
                }
                let mismatch = Mismatch { application, arguments: arguments.clone(), values, found, exact };
                let lemmas = function.lemmas(&mut terms, &mismatch);
                cases += 1;
                if !lemmas.is_empty() {
                    from_rules += 1;
                    check_lemmas(&terms, name, &lemmas, &mismatch, [x, y], &mut random);
                }
            }
        }
        assert!(from_rules * 10 > cases * 5, "{from_rules} of {cases} have lemmas that are more than points");
    }
}

fn check_lemmas(
    terms: &Terms,
    name: &str,
    lemmas: &[Term],
    mismatch: &Mismatch,
    variables: [Term; 2],
    random: &mut Prng,
) {
    let width = terms.width(variables[0]);
    let mut model = Assignment::new();
    for (variable, value) in mismatch.arguments.iter().zip(&mismatch.values) {
        model.set(terms, *variable, *value);
    }
    model.set(terms, mismatch.application, mismatch.found);
    let mut evaluation = Evaluation::new(terms, &model);
    assert!(lemmas.iter().any(|lemma| !evaluation.holds(*lemma)), "{name}: {mismatch:x?} is not excluded");
    for _ in 0..60 {
        let mut elsewhere = Assignment::new();
        for (index, &variable) in variables.iter().enumerate() {
            let here = mismatch.values.get(index).copied().unwrap_or(0);
            let value = match random.below(4) {
                0 => here.wrapping_add(u128::from(random.below(3))).wrapping_sub(1) & ((1 << width) - 1),
                1 => here ^ 1 << random.below(u64::from(width)),
                _ => float(random, width),
            };
            elsewhere.set(terms, variable, value);
        }
        let mut evaluation = Evaluation::new(terms, &elsewhere);
        for lemma in lemmas {
            let at = variables.map(|variable| evaluation.value(variable).number());
            assert!(evaluation.holds(*lemma), "{name}: a lemma of {mismatch:x?} does not hold at {at:x?}");
        }
    }
}

/// Operands that are fixed by constraints only: the solver has to find the machine's result.
#[test]
fn the_solver_finds_the_results_of_the_machine() {
    let mut random = Prng::new(3);
    for round in 0..1_500u64 {
        let width = WIDTHS[(round % 2) as usize];
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(Sort::Bits(width), name));
        let (a, b) = (float(&mut random, width), float(&mut random, width));
        let mut floats = Floats { terms: &mut terms, model: MODEL };
        let difference = floats.binary(BinaryOp::FSub, x, y);
        let mut all = applications(&mut floats, x, y);
        all.push(("difference", difference));
        let (name, wanted) = all[random.below(all.len() as u64) as usize];
        let mut solver = Solver::default();
        for (variable, value) in [(x, a), (y, b)] {
            let value = terms.bits(width, value);
            let fixed = terms.eq(variable, value);
            solver.assert(&terms, fixed);
        }
        let result = terms.variable(Sort::Bits(terms.width(wanted)), "result");
        let equal = terms.eq(result, wanted);
        solver.assert(&terms, equal);
        assert_eq!(solver.solve_exactly(&mut terms, &[], &[], &Limits::default()), Answer::Satisfiable);
        let found = leno_logic::term::evaluate(&terms, result, &solver.model(&terms)).number();
        let mut values = Assignment::new();
        values.set(&terms, x, a);
        values.set(&terms, y, b);
        let mut expected = leno_logic::term::evaluate(&terms, wanted, &values).number();
        if name == "difference" {
            expected = operate::binary(MODEL, BinaryOp::FSub, Type::Float(kind(width)), a, b);
        }
        assert_eq!(found, expected, "{name}{width} of {a:#x} and {b:#x}");
        // And no other one.
        let expected = terms.bits(terms.width(wanted), expected);
        let same = terms.eq(result, expected);
        let other = terms.not(same);
        solver.assert(&terms, other);
        assert_eq!(solver.solve_exactly(&mut terms, &[], &[], &Limits::default()), Answer::Unsatisfiable);
    }
}

/// Properties of all numbers in a range, for which points are not enough.
#[test]
fn ranges_are_decided_by_few_lemmas() {
    let mut terms = Terms::new();
    let x = terms.variable(Sort::Bits(64), "x");
    let constant = |terms: &mut Terms, value: f64| terms.bits(64, value.to_bits().into());
    let (low, high) = (constant(&mut terms, 0.0), constant(&mut terms, 100.0));
    let (two, one, sixty) = (constant(&mut terms, 2.0), constant(&mut terms, 1.0), constant(&mut terms, 60.0));
    let mut floats = Floats { terms: &mut terms, model: MODEL };
    let (from, to) = (floats.binary(BinaryOp::FLe, low, x), floats.binary(BinaryOp::FLe, x, high));
    let half = floats.binary(BinaryOp::FDiv, x, two);
    let more = floats.binary(BinaryOp::FAdd, half, one);
    let too_large = floats.binary(BinaryOp::FLt, sixty, more);
    let mut solver = Solver::default();
    for condition in [from, to, too_large] {
        let condition = terms.bits_to_bool(condition);
        solver.assert(&terms, condition);
    }
    let mut rounds = 0;
    while solver.solve(&[], &Limits::default()) == Answer::Satisfiable {
        let (mismatches, model) = solver.mismatches(&terms, &[]);
        assert!(!mismatches.is_empty(), "there is no such number");
        solver.exclude(&mut terms, &mismatches, &model);
        rounds += 1;
        assert!(rounds < 200);
    }
}

/// What has no terms at all: `long double`, and conversions of integers of 128 bits.
#[test]
fn wide_types_are_decided_point_by_point() {
    let mut random = Prng::new(11);
    let (double, extended) = (Type::Float(FloatKind::F64), Type::Float(FloatKind::F80));
    let binary = [BinaryOp::FAdd, BinaryOp::FSub, BinaryOp::FDiv, BinaryOp::FLt, BinaryOp::FEq];
    for round in 0..300 {
        let mut terms = Terms::new();
        let [a, b] = [(); 2].map(|_| {
            let narrow = float(&mut random, 64);
            operate::cast(MODEL, CastOp::FloatToFloat, double, extended, narrow)
        });
        let wide = u128::from(random.next_u64()) << random.below(64);
        let [x, y] = ["x", "y"].map(|name| terms.variable(Sort::Bits(80), name));
        let z = terms.variable(Sort::Bits(128), "z");
        let mut floats = Floats { terms: &mut terms, model: MODEL };
        let op = binary[round % binary.len()];
        let results = [
            (floats.binary(op, x, y), operate::binary(MODEL, op, extended, a, b)),
            (
                floats.cast(CastOp::FloatToFloat, double, x),
                operate::cast(MODEL, CastOp::FloatToFloat, extended, double, a),
            ),
            (
                floats.cast(CastOp::FloatToSInt, Type::I32, x),
                operate::cast(MODEL, CastOp::FloatToSInt, extended, Type::I32, a),
            ),
            (
                floats.cast(CastOp::SIntToFloat, double, z),
                operate::cast(MODEL, CastOp::SIntToFloat, Type::Int(128), double, wide),
            ),
        ];
        let mut solver = Solver::default();
        for (variable, value) in [(x, a), (y, b), (z, wide)] {
            let value = terms.bits(terms.width(variable), value);
            let fixed = terms.eq(variable, value);
            solver.assert(&terms, fixed);
        }
        let wrong: Vec<Term> = results
            .into_iter()
            .map(|(term, expected)| {
                let expected = terms.bits(terms.width(term), expected);
                let same = terms.eq(term, expected);
                terms.not(same)
            })
            .collect();
        let wrong = terms.or(&wrong);
        solver.assert(&terms, wrong);
        let answer = solver.solve_exactly(&mut terms, &[], &[], &Limits::default());
        assert_eq!(answer, Answer::Unsatisfiable, "{op:?} {a:#x} {b:#x} {wide:#x}");
    }
}
