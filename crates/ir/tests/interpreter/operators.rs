//! Every operator on every width against what gcc's code computes, bit by bit.

use crate::gcc::output_of;
use leno_ir::interp::{Captured, Image, Machine, Options, Prng, RoundRobin};
use leno_ir::program::*;
use std::fmt::Write;

/// An operation, as C and as an expression of `a` and `b`.
struct Operation {
    c: String,
    operand: Type,
    result: Type,
    make: Box<dyn Fn(Expr, Expr) -> Expr>,
}

fn c_type(ty: Type, signed: bool) -> &'static str {
    match (ty, signed) {
        (Type::Int(8), true) => "signed char",
        (Type::Int(8), false) => "unsigned char",
        (Type::Int(16), true) => "short",
        (Type::Int(16), false) => "unsigned short",
        (Type::Int(32), true) => "int",
        (Type::Int(32), false) => "unsigned",
        (Type::Int(64), true) => "long",
        (Type::Int(64), false) => "unsigned long",
        (Type::Int(_), true) => "__int128",
        (Type::Int(_), false) => "unsigned __int128",
        (Type::Float(FloatKind::F32), _) => "float",
        (Type::Float(FloatKind::F64), _) => "double",
        (Type::Float(FloatKind::F80), _) => "long double",
        (Type::Ptr, _) => "void *",
    }
}

const WIDTHS: [u16; 5] = [8, 16, 32, 64, 128];
const FLOATS: [FloatKind; 3] = [FloatKind::F32, FloatKind::F64, FloatKind::F80];

fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    for width in WIDTHS {
        integer_operations(width, &mut all);
    }
    for kind in FLOATS {
        float_operations(kind, &mut all);
    }
    all
}

fn integer_operations(width: u16, all: &mut Vec<Operation>) {
    use BinaryOp::*;
    let ty = Type::Int(width);
    let (u, s) = (c_type(ty, false), c_type(ty, true));
    let binary = |c: String, result: Type, op: BinaryOp| Operation {
        c,
        operand: ty,
        result,
        make: Box::new(move |a, b| Expr::binary(op, a, b)),
    };
    for (op, symbol) in [(Add, "+"), (Sub, "-"), (And, "&"), (Or, "|"), (Xor, "^"), (UDiv, "/"), (URem, "%")] {
        all.push(binary(format!("({u})(({u})a {symbol} ({u})b)"), ty, op));
    }
    // Narrow factors would be promoted to int and overflow.
    let factor = if width < 32 { "unsigned" } else { u };
    all.push(binary(format!("({u})(({factor})a * ({factor})b)"), ty, Mul));
    for (op, symbol) in [(SDiv, "/"), (SRem, "%")] {
        all.push(binary(format!("({u})(({s})a {symbol} ({s})b)"), ty, op));
    }
    all.push(binary(format!("({u})(({u})a << (b % {width}))"), ty, Shl));
    all.push(binary(format!("({u})(({u})a >> (b % {width}))"), ty, LShr));
    all.push(binary(format!("({u})(({s})a >> (b % {width}))"), ty, AShr));
    for (op, symbol, t) in [(Eq, "==", u), (Ne, "!=", u), (ULt, "<", u), (ULe, "<=", u), (SLt, "<", s), (SLe, "<=", s)]
    {
        all.push(binary(format!("(unsigned char)(({t})a {symbol} ({t})b)"), Type::BOOL, op));
    }
    for (op, name, t) in [
        (SAddOverflow, "add", s),
        (SSubOverflow, "sub", s),
        (SMulOverflow, "mul", s),
        (UAddOverflow, "add", u),
        (USubOverflow, "sub", u),
        (UMulOverflow, "mul", u),
    ] {
        let c = format!("({{ {t} r; (unsigned char)__builtin_{name}_overflow(({t})a, ({t})b, &r); }})");
        all.push(binary(c, Type::BOOL, op));
    }
    let unary = |c: String, op: UnaryOp| Operation {
        c,
        operand: ty,
        result: ty,
        make: Box::new(move |a, _| Expr::unary(op, a)),
    };
    all.push(unary(format!("({u})-({u})a"), UnaryOp::Neg));
    all.push(unary(format!("({u})~({u})a"), UnaryOp::Not));
    for to in WIDTHS {
        let (result, to_type) = (Type::Int(to), c_type(Type::Int(to), false));
        let casts = if to > width {
            vec![(CastOp::ZeroExtend, u), (CastOp::SignExtend, s)]
        } else {
            vec![(CastOp::Truncate, u)]
        };
        for (op, from) in casts.into_iter().filter(|_| to != width) {
            let make = Box::new(move |a, _| Expr::cast(op, result, a));
            all.push(Operation { c: format!("({to_type})({from})a"), operand: ty, result, make });
        }
    }
    for kind in FLOATS {
        let result = Type::Float(kind);
        for (op, from) in [(CastOp::UIntToFloat, u), (CastOp::SIntToFloat, s)] {
            let make = Box::new(move |a, _| Expr::cast(op, result, a));
            all.push(Operation { c: format!("({})({from})a", c_type(result, true)), operand: ty, result, make });
        }
    }
}

