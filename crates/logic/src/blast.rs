//! Bit-blasting: terms as circuits, circuits as clauses.
//!
//! Each term is translated once, operands first, into wires of a [`Circuit`], one for each bit; only the gates that a
//! wanted literal depends on ever become clauses (see `clauses`). So the high bits of a sum that are not used cost
//! nothing, and more can be asked for at any time: what is translated stays translated.

mod arithmetic;
mod circuit;
mod clauses;

pub use circuit::{Circuit, Gate, Wire};

use crate::core::ClauseSink;
use crate::limits::{Limits, Stop};
use crate::literal::Lit;
use crate::term::{Assignment, Evaluation, Node, Term, Terms};
use clauses::Clauses;
use rustc_hash::FxHashMap;

/// Translates terms of one arena into clauses of one solver.
#[derive(Default)]
pub struct Blaster {
    circuit: Circuit,
    clauses: Clauses,
    /// Where the wires of a term begin, by its index.
    place: Vec<u32>,
    wires: Vec<Wire>,
    /// Quotients and remainders come together: by dividend and divisor.
    divisions: FxHashMap<(Term, Term), (Vec<Wire>, Vec<Wire>)>,
    /// The applications of functions that have been translated, to fresh bits.
    applications: Vec<Term>,
}

const NOWHERE: u32 = u32::MAX;

/// After how many gates limits are looked at: some ten milliseconds.
const INTERVAL: usize = 20_000;

impl Blaster {
    pub fn new() -> Blaster {
        Blaster::default()
    }

    /// The literal that is true exactly when the Boolean is.
    pub fn literal(&mut self, terms: &Terms, term: Term, sink: &mut dyn ClauseSink) -> Lit {
        self.bits(terms, term, sink)[0]
    }

    /// The literals of the bits, the lowest first; one for a Boolean.
    pub fn bits(&mut self, terms: &Terms, term: Term, sink: &mut dyn ClauseSink) -> Vec<Lit> {
        match self.bits_within(terms, term, sink, &Limits::default()) {
            Ok(bits) => bits,
            Err(stop) => unreachable!("there are no limits, and yet: {stop:?}"),
        }
    }

    /// The same within limits. After a stop, what has been translated remains, and asking again goes on from there.
    pub fn bits_within(
        &mut self,
        terms: &Terms,
        term: Term,
        sink: &mut dyn ClauseSink,
        limits: &Limits,
    ) -> Result<Vec<Lit>, Stop> {
        self.translate(terms, term, limits)?;
        let wires = self.wires_of(terms, term).to_vec();
        wires.into_iter().map(|wire| self.clauses.literal(&self.circuit, wire, sink, limits)).collect()
    }

    /// The values of all variables and applications, from the values of literals. Bits of variables that no clause is
    /// about are 0, and those of applications are as they should be.
    pub fn assignment(&self, terms: &Terms, mut value: impl FnMut(Lit) -> bool) -> Assignment {
        let mut assignment = Assignment::new();
        for variable in terms.variables().filter(|&variable| self.is_translated(variable)) {
            assignment.set(terms, variable, self.value_of(terms, variable, &mut value).0);
        }
        if self.applications.is_empty() {
            return assignment;
        }
        let mut found = Vec::new();
        let mut evaluation = Evaluation::new(terms, &assignment);
        for application in self.applications() {
            let (number, seen) = self.value_of(terms, application, &mut value);
            let exact = evaluation.value(application).number();
            let number = number & seen | exact & !seen;
            evaluation.assume(application, number);
            found.push((application, number));
        }
        found.into_iter().for_each(|(application, number)| assignment.set(terms, application, number));
        assignment
    }

    /// The bits of a term that has been translated, and which of them any clause is about.
    fn value_of(&self, terms: &Terms, term: Term, value: &mut impl FnMut(Lit) -> bool) -> (u128, u128) {
        let (mut number, mut seen) = (0, 0);
        for (place, &wire) in self.wires_of(terms, term).iter().enumerate() {
            if let Some(lit) = self.clauses.existing(wire) {
                number |= u128::from(value(lit)) << place;
                seen |= 1 << place;
            }
        }
        (number, seen)
    }

    /// The applications of functions that are fresh bits, operands first.
    pub fn applications(&self) -> Vec<Term> {
        let mut sorted = self.applications.clone();
        sorted.sort_unstable();
        sorted
    }

