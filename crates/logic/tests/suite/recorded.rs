//! Recorded runs, large enough that theory and core take several turns: the same question is the same search, and a
//! question that grows has the answers of one that is asked at once.

use leno_logic::core::{Answer, Statistics};
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::proof::Proof;
use leno_logic::solver::{CoreKind, Solver};
use leno_testing::Random;

const THREADS: usize = 8;
const VALUES: usize = 4;
/// Accesses to a location.
const SHARE: usize = 40;

#[derive(Clone, Copy)]
struct Access {
    thread: usize,
    location: usize,
    is_read: bool,
    value: usize,
}

/// Accesses of some interleaving; then some reads get other values.
fn recorded(events: usize, disturbed: usize, seed: u64) -> Vec<Access> {
    let mut random = Random::new(seed);
    let locations = events.div_ceil(SHARE);
    let mut memory = vec![0; locations];
    let mut accesses: Vec<Access> = (0..events)
        .map(|_| {
            let (thread, location) = (random.below(THREADS), random.below(locations));
            let is_read = random.below(100) < 40;
            if !is_read {
                memory[location] = random.below(VALUES);
            }
            Access { thread, location, is_read, value: memory[location] }
        })
        .collect();
    for _ in 0..disturbed {
        accesses[random.below(events)].value = random.below(VALUES);
    }
    accesses
}

struct Asked<'a> {
    accesses: &'a [Access],
    solver: Solver,
    initial: Node,
    nodes: Vec<Node>,
    reads: Vec<usize>,
}

