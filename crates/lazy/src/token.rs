//! Token passing: the constraints between thread models (paper 004, section 5.2, tables 1 to 3).
//!
//! One thread holds the token, the main thread at first. It is passed from a `write_sync` of one thread at depth `h` to a
//! `read_sync` of another at depth `k`. For each such pair there is a literal `RW`:
//!
//! | constraint | here |
//! |---|---|
//! | P1 enabling | `RW` implies that the one thread arrives with the token, and the other one without it |
//! | P2 exclusivity | at most one pair for each `read_sync` and each `write_sync`: ladders that grow with the depth |
//! | P3 update | `RW` implies that the incoming cells are the outgoing ones, that the one acquires and the other releases |
//! | P4 races | `RW`, with conflicting accesses before and after |
//! | S1 no synchronisation | without `RW` the cells stay: they are choices by *acquires* (`unroll`) |
//! | S2 locks, S3 commit, S4 reachability | visible steps are made with the token only (`unroll`, `sync`) |
//! | single token | only the main thread has it at first |
//!
//! The logical clocks of the paper see to it that passing is a total order which agrees with the order of each thread. Here
//! the theory of order does: `RW` is an edge, and a thread's synchronisation points are a chain. Passes lead from one
//! holder to the next, so they are one path; that it has no cycle with the chains says the same as the clocks.
//!
//! Everything is added once, when a depth needs it. What a later depth may add is open behind one literal for each depth,
//! `more`, which is assumed to be false while that depth is the last one.

use crate::layout::ThreadIndex;
use crate::unroll::{ReadSync, Unroller, WriteSync};
use leno_engine::Reported;
use leno_ir::index::IndexVec;
use leno_ir::program::{Op, Place};
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::{Chain, Node};
use leno_logic::solver::Solver;
use leno_logic::term::Term;
use std::collections::{BTreeMap, BTreeSet};

/// A token that may be passed.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub passes: Lit,
    /// Indices of the synchronisation points.
    pub from: usize,
    pub to: usize,
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// A violation, by its index.
    Violation(usize),
    /// A race: the pass, and the footprints of the thread that passes the token and of the one that gets it.
    Race { pass: usize, last: usize, next: usize },
}

/// At most one of a growing number of literals holds; and one does, or there are more to come.
struct Ladder {
    /// That one of those so far holds.
    any: Lit,
    /// That one of those to come holds.
    rest: Lit,
}

impl Ladder {
    fn new(solver: &mut Solver) -> Ladder {
        Ladder { any: Lit::FALSE, rest: solver.new_literal() }
    }

    fn add(&mut self, solver: &mut Solver, lit: Lit) {
        if self.any != Lit::FALSE {
            solver.add_clause(&[!self.any, !lit]);
        }
        let any = solver.new_literal();
        solver.add_clause(&[!self.any, any]);
        solver.add_clause(&[!lit, any]);
        self.any = any;
    }

    /// `rest` so far implies one of these new literals, or a new `rest`.
    fn extend(&mut self, solver: &mut Solver, new: &[Lit]) {
        let rest = solver.new_literal();
        let mut clause = vec![!self.rest, rest];
        clause.extend(new);
        solver.add_clause(&clause);
        self.rest = rest;
    }
}

struct Point {
    node: Node,
    ladder: Ladder,
    /// Of a `read_sync`: that it may be out of order.
    is_exempt: Option<Lit>,
}

/// Which passes are left out, since there are others in their place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Passes between threads that hold the same lock (the paper's MTX).
    pub locksets: bool,
    /// Passes from a step to one of a thread with a smaller number that commutes with it: the other order will do.
    pub order: bool,
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions { locksets: true, order: true }
    }
}

/// What has been counted.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub pairs: u64,
    pub locked_out: u64,
    pub out_of_order: u64,
    pub equalities: u64,
}

pub struct Token {
    pub solver: Solver,
    reductions: Reductions,
    /// At most one pass may be out of order.
    exempt: Ladder,
    chains: IndexVec<ThreadIndex, Chain>,
    reads: Vec<Point>,
    writes: Vec<Point>,
    /// By thread: that it is started.
    starts: IndexVec<ThreadIndex, (Ladder, usize)>,
    pub passes: Vec<Pass>,
    pub goals: Vec<(Goal, Lit)>,
    /// The disjunction of all goals so far.
    goal: Lit,
    /// That undefined values are zero.
    pub plain: Lit,
    undefined: usize,
    constraints: usize,
    violations: usize,
    pub counts: Counts,
}

