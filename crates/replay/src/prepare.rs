//! What the interpreter knows that the real program does not.
//!
//! In the semantics, reading what was never written asks for an input, and the memory keeps the answer. Compiled code
//! reads whatever lies there. So the witness is followed on the interpreter first, to learn which of its inputs were
//! asked for by instructions, which bytes were settled by which steps, and which registers: the run writes those bytes
//! just before they are read, and begins functions with those registers. And which allocation got the memory of which
//! freed object: addresses are not the same, steps are.
//!
//! If the interpreter cannot follow the witness, the real program is the judge all the same: with what was learned so
//! far.

use crate::ReplayOptions;
use leno_engine::witness::{Given, Inputs};
use leno_ir::interp::{Image, Machine, Next, Owner, Source, Status, StepResult, ThreadId};
use leno_ir::program::{Expr, FuncId, Instr, LocalId, ObjectKind, Op, Program};
use leno_ir::witness::{Input, Witness};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Prepared {
    /// By thread: the inputs that instructions and unknown functions ask for.
    pub inputs: BTreeMap<String, Vec<Input>>,
    pub settled: Vec<Settled>,
    pub fresh: Vec<Fresh>,
    /// The allocations whose memory is given out again, and those that get it, in order.
    pub reuses: Vec<Reused>,
    /// What in the program's text asks for inputs, each once.
    pub asking: Vec<String>,
    /// Why the run may differ from the witness.
    pub caveat: Option<&'static str>,
}

/// Bits that got a value when this step read them.
pub(crate) struct Settled {
    pub step: usize,
    pub mask: u128,
    pub bits: u128,
    /// By a function that nothing is known of, and not by uninitialised memory or an object of which nothing is known.
    pub is_left_by_function: bool,
}

/// A register that got a value when it was first read, before anything was assigned to it.
pub(crate) struct Fresh {
    pub thread: String,
    pub register: (FuncId, LocalId),
    /// How often it had been undefined in the thread before: each activation of its function counts.
    pub activation: usize,
    pub bits: u64,
}

/// An allocation that gets the same memory as others.
pub(crate) struct Reused {
    pub step: usize,
    /// The step that allocated the memory first; the same if this is that one.
    pub from: usize,
    /// Of all objects that are ever there.
    pub room: u64,
}

pub(crate) fn prepare(program: &Program, witness: &Witness, options: &ReplayOptions) -> Prepared {
    let image = Image::new(program);
    let mut follower = Follower {
        machine: Machine::new(&image, &options.machine),
        inputs: Inputs::of_witness(&witness.inputs).with_standard_input(&options.input),
        prepared: Prepared::default(),
        activations: BTreeMap::new(),
        begun: BTreeMap::new(),
        undefined_again: BTreeMap::new(),
        allocated: BTreeMap::new(),
    };
    // Without inputs nothing was asked for, and there is nothing to learn.
    if !witness.inputs.is_empty() {
        follower.follow(witness);
    }
    let Follower { inputs, mut prepared, allocated, .. } = follower;
    let reused = allocated.into_values().flatten().filter(|steps| steps.len() > 1);
    for steps in reused {
        let (from, room) = (steps[0].0, steps.iter().map(|(_, size)| *size).max().unwrap_or(0));
        prepared.reuses.extend(steps.into_iter().map(|(step, _)| Reused { step, from, room }));
    }
    prepared.reuses.sort_by_key(|reused| reused.step);
    let given = inputs.by_thread();
    // Those that were not asked for: the real program may.
    for (thread, inputs) in &witness.inputs {
        let used = given.get(thread).map_or(0, Vec::len);
        let rest = inputs.get(used..).unwrap_or_default();
        prepared.inputs.entry(thread.clone()).or_default().extend_from_slice(rest);
    }
    prepared
}