fn float_operations(kind: FloatKind, all: &mut Vec<Operation>) {
    use BinaryOp::*;
    let ty = Type::Float(kind);
    for (op, symbol) in [(FAdd, "+"), (FSub, "-"), (FMul, "*"), (FDiv, "/")] {
        let make = Box::new(move |a, b| Expr::binary(op, a, b));
        all.push(Operation { c: format!("a {symbol} b"), operand: ty, result: ty, make });
    }
    for (op, symbol) in [(FEq, "=="), (FNe, "!="), (FLt, "<"), (FLe, "<=")] {
        let make = Box::new(move |a, b| Expr::binary(op, a, b));
        all.push(Operation { c: format!("(unsigned char)(a {symbol} b)"), operand: ty, result: Type::BOOL, make });
    }
    let suffix = match kind {
        FloatKind::F32 => "f",
        FloatKind::F64 => "",
        FloatKind::F80 => "l",
    };
    for (op, c) in [
        (UnaryOp::FNeg, "-a".to_string()),
        (UnaryOp::FAbs, format!("__builtin_fabs{suffix}(a)")),
        (UnaryOp::FSqrt, format!("__builtin_sqrt{suffix}(a)")),
    ] {
        let make = Box::new(move |a, _| Expr::unary(op, a));
        all.push(Operation { c, operand: ty, result: ty, make });
    }
    for to in FLOATS.into_iter().filter(|to| *to != kind) {
        let result = Type::Float(to);
        let make = Box::new(move |a, _| Expr::cast(CastOp::FloatToFloat, result, a));
        all.push(Operation { c: format!("({})a", c_type(result, true)), operand: ty, result, make });
    }
    // What libgcc does with out-of-range 128-bit conversions is nobody's promise.
    for to in [8, 16, 32, 64] {
        let result = Type::Int(to);
        for (op, signed) in [(CastOp::FloatToSInt, true), (CastOp::FloatToUInt, false)] {
            let make = Box::new(move |a, _| Expr::cast(op, result, a));
            all.push(Operation { c: format!("({})a", c_type(result, signed)), operand: ty, result, make });
        }
    }
}

fn ones(width: u16) -> u128 {
    u128::MAX >> (128 - width)
}

fn operand(random: &mut Prng, ty: Type) -> u128 {
    let width = ty.bits(DataModel::Lp64);
    let any = (u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())) & ones(width);
    match ty {
        Type::Float(kind) => float_operand(random, kind, any),
        _ => match random.below(6) {
            0 => u128::from(random.below(4)),
            1 => ones(width) - u128::from(random.below(4)),
            2 => (1 << (width - 1)) - u128::from(random.below(2)),
            3 => any >> random.below(width.into()),
            _ => any,
        },
    }
}

