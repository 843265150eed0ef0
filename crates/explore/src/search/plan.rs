//! What is still to be explored, planned at the end of an execution.
//!
//! For every race (e, e') of the execution there is a sequence v that reverses it: all events after e that do not
//! happen after e, up to the end of the execution, each with the values it was given, and then e'. It is inserted in
//! the wake-up tree of the place before e, unless a sleeping event there is a weak initial of v: then everything that v
//! leads to has been explored.
//!
//! What e' will do there is known in most cases: the same. Where it is not, it is tried out: an atomic section may read
//! something else and go another way; a step that waited may have to wait there still (then it cannot come earlier); an
//! event that asks for values is planned with those that it was given, as far as it asks for the same there. Whether a
//! compare-exchange fails there is decided by the value that e was about to overwrite.
//!
//! **Old races must be planned again.** Two executions with a common prefix that contains e and e' have different
//! sequences v, since v also contains what came after the prefix. Planning (e, e') only once misses executions. But
//! most of the work can be left out: *if e' is in the prefix P that this execution X has in common with the one planned
//! before it, and every new event of X happens after e, then (e, e') need not be planned.*
//!
//! Proof. The proof that the algorithm is exhaustive (POPL 2014, theorem 7.1) takes an execution E.w that is claimed to
//! be missed, and among the events explored from E an event p that is independent of the longest prefix r of w; let q
//! be the next event of w. By induction, executions X with E.p.r.q ⊑ X were explored from E.p. For *one* of them the
//! race (p, q) must have been planned: then the planned sequence has r.q as a prefix (up to the order of independent
//! events), so that an event that sleeps at E in the end is independent of r.q or begins it, and r was not the longest.
//! Take the first such X that was explored. If q is new in X, the race is planned. If an event of r is new in X, it
//! does not happen after p, and the race is planned. Otherwise p, r and q are all in P; so the execution before X,
//! which begins with P, has them too, and X was not the first. ∎
//!
//! For sections the planned sequence r.z.q need not have r.q as a prefix, since q may do something else after r than
//! after p.r, and depend on z. The proof holds with a finer measure: after the length of r, the number k of the first
//! access of q (when it is made after r) that depends on p. After p.r, and after r.z too, q makes the same accesses up
//! to the k-th. So an event that begins r.z.q, and is not in r, depends on a later access of q than p did, or on none.
//!
//! For the same reason an attempt to move e' is made once: whether it must wait before e depends on events that happen
//! before e'.

use crate::event::{Access, Choice, DataKind, Event, Footprint, Step};
use crate::search::optimal::{Search, replay_event};
use crate::search::wakeup::{Sequence, SleepCheck, WakeupTree};
use crate::visible_step::{Inputs, add_accesses, exchange_kind, is_leaving, run_event, waits_at};
use leno_ir::index::Idx;
use leno_ir::interp::{Status, ThreadId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What is known of an event that is to come earlier than it did.
#[derive(Clone, Debug)]
enum Ahead<'a> {
    Certain(Rc<Step>),
    /// It may have to wait there: then it cannot come earlier.
    MayWait(Rc<Step>),
    /// All that is known are the values that it was given.
    Unknown(&'a [Choice]),
}

/// What comes before an event that is to come before the one at `first`: all that does not happen after that one.
struct Before<'a> {
    first: usize,
    sequence: Sequence<'a>,
    sleep: SleepCheck<'a>,
}

/// In an execution of so many events, planning takes long enough to look at the limits meanwhile.
const LONG: usize = 1000;

