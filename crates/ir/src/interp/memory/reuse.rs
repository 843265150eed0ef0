//! Freed memory that is given out again.
//!
//! If the program could notice it ([`Program::reuse`](crate::program::Program)), an allocation may return the address
//! of any freed heap object that has room for the new one. The environment is asked for each of them in turn, in order
//! of address; with "no" to all of them, the object is new. The object that gets the address is alive as if it had
//! always been there: an old pointer to it is as good as a new one, as it is on a real machine. That an old pointer is
//! used all the same is found in the executions in which the address is not given out again.
//!
//! **Whom it could matter to.** A program that keeps no address of a freed object cannot tell whether that one is given
//! out again. So only objects are offered that are *remembered*: an address in one, or just before it, stands in a
//! register that may still be read, or in an object that lives. Copies of an address come from copies, so an object that is not remembered
//! when it is freed never will be, and is left out for good. (If the program computes numbers from addresses, they may
//! be kept in any form, and every object is remembered.)

use super::{Instance, Kind, Memory};
use crate::interp::thread::environment::{Environment, Source};
use crate::interp::thread::image::{Code, Rare};
use crate::interp::thread::machine::{Machine, Status, Thread, ThreadId};
use crate::interp::value::eval::Cell;
use crate::program::{FuncId, Reuse, Storage};
use std::collections::BTreeSet;

impl Machine<'_> {
    /// Places a heap object: where a freed one was, if the environment wants it so, or at a new address.
    pub(in crate::interp) fn place_on_heap(
        &mut self,
        thread: ThreadId,
        instance: Instance,
        env: &mut dyn Environment,
    ) -> Option<u64> {
        let freed = match self.program().reuse {
            Reuse::Unnoticed => Vec::new(),
            Reuse::ByAddress | Reuse::ByNumber => self.memory.freed_with_room(instance.size, self.heap_header()),
        };
        if !freed.is_empty() {
            let remembered = self.remembered(Some(thread), &freed.iter().copied().collect());
            // Objects that are forgotten by now are asked for, too, with nothing to choose: so the number of a question
            // depends only on what was freed.
            let is_chosen = |address: &u64| {
                let width = u16::from(remembered.contains(address));
                env.nondet(thread, width, Source::Reuse) & 1 == 1
            };
            if let Some(address) = freed.into_iter().find(is_chosen) {
                return self.memory.reoccupy(address, instance);
            }
        }
        self.memory.allocate(thread.0, instance)
    }

    /// Ends the life of a heap object that is valid to free, and forgets it if nothing refers to it.
    pub(in crate::interp) fn forget_if_unreferenced(&mut self, thread: ThreadId, address: u64) {
        if self.program().reuse == Reuse::ByAddress && !self.is_remembered_after_free(thread, address) {
            self.memory.set_forgotten(address);
        }
    }

    /// Whether an allocation might now return the address of a freed object.
    pub fn has_reusable_memory(&self) -> bool {
        self.memory.has_freed()
    }

    /// The size of the object that an address is in, if it lives.
    pub fn object_size(&self, address: u64) -> Option<u64> {
        self.memory.find(address).filter(|(instance, _)| instance.alive).map(|(instance, _)| instance.size)
    }

    /// Whether an address is in an object that got the address of a freed one.
    pub fn was_reused(&self, address: u64) -> bool {
        self.memory.find(address).is_some_and(|(instance, _)| instance.reused)
    }

    /// Whether the next step of a thread frees an object that is remembered then.
    pub fn frees_remembered(&self, thread: ThreadId) -> bool {
        let state = &self.threads[thread];
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return false };
        let Rare::Free { ptr, storage: Storage::Heap } = &**rare else { return false };
        let Some(address) = state.frame().defined(ptr) else { return false };
        match self.program().reuse {
            Reuse::Unnoticed => false,
            Reuse::ByAddress => self.is_remembered_after_free(thread, address),
            Reuse::ByNumber => address != 0,
        }
    }

    fn is_remembered_after_free(&self, thread: ThreadId, address: u64) -> bool {
        !self.remembered(Some(thread), &BTreeSet::from([address])).is_empty()
    }

    /// Those of some objects, given by their first addresses, that something refers to besides themselves, once the
    /// next step of the thread is made; or now.
    pub(in crate::interp) fn remembered(&self, thread: Option<ThreadId>, objects: &BTreeSet<u64>) -> BTreeSet<u64> {
        if self.program().reuse == Reuse::ByNumber {
            return objects.clone();
        }
        let mut found = BTreeSet::new();
        let half = 1u64 << (self.memory.layout.granule_bits - 1);
        let mut refer = |word: u64| {
            if word == 0 {
                return;
            }
            let inside = self.memory.find(word).map(|(_, offset)| word - offset);
            // (An address just before an object, `p - 1`, is as good as one in it.)
            let behind = (word.wrapping_add(half) / (2 * half)).wrapping_mul(2 * half);
            found.extend(inside.into_iter().chain([behind]).filter(|address| objects.contains(address)));
        };
        let pointer = self.program().model.pointer_bytes() as usize;
        for (address, instance) in self.memory.living() {
            if objects.contains(&address) {
                continue;
            }
            for bytes in instance.bytes.stored(instance.size as usize) {
                for window in bytes.windows(pointer) {
                    let mut word = [0; 8];
                    word[..pointer].copy_from_slice(window);
                    refer(u64::from_le_bytes(word));
                }
            }
        }
        for (id, state) in self.threads.iter_enumerated() {
            refer(state.result.bits as u64);
            if state.status == Status::Running {
                self.for_each_live_cell(state, Some(id) == thread, &mut |cell| refer(cell.bits));
            }
        }
        found
    }

    /// The registers of a thread that may still be read: before its next step, or after it.
    pub(in crate::interp) fn for_each_live_cell(
        &self,
        state: &Thread,
        is_after_step: bool,
        visit: &mut dyn FnMut(Cell),
    ) {
        let image = self.image();
        let mut of_activation = |func: FuncId, base: u32, pc: u32, is_after_step: bool| {
            let registers = &image.functions[func].registers;
            for (register, is_live) in registers.iter().zip(image.live_registers(pc, is_after_step).iter()) {
                if *is_live {
                    let first = (base + register.cell) as usize;
                    visit(state.cells[first]);
                    if register.is_wide() {
                        visit(state.cells[first + 1]);
                    }
                }
            }
        };
        of_activation(state.func, state.base, state.pc, is_after_step);
        // (What a call returns is set after it.)
        state.callers.iter().for_each(|caller| of_activation(caller.func, caller.base, caller.pc, true));
    }

    /// What an allocator keeps beside an object: one word.
    fn heap_header(&self) -> u64 {
        self.program().model.pointer_bytes()
    }
}