fn float_operand(random: &mut Prng, kind: FloatKind, any: u128) -> u128 {
    let f64_bits = match random.below(8) {
        0 => [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, f64::INFINITY, f64::NEG_INFINITY][random.below(8) as usize].to_bits(),
        1 => (random.next_u64() as i64 as f64).to_bits(),
        2 => ((random.next_u64() >> random.below(64)) as f64 + 0.5).to_bits(),
        3 => (-((random.next_u64() >> random.below(64)) as f64)).to_bits(),
        4 => [1u64 << 31, 1 << 32, 1 << 63, (1 << 31) - 1, (1 << 15) - 1, 255, 256, 65536]
            .map(|n| n as f64 * if random.below(2) == 0 { 1.0 } else { -1.0 })[random.below(8) as usize]
            .to_bits(),
        5 => (f64::from_bits(any as u64 & !(0x7ff << 52) | 0x3ff << 52)).to_bits(),
        _ => any as u64,
    };
    match kind {
        FloatKind::F64 => f64_bits.into(),
        FloatKind::F32 if random.below(2) == 0 => any & 0xffff_ffff,
        FloatKind::F32 => (f64::from_bits(f64_bits) as f32).to_bits().into(),
        FloatKind::F80 => {
            let exponent = match random.below(3) {
                0 => random.below(0x8000) as u128,
                1 => 0x3fff + random.below(70) as u128,
                _ => [0, 1, 0x7ffe, 0x7fff, 0x3fff][random.below(5) as usize],
            };
            let mantissa = if random.below(4) == 0 { 1 << 63 } else { any & u128::from(u64::MAX) };
            // The leading bit is explicit, and anything else is not a number that a C program can make.
            let mantissa = if exponent == 0 { mantissa & !(1 << 63) } else { mantissa | 1 << 63 };
            u128::from(random.below(2)) << 79 | exponent << 64 | mantissa
        }
    }
}

/// Whether C leaves the result open.
fn is_open(operation: &Operation, a: u128, b: u128) -> bool {
    let width = operation.operand.bits(DataModel::Lp64);
    let divides = operation.c.contains('/') || operation.c.contains(" % (");
    let integer = matches!(operation.operand, Type::Int(_));
    let least = 1 << (width - 1);
    integer && divides && (b == 0 || a == least && b == ones(width))
}

const CASES: usize = 120;

struct Table {
    operations: Vec<Operation>,
    operands: Vec<Vec<(u128, u128)>>,
}

fn table() -> Table {
    let mut random = Prng::new(5);
    let operations = operations();
    let operands = operations
        .iter()
        .map(|operation| {
            let mut pairs = Vec::new();
            while pairs.len() < CASES {
                let a = operand(&mut random, operation.operand);
                let b = if random.below(8) == 0 { a } else { operand(&mut random, operation.operand) };
                if !is_open(operation, a, b) {
                    pairs.push((a, b));
                }
            }
            pairs
        })
        .collect();
    Table { operations, operands }
}

