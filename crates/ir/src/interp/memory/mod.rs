//! Memory: objects, addresses, and the checks that every access passes.
//!
//! An address is `granule number << G | offset` with G = 40 (LP64) or 16 (ILP32). An object of `size` bytes owns
//! `size / 2^G + 1` granules, so that its one-past-the-end address is still its own and no arithmetic on a valid
//! pointer reaches a neighbour unnoticed. Granule 0 is null; functions come next, then static objects; the rest is
//! cut into arenas.
//!
//! Each thread allocates from an arena of its own, going round it, so that what one thread allocates does not
//! move the addresses of another: allocations of different threads commute, which partial-order reduction relies on.
//! A freed granule is used again only when the arena has been gone round once, oldest first; until then every
//! access to it is seen as a use after free. (Unless it is given out again on purpose: see `reuse`.)

pub(in crate::interp) mod bytes;
mod leak;
pub(in crate::interp) mod owner;
mod recycle;
mod reuse;
mod state;
pub(in crate::interp) mod violation;

use crate::interp::value::{Value, ones};
use crate::program::DataModel;
use bytes::{Bytes, DENSE, Definedness};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use violation::{Fault, Intent, ViolationKind};

/// What an object is. It decides what may be done to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(in crate::interp) enum Kind {
    /// A granule that has never been used.
    Nothing,
    /// A further granule of a large object; `origin` is the number of granules back to its first.
    Continued,
    Function,
    Global,
    Constant,
    ThreadLocal,
    Stack,
    Heap,
    /// Declared elsewhere: its contents are unknown.
    External,
    /// Made by the library: a `FILE`, the text of an error message. Opaque to the program.
    Library,
}

/// One object, alive or dead.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::interp) struct Instance {
    pub size: u64,
    pub bytes: Bytes,
    pub definedness: Definedness,
    pub kind: Kind,
    pub alive: bool,
    /// A dead slot of a running activation: its address is kept for its next life.
    pub is_kept: bool,
    /// Its undefined bits are not uninitialised, but were written by unknown code.
    pub unknown: bool,
    /// The function or object, or where in the code a stack or heap object was made.
    pub origin: u32,
    /// For a stack object: which slot (or `u32::MAX` for `alloca`).
    pub slot: u32,
    pub made_by: u32,
    /// Thread and place of the end of its life.
    pub ended: (u32, u32),
    /// Nothing referred to it when it was freed.
    pub forgotten: bool,
    /// It was given the address of an object that had been freed.
    pub reused: bool,
}

impl Instance {
    const NOTHING: Instance = Instance {
        size: 0,
        bytes: Bytes::EMPTY,
        definedness: Definedness::Defined,
        kind: Kind::Nothing,
        alive: false,
        is_kept: false,
        unknown: false,
        origin: 0,
        slot: 0,
        made_by: 0,
        ended: (0, 0),
        forgotten: false,
        reused: false,
    };

    pub fn new(kind: Kind, size: u64, origin: u32, made_by: u32) -> Instance {
        Instance {
            size,
            bytes: Bytes::filled(size as usize, 0),
            kind,
            alive: true,
            origin,
            made_by,
            ..Instance::NOTHING
        }
    }

    /// With contents that nothing is known of.
    pub fn unknown(self) -> Instance {
        Instance { unknown: true, ..self.uninitialised() }
    }

    pub fn uninitialised(mut self) -> Instance {
        self.definedness = Definedness::Undefined;
        self
    }

    fn end(&mut self, thread: u32, place: u32) {
        if !self.is_kept {
            self.ended = (thread, place);
        }
        (self.alive, self.is_kept) = (false, false);
        self.bytes = Bytes::EMPTY;
        self.definedness = Definedness::Defined;
    }

    /// Whether `len` bytes at `offset` may be accessed.
    #[inline]
    fn admits(&self, offset: u64, len: u64, intent: Intent) -> bool {
        let fits = offset.checked_add(len).is_some_and(|end| end <= self.size);
        let forbidden = self.kind == Kind::Function || self.kind == Kind::Constant && intent.writes();
        self.alive && fits && !forbidden
    }

