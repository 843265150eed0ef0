//! Which violations may be possible: assertions, races, deadlocks, uses after free, broken atomic blocks.
//!
//! Each question is a set of literals: certain threads are at certain positions, certain events have happened. The
//! solver is asked for an order in which all literals of some question hold.

use crate::encode::Encoded;
use crate::program::event::{Event, EventId, Kind, TargetId, TraceProgram, UntakenId};
use crate::query::atomicity::{Block, Interference, interferences};
use crate::query::global_deadlock::stuck_places;
use crate::query::lock_cycles::{held_by_ended, lock_cycles};
use crate::query::prediction::PredictOptions;
use crate::query::races::races;
use crate::walk::objects::InstanceId;
use leno_ir::analysis::features::has_op;
use leno_ir::index::IndexVec;
use leno_ir::program::{Op, Place, Program, Span};
use leno_logic::literal::Lit;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Question {
    /// A target of the trace program.
    Target(TargetId),
    /// Both threads are about to execute their accesses.
    Race(EventId, EventId),
    /// The first access has been executed, and the thread of the second is about to execute it: nothing orders them.
    Unordered(EventId, EventId),
    /// Each of these threads is about to acquire a lock that the next one holds, or to wait for its end.
    LockCycle(Vec<EventId>),
    /// A thread has ended (the second event) and holds a lock that another one is about to acquire.
    HeldByEnded(EventId, EventId),
    /// The object is freed first, and then accessed.
    UseAfterFree(EventId, EventId),
    /// An access of another thread comes between two accesses of a block.
    Atomicity(Interference),
    /// No thread can continue, and some thread waits at this place.
    GlobalDeadlock(Place),
    /// A thread takes the side of a branch that it did not take in the recorded run. By itself no violation.
    Untaken(UntakenId),
}

/// How many pairs of events from one pair of places in the program are asked about: those closest in time.
pub(crate) const INSTANCES: usize = 64;

/// All questions about the properties, and whether some were left out because there were too many. Without a program,
/// every acquisition of a lock may wait.
///
/// Whether all threads are blocked can be asked only if the next step of each is known, and no code outside of the
/// program wakes them.
pub fn questions(
    program: Option<&Program>,
    ctp: &TraceProgram,
    options: &PredictOptions,
    knows_all: bool,
) -> (Vec<Question>, bool) {
    let properties = options.properties;
    let mut questions = Vec::new();
    let mut left_out = false;
    for (id, target) in ctp.targets.iter_enumerated() {
        let is_asked = options.untaken_branches || !target.violation.is_beyond_path;
        if is_asked && properties.covers(target.violation.kind) {
            questions.push(Question::Target(id));
        }
    }
    if properties.race {
        left_out |= races(ctp, program.is_some_and(has_weak_orders), &mut questions);
    }
    if properties.deadlock {
        left_out |= lock_cycles(program, ctp, &mut questions);
        left_out |= held_by_ended(program, ctp, &mut questions);
        if let (Some(program), true) = (program, knows_all && !ctp.callbacks.may_wake) {
            questions.extend(stuck_places(program, ctp).into_iter().map(Question::GlobalDeadlock));
        }
    }
    if properties.memory {
        questions.extend(foreign_frees(ctp).map(|(access, free)| Question::UseAfterFree(free, access)));
    }
    if properties.race && program.is_some_and(has_weak_orders) {
        questions.extend(foreign_frees(ctp).map(|(access, free)| Question::Unordered(access, free)));
    }
    let (interferences, too_many) = interferences(ctp, options.blocks);
    questions.extend(interferences.into_iter().map(Question::Atomicity));
    (questions, left_out || too_many)
}

/// Whether accesses may race that cannot be next to each other.
pub(crate) fn has_weak_orders(program: &Program) -> bool {
    has_op(program, Op::may_see_without_order)
}

