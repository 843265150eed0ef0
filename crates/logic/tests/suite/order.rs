//! Random event structures: the solver's answer against all linearisations, one by one.
//!
//! `LENO_ORDER=20000` tries that many.

use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::proof::Proof;
use leno_logic::smtlib::{External, ExternalError};
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Sort, Terms, evaluate};
use leno_testing::Random;

/// A condition on the free variables: always, or one of them with a sign.
type Guard = Option<(usize, bool)>;

/// An event: where it is, when it happens, and what it does.
struct Event {
    chain: usize,
    occurs: Guard,
    reads: Option<Place>,
    writes: Option<Place>,
}

/// A location: one of two, by a free variable, or always the first.
#[derive(Clone, Copy)]
struct Place {
    locations: [usize; 2],
    chosen_by: Guard,
}

/// A literal of a constraint.
#[derive(Clone, Copy)]
enum Atom {
    Free(usize, bool),
    ReadsFrom(usize, usize, bool),
}

struct Structure {
    free: usize,
    chains: usize,
    events: Vec<Event>,
    edges: Vec<(Guard, usize, usize)>,
    constraints: Vec<Vec<Atom>>,
}

fn holds(guard: Guard, values: u32) -> bool {
    guard.is_none_or(|(var, sign)| (values >> var & 1 == 1) == sign)
}

impl Place {
    fn at(&self, values: u32) -> usize {
        self.locations[usize::from(!holds(self.chosen_by, values))]
    }
}

impl Structure {
    fn random(random: &mut Random) -> Structure {
        let free = 1 + random.below(4);
        let chains = 2 + random.below(4);
        let locations = 1 + random.below(2);
        let guard =
            |random: &mut Random, percent| random.chance(percent).then(|| (random.below(free), random.chance(50)));
        let place = |random: &mut Random| Place {
            locations: [random.below(locations), random.below(locations)],
            chosen_by: guard(random, 30),
        };
        let crossing = chains >= 4 && locations == 2 && random.chance(60);
        let mut events = if crossing { Structure::crossing() } else { Vec::new() };
        for _ in 0..if crossing { random.below(3) } else { 3 + random.below(6) } {
            let kind = random.below(10);
            let reads = (kind < 6).then(|| place(random));
            let writes = (kind >= 5).then(|| place(random));
            events.push(Event { chain: random.below(chains), occurs: guard(random, 25), reads, writes });
        }
        let count = events.len();
        let mut edges = Vec::new();
        for _ in 0..random.below(4) {
            edges.push((guard(random, 60), random.below(count), random.below(count)));
        }
        edges.retain(|&(_, from, to)| from != to);
        let mut structure = Structure { free, chains, events, edges, constraints: Vec::new() };
        if crossing {
            structure.constraints = vec![vec![Atom::ReadsFrom(3, 0, true)], vec![Atom::ReadsFrom(5, 1, true)]];
        }
        structure.constrain(random);
        structure
    }

    /// Two reads whose intervals cross: whoever places both of their writes first is stuck, and no rule says so.
    fn crossing() -> Vec<Event> {
        let always = |location| Some(Place { locations: [location; 2], chosen_by: None });
        let write = |chain, location| Event { chain, occurs: None, reads: None, writes: always(location) };
        let read = |chain, location| Event { chain, occurs: None, reads: always(location), writes: None };
        vec![write(0, 0), write(1, 1), write(2, 1), read(2, 0), write(3, 0), read(3, 1)]
    }

    fn constrain(&mut self, random: &mut Random) {
        let pairs = self.pairs();
        // Half of the structures fix what many reads see: only then the rules leave cases open.
        if random.chance(50) {
            for read in (0..self.events.len()).filter(|_| random.chance(70)).collect::<Vec<_>>() {
                let mine: Vec<_> = pairs.iter().filter(|&&(r, w)| r == read && w < self.events.len()).collect();
                if !mine.is_empty() {
                    let &(read, write) = mine[random.below(mine.len())];
                    self.constraints.push(vec![Atom::ReadsFrom(read, write, true)]);
                }
            }
            return;
        }
        for _ in 0..random.below(7) {
            let mut clause = Vec::new();
            for _ in 0..1 + random.below(3) {
                if pairs.is_empty() || random.chance(30) {
                    clause.push(Atom::Free(random.below(self.free), random.chance(50)));
                } else {
                    let (read, write) = pairs[random.below(pairs.len())];
                    clause.push(Atom::ReadsFrom(read, write, random.chance(60)));
                }
            }
            self.constraints.push(clause);
        }
    }