    fn set_undefined(&mut self, offset: usize, len: usize, mask: u128) {
        if mask == 0 {
            return self.definedness.define(self.size as usize, offset..offset + len);
        }
        let mut bytes = mask.to_le_bytes().into_iter();
        self.definedness.write(self.size as usize, offset..offset + len, || bytes.next().unwrap_or(0));
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Arena {
    granules: Vec<Instance>,
    /// Where the next object goes, if there is room.
    cursor: u32,
    alive: u32,
}

/// The offsets at which a pointer is nearer to an object of this size than to any other one: half of a granule before its
/// beginning to half of its last granule, or to its end. `bits`: of an offset in a granule.
pub fn near_offsets(size: u64, bits: u32) -> RangeInclusive<i64> {
    let half = 1i64 << (bits - 1);
    let last = ((size >> bits) << bits) as i64 + half - 1;
    -half..=last.max(size as i64)
}

/// How the address space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Layout {
    granule_bits: u32,
    arena_bits: u32,
    /// The first granule of the first arena.
    first: u64,
    arenas: u32,
}

/// Where an object is.
#[derive(Clone, Copy)]
enum Position {
    /// At this granule, of a static object or in an arena.
    Granule(u64),
    /// Among the vast ones, by its first granule.
    Vast(u64),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::interp) struct Memory {
    layout: Layout,
    statics: Vec<Instance>,
    arenas: Vec<Arena>,
    /// The arena that each thread allocates from now.
    current: Vec<u32>,
    /// Arenas that threads took when theirs was full, from the last one downwards.
    taken_from_above: u32,
    /// Objects too large for an arena, by their first granule; they are placed downwards from the top.
    vast: BTreeMap<u64, Instance>,
    live_bytes: u64,
    limit: u64,
    /// New objects go to the first granule that was never used, or was recycled.
    recycles: bool,
}

impl Memory {
    pub fn new(model: DataModel, limit: u64) -> Memory {
        let (granule_bits, arena_bits) = match model {
            DataModel::Lp64 => (40, 14),
            DataModel::Ilp32 => (16, 10),
        };
        let layout = Layout { granule_bits, arena_bits, first: 0, arenas: 0 };
        Memory {
            layout,
            statics: vec![Instance::NOTHING],
            arenas: Vec::new(),
            current: Vec::new(),
            taken_from_above: 0,
            vast: BTreeMap::new(),
            live_bytes: 0,
            limit,
            recycles: false,
        }
    }

    /// About how many words it takes to copy or hash all of it.
    pub fn weight(&self) -> u64 {
        let words = |instance: &Instance| 8 + instance.size / 8;
        let arenas = self.arenas.iter().map(|arena| arena.granules.len() as u64 * 8).sum::<u64>();
        self.statics.iter().map(words).sum::<u64>() + arenas + self.live_bytes / 8
    }

    pub fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    fn granules(&self, size: u64) -> u64 {
        (size >> self.layout.granule_bits) + 1
    }

    /// Objects of more granules than this have a place of their own outside of the arenas.
    fn largest_run(&self) -> u64 {
        1 << (self.layout.arena_bits - 2)
    }

    fn granule_count(&self) -> u64 {
        1 << (if self.layout.granule_bits == 40 { 24 } else { 16 })
    }

    /// Adds an object that lives for the whole execution. Only before [`Memory::seal`].
    pub fn add_static(&mut self, instance: Instance) -> u64 {
        let granules = self.granules(instance.size);
        if granules > self.largest_run() {
            // One that does not fit the address space at all stays at null.
            return self.allocate_vast(granules, instance).unwrap_or(0);
        }
        let granule = self.statics.len() as u64;
        let more = granules - 1;
        self.statics.push(instance);
        for back in 1..=more {
            self.statics.push(Instance { kind: Kind::Continued, origin: back as u32, ..Instance::NOTHING });
        }
        granule << self.layout.granule_bits
    }

