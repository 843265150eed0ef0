//! The trace file.
//!
//! A header, and then chunks of 64 KiB, each written by one thread. All numbers are little-endian.
//!
//! | bytes | header |
//! |---|---|
//! | 8 | `LENOTRAC` |
//! | 4 | version, 2 |
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
//! | 4, 4 | 1 if it is sealed; how often a signal handler ran while it was written |
//! | 8 | hits: loads that returned what was foreseen, in this chunk |
//! | … | records |
//!
//! A checksum starts as 0xcbf29ce484222325; for each word of eight bytes (the last one filled up with zeros) it is combined with
//! the word by exclusive or, multiplied by 0x100000001b3, and combined with its own upper half by exclusive or. That of a chunk has
//! the hits as its last word.
//!
//! A chunk is sealed when it is full and when its thread ends; of a process that was killed, the last chunk of each thread is open,
//! and its records are those that had been written then. A chunk that is damaged ends its thread's records, and those of the other
//! threads at the same moment of the recorded clock: what is left is a beginning of the run.
//!
//! A record is a byte that says what it is and a few words, see [`Record`] and `decode`. Moments of the clock are often given as
//! the difference from what the thread has last seen of it: the moment that a `Clock` says, or one more than that of any other.
//!
//! **Hits.** Reader and writer keep a table for each thread, of 2^20 bytes and a few more, and eight bytes for each quiet stack
//! object. A store of 1, 2, 4 or 8 bytes puts the value there, under the low 20 bits of the address; a load finds there what it
//! is going to return. If it does return that, it is a hit and has no record. If it does not, the value is in a record and in the table
//! from then on; and so is the old value of an exchange, always. Records of values say how many hits came before them.
//! What is called from outside of the program has its own hits, which nobody needs.
//!
//! A file is not read at once: a trace knows where its chunks are, and [`Records`] takes one after the other.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

pub const MAGIC: [u8; 8] = *b"LENOTRAC";
pub const VERSION: u32 = 2;
const HEADER: usize = 32;
const CHUNK: usize = 65536;
const CHUNK_HEADER: usize = 40;
const CHUNK_MAGIC: u32 = 0x4b4e_4843;
const PAGE: usize = 4096;
/// Set in the number of a thread that somebody else started.
const FOREIGN: u32 = 1 << 31;
/// How many bytes of memory a thread's table has.
pub const TABLE: usize = 1 << 20;

/// What was recorded.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    pub description: Vec<u8>,
    source: Arc<Source>,
    /// By thread, in order of creation: where its records are.
    threads: BTreeMap<u32, Arc<[Chunk]>>,
    /// What is wrong with the file; the rest is a beginning of the run.
    pub damage: Vec<String>,
    /// Nothing from this moment on is known of all threads.
    pub until: Option<u64>,
    /// Threads that the program did not start itself: nothing is known of what they ran.
    pub foreign: usize,
    /// By thread: how often signal handlers ran in it, of which nothing is known.
    pub interrupted: BTreeMap<u32, u32>,
}

/// Where the bytes of a trace are.
#[derive(Debug)]
enum Source {
    Bytes(Vec<u8>),
    File(File),
}

impl Default for Source {
    fn default() -> Source {
        Source::Bytes(Vec::new())
    }
}

impl Source {
    fn len(&self) -> u64 {
        match self {
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::File(file) => file.metadata().map_or(0, |data| data.len()),
        }
    }

    /// Fills the buffer with what is at a place, as far as there is something.
    fn read(&self, at: u64, length: usize, buffer: &mut Vec<u8>) {
        buffer.clear();
        match self {
            Source::Bytes(bytes) => {
                let start = bytes.len().min(at as usize);
                buffer.extend_from_slice(&bytes[start..bytes.len().min(start + length)]);
            }
            Source::File(file) => {
                buffer.resize(length, 0);
                let mut filled = 0;
                while filled < length {
                    match file.read_at(&mut buffer[filled..], at + filled as u64) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
                buffer.truncate(filled);
            }
        }
    }
}

/// The records of a chunk, as far as they can be trusted.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    at: u64,
    bytes: usize,
    hits: u64,
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

fn mix(sum: u64, word: u64) -> u64 {
    let sum = (sum ^ word).wrapping_mul(0x100_0000_01b3);
    sum ^ sum >> 32
}

pub fn checksum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    let sum = words.fold(0xcbf2_9ce4_8422_2325, |sum, word| mix(sum, little_endian(word) as u64));
    if rest.is_empty() { sum } else { mix(sum, little_endian(rest) as u64) }
}

fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
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

/// A chunk as it is in the file.
struct Found {
    thread: u32,
    number: u32,
    interrupted: u32,
    chunk: Chunk,
    damage: Option<&'static str>,
}

fn find_chunk(at: u64, bytes: &[u8]) -> Option<Found> {
    let (thread, number) = (word32(bytes, 4)?, word32(bytes, 8)?);
    let (used, sum) = (word32(bytes, 12)? as usize, word64(bytes, 16)?);
    let (is_sealed, interrupted, hits) = (word32(bytes, 24)? == 1, word32(bytes, 28)?, word64(bytes, 32)?);
    let body = bytes.get(CHUNK_HEADER..)?;
    let all = body.get(..used).filter(|_| used <= CHUNK - CHUNK_HEADER);
    let (length, damage) = match all {
        None => (body.len().min(used), Some("it is cut off")),
        Some(all) if is_sealed && mix(checksum(all), hits) != sum => (0, Some("its checksum is wrong")),
        Some(all) => (all.len(), None),
    };
    // Of what is cut off nobody knows the hits.
    let hits = if damage.is_none() { hits } else { 0 };
    let chunk = Chunk { at: at + CHUNK_HEADER as u64, bytes: length, hits };
    Some(Found { thread, number, interrupted, chunk, damage })
}

impl Trace {
    /// Reads a file. What is damaged is left out, with a word about it.
    pub fn read(file: &[u8]) -> Result<Trace, NoTrace> {
        Trace::from_source(Source::Bytes(file.to_vec()))
    }

    /// The same, of a file that is not read at once.
    pub fn open(path: &Path) -> io::Result<Result<Trace, NoTrace>> {
        Ok(Trace::from_source(Source::File(File::open(path)?)))
    }

    fn from_source(source: Source) -> Result<Trace, NoTrace> {
        let mut file = Vec::new();
        source.read(0, HEADER, &mut file);
        if !file.starts_with(&MAGIC) {
            return Err(NoTrace::NotATrace);
        }
        let version = word32(&file, 8).ok_or(NoTrace::DamagedHeader)?;
        if version != VERSION {
            return Err(NoTrace::Version(version));
        }
        let length = word32(&file, 12).ok_or(NoTrace::DamagedHeader)? as usize;
        let sum = word64(&file, 16).ok_or(NoTrace::DamagedHeader)?;
        let data = word64(&file, 24).ok_or(NoTrace::DamagedHeader)?;
        if source.len() < HEADER as u64 + length as u64 {
            return Err(NoTrace::DamagedHeader);
        }
        let mut description = Vec::new();
        source.read(HEADER as u64, length, &mut description);
        let is_right = description.len() == length && checksum(&description) == sum;
        if !is_right || !data.is_multiple_of(PAGE as u64) || data < (HEADER + length) as u64 {
            return Err(NoTrace::DamagedHeader);
        }
        let mut trace = Trace { description, source: Arc::new(source), ..Trace::default() };
        trace.find_chunks(data);
        Ok(trace)
    }

