//! All views that threads may come to, for any number of threads (paper 001, section 4.2).
//!
//! A view goes on in two ways. Its thread makes a step; or some other thread does, of which nothing is known: then
//! every *summary* is executed on the shared part. The summary of an operation is the operation itself, run atomically from its
//! beginning to the first change of what is shared, with nothing kept afterwards: stateless by construction. That this
//! is all that other threads can do is checked at every step that changes what is shared (`mimic`). So the set of views
//! proves its own completeness: a step that no summary can make ends the proof.

use super::machine::{Machine, Next, Role};
use super::memory::{State, Stop};
use super::mimic::{is_identity, same_effect};
use super::observer::Event;
use super::value::Tag;
use super::view::{Owner, Shape, Shared, Thread, View};
use std::collections::{HashSet, VecDeque};

/// A view with more cells than this: the lists are of a kind that segments do not cover.
const MOST_CELLS: usize = 24;

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    pub views: usize,
    /// Steps of threads that change what is shared, each mimicked by a summary.
    pub mimicked: usize,
}

/// Why there is no proof, and in which view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    pub stop: Stop,
    pub view: Option<Box<View>>,
    pub views: usize,
}

pub struct Exploration<'m, 'p> {
    machine: &'m Machine<'p>,
    shape: Option<Shape>,
    views: HashSet<View>,
    queue: VecDeque<View>,
    mimicked: usize,
    /// Whether other threads act, too.
    interference: bool,
}

/// Who wants to know whether to go on.
pub type GoesOn<'a> = &'a dyn Fn() -> bool;

/// What a view leads to.
#[derive(Default)]
struct Expansion {
    views: Vec<(Shared, Thread)>,
    mimicked: usize,
}

impl<'m, 'p> Exploration<'m, 'p> {
    pub fn new(machine: &'m Machine<'p>, interference: bool) -> Exploration<'m, 'p> {
        let (views, queue) = (HashSet::new(), VecDeque::new());
        Exploration { machine, shape: None, views, queue, mimicked: 0, interference }
    }

    pub fn run(mut self, start: Shared, goes_on: GoesOn, most_views: usize) -> Result<Explored, Failed> {
        self.add(start, Thread::idle());
        while let Some(view) = self.queue.pop_front() {
            if let Err(stop) = self.process(&view) {
                return Err(Failed { stop, view: Some(Box::new(view)), views: self.views.len() });
            }
            if self.views.len() > most_views {
                let stop = Stop::Unsupported(format!("there are more than {most_views} views"));
                return Err(Failed { stop, view: None, views: self.views.len() });
            }
            if self.views.len().is_multiple_of(64) && !goes_on() {
                let stop = Stop::Unsupported("the time limit was reached".to_string());
                return Err(Failed { stop, view: None, views: self.views.len() });
            }
        }
        Ok(Explored { views: self.views.len(), mimicked: self.mimicked })
    }

    fn add(&mut self, shared: Shared, mut thread: Thread) {
        if let Some(operation) = thread.operation {
            let method = &self.machine.methods[usize::from(operation)];
            // A watched value is inserted by one call at most: once it is in, no other call is about to.
            let event = Event::Insert(thread.argument);
            let is_waiting = method.role == Role::Insert && thread.done.is_none();
            if is_waiting && !self.machine.observer.may_happen(shared.observer, event) {
                return;
            }
            thread.forget_dead(&method.code);
        }
        let view = View::canonical(shared, thread, &mut self.shape);
        if !self.views.contains(&view) {
            self.views.insert(view.clone());
            self.queue.push_back(view);
        }
    }

    /// Everything that a view leads to. Where a step has to know more about a segment, the view is told apart first.
    fn process(&mut self, view: &View) -> Result<(), Stop> {
        let mut work = vec![view.shared.clone()];
        while let Some(shared) = work.pop() {
            if shared.cells.len() > MOST_CELLS {
                return Err(Stop::Unsupported(format!("a view has more than {MOST_CELLS} nodes")));
            }
            match self.expand(&shared, &view.thread) {
                Ok(expansion) => {
                    self.mimicked += expansion.mimicked;
                    for (shared, thread) in expansion.views {
                        self.add(shared, thread);
                    }
                }
                Err(Stop::Split(cell, offset)) => {
                    let Some(shape) = &self.shape else {
                        return Err(Stop::Unsupported("a list of an unknown kind".to_string()));
                    };
                    work.extend(shared.split(cell, offset, shape));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    fn expand(&self, shared: &Shared, thread: &Thread) -> Result<Expansion, Stop> {
        let mut expansion = Expansion::default();
        let summaries = if self.interference { self.interfere(shared, thread)? } else { Vec::new() };
        for state in self.own_steps(shared, thread)? {
            if self.interference && state.wrote && !is_identity(shared, &state) {
                if !summaries.iter().any(|summary| same_effect(shared, &state, summary)) {
                    return Err(self.not_mimicked(&state, thread));
                }
                expansion.mimicked += 1;
            }
            expansion.views.push((state.shared, state.thread));
        }
        for mut state in summaries {
            for cell in 0..state.shared.cells.len() {
                if state.shared.cells[cell].owner == Owner::Theirs {
                    state.make_free(cell as u16);
                }
            }
            let Some(waiting) = state.waiting else { continue };
            expansion.views.push((state.shared, waiting));
        }
        Ok(expansion)
    }

    fn not_mimicked(&self, state: &State, thread: &Thread) -> Stop {
        let operation = usize::from(thread.operation.or(state.thread.operation).unwrap_or_default());
        let code = &self.machine.methods[operation].code;
        let line = code.steps[thread.at as usize].span.line;
        let reason = format!(
            "`{}`, line {line}: no summary has the effect of this step on what is shared (CHK-MIMIC)",
            code.function
        );
        Stop::Unsupported(reason)
    }

    /// The steps of the thread whose view it is.
    fn own_steps(&self, shared: &Shared, thread: &Thread) -> Result<Vec<State>, Stop> {
        let machine = self.machine;
        let mut nexts = Vec::new();
        if thread.operation.is_some() {
            nexts = machine.advance(State::new(shared.clone(), thread.clone(), None), true)?;
        } else {
            for (method, argument) in calls(machine) {
                let start = State::new(shared.clone(), machine.call(method, argument), None);
                nexts.extend(machine.advance(start, false)?);
            }
        }
        let states = nexts.into_iter().map(|next| match next {
            Next::Goes(state) => state,
            Next::Returned(mut state, _) => {
                state.thread = Thread::idle();
                state
            }
        });
        Ok(states.collect())
    }

    /// What summaries make of the shared part.
    fn interfere(&self, shared: &Shared, thread: &Thread) -> Result<Vec<State>, Stop> {
        let mut all = Vec::new();
        for (method, argument) in calls(self.machine) {
            let acting = self.machine.call(method, argument);
            let start = State::new(shared.clone(), acting, Some(thread.clone()));
            all.extend(self.machine.run_to_effect(start)?);
        }
        Ok(all)
    }
}

/// All operations, with every value that one may insert.
fn calls(machine: &Machine) -> Vec<(usize, Tag)> {
    let mut all = Vec::new();
    for (number, method) in machine.methods.iter().enumerate() {
        match method.role {
            Role::Insert => all.extend(Tag::ALL.map(|tag| (number, tag))),
            Role::Remove => all.push((number, Tag::Other)),
        }
    }
    all
}
