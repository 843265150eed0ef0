//! Calls of functions that are not part of the program: what they read and write, and whom they may wait for.
//!
//! What a library function reads and writes was recorded between its call and its return. It is one step: its accesses
//! are one event. Where what it writes or returns depends on what it reads, it is the recorded one only if the reads
//! are. Of a function that nobody knows the accesses are not known either, and the report says so.

use crate::program::event::{Kind, OutsideStep};
use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, ones};
use crate::walk::listener::{LeftOut, LibraryAccess, Listener, MemoryAccess};
use crate::walk::objects::InstanceId;
use crate::walk::problem::WalkResult;
use crate::walk::thread::InputValue;
use leno_ir::library_memory::{Touch, only_shows, touches};
use leno_ir::program::{Body, Callee, FuncId, LocalId, Program};
use leno_trace::{Communication, Record, ThreadIndex};

/// The longest area of variable arguments that is looked at.
const MOST_ARGUMENT_BYTES: u64 = 256;

/// Memory that was touched during a call, with its contents.
struct Touched {
    address: u64,
    bytes: u64,
    writes: bool,
    contents: Vec<u8>,
}

/// What came of a call.
struct Returned {
    bits: u128,
    touched: Vec<Touched>,
}

/// Whether Leno knows what a function does that is not part of the program.
fn is_known(program: &Program, target: FuncId) -> bool {
    match &program.functions[target].body {
        Body::External(external) => external.known,
        Body::Blocks(_) => true,
    }
}

/// Arguments of a call and their widths.
type Values<'a> = &'a [(u32, ConcolicValue)];

impl<L: Listener> Walk<'_, '_, L> {
    /// A call of a function that is not part of the program.
    pub(crate) fn call_external(
        &mut self,
        id: ThreadIndex,
        callee: &Callee,
        target: Option<FuncId>,
        arguments: Values<'_>,
        dst: Option<LocalId>,
    ) -> WalkResult {
        let program = self.program;
        let is_known = target.is_some_and(|target| is_known(program, target));
        let name = target.map_or("a function", |target| program.functions[target].name.as_str());
        // The result may depend on the arguments in any way: it is the recorded one only if they are.
        if dst.is_some() {
            for (_, value) in arguments {
                self.assume_recorded(id, *value, LeftOut::Argument)?;
            }
        }
        let communication = Communication::of_call(self.program, callee);
        if communication.releases {
            match self.next(id)? {
                Record::Release { .. } => {}
                other => return Err(self.unexpected(id, "a call that others may notice", other)),
            }
        }
        let begin = self.position(id)?;
        if communication.releases && communication.acquires {
            let released = Kind::Outside(OutsideStep::Releases { is_all: false });
            self.listener.event(&mut self.terms, &begin, released);
        }
        let returned = self.skip_external_call(id, name)?;
        match is_known {
            true => self.library_accesses(id, name, arguments, returned.touched)?,
            false => self.unknown_accesses(id, name, arguments)?,
        }
        if communication.releases && !communication.acquires {
            // (The step is made here: a thread that is about to make its accesses has not released anything.)
            let released = Kind::Outside(OutsideStep::Releases { is_all: true });
            self.listener.event(&mut self.terms, &begin, released);
        }
        if communication.acquires {
            match self.next(id)? {
                Record::Sync { .. } => {}
                other => return Err(self.unexpected(id, "the end of a call that may wait for others", other)),
            }
            self.event(id, Kind::Outside(OutsideStep::Acquires))?;
        }
        if communication != Communication::default() {
            self.leave_out(id, LeftOut::OutsideOrder)?;
        }
        // The interpreter asks for the result of an unknown function, whether the program wants it or not.
        let returns = target.map_or(dst.is_some(), |target| program.functions[target].ret.is_some());
        if !is_known && returns {
            let place = self.position(id)?.place;
            self.thread(id)?.inputs.push(InputValue { bits: returned.bits, place });
        }
        let Some(dst) = dst else { return Ok(()) };
        let value = ConcolicValue::fixed(returned.bits & ones(self.local_width(id, dst)?));
        self.set(id, dst, value)
    }

