//! Who touches what: the first walk, which only looks.
//!
//! Most memory of a run belongs to one thread, or is written before anybody else can see it and only read from then on. Such
//! memory is no matter of order, and makes no events (this is the thread-sensitive slicing of paper 003, section 7). What is left
//! is cut into pieces, so that two accesses touch either the same piece or nothing in common.

use crate::express::Val;
use crate::instances::{InstanceId, Instances, Kind};
use crate::must::MustOrder;
use crate::walk::{Action, Change, Listener, Location, Moment, Suspect, Touch};
use leno_ir::program::{DataModel, Datum, ObjectKind, Program};
use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What one thread does to one place, by its schedule points.
#[derive(Clone, Copy, Debug)]
struct Use {
    thread: u32,
    first: u32,
    last_write: Option<u32>,
}

/// The last touch of a heap object by a thread.
#[derive(Clone, Copy, Debug)]
pub struct LastTouch {
    pub point: u32,
}

/// The listener of the first walk.
#[derive(Default)]
pub struct Survey {
    uses: FxHashMap<(Location, u32), Vec<Use>>,
    /// Spawns, starts, joins and ends.
    pub threads: Vec<(u64, Moment, Action)>,
    pub frees: Vec<(InstanceId, u32)>,
    touched: FxHashMap<(InstanceId, u32), LastTouch>,
    /// Accesses of memory, all of them.
    pub accesses: u64,
}

impl Survey {
    fn touch(&mut self, at: &Moment, touch: Touch, writes: bool) {
        self.accesses += 1;
        if touch.at.instance.is_private() {
            return;
        }
        let uses = self.uses.entry((touch.at, touch.bytes)).or_default();
        let last_write = writes.then_some(at.point);
        match uses.iter_mut().find(|used| used.thread == at.thread) {
            Some(used) => used.last_write = last_write.or(used.last_write),
            None => uses.push(Use { thread: at.thread, first: at.point, last_write }),
        }
        self.touched.insert((touch.at.instance, at.thread), LastTouch { point: at.point });
    }
}

impl Listener for Survey {
    fn load(&mut self, _: &mut Terms, at: &Moment, touch: Touch, recorded: u128) -> Val {
        self.touch(at, touch, false);
        Val::fixed(recorded)
    }

    fn store(&mut self, _: &mut Terms, at: &Moment, touch: Touch, _: Val) {
        self.touch(at, touch, true);
    }

    fn update_load(&mut self, _: &mut Terms, _: &Moment, _: Touch, recorded: u128) -> Val {
        Val::fixed(recorded)
    }

    fn update_store(&mut self, _: &mut Terms, at: &Moment, touch: Touch, _: Val, _: Val) {
        self.touch(at, touch, true);
    }

    fn count(
        &mut self,
        _: &mut Terms,
        _: &Moment,
        _: Location,
        _: &mut dyn FnMut(&mut Terms, Term) -> Change,
    ) -> Option<Term> {
        None
    }

    fn demand(&mut self, _: &mut Terms, _: &Moment, _: Term) {}

    fn suspect(&mut self, _: &mut Terms, _: &Moment, _: Term, _: Suspect) {}

    fn act(&mut self, _: &mut Terms, at: &Moment, action: Action) {
        match action {
            Action::Spawn { .. } | Action::Start | Action::Join { .. } | Action::Finish => {
                self.threads.push((at.clock, *at, action));
            }
            Action::Free { instance } => self.frees.push((instance, at.thread)),
            _ => {}
        }
    }

    fn begin_private(&mut self, _: Location, _: u64) {}
}

/// A piece of memory that is read and written as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PieceId(pub u32);

#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub at: Location,
    pub bytes: u32,
    /// What is there before anybody writes, if it is known.
    pub initial: Option<u128>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// One thread's own.
    Private,
    /// Nobody writes it.
    Constant,
    /// Written by one thread before anybody else looks.
    Stable,
    /// From this piece on.
    Shared(PieceId),
}

/// From, to, and who uses it.
type Span<'a> = (u64, u64, &'a [Use]);

#[derive(Clone, Copy, Debug)]
struct Group {
    start: u64,
    end: u64,
    class: Class,
}

/// What may be a matter of order.
#[derive(Default)]
pub struct Sharing {
    groups: FxHashMap<InstanceId, Vec<Group>>,
    pub pieces: Vec<Piece>,
    /// By instance that is freed: who frees it.
    pub freed_by: BTreeMap<InstanceId, u32>,
    /// The last touches of instances that another thread frees.
    pub last_touches: BTreeMap<(InstanceId, u32), LastTouch>,
    pub accesses: u64,
}

