//! The theory of order against integer clocks in z3, and the two SAT cores against each other.
//!
//! `cargo bench -p leno-logic --bench order -- [--no-z3] [EVENTS…]`
//!
//! An instance is a recorded run: threads, each a sequence of reads and writes of shared locations with small values. The
//! question is whether some interleaving lets every read see its value. *Recorded* instances take the values from a hidden
//! interleaving, so there is one; *disturbed* ones change a few values afterwards, so that there usually is none.

use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::solver::{CoreKind, Solver};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const THREADS: usize = 8;
const VALUES: usize = 4;
const READ_PERCENT: usize = 30;
const Z3_LIMIT: Duration = Duration::from_secs(300);

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[derive(Clone, Copy)]
struct Access {
    thread: usize,
    location: usize,
    is_read: bool,
    value: usize,
}

/// Accesses in the hidden order, so that those of a thread are in its order.
struct Instance {
    accesses: Vec<Access>,
    locations: usize,
}

impl Instance {
    fn random(events: usize, disturbed: usize, seed: u64) -> Instance {
        let mut random = Random(seed * 2 + 1);
        for _ in 0..20 {
            random.below(2);
        }
        let locations = events.div_ceil(50);
        let mut memory = vec![0; locations];
        let mut accesses: Vec<Access> = (0..events)
            .map(|_| {
                let (thread, location) = (random.below(THREADS), random.below(locations));
                let is_read = random.below(100) < READ_PERCENT;
                if !is_read {
                    memory[location] = random.below(VALUES);
                }
                Access { thread, location, is_read, value: memory[location] }
            })
            .collect();
        for _ in 0..disturbed {
            let reads: Vec<usize> = (0..events).filter(|&index| accesses[index].is_read).collect();
            let victim = reads[random.below(reads.len())];
            accesses[victim].value = (accesses[victim].value + 1 + random.below(VALUES - 1)) % VALUES;
        }
        Instance { accesses, locations }
    }

    /// Writes to the location of a read; `None` is the initial one, of value 0.
    fn writes_of(&self, location: usize) -> impl Iterator<Item = Option<usize>> + '_ {
        let is_write = move |&index: &usize| !self.accesses[index].is_read && self.accesses[index].location == location;
        std::iter::once(None).chain((0..self.accesses.len()).filter(is_write).map(Some))
    }

    fn candidates(&self, read: usize) -> Vec<Option<usize>> {
        let Access { location, value, .. } = self.accesses[read];
        self.writes_of(location).filter(|w| w.map_or(0, |w| self.accesses[w].value) == value).collect()
    }

    fn solver(&self, kind: CoreKind) -> Solver {
        let mut solver = Solver::new(kind);
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let chains: Vec<_> = (0..THREADS).map(|_| solver.add_chain()).collect();
        let nodes: Vec<_> = self.accesses.iter().map(|access| solver.add_node(chains[access.thread])).collect();
        nodes.iter().for_each(|&node| solver.add_edge(initial, node));
        for (index, access) in self.accesses.iter().enumerate().filter(|(_, access)| access.is_read) {
            let read = solver.add_read(nodes[index]);
            let mut clause = Vec::new();
            for candidate in self.candidates(index) {
                let lit = solver.new_literal();
                solver.add_reads_from(read, lit, candidate.map_or(initial, |write| nodes[write]));
                clause.push(lit);
            }
            for write in self.writes_of(access.location).flatten() {
                solver.add_hit(read, Lit::TRUE, nodes[write]);
            }
            solver.add_clause(&clause);
        }
        solver
    }

    /// The clauses of the papers, over integer clocks.
    fn smtlib(&self) -> String {
        let mut text = String::from("(set-logic QF_IDL)\n(declare-const init Int)\n");
        for index in 0..self.accesses.len() {
            let _ = writeln!(text, "(declare-const c{index} Int)\n(assert (< init c{index}))");
        }
        for thread in 0..THREADS {
            let mine: Vec<_> = (0..self.accesses.len()).filter(|&i| self.accesses[i].thread == thread).collect();
            for pair in mine.windows(2) {
                let _ = writeln!(text, "(assert (< c{} c{}))", pair[0], pair[1]);
            }
        }
        let clock = |write: Option<usize>| write.map_or("init".to_string(), |w| format!("c{w}"));
        for location in 0..self.locations {
            let writes: Vec<_> = self.writes_of(location).flatten().collect();
            for (index, first) in writes.iter().enumerate() {
                for second in &writes[index + 1..] {
                    let _ = writeln!(text, "(assert (or (< c{first} c{second}) (< c{second} c{first})))");
                }
            }
        }
        for (read, access) in self.accesses.iter().enumerate().filter(|(_, access)| access.is_read) {
            let candidates = self.candidates(read);
            let names: Vec<String> = (0..candidates.len()).map(|n| format!("rf{read}_{n}")).collect();
            for name in &names {
                let _ = writeln!(text, "(declare-const {name} Bool)");
            }
            let _ = writeln!(text, "(assert (or false {}))", names.join(" "));
            for (name, &candidate) in names.iter().zip(&candidates) {
                let source = clock(candidate);
                let _ = writeln!(text, "(assert (=> {name} (< {source} c{read})))");
                for other in self.writes_of(access.location).flatten().filter(|&w| Some(w) != candidate) {
                    let _ = writeln!(text, "(assert (=> {name} (or (< c{other} {source}) (< c{read} c{other}))))");
                }
            }
        }
        text + "(check-sat)\n"
    }
}

