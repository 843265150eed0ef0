//! The log of a proof, written while the solver works.
//!
//! A proof is a text of one record a line: the event structure and the clauses that were given, the theory's lemmas
//! with the cycle that each of them rules out, the clauses that the core derived, and for every query the clause that
//! refutes it. `docs/proof.md` defines the records; the crate `leno-proof` checks them and shares no code with this
//! one.
//!
//! Who writes what:
//! - The theory of order writes the structure as it grows ([`Proof::node`] … [`Proof::hits`]). Whenever it makes a
//!   clause, for a conflict or an explanation, it calls [`Proof::begin_lemma`], then the steps, then [`Proof::cycle`]
//!   or [`Proof::two_sources`]. *All* literals that the steps use must be in that clause, negated, also those fixed at
//!   the root (the constant alone may be left out).
//! - A caller that has the theory split a case logs a lemma likewise and hands its clause over with
//!   [`ClauseSink::add_lemma`](crate::core::ClauseSink::add_lemma): if read R reads from W and X hits its location, and
//!   if both O1 and O2 are guarded either way, ¬O1 puts W before X and ¬O2 puts X before R, then ¬L1 ∨ ¬L2 ∨ O1 ∨ O2
//!   holds by `derive_after_read(R, W, X, [W, X])` and `cycle([node of R, X])`.
//! - The cores write the rest: they join the steps with the clause, give clauses their numbers, and log what they
//!   derive.
//!
//! A [`Proof`] that is off is a `None`: each call is one test. Loops that only serve the proof should ask
//! [`Proof::is_on`].

use crate::literal::Lit;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

/// A handle on the log, shared by all who write to it; or no log at all, which is the default.
#[derive(Clone, Default)]
pub struct Proof(Option<Rc<RefCell<Log>>>);

struct Log {
    sink: Sink,
    /// The first failure to write; nothing is written after it.
    failure: Option<io::Error>,
    /// The steps of the lemma that the theory made last, until a core takes it.
    steps: Vec<u8>,
    next_id: u64,
}

enum Sink {
    Memory(Vec<u8>),
    Stream(BufWriter<Box<dyn Write>>),
}

impl Proof {
    /// A log that is written to a file, a pipe, or anything else; it is buffered here.
    pub fn to_stream(stream: Box<dyn Write>) -> Proof {
        Proof::with_sink(Sink::Stream(BufWriter::new(stream)))
    }

    /// A log that is kept in memory, for [`Proof::text`].
    pub fn in_memory() -> Proof {
        Proof::with_sink(Sink::Memory(Vec::new()))
    }

    fn with_sink(sink: Sink) -> Proof {
        let mut log = Log { sink, failure: None, steps: Vec::new(), next_id: 1 };
        log.write(|out| writeln!(out, "p leno 1"));
        Proof(Some(Rc::new(RefCell::new(log))))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// What has been logged, if the log is in memory.
    pub fn text(&self) -> Option<Vec<u8>> {
        match &self.0.as_ref()?.borrow().sink {
            Sink::Memory(text) => Some(text.clone()),
            Sink::Stream(_) => None,
        }
    }

    /// Writes out what is buffered; tells of the first write that failed since the log was made.
    pub fn flush(&self) -> io::Result<()> {
        let Some(log) = &self.0 else { return Ok(()) };
        let mut log = log.borrow_mut();
        log.write(|out| out.flush());
        log.failure.as_ref().map_or(Ok(()), |error| Err(io::Error::new(error.kind(), error.to_string())))
    }

    fn with(&self, act: impl FnOnce(&mut Log)) {
        if let Some(log) = &self.0 {
            act(&mut log.borrow_mut());
        }
    }

    fn record(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.with(|log| log.write(write));
    }
}

/// The event structure. Nodes and reads are numbered from 0, in the order in which they are logged.
impl Proof {
    /// The next node, at the end of `chain`.
    pub fn node(&self, chain: u32) {
        self.record(|out| writeln!(out, "n {chain}"));
    }

    /// `from` is before `to`.
    pub fn edge(&self, from: u32, to: u32) {
        self.record(|out| writeln!(out, "e {from} {to}"));
    }

    /// If `lit` holds, `from` is before `to`.
    pub fn guarded_edge(&self, lit: Lit, from: u32, to: u32) {
        self.record(|out| writeln!(out, "g {} {from} {to}", lit.to_dimacs()));
    }

    /// The next read, at `node`.
    pub fn read(&self, node: u32) {
        self.record(|out| writeln!(out, "r {node}"));
    }

