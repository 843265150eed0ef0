//! Whether a program is one: ids in range, types right, tables in order.
//!
//! The types of [`program`](crate::program) can express nonsense; a *valid* program is one on which every engine
//! may index without checking and recurse over expressions without counting. The front end validates what it
//! made, the command line validates what it read, and everything else relies on it. All violations are
//! reported, each with its place, since one mistake in the front end shows best as a pattern of them.
//!
//! The depth of expressions is checked on the way down, so that a deeper one cannot exhaust the stack here.

use std::fmt;

use crate::program::{
    Access, BinaryOp, Block, BlockId, Body, Callee, CastOp, DataModel, Datum, Expr, External, FuncId, Function, Instr,
    LocalId, MAX_EXPR_DEPTH, Object, ObjectId, ObjectKind, Op, Program, RmwOp, SlotId, Span, SyncOp, TerminatorKind,
    TextId, Type, UnaryOp,
};
use crate::text::Names;

/// A way in which a program is not valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    pub function: Option<FuncId>,
    pub block: Option<BlockId>,
    /// The number of the instruction in its block; the number of instructions for the terminator.
    pub instr: Option<usize>,
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "{function}")?;
            if let Some(block) = self.block {
                write!(f, ":{block}")?;
            }
            if let Some(instr) = self.instr {
                write!(f, ":{instr}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl Invalid {
    /// The message with the instruction it is about, for people.
    pub fn explain(&self, program: &Program) -> String {
        let names = Names::new(program);
        let Some(function) = self.function else { return self.message.clone() };
        let place = format!("in {}", names.function(function));
        let Some(Body::Blocks(blocks)) = program.functions.get(function).map(|f| &f.body) else {
            return format!("{place}: {}", self.message);
        };
        let (Some(block_id), Some(block)) = (self.block, self.block.and_then(|id| blocks.get(id))) else {
            return format!("{place}: {}", self.message);
        };
        let code = match self.instr {
            Some(index) if index < block.instrs.len() => names.show(function, &block.instrs[index].op).to_string(),
            Some(_) => names.show(function, &block.terminator.kind).to_string(),
            None => String::new(),
        };
        format!("{place}, {block_id}: {}: {code}", self.message)
    }
}

/// Checks everything; all that is wrong comes back, in the order of the program.
pub fn validate(program: &Program) -> Result<(), Vec<Invalid>> {
    let mut checker = Checker { program, function: None, block: None, instr: None, found: Vec::new() };
    checker.program();
    if checker.found.is_empty() { Ok(()) } else { Err(checker.found) }
}

struct Checker<'p> {
    program: &'p Program,
    function: Option<(FuncId, &'p Function)>,
    block: Option<BlockId>,
    instr: Option<usize>,
    found: Vec<Invalid>,
}

impl<'p> Checker<'p> {
    fn report(&mut self, message: impl Into<String>) {
        self.found.push(Invalid {
            function: self.function.map(|(id, _)| id),
            block: self.block,
            instr: self.instr,
            message: message.into(),
        });
    }

    fn require(&mut self, holds: bool, message: &str) {
        if !holds {
            self.report(message);
        }
    }

    fn word(&self) -> Type {
        self.program.model.word()
    }

    fn program(&mut self) {
        let program = self.program;
        let text_zero_is_empty = program.texts.get(TextId(0)).is_none_or(String::is_empty);
        self.require(text_zero_is_empty, "text 0 is not empty");
        for (id, object) in program.objects.iter_enumerated() {
            self.object(id, object);
        }
        for (id, function) in program.functions.iter_enumerated() {
            self.function = Some((id, function));
            self.function(function);
            (self.function, self.block, self.instr) = (None, None, None);
        }
        self.entry();
    }

    fn entry(&mut self) {
        let Some(entry) = self.program.entry else { return };
        let Some(function) = self.program.functions.get(entry) else {
            return self.report(format!("there is no function {entry} to be the entry"));
        };
        let params: Vec<Type> = param_types(function).collect();
        self.require(params == [Type::I32, Type::Ptr], "the entry's parameters are not (i32, ptr)");
        self.require(matches!(function.body, Body::Blocks(_)), "the entry has no body");
    }

    fn span(&mut self, span: Span) {
        let has_place = (span.line, span.column) != (0, 0) || span.file.0 != 0;
        if has_place && self.program.files.get(span.file).is_none() {
            self.report(format!("there is no {}", span.file));
        }
        self.text(span.text);
    }

    fn text(&mut self, text: TextId) {
        if text.0 != 0 && self.program.texts.get(text).is_none() {
            self.report(format!("there is no {text}"));
        }
    }

    fn align(&mut self, align: u32) {
        if !align.is_power_of_two() {
            self.report(format!("the alignment {align} is not a power of two"));
        }
    }

    fn object(&mut self, id: ObjectId, object: &Object) {
        self.align(object.align);
        self.span(object.span);
        if object.kind == ObjectKind::External && !object.init.is_empty() {
            self.report(format!("{id} is external and has an initial value"));
        }
        let mut end_of_last = 0;
        for (offset, datum) in &object.init {
            let length = match datum {
                Datum::Bytes(bytes) => bytes.len() as u64,
                Datum::Object(..) | Datum::Function(_) => self.program.model.pointer_bytes(),
            };
            if *offset < end_of_last {
                self.report(format!("the initial value of {id} is not sorted or overlaps at offset {offset}"));
            }
            match offset.checked_add(length) {
                Some(end) if end <= object.size => end_of_last = end,
                _ => return self.report(format!("the initial value of {id} at offset {offset} does not fit its size")),
            }
            self.datum(id, datum);
        }
    }

    fn datum(&mut self, holder: ObjectId, datum: &Datum) {
        match datum {
            Datum::Bytes(_) => {}
            Datum::Object(id, _) => match self.program.objects.get(*id).map(|object| object.kind) {
                None => self.report(format!("the initial value of {holder} mentions {id}, which does not exist")),
                Some(ObjectKind::ThreadLocal) => {
                    self.report(format!("the initial value of {holder} holds the address of the thread-local {id}"));
                }
                Some(_) => {}
            },
            Datum::Function(id) => {
                if self.program.functions.get(*id).is_none() {
                    self.report(format!("the initial value of {holder} mentions {id}, which does not exist"));
                }
            }
        }
    }

    fn function(&mut self, function: &'p Function) {
        self.span(function.span);
        if function.params as usize > function.locals.len() {
            self.report(format!("{} parameters, but {} locals", function.params, function.locals.len()));
        }
        function.locals.iter().for_each(|local| self.ty(local.ty));
        function.slots.iter().for_each(|slot| self.align(slot.align));
        if let Some(ty) = function.ret {
            self.ty(ty);
        }
        match &function.body {
            Body::External(external) => self.external(function, external),
            Body::Blocks(blocks) => {
                self.require(!blocks.is_empty(), "the function has no block");
                for (id, block) in blocks.iter_enumerated() {
                    (self.block, self.instr) = (Some(id), None);
                    self.block(block);
                }
            }
        }
    }

    fn external(&mut self, function: &Function, external: &External) {
        for param in &external.writes {
            if *param >= function.params {
                self.report(format!("it is said to write through parameter {param}, which it does not have"));
            }
        }
        if external.variadic && param_types(function).last() != Some(Type::Ptr) {
            self.report("it is variadic, but its last parameter is no pointer");
        }
    }

    fn block(&mut self, block: &'p Block) {
        self.span(block.span);
        for (index, instr) in block.instrs.iter().enumerate() {
            self.instr = Some(index);
            self.instr(instr);
        }
        self.instr = Some(block.instrs.len());
        self.span(block.terminator.span);
        self.terminator(&block.terminator.kind);
    }

    fn instr(&mut self, instr: &'p Instr) {
        self.span(instr.span);
        match &instr.op {
            Op::Assign { dst, value } => {
                let ty = self.expr(value);
                self.dst(*dst, ty);
            }
            Op::Load { dst, from } => {
                self.access(from);
                self.dst(*dst, Some(from.ty));
            }
            Op::Store { to, value } => {
                self.access(to);
                self.expr_of(value, to.ty, "the stored value");
            }
            Op::ReadModifyWrite { dst, at, op, value } => self.read_modify_write(*dst, at, *op, value),
            Op::CompareExchange { ok, old, at, expected, desired, .. } => {
                self.access(at);
                self.require(!matches!(at.ty, Type::Float(_)), "compare-exchange of a float");
                self.expr_of(expected, at.ty, "the expected value");
                self.expr_of(desired, at.ty, "the desired value");
                self.dst(*ok, Some(Type::BOOL));
                self.dst(*old, Some(at.ty));
                self.require(ok != old, "both results of compare-exchange go to one local");
            }
            Op::Allocate { dst, size, align, .. } => {
                self.expr_of(size, self.word(), "the size");
                self.align(*align);
                self.dst(*dst, Some(Type::Ptr));
            }
            Op::Free { ptr, .. } => self.expr_of(ptr, Type::Ptr, "the freed address"),
            Op::BeginLife { slot } | Op::EndLife { slot } => _ = self.slot(*slot),
            Op::CheckMove { from, to } => {
                self.expr_of(from, Type::Ptr, "the address that was moved");
                self.expr_of(to, Type::Ptr, "the address that it was moved to");
            }
            Op::ObjectSize { dst, ptr } => {
                self.expr_of(ptr, Type::Ptr, "the address");
                self.dst(*dst, Some(self.word()));
            }
            Op::Assume { cond } => self.expr_of(cond, Type::BOOL, "the condition"),
            Op::Assert { cond, message, .. } => {
                self.expr_of(cond, Type::BOOL, "the condition");
                self.text(*message);
            }
            Op::Nondet { dst } | Op::Undefine { dst } => self.dst(*dst, None),
            Op::Call { dst, callee, args } => self.call(*dst, callee, args),
            Op::Spawn { handle, func, args } => {
                if let Some(handle) = handle {
                    self.access(handle);
                    self.expect_type(Some(handle.ty), self.word(), "the thread's handle");
                }
                self.expr_of(func, Type::Ptr, "the thread's function");
                self.exprs(args);
            }
            Op::Join { dst, thread } => {
                self.expr_of(thread, self.word(), "the thread");
                self.optional_dst(*dst, self.word());
            }
            Op::Detach { thread } => self.expr_of(thread, self.word(), "the thread"),
            Op::ThreadSelf { dst } => self.dst(*dst, Some(self.word())),
            Op::Sync { dst, op, at } => self.sync(*dst, op, at),
            Op::Fence { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Yield => {}
        }
    }

    fn slot(&mut self, id: SlotId) -> Option<Type> {
        let exists = self.function.is_some_and(|(_, function)| function.slots.get(id).is_some());
        self.address(exists, &id)
    }

    fn read_modify_write(&mut self, dst: Option<LocalId>, at: &Access, op: RmwOp, value: &Expr) {
        self.access(at);
        match at.ty {
            Type::Int(_) => {}
            Type::Ptr if op == RmwOp::Exchange => {}
            ty => self.report(format!("this read-modify-write is not for {ty}")),
        }
        self.expr_of(value, at.ty, "the operand");
        self.optional_dst(dst, at.ty);
    }

    fn call(&mut self, dst: Option<LocalId>, callee: &Callee, args: &[Expr]) {
        let id = match callee {
            Callee::Direct(id) => *id,
            Callee::Indirect(pointer) => {
                self.expr_of(pointer, Type::Ptr, "the callee");
                self.exprs(args);
                if let Some(dst) = dst {
                    self.dst(dst, None);
                }
                return;
            }
        };
        let Some(function) = self.program.functions.get(id) else {
            return self.report(format!("there is no function {id}"));
        };
        if args.len() != function.params as usize {
            self.report(format!("{} arguments for {} parameters", args.len(), function.params));
            self.exprs(args);
        } else {
            for (arg, ty) in args.iter().zip(param_types(function)) {
                self.expr_of(arg, ty, "an argument");
            }
        }
        match (dst, function.ret) {
            (None, _) => {}
            (Some(dst), Some(ty)) => self.dst(dst, Some(ty)),
            (Some(_), None) => self.report("the callee returns nothing, but its result is used"),
        }
    }

    fn sync(&mut self, dst: Option<LocalId>, op: &SyncOp, at: &Expr) {
        self.expr_of(at, Type::Ptr, "the address");
        match op {
            SyncOp::LockInit { kind, .. } => self.expr_of(kind, Type::I32, "the kind of lock"),
            SyncOp::CondSleep { mutex } => self.expr_of(mutex, Type::Ptr, "the mutex"),
            SyncOp::CondWake { mutex, deadline } => {
                self.expr_of(mutex, Type::Ptr, "the mutex");
                if let Some(deadline) = deadline {
                    self.expr(deadline);
                }
            }
            SyncOp::SemInit { value } => self.expr_of(value, Type::I32, "the semaphore's value"),
            SyncOp::BarrierInit { count } => self.expr_of(count, Type::I32, "the barrier's count"),
            SyncOp::BarrierLeave { ticket } => self.expr_of(ticket, Type::Int(64), "the ticket"),
            _ => {}
        }
        let result = if *op == SyncOp::BarrierArrive { Type::Int(64) } else { Type::I32 };
        self.optional_dst(dst, result);
    }

    fn terminator(&mut self, kind: &TerminatorKind) {
        match kind {
            TerminatorKind::Goto(target) => self.target(*target),
            TerminatorKind::Branch { cond, then, otherwise } => {
                self.expr_of(cond, Type::BOOL, "the condition");
                self.target(*then);
                self.target(*otherwise);
            }
            TerminatorKind::Switch { value, cases, default } => {
                match self.expr(value) {
                    Some(Type::Int(bits)) => {
                        let fits = |(case, _): &(u128, BlockId)| bits >= 128 || case >> bits == 0;
                        self.require(cases.iter().all(fits), "a case does not fit the type of the switch");
                    }
                    Some(ty) => self.report(format!("a switch on {ty}")),
                    None => {}
                }
                let sorted = cases.windows(2).all(|pair| pair[0].0 < pair[1].0);
                self.require(sorted, "the cases are not sorted and distinct");
                cases.iter().for_each(|(_, target)| self.target(*target));
                self.target(*default);
            }
            TerminatorKind::Return(value) => self.return_value(value.as_ref()),
            TerminatorKind::ThreadExit(value) => self.expr_of(value, self.word(), "the thread's result"),
            TerminatorKind::Exit(status) => self.expr_of(status, Type::I32, "the status"),
            TerminatorKind::Abort | TerminatorKind::Unreachable => {}
        }
    }

    fn return_value(&mut self, value: Option<&Expr>) {
        let declared = self.function.and_then(|(_, function)| function.ret);
        match (value, declared) {
            (Some(value), Some(ty)) => self.expr_of(value, ty, "the returned value"),
            (None, None) => {}
            (Some(_), None) => self.report("a value is returned from a function that returns none"),
            (None, Some(ty)) => self.report(format!("no value is returned from a function that returns {ty}")),
        }
    }

    fn target(&mut self, target: BlockId) {
        let Some((_, Function { body: Body::Blocks(blocks), .. })) = self.function else { return };
        if blocks.get(target).is_none() {
            self.report(format!("there is no block {target}"));
        }
    }

    fn ty(&mut self, ty: Type) {
        if let Type::Int(bits) = ty
            && !(1..=128).contains(&bits)
        {
            self.report(format!("there is no type {ty}"));
        }
    }

    fn access(&mut self, access: &Access) {
        self.expr_of(&access.ptr, Type::Ptr, "the address");
        if !matches!(access.ty, Type::Int(8 | 16 | 32 | 64 | 128) | Type::Ptr | Type::Float(_)) {
            self.report(format!("memory does not hold {}", access.ty));
        }
    }

    /// Checks that `dst` exists, and has the type `ty` where that is known.
    fn dst(&mut self, dst: LocalId, ty: Option<Type>) {
        let found = self.local(dst);
        if let (Some(found), Some(ty)) = (found, ty)
            && found != ty
        {
            self.report(format!("a result of type {ty} goes to a local of type {found}"));
        }
    }

    fn optional_dst(&mut self, dst: Option<LocalId>, ty: Type) {
        if let Some(dst) = dst {
            self.dst(dst, Some(ty));
        }
    }

    fn local(&mut self, id: LocalId) -> Option<Type> {
        let ty = self.function.and_then(|(_, function)| function.locals.get(id)).map(|local| local.ty);
        if ty.is_none() {
            self.report(format!("there is no local {id}"));
        }
        ty
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr_of(&mut self, expr: &Expr, expected: Type, what: &str) {
        let found = self.expr(expr);
        self.expect_type(found, expected, what);
    }

    fn expect_type(&mut self, found: Option<Type>, expected: Type, what: &str) {
        if let Some(found) = found.filter(|found| *found != expected) {
            self.report(format!("{what} has type {found}, not {expected}"));
        }
    }

    /// The type of an expression; none when something wrong with it has been reported.
    fn expr(&mut self, expr: &Expr) -> Option<Type> {
        self.expr_of_depth(expr, MAX_EXPR_DEPTH)
    }

    fn expr_of_depth(&mut self, expr: &Expr, depth: usize) -> Option<Type> {
        let Some(below) = depth.checked_sub(1) else {
            self.report(format!("an expression is more than {MAX_EXPR_DEPTH} deep"));
            return None;
        };
        match expr {
            Expr::Const { ty, bits } => self.constant(*ty, *bits),
            Expr::Local(id) => self.local(*id),
            Expr::Object(id) => self.address(self.program.objects.get(*id).is_some(), id),
            Expr::Function(id) => self.address(self.program.functions.get(*id).is_some(), id),
            Expr::Slot(id) => self.slot(*id),
            Expr::Unary(op, operand) => {
                let ty = self.expr_of_depth(operand, below)?;
                self.unary(*op, ty)
            }
            Expr::Binary(op, operands) => {
                let left = self.expr_of_depth(&operands[0], below);
                let right = self.expr_of_depth(&operands[1], below);
                self.binary(*op, left?, right?)
            }
            Expr::Cast(op, ty, operand) => {
                let from = self.expr_of_depth(operand, below)?;
                self.cast(*op, from, *ty)
            }
            Expr::Select(parts) => {
                let cond = self.expr_of_depth(&parts[0], below);
                let then = self.expr_of_depth(&parts[1], below);
                let otherwise = self.expr_of_depth(&parts[2], below);
                self.expect_type(cond, Type::BOOL, "the condition");
                let then = then?;
                self.expect_type(otherwise, then, "the other operand of select");
                Some(then)
            }
        }
    }

    fn address(&mut self, exists: bool, id: &dyn fmt::Display) -> Option<Type> {
        if !exists {
            self.report(format!("there is no {id}"));
        }
        Some(Type::Ptr)
    }

    fn constant(&mut self, ty: Type, bits: u128) -> Option<Type> {
        self.ty(ty);
        let width = ty.bits(self.program.model);
        if width < 128 && bits >> width != 0 {
            self.report(format!("the constant {bits:#x} has bits above its type {ty}"));
        }
        Some(ty)
    }

    fn unary(&mut self, op: UnaryOp, ty: Type) -> Option<Type> {
        let right = match op {
            UnaryOp::Neg | UnaryOp::Not => matches!(ty, Type::Int(_)),
            UnaryOp::FNeg | UnaryOp::FSqrt | UnaryOp::FAbs => matches!(ty, Type::Float(_)),
        };
        if !right {
            self.report(format!("{op:?} of {ty}"));
        }
        right.then_some(ty)
    }

    fn binary(&mut self, op: BinaryOp, left: Type, right: Type) -> Option<Type> {
        match binary_type(op, left, right, self.program.model) {
            None => {
                self.report(format!("{op:?} of {left} and {right}"));
                None
            }
            ty => ty,
        }
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type) -> Option<Type> {
        self.ty(to);
        let word = self.word();
        let legal = match (op, from, to) {
            (CastOp::Truncate, Type::Int(from), Type::Int(to)) => to < from,
            (CastOp::ZeroExtend | CastOp::SignExtend, Type::Int(from), Type::Int(to)) => to > from,
            (CastOp::PtrToInt, Type::Ptr, to) => to == word,
            (CastOp::IntToPtr, from, Type::Ptr) => from == word,
            (CastOp::UIntToFloat | CastOp::SIntToFloat, Type::Int(_), Type::Float(_)) => true,
            (CastOp::FloatToUInt | CastOp::FloatToSInt, Type::Float(_), Type::Int(_)) => true,
            (CastOp::FloatToFloat, Type::Float(from), Type::Float(to)) => from != to,
            (CastOp::Bitcast, Type::Int(_) | Type::Float(_), Type::Int(_) | Type::Float(_)) => {
                from.bits(self.program.model) == to.bits(self.program.model)
            }
            _ => false,
        };
        if !legal {
            self.report(format!("{op:?} from {from} to {to}"));
        }
        Some(to)
    }
}

fn param_types(function: &Function) -> impl Iterator<Item = Type> + use<'_> {
    function.locals.iter().take(function.params as usize).map(|local| local.ty)
}

/// The type of an operation on operands of these types; none if there is no such operation.
fn binary_type(op: BinaryOp, left: Type, right: Type, model: DataModel) -> Option<Type> {
    use BinaryOp::*;
    let same = left == right;
    match (op, left) {
        (Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor, Type::Int(_)) if same => {
            Some(left)
        }
        (Eq | Ne | ULt | ULe, Type::Int(_) | Type::Ptr) if same => Some(Type::BOOL),
        (SLt | SLe, Type::Int(_)) if same => Some(Type::BOOL),
        (SAddOverflow | SSubOverflow | SMulOverflow, Type::Int(_)) if same => Some(Type::BOOL),
        (UAddOverflow | USubOverflow | UMulOverflow, Type::Int(_)) if same => Some(Type::BOOL),
        (PtrAdd, Type::Ptr) if right == model.word() => Some(Type::Ptr),
        (PtrDiff, Type::Ptr) if same => Some(model.word()),
        (FAdd | FSub | FMul | FDiv, Type::Float(_)) if same => Some(left),
        (FEq | FNe | FLt | FLe, Type::Float(_)) if same => Some(Type::BOOL),
        _ => None,
    }
}
