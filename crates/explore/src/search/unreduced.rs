//! All traces of a program, found without any reduction.
//!
//! From every trace that was reached, each thread that can make an event makes it, with every value. A trace is
//! followed only once, however it was reached: equal traces lead to the same state, which is checked on the way. So
//! what comes out is how many traces there are; the search has to find just as many. For comparison only: it knows
//! nothing of wake-up trees and sleeping threads, and is slow.

use crate::event::{Choice, Footprint};
use crate::search::trace::Trace;
use crate::visible_step::{Inputs, Ran, Statics, continue_without, is_leaving, next_choices, run_event};
use leno_engine::machine_options;
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Image, Machine, ThreadId};
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTraces {
    /// There are more unfinished traces than allowed, or a thread runs for ever.
    TooMany,
    /// Two orders of events that are taken for independent lead to different states: a mistake in what events touch.
    NotIndependent,
}

/// The fingerprints of all complete traces, if no more than `most` lead to them. Waits end only by signals.
pub fn all_traces(facts: &Facts<'_>, most: usize) -> Result<BTreeSet<u64>, NoTraces> {
    let image = Image::new(facts.program());
    let statics = Statics::new(facts, &image);
    let mut search =
        Unreduced { statics: &statics, seen: HashMap::new(), stack: Vec::new(), complete: BTreeSet::new() };
    search.stack.push((Machine::new(&image, &machine_options(false)), Trace::default()));
    while let Some((machine, trace)) = search.stack.pop() {
        if search.seen.len() > most {
            return Err(NoTraces::TooMany);
        }
        search.follow(&machine, &trace)?;
    }
    Ok(search.complete)
}

struct Unreduced<'a, 'p> {
    statics: &'a Statics,
    /// The state that each trace leads to.
    seen: HashMap<u64, u64>,
    stack: Vec<(Machine<'p>, Trace)>,
    complete: BTreeSet<u64>,
}

impl<'p> Unreduced<'_, 'p> {
    fn follow(&mut self, machine: &Machine<'p>, trace: &Trace) -> Result<(), NoTraces> {
        let mut is_complete = true;
        for thread in machine.threads().ids() {
            // What can go wrong before an early exit can also go wrong before a late one.
            if machine.enabled(thread) && !is_leaving(machine, thread) {
                is_complete = false;
                self.make_event(machine, trace, thread)?;
            }
        }
        if is_complete {
            self.complete.insert(trace.fingerprint());
        }
        Ok(())
    }

    /// One event with all the values it may be given.
    fn make_event(&mut self, machine: &Machine<'p>, trace: &Trace, thread: ThreadId) -> Result<(), NoTraces> {
        let mut choices: Option<Vec<Choice>> = Some(Vec::new());
        while let Some(script) = choices {
            let (mut machine, mut trace) = (machine.clone(), trace.clone());
            let mut inputs = Inputs::default();
            inputs.begin(&script);
            let mut footprint = Footprint::default();
            let (ran, _) = run_event(&mut machine, self.statics, &mut inputs, thread, &mut footprint, &mut ());
            trace.push(thread, &footprint, &inputs.asked);
            choices = next_choices(&inputs.asked, 0);
            self.reach(machine, trace, ran, thread)?;
        }
        Ok(())
    }

    fn reach(
        &mut self,
        mut machine: Machine<'p>,
        trace: Trace,
        ran: Ran<'p>,
        thread: ThreadId,
    ) -> Result<(), NoTraces> {
        match ran {
            Ran::Done | Ran::Nothing => {}
            Ran::Violation(violation, before) => continue_without(&mut machine, violation.thread, before),
            Ran::Exited(Some(before)) => continue_without(&mut machine, thread, Some(before)),
            Ran::Exited(None) => {
                self.complete.insert(trace.fingerprint());
                return Ok(());
            }
            Ran::Endless | Ran::OutOfMemory | Ran::Stopped => return Err(NoTraces::TooMany),
        }
        let mut hasher = DefaultHasher::new();
        machine.hash(&mut hasher);
        let state = hasher.finish();
        match self.seen.insert(trace.fingerprint(), state) {
            None => self.stack.push((machine, trace)),
            Some(before) if before != state => return Err(NoTraces::NotIndependent),
            Some(_) => {}
        }
        Ok(())
    }
}