    /// If `lit` holds, `read` reads from the write at the node `write`, which is before it.
    pub fn reads_from(&self, read: u32, lit: Lit, write: u32) {
        self.record(|out| writeln!(out, "f {read} {} {write}", lit.to_dimacs()));
    }

    /// If `lit` holds, the write at the node `write` hits the location that `read` reads.
    pub fn hits(&self, read: u32, lit: Lit, write: u32) {
        self.record(|out| writeln!(out, "h {read} {} {write}", lit.to_dimacs()));
    }
}

/// What justifies the next lemma.
impl Proof {
    /// A lemma of the theory is about to be made. Steps that no core has taken are forgotten.
    pub fn begin_lemma(&self) {
        self.with(|log| log.steps.clear());
    }

    /// Rule 1: `read` reads from `write`, `other` hits its location, and `path` leads from `other` to the node of
    /// `read`; hence `other` is before `write`.
    pub fn derive_before_write(&self, read: u32, write: u32, other: u32, path: impl IntoIterator<Item = u32>) {
        self.step(format_args!("1 {read} {write} {other}"), path);
    }

    /// Rule 2: `read` reads from `write`, `other` hits its location, and `path` leads from `write` to `other`; hence
    /// the node of `read` is before `other`.
    pub fn derive_after_read(&self, read: u32, write: u32, other: u32, path: impl IntoIterator<Item = u32>) {
        self.step(format_args!("2 {read} {write} {other}"), path);
    }

    /// The last step: the nodes of a cycle. An edge leads from each to the next, and from the last to the first.
    pub fn cycle(&self, path: impl IntoIterator<Item = u32>) {
        self.step(format_args!("c"), path);
    }

    /// The last step, in place of a cycle: `read` reads from both `write` and `other`.
    pub fn two_sources(&self, read: u32, write: u32, other: u32) {
        self.with(|log| {
            let _ = write!(log.steps, " x {read} {write} {other}");
        });
    }

    fn step(&self, start: impl Display, path: impl IntoIterator<Item = u32>) {
        self.with(|log| {
            // Writing to memory does not fail.
            let _ = write!(log.steps, " {start}");
            for node in path {
                let _ = write!(log.steps, " {node}");
            }
            let _ = write!(log.steps, " -1");
        });
    }
}

/// Clauses and queries: for the cores.
impl Proof {
    /// A number for a clause, for a core that has none of its own.
    pub(crate) fn next_id(&self) -> u64 {
        let mut id = 0;
        self.with(|log| {
            id = log.next_id;
            log.next_id += 1;
        });
        id
    }

    /// A clause that the core was given.
    pub(crate) fn input(&self, id: u64, clause: impl IntoIterator<Item = i32>) {
        self.record(|out| {
            write!(out, "i {id}")?;
            list(out, clause)?;
            writeln!(out)
        });
    }

    /// A clause of the theory, by the steps that it has written since it began it.
    pub(crate) fn lemma(&self, id: u64, clause: impl IntoIterator<Item = i32>) {
        self.with(|log| {
            let steps = std::mem::take(&mut log.steps);
            log.write(|out| {
                write!(out, "t {id}")?;
                list(out, clause)?;
                out.write_all(&steps)?;
                writeln!(out)
            });
        });
    }

    /// A clause that follows from the live ones; `hints` in the order of propagation, or none.
    pub(crate) fn derived(
        &self,
        id: u64,
        clause: impl IntoIterator<Item = i32>,
        hints: impl IntoIterator<Item = impl Display>,
    ) {
        self.record(|out| {
            write!(out, "a {id}")?;
            list(out, clause)?;
            list(out, hints)?;
            writeln!(out)
        });
    }

    pub(crate) fn deleted(&self, id: u64) {
        self.record(|out| writeln!(out, "d {id} 0"));
    }

    pub(crate) fn query(&self, assumptions: &[Lit]) {
        self.record(|out| {
            write!(out, "q")?;
            list(out, assumptions.iter().map(|lit| lit.to_dimacs()))?;
            writeln!(out)
        });
    }

    /// The query cannot be satisfied: the literals of the clause `id` are negations of its assumptions.
    pub(crate) fn refuted(&self, id: u64) {
        self.record(|out| writeln!(out, "u {id}"));
    }
}

fn list(out: &mut dyn Write, items: impl IntoIterator<Item = impl Display>) -> io::Result<()> {
    for item in items {
        write!(out, " {item}")?;
    }
    write!(out, " 0")
}

impl Log {
    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failure.is_some() {
            return;
        }
        let result = match &mut self.sink {
            Sink::Memory(text) => write(text),
            Sink::Stream(stream) => write(stream),
        };
        self.failure = result.err();
    }
}