    /// All static objects are there: the rest of the address space is for arenas.
    pub fn seal(&mut self) {
        let arena = 1 << self.layout.arena_bits;
        self.layout.first = (self.statics.len() as u64).next_multiple_of(arena);
        self.layout.arenas = (self.granule_count().saturating_sub(self.layout.first) / arena) as u32;
    }

    /// Writes into an object, constant or not; what is out of bounds is left out.
    pub fn initialise(&mut self, address: u64, offset: u64, bytes: &[u8]) {
        if let Some(instance) = self.locate(address).and_then(|(position, _)| self.at_mut(position)) {
            let len = bytes.len().min(instance.size.saturating_sub(offset) as usize);
            instance.bytes.write_all(offset as usize, &bytes[..len]);
        }
    }

    /// The object that owns this address, and the offset in it.
    #[inline]
    pub fn find(&self, address: u64) -> Option<(&Instance, u64)> {
        let granule = address >> self.layout.granule_bits;
        let offset = address & ((1 << self.layout.granule_bits) - 1);
        let Some(instance) = self.at_granule(granule) else { return self.find_vast(address) };
        match instance.kind {
            Kind::Nothing => None,
            Kind::Continued => {
                let back = u64::from(instance.origin);
                Some((self.at_granule(granule - back)?, offset + (back << self.layout.granule_bits)))
            }
            _ => Some((instance, offset)),
        }
    }

    /// Where the object is that owns this address, and the offset in it.
    #[inline]
    fn locate(&self, address: u64) -> Option<(Position, u64)> {
        let granule = address >> self.layout.granule_bits;
        let offset = address & ((1 << self.layout.granule_bits) - 1);
        match self.at_granule(granule) {
            None => {
                let (_, offset) = self.find_vast(address)?;
                Some((Position::Vast((address - offset) >> self.layout.granule_bits), offset))
            }
            Some(instance) => match instance.kind {
                Kind::Nothing => None,
                Kind::Continued => {
                    let back = u64::from(instance.origin);
                    Some((Position::Granule(granule - back), offset + (back << self.layout.granule_bits)))
                }
                _ => Some((Position::Granule(granule), offset)),
            },
        }
    }

    #[inline]
    fn at(&self, position: Position) -> Option<&Instance> {
        match position {
            Position::Granule(granule) => self.at_granule(granule),
            Position::Vast(first) => self.vast.get(&first),
        }
    }

    #[inline]
    fn at_mut(&mut self, position: Position) -> Option<&mut Instance> {
        match position {
            Position::Granule(granule) => self.at_granule_mut(granule),
            Position::Vast(first) => self.vast.get_mut(&first),
        }
    }

    /// Where a granule is in its arena: the arena's number, and the place in it.
    #[inline]
    fn place(&self, granule: u64) -> (usize, usize) {
        let index = granule - self.layout.first;
        ((index >> self.layout.arena_bits) as usize, (index & ((1 << self.layout.arena_bits) - 1)) as usize)
    }

    #[inline]
    fn at_granule(&self, granule: u64) -> Option<&Instance> {
        if granule < self.layout.first {
            return self.statics.get(granule as usize);
        }
        let (arena, place) = self.place(granule);
        self.arenas.get(arena)?.granules.get(place)
    }

    #[inline]
    fn at_granule_mut(&mut self, granule: u64) -> Option<&mut Instance> {
        if granule < self.layout.first {
            return self.statics.get_mut(granule as usize);
        }
        let (arena, place) = self.place(granule);
        self.arenas.get_mut(arena)?.granules.get_mut(place)
    }

    fn find_vast(&self, address: u64) -> Option<(&Instance, u64)> {
        let (first, instance) = self.vast.range(..=address >> self.layout.granule_bits).next_back()?;
        let offset = address - (first << self.layout.granule_bits);
        (offset >> self.layout.granule_bits < self.granules(instance.size)).then_some((instance, offset))
    }

