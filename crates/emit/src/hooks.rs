//! Hooks: C that stops before everything that other threads could notice.
//!
//! [`emit_with_hooks`] writes the same statements as [`emit`](crate::emit), with calls around those that are schedule
//! points (`leno_ir::witness`), so that the runtime behind these calls decides which thread makes
//! which step when. Each place is a number, explained by [`places`].
//!
//! | written | when |
//! |---|---|
//! | `leno_enter()` | first of all in every function; 1 if a thread begins with this activation |
//! | `leno_fresh(k)` | the bits of a register that [`Hooks::fresh`] names, when it is undefined: at the beginning, and again |
//! | `leno_slot(object)` | then, for each of its stack objects, an array |
//! | `leno_point(n)` | before a schedule point |
//! | `leno_access(n, address, bytes, flags)` | before one that makes a single access; flags: 1 it writes, 2 it is atomic, 4 it frees the whole object |
//! | `leno_library(n, count, accesses)` | before a call of a library function that makes several, see [`crate::library_accesses`] |
//! | `leno_sync_point(n, step, at, operand)`, `leno_sync(step, at, operand)` | before a step on a synchronisation object, and to make it |
//! | `leno_join_point(n, handle)`, `leno_join(handle)`, `leno_detach(handle)` | the same for threads |
//! | `leno_calls()`, `leno_called(n)` | before and after a call of a function without a body |
//! | `leno_is_real(name, linked)`, `leno_returned(name, is pointer, given, got)` | before a call of a function that nothing is known of: whether the real one is to be called; and after it |
//! | `leno_done()` | after every schedule point: the step has been made |
//! | `leno_finished(result)`, `leno_thread_exit(result)`, `leno_exit(status)`, `leno_abort()` | the ends of threads and of the process |
//! | `leno_fail_at(n)` | an assertion is false, or control got to where it never gets |
//! | `leno_park()` | an assumption is false |
//! | `leno_input(width)`, then `leno_input_high()` | a nondeterministic value, its low and its high 64 bits |
//!
//! The program itself is `leno_program(argc, argv)`; `main` is up to the provider, too.

use crate::Options;
use crate::constant;
use crate::expr::Text;
use crate::instr::Writer;
use crate::names;
use crate::types;
use leno_ir::interp::Place;
use leno_ir::program::{
    Access, Block, Body, Callee, Expr, FloatKind, FuncId, Function, Instr, LocalId, LockKind, Op, Order, Program, Span,
    Storage, SyncOp, Terminator, TerminatorKind, Type,
};
use leno_ir::witness::{ends_at_schedule_point, is_schedule_point};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The parts of our own runtime that hooks take the place of.
const PROVIDED: &[&str] = &["leno_park", "leno_start", "leno_join", "leno_atomic_begin", "leno_nondet_next"];

/// What stands behind the hooks.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<'a> {
    /// C text that defines the functions above, and `main`.
    pub runtime: &'a str,
    /// Registers that do not begin as 0. They have at most 64 bits.
    pub fresh: &'a [(FuncId, LocalId)],
}

/// A C file that behaves as `program` does, one step at a time, as the runtime decides.
pub fn emit_with_hooks(program: &Program, options: &Options, hooks: &Hooks<'_>) -> String {
    let runtime = hooks.runtime;
    let numbers = Numbers::new(program, hooks.fresh);
    let code = crate::code(program, options, crate::Mode::Hooked(&numbers));
    let mut file = crate::header(program);
    file.push_str(&crate::runtime::for_code(&format!("{runtime}\n{code}"), PROVIDED));
    file.push('\n');
    file.push_str(runtime);
    file.push('\n');
    file.push_str(&code);
    file.push_str(crate::FOOTER);
    file
}

/// What the numbers in hooks mean.
pub fn places(program: &Program) -> Vec<Place> {
    let mut places = Vec::new();
    for (func, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for (block, contents) in blocks.iter_enumerated() {
            let numbered = indices(program, contents);
            places.extend(numbered.map(|index| Place { func, block, index }));
        }
    }
    places
}

