//! Where an address points, read off its term.
//!
//! The address of an object is a variable of the solver's that is known to be one. A sum of such a variable and other
//! numbers points into the object, as long as the program does nothing undefined: at the constant that is added, or, where
//! more is added, wherever the solver does not exclude. Where a term has no such form, the shared facts say which objects and
//! offsets are possible.

use crate::cells::{CellId, Extent, initial_bits, is_followed};
use crate::code::FrameId;
use crate::conditions::{Conditions, Failed, Path};
use leno_domains::word;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::program::{Access, Expr, LocalId, ObjectKind, Op, Type};
use leno_logic::term::{Node, Term};
use std::collections::BTreeMap;

/// Larger tables may hold anything.
const MOST_BYTES: u64 = 1024;

/// An object, and what is added to its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointed {
    pub object: AbstractId,
    pub added: Term,
}

/// Objects, each with the offsets that are possible in it; and what is added to them.
struct Reach {
    from: BTreeMap<AbstractId, Vec<i64>>,
    added: Term,
}

impl<'p> Conditions<'_, '_, 'p> {
    fn pointer_bits(&self) -> u32 {
        u32::from(self.code.program().model.pointer_bits())
    }

    fn number(&mut self, number: i64) -> Term {
        let width = self.pointer_bits();
        self.terms.bits(width, i128::from(number) as u128 & word::mask(width))
    }

    /// The address that a term is computed from, if there is one, and what is added.
    pub(crate) fn pointed(&mut self, term: Term) -> Option<Pointed> {
        let (base, added) = self.split(term, |conditions, addend| conditions.objects.contains_key(&addend))?;
        Some(Pointed { object: *self.objects.get(&base)?, added })
    }

    /// The one addend of a sum that is such, and all the others together.
    fn split(&mut self, term: Term, is_base: impl Fn(&Self, Term) -> bool) -> Option<(Term, Term)> {
        if self.terms.width(term) != self.pointer_bits() {
            return None;
        }
        let (mut base, mut added, mut work) = (None, self.number(0), vec![term]);
        while let Some(part) = work.pop() {
            match self.terms.node(part) {
                _ if is_base(self, part) => {
                    if base.replace(part).is_some() {
                        return None;
                    }
                }
                Node::Add(a, b) => work.extend([a, b]),
                _ => added = self.terms.add(added, part),
            }
        }
        Some((base?, added))
    }

    /// A constant, or what the solver shows to be one.
    fn constant(&mut self, path: &Path, term: Term) -> Option<i64> {
        let width = self.terms.width(term);
        let bits = match self.terms.as_bits(term) {
            Some(bits) => bits,
            None => self.only_value(&path.conditions, term)?,
        };
        i64::try_from(word::signed(width, bits)).ok()
    }

    /// The one place of an address: an object of which there is one, and an offset.
    pub(crate) fn place(&mut self, path: &mut Path, frame: FrameId, pointer: &Expr) -> Option<(AbstractId, i64)> {
        let term = self.term(path, frame, pointer);
        if let Some(Pointed { object, added }) = self.pointed(term) {
            // (What has no cells is not followed: the offset does not matter.)
            let matters = self.terms.as_bits(added).is_some() || self.cells.of_object(object).next().is_some();
            if let Some(offset) = matters.then(|| self.constant(path, added)).flatten() {
                return Some((object, offset));
            }
        }
        self.place_everywhere(frame, pointer)
    }

    /// What the facts know of it in any state.
    fn place_everywhere(&self, frame: FrameId, pointer: &Expr) -> Option<(AbstractId, i64)> {
        let (facts, func) = (self.code.facts, self.code.func_of(frame));
        let objects = facts.points_to().points_to(func, pointer);
        let object = objects.iter().next().filter(|_| objects.len() == 1)?;
        let offset = facts.offsets().number(facts.program(), func, pointer).exact()?;
        is_followed(facts, object).then_some((object, offset))
    }

