//! Reading and writing words of a view, and who owns which cell afterwards.
//!
//! With garbage collection a cell is its maker's until it can be reached from shared words, and shared for ever after. With
//! memory managed by hand (paper 001, section 6) a cell that a step makes unreachable becomes the acting thread's: so
//! only its owner frees it. What other threads own looks free. A free cell may be read, and holds anything; writing it, freeing
//! it or publishing it is a *violation of ownership*, which ends the proof. Version counters outlive their cells: they can
//! only grow, which every write is held to.

use super::value::{CellId, Currency, Place, Value};
use super::view::{Cell, Owner, RESULT_SLOTS, Shared, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// How memory comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Never while anything points to it.
    Collected,
    /// By `free`; freed nodes stay readable, may be given out again at once, and keep their version counters.
    Manual,
}

/// What an offset is meant in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Region {
    Static(u32),
    Cell,
    Slot(u8, u32),
}

/// Why a step has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A segment must be told apart first.
    Split(CellId, i64),
    /// There is a version counter here: all is to be done again with that known.
    Counter(Region, i64),
    /// What may go wrong.
    Violation(String),
    /// What the proof does not carry.
    Unsupported(String),
}

/// The two threads of a moment: the one that acts, and the one whose view is kept while a summary acts.
#[derive(Clone, Debug)]
pub struct State {
    pub shared: Shared,
    /// The one that acts.
    pub thread: Thread,
    /// The one that waits.
    pub waiting: Option<Thread>,
    /// The lock that the acting thread holds (or nothing, for an atomic section).
    pub section: Option<Option<Place>>,
    /// Version counters that have grown.
    pub grown: BTreeSet<Place>,
    /// Something shared has been written, or the observer has moved.
    pub wrote: bool,
    /// The thread runs on alone only to see what it would return.
    pub is_rehearsal: bool,
}

impl State {
    pub fn new(shared: Shared, thread: Thread, waiting: Option<Thread>) -> State {
        let (section, grown) = (None, BTreeSet::new());
        State { shared, thread, waiting, section, grown, wrote: false, is_rehearsal: false }
    }

    /// The owner of what the acting thread owns.
    pub fn actor(&self) -> Owner {
        if self.waiting.is_some() { Owner::Theirs } else { Owner::Mine }
    }

    pub fn owner(&self, cell: CellId) -> Owner {
        self.shared.cells[usize::from(cell)].owner
    }

    fn version_changes(&mut self, place: Place, by: Option<u8>) {
        self.thread.version_changes(place, by);
        if let Some(waiting) = &mut self.waiting {
            waiting.version_changes(place, by);
        }
    }

    /// Makes a cell look free: nothing is known of it any more.
    pub fn make_free(&mut self, cell: CellId) {
        let found = &mut self.shared.cells[usize::from(cell)];
        found.owner = Owner::Free;
        found.fields.clear();
        let mut threads: Vec<&mut Thread> = vec![&mut self.thread];
        threads.extend(&mut self.waiting);
        for value in threads.into_iter().flat_map(Thread::values_mut) {
            value.for_each_version(&mut |of, currency, _| {
                if matches!(of, Place::Cell(at, _) if at == cell) && *currency == Currency::Current {
                    *currency = Currency::Unknown;
                }
            });
        }
    }

    /// A new cell of the acting thread's.
    pub fn new_cell(&mut self) -> CellId {
        let owner = self.actor();
        self.shared.cells.push(Cell { owner, fields: Vec::new() });
        (self.shared.cells.len() - 1) as CellId
    }
}

/// What has been learned about words, for all views.
#[derive(Clone, Default, Debug)]
pub struct Layout {
    /// How many bytes the accesses at an offset have.
    sizes: BTreeMap<(Region, i64), u64>,
    /// How many bytes a cell has, and static objects have.
    pub cell_size: Option<i64>,
    pub static_sizes: BTreeMap<u32, i64>,
    /// Static objects whose contents the proof does not follow.
    pub opaque: BTreeSet<u32>,
    pub counters: BTreeSet<(Region, i64)>,
}

