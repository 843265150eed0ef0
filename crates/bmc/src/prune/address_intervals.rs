//! Intervals of symbolic addresses: `ring[in % 8]` is never the same cell as `ring[8 + out % 8]`, nor as the counter
//! behind the array.
//!
//! A symbolic address depends on what was read, so we need intervals of the values that reads may return. A read
//! returns the initial value, or the value of a write that it may copy, which in turn depends on reads. So it is a
//! fixpoint in the domain of intervals; a bound that keeps growing is widened to the next power of two. The conditions
//! under which writes occur narrow the intervals (`if (in < 7) in++`).
//!
//! Correctness: take any execution, and give the reads that do not occur in it the value that they start with; nothing
//! in it depends on them. By induction over its steps, all reads return values in their intervals, and all addresses
//! lie in theirs.

use crate::bounded::BoundedProgram;
use crate::prune::MayCopy;
use crate::prune::constant_reads::read_variable;
use crate::skeleton::access_cells::{AccessCell, AccessCells, ReadId};
use leno_domains::{Interval, Numbers, Strategy, Thresholds};
use leno_ir::index::{Idx, IndexVec};
use leno_logic::abstraction::Abstraction;
use leno_logic::equations::{Equations, Part, Source, Unknown};
use leno_logic::term::Term;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most reads on which addresses may depend; with more, only their known bits and conditions are used.
const MOST_READS: usize = 2_000;

/// How often bounds grow by what is written, and how often by powers of two after that; then they are given up.
const DELAY: u32 = 3;
const POWERS_OF_TWO: u32 = 37;

/// How often they shrink again to what is written.
const NARROWINGS: u32 = 2;

/// Intervals in which all reads that addresses depend on are within their bounds. None if all addresses are constants.
pub fn ranges(
    bounded: &mut BoundedProgram<'_>,
    cells: &AccessCells,
    may_copy: &IndexVec<ReadId, Option<MayCopy>>,
) -> Option<Abstraction<Interval>> {
    let terms = &bounded.terms;
    let all = cells.reads.iter().chain(&cells.writes);
    let addresses: Vec<Term> = all.map(|cell| cell.unit.address).filter(|a| terms.as_bits(*a).is_none()).collect();
    if addresses.is_empty() {
        return None;
    }
    let unknowns = unknowns(bounded, cells, may_copy, &addresses);
    // (Too many: what their known bits and conditions tell is left.)
    let unknowns = if unknowns.len() > MOST_READS { Vec::new() } else { unknowns };
    Some(Abstraction::new(bounds(bounded, cells, &unknowns)))
}

/// The reads that the addresses depend on, directly or through writes that they may copy.
fn unknowns(
    bounded: &mut BoundedProgram<'_>,
    cells: &AccessCells,
    may_copy: &IndexVec<ReadId, Option<MayCopy>>,
    addresses: &[Term],
) -> Vec<Unknown<Interval>> {
    // (A read that is cut into several cells has no bounds.)
    let mut reads: FxHashMap<Term, ReadId> = FxHashMap::default();
    for (index, read) in cells.reads.iter_enumerated() {
        if let Some((variable, _)) = read_variable(&bounded.terms, &read.unit)
            && variable == read.unit.value
        {
            reads.insert(variable, index);
        }
    }
    let mut open = bounded.terms.variables_of(addresses);
    let mut seen: FxHashSet<Term> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(variable) = open.pop() {
        let Some(&read) = reads.get(&variable) else { continue };
        let Some(may_copy) = &may_copy[read] else { continue };
        let width = bounded.terms.width(variable);
        let start = if may_copy.initial {
            let unit = &cells.reads[read].unit;
            let Some(value) = bounded.initial_value(unit.address, unit.bytes) else { continue };
            Abstraction::default().of(&bounded.terms, value)
        } else {
            Interval::constant(width, 0)
        };
        let values: Vec<Term> = may_copy.writes.iter().map(|&write| cells.writes[write].unit.value).collect();
        open.extend(bounded.terms.variables_of(&values).into_iter().filter(|variable| seen.insert(*variable)));
        let part = Part { low: 0, width, start, sources: may_copy.writes.iter().map(|write| write.index()).collect() };
        found.push(Unknown { variable, parts: vec![part] });
        if found.len() > MOST_READS {
            break;
        }
    }
    found
}

fn bounds(
    bounded: &BoundedProgram<'_>,
    cells: &AccessCells,
    unknowns: &[Unknown<Interval>],
) -> FxHashMap<Term, Interval> {
    let source = |write: &AccessCell| Source { condition: write.occurs, value: write.unit.value };
    let sources: Vec<Source> = cells.writes.iter().map(source).collect();
    let equations = Equations { terms: &bounded.terms, unknowns, sources: &sources, with_conditions: true };
    let strategy = Strategy {
        delay: DELAY,
        thresholds: Thresholds::powers_of_two(),
        to_thresholds: POWERS_OF_TWO,
        narrowings: NARROWINGS,
        ..Strategy::default()
    };
    match equations.solve(&strategy, &|| bounded.question.is_interrupted()) {
        Ok(found) => unknowns.iter().map(|unknown| unknown.variable).zip(found).collect(),
        Err(_) => FxHashMap::default(),
    }
}
