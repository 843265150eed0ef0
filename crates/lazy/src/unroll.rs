//! Unrolling: each thread model by itself, depth by depth.
//!
//! A thread is at some control states at a depth, each with a symbolic state and the condition that the thread is there.
//! Only control states whose condition is not constantly false are kept: control-state reachability (paper 004, section
//! 2.3), with the constants that the states carry. A visible control state at depth `k` is `read_sync` at `k`, the access
//! at `k + 1` and `write_sync` at `k + 2`; its successors are at depth `k + 3`.
//!
//! In `read_sync` the thread may acquire the token, and then takes the shared memory of the thread that passes it. It goes
//! on only with the token: all visible steps are made by the thread that holds it. In `write_sync` it may release the token.
//! Executions are prefixes: a thread that does not get the token stays where it is, and the others go on.

use crate::efsm::{Control, Efsm};
use crate::layout::{Copies, InstanceId, Layout, Refused, ThreadIndex};
use crate::races::Footprint;
use crate::state::{Frame, Memory, State};
use leno_engine::Properties;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{BlockId, FuncId, Place, Span};
use leno_logic::term::{Sort, Term, Terms};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Something that goes wrong.
#[derive(Clone, Debug)]
pub struct Violation {
    pub thread: ThreadIndex,
    /// The depth of the step that goes wrong.
    pub depth: u32,
    pub place: Place,
    pub condition: Term,
}

/// Something that the engine cannot follow: executions that go there are not covered.
#[derive(Clone, Debug)]
pub struct Gap {
    pub path: Term,
    pub span: Span,
    pub reason: String,
}

/// A visible step.
#[derive(Clone, Debug)]
pub struct Step {
    pub thread: ThreadIndex,
    /// Of its `read_sync`.
    pub depth: u32,
    pub place: Place,
    /// That it is made.
    pub made: Term,
    /// The thread that it starts, each with its condition.
    pub starts: Vec<(ThreadIndex, Term)>,
}

/// A value from outside, by the thread that asks for it, in order.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub thread: ThreadIndex,
    pub path: Term,
    pub value: Term,
}

/// `read_sync` of a thread at a depth.
pub struct ReadSync {
    pub thread: ThreadIndex,
    pub depth: u32,
    /// That the thread is here without the token.
    pub arrives: Term,
    /// That it acquires the token here.
    pub acquires: Term,
    /// Its new values of what is shared.
    pub incoming: Vec<(InstanceId, usize, Term)>,
    /// What it is about to access.
    pub next: Vec<Footprint>,
    /// Where it may be.
    pub places: Vec<Place>,
}

/// `write_sync` of a thread at a depth.
pub struct WriteSync {
    pub thread: ThreadIndex,
    pub depth: u32,
    /// That the thread is here, and may release the token.
    pub arrives: Term,
    /// That it does.
    pub releases: Term,
    /// What it leaves behind.
    pub outgoing: Memory,
    /// What it has just accessed.
    pub last: Vec<Footprint>,
    /// The steps that it may have made.
    pub places: Vec<Place>,
    /// The threads that it has just started.
    pub starts: Vec<(ThreadIndex, Term)>,
}

/// One thread, as far as it has been unrolled.
pub struct ThreadModel {
    /// That it is started: true of the main thread.
    pub started: Term,
    pub arguments: Vec<Term>,
    /// The conditions under which it is started, of which the last ones are new.
    pub starts: Vec<Term>,
    /// States at control states that have not been executed yet, by depth.
    pending: BTreeMap<u32, BTreeMap<Place, State>>,
    /// The depth up to which it is unrolled.
    done: Option<u32>,
    is_begun: bool,
}

impl ThreadModel {
    /// Whether it may have been started.
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }
}

pub struct Unroller<'p> {
    pub efsm: &'p Efsm<'p>,
    pub layout: Layout<'p>,
    pub terms: Terms,
    pub properties: Properties,
    pub threads: IndexVec<ThreadIndex, ThreadModel>,
    pub violations: Vec<Violation>,
    pub gaps: Vec<Gap>,
    pub steps: Vec<Step>,
    pub inputs: Vec<Input>,
    pub reads: Vec<ReadSync>,
    pub writes: Vec<WriteSync>,
    /// Variables for undefined values, which the interpreter takes to be zero.
    pub undefined: Vec<Term>,
    pub constraints: Vec<Term>,
    pub(crate) call_sites: Vec<Place>,
    /// The number of each place where something is allocated or a thread is started.
    pub(crate) sites: BTreeMap<Place, usize>,
    /// The thread and depth at which something is being executed.
    pub(crate) thread: ThreadIndex,
    pub(crate) depth: u32,
}

