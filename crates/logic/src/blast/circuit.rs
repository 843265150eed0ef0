//! Circuits of gates with two or three inputs, inverters on every wire, and structural hashing.
//!
//! This is an and-inverter graph with three more kinds of gates: exclusive or, choice and majority. They are what
//! adders and merged states are made of, and each has a good encoding in clauses of its own; taken apart into ands they
//! would have to be recognised again. Gates are made in canonical form (inputs ordered, inverters moved to the output),
//! equal gates are one gate, and conjunctions are simplified with the gates below their inputs in view (the two-level
//! rules of Brummayer and Biere).

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Not;

/// The output of a gate, or its inverse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wire(u32);

impl Wire {
    pub const TRUE: Wire = Wire(0);
    pub const FALSE: Wire = Wire(1);

    /// The index of the gate.
    pub fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }

    /// Inverted once more if `invert`.
    pub fn inverted_if(self, invert: bool) -> Wire {
        Wire(self.0 ^ u32::from(invert))
    }

    fn without_inverter(self) -> Wire {
        Wire(self.0 & !1)
    }
}

impl From<bool> for Wire {
    fn from(value: bool) -> Wire {
        Wire::TRUE.inverted_if(!value)
    }
}

impl Not for Wire {
    type Output = Wire;

    fn not(self) -> Wire {
        self.inverted_if(true)
    }
}

/// What drives a wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// Gate 0 only: always true.
    Constant,
    Input,
    And(Wire, Wire),
    /// Exclusive or of wires without inverters.
    Xor(Wire, Wire),
    /// The second if the first, else the third. The first two have no inverter.
    Choose(Wire, Wire, Wire),
    /// What two or three of them are. At most one has an inverter.
    Majority(Wire, Wire, Wire),
}

impl Gate {
    pub fn inputs(self) -> impl Iterator<Item = Wire> {
        let all = match self {
            Gate::Constant | Gate::Input => [None, None, None],
            Gate::And(a, b) | Gate::Xor(a, b) => [Some(a), Some(b), None],
            Gate::Choose(a, b, c) | Gate::Majority(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        all.into_iter().flatten()
    }
}

/// Gates, each after those that it depends on.
pub struct Circuit {
    gates: Vec<Gate>,
    /// How many gates each gate is an input of.
    uses: Vec<u32>,
    table: HashTable<u32>,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit { gates: vec![Gate::Constant], uses: vec![0], table: HashTable::new() }
    }
}

impl Circuit {
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Never: the constant is always there.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    pub fn gate(&self, wire: Wire) -> Gate {
        self.gates[wire.gate()]
    }

    /// Whether exactly one gate depends on this one.
    pub fn is_used_once(&self, wire: Wire) -> bool {
        self.uses[wire.gate()] == 1
    }

    pub fn input(&mut self) -> Wire {
        self.push(Gate::Input)
    }

    fn push(&mut self, gate: Gate) -> Wire {
        let index = u32::try_from(self.gates.len()).ok().filter(|&index| index < 1 << 31);
        let index = index.expect("fewer than 2^31 gates");
        self.gates.push(gate);
        self.uses.push(0);
        for input in gate.inputs() {
            self.uses[input.gate()] += 1;
        }
        Wire(index << 1)
    }

    /// The gate in canonical form.
    fn intern(&mut self, gate: Gate) -> Wire {
        let hash = FxBuildHasher.hash_one(gate);
        if let Some(&found) = self.table.find(hash, |&index| self.gates[index as usize] == gate) {
            return Wire(found << 1);
        }
        let wire = self.push(gate);
        let gates = &self.gates;
        self.table.insert_unique(hash, wire.0 >> 1, |&index| FxBuildHasher.hash_one(gates[index as usize]));
        wire
    }

    /// The inputs of a conjunction, whatever its inverter.
    fn conjuncts(&self, wire: Wire) -> Option<(Wire, Wire)> {
        match self.gate(wire) {
            Gate::And(a, b) => Some((a, b)),
            _ => None,
        }
    }

