//! The theory of order against integer clocks in z3, and the two SAT cores against each other.
//!
//! `cargo bench -p leno-logic --bench order -- [--values 4] [--seeds 3] [--from 1] [--limit 300] [--z3 10] [--batsat
//! 300] [--by-time 0] [EVENTS…]`
//!
//! An instance is a recorded run: threads, each a sequence of reads and writes of shared locations with one of so many
//! values. The question is whether some interleaving lets every read see its value. *Recorded* instances take the
//! values from a hidden interleaving, so there is one; *disturbed* ones change a few values afterwards, so that there
//! may be none. The fewer values there are, the more writes a read can come from, and the harder it gets. The solver
//! sees the reads of one thread after those of the other; or, `--by-time 1`, in the order of the hidden interleaving,
//! which is what somebody knows who has recorded it.
//!
//! Times are those of processors, where the system tells them. z3 is given so many seconds of a processor, and 25 times
//! ours if that is more; our own limits are in seconds of the clock. `--z3 0` leaves z3 out, `--batsat 0` batsat. What
//! reaches its limit is printed with a `>`, and so is the ratio of z3 to our default core. *Again* is the incremental
//! question: all but the last tenth of the reads, a solution, the rest of the reads, and then the conflicts and the
//! time of the second solution. The last line sums up the two.

use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::{CoreKind, Solver};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const THREADS: usize = 8;
const READ_PERCENT: usize = 30;

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
    by_time: bool,
}

impl Instance {
    fn random(events: usize, disturbed: usize, seed: u64, options: &Options) -> Instance {
        let values = options.values as usize;
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
                    memory[location] = random.below(values);
                }
                Access { thread, location, is_read, value: memory[location] }
            })
            .collect();
        for _ in 0..disturbed {
            let reads: Vec<usize> = (0..events).filter(|&index| accesses[index].is_read).collect();
            let victim = reads[random.below(reads.len())];
            accesses[victim].value = (accesses[victim].value + 1 + random.below(values - 1)) % values;
        }
        Instance { accesses, locations, by_time: options.by_time > 0 }
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

    /// The events, and the reads that are still to be added, thread by thread.
    fn solver(&self, kind: CoreKind) -> Asked {
        let mut solver = Solver::new(kind);
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let chains: Vec<_> = (0..THREADS).map(|_| solver.add_chain()).collect();
        let nodes: Vec<_> = self.accesses.iter().map(|access| solver.add_node(chains[access.thread])).collect();
        nodes.iter().for_each(|&node| solver.add_edge(initial, node));
        let mut reads: Vec<usize> = (0..nodes.len()).filter(|&index| self.accesses[index].is_read).collect();
        if !self.by_time {
            reads.sort_by_key(|&read| self.accesses[read].thread);
        }
        Asked { solver, initial, nodes, reads }
    }

    fn add_reads(&self, asked: &mut Asked, count: usize) {
        let Asked { solver, initial, nodes, reads } = asked;
        for index in reads.drain(..count) {
            let read = solver.add_read(nodes[index]);
            let mut clause = Vec::new();
            for candidate in self.candidates(index) {
                let lit = solver.new_literal();
                solver.add_reads_from(read, lit, candidate.map_or(*initial, |write| nodes[write]));
                clause.push(lit);
            }
            for write in self.writes_of(self.accesses[index].location).flatten() {
                solver.add_hit(read, Lit::TRUE, nodes[write]);
            }
            solver.add_clause(&clause);
        }
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

/// An instance in a solver.
struct Asked {
    solver: Solver,
    initial: Node,
    nodes: Vec<Node>,
    reads: Vec<usize>,
}

/// An answer and how long it took.
struct Timed {
    answer: String,
    seconds: f64,
}

impl Timed {
    fn new(work: impl FnOnce() -> String) -> Timed {
        let (start, processor) = (Instant::now(), processor_seconds());
        let answer = work();
        let seconds = processor_seconds().zip(processor).map(|(end, start)| end - start);
        Timed { answer, seconds: seconds.unwrap_or(start.elapsed().as_secs_f64()) }
    }

    fn is_late(&self) -> bool {
        self.answer == "timeout"
    }

    fn text(&self) -> String {
        format!("{}{:.3}", if self.is_late() { ">" } else { "" }, self.seconds)
    }
}

/// What this thread and the programs that it waited for have had of processors, where the system tells.
fn processor_seconds() -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok();
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let all = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The fields after the name, which may contain anything, begin with the third.
    let mut children = all.rsplit(')').next()?.split_whitespace().skip(16 - 3);
    let ticks = number(children.next()?)? + number(children.next()?)?;
    Some(number(own.split_whitespace().next()?)? * 1e-9 + ticks / 100.0)
}

fn solve(solver: &mut Solver, limit: u64) -> String {
    match solver.solve(&[], &Limits::until(Instant::now() + Duration::from_secs(limit))) {
        Answer::Satisfiable => "sat".to_string(),
        Answer::Unsatisfiable => "unsat".to_string(),
        Answer::Unknown(_) => "timeout".to_string(),
    }
}

