//! Assertions behind branches that were not taken.
//!
//! A recorded run that went well has not been where it fails: behind the other side of a branch, in a case of a switch,
//! in a function that reports an error. So at a branch that another order may decide in another way we walk on along the
//! other side, with the values that are known there: registers and the memory of the thread alone, as terms. Where a
//! branch on that way may go both ways, so do we. The way ends at the first step that depends on what other threads do
//! (taking a lock, an atomic update), at a branch on a value that is not known, or when a bound is reached. Each
//! assertion on the way that may be false becomes a target; the interpreter has to find it again.

use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, Evaluator, Leaves, ones};
use crate::walk::listener::{LeftOut, Listener, PossibleViolation};
use crate::walk::objects::Instances;
use crate::walk::problem::WalkResult;
use leno_ir::index::IndexVec;
use leno_ir::interp::ViolationKind;
use leno_ir::library_memory::{only_shows, written_parameters};
use leno_ir::program::{
    BlockId, Body, Callee, Expr, External, FuncId, Instr, LocalId, Op, Program, SlotId, Span, SyncOp, TerminatorKind,
    Type,
};
use leno_ir::witness::is_schedule_point;
use leno_logic::term::{Term, Terms};
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;

/// How many instructions we look at behind one branch.
const MOST_STEPS: usize = 2_000;
/// How many ways are followed behind one branch.
const MOST_WAYS: usize = 32;
/// How often we look behind the same side of a branch, and how often we ask whether it may be taken.
const MOST_VISITS: u32 = 32;
const MOST_ASKED: u32 = 256;
/// How many assertions behind one branch are asked about.
const MOST_TARGETS: usize = 8;
/// Where stack objects of functions lie that were never called: no real address is near.
const INVENTED: u64 = 1 << 60;

/// A value: none if it is not known.
type Known = Option<ConcolicValue>;

/// A function on the way.
#[derive(Clone)]
struct Frame {
    func: FuncId,
    block: BlockId,
    index: usize,
    locals: IndexVec<LocalId, Known>,
    slots: IndexVec<SlotId, u64>,
    dst: Option<LocalId>,
}

/// A way behind the branch.
#[derive(Clone)]
struct Way {
    frames: Vec<Frame>,
    /// What holds on it.
    condition: Term,
    /// What was stored on it, by address and size. All other memory is as it was before the branch.
    stored: BTreeMap<u64, (u32, Known)>,
    /// It has a schedule point: so it is not only the end of the recorded path that is another one.
    has_point: bool,
    /// Somebody may have written anything.
    is_memory_lost: bool,
    invented: u64,
}

/// How a way goes on.
enum Step {
    On,
    Ends,
    /// On this side if the condition holds, for each of several.
    Splits(Vec<(Term, BlockId)>),
}

/// The leaves of expressions on the way.
struct WayLeaves<'a> {
    program: &'a Program,
    instances: &'a Instances,
    thread: ThreadIndex,
    frame: &'a Frame,
}

impl WayLeaves<'_> {
    fn is_known(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Local(local) => self.frame.locals.get(*local).is_some_and(Option::is_some),
            Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => true,
            Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => self.is_known(operand),
            Expr::Binary(_, operands) => operands.iter().all(|operand| self.is_known(operand)),
            Expr::Select(parts) => parts.iter().all(|part| self.is_known(part)),
        }
    }

    fn value(&self, terms: &mut Terms, expr: &Expr) -> Known {
        if !self.is_known(expr) {
            return None;
        }
        let mut evaluator = Evaluator { terms, model: self.program.model, pins: Vec::new() };
        let value = evaluator.value(self, expr);
        // (What would have to be pinned is not known here.)
        evaluator.pins.is_empty().then_some(value)
    }
}

impl Leaves for WayLeaves<'_> {
    fn leaf(&self, expr: &Expr) -> ConcolicValue {
        let address = match expr {
            Expr::Local(local) => return self.frame.locals.get(*local).copied().flatten().unwrap_or_default(),
            Expr::Object(object) => self.instances.address_of(self.program, self.thread, *object),
            Expr::Slot(slot) => self.frame.slots.get(*slot).copied(),
            Expr::Function(function) => self.instances.function_address(*function),
            _ => None,
        };
        ConcolicValue::fixed(address.unwrap_or_default().into())
    }

    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(&self.program.functions[self.frame.func].locals, self.program.model)
    }
}

