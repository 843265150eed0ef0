//! Solves the constraints, in waves.
//!
//! One wave: (1) find the cycles of the graph and make each one variable, since all on it hold the same; (2) in
//! topological order, hand on what each variable has learned since it last did; now everything is as far as
//! the known edges go; (3) for everything new that a pointer points to, add the edges that its loads, stores and
//! calls mean. The end is when a wave adds none. A new edge must also carry what its source handed on
//! earlier, to others: that is done when it is added.
//!
//! The number of edges is what can explode: loads and stores times objects. Where a pointer may point to very many
//! objects ([`UNITE_ABOVE`]) what these hold is made one variable, as Steensgaard would: next to nothing is lost, for
//! one store through that pointer has mixed them already, and the worst case stays far from cubic.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::analysis::points_to::constraints::{Constraints, Use};
use crate::analysis::points_to::{AbstractId, BOTH, Cells, Numbering, ObjectSet, PointsTo, Variable};
use crate::graph::Rows;
use crate::index::Idx;
use crate::program::Program;

/// Pointers with more targets than this have the contents of their targets united.
const UNITE_ABOVE: usize = 200;

/// An edge as one number, and a hash for it. There may be tens of millions, and no adversary chooses them.
fn key((from, to): (Variable, Variable)) -> u64 {
    u64::from(from.0) << 32 | u64::from(to.0)
}

#[derive(Default)]
struct EdgeHasher(u64);

impl Hasher for EdgeHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, key: u64) {
        let mixed = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

struct Solver<'p> {
    constraints: Constraints<'p>,
    representative: Vec<Variable>,
    /// What each variable holds, as far as it is known.
    sets: Vec<ObjectSet>,
    uses: Vec<Vec<Use>>,
    /// Between representatives, as of when the edge was added.
    edges: Vec<(Variable, Variable)>,
    known_edges: HashSet<u64, BuildHasherDefault<EdgeHasher>>,
    edges_are_old: bool,
    /// What each variable has handed on along its edges.
    handed_on: Vec<ObjectSet>,
    /// What each pointer's uses have been applied to.
    applied: Vec<ObjectSet>,
}

pub(super) fn solve(program: &Program, numbering: Numbering) -> PointsTo {
    let mut solver = Solver {
        constraints: Constraints::new(program, numbering),
        representative: Vec::new(),
        sets: Vec::new(),
        uses: Vec::new(),
        edges: Vec::new(),
        known_edges: HashSet::default(),
        edges_are_old: false,
        handed_on: Vec::new(),
        applied: Vec::new(),
    };
    let mut waves = 0;
    // Uniting contents leaves something to do even if there are no new constraints.
    while solver.take_over() || solver.edges_are_old {
        waves += 1;
        let order = solver.collapse_cycles();
        solver.hand_on(&order);
        solver.apply_uses();
    }
    for variable in 0..solver.representative.len() {
        solver.find(Variable::new(variable));
    }
    PointsTo {
        numbering: solver.constraints.numbering,
        representative: solver.representative,
        sets: solver.sets,
        thread_arguments: solver.constraints.thread_arguments,
        reached: solver.constraints.reached,
        waves,
    }
}

