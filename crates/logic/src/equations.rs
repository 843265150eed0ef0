//! Variables that have the value of one of several terms, each under a condition: which values may they have?
//!
//! The terms are made of the same variables, so that this is a fixpoint. Its nodes are all terms that matter (an
//! operand is computed before what it is an operand of), the terms under their conditions, and the variables, where
//! it is widened. Nothing is computed again unless something has changed that it is made of.

use crate::abstraction::{Conjunct, conjuncts, evaluate, narrowed, width};
use crate::term::{Term, Terms};
use leno_domains::{Graph, Node, NodeVec, Numbers, Stopped, Strategy, System, solve_from};
use rustc_hash::{FxHashMap, FxHashSet};

/// The value of a term, where a condition holds.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub condition: Term,
    pub value: Term,
}

/// Some bits of a variable: they have the value of one of the sources, or one that they start with.
#[derive(Clone, Debug)]
pub struct Part<V> {
    pub low: u32,
    pub width: u32,
    pub start: V,
    /// Indices of sources, which have the width of the part.
    pub sources: Vec<usize>,
}

/// A variable; the parts are all of its bits, the lowest first.
#[derive(Clone, Debug)]
pub struct Unknown<V> {
    pub variable: Term,
    pub parts: Vec<Part<V>>,
}

pub struct Equations<'a, V> {
    pub terms: &'a Terms,
    pub unknowns: &'a [Unknown<V>],
    pub sources: &'a [Source],
    /// Whether the conditions that values are chosen by are looked into. They may be many.
    pub with_conditions: bool,
}

impl<V: Numbers> Equations<'_, V> {
    /// For each variable, an element that contains its value. A variable that no value ever reaches may be anything.
    pub fn solve(&self, strategy: &Strategy, interrupted: &dyn Fn() -> bool) -> Result<Vec<V>, Stopped> {
        let (graph, mut flow) = Flow::new(self, interrupted);
        let all = 0..self.unknowns.len();
        // (Variables have what they start with from the start: a condition on one that has no value yet would say
        // nothing.)
        let mut values = NodeVec::new(graph.len(), |node| V::bottom(&flow.space(node)));
        for index in all.clone() {
            values[flow.unknown(index)] = flow.unknown_value(index, &values);
        }
        let mut values = solve_from(&graph, &mut flow, strategy, values)?;
        let unreached: Vec<usize> = all.clone().filter(|&index| values[flow.unknown(index)].is_bottom()).collect();
        if !unreached.is_empty() {
            // It does not matter then, but let nothing depend on that.
            unreached.into_iter().for_each(|index| flow.is_free[index] = true);
            values = solve_from(&graph, &mut flow, strategy, values)?;
        }
        Ok(all.map(|index| values[flow.unknown(index)]).collect())
    }
}

/// A source whose condition says something about what its value is made of.
struct Conditional {
    value: Term,
    facts: Vec<Conjunct>,
    /// The terms that the facts change; operands first.
    affected: Vec<Term>,
}

/// The nodes are terms, then conditional sources, then unknowns.
struct Flow<'a, V> {
    equations: &'a Equations<'a, V>,
    interrupted: &'a dyn Fn() -> bool,
    terms: Vec<Term>,
    conditionals: Vec<Conditional>,
    /// By source: the node that has its value.
    source_nodes: Vec<Option<Node>>,
    /// By term of the arena: its node.
    nodes: Vec<Option<Node>>,
    /// By unknown: whether it may be anything.
    is_free: Vec<bool>,
}

impl<'a, V: Numbers> Flow<'a, V> {
    fn new(equations: &'a Equations<'a, V>, interrupted: &'a dyn Fn() -> bool) -> (Graph, Flow<'a, V>) {
        let mut flow = Flow {
            equations,
            interrupted,
            terms: Vec::new(),
            conditionals: Vec::new(),
            source_nodes: vec![None; equations.sources.len()],
            nodes: vec![None; equations.terms.len()],
            is_free: vec![false; equations.unknowns.len()],
        };
        let conditional = flow.find_terms();
        flow.number(conditional);
        (flow.graph(), flow)
    }

