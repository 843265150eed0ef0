//! A thread that goes round a loop for ever without any step that others could see.
//!
//! No other thread can change what it does next. So it is enough to find it in a state in which it was before: it will never
//! do anything else. States are compared with one of the past, which is a later one from time to time.

use leno_ir::interp::{Machine, Registers, ThreadId};

#[derive(Default)]
pub struct Circle {
    /// Where the thread was, and the fingerprint of that state.
    past: Option<(u32, u128)>,
    /// How many states were compared with it.
    compared: u32,
}

/// A state is remembered when so many steps have been made, and when twice as many have, and so on.
const FIRST_REMEMBERED: u32 = 1 << 12;

/// So many states are compared with one that is remembered; fewer, if they are large.
const MOST_COMPARED: u32 = 64;

impl Circle {
    /// Whether the thread, which is about to make the step of this number, is in the state again that is remembered.
    pub fn is_closed(&mut self, machine: &mut Machine<'_>, thread: ThreadId, step_number: u32) -> bool {
        if step_number < FIRST_REMEMBERED {
            return false;
        }
        let pc = machine.pc(thread);
        if step_number.is_power_of_two() {
            machine.recycle();
            self.past = Some((pc, machine.fingerprint(Registers::Live)));
            self.compared = 0;
            return false;
        }
        let Some((_, fingerprint)) = self.past.filter(|(past, _)| *past == pc) else { return false };
        let most = if machine.weight() > LARGE { MOST_COMPARED / 16 } else { MOST_COMPARED };
        if self.compared >= most {
            return false;
        }
        self.compared += 1;
        machine.recycle();
        machine.fingerprint(Registers::Live) == fingerprint
    }
}

/// Words of a state that takes its time to compare.
const LARGE: u64 = 10_000;
