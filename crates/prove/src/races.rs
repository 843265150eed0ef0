//! Which accesses may race, with any number of threads?
//!
//! Two accesses race if two threads may be about to make them at the same time, they have a byte in common, one of them
//! writes, and not both are atomic. Every access to something shared is a stop, so the first part is what `interference` has
//! deduced: creation and joins, locks, barriers and atomic sections exclude pairs, and so do flags and locks of the program's
//! own, by the invariants. Where a pointer points is known better at a stop than in general, too. Where the program is too
//! large, or recursive, the facts about places are all there is. So they are where an atomic access is weaker than `seq_cst`: two
//! accesses may race then that are never about to happen at the same time (section 11 of the semantics page); but what creation,
//! joins, barriers and locks keep apart, they order, too.
//!
//! An object that a thread has just allocated is its own for a while (`ownership`): accesses to it then race with nothing.

use crate::coarsen::Coarsened;
use crate::code::{Code, StopId};
use crate::evaluate::Evaluator;
use crate::outside;
use crate::ownership::owned_accesses;
use leno_engine::Statistics;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::locksets::may_conflict;
use leno_ir::analysis::number::Number;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::program::{Expr, ObjectKind, Op, Order, Place, SyncOp};
use leno_ir::visit::AccessKind;
use std::collections::{BTreeMap, BTreeSet};

/// Some bytes of one of these objects that an instruction may access. (Together, not one by one: a pointer that may point to hundreds
/// of objects has one offset in all of them, and two sets of objects are compared much faster than each with each.)
#[derive(Clone, Debug)]
struct Touch {
    objects: ObjectSet,
    /// Where in it, and how many bytes; none: anywhere.
    at: Option<(Number, u64)>,
    writes: bool,
    atomic: bool,
}

impl Touch {
    /// `any_object`: what is outside may be any static object.
    fn conflicts(&self, other: &Touch, any_object: bool) -> bool {
        if !(self.writes || other.writes) || self.atomic && other.atomic {
            return false;
        }
        if any_object && (self.objects.contains(OUTSIDE) || other.objects.contains(OUTSIDE)) {
            return true;
        }
        let overlaps = || match (&self.at, &other.at) {
            (Some((here, bytes)), Some((there, others))) => here.overlaps(*bytes, there, *others),
            _ => true,
        };
        self.objects.intersects(&other.objects) && overlaps()
    }
}

/// Two accesses that may race, the smaller place first.
fn pair(a: Place, b: Place) -> (Place, Place) {
    (a.min(b), a.max(b))
}

/// More pairs of lines than this are not listed one by one.
const MOST_LISTED: usize = 1_000;

/// Pairs of lines that may race, for people: if they are very many, a line for each access, with one of its pairs.
pub fn listed(pairs: &BTreeSet<(&str, &str)>) -> Vec<String> {
    if pairs.len() <= MOST_LISTED {
        let line = |(first, second): &(&str, &str)| format!("the access at {first} may race with the one at {second}");
        return pairs.iter().map(line).collect();
    }
    let mut partners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (first, second) in pairs {
        partners.entry(first).or_default().insert(second);
        partners.entry(second).or_default().insert(first);
    }
    let line = |(access, others): (&str, BTreeSet<&str>)| {
        let example = others.first().copied().unwrap_or(access);
        match others.len() {
            0 | 1 => format!("the access at {access} may race with the one at {example}"),
            count => format!("the access at {access} may race with {count} others, among them the one at {example}"),
        }
    };
    partners.into_iter().map(line).collect()
}