impl<'a> Asked<'a> {
    fn new(accesses: &'a [Access], mut solver: Solver) -> Asked<'a> {
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let chains: Vec<_> = (0..THREADS).map(|_| solver.add_chain()).collect();
        let nodes: Vec<_> = accesses.iter().map(|access| solver.add_node(chains[access.thread])).collect();
        nodes.iter().for_each(|&node| solver.add_edge(initial, node));
        let mut reads: Vec<usize> = (0..accesses.len()).filter(|&index| accesses[index].is_read).collect();
        reads.sort_by_key(|&read| accesses[read].thread);
        Asked { accesses, solver, initial, nodes, reads }
    }

    fn ask(&mut self, reads: usize) -> Answer {
        for index in self.reads.drain(..reads.min(self.reads.len())).collect::<Vec<_>>() {
            self.add_read(index);
        }
        self.solver.solve(&[], &Limits::default())
    }

    fn add_read(&mut self, index: usize) {
        let Access { location, value, .. } = self.accesses[index];
        let read = self.solver.add_read(self.nodes[index]);
        let mut sources = Vec::new();
        if value == 0 {
            sources.push(self.solver.new_literal());
            self.solver.add_reads_from(read, sources[0], self.initial);
        }
        for (write, access) in self.accesses.iter().enumerate() {
            if !access.is_read && access.location == location {
                self.solver.add_hit(read, Lit::TRUE, self.nodes[write]);
                if access.value == value {
                    sources.push(self.solver.new_literal());
                    self.solver.add_reads_from(read, sources[sources.len() - 1], self.nodes[write]);
                }
            }
        }
        self.solver.add_clause(&sources);
    }

    /// Whether the line is in the order of each thread, and every read that was asked about sees its value.
    fn line_is_right(&self) -> bool {
        let mut memory = vec![0; self.accesses.len()];
        let mut last = [None; THREADS];
        let accesses = self.solver.line().iter().filter_map(|node| self.nodes.iter().position(|other| other == node));
        accesses.into_iter().all(|index| {
            let Access { thread, location, is_read, value } = self.accesses[index];
            let in_order = last[thread].replace(index).is_none_or(|before| before < index);
            if !is_read {
                memory[location] = value;
            }
            in_order && (!is_read || self.reads.contains(&index) || memory[location] == value)
        })
    }
}

/// All answers, with the lines and the work behind them, when so many reads are added at a time.
fn answers(accesses: &[Access], solver: Solver, batch: usize) -> Vec<(Answer, Vec<Node>, Statistics)> {
    let mut asked = Asked::new(accesses, solver);
    let mut answers = Vec::new();
    while !asked.reads.is_empty() {
        let answer = asked.ask(batch);
        if answer == Answer::Satisfiable {
            assert!(asked.line_is_right());
        }
        answers.push((answer, asked.solver.line().to_vec(), asked.solver.statistics()));
    }
    answers
}

#[test]
fn the_same_questions_are_the_same_search() {
    let mut conflicts = 0;
    for seed in 1..=3 {
        let accesses = recorded(800, 2, seed);
        for batch in [usize::MAX, 220] {
            let first = answers(&accesses, Solver::default(), batch);
            assert_eq!(first, answers(&accesses, Solver::default(), batch), "seed {seed}");
            println!("seed {seed}: {:?}", first[first.len() - 1].2);
            conflicts = conflicts.max(first[first.len() - 1].2.conflicts);
        }
    }
    assert!(conflicts > 300, "{conflicts} conflicts: theory and core have not taken turns");
}

#[test]
fn a_question_that_grows_has_the_answers_of_one_asked_at_once() {
    let mut refuted = 0;
    for seed in 0..60 {
        let accesses = recorded(90, 8 + seed as usize % 10, 1000 + seed);
        let at_once = answers(&accesses, Solver::new(CoreKind::Batsat), usize::MAX)[0].0;
        for batch in [usize::MAX, 5] {
            let proof = Proof::in_memory();
            let growing = answers(&accesses, Solver::with_proof(CoreKind::Cadical, proof.clone()), batch);
            assert_eq!(growing[growing.len() - 1].0, at_once, "seed {seed}");
            let known: Vec<bool> = growing.iter().map(|(answer, ..)| *answer == Answer::Satisfiable).collect();
            assert!(known.is_sorted_by(|before, after| before >= after), "seed {seed}: {known:?}");
            if at_once == Answer::Unsatisfiable {
                check_proof(&proof, seed);
            }
        }
        refuted += u32::from(at_once == Answer::Unsatisfiable);
    }
    assert!((10..=50).contains(&refuted), "{refuted} of 60 refuted");
}

/// Refutations that take several turns.
#[test]
fn the_fewest_switches_of_a_run_are_proved() {
    let mut conflicts = 0;
    for seed in 1..3 {
        let accesses = recorded(18, 0, seed);
        let proof = Proof::in_memory();
        let mut asked = Asked::new(&accesses, Solver::with_proof(CoreKind::Cadical, proof.clone()));
        asked.ask(usize::MAX);
        let events: Vec<(Node, Lit)> = asked.nodes.iter().map(|&node| (node, Lit::TRUE)).collect();
        let fewest = (0..).find(|&most| {
            let bound = asked.solver.bound_switches(&events, most);
            let answer = asked.solver.solve(&[bound], &Limits::default());
            if answer == Answer::Unsatisfiable {
                check_proof(&proof, seed);
            }
            answer == Answer::Satisfiable
        });
        assert!(asked.line_is_right());
        let chains: Vec<_> = asked.solver.line().iter().filter(|node| asked.nodes.contains(node)).collect();
        let switches = chains.windows(2).filter(|two| asked.solver.chain_of(*two[0]) != asked.solver.chain_of(*two[1]));
        assert_eq!(Some(switches.count()), fewest, "seed {seed}");
        println!("seed {seed}: {fewest:?} {:?}", asked.solver.statistics());
        conflicts = conflicts.max(asked.solver.statistics().conflicts);
    }
    assert!(conflicts > 300, "{conflicts} conflicts: theory and core have not taken turns");
}

/// The last query was refuted, says the independent checker.
fn check_proof(proof: &Proof, seed: u64) {
    let text = proof.text().expect("the log is in memory");
    let summary = leno_proof::check(text.as_slice()).unwrap_or_else(|rejection| panic!("seed {seed}: {rejection}"));
    assert!(summary.queries.last().is_some_and(|query| query.refuted_by.is_some()), "seed {seed}");
}
