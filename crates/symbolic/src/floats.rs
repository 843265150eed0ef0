//! Floating point, decided lazily.
//!
//! Comparisons, signs, and conversions from and to integers are terms (`exact`): they are what conditions are made of,
//! and they are small. Sums, products, quotients, roots and library functions are not: circuits of them are large and
//! hard. They are applications of functions that the logic does not know ([`leno_logic::term::Function`]). Of constants
//! they are computed, by the interpreter's own arithmetic; otherwise they may be anything, until a model of the solver
//! is wrong about one. Then it is told why it is wrong (`lemmas`), and asked again, by the engine. So a proof that
//! nothing goes wrong does not depend on values that do not matter, which in most programs that compute with floats are
//! all of them.
//!
//! `long double` has no terms at all: also its comparisons are applications.

mod exact;
mod lemmas;
#[cfg(test)]
mod tests;

use exact::Format;
use lemmas::Rule;
use leno_ir::interp::{operate, pure_call};
use leno_ir::program::{BinaryOp, CastOp, DataModel, FloatKind, Type, UnaryOp};
use leno_logic::term::{Function, Mismatch, Term, Terms};
use std::sync::Arc;

/// A function that is computed by the interpreter.
struct Operation {
    name: String,
    what: What,
    model: DataModel,
    width: u32,
    rule: Option<Rule>,
}

enum What {
    Binary(BinaryOp, FloatKind),
    Root(FloatKind),
    Cast(CastOp, Type, Type),
    /// Of the library, by its name.
    Library,
}

impl Function for Operation {
    fn name(&self) -> &str {
        &self.name
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn compute(&self, arguments: &[u128]) -> u128 {
        match self.what {
            What::Binary(op, kind) => operate::binary(self.model, op, Type::Float(kind), arguments[0], arguments[1]),
            What::Root(kind) => operate::unary(self.model, UnaryOp::FSqrt, Type::Float(kind), arguments[0]),
            What::Cast(op, from, to) => operate::cast(self.model, op, from, to, arguments[0]),
            What::Library => pure_call(self.model, &self.name, arguments).unwrap_or(0),
        }
    }

    fn lemmas(&self, terms: &mut Terms, mismatch: &Mismatch) -> Vec<Term> {
        match self.rule {
            Some(rule) => lemmas::lemmas(terms, rule, mismatch, &|arguments| self.compute(arguments)),
            None => Vec::new(),
        }
    }
}

fn kind(width: u32) -> FloatKind {
    match width {
        32 => FloatKind::F32,
        64 => FloatKind::F64,
        _ => FloatKind::F80,
    }
}

/// Terms of floating-point operations, for a data model.
pub struct Floats<'a> {
    pub terms: &'a mut Terms,
    pub model: DataModel,
}