/// The races that the invariants do not exclude.
pub fn races(code: &Code<'_, '_>, found: &Coarsened<'_>) -> BTreeSet<(Place, Place)> {
    let (evaluator, owned) = (Evaluator { code }, owned_accesses(code.facts));
    let mut all = BTreeSet::new();
    let touches: Vec<Vec<Touch>> = found
        .invariants
        .iter_enumerated()
        .map(|(stop, state)| {
            let node = code.stops()[stop];
            match state.is_never() || owned.contains(&code.place(node)) {
                true => Vec::new(),
                false => touched(code.facts, code.place(node), |expr| {
                    let mut places = state.iter().map(|state| evaluator.address(state, code.frame_of(node), expr));
                    let (object, offset) = places.next()??;
                    let is_one = places.all(|place| place == Some((object, offset)));
                    is_one.then_some((object, Number::constant(offset)))
                }),
            }
        })
        .collect();
    for (stop, mine) in found.invariants.ids().zip(&touches).filter(|(_, touches)| !touches.is_empty()) {
        for other in found.pairs.with(stop).filter(|other| *other >= stop) {
            let theirs = &touches[other.0 as usize];
            let is_conflict = mine.iter().any(|touch| theirs.iter().any(|their| touch.conflicts(their, false)));
            if is_conflict && !keeps_apart(code, stop, other) {
                all.insert(pair(shown(code, stop), shown(code, other)));
            }
        }
    }
    all.extend(races_in_library(code.facts));
    all
}

/// Calls of library functions that need not be thread-safe.
fn races_in_library(facts: &Facts<'_>) -> BTreeSet<(Place, Place)> {
    let mut all = BTreeSet::new();
    for places in outside::unsafe_library_calls(facts).values() {
        for (number, first) in places.iter().enumerate() {
            for second in &places[number..] {
                if may_conflict(facts.parallel(), facts.locksets(), *first, *second) {
                    all.insert(pair(*first, *second));
                }
            }
        }
    }
    all
}

/// Whether locks keep two threads from being at these stops, those included that others hold for them.
fn keeps_apart(code: &Code<'_, '_>, a: StopId, b: StopId) -> bool {
    let at = |stop: StopId| (code.root_of(code.stops()[stop]), code.place(code.stops()[stop]));
    code.facts.locksets().keep_apart(at(a), at(b))
}

/// The place of an access that people know: where they call what comes with Leno.
fn shown(code: &Code<'_, '_>, stop: StopId) -> Place {
    let node = code.stops()[stop];
    let (mut place, mut frame) = (code.place(node), code.frame_of(node));
    let program = code.program();
    let is_model = |place: Place| {
        let file = program.files.get(program.functions[place.func].span.file);
        file.is_some_and(|file| file.starts_with("<leno>"))
    };
    while let Some((caller, call)) = code.frames[frame].caller.filter(|_| is_model(place)) {
        (place, frame) = (call, caller);
    }
    place
}

/// The races that the facts about places do not exclude.
pub fn races_by_facts(facts: &Facts<'_>, statistics: &mut Statistics) -> BTreeSet<(Place, Place)> {
    let owned = match facts.features().weak_order {
        Some(_) => BTreeSet::new(),
        None => owned_accesses(facts),
    };
    let accesses: Vec<(Place, Vec<Touch>)> = places_of_accesses(facts)
        .into_iter()
        .filter(|place| facts.calls().is_reachable(place.func) && !owned.contains(place))
        .map(|place| (place, touched(facts, place, |_| None)))
        .filter(|(_, touches)| !touches.is_empty())
        .collect();
    let any_object = outside::gives_addresses(facts);
    let conflicts = |mine: &[Touch], theirs: &[Touch]| {
        mine.iter().any(|touch| theirs.iter().any(|their| touch.conflicts(their, any_object)))
    };
    let mut all = races_in_library(facts);
    let mut racing = BTreeSet::new();
    for (number, (place, mine)) in accesses.iter().enumerate() {
        for (other, theirs) in &accesses[number..] {
            if conflicts(mine, theirs) && may_conflict(facts.parallel(), facts.locksets(), *place, *other) {
                all.insert(pair(*place, *other));
                racing.extend([*place, *other]);
            }
        }
    }
    statistics.count("shared accesses", (accesses.len() + owned.len()) as u64);
    statistics.count("of them in pairs that may race", racing.len() as u64);
    all
}