    /// Checks an access of `len` bytes and returns the object and the offset.
    #[inline]
    pub fn check(&self, address: u64, len: u64, intent: Intent) -> Result<(&Instance, usize), Fault> {
        match self.find(address) {
            Some((instance, offset)) if instance.admits(offset, len, intent) => Ok((instance, offset as usize)),
            _ => Err(self.refuse(address, len, intent)),
        }
    }

    /// What is wrong with an access that is not admitted.
    #[cold]
    fn refuse(&self, address: u64, len: u64, intent: Intent) -> Fault {
        let kind = match self.nearest(address) {
            None if address >> self.layout.granule_bits == 0 => ViolationKind::NullDereference,
            None => ViolationKind::InvalidPointer,
            Some((instance, offset)) => match (instance.kind, instance.alive) {
                (Kind::Function, _) => ViolationKind::InvalidPointer,
                (Kind::Stack | Kind::ThreadLocal, false) => ViolationKind::UseAfterScope,
                (_, false) => ViolationKind::UseAfterFree,
                (Kind::Constant, true) if offset >= 0 && offset as u64 + len <= instance.size => {
                    ViolationKind::WriteToConstant
                }
                (_, true) => ViolationKind::OutOfBounds,
            },
        };
        Fault { kind, address, len, intent }
    }

    /// The object that an address is probably meant to be in: a little before the beginning of an object is a
    /// negative offset of that one, rather than a huge offset of its neighbour.
    pub fn nearest(&self, address: u64) -> Option<(&Instance, i64)> {
        let found = self.find(address);
        if let Some((instance, offset)) = found
            && offset <= instance.size
        {
            return Some((instance, offset as i64));
        }
        let bits = self.layout.granule_bits;
        let next = ((address >> bits) + 1).checked_shl(bits).filter(|_| address >> bits != 0);
        let before = next.map(|next| next.wrapping_sub(address)).filter(|before| *before < 1 << (bits - 1));
        match (before, next.and_then(|next| self.find(next))) {
            (Some(before), Some((instance, 0))) => Some((instance, -(before as i64))),
            _ => found.map(|(instance, offset)| (instance, offset as i64)),
        }
    }

    /// Whether moving a pointer leads from (or from next to) an object to where another one may be.
    pub fn is_moved_away(&self, from: u64, to: u64) -> bool {
        let Some((instance, offset)) = self.nearest(from).filter(|(instance, _)| instance.kind != Kind::Function)
        else {
            return false;
        };
        let bits = self.layout.granule_bits;
        let near = near_offsets(instance.size, bits);
        let unused = 64 - (bits + self.granule_count().trailing_zeros());
        let moved = (to.wrapping_sub(from) << unused) as i64 >> unused;
        !near.contains(&offset.saturating_add(moved))
    }

    /// Checks a write of `len` bytes and returns the object and the offset.
    #[inline]
    fn check_write(&mut self, address: u64, len: u64) -> Result<(&mut Instance, usize), Fault> {
        let located = self.locate(address).filter(|(position, offset)| {
            self.at(*position).is_some_and(|instance| instance.admits(*offset, len, Intent::Write))
        });
        let Some((position, offset)) = located else { return Err(self.refuse(address, len, Intent::Write)) };
        let gone = Fault { kind: ViolationKind::InvalidPointer, address, len, intent: Intent::Write };
        self.at_mut(position).map(|instance| (instance, offset as usize)).ok_or(gone)
    }

    /// Reads `len` ≤ 8 bytes that are wholly defined; `Ok(None)` if some bit is not.
    #[inline]
    pub fn load_defined(&self, address: u64, len: u64) -> Result<Option<u64>, Fault> {
        let (instance, offset) = self.check(address, len, Intent::Read)?;
        let undefined = match instance.definedness {
            Definedness::Defined => 0,
            _ => instance.definedness.read(offset, len as usize),
        };
        Ok((undefined == 0).then(|| instance.bytes.read(offset, len as usize)))
    }

