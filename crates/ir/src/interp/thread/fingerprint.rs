//! A state as a number: two states with the same one can be taken for the same.
//!
//! It is a hash of 128 bits of all that decides what can happen from here on: a search that makes a million states
//! mistakes one for another with a probability of less than 2^-88. Registers that are not read any more do not count,
//! nor does how a state came about.

use super::machine::{Machine, Status, Thread};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Two hashes at once, with different beginnings.
struct Wide(DefaultHasher, DefaultHasher);

impl Hasher for Wide {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// What is part of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registers {
    /// Those that may still be read.
    Live,
    /// All: what can be reached from them is asked for.
    All,
}

impl Machine<'_> {
    /// The state that decides what can happen from here on, and what is known of it.
    pub fn fingerprint(&self, registers: Registers) -> u128 {
        let mut state = Wide(DefaultHasher::new(), DefaultHasher::new());
        state.1.write_u64(0x9e37_79b9_7f4a_7c15);
        for thread in &self.threads {
            self.add_thread_state(thread, registers, &mut state);
        }
        self.memory.add_state(&mut state);
        self.sleepers.hash(&mut state);
        // A thread that waits inside of a section excludes no other.
        self.section.filter(|owner| self.keeps_out(*owner)).hash(&mut state);
        self.library.hash(&mut state);
        (self.over, self.tainted).hash(&mut state);
        self.order_fingerprint().hash(&mut state);
        u128::from(state.0.finish()) << 64 | u128::from(state.1.finish())
    }

    fn add_thread_state(&self, thread: &Thread, registers: Registers, state: &mut impl Hasher) {
        if registers == Registers::All {
            return thread.hash(state);
        }
        (thread.status, thread.result, thread.joinable, thread.sleeps_on, thread.at_barrier).hash(state);
        (&thread.name, thread.children, &thread.read_locks).hash(state);
        if thread.status == Status::Finished {
            return;
        }
        (thread.func, thread.pc, thread.section_depth, &thread.callers).hash(state);
        (&thread.objects, &thread.thread_locals).hash(state);
        if thread.status == Status::Running {
            self.for_each_live_cell(thread, false, &mut |cell| cell.hash(state));
        }
    }
}