    /// Finds the terms and the conditional sources; by source, which of these it is.
    fn find_terms(&mut self) -> Vec<Option<usize>> {
        let (terms, sources) = (self.equations.terms, self.equations.sources);
        let unknown: FxHashSet<Term> = self.equations.unknowns.iter().map(|unknown| unknown.variable).collect();
        let mut conditional = vec![None; sources.len()];
        let mut open: Vec<Term> = Vec::new();
        for index in used_sources(self.equations) {
            let Source { condition, value } = sources[index];
            open.push(value);
            if let Some(found) = self.conditional(condition, value) {
                open.extend(found.facts.iter().filter_map(|fact| fact.compared(terms)).flat_map(|(_, a, b)| [a, b]));
                conditional[index] = Some(self.conditionals.len());
                self.conditionals.push(found);
            }
        }
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        while let Some(term) = open.pop() {
            if !unknown.contains(&term) && seen.insert(term) {
                open.extend(self.operands(term));
            }
        }
        self.terms = seen.into_iter().collect();
        self.terms.sort_unstable();
        conditional
    }

    /// Operands that are looked into.
    fn operands(&self, term: Term) -> impl Iterator<Item = Term> + use<'a, V> {
        let Equations { terms, with_conditions, .. } = *self.equations;
        terms.node(term).operands().filter(move |&operand| with_conditions || terms.width(operand) > 0)
    }

    fn conditional(&self, condition: Term, value: Term) -> Option<Conditional> {
        let terms = self.equations.terms;
        let mut facts = conjuncts(terms, condition);
        if facts.is_empty() {
            return None;
        }
        let mut inside: FxHashSet<Term> = FxHashSet::default();
        let mut open = vec![value];
        while let Some(term) = open.pop() {
            if inside.insert(term) {
                open.extend(self.operands(term));
            }
        }
        facts.retain(|fact| fact.about(terms).iter().any(|term| inside.contains(term)));
        let mut changed: FxHashSet<Term> = facts.iter().flat_map(|fact| fact.about(terms)).collect();
        let mut affected: Vec<Term> = inside.into_iter().collect();
        affected.sort_unstable();
        affected.retain(|&term| {
            let is_affected = changed.contains(&term) || self.operands(term).any(|it| changed.contains(&it));
            if is_affected {
                changed.insert(term);
            }
            is_affected
        });
        (!affected.is_empty()).then_some(Conditional { value, facts, affected })
    }

    fn number(&mut self, conditional: Vec<Option<usize>>) {
        for (index, term) in self.terms.iter().enumerate() {
            self.nodes[term.index()] = Some(Node(index as u32));
        }
        for (index, unknown) in self.equations.unknowns.iter().enumerate() {
            self.nodes[unknown.variable.index()] = Some(self.unknown(index));
        }
        for (source, conditional) in conditional.into_iter().enumerate() {
            self.source_nodes[source] = match conditional {
                Some(index) => Some(Node((self.terms.len() + index) as u32)),
                None => self.nodes[self.equations.sources[source].value.index()],
            };
        }
    }

    fn unknown(&self, index: usize) -> Node {
        Node((self.terms.len() + self.conditionals.len() + index) as u32)
    }

    /// In the order of the nodes; then again from the start.
    fn graph(&self) -> Graph {
        let node = |term: Term| self.nodes[term.index()];
        let mut edges: Vec<(Node, Node)> = Vec::new();
        for &term in &self.terms {
            if let Some(to) = node(term) {
                edges.extend(self.operands(term).filter_map(node).map(|from| (from, to)));
            }
        }
        for (index, conditional) in self.conditionals.iter().enumerate() {
            let to = Node((self.terms.len() + index) as u32);
            let compared = conditional.facts.iter().flat_map(|fact| fact.about(self.equations.terms));
            let inside = conditional.affected.iter().flat_map(|&term| self.operands(term).chain([term]));
            let mut from: Vec<Node> = compared.chain(inside).filter_map(node).collect();
            from.sort_unstable();
            from.dedup();
            edges.extend(from.into_iter().map(|from| (from, to)));
        }
        for (index, unknown) in self.equations.unknowns.iter().enumerate() {
            let to = self.unknown(index);
            let sources = unknown.parts.iter().flat_map(|part| &part.sources);
            edges.extend(sources.filter_map(|&source| self.source_nodes[source]).map(|from| (from, to)));
        }
        let first = self.unknown(0);
        Graph::in_order(&edges, NodeVec::new(self.unknown(self.is_free.len()).index(), |node| node >= first))
    }

    fn element(&self, values: &NodeVec<V>, term: Term) -> V {
        match self.nodes[term.index()] {
            Some(node) => values[node],
            None => {
                let width = width(self.equations.terms, term);
                V::from_bits(width, &self.equations.terms.known(term))
            }
        }
    }

    fn under_condition(&self, conditional: &Conditional, values: &NodeVec<V>) -> V {
        let terms = self.equations.terms;
        let mut facts: FxHashMap<Term, V> = FxHashMap::default();
        for fact in &conditional.facts {
            fact.learn(terms, |term| self.element(values, term), &mut facts);
        }
        let mut changed: FxHashMap<Term, V> = FxHashMap::default();
        for &term in &conditional.affected {
            let of = |operand: Term| changed.get(&operand).copied().unwrap_or_else(|| self.element(values, operand));
            let is_unknown = self.nodes[term.index()].is_some_and(|node| node >= self.unknown(0));
            let computed = if is_unknown { self.element(values, term) } else { evaluate(terms, term, of) };
            let value = facts.get(&term).map_or(computed, |fact| narrowed(width(terms, term), computed, fact));
            changed.insert(term, value);
        }
        changed.get(&conditional.value).copied().unwrap_or_else(|| self.element(values, conditional.value))
    }

    fn unknown_value(&self, index: usize, values: &NodeVec<V>) -> V {
        let unknown = &self.equations.unknowns[index];
        let whole_width = self.equations.terms.width(unknown.variable);
        if self.is_free[index] {
            return V::top(&whole_width);
        }
        let mut whole: Option<V> = None;
        for part in &unknown.parts {
            let sources = part.sources.iter().filter_map(|&source| self.source_nodes[source]);
            let value = sources.fold(part.start, |all, source| all.join(&values[source]));
            let width = part.low + part.width;
            whole = Some(whole.map_or(value, |lower| V::concat(width, part.low, &value, &lower)));
        }
        whole.unwrap_or_else(|| V::top(&whole_width))
    }
}

