//! Views: what one thread sees of the heap, in a form that is the same for all heaps that do not differ for it.
//!
//! A view (paper 001, section 4) has the shared words, the cells that can be reached from them and from one thread's own
//! words, and that thread. Every cell that a word names is there, and so is every cell where two lists meet or whose data is
//! watched; the cells in between form *segments* of one cell or more. So all equalities of pointers are known in a view, and a
//! view is made canonical by numbering its cells in the order in which they are met from the words, which have an order.

use super::code::{Code, Kept};
use super::value::{CellId, Currency, NULL, Place, Tag, Value};

/// Whose a cell is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Owner {
    Shared,
    /// The thread's whose view it is.
    Mine,
    /// Of the summary that is being executed.
    Theirs,
    /// Freed, or owned by some other thread: to this one it looks the same.
    Free,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Cell {
    pub owner: Owner,
    /// Sorted by offset. What is not there is undefined.
    pub fields: Vec<(i64, Value)>,
}

impl Cell {
    pub fn field(&self, offset: i64) -> Value {
        match self.fields.binary_search_by_key(&offset, |(at, _)| *at) {
            Ok(index) => self.fields[index].1.clone(),
            Err(_) => Value::Undefined,
        }
    }

    pub fn set(&mut self, offset: i64, value: Value) {
        match self.fields.binary_search_by_key(&offset, |(at, _)| *at) {
            Ok(index) => self.fields[index].1 = value,
            Err(index) => self.fields.insert(index, (offset, value)),
        }
    }
}

/// What all threads share: static words, cells, and what the observer has seen.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Shared {
    /// Sorted. What is not there is zero.
    pub statics: Vec<((u32, i64), Value)>,
    pub cells: Vec<Cell>,
    pub observer: u8,
}

impl Shared {
    pub fn static_word(&self, object: u32, offset: i64) -> Value {
        match self.statics.binary_search_by_key(&(object, offset), |(at, _)| *at) {
            Ok(index) => self.statics[index].1.clone(),
            Err(_) => NULL,
        }
    }

    pub fn set_static(&mut self, object: u32, offset: i64, value: Value) {
        match self.statics.binary_search_by_key(&(object, offset), |(at, _)| *at) {
            Ok(index) => self.statics[index].1 = value,
            Err(index) => self.statics.insert(index, ((object, offset), value)),
        }
    }

    /// The cells that can be reached from static words.
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.cells.len()];
        let mut work = Vec::new();
        for (_, value) in &self.statics {
            value.for_each_cell(&mut |cell| work.push(cell));
        }
        while let Some(cell) = work.pop() {
            if !std::mem::replace(&mut seen[usize::from(cell)], true) {
                for (_, value) in &self.cells[usize::from(cell)].fields {
                    value.for_each_cell(&mut |next| work.push(next));
                }
            }
        }
        seen
    }

    /// Puts a cell in front of what a segment ends with, after which the segment may be over or not.
    pub fn split(&self, cell: CellId, offset: i64, shape: &Shape) -> [Shared; 2] {
        let before = &self.cells[usize::from(cell)];
        let Value::Segment(last) = before.field(offset) else { return [self.clone(), self.clone()] };
        let case = |next: Value| {
            let mut shared = self.clone();
            let first = shared.cells.len() as CellId;
            let mut fields = shape.others.clone();
            fields.push((shape.pointer, next));
            fields.sort();
            shared.cells.push(Cell { owner: before.owner, fields });
            shared.cells[usize::from(cell)].set(offset, Value::Cell(first, 0));
            shared
        };
        [case((*last).clone()), case(Value::Segment(last.clone()))]
    }
}

/// What a thread knows besides what all share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Thread {
    /// Which operation it is in; none between two of them.
    pub operation: Option<u8>,
    pub at: u32,
    /// Sorted.
    pub registers: Vec<(u32, Value)>,
    /// Sorted: slot and offset.
    pub slots: Vec<((u32, i64), Value)>,
    /// The value that it inserts.
    pub argument: Tag,
    /// The data that it has inserted or removed, once it has.
    pub done: Option<Tag>,
    /// If it would say "empty", running on alone: whether it could when that began.
    pub may_say_empty: Option<bool>,
}

impl Thread {
    pub fn idle() -> Thread {
        Thread {
            operation: None,
            at: 0,
            registers: Vec::new(),
            slots: Vec::new(),
            argument: Tag::Other,
            done: None,
            may_say_empty: None,
        }
    }

