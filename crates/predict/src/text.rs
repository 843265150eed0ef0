//! Traces of other tools: one event a line, `T1|acq(L)|file:12`.
//!
//! | event | meaning |
//! |---|---|
//! | `r(x)`, `w(x)` | reads, writes a variable |
//! | `acq(l)`, `rel(l)` | takes, gives back a lock |
//! | `fork(T2)`, `join(T2)` | starts a thread, waits for its end |
//! | `begin`, `end` | of a transaction: a block that should be atomic |
//!
//! Values and code are not known. So the model is the maximal one: a read has to return the value of the write that it
//! returned in the trace, and everything after it in its thread depends on that. Races, deadlocks and broken
//! transactions can be predicted, and there is no program to confirm them on.

use crate::program::event::{
    BeforeWindow, Event, EventId, Fences, Kind, MarkedBlockId, Read, ThreadEvents, TraceProgram, Write,
};
use crate::program::fork_join_order::{ForkJoinOrder, ThreadStep};
use crate::query::prediction::{PredictOptions, Reach};
use crate::query::search::answers;
use crate::walk::left_out::AllLeftOut;
use crate::walk::listener::{Location, Position};
use crate::walk::objects::InstanceId;
use crate::walk::sharing_pass::{Piece, PieceId};
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{BlockId, FuncId, Place, Span};
use leno_logic::term::{Sort, Term, Terms};
use leno_trace::{Callbacks, ThreadIndex};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Why a text is no trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    pub line: usize,
    pub why: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.why)
    }
}

/// A trace of another tool, and how its places are called.
pub struct TextTrace {
    ctp: TraceProgram,
    /// Each place is a block of one imaginary function.
    places: IndexVec<BlockId, String>,
    /// The line of each event.
    lines: IndexVec<EventId, String>,
}

pub struct TextFinding {
    pub title: &'static str,
    pub places: Vec<String>,
    /// The events that happen, by their lines, in order.
    pub order: Vec<String>,
}

pub struct TextPrediction {
    pub found: Vec<TextFinding>,
    pub reach: Reach,
}

/// Whether a text looks like one: its first line that is not empty has the form of an event.
pub fn is_trace(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    let first = start.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.split('|').count() >= 2 && parse(line).is_ok())
}

