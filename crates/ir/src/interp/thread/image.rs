//! A program made ready to run: flat code, resolved widths, static memory laid out.
//!
//! Instructions and terminators of all functions stand in one array, so that a thread's position is one number. The
//! image borrows the program for everything that is only shown to people. It is made once; any number of machines run
//! on it.

use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::live_before;
use crate::index::{Idx, IndexVec};
use crate::interp::library::external::{self, Native};
use crate::interp::memory::violation::kind_of;
use crate::interp::memory::{Instance, Kind, Memory};
use crate::interp::value::eval::{Binary, Cast, Cell, Ex, Reg, Shape, Unary};
use crate::interp::value::ones;
use crate::program::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// One step of a thread, compiled. The frequent ones come first and unboxed.
#[derive(Clone, Debug)]
pub(in crate::interp) enum Code {
    /// To a register of at most 64 bits.
    Assign {
        dst: u32,
        value: Ex,
    },
    AssignWide {
        dst: Reg,
        value: Ex,
    },
    Load {
        dst: Reg,
        ptr: Ex,
        bits: u16,
        private: Private,
    },
    Store {
        ptr: Ex,
        value: Ex,
        bits: u16,
        private: Private,
    },
    Goto(u32),
    Branch {
        cond: Ex,
        then: u32,
        otherwise: u32,
    },
    Switch(Box<Switch>),
    Call(Box<Call>),
    Return(Option<Ex>),
    Assume(Ex),
    Assert {
        cond: Ex,
        property: Property,
        message: TextId,
    },
    Nondet(Reg),
    Rare(Box<Rare>),
}

/// Whether an access is, as long as it stays in bounds, to a slot that no other thread can have the address of: which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) struct Private(pub Option<u16>);

#[derive(Clone, Debug)]
pub(in crate::interp) struct Switch {
    pub value: Ex,
    pub cases: Vec<(u128, u32)>,
    pub default: u32,
}

#[derive(Clone, Debug)]
pub(in crate::interp) struct Call {
    pub dst: Option<Reg>,
    pub callee: Target,
    pub args: Vec<Ex>,
}

#[derive(Clone, Debug)]
pub(in crate::interp) enum Target {
    Direct(FuncId),
    Indirect(Ex),
}

#[derive(Clone, Debug)]
pub(in crate::interp) enum Rare {
    ReadModifyWrite {
        dst: Option<Reg>,
        ptr: Ex,
        bits: u16,
        op: RmwOp,
        value: Ex,
    },
    CompareExchange {
        ok: Reg,
        old: Reg,
        ptr: Ex,
        bits: u16,
        expected: Ex,
        desired: Ex,
        weak: bool,
    },
    Allocate {
        dst: Reg,
        size: Ex,
        storage: Storage,
        zeroed: bool,
    },
    Free {
        ptr: Ex,
        storage: Storage,
    },
    BeginLife(Lives),
    EndLife(Lives),
    Undefine {
        dst: Reg,
    },
    CheckMove {
        from: Ex,
        to: Ex,
    },
    ObjectSize {
        dst: Reg,
        ptr: Ex,
    },
    Spawn {
        handle: Option<(Ex, u16)>,
        func: Ex,
        args: Vec<Ex>,
    },
    Join {
        dst: Option<Reg>,
        thread: Ex,
    },
    Detach {
        thread: Ex,
    },
    ThreadSelf {
        dst: Reg,
    },
    Sync {
        dst: Option<Reg>,
        step: SyncStep,
        at: Ex,
        operand: Option<Ex>,
        /// How many bytes of the object must be there.
        bytes: u32,
    },
    AtomicBegin,
    AtomicEnd,
    /// A fence or a yield.
    Nothing,
    ThreadExit(Ex),
    Exit(Ex),
    Abort,
    Unreachable,
}

/// A slot that begins or ends to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) struct Lives {
    pub slot: u32,
    /// No other thread can have its address.
    pub is_private: bool,
}