impl Sharing {
    pub fn new(program: &Program, instances: &Instances, must: &MustOrder, survey: &Survey) -> Sharing {
        let mut by_instance: BTreeMap<InstanceId, Vec<Span<'_>>> = BTreeMap::new();
        for ((at, bytes), uses) in &survey.uses {
            let span = (at.offset, at.offset + u64::from(*bytes), uses.as_slice());
            by_instance.entry(at.instance).or_default().push(span);
        }
        let mut sharing = Sharing { accesses: survey.accesses, ..Sharing::default() };
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
        for (instance, by) in &survey.frees {
            sharing.freed_by.entry(*instance).or_insert(*by);
        }
        for ((instance, thread), last) in &survey.touched {
            if sharing.freed_by.get(instance).is_some_and(|by| by != thread) {
                sharing.last_touches.insert((*instance, *thread), *last);
            }
        }
        sharing
    }

    /// Spans that overlap, and what they are.
    fn add_group(
        &mut self,
        program: &Program,
        instances: &Instances,
        must: &MustOrder,
        instance: InstanceId,
        spans: &[Span<'_>],
    ) {
        let start = spans.iter().map(|span| span.0).min().unwrap_or(0);
        let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
        let uses: Vec<Use> = spans.iter().flat_map(|span| span.2).copied().collect();
        let class = match classify(must, &uses) {
            Some(class) => class,
            None => {
                let mut cuts: Vec<u64> = spans.iter().flat_map(|span| [span.0, span.1]).collect();
                cuts.sort_unstable();
                cuts.dedup();
                let first = PieceId(self.pieces.len() as u32);
                for pair in cuts.windows(2) {
                    let at = Location { instance, offset: pair[0] };
                    let bytes = (pair[1] - pair[0]) as u32;
                    self.pieces.push(Piece { at, bytes, initial: initial(program, instances, at, bytes) });
                }
                Class::Shared(first)
            }
        };
        self.groups.entry(instance).or_default().push(Group { start, end, class });
    }

    pub fn class(&self, at: Location) -> Class {
        if at.instance.is_private() {
            return Class::Private;
        }
        let Some(groups) = self.groups.get(&at.instance) else { return Class::Private };
        let index = groups.partition_point(|group| group.start <= at.offset);
        match index.checked_sub(1).map(|index| groups[index]) {
            Some(group) if at.offset < group.end => group.class,
            _ => Class::Private,
        }
    }

    /// The pieces of an access, which lies in a shared group.
    pub fn pieces_of(&self, first: PieceId, touch: Touch) -> impl Iterator<Item = PieceId> + '_ {
        let end = touch.at.offset + u64::from(touch.bytes);
        let from = self.pieces[first.0 as usize..].iter().enumerate();
        let inside = from
            .skip_while(move |(_, piece)| piece.at.offset < touch.at.offset)
            .take_while(move |(_, piece)| piece.at.instance == touch.at.instance && piece.at.offset < end);
        inside.map(move |(index, _)| PieceId(first.0 + index as u32))
    }
}

/// What a group is if it is no matter of order.
fn classify(must: &MustOrder, uses: &[Use]) -> Option<Class> {
    let first = uses.first()?.thread;
    if uses.iter().all(|used| used.thread == first) {
        return Some(Class::Private);
    }
    let mut writers = uses.iter().filter_map(|used| Some((used.thread, used.last_write?)));
    let Some((writer, mut last)) = writers.next() else { return Some(Class::Constant) };
    for (other, point) in writers {
        if other != writer {
            return None;
        }
        last = last.max(point);
    }
    let others = uses.iter().filter(|used| used.thread != writer);
    others.into_iter().all(|used| must.is_before((writer, last), (used.thread, used.first))).then_some(Class::Stable)
}

/// What is in a place before anybody writes to it.
fn initial(program: &Program, instances: &Instances, at: Location, bytes: u32) -> Option<u128> {
    let instance = instances.get(at.instance);
    match instance.kind {
        Kind::Static(object) if program.objects[object].kind != ObjectKind::External => {
            let object = &program.objects[object];
            let mut value = 0u128;
            for index in (0..u64::from(bytes)).rev() {
                value = value << 8 | u128::from(initial_byte(program, instances, &object.init, at.offset + index)?);
            }
            Some(value)
        }
        Kind::Heap if instance.zeroed => Some(0),
        _ => None,
    }
}

fn initial_byte(program: &Program, instances: &Instances, init: &[(u64, Datum)], offset: u64) -> Option<u8> {
    let index = init.partition_point(|(start, _)| *start <= offset);
    let Some((start, datum)) = index.checked_sub(1).map(|index| &init[index]) else { return Some(0) };
    let inside = (offset - start) as usize;
    let pointer = |address: u64| match program.model {
        DataModel::Lp64 => address.to_le_bytes().get(inside).copied().or(Some(0)),
        DataModel::Ilp32 => (address as u32).to_le_bytes().get(inside).copied().or(Some(0)),
    };
    match datum {
        Datum::Bytes(bytes) => Some(bytes.get(inside).copied().unwrap_or(0)),
        Datum::Object(object, shift) => pointer(instances.address_of(program, 0, *object).wrapping_add(*shift as u64)),
        Datum::Function(function) => {
            pointer(instances.function_addresses.get(function.0 as usize).copied().unwrap_or(0))
        }
    }
}