impl Solver<'_> {
    fn find(&mut self, variable: Variable) -> Variable {
        let mut root = variable;
        while self.representative[root.index()] != root {
            root = self.representative[root.index()];
        }
        let mut at = variable;
        while at != root {
            at = std::mem::replace(&mut self.representative[at.index()], root);
        }
        root
    }

    /// Takes over the new constraints. Whether there is anything to hand on because of them.
    fn take_over(&mut self) -> bool {
        let mut changed = false;
        loop {
            self.constraints.read_functions();
            self.make_room();
            for (variable, used) in std::mem::take(&mut self.constraints.new_uses) {
                let variable = self.find(variable);
                // The other uses of this pointer have been applied to these already.
                let applied = std::mem::take(&mut self.applied[variable.index()]);
                let targets = self.targets(&applied);
                self.apply(used, &targets);
                self.applied[variable.index()] = applied;
                self.uses[variable.index()].push(used);
                changed = true;
            }
            if self.constraints.new_uses.is_empty() && !self.constraints.has_unread_functions() {
                break;
            }
        }
        self.make_room();
        for (variable, object) in std::mem::take(&mut self.constraints.new_addresses) {
            let variable = self.find(variable);
            changed |= self.sets[variable.index()].insert(object);
        }
        for (from, to) in std::mem::take(&mut self.constraints.new_edges) {
            let edge = (self.find(from), self.find(to));
            if edge.0 != edge.1 && self.known_edges.insert(key(edge)) {
                self.edges.push(edge);
                self.copy(edge.0, edge.1);
                changed = true;
            }
        }
        changed
    }

    fn make_room(&mut self) {
        let count = self.constraints.variables;
        self.representative.extend((self.representative.len()..count).map(Variable::new));
        self.uses.resize(count, Vec::new());
        for sets in [&mut self.sets, &mut self.handed_on, &mut self.applied] {
            sets.resize(count, ObjectSet::new());
        }
    }

    fn copy(&mut self, from: Variable, to: Variable) {
        let set = std::mem::take(&mut self.sets[from.index()]);
        self.sets[to.index()].union_with(&set);
        self.sets[from.index()] = set;
    }

    /// Unites the variables of each cycle. What comes back are the variables that are left, targets first.
    fn collapse_cycles(&mut self) -> Vec<Variable> {
        self.renew_edges();
        let rows = Rows::new(self.representative.len(), &self.edges);
        let components = rows.components();
        let order = components.iter().map(|component| component[0]).collect();
        if components.len() == self.representative.len() {
            return order;
        }
        for component in components.iter() {
            for other in &component[1..] {
                self.unite(component[0], *other);
            }
        }
        self.renew_edges();
        order
    }

    /// Edges are between representatives, which may have changed.
    fn renew_edges(&mut self) {
        if !std::mem::take(&mut self.edges_are_old) {
            return;
        }
        self.known_edges.clear();
        for (from, to) in std::mem::take(&mut self.edges) {
            let edge = (self.find(from), self.find(to));
            if edge.0 != edge.1 && self.known_edges.insert(key(edge)) {
                self.edges.push(edge);
            }
        }
    }

    fn unite(&mut self, kept: Variable, other: Variable) {
        self.edges_are_old = true;
        self.representative[other.index()] = kept;
        let set = std::mem::take(&mut self.sets[other.index()]);
        self.sets[kept.index()].union_with(&set);
        let uses = std::mem::take(&mut self.uses[other.index()]);
        self.uses[kept.index()].extend(uses);
        // Only what both have done is done: the edges and uses of each come together here.
        for done in [&mut self.handed_on, &mut self.applied] {
            let theirs = std::mem::take(&mut done[other.index()]);
            let only_mine = done[kept.index()].difference(&theirs);
            done[kept.index()] = done[kept.index()].difference(&only_mine);
        }
    }

    fn hand_on(&mut self, order: &[Variable]) {
        let rows = Rows::new(self.representative.len(), &self.edges);
        for variable in order.iter().rev() {
            let targets = &rows[*variable];
            if targets.is_empty() {
                continue;
            }
            let new = self.sets[variable.index()].difference(&self.handed_on[variable.index()]);
            if !new.is_empty() {
                for target in targets {
                    self.sets[target.index()].union_with(&new);
                }
                self.handed_on[variable.index()].union_with(&new);
            }
        }
    }

    fn apply_uses(&mut self) {
        for index in 0..self.representative.len() {
            if self.uses[index].is_empty() {
                continue;
            }
            let mut new = self.sets[index].difference(&self.applied[index]);
            if new.is_empty() {
                continue;
            }
            if self.sets[index].len() > UNITE_ABOVE {
                self.unite_targets(index, &new);
                // What this variable stands for may have changed by that.
                new = self.sets[index].difference(&self.applied[index]);
            }
            let targets = self.targets(&new);
            // Taken away meanwhile; uses that this brings about come back through the list of new ones.
            let uses = std::mem::take(&mut self.uses[index]);
            uses.iter().for_each(|used| self.apply(*used, &targets));
            self.uses[index] = uses;
            self.applied[index].union_with(&new);
        }
    }

    fn unite_targets(&mut self, index: usize, new: &ObjectSet) {
        if self.applied[index].len() > UNITE_ABOVE {
            // The old ones are united already: it is enough to add the new ones to one of them.
            let old = self.applied[index].iter().find(|object| self.constraints.numbering.holds_values(*object));
            self.unite_contents(old, new);
        } else {
            self.unite_contents(None, &self.sets[index].clone());
        }
    }

    fn unite_contents(&mut self, first: Option<AbstractId>, others: &ObjectSet) {
        for cells in BOTH {
            let mut kept = None;
            for object in first.into_iter().chain(others.iter()) {
                if !self.constraints.numbering.holds_values(object) {
                    continue;
                }
                let contents = self.find(self.constraints.numbering.contents(object, *cells));
                let kept = *kept.get_or_insert(contents);
                if contents != kept {
                    self.unite(kept, contents);
                }
            }
        }
    }

    fn targets(&mut self, objects: &ObjectSet) -> Targets {
        let mut targets = Targets::default();
        for object in objects.iter() {
            if self.constraints.numbering.holds_values(object) {
                targets.whole.push(self.find(self.constraints.numbering.contents(object, Cells::Whole)));
                targets.narrow.push(self.find(self.constraints.numbering.contents(object, Cells::Narrow)));
            }
            if self.constraints.numbering.is_callable(object) {
                targets.callable.push(object);
            }
        }
        for contents in [&mut targets.whole, &mut targets.narrow] {
            contents.sort_unstable();
            contents.dedup();
        }
        targets
    }

    fn apply(&mut self, used: Use, targets: &Targets) {
        let constraints = &mut self.constraints;
        match used {
            Use::Load(load) => {
                for contents in load.cells.iter().flat_map(|cells| targets.contents(*cells)) {
                    constraints.new_edges.push((*contents, load.target));
                }
            }
            Use::Store(store) => {
                for contents in store.cells.iter().flat_map(|cells| targets.contents(*cells)) {
                    constraints.new_edges.push((store.source, *contents));
                }
            }
            Use::Call(site) => targets.callable.iter().for_each(|object| constraints.call_reaches(site, *object)),
        }
    }
}

/// What some objects mean to the uses of a pointer to them: each variable once.
#[derive(Default)]
struct Targets {
    whole: Vec<Variable>,
    narrow: Vec<Variable>,
    callable: Vec<AbstractId>,
}

impl Targets {
    fn contents(&self, cells: Cells) -> &[Variable] {
        match cells {
            Cells::Whole => &self.whole,
            Cells::Narrow => &self.narrow,
        }
    }
}
