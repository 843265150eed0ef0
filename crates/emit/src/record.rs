//! Recording: C that writes down what a thread cannot know by itself.
//!
//! [`emit_recording`] writes the same statements as [`emit`](crate::emit), with calls that tell a recorder every value
//! that comes into a thread from outside: what loads return, addresses of new objects, results of functions that are
//! not part of the program, inputs, handles, and what synchronisation answered. All the rest (which branch is taken,
//! what is stored where) follows from these, and can be computed again from the representation.
//!
//! | written | when |
//! |---|---|
//! | `leno_record_slot(address, bytes)` | first of all in every function, for each of its stack objects |
//! | `leno_loadN(address, bits)` | after a load of N bits: a record, unless the load table holds the value |
//! | `leno_storeN(address, bits)` | after a store of N bits, with `leno_tick()` before it |
//! | `leno_updatedN(address, bits)` | after an exchange: what was there |
//! | `leno_record_value(bits, bytes)`, `leno_record_wide(low, high)` | an input, a handle, what is too wide for the others |
//! | `leno_record_allocated(address, bytes)`, `leno_free(address)` | after an allocation; instead of `free` |
//! | `leno_outside()`, `leno_record_return(inside, low, high)` | around a call of what is not part of the program, with its `errno` |
//! | `leno_record_touched(accesses, count, writes, received)` | between these: what a library function reads, and what it has written |
//! | `leno_is_outside(address)` | whether a function called through a pointer is such a one |
//! | `leno_record_sync(result)` | after a step that may wait |
//! | `leno_record_release()`, `leno_record_result(result)` | before and after a step that lets others go on |
//! | `leno_spawn`, `leno_join`, `leno_finished`, `leno_thread_exit`, `leno_record_end()` | threads, and the end of the process |
//! | `leno_record_begin()`, `leno_record_static(address)`, `leno_record_thread_locals()` | before anything else |
//!
//! These loads and stores are volatile: each is made once, when it is written, so that what is recorded is what was
//! read.
//!
//! Accesses that are [`Unrecorded`] go to memory of one thread alone, whose contents follow from the thread's path.
//! They are written as plain C, which the compiler may optimise. Such memory begins as zeros, since its initial
//! contents are not recorded. Of a private stack object only the address is recorded (`leno_private_slot`), of an
//! allocation address and size (`leno_record_private`).

use crate::Options;
use crate::comment;
use crate::expr::Text;
use crate::instr::Writer;
use crate::names;
use crate::types;
use leno_ir::library_memory::standard_name;
use leno_ir::program::{
    Access, Body, Callee, Expr, FuncId, Instr, LocalId, ObjectKind, Op, Program, Property, Storage, SyncOp, Terminator,
    TerminatorKind, TextId, Type,
};
use leno_trace::{Communication, Unrecorded, errno_object};
use std::fmt::Write;

/// The parts of our own runtime that the recorder takes the place of.
const PROVIDED: &[&str] = &["leno_start", "leno_join"];

/// A C file that behaves as `program` does, and tells `runtime` (C text that defines the functions above) about it.
pub fn emit_recording(program: &Program, options: &Options, unrecorded: &Unrecorded, runtime: &str) -> String {
    let code = crate::code(program, options, crate::Mode::Recording(unrecorded));
    let mut file = crate::header(program);
    let _ = writeln!(file, "#define LENO_SLOTS {}", unrecorded.slots.len());
    let _ = writeln!(file, "#define LENO_FINGERPRINT {}ull", unrecorded.fingerprint());
    file.push_str(&crate::runtime::for_code(&format!("{runtime}\n{code}"), PROVIDED));
    file.push('\n');
    file.push_str(runtime);
    file.push('\n');
    file.push_str(&code);
    file.push_str(crate::FOOTER);
    file
}

/// What every function begins with.
pub(crate) fn enter(program: &Program, id: FuncId, unrecorded: &Unrecorded, out: &mut String) {
    let function = &program.functions[id];
    for (slot, object) in function.slots.iter_enumerated() {
        let name = names::slot(function, slot);
        let _ = match unrecorded.slots.contains(&(id, slot)) {
            true => writeln!(
                out,
                "    __builtin_memset({name}, 0, sizeof {name}); leno_private_slot({}, (ptr){name});",
                unrecorded.slot_number((id, slot))
            ),
            false => writeln!(out, "    leno_record_slot((ptr){name}, {});", object.size.max(1)),
        };
    }
}

