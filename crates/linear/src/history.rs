//! Histories: which calls overlapped, what they returned, and which orders explain that.

use crate::client::{Call, Client};
use crate::harness::{ELEMENT, Explained, HISTORY, POINTED_TO, PREPARED_ELEMENT, SOMETHING};
use crate::operation::{Argument, Operation, Operations, Returned};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What the calls of a client have returned, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub order: Vec<usize>,
    /// In that order. Fewer than there are calls if the next one waits for ever.
    pub results: Vec<Vec<i64>>,
}

impl Outcome {
    /// From what the sequential program has printed.
    pub fn parse(order: &[usize], output: &str) -> Option<Outcome> {
        let line = |line: &str| line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<i64>>>();
        let lines = output.lines().filter(|line| !line.trim().is_empty());
        Some(Outcome { order: order.to_vec(), results: lines.map(line).collect::<Option<_>>()? })
    }

    pub fn is_complete(&self) -> bool {
        self.results.len() == self.order.len()
    }
}

/// The orders in which all calls return, with the results by call.
pub fn explained(outcomes: &[Outcome]) -> Explained {
    let of = |outcome: &Outcome| {
        let mut by_call = vec![Vec::new(); outcome.order.len()];
        outcome.order.iter().zip(&outcome.results).for_each(|(call, results)| by_call[*call] = results.clone());
        (outcome.order.clone(), by_call)
    };
    outcomes.iter().filter(|outcome| outcome.is_complete()).map(of).collect()
}

/// Whether the calls, one after the other, can come to a point at which every thread that has a call left waits for ever. Then
/// a concurrent execution may end there, too, and that is no fault.
pub fn may_wait_for_ever(client: &Client, outcomes: &[Outcome]) -> bool {
    // By what was called so far: the threads whose next call waits.
    let mut waits: BTreeMap<&[usize], BTreeSet<usize>> = BTreeMap::new();
    let threads: Vec<usize> = client.calls().map(|(thread, _)| thread).collect();
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_complete()) {
        let made = outcome.results.len();
        waits.entry(&outcome.order[..made]).or_default().insert(threads[outcome.order[made]]);
    }
    waits.iter().any(|(made, waiting)| {
        let has_more = |thread: &usize| {
            let done = made.iter().filter(|call| threads[**call] == *thread).count();
            done < client.threads[*thread].len()
        };
        (0..client.threads.len()).filter(has_more).all(|thread| waiting.contains(&thread))
    })
}

/// A concurrent history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    /// By call: how many calls each thread had finished when it began.
    pub before: Vec<Vec<u8>>,
    /// By call.
    pub results: Vec<Vec<i64>>,
}

impl History {
    /// From what the concurrent program has printed.
    pub fn parse(client: &Client, output: &str) -> Option<History> {
        let mut history = History { before: Vec::new(), results: Vec::new() };
        for line in output.lines().skip_while(|line| *line != HISTORY).skip(1).take(client.calls().count()) {
            let mut words = line.split_whitespace();
            let word: u64 = words.next()?.parse().ok()?;
            history.before.push((0..client.threads.len()).map(|thread| (word >> (8 * thread)) as u8).collect());
            history.results.push(words.map(|word| word.parse().ok()).collect::<Option<_>>()?);
        }
        (history.before.len() == client.calls().count()).then_some(history)
    }

    /// Whether one call had returned before another one was made.
    pub fn precedes(&self, client: &Client, first: usize, second: usize) -> bool {
        let thread = client.calls().nth(first).map_or(0, |(thread, _)| thread);
        usize::from(self.before[second][thread]) > client.positions()[first]
    }

    pub fn respects(&self, client: &Client, order: &[usize]) -> bool {
        let later = |at: usize| order[at + 1..].iter().all(|other| !self.precedes(client, *other, order[at]));
        (0..order.len()).all(later)
    }

    pub fn is_linearizable(&self, client: &Client, explained: &Explained) -> bool {
        explained.iter().any(|(order, results)| *results == self.results && self.respects(client, order))
    }