/// What allocators round sizes to.
const ROUNDED_TO: u64 = 16;

/// How many bytes an allocator sets aside for an object of `size` bytes, without the word that it keeps for itself.
fn room(size: u64, header: u64) -> u64 {
    let least = 2 * ROUNDED_TO.min(2 * header);
    size.saturating_add(header).next_multiple_of(ROUNDED_TO).max(least) - header
}

impl Memory {
    /// The freed heap objects in whose place one of `size` bytes has room, in order of address.
    fn freed_with_room(&self, size: u64, header: u64) -> Vec<u64> {
        let has_room =
            |freed: &Instance| size <= room(freed.size, header) && self.granules(size) == self.granules(freed.size);
        self.freed().filter(|(_, freed)| has_room(freed)).map(|(address, _)| address).collect()
    }

    fn has_freed(&self) -> bool {
        self.freed().next().is_some()
    }

    fn freed(&self) -> impl Iterator<Item = (u64, &Instance)> {
        self.objects().filter(|(_, object)| object.kind == Kind::Heap && !object.alive && !object.forgotten)
    }

    fn living(&self) -> impl Iterator<Item = (u64, &Instance)> {
        self.objects().filter(|(_, object)| object.alive)
    }

    fn set_forgotten(&mut self, address: u64) {
        if let Some(object) = self.locate(address).and_then(|(position, _)| self.at_mut(position)) {
            object.forgotten = true;
        }
    }

    /// Puts a new object where a freed one of as many granules was.
    fn reoccupy(&mut self, address: u64, instance: Instance) -> Option<u64> {
        let size = instance.size;
        if size > self.limit.saturating_sub(self.live_bytes) {
            return None;
        }
        let (position, _) = self.locate(address)?;
        *self.at_mut(position)? = Instance { reused: true, ..instance };
        self.live_bytes += size;
        let granule = address >> self.layout.granule_bits;
        if let super::Position::Granule(_) = position {
            let granules = self.granules(size) as usize;
            let (arena, first) = self.place(granule);
            let arena = self.arenas.get_mut(arena)?;
            arena.alive += granules as u32;
            arena.granules[first + 1..first + granules].iter_mut().for_each(|more| more.alive = true);
        }
        Some(address)
    }
}
