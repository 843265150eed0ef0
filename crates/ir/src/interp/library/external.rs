//! Functions without a body that Leno knows by name.
//!
//! The table here is the single source of truth: the front end declares what it finds in it as known
//! ([`is_known_external`]), and the interpreter runs it. A native function makes all its memory accesses in one step,
//! each of them checked like a load or store, and recorded ([`Machine::library_accesses`]). What a function may access
//! is also in [`crate::library_memory`], for those who cannot run it.

use super::calendar;
use super::maths;
use super::scan;
use super::stdio;
use crate::interp::memory::violation::{Fault, Violation, ViolationKind};
use crate::interp::thread::enabled::Footprint;
use crate::interp::thread::environment::{Captured, Environment};
use crate::interp::thread::image::Image;
use crate::interp::thread::machine::{MAIN, Machine, Options, ThreadId};
use crate::interp::value::Value;
use crate::library_memory::{Arguments, written_parameters};
use crate::program::{DataModel, External, FloatKind, FuncId, Program};

pub(in crate::interp) type Checked<T> = Result<T, Box<Violation>>;

/// Runs one call and gives its result.
pub(in crate::interp) type Native = fn(&mut NativeCall<'_, '_>) -> Checked<Value>;

/// A known function.
pub(in crate::interp) struct Known {
    pub name: &'static str,
    pub native: Native,
    pub pure: bool,
    /// The last parameter is the address of a variable-argument area.
    pub variadic: bool,
}

impl Known {
    pub const fn new(name: &'static str, native: Native) -> Known {
        Known { name, native, pure: false, variadic: false }
    }

    pub const fn pure(name: &'static str, native: Native) -> Known {
        Known { name, native, pure: true, variadic: false }
    }

    pub const fn variadic(name: &'static str, native: Native) -> Known {
        Known { name, native, pure: false, variadic: true }
    }
}

fn known(name: &str) -> Option<&'static Known> {
    let tables: [&'static [Known]; 4] = [&stdio::KNOWN, &scan::KNOWN, &maths::KNOWN, &calendar::KNOWN];
    tables.into_iter().flatten().find(|known| known.name == name)
}

/// What is known of a library function: how to declare it. `None` for a function that Leno has no model of.
pub fn is_known_external(name: &str) -> Option<External> {
    let known = known(name)?;
    Some(External { known: true, pure: known.pure, writes: written_parameters(name), variadic: known.variadic })
}

/// What a known function gives that depends on nothing but its arguments; none if there is no such function.
pub fn pure_call(model: DataModel, name: &str, arguments: &[u128]) -> Option<u128> {
    let known = known(name).filter(|known| known.pure)?;
    // It does not look at the machine. (Nor does it want more than three arguments: one that is missing is 0.)
    let program = Program { model, ..Program::default() };
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    let args = arguments.iter().copied().chain([0; 3]).map(Value::defined).collect();
    let result = machine.run_native(MAIN, FuncId(0), known.native, args, &mut Captured::new(0));
    result.ok().map(|value| value.bits)
}

pub(in crate::interp) fn native(name: &str) -> Option<Native> {
    known(name).map(|known| known.native)
}

/// A call in progress: the arguments, and access to the machine and the world.
pub(in crate::interp) struct NativeCall<'m, 'p> {
    pub machine: &'m mut Machine<'p>,
    pub env: &'m mut dyn Environment,
    pub thread: ThreadId,
    func: FuncId,
    args: Vec<Value>,
}

impl<'p> Machine<'p> {
    pub(in crate::interp) fn run_native(
        &mut self,
        thread: ThreadId,
        func: FuncId,
        native: Native,
        args: Vec<Value>,
        env: &mut dyn Environment,
    ) -> Checked<Value> {
        self.touched.clear();
        native(&mut NativeCall { machine: self, env, thread, func, args })
    }
}

impl NativeCall<'_, '_> {
    pub fn name(&self) -> &str {
        &self.machine.image().functions[self.func].name
    }

    pub fn pointer_bytes(&self) -> u64 {
        self.machine.program().model.pointer_bytes()
    }

    /// The bits of an argument, which must be there and defined.
    pub fn bits(&self, index: usize) -> Checked<u128> {
        match self.args.get(index) {
            Some(value) if value.is_defined() => Ok(value.bits),
            _ => Err(self.uninitialised()),
        }
    }

    /// An argument as an address or another unsigned number.
    pub fn word(&self, index: usize) -> Checked<u64> {
        Ok(self.bits(index)? as u64)
    }

    /// An argument as a C `int`.
    pub fn int(&self, index: usize) -> Checked<i32> {
        Ok(self.bits(index)? as i32)
    }

    /// An argument as a C `long`.
    pub fn long(&self, index: usize) -> Checked<i64> {
        let bits = self.word(index)?;
        Ok(if self.pointer_bytes() == 4 { i64::from(bits as i32) } else { bits as i64 })
    }

    pub fn violation(&self, kind: ViolationKind, message: String) -> Box<Violation> {
        self.machine.violation(self.thread, kind, format!("{message}, in a call of `{}`", self.name()))
    }

    pub fn invalid(&self, message: String) -> Box<Violation> {
        self.violation(ViolationKind::InvalidArgument, message)
    }

    pub fn uninitialised(&self) -> Box<Violation> {
        self.violation(ViolationKind::Uninitialised, "an uninitialised value is used".to_string())
    }

