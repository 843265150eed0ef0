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
//! | … | the description: how the program was built and run, in any form |
//!
//! | bytes | chunk |
//! |---|---|
//! | 4 | `CHNK` |
//! | 4 | thread, in order of creation; the highest bit is set for a thread that the program did not start itself |
//! | 4 | number among the chunks of this thread |
//! | 4 | bytes of records |
//! | 8 | checksum of these bytes, once the chunk is sealed |
//! | 4, 4 | 1 if it is sealed; how often a signal handler ran while it was written |
//! | 8 | hits: loads in this chunk that returned what the load table held (see `record`) |
//! | … | records |
//!
//! A checksum starts as 0xcbf29ce484222325; for each word of eight bytes (the last one filled up with zeros) it is
//! combined with the word by exclusive or, multiplied by 0x100000001b3, and combined with its own upper half by
//! exclusive or. The checksum of a chunk has the hits as its last word.
//!
//! A chunk is sealed when it is full and when its thread ends. Of a process that was killed, the last chunk of each
//! thread is open, and holds the records that had been written until then. A damaged chunk ends the records of its
//! thread, and those of the other threads at the same time on the recorded clock: what is left is a prefix of the run.
//!
//! A file is not read as a whole: a trace knows where its chunks are, and [`Records`] reads one after the other.

use crate::ThreadIndex;
use crate::record::{Record, Records};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

pub const MAGIC: [u8; 8] = *b"LENOTRAC";
pub const VERSION: u32 = 3;
const HEADER: usize = 32;
const CHUNK: usize = 65536;
const CHUNK_HEADER: usize = 40;
const CHUNK_MAGIC: u32 = 0x4b4e_4843;
const PAGE: usize = 4096;
/// Set in the number of a thread that the program did not start itself.
const FOREIGN: u32 = 1 << 31;

/// One recorded run.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    pub description: Vec<u8>,
    storage: Arc<Storage>,
    /// By thread: where its records are.
    threads: BTreeMap<ThreadIndex, Arc<[Chunk]>>,
    /// What is wrong with the file; what can be read is a prefix of the run.
    pub damage: Vec<String>,
    /// After this time on the recorded clock, the records of some thread are missing.
    pub complete_until: Option<u64>,
    /// Chunks of threads that the program did not start itself: their paths are not recorded.
    pub foreign_threads: usize,
    /// By thread: how often signal handlers ran in it, of which nothing is recorded.
    pub handler_runs: BTreeMap<ThreadIndex, u32>,
}

/// Where the bytes of a trace are: in memory, or in a file that is read a chunk at a time.
#[derive(Debug)]
pub(crate) enum Storage {
    Bytes(Vec<u8>),
    File(File),
}

impl Default for Storage {
    fn default() -> Storage {
        Storage::Bytes(Vec::new())
    }
}

impl Storage {
    fn len(&self) -> io::Result<u64> {
        match self {
            Storage::Bytes(bytes) => Ok(bytes.len() as u64),
            Storage::File(file) => Ok(file.metadata()?.len()),
        }
    }

    /// Fills the buffer with up to `length` bytes from offset `at`: fewer only at the end.
    pub(crate) fn read(&self, at: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        match self {
            Storage::Bytes(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                buffer.extend(bytes[start..].iter().take(length));
            }
            Storage::File(file) => {
                buffer.resize(length, 0);
                let mut filled = 0;
                while filled < length {
                    match file.read_at(&mut buffer[filled..], at.saturating_add(filled as u64)) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                buffer.truncate(filled);
            }
        }
        Ok(())
    }
}

/// The records of a chunk, as far as they can be trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub at: u64,
    pub bytes: usize,
    pub hits: u64,
    /// The last record may be incomplete.
    pub is_cut_off: bool,
}

/// Why there is no trace to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceError {
    NotATrace,
    Version(u32),
    DamagedHeader,
    Unreadable(String),
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TraceError::NotATrace => write!(out, "this is not a trace that `leno record` has written"),
            TraceError::Version(version) => {
                write!(out, "the trace has version {version}, and this Leno reads version {VERSION}")
            }
            TraceError::DamagedHeader => write!(out, "the header of the trace is damaged: nothing can be read"),
            TraceError::Unreadable(error) => write!(out, "it cannot be read: {error}"),
        }
    }
}

impl std::error::Error for TraceError {}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> TraceError {
        TraceError::Unreadable(error.to_string())
    }
}

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

pub(crate) fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// The beginning of a trace file, and the offset at which its chunks begin.
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

pub(crate) fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A chunk as it is in the file.
struct RawChunk {
    thread: u32,
    number: u32,
    handler_runs: u32,
    chunk: Chunk,
    damage: Option<&'static str>,
}

fn parse_chunk(at: u64, bytes: &[u8]) -> Option<RawChunk> {
    let (thread, number) = (word32(bytes, 4)?, word32(bytes, 8)?);
    let (used, sum) = (word32(bytes, 12)? as usize, word64(bytes, 16)?);
    let (is_sealed, handler_runs, hits) = (word32(bytes, 24)? == 1, word32(bytes, 28)?, word64(bytes, 32)?);
    let body = bytes.get(CHUNK_HEADER..)?;
    let all = body.get(..used).filter(|_| used <= CHUNK - CHUNK_HEADER);
    let (length, damage) = match all {
        None => (body.len().min(used), Some("it is cut off")),
        Some(all) if is_sealed && mix(checksum(all), hits) != sum => (0, Some("its checksum is wrong")),
        Some(all) => (all.len(), None),
    };
    // The hits of a damaged chunk are those of all its records, also of those that are lost.
    let hits = if damage.is_none() { hits } else { 0 };
    let chunk = Chunk { at: at + CHUNK_HEADER as u64, bytes: length, hits, is_cut_off: damage.is_some() };
    Some(RawChunk { thread, number, handler_runs, chunk, damage })
}

