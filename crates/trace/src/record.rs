//! The records of a thread.
//!
//! A record is a byte that says what it is, and a few words: see [`Record`] and `decode`. Times on the recorded clock
//! are often given as the difference from the last time that the thread has seen: the time of a `Clock` record, or one
//! more than the time of any other record.
//!
//! **Load table.** Reader and writer keep a table for each thread, of 2^20 bytes and a few more, and eight bytes for
//! each private stack object. A store of 1, 2, 4 or 8 bytes puts the value there, under the low 20 bits of the address.
//! A load that returns what the table holds is a *hit* and has no record. Otherwise the value is in a record, and in
//! the table from then on; so is the old value of an exchange, always. Records of values say how many hits came before
//! them. Code that external functions call back has hits of its own, which the reader skips.

use crate::file::{Chunk, Storage, little_endian, word64};
use std::fmt;
use std::sync::Arc;

/// How many bytes of memory a thread's load table stands for.
pub const LOAD_TABLE_BYTES: usize = 1 << 20;

/// One record of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    /// The clock has moved since the last record.
    Clock(u64),
    /// A value that came into the thread, and how many hits there were before it.
    Value {
        bits: u128,
        hits: u64,
    },
    /// So many loads were hits, since the last record that counts them.
    Hits(u64),
    Slot {
        address: u64,
        bytes: u64,
    },
    Allocated {
        address: u64,
        bytes: u64,
        clock: u64,
    },
    Freed {
        address: u64,
        clock: u64,
    },
    /// An allocation of memory that only this thread ever accesses.
    PrivateAllocation {
        address: u64,
        bytes: u64,
    },
    /// A call of a function that is not part of the program, and its return.
    Call,
    Return(u128),
    /// A library function has read or written this memory, between its call and its return.
    Touched {
        address: u64,
        bytes: u64,
        writes: bool,
    },
    /// Sixteen bytes of such memory, in order; more than there are, at the end.
    Bytes(u128),
    /// A synchronisation step that may have waited, after it was made.
    Sync {
        clock: u64,
        result: i64,
    },
    /// A synchronisation step that lets other threads continue, before it is made.
    Release {
        clock: u64,
    },
    /// The result of such a step.
    Result(i64),
    Spawn {
        clock: u64,
        thread: u32,
        handle: u64,
    },
    Join {
        clock: u64,
        thread: u32,
        result: u64,
    },
    Started {
        clock: u64,
    },
    Finished {
        clock: u64,
    },
    /// The beginning of the main thread.
    Begin {
        argc: u64,
        argv: u64,
        /// Of the instructions and stack objects that have no records ([`crate::Unrecorded::fingerprint`]).
        fingerprint: u64,
    },
    /// The address of a static object or a function.
    Static(u64),
    /// The end of the process.
    End {
        clock: u64,
    },
    /// An assertion failed.
    Failed {
        clock: u64,
    },
}

impl Record {
    /// The time on the recorded clock, if the record has one of its own.
    pub fn clock(self) -> Option<u64> {
        match self {
            Record::Clock(clock)
            | Record::Allocated { clock, .. }
            | Record::Freed { clock, .. }
            | Record::Sync { clock, .. }
            | Record::Release { clock }
            | Record::Spawn { clock, .. }
            | Record::Join { clock, .. }
            | Record::Started { clock }
            | Record::Finished { clock }
            | Record::End { clock }
            | Record::Failed { clock } => Some(clock),
            _ => None,
        }
    }
}

/// Why the records of a thread ended too early. (Damage that was found when the trace was opened is told there.)
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordsEnd {
    /// The file could not be read.
    Unreadable(String),
    /// The file has changed since it was opened.
    CutOff,
    /// These bytes of a chunk are no record.
    NoRecord { chunk: usize, offset: usize },
}

impl fmt::Display for RecordsEnd {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RecordsEnd::Unreadable(error) => write!(out, "the trace cannot be read: {error}"),
            RecordsEnd::CutOff => write!(out, "the trace was cut off while it was read"),
            RecordsEnd::NoRecord { chunk, offset } => {
                write!(out, "byte {offset} of its chunk {chunk} does not begin a record")
            }
        }
    }
}

/// The records of a thread, one by one.
#[derive(Clone, Debug)]
pub struct Records {
    storage: Arc<Storage>,
    chunks: Arc<[Chunk]>,
    /// The chunk after the one that is being read.
    next: usize,
    bytes: Vec<u8>,
    at: usize,
    /// The last time that the thread has seen.
    clock: u64,
    /// Hits of this chunk that no record has counted so far.
    hits: u64,
    end: Option<RecordsEnd>,
}

impl Records {
    pub(crate) fn new(storage: Arc<Storage>, chunks: Arc<[Chunk]>) -> Records {
        Records { storage, chunks, next: 0, bytes: Vec::new(), at: 0, clock: 0, hits: 0, end: None }
    }

