//! Clauses alone, without a theory: both cores, from scratch and incrementally.

use leno_logic::core::batsat::Batsat;
use leno_logic::core::cadical::Cadical;
use leno_logic::core::{Answer, Consequence, Propagator, SatCore};
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::proof::Proof;
use leno_testing::Random;
use std::cell::RefCell;
use std::rc::Rc;

/// A theory with nothing to say.
struct Silent;

impl Propagator for Silent {
    fn assign(&mut self, _lit: Lit) {}
    fn new_level(&mut self) {}
    fn backtrack(&mut self, _level: usize) {}
    fn propagate(&mut self) -> Consequence {
        Consequence::Nothing
    }
    fn explain(&mut self, lit: Lit, clause: &mut Vec<Lit>) {
        clause.push(lit);
    }
    fn conflict(&self) -> &[Lit] {
        &[]
    }
    fn model_found(&mut self) {}
}

/// A core, its log, and what it was asked.
struct Logged {
    core: Box<dyn SatCore>,
    proof: Proof,
    literals: Vec<Lit>,
    clauses: Vec<Vec<i32>>,
    queries: Vec<(Vec<Lit>, Answer)>,
}

/// How many random problems to try: `LENO_PROOFS`, or else `default`.
pub fn count(default: u64) -> u64 {
    std::env::var("LENO_PROOFS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

const CORES: [&str; 2] = ["cadical", "batsat"];

impl Logged {
    fn new(core: &str, variables: usize) -> Logged {
        let proof = Proof::in_memory();
        let theory = Rc::new(RefCell::new(Silent));
        let mut core: Box<dyn SatCore> = match core {
            "cadical" => Box::new(Cadical::with_proof(theory, proof.clone())),
            _ => Box::new(Batsat::with_proof(theory, proof.clone())),
        };
        let literals = (0..variables).map(|_| core.new_var().positive()).collect();
        core.observe(Lit::TRUE.var());
        Logged { core, proof, literals, clauses: vec![vec![1]], queries: Vec::new() }
    }

    fn add(&mut self, clause: &[Lit]) {
        self.core.add_clause(clause);
        self.clauses.push(clause.iter().map(|lit| lit.to_dimacs()).collect());
    }

    fn random_clause(&mut self, size: usize, random: &mut Random) -> Vec<Lit> {
        (0..size).map(|_| self.literals[random.below(self.literals.len())].with_value(random.below(2) == 0)).collect()
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        self.solve_within(assumptions, &Limits::default())
    }

    fn solve_within(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer {
        if let Some(conflicts) = limits.conflicts {
            self.core.bound_conflicts(conflicts);
        }
        let answer = self.core.solve(assumptions, limits);
        self.queries.push((assumptions.to_vec(), answer));
        answer
    }

    /// The proof is accepted, and it is about what was asked: its inputs are the clauses given, and the queries refuted
    /// are those that were answered so.
    fn check(&self, what: &str) -> leno_proof::Summary {
        let text = self.proof.text().expect("the log is in memory");
        let summary = leno_proof::check(text.as_slice()).unwrap_or_else(|rejection| {
            let text = String::from_utf8_lossy(&text);
            let around = text.lines().skip(rejection.line.saturating_sub(3) as usize).take(4).collect::<Vec<_>>();
            panic!("{what}: {rejection}\n{around:#?}")
        });
        assert_eq!(inputs(&text), self.clauses, "{what}");
        assert_eq!(summary.queries.len(), self.queries.len(), "{what}");
        for (query, (assumptions, answer)) in summary.queries.iter().zip(&self.queries) {
            assert_eq!(query.assumptions, assumptions.iter().map(|lit| lit.to_dimacs()).collect::<Vec<_>>(), "{what}");
            assert_eq!(query.refuted_by.is_some(), *answer == Answer::Unsatisfiable, "{what}");
        }
        summary
    }
}

/// The clauses that a proof states as given.
fn inputs(text: &[u8]) -> Vec<Vec<i32>> {
    let text = String::from_utf8_lossy(text);
    let input = |line: &str| {
        let mut numbers: Vec<i32> = line.strip_prefix("i ")?.split(' ').filter_map(|word| word.parse().ok()).collect();
        numbers.remove(0);
        numbers.pop();
        Some(numbers)
    };
    text.lines().filter_map(input).collect()
}

#[test]
fn pigeons_do_not_fit() {
    for core in CORES {
        for holes in 1..=7 {
            let mut logged = Logged::new(core, (holes + 1) * holes);
            let in_hole = |pigeon: usize, hole: usize, logged: &Logged| logged.literals[pigeon * holes + hole];
            for pigeon in 0..=holes {
                let somewhere: Vec<Lit> = (0..holes).map(|hole| in_hole(pigeon, hole, &logged)).collect();
                logged.add(&somewhere);
                for (other, hole) in (0..pigeon).flat_map(|other| (0..holes).map(move |hole| (other, hole))) {
                    let clause = [!in_hole(pigeon, hole, &logged), !in_hole(other, hole, &logged)];
                    logged.add(&clause);
                }
            }
            assert_eq!(logged.solve(&[]), Answer::Unsatisfiable);
            logged.check(&format!("{core}, {holes} holes"));
        }
    }
}

#[test]
fn random_clauses_near_the_threshold() {
    for core in CORES {
        let mut refuted = 0;
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let variables = 20 + random.below(130);
            let mut logged = Logged::new(core, variables);
            for _ in 0..variables * 43 / 10 {
                let clause = logged.random_clause(3, &mut random);
                logged.add(&clause);
            }
            logged.solve(&[]);
            refuted += logged.check(&format!("{core}, seed {seed}")).refuted();
        }
        assert!(refuted > 15, "{core}: {refuted}");
    }
}

#[test]
fn clauses_and_queries_in_turn() {
    for core in CORES {
        let (mut refuted, mut queries) = (0, 0);
        for seed in 0..count(400) {
            let mut random = Random::new(seed);
            let variables = 5 + random.below(60);
            let mut logged = Logged::new(core, variables);
            for _ in 0..12 {
                for _ in 0..variables / 3 + 1 {
                    let size = 2 + random.below(3);
                    let clause = logged.random_clause(size, &mut random);
                    logged.add(&clause);
                }
                let count = random.below(variables / 2);
                let assumptions = logged.random_clause(count, &mut random);
                if logged.solve(&assumptions) == Answer::Unsatisfiable {
                    let failed = logged.core.failed();
                    assert!(failed.iter().all(|lit| assumptions.contains(lit)));
                }
            }
            let summary = logged.check(&format!("{core}, seed {seed}"));
            refuted += summary.refuted();
            queries += summary.queries.len();
        }
        println!("{core}: {queries} queries, {refuted} refuted");
        assert!(refuted > queries / 5 && refuted < queries * 9 / 10, "{core}: {refuted} of {queries}");
    }
}

/// Two sums modulo 2 of the same bits in different orders, gate by gate, are equal: CaDiCaL finds the gates.
#[test]
fn parity_does_not_depend_on_the_order() {
    for core in CORES {
        for bits in 2..=9 {
            let mut logged = Logged::new(core, 3 * bits);
            let inputs = logged.literals[..bits].to_vec();
            let mut random = Random::new(bits as u64);
            let mut sums = Vec::new();
            for gates in [bits..2 * bits, 2 * bits..3 * bits] {
                let mut order = inputs.clone();
                (1..bits).for_each(|at| order.swap(at, random.below(at + 1)));
                let mut sum = Lit::FALSE;
                for (gate, bit) in gates.zip(order) {
                    let out = logged.literals[gate];
                    let rows = [[!sum, !bit, !out], [sum, bit, !out], [sum, !bit, out], [!sum, bit, out]];
                    rows.iter().for_each(|row| logged.add(row));
                    sum = out;
                }
                sums.push(sum);
            }
            assert_eq!(logged.solve(&[sums[0], !sums[1]]), Answer::Unsatisfiable);
            assert_eq!(logged.solve(&[!sums[0], sums[1]]), Answer::Unsatisfiable);
            assert_eq!(logged.solve(&sums), Answer::Satisfiable);
            logged.check(&format!("{core}, {bits} bits"));
        }
    }
}

/// Hard enough that CaDiCaL simplifies between queries: it eliminates variables, sets clauses aside and restores them.
#[test]
fn hard_clauses_and_queries_in_turn() {
    for core in CORES {
        let mut refuted = 0;
        for seed in 0..4 {
            let mut random = Random::new(seed);
            let mut logged = Logged::new(core, 190);
            for clauses in [780, 10, 10, 10, 10, 10, 10] {
                for _ in 0..clauses {
                    let clause = logged.random_clause(3, &mut random);
                    logged.add(&clause);
                }
                let assumptions = logged.random_clause(4, &mut random);
                logged.solve(&assumptions);
            }
            refuted += logged.check(&format!("{core}, seed {seed}")).refuted();
        }
        assert!(refuted > 10, "{core}: {refuted}");
    }
}

#[test]
fn a_search_that_was_interrupted_goes_on() {
    for core in CORES {
        let mut random = Random::new(3);
        let mut logged = Logged::new(core, 160);
        for _ in 0..740 {
            let clause = logged.random_clause(3, &mut random);
            logged.add(&clause);
        }
        let mut conflicts = 1;
        let mut interrupted = 0;
        while logged.solve_within(&[], &Limits::default().with_conflicts(conflicts)) != Answer::Unsatisfiable {
            interrupted += 1;
            conflicts *= 2;
            assert!(interrupted < 40, "{core}");
        }
        assert!(interrupted > 0, "{core}");
        logged.check(core);
    }
}

#[test]
fn nothing_is_logged_when_it_is_off() {
    let proof = Proof::default();
    assert!(!proof.is_on());
    proof.node(0);
    assert_eq!(proof.text(), None);
    assert!(proof.flush().is_ok());
}
