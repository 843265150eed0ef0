//! An operation as one piece of straight code with jumps: calls are put in place of the functions called.
//!
//! The proof steps through instructions of the representation. Nothing is translated into another language; only calls
//! disappear, registers and stack slots get numbers of their own, and blocks become positions. So what an instruction
//! means is decided in one place (`machine`), and whatever is not known there ends the proof with a reason.

use super::view::RESULT_SLOTS;
use leno_ir::program::{
    Access, BinaryOp, Block, BlockId, Body, Callee, DataModel, Expr, FuncId, Function, Local, LocalId, Op, Program,
    SlotId, Span, SyncOp, TerminatorKind, Type,
};
use std::collections::BTreeSet;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// An instruction, with registers and slots numbered anew.
    Instruction(Op),
    /// Registers and slots of a function that is called here are undefined.
    Forget {
        registers: (u32, u32),
        slots: (u32, u32),
    },
    Jump(usize),
    Branch {
        condition: Expr,
        then: usize,
        otherwise: usize,
    },
    Switch {
        value: Expr,
        cases: Vec<(u128, usize)>,
        default: usize,
    },
    Return(Option<Expr>),
    /// What the proof does not follow: why.
    Unsupported(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Span,
}

/// An operation, all calls in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub function: String,
    pub params: u32,
    pub steps: Vec<Step>,
    /// The types of registers.
    pub registers: Vec<Local>,
    /// The registers and words of slots that may be read later, before each step.
    pub live: Vec<BTreeSet<Kept>>,
    pub uses_lock: bool,
}

/// Functions that call each other more deeply than this are not put in place.
const DEEPEST_CALL: usize = 12;

/// An operation of so many steps is not looked at.
const MOST_STEPS: usize = 20_000;

impl Code {
    pub fn new(program: &Program, function: FuncId) -> Result<Code, String> {
        let mut flat = Flattening { program, steps: Vec::new(), registers: Vec::new(), slots: 0 };
        flat.registers.extend(program.functions[function].locals.iter().cloned());
        flat.slots = program.functions[function].slots.len() as u32;
        flat.function(function, 0, 0, None, 0)?;
        let Flattening { mut steps, registers, .. } = flat;
        let is_lock = |step: &Step| {
            matches!(&step.kind, StepKind::Instruction(Op::Sync { op: SyncOp::Lock(_) | SyncOp::Unlock(_), .. }))
        };
        let uses_lock = steps.iter().any(is_lock);
        shorten_jumps(&mut steps);
        let Function { name, params, .. } = &program.functions[function];
        let live = liveness(&steps, *params, program.model);
        Ok(Code { function: name.clone(), params: *params, steps, registers, live, uses_lock })
    }

    pub fn register_type(&self, register: u32) -> Type {
        self.registers[register as usize].ty
    }
}

struct Flattening<'p> {
    program: &'p Program,
    steps: Vec<Step>,
    registers: Vec<Local>,
    slots: u32,
}