fn used_sources<V>(equations: &Equations<V>) -> Vec<usize> {
    let parts = equations.unknowns.iter().flat_map(|unknown| &unknown.parts);
    let mut used: Vec<usize> = parts.flat_map(|part| part.sources.iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    used
}

impl<V: Numbers> System for Flow<'_, V> {
    type Value = V;

    fn space(&self, node: Node) -> u32 {
        let (terms, index) = (self.equations.terms, node.index());
        if let Some(&term) = self.terms.get(index) {
            return width(terms, term);
        }
        match self.conditionals.get(index - self.terms.len()) {
            Some(conditional) => width(terms, conditional.value),
            None => {
                let index = index - self.terms.len() - self.conditionals.len();
                width(terms, self.equations.unknowns[index].variable)
            }
        }
    }

    fn evaluate(&mut self, node: Node, values: &NodeVec<V>) -> V {
        let index = node.index();
        if let Some(&term) = self.terms.get(index) {
            return evaluate(self.equations.terms, term, |operand| self.element(values, operand));
        }
        match self.conditionals.get(index - self.terms.len()) {
            Some(conditional) => self.under_condition(conditional, values),
            None => self.unknown_value(index - self.terms.len() - self.conditionals.len(), values),
        }
    }

    fn is_interrupted(&mut self) -> bool {
        (self.interrupted)()
    }
}
