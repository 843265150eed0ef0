//! Interprocedural forward data flow, by tabulation: what holds after a call is computed once for each state that the
//! function is entered in (the "functional approach" of Sharir and Pnueli, with the states themselves as contexts).
//!
//! A [`Flow`] says what instructions do to states; [`solve`] finds, for each function and each state that it is entered
//! in, the states at all its blocks and at its ends. A function that is entered in many different states would be
//! analysed as often, so from some number on its entries are joined into one context. Recursion needs no care: the
//! caller waits for an end of the callee, which comes from a path that does not recurse, and what is found later is
//! joined.
//!
//! States are joined where paths meet and only grow, so that any order of work ends in a solution. A context that was
//! entered early with a state that turned out to be too small stays; it says nothing that would be wrong to join to the
//! others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use crate::analysis::callgraph::CallKind;
use crate::analysis::facts::Facts;
use crate::analysis::threads::RootId;
use crate::index::{Idx, IndexVec};
use crate::index_type;
use crate::program::{BlockId, Body, Expr, FuncId, LocalId, Op, Place, Terminator, TerminatorKind};

index_type!(
    /// A function, entered in one state.
    ContextId,
    "context"
);

/// From so many contexts of one function on, they are joined.
const MOST_CONTEXTS: usize = 24;

/// The states at the ends of a function, by the constant that is returned there, if it is one.
pub(super) type Exits<S> = BTreeMap<Option<u128>, S>;

/// More constants than this are not kept apart.
const MOST_EXITS: usize = 4;

pub(super) trait Flow {
    type State: Clone + Ord + Debug;

    /// Joins `other` to `into`; whether that changed it.
    fn join(&self, into: &mut Self::State, other: &Self::State) -> bool;
    /// An instruction itself; not the functions with bodies that it calls or starts.
    fn step(&self, place: Place, op: &Op, state: &mut Self::State);
    /// The state that a called function begins in.
    fn enter(&self, place: Place, args: &[Expr], callee: FuncId, state: &Self::State) -> Self::State;
    /// The state after a call, given the one before and those at the ends of the callee.
    fn leave(&self, dst: Option<LocalId>, before: &Self::State, exits: &Exits<Self::State>) -> Self::State;
    /// The state that a new thread begins in, if it is to be followed.
    fn start(&self, place: Place, args: &[Expr], callee: FuncId, state: &Self::State) -> Option<Self::State>;
    /// The state in which control gets from a block to one that follows it; none when it cannot.
    fn branch(
        &self,
        from: (FuncId, BlockId),
        end: &Terminator,
        to: BlockId,
        state: &Self::State,
    ) -> Option<Self::State>;
    /// The state at a return, and the constant that is returned.
    fn exit(&self, function: FuncId, value: Option<&Expr>, state: &Self::State) -> (Option<u128>, Self::State);
}

#[derive(Clone, Debug)]
pub(super) struct Context<S> {
    pub function: FuncId,
    blocks: Vec<Option<S>>,
    pub exits: Exits<S>,
    callers: BTreeSet<ContextId>,
    callees: BTreeSet<ContextId>,
}

pub(super) struct Solution<'a, F: Flow> {
    facts: &'a Facts<'a>,
    flow: F,
    pub contexts: IndexVec<ContextId, Context<F::State>>,
    /// The context of a function that is entered in a state.
    by_entry: BTreeMap<(FuncId, F::State), ContextId>,
    /// The context of all further states.
    joined: BTreeMap<FuncId, ContextId>,
    count: BTreeMap<FuncId, usize>,
    /// The contexts that threads begin in: of the roots that were given, and of those that these create.
    pub starts: BTreeSet<(RootId, ContextId)>,
    work: Vec<ContextId>,
    waiting: BTreeSet<ContextId>,
}

