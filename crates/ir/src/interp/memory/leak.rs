//! Leaks: heap objects that are still there when the program ends.
//!
//! Two questions, and the verification competition has a name for each. Was everything freed (*memcleanup*)? And can
//! what was not freed still be reached (*memtrack*): from static objects, from what threads that have not ended have in
//! registers, stack and thread-local objects, or from another object that can? A word of memory that is an address in
//! an object points to it, wherever in memory it stands.

use super::Kind;
use super::violation::{Violation, ViolationKind};
use crate::interp::thread::image::Next;
use crate::interp::thread::machine::{Machine, Status, ThreadId};
use crate::program::TerminatorKind;
use std::collections::BTreeSet;

impl Machine<'_> {
    /// What has leaked if the program ends here, by `thread`. `kind` says which question is asked.
    pub fn leak(&self, thread: ThreadId, kind: ViolationKind) -> Option<Box<Violation>> {
        // Who aborts does not tidy up.
        if matches!(self.next_op(thread), Next::Terminator(t) if t.kind == TerminatorKind::Abort) {
            return None;
        }
        let mut objects = self.memory.live_heap_objects();
        if kind == ViolationKind::LostMemory {
            let reached = self.reached();
            objects.retain(|address| !reached.contains(address));
        }
        let first = *objects.first()?;
        let (instance, _) = self.memory.find(first)?;
        let others = match objects.len() {
            1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        let what = if kind == ViolationKind::LostMemory { "cannot be reached any more" } else { "is never freed" };
        let mut violation =
            self.violation(thread, kind, format!("{} {what}{others}", self.describe_instance(instance)));
        violation.span = self.image().span(instance.origin);
        Some(violation)
    }

    /// The heap objects that something points to, directly or not.
    fn reached(&self) -> BTreeSet<u64> {
        let mut reached = BTreeSet::new();
        let mut rest = Vec::new();
        for address in self.memory.static_objects() {
            self.follow_pointers(address, &mut reached, &mut rest);
        }
        for thread in self.threads.iter() {
            let words = match thread.status {
                Status::Finished => [].iter(),
                Status::Running | Status::Stopped => thread.cells.iter(),
            };
            let words = words.map(|cell| cell.bits).chain([thread.result.bits as u64]).collect::<Vec<u64>>();
            words.into_iter().for_each(|word| self.reach(word, &mut reached, &mut rest));
            if thread.status != Status::Finished {
                for object in thread.objects.iter().chain(&thread.thread_locals) {
                    self.follow_pointers(*object, &mut reached, &mut rest);
                }
            }
        }
        while let Some(object) = rest.pop() {
            self.follow_pointers(object, &mut reached, &mut rest);
        }
        reached
    }

    /// A word that may be an address.
    fn reach(&self, word: u64, reached: &mut BTreeSet<u64>, rest: &mut Vec<u64>) {
        let Some((instance, offset)) = self.memory.find(word) else { return };
        if instance.kind == Kind::Heap && instance.alive && reached.insert(word - offset) {
            rest.push(word - offset);
        }
    }

    fn follow_pointers(&self, address: u64, reached: &mut BTreeSet<u64>, rest: &mut Vec<u64>) {
        let pointer = self.program().model.pointer_bytes() as usize;
        let Some((instance, _)) = self.memory.find(address) else { return };
        for bytes in instance.bytes.stored(instance.size as usize) {
            for window in bytes.windows(pointer) {
                let mut word = [0; 8];
                word[..pointer].copy_from_slice(window);
                let word = u64::from_le_bytes(word);
                if word != 0 {
                    self.reach(word, reached, rest);
                }
            }
        }
    }
}