/// The last accesses of threads to objects that another one frees, with these frees.
fn foreign_frees(ctp: &TraceProgram) -> impl Iterator<Item = (EventId, EventId)> {
    let mut frees: BTreeMap<InstanceId, Vec<EventId>> = BTreeMap::new();
    for (id, event) in ctp.events.iter_enumerated() {
        if let Kind::Free { instance } | Kind::EndLife { instance } = event.kind {
            frees.entry(instance).or_default().push(id);
        }
    }
    ctp.last_accesses.iter().flat_map(move |&(instance, access)| {
        let of_instance = frees.get(&instance).cloned().unwrap_or_default();
        let is_foreign = move |free: &EventId| {
            ctp.event(*free).thread != ctp.event(access).thread && !ctp.must_precede(access, *free)
        };
        of_instance.into_iter().filter(is_foreign).map(move |free| (access, free))
    })
}

impl Question {
    /// The literal that is only true if the answer is yes.
    pub fn literal(&self, ctp: &mut TraceProgram, encoded: &mut Encoded) -> Lit {
        let mut lits = Vec::new();
        let mut symbolic = BTreeSet::new();
        match self {
            Question::Target(id) => {
                let target = ctp.targets[*id].clone();
                lits.extend(encoded.stands(ctp, target.thread, target.after, target.guard));
                lits.push(encoded.solver.literal(&ctp.terms, target.bad));
                lits.extend(encoded.in_section(ctp, target.thread, target.after));
                symbolic.extend(ctp.terms.variables_of(&[target.bad]));
                lits.extend(encoded.raw);
            }
            Question::Race(first, second) => {
                for id in [first, second] {
                    lits.extend(is_at(ctp, encoded, *id));
                }
            }
            Question::Unordered(first, second) => {
                lits.push(encoded.done(*first));
                lits.extend(is_at(ctp, encoded, *second));
            }
            Question::LockCycle(events) => {
                for id in events {
                    lits.extend(is_at(ctp, encoded, *id));
                }
            }
            Question::HeldByEnded(request, end) => {
                lits.push(encoded.done(*end));
                lits.extend(is_at(ctp, encoded, *request));
            }
            Question::UseAfterFree(free, access) => {
                lits.extend(encoded.happens(*free));
                lits.extend(is_at(ctp, encoded, *access));
                // (A block that is entered again has a new object at the same place.)
                lits.extend(next_life(ctp, *free).and_then(|begin| encoded.happens(begin)).map(|begins| !begins));
            }
            Question::Atomicity(interference) => {
                lits.extend(is_at(ctp, encoded, interference.second));
                lits.push(encoded.done(interference.between));
                lits.push(encoded.precedes(ctp, interference.first, interference.between));
                let accesses = [interference.first, interference.between];
                for (id, writes) in accesses.into_iter().zip(interference.writes) {
                    if writes {
                        lits.extend(encoded.writes_to(ctp, id, interference.piece));
                    }
                }
            }
            Question::GlobalDeadlock(place) => lits.extend(encoded.is_stuck_at(ctp, *place)),
            Question::Untaken(id) => {
                let branch = ctp.untaken[*id].clone();
                lits.extend(encoded.stands(ctp, branch.thread, branch.after, branch.guard));
                lits.push(encoded.solver.literal(&ctp.terms, branch.condition));
                lits.extend(encoded.in_section(ctp, branch.thread, branch.after));
            }
        }
        // In models that know only recorded values, the assertion itself may still read another value.
        lits.extend(encoded.pins.iter().filter(|(value, _)| !symbolic.contains(value)).map(|(_, pin)| *pin));
        let selected = encoded.solver.new_literal();
        for lit in lits {
            encoded.solver.add_clause(&[!selected, lit]);
        }
        if let Question::Unordered(first, second) = self {
            encoded.is_unordered(ctp, selected, *first, *second);
        }
        selected
    }

    /// Questions with equal keys are about the same places of the program.
    pub fn key(&self, ctp: &TraceProgram) -> Vec<Place> {
        let place = |id: &EventId| ctp.event(*id).place;
        let mut places = match self {
            Question::Target(id) => vec![ctp.targets[*id].place],
            Question::Race(first, second)
            | Question::Unordered(first, second)
            | Question::UseAfterFree(first, second)
            | Question::HeldByEnded(first, second) => vec![place(first), place(second)],
            Question::LockCycle(events) => events.iter().map(place).collect(),
            Question::Atomicity(interference) => return interference.events().map(|id| place(&id)).to_vec(),
            Question::GlobalDeadlock(place) => vec![*place],
            Question::Untaken(id) => vec![ctp.untaken[*id].place, ctp.untaken[*id].other_side()],
        };
        places.sort_unstable();
        places
    }

