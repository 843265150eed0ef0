//! Where symbolic addresses may lie: `ring[in % 8]` is none of `ring[8 + out % 8]`, and not the counter behind the array either.
//!
//! An address that is no constant is made of what was read, so we need to know what reads may return: between which numbers. A read returns what was
//! there at first, or what some write that it may copy has written, which is in turn made of reads. So all reads start with
//! one value, and grow with what is written, until nothing changes; a bound that keeps growing is let go to the next power of two.
//! The conditions under which writes occur narrow them (`if (in < 7) in++`).
//!
//! Why this is right: take any execution, and give the reads that do not occur in it the value that they start with; nothing in it depends on them. By
//! induction over its steps, all reads return values between their bounds, and all addresses lie where we say.

use crate::pieces::{Piece, Pieces};
use crate::propagate::initial_value;
use crate::prune::MayCopy;
use crate::summarize::Summarizer;
use leno_logic::interval::{Interval, Intervals};
use leno_logic::term::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads on which addresses depend, before we say that they are too many.
const MOST_READS: usize = 2_000;

/// Rounds in which bounds grow by what is written; after these they grow by powers of two.
const PATIENT_ROUNDS: u32 = 3;

/// Rounds after which bounds that still grow are given up, and after which all are.
const LAST_ROUNDS: (u32, u32) = (40, 80);

/// Rounds in which they shrink again to what is written.
const SHRINKING_ROUNDS: u32 = 2;

/// A read, and what it may return.
struct Source {
    variable: Term,
    initial: Option<Interval>,
    writes: Vec<usize>,
}

/// Intervals in which all reads that addresses depend on are within their bounds. None if all addresses are constants.
pub fn ranges(summary: &mut Summarizer<'_>, pieces: &Pieces, may_copy: &[Option<MayCopy>]) -> Option<Intervals> {
    let terms = &summary.terms;
    let all = pieces.reads.iter().chain(&pieces.writes);
    let addresses: Vec<Term> = all.map(|piece| piece.unit.address).filter(|a| terms.as_bits(*a).is_none()).collect();
    if addresses.is_empty() {
        return None;
    }
    let sources = sources(summary, pieces, may_copy, &addresses);
    // (Too many: what their own bits and conditions tell is left.)
    let sources = if sources.len() > MOST_READS { Vec::new() } else { sources };
    Some(Intervals::new(bounds(summary, pieces, &sources)))
}

/// The reads that the addresses depend on, through whatever they copy.
fn sources(
    summary: &mut Summarizer<'_>,
    pieces: &Pieces,
    may_copy: &[Option<MayCopy>],
    addresses: &[Term],
) -> Vec<Source> {
    // (A read that is cut into pieces has no bounds.)
    let mut reads: FxHashMap<Term, usize> = FxHashMap::default();
    for (index, read) in pieces.reads.iter().enumerate() {
        if matches!(summary.terms.node(read.unit.value), Node::Variable(_)) {
            reads.insert(read.unit.value, index);
        }
    }
    let mut open = summary.terms.variables_of(addresses);
    let mut seen: FxHashSet<Term> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(variable) = open.pop() {
        let Some(&read) = reads.get(&variable) else { continue };
        let Some(may_copy) = &may_copy[read] else { continue };
        let initial = if may_copy.initial {
            let Some(value) = initial_value(summary, &pieces.reads[read].unit) else { continue };
            Some(Intervals::default().of(&summary.terms, value))
        } else {
            None
        };
        let values: Vec<Term> = may_copy.writes.iter().map(|&write| pieces.writes[write].unit.value).collect();
        open.extend(summary.terms.variables_of(&values).into_iter().filter(|variable| seen.insert(*variable)));
        found.push(Source { variable, initial, writes: may_copy.writes.clone() });
        if found.len() > MOST_READS {
            break;
        }
    }
    found
}

fn bounds(summary: &Summarizer<'_>, pieces: &Pieces, sources: &[Source]) -> FxHashMap<Term, Interval> {
    let terms = &summary.terms;
    let seed = |source: &Source| source.initial.unwrap_or(Interval::exactly(0));
    let mut bounds: FxHashMap<Term, Interval> = sources.iter().map(|source| (source.variable, seed(source))).collect();
    let mut round = 0;
    loop {
        let new = written(terms, pieces, sources, &bounds);
        let mut has_grown = false;
        for (source, new) in sources.iter().zip(new) {
            let old = bounds[&source.variable];
            let mut new = old.hull(new.map_or(old, |new| new.hull(seed(source))));
            let width = terms.width(source.variable);
            if new != old && round >= LAST_ROUNDS.0 {
                new = Interval::full(width);
            } else if new != old && round >= PATIENT_ROUNDS {
                new = widened(old, new, width);
            }
            has_grown |= new != old;
            bounds.insert(source.variable, new);
        }
        if !has_grown {
            break;
        }
        round += 1;
        if round >= LAST_ROUNDS.1 || (summary.interrupted)() {
            return FxHashMap::default();
        }
    }
    for _ in 0..SHRINKING_ROUNDS {
        let new = written(terms, pieces, sources, &bounds);
        for (source, new) in sources.iter().zip(new) {
            let new = new.map_or(seed(source), |new| new.hull(seed(source)));
            bounds.insert(source.variable, new);
        }
    }
    bounds
}

/// By read: what the writes that it may copy write, if reads are within these bounds.
fn written(
    terms: &Terms,
    pieces: &Pieces,
    sources: &[Source],
    bounds: &FxHashMap<Term, Interval>,
) -> Vec<Option<Interval>> {
    let mut intervals = Intervals::new(bounds.clone());
    let mut known: FxHashMap<usize, Interval> = FxHashMap::default();
    let mut of = |write: usize| {
        let Piece { unit, occurs, .. } = pieces.writes[write];
        *known.entry(write).or_insert_with(|| intervals.under(terms, occurs, unit.value))
    };
    let hull = |source: &Source| source.writes.iter().map(|&write| of(write)).reduce(Interval::hull);
    sources.iter().map(hull).collect()
}

/// Bounds that have moved go on to the next power of two.
fn widened(old: Interval, new: Interval, width: u32) -> Interval {
    let low = if new.low < old.low { 0 } else { new.low };
    let high = if new.high > old.high {
        new.high.checked_next_power_of_two().map_or(u128::MAX, |p| p * 2 - 1)
    } else {
        new.high
    };
    Interval { low, high: high.min(Interval::full(width).high) }
}