    /// Reads `len` ≤ 16 bytes.
    pub fn load(&self, address: u64, len: u64) -> Result<Value, Fault> {
        let (instance, offset) = self.check(address, len, Intent::Read)?;
        let bits = instance.bytes.read_wide(offset, len as usize);
        Ok(Value { bits, undefined: instance.definedness.read(offset, len as usize) })
    }

    /// Writes `len` ≤ 8 defined bytes.
    #[inline]
    pub fn store_defined(&mut self, address: u64, len: u64, bits: u64) -> Result<(), Fault> {
        let (instance, offset) = self.check_write(address, len)?;
        instance.bytes.write(offset, len as usize, bits);
        instance.definedness.define(instance.size as usize, offset..offset + len as usize);
        Ok(())
    }

    /// Writes `len` ≤ 16 bytes.
    pub fn store(&mut self, address: u64, len: u64, value: Value) -> Result<(), Fault> {
        let (instance, offset) = self.check_write(address, len)?;
        instance.bytes.write_wide(offset, len as usize, value.bits);
        instance.set_undefined(offset, len as usize, value.undefined & ones(len as u16 * 8));
        Ok(())
    }

    /// The bytes of a range, and whether all are defined.
    pub fn bytes(&self, address: u64, len: u64) -> Result<(Vec<u8>, bool), Fault> {
        if len == 0 {
            return Ok((Vec::new(), true));
        }
        let (instance, offset) = self.check(address, len, Intent::Read)?;
        let range = offset..offset + len as usize;
        Ok((instance.bytes.copy(range.clone()), instance.definedness.all_defined(range)))
    }

    /// Nothing is known any more of what is from this address to the end of its object, unless that is constant.
    pub fn forget(&mut self, address: u64) {
        let Ok(room) = self.room(address) else { return };
        if let Ok((instance, offset)) = self.check_write(address, room) {
            instance.unknown = true;
            let size = instance.size as usize;
            // Of a huge object, all is forgotten: going through its bytes would take too long.
            match offset == 0 || size > DENSE {
                true => instance.definedness = Definedness::Undefined,
                false => instance.definedness.write(size, offset..size, || 0xff),
            }
        }
    }

    /// Whether undefined bits at this address were written by unknown code.
    pub fn is_unknown(&self, address: u64) -> bool {
        self.find(address).is_some_and(|(instance, _)| instance.unknown)
    }

    pub fn write_slice(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (instance, offset) = self.check_write(address, bytes.len() as u64)?;
        instance.bytes.write_all(offset, bytes);
        instance.definedness.define(instance.size as usize, offset..offset + bytes.len());
        Ok(())
    }

    /// How many bytes there are from this address to the end of its object.
    pub fn room(&self, address: u64) -> Result<u64, Fault> {
        let (instance, offset) = self.check(address, 0, Intent::Read)?;
        Ok(instance.size - offset as u64)
    }

    /// Places a new object into the thread's arena. None when it cannot be had.
    pub fn allocate(&mut self, thread: u32, instance: Instance) -> Option<u64> {
        let (granules, size) = (self.granules(instance.size), instance.size);
        if size > self.limit.saturating_sub(self.live_bytes) {
            return None;
        }
        if granules > self.largest_run() {
            let address = self.allocate_vast(granules, instance)?;
            self.live_bytes += size;
            return Some(address);
        }
        let arena = self.arena_for(thread, granules)?;
        let place = self.arenas[arena as usize].cursor;
        self.put(arena, place, granules, instance);
        self.live_bytes += size;
        let granule = self.layout.first + (u64::from(arena) << self.layout.arena_bits) + u64::from(place);
        Some(granule << self.layout.granule_bits)
    }

    fn put(&mut self, arena: u32, place: u32, granules: u64, instance: Instance) {
        let arena = &mut self.arenas[arena as usize];
        for back in 0..granules as u32 {
            let entry = match back {
                0 => instance.clone(),
                _ => Instance { kind: Kind::Continued, origin: back, alive: true, ..Instance::NOTHING },
            };
            match arena.granules.get_mut((place + back) as usize) {
                Some(old) => *old = entry,
                None => arena.granules.push(entry),
            }
        }
        arena.cursor = place + granules as u32;
        arena.alive += granules as u32;
    }

