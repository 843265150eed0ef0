//! What, other than locking and unlocking, may write the bytes of a lock?
//!
//! Two things can go wrong. A lock may be *released* without being unlocked: by an initialisation, a store, or the end
//! of its object. And a mutex may become *invalid*: destroyed, or overwritten so that it looks destroyed; locking it
//! then has no effect until it is initialised again.
//!
//! Both are effects of instructions. The thread that executes such an instruction follows them itself (`held`), with
//! the addresses that its functions were called with. For other threads the order is not known, so there must be none:
//! - No other thread that takes the lock may be alive at the same time.
//! - An instruction that makes a mutex invalid must be executed by the main thread, whose state at their creation other
//!   threads begin with; or no other thread takes the lock.
//!
//! If this does not hold the lock is damaged. Here a store in a function that is called for many objects (`memset`)
//! counts as a store of each call, to what that call passes: else the function would seem to write all objects whenever
//! it runs. (If it creates threads, it matters when the store happens.)

use std::collections::{BTreeMap, BTreeSet};

use super::held::Origins;
use super::{Lock, LockClass, LockSet};
use crate::analysis::callgraph::CallKind;
use crate::analysis::contexts::Points;
use crate::analysis::facts::Facts;
use crate::analysis::number::Number;
use crate::analysis::offsets::Address;
use crate::analysis::points_to::{AbstractObject, ObjectSet, for_each_op};
use crate::analysis::threads::{RootId, RootSet};
use crate::index::Idx;
use crate::program::*;

/// What an instruction may do to a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Effect {
    pub releases: bool,
    pub invalidates: bool,
    pub makes_valid: bool,
}

/// A use of the bytes of some locks.
#[derive(Clone, Debug)]
struct Site {
    /// The locks that it may be a use of.
    locks: Vec<Lock>,
    objects: ObjectSet,
    offset: Number,
    /// The parameter that the pointer is computed from, and how.
    origin: Option<(LocalId, Number)>,
    len: u64,
    usage: Use,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Overwrites {
    sites: BTreeMap<Place, Vec<Site>>,
    /// The same, at the calls that pass the pointers.
    lifted: BTreeMap<Place, BTreeSet<(Lock, Effect)>>,
    /// Mutexes that count how often they were locked, while they are valid.
    counting: BTreeSet<Lock>,
    /// Mutexes that are invalid when the program starts.
    invalid: BTreeSet<Lock>,
}

/// The kind of a mutex that has been destroyed.
const DESTROYED: i64 = -1;
/// Kinds whose locking counts, or never ends, if the thread holds them already.
const COUNTING: [i64; 3] = [0, 1, 3];

impl Overwrites {
    pub fn none() -> Overwrites {
        Overwrites::default()
    }

    pub fn new(facts: &Facts, locks: &BTreeSet<Lock>) -> Overwrites {
        let (origins, creates) = (Origins::new(facts), creates_threads(facts));
        let mut finder = Finder { facts, locks, origins, creates, result: Overwrites::default() };
        finder.start();
        for (id, code) in facts.program().functions.iter_enumerated() {
            if facts.points_to().is_reached(id) && !locks.is_empty() {
                for_each_op(id, code, |place, op| finder.op(place, op));
            }
        }
        finder.result
    }

    /// What an instruction may do to locks, in a function that was called with these addresses.
    pub fn by(&self, place: Place, bound: &BTreeMap<LocalId, Address>) -> Vec<(Lock, Effect)> {
        let mut effects = Vec::new();
        for site in self.sites.get(&place).into_iter().flatten() {
            let base = site.origin.as_ref().and_then(|(param, by)| Some((bound.get(param)?, by)));
            let certain = base.map(|(base, by)| (base.object, Number::constant(base.offset).add(by)));
            for &lock in &site.locks {
                let effect = match &certain {
                    Some((object, _)) if *object != lock.address.object => None,
                    Some((_, offset)) => effect(lock, true, offset, site.len, &site.usage),
                    None => effect(lock, site.objects.len() == 1, &site.offset, site.len, &site.usage),
                };
                effects.extend(effect.map(|effect| (lock, effect)));
            }
        }
        effects
    }

