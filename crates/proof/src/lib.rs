//! An independent checker for the proofs of Leno's solver.
//!
//! A proof is a text of one record a line, defined in `docs/proof.md`. It states a problem (an event structure and
//! clauses) and argues, for queries under assumptions, that nothing satisfies them. What is claimed can be said in a
//! few lines:
//!
//! A *model* is an assignment of the variables, with variable 1 true, and a strict total order of the nodes, such that
//! - every input clause holds;
//! - nodes of one chain are ordered as they were declared, and every fixed edge, and every guarded edge whose literal
//!   is true, goes forward;
//! - a read has at most one source; it comes after it, and no other write that hits its location lies between the two.
//!
//! *Every clause that the checker accepts holds in every model.* An input holds by definition. A theory lemma holds
//! because, if all its literals were false, its steps would show a contradiction: a cycle in the order ([`order`]). A
//! derived clause holds because, if it were false, clauses accepted before would contradict each other by unit
//! propagation ([`clauses`]). So if the literals of an accepted clause are all negations of a query's assumptions, no
//! model satisfies these; and that is what `u` records conclude.
//!
//! Nothing else is sound-critical: deletions only save time, numbers only name things, and further declarations only
//! remove models. The checker shares no code with the solver, does not trust the order of records, and depends on no
//! other crate.
//!
//! ```
//! let proof = "p leno 1\ni 1 2 3 0\ni 2 -2 3 0\nq -3 0\na 3 3 0 2 1 0\nu 3\n";
//! let summary = leno_proof::check(proof.as_bytes()).unwrap();
//! assert_eq!(summary.queries[0].refuted_by.as_deref(), Some(&[3][..]));
//!
//! let wrong = proof.replace("i 2 -2 3 0", "i 2 -2 4 0");
//! assert_eq!(leno_proof::check(wrong.as_bytes()).unwrap_err().line, 5);
//! ```

pub mod clauses;
pub mod order;
pub mod record;

use clauses::Clauses;
use order::Order;
use record::Record;
use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;

/// A literal as DIMACS files write it: the number of a variable, negative if negated, never 0.
pub type Literal = i32;

/// What a proof that was accepted contains.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Summary {
    pub lines: u64,
    pub nodes: u64,
    pub inputs: u64,
    pub lemmas: u64,
    pub derived: u64,
    pub queries: Vec<Query>,
}

/// A question whether a model satisfies some assumptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    pub assumptions: Vec<Literal>,
    /// A clause that holds in every model and that the assumptions contradict, if the proof gave one.
    pub refuted_by: Option<Vec<Literal>>,
}

impl Summary {
    /// How many of the queries were shown to have no model.
    pub fn refuted(&self) -> usize {
        self.queries.iter().filter(|query| query.refuted_by.is_some()).count()
    }
}

/// Where and why a proof is not one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    pub line: u64,
    pub reason: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Rejection {}

/// Checks a whole proof.
pub fn check(mut reader: impl BufRead) -> Result<Summary, Rejection> {
    let mut checker = Checker::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| error.to_string());
        let number = checker.summary.lines + 1;
        match read.and_then(|bytes| if bytes == 0 { Ok(false) } else { checker.line(&line).map(|()| true) }) {
            Ok(true) => checker.summary.lines = number,
            Ok(false) => return Ok(checker.summary),
            Err(reason) => return Err(Rejection { line: number, reason }),
        }
    }
}

#[derive(Default)]
struct Checker {
    begun: bool,
    order: Order,
    clauses: Clauses,
    summary: Summary,
}

impl Checker {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let Some(mut record) = Record::new(line)? else { return Ok(()) };
        if !self.begun {
            record.header()?;
            self.begun = true;
            return Ok(());
        }
        match record.kind {
            "n" => {
                self.order.add_node(record.number()?);
                self.summary.nodes += 1;
            }
            "e" => self.order.add_edge(record.number()?, record.number()?)?,
            "g" => self.order.add_guarded_edge(record.literal()?, record.number()?, record.number()?)?,
            "r" => self.order.add_read(record.number()?)?,
            "f" => self.order.add_source(record.number()?, record.literal()?, record.number()?)?,
            "h" => self.order.add_hit(record.number()?, record.literal()?, record.number()?)?,
            "i" => {
                let (id, clause) = record.clause()?;
                self.clauses.add(id, &clause)?;
                self.summary.inputs += 1;
            }
            "t" => {
                let (id, clause) = record.clause()?;
                self.order.check_lemma(&clause, &mut record)?;
                self.clauses.add(id, &clause)?;
                self.summary.lemmas += 1;
            }
            "a" => {
                let (id, clause) = record.clause()?;
                self.clauses.derive(id, &clause, &record.list(Record::id)?)?;
                self.summary.derived += 1;
            }
            "d" => {
                for id in record.list(Record::id)? {
                    self.clauses.delete(id)?;
                }
            }
            "q" => {
                let assumptions = record.list(Record::literal)?;
                self.summary.queries.push(Query { assumptions, refuted_by: None });
            }
            "u" => self.conclude(record.id()?)?,
            other => return Err(format!("there is no record `{other}`")),
        }
        record.end()
    }

    /// The clause `id` says that the assumptions of the last query are impossible together.
    fn conclude(&mut self, id: u64) -> Result<(), String> {
        let clause = self.clauses.get(id)?;
        let query = self.summary.queries.last_mut().ok_or("there is no query to conclude")?;
        if query.refuted_by.is_some() {
            return Err("the query is concluded already".to_string());
        }
        let assumptions: HashSet<Literal> = query.assumptions.iter().copied().collect();
        if let Some(literal) = clause.iter().find(|&&literal| !assumptions.contains(&-literal)) {
            return Err(format!("literal {literal} of clause {id} is not the negation of an assumption"));
        }
        query.refuted_by = Some(clause);
        Ok(())
    }
}
