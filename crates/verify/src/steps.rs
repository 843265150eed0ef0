//! What the steps of a thread do to its values, as terms.

use crate::annotation::Variable;
use crate::cells::{CellId, Extent, WORD_BYTES, cell_width, counts, is_followed, slots_of};
use crate::code::{Call, FrameId, NodeId, StopId};
use crate::conditions::{Conditions, Failed, Path};
use crate::exclusion::is_hidden;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::index::Idx;
use leno_ir::program::{Access, BlockId, Expr, LocalId, Op, SyncOp, TerminatorKind};
use leno_logic::term::{Term, Terms};
use leno_symbolic::update::Update;

impl<'p> Conditions<'_, '_, 'p> {
    /// The end of a block.
    pub(crate) fn leave(&mut self, from: StopId, mut path: Path) -> Result<Vec<Path>, Failed> {
        let frame = self.code.frame_of(path.node);
        let Some(kind) = self.code.terminator(path.node) else { return Ok(Vec::new()) };
        let start = |block: BlockId| self.code.block_start(frame, block);
        match kind {
            TerminatorKind::Goto(target) => Ok(vec![Path { node: start(*target), ..path }]),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let condition = self.condition(&mut path, frame, cond);
                let opposite = self.terms.not(condition);
                let way = |condition: Term, target: &BlockId| Path { node: start(*target), ..with(&path, condition) };
                Ok(vec![way(condition, then), way(opposite, otherwise)])
            }
            TerminatorKind::Switch { value, cases, default } => {
                let value = self.term(&mut path, frame, value);
                let width = self.terms.width(value);
                let mut all = Vec::new();
                for (bits, target) in cases {
                    let bits = self.terms.bits(width, *bits);
                    let is_case = self.terms.eq(value, bits);
                    all.push(Path { node: start(*target), ..with(&path, is_case) });
                    let is_other = self.terms.not(is_case);
                    path.conditions.push(is_other);
                }
                all.push(Path { node: start(*default), ..path });
                Ok(all)
            }
            TerminatorKind::Return(value) => {
                let (Some((caller, place)), Some(next)) = (self.code.frames[frame].caller, self.code.after_call(frame))
                else {
                    self.publish(from, &mut path, true)?;
                    return Ok(Vec::new());
                };
                let call = self.code.node(caller, place);
                if let Some(Op::Call { dst: Some(dst), .. }) = self.code.instruction(call) {
                    let dst = Variable::Register(caller, *dst);
                    let value = value.as_ref().map(|value| self.term(&mut path, frame, value));
                    self.set(&mut path, dst, value);
                }
                Ok(vec![Path { node: next, ..path }])
            }
            TerminatorKind::ThreadExit(_) => {
                self.publish(from, &mut path, true)?;
                Ok(Vec::new())
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort | TerminatorKind::Unreachable => Ok(Vec::new()),
        }
    }

    fn touch(&self, path: &mut Path, cell: CellId) {
        if self.cells.is_shared(cell) {
            path.dirty.insert(cell);
        }
    }

    fn change(&mut self, path: &mut Path, cell: CellId) {
        self.forget(path, Variable::Cell(cell));
        self.touch(path, cell);
    }

    fn change_object(
        &mut self,
        path: &mut Path,
        object: AbstractId,
        within: Option<(i64, u64)>,
        except: Option<CellId>,
    ) {
        let hit: Vec<CellId> = self
            .cells
            .of_object(object)
            .filter(|(cell, extent)| {
                Some(*cell) != except && within.is_none_or(|(offset, bytes)| extent.overlaps(offset, bytes))
            })
            .map(|(cell, _)| cell)
            .collect();
        hit.into_iter().for_each(|cell| self.change(path, cell));
    }

    fn change_written(&mut self, path: &mut Path, op: &Op) {
        let (facts, func) = (self.code.facts, self.code.place(path.node).func);
        for object in facts.points_to().may_access(facts.program(), func, op).written.iter() {
            self.change_object(path, object, None, None);
        }
    }

    fn read(&mut self, path: &mut Path, frame: FrameId, access: &Access) -> Term {
        let model = self.code.program().model;
        let width = u32::from(access.ty.bits(model));
        if u64::from(width) != 8 * access.ty.bytes(model) {
            return self.any(width);
        }
        if let Some(extent) = self.place_of(path, frame, access)
            && let Some(cell) = self.cells.get(extent)
        {
            return self.variable(path, Variable::Cell(cell));
        }
        if let Some(entry) = self.read_table(path, frame, access) {
            return entry;
        }
        let value = self.any(width);
        if let Some(cells) = self.candidates(frame, access).filter(|cells| !cells.is_empty()) {
            let mut same = Vec::new();
            for cell in cells {
                let cell = self.variable(path, Variable::Cell(cell));
                same.push(self.terms.eq(value, cell));
            }
            let is_one = self.terms.or(&same);
            path.conditions.push(is_one);
        }
        value
    }