/// The address of every object and function, told in order, and `main`.
pub(crate) fn main(program: &Program) -> String {
    let mut out = String::from("static void leno_record_thread_locals(void) {\n");
    for (id, object) in program.objects.iter_enumerated() {
        if object.kind == ObjectKind::ThreadLocal {
            let _ = writeln!(out, "    leno_record_static((ptr)&{});", names::object(program, id));
        }
    }
    out.push_str("}\nstatic void leno_record_statics(void) {\n");
    for (id, object) in program.objects.iter_enumerated() {
        let address = match object.kind {
            ObjectKind::ThreadLocal => "0".to_string(),
            _ => format!("(ptr)&{}", names::object(program, id)),
        };
        let _ = writeln!(out, "    leno_record_static({address});");
    }
    for (id, function) in program.functions.iter_enumerated() {
        let inside = u8::from(matches!(function.body, Body::Blocks(_)));
        let name = names::function(program, id);
        let _ = writeln!(out, "    leno_record_static((ptr)&{name}); if ({inside}) leno_add_inside((ptr)&{name});");
    }
    out.push_str("}\n");
    let Some(entry) = program.entry else {
        out.push_str("int main(void) {\n    return 0;\n}\n");
        return out;
    };
    let call = crate::function::entry_call(program, entry);
    let _ = writeln!(
        out,
        "int main(int argc, char **argv) {{\n    leno_record_begin((u64)argc, (ptr)argv);\n    leno_record_statics();\n    \
         leno_sort_inside();\n    leno_record_thread_locals();\n    {call};\n    return 0;\n}}"
    );
    out
}

