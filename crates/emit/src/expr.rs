//! Expressions, in C that is never undefined.
//!
//! The C text of an integer expression of width *w* always has a value below 2^*w* (that is what makes
//! comparisons, divisions and right shifts plain), and its C type is unsigned and exactly as wide as [`computing`]
//! says, except below 32 bits, where it may be anything that holds the value: C promotes those to `int` as it
//! likes. Operations that can leave the range are wrapped back into it, by a cast for the widths that C has and by a
//! mask for the others. Signed operations convert their operands to signed types first, which both gcc and clang
//! define, and never overflow in them.
//!
//! Parentheses are put only where C's grammar or a reader needs them: clang refuses 256 open ones, and expressions
//! are up to 64 deep.

use crate::constant;
use crate::names;
use crate::types::{self, computing};
use leno_ir::program::{BinaryOp, CastOp, DataModel, Expr, FloatKind, Function, Program, Type, UnaryOp};

/// C text, and how tightly it holds together.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub text: String,
    level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    /// A binary or conditional operator is outermost.
    Loose,
    /// A prefix operator or a cast.
    Prefix,
    /// A name, a literal, a call.
    Tight,
}

impl Text {
    fn loose(text: String) -> Text {
        Text { text, level: Level::Loose }
    }

    fn prefix(text: String) -> Text {
        Text { text, level: Level::Prefix }
    }

    pub(crate) fn tight(text: String) -> Text {
        Text { text, level: Level::Tight }
    }

    /// As an operand of a binary operator or a cast.
    pub(crate) fn operand(self) -> String {
        self.at_least(Level::Prefix)
    }

    fn at_least(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub program: &'a Program,
    pub function: &'a Function,
}

impl Scope<'_> {
    pub(crate) fn ty(self, expr: &Expr) -> Type {
        expr.ty(&self.function.locals, self.program.model)
    }

    /// The value of `expr`, where a comma or a semicolon follows.
    pub(crate) fn value(self, expr: &Expr) -> String {
        self.text(expr).text
    }

    /// The value of `expr`, as an operand of a cast.
    pub(crate) fn operand(self, expr: &Expr) -> String {
        self.text(expr).operand()
    }

    /// The address `expr` as an operand of a cast to a pointer type.
    pub(crate) fn address(self, expr: &Expr) -> String {
        match expr {
            Expr::Object(id) => format!("&{}", names::object(self.program, *id)),
            Expr::Slot(id) => format!("&{}", names::slot(self.function, *id)),
            _ => self.operand(expr),
        }
    }

    pub(crate) fn text(self, expr: &Expr) -> Text {
        match expr {
            Expr::Const { ty: ty @ Type::Ptr, bits } => Text::prefix(constant::any(*ty, *bits)),
            Expr::Const { ty, bits } => Text::tight(constant::any(*ty, *bits)),
            Expr::Local(id) => Text::tight(names::local(self.function, *id)),
            Expr::Object(_) | Expr::Slot(_) => Text::prefix(format!("(ptr){}", self.address(expr))),
            Expr::Function(id) => Text::prefix(format!("(ptr){}", names::function(self.program, *id))),
            Expr::Unary(op, operand) => self.unary(*op, operand),
            Expr::Binary(op, operands) => self.binary(*op, &operands[0], &operands[1]),
            Expr::Cast(op, to, operand) => self.cast(*op, *to, operand),
            Expr::Select(parts) => {
                let [condition, then, otherwise] = &**parts;
                let (condition, then) = (self.operand(condition), self.operand(then));
                Text::loose(format!("{condition} ? {then} : {}", self.operand(otherwise)))
            }
        }
    }

