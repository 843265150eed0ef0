//! What a model should have known about an operation that it is wrong about.
//!
//! First the table of special cases of IEEE 754 (infinities, zeros, what is not a number, signs), which is one formula.
//! If that is not what the model violates, then the operation is monotone, also after rounding, and the model's result
//! is too large or too small. Say it is too large: 2 + 3 = 7. Then arguments that are at most 2 and 3 have at most the
//! sum 5. And so does any *corner* above them whose result is still less than 7: arguments up to 3 and 3 have at most
//! the sum 6. We say the first, which is sharp, and one of the second kind with corners that are round numbers, since
//! these are what programs compare with.
//!
//! Floats of one sign are ordered like their bits. Sums and roots are monotone in that order, with all negative ones
//! below; what is not a number is at either end of it, by its sign, and all results hold there, too, as the default one
//! is negative. Products and quotients are monotone in magnitude.

use super::exact::Format;
use leno_logic::term::{Mismatch, Term, Terms};
use rustc_hash::FxHashMap;

/// What is known of an operation, beside its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    Sum(Format),
    Product(Format),
    Quotient(Format),
    Root(Format),
    /// A conversion or a rounding.
    Monotone(Format, Format),
}

impl Rule {
    /// The formats of the arguments and of the result.
    fn formats(self) -> (Format, Format) {
        match self {
            Rule::Sum(format) | Rule::Product(format) | Rule::Quotient(format) | Rule::Root(format) => (format, format),
            Rule::Monotone(from, to) => (from, to),
        }
    }
}

type Compute<'a> = dyn Fn(&[u128]) -> u128 + 'a;

pub fn lemmas(terms: &mut Terms, rule: Rule, mismatch: &Mismatch, compute: &Compute<'_>) -> Vec<Term> {
    let table = special_cases(terms, rule, &mismatch.arguments, mismatch.application);
    if let Some(table) = table.filter(|&table| !holds(terms, table, mismatch)) {
        return vec![table];
    }
    monotone(terms, rule, mismatch, compute)
}

/// Whether a formula over the arguments and the result holds in the model.
fn holds(terms: &mut Terms, formula: Term, mismatch: &Mismatch) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    for (&argument, &value) in mismatch.arguments.iter().zip(&mismatch.values) {
        values.insert(argument, terms.bits(terms.width(argument), value));
    }
    let found = terms.bits(terms.width(mismatch.application), mismatch.found);
    values.insert(mismatch.application, found);
    let formula = terms.substitute(formula, &values);
    terms.as_bool(formula) != Some(false)
}

// --- special cases

/// Conditions and results, the first that applies; then what holds of all others.
struct Table<'a> {
    terms: &'a mut Terms,
    format: Format,
    cases: Vec<(Term, Term)>,
}

impl Table<'_> {
    fn case(&mut self, condition: Term, result: Term) {
        self.cases.push((condition, result));
    }

    fn is(&mut self, a: Term, magnitude: u128) -> Term {
        self.format.has_magnitude(self.terms, a, magnitude)
    }

    fn constant(&mut self, bits: u128) -> Term {
        self.terms.bits(self.format.width, bits)
    }

    /// A magnitude with a sign.
    fn signed(&mut self, sign: Term, magnitude: u128) -> Term {
        let magnitude = self.terms.bits(self.format.width - 1, magnitude);
        let sign = self.terms.bool_to_bits(sign, 1);
        self.terms.concat(sign, magnitude)
    }

    /// What is not a number is passed on.
    fn pass_on(&mut self, a: Term) {
        let (is_number, quiet) = (self.format.is_number(self.terms, a), self.format.quiet(self.terms, a));
        let condition = self.terms.not(is_number);
        self.case(condition, quiet);
    }

    /// `a` with the sign of a product.
    fn with_sign(&mut self, sign: Term, a: Term) -> Term {
        let magnitude = self.format.magnitude(self.terms, a);
        let sign = self.terms.bool_to_bits(sign, 1);
        self.terms.concat(sign, magnitude)
    }

    fn finish(self, result: Term, otherwise: Term) -> Term {
        let is_number = self.format.is_number(self.terms, result);
        let mut formula = self.terms.and2(is_number, otherwise);
        for (condition, value) in self.cases.into_iter().rev() {
            let right = self.terms.eq(result, value);
            formula = self.terms.ite(condition, right, formula);
        }
        formula
    }
}