/// Private code that is executed at one depth: by function, position of its block, and instruction.
type Worklist = BTreeMap<(FuncId, usize, u32), (Place, State)>;

impl<'p> Unroller<'p> {
    pub fn new(efsm: &'p Efsm<'p>, properties: Properties, copies: Copies) -> Result<Unroller<'p>, Refused> {
        let layout = Layout::new(efsm, copies)?;
        let mut terms = Terms::new();
        let mut threads = IndexVec::new();
        for (index, shape) in layout.threads.iter_enumerated() {
            let function = &efsm.program().functions[shape.root];
            let params = function.locals.iter().take(function.params as usize);
            let widths: Vec<u32> = params.map(|local| u32::from(local.ty.bits(efsm.program().model))).collect();
            let arguments = widths.into_iter().map(|width| terms.variable(Sort::Bits(width), "argument")).collect();
            let is_main = index == ThreadIndex(0);
            threads.push(ThreadModel {
                started: if is_main { Term::TRUE } else { terms.variable(Sort::Bool, "started") },
                arguments,
                starts: Vec::new(),
                pending: BTreeMap::new(),
                done: None,
                is_begun: is_main,
            });
        }
        let mut sites = BTreeMap::new();
        let starts = layout.threads.iter().filter_map(|thread| Some(thread.created?.1));
        for place in layout.sites.keys().map(|(_, place)| *place).chain(starts) {
            let next = sites.len();
            sites.entry(place).or_insert(next);
        }
        let mut unroller = Unroller {
            efsm,
            layout,
            terms,
            properties,
            threads,
            violations: Vec::new(),
            gaps: Vec::new(),
            steps: Vec::new(),
            inputs: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            undefined: Vec::new(),
            constraints: Vec::new(),
            call_sites: Vec::new(),
            sites,
            thread: ThreadIndex(0),
            depth: 0,
        };
        unroller.begin()?;
        Ok(unroller)
    }

    /// All threads at their beginnings.
    fn begin(&mut self) -> Result<(), Refused> {
        let mut memory = Memory::new();
        for id in self.layout.instances.ids() {
            let cells = self.layout.initial_cells(&mut self.terms, id)?;
            let kept: Vec<Term> = cells.iter().copied().filter(|cell| self.terms.name(*cell).is_some()).collect();
            self.undefined.extend(kept);
            memory.push(Rc::new(cells));
        }
        let (argc, argv) = (self.efsm.program().command_line().len() as u128, u128::from(self.layout.argv));
        for (argument, value) in self.threads[ThreadIndex(0)].arguments.iter_mut().zip([argc, argv]) {
            let width = self.terms.width(*argument);
            *argument = self.terms.bits(width, value);
        }
        let (one, zero) = (self.terms.bits(1, 1), self.terms.bits(8, 0));
        let counts = Rc::new(vec![zero; self.sites.len()]);
        for thread in self.threads.ids() {
            let root = self.layout.threads[thread].root;
            let mut frames = vec![None; self.efsm.program().functions.len()];
            let mut locals = vec![None; self.efsm.program().functions[root].locals.len()];
            locals.iter_mut().zip(&self.threads[thread].arguments).for_each(|(local, value)| *local = Some(*value));
            frames[root.index()] = Some(Rc::new(Frame { locals, return_site: self.terms.bits(16, 0) }));
            let is_main = thread == ThreadIndex(0);
            let mut state = State {
                path: self.threads[thread].started,
                token: if is_main { Term::TRUE } else { Term::FALSE },
                section: zero,
                is_new: if is_main { Term::FALSE } else { Term::TRUE },
                frames,
                memory: memory.clone(),
                reading: Rc::default(),
                counts: counts.clone(),
            };
            for slot in self.efsm.program().functions[root].slots.ids() {
                let Some(id) = self.layout.slot(thread, root, slot) else { continue };
                let is_born_here = is_main || !self.layout.instances[id].is_shared;
                if let Some(life) = self.layout.instances[id].life().filter(|_| is_born_here) {
                    state.set_cell(id, life, one);
                }
            }
            let entry = Place { func: root, block: BlockId(0), index: 0 };
            self.threads[thread].pending.entry(0).or_default().insert(entry, state);
        }
        Ok(())
    }

    /// Unrolls all threads that may have been started to a depth.
    pub fn unroll_to(&mut self, depth: u32) {
        // (A thread that is unrolled may start one with a smaller number.)
        loop {
            let behind = |(_, thread): &(ThreadIndex, &ThreadModel)| {
                thread.is_begun && thread.done.is_none_or(|done| done < depth)
            };
            let Some((index, thread)) = self.threads.iter_enumerated().find(behind) else { return };
            let next = thread.done.map_or(0, |done| done + 1);
            self.unroll_thread(index, next);
            self.threads[index].done = Some(next);
        }
    }

    /// Executes what a thread does at a depth: private code, and accesses whose `read_sync` was a step before.
    fn unroll_thread(&mut self, thread: ThreadIndex, depth: u32) {
        (self.thread, self.depth) = (thread, depth);
        let private = self.take(thread, depth, Control::Private);
        let key = |place: Place| (place.func, self.efsm.position(place), place.index);
        let worklist = private.into_iter().map(|(place, state)| (key(place), (place, state))).collect();
        self.run(worklist, depth + Control::Private.steps());
        if let Some(read_sync) = depth.checked_sub(1) {
            let visible = self.take(thread, read_sync, Control::Visible);
            if !visible.is_empty() {
                self.depth = read_sync;
                self.synchronise(thread, read_sync, visible);
            }
        }
    }

    fn take(&mut self, thread: ThreadIndex, depth: u32, control: Control) -> Vec<(Place, State)> {
        let Some(pending) = self.threads[thread].pending.get_mut(&depth) else { return Vec::new() };
        let is_wanted = |place: &Place| self.efsm.control(*place) == Some(control);
        let wanted: Vec<Place> = pending.keys().copied().filter(is_wanted).collect();
        wanted.into_iter().filter_map(|place| pending.remove_entry(&place)).collect()
    }

    /// Whether the thread may be at a control state that has not been executed: the condition that it is.
    pub fn unfinished(&mut self) -> Term {
        let mut paths = Vec::new();
        for thread in self.threads.iter().filter(|thread| thread.is_begun) {
            paths.extend(thread.pending.values().flat_map(|states| states.values()).map(|state| state.path));
        }
        self.terms.or(&paths)
    }

    /// How many control states have not been executed.
    pub fn pending(&self) -> usize {
        let begun = self.threads.iter().filter(|thread| thread.is_begun);
        begun.flat_map(|thread| thread.pending.values()).map(BTreeMap::len).sum()
    }

    /// A thread may have been started.
    pub(crate) fn start(&mut self, thread: ThreadIndex, condition: Term) {
        self.threads[thread].starts.push(condition);
        self.threads[thread].is_begun = true;
    }

    // --- control

    /// Executes private code up to the next control states, which are at `to`.
    fn run(&mut self, mut worklist: Worklist, to: u32) {
        while let Some((_, (place, state))) = worklist.pop_first() {
            for (next, state) in self.execute(place, state) {
                self.go(next, state, to, &mut worklist);
            }
        }
    }

    /// Goes on at a place: now, or at a later depth if it is a control state.
    fn go(&mut self, place: Place, mut state: State, to: u32, worklist: &mut Worklist) {
        if state.path == Term::FALSE {
            return;
        }
        let is_control = self.efsm.control(place).is_some();
        if is_control || place.index == 0 {
            state.keep(place.func, self.efsm.live(place));
        }
        if is_control {
            let pending = self.threads[self.thread].pending.entry(to).or_default();
            let merged = match pending.remove(&place) {
                Some(other) => state.merge(&mut self.terms, other, &mut self.undefined),
                None => state,
            };
            let pending = self.threads[self.thread].pending.entry(to).or_default();
            pending.insert(place, merged);
            return;
        }
        let key = (place.func, self.efsm.position(place), place.index);
        let merged = match worklist.remove(&key) {
            Some((_, other)) => state.merge(&mut self.terms, other, &mut self.undefined),
            None => state,
        };
        worklist.insert(key, (place, merged));
    }

    // --- read_sync and write_sync

    fn synchronise(&mut self, thread: ThreadIndex, depth: u32, mut states: Vec<(Place, State)>) {
        let mut paths = Vec::new();
        for (_, state) in &states {
            let without = self.terms.not(state.token);
            paths.push(self.terms.and2(state.path, without));
        }
        let arrives = self.terms.or(&paths);
        let mut next = Vec::new();
        for (place, state) in &mut states {
            next.extend(self.footprint(*place, state));
        }
        if arrives != Term::FALSE {
            self.read_sync(thread, depth, arrives, &mut states, next);
        }
        let (mut after, mut last) = (Vec::new(), Vec::new());
        let first = self.steps.len();
        for (place, mut state) in states {
            state.path = self.terms.and2(state.path, state.token);
            if state.path == Term::FALSE {
                continue;
            }
            last.extend(self.footprint(place, &mut state));
            let number = self.steps.len();
            self.steps.push(Step { thread, depth, place, made: Term::FALSE, starts: Vec::new() });
            let results = self.execute(place, state);
            let made: Vec<Term> = results.iter().map(|(_, state)| state.path).collect();
            self.steps[number].made = self.terms.or(&made);
            // (None sees what comes after the end of the program.)
            after.extend(results.into_iter().filter(|(place, _)| place.index != EXITED));
        }
        self.write_sync((thread, depth + 2), &mut after, last, first);
        let mut worklist = Worklist::new();
        for (place, state) in after {
            if place.index != ENDED {
                self.go(place, state, depth + Control::Visible.steps(), &mut worklist);
            }
        }
        self.run(worklist, depth + Control::Visible.steps());
    }

    /// The thread may acquire the token, and what is shared with it.
    fn read_sync(
        &mut self,
        thread: ThreadIndex,
        depth: u32,
        arrives: Term,
        states: &mut [(Place, State)],
        next: Vec<Footprint>,
    ) {
        let acquires = self.terms.variable(Sort::Bool, "acquires");
        let mut incoming = Vec::new();
        for (id, instance) in self.layout.instances.iter_enumerated() {
            for (cell, shape) in instance.cells.iter().enumerate().filter(|(_, cell)| cell.is_passed) {
                incoming.push((id, cell, self.terms.variable(Sort::Bits(shape.bits), "incoming")));
            }
        }
        for (_, state) in states.iter_mut() {
            for (id, cell, value) in &incoming {
                let new = match state.token {
                    Term::FALSE => *value,
                    Term::TRUE => break,
                    _ => self.terms.ite(acquires, *value, state.cell(*id, *cell)),
                };
                state.set_cell(*id, *cell, new);
            }
            state.token = self.terms.or2(state.token, acquires);
        }
        let places = states.iter().map(|(place, _)| *place).collect();
        self.reads.push(ReadSync { thread, depth, arrives, acquires, incoming, next, places });
    }

    /// The thread may release the token, unless it is in an atomic section. Its steps are those from `first` on.
    fn write_sync(
        &mut self,
        (thread, depth): (ThreadIndex, u32),
        after: &mut [(Place, State)],
        last: Vec<Footprint>,
        first: usize,
    ) {
        let outside = self.terms.bits(8, 0);
        let mut paths = Vec::new();
        for (_, state) in after.iter() {
            let may_release = self.terms.eq(state.section, outside);
            paths.push(self.terms.and2(state.path, may_release));
        }
        let arrives = self.terms.or(&paths);
        let Some((_, one)) = after.first() else { return };
        if arrives == Term::FALSE {
            return;
        }
        let mut outgoing = one.memory.clone();
        for (_, state) in after.iter().skip(1) {
            for (id, instance) in self.layout.instances.iter_enumerated().filter(|(_, instance)| instance.is_shared) {
                if Rc::ptr_eq(&outgoing[id], &state.memory[id]) {
                    continue;
                }
                let row = Rc::make_mut(&mut outgoing[id]);
                for cell in (0..instance.cells.len()).filter(|cell| instance.cells[*cell].is_passed) {
                    row[cell] = self.terms.ite(state.path, state.memory[id][cell], row[cell]);
                }
            }
        }
        let releases = self.terms.variable(Sort::Bool, "releases");
        let keeps = self.terms.not(releases);
        after.iter_mut().for_each(|(_, state)| (state.token, state.is_new) = (keeps, Term::FALSE));
        let starts = self.steps[first..].iter().flat_map(|step| step.starts.clone()).collect();
        let places = self.steps[first..].iter().map(|step| step.place).collect();
        self.writes.push(WriteSync { thread, depth, arrives, releases, outgoing, last, places, starts });
    }
}

/// The instruction number of a place that stands for the end of a thread, and for that of the program.
pub(crate) const ENDED: u32 = u32::MAX;
pub(crate) const EXITED: u32 = u32::MAX - 1;