fn at_once(instance: &Instance, kind: CoreKind, limit: u64) -> (Timed, u64) {
    let mut conflicts = 0;
    let timed = Timed::new(|| {
        let mut asked = instance.solver(kind);
        let count = asked.reads.len();
        instance.add_reads(&mut asked, count);
        let answer = solve(&mut asked.solver, limit);
        conflicts = asked.solver.statistics().conflicts;
        answer
    });
    (timed, conflicts)
}

/// The last tenth of the reads after a solution without them.
fn again(instance: &Instance, limit: u64) -> (Timed, u64) {
    let mut asked = instance.solver(CoreKind::default());
    let count = asked.reads.len();
    instance.add_reads(&mut asked, count - count / 10);
    if solve(&mut asked.solver, limit) == "timeout" {
        eprintln!("there is no first solution, so that the next figures are those of a search that goes on");
    }
    let before = asked.solver.statistics().conflicts;
    let timed = Timed::new(|| {
        instance.add_reads(&mut asked, count / 10);
        solve(&mut asked.solver, limit)
    });
    (timed, asked.solver.statistics().conflicts - before)
}

/// z3's answer within so many seconds of a processor: on a busy machine a limit of the clock would stop it too early.
fn z3(text: &str, limit: u64) -> String {
    let command =
        format!("command -v z3 >/dev/null || {{ echo z3 is not installed; exit; }}; ulimit -t {limit}; exec z3 -in");
    let child = Command::new("sh").args(["-c", &command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return "there is no shell to start z3".to_string() };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    match child.wait_with_output() {
        Ok(output) if output.status.code().is_none() => "timeout".to_string(),
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        Err(error) => error.to_string(),
    }
}

/// The command line: options, each with a number, and sizes.
struct Options {
    values: u64,
    seeds: u64,
    from: u64,
    limit: u64,
    z3: u64,
    by_time: u64,
    batsat: u64,
    sizes: Vec<usize>,
}

impl Options {
    fn parse() -> Options {
        let mut options =
            Options { values: 4, seeds: 3, from: 1, limit: 300, z3: 10, by_time: 0, batsat: 300, sizes: Vec::new() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let option = match argument.as_str() {
                "--values" => &mut options.values,
                "--seeds" => &mut options.seeds,
                "--from" => &mut options.from,
                "--limit" => &mut options.limit,
                "--z3" => &mut options.z3,
                "--batsat" => &mut options.batsat,
                "--by-time" => &mut options.by_time,
                _ => {
                    options.sizes.extend(argument.parse::<usize>());
                    continue;
                }
            };
            *option = arguments.next().and_then(|number| number.parse().ok()).expect("a number follows an option");
        }
        if options.sizes.is_empty() {
            options.sizes = vec![200, 1000];
        }
        options
    }
}

fn main() {
    let options = Options::parse();
    println!("{THREADS} threads, {READ_PERCENT}% reads, {} values; seconds of processor time", options.values);
    println!(
        "{:>7} {:>10} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "events", "kind", "seed", "answer", "conflicts", "cadical", "conflicts", "again", "batsat", "z3", "ratio"
    );
    let mut sums = (0.0, 0.0);
    for &events in &options.sizes {
        for (kind, disturbed) in [("recorded", 0), ("disturbed", 2), ("disturbed", 8)] {
            for seed in options.from..options.from + options.seeds {
                let instance = Instance::random(events, disturbed, seed, &options);
                print!("{events:>7} {kind:>10} {seed:>5} ");
                let (start, again) = compare(&instance, &options);
                sums = (sums.0 + start, sums.1 + again);
            }
        }
    }
    println!("from the start {:.2}, again {:.2}: {:.2} of it", sums.0, sums.1, sums.1 / sums.0);
}

/// Prints a row; the seconds from the start and again.
fn compare(instance: &Instance, options: &Options) -> (f64, f64) {
    let (cadical, conflicts) = at_once(instance, CoreKind::Cadical, options.limit);
    print!("{:>8} {conflicts:>9} {:>9}", cadical.answer, cadical.text());
    let (again, conflicts) = again(instance, options.limit);
    print!(" {conflicts:>9} {:>9}", again.text());
    let seconds = (cadical.seconds, again.seconds);
    let mut all = vec![again];
    if options.batsat > 0 {
        let (batsat, _) = at_once(instance, CoreKind::Batsat, options.limit.min(options.batsat));
        print!(" {:>9}", batsat.text());
        all.push(batsat);
    } else {
        print!(" {:>9}", "");
    }
    let _ = std::io::stdout().flush();
    if options.z3 > 0 {
        let text = instance.smtlib();
        let limit = options.z3.max((25.0 * cadical.seconds).ceil() as u64);
        let z3 = Timed::new(|| z3(&text, limit));
        let bound = if z3.is_late() { ">" } else { "" };
        print!(" {:>9} {:>7}", z3.text(), format!("{bound}{:.0}", z3.seconds / cadical.seconds));
        all.push(z3);
    }
    println!();
    let mut answers: Vec<&String> = all.iter().chain([&cadical]).filter(|t| !t.is_late()).map(|t| &t.answer).collect();
    answers.dedup();
    assert!(answers.len() <= 1, "different answers: {answers:?}");
    seconds
}