/// Everything outside the program.
const OUTSIDE: AbstractId = AbstractId(0);

/// The instructions whose accesses may race.
fn places_of_accesses(facts: &Facts<'_>) -> Vec<Place> {
    if !outside::gives_addresses(facts) {
        return facts.sharing().shared_accesses().to_vec();
    }
    let mut places = Vec::new();
    for (id, function) in facts.program().functions.iter_enumerated() {
        for_each_op(id, function, |place, _| places.push(place));
    }
    places
}

/// What an instruction may access of what is shared. `address` knows some addresses better than the facts do.
fn touched(facts: &Facts<'_>, place: Place, address: impl Fn(&Expr) -> Option<(AbstractId, Number)>) -> Vec<Touch> {
    let program = facts.program();
    let Some(op) = program.op(place) else { return Vec::new() };
    let mut all = Vec::new();
    let mut add = |pointer: &Expr, bytes: Option<u64>, writes: bool, atomic: bool| {
        if let Some((object, number)) = address(pointer) {
            let objects = [object].into_iter().collect();
            all.push(Touch { objects, at: bytes.map(|bytes| (number, bytes)), writes, atomic });
            return;
        }
        let number = facts.offsets().number(program, place.func, pointer);
        let objects = facts.points_to().points_to(place.func, pointer);
        let (outside, inside): (Vec<AbstractId>, Vec<AbstractId>) = objects.iter().partition(|it| *it == OUTSIDE);
        for (objects, at) in [(outside, None), (inside, bytes.map(|bytes| (number, bytes)))] {
            all.push(Touch { objects: objects.into_iter().collect(), at, writes, atomic });
        }
    };
    if let Some((access, kind)) = op.access() {
        let is_update = matches!(op, Op::ReadModifyWrite { .. } | Op::CompareExchange { .. });
        let is_atomic = is_update || access.order != Order::NotAtomic && !matches!(op, Op::Spawn { .. });
        add(&access.ptr, Some(access.ty.bytes(program.model)), kind != AccessKind::Read, is_atomic);
    }
    match op {
        Op::Free { ptr, .. } => add(ptr, None, true, false),
        Op::ObjectSize { ptr, .. } => add(ptr, Some(1), false, true),
        Op::Sync { op, at, .. } => {
            add(at, Some(op.object_bytes(program.model).into()), true, op.object_use().is_atomic());
            if let SyncOp::CondSleep { mutex } = op {
                let bytes = SyncOp::CondRelock.object_bytes(program.model);
                add(mutex, Some(bytes.into()), true, true);
            }
        }
        Op::Call { .. } | Op::Spawn { .. } => {
            let accessed = facts.points_to().may_access(program, place.func, op);
            // (What a spawn stores itself is its access.)
            let is_call = matches!(op, Op::Call { .. });
            // (What a function that is not known does to memory of its own is its business.)
            let is_known = !outside::calls_unknown(facts, place);
            let is_outside =
                |object: AbstractId| !is_known && facts.points_to().objects()[object] == AbstractObject::Unknown;
            for (objects, writes) in [(&accessed.read, false), (&accessed.written, true)] {
                let objects = objects.iter().filter(|object| is_call && !is_outside(*object)).collect();
                all.push(Touch { objects, at: None, writes, atomic: false });
            }
        }
        _ => {}
    }
    let any_object = outside::gives_addresses(facts);
    let is_shared = |object: &AbstractId| match facts.points_to().objects()[*object] {
        _ if facts.sharing().of(*object) == Sharing::Shared => true,
        AbstractObject::Unknown => any_object,
        AbstractObject::Static(id) => any_object && program.objects[id].kind == ObjectKind::Global,
        _ => false,
    };
    for touch in &mut all {
        touch.objects = touch.objects.iter().filter(is_shared).collect();
    }
    all.retain(|touch| !touch.objects.is_empty());
    all
}
