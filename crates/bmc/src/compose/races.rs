//! Races: two threads are about to make accesses that conflict (`leno_axioms::races`).

use crate::compose::Composer;
use crate::skeleton::{Event, EventId, Unit};
use leno_axioms::races::adjacent;
use leno_logic::literal::Lit;
use leno_logic::term::Term;

impl Composer<'_, '_> {
    /// In which orders to look for a race of two events. An atomic section comes first: what it accesses, and whether
    /// it has to wait, may depend on when it is executed, so it is executed when the other event is next on its thread.
    /// So does a library function: what it accesses depends on what it reads.
    /// If the section ends the lifetime of an object, the other event may be impossible after it: then both orders are
    /// tried.
    pub(super) fn orders(&self, first: EventId, second: EventId) -> Vec<(EventId, EventId)> {
        let events = &self.bounded.skeleton.events;
        let varies = |event: EventId| events[event].in_section || events[event].is_compound;
        let is_second = events[second].in_section || (varies(second) && !varies(first));
        let (first, second) = if is_second { (second, first) } else { (first, second) };
        match events[first].in_section && self.ends_lives(events[first].node) {
            true => vec![(first, second), (second, first)],
            false => vec![(first, second)],
        }
    }

    pub(super) fn race(&mut self, first: EventId, second: EventId) -> Option<Lit> {
        let both = self.conflict(first, second)?;
        let events = &self.bounded.skeleton.events;
        let (node, other) = (events[first].node, events[second].node);
        let selected = self.solver.new_literal();
        self.solver.add_clause(&[!selected, both]);
        let before = self.node(self.before[other]?);
        let (first, second) = (self.node(node), self.node(other));
        adjacent(&mut self.solver, selected, first, before, second);
        self.before_exits(selected, node);
        Some(selected)
    }

    /// The literal that both events occur, and access common bytes; none if they cannot race.
    pub(super) fn conflict(&mut self, first: EventId, second: EventId) -> Option<Lit> {
        let events = &self.bounded.skeleton.events;
        let (a, b) = (&events[first], &events[second]);
        if a.thread == b.thread
            || !a.is_plain
            || !b.is_plain
            || (a.is_atomic && b.is_atomic)
            || (a.writes.is_empty() && b.writes.is_empty())
            || !a.targets.intersects(&b.targets)
        {
            return None;
        }
        let unit = |event: &Event| event.reads.first().or(event.writes.first()).copied();
        let (ours, theirs) = (unit(a)?, unit(b)?);
        let (occurs, also) = (a.occurs, b.occurs);
        let overlap = self.overlap(&ours, &theirs);
        let both = self.bounded.terms.and(&[occurs, also, overlap]);
        if self.bounded.terms.as_bool(both) == Some(false) {
            return None;
        }
        Some(self.literal(both))
    }

    /// Whether two accesses have a byte in common.
    fn overlap(&mut self, a: &Unit, b: &Unit) -> Term {
        let terms = &mut self.bounded.terms;
        let are_known = terms.as_bits(a.address).is_some() && terms.as_bits(b.address).is_some();
        if a.bytes == b.bytes && !are_known {
            return terms.eq(a.address, b.address);
        }
        let width = terms.width(a.address);
        let (a_bytes, b_bytes) = (terms.bits(width, a.bytes.into()), terms.bits(width, b.bytes.into()));
        let (forth, back) = (terms.sub(a.address, b.address), terms.sub(b.address, a.address));
        let (inside, around) = (terms.ult(forth, b_bytes), terms.ult(back, a_bytes));
        terms.or2(inside, around)
    }
}
