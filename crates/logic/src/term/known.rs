//! Known bits: which bits of a vector are the same in all models.
//!
//! Computed once for each node, from those of its operands. They decide comparisons of vectors that share nothing but their
//! ranges (an `unsigned char` is less than 256), find that a mask does nothing, and turn vectors into constants.
//!
//! Of a variable nothing is known by itself. Who knows more (all that is ever written to a place is 0 or 1) can say so
//! ([`Terms::learn`]), and find out before what would follow from it ([`Terms::known_under`]).

use super::{Node, Term, Terms, word};
use rustc_hash::FxHashMap;

/// The bits that are always 0 and the bits that are always 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    pub zeros: u128,
    pub ones: u128,
}

impl Known {
    pub const NOTHING: Known = Known { zeros: 0, ones: 0 };

    fn exactly(width: u32, value: u128) -> Known {
        Known { zeros: !value & word::mask(width), ones: value }
    }

    /// All bits above those that `bound` needs are 0.
    fn at_most(width: u32, bound: u128) -> Known {
        Known { zeros: word::mask(width) & !word::mask(128 - bound.leading_zeros()), ones: 0 }
    }

    /// The value, if every bit is known.
    pub fn constant(self, width: u32) -> Option<u128> {
        (width > 0 && self.zeros | self.ones == word::mask(width)).then_some(self.ones)
    }

    /// The smallest unsigned value.
    pub fn min(self) -> u128 {
        self.ones
    }

    /// The largest unsigned value.
    pub fn max(self, width: u32) -> u128 {
        !self.zeros & word::mask(width)
    }

    /// The sign, if it is known.
    pub fn is_negative(self, width: u32) -> Option<bool> {
        let sign = word::sign_bit(width);
        if self.ones & sign != 0 {
            Some(true)
        } else if self.zeros & sign != 0 {
            Some(false)
        } else {
            None
        }
    }

    /// The same with the sign bit inverted: unsigned order of the results is signed order of what they are made from.
    pub(super) fn with_sign_flipped(self, width: u32) -> Known {
        let sign = word::sign_bit(width);
        Known {
            zeros: self.zeros & !sign | self.ones & sign, //
            ones: self.ones & !sign | self.zeros & sign,
        }
    }

    /// Whether no value has the bits of both.
    pub(super) fn contradicts(self, other: Known) -> bool {
        self.ones & other.zeros | self.zeros & other.ones != 0
    }

    fn all(self) -> u128 {
        self.zeros | self.ones
    }

    /// What holds of one as well as of the other.
    pub fn either(self, other: Known) -> Known {
        Known { zeros: self.zeros & other.zeros, ones: self.ones & other.ones }
    }

    fn both(self, other: Known) -> Known {
        Known { zeros: self.zeros | other.zeros, ones: self.ones | other.ones }
    }

    /// What is known of a node of `width` bits (0 for a Boolean) whose operands are in the arena.
    pub(super) fn of(terms: &Terms, node: Node, width: u32) -> Known {
        Known::of_operands(terms, node, width, |term| terms.known(term))
    }

    /// The same, with what is known of the operands.
    fn of_operands(terms: &Terms, node: Node, width: u32, known: impl Fn(Term) -> Known) -> Known {
        if width == 0 {
            return Known::NOTHING;
        }
        match node {
            Node::Bits { value, .. } => Known::exactly(width, value),
            Node::Ite(_, a, b) => known(a).either(known(b)),
            Node::BvNot(a) => Known { zeros: known(a).ones, ones: known(a).zeros },
            Node::BvAnd(a, b) => Known { zeros: known(a).zeros | known(b).zeros, ones: known(a).ones & known(b).ones },
            Node::BvOr(a, b) => Known { zeros: known(a).zeros & known(b).zeros, ones: known(a).ones | known(b).ones },
            Node::BvXor(a, b) => exclusive_or(known(a), known(b)),
            Node::Add(a, b) => sum(width, known(a), known(b)),
            Node::Mul(a, b) => product(width, known(a), known(b)),
            Node::Udiv(a, b) => quotient(width, known(a), known(b)),
            Node::Urem(a, b) => remainder(width, known(a), known(b)),
            Node::Shl(a, _) => Known { zeros: word::mask(known(a).zeros.trailing_ones().min(width)), ones: 0 },
            Node::Lshr(a, _) => Known::at_most(width, known(a).max(width)),
            Node::Ashr(a, _) => arithmetic_shift(width, known(a)),
            Node::Concat(high, low) => concatenation(terms.width(low), known(high), known(low)),
            Node::Extract { term, low, .. } => Known {
                zeros: known(term).zeros >> low & word::mask(width),
                ones: known(term).ones >> low & word::mask(width),
            },
            Node::SignExtend { term, .. } => sign_extension(terms.width(term), known(term), width),
            _ => Known::NOTHING,
        }
    }
}

