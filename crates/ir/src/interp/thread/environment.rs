//! What lies outside of the machine: inputs, outputs, files, the clock.
//!
//! A step asks its [`Environment`] for everything that is not decided by the machine's state. [`Captured`] keeps
//! output and files in memory, for tests and for engines; [`Isolated`] has no files at all; [`Terminal`] is the real
//! world.

use super::machine::ThreadId;
use super::schedule::Prng;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Who asks for a nondeterministic value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Source {
    /// A `Nondet` instruction.
    Instruction,
    /// The first read of undefined bits, under that policy.
    Undefined,
    /// A function or an object that nothing is known of.
    External,
    /// A weak compare-exchange that would succeed: 1 makes it fail.
    Spurious,
    /// An allocation that could return the address of a freed object: 1 makes it do so. Asked for each such object in
    /// turn, with no bits if nobody could tell.
    Reuse,
    /// A thread falls asleep on a condition variable: with 1 it may wake up without a signal.
    WakeUp,
}

/// An open file, by number. 0, 1 and 2 are the standard streams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct FileHandle(pub u32);

impl FileHandle {
    pub const INPUT: FileHandle = FileHandle(0);
    pub const OUTPUT: FileHandle = FileHandle(1);
    pub const ERROR: FileHandle = FileHandle(2);
}

/// What `fopen`'s mode asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct OpenMode {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub truncate: bool,
    pub create: bool,
}

pub trait Environment {
    /// Any value of `width` bits; bits above are ignored.
    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128;

    /// The environment that answers everything else: one that decides about values only need not know of files. One
    /// that answers everything is its own.
    fn outside(&mut self) -> &mut dyn Environment;

    /// False on an error.
    fn write(&mut self, file: FileHandle, bytes: &[u8]) -> bool {
        self.outside().write(file, bytes)
    }

    /// How many bytes were read; 0 at the end. None on an error.
    fn read(&mut self, file: FileHandle, buffer: &mut [u8]) -> Option<usize> {
        self.outside().read(file, buffer)
    }

    fn open(&mut self, path: &[u8], mode: OpenMode) -> Option<FileHandle> {
        self.outside().open(path, mode)
    }

    fn close(&mut self, file: FileHandle) {
        self.outside().close(file);
    }

    /// The new position from the start.
    fn seek(&mut self, file: FileHandle, to: SeekFrom) -> Option<u64> {
        self.outside().seek(file, to)
    }

    fn flush(&mut self, file: FileHandle) {
        self.outside().flush(file);
    }

    fn remove(&mut self, path: &[u8]) -> bool {
        self.outside().remove(path)
    }

    /// Nanoseconds since 1970.
    fn clock(&mut self) -> u64 {
        self.outside().clock()
    }
}

/// No files, no input, output that is dropped, a clock that moves on by a microsecond whenever it is read, and zeros for
/// nondeterministic values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Isolated {
    clock: u64,
}

impl Environment for Isolated {
    fn outside(&mut self) -> &mut dyn Environment {
        self
    }

    fn nondet(&mut self, _: ThreadId, _: u16, _: Source) -> u128 {
        0
    }

    fn write(&mut self, _: FileHandle, _: &[u8]) -> bool {
        true
    }

    fn read(&mut self, _: FileHandle, _: &mut [u8]) -> Option<usize> {
        Some(0)
    }

    fn open(&mut self, _: &[u8], _: OpenMode) -> Option<FileHandle> {
        None
    }

    fn close(&mut self, _: FileHandle) {}

    fn seek(&mut self, _: FileHandle, _: SeekFrom) -> Option<u64> {
        None
    }

    fn flush(&mut self, _: FileHandle) {}

    fn remove(&mut self, _: &[u8]) -> bool {
        false
    }

    fn clock(&mut self) -> u64 {
        self.clock += 1000;
        self.clock
    }
}

/// Everything in memory: nondeterministic values from a seed, a clock that moves on by a microsecond whenever
/// someone looks at it, and files of its own.
#[derive(Clone, Debug)]
pub struct Captured {
    pub input: Vec<u8>,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
    consumed: usize,
    open: BTreeMap<FileHandle, OpenFile>,
    random: Prng,
    time: u64,
}

#[derive(Clone, Debug)]
struct OpenFile {
    path: Vec<u8>,
    position: usize,
    mode: OpenMode,
}

impl Captured {
    pub fn new(seed: u64) -> Captured {
        Captured {
            input: Vec::new(),
            output: Vec::new(),
            errors: Vec::new(),
            files: BTreeMap::new(),
            consumed: 0,
            open: BTreeMap::new(),
            random: Prng::new(seed),
            time: 1_000_000_000_000_000_000,
        }
    }
}

impl Environment for Captured {
    fn outside(&mut self) -> &mut dyn Environment {
        self
    }

    fn nondet(&mut self, _: ThreadId, width: u16, _: Source) -> u128 {
        self.random.value(width)
    }

    fn write(&mut self, file: FileHandle, bytes: &[u8]) -> bool {
        match file {
            FileHandle::OUTPUT => self.output.extend_from_slice(bytes),
            FileHandle::ERROR => self.errors.extend_from_slice(bytes),
            _ => {
                let Some(open) = self.open.get_mut(&file).filter(|open| open.mode.write) else { return false };
                let contents = self.files.entry(open.path.clone()).or_default();
                if open.mode.append {
                    open.position = contents.len();
                }
                let end = open.position + bytes.len();
                contents.resize(contents.len().max(end), 0);
                contents[open.position..end].copy_from_slice(bytes);
                open.position = end;
            }
        }
        true
    }

