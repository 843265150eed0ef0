//! Memory: each read gets the writes that it may copy as sources (paper 000, section 5; `leno_axioms::reads_from`), and
//! what was there before the first write.

use crate::compose::Composer;
use crate::prune::counters::OrderVariable;
use crate::prune::{MayCopy, Pruned};
use crate::skeleton::Unit;
use crate::skeleton::access_cells::{AccessCell, ReadId, WriteId};
use crate::summarize::Refused;
use crate::summarize::access::UNDEFINED;
use leno_axioms::Event;
use leno_axioms::order::Unknown;
use leno_axioms::reads_from::{Encoding, Sources, Write};
use leno_ir::analysis::points_to::ObjectSet;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::{Idx, IndexVec};
use leno_logic::literal::Lit;
use leno_logic::solver::{Copied, Solver};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::Initial;

/// Where the guard holds, a read returns a value. That is noted in `copies` if the solver may be wrong about functions.
fn copy(solver: &mut Solver, terms: &mut Terms, copies: &mut Vec<Copied>, guard: Lit, [variable, of]: [Term; 2]) {
    solver.equal_if(terms, guard, variable, of);
    if terms.has_functions() {
        copies.push(Copied { guard, variable, of });
    }
}

impl Composer<'_, '_> {
    pub(super) fn memory(&mut self, pruned: &Pruned) -> Result<(), Refused> {
        for (id, may_copy) in pruned.may_copy.iter_enumerated() {
            let read = &pruned.cells.reads[id];
            if self.is_interrupted() {
                break;
            }
            if let Some(may_copy) = may_copy {
                self.link(id, read, may_copy, &pruned.cells.writes)?;
            }
        }
        Ok(())
    }

    /// Gives a read its sources.
    fn link(
        &mut self,
        id: ReadId,
        read: &AccessCell,
        may_copy: &MayCopy,
        writes: &IndexVec<WriteId, AccessCell>,
    ) -> Result<(), Refused> {
        let node = self.bounded.skeleton.events[read.event].node;
        let reader = Event { node: self.node(node), occurs: self.literal(read.occurs) };
        let mut sources = Sources::new(&mut self.solver, Encoding::Composition, reader);
        for &index in &may_copy.writes {
            let write = &writes[index];
            let write_node = self.bounded.skeleton.events[write.event].node;
            // (An atomic section reads its own writes without a link.)
            if write_node == node || write.unit.bytes != read.unit.bytes {
                continue;
            }
            let candidate = self.write(read, write);
            let (terms, copies) = (&mut self.bounded.terms, &mut self.copies);
            let synchronisation = &mut self.synchronisation;
            sources.may_copy(&mut self.solver, candidate, |solver, source| {
                if let Some(synchronisation) = synchronisation {
                    synchronisation.sources.entry(id).or_default().push((index, source));
                }
                copy(solver, terms, copies, source, [read.unit.value, write.unit.value]);
            });
            self.links += 1;
        }
        for &index in &may_copy.overwriting {
            let write = self.write(read, &writes[index]);
            sources.may_be_overwritten_by(&mut self.solver, write);
        }
        if may_copy.initial {
            let targets = self.bounded.skeleton.events[read.event].targets.clone();
            let is_sync = !self.bounded.skeleton.events[read.event].is_plain && read.unit.bytes == 4;
            self.undefined_word = is_sync.then(|| self.bounded.terms.bits(32, UNDEFINED));
            let value = self.initial_value(&read.unit, &targets)?;
            let (terms, copies) = (&mut self.bounded.terms, &mut self.copies);
            sources.may_be_initial(&mut self.solver, self.initial, |solver, source| {
                copy(solver, terms, copies, source, [read.unit.value, value]);
            });
        }
        sources.finish(&mut self.solver, &Unknown);
        Ok(())
    }

    /// A write as a candidate of a read: it hits if it occurs and is to the same location.
    pub(super) fn write(&mut self, read: &AccessCell, write: &AccessCell) -> Write {
        let same = self.bounded.terms.eq(read.location, write.location);
        let hit = self.bounded.terms.and2(same, write.occurs);
        let hit = self.literal(hit);
        let node = self.bounded.skeleton.events[write.event].node;
        Write { node: self.node(node), hit, position: write.event.index() }
    }

    /// What a read returns that comes before all writes to its location.
    fn initial_value(&mut self, unit: &Unit, targets: &ObjectSet) -> Result<Term, Refused> {
        let width = unit.bytes * 8;
        if let Some(address) = self.bounded.terms.as_bits(unit.address) {
            let Some(id) = self.bounded.layout.at(address as u64) else {
                return Ok(self.bounded.terms.bits(width, 0));
            };
            let instance = self.bounded.layout.get(id);
            let (initial, offset) = (instance.initial, (address as u64).wrapping_sub(instance.base));
            return self.initial_at(initial, offset, unit);
        }
        let mut value = self.undefined(unit);
        for object in targets.iter() {
            if self.bounded.facts.shared.of(object) != Sharing::Shared {
                continue;
            }
            for id in self.bounded.layout.of(object).to_vec() {
                let instance = self.bounded.layout.get(id);
                let (initial, base, size) = (instance.initial, instance.base, instance.size);
                let inside = self.bounded.is_inside(id, unit.address, unit.bytes.into(), false);
                if initial == Initial::Undefined || self.bounded.terms.as_bool(inside) == Some(false) {
                    continue;
                }
                let zero = self.bounded.terms.bits(width, 0);
                value = self.bounded.terms.ite(inside, zero, value);
                if initial.is_zero(self.bounded.facts.program) {
                    continue;
                }
                for offset in (0..size).step_by(unit.bytes as usize) {
                    let here = self.initial_at(initial, offset, unit)?;
                    if here == zero || offset + u64::from(unit.bytes) > size {
                        continue;
                    }
                    let address = self.bounded.pointer(base + offset);
                    let same = self.bounded.terms.eq(unit.address, address);
                    value = self.bounded.terms.ite(same, here, value);
                }
            }
        }
        Ok(value)
    }

    fn initial_at(&mut self, initial: Initial, offset: u64, unit: &Unit) -> Result<Term, Refused> {
        if initial == Initial::Undefined {
            return Ok(self.undefined(unit));
        }
        self.bounded.initial_bytes(initial, offset, unit.bytes)
    }

    /// Any value, but the same for all reads of one address.
    fn undefined(&mut self, unit: &Unit) -> Term {
        if let Some(word) = self.undefined_word {
            return word;
        }
        let terms = &mut self.bounded.terms;
        let fresh = || terms.variable(Sort::Bits(unit.bytes * 8), "undefined");
        *self.undefined.entry((unit.address, unit.bytes)).or_insert_with(fresh)
    }

    /// Defines which order the variables stand for.
    pub(super) fn order(&mut self, order_variables: &[OrderVariable]) {
        for first in order_variables {
            let [step, read] =
                [first.step, first.read].map(|event| self.node(self.bounded.skeleton.events[event].node));
            let literal = self.literal(first.variable);
            self.solver.add_guarded_edge(literal, step, read);
            self.solver.add_guarded_edge(!literal, read, step);
        }
    }
}