impl Floats<'_> {
    fn apply(&mut self, name: String, what: What, width: u32, rule: Option<Rule>, arguments: &[Term]) -> Term {
        let function = self.terms.function(Arc::new(Operation { name, what, model: self.model, width, rule }));
        self.terms.apply(function, arguments)
    }

    /// An operation on two floats of one kind. That of a comparison is a vector of one bit.
    pub fn binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let width = self.terms.width(a);
        let Some(format) = Format::of(width) else { return self.binary_application(op, a, b, None) };
        let truth = match op {
            BinaryOp::FEq => format.equal(self.terms, a, b),
            BinaryOp::FNe => {
                let equal = format.equal(self.terms, a, b);
                self.terms.not(equal)
            }
            BinaryOp::FLt => format.less(self.terms, a, b),
            BinaryOp::FLe => format.less_or_equal(self.terms, a, b),
            BinaryOp::FSub => {
                // A sum with the opposite, unless that is not a number, whose sign would be seen.
                let opposite = format.opposite(self.terms, b);
                let sum = self.binary(BinaryOp::FAdd, a, opposite);
                let (a_is_number, b_is_number) = (format.is_number(self.terms, a), format.is_number(self.terms, b));
                let ordinary = self.terms.implies(a_is_number, b_is_number);
                let quiet = format.quiet(self.terms, b);
                return self.terms.ite(ordinary, sum, quiet);
            }
            BinaryOp::FMul => return self.binary_application(op, a, b, Some(Rule::Product(format))),
            BinaryOp::FDiv => return self.binary_application(op, a, b, Some(Rule::Quotient(format))),
            _ => return self.binary_application(op, a, b, Some(Rule::Sum(format))),
        };
        self.terms.bool_to_bits(truth, 1)
    }

    fn binary_application(&mut self, op: BinaryOp, a: Term, b: Term, rule: Option<Rule>) -> Term {
        let width = self.terms.width(a);
        let is_comparison = matches!(op, BinaryOp::FEq | BinaryOp::FNe | BinaryOp::FLt | BinaryOp::FLe);
        let name = format!("{op:?}{width}").to_lowercase();
        self.apply(name, What::Binary(op, kind(width)), if is_comparison { 1 } else { width }, rule, &[a, b])
    }

    pub fn negate(&mut self, a: Term) -> Term {
        let sign = self.sign(a);
        self.terms.bvxor(a, sign)
    }

    pub fn absolute(&mut self, a: Term) -> Term {
        let sign = self.sign(a);
        let rest = self.terms.bvnot(sign);
        self.terms.bvand(a, rest)
    }

    fn sign(&mut self, a: Term) -> Term {
        let width = self.terms.width(a);
        self.terms.bits(width, 1 << (width - 1))
    }

    pub fn root(&mut self, a: Term) -> Term {
        let width = self.terms.width(a);
        self.apply(format!("fsqrt{width}"), What::Root(kind(width)), width, Format::of(width).map(Rule::Root), &[a])
    }

    /// A conversion from or to a float.
    pub fn cast(&mut self, op: CastOp, to: Type, value: Term) -> Term {
        let (from_width, to_width) = (self.terms.width(value), u32::from(to.bits(self.model)));
        let is_small = from_width <= 64 && to_width <= 64;
        let (from_format, to_format) = (Format::of(from_width), Format::of(to_width));
        let from = match op {
            CastOp::UIntToFloat | CastOp::SIntToFloat => Type::Int(from_width as u16),
            _ => Type::Float(kind(from_width)),
        };
        match (op, from_format, to_format) {
            (CastOp::UIntToFloat, _, Some(to)) if is_small => return to.of_unsigned(self.terms, value),
            (CastOp::SIntToFloat, _, Some(to)) if is_small => return to.of_signed(self.terms, value),
            (CastOp::FloatToSInt, Some(from), _) if is_small => return from.to_signed(self.terms, value, to_width),
            (CastOp::FloatToUInt, Some(from), _) if is_small => return from.to_unsigned(self.terms, value, to_width),
            (CastOp::FloatToFloat, Some(_), Some(_)) if from_width < to_width => {
                return exact::widen(self.terms, value);
            }
            (CastOp::FloatToFloat, ..) if from_width == to_width => return value,
            _ => {}
        }
        let rule = match (op, from_format, to_format) {
            (CastOp::FloatToFloat, Some(from), Some(to)) => Some(Rule::Monotone(from, to)),
            _ => None,
        };
        let sign = if matches!(op, CastOp::UIntToFloat | CastOp::FloatToUInt) { "u" } else { "" };
        let (a, b) = match op {
            CastOp::UIntToFloat | CastOp::SIntToFloat => ("i", "f"),
            CastOp::FloatToUInt | CastOp::FloatToSInt => ("f", "i"),
            _ => ("f", "f"),
        };
        let name = format!("{sign}{a}{from_width}to{b}{to_width}");
        self.apply(name, What::Cast(op, from, to), to_width, rule, &[value])
    }

    /// A function of the library that depends on nothing but these arguments, which are numbers.
    pub fn library(&mut self, name: &str, width: u32, arguments: &[Term]) -> Term {
        let format = Format::of(width).filter(|_| arguments.iter().all(|a| self.terms.width(*a) == width));
        let plain = name.trim_end_matches('f');
        match (plain, format, arguments) {
            ("sqrt", Some(_), &[a]) => return self.root(a),
            ("fabs", Some(_), &[a]) => return self.absolute(a),
            ("fmin", Some(format), &[a, b]) => return format.least(self.terms, a, b),
            ("fmax", Some(format), &[a, b]) => return format.greatest(self.terms, a, b),
            _ => {}
        }
        let is_rounding = matches!(plain, "floor" | "ceil" | "trunc" | "round" | "rint" | "nearbyint");
        let rule = format.filter(|_| is_rounding).map(|format| Rule::Monotone(format, format));
        self.apply(name.to_string(), What::Library, width, rule, arguments)
    }
}
