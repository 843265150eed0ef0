//! What a step did, in words: the source's own text, and values as the programmer would write them.

use super::Pending;
use crate::interp::{Machine, ThreadId, Value};
use crate::program::{Body, FloatKind, FuncId, LocalId, Op, Program, SlotId, TerminatorKind, Type};

/// What a step did, once it is done.
pub(super) fn describe(machine: &Machine<'_>, thread: ThreadId, pending: &Pending) -> String {
    let (program, place) = (machine.program(), pending.step.place);
    let Body::Blocks(blocks) = &program.functions[place.func].body else { return String::new() };
    let Some(instr) = blocks[place.block].instrs.get(place.index as usize) else {
        return match &blocks[place.block].terminator.kind {
            TerminatorKind::Exit(_) => "exits the program".to_string(),
            TerminatorKind::Abort => "aborts the program".to_string(),
            _ => "ends".to_string(),
        };
    };
    let shown = Shown { machine, pending };
    match &instr.op {
        Op::Load { dst, from } => {
            let signed = program.functions[place.func].locals[*dst].signed;
            format!("reads {}: {}", shown.name(), show(machine, machine.local(thread, *dst), from.ty, signed))
        }
        Op::Store { to, .. } => shown.assignment(to.ty),
        Op::ReadModifyWrite { at, .. } => format!("updates {}: {}", shown.name(), shown.memory(at.ty)),
        Op::CompareExchange { ok, old, at, .. } => {
            let (name, now) = (shown.name(), shown.memory(at.ty));
            let found = machine.local(thread, *old).bits;
            match machine.local(thread, *ok).bits {
                0 if pending.expected.is_some_and(|expected| found == u128::from(expected)) => {
                    format!("compares {name} and fails although it is the same: {now}")
                }
                0 => format!("compares {name}, which differs: {now}"),
                _ => format!("compares {name} and swaps: {now}"),
            }
        }
        Op::BeginLife { slot } => format!("begins a life of {}", slot_name(program, place.func, *slot)),
        Op::EndLife { slot } => format!("ends the life of {}", slot_name(program, place.func, *slot)),
        Op::Allocate { dst, .. } if machine.was_reused(machine.local(thread, *dst).bits as u64) => {
            let at = show(machine, machine.local(thread, *dst), Type::Ptr, false);
            format!("{}, which is where a freed object was: {at}", shown.text())
        }
        Op::Spawn { .. } => starts(machine),
        Op::Sync { .. } => shown.synchronisation(),
        _ => shown.text().to_string(),
    }
}

struct Shown<'a, 'p> {
    machine: &'a Machine<'p>,
    pending: &'a Pending,
}

impl Shown<'_, '_> {
    /// The source text of the step.
    fn text(&self) -> &str {
        &self.machine.program().texts[self.pending.step.span.text]
    }

    /// What is accessed: by the source's own words, or by the object if a macro has put others in their place.
    fn name(&self) -> String {
        match self.pending.address {
            Some((address, _)) if is_expanded(self.text()) => self.machine.describe_address(address),
            _ => self.text().to_string(),
        }
    }

    fn assignment(&self, ty: Type) -> String {
        let (text, value) = (self.text(), self.memory(ty));
        let Some((address, _)) = self.pending.address else { return format!("writes {text}: {value}") };
        if is_expanded(text) || !is_assignment(text) {
            return format!("writes {}: {value}", self.machine.describe_address(address));
        }
        match text.rsplit_once("= ") {
            Some((_, right)) if right == value => format!("writes {text}"),
            _ => format!("writes {text}: {value}"),
        }
    }

    /// A call of a synchronisation function, and the object that it is about if the call does not name it.
    fn synchronisation(&self) -> String {
        let text = self.text();
        let Some((address, _)) = self.pending.address else { return text.to_string() };
        let object = self.machine.describe_address(address);
        let is_named = object.split(['+', '.', '[']).next().is_some_and(|name| has_word(text, name));
        if is_named { text.to_string() } else { format!("{text}: {object}") }
    }

    /// What is at the place of the access now.
    fn memory(&self, ty: Type) -> String {
        let Some((address, len)) = self.pending.address else { return "?".to_string() };
        match self.machine.peek(address, len) {
            Ok(value) => show(self.machine, value, ty, true),
            Err(_) => "?".to_string(),
        }
    }
}

/// Whether a macro's text stands here instead of the source's own: `__atomic_fetch_add (( &next ), ( 1 ), 5)`.
fn is_expanded(text: &str) -> bool {
    text.contains("__") || text.contains('{')
}

fn is_assignment(text: &str) -> bool {
    let has_operator = text.split(' ').any(|word| word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">="));
    has_operator || text.contains("++") || text.contains("--")
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|piece| piece == word)
}

/// The thread that was started last: its function, and what that was given.
fn starts(machine: &Machine<'_>) -> String {
    let program = machine.program();
    let Some(child) = machine.threads().ids().last() else { return String::new() };
    let name = machine.thread_name(child);
    let Some((func, _)) = machine.backtrace(child).pop() else { return format!("starts {name}") };
    let function = &program.functions[func];
    // (A thread that starts in a model of the library gets its own function there.)
    let arguments = (0..function.params).map(LocalId).map(|id| {
        let local = &function.locals[id];
        show(machine, machine.local(child, id), local.ty, local.signed)
    });
    let arguments: Vec<String> = arguments.collect();
    if function.name.starts_with("__leno") {
        return format!("starts {name}: {}", arguments.join(", "));
    }
    format!("starts {name}: {}({})", function.name, arguments.join(", "))
}

fn slot_name(program: &Program, function: FuncId, slot: SlotId) -> &str {
    match program.functions[function].slots[slot].name.as_str() {
        "" => "an object without a name",
        name => name,
    }
}

/// A value as the programmer would write it.
fn show(machine: &Machine<'_>, value: Value, ty: Type, signed: bool) -> String {
    if !value.is_defined() {
        return "uninitialised".to_string();
    }
    match ty {
        Type::Ptr => machine.describe_pointer(value.bits as u64),
        Type::Float(FloatKind::F32) => decimal(f32::from_bits(value.bits as u32)),
        Type::Float(FloatKind::F64) => decimal(f64::from_bits(value.bits as u64)),
        Type::Int(bits @ 1..=127) if signed => {
            let shift = 128 - u32::from(bits);
            (((value.bits << shift) as i128) >> shift).to_string()
        }
        Type::Int(_) => value.bits.to_string(),
        Type::Float(FloatKind::F80) => format!("{:#x}", value.bits),
    }
}

/// The shortest decimal that is this number, with a point as in C.
fn decimal(number: impl std::fmt::Debug) -> String {
    format!("{number:?}")
}
