//! Composition: the axioms of sequential consistency over the skeleton (paper 000, sections 5 and 6).
//!
//! Threads become chains of the theory of order, each read gets a literal for every write that it may copy, and a literal for
//! every write that may hit its location; who comes between whom is the theory's business. Which writes and which races are to
//! be considered has been found before (`prune`).

use crate::Reported;
use crate::access::UNDEFINED;
use crate::objects::Initial;
use crate::pieces::Piece;
use crate::prune::{MayCopy, Pruned};
use crate::skeleton::{Check, Event, Join, NodeId, Unit};
use crate::summarize::Summarizer;
use leno_ir::points_to::{AbstractId, ObjectSet};
use leno_ir::sharing::Sharing;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::{Copied, Solver};
use leno_logic::term::{Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a violation is, once it is found.
#[derive(Clone, Copy, Debug)]
pub enum Suspect {
    Violation(usize),
    /// Two events about to happen: the first could come right before the second.
    Race(usize, usize),
    /// Nobody can go on.
    Deadlock,
    /// Threads wait for each other's locks.
    Circle,
    /// Something is left when the process ends like this.
    Leak(usize),
}

/// A skeleton in the solver.
pub struct Composition {
    pub solver: Solver,
    pub nodes: Vec<Node>,
    pub suspects: Vec<(Suspect, Lit)>,
    /// Assumed to ask for any violation.
    pub violated: Lit,
    /// That one is a race with a section in which a thread is stopped; then what comes after it means nothing.
    pub peeks: Option<Lit>,
    /// Assumed to ask for a cut.
    pub cuts: Vec<Lit>,
    /// Assumed to ask for an access that is not aligned to the pieces that it was cut into; none if there cannot be one.
    pub unaligned: Option<Lit>,
    /// Assumed to ask for what happens when nothing comes in from outside.
    pub plain: Vec<Lit>,
    /// Assumed to ask for what was not looked at.
    pub doubts: Vec<Lit>,
    /// Pairs of a read and a write that may be linked.
    pub links: usize,
    /// What reads are copies of, if there are functions that the solver may be wrong about.
    pub copies: Vec<Copied>,
}

impl Composition {
    /// Asks, and tells the solver what it is wrong about.
    pub fn solve_exactly(&mut self, terms: &mut Terms, assumptions: &[Lit], limits: &Limits) -> Answer {
        self.solver.solve_exactly(terms, &self.copies, assumptions, limits)
    }
}

pub(crate) struct Composer<'a, 'p> {
    pub summary: &'a mut Summarizer<'p>,
    pub solver: Solver,
    nodes: Vec<Node>,
    initial: Node,
    /// By node: the one before it on its thread.
    before: Vec<Option<NodeId>>,
    undefined: FxHashMap<(Term, u32), Term>,
    /// What undefined words are for the read that is being linked, if it is of a synchronisation object.
    undefined_word: Option<Term>,
    links: usize,
    copies: Vec<Copied>,
}

/// Puts a skeleton into a fresh solver.
pub fn compose(summary: &mut Summarizer<'_>, pruned: &Pruned, mut solver: Solver) -> Composition {
    let start = solver.add_chain();
    let initial = solver.add_node(start);
    // One more, for the moment when a deadlock is looked for.
    let chains: Vec<_> = (0..=summary.skeleton.threads.len()).map(|_| solver.add_chain()).collect();
    let nodes: Vec<Node> =
        summary.skeleton.nodes.iter().map(|thread| solver.add_node(chains[thread.0 as usize])).collect();
    let mut last: Vec<Option<NodeId>> = vec![None; chains.len()];
    let mut before = Vec::new();
    for (index, thread) in summary.skeleton.nodes.iter().enumerate() {
        before.push(last[thread.0 as usize].replace(NodeId(index as u32)));
    }
    for thread in &summary.skeleton.threads {
        let first = nodes[thread.first.0 as usize];
        match thread.spawned {
            Some((node, _)) => solver.add_edge(nodes[node.0 as usize], first),
            None => solver.add_edge(initial, first),
        }
    }
    let mut composer = Composer {
        summary,
        solver,
        nodes,
        initial,
        before,
        undefined: FxHashMap::default(),
        undefined_word: None,
        links: 0,
        copies: Vec::new(),
    };
    composer.memory(pruned);
    composer.order(&pruned.firsts);
    composer.exclude(&pruned.exclusions);
    composer.seams();
    composer.joins();
    composer.frees();
    composer.checks();
    for index in 0..composer.summary.skeleton.constraints.len() {
        if composer.is_interrupted() {
            break;
        }
        let constraint = composer.summary.skeleton.constraints[index];
        composer.solver.assert(&composer.summary.terms, constraint);
    }
    composer.questions(pruned)
}

impl Composer<'_, '_> {
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[(id.0 as usize).min(self.nodes.len() - 1)]
    }

    /// Whether to stop here; then the composition is not to be used.
    pub(crate) fn is_interrupted(&mut self) -> bool {
        (self.summary.interrupted)()
    }

    pub fn literal(&mut self, term: Term) -> Lit {
        self.solver.literal(&self.summary.terms, term)
    }

    // --- memory

    fn memory(&mut self, pruned: &Pruned) {
        for (read, may_copy) in pruned.pieces.reads.iter().zip(&pruned.may_copy) {
            if self.is_interrupted() {
                return;
            }
            if let Some(may_copy) = may_copy {
                self.link(read, may_copy, &pruned.pieces.writes);
            }
        }
    }

    /// Gives a read its candidates.
    fn link(&mut self, read: &Piece, may_copy: &MayCopy, writes: &[Piece]) {
        let node = self.summary.skeleton.events[read.event].node;
        let theory_read = self.solver.add_read(self.node(node));
        let occurs = self.literal(read.occurs);
        let mut sources = vec![!occurs];
        let mut candidates: Vec<(usize, Lit)> = Vec::new();
        for &index in &may_copy.writes {
            let write = &writes[index];
            let write_node = self.summary.skeleton.events[write.event].node;
            // (A section sees its own writes by itself.)
            if write_node == node || write.unit.bytes != read.unit.bytes {
                continue;
            }
            let same = self.summary.terms.eq(read.place, write.place);
            let hit = self.summary.terms.and2(same, write.occurs);
            let hit = self.literal(hit);
            let source = self.solver.new_literal();
            self.solver.add_clause(&[!source, occurs]);
            self.solver.add_clause(&[!source, hit]);
            self.copy(source, read.unit.value, write.unit.value);
            self.solver.add_reads_from(theory_read, source, self.node(write_node));
            self.solver.add_hit(theory_read, hit, self.node(write_node));
            // Of two writes of one moment only the later one can be seen.
            for &(other, other_hit) in &candidates {
                if self.summary.skeleton.events[other].node == write_node && other > write.event {
                    self.solver.add_clause(&[!source, !other_hit]);
                }
            }
            candidates.push((write.event, hit));
            sources.push(source);
            self.links += 1;
        }
        for &index in &may_copy.overwriting {
            let write = &writes[index];
            let same = self.summary.terms.eq(read.place, write.place);
            let hit = self.summary.terms.and2(same, write.occurs);
            let hit = self.literal(hit);
            let write_node = self.summary.skeleton.events[write.event].node;
            self.solver.add_hit(theory_read, hit, self.node(write_node));
        }
        if may_copy.initial {
            let targets = self.summary.skeleton.events[read.event].targets.clone();
            let is_sync = !self.summary.skeleton.events[read.event].is_plain && read.unit.bytes == 4;
            self.undefined_word = is_sync.then(|| self.summary.terms.bits(32, UNDEFINED));
            let value = self.initial_value(&read.unit, &targets);
            let source = self.solver.new_literal();
            self.solver.add_clause(&[!source, occurs]);
            self.copy(source, read.unit.value, value);
            self.solver.add_reads_from(theory_read, source, self.initial);
            sources.push(source);
        }
        self.solver.add_clause(&sources);
    }

    /// Where a literal holds, a read has a value.
    fn copy(&mut self, guard: Lit, variable: Term, of: Term) {
        self.solver.equal_if(&mut self.summary.terms, guard, variable, of);
        if self.summary.terms.has_functions() {
            self.copies.push(Copied { guard, variable, of });
        }
    }

    /// What a read sees that nobody has written before.
    pub(crate) fn initial_value(&mut self, unit: &Unit, targets: &ObjectSet) -> Term {
        let width = unit.bytes * 8;
        if let Some(address) = self.summary.terms.as_bits(unit.address) {
            let Some(id) = self.summary.instances.at(self.summary.program.model, address as u64) else {
                return self.summary.terms.bits(width, 0);
            };
            let instance = self.summary.instances.get(id);
            let (initial, offset) = (instance.initial, (address as u64).wrapping_sub(instance.base));
            return self.initial_at(initial, offset, unit);
        }
        let mut value = self.undefined(unit);
        for object in targets.iter() {
            if self.summary.shared.of(object) != Sharing::Shared {
                continue;
            }
            for id in self.summary.instances.of(object).to_vec() {
                let instance = self.summary.instances.get(id);
                let (initial, base, size) = (instance.initial, instance.base, instance.size);
                let inside = self.summary.is_inside(id, unit.address, unit.bytes.into(), false);
                if initial == Initial::Undefined || self.summary.terms.as_bool(inside) == Some(false) {
                    continue;
                }
                let zero = self.summary.terms.bits(width, 0);
                value = self.summary.terms.ite(inside, zero, value);
                let is_zero = match initial {
                    Initial::Static(object) => self.summary.program.objects[object].init.is_empty(),
                    Initial::Given(_) => false,
                    Initial::Zero | Initial::Undefined => true,
                };
                if is_zero {
                    continue;
                }
                for offset in (0..size).step_by(unit.bytes as usize) {
                    let here = self.initial_at(initial, offset, unit);
                    if here == zero || offset + u64::from(unit.bytes) > size {
                        continue;
                    }
                    let address = self.summary.pointer(base + offset);
                    let same = self.summary.terms.eq(unit.address, address);
                    value = self.summary.terms.ite(same, here, value);
                }
            }
        }
        value
    }

    fn initial_at(&mut self, initial: Initial, offset: u64, unit: &Unit) -> Term {
        if initial == Initial::Undefined {
            return self.undefined(unit);
        }
        let mut terms = std::mem::take(&mut self.summary.terms);
        let value = self.summary.initial_bytes(&mut terms, initial, offset, unit.bytes);
        self.summary.terms = terms;
        value
    }

    /// Anything, but the same for one address.
    fn undefined(&mut self, unit: &Unit) -> Term {
        if let Some(word) = self.undefined_word {
            return word;
        }
        let terms = &mut self.summary.terms;
        let fresh = || terms.variable(Sort::Bits(unit.bytes * 8), "undefined");
        *self.undefined.entry((unit.address, unit.bytes)).or_insert_with(fresh)
    }

    // --- threads, lives

    fn joins(&mut self) {
        let mut joined_by: FxHashMap<usize, Vec<Lit>> = FxHashMap::default();
        for index in 0..self.summary.skeleton.joins.len() {
            if self.is_interrupted() {
                break;
            }
            let join = self.summary.skeleton.joins[index].clone();
            self.invalid_handle(index);
            if join.is_detach {
                continue;
            }
            let occurs = self.summary.terms.and2(join.path, join.done);
            let occurs = self.literal(occurs);
            let mut some = vec![!occurs];
            for other in 0..self.summary.skeleton.threads.len() {
                let thread = &self.summary.skeleton.threads[other];
                let (handle, finished, result, last) = (thread.handle, thread.finished, thread.result, thread.last);
                let same = self.summary.terms.eq(join.handle, handle);
                let both = self.summary.terms.and2(same, finished);
                if self.summary.terms.as_bool(both) == Some(false) {
                    continue;
                }
                let both = self.literal(both);
                some.push(both);
                let joined = self.solver.new_literal();
                self.solver.add_clause(&[!occurs, !both, joined]);
                // A handle is used up: who comes second does not get past it.
                let earlier = joined_by.entry(other).or_default();
                earlier.iter().for_each(|earlier| self.solver.add_clause(&[!joined, !*earlier]));
                earlier.push(joined);
                self.solver.add_guarded_edge(joined, self.node(last), self.node(join.node));
                if let Some((at_once, here)) = join.at_once {
                    let path = self.literal(join.path);
                    self.at_once(at_once, here, [path, both], last);
                }
                for detached in self.uses(index, handle, |other| other.is_detach) {
                    self.solver.add_clause(&[!joined, !detached]);
                }
                if let Some(value) = join.result {
                    let equal = self.summary.terms.eq(value, result);
                    let equal = self.literal(equal);
                    self.solver.add_clause(&[!joined, equal]);
                }
            }
            self.solver.add_clause(&some);
        }
    }

    /// A section that joins a thread waits exactly if that has not come to its end by then.
    fn at_once(&mut self, at_once: Term, here: NodeId, [path, ends]: [Lit; 2], last: NodeId) {
        let at_once = self.literal(at_once);
        let (ended, waits) = (self.solver.new_literal(), self.solver.new_literal());
        self.solver.add_clause(&[!path, !ends, !at_once, ended]);
        self.solver.add_clause(&[!path, !ends, at_once, waits]);
        self.solver.add_guarded_edge(ended, self.node(last), self.node(here));
        self.solver.add_guarded_edge(waits, self.node(here), self.node(last));
    }

    /// Joins and detaches of a thread that may have come before one.
    fn uses(&mut self, index: usize, handle: Term, is_meant: impl Fn(&Join) -> bool) -> Vec<Lit> {
        let node = self.summary.skeleton.joins[index].node;
        let mut uses = Vec::new();
        for other in 0..self.summary.skeleton.joins.len() {
            let join = self.summary.skeleton.joins[other].clone();
            if other != index && is_meant(&join) {
                let same = self.summary.terms.eq(join.handle, handle);
                let done = self.summary.terms.and(&[same, join.path, join.done]);
                uses.extend(self.happened_before(done, join.node, node));
            }
        }
        uses
    }

    /// A handle can be invalid only if every thread that it could be of has been joined or detached, or was not started, before.
    fn invalid_handle(&mut self, index: usize) {
        let join = self.summary.skeleton.joins[index].clone();
        let Some(invalid) = join.invalid else { return };
        let invalid = self.literal(invalid);
        for other in 0..self.summary.skeleton.threads.len() {
            let thread = &self.summary.skeleton.threads[other];
            let (handle, spawned) = (thread.handle, thread.spawned);
            let same = self.summary.terms.eq(join.handle, handle);
            if self.summary.terms.as_bool(same) == Some(false) {
                continue;
            }
            let mut clause = vec![!invalid, !self.literal(same)];
            clause.extend(self.uses(index, handle, |_| true));
            if let Some((node, path)) = spawned {
                match self.happened_before(path, node, join.node) {
                    Some(started) => clause.push(!started),
                    None => continue,
                }
            }
            self.solver.add_clause(&clause);
        }
    }

    fn shared_targets(&self, targets: &ObjectSet) -> Vec<AbstractId> {
        targets.iter().filter(|object| self.summary.shared.of(*object) == Sharing::Shared).collect()
    }

    /// A free of a shared object is good if it is of the beginning of a heap object that no other free came before.
    fn frees(&mut self) {
        for index in 0..self.summary.skeleton.frees.len() {
            if self.is_interrupted() {
                break;
            }
            let free = self.summary.skeleton.frees[index].clone();
            let mut known = Vec::new();
            for object in self.shared_targets(&free.targets) {
                for id in self.summary.instances.of(object).to_vec() {
                    let instance = self.summary.instances.get(id);
                    if instance.is_heap {
                        let base = self.summary.pointer(instance.base);
                        known.push(self.summary.terms.eq(free.address, base));
                    }
                }
            }
            let known = self.summary.terms.or(&known);
            let known = self.literal(known);
            let mut earlier = Vec::new();
            for other in 0..self.summary.skeleton.frees.len() {
                let other = self.summary.skeleton.frees[other].clone();
                if other.node == free.node {
                    continue;
                }
                let same = self.summary.terms.eq(free.address, other.address);
                let done = self.summary.terms.and(&[same, other.path, other.valid]);
                earlier.extend(self.happened_before(done, other.node, free.node));
            }
            let path = self.literal(free.path);
            let valid = self.literal(free.valid);
            self.define(path, valid, known, &earlier);
        }
    }

    /// The literal that `condition` holds and `first` comes before `second`; None if that cannot be.
    pub fn happened_before(&mut self, condition: Term, first: NodeId, second: NodeId) -> Option<Lit> {
        if self.summary.terms.as_bool(condition) == Some(false) {
            return None;
        }
        let condition = self.literal(condition);
        self.happened_before_literal(condition, first, second)
    }

    /// The same, of a condition that is a literal.
    pub fn happened_before_literal(&mut self, condition: Lit, first: NodeId, second: NodeId) -> Option<Lit> {
        let nodes = &self.summary.skeleton.nodes;
        let second = NodeId(second.0.min(nodes.len() as u32 - 1));
        if nodes[first.0 as usize] == nodes[second.0 as usize] {
            return (first < second).then_some(condition);
        }
        let before = self.solver.before(self.node(first), self.node(second));
        let both = self.solver.new_literal();
        self.solver.add_clause(&[!both, condition]);
        self.solver.add_clause(&[!both, before]);
        self.solver.add_clause(&[both, !condition, !before]);
        Some(both)
    }

    /// Where `path` holds: `valid` exactly if `good` and none of `bad`.
    fn define(&mut self, path: Lit, valid: Lit, good: Lit, bad: &[Lit]) {
        self.solver.add_clause(&[!path, !valid, good]);
        let mut otherwise = vec![!path, valid, !good];
        for &bad in bad {
            self.solver.add_clause(&[!path, !valid, !bad]);
            otherwise.push(bad);
        }
        self.solver.add_clause(&otherwise);
    }

    fn checks(&mut self) {
        for index in 0..self.summary.skeleton.checks.len() {
            if self.is_interrupted() {
                return;
            }
            let check = self.summary.skeleton.checks[index].clone();
            let mut inside = Vec::new();
            let mut dead = Vec::new();
            for object in self.shared_targets(&check.targets) {
                for id in self.summary.instances.of(object).to_vec() {
                    let here = self.summary.is_inside(id, check.address, check.bytes, check.writes);
                    if self.summary.terms.as_bool(here) == Some(false) {
                        continue;
                    }
                    inside.push(here);
                    let instance = self.summary.instances.get(id);
                    if instance.is_heap {
                        let base = instance.base;
                        self.frees_of(&check, here, object, base, &mut dead);
                    }
                    for other in 0..self.summary.skeleton.deaths.len() {
                        let death = self.summary.skeleton.deaths[other];
                        if death.instance == id {
                            let done = self.summary.terms.and2(here, death.path);
                            dead.extend(self.happened_before(done, death.node, check.node));
                        }
                    }
                }
            }
            let inside = self.summary.terms.or(&inside);
            let inside = self.literal(inside);
            let (path, valid) = (self.literal(check.path), self.literal(check.valid));
            self.define(path, valid, inside, &dead);
        }
    }

    /// The frees that may have come before an access to an instance.
    fn frees_of(&mut self, check: &Check, here: Term, object: AbstractId, base: u64, dead: &mut Vec<Lit>) {
        for other in 0..self.summary.skeleton.frees.len() {
            let free = self.summary.skeleton.frees[other].clone();
            if !free.targets.contains(object) {
                continue;
            }
            let base = self.summary.pointer(base);
            let same = self.summary.terms.eq(free.address, base);
            let done = self.summary.terms.and(&[here, same, free.path, free.valid]);
            dead.extend(self.happened_before(done, free.node, check.node));
        }
    }

    // --- questions

    fn questions(mut self, pruned: &Pruned) -> Composition {
        let mut suspects = Vec::new();
        for index in 0..self.summary.skeleton.violations.len() {
            if self.is_interrupted() {
                break;
            }
            let violation = self.summary.skeleton.violations[index].clone();
            if self.summary.reported.contains(&Reported::violation(violation.span)) {
                continue;
            }
            let selected = self.solver.new_literal();
            let condition = self.literal(violation.condition);
            self.solver.add_clause(&[!selected, condition]);
            self.before_exits(selected, violation.at.unwrap_or(violation.after));
            suspects.push((Suspect::Violation(index), selected));
        }
        for &(first, second) in &pruned.races {
            if self.is_interrupted() {
                break;
            }
            let [one, other] = [first, second].map(|index| self.summary.skeleton.events[index].span);
            if self.summary.reported.contains(&Reported::race(one, other)) {
                continue;
            }
            for (first, second) in self.orders(first, second) {
                if let Some(lit) = self.race(first, second) {
                    suspects.push((Suspect::Race(first, second), lit));
                }
            }
        }
        if !self.summary.reported.contains(&Reported::Deadlock) && !self.is_interrupted() {
            self.deadlocks(&mut suspects);
        }
        self.leaks(&mut suspects);
        let peeks = self.stops(&suspects);
        let mut cuts = Vec::new();
        for index in 0..self.summary.skeleton.cuts.len() {
            if self.is_interrupted() {
                break;
            }
            let cut = self.summary.skeleton.cuts[index].clone();
            let selected = self.solver.new_literal();
            let condition = self.literal(cut.condition);
            self.solver.add_clause(&[!selected, condition]);
            self.before_exits(selected, cut.after);
            cuts.push(selected);
        }
        let unaligned = self.unaligned(pruned);
        let violated = self.solver.new_literal();
        let any: Vec<Lit> = std::iter::once(!violated).chain(suspects.iter().map(|&(_, lit)| lit)).collect();
        self.solver.add_clause(&any);
        let plain = self.summary.skeleton.plain.clone();
        let plain = plain.into_iter().map(|term| self.literal(term)).collect();
        let doubts: Vec<Term> = self.summary.skeleton.doubts.iter().map(|(condition, _)| *condition).collect();
        let doubts = doubts.into_iter().map(|condition| self.literal(condition)).collect();
        let (solver, nodes, links, copies) = (self.solver, self.nodes, self.links, self.copies);
        Composition { solver, nodes, suspects, violated, peeks, cuts, unaligned, plain, doubts, links, copies }
    }

    /// Pieces coincide or do not overlap, as long as all are aligned to their size. Whether a pointer is has to be asked.
    fn unaligned(&mut self, pruned: &Pruned) -> Option<Lit> {
        let mut conditions = FxHashSet::default();
        let reads = pruned.pieces.reads.iter().zip(&pruned.may_copy).filter(|(_, may_copy)| may_copy.is_some());
        for piece in reads.map(|(read, _)| read).chain(&pruned.pieces.writes) {
            let terms = &mut self.summary.terms;
            // (What is looked at for a deadlock need not be anything.)
            if self.summary.skeleton.events[piece.event].thread.0 as usize >= self.summary.skeleton.threads.len() {
                continue;
            }
            let low_bits = piece.unit.bytes.trailing_zeros();
            let mask = u128::from(piece.unit.bytes - 1);
            if low_bits == 0 || terms.known(piece.unit.address).zeros & mask == mask {
                continue;
            }
            let low = terms.extract(piece.unit.address, 0, low_bits);
            let zero = terms.bits(low_bits, 0);
            let is_aligned = terms.eq(low, zero);
            let is_unaligned = terms.not(is_aligned);
            let condition = terms.and2(piece.occurs, is_unaligned);
            if terms.as_bool(condition) != Some(false) {
                conditions.insert(condition);
            }
        }
        if conditions.is_empty() {
            return None;
        }
        let asked = self.solver.new_literal();
        let mut conditions: Vec<Term> = conditions.into_iter().collect();
        conditions.sort_unstable();
        let any: Vec<Lit> =
            std::iter::once(!asked).chain(conditions.into_iter().map(|condition| self.literal(condition))).collect();
        self.solver.add_clause(&any);
        Some(asked)
    }

    /// If `selected`, then `node` comes before every end of the process that occurs.
    pub fn before_exits(&mut self, selected: Lit, node: NodeId) {
        let thread = self.summary.skeleton.nodes[node.0 as usize];
        for index in 0..self.summary.skeleton.exits.len() {
            let (condition, exit) = self.summary.skeleton.exits[index];
            if self.summary.skeleton.nodes[exit.0 as usize] == thread {
                continue;
            }
            let occurs = self.literal(condition);
            let guard = self.solver.new_literal();
            self.solver.add_clause(&[!selected, !occurs, guard]);
            self.solver.add_guarded_edge(guard, self.node(node), self.node(exit));
        }
    }

    /// In which order to look for a race. What an atomic section touches may depend on what it reads, and whether it has to wait on when
    /// it is made: so it is made when the other is next, and not after it. But if it ends the life of something, the other may
    /// not be there any more.
    fn orders(&self, first: usize, second: usize) -> Vec<(usize, usize)> {
        let events = &self.summary.skeleton.events;
        let (first, second) = if events[second].in_section { (second, first) } else { (first, second) };
        match events[first].in_section && self.ends_lives(events[first].node) {
            true => vec![(first, second), (second, first)],
            false => vec![(first, second)],
        }
    }

    fn race(&mut self, first: usize, second: usize) -> Option<Lit> {
        let events = &self.summary.skeleton.events;
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
        let (node, other) = (a.node, b.node);
        let unit = |event: &Event| event.reads.first().or(event.writes.first()).copied();
        let (ours, theirs) = (unit(a)?, unit(b)?);
        let (occurs, also) = (a.occurs, b.occurs);
        let overlap = self.overlap(&ours, &theirs);
        let both = self.summary.terms.and(&[occurs, also, overlap]);
        if self.summary.terms.as_bool(both) == Some(false) {
            return None;
        }
        let both = self.literal(both);
        let selected = self.solver.new_literal();
        self.solver.add_clause(&[!selected, both]);
        // The first comes when the second is next on its thread.
        let before = self.before[other.0 as usize]?;
        self.solver.add_guarded_edge(selected, self.node(before), self.node(node));
        self.solver.add_guarded_edge(selected, self.node(node), self.node(other));
        self.before_exits(selected, node);
        Some(selected)
    }

    /// Whether two accesses have a byte in common.
    fn overlap(&mut self, a: &Unit, b: &Unit) -> Term {
        let terms = &mut self.summary.terms;
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
