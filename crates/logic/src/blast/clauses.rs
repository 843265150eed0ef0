//! From gates to clauses.
//!
//! A gate gets a variable, and the clauses that define it (Tseitin), when something that is asked for depends on it.
//! Trees of conjunctions whose inner gates have no other use become one gate with many inputs, and two exclusive ors in
//! a row one with three: fewer variables, and clauses that propagate more. Inner gates that turn out to be needed later
//! get their own definition then.

use super::INTERVAL;
use super::circuit::{Circuit, Gate, Wire};
use crate::core::ClauseSink;
use crate::limits::{Limits, Stop};
use crate::literal::Lit;

/// The most inputs of a conjunction.
const INPUTS: usize = 256;

/// Which gates have literals.
#[derive(Default)]
pub struct Clauses {
    /// By gate.
    literals: Vec<Option<Lit>>,
}

/// A gate as it is encoded.
enum Shape {
    Leaf,
    And(Vec<Wire>),
    Xor(Wire, Wire),
    Xor3(Wire, Wire, Wire),
    Choose(Wire, Wire, Wire),
    Majority(Wire, Wire, Wire),
}

impl Clauses {
    /// The literal of a wire, if it has one.
    pub fn existing(&self, wire: Wire) -> Option<Lit> {
        if wire.gate() == 0 {
            return Some(Lit::from(!wire.is_inverted()));
        }
        let lit = self.literals.get(wire.gate()).copied().flatten()?;
        Some(lit.with_value(!wire.is_inverted()))
    }

    /// The literal of a wire, with all clauses that it needs.
    pub fn literal(
        &mut self,
        circuit: &Circuit,
        root: Wire,
        sink: &mut dyn ClauseSink,
        limits: &Limits,
    ) -> Result<Lit, Stop> {
        if let Some(lit) = self.existing(root) {
            return Ok(lit);
        }
        if self.literals.len() < circuit.len() {
            self.literals.resize(circuit.len(), None);
        }
        let mut waiting = vec![root];
        let mut defined = 0;
        while let Some(&wire) = waiting.last() {
            if self.existing(wire).is_some() {
                waiting.pop();
                continue;
            }
            let shape = self.shape(circuit, wire);
            let before = waiting.len();
            let missing = |input: &Wire| self.existing(*input).is_none();
            match shape {
                Shape::Leaf => {}
                Shape::And(ref inputs) => waiting.extend(inputs.iter().copied().filter(missing)),
                Shape::Xor(a, b) => waiting.extend([a, b].into_iter().filter(missing)),
                Shape::Xor3(a, b, c) | Shape::Choose(a, b, c) | Shape::Majority(a, b, c) => {
                    waiting.extend([a, b, c].into_iter().filter(missing));
                }
            }
            if waiting.len() > before {
                continue;
            }
            waiting.pop();
            let output = sink.new_var().positive();
            self.define(&shape, output, sink);
            self.literals[wire.gate()] = Some(output);
            defined += 1;
            if defined % INTERVAL == 0 {
                limits.stop().map_or(Ok(()), Err)?;
            }
        }
        Ok(self.existing(root).unwrap_or(Lit::TRUE))
    }

    fn shape(&self, circuit: &Circuit, wire: Wire) -> Shape {
        match circuit.gate(wire) {
            Gate::Constant | Gate::Input => Shape::Leaf,
            Gate::And(a, b) => Shape::And(self.conjuncts(circuit, a, b)),
            Gate::Xor(a, b) => self.exclusive_or(circuit, a, b),
            Gate::Choose(c, a, b) => Shape::Choose(c, a, b),
            Gate::Majority(a, b, c) => Shape::Majority(a, b, c),
        }
    }

    /// Whether a gate can be a part of the one gate that it is an input of.
    fn can_dissolve(&self, circuit: &Circuit, wire: Wire) -> bool {
        circuit.is_used_once(wire) && self.existing(wire).is_none()
    }

    fn conjuncts(&self, circuit: &Circuit, a: Wire, b: Wire) -> Vec<Wire> {
        let mut found = Vec::new();
        let mut waiting = vec![b, a];
        while let Some(wire) = waiting.pop() {
            match circuit.gate(wire) {
                Gate::And(x, y)
                    if !wire.is_inverted()
                        && found.len() + waiting.len() < INPUTS
                        && self.can_dissolve(circuit, wire) =>
                {
                    waiting.extend([y, x]);
                }
                _ => found.push(wire),
            }
        }
        found
    }

    fn exclusive_or(&self, circuit: &Circuit, a: Wire, b: Wire) -> Shape {
        for (a, b) in [(a, b), (b, a)] {
            if let Gate::Xor(x, y) = circuit.gate(a)
                && self.can_dissolve(circuit, a)
            {
                return Shape::Xor3(x, y, b);
            }
        }
        Shape::Xor(a, b)
    }

    /// Writes the clauses that make `output` the output of a gate whose inputs have literals.
    fn define(&self, shape: &Shape, output: Lit, sink: &mut dyn ClauseSink) {
        let of = |wire: Wire| self.existing(wire).unwrap_or(Lit::TRUE);
        match *shape {
            Shape::Leaf => {}
            Shape::And(ref inputs) => {
                let mut long = Vec::with_capacity(inputs.len() + 1);
                long.push(output);
                for &input in inputs {
                    sink.add_clause(&[!output, of(input)]);
                    long.push(!of(input));
                }
                sink.add_clause(&long);
            }
            Shape::Xor(a, b) => even([of(a), of(b), output], sink),
            Shape::Xor3(a, b, c) => even([of(a), of(b), of(c), output], sink),
            Shape::Choose(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                for (output, a, b) in [(output, a, b), (!output, !a, !b)] {
                    sink.add_clause(&[!c, !a, output]);
                    sink.add_clause(&[c, !b, output]);
                    // Implied by the others, but not by unit propagation.
                    sink.add_clause(&[!a, !b, output]);
                }
            }
            Shape::Majority(a, b, c) => {
                let (a, b, c) = (of(a), of(b), of(c));
                for (output, a, b, c) in [(output, a, b, c), (!output, !a, !b, !c)] {
                    sink.add_clause(&[!a, !b, output]);
                    sink.add_clause(&[!a, !c, output]);
                    sink.add_clause(&[!b, !c, output]);
                }
            }
        }
    }
}

/// An even number of the literals hold: no assignment with an odd number.
fn even<const N: usize>(lits: [Lit; N], sink: &mut dyn ClauseSink) {
    for pattern in (0u32..1 << N).filter(|pattern| pattern.count_ones() % 2 == 1) {
        let mut clause = lits;
        for (place, lit) in clause.iter_mut().enumerate() {
            *lit = lit.with_value(pattern >> place & 1 == 0);
        }
        sink.add_clause(&clause);
    }
}