    fn write(&mut self, path: &mut Path, frame: FrameId, access: &'p Access, value: Term) {
        let bytes = access.ty.bytes(self.code.program().model);
        let fits = u64::from(self.terms.width(value)) == 8 * bytes;
        if let Some(extent) = self.place_of(path, frame, access) {
            let cell = self.cells.get(extent);
            self.change_object(path, extent.object, Some((extent.offset, bytes)), cell);
            if let Some(cell) = cell {
                self.set(path, Variable::Cell(cell), fits.then_some(value));
                self.touch(path, cell);
            }
            return;
        }
        let candidates = self.candidates(frame, access);
        if candidates.is_none()
            && let Some(hit) = self.hit(path, frame, access)
        {
            return hit.into_iter().for_each(|cell| self.change(path, cell));
        }
        let func = self.code.frames[frame].func;
        for object in self.code.facts.points_to().points_to(func, &access.ptr).iter() {
            let Some(candidates) = &candidates else {
                self.change_object(path, object, None, None);
                continue;
            };
            for hit in candidates.iter().filter(|cell| self.cells.extent(**cell).object == object) {
                let old = self.variable(path, Variable::Cell(*hit));
                self.change(path, *hit);
                if fits {
                    let new = self.variable(path, Variable::Cell(*hit));
                    let (stays, changes) = (self.terms.eq(new, old), self.terms.eq(new, value));
                    let either = self.terms.or2(stays, changes);
                    path.conditions.push(either);
                }
            }
            for hit in candidates {
                let Extent { offset, object: of, .. } = self.cells.extent(*hit);
                let others: Vec<CellId> = self
                    .cells
                    .of_object(object)
                    .filter(|(cell, extent)| of == object && cell != hit && extent.overlaps(offset, bytes))
                    .map(|(cell, _)| cell)
                    .collect();
                others.into_iter().for_each(|cell| self.change(path, cell));
            }
        }
    }

