//! A simple-minded prover for random small problems.
//!
//! It walks the tree of all assignments. At a leaf that an input clause forbids there is nothing to say. At any other
//! leaf it derives edges from the memory axiom until there is a cycle, and writes that as a lemma. On the way up, where
//! both branches are refuted, the clause that forbids the prefix follows. Conclusions are drawn for every refuted
//! prefix whose parent is not.

use leno_testing::Random;
use std::fmt::Write;

#[derive(Default)]
struct Structure {
    chains: Vec<usize>,
    edges: Vec<(usize, usize)>,
    /// Literal, from, to; also for every source.
    guarded: Vec<(i32, usize, usize)>,
    reads: Vec<usize>,
    sources: Vec<(usize, i32, usize)>,
    hits: Vec<(usize, i32, usize)>,
    clauses: Vec<Vec<i32>>,
}

const VARIABLES: usize = 6;

/// A problem and conclusions about it, with the argument.
pub fn random_proof(random: &mut Random) -> String {
    let mut text = String::from("p leno 1\n");
    let structure = Structure::random(random, &mut text);
    let mut prover = Prover { structure, text, next_id: 100, values: Vec::new(), hints: random.chance(50) };
    for (number, clause) in prover.structure.clauses.iter().enumerate() {
        record(&mut prover.text, 'i', number + 1, clause);
        prover.text.push('\n');
    }
    let root = prover.refute(&mut |text, prefix, id| {
        record(text, 'q', "", &prefix.iter().map(|&value| -value).collect::<Vec<_>>());
        let _ = writeln!(text, "\nu {id}");
    });
    if let Some((id, _)) = root {
        let _ = writeln!(prover.text, "q 2 0\nu {id}");
    }
    prover.text
}

fn record(text: &mut String, kind: char, id: impl std::fmt::Display, clause: &[i32]) {
    let _ = write!(text, "{kind} {id}");
    for literal in clause {
        let _ = write!(text, " {literal}");
    }
    let _ = write!(text, " 0");
}

fn literal(random: &mut Random) -> i32 {
    let variable = if random.chance(5) { 1 } else { 2 + random.below(VARIABLES) as i32 };
    if random.chance(35) { -variable } else { variable }
}

impl Structure {
    fn random(random: &mut Random, text: &mut String) -> Structure {
        let mut structure = Structure::default();
        let nodes = 3 + random.below(3);
        let chains = 1 + random.below(3);
        for _ in 0..nodes {
            structure.chains.push(random.below(chains));
            let _ = writeln!(text, "n {}", structure.chains.last().unwrap_or(&0));
        }
        for _ in 0..random.below(2) {
            let edge = (random.below(nodes), random.below(nodes));
            structure.edges.push(edge);
            let _ = writeln!(text, "e {} {}", edge.0, edge.1);
        }
        for _ in 0..random.below(5) {
            let guard = (literal(random), random.below(nodes), random.below(nodes));
            structure.guarded.push(guard);
            let _ = writeln!(text, "g {} {} {}", guard.0, guard.1, guard.2);
        }
        for read in 0..random.below(3) {
            structure.reads.push(random.below(nodes));
            let _ = writeln!(text, "r {}", structure.reads[read]);
        }
        for read in 0..structure.reads.len() {
            structure.random_writes(read, random, text);
        }
        for _ in 0..random.below(9) {
            structure.clauses.push((0..1 + random.below(3)).map(|_| literal(random)).collect());
        }
        structure
    }

    fn random_writes(&mut self, read: usize, random: &mut Random, text: &mut String) {
        for write in 0..self.chains.len() {
            if write != self.reads[read] && random.chance(40) {
                let source = literal(random);
                self.sources.push((read, source, write));
                self.guarded.push((source, write, self.reads[read]));
                let _ = writeln!(text, "f {read} {source} {write}");
            }
            if random.chance(60) {
                let hit = literal(random);
                self.hits.push((read, hit, write));
                let _ = writeln!(text, "h {read} {hit} {write}");
            }
        }
    }
}

struct Prover {
    structure: Structure,
    text: String,
    next_id: usize,
    /// The literals decided so far: variables from 2 on, in order.
    values: Vec<i32>,
    /// Whether derived clauses get hints.
    hints: bool,
}

/// A clause that contradicts the current prefix.
type Refuted = (usize, Vec<i32>);

impl Prover {
    /// Refutes the current prefix if it can, and tells `conclude` of refuted prefixes below it otherwise.
    fn refute(&mut self, conclude: &mut dyn FnMut(&mut String, &[i32], usize)) -> Option<Refuted> {
        if let Some(forbidding) = self.forbidding_clause() {
            return Some(forbidding);
        }
        if self.values.len() == VARIABLES {
            return self.lemma();
        }
        let variable = 2 + self.values.len() as i32;
        let branches = [variable, -variable].map(|value| {
            self.values.push(value);
            let refuted = self.refute(conclude);
            self.values.pop();
            refuted
        });
        match branches {
            [Some(left), Some(right)] => Some(self.combine(left, right)),
            [left, right] => {
                for (id, clause) in [left, right].into_iter().flatten() {
                    conclude(&mut self.text, &clause, id);
                }
                None
            }
        }
    }

    fn holds(&self, literal: i32) -> bool {
        literal == 1 || self.values.contains(&literal)
    }

