//! Leaks: what is left of the heap when the process ends.
//!
//! Where it matters, the beginning of each heap object's life is a step, and so is its end, also where no other thread could notice. An
//! object is left at an end of the process if it was allocated before and no free of it came before. The process may end while
//! threads are anywhere: any end that comes before all others is looked at. An execution that ends by `abort` leaves nothing.
//!
//! What is *lost* is left, and nothing points to it any more. What points there at the end is read then: static memory, what lies on the heap, what
//! threads have returned. An object is lost if there is a set without it that contains all that these words point to, and all that
//! the words of its members point to. What threads that are still running have for themselves is not looked at, except for the one that
//! ends the process. So nothing that is lost is missed; and what is found the interpreter looks at once more, with everything that there is. If it is not lost
//! after all, there is no verdict.

use crate::Reported;
use crate::compose::{Composer, Suspect};
use crate::objects::InstanceId;
use crate::skeleton::{Allocation, End, NodeId, Release, ThreadIndex, Unit, Word};
use crate::state::State;
use crate::summarize::Summarizer;
use leno_explore::Properties;
use leno_ir::points_to::AbstractObject;
use leno_ir::sharing::Sharing;
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;

/// Words that are looked at when the process ends; the rest may be anything.
const MOST_WORDS: u64 = 4096;

/// What the thread that ends the process knows then: its state, and, unless it has returned from everything, its stack objects.
pub(crate) struct Leaving {
    state: State,
    slots: Option<Vec<InstanceId>>,
}

/// Whether it matters what is left at the end.
pub(crate) fn watches_ends(properties: Properties) -> bool {
    properties.leak || properties.memtrack
}