/// A [`SyncOp`] without its expressions: it has at most one besides the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) enum SyncStep {
    LockInit(LockKind),
    LockDestroy(LockKind),
    Lock(LockKind),
    TryLock(LockKind),
    Unlock(LockKind),
    RwInit,
    RwDestroy,
    ReadLock,
    TryReadLock,
    WriteLock,
    TryWriteLock,
    RwUnlock,
    CondInit,
    CondDestroy,
    CondSleep,
    CondWake { timed: bool },
    CondRelock,
    CondSignal,
    CondBroadcast,
    SemInit,
    SemDestroy,
    SemWait,
    SemTryWait,
    SemPost,
    SemGetValue,
    BarrierInit,
    BarrierDestroy,
    BarrierArrive,
    BarrierLeave,
    OnceBegin,
    OnceEnd,
}

#[derive(Debug)]
pub(in crate::interp) struct FunctionCode {
    pub name: String,
    /// None for an external function.
    pub entry: Option<u32>,
    pub params: Vec<Reg>,
    pub ret: Option<Type>,
    /// The registers when the function begins: all undefined.
    pub cells: Vec<Cell>,
    pub registers: Vec<Reg>,
    pub slots: Vec<u64>,
    /// Whether other threads may come to know the address of some slot.
    pub shares_slots: bool,
    /// How to run it, if it is a library function that Leno knows.
    pub native: Option<Native>,
    /// Its result depends on its arguments only.
    pub pure: bool,
}

/// Which memory orders the code has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryOrders {
    /// Some step may see what another thread has done without synchronising with it.
    pub are_weak: bool,
    /// There is a fence that acquires.
    pub has_acquiring_fences: bool,
    /// Synchronisation objects may be made, destroyed or freed while the program runs.
    pub ends_objects: bool,
}

impl MemoryOrders {
    fn add(&mut self, next: Next<'_>) {
        let Next::Instr(instr) = next else { return };
        self.are_weak |= instr.op.may_see_without_order();
        self.has_acquiring_fences |= matches!(instr.op, Op::Fence { order } if order.acquires());
        self.ends_objects |= match &instr.op {
            Op::Sync { op, .. } => matches!(op.object_use(), ObjectUse::Makes | ObjectUse::Destroys),
            op => matches!(op, Op::Free { .. }),
        };
    }
}

/// A program made ready to run.
#[derive(Debug)]
pub struct Image<'p> {
    pub program: &'p Program,
    pub(in crate::interp) code: Vec<Code>,
    places: Vec<Place>,
    pub(in crate::interp) functions: IndexVec<FuncId, FunctionCode>,
    object_addresses: IndexVec<ObjectId, u64>,
    function_addresses: IndexVec<FuncId, u64>,
    /// The thread-local objects, in the order of a thread's instances.
    pub(in crate::interp) thread_locals: Vec<ObjectId>,
    pub(in crate::interp) initial: Memory,
    pub orders: MemoryOrders,
    /// By code address: the registers that may still be read before the step there. Computed when it is first asked for:
    /// if freed memory may be given out again, and by searches that remember states.
    live: OnceLock<Vec<Vec<bool>>>,
}

impl<'p> Image<'p> {
    /// The program must be valid (see [`crate::program`]).
    pub fn new(program: &'p Program) -> Image<'p> {
        let mut image = Image {
            program,
            code: Vec::new(),
            places: Vec::new(),
            functions: IndexVec::new(),
            object_addresses: IndexVec::new(),
            function_addresses: IndexVec::new(),
            thread_locals: Vec::new(),
            initial: Memory::new(program.model, u64::MAX),
            orders: MemoryOrders::default(),
            live: OnceLock::new(),
        };
        image.lay_out_statics();
        for (id, function) in program.functions.iter_enumerated() {
            let compiled = image.compile_function(id, function);
            image.functions.push(compiled);
        }
        (0..image.code_len()).for_each(|pc| image.orders.add(image.next_at(pc)));
        image
    }

    /// The registers of the function that the code at `pc` is of, in order: whether their values may still be read,
    /// before the step there, or after it.
    pub(in crate::interp) fn live_registers(&self, pc: u32, is_after_step: bool) -> Cow<'_, [bool]> {
        let live = self.live.get_or_init(|| self.compute_live());
        let at = pc as usize + usize::from(is_after_step);
        let mut live = Cow::Borrowed(live.get(at).map_or(&[][..], Vec::as_slice));
        if let (true, Next::Instr(instr)) = (is_after_step, self.next_at(pc)) {
            instr.op.for_each_result(|local| live.to_mut()[local.index()] = false);
        }
        live
    }