impl Trace {
    /// A trace from its bytes. What is damaged is left out, and said in [`Trace::damage`].
    pub fn read(file: &[u8]) -> Result<Trace, TraceError> {
        Trace::from_storage(Storage::Bytes(file.to_vec()))
    }

    /// The same, from a file that is not read as a whole.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        Trace::from_storage(Storage::File(File::open(path)?))
    }

    fn from_storage(storage: Storage) -> Result<Trace, TraceError> {
        let mut file = Vec::new();
        storage.read(0, HEADER, &mut file)?;
        if !file.starts_with(&MAGIC) {
            return Err(TraceError::NotATrace);
        }
        let version = word32(&file, 8).ok_or(TraceError::DamagedHeader)?;
        if version != VERSION {
            return Err(TraceError::Version(version));
        }
        let length = word32(&file, 12).ok_or(TraceError::DamagedHeader)? as usize;
        let sum = word64(&file, 16).ok_or(TraceError::DamagedHeader)?;
        let data = word64(&file, 24).ok_or(TraceError::DamagedHeader)?;
        if storage.len()? < HEADER as u64 + length as u64 {
            return Err(TraceError::DamagedHeader);
        }
        let mut description = Vec::new();
        storage.read(HEADER as u64, length, &mut description)?;
        let is_right = description.len() == length && checksum(&description) == sum;
        if !is_right || !data.is_multiple_of(PAGE as u64) || data < (HEADER + length) as u64 {
            return Err(TraceError::DamagedHeader);
        }
        let mut trace = Trace { description, storage: Arc::new(storage), ..Trace::default() };
        let chunks = trace.find_chunks(data)?;
        for (thread, chunks) in chunks {
            trace.add_thread(thread, chunks);
        }
        Ok(trace)
    }

    /// All chunks of the file, by thread.
    fn find_chunks(&mut self, data: u64) -> io::Result<BTreeMap<ThreadIndex, Vec<RawChunk>>> {
        let mut chunks: BTreeMap<ThreadIndex, Vec<RawChunk>> = BTreeMap::new();
        let (length, mut bytes) = (self.storage.len()?.saturating_sub(data), Vec::new());
        for index in 0..length.div_ceil(CHUNK as u64) {
            let at = data + index * CHUNK as u64;
            self.storage.read(at, CHUNK, &mut bytes)?;
            match (word32(&bytes, 0), parse_chunk(at, &bytes)) {
                // Space that was set aside, and not used any more.
                (Some(0), _) if bytes.iter().all(|byte| *byte == 0) => {}
                (Some(CHUNK_MAGIC), Some(found)) if found.thread & FOREIGN == 0 => {
                    if let Some(damage) = found.damage {
                        self.damage.push(format!("chunk {index}, of thread {}, is damaged: {damage}", found.thread));
                    }
                    chunks.entry(ThreadIndex(found.thread)).or_default().push(found);
                }
                (Some(CHUNK_MAGIC), Some(_)) => self.foreign_threads += 1,
                _ => {
                    self.damage.push(format!("chunk {index} is damaged: it is no chunk"));
                }
            }
        }
        if !length.is_multiple_of(CHUNK as u64) {
            self.damage.push("the file is cut off".to_string());
        }
        Ok(chunks)
    }

    /// The chunks of a thread, up to the first that is damaged or missing.
    fn add_thread(&mut self, thread: ThreadIndex, mut chunks: Vec<RawChunk>) {
        chunks.sort_by_key(|found| found.number);
        let mut kept = Vec::new();
        let mut is_whole = true;
        for (number, found) in chunks.iter().enumerate() {
            if found.number as usize != number {
                self.damage.push(format!("chunk {number} of thread {} is missing", thread.0));
                is_whole = false;
                break;
            }
            kept.push(found.chunk);
            if found.handler_runs > 0 {
                let count = self.handler_runs.entry(thread).or_default();
                *count = count.saturating_add(found.handler_runs);
            }
            is_whole &= found.damage.is_none();
            if !is_whole {
                break;
            }
        }
        self.threads.insert(thread, kept.into());
        if !is_whole {
            // If not even one time is known, nothing that the thread did is.
            let last = self.records(thread).filter_map(Record::clock).max().unwrap_or(0);
            self.complete_until = Some(self.complete_until.map_or(last, |until| until.min(last)));
        }
    }

    /// The threads that have records, in order of creation.
    pub fn threads(&self) -> impl Iterator<Item = ThreadIndex> + '_ {
        self.threads.keys().copied()
    }

    /// The records of a thread.
    pub fn records(&self, thread: ThreadIndex) -> Records {
        Records::new(Arc::clone(&self.storage), self.threads.get(&thread).cloned().unwrap_or_default())
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.threads().map(|thread| self.records(thread).count()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.threads().all(|thread| self.records(thread).next().is_none())
    }
}
