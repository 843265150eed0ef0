//! Unrolling: blocks are executed in order, and a loop again and again, until no state is left in it or its bound is
//! reached.
//!
//! A loop that only waits (it reads shared memory, has no side effects, and comes back in the state it began in) need
//! not be executed again: what a later iteration may do, this one may do at that time. More generally, the paths of an
//! iteration without side effects and without a change of the state are left out: the thread waits instead.

use crate::bound::BoundSite;
use crate::facts::FunctionShape;
use crate::skeleton::layout::InstanceId;
use crate::summarize::side_effects::{SideEffect, is_balanced};
use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::analysis::liveness::Live;
use leno_ir::analysis::weak_topological_order::{Element, Loop};
use leno_ir::index::Idx;
use leno_ir::program::BlockId;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use leno_logic::term::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// So many iterations of a loop with a constant condition count as one.
const CONSTANT_ROUNDS: u32 = 10_000;
/// The same, if other threads can observe them.
const EVENTFUL_ROUNDS: u32 = 32;
/// Iterations of such a loop in a cheap first round.
const CHEAP_ROUNDS: u32 = 2;
/// Conflicts of the question whether a loop waits. Hardly any needs a hundred.
const MOST_CONFLICTS: u64 = 2_000;

/// The state in which an iteration began, and the first object that was made since.
pub(crate) struct Earlier {
    state: State,
    first_new: InstanceId,
}

/// A loop that is being executed.
pub(crate) struct RunningLoop {
    blocks: Vec<BlockId>,
    /// Whether this iteration's decision to stay in it or to leave it depended on reads or inputs.
    is_decided: bool,
}

impl Frame {
    /// Notes that a branch depends on reads or inputs. Returns whether it decides between staying in a loop and leaving
    /// it.
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

impl Execution<'_> {
    pub(crate) fn run_elements(
        &mut self,
        shape: &FunctionShape,
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

    pub(crate) fn run_loop(&mut self, shape: &FunctionShape, inner: &Loop, frame: &mut Frame) -> Result<(), Refused> {
        let what = BoundSite::Loop(frame.func, inner.head);
        let (mut rounds, mut decided, mut eventful) = (0, 0, 0);
        frame.loops.push(RunningLoop { blocks: inner.blocks.clone(), is_decided: false });
        let mut before: Option<Earlier> = None;
        let mut before_rest: Option<(BlockId, Earlier)> = None;
        let always = self.terms.bool(true);
        let (mut was_active, mut was_active_inside) = (always, always);
        while inner.blocks.iter().any(|block| frame.pending.contains_key(block)) {
            if self.question.is_interrupted() {
                return Err(Refused::new("interrupted"));
            }
            let states = frame.pending.remove(&inner.head).unwrap_or_default();
            let mut head = self.merge(states)?;
            if let (Some(now), Some(last)) = (&head, &before) {
                decided += u32::from(frame.take_decided() || !inner.has_exit);
                head = self.without_waiting(now.clone(), last, frame, &shape.live[inner.head.index()], &mut was_active);
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
            before = head.clone().map(|state| self.earlier(state));
            let nodes = self.skeleton.nodes.len();
            if let Some(head) = head {
                frame.pending.insert(inner.head, vec![head]);
            }
            // The same once more after the head: the states that leave the loop there are gone now.
            let (first, rest) = inner.elements.split_at(1);
            self.run_elements(shape, first, frame)?;
            if self.bounds.is_cheap_round && (decided >= 1 || eventful >= CHEAP_ROUNDS) {
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
                        &shape.live[block.index()],
                        &mut was_active_inside,
                    );
                }
                before_rest = left.clone().map(|state| (block, self.earlier(state)));
                left.into_iter().for_each(|state| frame.pending.entry(block).or_default().push(state));
            }
            self.run_elements(shape, rest, frame)?;
            rounds += 1;
            eventful += u32::from(self.skeleton.nodes.len() > nodes);
        }
        frame.loops.pop();
        Ok(())
    }

    /// Cuts a loop: the state at its head, and all states that are still to be executed in it, end here.
    fn cut_loop(&mut self, what: BoundSite, blocks: &[BlockId], head: Option<State>, frame: &mut Frame) {
        let mut left: Vec<State> = head.into_iter().collect();
        for block in blocks {
            left.extend(frame.pending.remove(block).unwrap_or_default());
        }
        for state in left {
            self.cut(state.path, what);
        }
    }