fn seconds(work: impl FnOnce() -> String) -> (String, f64) {
    let start = Instant::now();
    let answer = work();
    (answer, start.elapsed().as_secs_f64())
}

fn ours(instance: &Instance, kind: CoreKind) -> String {
    let mut solver = instance.solver(kind);
    let answer = solver.solve(&[], &Limits::until(Instant::now() + Z3_LIMIT));
    if std::env::var("STATS").is_ok() {
        eprintln!("{kind:?} {:?} splits {}", solver.statistics(), solver.splits());
    }
    match answer {
        Answer::Satisfiable => "sat".to_string(),
        Answer::Unsatisfiable => "unsat".to_string(),
        Answer::Unknown(_) => "timeout".to_string(),
    }
}

fn z3(text: &str) -> String {
    let limit = format!("-T:{}", Z3_LIMIT.as_secs());
    let child = Command::new("z3").args(["-in", &limit]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return "z3 is not installed".to_string() };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    child.wait_with_output().map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stdout).trim().to_string())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let with_z3 = !arguments.iter().any(|a| a == "--no-z3");
    let mut sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![200, 1000];
    }
    println!("{THREADS} threads, {READ_PERCENT}% reads; seconds");
    println!(
        "{:>7} {:>10} {:>5} {:>8} {:>9} {:>9} {:>9} {:>7}",
        "events", "kind", "seed", "answer", "cadical", "batsat", "z3", "ratio"
    );
    for events in sizes {
        for (kind, disturbed) in [("recorded", 0), ("disturbed", 2), ("disturbed", 8)] {
            for seed in 1..=3 {
                let instance = Instance::random(events, disturbed, seed);
                let (answer, cadical) = seconds(|| ours(&instance, CoreKind::Cadical));
                let (second, batsat) = seconds(|| ours(&instance, CoreKind::Batsat));
                assert_eq!(answer, second, "the cores disagree");
                print!("{events:>7} {kind:>10} {seed:>5} {answer:>8} {cadical:>9.3} {batsat:>9.3}");
                if with_z3 {
                    let (third, z3) = seconds(|| z3(&instance.smtlib()));
                    assert!(third == answer || third == "timeout", "z3 says {third}, we say {answer}");
                    print!(" {z3:>9.2} {:>7.0}", z3 / cadical.min(batsat));
                }
                println!();
            }
        }
    }
}
