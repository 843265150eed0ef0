//! Random expressions, translated and evaluated.

use crate::harness::{Inputs, STATES, at_mark, parse};
use crate::operators::value;
use leno_ir::interp::{Image, MAIN, Machine, Options, Prng, StepResult};
use leno_ir::program::{
    BinaryOp, Body, CastOp, DataModel, Expr, FloatKind, FuncId, LocalId, ObjectId, Op, SlotId, Type, UnaryOp,
};
use leno_logic::term::{Assignment, Sort, Term, Terms, evaluate};
use leno_symbolic::operators::width;
use leno_symbolic::translate::{Leaves, translate};

/// Two registers of each.
const TYPES: [(&str, Type); 8] = [
    ("i1", Type::BOOL),
    ("i8", Type::I8),
    ("i32", Type::I32),
    ("i64", Type::Int(64)),
    ("i128", Type::Int(128)),
    ("ptr", Type::Ptr),
    ("f32", Type::Float(FloatKind::F32)),
    ("f64", Type::Float(FloatKind::F64)),
];

fn register(index: usize, second: bool) -> LocalId {
    // The first two locals are the parameters.
    LocalId(2 + 2 * index as u32 + u32::from(second))
}

fn expression(random: &mut Prng, ty: Type, depth: u32) -> Expr {
    let index = TYPES.iter().position(|(_, other)| *other == ty).expect("one of them");
    let pick = |random: &mut Prng, ops: &[BinaryOp]| ops[random.below(ops.len() as u64) as usize];
    if depth == 0 {
        return match (random.below(4), ty) {
            (0, Type::Ptr) => Expr::Object(ObjectId(0)),
            (1, Type::Ptr) => Expr::Function(FuncId(0)),
            (0, _) => Expr::Const { ty, bits: value(random, DataModel::Lp64, ty) },
            _ => Expr::Local(register(index, random.below(2) == 0)),
        };
    }
    let depth = depth - 1;
    if random.below(6) == 0 {
        let [c, a, b] = [Type::BOOL, ty, ty].map(|ty| expression(random, ty, depth));
        return Expr::select(c, a, b);
    }
    use BinaryOp::*;
    let integers = [Type::I8, Type::I32, Type::Int(64), Type::Int(128)];
    let any_integer = |random: &mut Prng| integers[random.below(4) as usize];
    let any_float = |random: &mut Prng| TYPES[6 + random.below(2) as usize].1;
    match (ty, random.below(4)) {
        (Type::BOOL, 0) => {
            let op = pick(random, &[And, Or, Xor]);
            Expr::binary(op, expression(random, ty, depth), expression(random, ty, depth))
        }
        (Type::BOOL, 1) => {
            let (op, of) = (pick(random, &[FEq, FNe, FLt, FLe]), any_float(random));
            Expr::binary(op, expression(random, of, depth), expression(random, of, depth))
        }
        (Type::BOOL, _) => {
            let op = pick(random, &[Eq, Ne, ULt, ULe, SLt, SLe, SAddOverflow, SMulOverflow, USubOverflow]);
            let of = any_integer(random);
            Expr::binary(op, expression(random, of, depth), expression(random, of, depth))
        }
        (Type::Ptr, _) => Expr::binary(PtrAdd, expression(random, ty, depth), expression(random, Type::Int(64), depth)),
        (Type::Float(kind), 0) => {
            let of = any_integer(random);
            let op = [CastOp::SIntToFloat, CastOp::UIntToFloat][random.below(2) as usize];
            Expr::cast(op, Type::Float(kind), expression(random, of, depth))
        }
        (Type::Float(_), 1) => {
            let op = [UnaryOp::FNeg, UnaryOp::FAbs, UnaryOp::FSqrt][random.below(3) as usize];
            Expr::unary(op, expression(random, ty, depth))
        }
        (Type::Float(_), _) => {
            let op = pick(random, &[FAdd, FSub, FMul, FDiv]);
            Expr::binary(op, expression(random, ty, depth), expression(random, ty, depth))
        }
        (Type::Int(64), 0) => {
            Expr::binary(PtrDiff, expression(random, Type::Ptr, depth), expression(random, Type::Ptr, depth))
        }
        (Type::Int(width), 0 | 1) => {
            let of = any_integer(random);
            let Type::Int(from) = of else { return expression(random, ty, depth) };
            let op = match (from.cmp(&width), random.below(2)) {
                (std::cmp::Ordering::Equal, _) => return Expr::unary(UnaryOp::Neg, expression(random, ty, depth)),
                (std::cmp::Ordering::Greater, _) => CastOp::Truncate,
                (_, 0) => CastOp::ZeroExtend,
                _ => CastOp::SignExtend,
            };
            Expr::cast(op, ty, expression(random, of, depth))
        }
        _ => {
            let op = pick(random, &[Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor]);
            Expr::binary(op, expression(random, ty, depth), expression(random, ty, depth))
        }
    }
}

