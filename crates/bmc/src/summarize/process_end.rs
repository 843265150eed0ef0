//! The end of the process, for properties about leaks (`compose/leaks`).
//!
//! For these properties all allocations and frees are steps, also of objects that threads do not share; and at each end
//! of the process, all words that may point to a heap object are read.

use crate::skeleton::layout::InstanceId;
use crate::skeleton::{Allocation, End, EndId, Event, NodeId, Release, Unit, Word};
use crate::summarize::access::Accesses;
use crate::summarize::state::State;
use crate::summarize::{Execution, Refused};
use leno_engine::Properties;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::sharing::Sharing;
use leno_logic::term::Term;

/// The most words that are read when the process ends; the rest may have any value.
const MOST_WORDS: u64 = 4096;

/// The state of the thread that ends the process, and its stack objects, unless it has returned from all functions.
pub(crate) struct FinalState {
    state: State,
    slots: Option<Vec<InstanceId>>,
}

/// Whether a property is about what is left at the end.
pub(crate) fn watches_ends(properties: Properties) -> bool {
    properties.leak || properties.memtrack
}

impl Execution<'_> {
    pub(crate) fn watch_allocation(&mut self, state: &mut State, instance: InstanceId) {
        if watches_ends(self.question.properties) {
            let (node, (_, span)) = (self.next_node(state), self.here);
            self.step(node, state.path);
            self.skeleton.allocations.push(Allocation { instance, node, path: state.path, span });
        }
    }

    /// Notes that private objects are freed, each under a condition.
    pub(crate) fn watch_releases(&mut self, state: &State, node: NodeId, freed: &[(InstanceId, Term)]) {
        if watches_ends(self.question.properties) {
            for &(instance, condition) in freed {
                let path = self.terms.and2(state.path, condition);
                self.skeleton.releases.push(Release { instance, node, path });
            }
        }
    }

    /// The running thread ends the process, `inside` of its functions or by returning from the last one.
    pub(crate) fn end_process(&mut self, state: &State, node: NodeId, inside: bool) {
        if watches_ends(self.question.properties) {
            self.skeleton.ends.push(End { node, path: state.path, thread: Some(self.thread), words: Vec::new() });
            let slots = inside.then(|| self.active.iter().flat_map(|active| active.slots.clone()).collect());
            self.final_states.push(FinalState { state: state.clone(), slots });
        }
    }

    /// The process ends with its last thread, if the main thread has not ended it before.
    pub(crate) fn end_with_last_thread(&mut self) {
        let finished: Vec<(Term, Option<(NodeId, Term)>)> =
            self.skeleton.threads.iter().map(|thread| (thread.finished, thread.spawned)).collect();
        if !watches_ends(self.question.properties) {
            return;
        }
        let mut all = Vec::new();
        for (finished, spawned) in finished {
            let started = spawned.map_or(Term::TRUE, |(_, path)| path);
            all.push(self.terms.implies(started, finished));
        }
        let path = self.terms.and(&all);
        if self.terms.as_bool(path) != Some(false) {
            let node = self.skeleton.add_node(self.skeleton.no_thread());
            self.skeleton.ends.push(End { node, path, thread: None, words: Vec::new() });
            self.final_states.push(FinalState { state: State::at(path), slots: None });
        }
    }

    /// Reads the words that may hold pointers when the process ends.
    pub(crate) fn read_words_at_ends(&mut self) -> Result<(), Refused> {
        for (index, final_state) in self.skeleton.ends.ids().zip(std::mem::take(&mut self.final_states)) {
            // (If every object that is left is a leak, it does not matter whether it is lost.)
            if self.question.properties.memtrack && !self.question.properties.leak {
                let words = self.words_at_end(index, final_state)?;
                self.skeleton.ends[index].words = words;
            }
        }
        Ok(())
    }

    fn words_at_end(&mut self, end: EndId, mut final_state: FinalState) -> Result<Vec<Word>, Refused> {
        let mut words = Vec::new();
        if final_state.slots.is_some() {
            let registers = final_state.state.locals.iter().flatten().copied();
            words.extend(registers.map(|value| Word { value, holder: None, result_of: None }));
        }
        for (index, thread) in self.skeleton.threads.iter_enumerated() {
            let result_of = Some(index);
            words.push(Word { value: thread.result, holder: None, result_of });
        }
        let bytes = self.program.model.pointer_bytes();
        let mut left = MOST_WORDS;
        for id in self.layout.ids() {
            let instance = self.layout.get(id);
            let is_root = match self.facts.points_to.objects()[instance.object] {
                AbstractObject::Static(_) => instance.owner.is_none(),
                AbstractObject::Slot(..) => final_state.slots.as_ref().is_some_and(|slots| slots.contains(&id)),
                _ => false,
            };
            let count = instance.size / bytes;
            if (is_root || instance.is_heap) && !instance.is_constant && count <= left && self.may_hold_pointers(id) {
                left -= count;
                self.words_of(end, &mut final_state, id, count, &mut words)?;
            }
        }
        Ok(words)
    }

    /// Whether an object may hold the address of a heap object.
    fn may_hold_pointers(&self, id: InstanceId) -> bool {
        let contents = self.facts.points_to.contents(self.layout.get(id).object);
        contents.iter().any(|object| matches!(self.facts.points_to.objects()[object], AbstractObject::Site(_)))
    }

    fn words_of(
        &mut self,
        end: EndId,
        final_state: &mut FinalState,
        id: InstanceId,
        count: u64,
        words: &mut Vec<Word>,
    ) -> Result<(), Refused> {
        let End { node, thread, path, .. } = self.skeleton.ends[end];
        let bytes = self.program.model.pointer_bytes();
        let instance = self.layout.get(id);
        let (object, base, is_shared) = (instance.object, instance.base, instance.sharing == Sharing::Shared);
        let holder = instance.is_heap.then_some(id);
        let mut units: Vec<Unit> = Vec::new();
        for offset in (0..count).map(|at| at * bytes) {
            let value = match (is_shared, thread) {
                (true, _) => {
                    let address = self.pointer(base + offset);
                    let (value, unit) = self.shared_read(&final_state.state, address, bytes as u32, Term::TRUE);
                    units.push(unit);
                    value
                }
                (false, Some(_)) => self.read_cell(&mut final_state.state, id, offset, bytes as u32)?,
                (false, None) => continue,
            };
            words.push(Word { value, holder, result_of: None });
        }
        if !units.is_empty() {
            let targets = [object].into_iter().collect();
            let accesses = Accesses { reads: units, ..Accesses::synchronising(targets) };
            let thread = thread.unwrap_or(self.skeleton.no_thread());
            let event = self.event_at(&final_state.state, node, accesses);
            self.skeleton.events.push(Event { thread, occurs: path, ..event });
        }
        Ok(())
    }
}