fn special_cases(terms: &mut Terms, rule: Rule, arguments: &[Term], result: Term) -> Option<Term> {
    let (format, _) = rule.formats();
    let mut table = Table { terms, format, cases: Vec::new() };
    arguments.iter().for_each(|argument| table.pass_on(*argument));
    let no_number = table.constant(format.no_number());
    let infinity = format.infinity();
    let negative = table.terms.is_negative(result);
    let otherwise = match (rule, arguments) {
        (Rule::Sum(_), &[a, b]) => {
            let (a_infinite, b_infinite) = (table.is(a, infinity), table.is(b, infinity));
            let (a_zero, b_zero) = (table.is(a, 0), table.is(b, 0));
            let differ = table.terms.eq(a, b);
            let differ = table.terms.not(differ);
            let invalid = table.terms.and(&[a_infinite, b_infinite, differ]);
            table.case(invalid, no_number);
            table.case(a_infinite, a);
            table.case(b_infinite, b);
            let both = table.terms.bvand(a, b);
            let zeros = table.terms.and2(a_zero, b_zero);
            table.case(zeros, both);
            table.case(a_zero, b);
            table.case(b_zero, a);
            table.terms.bool(true)
        }
        (Rule::Product(_) | Rule::Quotient(_), &[a, b]) => {
            let is_product = matches!(rule, Rule::Product(_));
            let (a_infinite, b_infinite) = (table.is(a, infinity), table.is(b, infinity));
            let (a_zero, b_zero) = (table.is(a, 0), table.is(b, 0));
            // Dividing by zero is like multiplying with infinity, and the other way round.
            let (b_large, b_small) = if is_product { (b_infinite, b_zero) } else { (b_zero, b_infinite) };
            let (one, other) = (table.terms.and2(a_infinite, b_small), table.terms.and2(a_zero, b_large));
            let invalid = table.terms.or2(one, other);
            table.case(invalid, no_number);
            let (a_negative, b_negative) = (table.terms.is_negative(a), table.terms.is_negative(b));
            let sign = table.terms.xor(a_negative, b_negative);
            let (large, small) = (table.terms.or2(a_infinite, b_large), table.terms.or2(a_zero, b_small));
            let (infinite, zero) = (table.signed(sign, infinity), table.signed(sign, 0));
            table.case(large, infinite);
            table.case(small, zero);
            let (b_one, same) = (table.is(b, format.one()), table.with_sign(sign, a));
            table.case(b_one, same);
            if is_product {
                let (a_one, same) = (table.is(a, format.one()), table.with_sign(sign, b));
                table.case(a_one, same);
            }
            table.terms.iff(negative, sign)
        }
        (Rule::Root(_), &[a]) => {
            let zero = table.is(a, 0);
            table.case(zero, a);
            let is_negative = table.terms.is_negative(a);
            table.case(is_negative, no_number);
            let infinite = table.is(a, infinity);
            table.case(infinite, a);
            table.terms.not(negative)
        }
        _ => return None,
    };
    Some(table.finish(result, otherwise))
}

// --- monotone

/// The order in which an operation is monotone in an argument.
#[derive(Clone, Copy)]
struct Axis {
    format: Format,
    by_magnitude: bool,
    /// Larger arguments have smaller results.
    falls: bool,
    /// Whether the lemma has to leave out what is not a number.
    needs_number: bool,
}

impl Axis {
    fn mask(self) -> u128 {
        (1 << self.format.width) - 1
    }

    /// A number that grows with the result.
    fn position(self, value: u128) -> u128 {
        let sign = self.format.sign();
        let key = match (self.by_magnitude, value & sign) {
            (true, _) => value & !sign,
            (false, 0) => value | sign,
            (false, _) => !value & self.mask(),
        };
        if self.falls { !key & self.mask() } else { key }
    }

    /// The value at a position; none if there is no finite one.
    fn value(self, position: u128) -> Option<u128> {
        let sign = self.format.sign();
        let key = if self.falls { !position & self.mask() } else { position };
        let value = match (self.by_magnitude, key & sign) {
            (true, 0) => key,
            (true, _) => return None,
            (false, 0) => !key & self.mask(),
            (false, _) => key & !sign,
        };
        (value & !sign < self.format.infinity()).then_some(value)
    }