impl Writer<'_> {
    pub(crate) fn recorded_instruction(&mut self, instr: &Instr, unrecorded: &Unrecorded) {
        let is_unrecorded = unrecorded.instructions.contains(&self.place);
        let code = match &instr.op {
            Op::Load { .. } | Op::Store { .. } | Op::Free { storage: Storage::Heap, .. } if is_unrecorded => {
                self.statement(&instr.op, instr.span)
            }
            Op::Load { dst, from } => self.recorded_load(*dst, from, instr),
            Op::Store { to, value } => self.recorded_store(to, value),
            Op::ReadModifyWrite { dst, at, op, value } => {
                let update = self.read_modify_write(Some("leno_old"), at, *op, value);
                let record =
                    self.record_at("updated", &self.scope.address(&at.ptr), Text::tight("leno_old".to_string()), at.ty);
                let keep = dst.map_or(String::new(), |dst| format!(" {} = leno_old;", self.name(dst)));
                format!("{{ {} leno_old; {update} {record}{keep} }}", types::value(at.ty))
            }
            op @ Op::CompareExchange { old, at, .. } => {
                // The address may be made of what is about to be set.
                let record = self.record_at("updated", "leno_at", Text::tight(self.name(*old)), at.ty);
                let address = self.scope.address(&at.ptr);
                format!("{{ ptr leno_at = (ptr){address}; {} {record} }}", self.statement(op, instr.span))
            }
            Op::Allocate { dst, size, align, storage, zeroed } => {
                let bytes = self.scope.value(size);
                let make = Op::Allocate {
                    dst: *dst,
                    size: size.clone(),
                    align: *align,
                    storage: *storage,
                    zeroed: *zeroed || is_unrecorded,
                };
                let (name, record) = (self.name(*dst), if is_unrecorded { "private" } else { "allocated" });
                let failed = match errno_object(self.program()).map(|id| names::object(self.program(), id)) {
                    Some(own) => format!(" if (!{name}) *(mem32 *)&{own} = 12; /* ENOMEM */"),
                    None => String::new(),
                };
                format!(
                    "{{ ptr leno_size = {bytes}; {}{failed} leno_record_{record}({name}, leno_size); }}",
                    self.statement(&make, instr.span),
                )
            }
            Op::Free { ptr, storage: Storage::Heap } => format!("leno_free((ptr){});", self.scope.address(ptr)),
            op @ (Op::ObjectSize { dst, .. } | Op::Nondet { dst } | Op::ThreadSelf { dst }) => {
                format!("{} {}", self.statement(op, instr.span), self.record_local(*dst))
            }
            Op::Assert { cond, property, message } => self.recorded_assertion(cond, *property, *message, instr),
            Op::Call { dst, callee, args } => self.recorded_call(*dst, callee, args, instr),
            Op::Sync { dst, op, at } => self.recorded_sync(*dst, op, at),
            Op::AtomicBegin => "leno_atomic_begin(); leno_record_sync(0);".to_string(),
            Op::AtomicEnd => "leno_record_release(); leno_atomic_end();".to_string(),
            op => self.statement(op, instr.span),
        };
        self.line(&code, instr.span);
    }

    fn recorded_load(&mut self, dst: LocalId, from: &Access, instr: &Instr) -> String {
        let load = Op::Load { dst, from: Access { volatile: true, ..from.clone() } };
        let load = self.statement(&load, instr.span);
        match self.narrow_bits(Text::tight(self.name(dst)), from.ty) {
            // The address may be made of what is loaded.
            Some((width, bits)) => {
                format!(
                    "{{ ptr leno_at = (ptr){}; {load} leno_load{width}(leno_at, {bits}); }}",
                    self.scope.address(&from.ptr)
                )
            }
            None => format!("{load} {}", self.record_local(dst)),
        }
    }

    fn recorded_store(&self, to: &Access, value: &Expr) -> String {
        let volatile = Access { volatile: true, ..to.clone() };
        let store = self.store(&volatile, self.scope.text(value));
        format!(
            "leno_tick(); {store} {}",
            self.record_at("store", &self.scope.address(&to.ptr), self.scope.text(value), to.ty)
        )
    }

    /// What is at an address after an access; nothing if it is wide.
    fn record_at(&self, what: &str, address: &str, value: Text, ty: Type) -> String {
        match self.narrow_bits(value.clone(), ty) {
            Some((width, bits)) => format!("leno_{what}{width}((ptr){address}, {bits});"),
            None if what == "store" => String::new(),
            None => self.record_bits(&value.text, ty),
        }
    }

    /// The bits of a value, and the smallest width of 8, 16, 32 and 64 that holds them.
    fn narrow_bits(&self, value: Text, ty: Type) -> Option<(u64, String)> {
        let bytes = ty.bytes(self.scope.model()).next_power_of_two();
        (bytes <= 8).then(|| (bytes * 8, self.scope.bits(value, ty).text))
    }

    fn record_local(&self, local: LocalId) -> String {
        self.record_bits(&self.name(local), self.local_type(local))
    }

    fn record_bits(&self, name: &str, ty: Type) -> String {
        let bits = self.scope.bits(Text::tight(name.to_string()), ty).text;
        let bytes = ty.bytes(self.scope.model());
        match bytes {
            0..=8 => format!("leno_record_value((u64){bits}, {});", bytes.next_power_of_two()),
            _ => format!("{{ u128 leno_bits = {bits}; leno_record_wide((u64)leno_bits, (u64)(leno_bits >> 64)); }}"),
        }
    }

    /// As the C library says it.
    fn recorded_assertion(&self, cond: &Expr, property: Property, message: TextId, instr: &Instr) -> String {
        let program = self.program();
        let text = program.texts.get(message).filter(|text| !text.is_empty());
        let file = program.files.get(instr.span.file).filter(|_| instr.span.line > 0);
        match (property, text, file) {
            (Property::Assertion, Some(text), Some(file)) => format!(
                "if (!{}) leno_assertion_failed({}, {}, {}, {});",
                self.scope.operand(cond),
                comment::string_literal(text.as_bytes()),
                comment::string_literal(file.as_bytes()),
                instr.span.line,
                comment::string_literal(self.function().name.as_bytes()),
            ),
            _ => self.assertion(cond, property, message, instr.span),
        }
    }

    /// What is outside of the program has an `errno` of its own: the program's goes there and comes back.
    fn with_errno(&self, statement: &str) -> String {
        match errno_object(self.program()).map(|id| names::object(self.program(), id)) {
            Some(own) => format!("errno = *(mem32 *)&{own}; {statement} *(mem32 *)&{own} = errno;"),
            None => statement.to_string(),
        }
    }

    /// How much a function has received: an expression, or that it is not known.
    fn received(&self, dst: Option<LocalId>, callee: FuncId, args: &[Expr]) -> String {
        let dst = dst.map(|dst| self.name(dst));
        let size = args.get(1).map(|size| self.scope.value(size));
        match (standard_name(&self.program().functions[callee].name), dst, size) {
            ("fgets" | "fgets_unlocked", ..) => "LENO_TEXT_RECEIVED".to_string(),
            ("read" | "pread" | "pread64", Some(dst), _) => format!("(s64){dst} < 0 ? 0 : (s64){dst}"),
            ("fread" | "fread_unlocked", Some(dst), Some(size)) => format!("(s64){dst} * (s64){size}"),
            _ => "LENO_ALL_RECEIVED".to_string(),
        }
    }

    /// A call of a function without a body, with what it reads and writes.
    fn outside_call(
        &mut self,
        dst: Option<LocalId>,
        callee: &Callee,
        args: &[Expr],
        call: &str,
        returned: &str,
    ) -> String {
        let communication = Communication::of_call(self.program(), callee);
        let before = if communication.releases { "leno_record_release(); " } else { "" };
        let after = if communication.acquires { " leno_record_sync(0);" } else { "" };
        let touched = match callee {
            Callee::Direct(id) | Callee::Indirect(Expr::Function(id)) => Some((*id, self.library_accesses(*id, args))),
            Callee::Indirect(_) => None,
        };
        let body = match touched.filter(|(_, touched)| !touched.is_empty()) {
            None => format!("struct leno_inside leno_in = leno_outside(); {call} {returned}"),
            Some((id, touched)) => format!(
                "struct leno_touched leno_t[] = {{{}}}; struct leno_inside leno_in = leno_outside(); \
                 leno_record_touched(leno_t, {count}, 0, 0); {call} \
                 leno_record_touched(leno_t, {count}, LENO_WRITES, {}); {returned}",
                touched.join(", "),
                self.received(dst, id, args),
                count = touched.len(),
            ),
        };
        format!("{before}{body}{after}")
    }

    fn recorded_call(&mut self, dst: Option<LocalId>, callee: &Callee, args: &[Expr], instr: &Instr) -> String {
        let statement = self.statement(&instr.op, instr.span);
        let outside = self.with_errno(&statement);
        let returned = match dst {
            None => "leno_record_return(leno_in, 0, 0);".to_string(),
            Some(dst) => {
                let ty = self.local_type(dst);
                let bits = self.scope.bits(Text::tight(self.name(dst)), ty).text;
                match ty.bytes(self.scope.model()) {
                    0..=8 => format!("leno_record_return(leno_in, (u64){bits}, 0);"),
                    _ => format!(
                        "{{ u128 leno_bits = {bits}; leno_record_return(leno_in, (u64)leno_bits, (u64)(leno_bits >> 64)); }}"
                    ),
                }
            }
        };
        match callee {
            Callee::Direct(id) | Callee::Indirect(Expr::Function(id)) => match self.program().functions[*id].body {
                Body::Blocks(_) => statement,
                Body::External(_) => format!("{{ {} }}", self.outside_call(dst, callee, args, &outside, &returned)),
            },
            Callee::Indirect(address) => format!(
                "{{ int leno_out = leno_is_outside({}); if (leno_out) {{ {} }} else {{ {statement} }} }}",
                self.scope.value(address),
                self.outside_call(dst, callee, args, &outside, &returned),
            ),
        }
    }

    fn recorded_sync(&self, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> String {
        let mut call = self.sync_call(op, at).unwrap_or_else(|_| "0".to_string());
        if matches!(op, SyncOp::TryLock(_) | SyncOp::TryReadLock | SyncOp::TryWriteLock | SyncOp::SemTryWait) {
            let address = self.scope.value(at);
            call = format!("(leno_was_awaited({address}) ? leno_await_result : {call})");
        }
        let keep = dst.map_or(String::new(), |dst| format!(" {}", self.assign(dst, Type::Int(32), "leno_r".into())));
        match releases(op) {
            true => format!("{{ leno_record_release(); int leno_r = {call}; leno_record_result(leno_r);{keep} }}"),
            false => format!("{{ int leno_r = {call}; leno_record_sync(leno_r);{keep} }}"),
        }
    }

    /// Writes a terminator that is recorded; false if it is not.
    pub(crate) fn recorded_terminator(&mut self, terminator: &Terminator) -> bool {
        let scope = self.scope;
        let code = match &terminator.kind {
            TerminatorKind::ThreadExit(value) => format!("leno_thread_exit((void *){});", scope.operand(value)),
            TerminatorKind::Exit(status) => {
                format!("leno_record_end(); leno_end_process((int){});", scope.operand(status))
            }
            TerminatorKind::Abort => "leno_record_end(); abort();".to_string(),
            _ => return false,
        };
        self.line(&code, terminator.span);
        true
    }
}

/// Whether a step lets others go on, and never waits itself: it is recorded before it is made.
fn releases(op: &SyncOp) -> bool {
    !matches!(
        op,
        SyncOp::Lock(_)
            | SyncOp::TryLock(_)
            | SyncOp::ReadLock
            | SyncOp::TryReadLock
            | SyncOp::WriteLock
            | SyncOp::TryWriteLock
            | SyncOp::CondWake { .. }
            | SyncOp::CondRelock
            | SyncOp::SemWait
            | SyncOp::SemTryWait
            | SyncOp::SemGetValue
            | SyncOp::BarrierLeave { .. }
            | SyncOp::OnceBegin
    )
}
