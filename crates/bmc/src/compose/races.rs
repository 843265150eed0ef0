//! Races: two threads are about to make accesses that conflict (`leno_axioms::races`).

use crate::compose::Composer;
use crate::skeleton::EventId;
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
        if a.thread == b.thread || !a.races(b) || !a.targets.intersects(&b.targets) {
            return None;
        }
        let (ours, theirs) = (a.racing_bytes()?, b.racing_bytes()?);
        let (occurs, also) = (a.occurs, b.occurs);
        let overlap = self.overlap(ours, theirs);
        let both = self.bounded.terms.and(&[occurs, also, overlap]);
        if self.bounded.terms.as_bool(both) == Some(false) {
            return None;
        }
        Some(self.literal(both))
    }

    /// Whether two accesses have a byte in common.
    fn overlap(&mut self, (a, a_bytes): (Term, u32), (b, b_bytes): (Term, u32)) -> Term {
        let terms = &mut self.bounded.terms;
        let are_known = terms.as_bits(a).is_some() && terms.as_bits(b).is_some();
        if a_bytes == b_bytes && !are_known {
            return terms.eq(a, b);
        }
        let width = terms.width(a);
        let (a_bytes, b_bytes) = (terms.bits(width, a_bytes.into()), terms.bits(width, b_bytes.into()));
        let (forth, back) = (terms.sub(a, b), terms.sub(b, a));
        let (inside, around) = (terms.ult(forth, b_bytes), terms.ult(back, a_bytes));
        terms.or2(inside, around)
    }
}
