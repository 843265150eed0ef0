//! Values of reads that can copy one write only, or only what was there at first: they are that value, everywhere.
//!
//! Arguments of threads, configuration that is written before threads start, results that are read after they have been joined: with their
//! values known, addresses and conditions that depend on them become constants. Each of these reads is replaced by what it
//! reads, which may itself be made of reads that are replaced; since what is read was written before, there is an end to it.
//!
//! The value of a read that does not occur is nobody's business, so the replacement needs no condition.

use crate::objects::Initial;
use crate::pieces::Pieces;
use crate::prune::MayCopy;
use crate::skeleton::Unit;
use crate::summarize::Summarizer;
use leno_logic::term::{Node, Substitution, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Replaces what can be replaced in the skeleton. False if nothing can.
pub fn propagate(summary: &mut Summarizer<'_>, pieces: &Pieces, may_copy: &[Option<MayCopy>]) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    // What is read in pieces: by its lowest bits, their values.
    let mut parts: BTreeMap<Term, BTreeMap<u32, Term>> = BTreeMap::new();
    for (read, may_copy) in pieces.reads.iter().zip(may_copy) {
        let Some(may_copy) = may_copy else { continue };
        let (variable, low) = match summary.terms.node(read.unit.value) {
            Node::Extract { term, low, .. } => (term, low),
            _ => (read.unit.value, 0),
        };
        if !matches!(summary.terms.node(variable), Node::Variable(_)) {
            continue;
        }
        // (Where something may overwrite what is read, it still has to be found out whether it can be read at all.)
        if !may_copy.overwriting.is_empty() {
            continue;
        }
        let value = match (may_copy.writes.as_slice(), may_copy.initial) {
            ([only], false) => Some(pieces.writes[*only].unit.value),
            ([], true) => initial_value(summary, &read.unit),
            _ => None,
        };
        if let Some(value) = value {
            parts.entry(variable).or_default().insert(low, value);
        }
    }
    for (variable, parts) in parts {
        values.extend(put_together(&mut summary.terms, variable, &parts).map(|value| (variable, value)));
    }
    summary.replace_reads(values)
}

impl Summarizer<'_> {
    /// Puts values in the place of reads, everywhere. False if there are none.
    pub(crate) fn replace_reads(&mut self, values: FxHashMap<Term, Term>) -> bool {
        if values.is_empty() {
            return false;
        }
        let replaced: FxHashSet<Term> = values.keys().copied().collect();
        let mut substitution = Substitution::nested(values);
        let mut skeleton = std::mem::take(&mut self.skeleton);
        for unit in skeleton.events.iter_mut().flat_map(|event| &mut event.reads) {
            if replaced.contains(&unit.value) {
                // There is nothing left to find out about it.
                unit.condition = Term::FALSE;
            }
        }
        skeleton.replace(|term| substitution.apply(&mut self.terms, term));
        self.skeleton = skeleton;
        true
    }
}

/// The value of a variable from those of its pieces, if all of them are there.
fn put_together(terms: &mut Terms, variable: Term, parts: &BTreeMap<u32, Term>) -> Option<Term> {
    let mut whole: Option<Term> = None;
    for (&low, &part) in parts {
        if low != whole.map_or(0, |lower| terms.width(lower)) {
            return None;
        }
        whole = Some(whole.map_or(part, |lower| terms.concat(part, lower)));
    }
    whole.filter(|&whole| terms.width(whole) == terms.width(variable))
}

/// What is at a known address before anybody writes there, if that is defined.
pub(crate) fn initial_value(summary: &mut Summarizer<'_>, unit: &Unit) -> Option<Term> {
    let address = summary.terms.as_bits(unit.address)? as u64;
    let instance = summary.instances.get(summary.instances.at(summary.program.model, address)?);
    let (initial, offset) = (instance.initial, address.checked_sub(instance.base)?);
    if initial == Initial::Undefined || offset + u64::from(unit.bytes) > instance.size {
        return None;
    }
    let mut terms = std::mem::take(&mut summary.terms);
    let value = summary.initial_bytes(&mut terms, initial, offset, unit.bytes);
    summary.terms = terms;
    Some(value)
}
