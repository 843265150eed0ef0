//! Every valid program becomes C that compilers take without a word.

use crate::compiler::{self, Way};
use crate::random;
use leno_emit::{Options, emit};
use leno_ir::program::*;

#[test]
fn any_valid_program_compiles() {
    let mut checked = 0;
    for seed in 0..40 {
        let program = with_sizes_of_this_world(random::program(seed));
        let has_wide_integers = emit(&program, &Options::default()).contains("u128");
        if program.model == DataModel::Ilp32 && has_wide_integers {
            continue;
        }
        for way in one_way_each(program.model) {
            compiler::check(&program, way, &format!("seed {seed}"));
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} were checked");
}

/// Whether it compiles does not depend on optimisation.
fn one_way_each(model: DataModel) -> Vec<Way> {
    let mut ways = compiler::ways(model);
    ways.dedup_by_key(|way| way[0]);
    ways
}

/// clang counts open parentheses, and gives up at 256.
#[test]
fn the_deepest_expressions_compile() {
    use BinaryOp::*;
    let local = Expr::Local(LocalId(0));
    let shapes: [fn(Expr) -> Expr; 8] = [
        |e| Expr::unary(UnaryOp::Neg, e),
        |e| Expr::binary(AShr, e, Expr::Local(LocalId(0))),
        |e| Expr::binary(AShr, Expr::Local(LocalId(0)), e),
        |e| Expr::binary(SDiv, e, Expr::int(3, 23)),
        |e| Expr::binary(SRem, Expr::Local(LocalId(0)), e),
        |e| Expr::binary(Mul, Expr::binary(Shl, Expr::int(1, 23), Expr::Local(LocalId(0))), e),
        |e| Expr::select(Expr::binary(SMulOverflow, Expr::Local(LocalId(0)), e), Expr::int(1, 23), Expr::int(2, 23)),
        |e| {
            let float = Expr::cast(CastOp::SIntToFloat, Type::Float(FloatKind::F64), e);
            Expr::cast(CastOp::FloatToSInt, Type::Int(23), float)
        },
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let mut deepest = local.clone();
        let mut program = returning(deepest.clone());
        loop {
            deepest = shape(deepest);
            let deeper = returning(deepest.clone());
            if leno_ir::validate::validate(&deeper).is_err() {
                break;
            }
            program = deeper;
        }
        for way in one_way_each(program.model) {
            compiler::check(&program, way, &format!("shape {number}"));
        }
    }
}

/// A function of one register that returns an expression.
fn returning(value: Expr) -> Program {
    let mut program = Program::default();
    let ty = Type::Int(23);
    let terminator = Terminator { kind: TerminatorKind::Return(Some(value)), span: Span::NONE };
    program.functions.push(Function {
        name: "deep".to_string(),
        params: 1,
        ret: Some(ty),
        locals: vec![Local { name: "x".to_string(), ty, signed: false }].into(),
        slots: Vec::new().into(),
        body: Body::Blocks(vec![Block { instrs: Vec::new(), terminator, span: Span::NONE }].into()),
        span: Span::NONE,
    });
    program
}

/// Random sizes are beyond what any compiler accepts.
fn with_sizes_of_this_world(mut program: Program) -> Program {
    let pointer = program.model.pointer_bytes();
    for object in program.objects.iter_mut() {
        object.size = end_of_contents(object, pointer).max(object.size % 5000);
        for (_, datum) in &mut object.init {
            if let Datum::Object(_, offset) = datum {
                *offset %= 1000;
            }
        }
    }
    for slot in program.functions.iter_mut().flat_map(|function| function.slots.iter_mut()) {
        slot.size %= 5000;
    }
    program
}

fn end_of_contents(object: &Object, pointer: u64) -> u64 {
    object.init.last().map_or(0, |(offset, datum)| match datum {
        Datum::Bytes(bytes) => offset + bytes.len() as u64,
        _ => offset + pointer,
    })
}