impl Flattening<'_> {
    /// Adds the steps of a function. Its value goes to `result`, and control goes on after its last step.
    fn function(
        &mut self,
        id: FuncId,
        first_register: u32,
        first_slot: u32,
        result: Option<Option<u32>>,
        depth: usize,
    ) -> Result<(), String> {
        let function = &self.program.functions[id];
        if depth > DEEPEST_CALL {
            return Err(format!("`{}` is called recursively, or too deeply", function.name));
        }
        let Body::Blocks(blocks) = &function.body else {
            return Err(format!("it calls `{}`, which is not defined here", function.name));
        };
        let rename = Rename { first_register, first_slot };
        let mut starts = Vec::new();
        let mut jumps: Vec<(usize, Vec<BlockId>)> = Vec::new();
        let mut ends = Vec::new();
        for block in blocks.iter() {
            starts.push(self.steps.len());
            self.block(block, rename, depth)?;
            let at = self.steps.len();
            let kind = match &block.terminator.kind {
                TerminatorKind::Goto(target) => {
                    jumps.push((at, vec![*target]));
                    StepKind::Jump(0)
                }
                TerminatorKind::Branch { cond, then, otherwise } => {
                    jumps.push((at, vec![*then, *otherwise]));
                    StepKind::Branch { condition: rename.expr(cond), then: 0, otherwise: 0 }
                }
                TerminatorKind::Switch { value, cases, default } => {
                    let targets = cases.iter().map(|(_, target)| *target).chain([*default]);
                    jumps.push((at, targets.collect()));
                    let cases = cases.iter().map(|(number, _)| (*number, 0)).collect();
                    StepKind::Switch { value: rename.expr(value), cases, default: 0 }
                }
                TerminatorKind::Return(value) => {
                    let value = value.as_ref().map(|value| rename.expr(value));
                    match result {
                        None => StepKind::Return(value),
                        Some(register) => {
                            if let (Some(register), Some(value)) = (register, value) {
                                let op = Op::Assign { dst: LocalId(register), value };
                                self.steps.push(Step { kind: StepKind::Instruction(op), span: block.terminator.span });
                            }
                            ends.push(self.steps.len());
                            StepKind::Jump(0)
                        }
                    }
                }
                TerminatorKind::ThreadExit(_) | TerminatorKind::Exit(_) | TerminatorKind::Abort => {
                    StepKind::Unsupported("it ends the thread or the program".to_string())
                }
                TerminatorKind::Unreachable => {
                    StepKind::Unsupported("it comes to the end without a result".to_string())
                }
            };
            self.steps.push(Step { kind, span: block.terminator.span });
            if self.steps.len() > MOST_STEPS {
                return Err(format!("it has more than {MOST_STEPS} instructions, calls in place"));
            }
        }
        for (at, targets) in jumps {
            let target = |block: &BlockId| starts[block.0 as usize];
            match &mut self.steps[at].kind {
                StepKind::Jump(to) => *to = target(&targets[0]),
                StepKind::Branch { then, otherwise, .. } => {
                    (*then, *otherwise) = (target(&targets[0]), target(&targets[1]));
                }
                StepKind::Switch { cases, default, .. } => {
                    for (case, block) in cases.iter_mut().zip(&targets) {
                        case.1 = target(block);
                    }
                    *default = targets.last().map_or(0, target);
                }
                _ => {}
            }
        }
        let after = self.steps.len();
        for at in ends {
            self.steps[at].kind = StepKind::Jump(after);
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, rename: Rename, depth: usize) -> Result<(), String> {
        for instr in &block.instrs {
            let mut push = |kind| self.steps.push(Step { kind, span: instr.span });
            let Op::Call { dst, callee, args } = &instr.op else {
                push(match rename.op(&instr.op) {
                    Some(op) => StepKind::Instruction(op),
                    None => StepKind::Unsupported(format!(
                        "the proof does not follow this instruction: {}",
                        word(&instr.op)
                    )),
                });
                continue;
            };
            let Callee::Direct(callee) = callee else {
                push(StepKind::Unsupported("it calls a function through a pointer".to_string()));
                continue;
            };
            let function = &self.program.functions[*callee];
            if matches!(function.body, Body::External(_)) {
                push(StepKind::Unsupported(format!("it calls `{}`, which is not defined here", function.name)));
                continue;
            }
            let (register, slot) = (self.registers.len() as u32, self.slots);
            self.registers.extend(function.locals.iter().cloned());
            self.slots += function.slots.len() as u32;
            push(StepKind::Forget { registers: (register, self.registers.len() as u32), slots: (slot, self.slots) });
            for (at, argument) in args.iter().enumerate().take(function.params as usize) {
                let op = Op::Assign { dst: LocalId(register + at as u32), value: rename.expr(argument) };
                self.steps.push(Step { kind: StepKind::Instruction(op), span: instr.span });
            }
            let result = dst.map(|dst| dst.0 + rename.first_register);
            self.function(*callee, register, slot, Some(result), depth + 1)?;
        }
        Ok(())
    }
}