impl Terms {
    /// What would be known of `terms` if `facts` were known of variables; none: they have no value yet, and so has what is made of them. Operands
    /// come first.
    pub fn known_under(
        &self,
        terms: &[Term],
        facts: &FxHashMap<Term, Option<Known>>,
    ) -> FxHashMap<Term, Option<Known>> {
        let mut found: FxHashMap<Term, Option<Known>> = FxHashMap::default();
        for &term in terms {
            let node = self.node(term);
            let of = |operand: Term| found.get(&operand).copied().unwrap_or(Some(self.known(operand)));
            let known = match (facts.get(&term), node) {
                (Some(&fact), _) => fact,
                (None, Node::Ite(_, a, b)) if self.width(term) > 0 => match (of(a), of(b)) {
                    (Some(a), Some(b)) => Some(a.either(b)),
                    (one, other) => one.or(other),
                },
                _ if node.operands().any(|operand| of(operand).is_none()) => None,
                _ => {
                    let known = |operand| of(operand).unwrap_or(Known::NOTHING);
                    Some(Known::of_operands(self, node, self.width(term), known).both(self.known(term)))
                }
            };
            found.insert(term, known);
        }
        found
    }

    /// Takes in what is the same in all models that matter, of variables: then of all that is made of them.
    pub fn learn(&mut self, facts: &[(Term, Known)]) {
        for &(variable, known) in facts {
            self.known[variable.index()] = known;
        }
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if !matches!(node, Node::Variable(_)) {
                let known = Known::of(self, node, u32::from(self.widths[index]));
                self.known[index] = known.both(self.known[index]);
            }
        }
    }
}

fn exclusive_or(a: Known, b: Known) -> Known {
    Known { zeros: a.zeros & b.zeros | a.ones & b.ones, ones: a.zeros & b.ones | a.ones & b.zeros }
}

/// A bit of a sum is known where both bits and the carry into them are; the carries are known where the largest and the
/// smallest sum agree on them.
fn sum(width: u32, a: Known, b: Known) -> Known {
    let mask = word::mask(width);
    let (a_max, b_max) = (!a.zeros & mask, !b.zeros & mask);
    let largest = a_max.wrapping_add(b_max);
    let smallest = a.ones.wrapping_add(b.ones);
    let carry_zero = !(largest ^ a_max ^ b_max);
    let carry_one = smallest ^ a.ones ^ b.ones;
    let certain = a.all() & b.all() & (carry_zero | carry_one) & mask;
    Known { zeros: !largest & certain, ones: smallest & certain }
}

/// The low bits up to the first unknown one, the zeros at the low end, and the zeros above the largest product.
fn product(width: u32, a: Known, b: Known) -> Known {
    let mask = word::mask(width);
    let exact = a.all().trailing_ones().min(b.all().trailing_ones()).min(width);
    let low = a.ones.wrapping_mul(b.ones) & word::mask(exact);
    let trailing = (a.zeros.trailing_ones() + b.zeros.trailing_ones()).min(width);
    let bound = a.max(width).checked_mul(b.max(width)).filter(|&bound| bound <= mask).unwrap_or(mask);
    Known { zeros: !low & word::mask(exact) | word::mask(trailing), ones: low }.both(Known::at_most(width, bound))
}

fn quotient(width: u32, a: Known, b: Known) -> Known {
    match a.max(width).checked_div(b.min()) {
        Some(bound) => Known::at_most(width, bound),
        None => Known::NOTHING,
    }
}

/// Never more than the dividend, whatever the divisor; and less than a divisor that is not 0.
fn remainder(width: u32, a: Known, b: Known) -> Known {
    let bound = if b.min() == 0 { a.max(width) } else { a.max(width).min(b.max(width) - 1) };
    Known::at_most(width, bound)
}

fn arithmetic_shift(width: u32, a: Known) -> Known {
    let aligned = |bits: u128| (bits << (128 - width)).leading_ones().min(width);
    let top = |count: u32| word::mask(width) & !word::mask(width - count);
    Known { zeros: top(aligned(a.zeros)), ones: top(aligned(a.ones)) }
}

fn concatenation(low_width: u32, high: Known, low: Known) -> Known {
    Known { zeros: high.zeros << low_width | low.zeros, ones: high.ones << low_width | low.ones }
}

fn sign_extension(from: u32, a: Known, width: u32) -> Known {
    Known { zeros: word::sign_extend(from, a.zeros, width), ones: word::sign_extend(from, a.ones, width) }
}
