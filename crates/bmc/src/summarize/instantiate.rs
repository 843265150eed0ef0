//! Instantiating the summary of a function at a call (paper 000, appendix: rule FUNC-CALL).
//!
//! The arguments, the path condition, the number of the thread and the contents of private memory replace the variables
//! that stood for them; every other variable of the summary (values of reads and inputs, whether a step occurs) is
//! replaced by a fresh one. Events that cannot occur in this call are left out. Three kinds of variables are not always
//! fresh: an allocation has an address now, the validity of an access may be known now that its address is, and a word
//! has one value at the deadlock point for all steps that wait for it.

use crate::skeleton::layout::InstanceId;
use crate::skeleton::{Event, NodeId, Skeleton, ThreadIndex, Unit, Until};
use crate::summarize::function_summary::{Allocation, Exit, FunctionSummary};
use crate::summarize::state::State;
use crate::summarize::sync_words::DeadlockRead;
use crate::summarize::{Execution, Refused};
use leno_ir::analysis::points_to::ObjectSet;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::IndexVec;
use leno_logic::term::{Filled, Term, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl Execution<'_> {
    /// Whether the assumptions of a summary hold at a call in this state.
    pub(crate) fn is_applicable(&mut self, summary: &FunctionSummary, state: &State) -> bool {
        let is_dead = |id: &InstanceId| state.memory.dead.contains_key(id);
        if summary.open.touched.iter().any(is_dead) {
            return false;
        }
        summary.open.touched.iter().for_each(|id| self.borrow(*id));
        summary.open.assumed.iter().all(|id| self.is_surely_alive(*id))
    }

    /// Goes from the state before a call to the one after it. None if the function does not return.
    pub(crate) fn instantiate(
        &mut self,
        summary: &FunctionSummary,
        args: &[Option<Term>],
        mut state: State,
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        if self.question.is_interrupted() {
            return Err(Refused::new("interrupted"));
        }
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        known.insert(summary.entered, state.path);
        known.insert(summary.open.me, self.me());
        for (index, (parameter, value)) in summary.open.parameters.iter().zip(args).enumerate() {
            let (Some(parameter), Some(value)) = (parameter, value) else { continue };
            known.insert(*parameter, *value);
            if summary.open.steering[index] {
                self.steer(*value)?;
            }
        }
        for (&(id, offset, bytes), &variable) in &summary.open.borrowed {
            let value = self.read_cell(&mut state, id, offset, bytes)?;
            known.insert(variable, value);
        }
        for (&lock, &variable) in &summary.open.reading {
            let value = self.reading(&state.reading, lock);
            known.insert(variable, value);
        }
        let mut terms = std::mem::take(&mut self.terms);
        let filled = self.fill(&mut terms, summary, &known);
        self.terms = terms;
        let filled = filled?;
        let mut skeleton = summary.skeleton.clone();
        skeleton.replace(|term| filled.of(term));
        self.narrow_targets(&mut skeleton);
        self.last = self.skeleton.append(skeleton, self.thread, self.last);
        let Some(exit) = &summary.exit else { return Ok(None) };
        Ok(self.leave(exit, &filled, state))
    }

    fn fill<'s>(
        &mut self,
        terms: &mut Terms,
        summary: &'s FunctionSummary,
        known: &FxHashMap<Term, Term>,
    ) -> Result<Filled<'s>, Refused> {
        let mut refused = None;
        let allocations: FxHashMap<Term, &Allocation> =
            summary.open.allocations.iter().map(|allocation| (allocation.address, allocation)).collect();
        let checks: FxHashMap<Term, usize> =
            summary.skeleton.checks.iter().enumerate().map(|(index, check)| (check.valid, index)).collect();
        let deadlock_reads: FxHashMap<Term, &DeadlockRead> =
            summary.deadlock_reads.iter().map(|look| (look.value, look)).collect();
        let filled = summary.pattern.fill(terms, |terms, filled, variable| {
            if let Some(value) = known.get(&variable) {
                return *value;
            }
            if let Some(allocation) = allocations.get(&variable)
                && filled.of(allocation.path) != Term::FALSE
            {
                let path = filled.of(allocation.path);
                return self.allocate_again(terms, allocation, path).unwrap_or_else(|error| {
                    refused = Some(error);
                    variable
                });
            }
            if let Some(&check) = checks.get(&variable) {
                let check = &summary.skeleton.checks[check];
                let address = terms.as_bits(filled.of(check.address));
                if address.is_some_and(|address| self.is_surely_good(address as u64, check.bytes, check.writes)) {
                    return Term::TRUE;
                }
            }
            if let Some(look) = deadlock_reads.get(&variable) {
                let address = filled.of(look.address);
                if let Some(value) = self.deadlock_words.by_address.get(&address) {
                    return *value;
                }
                let value = fresh(terms, variable);
                let targets = self.targets(terms, &[address]).unwrap_or_else(|| look.targets.clone());
                self.deadlock_words.add(DeadlockRead { address, value, targets });
                return value;
            }
            fresh(terms, variable)
        });
        match refused {
            Some(refused) => Err(refused),
            None => Ok(filled),
        }
    }

    /// The address of this call's own instance.
    fn allocate_again(&mut self, terms: &mut Terms, allocation: &Allocation, path: Term) -> Result<Term, Refused> {
        if let Some(recording) = &mut self.recording {
            let address = fresh(terms, allocation.address);
            recording.allocations.push(Allocation { address, path, ..*allocation });
            return Ok(address);
        }
        let id = self.layout.add(allocation.what, allocation.size, allocation.initial, true, false)?;
        let base = self.layout.get(id).base;
        Ok(self.layout.pointer(terms, base))
    }

    /// Whether an access to this address is valid, whatever other threads do.
    fn is_surely_good(&mut self, address: u64, bytes: u64, writes: bool) -> bool {
        let Some(id) = self.layout.at(address) else { return false };
        let instance = self.layout.get(id);
        let end = address.wrapping_sub(instance.base).checked_add(bytes);
        let is_inside = end.is_some_and(|end| end <= instance.size) && instance.extent.is_none();
        let is_special = instance.is_function || instance.is_heap || (writes && instance.is_constant);
        is_inside && !is_special && instance.sharing == Sharing::Shared && self.is_surely_alive(id)
    }

    /// The objects at these addresses, if all of them are known.
    fn targets(&self, terms: &Terms, addresses: &[Term]) -> Option<ObjectSet> {
        let object = |address: &Term| {
            let id = self.layout.at(terms.as_bits(*address)? as u64)?;
            Some(self.layout.get(id).object)
        };
        addresses.iter().map(object).collect()
    }

    /// Makes the sets of accessed objects smaller where addresses are known now.
    fn narrow_targets(&self, skeleton: &mut Skeleton) {
        let addresses =
            |event: &Event| -> Vec<Term> { event.reads.iter().chain(&event.writes).map(|unit| unit.address).collect() };
        for event in skeleton.events.iter_mut() {
            if let Some(targets) = self.targets(&self.terms, &addresses(event)) {
                event.targets = targets;
            }
        }
        for check in &mut skeleton.checks {
            if let Some(targets) = self.targets(&self.terms, &[check.address]) {
                check.targets = targets;
            }
        }
        for free in &mut skeleton.frees {
            if let Some(targets) = self.targets(&self.terms, &[free.address]) {
                free.targets = targets;
            }
        }
    }

    /// The state after the call.
    fn leave(&mut self, exit: &Exit, filled: &Filled<'_>, mut state: State) -> Option<(State, Option<Term>)> {
        state.path = filled.of(exit.path);
        if state.path == Term::FALSE {
            return None;
        }
        for &(id, offset, bytes, value) in &exit.cells {
            let cells = state.memory.objects.entry(id).or_default();
            Rc::make_mut(cells).write(&mut self.terms, offset, bytes, filled.of(value));
        }
        for (effect, condition) in &exit.side_effects {
            let condition = filled.of(*condition);
            if condition != Term::FALSE {
                state.side_effects.push(effect.map(|lock| filled.of(lock)), condition);
            }
        }
        for &(lock, value) in &exit.reading {
            Rc::make_mut(&mut state.reading).insert(lock, filled.of(value));
        }
        Some((state, exit.result.map(|value| filled.of(value))))
    }
}