/// Goes past jumps to jumps. (They would be stops for nothing.)
fn shorten_jumps(steps: &mut [Step]) {
    let last = |steps: &[Step], mut at: usize| {
        for _ in 0..steps.len() {
            match steps.get(at).map(|step| &step.kind) {
                Some(StepKind::Jump(next)) if *next != at => at = *next,
                _ => break,
            }
        }
        at
    };
    for at in 0..steps.len() {
        let mut kind = steps[at].kind.clone();
        match &mut kind {
            StepKind::Jump(to) => *to = last(steps, *to),
            StepKind::Branch { then, otherwise, .. } => {
                (*then, *otherwise) = (last(steps, *then), last(steps, *otherwise));
            }
            _ => continue,
        }
        steps[at].kind = kind;
    }
}

/// How registers and slots of a function are called in the code that it is put into.
#[derive(Clone, Copy)]
struct Rename {
    first_register: u32,
    first_slot: u32,
}

impl Rename {
    fn register(self, local: LocalId) -> LocalId {
        LocalId(local.0 + self.first_register)
    }

    fn expr(self, expr: &Expr) -> Expr {
        match expr {
            Expr::Local(local) => Expr::Local(self.register(*local)),
            Expr::Slot(slot) => Expr::Slot(SlotId(slot.0 + self.first_slot)),
            Expr::Const { .. } | Expr::Object(_) | Expr::Function(_) => expr.clone(),
            Expr::Unary(op, operand) => Expr::unary(*op, self.expr(operand)),
            Expr::Binary(op, operands) => Expr::binary(*op, self.expr(&operands[0]), self.expr(&operands[1])),
            Expr::Cast(op, ty, operand) => Expr::cast(*op, *ty, self.expr(operand)),
            Expr::Select(parts) => Expr::select(self.expr(&parts[0]), self.expr(&parts[1]), self.expr(&parts[2])),
        }
    }

    fn access(self, access: &Access) -> Access {
        Access { ptr: self.expr(&access.ptr), ..access.clone() }
    }

    /// The instruction with other numbers; none if the proof does not know it.
    fn op(self, op: &Op) -> Option<Op> {
        Some(match op {
            Op::Assign { dst, value } => Op::Assign { dst: self.register(*dst), value: self.expr(value) },
            Op::Load { dst, from } => Op::Load { dst: self.register(*dst), from: self.access(from) },
            Op::Store { to, value } => Op::Store { to: self.access(to), value: self.expr(value) },
            Op::ReadModifyWrite { dst, at, op, value } => Op::ReadModifyWrite {
                dst: dst.map(|dst| self.register(dst)),
                at: self.access(at),
                op: *op,
                value: self.expr(value),
            },
            Op::CompareExchange { ok, old, at, expected, desired, failure, weak } => Op::CompareExchange {
                ok: self.register(*ok),
                old: self.register(*old),
                at: self.access(at),
                expected: self.expr(expected),
                desired: self.expr(desired),
                failure: *failure,
                weak: *weak,
            },
            Op::Fence { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Yield => op.clone(),
            Op::Allocate { dst, size, align, storage, zeroed } => Op::Allocate {
                dst: self.register(*dst),
                size: self.expr(size),
                align: *align,
                storage: *storage,
                zeroed: *zeroed,
            },
            Op::Free { ptr, storage } => Op::Free { ptr: self.expr(ptr), storage: *storage },
            Op::BeginLife { slot } => Op::BeginLife { slot: SlotId(slot.0 + self.first_slot) },
            Op::EndLife { slot } => Op::EndLife { slot: SlotId(slot.0 + self.first_slot) },
            Op::CheckMove { from, to } => Op::CheckMove { from: self.expr(from), to: self.expr(to) },
            Op::Assume { cond } => Op::Assume { cond: self.expr(cond) },
            Op::Assert { cond, property, message } => {
                Op::Assert { cond: self.expr(cond), property: *property, message: *message }
            }
            Op::Nondet { dst } => Op::Nondet { dst: self.register(*dst) },
            Op::Undefine { dst } => Op::Undefine { dst: self.register(*dst) },
            Op::Sync { dst, op, at } => {
                let op = match op {
                    SyncOp::Lock(_) | SyncOp::Unlock(_) | SyncOp::LockDestroy(_) => op.clone(),
                    SyncOp::LockInit { lock, kind } => SyncOp::LockInit { lock: *lock, kind: self.expr(kind) },
                    _ => return None,
                };
                Op::Sync { dst: dst.map(|dst| self.register(dst)), op, at: self.expr(at) }
            }
            Op::ObjectSize { .. }
            | Op::Call { .. }
            | Op::Spawn { .. }
            | Op::Join { .. }
            | Op::Detach { .. }
            | Op::ThreadSelf { .. } => return None,
        })
    }
}

fn word(op: &Op) -> &'static str {
    match op {
        Op::Sync { .. } => "a synchronisation other than a lock",
        Op::Spawn { .. } | Op::Join { .. } | Op::Detach { .. } => "threads of its own",
        _ => "a question about threads or sizes",
    }
}