    /// Why the records ended too early, if they did.
    pub fn end(&self) -> Option<&RecordsEnd> {
        self.end.as_ref()
    }

    /// Ends here: what comes after cannot be trusted.
    fn stop(&mut self, end: Option<RecordsEnd>) {
        (self.next, self.hits, self.at) = (self.chunks.len(), 0, 0);
        self.bytes.clear();
        self.end = end;
    }

    /// Reads the next chunk; false if there is none.
    fn next_chunk(&mut self) -> bool {
        let Some(&chunk) = self.chunks.get(self.next) else { return false };
        if let Err(error) = self.storage.read(chunk.at, chunk.bytes, &mut self.bytes) {
            self.stop(Some(RecordsEnd::Unreadable(error.to_string())));
            return false;
        }
        if self.bytes.len() < chunk.bytes {
            self.stop(Some(RecordsEnd::CutOff));
            return false;
        }
        self.next += 1;
        (self.at, self.hits) = (0, chunk.hits);
        true
    }
}

impl Iterator for Records {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while self.at >= self.bytes.len() {
            if self.hits > 0 {
                return Some(Record::Hits(std::mem::take(&mut self.hits)));
            }
            if !self.next_chunk() {
                return None;
            }
        }
        let Some((record, length)) = decode(&self.bytes[self.at..], self.clock) else {
            let chunk = self.next.saturating_sub(1);
            // The last record of a chunk that is cut off is cut off, too; the damage is known.
            let is_cut_off = self.chunks.get(chunk).is_some_and(|chunk| chunk.is_cut_off);
            self.stop((!is_cut_off).then_some(RecordsEnd::NoRecord { chunk, offset: self.at }));
            return None;
        };
        self.at += length;
        match record {
            Record::Clock(clock) => self.clock = clock,
            Record::Value { hits, .. } | Record::Hits(hits) => self.hits = self.hits.saturating_sub(hits),
            other => self.clock = other.clock().map_or(self.clock, |clock| clock.saturating_add(1)),
        }
        Some(record)
    }
}

/// A record and its length. `seen` is the last time on the clock that the thread has seen.
fn decode(bytes: &[u8], seen: u64) -> Option<(Record, usize)> {
    let (&code, body) = bytes.split_first()?;
    let word = |index: usize| word64(body, 8 * index);
    let short = |length: usize| body.get(..length).map(little_endian);
    let near = || Some(seen.saturating_add(u64::from(*body.first()?)));
    let (record, length) = match code {
        0x01 => (Record::Clock(word(0)?), 8),
        0x07 => (Record::Hits(short(1)? as u64), 1),
        0x08 => (Record::Hits(short(4)? as u64), 4),
        0x09 => (Record::Hits(word(0)?), 8),
        0x0a => (Record::Clock(near()?), 1),
        0x10 => (Record::Slot { address: word(0)?, bytes: word(1)? }, 16),
        0x11 => (Record::Allocated { address: word(0)?, bytes: word(1)?, clock: word(2)? }, 24),
        0x12 => (Record::Freed { address: word(0)?, clock: word(1)? }, 16),
        0x13 => (Record::Call, 0),
        0x14 => (Record::Return(short(16)?), 16),
        0x15 => (Record::PrivateAllocation { address: word(0)?, bytes: word(1)? }, 16),
        0x16 => (Record::Return(word(0)?.into()), 8),
        0x17 => {
            let word = word(1)?;
            (Record::Touched { address: self::word64(body, 0)?, bytes: word & !(1 << 63), writes: word >> 63 != 0 }, 16)
        }
        0x18 => (Record::Bytes(short(16)?), 16),
        0x20 => (Record::Sync { clock: word(0)?, result: word(1)? as i64 }, 16),
        0x21 => (Record::Release { clock: word(0)? }, 8),
        0x22 => (Record::Result(word(0)? as i64), 8),
        0x23 => (Record::Sync { clock: near()?, result: 0 }, 1),
        0x24 => (Record::Release { clock: near()? }, 1),
        0x25 => (Record::Result(0), 0),
        0x30 => (Record::Spawn { clock: word(0)?, thread: word(1)? as u32, handle: word(2)? }, 24),
        0x31 => (Record::Join { clock: word(0)?, thread: word(1)? as u32, result: word(2)? }, 24),
        0x32 => (Record::Started { clock: word(0)? }, 8),
        0x33 => (Record::Finished { clock: word(0)? }, 8),
        0x34 => (Record::Begin { argc: word(0)?, argv: word(1)?, fingerprint: word(2)? }, 24),
        0x35 => (Record::Static(word(0)?), 8),
        0x36 => (Record::End { clock: word(0)? }, 8),
        0x37 => (Record::Failed { clock: word(0)? }, 8),
        0x40..=0x7f if code & 7 <= 4 => {
            let length = 1 << (code & 7);
            (Record::Value { bits: short(length)?, hits: u64::from(code >> 3 & 7) }, length)
        }
        _ => return None,
    };
    Some((record, 1 + length))
}
