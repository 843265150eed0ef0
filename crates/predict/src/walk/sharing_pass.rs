//! Which memory threads share: the first walk, which makes no events.
//!
//! Most memory of a run is accessed by one thread only, or is written before any other thread can access it and only
//! read from then on. The order of such accesses does not matter, and they make no events (this is the thread-sensitive
//! slicing of paper 003, section 7). The rest is cut into pieces, so that two accesses have either the same piece or
//! nothing in common.

use crate::program::event::{Choice, Kind};
use crate::program::fork_join_order::{ForkJoinOrder, ThreadStep};
use crate::walk::concolic::ConcolicValue;
use crate::walk::listener::{
    Boundary, CounterUpdate, LibraryAccess, Listener, Location, MemoryAccess, Position, PossibleViolation,
};
use crate::walk::objects::{InstanceId, InstanceKind, Instances, RecordedAddresses};
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{BlockId, ObjectKind, Order, Program};
use leno_logic::term::{Term, Terms};
use leno_symbolic::contents::static_value;
use leno_trace::ThreadIndex;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What one thread does to one range of bytes, by its schedule points.
#[derive(Clone, Copy, Debug)]
struct ThreadUse {
    thread: ThreadIndex,
    first: u32,
    last_write: Option<u32>,
}

/// What one thread does to one synchronisation object, by its schedule points.
#[derive(Clone, Debug)]
struct ObjectSteps {
    thread: ThreadIndex,
    first: u32,
    last: u32,
    /// Where it makes or destroys it.
    makes: Vec<u32>,
}

/// The most bytes of a group that is cut into words, so that their contents can be followed.
const MOST_BYTES_IN_WORDS: u64 = 4096;
/// No piece whose contents are followed is longer.
pub const MOST_PIECE_BYTES: u32 = 16;

/// The listener of the first walk.
#[derive(Default)]
pub struct SharingPass {
    uses: FxHashMap<(Location, u32), Vec<ThreadUse>>,
    /// Starts and joins of threads.
    pub thread_steps: Vec<ThreadStep>,
    frees: Vec<(InstanceId, ThreadIndex)>,
    /// Steps on synchronisation objects.
    objects: FxHashMap<(Location, u32), Vec<ObjectSteps>>,
    /// By object and thread: the schedule point of the last access.
    last_access: FxHashMap<(InstanceId, ThreadIndex), u32>,
    /// Accesses of memory, all of them.
    accesses: u64,
}

impl SharingPass {
    fn access(&mut self, at: &Position, access: MemoryAccess, writes: bool) {
        self.accesses += 1;
        if access.at.instance.is_private() {
            return;
        }
        let uses = self.uses.entry((access.at, access.bytes)).or_default();
        let last_write = writes.then_some(at.point);
        match uses.iter_mut().find(|used| used.thread == at.thread) {
            Some(used) => used.last_write = last_write.or(used.last_write),
            None => uses.push(ThreadUse { thread: at.thread, first: at.point, last_write }),
        }
        self.last_access.insert((access.at.instance, at.thread), at.point);
    }
}

impl Listener for SharingPass {
    fn load(&mut self, _: &mut Terms, at: &Position, access: MemoryAccess, recorded: u128) -> ConcolicValue {
        self.access(at, access, false);
        ConcolicValue::fixed(recorded)
    }

    fn store(&mut self, _: &mut Terms, at: &Position, access: MemoryAccess, _: ConcolicValue) {
        self.access(at, access, true);
    }

    fn update_load(&mut self, _: &mut Terms, _: &Position, _: MemoryAccess, recorded: u128) -> ConcolicValue {
        ConcolicValue::fixed(recorded)
    }

    fn update_store(&mut self, _: &mut Terms, at: &Position, access: MemoryAccess, _: ConcolicValue, _: ConcolicValue) {
        self.access(at, access, true);
    }