/// Another variable of the same sort and name.
fn fresh(terms: &mut Terms, variable: Term) -> Term {
    let name = terms.name(variable).unwrap_or_default().to_string();
    terms.variable(terms.sort(variable), name)
}

impl Skeleton {
    /// Adds what a call does to what its thread has done up to `last`. Gives the thread's last node now.
    fn append(&mut self, mut call: Skeleton, thread: ThreadIndex, last: NodeId) -> NodeId {
        call.remove_impossible();
        let nodes = call.place(self, thread, last);
        let at = |node: NodeId| nodes[node];
        let sleeps = self.sleeps.len() as u32;
        for event in call.events.iter_mut() {
            (event.node, event.thread) = (at(event.node), thread);
        }
        for violation in call.violations.iter_mut() {
            (violation.after, violation.thread) = (at(violation.after), thread);
            violation.at = violation.at.map(at);
        }
        call.cuts.iter_mut().for_each(|cut| cut.after = at(cut.after));
        call.checks.iter_mut().for_each(|check| check.node = at(check.node));
        call.frees.iter_mut().for_each(|free| free.node = at(free.node));
        for join in &mut call.joins {
            join.node = at(join.node);
            join.at_once = join.at_once.map(|(term, node)| (term, at(node)));
        }
        call.section_splits
            .iter_mut()
            .for_each(|split| (split.first, split.second) = (at(split.first), at(split.second)));
        call.stops.iter_mut().for_each(|stop| stop.section = at(stop.section));
        for (node, section) in &call.sections {
            // (A node of a section at which nothing happens is replaced by an earlier one, which may be of another
            // section.)
            self.sections.entry(at(*node)).or_insert(at(*section));
        }
        for wait in &mut call.waits {
            (wait.after, wait.thread) = (at(wait.after), thread);
            if let Until::Signal(sleep) = &mut wait.until {
                sleep.0 += sleeps;
            }
        }
        for sleep in call.sleeps.iter_mut() {
            (sleep.node, sleep.thread) = (at(sleep.node), thread);
            sleep.wake = sleep.wake.map(|(node, path)| (at(node), path));
        }
        call.fences.iter_mut().for_each(|fence| fence.node = at(fence.node));
        call.signals.iter_mut().for_each(|signal| signal.node = at(signal.node));
        call.waiters.iter_mut().for_each(|waiter| waiter.thread = thread);
        call.steps.iter_mut().for_each(|step| step.node = at(step.node));
        call.exits.iter_mut().for_each(|(_, node)| *node = at(*node));
        self.events.extend(call.events.into_vec());
        self.violations.extend(call.violations.into_vec());
        self.cuts.append(&mut call.cuts);
        self.checks.append(&mut call.checks);
        self.sizes.append(&mut call.sizes);
        self.frees.append(&mut call.frees);
        self.joins.append(&mut call.joins);
        self.section_splits.append(&mut call.section_splits);
        self.stops.append(&mut call.stops);
        self.waits.append(&mut call.waits);
        self.sleeps.extend(call.sleeps.into_vec());
        self.fences.append(&mut call.fences);
        self.signals.append(&mut call.signals);
        self.waiters.append(&mut call.waiters);
        self.steps.append(&mut call.steps);
        self.exits.append(&mut call.exits);
        self.constraints.append(&mut call.constraints);
        self.no_input.append(&mut call.no_input);
        self.doubts.append(&mut call.doubts);
        let inputs = call.threads.iter_mut().flat_map(|caller| std::mem::take(&mut caller.inputs));
        self.threads[thread].inputs.extend(inputs);
        nodes.iter().next_back().copied().unwrap_or(last)
    }