/// What an operation remembers from step to step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kept {
    Register(u32),
    /// Of a slot: the word at this offset.
    Word(u32, i64),
}

/// The slot and the offset, if an address is just that.
fn slot_word(address: &Expr) -> Option<(u32, i64)> {
    match address {
        Expr::Slot(slot) => Some((slot.0, 0)),
        Expr::Binary(BinaryOp::PtrAdd, operands) => match (&operands[0], &operands[1]) {
            (Expr::Slot(slot), Expr::Const { bits, .. }) => Some((slot.0, i64::try_from(*bits).ok()?)),
            _ => None,
        },
        _ => None,
    }
}

fn registers_of(expr: &Expr, kept: &mut BTreeSet<Kept>) {
    expr.for_each_local(|local| _ = kept.insert(Kept::Register(local.0)));
}

fn slots_of(expr: &Expr, slots: &mut BTreeSet<u32>) {
    match expr {
        Expr::Slot(slot) => _ = slots.insert(slot.0),
        Expr::Local(_) | Expr::Const { .. } | Expr::Object(_) | Expr::Function(_) => {}
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => slots_of(operand, slots),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| slots_of(operand, slots)),
        Expr::Select(parts) => parts.iter().for_each(|part| slots_of(part, slots)),
    }
}

/// The words that an access of so many bytes touches: a double word is two.
pub fn words(offset: i64, bytes: u64) -> Vec<i64> {
    if bytes == 16 { vec![offset, offset + 8] } else { vec![offset] }
}

/// What a step reads, and what it overwrites.
#[derive(Default)]
struct Flow {
    read: BTreeSet<Kept>,
    written: BTreeSet<Kept>,
    /// Slots that hold nothing before this step.
    begun: Vec<u32>,
    escaping: BTreeSet<u32>,
}

impl Flow {
    fn of(step: &Step, model: DataModel) -> Flow {
        let mut flow = Flow::default();
        match &step.kind {
            StepKind::Instruction(op) => flow.instruction(op, model),
            StepKind::Forget { registers, slots } => {
                flow.written.extend((registers.0..registers.1).map(Kept::Register));
                flow.begun.extend(slots.0..slots.1);
            }
            StepKind::Branch { condition: value, .. }
            | StepKind::Switch { value, .. }
            | StepKind::Return(Some(value)) => flow.operand(value),
            StepKind::Return(None) | StepKind::Jump(_) | StepKind::Unsupported(_) => {}
        }
        flow
    }

    fn operand(&mut self, expr: &Expr) {
        registers_of(expr, &mut self.read);
        slots_of(expr, &mut self.escaping);
    }