    pub fn register(&self, register: u32) -> Value {
        match self.registers.binary_search_by_key(&register, |(at, _)| *at) {
            Ok(index) => self.registers[index].1.clone(),
            Err(_) => Value::Undefined,
        }
    }

    pub fn set(&mut self, register: u32, value: Value) {
        match (self.registers.binary_search_by_key(&register, |(at, _)| *at), value) {
            (Ok(index), Value::Undefined) => _ = self.registers.remove(index),
            (Ok(index), value) => self.registers[index].1 = value,
            (Err(_), Value::Undefined) => {}
            (Err(index), value) => self.registers.insert(index, (register, value)),
        }
    }

    pub fn slot_word(&self, slot: u32, offset: i64) -> Value {
        match self.slots.binary_search_by_key(&(slot, offset), |(at, _)| *at) {
            Ok(index) => self.slots[index].1.clone(),
            Err(_) => Value::Undefined,
        }
    }

    pub fn set_slot(&mut self, slot: u32, offset: i64, value: Value) {
        match self.slots.binary_search_by_key(&(slot, offset), |(at, _)| *at) {
            Ok(index) => self.slots[index].1 = value,
            Err(index) => self.slots.insert(index, ((slot, offset), value)),
        }
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let registers = self.registers.iter_mut().map(|(_, value)| value);
        registers.chain(self.slots.iter_mut().map(|(_, value)| value))
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let registers = self.registers.iter().map(|(_, value)| value);
        registers.chain(self.slots.iter().map(|(_, value)| value))
    }

    /// The version counter at a place has become greater, or may have (if its cell is gone).
    pub fn version_changes(&mut self, place: Place, by: Option<u8>) {
        for value in self.values_mut() {
            value.for_each_version(&mut |of, currency, plus| {
                if of == place && *currency == Currency::Current {
                    *currency = if by.is_some() && plus == 0 { Currency::Stale } else { Currency::Unknown };
                }
            });
        }
    }

    /// Forgets what is not read any more.
    pub fn forget_dead(&mut self, code: &Code) {
        let live = &code.live[self.at as usize];
        self.registers
            .retain(|(register, value)| *value != Value::Undefined && live.contains(&Kept::Register(*register)));
        let mut pointed_to: Vec<u32> = Vec::new();
        for value in self.values() {
            if let Value::Slot(slot, _) = value {
                pointed_to.push(*slot);
            }
        }
        self.slots.retain(|((slot, offset), value)| {
            let is_pointed_to = *slot < RESULT_SLOTS && pointed_to.contains(slot);
            (is_pointed_to || live.contains(&Kept::Word(*slot, *offset))) && *value != Value::Undefined
        });
    }
}

/// Slots from here on are variables of the caller, for results.
pub const RESULT_SLOTS: u32 = 1 << 20;

/// What an unnamed cell looks like, in all segments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Where the address of the next one is.
    pub pointer: i64,
    pub others: Vec<(i64, Value)>,
}

impl Shape {
    /// The shape of a cell whose data is not watched, and that has one pointer.
    fn of(cell: &Cell) -> Option<Shape> {
        let is_pointer = |value: &Value| matches!(value, Value::Cell(..) | Value::Segment(_));
        let mut pointers = cell.fields.iter().filter(|(_, value)| is_pointer(value));
        let (pointer, None) = (pointers.next()?.0, pointers.next()) else { return None };
        let others: Vec<_> = cell.fields.iter().filter(|(at, _)| *at != pointer).cloned().collect();
        let is_plain = |value: &Value| matches!(value, Value::Data(Tag::Other) | Value::Number(_));
        let has_data = others.iter().any(|(_, value)| *value == Value::Data(Tag::Other));
        (has_data && others.iter().all(|(_, value)| is_plain(value))).then_some(Shape { pointer, others })
    }