impl Search<'_, '_, '_> {
    /// Plans the reversal of the races of this execution.
    pub fn plan_races(&mut self) {
        self.report_data_races();
        if self.finding.is_some() {
            return;
        }
        if self.preemptions.is_some() {
            // A planned switch says nothing of what comes later: each is planned once.
            for index in self.first_new..self.events.len() {
                self.plan_switches(index);
            }
        } else {
            self.plan_reversals();
        }
        self.plan_waiting();
        self.plan_leaving();
        self.first_new = self.events.len();
    }

    /// Whether two events race does not depend on what comes after them: only new events are looked at.
    fn report_data_races(&mut self) {
        if !self.properties.race {
            return;
        }
        for index in self.first_new..self.events.len() {
            for at in 0..self.nodes[index].races.len() {
                let race = self.nodes[index].races[at] as usize;
                if self.is_data_race(race, index) && self.is_race_before(race, index) {
                    self.found_race(race, index);
                    if self.finding.is_some() {
                        return;
                    }
                }
            }
        }
    }

    /// Whether an event that races with an earlier one would do so, too, if it came first. A section might have to wait
    /// before it gets there.
    fn is_race_before(&self, first: usize, index: usize) -> bool {
        let event = &self.events[index];
        if event.steps < 2 {
            return true;
        }
        let sequence: Vec<&Rc<Step>> = self.independent_of(first, index).collect();
        let Some(tried) = self.try_out(first, &sequence, event.step.thread, &event.step.choices) else { return false };
        let accesses = &self.events[first].step.footprint.0;
        accesses.iter().any(|a| tried.footprint.0.iter().any(|b| a.races(*b)))
    }

    /// The events between two that do not happen after the first.
    fn independent_of(&self, first: usize, end: usize) -> impl Iterator<Item = &Rc<Step>> {
        let event = &self.events[first];
        let later = self.events[first + 1..end].iter().filter(|later| !event.is_before(&later.clock));
        later.map(|later| &later.step)
    }

    /// Plans the reversal of every race, except where that would change nothing.
    fn plan_reversals(&mut self) {
        let fewest = self.fewest_before_new();
        let is_long = self.events.len() >= LONG;
        for first in 0..self.events.len() {
            if is_long && self.context.limits.stop().is_some() {
                return;
            }
            let reversals = &self.nodes[first].reversals;
            if reversals.is_empty() {
                continue;
            }
            let event = &self.events[first];
            let has_concurrent = fewest.get(event.step.thread.index()).is_some_and(|fewest| *fewest < event.number);
            let from = match has_concurrent {
                true => 0,
                false => reversals.partition_point(|reversal| (reversal.second as usize) < self.first_new),
            };
            if from < reversals.len() {
                self.plan_reversals_of(first, from);
            }
        }
    }

    /// By thread: the fewest of its events that happen before any one of the new events.
    fn fewest_before_new(&self) -> Vec<u32> {
        let mut fewest = vec![u32::MAX; self.machine.threads().len()];
        for event in &self.events[self.first_new..] {
            for (thread, fewest) in fewest.iter_mut().enumerate() {
                *fewest = (*fewest).min(event.clock.get(ThreadId::new(thread)));
            }
        }
        fewest
    }

    /// Plans that later events come before the one at `first`: those that race with it, from the given number on.
    fn plan_reversals_of(&mut self, first: usize, from: usize) {
        // (Both are taken out of the search, which is only read meanwhile.)
        let mut tree = std::mem::take(&mut self.nodes[first].tree);
        let mut reversals = std::mem::take(&mut self.nodes[first].reversals);
        if let Some(before) = self.before(first) {
            let is_long = self.events.len() >= LONG;
            for reversal in &mut reversals[from..] {
                if is_long && self.context.limits.stop().is_some() {
                    break;
                }
                let second = &self.events[reversal.second as usize];
                let ahead = ahead(&self.events[first], second);
                self.insert(&before, second.step.thread, ahead, &mut reversal.is_enabled, &mut tree);
            }
        }
        self.nodes[first].tree = tree;
        self.nodes[first].reversals = reversals;
    }

    /// Makes sure that an execution is explored in which the next event of `thread` comes before the event at `first`.
    fn plan_ahead(&mut self, first: usize, thread: ThreadId, ahead: Ahead<'_>) {
        if self.preemptions.is_some() {
            return self.plan_switch(first, thread);
        }
        let mut tree = std::mem::take(&mut self.nodes[first].tree);
        if let Some(before) = self.before(first) {
            self.insert(&before, thread, ahead, &mut None, &mut tree);
        }
        self.nodes[first].tree = tree;
    }

    /// What comes before an event that is to come before the one at `first`; None if all of that has been explored.
    fn before(&self, first: usize) -> Option<Before<'_>> {
        let sequence = Sequence::new(self.independent_of(first, self.events.len()));
        let sleep = SleepCheck::new(&self.nodes[first].sleep, &sequence)?;
        Some(Before { first, sequence, sleep })
    }

    /// Inserts the sequence that ends with an event of `thread`, unless it has been explored or cannot be made.
    fn insert(
        &self,
        before: &Before<'_>,
        thread: ThreadId,
        ahead: Ahead<'_>,
        is_enabled: &mut Option<bool>,
        tree: &mut WakeupTree,
    ) {
        if *is_enabled == Some(false) {
            return;
        }
        let may_wait = matches!(ahead, Ahead::MayWait(_));
        let last = match ahead {
            Ahead::Certain(last) | Ahead::MayWait(last) => last,
            Ahead::Unknown(given) => match self.try_out(before.first, &before.sequence.steps, thread, given) {
                Some(last) => Rc::new(last),
                None => return,
            },
        };
        if before.sleep.is_redundant(&before.sequence, &last) {
            return;
        }
        let sequence = before.sequence.followed_by(&last);
        let can_be_made = || {
            let tried = || self.try_out(before.first, &before.sequence.steps, thread, &[]).is_some();
            !may_wait || *is_enabled.get_or_insert_with(tried)
        };
        tree.insert(sequence, can_be_made);
    }

    /// The next event of `thread` after `sequence`, from the place before the event at `first`, if it can be made
    /// there. Of the values that it was given it keeps those that it is asked for there, too.
    fn try_out(&self, first: usize, sequence: &[&Rc<Step>], thread: ThreadId, given: &[Choice]) -> Option<Step> {
        let mut machine = self.machine_before(first)?;
        let mut inputs = Inputs::default();
        for step in sequence {
            replay_event(&mut machine, self.statics, &mut inputs, step.thread, &step.choices);
        }
        if !machine.enabled(thread) {
            return None;
        }
        let mut footprint = Footprint::default();
        inputs.begin(given);
        run_event(&mut machine, self.statics, &mut inputs, thread, &mut footprint, &mut ());
        let same = inputs.asked.iter().zip(given).take_while(|(asked, given)| asked.width == given.width).count();
        if inputs.asked.len() > same {
            // With other values it may touch anything.
            footprint.0.push(Access::Everything);
        }
        Some(Step::new(thread, footprint, given[..same].to_vec()))
    }

    /// Threads that wait at the end might have been first.
    fn plan_waiting(&mut self) {
        for thread in self.machine.threads().ids().collect::<Vec<_>>() {
            let Some(address) = self.machine.wait(thread).and_then(waits_at) else { continue };
            let clock = self.clock_of(thread);
            let mut footprint = Footprint::default();
            add_accesses(&self.machine, self.statics, thread, &mut footprint);
            let step = Rc::new(Step::new(thread, footprint, Vec::new()));
            let takers: BTreeSet<u32> = self.history.takers(address).collect();
            for taker in takers.into_iter().rev() {
                let event = &self.events[taker as usize];
                if event.step.thread == thread || event.is_before(&clock) {
                    continue;
                }
                self.plan_ahead(taker as usize, thread, Ahead::MayWait(Rc::clone(&step)));
            }
        }
    }

    /// Threads that would have ended the program, had not another one done so, might have been first.
    fn plan_leaving(&mut self) {
        let Some(last) = self.events.len().checked_sub(1).filter(|_| self.has_end_properties()) else { return };
        let ends = Footprint(vec![Access::Everything]);
        let (by, did_end) = (self.events[last].step.thread, self.events[last].step.footprint == ends);
        let is_leaving = |thread: &ThreadId| {
            *thread != by
                && self.machine.threads()[*thread].status == Status::Running
                && is_leaving(&self.machine, *thread)
        };
        let leaving: Vec<ThreadId> =
            self.machine.threads().ids().filter(|thread| did_end && is_leaving(thread)).collect();
        for thread in leaving {
            let step = Step::new(thread, ends.clone(), Vec::new());
            self.plan_ahead(last, thread, Ahead::Certain(Rc::new(step)));
        }
    }
}