    pub fn and(&mut self, mut a: Wire, mut b: Wire) -> Wire {
        loop {
            if a == Wire::FALSE || b == Wire::FALSE || a == !b {
                return Wire::FALSE;
            }
            if a == Wire::TRUE || a == b {
                return b;
            }
            if b == Wire::TRUE {
                return a;
            }
            match self.and_looking_below(a, b).or_else(|| self.and_looking_below(b, a)) {
                Some((x, y)) => (a, b) = (x, y),
                None => {
                    let (a, b) = (a.min(b), a.max(b));
                    return self.intern(Gate::And(a, b));
                }
            }
        }
    }

    /// A smaller conjunction that is the same as `a` and `b`, seen from the gate that drives `a`.
    fn and_looking_below(&self, a: Wire, b: Wire) -> Option<(Wire, Wire)> {
        let (x, y) = self.conjuncts(a)?;
        let same = Some((a, Wire::TRUE));
        let never = Some((Wire::FALSE, Wire::FALSE));
        if !a.is_inverted() {
            if x == !b || y == !b {
                return never;
            }
            if x == b || y == b {
                return same;
            }
            let (z, w) = self.conjuncts(b)?;
            let opposed = x == !z || x == !w || y == !z || y == !w;
            return match b.is_inverted() {
                false if opposed => never,
                // Beside x and y, of ¬(x ∧ w) only ¬w is left.
                true if opposed => same,
                true if z == x || z == y => Some((a, !w)),
                true if w == x || w == y => Some((a, !z)),
                _ => None,
            };
        }
        if x == !b || y == !b {
            return Some((b, Wire::TRUE));
        }
        if x == b {
            return Some((b, !y));
        }
        if y == b {
            return Some((b, !x));
        }
        let (z, w) = self.conjuncts(b).filter(|_| b.is_inverted())?;
        // ¬(x ∧ y) ∧ ¬(x ∧ ¬y) is ¬x.
        if (x == z && y == !w) || (x == w && y == !z) {
            return Some((!x, Wire::TRUE));
        }
        if (y == z && x == !w) || (y == w && x == !z) {
            return Some((!y, Wire::TRUE));
        }
        None
    }

    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        let invert = a.is_inverted() != b.is_inverted();
        let (a, b) = (a.without_inverter(), b.without_inverter());
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Wire::FALSE.inverted_if(invert);
        }
        if a == Wire::TRUE {
            return (!b).inverted_if(invert);
        }
        for (a, b) in [(a, b), (b, a)] {
            if let Gate::Xor(x, y) = self.gate(a)
                && (x == b || y == b)
            {
                return (if x == b { y } else { x }).inverted_if(invert);
            }
        }
        self.intern(Gate::Xor(a, b)).inverted_if(invert)
    }

    /// `a` if `condition` else `b`, for one wire.
    pub fn choose_wire(&mut self, condition: Wire, a: Wire, b: Wire) -> Wire {
        if condition.is_inverted() {
            return self.choose_wire(!condition, b, a);
        }
        if condition == Wire::TRUE || a == b {
            return a;
        }
        if a == !b {
            return !self.xor(condition, a);
        }
        if a == Wire::TRUE || a == condition {
            return self.or(condition, b);
        }
        if a == Wire::FALSE || a == !condition {
            return self.and(!condition, b);
        }
        if b == Wire::TRUE || b == !condition {
            return self.or(!condition, a);
        }
        if b == Wire::FALSE || b == condition {
            return self.and(condition, a);
        }
        let invert = a.is_inverted();
        self.intern(Gate::Choose(condition, a.inverted_if(invert), b.inverted_if(invert))).inverted_if(invert)
    }

    pub fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        if a == b || a == !b {
            return if a == b { a } else { c };
        }
        if b == c || b == !c {
            return if b == c { b } else { a };
        }
        if a == Wire::TRUE {
            return self.or(b, c);
        }
        if a == Wire::FALSE {
            return self.and(b, c);
        }
        let invert = inputs.iter().filter(|wire| wire.is_inverted()).count() >= 2;
        let [a, b, c] = inputs.map(|wire| wire.inverted_if(invert));
        self.intern(Gate::Majority(a, b, c)).inverted_if(invert)
    }

    pub fn all(&mut self, wires: impl IntoIterator<Item = Wire>) -> Wire {
        wires.into_iter().fold(Wire::TRUE, |sofar, next| self.and(sofar, next))
    }

    pub fn any(&mut self, wires: impl IntoIterator<Item = Wire>) -> Wire {
        wires.into_iter().fold(Wire::FALSE, |sofar, next| self.or(sofar, next))
    }
}