    /// The place of an access that is certain.
    pub(crate) fn place_of(&mut self, path: &mut Path, frame: FrameId, access: &Access) -> Option<Extent> {
        let (object, offset) = self.place(path, frame, &access.ptr)?;
        let bytes = access.ty.bytes(self.code.program().model);
        is_followed(self.code.facts, object).then_some(Extent { object, offset, bytes })
    }

    /// The cells that an access may be of, if they are all that it may be of.
    pub(crate) fn candidates(&self, frame: FrameId, access: &Access) -> Option<Vec<CellId>> {
        let (facts, func) = (self.code.facts, self.code.func_of(frame));
        let objects = facts.points_to().points_to(func, &access.ptr);
        let number = facts.offsets().number(facts.program(), func, &access.ptr);
        let (offsets, bytes) = (number.few()?, access.ty.bytes(facts.program().model));
        let mut cells = Vec::new();
        for object in objects.iter() {
            for offset in offsets {
                cells.push(self.cells.get(Extent { object, offset: *offset, bytes })?);
            }
        }
        Some(cells)
    }

    /// The cells that a store may hit which goes to one object at an index that is not certain; none if the object is not known.
    pub(crate) fn hit(&mut self, path: &mut Path, frame: FrameId, access: &Access) -> Option<Vec<CellId>> {
        let pointer = self.term(path, frame, &access.ptr);
        let Pointed { object, added } = self.pointed(pointer)?;
        let bytes = access.ty.bytes(self.code.program().model);
        let cells: Vec<(CellId, Extent)> = self.cells.of_object(object).map(|(cell, extent)| (cell, *extent)).collect();
        let mut hit = Vec::new();
        for (cell, extent) in cells {
            // It overlaps if it begins less than its own size before the cell, or in it.
            let (Ok(own), Ok(size)) = (i64::try_from(bytes), i64::try_from(extent.bytes)) else { return None };
            let first = self.number(extent.offset.checked_sub(own)?.checked_add(1)?);
            let span = self.number(own.checked_add(size)?.checked_sub(2)?);
            let from_first = self.terms.sub(added, first);
            let overlaps = self.terms.ule(from_first, span);
            if self.is_possible(&path.conditions, overlaps) {
                hit.push(cell);
            }
        }
        Some(hit)
    }

    /// What is read from a static object that nothing writes, and what is known of it; none if it is not such a read. An index
    /// beyond the object ends the execution.
    pub(crate) fn read_table(&mut self, path: &mut Path, frame: FrameId, access: &Access) -> Option<Term> {
        let program = self.code.program();
        let (bytes, width) = (access.ty.bytes(program.model), u32::from(access.ty.bits(program.model)));
        let pointer = self.term(path, frame, &access.ptr);
        let Pointed { object, added } = self.pointed(pointer)?;
        let AbstractObject::Static(id) = self.code.facts.points_to().objects()[object] else { return None };
        let data = &program.objects[id];
        let is_table = self.cells.is_unwritten(object) && data.kind != ObjectKind::External && data.size <= MOST_BYTES;
        let most = data.size.checked_sub(bytes).filter(|_| is_table && u64::from(width) == 8 * bytes)?;
        let known = self.terms.known(added);
        let is_possible = |at: u64| u128::from(at) & known.zeros == 0 && u128::from(at) & known.ones == known.ones;
        let value = self.any(width);
        let mut ways = Vec::new();
        for at in (0..=most).filter(|at| is_possible(*at)) {
            let offset = i64::try_from(at).ok()?;
            let offset_term = self.number(offset);
            let is_here = self.terms.eq(added, offset_term);
            let is_found = match initial_bits(program, id, offset, bytes) {
                Some(bits) => {
                    let bits = self.terms.bits(width, bits);
                    self.terms.eq(value, bits)
                }
                None => Term::TRUE,
            };
            ways.push(self.terms.and(&[is_here, is_found]));
        }
        let either = self.terms.or(&ways);
        path.conditions.push(either);
        Some(value)
    }