    /// An instruction: the ways to go on.
    pub(crate) fn execute(&mut self, mut path: Path, op: &'p Op) -> Result<Vec<Path>, Failed> {
        let frame = self.code.frame_of(path.node);
        let register = |local: LocalId| Variable::Register(frame, local);
        let is_access = !matches!(op, Op::Assert { .. });
        if is_access && !self.is_about_assertions && (self.is_asked)(path.node) {
            self.check_bounds(&mut path, frame, op)?;
        }
        let next = NodeId(path.node.0 + 1);
        match op {
            Op::Assign { dst, value } => {
                let value = self.term(&mut path, frame, value);
                self.set(&mut path, register(*dst), Some(value));
            }
            Op::Load { dst, from } => {
                let value = self.read(&mut path, frame, from);
                self.set(&mut path, register(*dst), Some(value));
            }
            Op::Store { to, value } => {
                let value = self.term(&mut path, frame, value);
                self.write(&mut path, frame, to, value);
            }
            Op::ReadModifyWrite { dst, at, op, value } => {
                let operand = self.term(&mut path, frame, value);
                let old = self.read(&mut path, frame, at);
                let new = match self.terms.width(old) == self.terms.width(operand) {
                    true => Update::ReadModifyWrite { op: *op, operand }.apply(&mut self.terms, old).value,
                    false => {
                        let width = self.terms.width(old);
                        self.any(width)
                    }
                };
                self.write(&mut path, frame, at, new);
                dst.iter().for_each(|dst| self.set(&mut path, register(*dst), Some(old)));
            }
            Op::CompareExchange { ok, old, at, expected, desired, weak, .. } => {
                let (expected, desired) = (self.term(&mut path, frame, expected), self.term(&mut path, frame, desired));
                let found = self.read(&mut path, frame, at);
                let is_same = self.terms.eq(found, expected);
                let is_other = if *weak { Term::TRUE } else { self.terms.not(is_same) };
                let (mut success, mut failure) = (with(&path, is_same), with(&path, is_other));
                self.write(&mut success, frame, at, desired);
                for (path, is_ok) in [(&mut success, 1), (&mut failure, 0)] {
                    self.set(path, register(*old), Some(found));
                    let is_ok = self.terms.bits(1, is_ok);
                    self.set(path, register(*ok), Some(is_ok));
                }
                (success.node, failure.node) = (next, next);
                return Ok(vec![success, failure]);
            }
            Op::Allocate { dst, zeroed, .. } => {
                let site = AbstractObject::Site(self.code.place(path.node));
                if let Some(object) = self.code.facts.points_to().object(site) {
                    self.change_object(&mut path, object, None, None);
                    if *zeroed && is_followed(self.code.facts, object) {
                        let cells: Vec<CellId> = self.cells.of_object(object).map(|(cell, _)| cell).collect();
                        for cell in cells {
                            let zero = self.terms.bits(self.width(Variable::Cell(cell)), 0);
                            self.set(&mut path, Variable::Cell(cell), Some(zero));
                        }
                    }
                }
                self.forget(&mut path, register(*dst));
            }
            Op::Assume { cond } => {
                let condition = self.condition(&mut path, frame, cond);
                path.conditions.push(condition);
            }
            Op::Assert { cond, .. } => {
                let condition = self.condition(&mut path, frame, cond);
                let place = self.code.place(path.node);
                if (self.is_asked)(path.node) && !self.failing.contains(&place) {
                    match self.implied(&path.conditions, &[], &[condition], "an assertion") {
                        Err(Failed::Refused(_)) => _ = self.failing.insert(place),
                        shown => shown?,
                    }
                }
                path.conditions.push(condition);
            }
            Op::Call { dst, args, .. } => {
                let mut all = Vec::new();
                for call in self.code.calls(path.node) {
                    let mut path = path.clone();
                    match call {
                        Call::Inside(callee) => {
                            self.enter(&mut path, callee, frame, args);
                            path.node = self.code.block_start(callee, BlockId(0));
                        }
                        Call::Outside => {
                            self.change_written(&mut path, op);
                            dst.iter().for_each(|dst| _ = self.forget(&mut path, register(*dst)));
                            path.node = next;
                        }
                    }
                    all.push(path);
                }
                return Ok(all);
            }
            Op::Spawn { handle, args, .. } => {
                if let Some(handle) = handle {
                    let width = u32::from(handle.ty.bits(self.code.program().model));
                    let (value, zero) = (self.any(width), self.terms.bits(width, 0));
                    let is_zero = self.terms.eq(value, zero);
                    let not = self.terms.not(is_zero);
                    path.conditions.push(not);
                    self.write(&mut path, frame, handle, value);
                }
                self.start(&mut path, frame, args)?;
            }
            Op::ThreadSelf { dst } => {
                let handle = self.forget(&mut path, register(*dst));
                let zero = self.terms.bits(self.terms.width(handle), 0);
                let is_zero = self.terms.eq(handle, zero);
                let not = self.terms.not(is_zero);
                path.conditions.push(not);
            }
            Op::Sync { dst, op: sync, at } if counts(sync) => return Ok(self.count(path, frame, *dst, sync, at)),
            Op::Sync { op: sync, at, .. } => {
                self.change_sync(&mut path, frame, op, at, sync);
                if let SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. } = sync {
                    self.change_sync(&mut path, frame, op, mutex, &SyncOp::CondRelock);
                }
                op.for_each_result(|local| _ = self.forget(&mut path, register(local)));
            }
            Op::BeginLife { slot } => {
                let slot = AbstractObject::Slot(self.code.frames[frame].func, *slot);
                if let Some(object) = self.code.facts.points_to().object(slot) {
                    self.change_object(&mut path, object, None, None);
                }
            }
            Op::Undefine { dst } => _ = self.forget(&mut path, register(*dst)),
            _ => op.for_each_result(|local| _ = self.forget(&mut path, register(local))),
        }
        path.node = next;
        Ok(vec![path])
    }

    fn change_sync(&mut self, path: &mut Path, frame: FrameId, op: &Op, at: &Expr, step: &SyncOp) {
        let bytes = step.object_bytes(self.code.program().model).into();
        match self.place(path, frame, at) {
            Some((object, offset)) => self.change_object(path, object, Some((offset, bytes)), None),
            None => self.change_written(path, op),
        }
    }

    fn enter(&mut self, path: &mut Path, callee: FrameId, caller: FrameId, args: &[Expr]) {
        let values: Vec<Term> = args.iter().map(|arg| self.term(path, caller, arg)).collect();
        path.values.retain(|variable, _| !matches!(variable, Variable::Register(frame, _) if *frame == callee));
        self.renew_addresses(callee);
        let func = self.code.frames[callee].func;
        for slot in slots_of(self.code.facts, func) {
            self.change_object(path, slot, None, None);
        }
        let params = self.code.program().functions[func].params as usize;
        for (number, value) in values.into_iter().enumerate().take(params) {
            self.set(path, Variable::Register(callee, LocalId::new(number)), Some(value));
        }
    }

    /// A new thread begins where its first invariant holds.
    fn start(&mut self, path: &mut Path, frame: FrameId, args: &[Expr]) -> Result<(), Failed> {
        let place = self.code.place(path.node);
        let roots = self.code.facts.threads().roots();
        for root in roots.ids().filter(|root| roots[*root].created_at == Some(place)) {
            let entry = self.code.entry(root);
            let callee = self.code.frame_of(entry);
            let mut child = Path::new(entry, true);
            let cells: Vec<(CellId, bool, Extent)> =
                self.cells.iter().map(|(id, cell)| (id, cell.is_shared, cell.extent)).collect();
            for (cell, is_shared, extent) in cells {
                let next = NodeId(path.node.0 + 1);
                let is_own = path.dirty.contains(&cell) && is_hidden(self.code, self.cells, next, cell);
                let value = match is_shared {
                    true if is_own => None,
                    true => Some(self.variable(path, Variable::Cell(cell))),
                    false => self.initial(extent),
                };
                self.set(&mut child, Variable::Cell(cell), value);
            }
            let params = self.code.program().functions[self.code.frames[callee].func].params as usize;
            for (number, arg) in args.iter().enumerate().take(params) {
                let value = self.term(path, frame, arg);
                self.set(&mut child, Variable::Register(callee, LocalId::new(number)), Some(value));
            }
            let Some(stop) = self.code.stop(entry) else {
                return Err(Failed::Refused("a thread has no beginning".to_string()));
            };
            if !self.is_about_assertions {
                let goal = self.any_of(&mut child, stop);
                self.implied(&path.conditions, &[], &[goal], "the invariant at the beginning of a thread")?;
            }
            path.started.push(root);
        }
        Ok(())
    }

    /// A step on a semaphore or a once flag, one path for each way it may go.
    fn count(&mut self, path: Path, frame: FrameId, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> Vec<Path> {
        let mut path = path;
        let next = NodeId(path.node.0 + 1);
        let dst = dst.map(|dst| Variable::Register(frame, dst));
        let Some((object, offset)) = self.place(&mut path, frame, at) else {
            for object in self.code.facts.points_to().points_to(self.code.frames[frame].func, at).iter() {
                self.change_object(&mut path, object, None, None);
            }
            dst.iter().for_each(|dst| _ = self.forget(&mut path, *dst));
            path.node = next;
            return vec![path];
        };
        let extent = Extent { object, offset, bytes: WORD_BYTES };
        let cell = self.cells.get(extent);
        let width = cell_width(WORD_BYTES);
        let word = match cell {
            Some(cell) => self.variable(&mut path, Variable::Cell(cell)),
            None => self.any(width),
        };
        let number = |terms: &mut Terms, bits: u32| terms.bits(width, u128::from(bits));
        let (zero, one, two) = (number(&mut self.terms, 0), number(&mut self.terms, 1), number(&mut self.terms, 2));
        let (minus_one, most) = (number(&mut self.terms, u32::MAX), number(&mut self.terms, i32::MAX as u32));
        let is_zero = self.terms.eq(word, zero);
        let is_positive = self.terms.not(is_zero);
        let (more, less) = (self.terms.add(word, one), self.terms.sub(word, one));
        // Under which condition, what the word becomes, and the result.
        let ways: Vec<(Term, Option<Term>, Option<Term>)> = match op {
            SyncOp::SemInit { value } => {
                let value = self.term(&mut path, frame, value);
                let fits = self.terms.width(value) == width;
                let value = if fits { value } else { self.any(width) };
                vec![(Term::TRUE, Some(value), None), (Term::TRUE, None, Some(minus_one))]
            }
            SyncOp::SemWait => vec![(is_positive, Some(less), Some(zero))],
            SyncOp::SemTryWait => vec![(is_positive, Some(less), Some(zero)), (is_zero, None, Some(minus_one))],
            SyncOp::SemPost => {
                let is_full = self.terms.ule(most, word);
                vec![(Term::TRUE, Some(more), Some(zero)), (is_full, None, Some(minus_one))]
            }
            SyncOp::SemGetValue => vec![(Term::TRUE, None, Some(word))],
            SyncOp::OnceBegin => {
                let is_done = self.terms.ule(two, word);
                vec![(is_zero, Some(one), Some(one)), (is_done, None, Some(zero))]
            }
            _ => vec![(Term::TRUE, Some(two), Some(zero))],
        };
        let mut all = Vec::new();
        for (condition, becomes, result) in ways {
            let mut path = with(&path, condition);
            if let Some(new) = becomes {
                self.change_object(&mut path, object, Some((offset, WORD_BYTES)), cell);
                if let Some(cell) = cell {
                    self.set(&mut path, Variable::Cell(cell), Some(new));
                    self.touch(&mut path, cell);
                }
            }
            if let Some(dst) = dst {
                self.set(&mut path, dst, result);
            }
            path.node = next;
            all.push(path);
        }
        all
    }
}

fn with(path: &Path, condition: Term) -> Path {
    let mut path = path.clone();
    path.conditions.push(condition);
    path
}