    fn fits(&self, cell: &Cell) -> bool {
        let (pointer, others): (Vec<_>, Vec<_>) = cell.fields.iter().partition(|(at, _)| *at == self.pointer);
        let may_go_on = |value: &Value| matches!(value, Value::Cell(_, 0) | Value::Number(0) | Value::Segment(_));
        pointer.len() == 1 && may_go_on(&pointer[0].1) && others.into_iter().eq(self.others.iter())
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct View {
    pub shared: Shared,
    pub thread: Thread,
}

impl View {
    /// The canonical form. `shape` becomes known when the first segment is made.
    pub fn canonical(mut shared: Shared, mut thread: Thread, shape: &mut Option<Shape>) -> View {
        forget_removed(&mut shared);
        make_segments(&mut shared, &thread, shape);
        let order = order(&shared, &thread);
        let mut names = vec![0; shared.cells.len()];
        for (new, old) in order.iter().enumerate() {
            names[usize::from(*old)] = new as CellId;
        }
        let mut cells: Vec<Cell> = Vec::with_capacity(order.len());
        for old in &order {
            let mut cell = shared.cells[usize::from(*old)].clone();
            cell.fields.iter_mut().for_each(|(_, value)| value.rename(&names));
            cell.fields.retain(|(_, value)| *value != Value::Undefined);
            cells.push(cell);
        }
        shared.statics.iter_mut().for_each(|(_, value)| value.rename(&names));
        shared.statics.retain(|(_, value)| *value != NULL);
        thread.values_mut().for_each(|value| value.rename(&names));
        View { shared: Shared { cells, ..shared }, thread }
    }
}

/// Where a cell leads that was shared, and cannot be reached any more, is forgotten, but not that it leads somewhere. (Its data is not: who has removed
/// it may return that.)
fn forget_removed(shared: &mut Shared) {
    for (cell, is_reachable) in shared.reachable().into_iter().enumerate() {
        let cell = &mut shared.cells[cell];
        if !is_reachable && cell.owner == Owner::Shared {
            for (_, value) in &mut cell.fields {
                if matches!(value, Value::Cell(..) | Value::Segment(_)) {
                    *value = Value::Address;
                }
            }
        }
    }
}

/// The cells in the order in which they are met. The rest is garbage.
fn order(shared: &Shared, thread: &Thread) -> Vec<CellId> {
    let mut seen = vec![false; shared.cells.len()];
    let mut order = Vec::new();
    let roots = shared.statics.iter().map(|(_, value)| value).chain(thread.values());
    let mut meet = |value: &Value, order: &mut Vec<CellId>| {
        value.for_each_cell(&mut |cell| {
            if !std::mem::replace(&mut seen[usize::from(cell)], true) {
                order.push(cell);
            }
        });
    };
    for value in roots {
        meet(value, &mut order);
    }
    let mut next = 0;
    while next < order.len() {
        for (_, value) in &shared.cells[usize::from(order[next])].fields {
            meet(value, &mut order);
        }
        next += 1;
    }
    order
}

/// Cells that no word names, that one shared cell links to, and whose data is not watched become parts of segments.
fn make_segments(shared: &mut Shared, thread: &Thread, shape: &mut Option<Shape>) {
    let mut named = vec![false; shared.cells.len()];
    for value in shared.statics.iter().map(|(_, value)| value).chain(thread.values()) {
        value.for_each_cell(&mut |cell| named[usize::from(cell)] = true);
    }
    let met = order(shared, thread);
    let mut links: Vec<Vec<(CellId, i64)>> = vec![Vec::new(); shared.cells.len()];
    for from in &met {
        for (offset, value) in &shared.cells[usize::from(*from)].fields {
            value.for_each_cell(&mut |to| links[usize::from(to)].push((*from, *offset)));
        }
    }
    for cell in met {
        let index = usize::from(cell);
        let [(from, offset)] = links[index][..] else { continue };
        let is_shared = |cell: CellId| shared.cells[usize::from(cell)].owner == Owner::Shared;
        if named[index] || from == cell || !is_shared(cell) || !is_shared(from) {
            continue;
        }
        if shape.is_none() {
            *shape = Shape::of(&shared.cells[index]);
        }
        let Some(shape) = shape else { continue };
        let into = shared.cells[usize::from(from)].field(offset);
        let leads_here = match &into {
            Value::Cell(_, 0) => true,
            Value::Segment(last) => **last == Value::Cell(cell, 0),
            _ => false,
        };
        if offset != shape.pointer || !leads_here || !shape.fits(&shared.cells[index]) {
            continue;
        }
        let last = match shared.cells[index].field(shape.pointer) {
            Value::Segment(last) => *last,
            last => last,
        };
        last.for_each_cell(&mut |to| {
            for link in links[usize::from(to)].iter_mut().filter(|(by, _)| *by == cell) {
                *link = (from, offset);
            }
        });
        shared.cells[usize::from(from)].set(offset, Value::Segment(Box::new(last)));
    }
}
