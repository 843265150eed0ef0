//! What could go wrong: assertions, races, deadlocks, uses after free.
//!
//! Each question is a set of literals: certain threads stand at certain places, certain events have happened. The solver is asked for an
//! order in which all literals of some question hold.

use crate::atomicity::{Block, Blocks, Broken, broken_blocks};
use crate::encode::Encoded;
use crate::event::{EventId, Kind, TraceProgram};
use crate::instances::InstanceId;
use crate::stuck::{operation, stuck_places};
use crate::survey::PieceId;
use crate::walk::Location;
use leno_explore::Properties;
use leno_ir::program::{Op, Place, Program, SyncOp};
use leno_logic::literal::Lit;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Question {
    /// A target of the trace program.
    Target(usize),
    /// Both threads stand at their accesses.
    Race(EventId, EventId),
    /// Every one of these threads stands at a lock that the next one has.
    Deadlock(Vec<EventId>),
    /// Freed first, and then touched.
    UseAfterFree(EventId, EventId),
    /// Somebody comes between two accesses of a block.
    Broken(Broken),
    /// Nobody can go on, and somebody stands at this place.
    Stuck(Place),
}

/// How many pairs of events that come from one pair of places in the program are asked about: those closest in time.
const INSTANCES: usize = 64;
/// Circles of locks that are asked about.
const CIRCLES: usize = 10_000;
const LONGEST_CIRCLE: usize = 6;

/// All questions about the properties, and whether some were left out because there were too many. Without a program, every taking
/// of a lock waits for it.
///
/// Whether everybody is stuck can only be known if everybody is known, and if nobody comes from outside to wake them.
pub fn questions(
    program: Option<&Program>,
    ctp: &TraceProgram,
    properties: Properties,
    blocks: Blocks,
    knows_all: bool,
) -> (Vec<Question>, bool) {
    let mut questions = Vec::new();
    let mut left_out = false;
    for (index, target) in ctp.targets.iter().enumerate() {
        if properties.covers(target.what.kind) {
            questions.push(Question::Target(index));
        }
    }
    if properties.race {
        left_out |= races(ctp, &mut questions);
    }
    if properties.deadlock {
        left_out |= deadlocks(program, ctp, &mut questions);
        if let (Some(program), true) = (program, knows_all && !ctp.called_back.wake) {
            questions.extend(stuck_places(program, ctp).into_iter().map(Question::Stuck));
        }
    }
    if properties.memory {
        uses_after_free(ctp, &mut questions);
    }
    let (broken, too_many) = broken_blocks(ctp, blocks);
    questions.extend(broken.into_iter().map(Question::Broken));
    (questions, left_out || too_many)
}

impl Question {
    /// The literal that is only true if the question's answer is yes.
    pub fn literal(&self, ctp: &mut TraceProgram, encoded: &mut Encoded) -> Lit {
        let mut lits = Vec::new();
        let mut symbolic = BTreeSet::new();
        match self {
            Question::Target(index) => {
                let target = ctp.targets[*index].clone();
                lits.extend(encoded.stands(ctp, target.thread, target.after, target.guard));
                lits.push(encoded.solver.literal(&ctp.terms, target.bad));
                lits.extend(encoded.in_section(ctp, target.thread, target.after));
                symbolic.extend(ctp.terms.variables_of(&[target.bad]));
                lits.extend(encoded.raw);
            }
            Question::Race(first, second) => {
                for id in [first, second] {
                    lits.extend(stands_at(ctp, encoded, *id));
                }
            }
            Question::Deadlock(events) => {
                for id in events {
                    lits.extend(stands_at(ctp, encoded, *id));
                }
            }
            Question::UseAfterFree(free, touch) => {
                lits.extend(encoded.happens(*free));
                lits.extend(stands_at(ctp, encoded, *touch));
            }
            Question::Broken(broken) => {
                lits.extend(stands_at(ctp, encoded, broken.second));
                lits.push(encoded.done(broken.between));
                lits.push(encoded.precedes(ctp, broken.first, broken.between));
                for (id, writes) in [broken.first, broken.between].into_iter().zip(broken.writes) {
                    if writes {
                        lits.extend(encoded.writes_to(ctp, id, broken.piece));
                    }
                }
            }
            Question::Stuck(place) => lits.extend(encoded.is_stuck_at(ctp, *place)),
        }
        // What only knows what was seen may still see something else in the assertion itself.
        lits.extend(encoded.pins.iter().filter(|(value, _)| !symbolic.contains(value)).map(|(_, pin)| *pin));
        let selected = encoded.solver.new_literal();
        for lit in lits {
            encoded.solver.add_clause(&[!selected, lit]);
        }
        selected
    }

