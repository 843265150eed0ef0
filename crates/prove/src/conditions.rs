//! Verification conditions: the invariants, checked once more by the solver.
//!
//! The invariants were found by abstract interpretation. Before anything is called SAFE they are taken as formulas, and it
//! is shown by bit-precise reasoning, path by path through every segment, that
//!
//! 1. **consecution**: who begins a segment where its invariant holds gets to the next stop with that one's invariant, and so
//!    does a thread that is started on the way;
//! 2. **interference**: what becomes visible to others on the way keeps the invariants of every stop that another thread may
//!    be at, and a pair of stops that is not among the coreachable ones is not reached;
//! 3. **assertions** hold.
//!
//! (That the initial state satisfies the first invariant is a comparison of constants, which `coarsen` makes.) Each condition is
//! asked as a question whether it can fail; only "no" counts. Arithmetic, conditions and equations are those of
//! `leno-symbolic`, and no domain has a say in them. Where addresses point, which locks are held and which threads exist is
//! taken from the same facts as in the analysis.

use crate::cells::{CellId, Cells, Extent, initial_bits, is_followed, slots_of};
use crate::coarsen::Coarsened;
use crate::code::{Call, Code, FrameId, NodeId, StopId};
use crate::interference::Interference;
use crate::machine::{Machine, Segment, WORD_BYTES, cell_width, counts};
use crate::state::{State, Variable};
use crate::tables::{TableRead, WAYS};
use leno_domains::word;
use leno_engine::Limits;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::analysis::threads::RootId;
use leno_ir::index::Idx;
use leno_ir::program::{Access, Expr, LocalId, Op, Place, Property, SyncOp, TerminatorKind};
use leno_ir::visit::AccessKind;
use leno_logic::core::Answer;
use leno_logic::solver::Solver;
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::operators::{binary, cast, unary};
use leno_symbolic::update::Update;
use std::collections::{BTreeMap, BTreeSet};

/// A segment whose paths have more steps than this together is not checked.
const MOST_STEPS: usize = 20_000;

/// How many there were, and how many of them the solver was asked about.
#[derive(Clone, Copy, Default, Debug)]
pub struct Count {
    pub conditions: u64,
    pub solved: u64,
}

/// A condition that could not be shown.
pub type Failed = String;

/// A thread on its way through a segment.
#[derive(Clone)]
pub(crate) struct Path<'p> {
    pub(crate) node: NodeId,
    /// What the analysis knows here: for where addresses point.
    pub(crate) known: State<'p>,
    pub(crate) values: BTreeMap<Variable, Term>,
    /// All that was assumed on the way, the invariant of the first stop included.
    pub(crate) conditions: Vec<Term>,
    pub(crate) dirty: BTreeSet<CellId>,
    /// What was dirty in the beginning.
    pub(crate) dirty_first: BTreeSet<CellId>,
    pub(crate) started: Vec<RootId>,
    /// Whether this is not the thread that runs, but another one.
    pub(crate) is_other: bool,
}

pub struct Conditions<'c, 'a, 'p> {
    pub(crate) code: &'a Code<'a, 'p>,
    pub(crate) cells: &'a Cells,
    machine: &'c Machine<'a, 'p>,
    interference: Interference<'a, 'p>,
    pub(crate) found: &'c Coarsened<'p>,
    limits: &'c Limits,
    is_asked: &'c dyn Fn(NodeId, Property) -> bool,
    /// Whether only assertions are looked at.
    is_about_assertions: bool,
    /// Those that could not be shown to hold.
    failing: BTreeSet<Place>,
    pub(crate) terms: Terms,
    solver: Solver,
    addresses: BTreeMap<(AbstractId, FrameId), Term>,
    /// No address of an object is null.
    not_null: Vec<Term>,
    /// The cells as they are at the beginning of the segment.
    pub(crate) first: BTreeMap<CellId, Term>,
    /// What the other thread has to itself, and what it sees of what this one has changed where it cannot look.
    pub(crate) theirs: BTreeMap<Variable, Term>,
    /// What has been shown to be impossible.
    shown: BTreeSet<Vec<Term>>,
    count: Count,
}