struct Follower<'p> {
    machine: Machine<'p>,
    inputs: Inputs,
    prepared: Prepared,
    /// By thread: the activations, outermost first.
    activations: BTreeMap<ThreadId, Vec<Activation>>,
    /// How many activations of a function a thread has begun.
    begun: BTreeMap<(ThreadId, FuncId), usize>,
    /// How often a register of a function became undefined again in a thread.
    undefined_again: BTreeMap<(ThreadId, FuncId), BTreeMap<LocalId, usize>>,
    /// By address of the interpreter: the steps that allocated what was there, with the sizes; a list for each time that
    /// the memory was new.
    allocated: BTreeMap<u64, Vec<Vec<(usize, u64)>>>,
}

/// How often the registers of an activation had been undefined before, in their thread: in earlier activations, and
/// in this one.
#[derive(Clone, Default)]
struct Activation {
    times: usize,
    /// Those that are different.
    registers: BTreeMap<LocalId, usize>,
}

impl Activation {
    fn times(&self, register: LocalId) -> usize {
        self.registers.get(&register).copied().unwrap_or(self.times)
    }
}

impl Follower<'_> {
    fn follow(&mut self, witness: &Witness) {
        for (number, step) in witness.steps.iter().enumerate() {
            let is_there = self.advance(&step.thread).is_some_and(|thread| {
                self.machine.image().place(self.machine.pc(thread)) == step.place && self.step(thread, number)
            });
            if !is_there {
                return;
            }
        }
        for thread in witness.claim.threads() {
            self.advance(thread);
        }
    }

    /// Runs a thread up to its next schedule point.
    fn advance(&mut self, name: &str) -> Option<ThreadId> {
        let thread = self.machine.threads().ids().find(|id| self.machine.thread_name(*id) == name)?;
        while self.machine.threads()[thread].status == Status::Running && !self.machine.is_at_schedule_point(thread) {
            if !self.step(thread, usize::MAX) {
                return None;
            }
        }
        (self.machine.threads()[thread].status == Status::Running).then_some(thread)
    }

    fn step(&mut self, thread: ThreadId, number: usize) -> bool {
        let next = self.machine.next_op(thread);
        let reads = match next {
            Next::Instr(instr) => {
                matches!(instr.op, Op::Load { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. })
            }
            Next::Terminator(_) => false,
        };
        let (function, activation) = self.note_activation(thread, next);
        let undefined = self.undefined_registers(thread, next);
        let access = self.machine.footprint(thread).filter(|_| reads);
        let before = access.and_then(|at| self.machine.peek(at.address, at.len).ok());
        let asked_before = self.inputs.given().len();
        self.inputs.learn_names(&self.machine);
        let text = self.text_at(thread);
        if self.machine.step(thread, &mut self.inputs) != StepResult::Done {
            return false;
        }
        self.note_allocation(thread, next, number);
        let mut asked = self.inputs.given()[asked_before..].to_vec();
        if asked.is_empty() {
            return true;
        }
        let is_chosen = |given: &Given| match given.source {
            Source::Reuse => given.input.bits & 1 == 1,
            source => source == Source::Instruction,
        };
        let is_chosen = asked.iter().any(is_chosen);
        if let Some(text) = text.filter(|text| is_chosen && !self.prepared.asking.contains(text)) {
            self.prepared.asking.push(text);
        }
        if let Some(before) = before.filter(|value| !value.is_defined()) {
            // The address is looked at first, so what was asked for last is what was read.
            let last = asked.pop();
            let is_left_by_function = last.is_some_and(|given| given.source == Source::External)
                && access.is_some_and(|access| !self.is_external_object(access.address));
            let bits = last.map_or(0, |given| given.input.bits);
            self.prepared.settled.push(Settled { step: number, mask: before.undefined, bits, is_left_by_function });
        }
        self.keep_inputs(thread, (function, &activation), &undefined, asked);
        true
    }

    /// Where freed memory may be given out again, every allocation is a step of the witness.
    fn note_allocation(&mut self, thread: ThreadId, made: Next<'_>, number: usize) {
        let Next::Instr(Instr { op: Op::Allocate { dst, .. }, .. }) = made else { return };
        let address = self.machine.local(thread, *dst).bits as u64;
        let Some(size) = self.machine.object_size(address).filter(|_| number != usize::MAX) else { return };
        let there = self.allocated.entry(address).or_default();
        match there.last_mut() {
            Some(last) if self.machine.was_reused(address) => last.push((number, size)),
            _ => there.push(vec![(number, size)]),
        }
    }

    /// What stands where a thread is, in the user's own text: models of the library have none to show.
    fn text_at(&self, thread: ThreadId) -> Option<String> {
        let program = self.machine.program();
        let places = self.machine.backtrace(thread).into_iter().map(|(_, pc)| self.machine.image().span(pc));
        let span =
            places.into_iter().find(|span| !program.files.get(span.file).is_none_or(|file| file.starts_with('<')))?;
        program.texts.get(span.text).cloned()
    }

    fn is_external_object(&self, address: u64) -> bool {
        let program = self.machine.program();
        match self.machine.owner(address) {
            Some((Owner::Static(object), _)) => program.objects[object].kind == ObjectKind::External,
            _ => false,
        }
    }

    /// The running function, and which of its activations it is, before its next step.
    fn note_activation(&mut self, thread: ThreadId, next: Next<'_>) -> (FuncId, Activation) {
        let depth = self.machine.threads()[thread].depth();
        let function = self.machine.image().place(self.machine.pc(thread)).func;
        let active = self.activations.entry(thread).or_default();
        let begun = self.begun.entry((thread, function)).or_default();
        let again = self.undefined_again.entry((thread, function)).or_default();
        active.truncate(depth);
        if active.len() < depth {
            let registers = again.iter().map(|(register, times)| (*register, *begun + times)).collect();
            active.push(Activation { times: *begun, registers });
            *begun += 1;
        }
        let Some(activation) = active.last_mut() else { return (function, Activation::default()) };
        let before = activation.clone();
        if let Next::Instr(Instr { op: Op::Undefine { dst }, .. }) = next {
            let again = again.entry(*dst).or_default();
            activation.registers.insert(*dst, *begun + *again);
            *again += 1;
        }
        (function, before)
    }

    /// The registers that the next step reads and that were never set, in the order in which they are read.
    fn undefined_registers(&self, thread: ThreadId, next: Next<'_>) -> Vec<(LocalId, u128)> {
        let mut registers = Vec::new();
        match next {
            Next::Instr(instr) => instr.op.for_each_operand(|operand| add_registers(operand, &mut registers)),
            Next::Terminator(terminator) => {
                terminator.kind.operand().into_iter().for_each(|operand| add_registers(operand, &mut registers));
            }
        }
        let masks = registers.into_iter().map(|local| (local, self.machine.local(thread, local).undefined));
        masks.filter(|(_, mask)| *mask != 0).collect()
    }

    fn keep_inputs(
        &mut self,
        thread: ThreadId,
        function: (FuncId, &Activation),
        undefined: &[(LocalId, u128)],
        asked: Vec<Given>,
    ) {
        let thread = self.machine.thread_name(thread).to_string();
        let (registers, others): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|given| given.source == Source::Undefined);
        let inputs = others.into_iter().filter(|given| given.source != Source::Reuse).map(|given| given.input);
        self.prepared.inputs.entry(thread.clone()).or_default().extend(inputs);
        let is_plain = registers.len() == undefined.len() && undefined.iter().all(|(_, mask)| mask >> 64 == 0);
        if !is_plain && !registers.is_empty() {
            self.prepared.caveat = Some("it depends on the value of an uninitialised local variable");
            return;
        }
        for ((local, mask), given) in undefined.iter().zip(registers) {
            let bits = (given.input.bits & mask) as u64;
            let (register, activation) = ((function.0, *local), function.1.times(*local));
            self.prepared.fresh.push(Fresh { thread: thread.clone(), register, activation, bits });
        }
    }
}

/// Each register once, in the order of evaluation.
fn add_registers(expr: &Expr, registers: &mut Vec<LocalId>) {
    match expr {
        Expr::Local(local) if !registers.contains(local) => registers.push(*local),
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => add_registers(operand, registers),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| add_registers(operand, registers)),
        Expr::Select(parts) => parts.iter().for_each(|part| add_registers(part, registers)),
        Expr::Local(_) | Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
    }
}