    /// Questions with equal keys are about the same places of the program.
    pub fn key(&self, ctp: &TraceProgram) -> Vec<Place> {
        let place = |id: &EventId| ctp.event(*id).place;
        let mut places = match self {
            Question::Target(index) => vec![ctp.targets[*index].place],
            Question::Race(first, second) | Question::UseAfterFree(first, second) => vec![place(first), place(second)],
            Question::Deadlock(events) => events.iter().map(place).collect(),
            Question::Broken(Broken { first, between, second, .. }) => {
                vec![place(first), place(between), place(second)]
            }
            Question::Stuck(place) => vec![*place],
        };
        // Of a block, the order is part of it.
        if !matches!(self, Question::Broken(_)) {
            places.sort_unstable();
        }
        places
    }

    /// The same question about the whole trace that a window is of.
    pub fn in_whole(&self, origin: &[Option<EventId>], targets: &[usize]) -> Question {
        let of = |id: &EventId| origin[id.0 as usize].unwrap_or(EventId(0));
        match self {
            Question::Target(index) => Question::Target(targets[*index]),
            Question::Race(first, second) => Question::Race(of(first), of(second)),
            Question::Deadlock(events) => Question::Deadlock(events.iter().map(of).collect()),
            Question::UseAfterFree(free, touch) => Question::UseAfterFree(of(free), of(touch)),
            Question::Broken(broken) => Question::Broken(Broken {
                first: of(&broken.first),
                between: of(&broken.between),
                second: of(&broken.second),
                block: match broken.block {
                    Block::Inferred(release) => Block::Inferred(of(&release)),
                    marked => marked,
                },
                ..*broken
            }),
            Question::Stuck(place) => Question::Stuck(*place),
        }
    }

    /// The events that must not be sliced away.
    pub fn needs(&self) -> Vec<EventId> {
        match self {
            Question::Broken(broken) => vec![broken.first, broken.between],
            _ => Vec::new(),
        }
    }

    /// For people.
    pub fn title(&self, ctp: &TraceProgram) -> &'static str {
        match self {
            Question::Target(index) => ctp.targets[*index].what.kind.title(),
            Question::Race(..) => "data race",
            Question::Deadlock(_) | Question::Stuck(_) => "deadlock",
            Question::UseAfterFree(..) => "use after free",
            Question::Broken(_) => "atomicity violation",
        }
    }
}

fn stands_at(ctp: &mut TraceProgram, encoded: &mut Encoded, id: EventId) -> Vec<Lit> {
    let event = ctp.event(id);
    // A lock's own guard is about the way to it; an access' too.
    let (thread, index, guard) = (event.thread, event.index, event.guard);
    encoded.stands(ctp, thread, index, guard)
}

// --- races