    fn instruction(&mut self, op: &Op, model: DataModel) {
        op.for_each_result(|local| _ = self.written.insert(Kept::Register(local.0)));
        match op {
            Op::Load { from: access, .. } | Op::Store { to: access, .. } if slot_word(&access.ptr).is_some() => {
                let (slot, offset) = slot_word(&access.ptr).unwrap_or_default();
                let touched = words(offset, access.ty.bytes(model)).into_iter().map(|at| Kept::Word(slot, at));
                match op {
                    Op::Store { value, .. } => {
                        self.written.extend(touched);
                        self.operand(value);
                    }
                    _ => self.read.extend(touched),
                }
            }
            Op::BeginLife { slot } | Op::EndLife { slot } => self.begun.push(slot.0),
            _ => op.for_each_operand(|operand| {
                registers_of(operand, &mut self.read);
                slots_of(operand, &mut self.escaping);
            }),
        }
    }
}

/// Where control may go after a step.
pub fn successors(at: usize, kind: &StepKind) -> Vec<usize> {
    match kind {
        StepKind::Jump(to) => vec![*to],
        StepKind::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        StepKind::Switch { cases, default, .. } => cases.iter().map(|(_, to)| *to).chain([*default]).collect(),
        StepKind::Return(_) | StepKind::Unsupported(_) => Vec::new(),
        StepKind::Instruction(_) | StepKind::Forget { .. } => vec![at + 1],
    }
}

/// What a caller's variable holds is read on return; but not, most likely, where a zero is returned and elsewhere is not.
fn results_through_pointers(steps: &[Step], params: u32, flows: &mut [Flow]) {
    let returned = |step: &Step| match &step.kind {
        StepKind::Return(Some(Expr::Const { bits, .. })) => Some(*bits),
        _ => None,
    };
    let tells_by_number = steps.iter().any(|step| returned(step).is_some_and(|bits| bits != 0));
    let stays = |param: u32| !flows.iter().any(|flow| flow.written.contains(&Kept::Register(param)));
    let fixed: Vec<u32> = (0..params).filter(|param| stays(*param)).collect();
    for (step, flow) in steps.iter().zip(flows) {
        match &step.kind {
            StepKind::Return(_) if tells_by_number && returned(step) == Some(0) => {}
            StepKind::Return(_) => flow.read.extend((0..params).map(|param| Kept::Word(RESULT_SLOTS + param, 0))),
            StepKind::Instruction(Op::Store { to: Access { ptr: Expr::Local(local), .. }, .. })
                if fixed.contains(&local.0) =>
            {
                flow.written.insert(Kept::Word(RESULT_SLOTS + local.0, 0));
            }
            _ => {}
        }
    }
}

/// Backwards, until nothing changes. Where the address of a slot is taken, all its words are read. (Later they are kept as
/// long as some word holds that address.) What is dropped too early reads as undefined, which is anything: it can cost
/// the proof, and never be wrong.
fn liveness(steps: &[Step], params: u32, model: DataModel) -> Vec<BTreeSet<Kept>> {
    let mut flows: Vec<Flow> = steps.iter().map(|step| Flow::of(step, model)).collect();
    results_through_pointers(steps, params, &mut flows);
    let touched = flows.iter().flat_map(|flow| flow.read.iter().chain(&flow.written)).copied();
    let touched: BTreeSet<Kept> = touched.filter(|kept| matches!(kept, Kept::Word(..))).collect();
    for flow in &mut flows {
        let escaping = &flow.escaping;
        let taken = touched.iter().filter(|kept| matches!(kept, Kept::Word(slot, _) if escaping.contains(slot)));
        flow.read.extend(taken);
    }
    let mut live = vec![BTreeSet::new(); steps.len() + 1];
    loop {
        let mut changed = false;
        for at in (0..steps.len()).rev() {
            let mut here: BTreeSet<Kept> = BTreeSet::new();
            for next in successors(at, &steps[at].kind) {
                here.extend(live[next].iter().copied());
            }
            let Flow { read, written, begun, .. } = &flows[at];
            here.retain(|kept| {
                let ends = matches!(kept, Kept::Word(slot, _) if begun.contains(slot));
                !ends && !written.contains(kept)
            });
            here.extend(read.iter().copied());
            if here != live[at] {
                live[at] = here;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}