/// Solves for the threads of these roots, which begin in these states.
pub(super) fn solve<'a, F: Flow>(
    facts: &'a Facts<'a>,
    flow: F,
    starts: impl IntoIterator<Item = (RootId, F::State)>,
) -> Solution<'a, F> {
    let mut solution = Solution {
        facts,
        flow,
        contexts: IndexVec::new(),
        by_entry: BTreeMap::new(),
        joined: BTreeMap::new(),
        count: BTreeMap::new(),
        starts: BTreeSet::new(),
        work: Vec::new(),
        waiting: BTreeSet::new(),
    };
    for (root, state) in starts {
        let context = solution.context(facts.threads().roots()[root].function, state);
        solution.starts.insert((root, context));
    }
    while let Some(context) = solution.work.pop() {
        solution.waiting.remove(&context);
        solution.run(context);
    }
    solution
}

impl<F: Flow> Solution<'_, F> {
    /// The context of a function that is entered in this state; made if there is none.
    fn context(&mut self, function: FuncId, entry: F::State) -> ContextId {
        if let Some(known) = self.find(function, &entry) {
            if self.joined.get(&function) == Some(&known) {
                self.reach(known, BlockId(0), &entry);
            }
            return known;
        }
        let blocks = match &self.facts.program().functions[function].body {
            Body::Blocks(blocks) => blocks.len(),
            Body::External(_) => 0,
        };
        let mut context = Context {
            function,
            blocks: vec![None; blocks],
            exits: Exits::new(),
            callers: BTreeSet::new(),
            callees: BTreeSet::new(),
        };
        context.blocks.iter_mut().take(1).for_each(|first| *first = Some(entry.clone()));
        let id = self.contexts.push(context);
        let count = self.count.entry(function).or_default();
        *count += 1;
        match *count > MOST_CONTEXTS {
            true => drop(self.joined.insert(function, id)),
            false => drop(self.by_entry.insert((function, entry), id)),
        }
        self.wait(id);
        id
    }

    fn find(&self, function: FuncId, entry: &F::State) -> Option<ContextId> {
        let exact = self.by_entry.get(&(function, entry.clone())).copied();
        exact.or_else(|| self.joined.get(&function).copied())
    }

    fn wait(&mut self, context: ContextId) {
        if self.waiting.insert(context) {
            self.work.push(context);
        }
    }

    /// Joins a state to that of a block; whether it changed. The context will run again if it is the first block.
    fn reach(&mut self, context: ContextId, block: BlockId, state: &F::State) -> bool {
        let Some(at) = self.contexts[context].blocks.get_mut(block.index()) else { return false };
        let changed = match at {
            Some(known) => self.flow.join(known, state),
            None => {
                *at = Some(state.clone());
                true
            }
        };
        if changed && block == BlockId(0) {
            self.wait(context);
        }
        changed
    }

    fn run(&mut self, id: ContextId) {
        let facts = self.facts;
        let function = self.contexts[id].function;
        let Body::Blocks(blocks) = &facts.program().functions[function].body else { return };
        let Some(cfg) = facts.cfg(function) else { return };
        let order = cfg.reverse_post_order();
        let is_reached = |position: &usize| self.contexts[id].blocks[order[*position].index()].is_some();
        let mut work: BTreeSet<usize> = (0..order.len()).filter(is_reached).collect();
        while let Some(position) = work.pop_first() {
            let block = order[position];
            let Some(mut state) = self.contexts[id].blocks[block.index()].clone() else { continue };
            let mut goes_on = true;
            for (index, instr) in (0..).zip(&blocks[block].instrs) {
                let place = Place { func: function, block, index };
                match self.instruction(id, place, &instr.op, &state) {
                    Some(next) => state = next,
                    None => {
                        goes_on = false;
                        break;
                    }
                }
            }
            if !goes_on {
                continue;
            }
            let terminator = &blocks[block].terminator;
            if let TerminatorKind::Return(value) = &terminator.kind {
                self.end(id, value.as_ref(), &state);
            }
            for &next in cfg.successors(block) {
                let Some(state) = self.flow.branch((function, block), terminator, next, &state) else { continue };
                if self.reach(id, next, &state) {
                    work.extend(cfg.position(next));
                }
            }
        }
    }

    fn end(&mut self, id: ContextId, value: Option<&Expr>, state: &F::State) {
        let (mut constant, state) = self.flow.exit(self.contexts[id].function, value, state);
        let exits = &mut self.contexts[id].exits;
        let mut changed = false;
        if exits.contains_key(&None) {
            constant = None;
        } else if !exits.contains_key(&constant) && (constant.is_none() || exits.len() >= MOST_EXITS) {
            // From here on all ends are one.
            constant = None;
            let mut all = std::mem::take(exits).into_values();
            if let Some(mut one) = all.next() {
                all.for_each(|other| _ = self.flow.join(&mut one, &other));
                exits.insert(None, one);
                changed = true;
            }
        }
        match exits.get_mut(&constant) {
            Some(known) => changed |= self.flow.join(known, &state),
            None => {
                exits.insert(constant, state);
                changed = true;
            }
        }
        if changed {
            let callers: Vec<ContextId> = self.contexts[id].callers.iter().copied().collect();
            callers.into_iter().for_each(|caller| self.wait(caller));
        }
    }

    /// The state after an instruction; none while no call of it is known to return.
    fn instruction(&mut self, id: ContextId, place: Place, op: &Op, state: &F::State) -> Option<F::State> {
        if let Op::Spawn { args, .. } = op {
            for edge in self.facts.calls().callees(place) {
                let root = self.facts.threads().created(place, edge.callee);
                let start = self.flow.start(place, args, edge.callee, state);
                if let (Some(root), Some(start)) = (root, start) {
                    let context = self.context(edge.callee, start);
                    self.starts.insert((root, context));
                }
            }
        }
        if let Op::Call { args, .. } = op {
            for edge in self.facts.calls().callees(place) {
                if self.has_body(edge.callee) {
                    let entry = self.flow.enter(place, args, edge.callee, state);
                    let callee = self.context(edge.callee, entry);
                    self.contexts[callee].callers.insert(id);
                    self.contexts[id].callees.insert(callee);
                }
            }
        }
        self.after(place, op, state)
    }

    fn has_body(&self, function: FuncId) -> bool {
        matches!(self.facts.program().functions[function].body, Body::Blocks(_))
    }

    /// The state after an instruction, from what is known of the functions that it calls.
    fn after(&self, place: Place, op: &Op, state: &F::State) -> Option<F::State> {
        let mut own = state.clone();
        self.flow.step(place, op, &mut own);
        let Op::Call { dst, args, .. } = op else { return Some(own) };
        let edges = self.facts.calls().callees(place);
        let with_body = edges.iter().filter(|edge| edge.kind == CallKind::Call && self.has_body(edge.callee));
        let mut result =
            if with_body.clone().count() < edges.len() || edges.is_empty() || self.facts.calls().is_unknown(place) {
                Some(own.clone())
            } else {
                None
            };
        for edge in with_body {
            let entry = self.flow.enter(place, args, edge.callee, state);
            let Some(callee) = self.find(edge.callee, &entry) else { continue };
            let exits = &self.contexts[callee].exits;
            if exits.is_empty() {
                continue;
            }
            let left = self.flow.leave(*dst, &own, exits);
            match &mut result {
                Some(result) => drop(self.flow.join(result, &left)),
                None => result = Some(left),
            }
        }
        result
    }

    /// Visits the states before all instructions and the terminator of a block that may be executed in a context.
    fn replay(&self, context: ContextId, block: BlockId, mut visit: impl FnMut(u32, &F::State)) {
        let Context { function, blocks: states, .. } = &self.contexts[context];
        let Body::Blocks(blocks) = &self.facts.program().functions[*function].body else { return };
        let Some(Some(state)) = states.get(block.index()) else { return };
        let mut state = state.clone();
        for (index, instr) in (0..).zip(&blocks[block].instrs) {
            visit(index, &state);
            match self.after(Place { func: *function, block, index }, &instr.op, &state) {
                Some(next) => state = next,
                None => return,
            }
        }
        visit(blocks[block].instrs.len() as u32, &state);
    }

    /// The contexts that the threads of a root run in.
    fn contexts_of(&self, root: RootId) -> BTreeSet<ContextId> {
        let mut work: Vec<ContextId> =
            self.starts.iter().filter(|(start, _)| *start == root).map(|(_, context)| *context).collect();
        let mut found = BTreeSet::new();
        while let Some(context) = work.pop() {
            if found.insert(context) {
                work.extend(&self.contexts[context].callees);
            }
        }
        found
    }

    /// What a view of the states is at each point, joined over the contexts of each root.
    pub fn points<V: Clone + Ord>(&self, view: impl Fn(&F::State) -> V, mut join: impl FnMut(&mut V, &V)) -> Points<V> {
        let mut points = Points { segments: BTreeMap::new(), values: Vec::new() };
        let mut numbers: BTreeMap<V, u32> = BTreeMap::new();
        let roots: BTreeSet<RootId> = self.starts.iter().map(|(root, _)| *root).collect();
        for root in roots {
            let mut by_function: BTreeMap<FuncId, Vec<ContextId>> = BTreeMap::new();
            for context in self.contexts_of(root) {
                by_function.entry(self.contexts[context].function).or_default().push(context);
            }
            for (function, contexts) in by_function {
                let Body::Blocks(blocks) = &self.facts.program().functions[function].body else { continue };
                let mut all = Vec::new();
                for (block, code) in blocks.iter_enumerated() {
                    let mut values: Vec<Option<V>> = vec![None; code.instrs.len() + 1];
                    for &context in &contexts {
                        self.replay(context, block, |index, state| {
                            let value = view(state);
                            match &mut values[index as usize] {
                                Some(known) => join(known, &value),
                                unknown => *unknown = Some(value),
                            }
                        });
                    }
                    let mut segments = Segments::new();
                    for (index, value) in (0..).zip(values) {
                        let number = value.map_or(NOWHERE, |value| {
                            *numbers.entry(value).or_insert_with_key(|value| {
                                points.values.push(value.clone());
                                points.values.len() as u32 - 1
                            })
                        });
                        if segments.last().is_none_or(|last| last.1 != number) {
                            segments.push((index, number));
                        }
                    }
                    all.push(segments);
                }
                points.segments.insert((root, function), all);
            }
        }
        points
    }
}