    fn forbidding_clause(&self) -> Option<Refuted> {
        let forbids =
            |clause: &Vec<i32>| clause.iter().all(|&literal| literal == -1 || self.values.contains(&-literal));
        let at = self.structure.clauses.iter().position(forbids)?;
        // Variable 1 is true, but clauses do not know it: leave those that need it alone.
        let clause = self.structure.clauses[at].clone();
        (!clause.contains(&-1)).then_some((at + 1, clause))
    }

    /// The clause that follows from two that forbid the branches.
    fn combine(&mut self, left: Refuted, right: Refuted) -> Refuted {
        let split = 2 + self.values.len() as i32;
        for (id, clause) in [&left, &right] {
            if !clause.iter().any(|literal| literal.abs() == split) {
                return (*id, clause.clone());
            }
        }
        let mut clause: Vec<i32> = left.1.iter().chain(&right.1).copied().filter(|l| l.abs() != split).collect();
        clause.sort_unstable();
        clause.dedup();
        let id = self.next_id;
        self.next_id += 1;
        record(&mut self.text, 'a', id, &clause);
        let hints = if self.hints { format!(" {} {} 0", left.0, right.0) } else { " 0".to_string() };
        let _ = writeln!(self.text, "{hints}");
        (id, clause)
    }

    /// A theory lemma that the full assignment contradicts.
    fn lemma(&mut self) -> Option<Refuted> {
        let mut derivation = Derivation { prover: self, derived: Vec::new(), steps: String::new(), used: Vec::new() };
        while derivation.two_sources().or_else(|| derivation.cycle()).is_none() {
            if !derivation.derive() {
                return None;
            }
        }
        let Derivation { steps, mut used, .. } = derivation;
        used.sort_unstable();
        used.dedup();
        let clause: Vec<i32> = used.into_iter().filter(|&literal| literal != 1).map(|literal| -literal).collect();
        let id = self.next_id;
        self.next_id += 1;
        record(&mut self.text, 't', id, &clause);
        let _ = writeln!(self.text, "{steps}");
        Some((id, clause))
    }
}

struct Derivation<'a> {
    prover: &'a Prover,
    derived: Vec<(usize, usize)>,
    steps: String,
    used: Vec<i32>,
}

impl Derivation<'_> {
    /// Whether there is an edge, and the literal that it needs.
    fn hop(&self, from: usize, to: usize) -> Option<i32> {
        let structure = &self.prover.structure;
        let along_chain = from < to && structure.chains[from] == structure.chains[to];
        if along_chain || structure.edges.contains(&(from, to)) || self.derived.contains(&(from, to)) {
            return Some(1);
        }
        let guard = |entry: &&(i32, usize, usize)| (entry.1, entry.2) == (from, to) && self.prover.holds(entry.0);
        structure.guarded.iter().find(guard).map(|entry| entry.0)
    }

    /// A shortest path, by breadth-first search.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut paths = vec![vec![from]];
        let mut seen = vec![from];
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            next += 1;
            let last = path[path.len() - 1];
            if last == to {
                return Some(path);
            }
            for node in 0..self.prover.structure.chains.len() {
                if !seen.contains(&node) && self.hop(last, node).is_some() {
                    seen.push(node);
                    paths.push(path.iter().copied().chain([node]).collect());
                }
            }
        }
        None
    }

    fn write(&mut self, start: &str, path: &[usize]) {
        let hops = path.windows(2).filter_map(|hop| self.hop(hop[0], hop[1]));
        let hops: Vec<i32> = hops.collect();
        self.used.extend(hops);
        let nodes: Vec<String> = path.iter().map(usize::to_string).collect();
        let _ = write!(self.steps, " {start} {} -1", nodes.join(" "));
    }

    /// Writes two sources of one read, if there are some.
    fn two_sources(&mut self) -> Option<()> {
        let sources = &self.prover.structure.sources;
        for (index, &(read, first, write)) in sources.iter().enumerate() {
            let second = |entry: &&(usize, i32, usize)| entry.0 == read && self.prover.holds(entry.1);
            if let Some(&(_, second, other)) = sources[..index].iter().find(second).filter(|_| self.prover.holds(first))
            {
                self.used.extend([first, second]);
                let _ = write!(self.steps, " x {read} {write} {other}");
                return Some(());
            }
        }
        None
    }

    /// Writes a cycle, if there is one.
    fn cycle(&mut self) -> Option<()> {
        let nodes = self.prover.structure.chains.len();
        for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
            if let (Some(path), Some(back)) = (self.path(from, to), self.hop(to, from)) {
                self.used.push(back);
                self.write("c", &path);
                return Some(());
            }
        }
        None
    }

    /// Derives one more edge, if it can.
    fn derive(&mut self) -> bool {
        let structure = &self.prover.structure;
        for &(read, source, write) in &structure.sources {
            for &(reader, hit, other) in &structure.hits {
                let node = structure.reads[read];
                let applies = reader == read && other != write && other != node;
                if !applies || !self.prover.holds(source) || !self.prover.holds(hit) {
                    continue;
                }
                let before = self.path(other, node).filter(|_| !self.derived.contains(&(other, write)));
                let after = self.path(write, other).filter(|_| !self.derived.contains(&(node, other)));
                let (rule, path, edge) = match (before, after) {
                    (Some(path), _) => (1, path, (other, write)),
                    (None, Some(path)) => (2, path, (node, other)),
                    (None, None) => continue,
                };
                self.used.extend([source, hit]);
                self.write(&format!("{rule} {read} {write} {other}"), &path);
                self.derived.push(edge);
                return true;
            }
        }
        false
    }
}
