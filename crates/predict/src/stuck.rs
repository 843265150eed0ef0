//! Deadlocks of any kind: a moment at which everybody who has not ended stands before a step that cannot be made.
//!
//! Circles of locks are asked about one by one (`question`). What is left are waits for something that somebody should do: give a
//! signal, raise a semaphore, come to a barrier, end. Nobody does it if nobody can go on. So one literal says that all threads are
//! stuck, finished, or not started; and for each step that may wait one says that its thread stands before it, in vain:
//!
//! | step | cannot be made |
//! |---|---|
//! | taking a lock | while somebody holds it |
//! | waking up | if every signal came before the thread fell asleep, or woke another one |
//! | semaphore, barrier, once | if the number of the object, at the end, is not what it takes |
//! | waiting for the end of a thread | while that has not ended |
//!
//! The number at the end is read like any other memory, at a node behind all others.

use crate::encode::{Encoded, Section, lock_sections};
use crate::event::{Event, EventId, Kind, Read, TraceProgram};
use crate::pending::may_wait;
use crate::survey::PieceId;
use crate::walk::Location;
use leno_ir::program::{Body, Op, Place, Program, SyncOp};
use leno_logic::literal::Lit;
use leno_logic::term::{Sort, Substitution, Term};
use std::collections::{BTreeMap, BTreeSet};

/// What a trace program in the solver has for these questions.
#[derive(Default)]
pub(crate) struct Stuck {
    /// Nobody can go on.
    everybody: Option<Lit>,
    /// The steps that somebody may be stuck at.
    at: Vec<(EventId, Lit)>,
    /// The numbers of synchronisation objects at the end.
    last: BTreeMap<PieceId, Term>,
}

/// By lock and thread: it has it, in any way; it has it for writing.
type Holders = BTreeMap<Location, BTreeMap<u32, [Lit; 2]>>;

/// The operation at a place.
pub(crate) fn operation(program: &Program, place: Place) -> Option<&Op> {
    let Body::Blocks(blocks) = &program.functions.get(place.func)?.body else { return None };
    blocks.get(place.block)?.instrs.get(place.index as usize).map(|instr| &instr.op)
}

/// Whether an event is a step that may wait. (The start of a thread is at its first instruction, whatever that is.)
pub(crate) fn waits(program: &Program, event: &Event) -> bool {
    if matches!(event.kind, Kind::Start | Kind::Sleep { .. } | Kind::Release { .. }) {
        return false;
    }
    match operation(program, event.place) {
        Some(Op::Sync { op, .. }) => may_wait(op),
        Some(Op::Join { .. }) => matches!(event.kind, Kind::Join { .. }),
        _ => false,
    }
}

/// The places where somebody may be stuck in another way than in a circle of locks, and what it takes for that: none if all that
/// threads ever wait for are locks that are given back, and the ends of threads by those who hold none.
pub(crate) fn stuck_places(program: &Program, ctp: &TraceProgram) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    let mut is_possible = false;
    let mut held: BTreeMap<(u32, Location), u32> = BTreeMap::new();
    for event in &ctp.events {
        match event.kind {
            Kind::Acquire { lock, .. } => *held.entry((event.thread, lock)).or_default() += 1,
            Kind::Release { lock } => _ = held.remove(&(event.thread, lock)),
            _ => {}
        }
        if !waits(program, event) {
            continue;
        }
        places.insert(event.place);
        is_possible |= match event.kind {
            Kind::Acquire { .. } => event.pending,
            Kind::Join { .. } => event.pending || !event.locks.is_empty(),
            _ => true,
        };
    }
    // A lock that is never given back, except by the end of the process.
    is_possible |= !held.is_empty();
    if is_possible { places } else { BTreeSet::new() }
}

/// Whether somebody may be stuck in a window: there is a step, or one at its edge, that waits for more than a lock. That a lock is never
/// given back shows at the end of the run.
pub(crate) fn is_possible_in<'e>(program: &Program, events: impl IntoIterator<Item = &'e Event>) -> bool {
    events.into_iter().filter(|event| waits(program, event)).any(|event| match event.kind {
        Kind::Acquire { .. } => event.pending,
        Kind::Join { .. } => event.pending || !event.locks.is_empty(),
        _ => true,
    })
}

