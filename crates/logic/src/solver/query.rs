//! A query as it was asked, for solvers that have no theory of order.
//!
//! What the solver is given is recorded when asked for, and printed as SMT-LIB with integer clocks, as in the papers:
//! each node has a clock; an edge, a guarded edge or a source puts one clock before another; and when `r` reads from
//! `w`, each write `v` that hits comes before `w` or after `r`. These clauses are cubic in the number of accesses to a
//! location: this is for comparisons, not for speed. No two clocks need to differ: all demands are strict inequalities,
//! so that ties can be broken in any way.
//!
//! Literals of terms are printed as the terms that they stand for, not as their clauses.

use crate::literal::{Lit, Var};
use crate::order::{Chain, Node, Read};
use crate::smtlib::{Model, Script};
use crate::term::{Assignment, Term, Terms, Value};
use std::collections::BTreeSet;

/// Everything that a solver was given.
#[derive(Clone, Default, Debug)]
pub struct Query {
    clauses: Vec<Vec<Lit>>,
    definitions: Vec<(Lit, Term)>,
    /// By node.
    chains: Vec<Chain>,
    /// An edge that always holds is guarded by the constant.
    edges: Vec<(Lit, Node, Node)>,
    reads: Vec<RecordedRead>,
}

#[derive(Clone, Debug)]
struct RecordedRead {
    node: Node,
    sources: Vec<(Lit, Node)>,
    hits: Vec<(Lit, Node)>,
}

/// A model that another solver found.
#[derive(Clone, Default, Debug)]
pub struct Solution {
    holds: BTreeSet<Var>,
    /// All nodes in their order.
    pub line: Vec<Node>,
    /// The values of the variables of terms.
    pub assignment: Assignment,
}

impl Solution {
    /// The value of a literal. One that the query does not speak of may have any value, and is false.
    pub fn value(&self, lit: Lit) -> bool {
        (lit.var() == Lit::TRUE.var() || self.holds.contains(&lit.var())) == lit.is_positive()
    }
}

impl Query {
    pub(super) fn clause(&mut self, clause: &[Lit]) {
        self.clauses.push(clause.to_vec());
    }

    pub(super) fn definition(&mut self, lit: Lit, term: Term) {
        self.definitions.push((lit, term));
    }

    pub(super) fn node(&mut self, chain: Chain) {
        self.chains.push(chain);
    }

    pub(super) fn edge(&mut self, guard: Lit, from: Node, to: Node) {
        self.edges.push((guard, from, to));
    }

    pub(super) fn read(&mut self, node: Node) {
        self.reads.push(RecordedRead { node, sources: Vec::new(), hits: Vec::new() });
    }

    pub(super) fn source(&mut self, read: Read, lit: Lit, write: Node) {
        self.reads[read.0 as usize].sources.push((lit, write));
    }

    pub(super) fn hit(&mut self, read: Read, lit: Lit, write: Node) {
        let read = &mut self.reads[read.0 as usize];
        if read.node != write {
            read.hits.push((lit, write));
        }
    }

    /// The question whether everything holds under the assumptions. `terms` is the arena of all terms that were given.
    pub fn script(&self, terms: &Terms, assumptions: &[Lit]) -> Script {
        let mut script = Script::new(match (self.definitions.is_empty(), self.chains.is_empty()) {
            (_, true) if terms.has_functions() => "QF_UFBV",
            (_, true) => "QF_BV",
            (true, false) => "QF_IDL",
            (false, false) => "ALL",
        });
        for var in self.variables(assumptions) {
            script.line(&format!("(declare-fun l!{} () Bool)", var.0));
            script.want(&format!("l!{}", var.0));
        }
        for &(lit, term) in &self.definitions {
            let expression = script.expression(terms, term);
            script.line(&format!("(assert (= {} {expression}))", literal(lit)));
        }
        for clause in &self.clauses {
            demand(&mut script, clause.iter().copied().map(literal));
        }
        for &lit in assumptions {
            demand(&mut script, [literal(lit)]);
        }
        self.print_order(&mut script);
        script
    }

