//! The solver that engines use: terms, clauses and order, over one SAT core.
//!
//! A model of the clauses that the theory of order cannot put into a line is not a model yet: the cases that were left
//! open become clauses over new *before* literals (true: the one comes first; false: the other does), and the search
//! goes on where it was. This happens between calls of the core, so that the core never has to make variables during a
//! search.

mod query;
mod refine;
mod switches;

pub use query::{Query, Solution};
pub use refine::Copied;

use crate::blast::Blaster;
use crate::core::batsat::Batsat;
use crate::core::cadical::Cadical;
use crate::core::{Answer, SatCore, Statistics};
use crate::limits::{Limits, Stop};
use crate::literal::{Lit, Var};
use crate::order::{Chain, Line, Node, Order, Read, Split};
use crate::proof::Proof;
use crate::smtlib::{External, ExternalError, Verdict};
use crate::term::{Assignment, Term, Terms};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Which SAT core does the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CoreKind {
    #[default]
    Cadical,
    Batsat,
}

/// Clauses and an order, solved together.
pub struct Solver {
    core: Box<dyn SatCore>,
    blaster: Blaster,
    order: Rc<RefCell<Order>>,
    observed: Vec<bool>,
    before: HashMap<(Node, Node), Lit>,
    line: Vec<Node>,
    splits: u64,
    lemmas: u64,
    proof: Proof,
    recorded: Option<Query>,
    outside: Option<Outside>,
    /// What making circuits may take, and why it took too long, if it did.
    limits: Limits,
    stopped: Option<Stop>,
}

/// What another solver said to the last query.
enum Outside {
    Model(Solution),
    /// Under these assumptions: which of them it needed is not known.
    Refuted(Vec<Lit>),
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new(CoreKind::default())
    }
}

impl Solver {
    pub fn new(kind: CoreKind) -> Solver {
        Solver::with_proof(kind, Proof::default())
    }

    /// Logs a proof of every unsatisfiable answer to `proof`.
    pub fn with_proof(kind: CoreKind, proof: Proof) -> Solver {
        let order = Rc::new(RefCell::new(Order::with_proof(proof.clone())));
        let core: Box<dyn SatCore> = match kind {
            CoreKind::Cadical => Box::new(Cadical::with_proof(order.clone(), proof.clone())),
            CoreKind::Batsat => Box::new(Batsat::with_proof(order.clone(), proof.clone())),
        };
        let blaster = Blaster::new();
        let mut solver = Solver {
            core,
            blaster,
            order,
            observed: Vec::new(),
            before: HashMap::new(),
            line: Vec::new(),
            splits: 0,
            lemmas: 0,
            proof,
            recorded: None,
            outside: None,
            limits: Limits::default(),
            stopped: None,
        };
        solver.observe(Lit::TRUE); // so that a core always has something to ask the theory about
        solver
    }

    /// Keeps a record of everything that the solver is given from now on, for [`Solver::query`].
    pub fn recording(mut self) -> Solver {
        self.recorded = Some(Query::default());
        self
    }

    /// Makes circuits within limits, too. When they are reached, the literals of terms mean nothing any more, and there
    /// are no answers.
    pub fn within(mut self, limits: &Limits) -> Solver {
        self.limits = limits.clone();
        self
    }

    /// Everything that the solver was given, if it is recording.
    pub fn query(&self) -> Option<&Query> {
        self.recorded.as_ref()
    }

    fn record(&mut self, what: impl FnOnce(&mut Query)) {
        if let Some(query) = &mut self.recorded {
            what(query);
        }
    }

    pub fn new_literal(&mut self) -> Lit {
        self.core.new_var().positive()
    }

    /// The literal that is true exactly when the Boolean `term` is. All terms must be of one arena.
    pub fn literal(&mut self, terms: &Terms, term: Term) -> Lit {
        match terms.as_bool(term) {
            Some(value) => Lit::from(value),
            None => {
                let Some(&lit) = self.bits(terms, term).first() else { return Lit::TRUE };
                self.record(|query| query.definition(lit, term));
                lit
            }
        }
    }

    /// The literals of a term's bits; none if there was no time for them.
    fn bits(&mut self, terms: &Terms, term: Term) -> Vec<Lit> {
        if self.stopped.is_some() {
            return Vec::new();
        }
        self.blaster.bits_within(terms, term, self.core.as_mut(), &self.limits).unwrap_or_else(|stop| {
            self.stopped = Some(stop);
            Vec::new()
        })
    }