impl Encoded {
    /// Says in the solver what it means that nobody can go on.
    pub(crate) fn add_stuck(&mut self, program: &Program, ctp: &mut TraceProgram) {
        let everybody = self.solver.new_literal();
        self.stuck.everybody = Some(everybody);
        let holders = self.holders(ctp);
        let kept = self.slice.kept.clone();
        let spawns: BTreeMap<u32, EventId> = kept.values().flatten().filter_map(|id| spawned(ctp, *id)).collect();
        let mut somebody = vec![!everybody];
        for (number, events) in &kept {
            let mut ways = vec![!everybody];
            ways.extend(spawns.get(number).map(|spawn| !self.done(*spawn)));
            for &id in events {
                if matches!(ctp.event(id).kind, Kind::Finish) {
                    ways.push(self.done(id));
                }
                if waits(program, ctp.event(id))
                    && let Some(stuck) = self.stuck_at(program, ctp, id, &holders)
                {
                    self.stuck.at.push((id, stuck));
                    ways.push(stuck);
                    somebody.push(stuck);
                }
            }
            self.solver.add_clause(&ways);
        }
        // Whoever has been started, and does nothing that we know of, goes on.
        for (child, spawn) in spawns.iter().filter(|(child, _)| !ctp.threads.contains_key(*child)) {
            if !ctp.before.finished.contains(child) {
                self.solver.add_clause(&[!everybody, !self.done(*spawn)]);
            }
        }
        self.solver.add_clause(&somebody);
    }

    /// The literals that hold if nobody can go on, and somebody is stuck at a place.
    pub(crate) fn is_stuck_at(&mut self, ctp: &TraceProgram, place: Place) -> Vec<Lit> {
        let Some(everybody) = self.stuck.everybody else { return vec![Lit::FALSE] };
        let here = self.stuck.at.iter().filter(|(id, _)| ctp.event(*id).place == place).map(|(_, stuck)| *stuck);
        let some = self.solver.new_literal();
        let clause: Vec<Lit> = std::iter::once(!some).chain(here).collect();
        self.solver.add_clause(&clause);
        vec![everybody, some]
    }

    /// Where threads are stuck in the model that the solver has found.
    pub(crate) fn stuck_now(&mut self, ctp: &TraceProgram) -> BTreeSet<Place> {
        let at = std::mem::take(&mut self.stuck.at);
        let now = at.iter().filter(|(_, stuck)| self.solver.value(*stuck));
        let places = now.map(|(id, _)| ctp.event(*id).place).collect();
        self.stuck.at = at;
        places
    }

    /// The literal that a thread stands before a step and cannot make it.
    fn stuck_at(&mut self, program: &Program, ctp: &mut TraceProgram, id: EventId, holders: &Holders) -> Option<Lit> {
        let event = ctp.event(id).clone();
        let stuck = self.solver.new_literal();
        match &event.kind {
            Kind::Acquire { lock, shared } => {
                // Who holds it already waits for himself, if he ever comes to wait: the recorded run shows whether he does.
                let others = holders.get(lock).into_iter().flatten();
                let others = others.filter(|(thread, _)| **thread != event.thread || event.pending);
                let held = others.map(|(_, [any, exclusive])| if *shared { *exclusive } else { *any });
                let clause: Vec<Lit> = std::iter::once(!stuck).chain(held).collect();
                self.solver.add_clause(&clause);
            }
            Kind::Wake { condition, .. } => self.sleeps_on(ctp, stuck, id, *condition)?,
            Kind::Access { reads, .. } => {
                let read = reads.first()?;
                let last = self.last_value(ctp, read)?;
                let is_once = matches!(operation(program, event.place), Some(Op::Sync { op: SyncOp::OnceBegin, .. }));
                let blocked = if is_once {
                    let running = ctp.terms.bits(32, 1);
                    ctp.terms.eq(last, running)
                } else {
                    // Where it stands, it would go on if the number were another one.
                    let mut then = Substitution::new([(read.value, last)].into_iter().collect());
                    let enabled = then.apply(&mut ctp.terms, event.guard);
                    ctp.terms.not(enabled)
                };
                let blocked = self.solver.literal(&ctp.terms, blocked);
                self.solver.add_clause(&[!stuck, blocked]);
            }
            Kind::Join { child } if ctp.before.finished.contains(child) => return None,
            Kind::Join { child } => {
                for &finish in self.slice.kept.get(child).into_iter().flatten() {
                    if matches!(ctp.event(finish).kind, Kind::Finish) {
                        let not_yet = !self.done(finish);
                        self.solver.add_clause(&[!stuck, not_yet]);
                    }
                }
            }
            _ => return None,
        }
        for lit in self.stands(ctp, event.thread, event.index, event.guard) {
            self.solver.add_clause(&[!stuck, lit]);
        }
        Some(stuck)
    }