    /// All variables but the constant, in their order.
    fn variables(&self, assumptions: &[Lit]) -> BTreeSet<Var> {
        let of_reads = self.reads.iter().flat_map(|read| read.sources.iter().chain(&read.hits)).map(|&(lit, _)| lit);
        let of_edges = self.edges.iter().map(|&(guard, _, _)| guard);
        let of_terms = self.definitions.iter().map(|&(lit, _)| lit);
        let all = self.clauses.iter().flatten().chain(assumptions).copied().chain(of_reads).chain(of_edges);
        let mut variables: BTreeSet<Var> = all.chain(of_terms).map(Lit::var).collect();
        variables.remove(&Lit::TRUE.var());
        variables
    }

    fn print_order(&self, script: &mut Script) {
        let mut last: Vec<(Chain, usize)> = Vec::new();
        for (node, &chain) in self.chains.iter().enumerate() {
            script.line(&format!("(declare-fun t!{node} () Int)"));
            script.want(&format!("t!{node}"));
            match last.binary_search_by_key(&chain, |&(chain, _)| chain) {
                Ok(place) => {
                    script.line(&format!("(assert (< t!{} t!{node}))", last[place].1));
                    last[place].1 = node;
                }
                Err(place) => last.insert(place, (chain, node)),
            }
        }
        for &(guard, from, to) in &self.edges {
            demand(script, [literal(!guard), earlier(from, to)]);
        }
        for (number, read) in self.reads.iter().enumerate() {
            read.print(number, script);
        }
    }

    /// Reads the other solver's model of the script for these assumptions.
    pub fn solution(&self, terms: &Terms, assumptions: &[Lit], script: &Script, model: &Model) -> Solution {
        let holds = self.variables(assumptions).into_iter();
        let holds = holds.filter(|var| model.constant(&format!("l!{}", var.0)) == Some(Value::Bool(true))).collect();
        let mut line: Vec<Node> = (0..self.chains.len() as u32).map(Node).collect();
        // A node without a clock may be anywhere; nodes of a chain are made in their order.
        line.sort_by_key(|node| (model.integer(&format!("t!{}", node.0)).unwrap_or(0), *node));
        Solution { holds, line, assignment: model.assignment(terms, script) }
    }
}

impl RecordedRead {
    fn print(&self, number: usize, script: &mut Script) {
        for (index, &(source, writer)) in self.sources.iter().enumerate() {
            demand(script, [literal(!source), earlier(writer, self.node)]);
            for &(hit, hitter) in self.hits.iter().filter(|&&(_, hitter)| hitter != writer) {
                let around = [earlier(hitter, writer), earlier(self.node, hitter)];
                demand(script, [literal(!source), literal(!hit)].into_iter().chain(around));
            }
            // At most one source, in a number of clauses that is linear: `s!r!i` if one of the first i + 1 holds.
            let any_until = |index: usize| format!("s!{number}!{index}");
            script.line(&format!("(declare-fun {} () Bool)", any_until(index)));
            demand(script, [literal(!source), any_until(index)]);
            if let Some(previous) = index.checked_sub(1) {
                demand(script, [format!("(not {})", any_until(previous)), any_until(index)]);
                demand(script, [format!("(not {})", any_until(previous)), literal(!source)]);
            }
        }
    }
}

fn literal(lit: Lit) -> String {
    match (lit, lit.is_positive()) {
        (Lit::TRUE, _) => "true".to_string(),
        (Lit::FALSE, _) => "false".to_string(),
        (_, true) => format!("l!{}", lit.var().0),
        (_, false) => format!("(not l!{})", lit.var().0),
    }
}

fn earlier(from: Node, to: Node) -> String {
    format!("(< t!{} t!{})", from.0, to.0)
}

/// Asserts a clause.
fn demand(script: &mut Script, clause: impl IntoIterator<Item = String>) {
    let clause: Vec<String> = clause.into_iter().filter(|lit| lit != "false").collect();
    if clause.iter().any(|lit| lit == "true") {
        return;
    }
    script.line(&match clause.as_slice() {
        [] => "(assert false)".to_string(),
        [lit] => format!("(assert {lit})"),
        _ => format!("(assert (or {}))", clause.join(" ")),
    });
}