    fn compute_live(&self) -> Vec<Vec<bool>> {
        let of_function = |function: &Function| {
            let live = |cfg: Cfg| live_before(function, &cfg, &private_slots(function), self.program.model);
            Cfg::of(function).map_or(Vec::new(), live).into_iter().flatten().collect::<Vec<_>>()
        };
        self.program.functions.iter().flat_map(of_function).collect()
    }

    /// How many places of code there are: every `pc` is less.
    pub fn code_len(&self) -> u32 {
        self.code.len() as u32
    }

    /// Where the code at `pc` comes from.
    pub fn place(&self, pc: u32) -> Place {
        self.places[pc as usize]
    }

    pub fn span(&self, pc: u32) -> Span {
        match self.next_at(pc) {
            Next::Instr(instr) => instr.span,
            Next::Terminator(terminator) => terminator.span,
        }
    }

    pub fn next_at(&self, pc: u32) -> Next<'p> {
        let Place { func, block, index } = self.place(pc);
        let Body::Blocks(blocks) = &self.program.functions[func].body else { unreachable!("code is of blocks") };
        match blocks[block].instrs.get(index as usize) {
            Some(instr) => Next::Instr(instr),
            None => Next::Terminator(&blocks[block].terminator),
        }
    }

    /// The address of a static object; 0 for a thread-local one.
    pub fn object_address(&self, object: ObjectId) -> u64 {
        self.object_addresses[object]
    }

    pub fn function_address(&self, function: FuncId) -> u64 {
        self.function_addresses[function]
    }

    fn lay_out_statics(&mut self) {
        let program = self.program;
        for id in program.functions.ids() {
            let address = self.initial.add_static(Instance::new(Kind::Function, 0, id.0, 0));
            self.function_addresses.push(address);
        }
        for (id, object) in program.objects.iter_enumerated() {
            let address = match object.kind {
                ObjectKind::ThreadLocal => {
                    self.thread_locals.push(id);
                    0
                }
                ObjectKind::External => {
                    self.initial.add_static(Instance::new(Kind::External, object.size, id.0, 0).unknown())
                }
                kind => self.initial.add_static(Instance::new(kind_of(kind), object.size, id.0, 0)),
            };
            self.object_addresses.push(address);
        }
        self.initial.seal();
        for (id, object) in program.objects.iter_enumerated() {
            if object.kind != ObjectKind::ThreadLocal {
                for (offset, bytes) in self.initial_bytes(id) {
                    self.initial.initialise(self.object_addresses[id], offset, &bytes);
                }
            }
        }
    }

    /// The contents of an object when it begins to live: pieces with their offsets.
    pub(in crate::interp) fn initial_bytes(&self, id: ObjectId) -> Vec<(u64, Vec<u8>)> {
        let pointer = self.program.model.pointer_bytes() as usize;
        let address_bytes = |address: u64| address.to_le_bytes()[..pointer].to_vec();
        let bytes = |datum: &Datum| match datum {
            Datum::Bytes(data) => data.clone(),
            Datum::Object(target, delta) => address_bytes(self.object_addresses[*target].wrapping_add_signed(*delta)),
            Datum::Function(function) => address_bytes(self.function_addresses[*function]),
        };
        self.program.objects[id].init.iter().map(|(offset, datum)| (*offset, bytes(datum))).collect()
    }

    fn compile_function(&mut self, id: FuncId, function: &'p Function) -> FunctionCode {
        let model = self.program.model;
        let mut cells = Vec::new();
        let mut registers = Vec::new();
        for local in &function.locals {
            let bits = local.ty.bits(model);
            registers.push(Reg { cell: cells.len() as u32, bits });
            cells.push(Cell { bits: 0, undefined: ones(bits.min(64)) as u64 });
            if bits > 64 {
                cells.push(Cell { bits: 0, undefined: ones(bits - 64) as u64 });
            }
        }
        let private = private_slots(function);
        let shares_slots = private.contains(&false);
        let (entry, native, pure) = match &function.body {
            Body::Blocks(blocks) => {
                let entry = self.code.len() as u32;
                Compiler { image: self, id, function, registers: &registers, private }.blocks(blocks);
                (Some(entry), None, false)
            }
            Body::External(external) if external.known => (None, external::native(&function.name), external.pure),
            Body::External(external) => (None, None, external.pure),
        };
        FunctionCode {
            name: function.name.clone(),
            entry,
            params: registers[..(function.params as usize).min(registers.len())].to_vec(),
            ret: function.ret,
            cells,
            registers,
            slots: function.slots.iter().map(|slot| slot.size).collect(),
            shares_slots,
            native,
            pure,
        }
    }
}