    /// That an access stays in its object.
    pub(crate) fn check_bounds(&mut self, path: &mut Path, frame: FrameId, op: &Op) -> Result<(), Failed> {
        let what = "an access in bounds";
        let failed = || Failed::Refused(format!("{what} could not be confirmed"));
        let Some((access, _)) = op.access() else { return Err(failed()) };
        let reach = self.reach(path, frame, &access.ptr).ok_or_else(failed)?;
        let bytes = access.ty.bytes(self.code.program().model);
        let mut goals = Vec::new();
        for (object, offsets) in &reach.from {
            let most = self.size(*object).and_then(|size| size.checked_sub(bytes));
            let most = most.and_then(|most| i64::try_from(most).ok()).ok_or_else(failed)?;
            let most = self.number(most);
            for offset in offsets {
                let offset = self.number(*offset);
                let at = self.terms.add(reach.added, offset);
                goals.push(self.terms.ule(at, most));
            }
        }
        if goals.is_empty() {
            return Err(failed());
        }
        self.implied(&path.conditions, &[], &goals, what)
    }

    fn reach(&mut self, path: &mut Path, frame: FrameId, pointer: &Expr) -> Option<Reach> {
        let term = self.term(path, frame, pointer);
        if let Some(Pointed { object, added }) = self.pointed(term) {
            return Some(Reach { from: BTreeMap::from([(object, vec![0])]), added });
        }
        let by_register = self.split(term, |conditions, addend| conditions.held.contains_key(&addend));
        if let Some((base, added)) = by_register
            && let Some((frame, local)) = self.held.get(&base).copied()
            && let Some(from) = self.targets_of(frame, local)
        {
            return Some(Reach { from, added });
        }
        let added = self.number(0);
        Some(Reach { from: self.targets_by_facts(frame, pointer)?, added })
    }

    /// Where a register points, in any state.
    fn targets_of(&self, frame: FrameId, local: LocalId) -> Option<BTreeMap<AbstractId, Vec<i64>>> {
        self.targets_by_loads(frame, local).or_else(|| self.targets_by_facts(frame, &Expr::Local(local)))
    }

    fn targets_by_facts(&self, frame: FrameId, pointer: &Expr) -> Option<BTreeMap<AbstractId, Vec<i64>>> {
        let (facts, func) = (self.code.facts, self.code.func_of(frame));
        let number = facts.offsets().number(facts.program(), func, pointer);
        let offsets = number.few()?;
        let objects = facts.points_to().points_to(func, pointer);
        Some(objects.iter().map(|object| (object, offsets.to_vec())).collect())
    }

    /// If it is only ever set by loads of pointers.
    fn targets_by_loads(&self, frame: FrameId, local: LocalId) -> Option<BTreeMap<AbstractId, Vec<i64>>> {
        let func = self.code.func_of(frame);
        let mut targets: BTreeMap<AbstractId, Vec<i64>> = BTreeMap::new();
        for load in self.code.pointers.loads(func, local)? {
            let bytes = load.ty.bytes(self.code.program().model);
            let from = self.targets_by_facts(frame, &load.ptr).filter(|_| load.ty == Type::Ptr)?;
            for (object, offsets) in from {
                for offset in offsets {
                    // (A load that is not in bounds ends the execution.)
                    let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes));
                    if self.size(object).is_some_and(|size| end.is_none_or(|end| end > size)) {
                        continue;
                    }
                    for (target, at) in self.code.pointers.at(object, offset)? {
                        targets.entry(target).or_default().push(at);
                    }
                }
            }
        }
        Some(targets)
    }

    fn size(&self, object: AbstractId) -> Option<u64> {
        let program = self.code.program();
        match self.code.facts.points_to().objects()[object] {
            AbstractObject::Static(id) => Some(program.objects[id].size),
            AbstractObject::Slot(func, slot) => Some(program.functions[func].slots[slot].size),
            AbstractObject::Site(place) => match program.op(place) {
                Some(Op::Allocate { size: Expr::Const { bits, .. }, .. }) => u64::try_from(*bits).ok(),
                _ => None,
            },
            AbstractObject::Unknown | AbstractObject::Function(_) => None,
        }
    }
}
