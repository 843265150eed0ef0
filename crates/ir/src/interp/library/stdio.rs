//! Streams: `printf` and its family, characters and lines, files; and the few other functions that reach the outside.
//!
//! A `FILE` is an opaque library object; what the program holds is its address. The machine knows for each whether
//! its end was seen and what was pushed back, the environment has the file itself.

use super::external::{Checked, Known, Native, NativeCall, VariableArguments};
use super::format::format;
use crate::interp::memory::violation::ViolationKind::OverlappingCopy;
use crate::interp::thread::enabled::Footprint;
use crate::interp::thread::environment::{FileHandle, OpenMode};
use crate::interp::thread::machine::Machine;
use crate::interp::value::Value;
use crate::library_memory::Arguments;
use std::collections::BTreeMap;
use std::io::SeekFrom;

/// What the library keeps between calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(in crate::interp) struct Library {
    streams: BTreeMap<u64, Stream>,
    /// Texts that were given out once stay where they are.
    texts: BTreeMap<&'static str, u64>,
}

impl Library {
    /// The objects that it keeps addresses of.
    pub(in crate::interp) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.streams.keys().chain(self.texts.values()).copied()
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stream {
    file: FileHandle,
    pushed_back: Vec<u8>,
    at_end: bool,
    failed: bool,
}

const EOF: i32 = -1;

/// Linux has this many clocks, and those of single threads and processes, which are negative numbers and not known here.
const LAST_CLOCK: u32 = 11;

pub(in crate::interp) const KNOWN: [Known; 62] = [
    Known::variadic("printf", |call| {
        let text = formatted(call, 0, Arguments::Area(1))?;
        put(call, FileHandle::OUTPUT, &text)
    }),
    Known::new("vprintf", |call| {
        let text = formatted(call, 0, Arguments::List(1))?;
        put(call, FileHandle::OUTPUT, &text)
    }),
    Known::variadic("fprintf", |call| {
        let text = formatted(call, 1, Arguments::Area(2))?;
        put_to_stream(call, 0, &text)
    }),
    Known::new("vfprintf", |call| {
        let text = formatted(call, 1, Arguments::List(2))?;
        put_to_stream(call, 0, &text)
    }),
    Known::variadic("dprintf", |call| {
        let text = formatted(call, 1, Arguments::Area(2))?;
        match descriptor(call)? {
            Some(file) => put(call, file, &text),
            None => Ok(int(-1)),
        }
    }),
    Known::new("vdprintf", |call| {
        let text = formatted(call, 1, Arguments::List(2))?;
        match descriptor(call)? {
            Some(file) => put(call, file, &text),
            None => Ok(int(-1)),
        }
    }),
    Known::variadic("sprintf", |call| {
        let text = formatted(call, 1, Arguments::Area(2))?;
        put_to_memory(call, u64::MAX, text)
    }),
    Known::new("vsprintf", |call| {
        let text = formatted(call, 1, Arguments::List(2))?;
        put_to_memory(call, u64::MAX, text)
    }),
    Known::variadic("snprintf", |call| {
        let text = formatted(call, 2, Arguments::Area(3))?;
        put_to_memory(call, call.word(1)?, text)
    }),
    Known::new("vsnprintf", |call| {
        let text = formatted(call, 2, Arguments::List(3))?;
        put_to_memory(call, call.word(1)?, text)
    }),
    Known::new("puts", |call| {
        let mut text = call.text(call.word(0)?, usize::MAX)?;
        text.push(b'\n');
        put(call, FileHandle::OUTPUT, &text)
    }),
    Known::new("fputs", put_text),
    Known::new("fputs_unlocked", put_text),
    Known::new("putchar", put_to_output),
    Known::new("putchar_unlocked", put_to_output),
    Known::new("putc", put_character),
    Known::new("putc_unlocked", put_character),
    Known::new("fputc", put_character),
    Known::new("fputc_unlocked", put_character),
    Known::new("_IO_putc", put_character),
    Known::new("fwrite", write_items),
    Known::new("fwrite_unlocked", write_items),
    Known::new("write", write_bytes),
    Known::new("pwrite", |call| at_position(call, write_bytes)),
    Known::new("pwrite64", |call| at_position(call, write_bytes)),
    Known::new("read", read_bytes),
    Known::new("pread", |call| at_position(call, read_bytes)),
    Known::new("pread64", |call| at_position(call, read_bytes)),
    Known::new("fread", read_items),
    Known::new("fread_unlocked", read_items),
    Known::new("fopen", open),
    Known::new("fopen64", open),
    Known::new("fclose", |call| {
        let address = stream_at(call, 0)?;
        if let Some(stream) = call.machine.library.streams.remove(&address) {
            call.env.flush(stream.file);
            call.env.close(stream.file);
        }
        let pc = call.machine.pc(call.thread);
        call.machine.memory.end(address, call.thread.0, pc);
        Ok(int(0))
    }),
    Known::new("fflush", |call| {
        let file = match call.word(0)? {
            0 => FileHandle::OUTPUT,
            _ => file_at(call, 0)?,
        };
        call.env.flush(file);
        Ok(int(0))
    }),
    Known::new("fgets", read_line),
    Known::new("fgets_unlocked", read_line),
    Known::new("getchar", get_from_input),
    Known::new("getchar_unlocked", get_from_input),
    Known::new("getc", get_character),
    Known::new("getc_unlocked", get_character),
    Known::new("fgetc", get_character),
    Known::new("fgetc_unlocked", get_character),
    Known::new("_IO_getc", get_character),
    Known::new("ungetc", |call| {
        let (character, address) = (call.int(0)?, stream_at(call, 1)?);
        if character == EOF {
            return Ok(int(EOF));
        }
        if let Some(stream) = call.machine.library.streams.get_mut(&address) {
            stream.pushed_back.push(character as u8);
            stream.at_end = false;
        }
        Ok(int((character as u8).into()))
    }),
    Known::new("feof", |call| {
        let address = steady_stream_at(call, 0)?;
        Ok(int(call.machine.library.streams.get(&address).is_some_and(|stream| stream.at_end).into()))
    }),
    Known::new("ferror", |call| {
        let address = steady_stream_at(call, 0)?;
        Ok(int(call.machine.library.streams.get(&address).is_some_and(|stream| stream.failed).into()))
    }),
    Known::new("clearerr", |call| {
        let address = stream_at(call, 0)?;
        if let Some(stream) = call.machine.library.streams.get_mut(&address) {
            (stream.at_end, stream.failed) = (false, false);
        }
        Ok(int(0))
    }),
    Known::new("fileno", |call| {
        let file = file_at(call, 0)?;
        Ok(int(file.0 as i32))
    }),
    Known::new("fseek", |call| {
        let (offset, whence) = (call.long(1)?, call.int(2)?);
        let sought = seek(call, offset, whence)?;
        Ok(int(if sought.is_some() { 0 } else { -1 }))
    }),
    Known::new("ftell", |call| {
        let pushed_back = {
            let address = stream_at(call, 0)?;
            call.machine.library.streams.get(&address).map_or(0, |stream| stream.pushed_back.len())
        };
        let file = file_at(call, 0)?;
        let position = call.env.seek(file, SeekFrom::Current(0));
        Ok(signed(position.map_or(-1, |position| position as i64 - pushed_back as i64)))
    }),
    Known::new("rewind", |call| {
        seek(call, 0, 0)?;
        Ok(int(0))
    }),
    Known::new("remove", |call| {
        let path = call.text(call.word(0)?, usize::MAX)?;
        Ok(int(if call.env.remove(&path) { 0 } else { -1 }))
    }),
    Known::new("unlink", |call| {
        let path = call.text(call.word(0)?, usize::MAX)?;
        Ok(int(if call.env.remove(&path) { 0 } else { -1 }))
    }),
    Known::new("setvbuf", |_| Ok(int(0))),
    Known::new("setbuf", |_| Ok(int(0))),
    Known::new("perror", |call| {
        let mut text = match call.word(0)? {
            0 => Vec::new(),
            address => call.text(address, usize::MAX)?,
        };
        if !text.is_empty() {
            text.extend_from_slice(b": ");
        }
        text.extend_from_slice(error_text(error_number(call)).as_bytes());
        text.push(b'\n');
        put(call, FileHandle::ERROR, &text)
    }),
    Known::new("strerror", |call| {
        let text = error_text(call.int(0)?);
        Ok(Value::defined(lasting_text(call, text).into()))
    }),
    Known::new("getenv", |call| {
        call.text(call.word(0)?, usize::MAX)?;
        Ok(Value::defined(0))
    }),
    Known::new("time", |call| {
        let seconds = call.env.clock() / 1_000_000_000;
        let destination = call.word(0)?;
        if destination != 0 {
            let len = call.pointer_bytes() as usize;
            call.write(destination, &seconds.to_le_bytes()[..len])?;
        }
        Ok(Value::defined(seconds.into()))
    }),
    Known::new("clock", |call| Ok(Value::defined((call.env.clock() / 1000 % (1 << 31)).into()))),
    Known::new("gettimeofday", |call| write_time(call, 0, 1000)),
    Known::new("clock_gettime", |call| {
        if call.word(0)? as u32 > LAST_CLOCK {
            set_error_number(call, 22);
            return Ok(int(-1));
        }
        write_time(call, 1, 1)
    }),
];

fn int(value: i32) -> Value {
    Value::defined((value as u32).into())
}

/// A result that is a `long`, or a pointer-sized number; its destination cuts it down.
fn signed(value: i64) -> Value {
    Value::defined((value as u64).into())
}

fn formatted(call: &mut NativeCall<'_, '_>, format_index: usize, arguments: Arguments) -> Checked<Vec<u8>> {
    let text = call.text(call.word(format_index)?, usize::MAX)?;
    if !text.contains(&b'%') {
        return Ok(text);
    }
    let mut arguments = VariableArguments::new(call, arguments)?;
    format(call, &text, &mut arguments)
}

/// Writes to an open file; the result is how many bytes that were.
fn put(call: &mut NativeCall<'_, '_>, file: FileHandle, text: &[u8]) -> Checked<Value> {
    let written = call.env.write(file, text);
    Ok(int(if written { text.len() as i32 } else { -1 }))
}

fn put_to_stream(call: &mut NativeCall<'_, '_>, index: usize, text: &[u8]) -> Checked<Value> {
    let stream = steady_stream_at(call, index)?;
    let written = put_to(call, stream, text)?;
    Ok(int(if written { text.len() as i32 } else { -1 }))
}

fn put_to(call: &mut NativeCall<'_, '_>, address: u64, text: &[u8]) -> Checked<bool> {
    let Some(stream) = call.machine.library.streams.get_mut(&address) else { return Ok(false) };
    let written = call.env.write(stream.file, text);
    stream.failed |= !written;
    Ok(written)
}

/// `putc`
fn put_character(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let byte = call.int(0)? as u8;
    put_to_stream(call, 1, &[byte])?;
    Ok(int(byte.into()))
}

/// `putchar`
fn put_to_output(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let byte = call.int(0)? as u8;
    put(call, FileHandle::OUTPUT, &[byte])?;
    Ok(int(byte.into()))
}

/// `fputs`
fn put_text(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let text = call.text(call.word(0)?, usize::MAX)?;
    put_to_stream(call, 1, &text)
}

/// `fwrite`
fn write_items(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let (size, count) = (call.word(1)?, call.word(2)?);
    let Some(len) = size.checked_mul(count) else { return Err(call.invalid("the size overflows".to_string())) };
    let bytes = call.read(call.word(0)?, len)?;
    let stream = steady_stream_at(call, 3)?;
    let written = put_to(call, stream, &bytes)?;
    Ok(Value::defined(if written { count.into() } else { 0 }))
}

/// `write`
fn write_bytes(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let Some(file) = descriptor(call)? else { return Ok(signed(-1)) };
    let bytes = call.read(call.word(1)?, call.word(2)?)?;
    let written = call.env.write(file, &bytes);
    Ok(signed(if written { bytes.len() as i64 } else { -1 }))
}

/// Writes a string to where parameter 0 points: at most `size` bytes with its end. The result is its whole length.
fn put_to_memory(call: &mut NativeCall<'_, '_>, size: u64, mut text: Vec<u8>) -> Checked<Value> {
    let len = text.len();
    if size > 0 {
        text.truncate(size as usize - 1);
        text.push(0);
        let target = call.word(0)?;
        if call.has_touched(target, text.len() as u64) {
            return Err(call.violation(OverlappingCopy, "the source and the target overlap".to_string()));
        }
        call.write(target, &text)?;
    }
    Ok(int(len as i32))
}

/// The file descriptor that is the first argument; a negative one is never open.
fn descriptor(call: &NativeCall<'_, '_>) -> Checked<Option<FileHandle>> {
    Ok(u32::try_from(call.int(0)?).ok().map(FileHandle))
}

/// The stream that a parameter points to.
pub(in crate::interp) fn stream_at(call: &mut NativeCall<'_, '_>, index: usize) -> Checked<u64> {
    used_stream(call, index, true)
}

/// The stream that a parameter points to, for a use that commutes with others of its kind: output is not observed.
fn steady_stream_at(call: &mut NativeCall<'_, '_>, index: usize) -> Checked<u64> {
    used_stream(call, index, false)
}

/// A stream has a lock of its own, so that using it is an atomic access.
fn used_stream(call: &mut NativeCall<'_, '_>, index: usize, changes: bool) -> Checked<u64> {
    let address = call.word(index)?;
    call.touch(Footprint { address, len: 1, writes: changes, atomic: true });
    if call.machine.library.streams.contains_key(&address) {
        return Ok(address);
    }
    call.machine.memory.room(address).map_err(|fault| call.fault(fault))?;
    let what = call.machine.describe_address(address);
    Err(call.invalid(format!("{what} is not an open stream")))
}

fn file_at(call: &mut NativeCall<'_, '_>, index: usize) -> Checked<FileHandle> {
    let address = steady_stream_at(call, index)?;
    Ok(call.machine.library.streams[&address].file)
}

/// The stream of the standard input, if the program has one.
pub(in crate::interp) fn standard_input(call: &mut NativeCall<'_, '_>) -> Option<u64> {
    let mut streams = call.machine.library.streams.iter();
    let address = streams.find(|(_, stream)| stream.file == FileHandle::INPUT).map(|(address, _)| *address)?;
    call.touch(Footprint { address, len: 1, writes: true, atomic: true });
    Some(address)
}

/// The next byte of a stream.
pub(in crate::interp) fn get(call: &mut NativeCall<'_, '_>, address: u64) -> Checked<Option<u8>> {
    let Some(stream) = call.machine.library.streams.get_mut(&address) else { return Ok(None) };
    if let Some(byte) = stream.pushed_back.pop() {
        return Ok(Some(byte));
    }
    let mut buffer = [0];
    match call.env.read(stream.file, &mut buffer) {
        Some(1) => return Ok(Some(buffer[0])),
        Some(_) => stream.at_end = true,
        None => stream.failed = true,
    }
    Ok(None)
}

/// Gives a byte back that was read too many.
pub(in crate::interp) fn push_back(call: &mut NativeCall<'_, '_>, address: u64, byte: u8) {
    if let Some(stream) = call.machine.library.streams.get_mut(&address) {
        stream.pushed_back.push(byte);
    }
}

/// `getc`
fn get_character(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let stream = stream_at(call, 0)?;
    Ok(int(get(call, stream)?.map_or(EOF, i32::from)))
}

/// `getchar`
fn get_from_input(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let Some(stream) = standard_input(call) else { return Ok(int(EOF)) };
    Ok(int(get(call, stream)?.map_or(EOF, i32::from)))
}

/// `fgets`
fn read_line(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let (destination, size) = (call.word(0)?, call.int(1)?);
    let stream = stream_at(call, 2)?;
    call.may_receive(destination, u64::try_from(size).unwrap_or(0));
    let mut line = Vec::new();
    while (line.len() as i64) < i64::from(size) - 1 && line.last() != Some(&b'\n') {
        let Some(byte) = get(call, stream)? else { break };
        line.push(byte);
    }
    if line.is_empty() && size != 1 {
        return Ok(Value::defined(0));
    }
    line.push(0);
    call.write(destination, &line)?;
    Ok(Value::defined(destination.into()))
}

/// `fread`
fn read_items(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let (size, count) = (call.word(1)?, call.word(2)?);
    let stream = stream_at(call, 3)?;
    call.may_receive(call.word(0)?, size.saturating_mul(count));
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < size.saturating_mul(count) {
        let Some(byte) = get(call, stream)? else { break };
        bytes.push(byte);
    }
    call.write(call.word(0)?, &bytes)?;
    Ok(Value::defined((bytes.len() as u64).checked_div(size).unwrap_or(0).into()))
}

/// `read`
fn read_bytes(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let Some(file) = descriptor(call)? else { return Ok(signed(-1)) };
    let (destination, size) = (call.word(1)?, call.word(2)?);
    call.may_receive(destination, size);
    let mut buffer = vec![0; size.min(1 << 20) as usize];
    match call.env.read(file, &mut buffer) {
        Some(count) => {
            call.write(destination, &buffer[..count])?;
            Ok(signed(count as i64))
        }
        None => Ok(signed(-1)),
    }
}

/// `pread`, `pwrite`: at a position of the file, which stays where it was for others.
fn at_position(call: &mut NativeCall<'_, '_>, transfer: Native) -> Checked<Value> {
    let Some(file) = descriptor(call)? else { return Ok(signed(-1)) };
    let position = call.long(3)?;
    let before = call.env.seek(file, SeekFrom::Current(0));
    let (Some(before), Ok(position)) = (before, u64::try_from(position)) else {
        // Its memory is used all the same.
        transfer(call)?;
        return Ok(signed(-1));
    };
    call.env.seek(file, SeekFrom::Start(position));
    let result = transfer(call);
    call.env.seek(file, SeekFrom::Start(before));
    result
}

fn open(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let path = call.text(call.word(0)?, usize::MAX)?;
    let mode = call.text(call.word(1)?, usize::MAX)?;
    let update = mode.contains(&b'+');
    let mode = match mode.first() {
        Some(b'r') => OpenMode { read: true, write: update, ..OpenMode::default() },
        Some(b'w') => OpenMode { read: update, write: true, truncate: true, create: true, append: false },
        Some(b'a') => OpenMode { read: update, write: true, truncate: false, create: true, append: true },
        _ => return Ok(Value::defined(0)),
    };
    Ok(Value::defined(match call.env.open(&path, mode) {
        Some(file) => call.machine.new_stream(file).into(),
        None => 0,
    }))
}

fn seek(call: &mut NativeCall<'_, '_>, offset: i64, whence: i32) -> Checked<Option<u64>> {
    let address = stream_at(call, 0)?;
    let Some(stream) = call.machine.library.streams.get_mut(&address) else { return Ok(None) };
    let pushed_back = stream.pushed_back.len() as i64;
    let to = match whence {
        0 if offset >= 0 => SeekFrom::Start(offset as u64),
        1 => SeekFrom::Current(offset - pushed_back),
        2 => SeekFrom::End(offset),
        _ => return Ok(None),
    };
    stream.pushed_back.clear();
    stream.at_end = false;
    Ok(call.env.seek(stream.file, to))
}

/// Writes seconds and a fraction of `unit` nanoseconds, both `long`s, to where a parameter points.
fn write_time(call: &mut NativeCall<'_, '_>, index: usize, unit: u64) -> Checked<Value> {
    let now = call.env.clock();
    let len = call.pointer_bytes() as usize;
    let mut bytes = (now / 1_000_000_000).to_le_bytes()[..len].to_vec();
    bytes.extend_from_slice(&(now % 1_000_000_000 / unit).to_le_bytes()[..len]);
    let destination = call.word(index)?;
    if destination != 0 {
        call.write(destination, &bytes)?;
    }
    Ok(int(0))
}

/// The address of a constant text, the same each time.
fn lasting_text(call: &mut NativeCall<'_, '_>, text: &'static str) -> u64 {
    if let Some(address) = call.machine.library.texts.get(text) {
        return *address;
    }
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    let address = call.machine.new_library_object(&bytes);
    call.machine.library.texts.insert(text, address);
    address
}

/// The value of `errno`: a thread-local object of that name, if the program has one.
fn error_number(call: &NativeCall<'_, '_>) -> i32 {
    let value = place_of_error(call).and_then(|address| call.machine.peek(address, 4).ok());
    value.map_or(0, |value| value.bits as i32)
}

fn set_error_number(call: &mut NativeCall<'_, '_>, error: i32) {
    if let Some(address) = place_of_error(call) {
        // (It is there as long as its thread.)
        let _ = call.machine.memory.write_slice(address, &error.to_le_bytes());
    }
}

fn place_of_error(call: &NativeCall<'_, '_>) -> Option<u64> {
    let image = call.machine.image();
    let position = image.thread_locals.iter().position(|id| image.program.objects[*id].name.ends_with("errno"))?;
    call.machine.threads()[call.thread].thread_locals.get(position).copied()
}

fn error_text(number: i32) -> &'static str {
    match number {
        0 => "Success",
        1 => "Operation not permitted",
        2 => "No such file or directory",
        3 => "No such process",
        4 => "Interrupted system call",
        5 => "Input/output error",
        9 => "Bad file descriptor",
        10 => "No child processes",
        11 => "Resource temporarily unavailable",
        12 => "Cannot allocate memory",
        13 => "Permission denied",
        14 => "Bad address",
        16 => "Device or resource busy",
        17 => "File exists",
        20 => "Not a directory",
        21 => "Is a directory",
        22 => "Invalid argument",
        24 => "Too many open files",
        28 => "No space left on device",
        32 => "Broken pipe",
        33 => "Numerical argument out of domain",
        34 => "Numerical result out of range",
        35 => "Resource deadlock avoided",
        38 => "Function not implemented",
        75 => "Value too large for defined data type",
        95 => "Operation not supported",
        110 => "Connection timed out",
        _ => "Unknown error",
    }
}

impl Machine<'_> {
    fn new_stream(&mut self, file: FileHandle) -> u64 {
        let address = self.new_library_object(b"FILE");
        let stream = Stream { file, pushed_back: Vec::new(), at_end: false, failed: false };
        self.library.streams.insert(address, stream);
        address
    }

    /// Gives `stdin`, `stdout` and `stderr` their contents, where the program declares them.
    pub(in crate::interp) fn open_standard_streams(&mut self) {
        let pointer = self.program().model.pointer_bytes() as usize;
        let names = [("stdin", FileHandle::INPUT), ("stdout", FileHandle::OUTPUT), ("stderr", FileHandle::ERROR)];
        for (name, file) in names {
            let stream = self.new_stream(file);
            if let Some(address) = self.external_object(name) {
                // They are given a value once and for all: they no longer count as unknown.
                let _ = self.memory.write_slice(address, &stream.to_le_bytes()[..pointer]);
            }
        }
    }
}
