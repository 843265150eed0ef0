//! Threads that spin: `while (!go);` is walked a few times, however often the run went round.
//!
//! A thread that comes back to the beginning of a loop with the same registers, and has written nothing meanwhile, goes
//! round again in the same way as long as its loads return the same. A path on which it goes round less often is one of
//! the program, too, and no other thread can tell. So, once a round is known, the rounds that follow and have the same
//! records are skipped. Rounds that consist of hits alone are only a count; rounds with atomic updates that change
//! nothing have a few records each.

use crate::walk::Walk;
use crate::walk::listener::Listener;
use crate::walk::problem::WalkResult;
use leno_ir::index::IndexVec;
use leno_ir::program::{BlockId, FuncId, LocalId};
use leno_trace::{Record, ThreadIndex};

/// Rounds with more records are walked.
const MOST_RECORDS: usize = 8;

/// The beginning of a loop, as a thread last came to it.
#[derive(Clone, Default)]
pub(crate) struct SpinWatch {
    at: Option<(usize, FuncId, BlockId)>,
    registers: Vec<u128>,
    /// All hits until then.
    hits: u64,
    /// What the thread has done since that others may notice, or that it may notice itself.
    pub is_changed: bool,
    /// The values that were recorded since.
    pub values: Vec<Record>,
}

impl SpinWatch {
    /// A record of a value was read.
    pub fn note(&mut self, record: Record) {
        if self.values.len() < MOST_RECORDS {
            self.values.push(record);
        } else {
            self.is_changed = true;
        }
    }
}

impl<L: Listener> Walk<'_, '_, L> {
    /// A thread goes back to the beginning of a block. Rounds that are the same as the last one are skipped.
    pub(crate) fn come_round(&mut self, id: ThreadIndex, target: BlockId) -> WalkResult {
        let thread = self.thread(id)?;
        let Some(frame) = thread.frames.last() else { return Ok(()) };
        let at = (thread.frames.len(), frame.func, target);
        let is_same = thread.spin.at == Some(at)
            && !thread.spin.is_changed
            && same_registers(&thread.spin.registers, &frame.locals);
        if is_same {
            let (hits, values) = (thread.all_hits - thread.spin.hits, std::mem::take(&mut thread.spin.values));
            match (hits, values.is_empty()) {
                (0, true) => {}
                (_, true) => self.skip_hits(id, hits)?,
                (_, false) => self.skip_values(id, &values)?,
            }
        }
        let thread = self.thread(id)?;
        let Some(frame) = thread.frames.last() else { return Ok(()) };
        let mut registers = std::mem::take(&mut thread.spin.registers);
        if !is_same {
            registers.clear();
            registers.extend(frame.locals.iter().map(|value| value.bits));
        }
        thread.spin =
            SpinWatch { at: Some(at), registers, hits: thread.all_hits, is_changed: false, values: Vec::new() };
        Ok(())
    }

    /// Skips rounds of so many hits each.
    fn skip_hits(&mut self, id: ThreadIndex, hits: u64) -> WalkResult {
        loop {
            self.read_clock_records(id)?;
            let thread = self.thread(id)?;
            let Some(Record::Hits(all)) = thread.records.peek() else { return Ok(()) };
            let left = all.saturating_sub(thread.hits);
            thread.hits += left / hits * hits;
            thread.all_hits += left / hits * hits;
            if left % hits != 0 {
                return Ok(());
            }
        }
    }

    /// Skips rounds with these records each.
    fn skip_values(&mut self, id: ThreadIndex, values: &[Record]) -> WalkResult {
        let hits = self.thread(id)?.hits;
        loop {
            self.read_clock_records(id)?;
            let thread = self.thread(id)?;
            if thread.hits != hits || !thread.records.next_are(values) {
                return Ok(());
            }
            for _ in values {
                thread.records.take();
            }
            thread.steps_without_record = 0;
        }
    }
}

fn same_registers(before: &[u128], now: &IndexVec<LocalId, crate::walk::concolic::ConcolicValue>) -> bool {
    before.len() == now.len() && before.iter().zip(now).all(|(before, now)| *before == now.bits)
}
