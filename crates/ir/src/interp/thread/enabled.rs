//! The questions that a scheduler asks before a step: who can go, who cannot and why, who would notice.

use super::environment::Isolated;
use super::image::{Code, Next, Private, Rare, SyncStep, Target};
use super::machine::{Machine, Status, Thread, ThreadId};
use super::sync::Wait;
use crate::interp::memory::Kind;
use crate::interp::value::eval::Ex;
use crate::program::{Body, Instr, Op, Order, TerminatorKind};
use crate::witness::allocates_visibly;

/// The bytes that a step would touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Footprint {
    pub address: u64,
    pub len: u64,
    pub writes: bool,
    /// Made by an atomic operation or by synchronisation: it never races with another of its kind.
    pub atomic: bool,
}

impl Footprint {
    /// Whether two steps touch a common byte and one of them writes it.
    pub fn conflicts(self, other: Footprint) -> bool {
        let end = |footprint: Footprint| footprint.address.saturating_add(footprint.len);
        let overlap = self.address < end(other) && other.address < end(self);
        overlap && (self.writes || other.writes)
    }
}

/// A call of a function that is not part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum LibraryCall {
    /// What it accesses is known.
    Known,
    /// It may access anything.
    Unknown,
}

impl Machine<'_> {
    /// Whether [`Machine::step`] would do something.
    pub fn enabled(&self, thread: ThreadId) -> bool {
        self.wait(thread).is_none()
    }

    /// The threads that can step, in order of creation.
    pub fn enabled_threads(&self) -> Vec<ThreadId> {
        self.threads.ids().filter(|thread| self.enabled(*thread)).collect()
    }

    /// Why a thread cannot step; `None` when it can.
    pub fn wait(&self, thread: ThreadId) -> Option<Wait> {
        let own = self.wait_alone(thread);
        if own.is_some() {
            return own;
        }
        match self.section {
            Some(owner) if owner != thread && self.keeps_out(owner) => Some(Wait::Section(owner)),
            _ => None,
        }
    }

    /// Whether another thread's atomic section keeps this one from running. A thread that is blocked inside its
    /// section does not exclude anybody.
    pub(in crate::interp) fn is_excluded(&self, thread: ThreadId) -> bool {
        self.section.is_some_and(|owner| owner != thread && self.keeps_out(owner))
    }

    /// Whether a thread that is in its atomic section keeps the others out of theirs: it can go on, or it has met a
    /// false assumption, so that no thread ever sees what came of the first half.
    pub(in crate::interp) fn keeps_out(&self, owner: ThreadId) -> bool {
        self.threads[owner].status == Status::Stopped || self.wait_alone(owner).is_none()
    }

    /// What the thread would wait for if there were no atomic sections.
    fn wait_alone(&self, thread: ThreadId) -> Option<Wait> {
        if self.over {
            return Some(Wait::Ended);
        }
        self.own_wait(thread).filter(|wait| !self.may_wake_unasked(thread, *wait))
    }

    /// Whether a thread that waits for a signal may wake up without one.
    pub(in crate::interp) fn may_wake_unasked(&self, thread: ThreadId, wait: Wait) -> bool {
        self.spurious_wakeups && !self.threads[thread].sleeps_on && matches!(wait, Wait::Signal { .. })
    }

    /// Whether a thread cannot go on unless another one does something. (A sleeper that could only wake up without a
    /// signal is stuck.)
    pub fn is_stuck(&self, thread: ThreadId) -> bool {
        self.threads[thread].status != Status::Running || self.blocked(thread).is_some()
    }

    /// What the thread waits for, or waited for when the process ended.
    pub(in crate::interp) fn own_wait(&self, thread: ThreadId) -> Option<Wait> {
        let state = &self.threads[thread];
        match state.status {
            Status::Finished => return Some(Wait::Ended),
            Status::Stopped => return Some(Wait::Stopped),
            Status::Running => {}
        }
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return None };
        // An expression that cannot be evaluated does not make the step wait: the step reports it.
        let value = |ex: &Ex| state.frame().defined(ex);
        match &**rare {
            Rare::Join { thread: handle, .. } => {
                let target = self.thread_of(value(handle)?)?;
                let joined = &self.threads[target];
                let waits = target != thread && joined.joinable && joined.status != Status::Finished;
                waits.then_some(Wait::Join(target))
            }
            Rare::Sync { step, at, operand, bytes, .. } => {
                let operand = match operand {
                    Some(operand) => value(operand)?,
                    None => 0,
                };
                let at = value(at)?;
                let wait = self.sync_wait(thread, *step, at, operand)?;
                self.find_object(*step, at, (*bytes).into(), operand).is_ok().then_some(wait)
            }
            _ => None,
        }
    }

    /// The threads that keep another one from its step: as long as one of them does nothing about it, it waits. Those
    /// who hold the lock, or who are to end. (A semaphore, a barrier or a signal can come from anybody.)
    pub fn holders(&self, thread: ThreadId) -> Vec<ThreadId> {
        match self.own_wait(thread) {
            Some(Wait::Lock { owner, .. }) => owner.into_iter().collect(),
            Some(Wait::ReadLock { writer, .. } | Wait::WriteLock { writer: writer @ Some(_), .. }) => {
                writer.into_iter().collect()
            }
            Some(Wait::WriteLock { address, writer: None }) => {
                self.threads.ids().filter(|other| self.threads[*other].read_locks.contains(&address)).collect()
            }
            Some(Wait::Join(target)) => vec![target],
            _ => Vec::new(),
        }
    }

    /// Whether a thread has ended; what it holds then, it holds for ever.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(|thread| thread.status == Status::Finished)
    }

    /// What a thread waits for, for people.
    pub fn describe_wait(&self, wait: Wait) -> String {
        let name = |address| self.describe_address(address);
        let held = |owner: Option<ThreadId>| match owner {
            Some(owner) if self.has_ended(owner) => {
                format!(", which {} holds, although it has ended", self.thread_name(owner))
            }
            Some(owner) => format!(", held by {}", self.thread_name(owner)),
            None => String::new(),
        };
        let readers = |address| {
            let is_reader = |thread: &ThreadId| self.threads[*thread].read_locks.contains(&address);
            self.threads.ids().find(|thread| is_reader(thread) && self.has_ended(*thread))
        };
        match wait {
            Wait::Ended => "it has ended".to_string(),
            Wait::Stopped => "an assumption that is false".to_string(),
            Wait::Section(owner) => format!("the atomic section of {}", self.thread_name(owner)),
            Wait::Lock { address, owner } => format!("the lock {}{}", name(address), held(owner)),
            Wait::ReadLock { address, writer } => format!("the read-write lock {}{}", name(address), held(writer)),
            Wait::WriteLock { address, writer } => {
                format!("the read-write lock {}{}", name(address), held(writer.or_else(|| readers(address))))
            }
            Wait::Signal { address } => format!("a signal on {}", name(address)),
            Wait::Semaphore { address } => format!("the semaphore {}", name(address)),
            Wait::Barrier { address } => format!("the barrier {}", name(address)),
            Wait::Once { address } => format!("the initialisation under {}", name(address)),
            Wait::Join(thread) => format!("the end of {}", self.thread_name(thread)),
        }
    }

    /// Whether other threads can see the next step of this one, or be kept from a step by it. A step that is not
    /// visible commutes with all steps of all other threads.
    #[inline]
    pub fn is_visible(&self, thread: ThreadId) -> bool {
        let state = &self.threads[thread];
        if state.status != Status::Running {
            return false;
        }
        match &self.image().code[state.pc as usize] {
            Code::Assign { .. } | Code::AssignWide { .. } | Code::Goto(_) | Code::Branch { .. } => false,
            Code::Switch(_) | Code::Assume(_) | Code::Assert { .. } | Code::Nondet(_) => false,
            Code::Load { ptr, private, .. } => {
                !self.is_private(thread, ptr, *private) && !self.is_constant(thread, ptr)
            }
            Code::Store { ptr, private, .. } => !self.is_private(thread, ptr, *private),
            Code::Call(call) => {
                let func = match &call.callee {
                    Target::Direct(func) => Some(*func),
                    Target::Indirect(ex) => state.frame().defined(ex).and_then(|address| self.function_at(address)),
                };
                let function = func.map(|func| &self.image().functions[func]);
                function.is_some_and(|function| function.entry.is_none() && !function.pure)
            }
            Code::Return(_) => {
                let function = &self.image().functions[state.func];
                let allocated = state.objects.len() - state.first_object as usize > function.slots.len();
                state.callers.is_empty() || function.shares_slots || allocated
            }
            Code::Rare(rare) => match &**rare {
                Rare::Allocate { storage, .. } => allocates_visibly(self.program(), *storage),
                Rare::CheckMove { .. } | Rare::ThreadSelf { .. } | Rare::Undefine { .. } | Rare::Nothing => false,
                Rare::BeginLife(lives) | Rare::EndLife(lives) => !lives.is_private,
                _ => true,
            },
        }
    }

    /// Whether an access is to a slot whose address no other thread has, and in its bounds.
    #[inline]
    fn is_private(&self, thread: ThreadId, ptr: &Ex, private: Private) -> bool {
        let Some(slot) = private.0 else { return false };
        let state = &self.threads[thread];
        let frame = state.frame();
        let size = self.image().functions[state.func].slots[usize::from(slot)];
        frame.defined(ptr).is_some_and(|address| address.wrapping_sub(frame.slots[usize::from(slot)]) < size)
    }

    fn is_constant(&self, thread: ThreadId, ptr: &Ex) -> bool {
        let address = self.threads[thread].frame().defined(ptr);
        let object = address.and_then(|address| self.memory.find(address));
        object.is_some_and(|(instance, _)| instance.kind == Kind::Constant)
    }

    /// The memory access that the next step would make, if it makes exactly one at a known address. Library
    /// functions, and steps that end the life of stack objects, are visible without having one.
    pub fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        let state = &self.threads[thread];
        if state.status != Status::Running {
            return None;
        }
        let value = |ex: &Ex| state.frame().defined(ex);
        let access = |ptr: &Ex, bits: u16, writes, atomic| {
            Some(Footprint { address: value(ptr)?, len: bits.div_ceil(8).into(), writes, atomic })
        };
        match &self.image().code[state.pc as usize] {
            Code::Load { ptr, bits, .. } => access(ptr, *bits, false, self.is_atomic(thread)),
            Code::Store { ptr, bits, .. } => access(ptr, *bits, true, self.is_atomic(thread)),
            Code::Rare(rare) => match &**rare {
                Rare::ReadModifyWrite { ptr, bits, .. } | Rare::CompareExchange { ptr, bits, .. } => {
                    access(ptr, *bits, true, true)
                }
                Rare::Spawn { handle: Some((ptr, bits)), .. } => access(ptr, *bits, true, false),
                Rare::Sync { at, .. } => {
                    let Next::Instr(Instr { op: Op::Sync { op, .. }, .. }) = self.next_op(thread) else { return None };
                    let address = value(at)?;
                    let len = self.object_len(address, op.object_bytes(self.program().model));
                    Some(Footprint { address, len, writes: true, atomic: op.object_use().is_atomic() })
                }
                Rare::Free { ptr, .. } => self.whole_object(value(ptr)?),
                Rare::BeginLife(lives) | Rare::EndLife(lives) => self.whole_object(state.slot(lives.slot)),
                Rare::ObjectSize { ptr, .. } => access(ptr, 8, false, true),
                _ => None,
            },
            _ => None,
        }
    }

    /// The beginning or end of the life of the object at an address.
    fn whole_object(&self, address: u64) -> Option<Footprint> {
        let len = self.memory.find(address)?.0.size;
        Some(Footprint { address, len, writes: true, atomic: false })
    }

    /// How many of the bytes of a synchronisation object there are.
    pub fn object_len(&self, address: u64, bytes: u32) -> u64 {
        let rest = self.memory.find(address).map(|(instance, offset)| instance.size.saturating_sub(offset));
        u64::from(bytes).min(rest.unwrap_or(u64::MAX)).max(4)
    }

    fn is_atomic(&self, thread: ThreadId) -> bool {
        let order = match self.next_op(thread) {
            Next::Instr(instr) => match &instr.op {
                Op::Load { from, .. } => from.order,
                Op::Store { to, .. } => to.order,
                _ => Order::NotAtomic,
            },
            Next::Terminator(_) => Order::NotAtomic,
        };
        order != Order::NotAtomic
    }
}