    fn find_chunks(&mut self, data: u64) {
        let mut chunks: BTreeMap<u32, Vec<Found>> = BTreeMap::new();
        let (end, mut bytes) = (self.source.len(), Vec::new());
        for index in 0..end.saturating_sub(data).div_ceil(CHUNK as u64) {
            let at = data + index * CHUNK as u64;
            self.source.read(at, CHUNK, &mut bytes);
            match (word32(&bytes, 0), find_chunk(at, &bytes)) {
                // Space that was set aside, and not used any more.
                (Some(0), _) if bytes.iter().all(|byte| *byte == 0) => {}
                (Some(CHUNK_MAGIC), Some(found)) if found.thread & FOREIGN == 0 => {
                    if let Some(damage) = found.damage {
                        self.damage.push(format!("chunk {index}, of thread {}, is damaged: {damage}", found.thread));
                    }
                    chunks.entry(found.thread).or_default().push(found);
                }
                (Some(CHUNK_MAGIC), Some(_)) => self.foreign += 1,
                _ => {
                    self.damage.push(format!("chunk {index} is damaged: it is no chunk"));
                }
            }
        }
        if !end.saturating_sub(data).is_multiple_of(CHUNK as u64) {
            self.damage.push("the file is cut off".to_string());
        }
        for (thread, mut chunks) in chunks {
            chunks.sort_by_key(|found| found.number);
            let mut kept = Vec::new();
            let mut is_whole = true;
            for (number, found) in chunks.iter().enumerate() {
                if found.number as usize != number {
                    self.damage.push(format!("chunk {number} of thread {thread} is missing"));
                    is_whole = false;
                    break;
                }
                kept.push(found.chunk);
                if found.interrupted > 0 {
                    let count = self.interrupted.entry(thread).or_default();
                    *count = count.saturating_add(found.interrupted);
                }
                is_whole &= found.damage.is_none();
                if !is_whole {
                    break;
                }
            }
            self.threads.insert(thread, kept.into());
            if !is_whole {
                let last = self.records(thread).filter_map(Record::clock).max().unwrap_or(0);
                self.until = Some(self.until.map_or(last, |until| until.min(last)));
            }
        }
    }

    /// The threads of which there is something, in order of creation.
    pub fn threads(&self) -> impl Iterator<Item = u32> + '_ {
        self.threads.keys().copied()
    }

    /// The records of a thread.
    pub fn records(&self, thread: u32) -> Records {
        let chunks = self.threads.get(&thread).cloned().unwrap_or_default();
        Records { source: Arc::clone(&self.source), chunks, next: 0, bytes: Vec::new(), at: 0, clock: 0, hits: 0 }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.threads().map(|thread| self.records(thread).count()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.threads().all(|thread| self.records(thread).next().is_none())
    }
}

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
    /// So many loads returned what was foreseen, since the last record that speaks of hits.
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
    /// Memory that only this thread ever uses.
    Quiet {
        address: u64,
        bytes: u64,
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
        /// What is quiet.
        fingerprint: u64,
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
pub struct Records {
    source: Arc<Source>,
    chunks: Arc<[Chunk]>,
    /// The chunk after the one that is being read.
    next: usize,
    bytes: Vec<u8>,
    at: usize,
    /// What the thread has last seen of the clock.
    clock: u64,
    /// Hits of this chunk that no record has told so far.
    hits: u64,
}

impl Iterator for Records {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while self.at >= self.bytes.len() {
            if self.hits > 0 {
                return Some(Record::Hits(std::mem::take(&mut self.hits)));
            }
            let chunk = *self.chunks.get(self.next)?;
            self.next += 1;
            self.source.read(chunk.at, chunk.bytes, &mut self.bytes);
            (self.at, self.hits) = (0, chunk.hits);
        }
        let Some((record, length)) = decode(&self.bytes[self.at..], self.clock) else {
            // Nothing that comes after can be trusted.
            (self.next, self.hits) = (self.chunks.len(), 0);
            self.bytes.clear();
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

/// A record and its length. `seen` is what the thread has last seen of the clock.
fn decode(bytes: &[u8], seen: u64) -> Option<(Record, usize)> {
    let what = *bytes.first()?;
    let body = &bytes[1..];
    let word = |index: usize| word64(body, 8 * index);
    let short = |length: usize| body.get(..length).map(little_endian);
    let near = || Some(seen.saturating_add(u64::from(*body.first()?)));
    let (record, length) = match what {
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
        0x15 => (Record::Quiet { address: word(0)?, bytes: word(1)? }, 16),
        0x16 => (Record::Return(word(0)?.into()), 8),
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
        0x40..=0x7f if what & 7 <= 4 => {
            let length = 1 << (what & 7);
            (Record::Value { bits: short(length)?, hits: u64::from(what >> 3 & 7) }, length)
        }
        _ => return None,
    };
    Some((record, 1 + length))
}