    /// The arena to allocate from, with its cursor at a place that is free.
    fn arena_for(&mut self, thread: u32, granules: u64) -> Option<u32> {
        let arenas = self.usable_arenas();
        if arenas == 0 {
            return None;
        }
        while self.current.len() <= thread as usize {
            self.current.push(self.current.len() as u32 % arenas);
        }
        let arena = self.current[thread as usize];
        if self.find_place(arena, granules) {
            return Some(arena);
        }
        // Mostly alive: going round again would not pay. Take another arena while there is one.
        let taken = arenas - 1;
        if taken as usize >= self.arenas.len().max(self.current.len()) {
            self.taken_from_above += 1;
            self.current[thread as usize] = taken;
            return self.find_place(taken, granules).then_some(taken);
        }
        let every = (0..self.layout.arenas).find(|arena| self.search_place(*arena, granules));
        self.current[thread as usize] = every?;
        every
    }

    fn usable_arenas(&self) -> u32 {
        let vast = match self.vast.first_key_value() {
            Some((granule, _)) => self.granule_count().saturating_sub(*granule).div_ceil(1 << self.layout.arena_bits),
            None => 0,
        };
        self.layout.arenas.saturating_sub(vast as u32).saturating_sub(self.taken_from_above)
    }

    /// Moves the cursor to a free place in amortised constant time, or says that the arena is mostly alive.
    fn find_place(&mut self, arena: u32, granules: u64) -> bool {
        if self.arenas.len() <= arena as usize {
            self.arenas.resize_with(arena as usize + 1, Arena::default);
        }
        let size = 1u32 << self.layout.arena_bits;
        let arena = &mut self.arenas[arena as usize];
        if self.recycles && arena.find_unused(granules as u32, size) {
            return true;
        }
        for _ in 0..2 {
            if arena.advance(granules as u32, size) {
                return true;
            }
            if arena.alive > size / 2 {
                return false;
            }
            arena.cursor = 0;
        }
        false
    }

    /// The last resort: any free place in this arena.
    fn search_place(&mut self, arena: u32, granules: u64) -> bool {
        if self.arenas.len() <= arena as usize {
            self.arenas.resize_with(arena as usize + 1, Arena::default);
        }
        let size = 1u32 << self.layout.arena_bits;
        let arena = &mut self.arenas[arena as usize];
        if arena.advance(granules as u32, size) {
            return true;
        }
        arena.cursor = 0;
        arena.advance(granules as u32, size)
    }

    fn allocate_vast(&mut self, granules: u64, instance: Instance) -> Option<u64> {
        let bits = self.layout.granule_bits;
        let top = self.vast.keys().next().copied().unwrap_or(self.granule_count());
        let used = self.layout.first + ((self.arenas.len().max(1) as u64) << self.layout.arena_bits);
        let fresh = top.checked_sub(granules).filter(|first| *first >= used && self.taken_from_above == 0);
        let again = || {
            let fits = |old: &Instance| !old.alive && !old.is_kept && (old.size >> bits) + 1 >= granules;
            self.vast.iter().find(|(_, old)| fits(old)).map(|(first, _)| *first)
        };
        let first = fresh.or_else(again)?;
        self.vast.insert(first, instance);
        Some(first << bits)
    }

    /// Ends the life of the heap object at `address`.
    pub fn free(&mut self, address: u64, thread: u32, place: u32) -> Result<(), Fault> {
        let fault = |kind| Fault { kind, address, len: 0, intent: Intent::Free };
        let Some((instance, offset)) = self.find(address) else {
            return Err(fault(ViolationKind::InvalidFree));
        };
        match (instance.kind, instance.alive) {
            (Kind::Heap, false) => Err(fault(ViolationKind::DoubleFree)),
            (Kind::Heap, true) if offset == 0 => {
                self.end(address, thread, place);
                Ok(())
            }
            _ => Err(fault(ViolationKind::InvalidFree)),
        }
    }

