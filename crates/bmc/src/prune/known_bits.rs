//! Bits of a read that are the same in every execution.
//!
//! Most words that threads share have few values: a flag, a state, an index into a small buffer, one of a few pointers.
//! A read of such a word is a vector of 32 or 64 bits all the same, and each write that it may copy costs two clauses a
//! bit. So before composition we find out, for each read, which bits are the same in all values that it may copy.
//!
//! This depends on other reads, also in cycles: `in = (in + 1) % 20`. So it is a fixpoint, in the domain of known bits.
//! The result holds in every execution: the value of a read was written earlier, from reads that were earlier still,
//! down to initial values. (The value of a read that does not occur does not matter.)

use crate::bounded::BoundedProgram;
use crate::prune::MayCopy;
use crate::prune::constant_reads::read_variable;
use crate::skeleton::Unit;
use crate::skeleton::access_cells::{AccessCells, ReadId};
use leno_domains::{Domain, KnownBits, Strategy};
use leno_ir::analysis::points_to::ObjectSet;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::{Idx, IndexVec};
use leno_logic::equations::{Equations, Part, Source, Unknown};
use leno_logic::term::Term;
use leno_symbolic::contents::Initial;
use std::collections::BTreeMap;

/// How often a read changes before bits that still may are given up.
const DELAY: u32 = 6;

/// The most words of an initialised object that are considered.
const MOST_WORDS: u64 = 4096;

/// Makes known to the terms which bits are the same in all values that a read may copy.
pub fn learn(bounded: &mut BoundedProgram<'_>, cells: &AccessCells, may_copy: &IndexVec<ReadId, Option<MayCopy>>) {
    let unknowns = unknowns(bounded, cells, may_copy);
    // (Conditions hardly ever fix bits.)
    let sources: Vec<Source> =
        cells.writes.iter().map(|write| Source { condition: Term::TRUE, value: write.unit.value }).collect();
    let equations = Equations { terms: &bounded.terms, unknowns: &unknowns, sources: &sources, with_conditions: false };
    let strategy = Strategy { delay: DELAY, narrowings: 0, ..Strategy::default() };
    let Ok(found) = equations.solve(&strategy, &|| bounded.question.is_interrupted()) else { return };
    let facts = unknowns.iter().map(|unknown| unknown.variable).zip(found);
    let facts: Vec<(Term, KnownBits)> = facts.filter(|(_, known)| *known != KnownBits::ANY).collect();
    bounded.terms.learn(&facts);
}

/// The variables of reads, in their order. Those of which not all cells are known are left out.
fn unknowns(
    bounded: &mut BoundedProgram<'_>,
    cells: &AccessCells,
    may_copy: &IndexVec<ReadId, Option<MayCopy>>,
) -> Vec<Unknown<KnownBits>> {
    let mut parts: BTreeMap<Term, Vec<Part<KnownBits>>> = BTreeMap::new();
    for (read, may_copy) in cells.reads.iter().zip(may_copy) {
        let (Some((variable, low)), Some(may_copy)) = (read_variable(&bounded.terms, &read.unit), may_copy) else {
            continue;
        };
        let targets = bounded.skeleton.events[read.event].targets.clone();
        let start = if may_copy.initial { initially(bounded, &read.unit, &targets) } else { KnownBits::EMPTY };
        let part = Part {
            low,
            width: read.unit.bytes * 8,
            start,
            sources: may_copy.writes.iter().map(|write| write.index()).collect(),
        };
        parts.entry(variable).or_default().push(part);
    }
    let in_order = |parts: &mut Vec<Part<KnownBits>>| parts.sort_by_key(|part| part.low);
    parts.values_mut().for_each(in_order);
    let is_whole = |variable: Term, parts: &[Part<KnownBits>]| {
        let end = parts.iter().try_fold(0, |end, part| (part.low == end).then_some(end + part.width));
        end == Some(bounded.terms.width(variable))
    };
    let all = parts.into_iter().map(|(variable, parts)| Unknown { variable, parts });
    all.filter(|unknown| is_whole(unknown.variable, &unknown.parts)).collect()
}

/// What is known of the contents of memory before any write.
fn initially(bounded: &mut BoundedProgram<'_>, unit: &Unit, targets: &ObjectSet) -> KnownBits {
    if bounded.terms.as_bits(unit.address).is_some() {
        return bounded
            .initial_value(unit.address, unit.bytes)
            .map_or(KnownBits::ANY, |value| bounded.terms.known(value));
    }
    let zero = bounded.terms.bits(unit.bytes * 8, 0);
    let mut all = KnownBits::EMPTY;
    for object in
        targets.iter().filter(|object| bounded.facts.shared.of(*object) == Sharing::Shared).collect::<Vec<_>>()
    {
        for id in bounded.layout.of(object).to_vec() {
            let instance = bounded.layout.get(id);
            let (initial, base, size) = (instance.initial, instance.base, instance.size);
            let is_zero = match initial {
                Initial::Undefined => return KnownBits::ANY,
                Initial::Static(object) => bounded.facts.program.objects[object].init.is_empty(),
                Initial::Given(_) => false,
                Initial::Zero => true,
            };
            let words = if is_zero { 1 } else { size / u64::from(unit.bytes) };
            if words > MOST_WORDS {
                return KnownBits::ANY;
            }
            for word in 0..words {
                let address = bounded.pointer(base + word * u64::from(unit.bytes));
                let value = if is_zero { Some(zero) } else { bounded.initial_value(address, unit.bytes) };
                all = all.join(&value.map_or(KnownBits::ANY, |value| bounded.terms.known(value)));
            }
        }
    }
    if all.is_bottom() { KnownBits::ANY } else { all }
}