    /// That a term is not beyond a value.
    fn until(self, terms: &mut Terms, a: Term, value: u128) -> Term {
        let sign = self.format.sign();
        let magnitude = self.format.magnitude(terms, a);
        let bound = terms.bits(self.format.width - 1, value & !sign);
        let (at_most, at_least) = (terms.ule(magnitude, bound), terms.ule(bound, magnitude));
        let is_negative = terms.is_negative(a);
        let is_positive = terms.not(is_negative);
        let mut within = match (self.by_magnitude, self.falls, value & sign != 0) {
            (true, false, _) => at_most,
            (true, true, _) => at_least,
            (false, false, false) => terms.or2(is_negative, at_most),
            (false, false, true) => terms.and2(is_negative, at_least),
            (false, true, false) => terms.and2(is_positive, at_least),
            (false, true, true) => terms.or2(is_positive, at_most),
        };
        if self.needs_number {
            let is_number = self.format.is_number(terms, a);
            within = terms.and2(within, is_number);
        }
        within
    }

    /// The value between two positions whose bits have the most zeros at the end.
    fn roundest(self, from: u128, to: u128) -> Option<u128> {
        let (a, b) = (self.value(from)?, self.value(to)?);
        let sign = self.format.sign();
        if a & sign != b & sign {
            return Some(0);
        }
        let (low, high) = ((a & !sign).min(b & !sign), (a & !sign).max(b & !sign));
        let Some(below) = low.checked_sub(1) else { return Some(a & sign) };
        let free = 127 - (below ^ high).leading_zeros();
        Some(high >> free << free | a & sign)
    }
}

fn axes(rule: Rule, is_upper: bool) -> (Vec<Axis>, Axis) {
    let (from, to) = rule.formats();
    let by_magnitude = matches!(rule, Rule::Product(_) | Rule::Quotient(_));
    // For a lower bound everything is turned round.
    let axis = |format, falls| Axis { format, by_magnitude, falls: falls == is_upper, needs_number: false };
    let result = axis(to, false);
    let arguments = match rule {
        Rule::Sum(_) | Rule::Product(_) => vec![axis(from, false); 2],
        // What is not a number has a larger magnitude than any divisor.
        Rule::Quotient(_) => vec![axis(from, false), Axis { needs_number: is_upper, ..axis(from, true) }],
        Rule::Root(_) => vec![axis(from, false)],
        Rule::Monotone(..) => vec![Axis { needs_number: true, ..axis(from, false) }],
    };
    (arguments, result)
}

fn monotone(terms: &mut Terms, rule: Rule, mismatch: &Mismatch, compute: &Compute<'_>) -> Vec<Term> {
    let (_, upwards) = axes(rule, true);
    let is_upper = upwards.position(mismatch.found) > upwards.position(mismatch.exact);
    let (axes, result) = axes(rule, is_upper);
    let found = result.position(mismatch.found);
    // The result at a corner, if that excludes the model.
    let excludes = |corner: &[u128]| {
        let value = compute(corner);
        let is_number = value & !result.format.sign() <= result.format.infinity();
        (is_number && result.position(value) < found).then_some(value)
    };
    let is_finite = |(axis, value): (&Axis, &u128)| axis.value(axis.position(*value)).is_some();
    if !axes.iter().zip(&mismatch.values).all(is_finite) || excludes(&mismatch.values).is_none() {
        return Vec::new();
    }
    let mut corners = vec![mismatch.values.clone()];
    let mut corner = mismatch.values.clone();
    for (index, axis) in axes.iter().enumerate() {
        let from = axis.position(corner[index]);
        let last = farthest(from, axis.mask(), |position| {
            let Some(value) = axis.value(position) else { return false };
            let mut moved = corner.clone();
            moved[index] = value;
            excludes(&moved).is_some()
        });
        corner[index] = axis.roundest(from, last).unwrap_or(corner[index]);
    }
    corners.push(corner);
    corners.dedup();
    let mut lemmas = Vec::new();
    for corner in corners {
        let Some(bound) = excludes(&corner) else { continue };
        let mut within = Vec::new();
        for ((axis, argument), value) in axes.iter().zip(&mismatch.arguments).zip(&corner) {
            within.push(axis.until(terms, *argument, *value));
        }
        let within = terms.and(&within);
        let bounded = result.until(terms, mismatch.application, bound);
        lemmas.push(terms.implies(within, bounded));
    }
    lemmas
}

/// The last position from `from` to `to` up to which something holds, which holds at `from`.
fn farthest(from: u128, to: u128, holds: impl Fn(u128) -> bool) -> u128 {
    let (mut good, mut bad) = (from, to + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match holds(middle) {
            true => good = middle,
            false => bad = middle,
        }
    }
    good
}