impl<'c, 'a, 'p> Conditions<'c, 'a, 'p> {
    pub fn new(
        machine: &'c Machine<'a, 'p>,
        found: &'c Coarsened<'p>,
        limits: &'c Limits,
        is_asked: &'c dyn Fn(NodeId, Property) -> bool,
    ) -> Conditions<'c, 'a, 'p> {
        Conditions {
            code: machine.code,
            cells: machine.cells,
            machine,
            interference: Interference::new(machine.code),
            found,
            limits,
            is_asked,
            is_about_assertions: false,
            failing: BTreeSet::new(),
            terms: Terms::new(),
            solver: Solver::default(),
            addresses: BTreeMap::new(),
            not_null: Vec::new(),
            first: BTreeMap::new(),
            theirs: BTreeMap::new(),
            shown: BTreeSet::new(),
            count: Count::default(),
        }
    }

    /// All of them; an assertion that cannot be shown is one that fails.
    pub fn check(mut self) -> Result<Count, Failed> {
        let found = self.found;
        for (stop, states) in found.invariants.iter_enumerated() {
            for state in states.iter() {
                self.check_segment(stop, state)?;
            }
        }
        match self.failing.is_empty() {
            true => Ok(self.count),
            false => Err("an assertion could not be confirmed".to_string()),
        }
    }

    /// Of the assertions in these segments, those that cannot be shown to hold.
    pub fn failing(mut self, stops: &BTreeSet<StopId>) -> Result<BTreeSet<Place>, Failed> {
        self.is_about_assertions = true;
        let found = self.found;
        for stop in stops {
            for state in found.invariants[*stop].iter() {
                self.check_segment(*stop, state)?;
            }
        }
        Ok(self.failing)
    }

    fn check_segment(&mut self, stop: StopId, state: &State<'p>) -> Result<(), Failed> {
        self.terms = Terms::new();
        self.solver = Solver::default().within(self.limits);
        self.addresses.clear();
        self.not_null.clear();
        self.first.clear();
        self.theirs.clear();
        self.shown.clear();
        let dirty: BTreeSet<CellId> = state.dirty().collect();
        let mut first = Path {
            node: self.code.stops()[stop],
            known: state.clone(),
            values: BTreeMap::new(),
            conditions: Vec::new(),
            dirty: dirty.clone(),
            dirty_first: dirty,
            started: Vec::new(),
            is_other: false,
        };
        for (cell, _) in self.cells.iter() {
            let term = self.variable(&mut first, Variable::Cell(cell));
            self.first.insert(cell, term);
        }
        first.conditions = self.invariant(&mut first, state);
        let mut work = vec![first];
        let mut paths = 0;
        while let Some(path) = work.pop() {
            if self.limits.stop().is_some() {
                return Err("a limit was reached".to_string());
            }
            for next in self.step(stop, path)? {
                match self.code.stop(next.node) {
                    Some(end) => self.arrive(stop, end, next)?,
                    None => work.push(next),
                }
                paths += 1;
                if paths > MOST_STEPS {
                    return Err("a segment has too many paths".to_string());
                }
            }
        }
        Ok(())
    }

    /// Shows that these cannot all hold.
    fn refute(&mut self, conditions: &[Term], more: &[Term], what: &str) -> Result<(), Failed> {
        self.count.conditions += 1;
        let mut all: Vec<Term> = conditions.iter().chain(more).chain(&self.not_null).copied().collect();
        all.sort_unstable();
        all.dedup();
        if self.terms.and(&all) == Term::FALSE || self.shown.contains(&all) {
            return Ok(());
        }
        self.count.solved += 1;
        let mut assumed = Vec::with_capacity(all.len());
        for term in &all {
            assumed.push(self.solver.literal(&self.terms, *term));
        }
        match self.solver.solve(&assumed, self.limits) {
            Answer::Unsatisfiable => {
                self.shown.insert(all);
                Ok(())
            }
            Answer::Satisfiable => Err(format!("{what} could not be confirmed")),
            Answer::Unknown(_) => Err("a limit was reached".to_string()),
        }
    }

    fn implied(&mut self, conditions: &[Term], more: &[Term], goals: &[Term], what: &str) -> Result<(), Failed> {
        let goal = self.terms.and(goals);
        let not = self.terms.not(goal);
        let more: Vec<Term> = more.iter().copied().chain([not]).collect();
        self.refute(conditions, &more, what)
    }

    /// A thread gets to the end of a segment.
    fn arrive(&mut self, from: StopId, end: StopId, mut path: Path<'p>) -> Result<(), Failed> {
        if self.is_about_assertions {
            return Ok(());
        }
        let place = self.code.place(self.code.stops()[end]);
        let what = format!("the invariant at {}", crate::explain::at(self.code.program(), place));
        let goal = self.any_of(&mut path, end);
        self.implied(&path.conditions, &[], &[goal], &what)?;
        let children: Vec<StopId> =
            path.started.iter().filter_map(|root| self.code.stop(self.code.entry(*root))).collect();
        let is_pair =
            |a: StopId, b: StopId| self.found.pairs.contains(a, b) || !self.interference.may_be_together(a, b);
        let mut missing: Vec<Option<StopId>> = Vec::new();
        if children.iter().any(|child| !is_pair(end, *child)) {
            missing.push(None);
        }
        for other in self.found.pairs.with(from).filter(|other| !self.interference.is_exclusive(*other)) {
            if !is_pair(end, other) || children.iter().any(|child| !is_pair(*child, other)) {
                missing.push(Some(other));
            }
        }
        for other in missing {
            let seen = other.map(|other| self.watched_before(&path, other));
            let seen: Vec<Term> = seen.into_iter().collect();
            self.refute(&path.conditions, &seen, "that two threads do not meet")?;
        }
        Ok(())
    }

    /// Others see what this thread has changed, all of it at once.
    fn publish(&mut self, from: StopId, path: &mut Path<'p>, is_over: bool) -> Result<(), Failed> {
        let node = path.node;
        let cells: BTreeSet<CellId> =
            path.dirty.iter().copied().filter(|cell| is_over || !self.machine.is_hidden(node, *cell)).collect();
        if cells.is_empty() {
            return Ok(());
        }
        path.dirty.retain(|cell| !cells.contains(cell));
        if self.is_about_assertions {
            return Ok(());
        }
        let is_interrupted = |other: &StopId| !self.interference.is_exclusive(*other);
        let others: Vec<StopId> = self.found.pairs.with(from).filter(is_interrupted).collect();
        for other in others {
            if !self.is_affected(other, &cells) {
                continue;
            }
            let before = self.watched_before(path, other);
            let after = self.watched_after(path, other);
            self.implied(&path.conditions, &[before], &[after], "that other threads keep an invariant")?;
        }
        Ok(())
    }

    pub(crate) fn any(&mut self, width: u32) -> Term {
        self.terms.variable(Sort::Bits(width), "any")
    }

    pub(crate) fn width(&self, variable: Variable) -> u32 {
        match variable {
            Variable::Register(frame, local) => self.machine.width(frame, &Expr::Local(local)),
            Variable::Cell(cell) | Variable::Seen(cell) | Variable::Theirs(cell) => {
                cell_width(self.cells.extent(cell).bytes)
            }
        }
    }

    pub(crate) fn variable(&mut self, path: &mut Path<'p>, variable: Variable) -> Term {
        if let Some(term) = path.values.get(&variable) {
            return *term;
        }
        let width = self.width(variable);
        let term = self.any(width);
        path.values.insert(variable, term);
        term
    }

    fn forget(&mut self, path: &mut Path<'p>, variable: Variable) {
        let width = self.width(variable);
        let term = self.any(width);
        path.values.insert(variable, term);
    }

    fn address(&mut self, object: AbstractObject, frame: FrameId) -> Term {
        let pointer = u32::from(self.code.program().model.pointer_bits());
        let Some(id) = self.code.facts.points_to().object(object) else { return self.any(pointer) };
        if let Some(term) = self.addresses.get(&(id, frame)) {
            return *term;
        }
        let term = self.any(pointer);
        let null = self.terms.bits(pointer, 0);
        let is_null = self.terms.eq(term, null);
        let not = self.terms.not(is_null);
        self.not_null.push(not);
        self.addresses.insert((id, frame), term);
        term
    }

    pub(crate) fn term(&mut self, path: &mut Path<'p>, frame: FrameId, expr: &Expr) -> Term {
        let model = self.code.program().model;
        let first = FrameId(0);
        match expr {
            Expr::Const { ty, bits } => self.terms.bits(u32::from(ty.bits(model)), *bits),
            Expr::Local(local) => self.variable(path, Variable::Register(frame, *local)),
            Expr::Object(object) => self.address(AbstractObject::Static(*object), first),
            Expr::Function(function) => self.address(AbstractObject::Function(*function), first),
            Expr::Slot(slot) => {
                let func = self.code.func_of(frame);
                // (The other thread may be in the same function, and has stack objects of its own.)
                let frame = if path.is_other { self.code.theirs(frame) } else { frame };
                self.address(AbstractObject::Slot(func, *slot), frame)
            }
            Expr::Unary(op, of) => {
                let of = self.term(path, frame, of);
                unary(&mut self.terms, model, *op, of)
            }
            Expr::Binary(op, operands) => {
                let (a, b) = (self.term(path, frame, &operands[0]), self.term(path, frame, &operands[1]));
                binary(&mut self.terms, model, *op, a, b)
            }
            Expr::Cast(op, ty, of) => {
                let of = self.term(path, frame, of);
                cast(&mut self.terms, model, *op, *ty, of)
            }
            Expr::Select(parts) => {
                let condition = self.condition(path, frame, &parts[0]);
                let (a, b) = (self.term(path, frame, &parts[1]), self.term(path, frame, &parts[2]));
                self.terms.ite(condition, a, b)
            }
        }
    }

    fn condition(&mut self, path: &mut Path<'p>, frame: FrameId, expr: &Expr) -> Term {
        let bit = self.term(path, frame, expr);
        self.terms.bits_to_bool(bit)
    }

    /// One step of the representation; and what others see of it.
    fn step(&mut self, from: StopId, path: Path<'p>) -> Result<Vec<Path<'p>>, Failed> {
        let (mut outputs, mut segment) = (Vec::new(), Segment::default());
        let node = path.node;
        self.machine.step(node, path.known.clone(), &mut outputs, &mut segment);
        let mut after = match self.code.instruction(node) {
            Some(op) => self.execute(path, op)?,
            None => self.leave(from, path)?,
        };
        if after.len() != outputs.len() {
            return Err("the paths of a segment".to_string());
        }
        for (path, (next, known)) in after.iter_mut().zip(outputs) {
            (path.node, path.known) = (next, known);
            // Others see it whatever comes next.
            self.publish(from, path, false)?;
        }
        let mut going_on = Vec::new();
        for mut path in after {
            if path.known.is_never() {
                if !self.is_about_assertions {
                    self.refute(&path.conditions, &[], "that a place is never reached")?;
                }
                continue;
            }
            self.machine.settle(path.node, &mut path.known, &mut segment);
            going_on.push(path);
        }
        Ok(going_on)
    }

    fn leave(&mut self, from: StopId, mut path: Path<'p>) -> Result<Vec<Path<'p>>, Failed> {
        let frame = self.code.frame_of(path.node);
        let Some(kind) = self.code.terminator(path.node) else { return Ok(Vec::new()) };
        match kind {
            TerminatorKind::Goto(_) => Ok(vec![path]),
            TerminatorKind::Branch { cond, .. } => {
                let condition = self.condition(&mut path, frame, cond);
                let opposite = self.terms.not(condition);
                Ok([condition, opposite].into_iter().map(|condition| with(&path, condition)).collect())
            }
            TerminatorKind::Switch { value, cases, .. } => {
                let value = self.term(&mut path, frame, value);
                let width = self.terms.width(value);
                let mut all = Vec::new();
                for (bits, _) in cases {
                    let bits = self.terms.bits(width, *bits);
                    let is_case = self.terms.eq(value, bits);
                    all.push(with(&path, is_case));
                    let is_other = self.terms.not(is_case);
                    path.conditions.push(is_other);
                }
                all.push(path);
                Ok(all)
            }
            TerminatorKind::Return(value) => {
                let Some((caller, place)) = self.code.frames[frame].caller else {
                    self.publish(from, &mut path, true)?;
                    return Ok(Vec::new());
                };
                let call = self.code.node(caller, place);
                if let Some(Op::Call { dst: Some(dst), .. }) = self.code.instruction(call) {
                    let dst = Variable::Register(caller, *dst);
                    let value = value.as_ref().map(|value| self.term(&mut path, frame, value));
                    self.set(&mut path, dst, value);
                }
                Ok(vec![path])
            }
            TerminatorKind::ThreadExit(_) => {
                self.publish(from, &mut path, true)?;
                Ok(Vec::new())
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort | TerminatorKind::Unreachable => Ok(Vec::new()),
        }
    }

    /// Nothing fits: it may be anything.
    fn set(&mut self, path: &mut Path<'p>, variable: Variable, value: Option<Term>) {
        match value.filter(|value| self.terms.width(*value) == self.width(variable)) {
            Some(value) => drop(path.values.insert(variable, value)),
            None => self.forget(path, variable),
        }
    }

    fn touch(&self, path: &mut Path<'p>, cell: CellId) {
        if self.cells.is_shared(cell) {
            path.dirty.insert(cell);
        }
    }

    fn change(&mut self, path: &mut Path<'p>, cell: CellId) {
        self.forget(path, Variable::Cell(cell));
        self.touch(path, cell);
    }

    fn change_object(
        &mut self,
        path: &mut Path<'p>,
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

    fn change_written(&mut self, path: &mut Path<'p>, op: &Op) {
        let (facts, func) = (self.code.facts, self.code.place(path.node).func);
        for object in facts.points_to().may_access(facts.program(), func, op).written.iter() {
            self.change_object(path, object, None, None);
        }
    }

    fn read(&mut self, path: &mut Path<'p>, frame: FrameId, access: &Access) -> Term {
        let model = self.code.program().model;
        let width = u32::from(access.ty.bits(model));
        if u64::from(width) != 8 * access.ty.bytes(model) {
            return self.any(width);
        }
        if let Some(extent) = self.machine.place_of(&path.known, frame, access) {
            return match self.cells.get(extent) {
                Some(cell) => self.variable(path, Variable::Cell(cell)),
                None => self.any(width),
            };
        }
        let value = self.any(width);
        if let Some(cells) = self.machine.candidates(frame, access).filter(|cells| !cells.is_empty()) {
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

    fn write(&mut self, path: &mut Path<'p>, frame: FrameId, access: &'p Access, value: Term) {
        let bytes = access.ty.bytes(self.code.program().model);
        let fits = u64::from(self.terms.width(value)) == 8 * bytes;
        if let Some(extent) = self.machine.place_of(&path.known, frame, access) {
            let cell = self.cells.get(extent);
            self.change_object(path, extent.object, Some((extent.offset, bytes)), cell);
            if let Some(cell) = cell {
                self.set(path, Variable::Cell(cell), fits.then_some(value));
                self.touch(path, cell);
            }
            return;
        }
        if let Some(stretch) = self.machine.stretch_of(&path.known, frame, access) {
            let bytes = (stretch.to - stretch.from) as u64;
            return self.change_object(path, stretch.object, Some((stretch.from, bytes)), None);
        }
        let candidates = self.machine.candidates(frame, access);
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

    fn execute(&mut self, mut path: Path<'p>, op: &'p Op) -> Result<Vec<Path<'p>>, Failed> {
        let frame = self.code.frame_of(path.node);
        let register = |local: LocalId| Variable::Register(frame, local);
        self.check_bounds(&mut path, frame, op)?;
        self.check_stretch(&mut path, frame, op)?;
        match op {
            Op::Assign { dst, value } => {
                let value = self.term(&mut path, frame, value);
                self.set(&mut path, register(*dst), Some(value));
            }
            Op::Load { dst, from } => {
                if let Some(read) = self.machine.table_read(&path.known, frame, from) {
                    return self.read_table(path, register(*dst), &read);
                }
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
            Op::Assert { cond, property, .. } => {
                let condition = self.condition(&mut path, frame, cond);
                let place = self.code.place(path.node);
                if (self.is_asked)(path.node, *property) && !self.failing.contains(&place) {
                    let shown = self.implied(&path.conditions, &[], &[condition], "an assertion");
                    if shown.is_err() {
                        if self.limits.stop().is_some() {
                            return Err("a limit was reached".to_string());
                        }
                        self.failing.insert(place);
                    }
                }
                path.conditions.push(condition);
            }
            Op::Call { dst, args, .. } => {
                let mut all = Vec::new();
                for call in self.code.calls(path.node) {
                    let mut path = path.clone();
                    match call {
                        Call::Inside(callee) => self.enter(&mut path, callee, frame, args),
                        Call::Outside => {
                            self.change_written(&mut path, op);
                            dst.iter().for_each(|dst| self.forget(&mut path, register(*dst)));
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
                self.forget(&mut path, register(*dst));
                let handle = self.variable(&mut path, register(*dst));
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
                op.for_each_result(|local| self.forget(&mut path, register(local)));
            }
            Op::BeginLife { slot } => {
                let slot = AbstractObject::Slot(self.code.frames[frame].func, *slot);
                if let Some(object) = self.code.facts.points_to().object(slot) {
                    self.change_object(&mut path, object, None, None);
                }
            }
            Op::Undefine { dst } => self.forget(&mut path, register(*dst)),
            _ => op.for_each_result(|local| self.forget(&mut path, register(local))),
        }
        Ok(vec![path])
    }

    /// A read from a table: the paths on which the entry is zero, and is not. The index is one of those that are known to be
    /// possible, or out of bounds.
    fn read_table(&mut self, mut path: Path<'p>, dst: Variable, read: &TableRead<'p>) -> Result<Vec<Path<'p>>, Failed> {
        let index = self.term(&mut path, read.index.0, read.index.1);
        let width = self.terms.width(index);
        let number = |terms: &mut Terms, number: i64| terms.bits(width, i128::from(number) as u128 & word::mask(width));
        let (least, greatest) = (number(&mut self.terms, read.within.0), number(&mut self.terms, read.within.1));
        let mut other = vec![self.terms.sle(least, index), self.terms.sle(index, greatest)];
        let mut paths = Vec::new();
        for is_zero in WAYS {
            let found = self.any(self.width(dst));
            let mut ways = Vec::new();
            for (at, bits) in read.entries_of(is_zero) {
                let at = number(&mut self.terms, at);
                let is_here = self.terms.eq(index, at);
                other.push(self.terms.not(is_here));
                let is_found = match bits {
                    Some(bits) => {
                        let bits = self.terms.bits(self.terms.width(found), bits);
                        self.terms.eq(found, bits)
                    }
                    None => Term::TRUE,
                };
                ways.push(self.terms.and(&[is_here, is_found]));
            }
            let either = self.terms.or(&ways);
            let mut after = with(&path, either);
            self.set(&mut after, dst, Some(found));
            paths.push(after);
        }
        if !self.is_about_assertions {
            self.refute(&path.conditions, &other, "which entries of a table are read")?;
        }
        Ok(paths)
    }

    /// That an access is in bounds, if that was found: the sum of what was added to an address is computed once more.
    fn check_bounds(&mut self, path: &mut Path<'p>, frame: FrameId, op: &'p Op) -> Result<(), Failed> {
        let Some((access, _)) = op.access() else { return Ok(()) };
        if self.is_about_assertions || !(self.is_asked)(path.node, Property::IndexOutOfBounds) {
            return Ok(());
        }
        let Some(question) = self.machine.evaluator().bounds_question(&path.known, frame, access) else {
            return Err("an access in bounds".to_string());
        };
        let limits: Vec<(i64, u64)> = question.limits;
        self.check_sum(path, &question.added, &limits, "an access in bounds")
    }

    /// That a store to a part of an object goes there.
    fn check_stretch(&mut self, path: &mut Path<'p>, frame: FrameId, op: &'p Op) -> Result<(), Failed> {
        let Some((access, AccessKind::Write | AccessKind::Update)) = op.access().filter(|_| !self.is_about_assertions)
        else {
            return Ok(());
        };
        let Some(stretch) = self.machine.stretch_of(&path.known, frame, access) else { return Ok(()) };
        let bytes = access.ty.bytes(self.code.program().model);
        let most = (stretch.to - stretch.from) as u64 - bytes;
        let limits: Vec<(i64, u64)> = stretch.offsets.iter().map(|offset| (offset - stretch.from, most)).collect();
        self.check_sum(path, &stretch.added, &limits, "which part of an object is written")
    }

    /// That a sum, added to each of the first numbers, is at most the second one, and not negative.
    fn check_sum(
        &mut self,
        path: &mut Path<'p>,
        added: &[(FrameId, &'p Expr)],
        limits: &[(i64, u64)],
        what: &str,
    ) -> Result<(), Failed> {
        let width = u32::from(self.code.program().model.pointer_bits());
        let bits = |number: i128| number as u128 & word::mask(width);
        let mut sum = self.terms.bits(width, 0);
        for (frame, added) in added {
            let added = self.term(path, *frame, added);
            if self.terms.width(added) != width {
                return Err(what.to_string());
            }
            sum = self.terms.add(sum, added);
        }
        let mut goals = Vec::new();
        for (offset, most) in limits {
            let offset = self.terms.bits(width, bits((*offset).into()));
            let most = self.terms.bits(width, bits((*most).into()));
            let at = self.terms.add(sum, offset);
            goals.push(self.terms.ule(at, most));
        }
        self.implied(&path.conditions, &[], &goals, what)
    }

    fn change_sync(&mut self, path: &mut Path<'p>, frame: FrameId, op: &Op, at: &Expr, step: &SyncOp) {
        let bytes = step.object_bytes(self.code.program().model).into();
        match self.machine.address(&path.known, frame, at) {
            Some((object, offset)) => self.change_object(path, object, Some((offset, bytes)), None),
            None => self.change_written(path, op),
        }
    }

    fn enter(&mut self, path: &mut Path<'p>, callee: FrameId, caller: FrameId, args: &[Expr]) {
        let values: Vec<Term> = args.iter().map(|arg| self.term(path, caller, arg)).collect();
        path.values.retain(|variable, _| !matches!(variable, Variable::Register(frame, _) if *frame == callee));
        self.addresses.retain(|(_, frame), _| *frame != callee);
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
    fn start(&mut self, path: &mut Path<'p>, frame: FrameId, args: &[Expr]) -> Result<(), Failed> {
        let place = self.code.place(path.node);
        let roots = self.code.facts.threads().roots();
        for root in roots.ids().filter(|root| roots[*root].created_at == Some(place)) {
            let entry = self.code.entry(root);
            let callee = self.code.frame_of(entry);
            let mut child = Path { values: BTreeMap::new(), dirty: BTreeSet::new(), ..path.clone() };
            let cells: Vec<(CellId, bool, Extent)> =
                self.cells.iter().map(|(id, cell)| (id, cell.is_shared, cell.extent)).collect();
            for (cell, is_shared, extent) in cells {
                let next = NodeId(path.node.0 + 1);
                let is_own = path.dirty.contains(&cell) && self.machine.is_hidden(next, cell);
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
            let Some(stop) = self.code.stop(entry) else { return Err("the beginning of a thread".to_string()) };
            if !self.is_about_assertions {
                let goal = self.any_of(&mut child, stop);
                self.implied(&path.conditions, &[], &[goal], "the invariant at the beginning of a thread")?;
            }
            path.started.push(root);
        }
        Ok(())
    }

    fn initial(&mut self, extent: Extent) -> Option<Term> {
        let AbstractObject::Static(object) = self.code.facts.points_to().objects()[extent.object] else { return None };
        let bits = initial_bits(self.code.program(), object, extent.offset, extent.bytes)?;
        Some(self.terms.bits(cell_width(extent.bytes), bits))
    }

    /// A step on a semaphore or a once flag, one path for each way it may go, in the order of the machine.
    fn count(&mut self, path: Path<'p>, frame: FrameId, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> Vec<Path<'p>> {
        let mut path = path;
        let dst = dst.map(|dst| Variable::Register(frame, dst));
        let Some((object, offset)) = self.machine.address(&path.known, frame, at) else {
            for object in self.code.facts.points_to().points_to(self.code.frames[frame].func, at).iter() {
                self.change_object(&mut path, object, None, None);
            }
            dst.iter().for_each(|dst| self.forget(&mut path, *dst));
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
            all.push(path);
        }
        all
    }
}

fn with<'p>(path: &Path<'p>, condition: Term) -> Path<'p> {
    let mut path = path.clone();
    path.conditions.push(condition);
    path
}
