//! The machine: threads, memory, and what they are doing.
//!
//! A machine is a value: cloning it forks the execution, and nothing outside of it decides what a step does except
//! the [`Environment`](crate::interp::Environment) (inputs and outputs) and the choice of the thread. `step` has the
//! steps themselves, `enabled` the questions that a scheduler asks.

use super::enabled::Footprint;
use super::happens_before::HappensBefore;
use super::image::{Image, Next};
use super::sync::Sleepers;
use crate::index::{Idx, IndexVec};
use crate::index_type;
use crate::interp::library::stdio::Library;
use crate::interp::memory::violation::{Fault, Intent, Violation, ViolationKind};
use crate::interp::memory::{Instance, Kind, Memory};
use crate::interp::value::Value;
use crate::interp::value::eval::{Cell, Frame, Reg};
use crate::program::{FuncId, LocalId, ObjectKind, Program, SlotId};
use std::collections::BTreeMap;

index_type!(
    /// A thread, numbered in order of creation; 0 is the main thread.
    ThreadId,
    "t"
);

pub const MAIN: ThreadId = ThreadId(0);

/// What happens when an undefined value is about to decide something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum UndefinedPolicy {
    /// It is a violation.
    #[default]
    Report,
    /// Undefined bits get a nondeterministic value when they are first read, and keep it.
    Nondet,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    pub undefined: UndefinedPolicy,
    /// Whether a wait on a condition variable may end without a signal.
    pub spurious_wakeups: bool,
    /// With spurious wake-ups: whether it may is decided when the thread falls asleep, by a nondeterministic choice.
    pub chosen_wakeups: bool,
    /// How many bytes may be alive at once: beyond it, allocation gives null.
    pub memory_limit: u64,
    /// How many activations a thread may have: beyond it, the stack has overflowed.
    pub call_depth_limit: usize,
    /// Whether to keep track of what happens before what, if the program's atomics are not all `seq_cst`.
    pub happens_before: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            undefined: UndefinedPolicy::Report,
            spurious_wakeups: false,
            chosen_wakeups: false,
            memory_limit: 4 << 30,
            call_depth_limit: 1 << 18,
            happens_before: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Status {
    Running,
    Finished,
    /// An assumption was false: it stays there for ever.
    Stopped,
}

/// The activation that called the running one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(in crate::interp) struct Caller {
    pub func: FuncId,
    /// Of the call.
    pub pc: u32,
    pub base: u32,
    pub first_object: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Thread {
    /// By creation path: `main`, `main.1`, `main.1.2`.
    pub name: String,
    pub status: Status,
    pub(in crate::interp) func: FuncId,
    pub(in crate::interp) pc: u32,
    /// The first cell of the running activation.
    pub(in crate::interp) base: u32,
    /// The first stack object of the running activation: its slots, then what `alloca` gave.
    pub(in crate::interp) first_object: u32,
    pub(in crate::interp) callers: Vec<Caller>,
    pub(in crate::interp) cells: Vec<Cell>,
    pub(in crate::interp) objects: Vec<u64>,
    pub(in crate::interp) thread_locals: Vec<u64>,
    /// How many atomic sections it is in.
    pub(in crate::interp) section_depth: u32,
    /// The read-write locks that it holds for reading, once for each time.
    pub(in crate::interp) read_locks: Vec<u64>,
    /// The barrier at which it has arrived and that it has not left, unless that was destroyed since.
    pub(in crate::interp) at_barrier: Option<u64>,
    /// It sleeps until there is a signal for it.
    pub(in crate::interp) sleeps_on: bool,
    pub(in crate::interp) result: Value,
    pub(in crate::interp) joinable: bool,
    pub(in crate::interp) children: u32,
}

impl Thread {
    #[inline]
    pub(in crate::interp) fn frame(&self) -> Frame<'_> {
        Frame {
            cells: &self.cells[self.base as usize..],
            slots: &self.objects[self.first_object as usize..],
            thread_locals: &self.thread_locals,
        }
    }

    /// The address of a slot of the running activation.
    pub(in crate::interp) fn slot(&self, slot: u32) -> u64 {
        self.frame().slots[slot as usize]
    }

    #[inline]
    pub(in crate::interp) fn set(&mut self, reg: Reg, value: Value) {
        let first = self.base as usize + reg.cell as usize;
        self.cells[first] = Cell { bits: value.bits as u64, undefined: value.undefined as u64 };
        if reg.is_wide() {
            self.cells[first + 1] = Cell { bits: (value.bits >> 64) as u64, undefined: (value.undefined >> 64) as u64 };
        }
    }

    /// How many functions are active.
    pub fn depth(&self) -> usize {
        self.callers.len() + 1
    }
}