impl<L: Listener> Walk<'_, '_, L> {
    /// Looks behind the branch to `other`, which the thread did not take, and takes if `condition` holds.
    pub(crate) fn check_untaken_branch(&mut self, id: ThreadIndex, other: BlockId, condition: Term) -> WalkResult {
        let place = self.position(id)?.place;
        let visits = self.untaken.entry((place, other)).or_default();
        *visits = visits.saturating_add(1);
        let visits = *visits;
        if visits > MOST_ASKED {
            return self.leave_out(id, LeftOut::Branch);
        }
        let at = self.position(id)?;
        self.listener.untaken_branch(&mut self.terms, &at, other, condition);
        if visits > MOST_VISITS {
            return Ok(());
        }
        let mut first = self.way(id, condition)?;
        if let Some(frame) = first.frames.last_mut() {
            (frame.block, frame.index) = (other, 0);
        }
        let (mut ways, mut found): (Vec<Way>, Vec<(Term, PossibleViolation)>) = (vec![first], Vec::new());
        let (mut steps, mut count) = (0, 1);
        while let Some(mut way) = ways.pop() {
            while steps < MOST_STEPS && found.len() < MOST_TARGETS {
                steps += 1;
                match self.step_on_way(id, &mut way, &mut found) {
                    Step::On => {}
                    Step::Ends => break,
                    Step::Splits(sides) => {
                        for (condition, block) in sides {
                            let condition = self.terms.and2(way.condition, condition);
                            if self.terms.as_bool(condition) == Some(false) || count >= MOST_WAYS {
                                continue;
                            }
                            count += 1;
                            let mut side = Way { condition, ..way.clone() };
                            if let Some(frame) = side.frames.last_mut() {
                                (frame.block, frame.index) = (block, 0);
                            }
                            ways.push(side);
                        }
                        break;
                    }
                }
            }
        }
        let at = self.position(id)?;
        for (bad, violation) in found {
            self.listener.check(&mut self.terms, &at, bad, violation);
        }
        Ok(())
    }

    /// The thread as it is now.
    fn way(&mut self, id: ThreadIndex, condition: Term) -> WalkResult<Way> {
        let frame = |frame: &crate::walk::thread::Frame| Frame {
            func: frame.func,
            block: frame.block,
            index: frame.index as usize,
            locals: frame.locals.iter().map(|value| Some(*value)).collect(),
            slots: frame.slots.clone(),
            dst: frame.dst,
        };
        let frames = self.thread(id)?.frames.iter().map(frame).collect();
        Ok(Way {
            frames,
            condition,
            stored: BTreeMap::new(),
            has_point: false,
            is_memory_lost: false,
            invented: INVENTED,
        })
    }

    fn value_on_way(&mut self, id: ThreadIndex, way: &Way, expr: &Expr) -> Known {
        let frame = way.frames.last()?;
        let leaves = WayLeaves { program: self.program, instances: self.instances, thread: id, frame };
        leaves.value(&mut self.terms, expr)
    }

    /// One instruction, or the end of a block.
    fn step_on_way(&mut self, id: ThreadIndex, way: &mut Way, found: &mut Vec<(Term, PossibleViolation)>) -> Step {
        let program = self.program;
        let Some(frame) = way.frames.last_mut() else { return Step::Ends };
        let Body::Blocks(blocks) = &program.functions[frame.func].body else { return Step::Ends };
        let Some(block) = blocks.get(frame.block) else { return Step::Ends };
        let Some(instr) = block.instrs.get(frame.index) else {
            return self.end_block_on_way(id, way, &block.terminator.kind);
        };
        frame.index += 1;
        way.has_point |= is_schedule_point(program, instr);
        match self.instruction_on_way(id, way, instr, found) {
            Some(()) => Step::On,
            None => Step::Ends,
        }
    }