/// The instructions of a block that have a number, and its terminator if it has one.
fn indices<'a>(program: &'a Program, block: &'a Block) -> impl Iterator<Item = u32> + 'a {
    let in_block = block.instrs.iter().enumerate().filter(|(_, instr)| has_number(program, instr));
    let last = has_number_at_end(&block.terminator).then_some(block.instrs.len() as u32);
    in_block.map(|(index, _)| index as u32).chain(last)
}

fn has_number(program: &Program, instr: &Instr) -> bool {
    is_schedule_point(program, instr) || matches!(instr.op, Op::Assert { .. } | Op::CheckMove { .. })
}

fn has_number_at_end(terminator: &Terminator) -> bool {
    ends_at_schedule_point(terminator)
        || matches!(terminator.kind, TerminatorKind::Return(_) | TerminatorKind::Unreachable)
}

/// The reverse of [`places`].
pub(crate) struct Numbers {
    places: BTreeMap<Place, usize>,
    fresh: BTreeMap<(FuncId, LocalId), usize>,
}

impl Numbers {
    fn new(program: &Program, fresh: &[(FuncId, LocalId)]) -> Numbers {
        Numbers {
            places: places(program).into_iter().enumerate().map(|(number, place)| (place, number)).collect(),
            fresh: fresh.iter().enumerate().map(|(number, register)| (*register, number)).collect(),
        }
    }
}

/// What every function begins with.
pub(crate) fn enter(program: &Program, id: FuncId, numbers: &Numbers, out: &mut String) {
    let function = &program.functions[id];
    out.push_str("    const int leno_first = leno_enter();\n");
    for slot in function.slots.ids() {
        let _ = writeln!(out, "    leno_slot({});", names::slot(function, slot));
    }
    for ((_, local), number) in numbers.fresh.range((id, LocalId(0))..=(id, LocalId(u32::MAX))) {
        let Some(register) = function.locals.get(*local) else { continue };
        let value = of_bits(register.ty, &format!("leno_fresh({number})"));
        let _ = writeln!(out, "    {} = {value};", names::local(function, *local));
    }
}

/// A value of at most 64 bits, from its bits.
fn of_bits(ty: Type, bits: &str) -> String {
    match ty {
        Type::Float(FloatKind::F32) => format!("leno_f32_from((u32){bits})"),
        Type::Float(_) => format!("leno_f64_from({bits})"),
        Type::Int(_) | Type::Ptr => format!("({}){bits}", types::value(ty)),
    }
}