impl Summarizer<'_> {
    pub(crate) fn watch_allocation(&mut self, state: &mut State, instance: InstanceId) {
        if watches_ends(self.properties) {
            let (node, (_, span)) = (self.next_node(state), self.here);
            self.step(node, state.path);
            self.skeleton.allocations.push(Allocation { instance, node, path: state.path, span });
        }
    }

    /// Private objects are freed, each under a condition.
    pub(crate) fn watch_releases(&mut self, state: &State, node: NodeId, freed: &[(InstanceId, Term)]) {
        if watches_ends(self.properties) {
            for &(instance, condition) in freed {
                let path = self.terms.and2(state.path, condition);
                self.skeleton.releases.push(Release { instance, node, path });
            }
        }
    }

    /// The running thread ends the process, `inside` of its functions or by returning from the last one.
    pub(crate) fn end_process(&mut self, state: &State, node: NodeId, inside: bool) {
        if watches_ends(self.properties) {
            self.skeleton.ends.push(End { node, path: state.path, thread: Some(self.thread), words: Vec::new() });
            let slots = inside.then(|| self.active.iter().flat_map(|active| active.slots.clone()).collect());
            self.leaving.push(Leaving { state: state.clone(), slots });
        }
    }

    /// The process ends with its last thread, if the main thread has not ended it before.
    pub(crate) fn end_with_last_thread(&mut self) {
        let finished: Vec<(Term, Option<(NodeId, Term)>)> =
            self.skeleton.threads.iter().map(|thread| (thread.finished, thread.spawned)).collect();
        if !watches_ends(self.properties) {
            return;
        }
        let mut all = Vec::new();
        for (finished, spawned) in finished {
            let started = spawned.map_or(Term::TRUE, |(_, path)| path);
            all.push(self.terms.implies(started, finished));
        }
        let path = self.terms.and(&all);
        if self.terms.as_bool(path) != Some(false) {
            let node = self.skeleton.add_node(ThreadIndex(self.skeleton.threads.len() as u32));
            self.skeleton.ends.push(End { node, path, thread: None, words: Vec::new() });
            self.leaving.push(Leaving { state: State::at(path), slots: None });
        }
    }

    /// Reads what may point to something when the process ends.
    pub(crate) fn look_at_ends(&mut self) {
        for (index, leaving) in std::mem::take(&mut self.leaving).into_iter().enumerate() {
            // (What is left is a leak, whether it is lost or not.)
            if self.properties.memtrack && !self.properties.leak {
                let words = self.words_at_end(index, leaving);
                self.skeleton.ends[index].words = words;
            }
        }
    }

    fn words_at_end(&mut self, end: usize, mut leaving: Leaving) -> Vec<Word> {
        let mut words = Vec::new();
        if leaving.slots.is_some() {
            let registers = leaving.state.locals.iter().flatten().copied();
            words.extend(registers.map(|value| Word { value, holder: None, result_of: None }));
        }
        for (index, thread) in self.skeleton.threads.iter().enumerate() {
            let result_of = Some(ThreadIndex(index as u32));
            words.push(Word { value: thread.result, holder: None, result_of });
        }
        let bytes = self.program.model.pointer_bytes();
        let mut left = MOST_WORDS;
        for id in self.instances.ids() {
            let instance = self.instances.get(id);
            let is_root = match self.points_to.objects()[instance.object] {
                AbstractObject::Static(_) => instance.owner.is_none(),
                AbstractObject::Slot(..) => leaving.slots.as_ref().is_some_and(|slots| slots.contains(&id)),
                _ => false,
            };
            let count = instance.size / bytes;
            if (is_root || instance.is_heap) && !instance.is_constant && count <= left && self.may_hold_pointers(id) {
                left -= count;
                self.words_of(end, &mut leaving, id, count, &mut words);
            }
        }
        words
    }

    /// Whether the address of something on the heap may lie in an object.
    fn may_hold_pointers(&self, id: InstanceId) -> bool {
        let contents = self.points_to.contents(self.instances.get(id).object);
        contents.iter().any(|object| matches!(self.points_to.objects()[object], AbstractObject::Site(_)))
    }

    fn words_of(&mut self, end: usize, leaving: &mut Leaving, id: InstanceId, count: u64, words: &mut Vec<Word>) {
        let End { node, thread, path, .. } = self.skeleton.ends[end];
        let bytes = self.program.model.pointer_bytes();
        let instance = self.instances.get(id);
        let (object, base, is_shared) = (instance.object, instance.base, instance.sharing == Sharing::Shared);
        let holder = instance.is_heap.then_some(id);
        let mut units: Vec<Unit> = Vec::new();
        for offset in (0..count).map(|at| at * bytes) {
            let value = match (is_shared, thread) {
                (true, _) => {
                    let address = self.pointer(base + offset);
                    let (value, unit) = self.shared_read(&leaving.state, address, bytes as u32, Term::TRUE);
                    units.push(unit);
                    value
                }
                (false, Some(_)) => self.read_cell(&mut leaving.state, id, offset, bytes as u32),
                (false, None) => continue,
            };
            words.push(Word { value, holder, result_of: None });
        }
        if !units.is_empty() {
            let nobody = ThreadIndex(self.skeleton.threads.len() as u32);
            let mut event = self.event(&leaving.state, [object].into_iter().collect(), false, true);
            (event.node, event.thread, event.occurs) = (node, thread.unwrap_or(nobody), path);
            event.reads = units;
            self.skeleton.events.push(event);
        }
    }
}

impl Composer<'_, '_> {
    pub(crate) fn leaks(&mut self, suspects: &mut Vec<(Suspect, Lit)>) {
        for index in 0..self.summary.skeleton.ends.len() {
            let end = self.summary.skeleton.ends[index].clone();
            let ended = self.ended(&end);
            let reached = self.reached(&end, ended);
            for allocation in 0..self.summary.skeleton.allocations.len() {
                if self.is_interrupted() {
                    return;
                }
                let what = self.summary.skeleton.allocations[allocation];
                if !self.summary.reported.contains(&Reported::violation(what.span)) {
                    let left = self.left(what, &end, ended);
                    if let Some(reached) = reached.get(&what.instance) {
                        self.solver.add_clause(&[!left, !*reached]);
                    }
                    suspects.push((Suspect::Leak(index), left));
                }
            }
        }
    }

    /// A set of heap objects that contains, if the process ends like this, all that can be reached.
    fn reached(&mut self, end: &End, ended: Lit) -> FxHashMap<InstanceId, Lit> {
        let mut reached: FxHashMap<InstanceId, Lit> = FxHashMap::default();
        if end.words.is_empty() {
            return reached;
        }
        let allocations = self.summary.skeleton.allocations.clone();
        for what in &allocations {
            reached.insert(what.instance, self.solver.new_literal());
        }
        for what in &allocations {
            let lives = self.lives(*what, end);
            for word in &end.words {
                if self.is_interrupted() {
                    return reached;
                }
                let points = self.points_into(word.value, what.instance);
                if self.summary.terms.as_bool(points) == Some(false) {
                    continue;
                }
                let mut clause = vec![!ended, !self.literal(points), !lives, reached[&what.instance]];
                if let Some(holder) = word.holder {
                    let Some(&holder) = reached.get(&holder) else { continue };
                    clause.push(!holder);
                }
                if let Some(thread) = word.result_of {
                    let thread = &self.summary.skeleton.threads[thread.0 as usize];
                    let (finished, last) = (thread.finished, thread.last);
                    match self.happened_before(finished, last, end.node) {
                        Some(returned) => clause.push(!returned),
                        None => continue,
                    }
                }
                self.solver.add_clause(&clause);
            }
        }
        reached
    }