    /// Calls and returns in an order in which they may have happened.
    fn events(&self, client: &Client) -> Vec<(usize, bool)> {
        let calls: Vec<usize> = (0..self.before.len()).collect();
        let finished = |call: usize| self.before[call].iter().map(|count| u32::from(*count)).sum::<u32>();
        let mut by_begin = calls.clone();
        by_begin.sort_by_key(|call| (finished(*call), *call));
        let mut events: Vec<(usize, bool)> = Vec::new();
        let mut returned: BTreeSet<usize> = BTreeSet::new();
        for call in by_begin {
            for earlier in calls.iter().filter(|earlier| self.precedes(client, **earlier, call)) {
                if returned.insert(*earlier) {
                    events.push((*earlier, false));
                }
            }
            events.push((call, true));
        }
        events.extend(calls.into_iter().filter(|call| !returned.contains(call)).map(|call| (call, false)));
        events
    }

    /// A line for each thread, time from left to right: `|-- push(1) --|`.
    pub fn draw(&self, operations: &Operations, client: &Client) -> String {
        let events = self.events(client);
        let texts: Vec<String> = client
            .calls()
            .zip(&self.results)
            .enumerate()
            .map(|(number, ((_, call), results))| show_call(operations, call, Some(number), Some(results)))
            .collect();
        // Where each event is drawn: after the one before, and so that every text has room.
        let mut columns: Vec<usize> = Vec::new();
        let mut begins: BTreeMap<usize, usize> = BTreeMap::new();
        let mut column = 0;
        for (call, is_begin) in &events {
            let needed = begins.get(call).map_or(0, |begin| begin + texts[*call].chars().count() + 4);
            column = column.max(needed);
            columns.push(column);
            if *is_begin {
                begins.insert(*call, column);
            }
            column += 2;
        }
        let mut lines: Vec<String> = vec![String::new(); client.threads.len()];
        let threads: Vec<usize> = client.calls().map(|(thread, _)| thread).collect();
        for ((call, is_begin), column) in events.iter().zip(&columns) {
            let line = &mut lines[threads[*call]];
            let filler = if *is_begin { ' ' } else { '-' };
            while line.chars().count() < *column {
                line.push(filler);
            }
            match is_begin {
                true => _ = write!(line, "|- {} ", texts[*call]),
                false => line.push('|'),
            }
        }
        let mut drawn = String::new();
        for (thread, line) in lines.iter().enumerate() {
            let _ = writeln!(drawn, "  thread {}  {line}", thread + 1);
        }
        drawn
    }
}

/// A call as people write it, with what it gave back.
pub fn show_call(operations: &Operations, call: Call, number: Option<usize>, results: Option<&Vec<i64>>) -> String {
    let operation: &Operation = &operations.all[call.operation];
    let mut shown = Vec::new();
    if call.value != 0 {
        shown.push(call.value.to_string());
    }
    let elements = operation.arguments.iter().filter(|argument| matches!(argument, Argument::Element(_)));
    shown.extend(elements.map(|_| number.map_or("#".to_string(), |number| format!("#{}", number + 1))));
    let mut text = format!("{}({})", operation.name, shown.join(", "));
    if let Some(results) = results.filter(|_| operation.results() > 0) {
        let shown: Vec<String> =
            operation.result_kinds().zip(results).map(|(kind, result)| show_result(kind, *result)).collect();
        let _ = write!(text, " = {}", shown.join(", "));
    }
    text
}

/// A pointer is shown as what it points to: `#2` is the element of the second call, `&2` the object of the value 2.
fn show_result(kind: Returned, result: i64) -> String {
    match (kind, result) {
        (Returned::Nothing | Returned::Boolean | Returned::Integer, _) => result.to_string(),
        (Returned::Float, _) => (result as f64 / 1000.0).to_string(),
        (_, 0) => "null".to_string(),
        (_, SOMETHING) => "an address".to_string(),
        (Returned::PointerToNumber, number) if number >= POINTED_TO / 2 => format!("*({})", number - POINTED_TO),
        (_, number) if number <= PREPARED_ELEMENT => format!("#before {}", PREPARED_ELEMENT - number + 1),
        (_, number) if number <= ELEMENT => format!("#{}", ELEMENT - number + 1),
        (_, number) => format!("&{number}"),
    }
}

/// The calls one after the other, as people write them.
pub fn show_order(operations: &Operations, client: &Client, order: &[usize], results: &[Vec<i64>]) -> String {
    let calls: Vec<Call> = client.calls().map(|(_, call)| call).collect();
    let shown = order.iter().map(|call| show_call(operations, calls[*call], Some(*call), Some(&results[*call])));
    shown.collect::<Vec<_>>().join(", ")
}