fn c_program(table: &Table) -> String {
    let mut source =
        "#include <stdio.h>\n#include <string.h>\nstruct pair { unsigned long a[2], b[2]; };\n".to_string();
    for (number, (operation, operands)) in table.operations.iter().zip(&table.operands).enumerate() {
        let (ty, bytes) = (c_type(operation.operand, false), operation.operand.bytes(DataModel::Lp64));
        let (result, result_bytes) = (c_type(operation.result, false), operation.result.bytes(DataModel::Lp64));
        let result = if operation.result == Type::BOOL { "unsigned char" } else { result };
        let rows: Vec<String> = operands
            .iter()
            .map(|(a, b)| {
                let half = |x: u128| format!("{{{:#x},{:#x}}}", x as u64, (x >> 64) as u64);
                format!("{{{},{}}}", half(*a), half(*b))
            })
            .collect();
        write!(
            source,
            "static struct pair in{number}[] = {{{}}};
__attribute__((noinline)) static {result} f{number}({ty} a, {ty} b) {{ return {}; }}
static void t{number}(void) {{
  for (int i = 0; i < {CASES}; i++) {{
    {ty} a = 0, b = 0; unsigned long r[2] = {{0, 0}};
    memcpy(&a, in{number}[i].a, {bytes}); memcpy(&b, in{number}[i].b, {bytes});
    {result} x = f{number}(a, b);
    memcpy(r, &x, {result_bytes});
    printf(\"%016lx%016lx\\n\", r[1], r[0]);
  }}
}}
",
            rows.join(","),
            operation.c
        )
        .expect("writing to a string");
    }
    source += "int main(void) {\n";
    for number in 0..table.operations.len() {
        writeln!(source, "t{number}();").expect("writing to a string");
    }
    source + "return 0; }\n"
}

/// A program that stores the result of each case at its own place in one object.
fn ir_program(table: &Table) -> Program {
    let mut program = Program::default();
    program.files.push(String::new());
    program.texts.push(String::new());
    let count = table.operations.len() * CASES;
    let results = program.objects.push(Object {
        name: "results".to_string(),
        kind: ObjectKind::Global,
        size: count as u64 * 16,
        align: 16,
        init: Vec::new(),
        span: Span::NONE,
    });
    let mut instrs = Vec::new();
    let mut locals = crate::operators::parameters();
    for (operation, operands) in table.operations.iter().zip(&table.operands) {
        // Through registers, so that both evaluators have something to do.
        let a = locals.push(local(operation.operand));
        let b = locals.push(local(operation.operand));
        for (left, right) in operands {
            let place = (instrs.len() / 3) as u128 * 16;
            let constant = |bits| Expr::Const { ty: operation.operand, bits };
            instrs.push(instr(Op::Assign { dst: a, value: constant(*left) }));
            instrs.push(instr(Op::Assign { dst: b, value: constant(*right) }));
            let value = (operation.make)(Expr::Local(a), Expr::Local(b));
            let (ty, value) = match operation.result {
                Type::BOOL => (Type::I8, Expr::cast(CastOp::ZeroExtend, Type::I8, value)),
                ty => (ty, value),
            };
            let ptr = Expr::binary(BinaryOp::PtrAdd, Expr::Object(results), Expr::int(place, 64));
            let to = Access { ptr, ty, order: Order::NotAtomic, volatile: false };
            instrs.push(instr(Op::Store { to, value }));
        }
    }
    let exit = Terminator { kind: TerminatorKind::Exit(Expr::int(0, 32)), span: Span::NONE };
    let blocks = vec![Block { instrs, terminator: exit, span: Span::NONE }].into();
    let entry = program.functions.push(Function {
        name: "start".to_string(),
        params: 2,
        ret: None,
        locals,
        slots: Default::default(),
        body: Body::Blocks(blocks),
        span: Span::NONE,
    });
    program.entry = Some(entry);
    program
}

pub fn parameters() -> leno_ir::index::IndexVec<LocalId, Local> {
    vec![local(Type::I32), local(Type::Ptr)].into()
}

pub fn local(ty: Type) -> Local {
    Local { name: String::new(), ty, signed: false }
}

pub fn instr(op: Op) -> Instr {
    Instr { op, span: Span::NONE }
}

#[test]
fn operators_compute_what_gcc_computes() {
    let table = table();
    let expected = output_of("operators", &c_program(&table), &["-O1", "-fwrapv"]);
    let program = ir_program(&table);
    leno_ir::validate::validate(&program).expect("the program is valid");
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    machine.run(&mut RoundRobin::default(), &mut Captured::new(0), u64::MAX);
    let results = image.object_address(ObjectId(0));
    let mut lines = expected.lines();
    let mut wrong = Vec::new();
    let mut place = 0;
    for (operation, operands) in table.operations.iter().zip(&table.operands) {
        for (a, b) in operands {
            let value = machine.peek(results + place, 16).expect("it is in bounds").bits;
            let expected = lines.next().expect("gcc's program prints every case");
            if format!("{value:032x}") != expected {
                wrong.push(format!(
                    "{} on {}: a={a:#x} b={b:#x}\n  gcc  {expected}\n  leno {value:032x}",
                    operation.c,
                    c_type(operation.operand, false)
                ));
            }
            place += 16;
        }
    }
    let count = table.operations.len() * CASES;
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(count > 20_000, "{count}");
}