    /// The parameters that matter for what functions overwrite.
    pub fn parameters(&self) -> impl Iterator<Item = (FuncId, LocalId)> {
        let sites = self.sites.iter().flat_map(|(place, sites)| sites.iter().map(move |site| (place.func, site)));
        let is_open = |site: &Site| site.objects.len() > 1 || site.offset.exact().is_none();
        sites
            .filter(move |(_, site)| is_open(site))
            .filter_map(|(function, site)| Some((function, site.origin.as_ref()?.0)))
    }

    /// Whether a mutex, as long as it is valid, counts how often it was locked.
    pub fn counts(&self, lock: Lock) -> bool {
        self.counting.contains(&lock)
    }

    pub fn invalid_at_start(&self) -> &BTreeSet<Lock> {
        &self.invalid
    }

    /// The locks that are damaged, and by what.
    pub fn damage(&self, facts: &Facts, claimed: &Points<LockSet>) -> BTreeMap<Lock, BTreeSet<Place>> {
        let mut takers: BTreeMap<Lock, RootSet> = BTreeMap::new();
        for root in facts.threads().roots().ids() {
            for (lock, _) in claimed.of_root(root).flat_map(LockSet::iter) {
                takers.entry(lock).or_default().insert(root);
            }
        }
        let mut damage: BTreeMap<Lock, BTreeSet<Place>> = BTreeMap::new();
        for (place, effects) in &self.lifted {
            for (lock, effect) in effects {
                let Some(takers) = takers.get(lock) else { continue };
                let by = facts.threads().running(place.func).iter().copied();
                let mut by = by.filter(|by| facts.parallel().is_reached(*by, *place));
                if by.any(|by| does_damage(facts, by, *place, *effect, takers)) {
                    damage.entry(*lock).or_default().insert(*place);
                }
            }
        }
        damage
    }
}

fn does_damage(facts: &Facts, by: RootId, place: Place, effect: Effect, takers: &RootSet) -> bool {
    let is_main = facts.program().entry.is_some() && by == RootId(0);
    let is_single = !facts.threads().roots()[by].is_replicated;
    takers.iter().any(|taker| {
        let follows = is_main || (taker == by && is_single);
        (effect.invalidates && !follows) || facts.parallel().may_overlap_thread(by, place, taker)
    })
}

/// By function: whether it, or a function that it calls, creates threads.
fn creates_threads(facts: &Facts) -> Vec<bool> {
    let spawns = facts.calls().edges().iter().filter(|edge| edge.kind == CallKind::Spawn);
    facts.calls().calls().reversed().reachable(spawns.map(|edge| edge.place.func))
}

/// How an instruction uses the bytes at an address.
#[derive(Clone, Debug)]
enum Use {
    /// Locking and unlocking.
    Lock(LockClass),
    /// With these kinds, for a mutex.
    Init(LockClass, Number),
    Destroy(LockClass),
    /// The life of the object ends.
    End,
    Write,
}

/// What a use of `len` bytes of the object that a lock is in does to it; `is_single` if it cannot be of another object.
fn effect(lock: Lock, is_single: bool, offset: &Number, len: u64, usage: &Use) -> Option<Effect> {
    let at = |from: i64| Number::constant(lock.address.offset.saturating_add(from));
    let size = lock.class.bytes();
    if !matches!(usage, Use::End) && !offset.overlaps(len, &at(0), size) {
        return None;
    }
    // Whether it may be at another place than exactly this one, and overlap.
    let before = len.saturating_sub(1);
    let is_askew = offset.overlaps(1, &at(-(before as i64)), before) || offset.overlaps(1, &at(1), size - 1);
    let is_mutex = lock.class == LockClass::Mutex;
    let (releases, invalidates, makes_valid) = match usage {
        Use::Lock(class) if *class == lock.class && !is_askew => return None,
        Use::End => (true, false, false),
        Use::Destroy(class) if *class == lock.class && !is_askew => (false, is_mutex, false),
        Use::Init(class, kinds) if *class == lock.class && !is_askew => {
            let is_bad = is_mutex && kinds.few().is_none_or(|kinds| kinds.contains(&DESTROYED));
            (true, is_bad, !is_bad && is_single && offset.exact() == Some(lock.address.offset))
        }
        _ => (true, is_mutex, false),
    };
    Some(Effect { releases, invalidates, makes_valid })
}

struct Finder<'a> {
    facts: &'a Facts<'a>,
    locks: &'a BTreeSet<Lock>,
    origins: Origins<'a>,
    creates: Vec<bool>,
    result: Overwrites,
}