impl Layout {
    /// Accesses must not overlap but in full.
    fn access(&mut self, region: Region, offset: i64, bytes: u64) -> Result<(), Stop> {
        let end = offset + bytes as i64;
        let size = match region {
            Region::Cell => self.cell_size,
            Region::Static(object) => self.static_sizes.get(&object).copied(),
            Region::Slot(..) => None,
        };
        if matches!(region, Region::Static(object) if self.opaque.contains(&object)) {
            return Err(Stop::Unsupported(
                "it uses an array, or an object of a kind that the proof does not follow".to_string(),
            ));
        }
        if offset < 0 || size.is_some_and(|size| end > size) {
            return Err(Stop::Violation("it may access memory outside of an object".to_string()));
        }
        for ((_, at), size) in self.sizes.range((region, offset - 16)..(region, end)) {
            let overlaps = *at < end && offset < at + *size as i64;
            if overlaps && (*at, *size) != (offset, bytes) {
                return Err(Stop::Unsupported("it accesses parts of words, or several words at once".to_string()));
            }
        }
        self.sizes.insert((region, offset), bytes);
        Ok(())
    }
}

/// Memory, as a thread acts on it.
pub struct Words<'a> {
    pub memory: Memory,
    pub layout: &'a mut Layout,
    /// While the data structure is made, counters may be set.
    pub is_initial: bool,
}

impl Words<'_> {
    pub fn read(&mut self, state: &State, address: &Value, bytes: u64) -> Result<Value, Stop> {
        if bytes == 16 {
            self.expect_counter(state, address)?;
            let low = self.word(state, address, 8)?;
            return Ok(Value::pair(low, self.word(state, &above(address), 8)?));
        }
        self.word(state, address, bytes)
    }

    /// The upper half of a double word that is shared is a version counter.
    fn expect_counter(&mut self, state: &State, address: &Value) -> Result<(), Stop> {
        let (region, offset) = region(state, address)?;
        let is_known = self.is_initial
            || matches!(region, Region::Slot(..))
            || self.layout.counters.contains(&(region, offset + 8));
        if is_known { Ok(()) } else { Err(Stop::Counter(region, offset + 8)) }
    }

    fn word(&mut self, state: &State, address: &Value, bytes: u64) -> Result<Value, Stop> {
        let (region, offset) = region(state, address)?;
        self.layout.access(region, offset, bytes)?;
        let is_counter = self.layout.counters.contains(&(region, offset));
        let version = |of, currency| Value::Version { of, currency, plus: 0 };
        Ok(match *address {
            Value::Slot(slot, offset) => state.thread.slot_word(slot, offset),
            Value::Static(object, offset) if is_counter => version(Place::Static(object, offset), Currency::Current),
            Value::Static(object, offset) => state.shared.static_word(object, offset),
            Value::Cell(cell, offset) => {
                let owner = state.owner(cell);
                let is_free = owner != Owner::Shared && owner != state.actor();
                match is_free {
                    true if is_counter => version(Place::Cell(cell, offset), Currency::Unknown),
                    true => Value::Undefined,
                    false if is_counter => version(Place::Cell(cell, offset), Currency::Current),
                    false => match state.shared.cells[usize::from(cell)].field(offset) {
                        Value::Segment(_) => return Err(Stop::Split(cell, offset)),
                        value => value,
                    },
                }
            }
            _ => Value::Undefined,
        })
    }

    /// What a word holds, without telling a segment apart: enough to compare it with named cells.
    pub fn peek(&mut self, state: &State, address: &Value, bytes: u64) -> Result<Value, Stop> {
        match self.read(state, address, bytes) {
            Err(Stop::Split(..)) => Ok(Value::Segment(Box::new(Value::Undefined))),
            other => other,
        }
    }

    pub fn write(&mut self, state: &mut State, address: &Value, bytes: u64, value: Value) -> Result<(), Stop> {
        if bytes == 16 {
            self.expect_counter(state, address)?;
            let [low, high] = value.halves();
            self.write_word(state, address, 8, low)?;
            self.write_word(state, &above(address), 8, high)?;
        } else {
            self.write_word(state, address, bytes, value)?;
        }
        if is_shared(state, address) {
            state.wrote = true;
            self.settle(state)?;
        }
        Ok(())
    }

    fn write_word(&mut self, state: &mut State, address: &Value, bytes: u64, value: Value) -> Result<(), Stop> {
        let (region, offset) = region(state, address)?;
        self.layout.access(region, offset, bytes)?;
        if matches!(value, Value::Slot(..)) && !matches!(region, Region::Slot(..)) {
            return Err(Stop::Unsupported("it stores the address of a local variable".to_string()));
        }
        if value == Value::Address && !matches!(region, Region::Slot(..)) {
            return Err(Stop::Unsupported(
                "it stores an address that it read from a node that was removed".to_string(),
            ));
        }
        if let Value::Cell(cell, _) = *address {
            let owner = state.owner(cell);
            if owner != Owner::Shared && owner != state.actor() {
                return Err(Stop::Violation(
                    "it may write to a node that is freed or owned by another thread".to_string(),
                ));
            }
        }
        let is_counter = self.layout.counters.contains(&(region, offset));
        match *address {
            Value::Slot(slot, offset) => state.thread.set_slot(slot, offset, value),
            Value::Static(object, offset) if is_counter => {
                self.write_counter(state, Place::Static(object, offset), &value)?;
            }
            Value::Static(object, offset) => state.shared.set_static(object, offset, value),
            Value::Cell(cell, offset) if is_counter => {
                self.write_counter(state, Place::Cell(cell, offset), &value)?;
            }
            Value::Cell(cell, offset) => state.shared.cells[usize::from(cell)].set(offset, value),
            _ => {}
        }
        Ok(())
    }

    /// A counter may only grow: then a copy that was once older is so for ever.
    fn write_counter(&mut self, state: &mut State, place: Place, value: &Value) -> Result<(), Stop> {
        let is_fresh = matches!(place, Place::Cell(cell, _) if state.owner(cell) == state.actor());
        if self.is_initial || (is_fresh && self.memory == Memory::Collected) {
            return Ok(());
        }
        match value {
            Value::Version { of, currency: Currency::Current, plus } if *of == place => {
                if *plus > 0 {
                    state.version_changes(place, Some(*plus));
                    state.grown.insert(place);
                }
                Ok(())
            }
            _ => {
                let reason = "it sets a version counter to something other than its next version";
                Err(Stop::Unsupported(reason.to_string()))
            }
        }
    }

    /// Finds out what can be reached from shared words now, and whose the rest is.
    pub fn settle(&self, state: &mut State) -> Result<(), Stop> {
        let reachable = state.shared.reachable();
        let actor = state.actor();
        for (index, is_reachable) in reachable.into_iter().enumerate() {
            let cell = &mut state.shared.cells[index];
            match (is_reachable, cell.owner) {
                (true, Owner::Shared) => {}
                (true, owner) if owner == actor => cell.owner = Owner::Shared,
                (true, _) => {
                    let reason = "it may publish a node that is freed or owned by another thread";
                    return Err(Stop::Violation(reason.to_string()));
                }
                (false, Owner::Shared) if self.memory == Memory::Manual => cell.owner = actor,
                (false, _) => {}
            }
        }
        Ok(())
    }

    pub fn free(&self, state: &mut State, address: &Value) -> Result<(), Stop> {
        let cell = match *address {
            Value::Number(0) => return Ok(()),
            _ if self.memory == Memory::Collected => return Ok(()),
            Value::Cell(cell, 0) => cell,
            _ => return Err(Stop::Violation("it frees what may be no node at all".to_string())),
        };
        if state.owner(cell) == state.actor() {
            state.make_free(cell);
            return Ok(());
        }
        let reason = match state.owner(cell) {
            Owner::Shared => "it may free a node that can still be reached",
            _ => "it may free a node that is freed already, or owned by another thread",
        };
        Err(Stop::Violation(reason.to_string()))
    }
}