    /// Skips the records of a call of an external function, and of all code that it called back. Gives its result.
    fn skip_external_call(&mut self, id: ThreadIndex, name: &str) -> WalkResult<Returned> {
        match self.next(id)? {
            Record::Call => {}
            other => return Err(self.unexpected(id, "a call", other)),
        }
        let (mut depth, mut touched, mut calls_back): (u32, Vec<Touched>, bool) = (1, Vec::new(), false);
        loop {
            let record = self.next(id)?;
            match record {
                Record::Return(bits) if depth == 1 => {
                    self.thread(id)?.hits = 0;
                    if calls_back {
                        self.callbacks.insert(name.to_string());
                    }
                    return Ok(Returned { bits, touched });
                }
                Record::Touched { address, bytes, writes } if depth == 1 => {
                    touched.push(Touched { address, bytes, writes, contents: Vec::new() });
                    continue;
                }
                Record::Bytes(bits) if depth == 1 => {
                    if let Some(last) = touched.last_mut() {
                        let missing = last.bytes.saturating_sub(last.contents.len() as u64).min(16) as usize;
                        last.contents.extend(&bits.to_le_bytes()[..missing]);
                    }
                    continue;
                }
                Record::Call => depth = depth.saturating_add(1),
                Record::Return(_) => depth -= 1,
                Record::Slot { .. } | Record::Allocated { .. } => self.thread(id)?.made += 1,
                Record::Freed { .. } => self.thread(id)?.freed += 1,
                Record::Value { .. } => self.thread(id)?.hits = 0,
                _ => {}
            }
            calls_back = true;
        }
    }

    /// The accesses of a known library function.
    fn library_accesses(
        &mut self,
        id: ThreadIndex,
        name: &str,
        arguments: Values<'_>,
        touched: Vec<Touched>,
    ) -> WalkResult {
        let needs_pins = !only_shows(name);
        let mut accesses = Vec::new();
        for Touched { address, bytes, writes, contents } in touched {
            let Ok(bytes) = u32::try_from(bytes) else { continue };
            let at = self.locate(id, address)?;
            let contents = Some(contents).filter(|contents| contents.len() == bytes as usize);
            accesses.push(LibraryAccess { access: MemoryAccess { at, bytes, atomic: false }, writes, contents });
        }
        if needs_pins {
            self.pin_variable_arguments(id, name, arguments)?;
        }
        if accesses.is_empty() {
            return Ok(());
        }
        let at = self.position(id)?;
        let pins = self.listener.library_call(&mut self.terms, &at, &accesses);
        if needs_pins {
            for pin in pins {
                self.leave_out(id, LeftOut::Argument)?;
                self.assume(id, pin)?;
            }
        }
        Ok(())
    }

    /// What is formatted has its recorded value.
    fn pin_variable_arguments(&mut self, id: ThreadIndex, name: &str, arguments: Values<'_>) -> WalkResult {
        for touch in touches(name) {
            let Touch::Prints { arguments: where_they_are, .. } = touch else { continue };
            let Some((_, area)) = arguments.get(where_they_are.parameter() as usize) else { continue };
            let start = area.bits as u64;
            let own = self.thread(id)?.own_objects.range(..=start).next_back().map(|(_, (end, _))| *end);
            let end = own.filter(|end| *end > start).unwrap_or(start).min(start.saturating_add(MOST_ARGUMENT_BYTES));
            let at = self.locate(id, start)?;
            for pin in self.listener.private_pins(&mut self.terms, at, end - start) {
                self.leave_out(id, LeftOut::Argument)?;
                self.assume(id, pin)?;
            }
        }
        Ok(())
    }

    /// Of a function that nobody knows it is not known what it accesses.
    fn unknown_accesses(&mut self, id: ThreadIndex, name: &str, arguments: Values<'_>) -> WalkResult {
        if name.starts_with("__leno_") {
            return Ok(());
        }
        for (width, value) in arguments {
            let is_address = *width >= 32 && value.bits > 4096 && value.bits <= u64::MAX.into();
            if is_address && self.locate(id, value.bits as u64)?.instance != InstanceId::UNKNOWN {
                return self.leave_out(id, LeftOut::Unknown);
            }
        }
        Ok(())
    }
}
