//! Locks and condition variables: which sections and signals the axioms are about.

use crate::encode::Encoded;
use crate::program::event::{EventId, Kind, TraceProgram};
use crate::program::slice::Slice;
use crate::walk::listener::Location;
use leno_axioms::exclusion::{Section, exclude, held_at};
use leno_axioms::signals::{Signal, Signals, Sleep, SleepId};
use leno_logic::literal::Lit;
use std::collections::BTreeMap;

/// From the taking of a lock to giving it back, if that was recorded.
pub(crate) struct LockSection {
    pub acquire: EventId,
    pub release: Option<EventId>,
    pub shared: bool,
}

/// An attempt to take a lock that has failed.
pub(crate) struct Attempt {
    lock: Location,
    event: EventId,
    shared: bool,
}

/// The signals of condition variables, and what they may do.
#[derive(Default)]
pub(crate) struct Conditions {
    pub signals: BTreeMap<Location, Signals>,
    /// By the event that ends a sleep.
    pub sleeps: BTreeMap<EventId, RecordedSleep>,
}

#[derive(Clone, Copy)]
pub(crate) struct RecordedSleep {
    pub id: SleepId,
    /// Where it begins, if that is known.
    pub since: Option<EventId>,
}

impl Encoded {
    pub(super) fn locks(&mut self, ctp: &TraceProgram) {
        let (sections, busy) = lock_sections(ctp, &self.slice);
        for (lock, sections) in &sections {
            let critical: Vec<Section> = sections.iter().map(|section| self.critical_section(section)).collect();
            for (index, first) in sections.iter().enumerate() {
                for (second, other) in sections.iter().zip(&critical).skip(index + 1) {
                    if may_overlap(ctp, first, second) {
                        exclude(&mut self.solver, [&critical[index], other], [true; 2]);
                    }
                }
            }
            for attempt in busy.iter().filter(|attempt| attempt.lock == *lock) {
                self.another_thread_holds(ctp, attempt, sections, &critical);
            }
        }
    }

    pub(crate) fn critical_section(&self, section: &LockSection) -> Section {
        let end = section.release.map(|release| self.occurrence(release));
        Section::with_one_end(self.occurrence(section.acquire), end)
    }

    /// An attempt to take a lock fails only while another thread has it.
    fn another_thread_holds(
        &mut self,
        ctp: &TraceProgram,
        attempt: &Attempt,
        sections: &[LockSection],
        critical: &[Section],
    ) {
        let thread = ctp.event(attempt.event).thread;
        let attempted = self.occurrence(attempt.event);
        let mut clause = vec![!attempted.occurs];
        for (section, critical) in sections.iter().zip(critical) {
            if ctp.event(section.acquire).thread != thread && !(attempt.shared && section.shared) {
                clause.push(held_at(&mut self.solver, &self.known, critical, attempted.node));
            }
        }
        self.solver.add_clause(&clause);
    }

    /// A sleeping thread wakes up because of a signal that came after it fell asleep, and that woke up no other thread.
    pub(super) fn conditions(&mut self, ctp: &TraceProgram) {
        let mut sleeps: BTreeMap<Location, Vec<Sleep>> = BTreeMap::new();
        let mut signals: BTreeMap<Location, Vec<Signal>> = BTreeMap::new();
        let mut recorded: BTreeMap<EventId, RecordedSleep> = BTreeMap::new();
        for events in self.slice.kept.values() {
            let mut asleep: BTreeMap<Location, EventId> = BTreeMap::new();
            for &id in events {
                match ctp.event(id).kind {
                    Kind::Sleep { condition } => _ = asleep.insert(condition, id),
                    Kind::Wake { condition, timed_out: false } => {
                        let since = asleep.remove(&condition);
                        let of_condition = sleeps.entry(condition).or_default();
                        recorded.insert(id, RecordedSleep { id: SleepId(of_condition.len()), since });
                        of_condition.push(Sleep {
                            since: since.map(|since| self.node(since)),
                            occurs: since.map_or(Lit::TRUE, |since| self.done(since)),
                            wake: Some(self.occurrence(id)),
                            needs_signal: Lit::TRUE,
                        });
                    }
                    Kind::Signal { condition, broadcast } => {
                        let signal = Signal { event: self.occurrence(id), is_broadcast: broadcast };
                        signals.entry(condition).or_default().push(signal);
                    }
                    _ => {}
                }
            }
        }
        self.conditions.sleeps = recorded;
        for (condition, sleeps) in sleeps {
            let given = signals.remove(&condition).unwrap_or_default();
            let all = Signals::new(&mut self.solver, sleeps, given, |_, _, _| Lit::TRUE);
            self.conditions.signals.insert(condition, all);
        }
    }
}

/// Whether two sections of a lock exclude each other, and are not always in the same order.
fn may_overlap(ctp: &TraceProgram, first: &LockSection, second: &LockSection) -> bool {
    let thread = |section: &LockSection| ctp.event(section.acquire).thread;
    let is_over = |one: &LockSection, other: &LockSection| {
        one.release.is_some_and(|release| ctp.must_precede(release, other.acquire))
    };
    let exclude = thread(first) != thread(second) && !(first.shared && second.shared);
    exclude && !is_over(first, second) && !is_over(second, first)
}

pub(crate) fn lock_sections(ctp: &TraceProgram, slice: &Slice) -> (BTreeMap<Location, Vec<LockSection>>, Vec<Attempt>) {
    let (mut sections, mut busy): (BTreeMap<Location, Vec<LockSection>>, Vec<Attempt>) = (BTreeMap::new(), Vec::new());
    for events in slice.kept.values() {
        let mut open: BTreeMap<Location, usize> = BTreeMap::new();
        for &id in events {
            match ctp.event(id).kind {
                Kind::Acquire { lock, shared } => {
                    let list = sections.entry(lock).or_default();
                    open.insert(lock, list.len());
                    list.push(LockSection { acquire: id, release: None, shared });
                }
                Kind::Release { lock } => {
                    if let (Some(index), Some(list)) = (open.remove(&lock), sections.get_mut(&lock)) {
                        list[index].release = Some(id);
                    }
                }
                Kind::Busy { lock, shared } => busy.push(Attempt { lock, event: id, shared }),
                _ => {}
            }
        }
    }
    (sections, busy)
}
