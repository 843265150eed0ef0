//! Concatenation, extraction and extension: bits moved, none computed.
//!
//! Concatenations lean to the right, with the high part first, so that constants and neighbouring extracts meet and
//! merge. Extracts go down through whatever only moves bits. Each step narrows the vector, so recursion ends after 128
//! levels.

use super::{MAX_WIDTH, Node, Term, Terms, word};

impl Terms {
    /// `high` above `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (high_width, low_width) = (self.expect_bits(high), self.expect_bits(low));
        let width = high_width + low_width;
        assert!(width <= MAX_WIDTH, "bit-vectors have 1 to 128 bits, not {width}");
        if let (Some(h), Some(l)) = (self.as_bits(high), self.as_bits(low)) {
            return self.bits(width, h << low_width | l);
        }
        if let Some(lifted) = self.lift2(high, low, Terms::concat) {
            return lifted;
        }
        if let Node::Concat(upper, middle) = self.node(high) {
            let rest = self.concat(middle, low);
            return self.concat(upper, rest);
        }
        if let Some(joined) = self.join(high, low) {
            return joined;
        }
        if let Node::Concat(middle, lower) = self.node(low)
            && let Some(joined) = self.join(high, middle)
        {
            return self.concat(joined, lower);
        }
        self.intern(Node::Concat(high, low))
    }

    /// Two neighbours as one piece: constants, or extracts of bits that are neighbours already.
    fn join(&mut self, high: Term, low: Term) -> Option<Term> {
        match (self.node(high), self.node(low)) {
            (Node::Bits { .. }, Node::Bits { .. }) => Some(self.concat(high, low)),
            (Node::Extract { term: x, low: from, width: more }, Node::Extract { term: y, low: start, width })
                if x == y && from == start + width =>
            {
                Some(self.extract(x, start, width + more))
            }
            _ => None,
        }
    }

    /// The bits from `low` on, `width` of them.
    pub fn extract(&mut self, term: Term, low: u32, width: u32) -> Term {
        let from = self.expect_bits(term);
        assert!(width > 0 && low + width <= from, "bits {low} and {width} more are not among {from}");
        if width == from {
            return term;
        }
        if let Some(lifted) = self.lift(term, |terms, x| terms.extract(x, low, width)) {
            return lifted;
        }
        match self.node(term) {
            Node::Bits { value, .. } => self.bits(width, value >> low),
            Node::Extract { term, low: start, .. } => self.extract(term, start + low, width),
            Node::Concat(high, lower) => self.extract_of_concat(high, lower, low, width),
            Node::SignExtend { term, .. } => self.extract_of_extension(term, low, width),
            Node::Add(..) | Node::Mul(..) => {
                let narrowed = self.extract_of_sum(term, low, width);
                narrowed.unwrap_or_else(|| self.intern(Node::Extract { term, low, width }))
            }
            _ => self.intern(Node::Extract { term, low, width }),
        }
    }

    fn extract_of_concat(&mut self, high: Term, lower: Term, low: u32, width: u32) -> Term {
        let split = self.width(lower);
        if low >= split {
            self.extract(high, low - split, width)
        } else if low + width <= split {
            self.extract(lower, low, width)
        } else {
            let upper = self.extract(high, 0, low + width - split);
            let rest = self.extract(lower, low, split - low);
            self.concat(upper, rest)
        }
    }

    fn extract_of_extension(&mut self, term: Term, low: u32, width: u32) -> Term {
        let from = self.width(term);
        if low + width <= from {
            return self.extract(term, low, width);
        }
        let start = low.min(from - 1);
        let rest = self.extract(term, start, from - start);
        self.sign_extend(rest, width)
    }

    /// The low bits of a sum of vectors that were extended for it: the sum of what they were before. Also the high bits
    /// of a vector that was shifted to the left.
    fn extract_of_sum(&mut self, term: Term, low: u32, width: u32) -> Option<Term> {
        if let Node::Mul(factor, x) = self.node(term)
            && let Some(shift) = self.as_bits(factor).filter(|k| k.is_power_of_two()).map(u128::trailing_zeros)
            && low >= shift
        {
            return Some(self.extract(x, low - shift, width));
        }
        if low > 0 {
            return None;
        }
        let sum = self.linear(term)?;
        if !sum.addends().iter().all(|&(x, _)| self.was_extended_from(x, width)) {
            return None;
        }
        let mut total = self.bits(width, sum.constant);
        for &(x, coefficient) in sum.addends() {
            let (part, factor) = (self.extract(x, 0, width), self.bits(width, coefficient));
            let product = self.mul(factor, part);
            total = self.add(total, product);
        }
        Some(total)
    }

    /// Whether the vector has `width` low bits to which others were added, and cutting them out is no work: they are
    /// not in turn the low bits of a longer sum.
    fn was_extended_from(&self, term: Term, width: u32) -> bool {
        let mut rest = term;
        while let Node::Concat(_, inner) | Node::SignExtend { term: inner, .. } = self.node(rest)
            && self.width(inner) >= width
        {
            rest = inner;
        }
        let is_sum = matches!(self.node(rest), Node::Add(..) | Node::Mul(..));
        rest != term && (self.width(rest) == width || !is_sum)
    }

    /// The vector with zeros above it, `width` bits in all.
    pub fn zero_extend(&mut self, term: Term, width: u32) -> Term {
        let from = self.expect_bits(term);
        assert!(from <= width, "{from} bits cannot be extended to {width}");
        if from == width {
            return term;
        }
        let zeros = self.bits(width - from, 0);
        self.concat(zeros, term)
    }

    /// The vector with copies of its sign bit above it, `width` bits in all.
    pub fn sign_extend(&mut self, term: Term, width: u32) -> Term {
        let from = self.expect_bits(term);
        assert!(from <= width && width <= MAX_WIDTH, "{from} bits cannot be extended to {width}");
        if from == width {
            return term;
        }
        if let Some(lifted) = self.lift(term, |terms, x| terms.sign_extend(x, width)) {
            return lifted;
        }
        if self.known(term).is_negative(from) == Some(false) {
            return self.zero_extend(term, width);
        }
        match self.node(term) {
            Node::Bits { value, .. } => self.bits(width, word::sign_extend(from, value, width)),
            Node::SignExtend { term, .. } => self.sign_extend(term, width),
            _ => self.intern(Node::SignExtend { term, width }),
        }
    }

    /// Whether the highest bit is set.
    pub fn is_negative(&mut self, term: Term) -> Term {
        let width = self.expect_bits(term);
        let (sign, one) = (self.extract(term, width - 1, 1), self.bits(1, 1));
        self.eq(sign, one)
    }
}
