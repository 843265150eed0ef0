//! Reads that can copy one write only, or only the initial value, are replaced by that value everywhere.
//!
//! Examples are arguments of threads, configuration that is written before threads start, and results that are read
//! after threads have been joined: with their values known, addresses and conditions that depend on them become
//! constants. A value that is put in may itself contain reads that are replaced; this ends, since a value is written
//! before it is read.
//!
//! The replacement needs no condition: nothing depends on the value of a read that does not occur.

use crate::bounded::BoundedProgram;
use crate::prune::MayCopy;
use crate::skeleton::Unit;
use crate::skeleton::access_cells::{AccessCells, ReadId};
use leno_ir::index::IndexVec;
use leno_logic::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Replaces reads in the skeleton. False if there are none to replace.
pub fn propagate(
    bounded: &mut BoundedProgram<'_>,
    cells: &AccessCells,
    may_copy: &IndexVec<ReadId, Option<MayCopy>>,
) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    // By variable of a read, and by lowest bit of each cell: the value.
    let mut parts: BTreeMap<Term, BTreeMap<u32, Term>> = BTreeMap::new();
    for (read, may_copy) in cells.reads.iter().zip(may_copy) {
        let Some(may_copy) = may_copy else { continue };
        let Some((variable, low)) = read_variable(&bounded.terms, &read.unit) else { continue };
        // (Where a write may overwrite what is read, the solver still has to find out whether the read can occur.)
        if !may_copy.overwriting.is_empty() {
            continue;
        }
        let value = match (may_copy.writes.as_slice(), may_copy.initial) {
            ([only], false) => Some(cells.writes[*only].unit.value),
            ([], true) => bounded.initial_value(read.unit.address, read.unit.bytes),
            _ => None,
        };
        if let Some(value) = value {
            parts.entry(variable).or_default().insert(low, value);
        }
    }
    for (variable, parts) in parts {
        values.extend(put_together(&mut bounded.terms, variable, &parts).map(|value| (variable, value)));
    }
    bounded.replace_reads(values)
}

/// The value of a variable from those of its cells, if all of them are known.
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

/// The variable of which a cell that is read is a part, and from which bit on; none if it has been replaced.
pub(crate) fn read_variable(terms: &Terms, unit: &Unit) -> Option<(Term, u32)> {
    let (variable, low) = match terms.node(unit.value) {
        Node::Extract { term, low, .. } => (term, low),
        _ => (unit.value, 0),
    };
    matches!(terms.node(variable), Node::Variable(_)).then_some((variable, low))
}