struct Registers<'a, 'p> {
    terms: Terms,
    registers: Vec<Term>,
    image: &'a Image<'p>,
}

impl Leaves for Registers<'_, '_> {
    type Error = std::convert::Infallible;

    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn model(&self) -> DataModel {
        DataModel::Lp64
    }

    fn local(&mut self, local: LocalId) -> Result<Term, Self::Error> {
        Ok(self.registers[local.0 as usize - 2])
    }

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Self::Error> {
        Ok(self.image.object_address(object))
    }

    fn slot_address(&mut self, _: SlotId) -> Result<u64, Self::Error> {
        Ok(0)
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Self::Error> {
        Ok(self.image.function_address(function))
    }
}

#[test]
fn expressions() {
    let locals: String =
        TYPES.iter().map(|(name, _)| format!("  local %{name}_1: {name}\n  local %{name}_2: {name}\n")).collect();
    let results: String = TYPES.iter().map(|(name, _)| format!("  local %{name}_r: {name}\n")).collect();
    let inputs: String =
        TYPES.iter().map(|(name, _)| format!("  %{name}_1 = nondet\n  %{name}_2 = nondet\n")).collect();
    let mut program = parse(&format!(
        "program lp64 entry &start
@x = global size 4 align 4
fn &start(%argc: i32, %argv: ptr) {{
{locals}{results}b0:
{inputs}  yield
  %i1_r = %i1_1
  exit i32 0
}}
"
    ));
    let mut random = Prng::new(17);
    for _ in 0..STATES {
        let (index, depth) = (random.below(TYPES.len() as u64) as usize, 1 + random.below(4) as u32);
        let ty = TYPES[index].1;
        let expr = expression(&mut random, ty, depth);
        let dst = LocalId(2 + 2 * TYPES.len() as u32 + index as u32);
        let Body::Blocks(blocks) = &mut program.functions[FuncId(0)].body else { panic!("start has a body") };
        let block = blocks.iter_mut().next().expect("b0");
        block.instrs.last_mut().expect("an assignment").op = Op::Assign { dst, value: expr.clone() };
        leno_ir::validate::validate(&program).unwrap_or_else(|found| panic!("{}", found[0].explain(&program)));

        let image = Image::new(&program);
        let (mut terms, mut registers, mut values) = (Terms::new(), Vec::new(), Vec::new());
        let mut assignment = Assignment::new();
        for (_, ty) in TYPES {
            for _ in 0..2 {
                let variable = terms.variable(Sort::Bits(width(DataModel::Lp64, ty)), "register");
                let value = value(&mut random, DataModel::Lp64, ty);
                assignment.set(&terms, variable, value);
                registers.push(variable);
                values.push(value);
            }
        }
        let mut leaves = Registers { terms, registers, image: &image };
        let Ok(term) = translate(&mut leaves, &expr);
        let mut inputs = Inputs::new(&values);
        let mut machine = at_mark(&Machine::new(&image, &Options::default()), &mut inputs);
        assert_eq!(machine.step(MAIN, &mut inputs), StepResult::Done);
        let found = evaluate(&leaves.terms, term, &assignment).number();
        assert_eq!(found, machine.local(MAIN, dst).bits, "{expr:?} on {values:x?}");
    }
}
