//! Clauses and events: small random problems, asked incrementally, with both cores.
//!
//! What a proof concludes is compared with an enumeration of all models of the problem that it states, which is also
//! that of the checker's own tests; so is what it concludes after some damage, if it is still accepted.

use super::clauses::count;
use super::models::{self, false_conclusion};
use super::mutate::mutate;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::{Node, Read};
use leno_logic::proof::Proof;
use leno_logic::solver::{CoreKind, Solver};
use leno_testing::Random;

struct Problem {
    solver: Solver,
    proof: Proof,
    literals: Vec<Lit>,
    nodes: Vec<Node>,
    reads: Vec<(Read, Node)>,
    answers: Vec<Answer>,
}

impl Problem {
    fn new(kind: CoreKind, random: &mut Random) -> Problem {
        let proof = Proof::in_memory();
        let mut solver = Solver::with_proof(kind, proof.clone());
        let literals = (0..4 + random.below(4)).map(|_| solver.new_literal()).collect();
        let chains: Vec<_> = (0..1 + random.below(4)).map(|_| solver.add_chain()).collect();
        let nodes = (0..3 + random.below(3)).map(|_| solver.add_node(random.pick(&chains))).collect();
        Problem { solver, proof, literals, nodes, reads: Vec::new(), answers: Vec::new() }
    }

    fn literal(&self, random: &mut Random) -> Lit {
        if random.chance(5) { Lit::TRUE } else { random.pick(&self.literals).with_value(random.chance(70)) }
    }

    fn grow(&mut self, random: &mut Random) {
        for _ in 0..random.below(3) {
            let (guard, from, to) = (self.literal(random), random.pick(&self.nodes), random.pick(&self.nodes));
            self.solver.add_guarded_edge(guard, from, to);
        }
        if random.chance(15) {
            self.solver.add_edge(random.pick(&self.nodes), random.pick(&self.nodes));
        }
        if random.chance(50) {
            let node = random.pick(&self.nodes);
            self.reads.push((self.solver.add_read(node), node));
        }
        for &(read, node) in &self.reads.clone() {
            for write in self.nodes.clone() {
                if write != node && random.chance(20) {
                    let source = self.literal(random);
                    self.solver.add_reads_from(read, source, write);
                }
                if random.chance(35) {
                    let hit = self.literal(random);
                    self.solver.add_hit(read, hit, write);
                }
            }
        }
        for _ in 0..random.below(2) {
            let clause: Vec<Lit> = (0..2 + random.below(2)).map(|_| self.literal(random)).collect();
            self.solver.add_clause(&clause);
        }
    }

    fn ask(&mut self, random: &mut Random) {
        let assumed = self.literals.iter().filter(|_| random.chance(40)).collect::<Vec<_>>();
        let assumptions: Vec<Lit> = assumed.into_iter().map(|lit| lit.with_value(random.chance(60))).collect();
        self.answers.push(self.solver.solve(&assumptions, &Limits::default()));
        if self.answers.last() == Some(&Answer::Satisfiable) {
            self.check_model();
        }
    }

    /// The solver's model is one of the problem that its proof states.
    fn check_model(&mut self) {
        let mut problem = models::Problem::default();
        let text = self.text();
        for record in text.lines() {
            problem.take(record);
        }
        let mut places = vec![0; self.nodes.len()];
        self.solver.line().iter().enumerate().for_each(|(place, node)| places[node.index()] = place);
        let variables = self.literals.iter().map(|lit| lit.to_dimacs()).max().unwrap_or(1);
        let values: Vec<bool> = (1..=variables).map(|var| self.solver.value(Lit::from_dimacs(var))).collect();
        // Variables beyond ours are the solver's own, and say what the order says.
        let holds = |literal: i64| values.get(literal.unsigned_abs() as usize - 1).is_some_and(|&v| v == (literal > 0));
        assert!(problem.is_model(&holds, &places), "{text}\n{values:?} {places:?}");
    }

    fn text(&self) -> String {
        String::from_utf8(self.proof.text().expect("the log is in memory")).expect("a proof is text")
    }
}

/// The proof of a random problem, and how many of its queries were refuted.
fn random_proof(kind: CoreKind, random: &mut Random) -> (String, usize) {
    let mut problem = Problem::new(kind, random);
    for _ in 0..4 {
        problem.grow(random);
        for _ in 0..3 {
            problem.ask(random);
        }
        if problem.solver.solve(&[], &Limits::default()) == Answer::Unsatisfiable {
            problem.answers.push(Answer::Unsatisfiable);
            break;
        }
    }
    let refuted = problem.answers.iter().filter(|&&answer| answer == Answer::Unsatisfiable).count();
    (problem.text(), refuted)
}

#[test]
fn proofs_are_accepted_and_say_what_is_true() {
    let (mut queries, mut refuted, mut lemmas, mut steps) = (0, 0, 0, [0; 4]);
    for (kind, seed) in (0..count(1000)).flat_map(|seed| [(CoreKind::Cadical, seed), (CoreKind::Batsat, seed)]) {
        let (text, expected) = random_proof(kind, &mut Random::new(seed));
        let summary =
            leno_proof::check(text.as_bytes()).unwrap_or_else(|e| panic!("{kind:?}, seed {seed}: {e}\n{text}"));
        assert_eq!(summary.refuted(), expected, "{kind:?}, seed {seed}");
        assert_eq!(false_conclusion(&text), None, "{kind:?}, seed {seed}\n{text}");
        queries += summary.queries.len();
        refuted += expected;
        lemmas += summary.lemmas as usize;
        for (count, step) in steps.iter_mut().zip([" 0 1 ", " 0 2 ", " 0 c ", " 0 x "]) {
            *count += text.lines().filter(|line| line.starts_with("t ") && line.contains(step)).count();
        }
    }
    println!("{queries} queries, {refuted} refuted, {lemmas} lemmas, {steps:?} of each kind");
    assert!(refuted > queries / 5 && refuted < queries * 4 / 5, "{refuted} of {queries}");
    assert!(lemmas > queries / 10 && steps.iter().all(|&count| count > lemmas / 50), "{lemmas} {steps:?}");
}

#[test]
fn damaged_proofs_show_nothing_false() {
    let (mut accepted, mut rejected) = (0, 0);
    for (kind, seed) in (0..count(300)).flat_map(|seed| [(CoreKind::Cadical, seed), (CoreKind::Batsat, seed)]) {
        let mut random = Random::new(seed);
        let (text, _) = random_proof(kind, &mut random);
        for _ in 0..20 {
            let mutant = mutate(&text, &mut random);
            if leno_proof::check(mutant.as_bytes()).is_err() {
                rejected += 1;
            } else {
                accepted += 1;
                assert_eq!(false_conclusion(&mutant), None, "{kind:?}, seed {seed}\n{mutant}");
            }
        }
    }
    println!("{rejected} rejected, {accepted} accepted and true");
    assert!(rejected > accepted && accepted > 500, "{rejected} rejected, {accepted} accepted");
}