    /// Who holds which lock at the end.
    fn holders(&mut self, ctp: &TraceProgram) -> Holders {
        let mut ways: BTreeMap<(Location, u32), [Vec<Lit>; 2]> = BTreeMap::new();
        for (lock, sections) in lock_sections(ctp, &self.slice).0 {
            for section in sections {
                let holds = self.holds(&section);
                let thread = ctp.event(section.acquire).thread;
                let [any, exclusive] = ways.entry((lock, thread)).or_default();
                any.push(holds);
                exclusive.extend((!section.shared).then_some(holds));
            }
        }
        let mut holders = Holders::new();
        for ((lock, thread), ways) in ways {
            let lits = ways.map(|some| {
                let lit = self.solver.new_literal();
                let clause: Vec<Lit> = std::iter::once(!lit).chain(some).collect();
                self.solver.add_clause(&clause);
                lit
            });
            holders.entry(lock).or_default().insert(thread, lits);
        }
        holders
    }

    /// A lock has been taken and not been given back.
    fn holds(&mut self, section: &Section) -> Lit {
        let holds = self.solver.new_literal();
        self.solver.add_clause(&[!holds, self.done(section.acquire)]);
        if let Some(release) = section.release {
            self.solver.add_clause(&[!holds, !self.done(release)]);
        }
        holds
    }

    /// No signal is left for a sleeper.
    fn sleeps_on(&mut self, ctp: &TraceProgram, stuck: Lit, wake: EventId, condition: Location) -> Option<()> {
        let thread = ctp.event(wake).thread;
        let sleep = self.signals.sleeps.get(&wake).copied();
        // It may have slept since before the window.
        if sleep.is_none() && ctp.before.asleep.get(&thread) != Some(&condition) {
            return None;
        }
        let signals = self.signals.given.get(&condition).cloned().unwrap_or_default();
        for (signal, broadcast) in signals {
            if ctp.event(signal).thread == thread {
                continue;
            }
            let mut clause = vec![!stuck, !self.done(signal)];
            clause.extend(sleep.map(|sleep| self.precedes(ctp, signal, sleep)));
            if !broadcast {
                let taken = self.signals.taken.get(&signal).into_iter().flatten();
                clause.extend(taken.filter(|(by, _)| *by != wake).map(|(_, lit)| *lit));
            }
            self.solver.add_clause(&clause);
        }
        Some(())
    }

    /// The number of a synchronisation object when nobody can go on.
    fn last_value(&mut self, ctp: &mut TraceProgram, read: &Read) -> Option<Term> {
        let (everybody, piece) = (self.stuck.everybody?, read.piece);
        if let Some(&value) = self.stuck.last.get(&piece) {
            return Some(value);
        }
        let width = ctp.terms.width(read.value);
        let value = ctp.terms.variable(Sort::Bits(width), "last");
        self.stuck.last.insert(piece, value);
        self.link_end(ctp, everybody, &Read { piece, value, recorded: 0 });
        Some(value)
    }
}

fn spawned(ctp: &TraceProgram, id: EventId) -> Option<(u32, EventId)> {
    match ctp.event(id).kind {
        Kind::Spawn { child } => Some((child, id)),
        _ => None,
    }
}
