//! Φ_PO: threads are chains of events of which a beginning happens; starts and joins order threads.

use crate::encode::Encoded;
use crate::program::event::{EventId, Kind, SectionId, TraceProgram};
use crate::program::fork_join_order::ForkJoinOrder;
use leno_axioms::Event;
use leno_axioms::joins::follows;
use leno_axioms::order::{KnownOrder, after_all};
use leno_axioms::races::Stop;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::term::Term;
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What the recorded run says about the order of nodes in all of its reorderings.
pub(crate) struct RecordedOrder {
    must: Rc<ForkJoinOrder>,
    initial: Node,
    /// By node: its thread, and the first and last schedule point of it. The node of the final state has none.
    points: Vec<Option<(ThreadIndex, u32, u32)>>,
}

impl RecordedOrder {
    pub(crate) fn new(must: Rc<ForkJoinOrder>, initial: Node) -> RecordedOrder {
        RecordedOrder { must, initial, points: Vec::new() }
    }

    fn add(&mut self, node: Node, thread: ThreadIndex, point: u32) {
        if self.points.len() <= node.index() {
            self.points.resize(node.index() + 1, None);
        }
        match &mut self.points[node.index()] {
            Some((_, _, last)) => *last = point,
            none => *none = Some((thread, point, point)),
        }
    }

    fn points(&self, node: Node) -> Option<(ThreadIndex, u32, u32)> {
        self.points.get(node.index()).copied().flatten()
    }

