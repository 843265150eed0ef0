//! Traces of other tools: one event a line, `T1|acq(L)|file:12`.
//!
//! | event | meaning |
//! |---|---|
//! | `r(x)`, `w(x)` | reads, writes a variable |
//! | `acq(l)`, `rel(l)` | takes, gives back a lock |
//! | `fork(T2)`, `join(T2)` | starts a thread, waits for its end |
//! | `begin`, `end` | of a transaction: a block that should be atomic |
//!
//! Nothing is known of values or code. So the model is the maximal one: a read has to see the very write that it saw, and
//! everything after it in its thread depends on that. Races, deadlocks and broken transactions can be asked for, and there is no program to
//! confirm them on.

use crate::event::{Before, Event, EventId, Kind, Read, ThreadEvents, TraceProgram, Write};
use crate::instances::UNKNOWN;
use crate::must::MustOrder;
use crate::predict::{PredictOptions, Reach};
use crate::quiet::CalledBack;
use crate::survey::{Piece, PieceId};
use crate::walk::{Action, Location, Moment};
use leno_ir::program::{BlockId, FuncId, Place, Span};
use leno_logic::term::{Sort, Term, Terms};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Where a text is no trace.
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
    pub ctp: TraceProgram,
    places: Vec<String>,
    lines: Vec<String>,
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

enum Step<'a> {
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

/// The thread, the step and the place of a line.
fn parse(line: &str) -> Result<(&str, Step<'_>, &str), String> {
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
    let step = match name {
        "r" | "read" => Step::Read(operand),
        "w" | "write" => Step::Write(operand),
        "acq" | "acquire" | "lock" => Step::Acquire(operand),
        "rel" | "release" | "unlock" => Step::Release(operand),
        "fork" => Step::Fork(operand),
        "join" => Step::Join(operand),
        "begin" => Step::Begin,
        "end" => Step::End,
        "branch" | "dummy" => Step::Nothing,
        other => return Err(format!("`{other}` is no event: r, w, acq, rel, fork and join are")),
    };
    if operand.is_empty() && !matches!(step, Step::Begin | Step::End | Step::Nothing) {
        return Err(format!("`{name}` of what?"));
    }
    Ok((thread.trim(), step, place))
}

#[derive(Default)]
struct Reader {
    threads: BTreeMap<String, u32>,
    variables: BTreeMap<String, PieceId>,
    locks: BTreeMap<String, u64>,
    places: BTreeMap<String, u32>,
    names: Vec<String>,
    started: BTreeMap<u32, bool>,
    held: BTreeMap<u32, Vec<(Location, bool, u32)>>,
    last: BTreeMap<PieceId, u128>,
    guards: BTreeMap<u32, Term>,
    lists: BTreeMap<u32, Vec<EventId>>,
    events: Vec<Event>,
    acts: Vec<(u64, Moment, Action)>,
    lines: Vec<String>,
    /// By thread: the transaction that it is in, and how deep.
    inside: BTreeMap<u32, (u32, u32)>,
    transactions: u32,
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
    fn thread(&mut self, name: &str) -> u32 {
        let next = self.threads.len() as u32;
        *self.threads.entry(name.to_string()).or_insert(next)
    }

    fn line(&mut self, terms: &mut Terms, number: usize, line: &str) -> Result<(), String> {
        let (name, step, place) = parse(line)?;
        let thread = self.thread(name);
        let known = self.places.len() as u32;
        let place_number = *self.places.entry(place.to_string()).or_insert(known);
        if place_number == known {
            self.names.push(if place.is_empty() { format!("line {number}") } else { place.to_string() });
        }
        let place = Place { func: FuncId(0), block: BlockId(place_number), index: 0 };
        let point = self.lists.get(&thread).map_or(0, |list| list.len() as u32);
        let at = Moment { thread, place, span: Span::NONE, clock: number as u64, point };
        if self.started.get(&thread) == Some(&false) {
            self.started.insert(thread, true);
            self.acts.push((at.clock, at, Action::Start));
            self.add(terms, at, Kind::Start, line);
            return self.line(terms, number, line);
        }
        self.started.entry(thread).or_insert(true);
        let kind = match step {
            Step::Nothing => return Ok(()),
            Step::Begin => {
                let next = self.transactions;
                let (number, depth) = self.inside.entry(thread).or_insert((next, 0));
                self.transactions += u32::from(*number == next && *depth == 0);
                *depth += 1;
                return Ok(());
            }
            Step::End => {
                let depth = self.inside.get_mut(&thread).map(|(_, depth)| {
                    *depth -= 1;
                    *depth
                });
                if depth == Some(0) {
                    self.inside.remove(&thread);
                }
                return Ok(());
            }
            Step::Read(variable) => {
                let piece = self.variable(variable);
                let value = terms.variable(Sort::Bits(32), "read");
                let recorded = self.last.get(&piece).copied().unwrap_or(0);
                let read = Read { piece, value, recorded };
                self.add(terms, at, access(vec![read], Vec::new()), line);
                let was = terms.bits(32, recorded);
                let guard = terms.eq(value, was);
                self.guards.insert(thread, guard);
                return Ok(());
            }
            Step::Write(variable) => {
                let piece = self.variable(variable);
                let recorded = self.events.len() as u128 + 1;
                self.last.insert(piece, recorded);
                let (value, condition) = (terms.bits(32, recorded), terms.bool(true));
                access(Vec::new(), vec![Write { piece, value, recorded, condition, happened: true }])
            }
            Step::Acquire(lock) => {
                let lock = self.lock(lock);
                let held = self.held.entry(thread).or_default();
                if let Some(again) = held.iter_mut().find(|(held, ..)| *held == lock) {
                    again.2 += 1;
                    return Ok(());
                }
                let kind = Kind::Acquire { lock, shared: false };
                self.add(terms, at, kind, line);
                self.held.entry(thread).or_default().push((lock, false, 1));
                return Ok(());
            }
            Step::Release(lock) => {
                let lock = self.lock(lock);
                let held = self.held.entry(thread).or_default();
                let Some(index) = held.iter().position(|(held, ..)| *held == lock) else {
                    return Err("the thread gives back a lock that it does not have".to_string());
                };
                held[index].2 -= 1;
                if held[index].2 > 0 {
                    return Ok(());
                }
                held.remove(index);
                Kind::Release { lock }
            }
            Step::Fork(child) => {
                let child = self.thread(child);
                if self.started.insert(child, false).is_some() {
                    return Err("a thread is started twice, or after it has run".to_string());
                }
                self.acts.push((at.clock, at, Action::Spawn { child }));
                Kind::Spawn { child }
            }
            Step::Join(child) => {
                let child = self.thread(child);
                self.acts.push((at.clock, at, Action::Join { child }));
                self.finish_thread(terms, child, at.clock, place, line);
                Kind::Join { child }
            }
        };
        self.add(terms, at, kind, line);
        Ok(())
    }