    fn earlier(&self, state: State) -> Earlier {
        Earlier { state, first_new: self.layout.next() }
    }

    /// The state in which a loop comes back, without the paths on which it has only waited since `then`. None if there
    /// are no others. `was_active`: the condition that it did not only wait in the iteration before.
    pub(crate) fn without_waiting(
        &mut self,
        mut now: State,
        earlier: &Earlier,
        frame: &Frame,
        live: &Live,
        was_active: &mut Term,
    ) -> Option<State> {
        let always = self.terms.bool(true);
        let last_active = std::mem::replace(was_active, always);
        let Some(different) = self.differences(&now, earlier, frame, live) else { return Some(now) };
        let then = &earlier.state;
        if self.terms.as_bool(different) == Some(true) {
            return Some(now);
        }
        let (effects, locks) = now.side_effects.since(&then.side_effects);
        let mut active = self.terms.or(&effects);
        let mut idle = self.terms.not(active);
        idle = self.terms.and2(now.path, idle);
        let known = self.forgotten(then, live);
        if self.terms.as_bool(idle) == Some(false) {
            return Some(now);
        }
        if !self.is_impossible(&[idle, different], &known) {
            // On some paths the iteration has changed the state, and on the others it has only waited, if there are any.
            active = self.terms.or2(active, different);
            idle = self.terms.not(active);
            idle = self.terms.and2(now.path, idle);
            if self.is_impossible(&[idle], &known) {
                return Some(now);
            }
        }
        let mut on_locks: Vec<(SideEffect, Term)> = Vec::new();
        for (effect, condition) in locks {
            let together = self.terms.and2(now.path, condition);
            match together == now.path {
                true => on_locks.push((effect, Term::TRUE)),
                false if self.is_impossible(&[idle, condition], &known) => {}
                false => on_locks.push((effect, condition)),
            }
        }
        let is_same = |(a, b): (Term, Term)| {
            let differ = self.terms.xor(a, b);
            self.is_impossible(&[idle, differ], &known)
        };
        if !is_balanced(&on_locks, is_same) {
            return Some(now);
        }
        *was_active = active;
        if !on_locks.is_empty() {
            // The first iteration that releases a lock matters: it lets other threads in.
            active = self.terms.or2(active, last_active);
        }
        now.path = self.terms.and2(now.path, active);
        (!self.is_impossible(&[now.path], &known)).then_some(now)
    }

    /// A substitution that forgets the history of a state: its path is possible, and its registers have any values.
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

    /// Whether terms cannot hold together, for any values of reads, inputs and forgotten terms. (False if that takes
    /// too many conflicts to find out.)
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
        solver.solve(&[], &Limits::default().with_conflicts(MOST_CONFLICTS)) == Answer::Unsatisfiable
    }

    /// The term with unconstrained values for products and quotients of variables: deciding these takes longer than the
    /// answer is worth.
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

    /// The condition that a state differs from an earlier one at the same program point in a value that is live there;
    /// None if it always does.
    pub(crate) fn differences(&mut self, now: &State, earlier: &Earlier, frame: &Frame, live: &Live) -> Option<Term> {
        let Earlier { state: then, first_new } = earlier;
        // Functions that the iteration has called have returned: what they had for themselves is gone.
        let is_gone = |id: &InstanceId| id >= first_new && self.is_slot(*id);
        let dead = |state: &'_ State| -> Vec<(InstanceId, Term)> {
            state.memory.dead.iter().filter(|(id, _)| !is_gone(id)).map(|(id, when)| (*id, *when)).collect()
        };
        if now.section != then.section || now.reading != then.reading || dead(now) != dead(then) {
            return None;
        }
        let registers = now.locals.iter().zip(then.locals.iter()).zip(&live.registers);
        let mut different: Vec<(Option<Term>, Option<Term>)> = registers
            .filter(|((now, then), live)| **live && now != then)
            .map(|((now, then), _)| (*now, *then))
            .collect();
        let empty = Rc::default();
        let ids = now.memory.objects.keys().chain(then.memory.objects.keys()).filter(|id| !is_gone(id));
        let ids: BTreeSet<InstanceId> = ids.copied().collect();
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