enum Operation<'a> {
    Read(&'a str),
    Write(&'a str),
    Acquire(&'a str),
    Release(&'a str),
    Fork(&'a str),
    Join(&'a str),
    Begin,
    End,
    Nothing,
}

/// The thread, the operation and the place of a line.
fn parse(line: &str) -> Result<(&str, Operation<'_>, &str), String> {
    let mut parts = line.splitn(3, '|');
    let (Some(thread), Some(event)) = (parts.next(), parts.next()) else {
        return Err("an event is `thread|event|place`".to_string());
    };
    let place = parts.next().unwrap_or("").trim();
    let event = event.trim();
    let (name, operand) = match event.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(operand) => (name.trim(), operand.trim()),
            None => return Err(format!("`{event}` has no closing parenthesis")),
        },
        None => (event, ""),
    };
    let operation = match name {
        "r" | "read" => Operation::Read(operand),
        "w" | "write" => Operation::Write(operand),
        "acq" | "acquire" | "lock" => Operation::Acquire(operand),
        "rel" | "release" | "unlock" => Operation::Release(operand),
        "fork" => Operation::Fork(operand),
        "join" => Operation::Join(operand),
        "begin" => Operation::Begin,
        "end" => Operation::End,
        "branch" | "dummy" => Operation::Nothing,
        other => return Err(format!("`{other}` is no event: r, w, acq, rel, fork and join are")),
    };
    if operand.is_empty() && !matches!(operation, Operation::Begin | Operation::End | Operation::Nothing) {
        return Err(format!("`{name}` of what?"));
    }
    Ok((thread.trim(), operation, place))
}

/// The value of a variable before the first write.
const INITIAL: u128 = 0;

/// Set in the offset of a lock, to keep it apart from variables.
const LOCK: u64 = 1 << 40;

/// A thread as far as it has been read.
#[derive(Default)]
struct ThreadReader {
    name: String,
    events: Vec<EventId>,
    /// It was forked, and has not had an event since.
    is_forked: bool,
    /// It was forked, or has had a line.
    is_known: bool,
    /// Another thread has waited for its end.
    is_joined: bool,
    /// The locks that it holds, and how often it has acquired each.
    held: Vec<(Location, u32)>,
    /// The last read returned what it returned in the trace.
    guard: Option<Term>,
    /// The transaction that it is in, and how deep.
    transaction: Option<(MarkedBlockId, u32)>,
}

#[derive(Default)]
struct Reader {
    threads: IndexVec<ThreadIndex, ThreadReader>,
    thread_names: BTreeMap<String, ThreadIndex>,
    variables: BTreeMap<String, PieceId>,
    locks: BTreeMap<String, u64>,
    place_names: BTreeMap<String, BlockId>,
    places: IndexVec<BlockId, String>,
    /// What each variable holds.
    values: BTreeMap<PieceId, u128>,
    events: IndexVec<EventId, Event>,
    thread_steps: Vec<ThreadStep>,
    lines: IndexVec<EventId, String>,
    transactions: IndexVec<MarkedBlockId, Span>,
}

/// Reads a whole trace.
pub fn read(bytes: &[u8]) -> Result<TextTrace, Malformed> {
    let text = String::from_utf8_lossy(bytes);
    let mut terms = Terms::new();
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            reader.line(&mut terms, index + 1, line).map_err(|why| Malformed { line: index + 1, why })?;
        }
    }
    Ok(reader.finish(terms))
}

impl Reader {
    fn thread(&mut self, name: &str) -> ThreadIndex {
        if let Some(&id) = self.thread_names.get(name) {
            return id;
        }
        let id = self.threads.push(ThreadReader { name: name.to_string(), ..ThreadReader::default() });
        self.thread_names.insert(name.to_string(), id);
        id
    }

    fn place(&mut self, name: &str, line: usize) -> Place {
        let block = match self.place_names.get(name) {
            Some(&block) => block,
            None => {
                let shown = if name.is_empty() { format!("line {line}") } else { name.to_string() };
                let block = self.places.push(shown);
                self.place_names.insert(name.to_string(), block);
                block
            }
        };
        Place { func: FuncId(0), block, index: 0 }
    }

    fn position(&self, thread: ThreadIndex, place: Place, line: usize) -> Position {
        let point = self.threads[thread].events.len() as u32;
        Position { thread, place, span: Span::NONE, clock: line as u64, point }
    }

    fn line(&mut self, terms: &mut Terms, number: usize, line: &str) -> Result<(), String> {
        let (name, operation, place) = parse(line)?;
        let thread = self.thread(name);
        let place = self.place(place, number);
        if self.threads[thread].is_joined {
            return Err(format!("`{name}` goes on after its end was waited for"));
        }
        self.threads[thread].is_known = true;
        if std::mem::take(&mut self.threads[thread].is_forked) {
            let at = self.position(thread, place, number);
            self.add(terms, at, Kind::Start, line);
        }
        let at = self.position(thread, place, number);
        match operation {
            Operation::Nothing => {}
            Operation::Begin => self.begin_transaction(thread),
            Operation::End => self.end_transaction(thread)?,
            Operation::Read(variable) => self.read(terms, at, variable, line),
            Operation::Write(variable) => self.write(terms, at, variable, line),
            Operation::Acquire(lock) => self.acquire(terms, at, lock, line)?,
            Operation::Release(lock) => self.release(terms, at, lock, line)?,
            Operation::Fork(child) => {
                let child = self.thread(child);
                if std::mem::replace(&mut self.threads[child].is_known, true) {
                    return Err("a thread is started twice, or after it has run".to_string());
                }
                self.threads[child].is_forked = true;
                self.thread_steps.push(ThreadStep::spawn(&at, child));
                self.add(terms, at, Kind::Spawn { child }, line);
            }
            Operation::Join(child) => {
                let child = self.thread(child);
                self.check_join(thread, child)?;
                self.threads[child].is_joined = true;
                self.thread_steps.push(ThreadStep::join(&at, child));
                self.finish_thread(terms, child, place, number, line);
                let at = self.position(thread, place, number);
                self.add(terms, at, Kind::Join { child }, line);
            }
        }
        Ok(())
    }

    fn begin_transaction(&mut self, thread: ThreadIndex) {
        match &mut self.threads[thread].transaction {
            Some((_, depth)) => *depth += 1,
            none => *none = Some((self.transactions.push(Span::NONE), 1)),
        }
    }

    fn end_transaction(&mut self, thread: ThreadIndex) -> Result<(), String> {
        let transaction = &mut self.threads[thread].transaction;
        if transaction.is_none() {
            return Err("a transaction ends that has not begun".to_string());
        }
        *transaction = transaction.filter(|(_, depth)| *depth > 1).map(|(id, depth)| (id, depth - 1));
        Ok(())
    }

    /// Only the end of another thread that there is can be waited for, and once.
    fn check_join(&self, thread: ThreadIndex, child: ThreadIndex) -> Result<(), String> {
        let joined = &self.threads[child];
        match () {
            _ if child == thread => Err("a thread waits for its own end".to_string()),
            _ if joined.is_joined => Err(format!("the end of `{}` is waited for twice", joined.name)),
            _ if !joined.is_known => Err(format!("`{}` was never started", joined.name)),
            _ => Ok(()),
        }
    }

    fn read(&mut self, terms: &mut Terms, at: Position, variable: &str, line: &str) {
        let piece = self.variable(variable);
        let value = terms.variable(Sort::Bits(32), "read");
        let recorded = self.values.get(&piece).copied().unwrap_or(INITIAL);
        self.add(terms, at, access(vec![Read { piece, value, recorded }], Vec::new()), line);
        let was = terms.bits(32, recorded);
        self.threads[at.thread].guard = Some(terms.eq(value, was));
    }

    /// Every write has a value of its own.
    fn write(&mut self, terms: &mut Terms, at: Position, variable: &str, line: &str) {
        let piece = self.variable(variable);
        let recorded = INITIAL + self.events.len() as u128 + 1;
        self.values.insert(piece, recorded);
        let (value, condition) = (terms.bits(32, recorded), terms.bool(true));
        let write = Write { piece, value, recorded, condition, happened: true };
        self.add(terms, at, access(Vec::new(), vec![write]), line);
    }

    fn acquire(&mut self, terms: &mut Terms, at: Position, lock: &str, line: &str) -> Result<(), String> {
        let lock = self.lock(lock);
        if let Some((_, depth)) = self.threads[at.thread].held.iter_mut().find(|(held, _)| *held == lock) {
            *depth += 1;
            return Ok(());
        }
        let holder = self.threads.iter().find(|thread| thread.held.iter().any(|(held, _)| *held == lock));
        if let Some(holder) = holder {
            return Err(format!("the thread acquires a lock that `{}` has", holder.name));
        }
        self.add(terms, at, Kind::Acquire { lock, shared: false }, line);
        self.threads[at.thread].held.push((lock, 1));
        Ok(())
    }

    fn release(&mut self, terms: &mut Terms, at: Position, lock: &str, line: &str) -> Result<(), String> {
        let lock = self.lock(lock);
        let held = &mut self.threads[at.thread].held;
        let Some((_, depth)) = held.iter_mut().find(|(held, _)| *held == lock) else {
            return Err("the thread releases a lock that it does not have".to_string());
        };
        *depth -= 1;
        if *depth == 0 {
            held.retain(|(held, _)| *held != lock);
            self.add(terms, at, Kind::Release { lock }, line);
        }
        Ok(())
    }

    /// A join needs the end of its thread, which the trace does not mention.
    fn finish_thread(&mut self, terms: &Terms, thread: ThreadIndex, place: Place, number: usize, line: &str) {
        let last = self.threads[thread].events.last();
        if last.is_some_and(|id| matches!(self.events[*id].kind, Kind::Finish)) {
            return;
        }
        let at = self.position(thread, place, number);
        self.add(terms, at, Kind::Finish, line);
    }

    fn add(&mut self, terms: &Terms, at: Position, kind: Kind, line: &str) {
        let thread = &mut self.threads[at.thread];
        let id = self.events.push(Event {
            thread: at.thread,
            index: thread.events.len() as u32,
            point: at.point,
            place: at.place,
            span: at.span,
            clock: at.clock,
            guard: thread.guard.take().unwrap_or(terms.bool(true)),
            kind,
            tried: Rc::default(),
            locks: Rc::new(thread.held.iter().map(|(lock, _)| (*lock, false)).collect()),
            section: None,
            block: thread.transaction.map(|(id, _)| id),
            pending: false,
            fences: Fences::default(),
        });
        thread.events.push(id);
        self.lines.push(line.to_string());
    }

    fn variable(&mut self, name: &str) -> PieceId {
        let next = PieceId::new(self.variables.len());
        *self.variables.entry(name.to_string()).or_insert(next)
    }

    fn lock(&mut self, name: &str) -> Location {
        let next = self.locks.len() as u64;
        let number = *self.locks.entry(name.to_string()).or_insert(next);
        Location { instance: InstanceId::UNKNOWN, offset: LOCK | number }
    }

    fn finish(self, terms: Terms) -> TextTrace {
        let piece = |number: usize| Piece {
            at: Location { instance: InstanceId::UNKNOWN, offset: number as u64 },
            bytes: 4,
            initial: Some(INITIAL),
        };
        let variables = self.variables.len();
        let thread = |(id, thread): (ThreadIndex, &ThreadReader)| {
            let (name, events) = (thread.name.clone(), thread.events.clone());
            (id, ThreadEvents { name, events, finished: false, points: 0, inputs: Vec::new() })
        };
        let ctp = TraceProgram {
            terms,
            threads: self.threads.iter_enumerated().map(thread).collect(),
            pieces: (0..variables).map(piece).collect(),
            opaque: (0..variables).map(|_| false).collect(),
            targets: IndexVec::new(),
            must: Rc::new(ForkJoinOrder::new(&self.thread_steps)),
            blocks: Rc::new(self.transactions),
            last_accesses: Vec::new(),
            gaps: Vec::new(),
            untaken: IndexVec::new(),
            left_out: AllLeftOut::default(),
            accesses: self.events.len() as u64,
            callbacks: Callbacks::default(),
            is_interrupted: false,
            begun: BTreeMap::new(),
            before: BeforeWindow::default(),
            events: self.events,
        };
        TextTrace { ctp, places: self.places, lines: self.lines }
    }
}

fn access(reads: Vec<Read>, writes: Vec<Write>) -> Kind {
    Kind::Access { reads, writes, atomic: false, is_plain: true }
}

/// Looks for a race, a deadlock or a broken transaction in some reordering.
pub fn predict(trace: &mut TextTrace, options: &PredictOptions) -> TextPrediction {
    let (answers, reach) = answers(&mut trace.ctp, options);
    let found = answers.into_iter().map(|(question, order)| TextFinding {
        title: question.title(&trace.ctp),
        places: question.key(&trace.ctp).iter().map(|place| trace.places[place.block].clone()).collect(),
        order: order.iter().map(|id| trace.lines[*id].clone()).collect(),
    });
    TextPrediction { found: found.collect(), reach }
}
