//! Bit by bit: not, and, or, exclusive or.
//!
//! Masks that are one run of ones are extracts between zeros, so that what is known of extracts serves them too.
//! Operations on concatenations are done part by part where the parts meet, or where one side is a constant.

use super::{Node, Term, Terms, ordered, word};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
}

impl Operation {
    fn of_constants(self, a: u128, b: u128) -> u128 {
        match self {
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
        }
    }

    fn node(self, a: Term, b: Term) -> Node {
        match self {
            Operation::And => Node::BvAnd(a, b),
            Operation::Or => Node::BvOr(a, b),
            Operation::Xor => Node::BvXor(a, b),
        }
    }

    fn operands(self, node: Node) -> Option<(Term, Term)> {
        match (self, node) {
            (Operation::And, Node::BvAnd(a, b)) => Some((a, b)),
            (Operation::Or, Node::BvOr(a, b)) => Some((a, b)),
            (Operation::Xor, Node::BvXor(a, b)) => Some((a, b)),
            _ => None,
        }
    }
}

impl Terms {
    pub fn bvnot(&mut self, a: Term) -> Term {
        let width = self.expect_bits(a);
        if let Some(lifted) = self.lift(a, Terms::bvnot) {
            return lifted;
        }
        match self.node(a) {
            Node::Bits { value, .. } => self.bits(width, !value),
            Node::BvNot(inner) => inner,
            _ => self.intern(Node::BvNot(a)),
        }
    }

    pub fn bvand(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Operation::And, a, b)
    }

    pub fn bvor(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Operation::Or, a, b)
    }

    pub fn bvxor(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(Operation::Xor, a, b)
    }

    fn bitwise(&mut self, operation: Operation, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if a == b {
            return if operation == Operation::Xor { self.bits(width, 0) } else { a };
        }
        if let (Some(x), Some(y)) = (self.as_bits(a), self.as_bits(b)) {
            return self.bits(width, operation.of_constants(x, y));
        }
        if let Some(lifted) = self.lift2(a, b, |terms, x, y| terms.bitwise(operation, x, y)) {
            return lifted;
        }
        // A constant goes first from here on.
        let (a, b) = if self.as_bits(b).is_some() { (b, a) } else { (a, b) };
        if let Some(constant) = self.as_bits(a)
            && let Some(result) = self.bitwise_with_constant(operation, width, constant, b)
        {
            return result;
        }
        if self.node(a) == Node::BvNot(b) || self.node(b) == Node::BvNot(a) {
            let value = if operation == Operation::And { 0 } else { u128::MAX };
            return self.bits(width, value);
        }
        if let Some(result) = self.absorb(operation, a, b).or_else(|| self.absorb(operation, b, a)) {
            return result;
        }
        if let Some(result) = self.bitwise_by_parts(operation, a, b) {
            return result;
        }
        let (a, b) = ordered(a, b);
        self.intern(operation.node(a, b))
    }

    fn bitwise_with_constant(&mut self, operation: Operation, width: u32, constant: u128, b: Term) -> Option<Term> {
        let mask = word::mask(width);
        let known = self.known(b);
        match operation {
            Operation::And if constant | known.zeros == mask => return Some(b),
            Operation::Or if constant & !known.ones == 0 => return Some(b),
            Operation::Xor if constant == 0 => return Some(b),
            Operation::Xor if constant == mask => return Some(self.bvnot(b)),
            _ => {}
        }
        if let Some((x, y)) = operation.operands(self.node(b))
            && let Some(inner) = self.as_bits(x).or(self.as_bits(y))
        {
            let rest = if self.as_bits(x).is_some() { y } else { x };
            let merged = self.bits(width, operation.of_constants(constant, inner));
            return Some(self.bitwise(operation, merged, rest));
        }
        match operation {
            Operation::And => self.mask_of_run(width, constant, b),
            _ => None,
        }
    }

    /// A mask that is one run of ones: an extract between zeros.
    fn mask_of_run(&mut self, width: u32, mask: u128, b: Term) -> Option<Term> {
        let (low, count) = word::run_of_ones(mask)?;
        let mut result = self.extract(b, low, count);
        if low > 0 {
            let below = self.bits(low, 0);
            result = self.concat(result, below);
        }
        Some(self.zero_extend(result, width))
    }

    /// Rules for `a ∘ b` where `a` is an operation one of whose operands is `b` or its complement.
    fn absorb(&mut self, operation: Operation, a: Term, b: Term) -> Option<Term> {
        match (operation, self.node(a)) {
            (Operation::And, Node::BvAnd(x, y)) | (Operation::Or, Node::BvOr(x, y)) if x == b || y == b => Some(a),
            (Operation::And, Node::BvOr(x, y)) | (Operation::Or, Node::BvAnd(x, y)) if x == b || y == b => Some(b),
            (Operation::Xor, Node::BvXor(x, y)) if x == b => Some(y),
            (Operation::Xor, Node::BvXor(x, y)) if y == b => Some(x),
            _ => None,
        }
    }

    fn bitwise_by_parts(&mut self, operation: Operation, a: Term, b: Term) -> Option<Term> {
        let split = match (self.node(a), self.node(b)) {
            (Node::Concat(_, x), Node::Concat(_, y)) if self.width(x) == self.width(y) => self.width(x),
            (Node::Bits { .. }, Node::Concat(_, y)) => self.width(y),
            _ => return None,
        };
        let above = self.width(a) - split;
        let (low_a, low_b) = (self.extract(a, 0, split), self.extract(b, 0, split));
        let (high_a, high_b) = (self.extract(a, split, above), self.extract(b, split, above));
        let low = self.bitwise(operation, low_a, low_b);
        let high = self.bitwise(operation, high_a, high_b);
        Some(self.concat(high, low))
    }
}