    fn unary(self, op: UnaryOp, operand: &Expr) -> Text {
        let ty = self.ty(operand);
        let text = self.text(operand);
        match op {
            UnaryOp::Neg => {
                let width = self.width(ty);
                wrap(width, format!("{} - {}", zero(width), text.operand()))
            }
            // In parentheses wherever it is an operand: compilers suspect `!a | b` to be a slip.
            UnaryOp::Not if ty == Type::BOOL => Text::loose(format!("!{}", text.operand())),
            UnaryOp::Not => wrap(self.width(ty), format!("~{}", text.operand())),
            UnaryOp::FNeg => Text::prefix(format!("-{}", text.at_least(Level::Tight))),
            UnaryOp::FSqrt => Text::tight(format!("__builtin_sqrt{}({})", float_suffix(ty), text.text)),
            UnaryOp::FAbs => Text::tight(format!("__builtin_fabs{}({})", float_suffix(ty), text.text)),
        }
    }

    fn binary(self, op: BinaryOp, left: &Expr, right: &Expr) -> Text {
        use BinaryOp::*;
        let width = self.width(self.ty(left));
        let infix = |symbol: &str| format!("{} {symbol} {}", self.operand(left), self.operand(right));
        match op {
            Add => wrap(width, infix("+")),
            Sub => wrap(width, infix("-")),
            // Two 16-bit operands, promoted to int, could overflow it.
            Mul => wrap(width, format!("{} * {}", self.computed(left, width), self.operand(right))),
            UDiv | URem | SDiv | SRem => self.division(op, left, right, width),
            Shl => wrap(width, format!("{} << {}", self.computed(left, width), self.shift_amount(right, width))),
            LShr => Text::loose(format!("{} >> {}", self.operand(left), self.shift_amount(right, width))),
            AShr => {
                let shifted = format!("{} >> {}", signed(self.text(left), width), self.shift_amount(right, width));
                wrap_signed(width, shifted)
            }
            And => Text::loose(infix("&")),
            Or => Text::loose(infix("|")),
            Xor => Text::loose(infix("^")),
            Eq | FEq => Text::loose(infix("==")),
            Ne | FNe => Text::loose(infix("!=")),
            ULt | FLt | USubOverflow => Text::loose(infix("<")),
            ULe | FLe => Text::loose(infix("<=")),
            SLt => Text::loose(format!("{} < {}", self.signed(left, width), self.signed(right, width))),
            SLe => Text::loose(format!("{} <= {}", self.signed(left, width), self.signed(right, width))),
            SAddOverflow | SSubOverflow | SMulOverflow | UAddOverflow | UMulOverflow => {
                self.overflow(op, left, right, width)
            }
            PtrAdd | FAdd => Text::loose(infix("+")),
            PtrDiff | FSub => Text::loose(infix("-")),
            FMul => Text::loose(infix("*")),
            FDiv => Text::loose(infix("/")),
        }
    }

    /// Plain where the divisor is a constant that needs no care.
    fn division(self, op: BinaryOp, left: &Expr, right: &Expr, width: u16) -> Text {
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let remainder = matches!(op, BinaryOp::URem | BinaryOp::SRem);
        let symbol = if remainder { "%" } else { "/" };
        let harmless = match right {
            Expr::Const { bits, .. } => *bits != 0 && !(signed && *bits == constant::mask(width)),
            _ => false,
        };
        if harmless && signed {
            return wrap_signed(width, format!("{} {symbol} {}", self.signed(left, width), self.signed(right, width)));
        }
        if harmless {
            return Text::loose(format!("{} {symbol} {}", self.operand(left), self.operand(right)));
        }
        let name = if remainder { "rem" } else { "div" };
        let bits = computing(width);
        let call = if signed {
            format!("leno_s{name}{bits}({}, {})", self.signed(left, width), self.signed(right, width))
        } else {
            format!("leno_u{name}{bits}({}, {})", self.value(left), self.value(right))
        };
        if width == bits { Text::tight(call) } else { wrap(width, call) }
    }

