//! Read-modify-write and compare-exchange.

use crate::harness::{Inputs, STATES, at_mark, parse, peek};
use crate::operators::value;
use leno_ir::interp::{Image, MAIN, Machine, Options, Prng, StepResult};
use leno_ir::program::{LocalId, RmwOp, Type};
use leno_logic::term::{Assignment, Evaluation, Sort, Term, Terms};
use leno_symbolic::operators::width;
use leno_symbolic::update::Update;

const TYPES: [(&str, Type); 6] = [
    ("i8", Type::I8),
    ("i16", Type::Int(16)),
    ("i32", Type::I32),
    ("i64", Type::Int(64)),
    ("i128", Type::Int(128)),
    ("ptr", Type::Ptr),
];

/// The place holds `%a` before the instruction, whose operands are `%b` and `%c`. It gives what was there in `%d`.
fn check(name: &str, ty: Type, instruction: &str, make: impl Fn(&mut Terms, [leno_logic::term::Term; 2]) -> Update) {
    let program = parse(&format!(
        "program lp64 entry &start
@x = global size 16 align 16
fn &start(%argc: i32, %argv: ptr) {{
  local %a: {name}
  local %b: {name}
  local %c: {name}
  local %d: {name}
  local %ok: i1
b0:
  %a = nondet
  store {name} @x = %a
  %b = nondet
  %c = nondet
  yield
  {instruction}
  exit i32 0
}}
"
    ));
    let model = program.model;
    let image = Image::new(&program);
    let initial = Machine::new(&image, &Options::default());
    let mut terms = Terms::new();
    let [old, b, c] = ["a", "b", "c"].map(|name| terms.variable(Sort::Bits(width(model, ty)), name));
    let update = make(&mut terms, [b, c]);
    let write = update.apply(&mut terms, old);
    let mut random = Prng::new(3);
    for _ in 0..STATES {
        let mut values = [0; 3].map(|_| value(&mut random, model, ty));
        if random.below(2) == 0 {
            values[1] = values[0];
        }
        let mut inputs = Inputs::new(&values);
        let mut machine = at_mark(&initial, &mut inputs);
        assert_eq!(machine.step(MAIN, &mut inputs), StepResult::Done);
        let mut assignment = Assignment::new();
        for (variable, value) in [old, b, c].into_iter().zip(values) {
            assignment.set(&terms, variable, value);
        }
        let mut evaluation = Evaluation::new(&terms, &assignment);
        let is_written = evaluation.holds(write.condition);
        let expected = if is_written { evaluation.value(write.value).number() } else { values[0] };
        assert_eq!(peek(&machine, &image, 0, 0, ty.bytes(model)), expected, "{instruction} on {values:x?}");
        assert_eq!(machine.local(MAIN, LocalId(5)).bits, values[0]);
        if matches!(update, Update::CompareExchange { .. }) {
            assert_eq!(machine.local(MAIN, LocalId(6)).bits, u128::from(is_written));
        }
    }
}

#[test]
fn read_modify_write() {
    let ops = [
        ("exchange", RmwOp::Exchange),
        ("add", RmwOp::Add),
        ("sub", RmwOp::Sub),
        ("and", RmwOp::And),
        ("or", RmwOp::Or),
        ("xor", RmwOp::Xor),
        ("nand", RmwOp::Nand),
    ];
    for (name, ty) in TYPES {
        for (word, op) in ops.into_iter().filter(|(_, op)| ty != Type::Ptr || *op == RmwOp::Exchange) {
            let instruction = format!("%d = rmw {word} seq_cst {name} @x, %b");
            check(name, ty, &instruction, |_, [operand, _]| Update::ReadModifyWrite { op, operand });
        }
    }
}

#[test]
fn compare_exchange() {
    for (name, ty) in TYPES {
        let instruction = format!("%ok, %d = cmpxchg seq_cst {name} @x, %b, %c, failure seq_cst");
        check(name, ty, &instruction, |_, [expected, desired]| Update::CompareExchange {
            expected,
            desired,
            fails: Term::FALSE,
        });
    }
}