fn races(ctp: &TraceProgram, questions: &mut Vec<Question>) -> bool {
    let mut by_piece: BTreeMap<PieceId, BTreeMap<u32, Vec<EventId>>> = BTreeMap::new();
    for (number, thread) in &ctp.threads {
        for &id in &thread.events {
            let event = ctp.event(id);
            let Kind::Access { reads, writes, is_plain: true, .. } = &event.kind else { continue };
            if event.section.is_some() {
                continue;
            }
            let mut pieces: Vec<PieceId> = reads.iter().map(|read| read.piece).collect();
            pieces.extend(writes.iter().map(|write| write.piece));
            pieces.sort_unstable();
            pieces.dedup();
            for piece in pieces {
                by_piece.entry(piece).or_default().entry(*number).or_default().push(id);
            }
        }
    }
    let mut found = Pairs::new();
    for threads in by_piece.values() {
        let lists: Vec<&Vec<EventId>> = threads.values().collect();
        for (index, ours) in lists.iter().enumerate() {
            for theirs in &lists[index + 1..] {
                race_pairs(ctp, ours, theirs, &mut found);
            }
        }
    }
    let mut left_out = false;
    let mut seen = BTreeSet::new();
    for instances in found.into_values() {
        let all = instances.into_values().flatten();
        for (count, (first, second)) in all.enumerate() {
            left_out |= count >= INSTANCES;
            if count < INSTANCES && seen.insert((first, second)) {
                questions.push(Question::Race(first, second));
            }
        }
    }
    left_out
}

type Pairs = BTreeMap<(Place, Place), BTreeMap<u64, BTreeSet<(EventId, EventId)>>>;

/// The pairs that may race, by how far apart they were.
fn race_pairs(ctp: &TraceProgram, ours: &[EventId], theirs: &[EventId], found: &mut Pairs) {
    for &first in ours {
        let a = ctp.event(first);
        // All but those that are always over, or always to come.
        let other = ctp.event(theirs[0]).thread;
        let passed = ctp.must.passed(a.thread, a.point, other);
        let from = theirs.partition_point(|id| ctp.event(*id).point < passed);
        for &second in &theirs[from..] {
            let b = ctp.event(second);
            if ctp.must.is_before((a.thread, a.point), (b.thread, b.point)) {
                break;
            }
            if !conflict(&a.kind, &b.kind) || common_lock(&a.locks, &b.locks) {
                continue;
            }
            let (first, second) = if a.place <= b.place { (first, second) } else { (second, first) };
            let places = (ctp.event(first).place, ctp.event(second).place);
            let near = found.entry(places).or_default();
            near.entry(a.clock.abs_diff(b.clock)).or_default().insert((first, second));
            // Enough is enough: the farthest go.
            while near.values().map(BTreeSet::len).sum::<usize>() > 4 * INSTANCES {
                near.pop_last();
            }
        }
    }
}

fn conflict(a: &Kind, b: &Kind) -> bool {
    let (Kind::Access { writes: ours, atomic, .. }, Kind::Access { writes: theirs, atomic: also, .. }) = (a, b) else {
        return false;
    };
    let is_write = !ours.is_empty() || !theirs.is_empty();
    is_write && !(*atomic && *also)
}

fn common_lock(a: &[(Location, bool)], b: &[(Location, bool)]) -> bool {
    a.iter().any(|(lock, shared)| b.iter().any(|(other, also)| lock == other && !(*shared && *also)))
}

// --- deadlocks

/// A thread that holds one lock and wants another.
#[derive(Clone, Copy)]
struct Wish {
    thread: u32,
    event: EventId,
    held: Location,
    held_shared: bool,
    wanted: Location,
    wanted_shared: bool,
}

