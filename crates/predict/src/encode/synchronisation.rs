//! Locks and condition variables: which sections and signals the axioms are about.

use crate::encode::Encoded;
use crate::program::event::{EventId, Kind, TraceProgram};
use crate::program::slice::Slice;
use crate::walk::listener::Location;
use leno_axioms::exclusion::{Section, exclude, held_at};
use leno_axioms::guards::both;
use leno_axioms::signals::{Signal, Signals, Sleep, SleepId};
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use std::collections::BTreeMap;

/// From the taking of a lock to giving it back, if that was recorded.
pub(crate) struct LockSection {
    pub acquire: EventId,
    pub release: Option<EventId>,
    pub shared: bool,
    /// For an attempt: that it is successful.
    pub taken: Term,
}

/// An attempt to take a lock.
pub(crate) struct Attempt {
    lock: Location,
    event: EventId,
    shared: bool,
    taken: Term,
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
        let (sections, attempts) = lock_sections(ctp, &self.slice);
        for (lock, sections) in &sections {
            let critical: Vec<Section> = sections.iter().map(|section| self.critical_section(ctp, section)).collect();
            for (index, first) in sections.iter().enumerate() {
                for (second, other) in sections.iter().zip(&critical).skip(index + 1) {
                    if may_overlap(ctp, first, second) {
                        exclude(&mut self.solver, [&critical[index], other], [true; 2]);
                    }
                }
            }
            for attempt in attempts.iter().filter(|attempt| attempt.lock == *lock) {
                self.fails_only_if_held(ctp, attempt, sections, &critical);
            }
        }
    }

    pub(crate) fn critical_section(&mut self, ctp: &TraceProgram, section: &LockSection) -> Section {
        let end = section.release.map(|release| self.occurrence(release));
        let mut begin = self.occurrence(section.acquire);
        if section.taken != Term::TRUE {
            let taken = self.solver.literal(&ctp.terms, section.taken);
            begin.occurs = both(&mut self.solver, begin.occurs, taken);
        }
        Section::with_one_end(begin, end)
    }

    /// An attempt to take a lock fails only while it is held.
    fn fails_only_if_held(
        &mut self,
        ctp: &TraceProgram,
        attempt: &Attempt,
        sections: &[LockSection],
        critical: &[Section],
    ) {
        let thread = ctp.event(attempt.event).thread;
        let attempted = self.occurrence(attempt.event);
        let taken = self.solver.literal(&ctp.terms, attempt.taken);
        let mut clause = vec![!attempted.occurs, taken];
        for (section, critical) in sections.iter().zip(critical) {
            // (A thread that did not look whether it has the lock may have it already.)
            let is_own = ctp.event(section.acquire).thread == thread;
            let is_before = !is_own || (section.taken != Term::TRUE && section.acquire < attempt.event);
            if is_before && !(attempt.shared && section.shared) {
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
                    Kind::Wake { condition, timed_out } if timed_out.is_true != Term::TRUE => {
                        let since = asleep.remove(&condition);
                        let of_condition = sleeps.entry(condition).or_default();
                        recorded.insert(id, RecordedSleep { id: SleepId(of_condition.len()), since });
                        of_condition.push(Sleep {
                            since: since.map(|since| self.node(since)),
                            occurs: since.map_or(Lit::TRUE, |since| self.done(since)),
                            wake: Some(self.occurrence(id)),
                            needs_signal: match timed_out.is_fixed() {
                                true => Lit::TRUE,
                                false => !self.solver.literal(&ctp.terms, timed_out.is_true),
                            },
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
    let (mut sections, mut attempts): (BTreeMap<Location, Vec<LockSection>>, Vec<Attempt>) =
        (BTreeMap::new(), Vec::new());
    for events in slice.kept.values() {
        let mut open: BTreeMap<Location, usize> = BTreeMap::new();
        for &id in events {
            match ctp.event(id).kind {
                Kind::Acquire { lock, shared } => {
                    let list = sections.entry(lock).or_default();
                    open.insert(lock, list.len());
                    list.push(LockSection { acquire: id, release: None, shared, taken: Term::TRUE });
                }
                Kind::Release { lock } => {
                    if let (Some(index), Some(list)) = (open.remove(&lock), sections.get_mut(&lock)) {
                        list[index].release = Some(id);
                    }
                }
                Kind::Try { lock, shared, taken } => {
                    let list = sections.entry(lock).or_default();
                    open.insert(lock, list.len());
                    list.push(LockSection { acquire: id, release: None, shared, taken: taken.is_true });
                    attempts.push(Attempt { lock, event: id, shared, taken: taken.is_true });
                }
                _ => {}
            }
        }
    }
    (sections, attempts)
}