    fn read(&mut self, file: FileHandle, buffer: &mut [u8]) -> Option<usize> {
        let (contents, position) = match file {
            FileHandle::INPUT => (&self.input, &mut self.consumed),
            _ => {
                let open = self.open.get_mut(&file).filter(|open| open.mode.read)?;
                (self.files.get(&open.path)?, &mut open.position)
            }
        };
        let rest = contents.get(*position..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        *position += count;
        Some(count)
    }

    fn open(&mut self, path: &[u8], mode: OpenMode) -> Option<FileHandle> {
        if !self.files.contains_key(path) && !mode.create {
            return None;
        }
        let contents = self.files.entry(path.to_vec()).or_default();
        if mode.truncate {
            contents.clear();
        }
        let handle = FileHandle(self.open.keys().next_back().map_or(3, |last| last.0 + 1));
        self.open.insert(handle, OpenFile { path: path.to_vec(), position: 0, mode });
        Some(handle)
    }

    fn close(&mut self, file: FileHandle) {
        self.open.remove(&file);
    }

    fn seek(&mut self, file: FileHandle, to: SeekFrom) -> Option<u64> {
        let open = self.open.get_mut(&file)?;
        let end = self.files.get(&open.path).map_or(0, Vec::len);
        let position = match to {
            SeekFrom::Start(offset) => offset as i64,
            SeekFrom::Current(offset) => open.position as i64 + offset,
            SeekFrom::End(offset) => end as i64 + offset,
        };
        open.position = usize::try_from(position).ok()?;
        Some(open.position as u64)
    }

    fn flush(&mut self, _: FileHandle) {}

    fn remove(&mut self, path: &[u8]) -> bool {
        self.files.remove(path).is_some()
    }

    fn clock(&mut self) -> u64 {
        self.time += 1000;
        self.time
    }
}

/// Standard input and output, the real file system and the real clock.
pub struct Terminal {
    random: Prng,
    output: Vec<u8>,
    open: BTreeMap<FileHandle, BufReader<File>>,
}

/// Output is passed on when this much has gathered, and whenever it might be looked at.
const GATHERED: usize = 1 << 16;

impl Terminal {
    pub fn new(seed: u64) -> Terminal {
        Terminal { random: Prng::new(seed), output: Vec::new(), open: BTreeMap::new() }
    }

    fn pass_on(&mut self) -> bool {
        let mut stdout = io::stdout().lock();
        let passed = stdout.write_all(&self.output).and_then(|()| stdout.flush());
        self.output.clear();
        passed.is_ok()
    }
}

/// Writes at the position that the reader has come to, which is not where the file is when more was read in advance.
fn write_where_read(file: &mut BufReader<File>, bytes: &[u8]) -> io::Result<()> {
    if !file.buffer().is_empty() {
        let position = file.stream_position()?;
        file.seek(SeekFrom::Start(position))?;
    }
    file.get_mut().write_all(bytes)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.pass_on();
    }
}

impl Environment for Terminal {
    fn outside(&mut self) -> &mut dyn Environment {
        self
    }

    fn nondet(&mut self, _: ThreadId, width: u16, _: Source) -> u128 {
        self.random.value(width)
    }

    fn write(&mut self, file: FileHandle, bytes: &[u8]) -> bool {
        match file {
            FileHandle::OUTPUT => {
                self.output.extend_from_slice(bytes);
                self.output.len() < GATHERED || self.pass_on()
            }
            FileHandle::ERROR => self.pass_on() && io::stderr().write_all(bytes).is_ok(),
            _ => self.open.get_mut(&file).is_some_and(|file| write_where_read(file, bytes).is_ok()),
        }
    }

    fn read(&mut self, file: FileHandle, buffer: &mut [u8]) -> Option<usize> {
        match file {
            FileHandle::INPUT => {
                self.pass_on();
                io::stdin().lock().read(buffer).ok()
            }
            _ => self.open.get_mut(&file)?.read(buffer).ok(),
        }
    }

    fn open(&mut self, path: &[u8], mode: OpenMode) -> Option<FileHandle> {
        let path = std::str::from_utf8(path).ok()?;
        let file = OpenOptions::new()
            .read(mode.read)
            .write(mode.write && !mode.append)
            .append(mode.append)
            .truncate(mode.truncate)
            .create(mode.create)
            .open(path)
            .ok()?;
        let handle = FileHandle(self.open.keys().next_back().map_or(3, |last| last.0 + 1));
        self.open.insert(handle, BufReader::new(file));
        Some(handle)
    }

    fn close(&mut self, file: FileHandle) {
        self.open.remove(&file);
    }

    fn seek(&mut self, file: FileHandle, to: SeekFrom) -> Option<u64> {
        self.open.get_mut(&file)?.seek(to).ok()
    }

    fn flush(&mut self, _: FileHandle) {
        self.pass_on();
    }

    fn remove(&mut self, path: &[u8]) -> bool {
        std::str::from_utf8(path).is_ok_and(|path| std::fs::remove_file(path).is_ok())
    }

    fn clock(&mut self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
    }
}
