//! Leaks: heap objects that have not been freed when the process ends.
//!
//! If a property asks for leaks, allocations and frees are steps, also of objects that no other thread uses
//! (`summarize/process_end`). An object is left at an end of the process if it was allocated before and no free of it
//! came before. The process may end while threads are anywhere: any end that comes before all others is considered. An
//! execution that ends by `abort` leaves nothing.
//!
//! An object is *lost* if it is left and no pointer reaches it. The words that may hold pointers are read at the end of
//! the process: static memory, heap objects, results of threads. An object is lost if there is a set without it that
//! contains all objects that these words point to, and all that the words of its members point to. Registers and stacks
//! of threads that are still running are not considered, except those of the thread that ends the process. So no lost
//! object is missed, and a model may be wrong: the interpreter looks at all of memory once more, and if it can reach
//! the object there is no verdict.

use crate::Reported;
use crate::compose::{Composer, PossibleViolation};
use crate::skeleton::layout::InstanceId;
use crate::skeleton::{Allocation, End, NodeId};
use leno_axioms::order::ordered_if;
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;

impl Composer<'_, '_> {
    pub(crate) fn leaks(&mut self, possible_violations: &mut Vec<(PossibleViolation, Lit)>) {
        for index in self.bounded.skeleton.ends.ids() {
            let end = self.bounded.skeleton.ends[index].clone();
            let ended = self.ended(&end);
            let reached = self.reached(&end, ended);
            for allocation in 0..self.bounded.skeleton.allocations.len() {
                if self.is_interrupted() {
                    return;
                }
                let what = self.bounded.skeleton.allocations[allocation];
                if !self.bounded.question.reported.contains(&Reported::violation(what.span)) {
                    let left = self.left(what, &end, ended);
                    if let Some(reached) = reached.get(&what.instance) {
                        self.solver.add_clause(&[!left, !*reached]);
                    }
                    possible_violations.push((PossibleViolation::Leak(index), left));
                }
            }
        }
    }

    /// By heap object: the literal that it is in the set of reachable objects, if the process ends in this way.
    fn reached(&mut self, end: &End, ended: Lit) -> FxHashMap<InstanceId, Lit> {
        let mut reached: FxHashMap<InstanceId, Lit> = FxHashMap::default();
        if end.words.is_empty() {
            return reached;
        }
        let allocations = self.bounded.skeleton.allocations.clone();
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
                if self.bounded.terms.as_bool(points) == Some(false) {
                    continue;
                }
                let mut clause = vec![!ended, !self.literal(points), !lives, reached[&what.instance]];
                if let Some(holder) = word.holder {
                    let Some(&holder) = reached.get(&holder) else { continue };
                    clause.push(!holder);
                }
                if let Some(thread) = word.result_of {
                    let thread = &self.bounded.skeleton.threads[thread];
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

    /// The condition that a word is an address in an object.
    fn points_into(&mut self, word: Term, id: InstanceId) -> Term {
        let (base, length) = self.bounded.layout.addresses(id);
        let width = self.bounded.terms.width(word);
        if width != u32::from(self.bounded.facts.program.model.pointer_bits()) {
            return Term::FALSE;
        }
        let (base, length) = (self.bounded.pointer(base), self.bounded.terms.bits(width, length.into()));
        let offset = self.bounded.terms.sub(word, base);
        self.bounded.terms.ult(offset, length)
    }

    /// A literal that is true if an object has been allocated and not freed at an end.
    fn lives(&mut self, what: Allocation, end: &End) -> Lit {
        let Some(allocated) = self.happened_by(what.path, what.node, end.node) else { return Lit::FALSE };
        let lives = self.solver.new_literal();
        let clause = [lives, !allocated].into_iter().chain(self.freed(what, end)).collect::<Vec<Lit>>();
        self.solver.add_clause(&clause);
        lives
    }

    /// The literal that the process ends in this way.
    fn ended(&mut self, end: &End) -> Lit {
        let ended = self.solver.new_literal();
        let occurs = self.literal(end.path);
        self.solver.add_clause(&[!ended, occurs]);
        if end.thread.is_some() {
            self.before_exits(ended, end.node);
            return ended;
        }
        for index in self.bounded.skeleton.threads.ids() {
            let thread = &self.bounded.skeleton.threads[index];
            let (finished, last) = (thread.finished, thread.last);
            let is_finished = self.literal(finished);
            let (last, node) = (self.node(last), self.node(end.node));
            ordered_if(&mut self.solver, &[ended, is_finished], last, node);
        }
        ended
    }

    /// The literal that an object is left at an end.
    fn left(&mut self, what: Allocation, end: &End, ended: Lit) -> Lit {
        let left = self.solver.new_literal();
        let allocated = self.literal(what.path);
        self.solver.add_clause(&[!left, ended]);
        self.solver.add_clause(&[!left, allocated]);
        if !self.bounded.skeleton.on_one_thread(what.node, end.node) {
            self.solver.add_guarded_edge(left, self.node(what.node), self.node(end.node));
        }
        for freed in self.freed(what, end) {
            self.solver.add_clause(&[!left, !freed]);
        }
        left
    }

    /// The literals that an object was freed before an end.
    fn freed(&mut self, what: Allocation, end: &End) -> Vec<Lit> {
        let instance = self.bounded.layout.get(what.instance);
        let (object, base) = (instance.object, instance.base);
        let mut frees = Vec::new();
        for index in 0..self.bounded.skeleton.frees.len() {
            let free = &self.bounded.skeleton.frees[index];
            if free.targets.contains(object) {
                let (node, address, path, valid) = (free.node, free.address, free.path, free.valid);
                let base = self.bounded.pointer(base);
                let same = self.bounded.terms.eq(address, base);
                frees.push((self.bounded.terms.and(&[same, path, valid]), node));
            }
        }
        let releases = self.bounded.skeleton.releases.iter().filter(|release| release.instance == what.instance);
        frees.extend(releases.map(|release| (release.path, release.node)));
        frees.into_iter().filter_map(|(done, node)| self.happened_by(done, node, end.node)).collect()
    }

    /// The literal that something happened before the process ended. (Earlier steps of the atomic section that ends it
    /// are at the same node.)
    fn happened_by(&mut self, done: Term, node: NodeId, end: NodeId) -> Option<Lit> {
        match node == end {
            true => Some(self.literal(done)),
            false => self.happened_before(done, node, end),
        }
    }
}
