//! Deadlocks of any kind: a final state in which all threads that have not ended stand before a step that cannot be
//! made.
//!
//! Circles of locks are asked about one by one (`question`). What is left are waits for something that another thread
//! should do: give a signal, raise a semaphore, come to a barrier, end. No thread does it if none can go on. So one
//! literal says that all threads are stuck, finished, or not started; and for each step that may wait one says that its
//! thread stands before it and it cannot be made (`leno_axioms::stuck`):
//!
//! | step | cannot be made |
//! |---|---|
//! | taking a lock | while another thread holds it |
//! | waking up | if every signal came before the thread fell asleep, or woke another one |
//! | semaphore, barrier, once | if the number of the object, in the final state, is not what it takes |
//! | waiting for the end of a thread | while that has not ended |
//!
//! The number in the final state is read like any other memory, at a node behind all others. Matches of signals and
//! wake-ups are not made exact (`Signals::match_exactly`): that takes a clause for each two signals and a sleep, and
//! what is found is followed by the interpreter anyway.

use crate::encode::Encoded;
use crate::encode::synchronisation::lock_sections;
use crate::program::event::{Event, EventId, Kind, Read, TraceProgram};
use crate::walk::blocked_at_end::may_wait;
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_axioms::exclusion::held_at_end;
use leno_axioms::guards::implying_one;
use leno_axioms::stuck::{Blocked, Standing, Thread, all_stuck, stuck};
use leno_ir::program::{Body, Op, Place, Program, SyncOp};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::term::{Sort, Substitution, Term};
use leno_trace::ThreadIndex;
use std::collections::{BTreeMap, BTreeSet};

/// What a trace program in the solver has for these questions.
#[derive(Default)]
pub(crate) struct Stuck {
    /// No thread can go on.
    all: Option<Lit>,
    /// The steps that a thread may be stuck at.
    at: Vec<(EventId, Lit)>,
    /// The final state: a node behind all others.
    node: Option<Node>,
    /// The numbers of synchronisation objects in it.
    last: BTreeMap<PieceId, Term>,
}

/// By lock and thread: it has it, in any way; it has it for writing.
type Holders = BTreeMap<Location, BTreeMap<ThreadIndex, [Lit; 2]>>;

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

