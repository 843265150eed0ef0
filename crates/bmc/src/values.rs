//! Which bits of what is read are always the same.
//!
//! Most words that threads share hold little: a flag, a state, an index into a small buffer, one of a few pointers. A read of such a word is a
//! vector of 32 or 64 bits all the same, and each write that it may copy costs two clauses a bit. So before composing we find out, for each read,
//! which bits are the same in all that it may copy.
//!
//! That depends on other reads, and may go round in circles: `in = (in + 1) % 20`. So we begin with reads that have no value yet and add what they may
//! copy, again and again, until nothing changes. A read that still changes after some rounds may be anything. What is left holds in every execution:
//! the value of a read was written earlier, from reads that were earlier still, down to what was there at first.
//! (The value of a read that does not occur is nobody's business.)

use crate::objects::Initial;
use crate::pieces::Pieces;
use crate::propagate::initial_value;
use crate::prune::MayCopy;
use crate::skeleton::Unit;
use crate::summarize::Summarizer;
use leno_ir::points_to::ObjectSet;
use leno_ir::sharing::Sharing;
use leno_logic::term::{Known, Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rounds in which reads may change before they may be anything.
const PATIENCE: usize = 6;

/// Words of an initialised object that are looked at.
const MOST_WORDS: u64 = 4096;

/// A piece of a read, of which the variable is a part of what it returns.
struct Part {
    variable: Term,
    low: u32,
    width: u32,
    /// What is seen if nobody has written; none if somebody has.
    initial: Option<Known>,
}

/// Has the solver's terms know what is the same in all that reads may copy.
pub fn learn(summary: &mut Summarizer<'_>, pieces: &Pieces, may_copy: &[Option<MayCopy>]) {
    let parts = parts(summary, pieces, may_copy);
    let order = operands_first(&summary.terms, pieces);
    let mut facts: FxHashMap<Term, Option<Known>> = FxHashMap::default();
    for part in parts.iter().flatten() {
        facts.insert(part.variable, None);
    }
    for round in 0.. {
        if (summary.interrupted)() {
            return;
        }
        let found = summary.terms.known_under(&order, &facts);
        let mut changed: FxHashSet<Term> = FxHashSet::default();
        let mut next: FxHashMap<Term, Option<Known>> = FxHashMap::default();
        for (part, may_copy) in parts.iter().zip(may_copy) {
            let (Some(part), Some(may_copy)) = (part, may_copy) else { continue };
            let copied = may_copy.writes.iter().filter_map(|&write| {
                let value = pieces.writes[write].unit.value;
                found.get(&value).copied().unwrap_or(Some(summary.terms.known(value)))
            });
            let seen = part.initial.into_iter().chain(copied).reduce(Known::either);
            add(&mut next, part, seen);
        }
        for (&variable, &now) in &next {
            let before = facts.get(&variable).copied().flatten();
            let all = match (before, now) {
                (Some(before), Some(now)) => Some(before.either(now)),
                (before, now) => before.or(now),
            };
            if all != before {
                changed.insert(variable);
                facts.insert(variable, if round < PATIENCE { all } else { Some(Known::NOTHING) });
            }
        }
        if changed.is_empty() {
            // What has no value now is never read. It does not matter then, but let nothing depend on that.
            let unseen: Vec<Term> = facts.iter().filter(|(_, fact)| fact.is_none()).map(|(&term, _)| term).collect();
            if unseen.is_empty() {
                break;
            }
            facts.extend(unseen.into_iter().map(|variable| (variable, Some(Known::NOTHING))));
        } else if round > 3 * PATIENCE {
            return;
        }
    }
    let known = |(variable, known): (Term, Option<Known>)| Some((variable, known.filter(|it| *it != Known::NOTHING)?));
    let mut facts: Vec<(Term, Known)> = facts.into_iter().filter_map(known).collect();
    facts.sort_unstable_by_key(|(variable, _)| *variable);
    summary.terms.learn(&facts);
}

/// Adds what is known of a part to what is known of its variable. Of bits that are no part, nothing is known.
fn add(facts: &mut FxHashMap<Term, Option<Known>>, part: &Part, seen: Option<Known>) {
    let entry = facts.entry(part.variable).or_insert(None);
    let Some(seen) = seen else { return };
    let mask = if part.width >= 128 { u128::MAX } else { (1 << part.width) - 1 };
    let before = entry.unwrap_or(Known::NOTHING);
    *entry = Some(Known {
        zeros: before.zeros | (seen.zeros & mask) << part.low,
        ones: before.ones | (seen.ones & mask) << part.low,
    });
}

fn parts(summary: &mut Summarizer<'_>, pieces: &Pieces, may_copy: &[Option<MayCopy>]) -> Vec<Option<Part>> {
    let mut parts = Vec::new();
    for (read, may_copy) in pieces.reads.iter().zip(may_copy) {
        let (variable, low) = match summary.terms.node(read.unit.value) {
            Node::Extract { term, low, .. } => (term, low),
            _ => (read.unit.value, 0),
        };
        let is_variable = matches!(summary.terms.node(variable), Node::Variable(_));
        parts.push(may_copy.as_ref().filter(|_| is_variable).map(|may_copy| {
            let targets = summary.skeleton.events[read.event].targets.clone();
            let initial = may_copy.initial.then(|| initially(summary, &read.unit, &targets));
            Part { variable, low, width: read.unit.bytes * 8, initial }
        }));
    }
    // What is read in several pieces that cannot all be told is not looked at.
    let mut covered: FxHashMap<Term, u32> = FxHashMap::default();
    for part in parts.iter().flatten() {
        *covered.entry(part.variable).or_default() += part.width;
    }
    for part in &mut parts {
        part.take_if(|part| covered.get(&part.variable) != Some(&summary.terms.width(part.variable)));
    }
    parts
}

/// What is known of what is there before anybody has written.
fn initially(summary: &mut Summarizer<'_>, unit: &Unit, targets: &ObjectSet) -> Known {
    if summary.terms.as_bits(unit.address).is_some() {
        return initial_value(summary, unit).map_or(Known::NOTHING, |value| summary.terms.known(value));
    }
    let zero = summary.terms.bits(unit.bytes * 8, 0);
    let mut all: Option<Known> = None;
    for object in targets.iter().filter(|object| summary.shared.of(*object) == Sharing::Shared).collect::<Vec<_>>() {
        for id in summary.instances.of(object).to_vec() {
            let instance = summary.instances.get(id);
            let (initial, base, size) = (instance.initial, instance.base, instance.size);
            let is_zero = match initial {
                Initial::Undefined => return Known::NOTHING,
                Initial::Static(object) => summary.program.objects[object].init.is_empty(),
                Initial::Given(_) => false,
                Initial::Zero => true,
            };
            let words = if is_zero { 1 } else { size / u64::from(unit.bytes) };
            if words > MOST_WORDS {
                return Known::NOTHING;
            }
            for word in 0..words {
                let address = summary.pointer(base + word * u64::from(unit.bytes));
                let value = if is_zero { Some(zero) } else { initial_value(summary, &Unit { address, ..*unit }) };
                let known = value.map_or(Known::NOTHING, |value| summary.terms.known(value));
                all = Some(all.map_or(known, |all| all.either(known)));
            }
        }
    }
    all.unwrap_or(Known::NOTHING)
}

/// All that the values of writes are made of; what is older comes first.
fn operands_first(terms: &Terms, pieces: &Pieces) -> Vec<Term> {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut open: Vec<Term> = pieces.writes.iter().map(|write| write.unit.value).collect();
    while let Some(term) = open.pop() {
        if seen.insert(term) && terms.width(term) > 0 {
            open.extend(terms.node(term).operands().filter(|&operand| terms.width(operand) > 0));
        }
    }
    let mut order: Vec<Term> = seen.into_iter().collect();
    order.sort_unstable();
    order
}