/// Stack objects of more bytes than this are not looked into.
const LARGEST_FINGERPRINT: u64 = 4096;

/// What a search needs to know about the next step, beyond one access.
impl Machine<'_> {
    /// Whether a thread is inside an atomic section.
    pub fn in_section(&self, thread: ThreadId) -> bool {
        self.threads[thread].section_depth > 0
    }

    /// The thread that the next step joins.
    pub fn join_target(&self, thread: ThreadId) -> Option<ThreadId> {
        let is_join = matches!(self.next_op(thread), Next::Instr(instr) if matches!(instr.op, Op::Join { .. }));
        self.handle_target(thread).filter(|_| is_join)
    }

    /// The thread that the next step joins or detaches.
    pub fn handle_target(&self, thread: ThreadId) -> Option<ThreadId> {
        let state = &self.threads[thread];
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return None };
        match &**rare {
            Rare::Join { thread: handle, .. } | Rare::Detach { thread: handle } => {
                self.thread_of(state.frame().defined(handle)?)
            }
            _ => None,
        }
    }

    /// The second address of a synchronisation step: the mutex of a wait.
    pub fn sync_operand(&self, thread: ThreadId) -> Option<u64> {
        let state = &self.threads[thread];
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return None };
        match &**rare {
            Rare::Sync { operand, .. } => state.frame().defined(operand.as_ref()?),
            _ => None,
        }
    }

    /// The value that the next step expects to find in memory, if it is a compare-exchange of up to eight whole bytes.
    pub fn expected(&self, thread: ThreadId) -> Option<u64> {
        let state = &self.threads[thread];
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return None };
        match &**rare {
            Rare::CompareExchange { expected, bits, .. } if *bits <= 64 && bits.is_multiple_of(8) => {
                state.frame().defined(expected)
            }
            _ => None,
        }
    }

    /// Whether the next step wakes a sleeper to whom no signal was given.
    pub fn wakes_unasked(&self, thread: ThreadId) -> bool {
        let state = &self.threads[thread];
        let Code::Rare(rare) = &self.image().code[state.pc as usize] else { return false };
        let Rare::Sync { step: SyncStep::CondWake { .. }, at, .. } = &**rare else { return false };
        let sleepers = state.frame().fast(at).and_then(|at| self.sleepers.get(&at));
        sleepers.is_some_and(|sleepers| !sleepers.may_wake(thread))
    }

    /// The library function that the next step calls, unless it accesses no memory (`sqrt`).
    pub fn called_library(&self, thread: ThreadId) -> Option<LibraryCall> {
        let state = &self.threads[thread];
        let Code::Call(call) = &self.image().code[state.pc as usize] else { return None };
        if state.status != Status::Running {
            return None;
        }
        let func = match &call.callee {
            Target::Direct(func) => *func,
            Target::Indirect(ex) => state.frame().defined(ex).and_then(|address| self.function_at(address))?,
        };
        match &self.program().functions[func].body {
            Body::External(external) if external.pure => None,
            Body::External(external) if external.known => Some(LibraryCall::Known),
            Body::External(_) => Some(LibraryCall::Unknown),
            Body::Blocks(_) => None,
        }
    }

    /// What the last known library function has accessed: the step before this state was a call of one.
    pub fn library_accesses(&self) -> &[Footprint] {
        &self.touched
    }

    /// All accesses that the next step would make: the one of an instruction, or those of a known library function.
    pub fn next_accesses(&self, thread: ThreadId) -> Vec<Footprint> {
        if self.called_library(thread) != Some(LibraryCall::Known) || !self.enabled(thread) {
            return self.footprint(thread).into_iter().collect();
        }
        let mut trial = self.clone();
        trial.touched.clear();
        trial.step(thread, &mut Isolated::default());
        trial.touched
    }

    /// Stack objects, with their sizes, whose lives the end of the running activation ends; all of the thread's if it
    /// is the last.
    pub fn ending_objects(&self, thread: ThreadId) -> impl Iterator<Item = (u64, u64)> + '_ {
        let state = &self.threads[thread];
        let leaves =
            matches!(self.next_op(thread), Next::Terminator(t) if matches!(t.kind, TerminatorKind::ThreadExit(_)));
        let first = if leaves { 0 } else { state.first_object as usize };
        state.objects[first..].iter().map(|address| (*address, self.memory.find(*address).map_or(0, |(i, _)| i.size)))
    }

    /// A hash of everything that belongs to a thread alone: where it is in which activations, its registers, and its
    /// stack objects. Which addresses those have does not count: activations of the same function in the same state
    /// look the same. None when there is too much to hash.
    pub fn local_fingerprint(&self, thread: ThreadId) -> Option<u64> {
        let state = &self.threads[thread];
        let mut hash = u64::from(state.pc) ^ 0x9e37_79b9_7f4a_7c15;
        let mut add = |value: u64| hash = (hash.rotate_left(23) ^ value).wrapping_mul(0x9fb2_1c65_1e98_df25);
        add(u64::from(state.sleeps_on));
        for caller in &state.callers {
            add(u64::from(caller.pc));
        }
        for cell in &state.cells {
            add(self.without_stack_address(state, cell.bits));
            add(cell.undefined);
        }
        for object in &state.objects {
            let (instance, _) = self.memory.find(*object)?;
            let size = instance.size;
            if size > LARGEST_FINGERPRINT {
                return None;
            }
            if !instance.alive {
                add(u64::MAX);
                continue;
            }
            let (bytes, is_defined) = self.memory.bytes(*object, size).ok()?;
            add(size << 1 | u64::from(is_defined));
            for word in bytes.chunks(8) {
                let mut value = [0; 8];
                value[..word.len()].copy_from_slice(word);
                add(self.without_stack_address(state, u64::from_le_bytes(value)));
            }
        }
        Some(hash)
    }

    /// An address in one of the thread's own stack objects, as the number of the object and the offset.
    fn without_stack_address(&self, state: &Thread, value: u64) -> u64 {
        if value < 1 << 16 {
            return value;
        }
        let owner = state.objects.iter().position(|object| value.wrapping_sub(*object) <= LARGEST_FINGERPRINT);
        owner.map_or(value, |index| (value - state.objects[index]) | (index as u64 + 1) << 56)
    }

    /// Whether an address lies in one of the thread's own stack objects.
    pub fn is_on_stack(&self, thread: ThreadId, address: u64) -> bool {
        let objects = &self.threads[thread].objects;
        objects
            .iter()
            .any(|object| self.memory.find(*object).is_some_and(|(i, _)| address.wrapping_sub(*object) < i.size))
    }

    /// Lets a thread go no further, as if an assumption had been false; an ending that it caused is taken back.
    pub fn stop_thread(&mut self, thread: ThreadId) {
        self.over = false;
        self.refused = false;
        self.threads[thread].status = Status::Stopped;
        self.threads[thread].section_depth = 0;
        if self.section == Some(thread) {
            self.section = None;
        }
    }
}
