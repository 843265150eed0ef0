//! Where the pointers in memory point, member by member.
//!
//! The shared points-to analysis does not tell the members of an object apart: a structure that holds the addresses of a table and
//! of a device seems to hold either in both places. Here each word of an object at a constant offset has targets of its own: all
//! that some instruction may store there, and what is there in the beginning. Which objects a store may hit, and at which
//! offsets, is taken from the shared facts; a store whose offset is not known makes the whole object unknown, one that
//! overlaps a word without being the same makes the word unknown.

use leno_ir::analysis::Facts;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, for_each_op};
use leno_ir::program::{Access, Datum, Expr, FuncId, LocalId, ObjectKind, Op, SyncOp};
use std::collections::{BTreeMap, BTreeSet};

/// Objects, and offsets in them.
pub type Targets = BTreeSet<(AbstractId, i64)>;

#[derive(Debug, Default)]
pub struct Pointers<'p> {
    /// By object and offset: what may be stored there; none if that is not known.
    words: BTreeMap<(AbstractId, i64), Option<Targets>>,
    /// What is written without being followed: offset and bytes; or anywhere.
    overwritten: BTreeMap<AbstractId, Option<Vec<(i64, i64)>>>,
    /// By register: the loads that it gets its value from; none if it is set by something else, too.
    loads: BTreeMap<(FuncId, LocalId), Option<Vec<&'p Access>>>,
    bytes: i64,
}

impl<'p> Pointers<'p> {
    pub fn new(facts: &Facts<'p>) -> Pointers<'p> {
        let program = facts.program();
        let mut all = Pointers { bytes: program.model.pointer_bytes() as i64, ..Pointers::default() };
        // What is outside of the program may be anything, and so may what is reached from there.
        let outside = facts.points_to().escaped_to_unknown();
        outside.iter().for_each(|object| all.overwrite(object, None, 0));
        for (id, object) in program.objects.iter_enumerated() {
            let Some(of) = facts.points_to().object(AbstractObject::Static(id)) else { continue };
            if object.kind == ObjectKind::External {
                all.overwritten.insert(of, None);
            }
            for (at, datum) in &object.init {
                let target = match datum {
                    Datum::Object(id, offset) => (AbstractObject::Static(*id), *offset),
                    Datum::Function(id) => (AbstractObject::Function(*id), 0),
                    Datum::Bytes(_) => continue,
                };
                let target = facts.points_to().object(target.0).map(|object| Targets::from([(object, target.1)]));
                all.store(of, *at as i64, target);
            }
        }
        for (func, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
            for parameter in (0..function.params).map(LocalId) {
                all.loads.insert((func, parameter), None);
            }
            for_each_op(func, function, |_, op| all.add(facts, func, op));
        }
        all
    }

    fn add(&mut self, facts: &Facts<'p>, func: FuncId, op: &'p Op) {
        let program = facts.program();
        op.for_each_result(|local| match op {
            Op::Load { from, .. } => {
                if let Some(loads) = self.loads.entry((func, local)).or_insert_with(|| Some(Vec::new())) {
                    loads.push(from);
                }
            }
            _ => _ = self.loads.insert((func, local), None),
        });
        let objects = |pointer: &Expr| facts.points_to().points_to(func, pointer);
        match op {
            Op::Store { to, value } => {
                let bytes = to.ty.bytes(program.model) as i64;
                let number = facts.offsets().number(program, func, &to.ptr);
                for object in objects(&to.ptr).iter() {
                    match number.few() {
                        Some(offsets) if bytes == self.bytes => {
                            offsets.iter().for_each(|at| self.store(object, *at, targets(facts, func, value)));
                        }
                        offsets => self.overwrite(object, offsets, bytes),
                    }
                }
            }
            Op::ReadModifyWrite { at, .. } | Op::CompareExchange { at, .. } => {
                let number = facts.offsets().number(program, func, &at.ptr);
                for object in objects(&at.ptr).iter() {
                    self.overwrite(object, number.few(), at.ty.bytes(program.model) as i64);
                }
            }
            Op::Sync { op: sync, at, .. } if !matches!(sync, SyncOp::CondSleep { .. } | SyncOp::CondWake { .. }) => {
                let number = facts.offsets().number(program, func, at);
                for object in objects(at).iter() {
                    self.overwrite(object, number.few(), i64::from(sync.object_bytes(program.model)));
                }
            }
            // What begins to live holds no address.
            Op::Allocate { .. } | Op::Free { .. } | Op::BeginLife { .. } | Op::EndLife { .. } => {}
            _ => {
                for object in facts.points_to().may_access(program, func, op).written.iter() {
                    self.overwrite(object, None, 0);
                }
            }
        }
    }

    fn store(&mut self, object: AbstractId, at: i64, targets: Option<Targets>) {
        let known = self.words.entry((object, at)).or_insert_with(|| Some(Targets::new()));
        match (known.as_mut(), targets) {
            (Some(known), Some(targets)) => known.extend(targets),
            _ => *known = None,
        }
    }

    fn overwrite(&mut self, object: AbstractId, offsets: Option<&[i64]>, bytes: i64) {
        let known = self.overwritten.entry(object).or_insert_with(|| Some(Vec::new()));
        match (known.as_mut(), offsets) {
            (Some(known), Some(offsets)) => known.extend(offsets.iter().map(|at| (*at, bytes))),
            _ => *known = None,
        }
    }

    /// Where the pointer at this place may point.
    pub fn at(&self, object: AbstractId, at: i64) -> Option<Targets> {
        let overlaps = |other: i64, bytes: i64| other < at + self.bytes && at < other + bytes;
        match self.overwritten.get(&object) {
            Some(None) => return None,
            Some(Some(stretches)) if stretches.iter().any(|(from, bytes)| overlaps(*from, *bytes)) => return None,
            _ => {}
        }
        let nearby = self.words.range((object, at - self.bytes)..=(object, at + self.bytes));
        if nearby.clone().any(|((_, other), _)| *other != at && overlaps(*other, self.bytes)) {
            return None;
        }
        self.words.get(&(object, at)).cloned().unwrap_or(Some(Targets::new()))
    }

    /// The loads that are all that a register is set by.
    pub fn loads(&self, func: FuncId, local: LocalId) -> Option<&[&'p Access]> {
        self.loads.get(&(func, local))?.as_deref()
    }
}

fn targets(facts: &Facts<'_>, func: FuncId, value: &Expr) -> Option<Targets> {
    let objects = facts.points_to().points_to(func, value);
    if objects.is_empty() {
        return Some(Targets::new());
    }
    let number = facts.offsets().number(facts.program(), func, value);
    let offsets = number.few()?;
    Some(objects.iter().flat_map(|object| offsets.iter().map(move |offset| (object, *offset))).collect())
}
