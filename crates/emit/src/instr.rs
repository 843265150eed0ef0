//! Instructions: one statement each.
//!
//! Every instruction becomes one C statement (a block, where C needs several) on one line, with its place in the
//! user's source behind it. [`instruction`](Writer::instruction) is the only way in: whatever has to happen
//! before an instruction of a thread takes effect is put there.

use crate::Mode;
use crate::call::Starts;
use crate::comment;
use crate::expr::{Scope, Text};
use crate::function::Style;
use crate::lifetimes;
use crate::names;
use crate::types;
use leno_ir::analysis::features::has_op;
use leno_ir::interp::Place;
use leno_ir::program::{
    Access, Expr, FloatKind, Function, Instr, LocalId, Op, Order, Program, Property, RmwOp, Span, Storage, TextId, Type,
};

/// Writes the statements of one function.
pub(crate) struct Writer<'a> {
    pub scope: Scope<'a>,
    pub style: Style<'a>,
    /// Of the instruction or terminator that is being written.
    pub place: Place,
    pub starts: &'a mut Starts,
    pub out: &'a mut String,
}

impl<'a> Writer<'a> {
    pub(crate) fn program(&self) -> &'a Program {
        self.scope.program
    }

    pub(crate) fn function(&self) -> &'a Function {
        self.scope.function
    }

    /// One instruction of the program.
    pub(crate) fn instruction(&mut self, instr: &Instr) {
        match self.style.mode {
            Mode::Plain => {}
            Mode::Hooked(_) => return self.hooked_instruction(instr),
            Mode::Recording(unrecorded) => return self.recorded_instruction(instr, unrecorded),
        }
        let statement = self.statement(&instr.op, instr.span);
        self.line(&statement, instr.span);
    }

    /// One line of code, with where it comes from.
    pub(crate) fn line(&mut self, code: &str, span: Span) {
        self.out.push_str("    ");
        self.out.push_str(code);
        if self.style.comments {
            self.out.push_str(&comment::marker(self.program(), span));
        }
        self.out.push('\n');
    }

    pub(crate) fn statement(&mut self, op: &Op, span: Span) -> String {
        let scope = self.scope;
        match op {
            Op::Assign { dst, value } => format!("{} = {};", self.name(*dst), scope.value(value)),
            Op::Load { dst, from } => format!("{} = {};", self.name(*dst), self.load(from)),
            Op::Store { to, value } => self.store(to, scope.text(value)),
            Op::ReadModifyWrite { dst, at, op, value } => {
                self.read_modify_write(dst.map(|dst| self.name(dst)).as_deref(), at, *op, value)
            }
            Op::CompareExchange { ok, old, at, expected, desired, failure, weak: _ } => {
                self.compare_exchange(*ok, *old, at, expected, desired, *failure)
            }
            Op::Fence { order } => format!("__atomic_thread_fence({});", atomic_order(*order)),
            Op::Allocate { dst, size, align, storage, zeroed } => self.allocate(*dst, size, *align, *storage, *zeroed),
            Op::Free { ptr, storage: Storage::Heap } => format!("free((void *){});", scope.address(ptr)),
            Op::Free { ptr, storage: Storage::Stack } => self.free_on_stack(ptr),
            Op::BeginLife { slot } => format!("leno_begin_life({});", names::slot(self.function(), *slot)),
            Op::EndLife { slot } => {
                let name = names::slot(self.function(), *slot);
                format!("leno_end_life({name}, sizeof {name});")
            }
            // As at the beginning.
            Op::Undefine { dst } => format!("{} = 0;", self.name(*dst)),
            Op::CheckMove { .. } => format!("if ({}) leno_fail(\"index out of bounds\");", self.moved_away(op)),
            Op::ObjectSize { dst, ptr } => {
                self.assign(*dst, self.word(), format!("leno_object_size((ptr){})", scope.address(ptr)))
            }
            Op::Assume { cond } => format!("if (!{}) leno_park();", scope.operand(cond)),
            Op::Assert { cond, property, message } => self.assertion(cond, *property, *message, span),
            Op::Nondet { dst } => self.nondet(*dst),
            Op::Call { dst, callee, args } => self.call(*dst, callee, args),
            Op::Spawn { handle, func, args } => self.spawn(handle.as_ref(), func, args),
            Op::Join { dst, thread } => {
                self.result(*dst, self.word(), format!("leno_join((ptr){})", scope.operand(thread)))
            }
            Op::Detach { thread } => format!("pthread_detach((pthread_t){});", scope.operand(thread)),
            Op::ThreadSelf { dst } => self.assign(*dst, self.word(), "pthread_self()".to_string()),
            Op::Sync { dst, op, at } => self.synchronise(*dst, op, at),
            Op::AtomicBegin => "leno_atomic_begin();".to_string(),
            Op::AtomicEnd => "leno_atomic_end();".to_string(),
            Op::Yield => "sched_yield();".to_string(),
        }
    }

    pub(crate) fn word(&self) -> Type {
        self.program().model.word()
    }

    pub(crate) fn name(&self, local: LocalId) -> String {
        names::local(self.function(), local)
    }

    pub(crate) fn local_type(&self, local: LocalId) -> Type {
        self.function().locals[local].ty
    }

    /// `dst := value`, where the C type of `value` converts to `ty`.
    pub(crate) fn assign(&self, dst: LocalId, ty: Type, value: String) -> String {
        let value = Text::tight(format!("(({}){value})", types::value(ty)));
        format!("{} = {};", self.name(dst), self.scope.same_bits(value, ty, self.local_type(dst)).text)
    }

    /// As [`Writer::assign`], if anybody wants the value.
    pub(crate) fn result(&self, dst: Option<LocalId>, ty: Type, value: String) -> String {
        match dst {
            Some(dst) => self.assign(dst, ty, value),
            None => format!("{value};"),
        }
    }

    fn load(&self, from: &Access) -> String {
        let (volatile, suffix) = if from.volatile { ("volatile ", "_volatile") } else { ("", "") };
        let address = self.scope.address(&from.ptr);
        if from.order == Order::NotAtomic {
            return match from.ty {
                Type::Float(FloatKind::F80) => format!("leno_f80_load{suffix}({})", self.scope.value(&from.ptr)),
                ty => format!("*(const {volatile}{} *){address}", types::memory(ty)),
            };
        }
        match types::atomic(from.ty) {
            Some(atomic) => {
                let order = atomic_order(load_order(from.order));
                let bits = format!("__atomic_load_n((const {volatile}{atomic} *){address}, {order})");
                self.of_bits(bits, from.ty)
            }
            None => {
                let plain = Access { order: Order::NotAtomic, ..from.clone() };
                let ty = types::value(from.ty);
                format!("({{ leno_wide_lock(); {ty} loaded = {}; leno_wide_unlock(); loaded; }})", self.load(&plain))
            }
        }
    }

    pub(crate) fn store(&self, to: &Access, value: Text) -> String {
        let (volatile, suffix) = if to.volatile { ("volatile ", "_volatile") } else { ("", "") };
        let address = self.scope.address(&to.ptr);
        if to.order == Order::NotAtomic {
            return match to.ty {
                Type::Float(FloatKind::F80) => {
                    format!("leno_f80_store{suffix}({}, {});", self.scope.value(&to.ptr), value.text)
                }
                ty => format!("*({volatile}{} *){address} = {};", types::memory(ty), value.text),
            };
        }
        match types::atomic(to.ty) {
            Some(atomic) => {
                let (bits, order) = (self.bits(value, to.ty), atomic_order(store_order(to.order)));
                format!("__atomic_store_n(({volatile}{atomic} *){address}, {bits}, {order});")
            }
            None => {
                let plain = Access { order: Order::NotAtomic, ..to.clone() };
                format!("leno_wide_lock(); {} leno_wide_unlock();", self.store(&plain, value))
            }
        }
    }

    fn bits(&self, value: Text, ty: Type) -> String {
        if ty == Type::Ptr { value.text } else { self.scope.bits(value, ty).text }
    }

    fn of_bits(&self, bits: String, ty: Type) -> String {
        if ty == Type::Ptr { bits } else { self.scope.of_bits(Text::tight(bits), ty).text }
    }

    /// Into the variable of this name, if anybody wants what was there.
    pub(crate) fn read_modify_write(&self, into: Option<&str>, at: &Access, op: RmwOp, value: &Expr) -> String {
        let Some(atomic) = types::atomic(at.ty) else { return self.wide_read_modify_write(into, at, op, value) };
        let function = match op {
            RmwOp::Exchange => "exchange_n",
            RmwOp::Add => "fetch_add",
            RmwOp::Sub => "fetch_sub",
            RmwOp::And => "fetch_and",
            RmwOp::Or => "fetch_or",
            RmwOp::Xor => "fetch_xor",
            RmwOp::Nand => "fetch_nand",
        };
        let (address, order) = (self.scope.address(&at.ptr), atomic_order(at.order));
        let value = self.bits(self.scope.text(value), at.ty);
        let call = format!("__atomic_{function}(({atomic} *){address}, {value}, {order})");
        match into {
            Some(name) => format!("{name} = {};", self.of_bits(call, at.ty)),
            None => format!("{call};"),
        }
    }

    /// The same, under a lock.
    fn wide_read_modify_write(&self, into: Option<&str>, at: &Access, op: RmwOp, value: &Expr) -> String {
        let ty = types::value(at.ty);
        let plain = Access { order: Order::NotAtomic, ..at.clone() };
        let new = match op {
            RmwOp::Exchange => "operand",
            RmwOp::Add => "before + operand",
            RmwOp::Sub => "before - operand",
            RmwOp::And => "before & operand",
            RmwOp::Or => "before | operand",
            RmwOp::Xor => "before ^ operand",
            RmwOp::Nand => "~(before & operand)",
        };
        let store = self.store(&plain, Text::tight(new.to_string()));
        let keep = into.map_or(String::new(), |name| format!("{name} = before; "));
        let (load, value) = (self.load(&plain), self.scope.value(value));
        format!("{{ leno_wide_lock(); {ty} operand = {value}, before = {load}; {store} leno_wide_unlock(); {keep}}}")
    }

    fn compare_exchange(
        &self,
        ok: LocalId,
        old: LocalId,
        at: &Access,
        expected: &Expr,
        desired: &Expr,
        failure: Order,
    ) -> String {
        let (ok, old) = (self.name(ok), self.name(old));
        let expected = self.bits(self.scope.text(expected), at.ty);
        let Some(atomic) = types::atomic(at.ty) else {
            let plain = Access { order: Order::NotAtomic, ..at.clone() };
            let ty = types::value(at.ty);
            let same = self.bits(Text::tight("before".to_string()), at.ty);
            let store = self.store(&plain, self.scope.text(desired));
            return format!(
                "{{ leno_wide_lock(); {ty} before = {}; int same = {same} == ({expected}); if (same) {{ {store} }} \
                 leno_wide_unlock(); {ok} = same; {old} = before; }}",
                self.load(&plain)
            );
        };
        let address = self.scope.address(&at.ptr);
        let desired = self.bits(self.scope.text(desired), at.ty);
        let (success, failure) = exchange_orders(at.order, failure);
        let found = self.of_bits("found".to_string(), at.ty);
        format!(
            "{{ {atomic} found = {expected}; \
             int same = __atomic_compare_exchange_n(({atomic} *){address}, &found, {desired}, 0, {}, {}); \
             {ok} = same; {old} = {found}; }}",
            atomic_order(success),
            atomic_order(failure)
        )
    }

    /// One that fails, where it could succeed, if the runtime says so. (No other thread runs meanwhile.)
    pub(crate) fn weak_exchange(&mut self, op: &Op, span: Span) -> String {
        let exchange = self.statement(op, span);
        let Op::CompareExchange { ok, old, at, expected, .. } = op else { return exchange };
        let before = self.bits(Text::tight("before".to_string()), at.ty);
        let expected = self.bits(self.scope.text(expected), at.ty);
        format!(
            "{{ {} before = {}; if ({before} == ({expected}) && leno_input(1)) {{ {} = 0; {} = before; }} else {exchange} }}",
            types::value(at.ty),
            self.load(at),
            self.name(*ok),
            self.name(*old),
        )
    }

    fn allocate(&self, dst: LocalId, size: &Expr, align: u32, storage: Storage, zeroed: bool) -> String {
        let name = self.name(dst);
        let align = align.max(1);
        let size = self.scope.value(size);
        match storage {
            Storage::Heap if has_op(self.program(), |op| matches!(op, Op::ObjectSize { .. })) => {
                let zeroed = u8::from(zeroed);
                format!("{name} = leno_with_size(leno_allocate({size}, {align}, {zeroed}), {size});")
            }
            Storage::Heap => format!("{name} = leno_allocate({size}, {align}, {});", u8::from(zeroed)),
            Storage::Stack => {
                let clear = if zeroed { format!(" __builtin_memset((void *){name}, 0, size);") } else { String::new() };
                let bits = u64::from(align.max(16)) * 8;
                let keep = match lifetimes::freed_on_stack(self.function()).contains(&dst) {
                    true => format!(" {} = size;", lifetimes::size_of(self.function(), dst)),
                    false => String::new(),
                };
                format!(
                    "{{ ptr size = {size}; {name} = (ptr)__builtin_alloca_with_align(size, {bits});{clear}{keep} }}"
                )
            }
        }
    }

    fn free_on_stack(&self, ptr: &Expr) -> String {
        match ptr {
            Expr::Local(local) if lifetimes::freed_on_stack(self.function()).contains(local) => {
                format!(
                    "leno_end_life((void *){}, {});",
                    self.name(*local),
                    lifetimes::size_of(self.function(), *local)
                )
            }
            _ => "(void)0;".to_string(),
        }
    }

    /// The condition that a pointer was moved away from its object.
    pub(crate) fn moved_away(&self, op: &Op) -> String {
        let Op::CheckMove { from, to } = op else { return "0".to_string() };
        format!("leno_moved_away((ptr){}, (ptr){})", self.scope.address(from), self.scope.address(to))
    }

    pub(crate) fn assertion(&self, cond: &Expr, property: Property, message: TextId, span: Span) -> String {
        let property = match property {
            Property::Assertion => "assertion failed",
            Property::DivisionByZero => "division by zero",
            Property::QuotientOverflow => "quotient that does not fit",
            Property::SignedOverflow => "signed overflow",
            Property::IndexOutOfBounds => "index out of bounds",
            Property::Unsequenced => "unsequenced accesses",
            Property::OverlappingCopy => "copy between overlapping objects",
            Property::InvalidArgument => "invalid argument of a library function",
        };
        let program = self.program();
        let text = program.texts.get(message).filter(|text| !text.is_empty());
        let text = text.map_or(String::new(), |text| format!(": {text}"));
        let message = format!("{property}{text} at {}", comment::position(program, span));
        let condition = self.scope.operand(cond);
        format!("if (!{condition}) leno_fail({});", comment::string_literal(message.as_bytes()))
    }

    fn nondet(&self, dst: LocalId) -> String {
        let ty = self.local_type(dst);
        let name = self.name(dst);
        match ty {
            Type::Float(_) => format!("{name} = ({})leno_nondet_float();", types::value(ty)),
            Type::Int(1) => format!("{name} = leno_nondet() & 1;"),
            Type::Int(width @ (8 | 16 | 32 | 64 | 128)) => format!("{name} = (u{width})leno_nondet();"),
            Type::Int(width) => {
                let mask = crate::constant::integer(crate::constant::mask(width), width);
                format!("{name} = (u{})leno_nondet() & {mask};", types::computing(width))
            }
            Type::Ptr => format!("{name} = (ptr)leno_nondet();"),
        }
    }
}

/// How the `__atomic` builtins call an order. An access that has to be atomic and says no order gets the strongest.
fn atomic_order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcqRel => "__ATOMIC_ACQ_REL",
        Order::SeqCst | Order::NotAtomic => "__ATOMIC_SEQ_CST",
    }
}

/// C has no load that releases.
fn load_order(order: Order) -> Order {
    match order {
        Order::Release | Order::AcqRel => Order::SeqCst,
        order => order,
    }
}

/// C has no store that acquires.
fn store_order(order: Order) -> Order {
    match order {
        Order::Acquire | Order::AcqRel => Order::SeqCst,
        order => order,
    }
}

/// A failed exchange is a load, and before C17 its order may not be stronger than that of success.
fn exchange_orders(success: Order, failure: Order) -> (Order, Order) {
    match (success, load_order(failure)) {
        (_, Order::Relaxed) => (success, Order::Relaxed),
        (Order::Acquire | Order::AcqRel | Order::SeqCst, Order::Acquire) => (success, Order::Acquire),
        _ => (Order::SeqCst, Order::SeqCst),
    }
}
