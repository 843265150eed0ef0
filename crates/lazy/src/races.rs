//! What a visible step accesses, and when two of them race (paper 004, table 1, P4).
//!
//! A race is a state in which two threads are about to make accesses that conflict. There is one just if one of them makes
//! its access and passes the token to the other one, which is about to make its own: between its last visible step and
//! this one it has only done what none can see, so it could have been there before the first access, too.

use crate::state::State;
use crate::unroll::Unroller;
use leno_ir::program::{ObjectUse, Op, Order, Place, SyncOp};
use leno_logic::term::{Term, Terms};

/// The bytes that a step accesses.
#[derive(Clone, Debug)]
pub struct Footprint {
    pub place: Place,
    /// That the thread is there.
    pub path: Term,
    /// Where: the condition, the address, and how many bytes.
    pub extents: Vec<(Term, Term, u64)>,
    pub writes: bool,
    pub is_atomic: bool,
    /// If it is a step on a synchronisation object.
    pub object_use: Option<ObjectUse>,
    /// Whether these bytes are all that it depends on and changes.
    pub is_whole: bool,
}

impl Footprint {
    /// Whether two accesses race if they overlap.
    pub fn may_race(&self, other: &Footprint) -> bool {
        match (self.object_use, other.object_use) {
            (Some(own), Some(other)) => own.races(other),
            _ => (self.writes || other.writes) && !(self.is_atomic && other.is_atomic),
        }
    }

    /// That two steps commute: neither sees what the other one does.
    pub fn commutes(&self, terms: &mut Terms, other: &Footprint) -> Term {
        if !self.is_whole || !other.is_whole {
            return Term::FALSE;
        }
        if !self.writes && !other.writes {
            return Term::TRUE;
        }
        let overlaps = self.overlaps(terms, other);
        terms.not(overlaps)
    }

    /// That two accesses have a byte in common.
    pub fn overlaps(&self, terms: &mut Terms, other: &Footprint) -> Term {
        let mut found = Vec::new();
        for (here, first, length) in &self.extents {
            for (there, second, room) in &other.extents {
                let width = terms.width(*first);
                let (forward, backward) = (terms.sub(*first, *second), terms.sub(*second, *first));
                let (room, length) = (terms.bits(width, (*room).into()), terms.bits(width, (*length).into()));
                let (begins_in, ends_in) = (terms.ult(forward, room), terms.ult(backward, length));
                let touches = terms.or2(begins_in, ends_in);
                found.push(terms.and(&[*here, *there, touches]));
            }
        }
        terms.or(&found)
    }
}

impl Unroller<'_> {
    /// What the visible step at a place accesses, if it is a single access outside of atomic sections.
    pub(crate) fn footprint(&mut self, place: Place, state: &mut State) -> Option<Footprint> {
        let none = self.terms.bits(8, 0);
        if self.terms.eq(state.section, none) != Term::TRUE {
            return None;
        }
        let op = &self.efsm.instr(place)?.op;
        let model = self.efsm.program().model;
        let (pointer, bytes, writes, is_atomic, object_use) = match op {
            Op::Load { from, .. } => (&from.ptr, from.ty.bytes(model), false, from.order != Order::NotAtomic, None),
            Op::Store { to, .. } => (&to.ptr, to.ty.bytes(model), true, to.order != Order::NotAtomic, None),
            Op::ReadModifyWrite { at, .. } | Op::CompareExchange { at, .. } => {
                (&at.ptr, at.ty.bytes(model), true, true, None)
            }
            Op::Spawn { handle: Some(handle), .. } => (&handle.ptr, handle.ty.bytes(model), true, false, None),
            Op::Sync { op: SyncOp::CondWake { .. }, .. } => return None,
            Op::Sync { op, at, .. } => {
                let object_use = op.object_use();
                (at, op.object_bytes(model).into(), true, object_use.is_atomic(), Some(object_use))
            }
            _ => return self.life_footprint(place, state),
        };
        let address = self.evaluate(state, place.func, pointer).ok()?;
        let extents = vec![(Term::TRUE, address, bytes)];
        let is_whole = !matches!(op, Op::Spawn { .. });
        Some(Footprint { place, path: state.path, extents, writes, is_atomic, object_use, is_whole })
    }

    /// The beginning or end of a life is a write of the whole object.
    fn life_footprint(&mut self, place: Place, state: &mut State) -> Option<Footprint> {
        let op = &self.efsm.instr(place)?.op;
        let mut extents = Vec::new();
        match op {
            Op::BeginLife { slot } | Op::EndLife { slot } => {
                let instance = &self.layout.instances[self.layout.slot(self.thread, place.func, *slot)?];
                let width = u32::from(self.efsm.program().model.pointer_bits());
                extents.push((Term::TRUE, self.terms.bits(width, instance.base.into()), instance.size));
            }
            Op::Free { ptr, .. } => {
                let address = self.evaluate(state, place.func, ptr).ok()?;
                let objects = self.efsm.facts.points_to().points_to(place.func, ptr);
                for id in objects.iter().flat_map(|object| self.layout.of(object)) {
                    let instance = &self.layout.instances[*id];
                    let base = self.terms.bits(self.terms.width(address), instance.base.into());
                    extents.push((self.terms.eq(address, base), base, instance.size));
                }
            }
            _ => return None,
        }
        let (path, writes, is_atomic) = (state.path, true, false);
        Some(Footprint { place, path, extents, writes, is_atomic, object_use: None, is_whole: false })
    }
}