    pub fn fault(&self, fault: Fault) -> Box<Violation> {
        let message = self.machine.message_for(fault);
        self.violation(fault.kind, message)
    }

    /// Records an access, valid or not, as one with the last if it goes on where that ended.
    pub fn touch(&mut self, access: Footprint) {
        if access.len == 0 {
            return;
        }
        match self.machine.touched.last_mut() {
            Some(last)
                if last.address.checked_add(last.len) == Some(access.address)
                    && (last.writes, last.atomic) == (access.writes, access.atomic) =>
            {
                last.len += access.len;
            }
            _ => self.machine.touched.push(access),
        }
    }

    /// Whether some of these bytes were accessed already by this call.
    pub fn has_touched(&self, address: u64, len: u64) -> bool {
        let mut accesses = self.machine.touched.iter();
        accesses.any(|access| access.address < address.saturating_add(len) && address < access.address + access.len)
    }

    /// Records that bytes from outside may be written here, as many as there is room for.
    pub fn may_receive(&mut self, address: u64, most: u64) {
        let len = self.machine.memory.room(address).map_or(1, |room| room.min(most));
        self.touch(Footprint { address, len, writes: true, atomic: false });
    }

    /// Bytes from memory, which must be defined.
    pub fn read(&mut self, address: u64, len: u64) -> Checked<Vec<u8>> {
        self.touch(Footprint { address, len, writes: false, atomic: false });
        match self.machine.memory.bytes(address, len) {
            Ok((bytes, true)) => Ok(bytes),
            Ok((bytes, false)) => (0..bytes.len() as u64).map(|index| self.byte(address + index)).collect(),
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// A byte from memory, which must be defined.
    pub fn read_byte(&mut self, address: u64) -> Checked<u8> {
        self.touch(Footprint { address, len: 1, writes: false, atomic: false });
        self.byte(address)
    }

    fn byte(&mut self, address: u64) -> Checked<u8> {
        match self.machine.memory.load_defined(address, 1) {
            Ok(Some(byte)) => Ok(byte as u8),
            Ok(None) => {
                let value = self.machine.load(self.thread, address, 8, self.env)?;
                if value.is_defined() { Ok(value.bits as u8) } else { Err(self.uninitialised()) }
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Checked<()> {
        self.touch(Footprint { address, len: bytes.len() as u64, writes: true, atomic: false });
        let written = self.machine.memory.write_slice(address, bytes);
        written.map_err(|fault| self.fault(fault))
    }

    /// The bytes of a string: up to its end or `most` of them.
    pub fn text(&mut self, address: u64, most: usize) -> Checked<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < most {
            match self.read_byte(address.wrapping_add(text.len() as u64))? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Ok(text)
    }

    /// A string of wide characters, as far as the C locale can show it.
    pub fn wide_text(&mut self, address: u64, most: usize) -> Checked<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < most {
            let bytes = self.read(address + 4 * text.len() as u64, 4)?;
            match u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) {
                0 => break,
                character @ 1..=127 => text.push(character as u8),
                _ => text.push(b'?'),
            }
        }
        Ok(text)
    }
}

/// Walks over variable arguments as the target's stack holds them.
#[derive(Clone)]
pub(in crate::interp) struct VariableArguments {
    next: u64,
    model: DataModel,
}

impl VariableArguments {
    pub fn new(call: &mut NativeCall<'_, '_>, arguments: Arguments) -> Checked<VariableArguments> {
        match arguments {
            Arguments::Area(index) => VariableArguments::area(call, index as usize),
            Arguments::List(index) => VariableArguments::list(call, index as usize),
        }
    }

    /// From the address of the area: the last parameter of a variadic function.
    fn area(call: &NativeCall<'_, '_>, index: usize) -> Checked<VariableArguments> {
        Ok(VariableArguments { next: call.word(index)?, model: call.machine.program().model })
    }

    /// From a `va_list`: on LP64 a pointer to a structure that has the area's address at 8, on ILP32 the address.
    fn list(call: &mut NativeCall<'_, '_>, index: usize) -> Checked<VariableArguments> {
        let model = call.machine.program().model;
        let list = call.word(index)?;
        let next = match model {
            DataModel::Lp64 => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&call.read(list.wrapping_add(8), 8)?);
                u64::from_le_bytes(bytes)
            }
            DataModel::Ilp32 => list,
        };
        Ok(VariableArguments { next, model })
    }

    /// An integer of `bytes` bytes (less than an `int` was promoted), zero-extended.
    pub fn integer(&mut self, call: &mut NativeCall<'_, '_>, bytes: u64) -> Checked<u64> {
        let cell = self.model.pointer_bytes();
        let read = call.read(self.next, bytes.clamp(1, 8))?;
        self.next += bytes.max(cell).next_multiple_of(cell);
        Ok(read.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// The bits of a `double` or a `long double`.
    pub fn float(&mut self, call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<u128> {
        let (align, size) = match (kind, self.model) {
            (FloatKind::F80, DataModel::Lp64) => (16, 16),
            (FloatKind::F80, DataModel::Ilp32) => (4, 12),
            _ => (1, 8),
        };
        // The area begins at a multiple of 16, in its own granule.
        self.next = self.next.checked_next_multiple_of(align).unwrap_or(self.next);
        let read = call.read(self.next, u64::from(kind.bits() / 8))?;
        self.next += size;
        Ok(read.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte)))
    }
}