    fn update_counter(
        &mut self,
        _: &mut Terms,
        _: &Position,
        _: Location,
        _: &mut dyn FnMut(&mut Terms, Term) -> CounterUpdate,
    ) -> Option<Term> {
        None
    }

    fn library_call(&mut self, _: &mut Terms, at: &Position, accesses: &[LibraryAccess]) -> Vec<Term> {
        for access in accesses {
            self.access(at, access.access, access.writes);
        }
        Vec::new()
    }

    fn object(&mut self, _: &mut Terms, at: &Position, access: MemoryAccess, makes: bool) {
        let steps = self.objects.entry((access.at, access.bytes)).or_default();
        let made = makes.then_some(at.point);
        match steps.iter_mut().find(|steps| steps.thread == at.thread) {
            Some(steps) => {
                steps.last = at.point;
                steps.makes.extend(made);
            }
            None => {
                let (thread, point) = (at.thread, at.point);
                steps.push(ObjectSteps { thread, first: point, last: point, makes: made.into_iter().collect() });
            }
        }
        self.last_access.insert((access.at.instance, at.thread), at.point);
    }

    fn private_contents(&mut self, _: &mut Terms, _: Location, _: u32, recorded: u128) -> ConcolicValue {
        ConcolicValue::fixed(recorded)
    }

    fn private_pins(&mut self, _: &mut Terms, _: Location, _: u64) -> Vec<Term> {
        Vec::new()
    }

    fn choice(&mut self, _: &mut Terms, recorded: bool) -> Choice {
        Choice::always(recorded)
    }

    fn assume(&mut self, _: &mut Terms, _: &Position, _: Term) {}

    fn untaken_branch(&mut self, _: &mut Terms, _: &Position, _: BlockId, _: Term) {}

    fn check(&mut self, _: &mut Terms, _: &Position, _: Term, _: PossibleViolation) {}

    fn event(&mut self, _: &mut Terms, at: &Position, kind: Kind) {
        match kind {
            Kind::Spawn { child } => self.thread_steps.push(ThreadStep::spawn(at, child)),
            Kind::Join { child } => self.thread_steps.push(ThreadStep::join(at, child)),
            Kind::Free { instance } | Kind::EndLife { instance } => self.frees.push((instance, at.thread)),
            _ => {}
        }
    }

    fn fence(&mut self, _: &Position, _: Order) {}

    fn boundary(&mut self, _: &Position, _: Boundary) {}

    fn new_private_object(&mut self, _: Location, _: u64) {}
}

leno_ir::index_type!(
    /// A piece of memory: its number in [`Sharing::pieces`].
    PieceId,
    "p"
);

/// A piece of memory that is read and written as one; or the counter of a synchronisation object.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub at: Location,
    pub bytes: u32,
    /// The value before the first write, if it is known.
    pub initial: Option<u128>,
}

/// How threads access some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharingClass {
    /// By one thread only.
    Private,
    /// Without any write.
    Constant,
    /// Written by one thread, before any other thread can access them.
    Published,
    /// In any other way: the order of accesses matters. From this piece on.
    Shared(PieceId),
}

/// From, to, and which threads access it.
type ByteRange<'a> = (u64, u64, &'a [ThreadUse]);

/// Overlapping ranges of bytes.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u64,
    end: u64,
    class: SharingClass,
}

/// Which memory threads share.
#[derive(Default)]
pub struct Sharing {
    groups: FxHashMap<InstanceId, Vec<Group>>,
    pub pieces: IndexVec<PieceId, Piece>,
    /// By object that another thread frees, and by thread: the schedule point of the last access.
    pub last_access_before_free: BTreeMap<(InstanceId, ThreadIndex), u32>,
    /// The objects of these.
    pub freed_elsewhere: BTreeSet<InstanceId>,
    /// Accesses of memory in the whole run.
    pub accesses: u64,
}