/// The next step of a thread, as the program has it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next<'p> {
    Instr(&'p Instr),
    Terminator(&'p Terminator),
}

/// For each slot, whether its address appears only as the address of loads, stores and handles: then it is in no
/// register and in no memory, and no other thread has it.
pub fn private_slots(function: &Function) -> Vec<bool> {
    let address = |op| match op {
        &Op::Load { from: ref access, .. }
        | &Op::Store { to: ref access, .. }
        | &Op::Spawn { handle: Some(ref access), .. } => Some(&access.ptr),
        _ => None,
    };
    named_otherwise(function, address).into_iter().map(|is_named| !is_named).collect()
}

/// For each slot, whether its address may be kept anywhere, in a register, in memory, by a function or a thread; or it
/// is only used for accesses and steps on synchronisation objects.
pub fn escaping_slots(function: &Function) -> Vec<bool> {
    named_otherwise(function, |op| match op {
        Op::Sync { op: SyncOp::CondSleep { .. } | SyncOp::CondWake { .. }, .. } => None,
        Op::Sync { at, .. } => Some(at),
        _ => op.access().map(|(access, _)| &access.ptr),
    })
}

/// For each slot, whether its address appears anywhere but as what `address` says an instruction accesses.
fn named_otherwise<'f>(function: &'f Function, address: impl Fn(&'f Op) -> Option<&'f Expr>) -> Vec<bool> {
    let mut named = vec![false; function.slots.len()];
    let Body::Blocks(blocks) = &function.body else { return named };
    for block in blocks {
        // (What a check of a pointer looks at goes nowhere.)
        for instr in block.instrs.iter().filter(|instr| !matches!(instr.op, Op::CheckMove { .. })) {
            let address = address(&instr.op);
            instr.op.for_each_operand(|operand| {
                if address.is_none_or(|address| !std::ptr::eq(address, operand) || accessed_slot(address).is_none()) {
                    for_each_slot(operand, &mut |slot| named[slot.index()] = true);
                }
            });
        }
        if let Some(operand) = block.terminator.kind.operand() {
            for_each_slot(operand, &mut |slot| named[slot.index()] = true);
        }
    }
    named
}

/// The slot of an address that is a slot or a number of bytes from one.
fn accessed_slot(address: &Expr) -> Option<SlotId> {
    match address {
        Expr::Slot(slot) => Some(*slot),
        Expr::Binary(BinaryOp::PtrAdd, operands) => match &**operands {
            [Expr::Slot(slot), offset] if !mentions_slot(offset) => Some(*slot),
            _ => None,
        },
        _ => None,
    }
}

fn mentions_slot(expr: &Expr) -> bool {
    let mut mentions = false;
    for_each_slot(expr, &mut |_| mentions = true);
    mentions
}

fn for_each_slot(expr: &Expr, visit: &mut dyn FnMut(SlotId)) {
    match expr {
        Expr::Slot(slot) => visit(*slot),
        Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Function(_) => {}
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => for_each_slot(operand, visit),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| for_each_slot(operand, visit)),
        Expr::Select(parts) => parts.iter().for_each(|part| for_each_slot(part, visit)),
    }
}