impl Token {
    pub fn new(unroller: &Unroller<'_>, reductions: Reductions, limits: &Limits) -> Token {
        let mut solver = Solver::default().within(limits);
        let chains = unroller.threads.iter().map(|_| solver.add_chain()).collect();
        let mut starts = IndexVec::new();
        for thread in &unroller.threads {
            let ladder = Ladder::new(&mut solver);
            let started = solver.literal(&unroller.terms, thread.started);
            solver.add_clause(&[!started, ladder.rest]);
            starts.push((ladder, 0));
        }
        let plain = solver.new_literal();
        let exempt = Ladder::new(&mut solver);
        Token {
            solver,
            reductions,
            exempt,
            chains,
            reads: Vec::new(),
            writes: Vec::new(),
            starts,
            passes: Vec::new(),
            goals: Vec::new(),
            goal: Lit::FALSE,
            plain,
            undefined: 0,
            constraints: 0,
            violations: 0,
            counts: Counts::default(),
        }
    }

    /// Adds what unrolling has made since the last time. Gives the literal that is false while this depth is the last one.
    pub fn extend(&mut self, unroller: &mut Unroller<'_>, reported: &BTreeSet<Reported>) -> Lit {
        let old = (self.reads.len(), self.writes.len());
        self.add_points(unroller);
        let mut new_sources: Vec<Vec<Lit>> = vec![Vec::new(); self.reads.len()];
        let mut new_goals = Vec::new();
        for (to, sources) in new_sources.iter_mut().enumerate() {
            let first = if to >= old.0 { 0 } else { old.1 };
            for from in first..unroller.writes.len() {
                if unroller.reads[to].thread != unroller.writes[from].thread && !self.are_locked_out(unroller, from, to)
                {
                    let passes = self.add_pass(unroller, from, to);
                    sources.push(passes);
                    new_goals.extend(self.races(unroller, reported, self.passes.len() - 1));
                }
            }
        }
        let more = self.solver.new_literal();
        for (point, sources) in self.reads.iter_mut().zip(&new_sources) {
            point.ladder.extend(&mut self.solver, sources);
            self.solver.add_clause(&[!point.ladder.rest, more]);
        }
        self.extend_starts(unroller, more);
        self.add_terms(unroller);
        new_goals.extend(self.new_violations(unroller, reported));
        self.extend_goal(new_goals);
        more
    }

    fn add_points(&mut self, unroller: &mut Unroller<'_>) {
        // (In the order of depths, so that the points of a thread are a chain.)
        let mut points: Vec<(u32, bool, usize)> = Vec::new();
        let new_reads = unroller.reads.iter().enumerate().skip(self.reads.len());
        points.extend(new_reads.map(|(index, read)| (read.depth, false, index)));
        let new_writes = unroller.writes.iter().enumerate().skip(self.writes.len());
        points.extend(new_writes.map(|(index, write)| (write.depth, true, index)));
        points.sort_unstable();
        let mut nodes: BTreeMap<(bool, usize), Node> = BTreeMap::new();
        for (_, is_write, index) in points {
            let thread = if is_write { unroller.writes[index].thread } else { unroller.reads[index].thread };
            nodes.insert((is_write, index), self.solver.add_node(self.chains[thread]));
        }
        for ((is_write, index), node) in nodes {
            let ladder = Ladder::new(&mut self.solver);
            if is_write {
                self.writes.push(Point { node, ladder, is_exempt: None });
                continue;
            }
            let thread = unroller.reads[index].thread;
            let ReadSync { arrives, acquires, ref incoming, .. } = unroller.reads[index];
            let acquires = self.solver.literal(&unroller.terms, acquires);
            let arrives = self.solver.literal(&unroller.terms, arrives);
            self.solver.add_clause(&[!acquires, arrives]);
            self.solver.add_clause(&[!acquires, ladder.rest]);
            // A thread that was not started does nothing.
            let started = unroller.layout.thread_cells[thread].started;
            let cell = incoming.iter().find(|(id, cell, _)| id.0 == 0 && *cell == started).map(|(_, _, value)| *value);
            if let (Some(cell), true) = (cell, thread != ThreadIndex(0)) {
                let is_started = unroller.terms.bits_to_bool(cell);
                let is_started = self.solver.literal(&unroller.terms, is_started);
                self.solver.add_clause(&[!acquires, is_started]);
            }
            self.reads.push(Point { node, ladder, is_exempt: None });
        }
    }

