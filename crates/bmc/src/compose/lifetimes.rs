//! Lifetimes: frees and accesses whose validity depends on what other threads have freed before.

use crate::compose::Composer;
use crate::skeleton::layout::InstanceId;
use crate::skeleton::{Birth, Check};
use leno_ir::analysis::points_to::{AbstractId, ObjectSet};
use leno_ir::analysis::sharing::Sharing;
use leno_logic::literal::Lit;
use leno_logic::term::Term;

impl Composer<'_, '_> {
    fn shared_targets(&self, targets: &ObjectSet) -> Vec<AbstractId> {
        targets.iter().filter(|object| self.bounded.facts.shared.of(*object) == Sharing::Shared).collect()
    }

    /// A free of a shared object is good if it is of the beginning of a heap object that no other free came before.
    pub(super) fn frees(&mut self) {
        for index in 0..self.bounded.skeleton.frees.len() {
            if self.is_interrupted() {
                break;
            }
            let free = self.bounded.skeleton.frees[index].clone();
            let mut known = Vec::new();
            for object in self.shared_targets(&free.targets) {
                for id in self.bounded.layout.of(object).to_vec() {
                    let instance = self.bounded.layout.get(id);
                    if instance.is_heap {
                        let base = self.bounded.pointer(instance.base);
                        known.push(self.bounded.terms.eq(free.address, base));
                    }
                }
            }
            let known = self.bounded.terms.or(&known);
            let known = self.literal(known);
            let mut earlier = Vec::new();
            for other in 0..self.bounded.skeleton.frees.len() {
                let other = self.bounded.skeleton.frees[other].clone();
                if other.node == free.node {
                    continue;
                }
                let same = self.bounded.terms.eq(free.address, other.address);
                let done = self.bounded.terms.and(&[same, other.path, other.valid]);
                earlier.extend(self.happened_before(done, other.node, free.node));
            }
            let path = self.literal(free.path);
            let valid = self.literal(free.valid);
            self.define(path, valid, known, &earlier);
        }
    }

    /// Where `path` holds: `valid` exactly if `good` and none of `bad`.
    fn define(&mut self, path: Lit, valid: Lit, good: Lit, bad: &[Lit]) {
        self.solver.add_clause(&[!path, !valid, good]);
        let mut otherwise = vec![!path, valid, !good];
        for &bad in bad {
            self.solver.add_clause(&[!path, !valid, !bad]);
            otherwise.push(bad);
        }
        self.solver.add_clause(&otherwise);
    }

    /// An access is good if it lies in an object that has not been freed before, and whose life has not ended.
    pub(super) fn checks(&mut self) {
        for index in 0..self.bounded.skeleton.checks.len() {
            if self.is_interrupted() {
                return;
            }
            let check = self.bounded.skeleton.checks[index].clone();
            let mut inside = Vec::new();
            let mut dead = Vec::new();
            for object in self.shared_targets(&check.targets) {
                for id in self.bounded.layout.of(object).to_vec() {
                    let here = self.bounded.is_inside(id, check.address, check.bytes, check.writes);
                    if self.bounded.terms.as_bool(here) == Some(false) {
                        continue;
                    }
                    inside.push(here);
                    let instance = self.bounded.layout.get(id);
                    if instance.is_heap {
                        let base = instance.base;
                        self.frees_of(&check, here, object, base, &mut dead);
                    }
                    self.deaths_of(&check, here, id, &mut dead);
                }
            }
            let inside = self.bounded.terms.or(&inside);
            let inside = self.literal(inside);
            let (path, valid) = (self.literal(check.path), self.literal(check.valid));
            self.define(path, valid, inside, &dead);
        }
    }

    /// Sizes of objects of other threads, which were not known when they were asked for.
    pub(super) fn sizes(&mut self) {
        for index in 0..self.bounded.skeleton.sizes.len() {
            let asked = self.bounded.skeleton.sizes[index].clone();
            let instances = asked.targets.iter().flat_map(|object| self.bounded.layout.of(object).to_vec());
            for id in instances.filter(|id| !asked.known.contains(id)).collect::<Vec<_>>() {
                let here = self.bounded.is_inside(id, asked.address, 0, false);
                let instance = self.bounded.layout.get(id);
                let terms = &mut self.bounded.terms;
                let size = match instance.extent {
                    Some(extent) => extent,
                    None => terms.bits(terms.width(asked.value), instance.size.into()),
                };
                let is_size = terms.eq(asked.value, size);
                let is_asked = terms.and2(asked.path, here);
                let is_other = terms.not(is_asked);
                let rule = terms.or2(is_other, is_size);
                self.solver.assert(&self.bounded.terms, rule);
            }
        }
    }

    /// The ends of lifetimes of an instance that may have come before an access to it, without another lifetime that
    /// has begun in between.
    fn deaths_of(&mut self, check: &Check, here: Term, id: InstanceId, dead: &mut Vec<Lit>) {
        for number in 0..self.bounded.skeleton.deaths.len() {
            let death = self.bounded.skeleton.deaths[number];
            if death.instance != id {
                continue;
            }
            let done = self.bounded.terms.and2(here, death.path);
            let Some(died) = self.happened_before(done, death.node, check.node) else { continue };
            let is_later = |birth: &&Birth| birth.instance == id && birth.deaths > number;
            let births: Vec<Birth> = self.bounded.skeleton.births.iter().filter(is_later).copied().collect();
            let mut revived = Vec::new();
            for birth in births {
                revived.extend(self.happened_before(birth.path, birth.node, check.node));
            }
            if revived.is_empty() {
                dead.push(died);
                continue;
            }
            let stays = self.solver.new_literal();
            self.solver.add_clause(&[!stays, died]);
            let mut otherwise = vec![stays, !died];
            for revived in revived {
                self.solver.add_clause(&[!stays, !revived]);
                otherwise.push(revived);
            }
            self.solver.add_clause(&otherwise);
            dead.push(stays);
        }
    }

    /// The frees that may have come before an access to an instance.
    fn frees_of(&mut self, check: &Check, here: Term, object: AbstractId, base: u64, dead: &mut Vec<Lit>) {
        for other in 0..self.bounded.skeleton.frees.len() {
            let free = self.bounded.skeleton.frees[other].clone();
            if !free.targets.contains(object) {
                continue;
            }
            let base = self.bounded.pointer(base);
            let same = self.bounded.terms.eq(free.address, base);
            let done = self.bounded.terms.and(&[here, same, free.path, free.valid]);
            dead.extend(self.happened_before(done, free.node, check.node));
        }
    }
}
