//! Intervals: between which numbers a term lies, if we know between which its variables do.
//!
//! Coarser than a solver and much faster: one pass over a term. A Boolean is a number of one bit. What a condition says about terms
//! (`i < 10`, `i != 0`) narrows them where that condition holds. Every interval that is given back contains the value of its
//! term under every assignment that keeps to the intervals of the variables, and makes the condition true.

use crate::term::{Node, Sort, Term, Terms, word};
use rustc_hash::FxHashMap;

/// All numbers from `low` to `high`, taken as unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub low: u128,
    pub high: u128,
}

impl Interval {
    pub fn exactly(value: u128) -> Interval {
        Interval { low: value, high: value }
    }

    pub fn full(width: u32) -> Interval {
        Interval { low: 0, high: word::mask(width) }
    }

    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub fn is_disjoint(self, other: Interval) -> bool {
        self.high < other.low || other.high < self.low
    }

    pub fn contains(self, value: u128) -> bool {
        self.low <= value && value <= self.high
    }

    fn constant(self) -> Option<u128> {
        (self.low == self.high).then_some(self.low)
    }

    /// What is in both; none if nothing is.
    fn meet(self, other: Interval) -> Option<Interval> {
        let both = Interval { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// The same numbers read as signed, if they are an interval then, too.
    fn signed(self, width: u32) -> Option<(i128, i128)> {
        let (low, high) = (word::signed(width, self.low), word::signed(width, self.high));
        (low <= high).then_some((low, high))
    }

    fn truth(value: Option<bool>) -> Interval {
        value.map_or(Interval::full(1), |value| Interval::exactly(value.into()))
    }
}

/// The bits of a term; a Boolean has one.
fn width(terms: &Terms, term: Term) -> u32 {
    match terms.sort(term) {
        Sort::Bool => 1,
        Sort::Bits(width) => width,
    }
}

/// Intervals of terms. What variables are not said to be, they may be anything.
#[derive(Default)]
pub struct Intervals {
    variables: FxHashMap<Term, Interval>,
    known: FxHashMap<Term, Interval>,
}

impl Intervals {
    pub fn new(variables: FxHashMap<Term, Interval>) -> Intervals {
        Intervals { variables, known: FxHashMap::default() }
    }

    pub fn of(&mut self, terms: &Terms, term: Term) -> Interval {
        let mut known = std::mem::take(&mut self.known);
        let interval = self.evaluate(terms, term, &mut known, &FxHashMap::default());
        self.known = known;
        interval
    }

    /// The interval of a term where a condition holds.
    pub fn under(&mut self, terms: &Terms, condition: Term, term: Term) -> Interval {
        let facts = self.facts(terms, condition);
        if facts.is_empty() {
            return self.of(terms, term);
        }
        self.evaluate(terms, term, &mut FxHashMap::default(), &facts)
    }

    fn evaluate(
        &self,
        terms: &Terms,
        root: Term,
        known: &mut FxHashMap<Term, Interval>,
        facts: &FxHashMap<Term, Interval>,
    ) -> Interval {
        let mut open = vec![root];
        while let Some(&term) = open.last() {
            if known.contains_key(&term) {
                open.pop();
                continue;
            }
            let node = terms.node(term);
            let before = open.len();
            open.extend(node.operands().filter(|operand| !known.contains_key(operand)));
            if open.len() > before {
                continue;
            }
            open.pop();
            let full = Interval::full(width(terms, term));
            let computed = match node {
                Node::Variable(_) => self.variables.get(&term).copied().unwrap_or(full),
                _ => transfer(terms, term, |operand| known[&operand]),
            };
            // (What contradicts a fact does not happen: then any answer is right.)
            let narrowed = facts.get(&term).and_then(|fact| computed.meet(*fact)).unwrap_or(computed);
            known.insert(term, narrowed);
        }
        known[&root]
    }

    /// What a condition says about terms that it compares.
    fn facts(&mut self, terms: &Terms, condition: Term) -> FxHashMap<Term, Interval> {
        let mut facts = Facts::default();
        let mut open = vec![condition];
        let mut patience = MOST_PARTS;
        while let Some(term) = open.pop() {
            if patience == 0 {
                break;
            }
            patience -= 1;
            match terms.node(term) {
                Node::And(a, b) => open.extend([a, b]),
                Node::Not(inner) => self.learn(terms, inner, false, &mut facts),
                _ => self.learn(terms, term, true, &mut facts),
            }
        }
        facts.resolve(terms)
    }

    fn learn(&mut self, terms: &Terms, term: Term, holds: bool, facts: &mut Facts) {
        match terms.node(term) {
            // If a < b is false then b < a + 1.
            Node::Ult(a, b) => {
                let (a_is, b_is) = (self.of(terms, a), self.of(terms, b));
                let (small, large, gap) = if holds { ((a, a_is), (b, b_is), 1) } else { ((b, b_is), (a, a_is), 0) };
                facts.at_most(terms, small.0, large.1.high.saturating_sub(gap));
                facts.at_least(terms, large.0, small.1.low.saturating_add(gap));
            }
            Node::Slt(a, b) => {
                let of = |this: &mut Intervals, term: Term| {
                    let bits = terms.width(term);
                    let all = (word::signed(bits, word::sign_bit(bits)), (word::sign_bit(bits) - 1) as i128);
                    this.of(terms, term).signed(bits).unwrap_or(all)
                };
                let (a_is, b_is) = (of(self, a), of(self, b));
                let (small, large, gap) = if holds { ((a, a_is), (b, b_is), 1) } else { ((b, b_is), (a, a_is), 0) };
                facts.signed_at_most(small.0, large.1.1.saturating_sub(gap));
                facts.signed_at_least(large.0, small.1.0.saturating_add(gap));
            }
            Node::Eq(a, b) if holds => {
                let (a_is, b_is) = (self.of(terms, a), self.of(terms, b));
                facts.within(terms, a, b_is);
                facts.within(terms, b, a_is);
            }
            Node::Eq(a, b) => {
                let is = self.of(terms, a);
                match self.of(terms, b).constant() {
                    Some(value) if value == is.low => facts.at_least(terms, a, value.saturating_add(1)),
                    Some(value) if value == is.high => facts.at_most(terms, a, value.saturating_sub(1)),
                    _ => {}
                }
            }
            Node::Bool(_) => {}
            _ => facts.within(terms, term, Interval::exactly(holds.into())),
        }
    }
}

/// Parts of a condition that we look at.
const MOST_PARTS: u32 = 200;

/// What was said about terms: as unsigned, and as signed numbers.
#[derive(Default)]
struct Facts {
    unsigned: FxHashMap<Term, Interval>,
    signed: FxHashMap<Term, (i128, i128)>,
}

impl Facts {
    fn within(&mut self, terms: &Terms, term: Term, interval: Interval) {
        let old = self.unsigned.entry(term).or_insert_with(|| Interval::full(width(terms, term)));
        *old = old.meet(interval).unwrap_or(*old);
    }

    fn at_most(&mut self, terms: &Terms, term: Term, high: u128) {
        self.within(terms, term, Interval { low: 0, high });
    }

    fn at_least(&mut self, terms: &Terms, term: Term, low: u128) {
        self.within(terms, term, Interval { low, high: u128::MAX });
    }

    fn signed_at_most(&mut self, term: Term, high: i128) {
        let old = self.signed.entry(term).or_insert((i128::MIN, i128::MAX));
        old.1 = old.1.min(high);
    }

    fn signed_at_least(&mut self, term: Term, low: i128) {
        let old = self.signed.entry(term).or_insert((i128::MIN, i128::MAX));
        old.0 = old.0.max(low);
    }

    /// Signed bounds are bounds where both have the same sign.
    fn resolve(mut self, terms: &Terms) -> FxHashMap<Term, Interval> {
        for (term, (low, high)) in std::mem::take(&mut self.signed) {
            let bits = width(terms, term);
            let is_positive = self.unsigned.get(&term).is_some_and(|is| is.high < word::sign_bit(bits))
                || terms.known(term).is_negative(bits) == Some(false);
            let low = if is_positive { low.max(0) } else { low };
            let high = high.min((word::sign_bit(bits) - 1) as i128);
            let low = low.max(word::signed(bits, word::sign_bit(bits)));
            if low <= high && (low >= 0) == (high >= 0) {
                let (low, high) = (low as u128 & word::mask(bits), high as u128 & word::mask(bits));
                self.within(terms, term, Interval { low, high });
            }
        }
        self.unsigned
    }
}

/// The interval of a term from those of its operands.
fn transfer(terms: &Terms, term: Term, of: impl Fn(Term) -> Interval) -> Interval {
    let width = width(terms, term);
    let computed = match terms.sort(term) {
        Sort::Bool => truth(terms, term, of),
        Sort::Bits(_) => number(terms, term, of),
    };
    let full = Interval::full(width);
    let Sort::Bits(_) = terms.sort(term) else { return computed.unwrap_or(full) };
    let known = terms.known(term);
    let by_bits = Interval { low: known.min(), high: known.max(width) };
    computed.map_or(by_bits, |computed| computed.meet(by_bits).unwrap_or(computed))
}

fn truth(terms: &Terms, term: Term, of: impl Fn(Term) -> Interval) -> Option<Interval> {
    Some(match terms.node(term) {
        Node::Bool(value) => Interval::exactly(value.into()),
        Node::Not(a) => Interval { low: 1 - of(a).high, high: 1 - of(a).low },
        Node::And(a, b) => Interval { low: of(a).low.min(of(b).low), high: of(a).high.min(of(b).high) },
        Node::Xor(a, b) => Interval::truth(Some(of(a).constant()? != of(b).constant()?)),
        Node::Ite(condition, a, b) => choice(of(condition), of(a), of(b)),
        Node::Eq(a, b) if of(a).is_disjoint(of(b)) => Interval::exactly(0),
        Node::Eq(a, b) => Interval::truth(Some(of(a).constant()? == of(b).constant()?)),
        Node::Ult(a, b) => {
            let (a, b) = (of(a), of(b));
            Interval::truth(less((a.low, a.high), (b.low, b.high)))
        }
        Node::Slt(a, b) => {
            let bits = terms.width(a);
            Interval::truth(less(of(a).signed(bits)?, of(b).signed(bits)?))
        }
        _ => return None,
    })
}

/// Whether all of the first are less than all of the second, or none is less than any.
fn less<T: PartialOrd>(a: (T, T), b: (T, T)) -> Option<bool> {
    if a.1 < b.0 {
        Some(true)
    } else if a.0 >= b.1 {
        Some(false)
    } else {
        None
    }
}

fn choice(condition: Interval, a: Interval, b: Interval) -> Interval {
    match condition.constant() {
        Some(0) => b,
        Some(_) => a,
        None => a.hull(b),
    }
}

/// None: nothing but what its bits tell.
fn number(terms: &Terms, term: Term, of: impl Fn(Term) -> Interval) -> Option<Interval> {
    let width = terms.width(term);
    let mask = word::mask(width);
    Some(match terms.node(term) {
        Node::Bits { value, .. } => Interval::exactly(value),
        Node::Ite(condition, a, b) => choice(of(condition), of(a), of(b)),
        Node::BvNot(a) => Interval { low: !of(a).high & mask, high: !of(a).low & mask },
        Node::BvAnd(a, b) => Interval { low: 0, high: of(a).high.min(of(b).high) },
        Node::BvOr(a, b) => {
            let bits = 128 - (of(a).high | of(b).high).leading_zeros();
            Interval { low: of(a).low.max(of(b).low), high: word::mask(bits) }
        }
        Node::Add(a, b) => sum(of(a), of(b), mask)?,
        Node::Mul(a, b) => {
            let high = of(a).high.checked_mul(of(b).high).filter(|&high| high <= mask)?;
            Interval { low: of(a).low * of(b).low, high }
        }
        Node::Udiv(a, b) if of(b).low > 0 => {
            Interval { low: of(a).low / of(b).high, high: of(a).high / of(b).low } //
        }
        Node::Urem(a, b) if of(b).low > of(a).high => of(a),
        Node::Urem(a, b) if of(b).low > 0 => Interval { low: 0, high: of(a).high.min(of(b).high - 1) },
        Node::Urem(a, _) => Interval { low: 0, high: of(a).high },
        Node::Shl(a, b) => {
            let shift = of(b).constant().filter(|&shift| shift < u128::from(width))? as u32;
            let high = of(a).high;
            if high > mask >> shift {
                return None;
            }
            Interval { low: of(a).low << shift, high: high << shift }
        }
        Node::Lshr(a, b) => match of(b).constant().filter(|&shift| shift < u128::from(width)) {
            Some(shift) => Interval { low: of(a).low >> shift, high: of(a).high >> shift },
            None => Interval { low: 0, high: of(a).high },
        },
        Node::Concat(high, low) => {
            let shift = terms.width(low);
            Interval { low: of(high).low << shift | of(low).low, high: of(high).high << shift | of(low).high }
        }
        Node::Extract { term, low, width } => {
            let (first, last) = (of(term).low >> low, of(term).high >> low);
            // All of them agree on the bits above.
            if width < 128 && first >> width != last >> width {
                return None;
            }
            Interval { low: first & mask, high: last & mask }
        }
        Node::SignExtend { term, .. } => {
            let from = terms.width(term);
            let (low, high) = of(term).signed(from)?;
            if (low < 0) != (high < 0) {
                return None;
            }
            Interval { low: low as u128 & mask, high: high as u128 & mask }
        }
        _ => return None,
    })
}

/// Both ends, if both wrap around or neither does.
fn sum(a: Interval, b: Interval, mask: u128) -> Option<Interval> {
    let wraps = |x: u128, y: u128| x.checked_add(y).is_none_or(|sum| sum > mask);
    (wraps(a.low, b.low) == wraps(a.high, b.high))
        .then(|| Interval { low: a.low.wrapping_add(b.low) & mask, high: a.high.wrapping_add(b.high) & mask })
}