/// Whether other threads may notice an access to this address.
pub fn is_shared(state: &State, address: &Value) -> bool {
    match *address {
        Value::Static(..) => true,
        Value::Cell(cell, _) => state.owner(cell) != state.actor(),
        _ => false,
    }
}

fn above(address: &Value) -> Value {
    match *address {
        Value::Static(object, offset) => Value::Static(object, offset + 8),
        Value::Cell(cell, offset) => Value::Cell(cell, offset + 8),
        Value::Slot(slot, offset) => Value::Slot(slot, offset + 8),
        _ => Value::Undefined,
    }
}

fn region(state: &State, address: &Value) -> Result<(Region, i64), Stop> {
    Ok(match *address {
        Value::Static(object, offset) => (Region::Static(object), offset),
        Value::Cell(_, offset) => (Region::Cell, offset),
        Value::Slot(slot, offset) if slot >= RESULT_SLOTS => (Region::Slot(u8::MAX, slot), offset),
        Value::Slot(slot, offset) => (Region::Slot(state.thread.operation.unwrap_or(u8::MAX - 1), slot), offset),
        Value::Number(_) => return Err(Stop::Violation("it may dereference a null pointer".to_string())),
        _ => return Err(Stop::Violation("it may dereference a pointer that is not known to be valid".to_string())),
    })
}