    fn overflow(self, op: BinaryOp, left: &Expr, right: &Expr, width: u16) -> Text {
        let (name, signed) = match op {
            BinaryOp::SAddOverflow => ("sadd", true),
            BinaryOp::SSubOverflow => ("ssub", true),
            BinaryOp::SMulOverflow => ("smul", true),
            BinaryOp::UAddOverflow => ("uadd", false),
            _ => ("umul", false),
        };
        let operand = |expr| if signed { self.signed(expr, width) } else { self.value(expr) };
        let bits = computing(width).max(64);
        Text::tight(format!("leno_{name}_overflow{bits}({}, {}, {width})", operand(left), operand(right)))
    }

    /// An operand in the unsigned type of its computation.
    fn computed(self, expr: &Expr, width: u16) -> String {
        if width <= 16 { format!("(u32){}", self.operand(expr)) } else { self.operand(expr) }
    }

    /// An operand as a signed number, of any type that holds it.
    fn signed(self, expr: &Expr, width: u16) -> String {
        let small = match expr {
            Expr::Const { bits, .. } => constant::small_signed(*bits, width),
            _ => None,
        };
        match small {
            Some(value @ ..0) => format!("({value})"),
            Some(value) => value.to_string(),
            None => signed(self.text(expr), width),
        }
    }

    /// Shifts count modulo the width.
    fn shift_amount(self, amount: &Expr, width: u16) -> String {
        match amount {
            Expr::Const { bits, .. } => (bits % u128::from(width.max(1))).to_string(),
            _ if width.is_power_of_two() => {
                format!("({} & {})", self.operand(amount), constant::integer(u128::from(width) - 1, width))
            }
            _ => format!("({} % {})", self.operand(amount), constant::integer(u128::from(width), width)),
        }
    }

    fn cast(self, op: CastOp, to: Type, operand: &Expr) -> Text {
        let from = self.ty(operand);
        let text = self.text(operand);
        let (from_width, to_width) = (self.width(from), self.width(to));
        match op {
            CastOp::Truncate => truncate(text, to_width),
            CastOp::ZeroExtend => zero_extend(text, to),
            CastOp::SignExtend if to_width == computing(to_width) || to_width == 16 => {
                Text::prefix(format!("({}){}", types::value(to), signed(text, from_width)))
            }
            CastOp::SignExtend => {
                let widened = format!("(u{}){}", computing(to_width), signed(text, from_width));
                Text::loose(format!("{widened} & {}", constant::integer(constant::mask(to_width), to_width)))
            }
            CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => self.same_bits(text, from, to),
            CastOp::FloatToFloat => Text::prefix(format!("({}){}", types::value(to), text.operand())),
            CastOp::UIntToFloat => self.integer_to_float(text.operand(), from_width, to),
            CastOp::SIntToFloat => self.integer_to_float(signed(text, from_width), from_width, to),
            CastOp::FloatToUInt => float_to_integer(text, from, false, to_width),
            CastOp::FloatToSInt => float_to_integer(text, from, true, to_width),
        }
    }

    /// On 32-bit machines gcc converts wide integers in the x87 unit, and does not round what it leaves there.
    fn integer_to_float(self, operand: String, width: u16, to: Type) -> Text {
        let converted = format!("({}){operand}", types::value(to));
        let left_exact = self.program.model == DataModel::Ilp32 && width > 31 && to != Type::Float(FloatKind::F80);
        match left_exact {
            true => Text::tight(format!("leno_round{}({converted})", self.width(to))),
            false => Text::prefix(converted),
        }
    }

    /// A value of one type as the bits of another one: truncated or zero-extended where the widths differ.
    pub(crate) fn same_bits(self, text: Text, from: Type, to: Type) -> Text {
        if from == to {
            return text;
        }
        let (from_width, to_width) = (self.width(from), self.width(to));
        let bits = self.bits(text, from);
        let bits = match to_width.cmp(&from_width) {
            std::cmp::Ordering::Less => truncate(bits, to_width),
            std::cmp::Ordering::Equal => bits,
            std::cmp::Ordering::Greater => zero_extend(bits, Type::Int(to_width)),
        };
        self.of_bits(bits, to)
    }