    fn add_pass(&mut self, unroller: &mut Unroller<'_>, from: usize, to: usize) -> Lit {
        let passes = self.solver.new_literal();
        self.counts.pairs += 1;
        let (terms, read, write) = (&mut unroller.terms, &unroller.reads[to], &unroller.writes[from]);
        let WriteSync { arrives, releases, ref outgoing, .. } = *write;
        for needed in [arrives, releases, read.acquires] {
            let needed = self.solver.literal(terms, needed);
            self.solver.add_clause(&[!passes, needed]);
        }
        for (id, cell, value) in &read.incoming {
            self.counts.equalities += 1;
            self.solver.equal_if(terms, passes, *value, outgoing[*id][*cell]);
        }
        self.reads[to].ladder.add(&mut self.solver, passes);
        self.writes[from].ladder.add(&mut self.solver, passes);
        self.solver.add_guarded_edge(passes, self.writes[from].node, self.reads[to].node);
        if self.reductions.order {
            self.keep_order(unroller, passes, from, to);
        }
        self.passes.push(Pass { passes, from, to });
        passes
    }

    /// Whether locks keep the one thread from being where the token is released while the other one acquires it.
    fn are_locked_out(&mut self, unroller: &Unroller<'_>, from: usize, to: usize) -> bool {
        let locksets = unroller.efsm.facts.locksets();
        let after = |place: &Place| Place { index: place.index + 1, ..*place };
        // (After a call or at the end of a block, a thread is elsewhere.)
        let goes_on = |place: &Place| match unroller.efsm.instr(*place).map(|instr| &instr.op) {
            None | Some(Op::Call { .. }) => false,
            Some(_) => true,
        };
        let (here, there) = (&unroller.writes[from].places, &unroller.reads[to].places);
        let excluded = self.reductions.locksets
            && here.iter().all(|one| goes_on(one) && there.iter().all(|other| locksets.excludes(after(one), *other)));
        self.counts.locked_out += u64::from(excluded);
        excluded
    }

    /// A step is not followed by one of a thread with a smaller number that commutes with it. Every execution has an
    /// equivalent one in which that is so: the first in the order of thread numbers. What is looked for may need its last
    /// step to be the last one, so one pass is exempt.
    fn keep_order(&mut self, unroller: &mut Unroller<'_>, passes: Lit, from: usize, to: usize) {
        let (write, read) = (&unroller.writes[from], &unroller.reads[to]);
        if read.thread > write.thread {
            return;
        }
        let mut commuting = Vec::new();
        for last in &write.last {
            for next in &read.next {
                let commutes = last.commutes(&mut unroller.terms, next);
                commuting.push(unroller.terms.and(&[last.path, next.path, commutes]));
            }
        }
        let commuting = unroller.terms.or(&commuting);
        if commuting == Term::FALSE {
            return;
        }
        self.counts.out_of_order += 1;
        let commuting = self.solver.literal(&unroller.terms, commuting);
        let is_exempt = match self.reads[to].is_exempt {
            Some(lit) => lit,
            None => {
                let lit = self.solver.new_literal();
                self.exempt.add(&mut self.solver, lit);
                *self.reads[to].is_exempt.insert(lit)
            }
        };
        self.solver.add_clause(&[!passes, !commuting, is_exempt]);
    }

