//! Blocks and loops in order: a loop is executed again and again, until nothing is left in it or its bound is reached.
//!
//! A loop that only waits (reads shared memory, changes nothing, and comes back in the state it began in) need not be executed again:
//! what a later round may do, this one may do then. More generally, the paths of a round on which nothing was done and
//! nothing has changed are left out. Coming back on them is not a path; the thread waits.

use crate::liveness::Live;
use crate::nesting::{Element, Loop};
use crate::objects::InstanceId;
use crate::skeleton::Bounded;
use crate::state::State;
use crate::summarize::{Frame, Refused, Shape, Summarizer};
use crate::trail::is_balanced;
use leno_ir::program::BlockId;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use leno_logic::term::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Iterations of a loop whose condition is constant count for one of others.
const CONSTANT_ROUNDS: u32 = 10_000;
/// The same, if others can see what it does.
const EVENTFUL_ROUNDS: u32 = 32;
/// How often such loops go round in a sprint.
const SPRINT_ROUNDS: u32 = 2;
/// How long to think about whether a loop waits.
const QUICKLY: Duration = Duration::from_millis(20);

/// A loop that is being executed.
pub(crate) struct Running {
    blocks: Vec<BlockId>,
    /// Whether staying in it or leaving it has depended on what reads and inputs give, in this round.
    is_decided: bool,
}

impl Frame {
    /// Where to go from here depends on what reads and inputs give. Whether that is staying in a loop or leaving it.
    pub(crate) fn note_decision(&mut self, targets: &[BlockId]) -> bool {
        let mut decides = false;
        for running in &mut self.loops {
            let stays = |target: &BlockId| running.blocks.binary_search(target).is_ok();
            let decides_this = targets.iter().any(stays) && !targets.iter().all(stays);
            running.is_decided |= decides_this;
            decides |= decides_this;
        }
        decides
    }

    fn take_decided(&mut self) -> bool {
        self.loops.last_mut().is_some_and(|running| std::mem::take(&mut running.is_decided))
    }
}