    /// Reads, each with the writes that it may read from: index into `events`; the last number is the initial write.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let count = self.events.len();
        let of =
            |read: usize| (0..=count).filter(move |&w| w == count || (w != read && self.events[w].writes.is_some()));
        (0..count).filter(|&r| self.events[r].reads.is_some()).flat_map(|r| of(r).map(move |w| (r, w))).collect()
    }

    /// Whether some values of the free variables and some linearisation satisfy everything, with at most so many
    /// switches.
    fn brute_force(&self, most: usize) -> bool {
        (0..1u32 << self.free).any(|values| self.extend(values, most, &mut Vec::new()))
    }

    /// How often the chain changes between events that happen.
    fn switches(&self, values: u32, line: &[usize]) -> usize {
        let happening = line.iter().map(|&index| &self.events[index]).filter(|event| holds(event.occurs, values));
        let chains: Vec<usize> = happening.map(|event| event.chain).collect();
        chains.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    fn extend(&self, values: u32, most: usize, line: &mut Vec<usize>) -> bool {
        if self.switches(values, line) > most {
            return false;
        }
        if line.len() == self.events.len() {
            return self.accepts(values, line);
        }
        for event in 0..self.events.len() {
            let earlier = |other: usize| line.contains(&other);
            let chain_ready = (0..event).all(|o| self.events[o].chain != self.events[event].chain || earlier(o));
            let edges_ready = self.edges.iter().all(|&(g, from, to)| to != event || !holds(g, values) || earlier(from));
            if !earlier(event) && chain_ready && edges_ready {
                line.push(event);
                let found = self.extend(values, most, line);
                line.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    fn accepts(&self, values: u32, line: &[usize]) -> bool {
        let sources = self.sources(values, line);
        self.constraints.iter().all(|clause| {
            clause.iter().any(|&atom| match atom {
                Atom::Free(var, sign) => holds(Some((var, sign)), values),
                Atom::ReadsFrom(read, write, sign) => (sources[read] == Some(write)) == sign,
            })
        })
    }

    /// What each read sees on a line of events: the last write to its location, or the initial one.
    fn sources(&self, values: u32, line: &[usize]) -> Vec<Option<usize>> {
        let mut last = [self.events.len(); 2];
        let mut sources = vec![None; self.events.len()];
        for &index in line {
            let event = &self.events[index];
            if holds(event.occurs, values) {
                sources[index] = event.reads.map(|place| last[place.at(values)]);
                if let Some(place) = event.writes {
                    last[place.at(values)] = index;
                }
            }
        }
        sources
    }
}

/// A structure in the solver.
struct Encoded {
    solver: Solver,
    free: Vec<Lit>,
    nodes: Vec<Node>,
    reads_from: Vec<((usize, usize), Lit)>,
}

impl Encoded {
    fn new(structure: &Structure, kind: CoreKind, proof: Proof) -> Encoded {
        Encoded::over(structure, Solver::with_proof(kind, proof))
    }

    fn over(structure: &Structure, mut solver: Solver) -> Encoded {
        let free: Vec<Lit> = (0..structure.free).map(|_| solver.new_literal()).collect();
        let initial_chain = solver.add_chain();
        let initial = solver.add_node(initial_chain);
        let chains: Vec<_> = (0..structure.chains).map(|_| solver.add_chain()).collect();
        let mut nodes: Vec<Node> = structure.events.iter().map(|event| solver.add_node(chains[event.chain])).collect();
        nodes.iter().for_each(|&node| solver.add_edge(initial, node));
        nodes.push(initial);
        let mut encoded = Encoded { solver, free, nodes, reads_from: Vec::new() };
        for &(guard, from, to) in &structure.edges {
            let guard = encoded.literal(guard);
            encoded.solver.add_guarded_edge(guard, encoded.nodes[from], encoded.nodes[to]);
        }
        for read in 0..structure.events.len() {
            encoded.add_read(structure, read);
        }
        for clause in &structure.constraints {
            encoded.add_constraint(clause);
        }
        encoded
    }

    fn literal(&self, guard: Guard) -> Lit {
        guard.map_or(Lit::TRUE, |(var, sign)| self.free[var].with_value(sign))
    }

    fn add_read(&mut self, structure: &Structure, index: usize) {
        let event = &structure.events[index];
        let Some(place) = event.reads else { return };
        let read = self.solver.add_read(self.nodes[index]);
        let occurs = self.literal(event.occurs);
        let mut sources = vec![!occurs];
        for (_, write) in structure.pairs().into_iter().filter(|&(r, _)| r == index) {
            let source = self.solver.new_literal();
            self.solver.add_clause(&[!source, occurs]);
            if write < structure.events.len() {
                let hit = self.hit(structure, place, write);
                self.solver.add_clause(&[!source, hit]);
                self.solver.add_hit(read, hit, self.nodes[write]);
            }
            self.solver.add_reads_from(read, source, self.nodes[write]);
            self.reads_from.push(((index, write), source));
            sources.push(source);
        }
        self.solver.add_clause(&sources);
    }

    /// The literal that `write` happens and goes to `place`: defined by its values, one by one.
    fn hit(&mut self, structure: &Structure, place: Place, write: usize) -> Lit {
        let hit = self.solver.new_literal();
        let event = &structure.events[write];
        let Some(target) = event.writes else { return Lit::FALSE };
        for values in 0..1u32 << structure.free {
            let is_hit = holds(event.occurs, values) && target.at(values) == place.at(values);
            let mut clause: Vec<Lit> =
                (0..structure.free).map(|var| !self.literal(Some((var, values >> var & 1 == 1)))).collect();
            clause.push(hit.with_value(is_hit));
            self.solver.add_clause(&clause);
        }
        hit
    }

    fn add_constraint(&mut self, clause: &[Atom]) {
        let lits: Vec<Lit> = clause
            .iter()
            .map(|&atom| match atom {
                Atom::Free(var, sign) => self.literal(Some((var, sign))),
                Atom::ReadsFrom(read, write, sign) => self.source(read, write).with_value(sign),
            })
            .collect();
        self.solver.add_clause(&lits);
    }

    fn source(&self, read: usize, write: usize) -> Lit {
        self.reads_from.iter().find(|&&(pair, _)| pair == (read, write)).expect("constraints name candidates").1
    }

    /// Checks that the model is one: its line is a linearisation, and reads see what it says they see.
    /// Returns its switches.
    fn check_model(&mut self, structure: &Structure) -> usize {
        let values: u32 = (0..structure.free).map(|var| u32::from(self.solver.value(self.free[var])) << var).sum();
        let line = self.solver.line().to_vec();
        let at =
            |index: usize| line.iter().position(|&node| node == self.nodes[index]).expect("every node is on the line");
        for (index, event) in structure.events.iter().enumerate() {
            for earlier in (0..index).filter(|&e| structure.events[e].chain == event.chain) {
                assert!(at(earlier) < at(index), "chains are in order");
            }
        }
        for &(guard, from, to) in &structure.edges {
            assert!(!holds(guard, values) || at(from) < at(to), "edges hold");
        }
        let mut events: Vec<usize> = (0..structure.events.len()).collect();
        events.sort_by_key(|&index| at(index));
        let sources = structure.sources(values, &events);
        for ((read, write), lit) in self.reads_from.clone() {
            assert_eq!(self.solver.value(lit), sources[read] == Some(write), "reads see the last write");
        }
        assert!(structure.accepts(values, &events));
        structure.switches(values, &events)
    }

    fn bound_switches(&mut self, structure: &Structure, most: usize) -> Lit {
        let events: Vec<(Node, Lit)> = structure
            .events
            .iter()
            .enumerate()
            .map(|(index, event)| (self.nodes[index], self.literal(event.occurs)))
            .collect();
        self.solver.bound_switches(&events, most)
    }
}

/// The last query was refuted, says the independent checker.
fn check_proof(proof: &Proof, what: &str) {
    let text = proof.text().expect("the log is in memory");
    let summary = leno_proof::check(text.as_slice()).unwrap_or_else(|rejection| panic!("{what}: {rejection}"));
    assert!(summary.queries.last().is_some_and(|query| query.refuted_by.is_some()), "{what}");
}

#[test]
fn random_structures_are_satisfiable_exactly_when_a_linearisation_exists() {
    let count = std::env::var("LENO_ORDER").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let mut satisfiable = 0;
    let mut splits = 0;
    for seed in 0..count {
        let structure = Structure::random(&mut Random::new(seed));
        let expected = structure.brute_force(usize::MAX);
        for kind in [CoreKind::Cadical, CoreKind::Batsat] {
            let proof = Proof::in_memory();
            let mut encoded = Encoded::new(&structure, kind, proof.clone());
            let answer = encoded.solver.solve(&[], &Limits::default());
            let wanted = if expected { Answer::Satisfiable } else { Answer::Unsatisfiable };
            assert_eq!(answer, wanted, "seed {seed}, {kind:?}");
            if expected {
                encoded.check_model(&structure);
            } else {
                check_proof(&proof, &format!("seed {seed}, {kind:?}"));
            }
            splits += encoded.solver.splits();
        }
        satisfiable += u64::from(expected);
    }
    println!("{count} structures, {satisfiable} satisfiable, {splits} splits");
    assert!(splits > 0, "some structures need a case distinction");
    assert!(satisfiable > count / 5 && satisfiable < count * 9 / 10, "{satisfiable} of {count} are satisfiable");
}

#[test]
fn a_bound_on_switches_is_kept_exactly_and_can_be_lifted() {
    let count = std::env::var("LENO_ORDER").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let (mut kept, mut needed) = (0, 0);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let structure = Structure::random(&mut random);
        let most = random.below(6);
        let (bounded, unbounded) = (structure.brute_force(most), structure.brute_force(usize::MAX));
        for kind in [CoreKind::Cadical, CoreKind::Batsat] {
            let proof = Proof::in_memory();
            let mut encoded = Encoded::new(&structure, kind, proof.clone());
            let bound = encoded.bound_switches(&structure, most);
            let answer = encoded.solver.solve(&[bound], &Limits::default());
            assert_eq!(answer == Answer::Satisfiable, bounded, "seed {seed}, {kind:?}, {most} switches");
            if bounded {
                assert!(encoded.check_model(&structure) <= most, "seed {seed}, {kind:?}");
                kept += 1;
            } else {
                check_proof(&proof, &format!("seed {seed}, {kind:?}, {most} switches"));
                let blamed = !encoded.solver.failed().is_empty();
                assert!(blamed || !unbounded, "seed {seed}, {kind:?}: the bound was needed");
                needed += u64::from(unbounded);
            }
            let answer = encoded.solver.solve(&[!bound], &Limits::default());
            assert_eq!(answer == Answer::Satisfiable, unbounded, "seed {seed}, {kind:?}, lifted");
            if unbounded {
                encoded.check_model(&structure);
            }
        }
    }
    assert!(kept > count / 2 && needed > count / 8, "{kept} bounds were kept and {needed} needed, of {count}");
}

#[test]
fn another_solver_agrees_about_the_printed_query() {
    let Ok(z3) = External::new("z3 -in") else { panic!("a command line") };
    let count = std::env::var("LENO_SMTLIB").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let terms = Terms::new();
    for seed in 0..count {
        let mut random = Random::new(seed);
        let structure = Structure::random(&mut random);
        let mut encoded = Encoded::over(&structure, Solver::default().recording());
        let bounded = random.chance(50).then(|| encoded.bound_switches(&structure, random.below(5)));
        let assumptions: Vec<Lit> = bounded.into_iter().collect();
        let theirs = match encoded.solver.solve_with(&z3, &terms, &assumptions, &Limits::default()) {
            Err(ExternalError::Start { .. }) => return println!("z3 is not installed"),
            theirs => theirs.expect("z3 answers"),
        };
        if theirs == Answer::Satisfiable {
            encoded.check_model(&structure);
        }
        let ours = encoded.solver.solve(&assumptions, &Limits::default());
        assert_eq!(theirs, ours, "seed {seed}");
        // What the search has added since does not change the question.
        let again = encoded.solver.solve_with(&z3, &terms, &assumptions, &Limits::default());
        assert_eq!(again.ok(), Some(ours), "seed {seed}");
    }
}

/// Two threads, one of which adds up what it reads: terms and events in one query.
#[test]
fn another_solver_finds_values_and_a_line() {
    let Ok(z3) = External::new("z3 -in") else { panic!("a command line") };
    let mut terms = Terms::new();
    let mut solver = Solver::default().recording();
    let chains = [solver.add_chain(), solver.add_chain(), solver.add_chain()];
    let initial = solver.add_node(chains[0]);
    let writes = [solver.add_node(chains[1]), solver.add_node(chains[1])];
    let reads = [solver.add_node(chains[2]), solver.add_node(chains[2])];
    writes.into_iter().chain(reads).for_each(|node| solver.add_edge(initial, node));
    let values = [5, 9, 0].map(|value| terms.bits(8, value));
    let mut seen = Vec::new();
    for (index, &node) in reads.iter().enumerate() {
        let read = solver.add_read(node);
        let value = terms.variable(Sort::Bits(8), format!("seen{index}"));
        let mut sources = Vec::new();
        for (&write, &written) in [writes[0], writes[1], initial].iter().zip(&values) {
            let same = terms.eq(value, written);
            let (source, same) = (solver.new_literal(), solver.literal(&terms, same));
            solver.add_reads_from(read, source, write);
            solver.add_clause(&[!source, same]);
            sources.push(source);
        }
        writes.iter().for_each(|&write| solver.add_hit(read, Lit::TRUE, write));
        solver.add_clause(&sources);
        seen.push(value);
    }
    let sum = terms.add(seen[0], seen[1]);
    for (wanted, line) in [(14, Some([0, 1, 3, 2, 4])), (5, Some([0, 3, 1, 4, 2])), (4, None)] {
        let wanted = terms.bits(8, wanted);
        let equal = terms.eq(sum, wanted);
        let equal = solver.literal(&terms, equal);
        let expected = if line.is_some() { Answer::Satisfiable } else { Answer::Unsatisfiable };
        for external in [false, true] {
            let answer = match external {
                true => match solver.solve_with(&z3, &terms, &[equal], &Limits::default()) {
                    Err(ExternalError::Start { .. }) => return println!("z3 is not installed"),
                    answer => answer.expect("z3 answers"),
                },
                false => solver.solve(&[equal], &Limits::default()),
            };
            assert_eq!(answer, expected);
            if let Some(line) = line {
                assert_eq!(solver.line(), line.map(Node));
                let model = solver.model(&terms);
                assert_eq!(evaluate(&terms, sum, &model), evaluate(&terms, wanted, &model));
                assert!(solver.value(equal));
            } else {
                assert_eq!(solver.failed(), [equal]);
            }
        }
    }
}

#[test]
fn what_a_literal_means_may_be_said_after_it_is_fixed() {
    for kind in [CoreKind::Cadical, CoreKind::Batsat] {
        let mut solver = Solver::new(kind);
        let fixed = solver.new_literal();
        solver.add_clause(&[fixed]);
        let chains = [solver.add_chain(), solver.add_chain()];
        let nodes = chains.map(|chain| solver.add_node(chain));
        assert_eq!(solver.solve(&[], &Limits::default()), Answer::Satisfiable);
        let read = solver.add_read(nodes[1]);
        solver.add_reads_from(read, fixed, nodes[0]);
        assert_eq!(solver.solve(&[], &Limits::default()), Answer::Satisfiable, "{kind:?}");
        assert_eq!(solver.line(), nodes, "{kind:?}");
    }
}

#[test]
fn a_variable_implied_both_ways_at_once_is_explained_each_way() {
    for (kind, flip) in [CoreKind::Cadical, CoreKind::Batsat].into_iter().flat_map(|kind| [(kind, false), (kind, true)])
    {
        let mut solver = Solver::new(kind);
        let [guard, first, second, both] = [(); 4].map(|()| solver.new_literal());
        let nodes = [(); 4].map(|()| {
            let chain = solver.add_chain();
            solver.add_node(chain)
        });
        let guard = guard.with_value(flip);
        solver.add_guarded_edge(guard, nodes[0], nodes[1]);
        solver.add_guarded_edge(!guard, nodes[2], nodes[3]);
        solver.add_guarded_edge(first, nodes[1], nodes[0]);
        solver.add_guarded_edge(second, nodes[3], nodes[2]);
        solver.add_clause(&[!both, first]);
        solver.add_clause(&[!both, second]);
        assert_eq!(solver.solve(&[both], &Limits::default()), Answer::Unsatisfiable, "{kind:?}");
        for possible in [[first, !second], [second, !first], [!first, !second]] {
            assert_eq!(solver.solve(&possible, &Limits::default()), Answer::Satisfiable, "{kind:?}");
        }
    }
}
