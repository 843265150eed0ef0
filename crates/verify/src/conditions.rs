//! Verification conditions: what has to hold of an annotation so that it is true of the program, and the solver's answers.
//!
//! The conditions are made from the program and the annotation alone, path by path through every segment:
//!
//! 1. **initiation**: the state in which the main thread begins is one of those of its first stop;
//! 2. **consecution**: who begins a segment in a state of its stop gets to the next stop in one of that one's states, and so
//!    does a thread that is started on the way;
//! 3. **interference**: what becomes visible to others on the way keeps the states of every stop that another thread may be
//!    at, and a pair of stops that is not among the coreachable ones is not reached;
//! 4. **assertions** hold, and accesses stay in bounds, where that is asked.
//!
//! Each is asked as a question whether it can fail; only "no" counts. By induction over the steps of any execution, with any
//! number of threads, every thread is then always in a state of the stop that it is at. Arithmetic, conditions and equations
//! are those of `leno-symbolic`; no abstract domain has a say. Which objects there are, which locks are held and which
//! threads exist is taken from the facts that all engines share (`leno_ir::analysis`), and so is where an address points
//! that the annotation says nothing about (`addresses`).

use crate::annotation::{Annotation, State, Variable};
use crate::cells::{CellId, Cells, Extent, cell_width, initial_bits};
use crate::code::{Code, FrameId, NodeId, StopId, at};
use crate::exclusion::{is_exclusive, is_hidden, may_be_together};
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::analysis::threads::RootId;
use leno_ir::program::{Expr, LocalId, Place};
use leno_limits::Limits;
use leno_logic::core::Answer;
use leno_logic::solver::Solver;
use leno_logic::term::{Sort, Term, Terms, evaluate};
use leno_symbolic::operators::{binary, cast, unary};
use std::collections::{BTreeMap, BTreeSet};

/// A segment whose paths have more steps than this together is not checked.
const MOST_STEPS: usize = 20_000;

/// With more paths than this on their way, those that are impossible are looked for.
const MANY_PATHS: usize = 6;

/// How many there were, and how many of them the solver was asked about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Count {
    pub conditions: u64,
    pub solved: u64,
}

/// Why an annotation is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failed {
    /// A condition that could not be shown.
    Refused(String),
    /// A limit was reached before all were looked at.
    Stopped,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failed::Refused(what) => f.write_str(what),
            Failed::Stopped => f.write_str("a limit was reached"),
        }
    }
}

/// A thread on its way through a segment.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) node: NodeId,
    pub(crate) values: BTreeMap<Variable, Term>,
    /// All that was assumed on the way, the state at the first stop included.
    pub(crate) conditions: Vec<Term>,
    pub(crate) dirty: BTreeSet<CellId>,
    /// What was dirty in the beginning.
    pub(crate) dirty_first: BTreeSet<CellId>,
    pub(crate) started: Vec<RootId>,
    /// Whether this is not the thread that runs, but another one.
    pub(crate) is_other: bool,
}

impl Path {
    pub(crate) fn new(node: NodeId, is_other: bool) -> Path {
        Path {
            node,
            values: BTreeMap::new(),
            conditions: Vec::new(),
            dirty: BTreeSet::new(),
            dirty_first: BTreeSet::new(),
            started: Vec::new(),
            is_other,
        }
    }
}

/// What another thread has to itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Theirs {
    Register(FrameId, LocalId),
    /// A cell of its own, or that it has changed where nobody can look.
    Own(CellId),
    /// A cell as it sees it, where the thread that runs has changed it and nobody can look.
    Seen(CellId),
}

/// Which assertions and accesses are asked about.
pub type IsAsked<'c> = &'c dyn Fn(NodeId) -> bool;

pub struct Conditions<'c, 'a, 'p> {
    pub(crate) code: &'a Code<'a, 'p>,
    pub(crate) cells: &'a Cells,
    pub(crate) annotation: &'c Annotation<'p>,
    pub(crate) limits: &'c Limits,
    pub(crate) is_asked: IsAsked<'c>,
    /// Whether only assertions are looked at.
    pub(crate) is_about_assertions: bool,
    /// Those that could not be shown to hold.
    pub(crate) failing: BTreeSet<Place>,
    pub(crate) terms: Terms,
    solver: Solver,
    addresses: BTreeMap<(AbstractId, FrameId), Term>,
    /// The variables that are addresses of objects, for the thread that runs.
    pub(crate) objects: BTreeMap<Term, AbstractId>,
    /// A register that has held a value at some time.
    pub(crate) held: BTreeMap<Term, (FrameId, LocalId)>,
    /// No address of an object is null.
    not_null: Vec<Term>,
    /// The cells as they are at the beginning of the segment.
    pub(crate) first: BTreeMap<CellId, Term>,
    pub(crate) theirs: BTreeMap<Theirs, Term>,
    /// What has been shown to be impossible.
    shown: BTreeSet<Vec<Term>>,
    count: Count,
}