    /// A value as an integer of its width.
    pub(crate) fn bits(self, text: Text, ty: Type) -> Text {
        match ty {
            Type::Int(_) => text,
            Type::Ptr => Text::prefix(format!("({}){}", types::value(self.program.model.word()), text.operand())),
            Type::Float(kind) => {
                let name = types::value(Type::Float(kind));
                Text::tight(format!("leno_{name}_bits({})", text.text))
            }
        }
    }

    /// The reverse of [`Scope::bits`].
    pub(crate) fn of_bits(self, text: Text, ty: Type) -> Text {
        match ty {
            Type::Int(_) => text,
            Type::Ptr => Text::prefix(format!("(ptr){}", text.operand())),
            Type::Float(FloatKind::F80) => Text::tight(format!("leno_f80_from_bits({})", text.text)),
            Type::Float(_) => Text::tight(format!("leno_{}_from({})", types::value(ty), text.text)),
        }
    }

    fn width(self, ty: Type) -> u16 {
        ty.bits(self.program.model)
    }

    pub(crate) fn model(self) -> DataModel {
        self.program.model
    }
}

fn zero(width: u16) -> &'static str {
    match computing(width) {
        32 => "0u",
        64 => "0ull",
        _ => "(u128)0",
    }
}

/// Back into range: `text` has the unsigned type of its computation, or is `int` and may be negative.
fn wrap(width: u16, text: String) -> Text {
    match width {
        32 | 64 | 128 => Text::loose(text),
        8 | 16 => Text::prefix(format!("(u{width})({text})")),
        _ => Text::loose(format!("({text}) & {}", constant::integer(constant::mask(width), width))),
    }
}

/// Back into range, from a signed type.
fn wrap_signed(width: u16, text: String) -> Text {
    match width {
        8 | 16 | 32 | 64 | 128 => Text::prefix(format!("(u{width})({text})")),
        _ => wrap(width, text),
    }
}

/// An integer in a signed type that is at least as wide: a prefix expression.
fn signed(text: Text, width: u16) -> String {
    match width {
        8 | 16 | 32 | 64 | 128 => format!("(s{width}){}", text.operand()),
        _ => format!("(s{0})leno_sext{0}({1}, {width})", computing(width), text.text),
    }
}

fn truncate(text: Text, width: u16) -> Text {
    match width {
        8 | 16 | 32 | 64 | 128 => Text::prefix(format!("(u{width}){}", text.operand())),
        _ => {
            let narrowed = format!("(u{}){}", computing(width), text.operand());
            Text::loose(format!("{narrowed} & {}", constant::integer(constant::mask(width), width)))
        }
    }
}

fn zero_extend(text: Text, to: Type) -> Text {
    Text::prefix(format!("({}){}", types::value(to), text.operand()))
}

fn float_suffix(ty: Type) -> &'static str {
    match ty {
        Type::Float(FloatKind::F32) => "f",
        Type::Float(FloatKind::F80) => "l",
        _ => "",
    }
}

/// gcc has instructions for signed 32 and 64 bits (and 16 on the x87), and makes the other conversions out of these; so
/// what comes of numbers that do not fit depends on which one it takes.
fn float_to_integer(text: Text, from: Type, signed: bool, width: u16) -> Text {
    let x87 = from == Type::Float(FloatKind::F80);
    let float = if x87 { "f80" } else { "f64" };
    let instruction = match width {
        ..=8 if x87 => 16,
        9..=16 if x87 && signed => 16,
        ..=16 => 32,
        17..=32 if signed => 32,
        17..=32 => 64,
        33..=64 if signed => 64,
        65.. if signed => 128,
        33..=64 => return truncate(Text::tight(format!("leno_{float}_to_unsigned64({})", text.text)), width),
        65.. => return truncate(Text::tight(format!("leno_{float}_to_unsigned128({})", text.text)), width),
    };
    let bits = computing(instruction).max(64);
    truncate(Text::tight(format!("leno_{float}_to_signed{bits}({}, {instruction})", text.text)), width)
}