impl Sharing {
    pub fn new(program: &Program, instances: &Instances, must: &ForkJoinOrder, pass: &SharingPass) -> Sharing {
        let mut by_instance: BTreeMap<InstanceId, Vec<ByteRange<'_>>> = BTreeMap::new();
        for ((at, bytes), uses) in &pass.uses {
            let span = (at.offset, at.offset + u64::from(*bytes), uses.as_slice());
            by_instance.entry(at.instance).or_default().push(span);
        }
        let object_uses = unordered_object_uses(must, pass);
        for ((at, bytes), uses) in &object_uses {
            let span = (at.offset, at.offset + u64::from(*bytes), uses.as_slice());
            by_instance.entry(at.instance).or_default().push(span);
        }
        let mut sharing = Sharing { accesses: pass.accesses, ..Sharing::default() };
        for (instance, mut spans) in by_instance {
            spans.sort_unstable_by_key(|(start, end, _)| (*start, *end));
            let mut at = 0;
            while at < spans.len() {
                let mut end = spans[at].1;
                let count = spans[at..].iter().take_while(|span| {
                    let inside = span.0 < end;
                    end = if inside { end.max(span.1) } else { end };
                    inside
                });
                let until = at + count.count();
                sharing.add_group(program, instances, must, instance, &spans[at..until]);
                at = until;
            }
        }
        let mut freed_by: BTreeMap<InstanceId, ThreadIndex> = BTreeMap::new();
        for (instance, thread) in &pass.frees {
            freed_by.entry(*instance).or_insert(*thread);
        }
        for ((instance, thread), point) in &pass.last_access {
            if freed_by.get(instance).is_some_and(|freeing| freeing != thread) {
                sharing.last_access_before_free.insert((*instance, *thread), *point);
                sharing.freed_elsewhere.insert(*instance);
            }
        }
        sharing
    }

    /// Adds ranges that overlap.
    fn add_group(
        &mut self,
        program: &Program,
        instances: &Instances,
        must: &ForkJoinOrder,
        instance: InstanceId,
        ranges: &[ByteRange<'_>],
    ) {
        let Some(start) = ranges.iter().map(|range| range.0).min() else { return };
        let end = ranges.iter().map(|range| range.1).max().unwrap_or(start);
        let uses: Vec<ThreadUse> = ranges.iter().flat_map(|range| range.2).copied().collect();
        let class = match classify(must, &uses) {
            Some(class) => class,
            None => {
                let mut cuts: Vec<u64> = ranges.iter().flat_map(|range| [range.0, range.1]).collect();
                let is_long = ranges.iter().any(|range| range.1 - range.0 > MOST_PIECE_BYTES.into());
                if is_long && end - start <= MOST_BYTES_IN_WORDS {
                    cuts.extend((start..end).filter(|offset| offset % 8 == 0));
                }
                cuts.sort_unstable();
                cuts.dedup();
                let first = self.pieces.next_id();
                for pair in cuts.windows(2) {
                    let at = Location { instance, offset: pair[0] };
                    let bytes = (pair[1] - pair[0]) as u32;
                    self.pieces.push(Piece { at, bytes, initial: initial(program, instances, at, bytes) });
                }
                SharingClass::Shared(first)
            }
        };
        self.groups.entry(instance).or_default().push(Group { start, end, class });
    }

    pub fn class(&self, at: Location) -> SharingClass {
        if at.instance.is_private() {
            return SharingClass::Private;
        }
        let Some(groups) = self.groups.get(&at.instance) else { return SharingClass::Private };
        let index = groups.partition_point(|group| group.start <= at.offset);
        match index.checked_sub(1).map(|index| groups[index]) {
            Some(group) if at.offset < group.end => group.class,
            _ => SharingClass::Private,
        }
    }

    /// The pieces of an access to a shared group that begins with `first`.
    pub fn pieces_of(&self, first: PieceId, access: MemoryAccess) -> impl Iterator<Item = PieceId> + '_ {
        let end = access.at.offset + u64::from(access.bytes);
        let from = self.pieces.as_slice()[first.index()..].iter().enumerate();
        let inside = from
            .skip_while(move |(_, piece)| piece.at.offset < access.at.offset)
            .take_while(move |(_, piece)| piece.at.instance == access.at.instance && piece.at.offset < end);
        inside.map(move |(index, _)| PieceId::new(first.index() + index))
    }
}