    /// The races that a pass may be.
    fn races(&mut self, unroller: &mut Unroller<'_>, reported: &BTreeSet<Reported>, pass: usize) -> Vec<(Goal, Lit)> {
        let Pass { passes, from, to } = self.passes[pass];
        let mut found = Vec::new();
        if !unroller.properties.race {
            return found;
        }
        for last in 0..unroller.writes[from].last.len() {
            for next in 0..unroller.reads[to].next.len() {
                let (first, second) = (&unroller.writes[from].last[last], &unroller.reads[to].next[next]);
                let spans = [first.place, second.place].map(|place| unroller.efsm.span(place));
                if !first.may_race(second) || reported.contains(&Reported::race(spans[0], spans[1])) {
                    continue;
                }
                let overlaps = first.overlaps(&mut unroller.terms, second);
                let both = unroller.terms.and(&[first.path, second.path, overlaps]);
                let existed = existed_before(unroller, from, unroller.reads[to].thread);
                let both = unroller.terms.and2(both, existed);
                if both == Term::FALSE {
                    continue;
                }
                let (both, goal) = (self.solver.literal(&unroller.terms, both), self.solver.new_literal());
                self.solver.add_clause(&[!goal, passes]);
                self.solver.add_clause(&[!goal, both]);
                found.push((Goal::Race { pass, last, next }, goal));
            }
        }
        found
    }

    fn extend_starts(&mut self, unroller: &Unroller<'_>, more: Lit) {
        for (thread, model) in unroller.threads.iter_enumerated() {
            let (ladder, seen) = &mut self.starts[thread];
            let new: Vec<Lit> =
                model.starts[*seen..].iter().map(|start| self.solver.literal(&unroller.terms, *start)).collect();
            *seen = model.starts.len();
            if thread != ThreadIndex(0) {
                ladder.extend(&mut self.solver, &new);
                self.solver.add_clause(&[!ladder.rest, more]);
            }
        }
    }

    fn add_terms(&mut self, unroller: &mut Unroller<'_>) {
        for constraint in unroller.constraints.iter().skip(self.constraints) {
            self.solver.assert(&unroller.terms, *constraint);
        }
        self.constraints = unroller.constraints.len();
        for index in self.undefined..unroller.undefined.len() {
            let value = unroller.undefined[index];
            let zero = unroller.terms.bits(unroller.terms.width(value), 0);
            self.solver.equal_if(&mut unroller.terms, self.plain, value, zero);
        }
        self.undefined = unroller.undefined.len();
    }

    fn new_violations(&mut self, unroller: &Unroller<'_>, reported: &BTreeSet<Reported>) -> Vec<(Goal, Lit)> {
        let mut found = Vec::new();
        for (index, violation) in unroller.violations.iter().enumerate().skip(self.violations) {
            if !reported.contains(&Reported::violation(unroller.efsm.span(violation.place))) {
                let lit = self.solver.literal(&unroller.terms, violation.condition);
                found.push((Goal::Violation(index), lit));
            }
        }
        self.violations = unroller.violations.len();
        found
    }

    fn extend_goal(&mut self, new: Vec<(Goal, Lit)>) {
        if new.is_empty() {
            return;
        }
        let goal = self.solver.new_literal();
        let mut clause = vec![!goal, self.goal];
        clause.extend(new.iter().map(|(_, lit)| *lit));
        self.solver.add_clause(&clause);
        self.goal = goal;
        self.goals.extend(new);
    }

    /// Whether there is an execution with a violation, with undefined values that are zero or any.
    pub fn solve(&mut self, more: Lit, is_plain: bool, limits: &Limits) -> Answer {
        if self.goal == Lit::FALSE {
            return Answer::Unsatisfiable;
        }
        let mut assumptions = vec![!more, self.goal];
        assumptions.extend(is_plain.then_some(self.plain));
        self.solver.solve(&assumptions, limits)
    }

    /// Whether there is an execution in which something holds.
    pub fn can_hold(&mut self, unroller: &Unroller<'_>, more: Lit, condition: Term, limits: &Limits) -> Answer {
        if condition == Term::FALSE {
            return Answer::Unsatisfiable;
        }
        let condition = self.solver.literal(&unroller.terms, condition);
        self.solver.solve(&[!more, condition], limits)
    }

    /// A goal that the model reaches.
    pub fn reached(&mut self) -> Option<Goal> {
        self.goals.iter().find(|(_, lit)| self.solver.value(*lit)).map(|(goal, _)| *goal)
    }
}

/// That a thread was started before the step after which a token may be released.
fn existed_before(unroller: &mut Unroller<'_>, from: usize, thread: ThreadIndex) -> Term {
    let starts = unroller.writes[from].starts.iter().filter(|(started, _)| *started == thread);
    let started: Vec<Term> = starts.map(|(_, condition)| *condition).collect();
    let started = unroller.terms.or(&started);
    unroller.terms.not(started)
}
