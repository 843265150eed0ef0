//! A small engine: programs in the solver, by nothing but the axioms.
//!
//! A thread makes a beginning of its steps: each has a literal that says that the thread has *passed* it, and one that
//! it has made it, which is not the case if its guard does not hold.

use crate::program::{Access, Guard, Op, Outcome, Place, Program};
use leno_axioms::exclusion::{End, Section, exclude, held_at, held_at_end};
use leno_axioms::guards::{all, both, implying_all, implying_one};
use leno_axioms::joins::{Join, follows};
use leno_axioms::order::{KnownOrder, Unknown};
use leno_axioms::races::{Stop, adjacent};
use leno_axioms::reads_from::{Encoding, Sources, Write};
use leno_axioms::signals::{Signal, Signals, Sleep, SleepId};
use leno_axioms::stuck::{AtLock, Blocked, Standing, Thread, all_stuck, has_ended, never_released, stuck};
use leno_axioms::{Event, order};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;
use leno_logic::term::{Sort, Term, Terms};

/// The first node comes before all others.
struct InitialFirst(Node);

impl KnownOrder for InitialFirst {
    fn precedes(&self, first: Node, second: Node) -> Option<bool> {
        match [first, second].map(|node| node == self.0) {
            [true, _] => Some(true),
            [_, true] => Some(false),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Made {
    node: Node,
    passed: Lit,
    guard: Lit,
    made: Lit,
}

impl Made {
    fn event(&self) -> Event {
        Event { node: self.node, occurs: self.made }
    }
}

struct AWrite {
    write: Write,
    place: Term,
    value: Term,
}

pub struct Engine {
    pub solver: Solver,
    terms: Terms,
    encoding: Encoding,
    initial: Node,
    known: InitialFirst,
    free: Vec<Term>,
    reads: Vec<Term>,
    begins: Vec<Event>,
    threads: Vec<Vec<Made>>,
    writes: Vec<AWrite>,
    sections: Vec<(usize, usize, Section)>,
    sleeps: Vec<(usize, usize, usize)>,
    signals: Signals,
    /// Thread, step, and the literal that the one is stuck at the other.
    pub stuck: Vec<(usize, usize, Lit)>,
}

impl Engine {
    pub fn new(program: &Program, encoding: Encoding, matches_exactly: bool) -> Engine {
        let (mut terms, mut solver) = (Terms::new(), Solver::default());
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let free = (0..program.free).map(|_| terms.variable(Sort::Bool, "free")).collect();
        let reads = (0..program.reads).map(|_| terms.variable(Sort::Bits(2), "read")).collect();
        let mut engine = Engine {
            solver,
            terms,
            encoding,
            initial,
            known: InitialFirst(initial),
            free,
            reads,
            begins: Vec::new(),
            threads: Vec::new(),
            writes: Vec::new(),
            sections: Vec::new(),
            sleeps: Vec::new(),
            signals: Signals::default(),
            stuck: Vec::new(),
        };
        program.threads.iter().for_each(|steps| engine.add_thread(steps));
        engine.start_threads(program);
        engine.memory(program);
        engine.locks(program);
        engine.conditions(program, matches_exactly);
        engine.joins(program);
        engine
    }

    fn add_thread(&mut self, steps: &[crate::program::Step]) {
        let chain = self.solver.add_chain();
        let begin = Event { node: self.solver.add_node(chain), occurs: self.solver.new_literal() };
        self.solver.add_edge(self.initial, begin.node);
        let mut before = begin.occurs;
        let mut made = Vec::new();
        for step in steps {
            let (node, passed) = (self.solver.add_node(chain), self.solver.new_literal());
            let guard = self.guard(step.guard);
            self.solver.add_clause(&[!passed, before]);
            made.push(Made { node, passed, guard, made: both(&mut self.solver, passed, guard) });
            before = passed;
        }
        self.begins.push(begin);
        self.threads.push(made);
    }

    fn literal(&mut self, term: Term) -> Lit {
        self.solver.literal(&self.terms, term)
    }

    fn guard(&mut self, guard: Guard) -> Lit {
        let term = match guard {
            Guard::Always => return Lit::TRUE,
            Guard::Free(variable, true) => self.free[variable],
            Guard::Free(variable, false) => self.terms.not(self.free[variable]),
            Guard::Saw(read, value) => {
                let value = self.terms.bits(2, value.into());
                self.terms.eq(self.reads[read], value)
            }
        };
        self.literal(term)
    }

    fn start_threads(&mut self, program: &Program) {
        for pin in &program.pins {
            let [earlier, later] = pin.map(|(thread, index)| self.threads[thread][index]);
            self.solver.add_clause(&[!later.made, earlier.passed]);
            order::ordered_if(&mut self.solver, &[later.made], earlier.node, later.node);
        }
        for thread in 0..program.threads.len() {
            let begin = self.begins[thread];
            match program.spawned(thread) {
                Some((by, index)) => follows(&mut self.solver, begin, self.threads[by][index].event()),
                None => self.solver.add_clause(&[begin.occurs]),
            }
        }
    }

    // --- memory

    fn place(&mut self, place: Place) -> Term {
        let [first, second] = place.locations.map(|location| self.terms.bits(2, location as u128));
        self.terms.ite(self.free[place.chosen_by], first, second)
    }

    fn memory(&mut self, program: &Program) {
        for (thread, index, step) in program.steps() {
            let Op::Memory(accesses) = &step.op else { continue };
            for (position, access) in accesses.iter().enumerate() {
                let Access::Write(guard, place, value) = *access else { continue };
                let guard = self.guard(guard);
                let hit = both(&mut self.solver, self.threads[thread][index].made, guard);
                let write = Write { node: self.threads[thread][index].node, hit, position };
                let (place, value) = (self.place(place), self.terms.bits(2, value.into()));
                self.writes.push(AWrite { write, place, value });
            }
        }
        for (thread, index, step) in program.steps() {
            let made = self.threads[thread][index];
            match &step.op {
                Op::Memory(accesses) => {
                    for (position, access) in accesses.iter().enumerate() {
                        let Access::Read(read, place) = *access else { continue };
                        let place = self.place(place);
                        self.link(made.event(), position, place, self.reads[read]);
                    }
                }
                Op::Await(location, value) => {
                    let variable = self.terms.variable(Sort::Bits(2), "awaited");
                    let place = self.terms.bits(2, *location as u128);
                    self.link(made.event(), 0, place, variable);
                    let value = self.terms.bits(2, (*value).into());
                    let equal = self.terms.eq(variable, value);
                    let equal = self.literal(equal);
                    self.solver.add_clause(&[!made.made, equal]);
                }
                _ => {}
            }
        }
    }

    fn link(&mut self, read: Event, position: usize, place: Term, variable: Term) {
        let mut sources = Sources::new(&mut self.solver, self.encoding, read);
        let mut hits = Vec::new();
        for index in 0..self.writes.len() {
            let same = self.terms.eq(place, self.writes[index].place);
            let same = self.literal(same);
            hits.push(both(&mut self.solver, self.writes[index].write.hit, same));
        }
        let (solver, terms) = (&mut self.solver, &mut self.terms);
        for (AWrite { write, value, .. }, &hit) in self.writes.iter().zip(&hits).rev() {
            if write.node == read.node && write.position < position {
                sources.own_write(solver, hit, |solver, source| solver.equal_if(terms, source, variable, *value));
            }
        }
        for (index, (AWrite { write, value, .. }, &hit)) in self.writes.iter().zip(&hits).enumerate() {
            if write.node == read.node {
                continue;
            }
            let write = Write { hit, ..*write };
            // A write that is said to be no source, twice: that changes nothing.
            if index % 3 == 0 {
                sources.may_be_overwritten_by(solver, write);
            }
            sources.may_copy(solver, write, |solver, source| solver.equal_if(terms, source, variable, *value));
        }
        let zero = terms.bits(2, 0);
        sources.may_be_initial(solver, self.initial, |solver, source| solver.equal_if(terms, source, variable, zero));
        sources.finish(solver, &self.known);
    }

    // --- synchronisation

    fn locks(&mut self, program: &Program) {
        for (thread, index, step) in program.steps() {
            let Op::Lock(lock) = step.op else { continue };
            let mut ends: Vec<End> = Vec::new();
            for later in index + 1..program.threads[thread].len() {
                match program.threads[thread][later].op {
                    Op::Unlock(other) if other == lock => {
                        let event = self.threads[thread][later].event();
                        let earlier = ends.iter().map(|end| !end.event.occurs);
                        let is_first = all(&mut self.solver, earlier.chain([event.occurs]));
                        ends.push(End { event, is_first });
                    }
                    Op::Lock(other) if other == lock => break,
                    _ => {}
                }
            }
            let begin = self.threads[thread][index].event();
            self.sections.push((thread, lock, Section { begin, ends }));
        }
        for (index, (thread, lock, first)) in self.sections.iter().enumerate() {
            for (other, also, second) in &self.sections[index + 1..] {
                if thread != other && lock == also {
                    exclude(&mut self.solver, [first, second], [true; 2]);
                }
            }
        }
        for (thread, index, step) in program.steps() {
            let Op::Busy(lock) = step.op else { continue };
            let attempt = self.threads[thread][index];
            let mut clause = vec![!attempt.made];
            for (other, also, section) in &self.sections {
                if thread != *other && lock == *also {
                    clause.push(held_at(&mut self.solver, &self.known, section, attempt.node));
                }
            }
            self.solver.add_clause(&clause);
        }
    }

    fn conditions(&mut self, program: &Program, matches_exactly: bool) {
        let (mut sleeps, mut signals, mut given_to, mut slept_on) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (thread, index, step) in program.steps() {
            let event = self.threads[thread][index].event();
            match step.op {
                Op::Sleep(condition) => {
                    let wake = Some(self.threads[thread][index + 1].event());
                    sleeps.push(Sleep { since: Some(event.node), occurs: event.occurs, wake, needs_signal: Lit::TRUE });
                    slept_on.push(condition);
                    self.sleeps.push((thread, index, sleeps.len() - 1));
                }
                Op::Signal(condition) | Op::Broadcast(condition) => {
                    signals.push(Signal { event, is_broadcast: matches!(step.op, Op::Broadcast(_)) });
                    given_to.push(condition);
                }
                _ => {}
            }
        }
        let same = |_: &mut Solver, signal: usize, SleepId(sleep)| Lit::from(given_to[signal] == slept_on[sleep]);
        self.signals = Signals::new(&mut self.solver, sleeps, signals, same);
        if matches_exactly {
            self.signals.match_exactly(&mut self.solver, &self.known);
        }
    }

    /// The literal that the thread with an index is the one that a join is of.
    fn is_of(&mut self, chosen_by: usize, of: [usize; 2], thread: usize) -> Lit {
        let [first, second] = of.map(|of| self.terms.bool(of == thread));
        let is_of = self.terms.ite(self.free[chosen_by], first, second);
        self.literal(is_of)
    }

    fn last(&self, thread: usize) -> Event {
        let last = self.threads[thread].last().expect("threads have steps");
        Event { node: last.node, occurs: last.passed }
    }

    fn joins(&mut self, program: &Program) {
        let joins: Vec<_> = program.steps().filter(|(_, _, step)| matches!(step.op, Op::Join(..))).collect();
        let mut joined_by = vec![Vec::new(); program.threads.len()];
        for &(thread, index, step) in &joins {
            let Op::Join(chosen_by, of) = step.op else { continue };
            let event = self.threads[thread][index].event();
            if joins.len() == 1 && program.spawned(of[0]).is_none() && of[0] == of[1] && step.guard == Guard::Always {
                let last = self.last(of[0]);
                follows(&mut self.solver, event, last);
                continue;
            }
            let mut join = Join::new(event);
            for (other, joined_by) in joined_by.iter_mut().enumerate() {
                let is_of = self.is_of(chosen_by, of, other);
                let last = self.last(other);
                let ended = both(&mut self.solver, is_of, last.occurs);
                if ended != Lit::FALSE {
                    join.may_wait_for(&mut self.solver, last.node, ended, joined_by);
                }
            }
            join.finish(&mut self.solver);
        }
    }

    // --- questions

    fn stop(&self, thread: usize, index: usize) -> Stop {
        let steps = &self.threads[thread];
        let last = index.checked_sub(1).map_or(self.begins[thread].occurs, |last| steps[last].passed);
        Stop { last: Some(last), next: steps.get(index).map(|step| step.passed), way: None }
    }

    pub fn outcome(&mut self, program: &Program, outcome: &Outcome) -> Vec<Lit> {
        let mut literals = Vec::new();
        for (variable, term) in self.free.clone().into_iter().enumerate() {
            literals.push(self.literal(term).with_value(outcome.free >> variable & 1 == 1));
        }
        for (thread, &index) in outcome.positions.iter().enumerate() {
            // (A thread that is not started stands at its beginning, too.)
            let stop = self.stop(thread, index);
            let stop = Stop { last: stop.last.filter(|_| index > 0), ..stop };
            literals.extend(stop.conditions());
        }
        for (read, value) in outcome.reads.iter().enumerate() {
            let Some(value) = value else { continue };
            literals.push(self.guard(Guard::Saw(read, *value)));
        }
        for (thread, index, step) in program.steps() {
            let Op::Memory(accesses) = &step.op else { continue };
            for access in accesses {
                if let Access::Read(read, _) = access {
                    let made = self.threads[thread][index].made;
                    literals.push(made.with_value(outcome.reads[*read].is_some()));
                }
            }
        }
        literals
    }

    pub fn stops(&mut self, at: &[(usize, usize)]) -> Vec<Lit> {
        let stop = |&(thread, index): &(usize, usize)| Stop {
            way: Some(self.threads[thread][index].guard),
            ..self.stop(thread, index)
        };
        at.iter().flat_map(|at| stop(at).conditions()).collect()
    }

    pub fn adjacent(&mut self, first: (usize, usize), second: (usize, usize)) -> Lit {
        let [a, b] = [first, second].map(|(thread, index)| self.threads[thread][index]);
        let before =
            second.1.checked_sub(1).map_or(self.begins[second.0].node, |last| self.threads[second.0][last].node);
        let selected = implying_all(&mut self.solver, [a.made, b.made]);
        adjacent(&mut self.solver, selected, a.node, before, b.node);
        selected
    }

    /// The final state: a node behind all that occurs, where words are read.
    fn final_node(&mut self, asked: Lit) -> Node {
        let chain = self.solver.add_chain();
        let node = self.solver.add_node(chain);
        self.solver.add_edge(self.initial, node);
        let occurring = self.threads.iter().flatten().map(|step| Event { node: step.node, occurs: step.passed });
        let occurring: Vec<Event> = occurring.chain(self.begins.iter().copied()).collect();
        order::after_all(&mut self.solver, asked, node, &occurring);
        node
    }

    pub fn all_stuck(&mut self, program: &Program) -> Lit {
        let asked = self.solver.new_literal();
        let moment = self.final_node(asked);
        let mut threads: Vec<Thread> = Vec::new();
        for thread in 0..self.threads.len() {
            let last = self.last(thread);
            let has_ended = has_ended(&mut self.solver, last.occurs, last.node, moment);
            let is_started = match program.spawned(thread) {
                Some((by, index)) => self.threads[by][index].made,
                None => Lit::TRUE,
            };
            threads.push(Thread { is_started, has_ended, stuck: Vec::new() });
        }
        for (thread, index, step) in program.steps() {
            let reasons = match step.op {
                Op::Await(location, value) => vec![!self.is_at_end(asked, moment, location, value)],
                Op::Lock(lock) => self.owners(thread, lock),
                Op::Wake => Vec::new(),
                Op::Join(chosen_by, of) => self.cannot_join(program, (thread, index), chosen_by, of),
                _ => continue,
            };
            let conditions: Vec<Lit> = self.stops(&[(thread, index)]);
            let before = index.checked_sub(1).map_or(self.begins[thread].node, |last| self.threads[thread][last].node);
            let standing = Standing { conditions: &conditions, before: Some((before, moment)) };
            let sleep = self.sleeps.iter().find(|(of, at, _)| *of == thread && at + 1 == index);
            let blocked = match sleep {
                Some(&(_, _, sleep)) => Blocked::Asleep(&self.signals, SleepId(sleep)),
                None => Blocked::One(&reasons),
            };
            let lit = stuck(&mut self.solver, &self.known, standing, blocked);
            threads[thread].stuck.push(lit);
            self.stuck.push((thread, index, lit));
        }
        all_stuck(&mut self.solver, asked, &threads);
        asked
    }

    fn is_at_end(&mut self, asked: Lit, moment: Node, location: usize, value: u8) -> Lit {
        let variable = self.terms.variable(Sort::Bits(2), "last");
        let place = self.terms.bits(2, location as u128);
        self.link(Event { node: moment, occurs: asked }, 0, place, variable);
        let value = self.terms.bits(2, value.into());
        let equal = self.terms.eq(variable, value);
        self.literal(equal)
    }

    /// By section of a lock on other threads: that it does not end.
    fn owners(&mut self, thread: usize, lock: usize) -> Vec<Lit> {
        let sections = self.sections.iter().filter(|(other, also, _)| *other != thread && lock == *also);
        sections.map(|(_, _, section)| held_at_end(&mut self.solver, section)).collect()
    }

    /// Why a join cannot be made: its thread has not ended, or another join has been made.
    fn cannot_join(&mut self, program: &Program, at: (usize, usize), chosen_by: usize, of: [usize; 2]) -> Vec<Lit> {
        let mut reasons = Vec::new();
        for thread in 0..self.threads.len() {
            let is_of = self.is_of(chosen_by, of, thread);
            let not_ended = !self.last(thread).occurs;
            reasons.push(implying_all(&mut self.solver, [is_of, not_ended]));
            for (other, index, step) in program.steps().filter(|(other, index, _)| (*other, *index) != at) {
                let Op::Join(chosen_by, of) = step.op else { continue };
                let is_also_of = self.is_of(chosen_by, of, thread);
                let made = self.threads[other][index].made;
                reasons.push(implying_all(&mut self.solver, [is_of, is_also_of, made]));
            }
        }
        reasons
    }

    pub fn circle(&mut self, program: &Program) -> Lit {
        let mut at_locks = Vec::new();
        for (thread, index, step) in program.steps() {
            let Op::Lock(lock) = step.op else { continue };
            let mut owners = Vec::new();
            for owner in 0..self.threads.len() {
                let own = self.sections.iter().filter(|(of, also, _)| *of == owner && *also == lock && owner != thread);
                let held: Vec<Lit> = own.map(|(_, _, section)| held_at_end(&mut self.solver, section)).collect();
                owners.push((owner, implying_one(&mut self.solver, held)));
            }
            let conditions = self.stops(&[(thread, index)]);
            let standing = Standing { conditions: &conditions, before: None };
            let reasons: Vec<Lit> = owners.iter().map(|(_, owns)| *owns).collect();
            let lit = stuck(&mut self.solver, &Unknown, standing, Blocked::One(&reasons));
            at_locks.push(AtLock { thread, stuck: lit, holders: owners });
        }
        never_released(&mut self.solver, &vec![Lit::FALSE; self.threads.len()], &at_locks)
    }
}
