//! A call, by the summary of its function (paper 000, appendix: rule FUNC-CALL).
//!
//! The arguments, the path condition, the number of the thread and what private memory holds are put in the place of the variables that stood
//! for them; every other variable of the summary (what is read, asked for, waited for) becomes a fresh one. What cannot happen in this call
//! is left out. Three kinds of variables are not always fresh: what is allocated has an address now, whether an access is good may be
//! known now that its address is, and a word that is looked at for a deadlock is the same for all who look at it.

use crate::function::{Allocation, Exit, FunctionSummary};
use crate::objects::InstanceId;
use crate::skeleton::{Event, NodeId, Skeleton, ThreadIndex, Unit, Until};
use crate::state::State;
use crate::summarize::{Refused, Summarizer};
use crate::words::Look;
use leno_ir::points_to::ObjectSet;
use leno_ir::sharing::Sharing;
use leno_logic::term::{Filled, Term, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl Summarizer<'_> {
    /// Whether what the summary takes for granted holds at a call from here.
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
        if (self.interrupted)() {
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
            let value = self.read_cell(&mut state, id, offset, bytes);
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
        let looks: FxHashMap<Term, &Look> = summary.looks.iter().map(|look| (look.value, look)).collect();
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
            if let Some(look) = looks.get(&variable) {
                let address = filled.of(look.address);
                if let Some(value) = self.later.get(&address) {
                    return *value;
                }
                let value = fresh(terms, variable);
                self.later.insert(address, value);
                let targets = self.targets(terms, &[address]).unwrap_or_else(|| look.targets.clone());
                self.looks.push(Look { address, value, targets });
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
        let id = self.add_instance(allocation.what, allocation.size, allocation.initial, true, false)?;
        let width = u32::from(self.program.model.pointer_bits());
        Ok(terms.bits(width, self.instances.get(id).base.into()))
    }

    /// Whether an access to this address is good, whatever others do.
    fn is_surely_good(&mut self, address: u64, bytes: u64, writes: bool) -> bool {
        let Some(id) = self.instances.at(self.program.model, address) else { return false };
        let instance = self.instances.get(id);
        let end = address.wrapping_sub(instance.base).checked_add(bytes);
        let is_inside = end.is_some_and(|end| end <= instance.size) && instance.extent.is_none();
        let is_special = instance.is_function || instance.is_heap || (writes && instance.is_constant);
        is_inside && !is_special && instance.sharing == Sharing::Shared && self.is_surely_alive(id)
    }

    /// The objects at these addresses, if all of them are known.
    fn targets(&self, terms: &Terms, addresses: &[Term]) -> Option<ObjectSet> {
        let object = |address: &Term| {
            let id = self.instances.at(self.program.model, terms.as_bits(*address)? as u64)?;
            Some(self.instances.get(id).object)
        };
        addresses.iter().map(object).collect()
    }

    /// What is accessed is known better now that addresses are.
    fn narrow_targets(&self, skeleton: &mut Skeleton) {
        let addresses =
            |event: &Event| -> Vec<Term> { event.reads.iter().chain(&event.writes).map(|unit| unit.address).collect() };
        for event in &mut skeleton.events {
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
        for (deed, condition) in &exit.trail {
            let condition = filled.of(*condition);
            if condition != Term::FALSE {
                state.trail.push(deed.map(|lock| filled.of(lock)), condition);
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
        let at = |node: NodeId| nodes[node.0 as usize];
        let sleeps = self.sleeps.len();
        for event in &mut call.events {
            (event.node, event.thread) = (at(event.node), thread);
        }
        for violation in &mut call.violations {
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
        call.seams.iter_mut().for_each(|seam| (seam.first, seam.second) = (at(seam.first), at(seam.second)));
        call.stops.iter_mut().for_each(|stop| stop.section = at(stop.section));
        for (node, section) in &call.sections {
            // (Where nothing happens at a moment of a section, this is an earlier one, which may be of another section.)
            self.sections.entry(at(*node)).or_insert(at(*section));
        }
        for wait in &mut call.waits {
            (wait.after, wait.thread) = (at(wait.after), thread);
            if let Until::Signal(sleep) = &mut wait.until {
                *sleep += sleeps;
            }
        }
        for sleep in &mut call.sleeps {
            (sleep.node, sleep.thread) = (at(sleep.node), thread);
            sleep.wake = sleep.wake.map(|(node, path)| (at(node), path));
        }
        call.signals.iter_mut().for_each(|signal| signal.node = at(signal.node));
        call.steps.iter_mut().for_each(|step| step.node = at(step.node));
        call.exits.iter_mut().for_each(|(_, node)| *node = at(*node));
        self.events.append(&mut call.events);
        self.violations.append(&mut call.violations);
        self.cuts.append(&mut call.cuts);
        self.checks.append(&mut call.checks);
        self.frees.append(&mut call.frees);
        self.joins.append(&mut call.joins);
        self.seams.append(&mut call.seams);
        self.stops.append(&mut call.stops);
        self.waits.append(&mut call.waits);
        self.sleeps.append(&mut call.sleeps);
        self.signals.append(&mut call.signals);
        self.steps.append(&mut call.steps);
        self.exits.append(&mut call.exits);
        self.constraints.append(&mut call.constraints);
        self.plain.append(&mut call.plain);
        self.doubts.append(&mut call.doubts);
        let inputs = call.threads.iter_mut().flat_map(|caller| std::mem::take(&mut caller.inputs));
        self.threads[thread.0 as usize].inputs.extend(inputs);
        nodes.last().copied().unwrap_or(last)
    }

    /// Leaves out what never occurs, except sleeps, which others refer to by their places.
    fn remove_impossible(&mut self) {
        let can = |condition: Term| condition != Term::FALSE;
        let is_unit = |unit: &Unit| can(unit.condition);
        self.events.retain_mut(|event| {
            event.reads.retain(is_unit);
            event.writes.retain(is_unit);
            can(event.occurs) && (!event.reads.is_empty() || !event.writes.is_empty())
        });
        self.violations.retain(|violation| can(violation.condition));
        self.cuts.retain(|cut| can(cut.condition));
        self.checks.retain(|check| can(check.path) && check.valid != Term::TRUE);
        self.frees.retain(|free| can(free.path));
        self.joins.retain(|join| can(join.path));
        self.seams.retain(|seam| can(seam.condition));
        self.stops.retain(|stop| can(stop.condition));
        self.waits.retain(|wait| can(wait.path));
        self.signals.retain(|signal| can(signal.path));
        self.steps.retain(|step| can(step.path));
        self.exits.retain(|(path, _)| can(*path));
        self.constraints.retain(|constraint| *constraint != Term::TRUE);
        self.doubts.retain(|(condition, _)| can(*condition));
        self.threads.iter_mut().for_each(|thread| thread.inputs.retain(|input| can(input.condition)));
    }

    /// Gives the nodes at which something happens a place in `whole`. By node: where it is now; if nothing happens at it, the last one before.
    fn place(&self, whole: &mut Skeleton, thread: ThreadIndex, last: NodeId) -> Vec<NodeId> {
        // (A check that nothing follows is about a node that was never made.)
        let mut is_used = vec![false; self.nodes.len() + 1];
        let wakes = self.sleeps.iter().filter_map(|sleep| sleep.wake).map(|(node, _)| node);
        let used = (self.events.iter().map(|event| event.node))
            .chain(self.violations.iter().filter_map(|violation| violation.at))
            .chain(self.checks.iter().map(|check| check.node))
            .chain(self.frees.iter().map(|free| free.node))
            .chain(self.joins.iter().map(|join| join.node))
            .chain(self.seams.iter().flat_map(|seam| [seam.first, seam.second]))
            .chain(self.stops.iter().map(|stop| stop.section))
            .chain(self.sleeps.iter().map(|sleep| sleep.node))
            .chain(wakes)
            .chain(self.signals.iter().map(|signal| signal.node))
            .chain(self.steps.iter().map(|step| step.node))
            .chain(self.exits.iter().map(|(_, node)| *node));
        used.for_each(|node| is_used[node.0 as usize] = true);
        let mut now = last;
        let mut places = Vec::with_capacity(is_used.len());
        for is_used in is_used {
            if is_used {
                now = whole.add_node(thread);
            }
            places.push(now);
        }
        places
    }
}
