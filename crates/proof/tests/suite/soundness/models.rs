//! All models of the problem that a proof states, by enumeration.
//!
//! This reads a proof with the eyes of its user: only what is declared and what is concluded, nothing of the argument
//! between.

use std::collections::BTreeSet;

/// What is declared, and the assumptions of the last query.
#[derive(Default)]
pub struct Problem {
    chains: Vec<i64>,
    edges: Vec<(usize, usize)>,
    guarded: Vec<(i64, usize, usize)>,
    reads: Vec<usize>,
    sources: Vec<(usize, i64, usize)>,
    hits: Vec<(usize, i64, usize)>,
    clauses: Vec<Vec<i64>>,
    assumptions: Vec<i64>,
}

/// The line of a conclusion that some model contradicts. Problems too large to enumerate have none.
pub fn false_conclusion(text: &str) -> Option<usize> {
    let mut problem = Problem::default();
    text.lines().position(|record| problem.take(record) && problem.has_model()).map(|line| line + 1)
}

impl Problem {
    /// Takes in a record. Whether it is a conclusion.
    pub fn take(&mut self, record: &str) -> bool {
        let mut words = record.split('#').next().unwrap_or("").split_ascii_whitespace();
        let kind = words.next().unwrap_or("");
        let numbers: Vec<i64> = words.map_while(|word| word.parse().ok()).collect();
        let index = |at: usize| numbers[at] as usize;
        match kind {
            "n" => self.chains.push(numbers[0]),
            "e" => self.edges.push((index(0), index(1))),
            "g" => self.guarded.push((numbers[0], index(1), index(2))),
            "r" => self.reads.push(index(0)),
            "f" => self.sources.push((index(0), numbers[1], index(2))),
            "h" => self.hits.push((index(0), numbers[1], index(2))),
            "i" => self.clauses.push(numbers[1..numbers.len() - 1].to_vec()),
            "q" => self.assumptions = numbers[..numbers.len() - 1].to_vec(),
            _ => {}
        }
        kind == "u"
    }

    fn has_model(&self) -> bool {
        let guards = self.guarded.iter().map(|guard| guard.0);
        let reads = self.sources.iter().chain(&self.hits).map(|entry| entry.1);
        let clauses = self.clauses.iter().flatten().chain(&self.assumptions).copied();
        let mut variables: BTreeSet<i64> = guards.chain(reads).chain(clauses).map(i64::abs).collect();
        variables.remove(&1);
        if variables.len() > 12 || self.chains.len() > 6 {
            return false;
        }
        let variables: Vec<i64> = variables.into_iter().collect();
        let orders = permutations(self.chains.len());
        (0..1u32 << variables.len()).any(|bits| {
            let holds = |literal: i64| {
                let value = variables.iter().position(|&v| v == literal.abs()).is_none_or(|at| bits >> at & 1 == 1);
                value == (literal > 0)
            };
            orders.iter().any(|places| self.is_model(&holds, places))
        })
    }

    /// Whether this is a model that satisfies the assumptions. `places` says where in the order each node is.
    pub fn is_model(&self, holds: &dyn Fn(i64) -> bool, places: &[usize]) -> bool {
        self.satisfies_clauses(holds) && self.satisfies_order(holds, places)
    }

    fn satisfies_clauses(&self, holds: &dyn Fn(i64) -> bool) -> bool {
        self.assumptions.iter().all(|&literal| holds(literal))
            && self.clauses.iter().all(|clause| clause.iter().any(|&literal| holds(literal)))
    }

    fn satisfies_order(&self, holds: &dyn Fn(i64) -> bool, places: &[usize]) -> bool {
        let before = |a: usize, b: usize| places[a] < places[b];
        let nodes = 0..self.chains.len();
        nodes.clone().all(|a| nodes.clone().all(|b| a >= b || self.chains[a] != self.chains[b] || before(a, b)))
            && self.edges.iter().all(|&(a, b)| before(a, b))
            && self.guarded.iter().all(|&(literal, a, b)| !holds(literal) || before(a, b))
            && (0..self.reads.len())
                .all(|read| self.sources.iter().filter(|source| source.0 == read && holds(source.1)).count() <= 1)
            && self.sources.iter().all(|&(read, literal, write)| {
                let node = self.reads[read];
                let overwritten = self.hits.iter().any(|&(reader, hit, other)| {
                    reader == read && holds(hit) && other != write && before(write, other) && before(other, node)
                });
                !holds(literal) || before(write, node) && !overwritten
            })
    }
}

/// All ways to give `count` nodes their places.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let insert = |places: &Vec<usize>, at: usize| {
        let mut longer: Vec<usize> = places.iter().map(|&place| place + usize::from(place >= at)).collect();
        longer.push(at);
        longer
    };
    shorter.iter().flat_map(|places| (0..count).map(move |at| insert(places, at))).collect()
}