    /// How many gates there are, inputs included.
    pub fn gates(&self) -> usize {
        self.circuit.len()
    }

    fn is_translated(&self, term: Term) -> bool {
        self.place.get(term.index()).is_some_and(|&place| place != NOWHERE)
    }

    fn wires_of(&self, terms: &Terms, term: Term) -> &[Wire] {
        let place = self.place[term.index()] as usize;
        &self.wires[place..place + terms.width(term).max(1) as usize]
    }

    /// Makes the wires of a term, and of all that it is made of.
    fn translate(&mut self, terms: &Terms, root: Term, limits: &Limits) -> Result<(), Stop> {
        if self.place.len() < terms.len() {
            self.place.resize(terms.len(), NOWHERE);
        }
        let mut waiting = vec![root];
        let mut checked = 0;
        while let Some(&term) = waiting.last() {
            if self.circuit.len() >= checked + INTERVAL {
                checked = self.circuit.len();
                limits.stop().map_or(Ok(()), Err)?;
            }
            if self.is_translated(term) {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            waiting.extend(needed(terms, term).filter(|&operand| !self.is_translated(operand)));
            if waiting.len() > before {
                continue;
            }
            waiting.pop();
            let mut wires = self.translate_node(terms, term);
            fix_known_bits(terms, term, &mut wires);
            let place = u32::try_from(self.wires.len()).ok().filter(|&place| place != NOWHERE);
            self.place[term.index()] = place.expect("fewer than 2^32 bits");
            self.wires.extend(wires);
        }
        Ok(())
    }

    fn translate_node(&mut self, terms: &Terms, term: Term) -> Vec<Wire> {
        let width = terms.width(term).max(1);
        let bits = |operand: Term| self.wires_of(terms, operand).to_vec();
        let bit = |operand: Term| self.wires_of(terms, operand)[0];
        match terms.node(term) {
            Node::Bool(value) => vec![Wire::from(value)],
            Node::Bits { value, .. } => (0..width).map(|place| Wire::from(value >> place & 1 == 1)).collect(),
            Node::Variable(_) => (0..width).map(|_| self.circuit.input()).collect(),
            Node::Apply(..) => {
                self.applications.push(term);
                (0..width).map(|_| self.circuit.input()).collect()
            }
            Node::Not(a) => vec![!bit(a)],
            Node::And(a, b) => {
                let (a, b) = (bit(a), bit(b));
                vec![self.circuit.and(a, b)]
            }
            Node::Xor(a, b) => {
                let (a, b) = (bit(a), bit(b));
                vec![self.circuit.xor(a, b)]
            }
            Node::Ite(c, a, b) => {
                let (c, a, b) = (bit(c), bits(a), bits(b));
                self.circuit.choose(c, &a, &b)
            }
            Node::Eq(a, b) => {
                let (a, b) = (bits(a), bits(b));
                vec![self.circuit.equal(&a, &b)]
            }
            Node::Ult(a, b) => {
                let (a, b) = (bits(a), bits(b));
                vec![self.circuit.less(&a, &b)]
            }
            Node::Slt(a, b) => {
                let (a, b) = (bits(a), bits(b));
                vec![self.circuit.signed_less(&a, &b)]
            }
            Node::UmulOverflow(a, b) => {
                let (a, b) = (bits(a), bits(b));
                vec![self.circuit.product_overflows(&a, &b)]
            }
            Node::SmulOverflow(a, b) => {
                let (a, b) = (bits(a), bits(b));
                vec![self.circuit.signed_product_overflows(&a, &b)]
            }
            Node::BvNot(a) => bits(a).into_iter().map(|wire| !wire).collect(),
            Node::BvAnd(a, b) => self.bitwise(terms, a, b, Circuit::and),
            Node::BvOr(a, b) => self.bitwise(terms, a, b, Circuit::or),
            Node::BvXor(a, b) => self.bitwise(terms, a, b, Circuit::xor),
            Node::Add(a, b) => self.sum(terms, a, b),
            Node::Mul(a, b) => match terms.as_bits(a) {
                Some(factor) => {
                    let b = bits(b);
                    self.circuit.multiple(factor, &b)
                }
                None => {
                    let (a, b) = (bits(a), bits(b));
                    self.circuit.product(&a, &b)
                }
            },
            Node::Udiv(a, b) => self.division(terms, a, b).0.clone(),
            Node::Urem(a, b) => self.division(terms, a, b).1.clone(),
            Node::Shl(a, b) => {
                let (a, b) = (bits(a), bits(b));
                let reversed: Vec<Wire> = a.into_iter().rev().collect();
                let mut shifted = self.circuit.shift_right(&reversed, &b, Wire::FALSE);
                shifted.reverse();
                shifted
            }
            Node::Lshr(a, b) => {
                let (a, b) = (bits(a), bits(b));
                self.circuit.shift_right(&a, &b, Wire::FALSE)
            }
            Node::Ashr(a, b) => {
                let (a, b) = (bits(a), bits(b));
                let sign = a[a.len() - 1];
                self.circuit.shift_right(&a, &b, sign)
            }
            Node::Concat(high, low) => [bits(low), bits(high)].concat(),
            Node::Extract { term, low, .. } => bits(term)[low as usize..(low + width) as usize].to_vec(),
            Node::SignExtend { term, .. } => {
                let mut wires = bits(term);
                wires.resize(width as usize, wires[wires.len() - 1]);
                wires
            }
        }
    }

    fn bitwise(&mut self, terms: &Terms, a: Term, b: Term, gate: fn(&mut Circuit, Wire, Wire) -> Wire) -> Vec<Wire> {
        let (a, b) = (self.wires_of(terms, a).to_vec(), self.wires_of(terms, b).to_vec());
        a.into_iter().zip(b).map(|(a, b)| gate(&mut self.circuit, a, b)).collect()
    }

    /// A sum; or a difference, where one side is a negative multiple.
    fn sum(&mut self, terms: &Terms, a: Term, b: Term) -> Vec<Wire> {
        if let Some((a, factor, b)) = as_difference(terms, a, b) {
            let (a, b) = (self.wires_of(terms, a).to_vec(), self.wires_of(terms, b).to_vec());
            let b = self.circuit.multiple(factor, &b);
            return self.circuit.difference(&a, &b);
        }
        let (a, b) = (self.wires_of(terms, a).to_vec(), self.wires_of(terms, b).to_vec());
        self.circuit.sum(&a, &b, Wire::FALSE)
    }

    fn division(&mut self, terms: &Terms, a: Term, b: Term) -> &(Vec<Wire>, Vec<Wire>) {
        if !self.divisions.contains_key(&(a, b)) {
            let (dividend, divisor) = (self.wires_of(terms, a).to_vec(), self.wires_of(terms, b).to_vec());
            let result = self.circuit.quotient_and_remainder(&dividend, &divisor);
            self.divisions.insert((a, b), result);
        }
        &self.divisions[&(a, b)]
    }
}

/// The terms whose wires those of `term` are made from.
fn needed(terms: &Terms, term: Term) -> impl Iterator<Item = Term> {
    let difference = match terms.node(term) {
        Node::Add(a, b) => as_difference(terms, a, b).map(|(a, _, b)| [a, b]),
        _ => None,
    };
    let has_operands = difference.is_none() && !matches!(terms.node(term), Node::Apply(..));
    let operands = if has_operands { Some(terms.node(term).operands()) } else { None };
    difference.into_iter().flatten().chain(operands.into_iter().flatten())
}

/// `a + b` as `x - factor · y`, if that needs no larger numbers.
fn as_difference(terms: &Terms, a: Term, b: Term) -> Option<(Term, u128, Term)> {
    let (x, (factor, y)) = match negative_multiple(terms, b) {
        Some(multiple) => (a, multiple),
        None => (b, negative_multiple(terms, a)?),
    };
    Some((x, factor, y))
}

/// `-factor · term`, if the term is that and `factor` is the smaller number.
fn negative_multiple(terms: &Terms, term: Term) -> Option<(u128, Term)> {
    let Node::Mul(factor, rest) = terms.node(term) else { return None };
    let width = terms.width(term);
    let negated = terms.as_bits(factor)?.wrapping_neg() & (u128::MAX >> (128 - width));
    (negated >> (width - 1) == 0).then_some((negated, rest))
}

/// What is known of the bits is more than what the gates show.
fn fix_known_bits(terms: &Terms, term: Term, wires: &mut [Wire]) {
    let known = terms.known(term);
    if known.zeros | known.ones == 0 {
        return;
    }
    for (place, wire) in wires.iter_mut().enumerate() {
        if known.zeros >> place & 1 == 1 {
            *wire = Wire::FALSE;
        } else if known.ones >> place & 1 == 1 {
            *wire = Wire::TRUE;
        }
    }
}