/// The places where a thread may be stuck in another way than in a circle of locks: none if all that threads ever wait
/// for are locks that are given back, and the ends of threads by those that hold none.
pub(crate) fn stuck_places(program: &Program, ctp: &TraceProgram) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    let mut is_possible = false;
    let mut held: BTreeMap<(ThreadIndex, Location), u32> = BTreeMap::new();
    for event in &ctp.events {
        match event.kind {
            Kind::Acquire { lock, .. } => *held.entry((event.thread, lock)).or_default() += 1,
            Kind::Try { lock, taken, .. } if taken.recorded => *held.entry((event.thread, lock)).or_default() += 1,
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

/// Whether a thread may be stuck in a window: there is a step, or one at its edge, that waits for more than a lock.
/// That a lock is never given back shows at the end of the run.
pub(crate) fn is_possible_in<'e>(program: &Program, events: impl IntoIterator<Item = &'e Event>) -> bool {
    events.into_iter().filter(|event| waits(program, event)).any(|event| match event.kind {
        Kind::Acquire { .. } => event.pending,
        Kind::Join { .. } => event.pending || !event.locks.is_empty(),
        _ => true,
    })
}

impl Encoded {
    /// Says in the solver what it means that no thread can go on.
    pub(crate) fn add_stuck(&mut self, program: &Program, ctp: &mut TraceProgram) {
        let all = self.solver.new_literal();
        self.stuck.all = Some(all);
        let holders = self.holders(ctp);
        let kept = self.slice.kept.clone();
        let spawns: BTreeMap<ThreadIndex, EventId> =
            kept.values().flatten().filter_map(|id| spawned(ctp, *id)).collect();
        let mut threads = Vec::new();
        for (number, events) in &kept {
            let end = events.iter().find(|id| matches!(ctp.event(**id).kind, Kind::Finish));
            let mut thread = Thread {
                is_started: spawns.get(number).map_or(Lit::TRUE, |spawn| self.done(*spawn)),
                has_ended: end.map_or(Lit::FALSE, |end| self.done(*end)),
                stuck: Vec::new(),
            };
            for &id in events {
                if waits(program, ctp.event(id))
                    && let Some(stuck) = self.stuck_at(program, ctp, id, &holders)
                {
                    self.stuck.at.push((id, stuck));
                    thread.stuck.push(stuck);
                }
            }
            threads.push(thread);
        }
        // A thread that has been started, and of which no event is known, goes on.
        for (child, spawn) in spawns.iter().filter(|(child, _)| !ctp.threads.contains_key(*child)) {
            if !ctp.before.finished.contains(child) {
                self.solver.add_clause(&[!all, !self.done(*spawn)]);
            }
        }
        all_stuck(&mut self.solver, all, &threads);
    }

    /// The literals that hold if no thread can go on, and one is stuck at a place.
    pub(crate) fn is_stuck_at(&mut self, ctp: &TraceProgram, place: Place) -> Vec<Lit> {
        let Some(all) = self.stuck.all else { return vec![Lit::FALSE] };
        let here = self.stuck.at.iter().filter(|(id, _)| ctp.event(*id).place == place).map(|(_, stuck)| *stuck);
        vec![all, implying_one(&mut self.solver, here)]
    }

    /// Where threads are stuck in the model that the solver has found.
    pub(crate) fn stuck_now(&mut self, ctp: &TraceProgram) -> BTreeSet<Place> {
        let now = self.stuck.at.iter().filter(|(_, stuck)| self.solver.value(*stuck));
        now.map(|(id, _)| ctp.event(*id).place).collect()
    }

    /// The literal that a thread stands before a step and cannot make it; none if it always can.
    fn stuck_at(&mut self, program: &Program, ctp: &mut TraceProgram, id: EventId, holders: &Holders) -> Option<Lit> {
        let event = ctp.event(id).clone();
        let conditions = self.stands(ctp, event.thread, event.index, event.guard);
        let standing = Standing { conditions: &conditions, before: None };
        let reasons: Vec<Lit> = match &event.kind {
            Kind::Acquire { lock, shared } => {
                // A thread that holds the lock already waits for itself, if it ever comes to wait: the recorded run
                // shows whether it does.
                let others = holders.get(lock).into_iter().flatten();
                let others = others.filter(|(thread, _)| **thread != event.thread || event.pending);
                others.map(|(_, [any, exclusive])| if *shared { *exclusive } else { *any }).collect()
            }
            Kind::Wake { condition, .. } => {
                let sleep = *self.conditions.sleeps.get(&id)?;
                // It may have slept since before the window.
                if sleep.since.is_none() && ctp.before.asleep.get(&event.thread) != Some(condition) {
                    return None;
                }
                let blocked = Blocked::Asleep(self.conditions.signals.get(condition)?, sleep.id);
                return Some(stuck(&mut self.solver, &self.known, standing, blocked));
            }
            Kind::Access { reads, .. } => vec![self.has_wrong_value(program, ctp, &event, reads.first()?)?],
            Kind::Join { child } if ctp.before.finished.contains(child) => return None,
            Kind::Join { child } => {
                let mut events = self.slice.kept.get(child).into_iter().flatten();
                let end = events.find(|id| matches!(ctp.event(**id).kind, Kind::Finish));
                vec![end.map_or(Lit::TRUE, |end| !self.done(*end))]
            }
            _ => return None,
        };
        Some(stuck(&mut self.solver, &self.known, standing, Blocked::One(&reasons)))
    }

    /// The literal that the number of a synchronisation object does not let a step be made in the final state.
    fn has_wrong_value(
        &mut self,
        program: &Program,
        ctp: &mut TraceProgram,
        event: &Event,
        read: &Read,
    ) -> Option<Lit> {
        let last = self.last_value(ctp, read)?;
        let is_once = matches!(operation(program, event.place), Some(Op::Sync { op: SyncOp::OnceBegin, .. }));
        let blocked = if is_once {
            let running = ctp.terms.bits(32, 1);
            ctp.terms.eq(last, running)
        } else {
            // Where the thread stands, it would go on if the number were another one.
            let mut then = Substitution::new([(read.value, last)].into_iter().collect());
            let enabled = then.apply(&mut ctp.terms, event.guard);
            ctp.terms.not(enabled)
        };
        Some(self.solver.literal(&ctp.terms, blocked))
    }

    /// Which threads hold which locks in the final state.
    fn holders(&mut self, ctp: &TraceProgram) -> Holders {
        let mut ways: BTreeMap<(Location, ThreadIndex), [Vec<Lit>; 2]> = BTreeMap::new();
        for (lock, sections) in lock_sections(ctp, &self.slice).0 {
            for section in sections {
                let critical = self.critical_section(ctp, &section);
                let held = held_at_end(&mut self.solver, &critical);
                let thread = ctp.event(section.acquire).thread;
                let [any, exclusive] = ways.entry((lock, thread)).or_default();
                any.push(held);
                exclusive.extend((!section.shared).then_some(held));
            }
        }
        let mut holders = Holders::new();
        for ((lock, thread), ways) in ways {
            let lits = ways.map(|some| implying_one(&mut self.solver, some));
            holders.entry(lock).or_default().insert(thread, lits);
        }
        holders
    }

    /// The number of a synchronisation object in the final state.
    fn last_value(&mut self, ctp: &mut TraceProgram, read: &Read) -> Option<Term> {
        let (all, piece) = (self.stuck.all?, read.piece);
        if let Some(&value) = self.stuck.last.get(&piece) {
            return Some(value);
        }
        let node = self.stuck.node.unwrap_or_else(|| self.final_node());
        self.stuck.node = Some(node);
        let width = ctp.terms.width(read.value);
        let value = ctp.terms.variable(Sort::Bits(width), "last");
        self.stuck.last.insert(piece, value);
        self.link_end(ctp, node, all, &Read { piece, value, recorded: 0 });
        Some(value)
    }
}

fn spawned(ctp: &TraceProgram, id: EventId) -> Option<(ThreadIndex, EventId)> {
    match ctp.event(id).kind {
        Kind::Spawn { child } => Some((child, id)),
        _ => None,
    }
}