impl Summarizer<'_> {
    pub(crate) fn run_elements(
        &mut self,
        shape: &Shape,
        elements: &[Element],
        frame: &mut Frame,
    ) -> Result<(), Refused> {
        for element in elements {
            match element {
                Element::Block(block) => {
                    if let Some(states) = frame.pending.remove(block)
                        && let Some(state) = self.merge(states)?
                    {
                        self.run_block(frame, *block, state)?;
                    }
                }
                Element::Loop(inner) => self.run_loop(shape, inner, frame)?,
            }
        }
        Ok(())
    }

    pub(crate) fn run_loop(&mut self, shape: &Shape, inner: &Loop, frame: &mut Frame) -> Result<(), Refused> {
        let what = Bounded::Loop(frame.func, inner.head);
        let (mut rounds, mut decided, mut eventful) = (0, 0, 0);
        frame.loops.push(Running { blocks: inner.blocks.clone(), is_decided: false });
        let mut before: Option<State> = None;
        let mut before_rest: Option<(BlockId, State)> = None;
        let always = self.terms.bool(true);
        let (mut was_active, mut was_active_inside) = (always, always);
        while inner.blocks.iter().any(|block| frame.pending.contains_key(block)) {
            if (self.interrupted)() {
                return Err(Refused::new("interrupted"));
            }
            let states = frame.pending.remove(&inner.head).unwrap_or_default();
            let mut head = self.merge(states)?;
            if let (Some(now), Some(last)) = (&head, &before) {
                decided += u32::from(frame.take_decided() || !inner.has_exit);
                head =
                    self.without_waiting(now.clone(), last, frame, &shape.live[inner.head.0 as usize], &mut was_active);
                if head.is_none() {
                    before = None;
                    continue;
                }
            }
            let bound = self.bounds.of(what);
            if decided > bound || eventful / EVENTFUL_ROUNDS >= bound || rounds / CONSTANT_ROUNDS > bound {
                self.cut_loop(what, &inner.blocks, head, frame);
                break;
            }
            before = head.clone();
            let nodes = self.skeleton.nodes.len();
            if let Some(head) = head {
                frame.pending.insert(inner.head, vec![head]);
            }
            // Once more after the head: now those who leave there are gone.
            let (first, rest) = inner.elements.split_at(1);
            self.run_elements(shape, first, frame)?;
            if self.bounds.is_sprint && (decided >= 1 || eventful >= SPRINT_ROUNDS) {
                self.is_cut_short |= inner.blocks.iter().any(|block| frame.pending.contains_key(block));
                self.cut_loop(what, &inner.blocks, None, frame);
                break;
            }
            let mut inside = inner.blocks.iter().filter(|block| frame.pending.contains_key(block));
            if let (Some(&block), None) = (inside.next(), inside.next())
                && block != inner.head
                && let Some(state) = self.merge(frame.pending.remove(&block).unwrap_or_default())?
            {
                let mut left = Some(state.clone());
                if let Some((_, last)) = before_rest.take_if(|(last, _)| *last == block) {
                    left = self.without_waiting(
                        state.clone(),
                        &last,
                        frame,
                        &shape.live[block.0 as usize],
                        &mut was_active_inside,
                    );
                }
                before_rest = left.clone().map(|state| (block, state));
                left.into_iter().for_each(|state| frame.pending.entry(block).or_default().push(state));
            }
            self.run_elements(shape, rest, frame)?;
            rounds += 1;
            eventful += u32::from(self.skeleton.nodes.len() > nodes);
        }
        frame.loops.pop();
        Ok(())
    }

    /// Nobody goes on in a loop: neither a state at its head, nor what waits to be executed in it.
    fn cut_loop(&mut self, what: Bounded, blocks: &[BlockId], head: Option<State>, frame: &mut Frame) {
        let mut left: Vec<State> = head.into_iter().collect();
        for block in blocks {
            left.extend(frame.pending.remove(block).unwrap_or_default());
        }
        for state in left {
            self.cut(state.path, what);
        }
    }

    /// A state that a loop has come back in, without the paths on which it has only waited since `then`: those on which nothing
    /// has changed. None if there are no others. `was_active`: the condition that it did not only wait in the round before.
    pub(crate) fn without_waiting(
        &mut self,
        mut now: State,
        then: &State,
        frame: &Frame,
        live: &Live,
        was_active: &mut Term,
    ) -> Option<State> {
        let always = self.terms.bool(true);
        let last_active = std::mem::replace(was_active, always);
        let Some(different) = self.differences(&now, then, frame, live) else { return Some(now) };
        if self.terms.as_bool(different) == Some(true) {
            return Some(now);
        }
        let (effects, locks) = now.trail.since(&then.trail);
        let mut active = self.terms.or(&effects);
        let idle = self.terms.not(active);
        let idle = self.terms.and2(now.path, idle);
        let known = self.forgotten(then, live);
        if self.terms.as_bool(idle) == Some(false) || !self.is_impossible(&[idle, different], &known) {
            return Some(now);
        }
        let mut deeds = Vec::new();
        for (deed, condition) in locks {
            let together = self.terms.and2(now.path, condition);
            if together == now.path || !self.is_impossible(&[idle, condition], &known) {
                deeds.push(deed);
            }
        }
        if !is_balanced(&deeds) {
            return Some(now);
        }
        *was_active = active;
        if !deeds.is_empty() {
            // The first round in which a lock is given up matters: it lets others in.
            active = self.terms.or2(active, last_active);
        }
        now.path = self.terms.and2(now.path, active);
        (!self.is_impossible(&[now.path], &known)).then_some(now)
    }

    /// How to forget where the values of a state came from: its path is possible, and what is in its registers may be anything.
    pub(crate) fn forgotten(&mut self, state: &State, live: &Live) -> FxHashMap<Term, Term> {
        let mut forgotten = FxHashMap::default();
        for value in state.locals.iter().zip(&live.registers).filter_map(|(value, live)| value.filter(|_| *live)) {
            if self.terms.as_bits(value).is_none() {
                let anything = self.terms.variable(self.terms.sort(value), "anything");
                forgotten.insert(value, anything);
            }
        }
        forgotten.insert(state.path, self.terms.bool(true));
        forgotten
    }

    /// Whether terms cannot hold together, whatever reads and inputs give, and whatever the terms are that are forgotten. (False if
    /// that is not found out quickly.)
    pub(crate) fn is_impossible(&mut self, conditions: &[Term], forgotten: &FxHashMap<Term, Term>) -> bool {
        let all = self.terms.and(conditions);
        if self.terms.as_bool(all) == Some(false) {
            return true;
        }
        let all = self.terms.substitute(all, forgotten);
        let all = self.expanded(all);
        let all = self.without_hard_arithmetic(all);
        if let Some(known) = self.terms.as_bool(all) {
            return !known;
        }
        let mut solver = Solver::default();
        solver.assert(&self.terms, all);
        let quickly = Limits::until(Instant::now() + QUICKLY);
        solver.solve(&[], &quickly) == Answer::Unsatisfiable
    }

    /// The same, but quotients and products of what is not constant may be anything: to look into them takes longer than the answer is worth.
    fn without_hard_arithmetic(&mut self, term: Term) -> Term {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut anything: FxHashMap<Term, Term> = FxHashMap::default();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            match self.terms.node(next) {
                Node::Mul(a, _) if self.terms.as_bits(a).is_some() => {}
                Node::Mul(..) | Node::Udiv(..) | Node::Urem(..) | Node::UmulOverflow(..) | Node::SmulOverflow(..) => {
                    let any = self.terms.variable(self.terms.sort(next), "anything");
                    anything.insert(next, any);
                    continue;
                }
                _ => {}
            }
            open.extend(self.terms.node(next).operands());
        }
        if anything.is_empty() { term } else { self.terms.substitute(term, &anything) }
    }

    /// The condition that a state differs from an earlier one at the same place in something that matters there; None if it
    /// always does.
    pub(crate) fn differences(&mut self, now: &State, then: &State, frame: &Frame, live: &Live) -> Option<Term> {
        if now.section != then.section || now.memory.dead != then.memory.dead || now.reading != then.reading {
            return None;
        }
        let registers = now.locals.iter().zip(then.locals.iter()).zip(&live.registers);
        let mut different: Vec<(Option<Term>, Option<Term>)> = registers
            .filter(|((now, then), live)| **live && now != then)
            .map(|((now, then), _)| (*now, *then))
            .collect();
        let empty = Rc::default();
        let ids: BTreeSet<InstanceId> = now.memory.objects.keys().chain(then.memory.objects.keys()).copied().collect();
        for id in ids {
            let is_dead = frame.slots.iter().zip(&live.slots).any(|(slot, live)| *slot == id && !live);
            let (now, then) = (now.memory.objects.get(&id), then.memory.objects.get(&id));
            match now.unwrap_or(&empty).differences(then.unwrap_or(&empty)) {
                _ if is_dead => {}
                Some(found) => different.extend(found),
                None => return None,
            }
        }
        let mut unequal = Vec::new();
        for pair in different {
            let (Some(now), Some(then)) = pair else { return None };
            let same = self.terms.eq(now, then);
            unequal.push(self.terms.not(same));
        }
        Some(self.terms.or(&unequal))
    }
}