    fn end_block_on_way(&mut self, id: ThreadIndex, way: &mut Way, kind: &TerminatorKind) -> Step {
        match kind {
            TerminatorKind::Goto(target) => Step::Splits(vec![(Term::TRUE, *target)]).or_go(way),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let Some(value) = self.value_on_way(id, way, cond) else { return Step::Ends };
                match value.truth(&mut self.terms) {
                    None => {
                        Step::Splits(vec![(Term::TRUE, if value.bits != 0 { *then } else { *otherwise })]).or_go(way)
                    }
                    Some(truth) => {
                        let not = self.terms.not(truth);
                        Step::Splits(vec![(truth, *then), (not, *otherwise)])
                    }
                }
            }
            TerminatorKind::Switch { value, cases, default } => {
                let Some(selector) = self.value_on_way(id, way, value) else { return Step::Ends };
                Step::Splits(self.switch_sides(selector, cases, *default)).or_go(way)
            }
            TerminatorKind::Return(value) => {
                let value = value.as_ref().and_then(|value| {
                    let width = self.width_on_way(way, value)?;
                    Some((width, self.value_on_way(id, way, value)?))
                });
                let Some(left) = way.frames.pop() else { return Step::Ends };
                let Some(caller) = way.frames.last_mut() else { return Step::Ends };
                if let Some(dst) = left.dst {
                    let to = u32::from(self.program.functions[caller.func].locals[dst].ty.bits(self.program.model));
                    caller.locals[dst] = value.map(|(width, value)| value.fit(&mut self.terms, width, to));
                }
                Step::On
            }
            _ => Step::Ends,
        }
    }

    /// Where a switch goes, and when.
    pub(crate) fn switch_sides(
        &mut self,
        selector: ConcolicValue,
        cases: &[(u128, BlockId)],
        default: BlockId,
    ) -> Vec<(Term, BlockId)> {
        let Some(term) = selector.term else {
            let target = cases.iter().find(|(bits, _)| *bits == selector.bits).map_or(default, |(_, target)| *target);
            return vec![(Term::TRUE, target)];
        };
        let width = self.terms.width(term);
        let (mut sides, mut none) = (Vec::new(), Term::TRUE);
        for (bits, target) in cases {
            let case = self.terms.bits(width, *bits);
            let same = self.terms.eq(term, case);
            let other = self.terms.not(same);
            none = self.terms.and2(none, other);
            sides.push((same, *target));
        }
        sides.push((none, default));
        sides
    }

    fn width_on_way(&self, way: &Way, expr: &Expr) -> Option<u32> {
        let function = &self.program.functions[way.frames.last()?.func];
        Some(self.width(expr.ty(&function.locals, self.program.model)))
    }

    /// None: the way ends here.
    fn instruction_on_way(
        &mut self,
        id: ThreadIndex,
        way: &mut Way,
        instr: &Instr,
        found: &mut Vec<(Term, PossibleViolation)>,
    ) -> Option<()> {
        let (dst, value) = match &instr.op {
            Op::Assert { cond, property, message } => {
                let value = self.value_on_way(id, way, cond)?;
                let text = self.program.texts[*message].clone();
                return self.assertion_on_way(way, value, ViolationKind::of(*property), instr.span, text, found);
            }
            Op::Assume { cond } => {
                let value = self.value_on_way(id, way, cond)?;
                let holds = self.truth_of(value);
                way.condition = self.terms.and2(way.condition, holds);
                return (self.terms.as_bool(way.condition) != Some(false)).then_some(());
            }
            Op::Call { dst, callee, args } => return self.call_on_way(id, way, *dst, callee, args),
            Op::Store { to, value } => {
                let (address, value) = (self.value_on_way(id, way, &to.ptr)?, self.value_on_way(id, way, value));
                let address = address.term.is_none().then_some(address.bits as u64)?;
                way.store(address, self.bytes(to), value);
                return Some(());
            }
            Op::Load { dst, from } => {
                let address = self.value_on_way(id, way, &from.ptr);
                let address = address.filter(|address| address.term.is_none()).map(|address| address.bits as u64);
                let bytes = self.bytes(from);
                let mask = ones(self.width(from.ty));
                let value = address.and_then(|address| match way.load(address, bytes) {
                    Some(known) => known,
                    None if way.is_memory_lost || address >= INVENTED => None,
                    None => self.private_contents(id, address, bytes, mask),
                });
                (*dst, value)
            }
            Op::Assign { dst, value } => (*dst, self.value_on_way(id, way, value)),
            Op::Nondet { dst } | Op::Undefine { dst } | Op::ThreadSelf { dst } | Op::ObjectSize { dst, .. } => {
                (*dst, None)
            }
            Op::Sync { dst, op: SyncOp::Unlock(_) | SyncOp::RwUnlock, .. } => match dst {
                Some(dst) => (*dst, Some(ConcolicValue::fixed(0))),
                None => return Some(()),
            },
            Op::Fence { .. } | Op::Yield | Op::CheckMove { .. } | Op::BeginLife { .. } | Op::EndLife { .. } => {
                return Some(());
            }
            _ => return None,
        };
        way.frames.last_mut()?.locals[dst] = value;
        Some(())
    }

    fn truth_of(&mut self, value: ConcolicValue) -> Term {
        value.truth(&mut self.terms).unwrap_or(if value.bits != 0 { Term::TRUE } else { Term::FALSE })
    }

    fn assertion_on_way(
        &mut self,
        way: &mut Way,
        value: ConcolicValue,
        kind: ViolationKind,
        span: Span,
        message: String,
        found: &mut Vec<(Term, PossibleViolation)>,
    ) -> Option<()> {
        let holds = self.truth_of(value);
        let fails = self.terms.not(holds);
        let bad = self.terms.and2(way.condition, fails);
        if self.terms.as_bool(bad) != Some(false) {
            found.push((bad, PossibleViolation { kind, span, message, is_beyond_path: way.has_point }));
        }
        way.condition = self.terms.and2(way.condition, holds);
        (self.terms.as_bool(way.condition) != Some(false)).then_some(())
    }

    /// What is in memory that only this thread knows.
    fn private_contents(&mut self, id: ThreadIndex, address: u64, bytes: u32, mask: u128) -> Known {
        let location = self.locate(id, address).ok()?;
        if !location.instance.is_private() {
            return None;
        }
        let recorded = self.thread(id).ok()?.memory.read(address, bytes) & mask;
        Some(self.listener.private_contents(&mut self.terms, location, bytes, recorded))
    }

    fn call_on_way(
        &mut self,
        id: ThreadIndex,
        way: &mut Way,
        dst: Option<LocalId>,
        callee: &Callee,
        args: &[Expr],
    ) -> Option<()> {
        let program = self.program;
        let target = match callee {
            Callee::Direct(target) | Callee::Indirect(Expr::Function(target)) => *target,
            Callee::Indirect(address) => {
                let address = self.value_on_way(id, way, address).filter(|address| address.term.is_none())?;
                self.instances.function_at(address.bits as u64)?
            }
        };
        let function = &program.functions[target];
        if let Body::External(external) = &function.body {
            way.is_memory_lost |= may_write(external, &function.name);
            if way.is_memory_lost {
                way.stored.clear();
            }
            if let Some(dst) = dst {
                way.frames.last_mut()?.locals[dst] = None;
            }
            return Some(());
        }
        let mut locals: IndexVec<LocalId, Known> = function.locals.iter().map(|_| None).collect();
        let params: Vec<(LocalId, u32)> = (function.locals.iter_enumerated().take(function.params as usize))
            .map(|(local, declared)| (local, self.width(declared.ty)))
            .collect();
        for ((local, to), arg) in params.into_iter().zip(args) {
            let width = self.width_on_way(way, arg)?;
            locals[local] = self.value_on_way(id, way, arg).map(|value| value.fit(&mut self.terms, width, to));
        }
        let mut slots = IndexVec::new();
        for slot in function.slots.iter() {
            slots.push(way.invented);
            way.invented += slot.size.next_multiple_of(16) + 64;
        }
        way.frames.push(Frame { func: target, block: BlockId(0), index: 0, locals, slots, dst });
        Some(())
    }
}

