//! The records of a thread, and the loads that have none.
//!
//! Every thread has a table of what it last saw at addresses, as the recorder had. A load returned what the table holds
//! (a hit), or there is a record with its value. Which of the two it was follows from how many hits there were before
//! the next record that counts them; where the next record is about something else, the load was a hit. See
//! `leno_trace`.

use crate::walk::Walk;
use crate::walk::listener::Listener;
use crate::walk::problem::{WalkEnd, WalkProblem, WalkResult};
use leno_trace::{LOAD_TABLE_BYTES, Record, Records, ThreadIndex};
use std::collections::VecDeque;

/// Loads and stores of at most so many bytes are in the table.
const WIDEST: usize = 8;

/// The records of a thread, and the next ones.
pub(crate) struct RecordCursor {
    records: Records,
    next: Option<Record>,
    /// Records after the next one that were looked at.
    ahead: VecDeque<Record>,
}

impl RecordCursor {
    pub(crate) fn new(mut records: Records) -> RecordCursor {
        let next = records.next();
        RecordCursor { records, next, ahead: VecDeque::new() }
    }

    pub(crate) fn peek(&self) -> Option<Record> {
        self.next
    }

    pub(crate) fn take(&mut self) -> Option<Record> {
        let following = self.ahead.pop_front().or_else(|| self.records.next());
        std::mem::replace(&mut self.next, following)
    }

    /// Whether the next records are these.
    pub(crate) fn next_are(&mut self, records: &[Record]) -> bool {
        let Some((first, rest)) = records.split_first() else { return false };
        if self.next != Some(*first) {
            return false;
        }
        while self.ahead.len() < rest.len() {
            let Some(record) = self.records.next() else { return false };
            self.ahead.push_back(record);
        }
        rest.iter().zip(&self.ahead).all(|(wanted, record)| wanted == record)
    }

    /// Why there are no more records.
    pub(crate) fn end(&self) -> WalkEnd {
        match self.records.end() {
            Some(end) => WalkEnd::Problem(WalkProblem::BadRecords(end.clone())),
            None => WalkEnd::PathEnds,
        }
    }
}

impl<L: Listener> Walk<'_, '_, L> {
    /// Whether the records of some thread are missing at this time.
    fn is_incomplete_at(&self, clock: u64) -> bool {
        self.trace.complete_until.is_some_and(|until| clock > until)
    }

    /// The next record of a thread, after those of the clock and of hits.
    pub(crate) fn next(&mut self, id: ThreadIndex) -> WalkResult<Record> {
        loop {
            let thread = self.thread(id)?;
            let Some(record) = thread.records.take() else { return Err(thread.records.end()) };
            thread.steps_without_record = 0;
            match record {
                Record::Clock(clock) => self.set_clock(id, clock, false)?,
                Record::Hits(hits) => thread.hits = thread.hits.saturating_sub(hits),
                record => {
                    // (Only values come again and again without any other effect.)
                    thread.spin.is_changed |= !matches!(record, Record::Value { .. });
                    if let Some(clock) = record.clock() {
                        self.set_clock(id, clock, true)?;
                    }
                    return Ok(record);
                }
            }
        }
    }

    fn set_clock(&mut self, id: ThreadIndex, clock: u64, moves: bool) -> WalkResult {
        if self.is_incomplete_at(clock) {
            return Err(WalkEnd::PathEnds);
        }
        let thread = self.thread(id)?;
        (thread.clock, thread.moved_clock) = (clock, moves);
        Ok(())
    }

    /// A value that came into the thread.
    pub(crate) fn next_value(&mut self, id: ThreadIndex) -> WalkResult<u128> {
        match self.next(id)? {
            record @ Record::Value { bits, .. } => {
                let thread = self.thread(id)?;
                thread.hits = 0;
                thread.spin.note(record);
                Ok(bits)
            }
            other => Err(self.unexpected(id, "a value", other)),
        }
    }

    /// The records of the clock that come next, and those of hits before them: a store has no record of its own, but
    /// may have seen that the clock had moved.
    pub(crate) fn read_clock_records(&mut self, id: ThreadIndex) -> WalkResult {
        loop {
            let thread = self.thread(id)?;
            match thread.records.peek() {
                Some(Record::Hits(hits)) if thread.hits >= hits => thread.hits -= hits,
                Some(Record::Clock(clock)) => self.set_clock(id, clock, false)?,
                _ => return Ok(()),
            }
            let thread = self.thread(id)?;
            thread.records.take();
            thread.steps_without_record = 0;
        }
    }

    /// The value that a load returned if it was not a hit; None if it was.
    pub(crate) fn next_load_miss(&mut self, id: ThreadIndex) -> WalkResult<Option<u128>> {
        self.read_clock_records(id)?;
        let thread = self.thread(id)?;
        match thread.records.peek() {
            None => Err(thread.records.end()),
            Some(Record::Value { bits, hits }) if thread.hits >= hits => {
                let record = thread.records.take();
                (thread.hits, thread.steps_without_record) = (0, 0);
                record.into_iter().for_each(|record| thread.spin.note(record));
                Ok(Some(bits))
            }
            Some(_) => {
                thread.hits += 1;
                thread.all_hits += 1;
                Ok(None)
            }
        }
    }

    /// The value that a load of so many bytes returned.
    pub(crate) fn next_load(&mut self, id: ThreadIndex, address: u64, bytes: u32) -> WalkResult<u128> {
        let length = bytes.next_power_of_two() as usize;
        if length > WIDEST {
            return self.next_value(id);
        }
        let miss = self.next_load_miss(id)?;
        let entry = entry(address);
        let known = self.thread(id)?.load_table.get_mut(entry..entry + length).ok_or(WalkEnd::PathEnds)?;
        match miss {
            Some(bits) => {
                known.copy_from_slice(&bits.to_le_bytes()[..length]);
                Ok(bits)
            }
            None => {
                let mut word = [0; 16];
                word[..length].copy_from_slice(known);
                Ok(u128::from_le_bytes(word))
            }
        }
    }

    /// The table holds this value at an address from here on.
    pub(crate) fn update_load_table(&mut self, id: ThreadIndex, address: u64, bytes: u32, bits: u128) -> WalkResult {
        let length = bytes.next_power_of_two() as usize;
        let entry = entry(address);
        let thread = self.thread(id)?;
        if let (true, Some(known)) = (length <= WIDEST, thread.load_table.get_mut(entry..entry + length)) {
            known.copy_from_slice(&bits.to_le_bytes()[..length]);
        }
        Ok(())
    }
}

/// Where the value of an address is in the table.
fn entry(address: u64) -> usize {
    address as usize & (LOAD_TABLE_BYTES - 1)
}