/// The class of a group, if the order of its accesses does not matter.
fn classify(must: &ForkJoinOrder, uses: &[ThreadUse]) -> Option<SharingClass> {
    let first = uses.first()?.thread;
    if uses.iter().all(|used| used.thread == first) {
        return Some(SharingClass::Private);
    }
    let mut writers = uses.iter().filter_map(|used| Some((used.thread, used.last_write?)));
    let Some((writer, mut last)) = writers.next() else { return Some(SharingClass::Constant) };
    for (other, point) in writers {
        if other != writer {
            return None;
        }
        last = last.max(point);
    }
    let others = uses.iter().filter(|used| used.thread != writer);
    others
        .into_iter()
        .all(|used| must.is_before((writer, last), (used.thread, used.first)))
        .then_some(SharingClass::Published)
}

/// Synchronisation objects that one thread makes or destroys, or copies as any memory, while another one may use them:
/// to others each step writes them.
fn unordered_object_uses(must: &ForkJoinOrder, pass: &SharingPass) -> BTreeMap<(Location, u32), Vec<ThreadUse>> {
    // (Ordinary accesses that begin within an object, by instance.)
    let mut plain: BTreeMap<InstanceId, Vec<ByteRange<'_>>> = BTreeMap::new();
    let instances: BTreeSet<InstanceId> = pass.objects.keys().map(|(at, _)| at.instance).collect();
    for ((at, bytes), uses) in pass.uses.iter().filter(|((at, _), _)| instances.contains(&at.instance)) {
        plain.entry(at.instance).or_default().push((at.offset, at.offset + u64::from(*bytes), uses));
    }
    let mut found = BTreeMap::new();
    for ((at, bytes), steps) in &pass.objects {
        let end = at.offset + u64::from(*bytes);
        let overlapping =
            plain.get(&at.instance).into_iter().flatten().filter(|(from, to, _)| *from < end && at.offset < *to);
        let plain_uses: Vec<ThreadUse> = overlapping.flat_map(|(_, _, uses)| uses.iter()).copied().collect();
        let is_ordered = |thread: ThreadIndex, point: u32, steps: &ObjectSteps| {
            steps.thread == thread
                || must.is_before((thread, point), (steps.thread, steps.first))
                || must.is_before((steps.thread, steps.last), (thread, point))
        };
        let makes_ordered = steps
            .iter()
            .all(|one| one.makes.iter().all(|point| steps.iter().all(|other| is_ordered(one.thread, *point, other))));
        let plain_ordered = plain_uses.iter().all(|used| {
            let points = [Some(used.first), used.last_write];
            points.into_iter().flatten().all(|point| steps.iter().all(|other| is_ordered(used.thread, point, other)))
        });
        if !(makes_ordered && plain_ordered) {
            let uses = steps.iter().map(|steps| ThreadUse {
                thread: steps.thread,
                first: steps.first,
                last_write: Some(steps.last),
            });
            found.insert((*at, *bytes), uses.collect());
        }
    }
    found
}

/// The contents of a location before the first write.
fn initial(program: &Program, instances: &Instances, at: Location, bytes: u32) -> Option<u128> {
    if bytes > MOST_PIECE_BYTES {
        return Some(0);
    }
    let instance = instances.get(at.instance);
    match instance.kind {
        InstanceKind::Static(object) if program.objects[object].kind != ObjectKind::External => {
            static_value(program, object, (at.offset, bytes), &mut RecordedAddresses { program, instances }).ok()
        }
        InstanceKind::Heap if instance.zeroed => Some(0),
        _ => None,
    }
}