    fn must_precede(&self, first: Node, second: Node) -> bool {
        if first == self.initial || second == self.initial {
            return first == self.initial;
        }
        match (self.points(first), self.points(second)) {
            (Some((thread, at, _)), Some((other, _, then))) => self.must.is_before((thread, at), (other, then)),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

impl KnownOrder for RecordedOrder {
    fn precedes(&self, first: Node, second: Node) -> Option<bool> {
        match [self.must_precede(first, second), self.must_precede(second, first)] {
            [true, _] => Some(true),
            [_, true] => Some(false),
            _ => None,
        }
    }
}

impl Encoded {
    pub(super) fn add_nodes(&mut self, ctp: &TraceProgram) {
        for kept in self.slice.kept.values() {
            let chain = self.solver.add_chain();
            let mut section: Option<(SectionId, Node)> = None;
            for &id in kept {
                let event = ctp.event(id);
                let node = match (event.section, section) {
                    (Some(number), Some((last, node))) if number == last => node,
                    _ => self.solver.add_node(chain),
                };
                section = event.section.map(|number| (number, node));
                self.known.add(node, event.thread, event.point);
                self.events[id] = Some(Event { node, occurs: self.solver.new_literal() });
            }
        }
    }

    pub(super) fn program_order(&mut self, ctp: &mut TraceProgram) {
        let kept = self.slice.kept.clone();
        let spawns: BTreeMap<ThreadIndex, EventId> = kept
            .values()
            .flatten()
            .filter_map(|id| match ctp.event(*id).kind {
                Kind::Spawn { child } => Some((child, *id)),
                _ => None,
            })
            .collect();
        let finishes: BTreeMap<ThreadIndex, EventId> = kept
            .values()
            .flatten()
            .filter(|id| matches!(ctp.event(**id).kind, Kind::Finish))
            .map(|id| (ctp.event(*id).thread, *id))
            .collect();
        for events in kept.values() {
            let mut last: Option<EventId> = None;
            for &id in events {
                self.thread_order(ctp, last, id);
                if ctp.event(id).pending {
                    let never = !self.done(id);
                    self.solver.add_clause(&[never]);
                }
                match ctp.event(id).kind {
                    Kind::Start => {
                        if let Some(&spawn) = spawns.get(&ctp.event(id).thread) {
                            self.add_order(spawn, id);
                        }
                    }
                    Kind::Join { child } => {
                        if let Some(&finish) = finishes.get(&child) {
                            self.add_order(finish, id);
                        }
                    }
                    // Nothing is looked for after the end of the process.
                    Kind::Exit => {
                        let never = !self.done(id);
                        self.solver.add_clause(&[never]);
                    }
                    _ => {}
                }
                last = Some(id);
            }
            if let Some(first) = events.first() {
                let first = self.node(*first);
                self.solver.add_edge(self.initial, first);
            }
        }
    }

    /// An event comes after another, and needs it.
    fn add_order(&mut self, first: EventId, second: EventId) {
        let (first, second) = (self.occurrence(first), self.occurrence(second));
        follows(&mut self.solver, second, first);
    }

    /// What an event needs: the one before it, and its guard, which includes those of events that were left out between
    /// them.
    fn thread_order(&mut self, ctp: &mut TraceProgram, last: Option<EventId>, id: EventId) {
        let happens = self.done(id);
        let guard = guard_up_to(ctp, last, id);
        if ctp.terms.as_bool(guard) != Some(true) {
            let guard = self.solver.literal(&ctp.terms, guard);
            self.solver.add_clause(&[!happens, guard]);
        }
        let Some(last) = last else { return };
        self.solver.add_clause(&[!happens, self.done(last)]);
        let (before, here) = (ctp.event(last).section, ctp.event(id).section);
        if let (Some(section), true) = (here, before == here) {
            let is_last = self.section_is_last(section, ctp, id);
            self.solver.add_clause(&[!self.done(last), happens, is_last]);
        }
    }

    /// The literal under which nothing comes after an atomic section: only then may it end halfway.
    fn section_is_last(&mut self, section: SectionId, ctp: &TraceProgram, id: EventId) -> Lit {
        if let Some(&lit) = self.sections.get(&section) {
            return lit;
        }
        let lit = self.solver.new_literal();
        self.sections.insert(section, lit);
        let own = ctp.event(id).thread;
        let others = self.slice.kept.iter().filter(|(thread, _)| **thread != own);
        let others: Vec<Event> = others.flat_map(|(_, events)| events).map(|id| self.occurrence(*id)).collect();
        let node = self.node(id);
        after_all(&mut self.solver, lit, node, &others);
        lit
    }

    /// In a window, some events are over when it begins.
    pub(super) fn already_begun(&mut self, ctp: &TraceProgram) {
        let kept = self.slice.kept.clone();
        for (number, events) in &kept {
            let begun = ctp.begun.get(number).copied().unwrap_or(0);
            for &id in events.iter().filter(|id| ctp.event(**id).index < begun) {
                let happens = self.done(id);
                self.solver.add_clause(&[happens]);
                for (other, theirs) in &kept {
                    let over = ctp.begun.get(other).copied().unwrap_or(0);
                    let first = theirs.iter().find(|id| ctp.event(**id).index >= over);
                    if let (Some(first), true) = (first, other != number) {
                        self.solver.add_edge(self.node(id), self.node(*first));
                    }
                }
            }
        }
    }

    /// A thread stops before a schedule point. Whether that rules out the model that the solver has found.
    pub(crate) fn never_pass(&mut self, ctp: &TraceProgram, thread: ThreadIndex, point: u32) -> bool {
        let begun = ctp.begun.get(&thread).copied().unwrap_or(0);
        let kept = self.slice.kept.get(&thread).into_iter().flatten();
        // (The start of a thread is before its first point, and what is over has passed it.)
        let later = kept
            .map(|id| (ctp.event(*id), self.done(*id)))
            .filter(|(event, _)| event.point >= point && event.index >= begun && !matches!(event.kind, Kind::Start));
        let later: Vec<Lit> = later.map(|(_, happens)| happens).collect();
        let is_news = later.iter().any(|happens| self.solver.value(*happens));
        for happens in later {
            self.solver.add_clause(&[!happens]);
        }
        is_news
    }

    /// A thread stands right before something that comes after `count` of its events, where `guard` holds on the way
    /// there from the last of them.
    pub fn stands(&mut self, ctp: &mut TraceProgram, thread: ThreadIndex, count: u32, guard: Term) -> Vec<Lit> {
        let kept = self.slice.kept.get(&thread).map_or(&[][..], Vec::as_slice);
        let index = kept.partition_point(|id| ctp.event(*id).index < count);
        let last = index.checked_sub(1).and_then(|index| kept.get(index)).copied();
        let next = kept.get(index).map(|next| self.done(*next));
        let from = last.map_or(0, |last| ctp.event(last).index + 1);
        let mut whole = guard;
        for index in from..count {
            let Some(&skipped) = ctp.threads.get(&thread).and_then(|thread| thread.events.get(index as usize)) else {
                continue;
            };
            let guard = ctp.event(skipped).guard;
            whole = ctp.terms.and2(whole, guard);
        }
        let way = (ctp.terms.as_bool(whole) != Some(true)).then(|| self.solver.literal(&ctp.terms, whole));
        Stop { last: last.map(|last| self.done(last)), next, way }.conditions().collect()
    }

    /// The last event that is left before something that comes after `count` events of a thread, if it is in the same
    /// atomic section.
    pub fn in_section(&self, ctp: &TraceProgram, thread: ThreadIndex, count: u32) -> Option<Lit> {
        let event = ctp.event(*ctp.threads.get(&thread)?.events.get(count.checked_sub(1)? as usize)?);
        self.sections.get(&event.section?).copied()
    }
}

/// The guards from behind `last` up to and with `id`.
fn guard_up_to(ctp: &mut TraceProgram, last: Option<EventId>, id: EventId) -> Term {
    let (thread, index) = (ctp.event(id).thread, ctp.event(id).index);
    let from = last.map_or(0, |last| ctp.event(last).index + 1);
    let mut whole = ctp.terms.bool(true);
    for skipped in from..=index {
        let skipped = ctp.threads.get(&thread).and_then(|thread| thread.events.get(skipped as usize)).copied();
        if let Some(skipped) = skipped {
            let guard = ctp.event(skipped).guard;
            whole = ctp.terms.and2(whole, guard);
        }
    }
    whole
}
