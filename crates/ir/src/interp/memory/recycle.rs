//! Addresses of objects that are gone and forgotten, used again: so that a program that does the same again is in the
//! same state again.
//!
//! A search that remembers states wants executions to come back to states that it knows. Each activation of a function
//! and each allocation has addresses of its own, which no state before it had. Here a dead object whose address nothing
//! holds any more gives up its granules, and a new object takes the first ones that are free. What is dead and still
//! referred to keeps its place, so every use of it is still seen.
//!
//! An address is taken to be held wherever its bytes stand in a register that may still be read or in an object that
//! lives (as in `reuse`): so a program that computes numbers from addresses must not be run this way.

use super::{Arena, Instance, Kind, Memory};
use crate::interp::thread::machine::{Machine, Status};
use crate::program::Reuse;
use std::collections::BTreeSet;

impl Machine<'_> {
    /// From now on, addresses are used again after [`Machine::recycle`]. Not if it keeps track of what happens before
    /// what, which it does by address.
    pub fn start_recycling(&mut self) {
        self.memory.recycles = self.orders.is_none();
    }

    /// Gives up the places of dead objects that nothing refers to.
    pub fn recycle(&mut self) {
        if !self.memory.recycles {
            return;
        }
        // (Which freed objects an allocation may choose from must not depend on this.)
        let keeps_freed = self.program().reuse != Reuse::Unnoticed;
        let mut dead = self.memory.dead(keeps_freed);
        if dead.is_empty() {
            return;
        }
        for address in self.remembered(None, &dead) {
            dead.remove(&address);
        }
        self.for_each_known_address(|memory, address| {
            if let Some((_, offset)) = memory.find(address) {
                dead.remove(&(address - offset));
            }
        });
        self.memory.give_up(&dead);
    }

    /// Addresses that the machine itself keeps.
    fn for_each_known_address(&self, mut visit: impl FnMut(&Memory, u64)) {
        for thread in &self.threads {
            let own = thread.objects.iter().chain(&thread.thread_locals).filter(|_| thread.status != Status::Finished);
            own.chain(&thread.read_locks).chain(&thread.at_barrier).for_each(|address| visit(&self.memory, *address));
        }
        self.sleepers.keys().for_each(|address| visit(&self.memory, *address));
        self.library.addresses().for_each(|address| visit(&self.memory, address));
    }
}

impl Memory {
    /// The first addresses of dead objects in arenas, without those that an allocation may get on purpose.
    fn dead(&self, keeps_freed: bool) -> BTreeSet<u64> {
        let is_dead = |object: &Instance| {
            let may_be_chosen = keeps_freed && object.kind == Kind::Heap && !object.forgotten;
            !object.alive && !object.is_kept && !may_be_chosen
        };
        let in_arenas = |address: &u64| {
            let granule = address >> self.layout.granule_bits;
            granule >= self.layout.first && !self.vast.contains_key(&granule)
        };
        self.objects().filter(|(_, object)| is_dead(object)).map(|(address, _)| address).filter(in_arenas).collect()
    }

    fn give_up(&mut self, objects: &BTreeSet<u64>) {
        for address in objects {
            let (number, first) = self.place(address >> self.layout.granule_bits);
            let granules = &mut self.arenas[number].granules;
            let more = granules[first + 1..].iter().take_while(|granule| granule.kind == Kind::Continued).count();
            granules[first..=first + more].fill(Instance::NOTHING);
        }
        for arena in &mut self.arenas {
            let used =
                arena.granules.iter().rposition(|granule| granule.kind != Kind::Nothing).map_or(0, |last| last + 1);
            arena.granules.truncate(used);
        }
    }
}

impl Arena {
    /// Moves the cursor to the first run of granules that hold nothing, dead or alive.
    pub(super) fn find_unused(&mut self, granules: u32, size: u32) -> bool {
        let mut start = 0;
        while start + granules <= size {
            let end = ((start + granules) as usize).min(self.granules.len());
            let run = self.granules.get(start as usize..end).unwrap_or_default();
            match run.iter().rposition(|granule| granule.kind != Kind::Nothing) {
                None => {
                    self.cursor = start;
                    return true;
                }
                Some(last) => start += last as u32 + 1,
            }
        }
        false
    }
}