    /// Leaves out what never occurs, except sleeps, whose ids are used elsewhere.
    fn remove_impossible(&mut self) {
        let can = |condition: Term| condition != Term::FALSE;
        let is_unit = |unit: &Unit| can(unit.condition);
        let mut events = std::mem::take(&mut self.events).into_vec();
        events.retain_mut(|event| {
            event.reads.retain(is_unit);
            event.writes.retain(is_unit);
            can(event.occurs) && (!event.reads.is_empty() || !event.writes.is_empty() || event.object.is_some())
        });
        self.events = events.into();
        let mut violations = std::mem::take(&mut self.violations).into_vec();
        violations.retain(|violation| can(violation.condition));
        self.violations = violations.into();
        self.cuts.retain(|cut| can(cut.condition));
        self.checks.retain(|check| can(check.path) && check.valid != Term::TRUE);
        self.frees.retain(|free| can(free.path));
        self.joins.retain(|join| can(join.path));
        self.section_splits.retain(|split| can(split.condition));
        self.stops.retain(|stop| can(stop.condition));
        self.waits.retain(|wait| can(wait.path));
        self.fences.retain(|fence| can(fence.path));
        self.signals.retain(|signal| can(signal.path));
        self.waiters.retain(|waiter| can(waiter.path));
        self.steps.retain(|step| can(step.path));
        self.exits.retain(|(path, _)| can(*path));
        self.constraints.retain(|constraint| *constraint != Term::TRUE);
        self.doubts.retain(|(condition, _)| can(*condition));
        self.threads.iter_mut().for_each(|thread| thread.inputs.retain(|input| can(input.condition)));
    }

    /// Adds the nodes at which something happens to `whole`. By node: its new id; if nothing happens at it, that of the
    /// last one before.
    fn place(&self, whole: &mut Skeleton, thread: ThreadIndex, last: NodeId) -> IndexVec<NodeId, NodeId> {
        // (A check is about the next node, which does not exist if the function ends there.)
        let with_next = self.nodes.ids().chain([self.nodes.next_id()]);
        let mut is_used: IndexVec<NodeId, bool> = with_next.map(|_| false).collect();
        let wakes = self.sleeps.iter().filter_map(|sleep| sleep.wake).map(|(node, _)| node);
        let used = (self.events.iter().map(|event| event.node))
            .chain(self.violations.iter().filter_map(|violation| violation.at))
            .chain(self.checks.iter().map(|check| check.node))
            .chain(self.frees.iter().map(|free| free.node))
            .chain(self.joins.iter().map(|join| join.node))
            .chain(self.section_splits.iter().flat_map(|split| [split.first, split.second]))
            .chain(self.stops.iter().map(|stop| stop.section))
            .chain(self.sleeps.iter().map(|sleep| sleep.node))
            .chain(wakes)
            .chain(self.fences.iter().map(|fence| fence.node))
            .chain(self.signals.iter().map(|signal| signal.node))
            .chain(self.steps.iter().map(|step| step.node))
            .chain(self.exits.iter().map(|(_, node)| *node));
        used.for_each(|node| is_used[node] = true);
        let mut now = last;
        let mut places = IndexVec::new();
        for is_used in &is_used {
            if *is_used {
                now = whole.add_node(thread);
            }
            places.push(now);
        }
        places
    }
}