#[derive(Clone)]
pub struct Machine<'p> {
    image: &'p Image<'p>,
    pub(in crate::interp) threads: IndexVec<ThreadId, Thread>,
    pub(in crate::interp) memory: Memory,
    /// Who sleeps on which condition variable.
    pub(in crate::interp) sleepers: BTreeMap<u64, Sleepers>,
    /// The thread in whose atomic section we are.
    pub(in crate::interp) section: Option<ThreadId>,
    pub(in crate::interp) library: Library,
    /// What the last library function that was run has accessed.
    pub(in crate::interp) touched: Vec<Footprint>,
    /// The execution is over.
    pub(in crate::interp) over: bool,
    /// An allocation was refused for want of memory.
    pub(in crate::interp) refused: bool,
    pub(in crate::interp) tainted: bool,
    pub(in crate::interp) undefined: UndefinedPolicy,
    pub(in crate::interp) spurious_wakeups: bool,
    pub(in crate::interp) chosen_wakeups: bool,
    pub(in crate::interp) call_depth_limit: usize,
    /// What happens before what: kept only if it is asked for, and if orders of atomics matter.
    pub(in crate::interp) orders: Option<Box<HappensBefore>>,
}

impl<'p> Machine<'p> {
    /// A machine with the main thread at the start of the program's entry. A library has no entry: nothing can step.
    pub fn new(image: &'p Image<'p>, options: &Options) -> Machine<'p> {
        let mut machine = Machine {
            image,
            threads: IndexVec::new(),
            memory: image.initial.clone(),
            sleepers: BTreeMap::new(),
            section: None,
            library: Library::default(),
            touched: Vec::new(),
            over: image.program.entry.is_none(),
            refused: false,
            tainted: false,
            undefined: options.undefined,
            spurious_wakeups: options.spurious_wakeups,
            chosen_wakeups: options.chosen_wakeups,
            call_depth_limit: options.call_depth_limit,
            orders: (options.happens_before && image.orders.are_weak).then(Box::default),
        };
        machine.memory.set_limit(options.memory_limit);
        machine.open_standard_streams();
        if let Some(entry) = image.program.entry {
            machine.add_thread(entry, "main".to_string());
            let args = machine.program().command_line();
            let argv = machine.lay_out_arguments(&args);
            let values = [args.len() as u128, argv.into()];
            for (param, bits) in image.functions[entry].params.iter().zip(values) {
                machine.threads[MAIN].set(*param, Value::defined(bits).truncate(param.bits));
            }
        }
        machine
    }

    pub fn image(&self) -> &'p Image<'p> {
        self.image
    }

    pub fn program(&self) -> &'p Program {
        self.image.program
    }

    pub(in crate::interp) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// All threads that there ever were, in order of creation.
    pub fn threads(&self) -> &IndexVec<ThreadId, Thread> {
        &self.threads
    }

    pub fn thread_name(&self, thread: ThreadId) -> &str {
        self.threads.get(thread).map_or("no thread", |thread| &thread.name)
    }

    /// Whether the execution has ended, by exit, abort or violation.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether a function was called that nothing is known of, or an unknown object read.
    pub fn is_tainted(&self) -> bool {
        self.tainted
    }

    /// Whether an allocation was refused because the memory limit is reached: the real program may have more.
    pub fn has_refused_memory(&self) -> bool {
        self.refused
    }

    /// About how many words it takes to copy or hash the whole state.
    pub fn weight(&self) -> u64 {
        let threads = self.threads.iter().map(|thread| (thread.cells.len() + thread.callers.len() + 32) as u64);
        self.memory.weight() + threads.sum::<u64>()
    }

    /// The place of the next step of a thread, as a number that [`Image::place`] explains.
    pub fn pc(&self, thread: ThreadId) -> u32 {
        self.threads[thread].pc
    }

    /// The next instruction or terminator of a thread that is not finished.
    pub fn next_op(&self, thread: ThreadId) -> Next<'p> {
        self.image.next_at(self.threads[thread].pc)
    }

    /// The value of a register in the running activation of a thread. That of a finished thread is undefined.
    pub fn local(&self, thread: ThreadId, local: LocalId) -> Value {
        let thread = &self.threads[thread];
        let reg = self.image.functions[thread.func].registers[local.index()];
        if thread.status == Status::Finished {
            return Value::undefined(reg.bits);
        }
        let cells = thread.frame().cells;
        if reg.is_wide() {
            return crate::interp::value::eval::wide(cells, reg.cell);
        }
        let cell = cells[reg.cell as usize];
        Value { bits: cell.bits.into(), undefined: cell.undefined.into() }
    }

    /// Sets a register in the running activation of a thread: what the thread does must not depend on one that is dead.
    pub fn set_local(&mut self, thread: ThreadId, local: LocalId, value: Value) {
        let reg = self.image.functions[self.threads[thread].func].registers[local.index()];
        let ones = Value::undefined(reg.bits).undefined;
        self.threads[thread].set(reg, Value { bits: value.bits & ones, undefined: value.undefined & ones });
    }

    /// Where a slot of the running activation of a thread begins.
    pub fn slot_address(&self, thread: ThreadId, slot: SlotId) -> Option<u64> {
        self.threads[thread].frame().slots.get(slot.index()).copied()
    }

    /// Changes what is in memory, without a step: up to 16 bytes.
    pub fn poke(&mut self, address: u64, len: u64, value: Value) -> Result<(), Fault> {
        self.memory.store(address, len.min(16), value)
    }

    /// What is in memory, without a step: up to 16 bytes.
    pub fn peek(&self, address: u64, len: u64) -> Result<Value, Fault> {
        self.memory.load(address, len.min(16))
    }

    /// Whether all these bytes are of one object, which lives.
    pub fn is_accessible(&self, address: u64, len: u64) -> bool {
        self.memory.check(address, len, Intent::Read).is_ok()
    }

    /// The functions that are active in a thread, innermost first, each with the place where it is.
    pub fn backtrace(&self, thread: ThreadId) -> Vec<(FuncId, u32)> {
        let thread = &self.threads[thread];
        let here = std::iter::once((thread.func, thread.pc));
        here.chain(thread.callers.iter().rev().map(|caller| (caller.func, caller.pc))).collect()
    }

    /// A new thread at the start of `func`, with all parameters undefined. Its thread-local objects begin to live.
    pub(in crate::interp) fn add_thread(&mut self, func: FuncId, name: String) -> ThreadId {
        let function = &self.image.functions[func];
        let thread = self.threads.push(Thread {
            name,
            status: Status::Running,
            func,
            pc: function.entry.unwrap_or(0),
            base: 0,
            first_object: 0,
            callers: Vec::new(),
            cells: function.cells.clone(),
            objects: Vec::new(),
            thread_locals: Vec::new(),
            section_depth: 0,
            read_locks: Vec::new(),
            at_barrier: None,
            sleeps_on: false,
            result: Value::default(),
            joinable: true,
            children: 0,
        });
        for id in &self.image.thread_locals {
            let size = self.image.program.objects[*id].size;
            let instance = Instance::new(Kind::ThreadLocal, size, id.0, thread.0);
            let address = self.memory.allocate(thread.0, instance).unwrap_or(0);
            for (offset, bytes) in self.image.initial_bytes(*id) {
                self.memory.initialise(address, offset, &bytes);
            }
            self.threads[thread].thread_locals.push(address);
        }
        self.add_slots(thread, func);
        thread
    }

    /// Gives the slots of `func` fresh objects, on top of the thread's stack. False when there is no room: those that
    /// are missing are null.
    pub(in crate::interp) fn add_slots(&mut self, thread: ThreadId, func: FuncId) -> bool {
        let mut all = true;
        for (slot, size) in self.image.functions[func].slots.iter().enumerate() {
            let mut instance = Instance::new(Kind::Stack, *size, func.0, thread.0).uninitialised();
            instance.slot = slot as u32;
            let address = self.memory.allocate(thread.0, instance);
            all &= address.is_some();
            self.threads[thread].objects.push(address.unwrap_or(0));
        }
        all
    }

    /// The name of a thread's next child.
    pub(in crate::interp) fn child_name(&mut self, parent: ThreadId) -> String {
        let parent = &mut self.threads[parent];
        parent.children += 1;
        format!("{}.{}", parent.name, parent.children)
    }

    fn lay_out_arguments(&mut self, args: &[Vec<u8>]) -> u64 {
        let pointer = self.program().model.pointer_bytes();
        let addresses: Vec<u64> = args
            .iter()
            .map(|arg| {
                let mut text = arg.clone();
                text.push(0);
                self.new_library_object(&text)
            })
            .chain([0])
            .collect();
        let table: Vec<u8> =
            addresses.iter().flat_map(|a| a.to_le_bytes().into_iter().take(pointer as usize)).collect();
        self.new_library_object(&table)
    }

    /// An object that the library made, with these contents; null when there is no room.
    pub(in crate::interp) fn new_library_object(&mut self, contents: &[u8]) -> u64 {
        let instance = Instance::new(Kind::Library, contents.len() as u64, 0, MAIN.0);
        let address = self.memory.allocate(MAIN.0, instance).unwrap_or(0);
        self.memory.initialise(address, 0, contents);
        address
    }

    /// The address of a static object by name, if the program declares it `extern`.
    pub(in crate::interp) fn external_object(&self, name: &str) -> Option<u64> {
        let mut objects = self.program().objects.iter_enumerated();
        let (id, _) = objects.find(|(_, object)| object.kind == ObjectKind::External && object.name == name)?;
        Some(self.image.object_address(id))
    }

    /// A violation by a thread at its next step.
    pub(in crate::interp) fn violation(
        &self,
        thread: ThreadId,
        kind: ViolationKind,
        message: String,
    ) -> Box<Violation> {
        Box::new(Violation {
            kind,
            thread,
            thread_name: self.thread_name(thread).to_string(),
            span: self.image.span(self.threads[thread].pc),
            message,
        })
    }

    pub(in crate::interp) fn fault(&self, thread: ThreadId, fault: Fault) -> Box<Violation> {
        self.violation(thread, fault.kind, self.message_for(fault))
    }
}

impl std::hash::Hash for Machine<'_> {
    /// The state that decides what can happen from here on.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.threads.hash(state);
        self.memory.hash(state);
        self.sleepers.hash(state);
        // A thread that waits inside of a section excludes no other.
        self.section.filter(|owner| self.keeps_out(*owner)).hash(state);
        self.library.hash(state);
        self.over.hash(state);
    }
}