const NOWHERE: u32 = u32::MAX;

/// From which instruction of a block on which value holds.
type Segments = Vec<(u32, u32)>;

/// Something about each point of each root, stored where it changes.
#[derive(Clone, Debug)]
pub(super) struct Points<V> {
    /// By block.
    segments: BTreeMap<(RootId, FuncId), Vec<Segments>>,
    values: Vec<V>,
}

impl<V> Points<V> {
    pub const fn new() -> Points<V> {
        Points { segments: BTreeMap::new(), values: Vec::new() }
    }

    /// None where the threads of this root do not get to.
    pub fn at(&self, root: RootId, place: Place) -> Option<&V> {
        let segments = self.segments.get(&(root, place.func))?.get(place.block.index())?;
        let next = segments.partition_point(|(from, _)| *from <= place.index);
        self.values.get(segments.get(next.checked_sub(1)?)?.1 as usize)
    }

    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// The same with another view of the values.
    pub fn map<W>(&self, view: impl FnMut(&V) -> W) -> Points<W> {
        Points { segments: self.segments.clone(), values: self.values.iter().map(view).collect() }
    }

    pub fn values_mut(&mut self) -> &mut [V] {
        &mut self.values
    }

    /// All values at points of a root, some more than once.
    pub fn of_root(&self, root: RootId) -> impl Iterator<Item = &V> {
        let blocks = self.segments.range((root, FuncId(0))..=(root, FuncId(u32::MAX)));
        let segments = blocks.flat_map(|(_, blocks)| blocks.iter().flatten());
        segments.filter_map(|(_, number)| self.values.get(*number as usize))
    }

    pub fn extend(&mut self, other: Points<V>) {
        let from = self.values.len() as u32;
        self.values.extend(other.values);
        for (key, mut blocks) in other.segments {
            for number in blocks.iter_mut().flatten().map(|(_, number)| number).filter(|number| **number != NOWHERE) {
                *number += from;
            }
            self.segments.insert(key, blocks);
        }
    }
}