/// Effects are carried up through so many calls.
const MOST_CALLS: usize = 6;

impl Finder<'_> {
    /// Mutexes as they are before anything is executed.
    fn start(&mut self) {
        for lock in self.locks.iter().filter(|lock| lock.class == LockClass::Mutex) {
            match self.initial_kind(*lock) {
                Some(DESTROYED) | None => drop(self.result.invalid.insert(*lock)),
                Some(kind) if COUNTING.contains(&(kind & 3)) => drop(self.result.counting.insert(*lock)),
                Some(_) => {}
            }
        }
    }

    /// The kind that a mutex has at first, for what is initialised at all; none if it is not known.
    fn initial_kind(&self, lock: Lock) -> Option<i64> {
        let AbstractObject::Static(id) = self.facts.points_to().objects()[lock.address.object] else { return Some(0) };
        let object = &self.facts.program().objects[id];
        if object.kind == ObjectKind::External {
            return None;
        }
        let offset = match self.facts.program().model {
            DataModel::Lp64 => 16,
            DataModel::Ilp32 => 12,
        };
        let mut bytes = [0; 4];
        for (number, byte) in bytes.iter_mut().enumerate() {
            let at = lock.address.offset + offset + number as i64;
            for (from, datum) in &object.init {
                let within = usize::try_from(at - *from as i64).ok();
                match datum {
                    Datum::Bytes(init) => *byte = within.and_then(|within| init.get(within)).copied().unwrap_or(*byte),
                    _ if within.is_some_and(|within| within < 8) => return None,
                    _ => {}
                }
            }
        }
        Some(i32::from_le_bytes(bytes).into())
    }

    fn op(&mut self, place: Place, op: &Op) {
        let model = self.facts.program().model;
        if let Some((access, _)) = op.access() {
            self.effect(place, &access.ptr, access.ty.bytes(model), &Use::Write);
        }
        match op {
            Op::Free { ptr, .. } => self.effect(place, ptr, 1, &Use::End),
            Op::BeginLife { slot } | Op::EndLife { slot } => self.effect(place, &Expr::Slot(*slot), 1, &Use::End),
            Op::Sync { op, at, .. } => self.sync(place, op, at),
            Op::Call { .. } | Op::Spawn { .. } => {
                // What has no body may write anywhere in what it may write.
                let own = op.access().map(|(access, _)| self.facts.points_to().points_to(place.func, &access.ptr));
                let written = self.facts.points_to().may_access(self.facts.program(), place.func, op).written;
                let written = own.map_or(written.clone(), |own| written.difference(&own));
                self.add_lifted(place, &written, &Number::ANY, 1, &Use::Write);
                self.add_site(place, written, Number::ANY, None, 1, &Use::Write);
            }
            _ => {}
        }
    }

    fn sync(&mut self, place: Place, op: &SyncOp, at: &Expr) {
        use LockClass::{Mutex, ReadWrite};
        let (len, usage) = match op {
            SyncOp::Lock(kind) | SyncOp::TryLock(kind) | SyncOp::Unlock(kind) => {
                let class = LockClass::from(*kind);
                (class.bytes(), Use::Lock(class))
            }
            SyncOp::CondRelock => (Mutex.bytes(), Use::Lock(Mutex)),
            SyncOp::ReadLock | SyncOp::TryReadLock | SyncOp::WriteLock | SyncOp::TryWriteLock | SyncOp::RwUnlock => {
                (ReadWrite.bytes(), Use::Lock(ReadWrite))
            }
            SyncOp::LockInit { lock, kind } => {
                let kinds = self.facts.offsets().number(self.facts.program(), place.func, kind);
                let class = LockClass::from(*lock);
                (class.bytes(), Use::Init(class, kinds))
            }
            SyncOp::RwInit => (ReadWrite.bytes(), Use::Init(ReadWrite, Number::constant(0))),
            SyncOp::LockDestroy(kind) => (LockClass::from(*kind).bytes(), Use::Destroy((*kind).into())),
            SyncOp::RwDestroy => (ReadWrite.bytes(), Use::Destroy(ReadWrite)),
            SyncOp::BarrierInit { .. }
            | SyncOp::BarrierDestroy
            | SyncOp::BarrierArrive
            | SyncOp::BarrierLeave { .. } => (12, Use::Write),
            _ => (4, Use::Write),
        };
        self.effect(place, at, len, &usage);
        if let SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. } = op {
            self.effect(place, mutex, Mutex.bytes(), &Use::Lock(Mutex));
        }
    }

    /// What an instruction does through a pointer.
    fn effect(&mut self, place: Place, pointer: &Expr, len: u64, usage: &Use) {
        let objects = self.facts.points_to().points_to(place.func, pointer).into_owned();
        let offset = self.facts.offsets().number(self.facts.program(), place.func, pointer);
        let origin = self.origins.of(place.func, pointer);
        if self.add_site(place, objects, offset, origin, len, usage) {
            for (at, objects, offset) in self.lift(place, pointer, MOST_CALLS) {
                self.add_lifted(at, &objects, &offset, len, usage);
            }
        }
    }

    /// Whether it may be of use to locks at all.
    fn add_site(
        &mut self,
        place: Place,
        objects: ObjectSet,
        offset: Number,
        origin: Option<(LocalId, Number)>,
        len: u64,
        usage: &Use,
    ) -> bool {
        let may_be = |lock: &&Lock| {
            objects.contains(lock.address.object) && effect(**lock, false, &offset, len, usage).is_some()
        };
        let locks: Vec<Lock> = self.locks.iter().filter(may_be).copied().collect();
        if let Use::Init(_, kinds) = usage
            && !kinds.few().is_some_and(|kinds| kinds.iter().all(|kind| COUNTING.contains(&(kind & 3))))
        {
            locks.iter().for_each(|lock| _ = self.result.counting.remove(lock));
        }
        let found = !locks.is_empty();
        if found {
            let site = Site { locks, objects, offset, origin, len, usage: usage.clone() };
            self.result.sites.entry(place).or_default().push(site);
        }
        found
    }

    fn add_lifted(&mut self, place: Place, objects: &ObjectSet, offset: &Number, len: u64, usage: &Use) {
        for &lock in self.locks.iter().filter(|lock| objects.contains(lock.address.object)) {
            if let Some(effect) = effect(lock, objects.len() == 1, offset, len, usage) {
                self.result.lifted.entry(place).or_default().insert((lock, effect));
            }
        }
    }

    /// The places where a pointer comes from, and what it may point to there.
    fn lift(&self, place: Place, pointer: &Expr, depth: usize) -> Vec<(Place, ObjectSet, Number)> {
        let (program, calls) = (self.facts.program(), self.facts.calls());
        let function = place.func;
        let objects = self.facts.points_to().points_to(function, pointer).into_owned();
        let offset = self.facts.offsets().number(program, function, pointer);
        let is_open = objects.len() > 1 || offset.exact().is_none();
        let function_object = self.facts.points_to().object(AbstractObject::Function(function));
        let escapes =
            function_object.is_some_and(|object| self.facts.points_to().escaped_to_unknown().contains(object));
        let is_called = |kind| calls.edges().iter().filter(move |edge| edge.callee == function && edge.kind == kind);
        let stays = depth == 0
            || escapes
            || self.creates[function.index()]
            || program.entry.is_none_or(|entry| entry == function)
            || is_called(CallKind::Spawn).next().is_some();
        let Some((param, by)) = self.origins.of(function, pointer).filter(|_| is_open && !stays) else {
            return vec![(place, objects, offset)];
        };
        let mut found = Vec::new();
        for edge in is_called(CallKind::Call) {
            let Some(Op::Call { args, .. }) = program.op(edge.place) else { continue };
            let Some(arg) = args.get(param.index()) else { continue };
            if arg.ty(&program.functions[edge.place.func].locals, program.model)
                != program.functions[function].locals[param].ty
            {
                return vec![(place, objects, offset)];
            }
            let above = self.lift(edge.place, arg, depth - 1);
            found.extend(above.into_iter().map(|(at, objects, offset)| (at, objects, offset.add(&by))));
        }
        found
    }
}