    /// Demands that the Boolean `term` holds.
    pub fn assert(&mut self, terms: &Terms, term: Term) {
        let lit = self.literal(terms, term);
        self.add_clause(&[lit]);
    }

    /// Demands that two terms are equal where `guard` holds: bit by bit, which is less than the literal of their
    /// equality.
    pub fn equal_if(&mut self, terms: &mut Terms, guard: Lit, a: Term, b: Term) {
        let equal = terms.eq(a, b);
        if terms.as_bool(equal).is_some() || self.recorded.is_some() {
            let equal = self.literal(terms, equal);
            return self.add_clause(&[!guard, equal]);
        }
        let (a, b) = (self.bits(terms, a), self.bits(terms, b));
        for (a, b) in a.into_iter().zip(b) {
            match [a, b].map(|bit| bit.var() == Lit::TRUE.var()) {
                _ if a == b => {}
                // (A constant is half of the matter.)
                [_, true] => self.add_clause(&[!guard, a.with_value(b == Lit::TRUE)]),
                [true, _] => self.add_clause(&[!guard, b.with_value(a == Lit::TRUE)]),
                _ => {
                    self.add_clause(&[!guard, !a, b]);
                    self.add_clause(&[!guard, a, !b]);
                }
            }
        }
    }

    /// The values that the model gives to the variables of terms.
    pub fn model(&mut self, terms: &Terms) -> Assignment {
        if let Some(Outside::Model(solution)) = &self.outside {
            return solution.assignment.clone();
        }
        let (blaster, core) = (&self.blaster, &mut self.core);
        blaster.assignment(terms, |lit| core.value(lit))
    }

    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.record(|query| query.clause(clause));
        self.core.add_clause(clause);
    }

    pub fn add_chain(&mut self) -> Chain {
        self.order.borrow_mut().add_chain()
    }

    pub fn add_node(&mut self, chain: Chain) -> Node {
        self.record(|query| query.node(chain));
        self.order.borrow_mut().add_node(chain)
    }

    pub fn chain_of(&self, node: Node) -> Chain {
        self.order.borrow().chain_of(node)
    }

    pub fn add_edge(&mut self, from: Node, to: Node) {
        self.record(|query| query.edge(Lit::TRUE, from, to));
        self.order.borrow_mut().add_edge(from, to);
    }

    pub fn add_guarded_edge(&mut self, guard: Lit, from: Node, to: Node) {
        if guard != Lit::FALSE {
            self.record(|query| query.edge(guard, from, to));
            self.observe(guard);
            self.order.borrow_mut().add_guarded_edge(guard, from, to);
        }
    }

    pub fn add_read(&mut self, node: Node) -> Read {
        self.record(|query| query.read(node));
        self.order.borrow_mut().add_read(node)
    }

    /// See [`Order::add_reads_from`].
    pub fn add_reads_from(&mut self, read: Read, lit: Lit, write: Node) {
        if lit != Lit::FALSE {
            self.record(|query| query.source(read, lit, write));
            self.observe(lit);
            self.order.borrow_mut().add_reads_from(read, lit, write);
        }
    }

    /// See [`Order::add_hit`].
    pub fn add_hit(&mut self, read: Read, lit: Lit, write: Node) {
        if lit != Lit::FALSE {
            self.record(|query| query.hit(read, lit, write));
            self.observe(lit);
            self.order.borrow_mut().add_hit(read, lit, write);
        }
    }

    /// The literal that says that `first` comes before `second`, and whose negation says the opposite. They are not the
    /// same.
    pub fn before(&mut self, first: Node, second: Node) -> Lit {
        if let Some(&lit) = self.before.get(&(first, second)) {
            return lit;
        }
        let lit = self.new_literal();
        self.before.insert((first, second), lit);
        self.before.insert((second, first), !lit);
        self.add_guarded_edge(lit, first, second);
        self.add_guarded_edge(!lit, second, first);
        lit
    }

    /// Searches for an assignment and an order under `assumptions`.
    pub fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer {
        self.outside = None;
        let mut left = limits.conflicts;
        loop {
            let are_spent = (left == Some(0)).then_some(Stop::Conflicts);
            if let Some(stop) = self.stopped.or(are_spent).or_else(|| limits.stop()) {
                return Answer::Unknown(stop);
            }
            let (answer, spent) = self.search(assumptions, limits, left);
            left = left.map(|left| left.saturating_sub(spent.max(1)));
            if answer == Answer::Unknown(Stop::Conflicts) {
                continue;
            }
            if answer != Answer::Satisfiable {
                return answer;
            }
            let line = self.order.borrow_mut().take_line();
            match line {
                Some(Line::Found(line)) => {
                    self.line = line;
                    return answer;
                }
                Some(Line::Stuck(splits)) => splits.into_iter().for_each(|split| self.split(split)),
                // Both cores ask the theory before they accept a model; without its word there is none.
                None => return Answer::Unknown(Stop::Cancelled),
            }
        }
    }

    /// Asks the core, until it or the theory's turn ends, or the conflicts that are left are spent. Also says how many
    /// were.
    fn search(&mut self, assumptions: &[Lit], limits: &Limits, left: Option<u64>) -> (Answer, u64) {
        let turn = self.order.borrow_mut().next_turn();
        if let Some(conflicts) = turn.into_iter().chain(left).min() {
            self.core.bound_conflicts(conflicts);
        }
        let before = self.core.statistics().conflicts;
        let answer = self.core.solve(assumptions, limits);
        let spent = self.core.statistics().conflicts - before;
        self.order.borrow_mut().turn_ended(spent, answer == Answer::Unknown(Stop::Conflicts));
        (answer, spent)
    }

    /// Has another solver answer, if this one is recording. Values, terms and the line are then those of its model; all
    /// assumptions count as failed. `terms` is the arena of all terms that were given.
    pub fn solve_with(
        &mut self,
        external: &External,
        terms: &Terms,
        assumptions: &[Lit],
        limits: &Limits,
    ) -> Result<Answer, ExternalError> {
        let query = self.recorded.as_ref().ok_or(ExternalError::NotRecorded)?;
        let script = query.script(terms, assumptions);
        let (answer, outside) = match external.solve(&script.question(), limits) {
            Ok(Verdict::Satisfiable(model)) => {
                let solution = query.solution(terms, assumptions, &script, &model);
                self.line = solution.line.clone();
                (Answer::Satisfiable, Some(Outside::Model(solution)))
            }
            Ok(Verdict::Unsatisfiable) => (Answer::Unsatisfiable, Some(Outside::Refuted(assumptions.to_vec()))),
            Ok(Verdict::Unknown(_)) => (Answer::Unknown(Stop::Solver), None),
            Err(ExternalError::Stopped(stop)) => (Answer::Unknown(stop), None),
            Err(error) => return Err(error),
        };
        self.outside = outside;
        Ok(answer)
    }

    fn split(&mut self, Split { read, source, writer, hit, hitter }: Split) {
        self.splits += 1;
        let reader = self.order.borrow().node_of(read);
        let (first, second) = (self.before(hitter, writer), self.before(reader, hitter));
        self.proof.begin_lemma();
        self.proof.derive_after_read(read.0, writer.0, hitter.0, [writer.0, hitter.0]);
        self.proof.cycle([reader.0, hitter.0]);
        self.core.add_lemma(&[!source, !hit, first, second]);
    }

    /// The value of `lit` in the model.
    pub fn value(&mut self, lit: Lit) -> bool {
        match &self.outside {
            Some(Outside::Model(solution)) => solution.value(lit),
            _ => self.core.value(lit),
        }
    }

    /// All nodes in the order of the model.
    pub fn line(&self) -> &[Node] {
        &self.line
    }

    /// Assumptions that are impossible together.
    pub fn failed(&mut self) -> Vec<Lit> {
        match &self.outside {
            Some(Outside::Refuted(assumptions)) => assumptions.clone(),
            _ => self.core.failed(),
        }
    }

    pub fn statistics(&self) -> Statistics {
        self.core.statistics()
    }

    /// How many cases the search had to distinguish that the theory's rules did not.
    pub fn splits(&self) -> u64 {
        self.splits
    }

    fn observe(&mut self, lit: Lit) {
        let Var(var) = lit.var();
        let wanted = var as usize + 1;
        if self.observed.len() < wanted {
            self.observed.resize(wanted, false);
        }
        if !std::mem::replace(&mut self.observed[var as usize], true) {
            self.core.observe(lit.var());
        }
    }
}