impl Step {
    /// A way that does not split just goes on.
    fn or_go(self, way: &mut Way) -> Step {
        match (&self, way.frames.last_mut()) {
            (Step::Splits(sides), Some(frame)) if sides.len() == 1 && sides[0].0 == Term::TRUE => {
                (frame.block, frame.index) = (sides[0].1, 0);
                Step::On
            }
            _ => self,
        }
    }
}

impl Way {
    fn store(&mut self, address: u64, bytes: u32, value: Known) {
        let end = address.saturating_add(bytes.into());
        // What it overlaps in another way is not known any more.
        let from = address.saturating_sub(16);
        for (start, (length, known)) in self.stored.range_mut(from..end) {
            if *start != address && start.saturating_add(u64::from(*length)) > address {
                *known = None;
            }
        }
        let longest = self.stored.get(&address).map_or(0, |(length, _)| *length);
        let value = if longest > bytes { None } else { value };
        self.stored.insert(address, (bytes.max(longest), value));
    }

    /// What was stored there on the way; none if nothing was.
    fn load(&self, address: u64, bytes: u32) -> Option<Known> {
        let end = address.saturating_add(bytes.into());
        let mut overlapping = self.stored.range(address.saturating_sub(16)..end);
        let (start, (length, known)) =
            overlapping.find(|(start, (length, _))| start.saturating_add(u64::from(*length)) > address)?;
        Some(if *start == address && *length == bytes { *known } else { None })
    }
}

/// Whether an external function may write memory of the program.
fn may_write(external: &External, name: &str) -> bool {
    !external.pure && !only_shows(name) && (!external.known || !written_parameters(name).is_empty())
}