/// What the second event of a race will be if it comes before the first.
fn ahead<'a>(first: &Event, second: &'a Event) -> Ahead<'a> {
    let step = &second.step;
    // (What an allocation may return, and who remembers what is freed, is decided by what came before.)
    let is_on_heap = step.footprint.0.iter().any(|access| matches!(access, Access::Heap(_)));
    if second.steps > 1 || !step.choices.is_empty() || is_on_heap {
        return Ahead::Unknown(&step.choices);
    }
    if step.footprint.may_wait() {
        return Ahead::MayWait(Rc::clone(step));
    }
    let [Access::Data { address, len, kind, atomic }] = step.footprint.0[..] else {
        return Ahead::Certain(Rc::clone(step));
    };
    if !kind.depends_on_value() {
        return Ahead::Certain(Rc::clone(step));
    }
    match kind_ahead(first, second, kind) {
        Some(same) if same == kind => Ahead::Certain(Rc::clone(step)),
        Some(kind) => {
            let footprint = Footprint(vec![Access::Data { address, len, kind, atomic }]);
            Ahead::Certain(Rc::new(Step::new(step.thread, footprint, Vec::new())))
        }
        None => Ahead::Unknown(&step.choices),
    }
}

/// The kind of an access whose kind depends on the value in memory, if it comes before `first`; None if that is not
/// known. The value is the one that `first` overwrites: any other event that overwrites these bytes depends on it.
fn kind_ahead(first: &Event, second: &Event, kind: DataKind) -> Option<DataKind> {
    let [Access::Data { kind: first_kind, .. }] = first.step.footprint.0[..] else { return None };
    if !first.step.choices.is_empty() {
        return None;
    }
    if first_kind.leaves_value() {
        return Some(kind);
    }
    let (overwritten, expected) = (first.written?, second.written?);
    let is_same = (overwritten.address, overwritten.len) == (expected.address, expected.len);
    if first.steps > 1 || !is_same || !overwritten.old.is_defined() {
        return None;
    }
    match kind {
        DataKind::Exchange | DataKind::FailedExchange if first_kind.overwrites() => {
            Some(exchange_kind(overwritten.old, expected.expected?))
        }
        DataKind::Exchange | DataKind::FailedExchange => None,
        _ => Some(kind),
    }
}
