//! The trace file.
//!
//! A header, and then chunks of 64 KiB, each written by one thread. All numbers are little-endian.
//!
//! | bytes | header |
//! |---|---|
//! | 8 | `LENOTRAC` |
//! | 4 | version, 1 |
//! | 4 | length of the description |
//! | 8 | checksum of the description |
//! | 8 | where chunks begin: a multiple of 4096 |
//! | … | the description: how the program was built and run, in whatever form its writer likes |
//!
//! | bytes | chunk |
//! |---|---|
//! | 4 | `CHNK` |
//! | 4 | thread, in order of creation; the highest bit is set for a thread that the program did not start itself |
//! | 4 | number among the chunks of this thread |
//! | 4 | bytes of records |
//! | 8 | checksum of these bytes, once the chunk is sealed |
//! | 4, 4 | 1 if it is sealed; reserved |
//! | … | records |
//!
//! A checksum starts as 0xcbf29ce484222325; for each word of eight bytes (the last one filled up with zeros) it is combined with
//! the word by exclusive or, multiplied by 0x100000001b3, and combined with its own upper half by exclusive or.
//!
//! A chunk is sealed when it is full and when its thread ends; of a process that was killed, the last chunk of each thread is open,
//! and its records are those that had been written then. A chunk that is damaged ends its thread's records, and those of the other
//! threads at the same moment of the recorded clock: what is left is a beginning of the run.

use std::collections::BTreeMap;
use std::fmt;

pub const MAGIC: [u8; 8] = *b"LENOTRAC";
pub const VERSION: u32 = 1;
const HEADER: usize = 32;
const CHUNK: usize = 65536;
const CHUNK_HEADER: usize = 32;
const CHUNK_MAGIC: u32 = 0x4b4e_4843;
const PAGE: usize = 4096;
/// Set in the number of a thread that somebody else started.
const FOREIGN: u32 = 1 << 31;

/// What was recorded.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    pub description: Vec<u8>,
    /// By thread, in order of creation: its records.
    pub threads: BTreeMap<u32, Vec<u8>>,
    /// What is wrong with the file; the rest is a beginning of the run.
    pub damage: Vec<String>,
    /// Nothing from this moment on is known of all threads.
    pub until: Option<u64>,
    /// Threads that the program did not start itself: nothing is known of what they ran.
    pub foreign: usize,
}

/// Why a file is no trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTrace {
    NotATrace,
    Version(u32),
    DamagedHeader,
}

impl fmt::Display for NoTrace {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoTrace::NotATrace => write!(out, "this is not a trace that `leno record` has written"),
            NoTrace::Version(version) => {
                write!(out, "the trace has version {version}, and this Leno reads version {VERSION}")
            }
            NoTrace::DamagedHeader => write!(out, "the header of the trace is damaged: nothing can be read"),
        }
    }
}

impl std::error::Error for NoTrace {}

pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |sum, word| {
        let word = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let sum = (sum ^ word).wrapping_mul(0x100_0000_01b3);
        sum ^ sum >> 32
    })
}

/// The beginning of a trace file, and where its chunks are going to be.
pub fn header(description: &[u8]) -> (Vec<u8>, u64) {
    let data = (HEADER + description.len()).div_ceil(PAGE) * PAGE;
    let mut bytes = Vec::with_capacity(data);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(checksum(description).to_le_bytes());
    bytes.extend((data as u64).to_le_bytes());
    bytes.extend(description);
    bytes.resize(data, 0);
    (bytes, data as u64)
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A chunk, as far as it can be trusted.
struct Chunk<'a> {
    thread: u32,
    number: u32,
    bytes: &'a [u8],
    damage: Option<&'static str>,
}

fn read_chunk(bytes: &[u8]) -> Option<Chunk<'_>> {
    let (thread, number) = (word32(bytes, 4)?, word32(bytes, 8)?);
    let (used, sum) = (word32(bytes, 12)? as usize, word64(bytes, 16)?);
    let is_sealed = word32(bytes, 24)? == 1;
    let body = bytes.get(CHUNK_HEADER..)?;
    let all = body.get(..used).filter(|_| used <= CHUNK - CHUNK_HEADER);
    let (bytes, damage) = match all {
        None => (&body[..body.len().min(used)], Some("it is cut off")),
        Some(all) if is_sealed && checksum(all) != sum => (&body[..0], Some("its checksum is wrong")),
        Some(all) => (all, None),
    };
    Some(Chunk { thread, number, bytes, damage })
}

impl Trace {
    /// Reads a file. What is damaged is left out, with a word about it.
    pub fn read(file: &[u8]) -> Result<Trace, NoTrace> {
        if !file.starts_with(&MAGIC) {
            return Err(NoTrace::NotATrace);
        }
        let version = word32(file, 8).ok_or(NoTrace::DamagedHeader)?;
        if version != VERSION {
            return Err(NoTrace::Version(version));
        }
        let length = word32(file, 12).ok_or(NoTrace::DamagedHeader)? as usize;
        let sum = word64(file, 16).ok_or(NoTrace::DamagedHeader)?;
        let data = word64(file, 24).ok_or(NoTrace::DamagedHeader)? as usize;
        let description = file.get(HEADER..HEADER.saturating_add(length)).ok_or(NoTrace::DamagedHeader)?;
        if checksum(description) != sum || !data.is_multiple_of(PAGE) || data < HEADER + length {
            return Err(NoTrace::DamagedHeader);
        }
        let mut trace = Trace { description: description.to_vec(), ..Trace::default() };
        trace.read_chunks(file.get(data..).unwrap_or(&[]));
        Ok(trace)
    }

