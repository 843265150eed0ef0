//! What is still to be explored, planned at the end of an execution.
//!
//! For every race the sequence that reverses it: all that came after the first event and did not depend on it, each event with
//! the values it was given, and then the second one. It goes into the wake-up tree of the place before the first event, unless
//! something that sleeps there covers it already.
//!
//! What the second event will do there is known in most cases: the same. It is tried out where it is not: an atomic section
//! may read something else and go another way, and a step that waited may have to wait there still (then it cannot be earlier
//! than this). An event that asks for values is planned with those that it was given, as far as it asks for the same there.

use crate::event::{Access, Choice, Footprint};
use crate::run::{Inputs, add_accesses, is_leaving, run_event, waits_at};
use crate::search::{Search, repeat};
use crate::wakeup::{Planned, is_weak_initial};
use leno_ir::interp::{Status, ThreadId};
use std::collections::BTreeSet;

/// What is known of an event that is to come earlier than it did.
enum Ahead {
    Certain(Footprint),
    /// It may have to wait there: then it cannot come earlier.
    MayWait(Footprint),
    /// All that is known are the values that it was given.
    Unknown(Vec<Choice>),
}

impl Search<'_, '_, '_> {
    /// Plans the reversal of every race of the events that are new in this execution.
    pub fn plant_races(&mut self) {
        for index in self.first_new..self.events.len() {
            for race in self.nodes[index].races.clone() {
                if self.properties.race
                    && self.is_data_race(race as usize, index)
                    && self.is_race_before(race as usize, index)
                {
                    self.found_race(race as usize, index);
                    if self.finding.is_some() {
                        return;
                    }
                }
                if self.preemptions.is_some() {
                    continue;
                }
                let last = &self.events[index];
                let ahead = match last.steps {
                    // A section may do something else when it comes first.
                    2.. => Ahead::Unknown(last.choices.clone()),
                    _ if !last.choices.is_empty() => Ahead::Unknown(last.choices.clone()),
                    _ if last.footprint.may_wait() => Ahead::MayWait(last.footprint.clone()),
                    _ => Ahead::Certain(last.footprint.clone()),
                };
                self.plant(race as usize, last.thread, ahead);
            }
            self.plan_switches(index);
        }
        self.plant_waiting();
        self.plant_leaving();
        self.first_new = self.events.len();
    }

    /// Whether an event that races with an earlier one would do so, too, if it came first. A section might have to wait before
    /// it gets there.
    fn is_race_before(&mut self, first: usize, index: usize) -> bool {
        let (thread, given) = (self.events[index].thread, self.events[index].choices.clone());
        if self.events[index].steps < 2 {
            return true;
        }
        let sequence = self.independent_of(first, index);
        let Some(tried) = self.try_out(first, &sequence, thread, &given) else { return false };
        let accesses = &self.events[first].footprint.0;
        accesses.iter().any(|a| tried.footprint.0.iter().any(|b| a.races(*b)))
    }

    /// The events between two that do not depend on the first one.
    fn independent_of(&self, first: usize, end: usize) -> Vec<Planned> {
        let event = &self.events[first];
        let later = self.events[first + 1..end].iter().filter(|later| !event.is_before(&later.clock));
        let planned = later.map(|later| Planned {
            thread: later.thread,
            footprint: later.footprint.clone(),
            choices: later.choices.clone(),
        });
        planned.collect()
    }

    /// Threads that wait at the end might have been first.
    fn plant_waiting(&mut self) {
        for thread in self.machine.threads().ids().collect::<Vec<_>>() {
            let Some(address) = self.machine.wait(thread).and_then(waits_at) else { continue };
            let clock = self.clock_of(thread);
            let mut footprint = Footprint::default();
            add_accesses(&self.machine, self.statics, thread, &mut footprint);
            let takers: BTreeSet<u32> = self.history.takers(address).collect();
            for taker in takers.into_iter().rev() {
                let event = &self.events[taker as usize];
                if event.thread == thread || event.is_before(&clock) {
                    continue;
                }
                self.plant(taker as usize, thread, Ahead::MayWait(footprint.clone()));
            }
        }
    }

    /// Threads that would have ended the program, had not another one done so, might have been first.
    fn plant_leaving(&mut self) {
        let Some(last) = self.events.len().checked_sub(1).filter(|_| self.has_end_properties()) else { return };
        let ends = Footprint(vec![Access::Everything]);
        let (by, did_end) = (self.events[last].thread, self.events[last].footprint == ends);
        let is_leaving = |thread: &ThreadId| {
            *thread != by
                && self.machine.threads()[*thread].status == Status::Running
                && is_leaving(&self.machine, *thread)
        };
        let leaving: Vec<ThreadId> =
            self.machine.threads().ids().filter(|thread| did_end && is_leaving(thread)).collect();
        leaving.into_iter().for_each(|thread| self.plant(last, thread, Ahead::Certain(ends.clone())));
    }

    /// Makes sure that an execution is explored in which the next event of `thread` comes before the event at `first`.
    fn plant(&mut self, first: usize, thread: ThreadId, ahead: Ahead) {
        if self.preemptions.is_some() {
            return self.plan_switch(first, thread);
        }
        let mut sequence = self.independent_of(first, self.events.len());
        let may_wait = matches!(ahead, Ahead::MayWait(_));
        let last = match ahead {
            Ahead::Certain(footprint) | Ahead::MayWait(footprint) => Planned { thread, footprint, choices: Vec::new() },
            Ahead::Unknown(given) => match self.try_out(first, &sequence, thread, &given) {
                Some(last) => last,
                None => return,
            },
        };
        sequence.push(last);
        if self.nodes[first].sleep.iter().any(|sleeping| is_weak_initial(sleeping, &sequence)) {
            return;
        }
        let before = &sequence[..sequence.len() - 1];
        if may_wait && self.try_out(first, before, thread, &[]).is_none() {
            return;
        }
        self.nodes[first].tree.insert(sequence);
    }

    /// The next event of `thread` after `sequence`, from the place before the event at `first`, if it can be made there. Of the values
    /// that it was given it keeps those that it is asked for there, too.
    fn try_out(&mut self, first: usize, sequence: &[Planned], thread: ThreadId, given: &[Choice]) -> Option<Planned> {
        let mut machine = self.machine_before(first)?;
        let mut inputs = Inputs::default();
        for planned in sequence {
            repeat(&mut machine, self.statics, &mut inputs, planned.thread, &planned.choices);
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
        Some(Planned { thread, footprint, choices: given[..same].to_vec() })
    }
}
