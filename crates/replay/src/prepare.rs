//! What the interpreter knows that the real program does not.
//!
//! In the semantics, reading what nobody has written asks for an input, and the memory keeps the answer. Compiled code reads
//! whatever lies there. So the witness is followed on the interpreter first, to learn which of its inputs were asked for by
//! instructions, which bytes were settled by which steps, and which registers: the run writes those bytes just before they are
//! read, and begins functions with those registers.
//!
//! If the interpreter cannot follow the witness, the real program is the judge all the same: with what was learned so far.

use crate::ReplayOptions;
use leno_ir::interp::{Captured, Environment, FileHandle, Image, Machine, Next, Source, Status, StepResult, ThreadId};
use leno_ir::program::{Expr, FuncId, LocalId, Op, Program};
use leno_ir::witness::{Input, Witness};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Prepared {
    /// By thread: the inputs that instructions and unknown functions ask for.
    pub inputs: BTreeMap<String, Vec<Input>>,
    pub settled: Vec<Settled>,
    pub fresh: Vec<Fresh>,
    /// Why the run may differ from the witness.
    pub caveat: Option<&'static str>,
}

/// Bits that got a value when this step read them.
pub(crate) struct Settled {
    pub step: usize,
    pub mask: u128,
    pub bits: u128,
}

/// A register that got a value when it was first read, before anything was assigned to it.
pub(crate) struct Fresh {
    pub thread: String,
    pub register: (FuncId, LocalId),
    /// The how-manieth activation of the function in the thread.
    pub activation: usize,
    pub bits: u64,
}

/// Answers with the witness's inputs, and keeps those that the real program will ask for, too.
struct Script<'a> {
    inputs: &'a BTreeMap<String, Vec<Input>>,
    used: BTreeMap<String, usize>,
    /// The thread that steps.
    name: String,
    asked: Vec<(Source, Input)>,
    rest: Captured,
}

impl Environment for Script<'_> {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, _: ThreadId, width: u16, source: Source) -> u128 {
        let used = self.used.entry(self.name.clone()).or_default();
        let input = self.inputs.get(&self.name).and_then(|inputs| inputs.get(*used));
        *used += 1;
        let bits = input.map_or(0, |input| input.bits);
        self.asked.push((source, Input { width, bits }));
        bits
    }
    fn write(&mut self, _: FileHandle, _: &[u8]) -> bool {
        true
    }
    fn flush(&mut self, _: FileHandle) {}
}

pub(crate) fn prepare(program: &Program, witness: &Witness, options: &ReplayOptions) -> Prepared {
    let image = Image::new(program);
    let mut rest = Captured::new(0);
    rest.input.clone_from(&options.input);
    let script =
        Script { inputs: &witness.inputs, used: BTreeMap::new(), name: String::new(), asked: Vec::new(), rest };
    let mut follower = Follower {
        machine: Machine::new(&image, &options.machine),
        script,
        prepared: Prepared::default(),
        activations: BTreeMap::new(),
        begun: BTreeMap::new(),
    };
    // Without inputs nothing was asked for, and there is nothing to learn.
    if !witness.inputs.is_empty() {
        follower.follow(witness);
    }
    let Follower { script, mut prepared, .. } = follower;
    // Those that were not asked for: the real program may.
    for (thread, inputs) in &witness.inputs {
        let used = script.used.get(thread).copied().unwrap_or(0);
        let rest = inputs.get(used..).unwrap_or_default();
        prepared.inputs.entry(thread.clone()).or_default().extend_from_slice(rest);
    }
    prepared
}

struct Follower<'a, 'p> {
    machine: Machine<'p>,
    script: Script<'a>,
    prepared: Prepared,
    /// By thread: which activations of their functions are active, outermost first.
    activations: BTreeMap<ThreadId, Vec<usize>>,
    /// How many activations of a function a thread has begun.
    begun: BTreeMap<(ThreadId, FuncId), usize>,
}

impl Follower<'_, '_> {
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
        let function = self.note_activation(thread);
        let undefined = self.undefined_registers(thread, next);
        let access = self.machine.footprint(thread).filter(|_| reads);
        let before = access.and_then(|at| self.machine.peek(at.address, at.len).ok());
        self.script.name = self.machine.thread_name(thread).to_string();
        self.script.asked.clear();
        if self.machine.step(thread, &mut self.script) != StepResult::Done {
            return false;
        }
        if self.script.asked.is_empty() {
            return true;
        }
        if let Some(before) = before.filter(|value| !value.is_defined()) {
            // The address is looked at first, so what was asked for last is what was read.
            let bits = self.script.asked.last().map_or(0, |(_, input)| input.bits);
            self.prepared.settled.push(Settled { step: number, mask: before.undefined, bits });
            self.script.asked.pop();
        }
        self.keep_inputs(thread, function, &undefined);
        true
    }

    /// The running function, and by the way which of its activations it is.
    fn note_activation(&mut self, thread: ThreadId) -> (FuncId, usize) {
        let depth = self.machine.threads()[thread].depth();
        let function = self.machine.image().place(self.machine.pc(thread)).func;
        let active = self.activations.entry(thread).or_default();
        active.truncate(depth);
        if active.len() < depth {
            let begun = self.begun.entry((thread, function)).or_default();
            active.push(*begun);
            *begun += 1;
        }
        (function, active.last().copied().unwrap_or(0))
    }

    /// The registers that the next step reads and nobody has set, in the order in which they are read.
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

    fn keep_inputs(&mut self, thread: ThreadId, function: (FuncId, usize), undefined: &[(LocalId, u128)]) {
        let thread = self.machine.thread_name(thread).to_string();
        let asked = std::mem::take(&mut self.script.asked);
        let (registers, others): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|(source, _)| *source == Source::Undefined);
        let inputs = others.into_iter().map(|(_, input)| input);
        self.prepared.inputs.entry(thread.clone()).or_default().extend(inputs);
        let is_plain = registers.len() == undefined.len() && undefined.iter().all(|(_, mask)| mask >> 64 == 0);
        if !is_plain && !registers.is_empty() {
            self.prepared.caveat = Some("it depends on the value of an uninitialised local variable");
            return;
        }
        for ((local, mask), (_, input)) in undefined.iter().zip(registers) {
            let bits = (input.bits & mask) as u64;
            let (register, activation) = ((function.0, *local), function.1);
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