    fn finish_thread(&mut self, terms: &Terms, thread: u32, clock: u64, place: Place, line: &str) {
        let last = self.lists.get(&thread).and_then(|list| list.last());
        if last.is_some_and(|id| matches!(self.events[id.0 as usize].kind, Kind::Finish)) {
            return;
        }
        let point = self.lists.get(&thread).map_or(0, |list| list.len() as u32);
        let at = Moment { thread, place, span: Span::NONE, clock, point };
        self.add(terms, at, Kind::Finish, line);
    }

    fn add(&mut self, terms: &Terms, at: Moment, kind: Kind, line: &str) -> EventId {
        let id = EventId(self.events.len() as u32);
        let list = self.lists.entry(at.thread).or_default();
        let locks = self.held.entry(at.thread).or_default();
        self.events.push(Event {
            thread: at.thread,
            index: list.len() as u32,
            point: at.point,
            place: at.place,
            span: at.span,
            clock: at.clock,
            guard: self.guards.remove(&at.thread).unwrap_or(terms.bool(true)),
            kind,
            locks: Rc::new(locks.iter().map(|(lock, shared, _)| (*lock, *shared)).collect()),
            section: None,
            block: self.inside.get(&at.thread).map(|(number, _)| *number),
            pending: false,
        });
        list.push(id);
        self.lines.push(line.to_string());
        id
    }

    fn variable(&mut self, name: &str) -> PieceId {
        let next = PieceId(self.variables.len() as u32);
        *self.variables.entry(name.to_string()).or_insert(next)
    }

    fn lock(&mut self, name: &str) -> Location {
        let next = self.locks.len() as u64;
        let offset = *self.locks.entry(name.to_string()).or_insert(next);
        Location { instance: UNKNOWN, offset: 1 << 40 | offset }
    }

    fn finish(self, terms: Terms) -> TextTrace {
        let piece =
            |index: u64| Piece { at: Location { instance: UNKNOWN, offset: index }, bytes: 4, initial: Some(0) };
        let threads = self.threads.iter().map(|(name, number)| {
            let events = self.lists.get(number).cloned().unwrap_or_default();
            let thread =
                ThreadEvents { number: *number, name: name.clone(), events, finished: false, inputs: Vec::new() };
            (*number, thread)
        });
        let count = self.variables.len();
        let ctp = TraceProgram {
            terms,
            threads: threads.collect(),
            pieces: (0..count as u64).map(piece).collect(),
            opaque: vec![false; count],
            targets: Vec::new(),
            must: Rc::new(MustOrder::new(&self.acts)),
            blocks: Rc::new(vec![Span::NONE; self.transactions as usize]),
            touches: Vec::new(),
            gaps: Vec::new(),
            accesses: self.events.len() as u64,
            called_back: CalledBack::default(),
            is_interrupted: false,
            begun: BTreeMap::new(),
            before: Before::default(),
            events: self.events,
        };
        TextTrace { ctp, places: self.names, lines: self.lines }
    }
}

fn access(reads: Vec<Read>, writes: Vec<Write>) -> Kind {
    Kind::Access { reads, writes, atomic: false, is_plain: true }
}

/// Looks for a race, a deadlock or a broken transaction in some reordering.
pub fn predict(trace: &mut TextTrace, options: &PredictOptions) -> TextPrediction {
    let (answers, reach) = crate::predict::answers(&mut trace.ctp, options);
    let found = answers.into_iter().map(|(question, order)| TextFinding {
        title: question.title(&trace.ctp),
        places: question.key(&trace.ctp).iter().map(|place| trace.places[place.block.0 as usize].clone()).collect(),
        order: order.iter().map(|id| trace.lines[id.0 as usize].clone()).collect(),
    });
    TextPrediction { found: found.collect(), reach }
}
