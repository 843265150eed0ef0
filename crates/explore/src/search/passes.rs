//! Which searches a program needs: waits on condition variables may end without a signal, except in deadlocks.

use crate::search::optimal::explore_once;
use crate::search::states::search_states;
use crate::task::{Explored, Wakeups};
use crate::visible_step::Statics;
use leno_engine::{Context, Properties, Task};
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::wakeups::where_unasked_wakeups_matter;
use leno_ir::interp::Image;

/// Explores all executions of a program, up to equivalence, until it finds a violation.
pub fn explore(facts: &Facts<'_>, task: &Task, context: &Context) -> Explored {
    pass_by_pass(facts, task, |image, statics, task, wakeups| {
        explore_once(image, statics, task, context, wakeups, None)
    })
}

/// Searches all states of a program, until it finds a violation.
pub fn explore_states(facts: &Facts<'_>, task: &Task, context: &Context) -> Explored {
    pass_by_pass(facts, task, |image, statics, task, wakeups| {
        search_states(facts, image, statics, task, context, wakeups)
    })
}

/// Waits on condition variables may end without a signal. In a deadlock, those are stuck who sleep and have been given no
/// signal; so there every sleep decides, when it begins, whether it will end without one. Where that can make no
/// difference, waits end with signals only. A program that waits is searched twice when deadlocks and something else are
/// asked for, and once more if it makes a difference.
fn pass_by_pass(
    facts: &Facts<'_>,
    task: &Task,
    search: impl Fn(&Image<'_>, &Statics, &Task, Wakeups) -> Explored,
) -> Explored {
    let properties = task.properties;
    let image = Image::new(facts.program());
    let statics = Statics::new(facts, &image);
    if !statics.has_waits() {
        return search(&image, &statics, task, Wakeups::OnlyBySignals);
    }
    let once = |properties, wakeups| {
        let only = Task { properties, ..task.clone() };
        search(&image, &statics, &only, wakeups)
    };
    let others = Properties { deadlock: false, ..properties };
    let deadlock = Properties { deadlock: true, ..Properties::NONE };
    let mut all = Explored::default();
    if others != Properties::NONE || !properties.deadlock {
        all.add(once(others, Wakeups::Anytime));
    }
    if properties.deadlock && all.finding.is_none() {
        all.add(once(deadlock, Wakeups::OnlyBySignals));
    }
    if !properties.deadlock || all.finding.is_some() {
        return all;
    }
    if let Some(matters) = where_unasked_wakeups_matter(facts).first() {
        let is_complete = all.incomplete.is_none();
        all.add(once(deadlock, Wakeups::Chosen));
        if is_complete && all.incomplete.take().is_some() {
            all.needs_signals = Some(matters.span);
        }
    }
    all
}