    /// Where the violation is in the program.
    pub fn spans(&self, ctp: &TraceProgram) -> Vec<Span> {
        let span = |id: &EventId| ctp.event(*id).span;
        match self {
            Question::Target(id) => vec![ctp.targets[*id].violation.span],
            Question::Race(first, second)
            | Question::Unordered(first, second)
            | Question::UseAfterFree(first, second)
            | Question::HeldByEnded(first, second) => vec![span(first), span(second)],
            Question::LockCycle(events) => events.iter().map(span).collect(),
            Question::Atomicity(interference) => interference.events().map(|id| span(&id)).to_vec(),
            Question::Untaken(id) => vec![ctp.untaken[*id].span],
            Question::GlobalDeadlock(place) => {
                let here = ctp.events.iter().find(|event| event.place == *place);
                here.map(|event| event.span).into_iter().collect()
            }
        }
    }

    /// The same question about the whole trace that a window is of; None if it is about what the whole has no event
    /// for.
    pub fn in_whole(
        &self,
        origin: &IndexVec<EventId, Option<EventId>>,
        targets: &IndexVec<TargetId, TargetId>,
    ) -> Option<Question> {
        let of = |id: &EventId| origin[*id];
        Some(match self {
            Question::Target(id) => Question::Target(targets[*id]),
            Question::Race(first, second) => Question::Race(of(first)?, of(second)?),
            Question::Unordered(first, second) => Question::Unordered(of(first)?, of(second)?),
            Question::LockCycle(events) => Question::LockCycle(events.iter().map(of).collect::<Option<_>>()?),
            Question::HeldByEnded(request, end) => Question::HeldByEnded(of(request)?, of(end)?),
            Question::UseAfterFree(free, access) => Question::UseAfterFree(of(free)?, of(access)?),
            Question::Atomicity(interference) => Question::Atomicity(Interference {
                first: of(&interference.first)?,
                between: of(&interference.between)?,
                second: of(&interference.second)?,
                block: match interference.block {
                    Block::Inferred(release) => Block::Inferred(of(&release)?),
                    marked => marked,
                },
                ..*interference
            }),
            Question::GlobalDeadlock(place) => Question::GlobalDeadlock(*place),
            // (Windows have none.)
            Question::Untaken(_) => return None,
        })
    }

    /// The events that must not be sliced away.
    pub fn needs(&self) -> Vec<EventId> {
        match self {
            Question::Atomicity(interference) => vec![interference.first, interference.between],
            Question::Unordered(first, _) => vec![*first],
            Question::HeldByEnded(_, end) => vec![*end],
            _ => Vec::new(),
        }
    }

    /// The violation, for the report.
    pub fn title(&self, ctp: &TraceProgram) -> &'static str {
        match self {
            Question::Target(id) => ctp.targets[*id].violation.kind.title(),
            Question::Race(..) | Question::Unordered(..) => "data race",
            Question::LockCycle(_) | Question::HeldByEnded(..) | Question::GlobalDeadlock(_) => "deadlock",
            Question::UseAfterFree(..) => "use after free",
            Question::Atomicity(_) => "atomicity violation",
            Question::Untaken(_) => "branch that goes another way",
        }
    }
}

/// Where the life of a stack object begins again after its end.
fn next_life(ctp: &TraceProgram, end: EventId) -> Option<EventId> {
    let Event { kind: Kind::EndLife { instance }, thread, index, .. } = ctp.event(end) else { return None };
    let begins = |id: &EventId| {
        let event = ctp.event(*id);
        event.index > *index && matches!(event.kind, Kind::BeginLife { instance: again } if again == *instance)
    };
    ctp.threads.get(thread)?.events.iter().copied().find(begins)
}

/// What has to hold for a thread to be about to execute an event.
fn is_at(ctp: &mut TraceProgram, encoded: &mut Encoded, id: EventId) -> Vec<Lit> {
    let event = ctp.event(id);
    let (thread, index, guard) = (event.thread, event.index, event.guard);
    encoded.stands(ctp, thread, index, guard)
}