struct Compiler<'a, 'p> {
    image: &'a mut Image<'p>,
    id: FuncId,
    function: &'p Function,
    registers: &'a [Reg],
    private: Vec<bool>,
}

impl<'p> Compiler<'_, 'p> {
    fn blocks(&mut self, blocks: &'p IndexVec<BlockId, Block>) {
        let mut next = self.image.code.len() as u32;
        let mut starts = IndexVec::new();
        for block in blocks {
            starts.push(next);
            next += block.instrs.len() as u32 + 1;
        }
        for (block, contents) in blocks.iter_enumerated() {
            for (index, instr) in contents.instrs.iter().enumerate() {
                let code = self.instr(&instr.op);
                self.push(block, index, code);
            }
            let code = self.terminator(&contents.terminator.kind, &starts);
            self.push(block, contents.instrs.len(), code);
        }
    }

    fn push(&mut self, block: BlockId, index: usize, code: Code) {
        self.image.code.push(code);
        self.image.places.push(Place { func: self.id, block, index: index as u32 });
    }

    fn model(&self) -> DataModel {
        self.image.program.model
    }

    fn reg(&self, local: LocalId) -> Reg {
        self.registers[local.index()]
    }

    fn type_of(&self, expr: &Expr) -> Type {
        expr.ty(&self.function.locals, self.model())
    }

    fn shape(&self, ty: Type) -> Shape {
        match ty {
            Type::Float(kind) => Shape::Float(kind),
            other => Shape::Bits(other.bits(self.model())),
        }
    }

    fn ex(&self, expr: &Expr) -> Ex {
        match expr {
            Expr::Const { ty, bits } if ty.bits(self.model()) > 64 => Ex::WideConst(Box::new(*bits)),
            Expr::Const { bits, .. } => Ex::Const(*bits as u64),
            Expr::Local(local) if self.reg(*local).is_wide() => Ex::WideReg(self.reg(*local).cell),
            Expr::Local(local) => Ex::Reg(self.reg(*local).cell),
            Expr::Object(object) => match self.image.thread_locals.binary_search(object) {
                Ok(index) => Ex::ThreadLocal(index as u32),
                Err(_) => Ex::Const(self.image.object_addresses[*object]),
            },
            Expr::Slot(slot) => Ex::Slot(slot.0),
            Expr::Function(function) => Ex::Const(self.image.function_addresses[*function]),
            Expr::Unary(op, operand) => {
                let shape = self.shape(self.type_of(operand));
                Ex::Unary(Box::new(Unary { op: *op, shape, operand: self.ex(operand) }))
            }
            Expr::Binary(op, operands) => {
                let [left, right] = &**operands;
                let shape = self.shape(self.type_of(left));
                let result = self.type_of(expr).bits(self.model());
                Ex::Binary(Box::new(Binary { op: *op, shape, result, left: self.ex(left), right: self.ex(right) }))
            }
            Expr::Cast(op, ty, operand) => {
                let (from, to) = (self.shape(self.type_of(operand)), self.shape(*ty));
                Ex::Cast(Box::new(Cast { op: *op, from, to, operand: self.ex(operand) }))
            }
            Expr::Select(parts) => {
                let [cond, then, otherwise] = &**parts;
                Ex::Select(Box::new([self.ex(cond), self.ex(then), self.ex(otherwise)]))
            }
        }
    }

    fn access(&self, access: &Access) -> (Ex, u16, Private) {
        let slot = accessed_slot(&access.ptr).filter(|slot| self.private[slot.index()]);
        let private = Private(slot.and_then(|slot| u16::try_from(slot.0).ok()));
        (self.ex(&access.ptr), self.access_bits(access), private)
    }

    fn access_bits(&self, access: &Access) -> u16 {
        access.ty.bits(self.model())
    }

    fn instr(&self, op: &Op) -> Code {
        match op {
            Op::Assign { dst, value } if self.reg(*dst).is_wide() => {
                Code::AssignWide { dst: self.reg(*dst), value: self.ex(value) }
            }
            Op::Assign { dst, value } => Code::Assign { dst: self.reg(*dst).cell, value: self.ex(value) },
            Op::Load { dst, from } => {
                let (ptr, bits, private) = self.access(from);
                Code::Load { dst: self.reg(*dst), ptr, bits, private }
            }
            Op::Store { to, value } => {
                let (ptr, bits, private) = self.access(to);
                Code::Store { ptr, value: self.ex(value), bits, private }
            }
            Op::Assume { cond } => Code::Assume(self.ex(cond)),
            Op::Assert { cond, property, message } => {
                Code::Assert { cond: self.ex(cond), property: *property, message: *message }
            }
            Op::Nondet { dst } => Code::Nondet(self.reg(*dst)),
            Op::Call { dst, callee, args } => Code::Call(Box::new(Call {
                dst: dst.map(|dst| self.reg(dst)),
                callee: match callee {
                    Callee::Direct(function) => Target::Direct(*function),
                    Callee::Indirect(expr) => Target::Indirect(self.ex(expr)),
                },
                args: args.iter().map(|arg| self.ex(arg)).collect(),
            })),
            _ => Code::Rare(Box::new(self.rare(op))),
        }
    }

    fn rare(&self, op: &Op) -> Rare {
        match op {
            Op::ReadModifyWrite { dst, at, op, value } => Rare::ReadModifyWrite {
                dst: dst.map(|dst| self.reg(dst)),
                ptr: self.ex(&at.ptr),
                bits: self.access_bits(at),
                op: *op,
                value: self.ex(value),
            },
            Op::CompareExchange { ok, old, at, expected, desired, weak, .. } => Rare::CompareExchange {
                ok: self.reg(*ok),
                old: self.reg(*old),
                ptr: self.ex(&at.ptr),
                bits: self.access_bits(at),
                expected: self.ex(expected),
                desired: self.ex(desired),
                weak: *weak,
            },
            Op::Allocate { dst, size, storage, zeroed, .. } => {
                Rare::Allocate { dst: self.reg(*dst), size: self.ex(size), storage: *storage, zeroed: *zeroed }
            }
            Op::Free { ptr, storage } => Rare::Free { ptr: self.ex(ptr), storage: *storage },
            Op::BeginLife { slot } => Rare::BeginLife(self.lives(*slot)),
            Op::EndLife { slot } => Rare::EndLife(self.lives(*slot)),
            Op::Undefine { dst } => Rare::Undefine { dst: self.reg(*dst) },
            Op::CheckMove { from, to } => Rare::CheckMove { from: self.ex(from), to: self.ex(to) },
            Op::ObjectSize { dst, ptr } => Rare::ObjectSize { dst: self.reg(*dst), ptr: self.ex(ptr) },
            Op::Spawn { handle, func, args } => Rare::Spawn {
                handle: handle.as_ref().map(|access| (self.ex(&access.ptr), self.access_bits(access))),
                func: self.ex(func),
                args: args.iter().map(|arg| self.ex(arg)).collect(),
            },
            Op::Join { dst, thread } => Rare::Join { dst: dst.map(|dst| self.reg(dst)), thread: self.ex(thread) },
            Op::Detach { thread } => Rare::Detach { thread: self.ex(thread) },
            Op::ThreadSelf { dst } => Rare::ThreadSelf { dst: self.reg(*dst) },
            Op::Sync { dst, op, at } => {
                let (step, operand) = self.sync(op);
                let bytes = match op.object_use() {
                    // (It may be gone.)
                    ObjectUse::Leaves => 0,
                    _ => op.object_bytes(self.image.program.model),
                };
                Rare::Sync { dst: dst.map(|dst| self.reg(dst)), step, at: self.ex(at), operand, bytes }
            }
            Op::AtomicBegin => Rare::AtomicBegin,
            Op::AtomicEnd => Rare::AtomicEnd,
            _ => Rare::Nothing,
        }
    }

    fn lives(&self, slot: SlotId) -> Lives {
        Lives { slot: slot.0, is_private: self.private[slot.index()] }
    }

    fn sync(&self, op: &SyncOp) -> (SyncStep, Option<Ex>) {
        let (step, operand) = match op {
            SyncOp::LockInit { lock, kind } => (SyncStep::LockInit(*lock), Some(kind)),
            SyncOp::LockDestroy(lock) => (SyncStep::LockDestroy(*lock), None),
            SyncOp::Lock(lock) => (SyncStep::Lock(*lock), None),
            SyncOp::TryLock(lock) => (SyncStep::TryLock(*lock), None),
            SyncOp::Unlock(lock) => (SyncStep::Unlock(*lock), None),
            SyncOp::RwInit => (SyncStep::RwInit, None),
            SyncOp::RwDestroy => (SyncStep::RwDestroy, None),
            SyncOp::ReadLock => (SyncStep::ReadLock, None),
            SyncOp::TryReadLock => (SyncStep::TryReadLock, None),
            SyncOp::WriteLock => (SyncStep::WriteLock, None),
            SyncOp::TryWriteLock => (SyncStep::TryWriteLock, None),
            SyncOp::RwUnlock => (SyncStep::RwUnlock, None),
            SyncOp::CondInit => (SyncStep::CondInit, None),
            SyncOp::CondDestroy => (SyncStep::CondDestroy, None),
            SyncOp::CondSleep { mutex } => (SyncStep::CondSleep, Some(mutex)),
            SyncOp::CondWake { deadline, .. } => (SyncStep::CondWake { timed: deadline.is_some() }, None),
            SyncOp::CondRelock => (SyncStep::CondRelock, None),
            SyncOp::CondSignal => (SyncStep::CondSignal, None),
            SyncOp::CondBroadcast => (SyncStep::CondBroadcast, None),
            SyncOp::SemInit { value } => (SyncStep::SemInit, Some(value)),
            SyncOp::SemDestroy => (SyncStep::SemDestroy, None),
            SyncOp::SemWait => (SyncStep::SemWait, None),
            SyncOp::SemTryWait => (SyncStep::SemTryWait, None),
            SyncOp::SemPost => (SyncStep::SemPost, None),
            SyncOp::SemGetValue => (SyncStep::SemGetValue, None),
            SyncOp::BarrierInit { count } => (SyncStep::BarrierInit, Some(count)),
            SyncOp::BarrierDestroy => (SyncStep::BarrierDestroy, None),
            SyncOp::BarrierArrive => (SyncStep::BarrierArrive, None),
            SyncOp::BarrierLeave { ticket } => (SyncStep::BarrierLeave, Some(ticket)),
            SyncOp::OnceBegin => (SyncStep::OnceBegin, None),
            SyncOp::OnceEnd => (SyncStep::OnceEnd, None),
        };
        (step, operand.map(|expr| self.ex(expr)))
    }

    fn terminator(&self, kind: &TerminatorKind, starts: &IndexVec<BlockId, u32>) -> Code {
        match kind {
            TerminatorKind::Goto(block) => Code::Goto(starts[*block]),
            TerminatorKind::Branch { cond, then, otherwise } => {
                Code::Branch { cond: self.ex(cond), then: starts[*then], otherwise: starts[*otherwise] }
            }
            TerminatorKind::Switch { value, cases, default } => Code::Switch(Box::new(Switch {
                value: self.ex(value),
                cases: cases.iter().map(|(case, block)| (*case, starts[*block])).collect(),
                default: starts[*default],
            })),
            TerminatorKind::Return(value) => Code::Return(value.as_ref().map(|value| self.ex(value))),
            TerminatorKind::ThreadExit(value) => Code::Rare(Box::new(Rare::ThreadExit(self.ex(value)))),
            TerminatorKind::Exit(status) => Code::Rare(Box::new(Rare::Exit(self.ex(status)))),
            TerminatorKind::Abort => Code::Rare(Box::new(Rare::Abort)),
            TerminatorKind::Unreachable => Code::Rare(Box::new(Rare::Unreachable)),
        }
    }
}