fn deadlocks(program: Option<&Program>, ctp: &TraceProgram, questions: &mut Vec<Question>) -> bool {
    let mut wishes: BTreeMap<Location, Vec<Wish>> = BTreeMap::new();
    for (index, event) in ctp.events.iter().enumerate() {
        let Kind::Acquire { lock, shared } = event.kind else { continue };
        if program.is_some_and(|program| !waits(program, event.place)) {
            continue;
        }
        // Who waits for himself is a circle of one. Only the run shows whether he does: a lock may be recursive.
        let is_mutex = program.is_some_and(|program| is_mutex(program, event.place));
        if event.pending && is_mutex && event.locks.iter().any(|(held, _)| *held == lock) {
            questions.push(Question::Deadlock(vec![EventId(index as u32)]));
        }
        for &(held, held_shared) in event.locks.iter().filter(|(held, _)| *held != lock) {
            let event = EventId(index as u32);
            let thread = ctp.event(event).thread;
            wishes.entry(held).or_default().push(Wish {
                thread,
                event,
                held,
                held_shared,
                wanted: lock,
                wanted_shared: shared,
            });
        }
    }
    let mut search = Circles { ctp, wishes: &wishes, found: BTreeMap::new(), count: 0 };
    for list in wishes.values() {
        for wish in list {
            search.extend(&mut vec![*wish]);
        }
    }
    let left_out = search.count >= CIRCLES;
    let mut cut = false;
    for instances in search.found.into_values() {
        cut |= instances.len() >= INSTANCES;
        questions.extend(instances.into_iter().map(Question::Deadlock));
    }
    left_out || cut
}

/// Whether the step at a place waits for a lock, and does not only try.
fn waits(program: &Program, place: Place) -> bool {
    matches!(
        operation(program, place),
        Some(Op::Sync { op: SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock | SyncOp::CondRelock, .. })
    )
}

fn is_mutex(program: &Program, place: Place) -> bool {
    matches!(operation(program, place), Some(Op::Sync { op: SyncOp::Lock(_), .. }))
}

struct Circles<'a> {
    ctp: &'a TraceProgram,
    wishes: &'a BTreeMap<Location, Vec<Wish>>,
    found: BTreeMap<Vec<Place>, BTreeSet<Vec<EventId>>>,
    count: usize,
}

impl Circles<'_> {
    /// Depth first, each circle from its smallest thread.
    fn extend(&mut self, path: &mut Vec<Wish>) {
        let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) else { return };
        if self.count >= CIRCLES {
            return;
        }
        self.count += 1;
        if last.wanted == first.held && path.len() > 1 && !(last.wanted_shared && first.held_shared) {
            let events: Vec<EventId> = path.iter().map(|wish| wish.event).collect();
            let mut places: Vec<Place> = events.iter().map(|id| self.ctp.event(*id).place).collect();
            places.sort_unstable();
            let instances = self.found.entry(places).or_default();
            if instances.len() < INSTANCES {
                instances.insert(events);
            }
            return;
        }
        if path.len() >= LONGEST_CIRCLE {
            return;
        }
        for &next in self.wishes.get(&last.wanted).into_iter().flatten() {
            let fits = next.thread > first.thread
                && !(last.wanted_shared && next.held_shared)
                && path.iter().all(|wish| {
                    wish.thread != next.thread
                        && !common_lock(&self.ctp.event(wish.event).locks, &self.ctp.event(next.event).locks)
                        && !self.ctp.must_precede(wish.event, next.event)
                        && !self.ctp.must_precede(next.event, wish.event)
                });
            if fits {
                path.push(next);
                self.extend(path);
                path.pop();
            }
        }
    }
}

// --- memory

fn uses_after_free(ctp: &TraceProgram, questions: &mut Vec<Question>) {
    let mut frees: BTreeMap<InstanceId, Vec<EventId>> = BTreeMap::new();
    for (index, event) in ctp.events.iter().enumerate() {
        if let Kind::Free { instance } = event.kind {
            frees.entry(instance).or_default().push(EventId(index as u32));
        }
    }
    for &(instance, touch) in &ctp.touches {
        for &free in frees.get(&instance).into_iter().flatten() {
            if ctp.event(free).thread != ctp.event(touch).thread && !ctp.must_precede(touch, free) {
                questions.push(Question::UseAfterFree(free, touch));
            }
        }
    }
}