    /// Whether a word is an address in an object.
    fn points_into(&mut self, word: Term, id: InstanceId) -> Term {
        let (base, length) = self.summary.instances.addresses(self.summary.program.model, id);
        let width = self.summary.terms.width(word);
        if width != u32::from(self.summary.program.model.pointer_bits()) {
            return Term::FALSE;
        }
        let (base, length) = (self.summary.pointer(base), self.summary.terms.bits(width, length.into()));
        let offset = self.summary.terms.sub(word, base);
        self.summary.terms.ult(offset, length)
    }

    /// A literal that is true if an object has been allocated and not freed at an end.
    fn lives(&mut self, what: Allocation, end: &End) -> Lit {
        let Some(allocated) = self.happened_by(what.path, what.node, end.node) else { return Lit::FALSE };
        let lives = self.solver.new_literal();
        let clause = [lives, !allocated].into_iter().chain(self.freed(what, end)).collect::<Vec<Lit>>();
        self.solver.add_clause(&clause);
        lives
    }

    /// The literal that the process ends like this.
    fn ended(&mut self, end: &End) -> Lit {
        let ended = self.solver.new_literal();
        let occurs = self.literal(end.path);
        self.solver.add_clause(&[!ended, occurs]);
        if end.thread.is_some() {
            self.before_exits(ended, end.node);
            return ended;
        }
        for index in 0..self.summary.skeleton.threads.len() {
            let thread = &self.summary.skeleton.threads[index];
            let (finished, last) = (thread.finished, thread.last);
            let is_finished = self.literal(finished);
            let comes_first = self.solver.new_literal();
            self.solver.add_clause(&[!ended, !is_finished, comes_first]);
            self.solver.add_guarded_edge(comes_first, self.node(last), self.node(end.node));
        }
        ended
    }

    /// The literal that an object is there at an end.
    fn left(&mut self, what: Allocation, end: &End, ended: Lit) -> Lit {
        let left = self.solver.new_literal();
        let allocated = self.literal(what.path);
        self.solver.add_clause(&[!left, ended]);
        self.solver.add_clause(&[!left, allocated]);
        if self.summary.skeleton.nodes[what.node.0 as usize] != self.summary.skeleton.nodes[end.node.0 as usize] {
            self.solver.add_guarded_edge(left, self.node(what.node), self.node(end.node));
        }
        for freed in self.freed(what, end) {
            self.solver.add_clause(&[!left, !freed]);
        }
        left
    }

    /// The literals that an object was freed before an end.
    fn freed(&mut self, what: Allocation, end: &End) -> Vec<Lit> {
        let instance = self.summary.instances.get(what.instance);
        let (object, base) = (instance.object, instance.base);
        let mut frees = Vec::new();
        for index in 0..self.summary.skeleton.frees.len() {
            let free = &self.summary.skeleton.frees[index];
            if free.targets.contains(object) {
                let (node, address, path, valid) = (free.node, free.address, free.path, free.valid);
                let base = self.summary.pointer(base);
                let same = self.summary.terms.eq(address, base);
                frees.push((self.summary.terms.and(&[same, path, valid]), node));
            }
        }
        let releases = self.summary.skeleton.releases.iter().filter(|release| release.instance == what.instance);
        frees.extend(releases.map(|release| (release.path, release.node)));
        frees.into_iter().filter_map(|(done, node)| self.happened_by(done, node, end.node)).collect()
    }

    /// The literal that something was done before the process ended. (What is done in the section that ends it was done before.)
    fn happened_by(&mut self, done: Term, node: NodeId, end: NodeId) -> Option<Lit> {
        match node == end {
            true => Some(self.literal(done)),
            false => self.happened_before(done, node, end),
        }
    }
}