impl Writer<'_> {
    fn number(&self) -> usize {
        self.style.mode.numbers().and_then(|numbers| numbers.places.get(&self.place)).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn hooked_instruction(&mut self, instr: &Instr) {
        let statement = match &instr.op {
            Op::Assert { cond, .. } => {
                format!("if (!{}) leno_fail_at({});", self.scope.operand(cond), self.number())
            }
            op @ Op::CheckMove { .. } => format!("if ({}) leno_fail_at({});", self.moved_away(op), self.number()),
            Op::Nondet { dst } => self.input(*dst),
            Op::Undefine { dst } => self.fresh(*dst),
            op @ Op::CompareExchange { weak: true, .. } => self.weak_exchange(op, instr.span),
            Op::Detach { thread } => format!("leno_detach((ptr){});", self.scope.operand(thread)),
            Op::Sync { dst, op, at } => self.hooked_sync(*dst, op, at),
            op => self.statement(op, instr.span),
        };
        if !is_schedule_point(self.program(), instr) {
            return self.line(&statement, instr.span);
        }
        let before = self.before(&instr.op);
        self.line(&before, Span::NONE);
        let statement = match self.calls_external(&instr.op) {
            true => format!("leno_calls(); {statement} leno_called({});", self.number()),
            false => statement,
        };
        self.line(&format!("{statement} leno_done();"), instr.span);
    }

    fn calls_external(&self, op: &Op) -> bool {
        let Op::Call { callee: Callee::Direct(id), .. } = op else { return false };
        matches!(self.program().functions[*id].body, Body::External(_))
    }

    /// The call that stops before an instruction.
    fn before(&self, op: &Op) -> String {
        let number = self.number();
        let one_byte =
            |ptr: &Expr, flags: &str| format!("leno_access({number}, {}, 1, {flags});", self.scope.value(ptr));
        match op {
            Op::Load { from, .. } => self.before_access(from, false),
            Op::Store { to, .. } => self.before_access(to, true),
            Op::ReadModifyWrite { at, .. } | Op::CompareExchange { at, .. } => {
                self.before_access(&Access { order: Order::SeqCst, ..at.clone() }, true)
            }
            Op::Spawn { handle: Some(access), .. } => self.before_access(access, true),
            Op::Free { ptr, storage: Storage::Heap } => one_byte(ptr, "LENO_WRITES | LENO_ATOMIC | LENO_FREES"),
            Op::ObjectSize { ptr, .. } => one_byte(ptr, "LENO_ATOMIC"),
            Op::Join { thread, .. } => format!("leno_join_point({number}, (ptr){});", self.scope.operand(thread)),
            Op::Sync { op, at, .. } => format!("leno_sync_point({number}, {});", self.sync_arguments(op, at)),
            Op::Call { callee: Callee::Direct(id), args, .. } => self.before_call(*id, args),
            _ => format!("leno_point({number});"),
        }
    }

    fn before_call(&self, callee: FuncId, args: &[Expr]) -> String {
        let accesses = self.library_accesses(callee, args);
        if accesses.is_empty() {
            return format!("leno_point({});", self.number());
        }
        let (number, count, list) = (self.number(), accesses.len(), accesses.join(", "));
        format!("leno_library({number}, {count}, (struct leno_touched[]){{{list}}});")
    }

    fn before_access(&self, access: &Access, writes: bool) -> String {
        let flags = match (writes, access.order != Order::NotAtomic) {
            (true, true) => "LENO_WRITES | LENO_ATOMIC",
            (true, false) => "LENO_WRITES",
            (false, true) => "LENO_ATOMIC",
            (false, false) => "0",
        };
        let bytes = access.ty.bytes(self.scope.model());
        format!("leno_access({}, {}, {bytes}, {flags});", self.number(), self.scope.value(&access.ptr))
    }

    fn sync_arguments(&self, op: &SyncOp, at: &Expr) -> String {
        let (name, operand) = sync_step(op);
        let operand = operand.map_or("0".to_string(), |operand| self.scope.value(operand));
        format!("LENO_{name}, {}, {operand}", self.scope.value(at))
    }

    fn hooked_sync(&self, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> String {
        let ty = if matches!(op, SyncOp::BarrierArrive) { Type::Int(64) } else { Type::I32 };
        self.result(dst, ty, format!("leno_sync({})", self.sync_arguments(op, at)))
    }

    /// A register is undefined again.
    fn fresh(&self, dst: LocalId) -> String {
        let numbers = self.style.mode.numbers();
        match numbers.and_then(|numbers| numbers.fresh.get(&(self.place.func, dst))) {
            Some(number) => {
                format!("{} = {};", self.name(dst), of_bits(self.local_type(dst), &format!("leno_fresh({number})")))
            }
            None => format!("{} = 0;", self.name(dst)),
        }
    }

    fn input(&self, dst: LocalId) -> String {
        let name = self.name(dst);
        let ty = self.local_type(dst);
        let width = ty.bits(self.scope.model());
        let two =
            |value: &str| format!("{{ u64 low = leno_input({width}), high = leno_input_high(); {name} = {value}; }}");
        match ty {
            Type::Float(FloatKind::F80) => two("leno_f80_from(high, low)"),
            Type::Int(65..) => two("LENO_U128(high, low)"),
            _ => format!("{name} = {};", of_bits(ty, &format!("leno_input({width})"))),
        }
    }

    /// Writes a terminator that has a hook; false if it has none.
    pub(crate) fn hooked_terminator(&mut self, terminator: &Terminator) -> bool {
        let (number, scope) = (self.number(), self.scope);
        let (before, code) = match &terminator.kind {
            TerminatorKind::ThreadExit(value) => {
                (format!("leno_point({number});"), format!("leno_thread_exit((void *){});", scope.operand(value)))
            }
            TerminatorKind::Exit(status) => {
                (format!("leno_point({number});"), format!("leno_exit((int){});", scope.operand(status)))
            }
            TerminatorKind::Abort => (format!("leno_point({number});"), "leno_abort();".to_string()),
            TerminatorKind::Unreachable => (String::new(), format!("leno_fail_at({number});")),
            TerminatorKind::Return(value) => {
                (format!("if (leno_first) leno_point({number});"), self.returned(value.as_ref()))
            }
            _ => return false,
        };
        if !before.is_empty() {
            self.line(&before, Span::NONE);
        }
        self.line(&code, terminator.span);
        true
    }
}

/// The name of a step on a synchronisation object, and its operand.
fn sync_step(op: &SyncOp) -> (&'static str, Option<&Expr>) {
    match op {
        SyncOp::LockInit { lock: LockKind::Mutex, kind } => ("MUTEX_INIT", Some(kind)),
        SyncOp::LockInit { lock: LockKind::Spin, .. } => ("SPIN_INIT", None),
        SyncOp::LockDestroy(LockKind::Mutex) => ("MUTEX_DESTROY", None),
        SyncOp::LockDestroy(LockKind::Spin) => ("SPIN_DESTROY", None),
        SyncOp::Lock(LockKind::Mutex) | SyncOp::CondRelock => ("MUTEX_LOCK", None),
        SyncOp::Lock(LockKind::Spin) => ("SPIN_LOCK", None),
        SyncOp::TryLock(LockKind::Mutex) => ("MUTEX_TRYLOCK", None),
        SyncOp::TryLock(LockKind::Spin) => ("SPIN_TRYLOCK", None),
        SyncOp::Unlock(LockKind::Mutex) => ("MUTEX_UNLOCK", None),
        SyncOp::Unlock(LockKind::Spin) => ("SPIN_UNLOCK", None),
        SyncOp::RwInit => ("RW_INIT", None),
        SyncOp::RwDestroy => ("RW_DESTROY", None),
        SyncOp::ReadLock => ("READ_LOCK", None),
        SyncOp::TryReadLock => ("TRY_READ_LOCK", None),
        SyncOp::WriteLock => ("WRITE_LOCK", None),
        SyncOp::TryWriteLock => ("TRY_WRITE_LOCK", None),
        SyncOp::RwUnlock => ("RW_UNLOCK", None),
        SyncOp::CondInit => ("COND_INIT", None),
        SyncOp::CondDestroy => ("COND_DESTROY", None),
        SyncOp::CondSleep { mutex } => ("COND_SLEEP", Some(mutex)),
        SyncOp::CondWake { mutex, deadline: None } => ("COND_WAKE", Some(mutex)),
        SyncOp::CondWake { mutex, deadline: Some(_) } => ("COND_WAKE_TIMED", Some(mutex)),
        SyncOp::CondSignal => ("COND_SIGNAL", None),
        SyncOp::CondBroadcast => ("COND_BROADCAST", None),
        SyncOp::SemInit { value } => ("SEM_INIT", Some(value)),
        SyncOp::SemDestroy => ("SEM_DESTROY", None),
        SyncOp::SemWait => ("SEM_WAIT", None),
        SyncOp::SemTryWait => ("SEM_TRYWAIT", None),
        SyncOp::SemPost => ("SEM_POST", None),
        SyncOp::SemGetValue => ("SEM_VALUE", None),
        SyncOp::BarrierInit { count } => ("BARRIER_INIT", Some(count)),
        SyncOp::BarrierDestroy => ("BARRIER_DESTROY", None),
        SyncOp::BarrierArrive => ("BARRIER_ARRIVE", None),
        SyncOp::BarrierLeave { ticket } => ("BARRIER_LEAVE", Some(ticket)),
        SyncOp::OnceBegin => ("ONCE_BEGIN", None),
        SyncOp::OnceEnd => ("ONCE_END", None),
    }
}

/// The body of a function that nothing is known of, with hooks: the real one is called if there is one to be linked, and
/// what it returns counts, whatever the witness has for it. Without one, what the witness has is given.
pub(crate) fn unknown_body(program: &Program, id: FuncId, call: &str, out: &mut String) {
    let function = &program.functions[id];
    let (name, real) = (readable_text(&function.name), names::real(program, id));
    // What the recorder brings along is not in a replay, and what it gave was real when it was recorded.
    let is_linked = if is_recorders(&function.name) { "0".to_string() } else { format!("{real} != 0") };
    let Some(ret) = function.ret else {
        let _ = writeln!(out, "    if (!leno_is_real({name}, {is_linked})) return;\n    {call};");
        let _ = writeln!(out, "    leno_returned({name}, 0, 0, 0);");
        return write_errno(program, out);
    };
    let _ = writeln!(out, "    {}", given_result(program, function, ret));
    let _ = writeln!(out, "    if (!leno_is_real({name}, {is_linked})) return given;");
    let _ = writeln!(out, "    {} got = {call};", types::value(ret));
    let is_wide = ret.bits(program.model) > 64;
    let _ = match ret {
        Type::Int(_) | Type::Ptr if !is_wide => {
            writeln!(out, "    leno_returned({name}, {}, (u64)given, (u64)got);", u8::from(ret == Type::Ptr))
        }
        _ => writeln!(out, "    leno_returned({name}, 0, 0, 0);"),
    };
    write_errno(program, out);
    out.push_str("    return got;\n");
}

fn is_recorders(name: &str) -> bool {
    name.starts_with("__leno_")
}

/// A name as a string of C.
fn readable_text(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("\"{plain}\"")
}

/// `errno` of the program is a variable of its own: what the real function says goes there.
fn write_errno(program: &Program, out: &mut String) {
    let variable = program.objects.iter_enumerated().find(|(_, object)| object.name == "__leno_errno");
    if let Some((id, _)) = variable {
        let _ = writeln!(out, "    if (errno) *(int *)&{} = errno;", names::object(program, id));
    }
}

fn given_result(program: &Program, function: &Function, ret: Type) -> String {
    let scope = crate::expr::Scope { program, function };
    let width = ret.bits(program.model);
    let bits = match width {
        65.. => "LENO_U128(high, low)".to_string(),
        _ => format!("(u{})low", types::computing(width)),
    };
    let value = match ret {
        Type::Float(FloatKind::F80) => "leno_f80_from(high, low)".to_string(),
        _ => scope.of_bits(Text::tight(bits), ret).text,
    };
    let (mask, ty) = (constant::mask(width.min(64)) as u64, types::value(ret));
    format!("u64 low = leno_input({width}) & {mask:#x}ull, high = leno_input_high(); (void)high; {ty} given = {value};")
}

/// The program, as a function.
pub(crate) fn program(program: &Program) -> String {
    let Some(entry) = program.entry else {
        return "static void leno_program(int argc, char **argv) {\n}\n".to_string();
    };
    let call = crate::function::entry_call(program, entry);
    format!("static void leno_program(int argc, char **argv) {{\n    {call};\n}}\n")
}