impl<'c, 'a, 'p> Conditions<'c, 'a, 'p> {
    pub fn new(
        code: &'a Code<'a, 'p>,
        cells: &'a Cells,
        annotation: &'c Annotation<'p>,
        limits: &'c Limits,
        is_asked: IsAsked<'c>,
    ) -> Conditions<'c, 'a, 'p> {
        Conditions {
            code,
            cells,
            annotation,
            limits,
            is_asked,
            is_about_assertions: false,
            failing: BTreeSet::new(),
            terms: Terms::new(),
            solver: Solver::default(),
            addresses: BTreeMap::new(),
            objects: BTreeMap::new(),
            held: BTreeMap::new(),
            not_null: Vec::new(),
            first: BTreeMap::new(),
            theirs: BTreeMap::new(),
            shown: BTreeSet::new(),
            count: Count::default(),
        }
    }

    /// All of them; an assertion that cannot be shown is one that fails.
    pub fn check(mut self) -> Result<Count, Failed> {
        self.check_beginning()?;
        let annotation = self.annotation;
        for (stop, states) in annotation.states.iter_enumerated() {
            for state in states {
                self.check_segment(stop, state)?;
            }
        }
        match self.failing.first() {
            None => Ok(self.count),
            Some(place) => {
                let place = at(self.code.program(), *place);
                Err(Failed::Refused(format!("the assertion at {place} could not be confirmed")))
            }
        }
    }

    /// Of the assertions in these segments, those that cannot be shown to hold if the annotation is true.
    pub fn failing(mut self, stops: &BTreeSet<StopId>) -> Result<BTreeSet<Place>, Failed> {
        self.is_about_assertions = true;
        let annotation = self.annotation;
        for stop in stops {
            for state in &annotation.states[*stop] {
                self.check_segment(*stop, state)?;
            }
        }
        Ok(self.failing)
    }

    fn start_anew(&mut self) {
        self.terms = Terms::new();
        self.solver = Solver::default().within(self.limits);
        self.addresses.clear();
        self.objects.clear();
        self.held.clear();
        self.not_null.clear();
        self.first.clear();
        self.theirs.clear();
        self.shown.clear();
    }

    /// The first threads begin in states of their first stops.
    fn check_beginning(&mut self) -> Result<(), Failed> {
        let roots = self.code.facts.threads().roots();
        let first: Vec<RootId> = roots.ids().filter(|root| roots[*root].created_at.is_none()).collect();
        for root in &first {
            self.start_anew();
            let entry = self.code.entry(*root);
            let mut path = Path::new(entry, false);
            let cells: Vec<(CellId, Extent)> = self.cells.iter().map(|(id, cell)| (id, cell.extent)).collect();
            for (cell, extent) in cells {
                let value = self.initial(extent);
                self.set(&mut path, Variable::Cell(cell), value);
            }
            let what = "the invariant at the beginning of the program";
            let Some(stop) = self.code.stop(entry) else { return Err(Failed::Refused(what.to_string())) };
            let goal = self.any_of(&mut path, stop);
            self.implied(&[], &[], &[goal], what)?;
            let others =
                first.iter().filter(|other| *other != root).filter_map(|other| self.code.stop(self.code.entry(*other)));
            if others.into_iter().any(|other| !self.is_pair(stop, other)) {
                return Err(Failed::Refused("that two threads do not meet could not be confirmed".to_string()));
            }
        }
        Ok(())
    }

    fn check_segment(&mut self, stop: StopId, state: &State<'p>) -> Result<(), Failed> {
        self.start_anew();
        let mut first = Path::new(self.code.stops()[stop], false);
        first.dirty.clone_from(&state.dirty);
        first.dirty_first.clone_from(&state.dirty);
        self.substitute(&mut first, state);
        for (cell, _) in self.cells.iter() {
            let term = self.variable(&mut first, Variable::Cell(cell));
            self.first.insert(cell, term);
        }
        first.conditions = self.invariant(&mut first, state);
        let mut work = vec![first];
        let mut steps = 0;
        while let Some(path) = work.pop() {
            if self.limits.stop().is_some() {
                return Err(Failed::Stopped);
            }
            let after = self.step(stop, path)?;
            let is_split = after.len() > 1;
            for next in after {
                steps += 1;
                if steps > MOST_STEPS {
                    return Err(Failed::Refused("a segment has too many paths".to_string()));
                }
                let is_impossible = next.conditions.contains(&Term::FALSE)
                    || is_split && work.len() > MANY_PATHS && !self.is_possible(&next.conditions, Term::TRUE);
                match self.code.stop(next.node) {
                    _ if is_impossible => {}
                    Some(end) => self.arrive(stop, end, next)?,
                    None => work.push(next),
                }
            }
        }
        Ok(())
    }

    /// One step of the representation; and what others see of it.
    fn step(&mut self, from: StopId, path: Path) -> Result<Vec<Path>, Failed> {
        let mut after = match self.code.instruction(path.node) {
            Some(op) => self.execute(path, op)?,
            None => self.leave(from, path)?,
        };
        for path in &mut after {
            // Others see it whatever comes next.
            self.publish(from, path, false)?;
        }
        Ok(after)
    }

    /// What the solver says of all of these together.
    fn ask(&mut self, all: &[Term]) -> Answer {
        let mut assumed = Vec::with_capacity(all.len());
        for term in all {
            assumed.push(self.solver.literal(&self.terms, *term));
        }
        self.solver.solve(&assumed, self.limits)
    }

    fn together(&self, conditions: &[Term], more: &[Term]) -> Vec<Term> {
        let mut all: Vec<Term> = conditions.iter().chain(more).chain(&self.not_null).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Shows that these cannot all hold.
    pub(crate) fn refute(&mut self, conditions: &[Term], more: &[Term], what: &str) -> Result<(), Failed> {
        self.count.conditions += 1;
        let all = self.together(conditions, more);
        if self.terms.and(&all) == Term::FALSE || self.shown.contains(&all) {
            return Ok(());
        }
        self.count.solved += 1;
        match self.ask(&all) {
            Answer::Unsatisfiable => {
                self.shown.insert(all);
                Ok(())
            }
            Answer::Satisfiable => Err(Failed::Refused(format!("{what} could not be confirmed"))),
            Answer::Unknown(_) => Err(Failed::Stopped),
        }
    }

    pub(crate) fn implied(
        &mut self,
        conditions: &[Term],
        more: &[Term],
        goals: &[Term],
        what: &str,
    ) -> Result<(), Failed> {
        let goal = self.terms.and(goals);
        let not = self.terms.not(goal);
        let more: Vec<Term> = more.iter().copied().chain([not]).collect();
        self.refute(conditions, &more, what)
    }

    /// Whether the solver cannot exclude that all of these hold.
    pub(crate) fn is_possible(&mut self, conditions: &[Term], more: Term) -> bool {
        let all = self.together(conditions, &[more]);
        if self.terms.and(&all) == Term::FALSE || self.shown.contains(&all) {
            return false;
        }
        let is_possible = !matches!(self.ask(&all), Answer::Unsatisfiable);
        if !is_possible {
            self.shown.insert(all);
        }
        is_possible
    }

    /// The one value that a term can have under these conditions.
    pub(crate) fn only_value(&mut self, conditions: &[Term], term: Term) -> Option<u128> {
        let all = self.together(conditions, &[]);
        if !matches!(self.ask(&all), Answer::Satisfiable) {
            return None;
        }
        // (The term is part of what the solver knows only from now on.)
        let model = self.solver.model(&self.terms);
        let value = evaluate(&self.terms, term, &model).number();
        let constant = self.terms.bits(self.terms.width(term), value);
        let is_same = self.terms.eq(term, constant);
        let is_other = self.terms.not(is_same);
        (!self.is_possible(conditions, is_other)).then_some(value)
    }

    fn is_pair(&self, a: StopId, b: StopId) -> bool {
        self.annotation.pairs.contains(a, b) || !may_be_together(self.code, a, b)
    }

    /// The stops at which others may be that are interrupted there.
    fn others(&self, from: StopId) -> Vec<StopId> {
        self.annotation.pairs.with(from).filter(|other| !is_exclusive(self.code, *other)).collect()
    }

    /// A thread gets to the end of a segment.
    fn arrive(&mut self, from: StopId, end: StopId, mut path: Path) -> Result<(), Failed> {
        if self.is_about_assertions {
            return Ok(());
        }
        let place = self.code.place(self.code.stops()[end]);
        let what = format!("the invariant at {}", at(self.code.program(), place));
        let goal = self.any_of(&mut path, end);
        self.implied(&path.conditions, &[], &[goal], &what)?;
        let children: Vec<StopId> =
            path.started.iter().filter_map(|root| self.code.stop(self.code.entry(*root))).collect();
        let mut missing: Vec<Option<StopId>> = Vec::new();
        if children.iter().any(|child| !self.is_pair(end, *child)) {
            missing.push(None);
        }
        for other in self.others(from) {
            if !self.is_pair(end, other) || children.iter().any(|child| !self.is_pair(*child, other)) {
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
    pub(crate) fn publish(&mut self, from: StopId, path: &mut Path, is_over: bool) -> Result<(), Failed> {
        let node = path.node;
        let is_seen = |cell: &CellId| is_over || !is_hidden(self.code, self.cells, node, *cell);
        let cells: BTreeSet<CellId> = path.dirty.iter().copied().filter(is_seen).collect();
        if cells.is_empty() {
            return Ok(());
        }
        path.dirty.retain(|cell| !cells.contains(cell));
        if self.is_about_assertions {
            return Ok(());
        }
        for other in self.others(from) {
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
            Variable::Register(frame, local) => {
                let program = self.code.program();
                u32::from(program.functions[self.code.func_of(frame)].locals[local].ty.bits(program.model))
            }
            Variable::Cell(cell) => cell_width(self.cells.extent(cell).bytes),
        }
    }

    pub(crate) fn variable(&mut self, path: &mut Path, variable: Variable) -> Term {
        if let Some(term) = path.values.get(&variable) {
            return *term;
        }
        self.forget(path, variable)
    }

    /// It may be anything now.
    pub(crate) fn forget(&mut self, path: &mut Path, variable: Variable) -> Term {
        let width = self.width(variable);
        let term = self.any(width);
        self.give(path, variable, term);
        term
    }

    /// A value of the right width.
    pub(crate) fn give(&mut self, path: &mut Path, variable: Variable, term: Term) {
        path.values.insert(variable, term);
        if let Variable::Register(frame, local) = variable
            && !path.is_other
        {
            self.held.entry(term).or_insert((frame, local));
        }
    }

    /// Nothing fits: it may be anything.
    pub(crate) fn set(&mut self, path: &mut Path, variable: Variable, value: Option<Term>) {
        match value.filter(|value| self.terms.width(*value) == self.width(variable)) {
            Some(value) => self.give(path, variable, value),
            None => _ = self.forget(path, variable),
        }
    }

    pub(crate) fn initial(&mut self, extent: Extent) -> Option<Term> {
        let AbstractObject::Static(object) = self.code.facts.points_to().objects()[extent.object] else { return None };
        let bits = initial_bits(self.code.program(), object, extent.offset, extent.bytes)?;
        Some(self.terms.bits(cell_width(extent.bytes), bits))
    }

    /// The address of an object, of the instance that a frame of a thread has.
    fn address(&mut self, object: AbstractObject, frame: FrameId, is_other: bool) -> Term {
        let pointer = u32::from(self.code.program().model.pointer_bits());
        let Some(id) = self.code.facts.points_to().object(object) else { return self.any(pointer) };
        let is_one = self.code.facts.offsets().exists_once(id) || matches!(object, AbstractObject::Function(_));
        let is_thread_local = matches!(object, AbstractObject::Static(_));
        let frame = match () {
            () if is_one => FrameId(0),
            () if is_thread_local && is_other => self.code.theirs(FrameId(0)),
            () if is_thread_local => FrameId(0),
            // (The other thread may be in the same function, and has stack objects of its own.)
            () if is_other => self.code.theirs(frame),
            () => frame,
        };
        if let Some(term) = self.addresses.get(&(id, frame)) {
            return *term;
        }
        let term = self.any(pointer);
        let null = self.terms.bits(pointer, 0);
        let is_null = self.terms.eq(term, null);
        let not = self.terms.not(is_null);
        self.not_null.push(not);
        self.addresses.insert((id, frame), term);
        if is_one || !is_other {
            self.objects.insert(term, id);
        }
        term
    }

    /// A function is entered anew: its stack objects are others than before.
    pub(crate) fn renew_addresses(&mut self, callee: FrameId) {
        self.addresses.retain(|(_, frame), _| *frame != callee);
    }

    pub(crate) fn term(&mut self, path: &mut Path, frame: FrameId, expr: &Expr) -> Term {
        let model = self.code.program().model;
        match expr {
            Expr::Const { ty, bits } => self.terms.bits(u32::from(ty.bits(model)), *bits),
            Expr::Local(local) => self.variable(path, Variable::Register(frame, *local)),
            Expr::Object(object) => self.address(AbstractObject::Static(*object), frame, path.is_other),
            Expr::Function(function) => self.address(AbstractObject::Function(*function), frame, path.is_other),
            Expr::Slot(slot) => {
                let func = self.code.func_of(frame);
                self.address(AbstractObject::Slot(func, *slot), frame, path.is_other)
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

    pub(crate) fn condition(&mut self, path: &mut Path, frame: FrameId, expr: &Expr) -> Term {
        let bit = self.term(path, frame, expr);
        self.terms.bits_to_bool(bit)
    }
}