    /// Ends the life of a stack object whose place is kept for another one, given its first address.
    pub fn suspend(&mut self, address: u64, thread: u32, place: u32) {
        let Some((position, _)) = self.locate(address) else { return };
        if let Some(instance) = self.at_mut(position).filter(|instance| instance.alive) {
            instance.end(thread, place);
            instance.is_kept = true;
        }
    }

    /// Begins a life of a stack object, given its first address: it is undefined.
    pub fn revive(&mut self, address: u64) {
        let Some((position, _)) = self.locate(address) else { return };
        if let Some(instance) = self.at_mut(position).filter(|instance| instance.alive || instance.is_kept) {
            (instance.alive, instance.is_kept, instance.unknown) = (true, false, false);
            instance.bytes = Bytes::filled(instance.size as usize, 0);
            instance.definedness = Definedness::Undefined;
        }
    }

    /// Ends the life of any object, given its first address, and gives up its place.
    pub fn end(&mut self, address: u64, thread: u32, place: u32) {
        let granule = address >> self.layout.granule_bits;
        if let Some(instance) = self.vast.get_mut(&granule) {
            self.live_bytes -= instance.size;
            return instance.end(thread, place);
        }
        let Some(instance) = self.at_granule_mut(granule) else { return };
        let size = instance.size;
        instance.end(thread, place);
        self.live_bytes -= size;
        if granule < self.layout.first {
            return;
        }
        let (arena, first) = self.place(granule);
        let granules = self.granules(size) as usize;
        let arena = &mut self.arenas[arena];
        arena.alive -= granules as u32;
        arena.granules[first + 1..first + granules].iter_mut().for_each(|more| more.alive = false);
    }

    /// The addresses of all objects that live as long as the program.
    pub fn static_objects(&self) -> impl Iterator<Item = u64> + '_ {
        let vast = self.vast.iter().filter(|(_, instance)| instance.kind != Kind::Heap).map(|(granule, _)| *granule);
        (1..self.statics.len() as u64).chain(vast).map(|granule| granule << self.layout.granule_bits)
    }

    /// All objects that there are or were, each with its first address, in order of address.
    fn objects(&self) -> impl Iterator<Item = (u64, &Instance)> {
        let bits = self.layout.granule_bits;
        let statics = self.statics.iter().enumerate().map(|(granule, instance)| (granule as u64, instance));
        let in_arenas = self.arenas.iter().enumerate().flat_map(|(number, arena)| {
            let first = self.layout.first + ((number as u64) << self.layout.arena_bits);
            arena.granules.iter().enumerate().map(move |(place, instance)| (first + place as u64, instance))
        });
        let vast = self.vast.iter().map(|(granule, instance)| (*granule, instance));
        let is_object = |instance: &Instance| !matches!(instance.kind, Kind::Nothing | Kind::Continued);
        let all = statics.chain(in_arenas).chain(vast).filter(move |(_, instance)| is_object(instance));
        all.map(move |(granule, instance)| (granule << bits, instance))
    }

    /// The first addresses of all heap objects that are alive, in order of address.
    pub fn live_heap_objects(&self) -> Vec<u64> {
        let is_alive = |instance: &Instance| instance.kind == Kind::Heap && instance.alive;
        self.objects().filter(|(_, instance)| is_alive(instance)).map(|(address, _)| address).collect()
    }
}

impl Arena {
    /// Moves the cursor forward to the next run of free granules, if there is one before the end.
    fn advance(&mut self, granules: u32, size: u32) -> bool {
        let mut start = self.cursor;
        while start + granules <= size {
            let run = start as usize..((start + granules) as usize).min(self.granules.len()).max(start as usize);
            let occupied = match self.granules.get(run) {
                Some(run) => run.iter().rposition(|granule| granule.alive || granule.is_kept),
                None => None,
            };
            match occupied {
                None => {
                    self.cursor = start;
                    return true;
                }
                Some(last) => start += last as u32 + 1,
            }
        }
        false
    }
}