    fn read_chunks(&mut self, data: &[u8]) {
        let mut chunks: BTreeMap<u32, Vec<Chunk<'_>>> = BTreeMap::new();
        for (index, bytes) in data.chunks(CHUNK).enumerate() {
            match (word32(bytes, 0), read_chunk(bytes)) {
                // Space that was set aside, and not used any more.
                (Some(0), _) if bytes.iter().all(|byte| *byte == 0) => {}
                (Some(CHUNK_MAGIC), Some(chunk)) if chunk.thread & FOREIGN == 0 => {
                    if let Some(damage) = chunk.damage {
                        self.damage.push(format!("chunk {index}, of thread {}, is damaged: {damage}", chunk.thread));
                    }
                    chunks.entry(chunk.thread).or_default().push(chunk);
                }
                (Some(CHUNK_MAGIC), Some(_)) => self.foreign += 1,
                _ => {
                    self.damage.push(format!("chunk {index} is damaged: it is no chunk"));
                }
            }
        }
        if !data.len().is_multiple_of(CHUNK) {
            self.damage.push("the file is cut off".to_string());
        }
        for (thread, mut chunks) in chunks {
            chunks.sort_by_key(|chunk| chunk.number);
            let mut records = Vec::new();
            let mut is_whole = true;
            for (number, chunk) in chunks.iter().enumerate() {
                if chunk.number as usize != number {
                    self.damage.push(format!("chunk {number} of thread {thread} is missing"));
                    is_whole = false;
                    break;
                }
                records.extend_from_slice(chunk.bytes);
                is_whole &= chunk.damage.is_none();
                if !is_whole {
                    break;
                }
            }
            if !is_whole {
                let last = Records::new(&records).filter_map(|record| record.clock()).max().unwrap_or(0);
                self.until = Some(self.until.map_or(last, |until| until.min(last)));
            }
            self.threads.insert(thread, records);
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.threads.values().map(|records| Records::new(records).count()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.threads.values().all(Vec::is_empty)
    }
}

/// One record of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    /// The clock has moved since the last record.
    Clock(u64),
    /// A value that came into the thread, of so many bytes.
    Value(u128, u8),
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
    Call,
    Return(u128),
    /// A step that may have waited, and is made.
    Sync {
        clock: u64,
        result: i64,
    },
    /// A step that is about to be made, and lets others go on.
    Release {
        clock: u64,
    },
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
    Begin {
        argc: u64,
        argv: u64,
    },
    Static(u64),
    End {
        clock: u64,
    },
    Failed {
        clock: u64,
    },
}

impl Record {
    /// The moment of the recorded clock, if the record has one of its own.
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

/// The records of a thread, one by one. Ends at what is no record.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    pub fn new(bytes: &'a [u8]) -> Records<'a> {
        Records { bytes, at: 0 }
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let what = *self.bytes.get(self.at)?;
        let word = |index: usize| word64(self.bytes, self.at + 1 + 8 * index);
        let short = |bytes: usize| {
            let body = self.bytes.get(self.at + 1..self.at + 1 + bytes)?;
            Some(body.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte)))
        };
        let (record, length) = match what {
            0x01 => (Record::Clock(word(0)?), 8),
            0x02 => (Record::Value(short(1)?, 1), 1),
            0x03 => (Record::Value(short(2)?, 2), 2),
            0x04 => (Record::Value(short(4)?, 4), 4),
            0x05 => (Record::Value(short(8)?, 8), 8),
            0x06 => (Record::Value(short(16)?, 16), 16),
            0x10 => (Record::Slot { address: word(0)?, bytes: word(1)? }, 16),
            0x11 => (Record::Allocated { address: word(0)?, bytes: word(1)?, clock: word(2)? }, 24),
            0x12 => (Record::Freed { address: word(0)?, clock: word(1)? }, 16),
            0x13 => (Record::Call, 0),
            0x14 => (Record::Return(short(16)?), 16),
            0x20 => (Record::Sync { clock: word(0)?, result: word(1)? as i64 }, 16),
            0x21 => (Record::Release { clock: word(0)? }, 8),
            0x22 => (Record::Result(word(0)? as i64), 8),
            0x30 => (Record::Spawn { clock: word(0)?, thread: word(1)? as u32, handle: word(2)? }, 24),
            0x31 => (Record::Join { clock: word(0)?, thread: word(1)? as u32, result: word(2)? }, 24),
            0x32 => (Record::Started { clock: word(0)? }, 8),
            0x33 => (Record::Finished { clock: word(0)? }, 8),
            0x34 => (Record::Begin { argc: word(0)?, argv: word(1)? }, 16),
            0x35 => (Record::Static(word(0)?), 8),
            0x36 => (Record::End { clock: word(0)? }, 8),
            0x37 => (Record::Failed { clock: word(0)? }, 8),
            _ => return None,
        };
        self.at += 1 + length;
        Some(record)
    }
}
