//! Random valid programs: every instruction, every operator, odd names, odd tables.

use leno_ir::index::IndexVec;
use leno_ir::program::*;

/// SplitMix64: small, seeded, the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }

    pub fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn bits(&mut self, width: u16) -> u128 {
        let wide = u128::from(self.next()) << 64 | u128::from(self.next());
        let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        let chosen = match self.below(6) {
            0 => 0,
            1 => 1,
            2 => u128::MAX,
            3 => 1 << (width - 1),
            4 => wide & 0xff,
            _ => wide,
        };
        chosen & mask
    }
}

const NAMES: &[&str] = &[
    "",
    "",
    "i",
    "i",
    "x",
    "main",
    "a_b$c",
    "odd name",
    "quote\"d",
    "back\\slash",
    "naïve",
    "line\nbreak",
    "a.1",
    "7",
    "\u{202e}\0",
];

/// One valid program for each seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let model = random.pick(&[DataModel::Lp64, DataModel::Ilp32]);
    let mut program = Program { model, ..Program::default() };
    for _ in 0..random.below(4) {
        program
            .files
            .push(random.pick(&["main.c", "a/b.c", "main.c", "odd file.c", "", "x:1:2.h", "//e", "/usr/x.h"]).into());
    }
    if random.flip() {
        program.texts.push(String::new());
        for _ in 0..random.below(5) {
            program.texts.push(random.pick(&["counter++", "a\nb", "", "*p = \"q\"", "ü", "counter++"]).into());
        }
    }
    let mut generator = Generator { random, program, locals: IndexVec::new(), slots: 0, blocks: 0, ret: None };
    generator.signatures();
    generator.objects();
    generator.bodies();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    locals: IndexVec<LocalId, Local>,
    slots: usize,
    blocks: usize,
    ret: Option<Type>,
}

impl Generator {
    fn word(&self) -> Type {
        self.program.model.word()
    }

    fn name(&mut self) -> String {
        self.random.pick(NAMES).to_owned()
    }

    fn text(&mut self) -> TextId {
        TextId(self.random.below(self.program.texts.len()) as u32)
    }

    fn span(&mut self) -> Span {
        if self.program.files.is_empty() || self.random.one_in(3) {
            return Span { text: self.text(), ..Span::NONE };
        }
        let file = FileId(self.random.below(self.program.files.len()) as u32);
        Span { file, line: self.random.next() as u32, column: self.random.below(100) as u32, text: self.text() }
    }

    fn align(&mut self) -> u32 {
        1 << self.random.below(8)
    }

    fn any_type(&mut self) -> Type {
        let width = 1 + self.random.below(128) as u16;
        match self.random.below(3) {
            0 => Type::Int(width),
            1 => Type::Ptr,
            _ => self.memory_type(),
        }
    }

    fn memory_type(&mut self) -> Type {
        use FloatKind::*;
        let integers = [8, 16, 32, 64, 128].map(Type::Int);
        let others = [Type::Ptr, Type::Float(F32), Type::Float(F64), Type::Float(F80)];
        if self.random.flip() { self.random.pick(&integers) } else { self.random.pick(&others) }
    }

    fn memory_integer(&mut self) -> Type {
        let width = self.random.pick(&[8, 16, 32, 64, 128]);
        Type::Int(width)
    }

    fn float(&mut self) -> Type {
        Type::Float(self.random.pick(&[FloatKind::F32, FloatKind::F64, FloatKind::F80]))
    }

    fn signatures(&mut self) {
        let count = 1 + self.random.below(5);
        for _ in 0..count {
            let mut locals = IndexVec::new();
            for _ in 0..self.random.below(4) {
                let local = Local { name: self.name(), ty: self.any_type(), signed: self.random.flip() };
                locals.push(local);
            }
            let ret = if self.random.flip() { Some(self.any_type()) } else { None };
            let params = locals.len() as u32;
            let body = Body::External(self.external(&locals));
            let (name, span) = (self.name(), self.span());
            self.program.functions.push(Function { name, params, ret, locals, slots: IndexVec::new(), body, span });
        }
        if self.random.flip() {
            let argc = Local { name: "argc".into(), ty: Type::I32, signed: true };
            let argv = Local { name: String::new(), ty: Type::Ptr, signed: false };
            let body = Body::Blocks(IndexVec::new());
            let locals = IndexVec::from(vec![argc, argv]);
            let (name, slots, span) = ("start".to_owned(), IndexVec::new(), Span::NONE);
            let entry = Function { name, params: 2, ret: None, locals, slots, body, span };
            self.program.entry = Some(self.program.functions.push(entry));
        }
    }

    fn external(&mut self, locals: &IndexVec<LocalId, Local>) -> External {
        let variadic = self.random.flip() && locals.as_slice().last().is_some_and(|local| local.ty == Type::Ptr);
        let writes = (0..locals.len() as u32).filter(|_| self.random.one_in(3)).collect();
        External { known: self.random.flip(), pure: self.random.flip(), writes, variadic }
    }

    fn objects(&mut self) {
        for _ in 0..1 + self.random.below(5) {
            let kinds = [ObjectKind::Global, ObjectKind::Constant, ObjectKind::ThreadLocal, ObjectKind::External];
            let (name, kind, align, span) = (self.name(), self.random.pick(&kinds), self.align(), self.span());
            let size = self.random.next() >> self.random.below(64);
            self.program.objects.push(Object { name, kind, size, align, init: Vec::new(), span });
        }
        for id in self.program.objects.ids() {
            if self.program.objects[id].kind != ObjectKind::External {
                self.program.objects[id].init = self.init(self.program.objects[id].size);
            }
        }
    }

    fn init(&mut self, size: u64) -> Vec<(u64, Datum)> {
        let mut init = Vec::new();
        let mut at = self.random.below(10) as u64;
        for _ in 0..self.random.below(4) {
            let (datum, length) = self.datum();
            if at + length > size {
                break;
            }
            init.push((at, datum));
            at += length + self.random.below(5) as u64;
        }
        init
    }

    fn datum(&mut self) -> (Datum, u64) {
        let pointer = self.program.model.pointer_bytes();
        let object = ObjectId(self.random.below(self.program.objects.len()) as u32);
        match self.random.below(3) {
            0 if self.program.objects[object].kind != ObjectKind::ThreadLocal => {
                let offset = self.random.pick(&[0, 4, -4, i64::MIN, i64::MAX]);
                (Datum::Object(object, offset), pointer)
            }
            1 => (Datum::Function(self.function()), pointer),
            _ => {
                let bytes: Vec<u8> = (0..self.random.below(12)).map(|_| self.random.next() as u8).collect();
                let length = bytes.len() as u64;
                (Datum::Bytes(bytes), length)
            }
        }
    }

    fn function(&mut self) -> FuncId {
        FuncId(self.random.below(self.program.functions.len()) as u32)
    }

    fn bodies(&mut self) {
        for id in self.program.functions.ids() {
            if self.program.entry != Some(id) && self.random.one_in(4) {
                continue;
            }
            self.locals = self.program.functions[id].locals.clone();
            self.ret = self.program.functions[id].ret;
            let mut slots = IndexVec::new();
            for _ in 0..self.random.below(4) {
                let slot = Slot { name: self.name(), size: self.random.next() >> 40, align: self.align() };
                slots.push(slot);
            }
            self.slots = slots.len();
            self.blocks = 1 + self.random.below(5);
            let mut blocks = IndexVec::new();
            for _ in 0..self.blocks {
                let block = self.block();
                blocks.push(block);
            }
            let function = &mut self.program.functions[id];
            function.locals = std::mem::take(&mut self.locals);
            function.slots = slots;
            function.body = Body::Blocks(blocks);
        }
    }

    fn block(&mut self) -> Block {
        let count = self.random.below(8);
        let instrs = (0..count).map(|_| Instr { op: self.op(), span: self.span() }).collect();
        let terminator = Terminator { kind: self.terminator(), span: self.span() };
        Block { instrs, terminator, span: self.span() }
    }

    fn target(&mut self) -> BlockId {
        BlockId(self.random.below(self.blocks) as u32)
    }

    fn terminator(&mut self) -> TerminatorKind {
        match self.random.below(8) {
            0 => TerminatorKind::Goto(self.target()),
            1 => TerminatorKind::Branch { cond: self.expr(Type::BOOL), then: self.target(), otherwise: self.target() },
            2 => {
                let width = 1 + self.random.below(128) as u16;
                let mut values: Vec<u128> = (0..self.random.below(5)).map(|_| self.random.bits(width)).collect();
                values.sort_unstable();
                values.dedup();
                let cases = values.into_iter().map(|value| (value, self.target())).collect();
                TerminatorKind::Switch { value: self.expr(Type::Int(width)), cases, default: self.target() }
            }
            3 => TerminatorKind::ThreadExit(self.expr(self.word())),
            4 => TerminatorKind::Exit(self.expr(Type::I32)),
            5 => TerminatorKind::Abort,
            6 => TerminatorKind::Unreachable,
            _ => TerminatorKind::Return(self.ret.map(|ty| self.expr(ty))),
        }
    }

    /// A local of this type, new or known.
    fn dst(&mut self, ty: Type) -> LocalId {
        let known: Vec<LocalId> =
            self.locals.iter_enumerated().filter(|(_, local)| local.ty == ty).map(|(id, _)| id).collect();
        if !known.is_empty() && !self.random.one_in(4) {
            return self.random.pick(&known);
        }
        let local = Local { name: self.name(), ty, signed: self.random.flip() };
        self.locals.push(local)
    }

    fn optional_dst(&mut self, ty: Type) -> Option<LocalId> {
        self.random.flip().then(|| self.dst(ty))
    }

    fn order(&mut self) -> Order {
        use Order::*;
        self.random.pick(&[NotAtomic, NotAtomic, Relaxed, Acquire, Release, AcqRel, SeqCst])
    }

    fn access(&mut self, ty: Type) -> Access {
        Access { ptr: self.expr(Type::Ptr), ty, order: self.order(), volatile: self.random.one_in(4) }
    }

    fn args(&mut self) -> Vec<Expr> {
        (0..self.random.below(3))
            .map(|_| {
                let ty = self.any_type();
                self.expr(ty)
            })
            .collect()
    }

    fn op(&mut self) -> Op {
        let word = self.word();
        match self.random.below(24) {
            0 => {
                let ty = self.any_type();
                Op::Assign { value: self.expr(ty), dst: self.dst(ty) }
            }
            1 => {
                let ty = self.memory_type();
                Op::Load { from: self.access(ty), dst: self.dst(ty) }
            }
            2 => {
                let ty = self.memory_type();
                Op::Store { to: self.access(ty), value: self.expr(ty) }
            }
            3 => {
                use RmwOp::*;
                let op = self.random.pick(&[Exchange, Add, Sub, And, Or, Xor, Nand]);
                let ty = if op == Exchange && self.random.flip() { Type::Ptr } else { self.memory_integer() };
                Op::ReadModifyWrite { at: self.access(ty), op, value: self.expr(ty), dst: self.optional_dst(ty) }
            }
            4 => self.compare_exchange(),
            5 => Op::Fence { order: self.order() },
            6 => Op::Allocate {
                size: self.expr(word),
                align: self.align(),
                storage: self.random.pick(&[Storage::Heap, Storage::Stack]),
                zeroed: self.random.flip(),
                dst: self.dst(Type::Ptr),
            },
            7 => Op::Free { ptr: self.expr(Type::Ptr), storage: self.random.pick(&[Storage::Heap, Storage::Stack]) },
            8 if self.random.flip() => Op::CheckMove { from: self.expr(Type::Ptr), to: self.expr(Type::Ptr) },
            8 => Op::ObjectSize { ptr: self.expr(Type::Ptr), dst: self.dst(word) },
            9 => Op::Assume { cond: self.expr(Type::BOOL) },
            10 => {
                use Property::*;
                let property = self.random.pick(&[Assertion, DivisionByZero, SignedOverflow]);
                Op::Assert { cond: self.expr(Type::BOOL), property, message: self.text() }
            }
            11 => {
                let ty = self.any_type();
                Op::Nondet { dst: self.dst(ty) }
            }
            12 => self.direct_call(),
            13 => {
                let ty = self.any_type();
                let callee = Callee::Indirect(self.expr(Type::Ptr));
                Op::Call { callee, args: self.args(), dst: self.optional_dst(ty) }
            }
            14 => {
                let handle = self.random.flip().then(|| self.access(word));
                Op::Spawn { handle, func: self.expr(Type::Ptr), args: self.args() }
            }
            15 => Op::Join { thread: self.expr(word), dst: self.optional_dst(word) },
            16 => Op::Detach { thread: self.expr(word) },
            17 => Op::ThreadSelf { dst: self.dst(word) },
            18 => self.random.pick(&[Op::AtomicBegin, Op::AtomicEnd, Op::Yield]),
            19 => {
                let ty = self.any_type();
                Op::Undefine { dst: self.dst(ty) }
            }
            20 if self.slots > 0 => {
                let slot = SlotId(self.random.below(self.slots) as u32);
                self.random.pick(&[Op::BeginLife { slot }, Op::EndLife { slot }])
            }
            _ => {
                let op = self.sync_op();
                let ty = if op == SyncOp::BarrierArrive { Type::Int(64) } else { Type::I32 };
                Op::Sync { op, at: self.expr(Type::Ptr), dst: self.optional_dst(ty) }
            }
        }
    }

    fn compare_exchange(&mut self) -> Op {
        let ty = if self.random.flip() { Type::Ptr } else { self.memory_integer() };
        Op::CompareExchange {
            at: self.access(ty),
            expected: self.expr(ty),
            desired: self.expr(ty),
            failure: self.order(),
            weak: self.random.flip(),
            ok: self.dst(Type::BOOL),
            old: self.dst(ty),
        }
    }

    fn direct_call(&mut self) -> Op {
        let callee = self.function();
        let function = &self.program.functions[callee];
        let types: Vec<Type> = function.locals.iter().take(function.params as usize).map(|l| l.ty).collect();
        let ret = function.ret;
        let args = types.into_iter().map(|ty| self.expr(ty)).collect();
        Op::Call { dst: ret.and_then(|ty| self.optional_dst(ty)), callee: Callee::Direct(callee), args }
    }

    fn sync_op(&mut self) -> SyncOp {
        use SyncOp::*;
        let lock = self.random.pick(&[LockKind::Mutex, LockKind::Spin]);
        match self.random.below(10) {
            0 => LockInit { lock, kind: self.expr(Type::I32) },
            1 => self.random.pick(&[LockDestroy(lock), Lock(lock), TryLock(lock), Unlock(lock)]),
            2 => self.random.pick(&[RwInit, RwDestroy, ReadLock, TryReadLock, WriteLock, TryWriteLock, RwUnlock]),
            3 => self.random.pick(&[CondInit, CondDestroy, CondRelock, CondSignal, CondBroadcast]),
            4 => self.random.pick(&[SemDestroy, SemWait, SemTryWait, SemPost, SemGetValue]),
            5 => self.random.pick(&[BarrierDestroy, BarrierArrive, OnceBegin, OnceEnd]),
            6 => CondSleep { mutex: self.expr(Type::Ptr) },
            7 => {
                let deadline = self.random.flip().then(|| self.expr(Type::Ptr));
                CondWake { mutex: self.expr(Type::Ptr), deadline }
            }
            8 => {
                let (count, value) = (self.expr(Type::I32), self.expr(Type::I32));
                self.random.pick(&[BarrierInit { count }, SemInit { value }])
            }
            _ => BarrierLeave { ticket: self.expr(Type::Int(64)) },
        }
    }

    fn expr(&mut self, ty: Type) -> Expr {
        // Mostly shallow; now and then as deep as may be.
        let depth = if self.random.one_in(50) { MAX_EXPR_DEPTH } else { 1 + self.random.below(5) };
        self.expr_of_depth(ty, depth)
    }

    fn leaf(&mut self, ty: Type) -> Expr {
        let known: Vec<LocalId> =
            self.locals.iter_enumerated().filter(|(_, local)| local.ty == ty).map(|(id, _)| id).collect();
        if !known.is_empty() && self.random.flip() {
            return Expr::Local(self.random.pick(&known));
        }
        if ty == Type::Ptr {
            match self.random.below(4) {
                0 => return Expr::Object(ObjectId(self.random.below(self.program.objects.len()) as u32)),
                1 => return Expr::Function(self.function()),
                2 if self.slots > 0 => return Expr::Slot(SlotId(self.random.below(self.slots) as u32)),
                _ => {}
            }
        }
        Expr::Const { ty, bits: self.random.bits(ty.bits(self.program.model)) }
    }

    fn expr_of_depth(&mut self, ty: Type, depth: usize) -> Expr {
        if depth <= 1 {
            return self.leaf(ty);
        }
        // One operand takes the depth, the others are leaves, so that deep expressions stay small.
        let below = depth - 1;
        if self.random.one_in(6) {
            let cond = self.leaf(Type::BOOL);
            return Expr::select(cond, self.expr_of_depth(ty, below), self.leaf(ty));
        }
        match ty {
            Type::Int(1) if self.random.flip() => self.comparison(below),
            Type::Int(width) => self.integer(width, below),
            Type::Ptr if self.random.flip() => {
                let word = self.word();
                Expr::cast(CastOp::IntToPtr, Type::Ptr, self.expr_of_depth(word, below))
            }
            Type::Ptr => {
                let word = self.word();
                Expr::binary(BinaryOp::PtrAdd, self.leaf(Type::Ptr), self.expr_of_depth(word, below))
            }
            Type::Float(kind) => self.floating(kind, below),
        }
    }

    fn comparison(&mut self, below: usize) -> Expr {
        use BinaryOp::*;
        match self.random.below(3) {
            0 => {
                let (op, ty) = (self.random.pick(&[FEq, FNe, FLt, FLe]), self.float());
                Expr::binary(op, self.expr_of_depth(ty, below), self.leaf(ty))
            }
            1 => {
                let op = self.random.pick(&[Eq, Ne, ULt, ULe]);
                Expr::binary(op, self.expr_of_depth(Type::Ptr, below), self.leaf(Type::Ptr))
            }
            _ => {
                let signed = [SLt, SLe, SAddOverflow, SSubOverflow, SMulOverflow];
                let unsigned = [Eq, Ne, ULt, ULe, UAddOverflow, USubOverflow, UMulOverflow];
                let op = if self.random.flip() { self.random.pick(&signed) } else { self.random.pick(&unsigned) };
                let ty = Type::Int(1 + self.random.below(128) as u16);
                Expr::binary(op, self.leaf(ty), self.expr_of_depth(ty, below))
            }
        }
    }

    fn integer(&mut self, width: u16, below: usize) -> Expr {
        use BinaryOp::*;
        let ty = Type::Int(width);
        match self.random.below(7) {
            0 => {
                let op = self.random.pick(&[UnaryOp::Neg, UnaryOp::Not]);
                Expr::unary(op, self.expr_of_depth(ty, below))
            }
            1 if width < 128 => {
                let wider = width + 1 + self.random.below(usize::from(128 - width)) as u16;
                Expr::cast(CastOp::Truncate, ty, self.expr_of_depth(Type::Int(wider), below))
            }
            2 if width > 1 => {
                let narrower = 1 + self.random.below(usize::from(width) - 1) as u16;
                let op = self.random.pick(&[CastOp::ZeroExtend, CastOp::SignExtend]);
                Expr::cast(op, ty, self.expr_of_depth(Type::Int(narrower), below))
            }
            3 if ty == self.word() && self.random.flip() => {
                Expr::binary(PtrDiff, self.leaf(Type::Ptr), self.expr_of_depth(Type::Ptr, below))
            }
            3 if ty == self.word() => Expr::cast(CastOp::PtrToInt, ty, self.expr_of_depth(Type::Ptr, below)),
            4 => {
                let (op, from) = (self.random.pick(&[CastOp::FloatToSInt, CastOp::FloatToUInt]), self.float());
                Expr::cast(op, ty, self.expr_of_depth(from, below))
            }
            5 if width == 80 => Expr::cast(CastOp::Bitcast, ty, self.expr_of_depth(Type::Float(FloatKind::F80), below)),
            _ => {
                let arithmetic = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor];
                let op = self.random.pick(&arithmetic);
                Expr::binary(op, self.expr_of_depth(ty, below), self.leaf(ty))
            }
        }
    }

    fn floating(&mut self, kind: FloatKind, below: usize) -> Expr {
        use BinaryOp::*;
        let ty = Type::Float(kind);
        match self.random.below(5) {
            0 => {
                let op = self.random.pick(&[UnaryOp::FNeg, UnaryOp::FAbs, UnaryOp::FSqrt]);
                Expr::unary(op, self.expr_of_depth(ty, below))
            }
            1 => {
                let op = self.random.pick(&[CastOp::SIntToFloat, CastOp::UIntToFloat]);
                let from = Type::Int(1 + self.random.below(128) as u16);
                Expr::cast(op, ty, self.expr_of_depth(from, below))
            }
            2 => match self.float() {
                from if from == ty => {
                    Expr::cast(CastOp::Bitcast, ty, self.expr_of_depth(Type::Int(kind.bits()), below))
                }
                from => Expr::cast(CastOp::FloatToFloat, ty, self.expr_of_depth(from, below)),
            },
            _ => {
                let op = self.random.pick(&[FAdd, FSub, FMul, FDiv]);
                Expr::binary(op, self.leaf(ty), self.expr_of_depth(ty, below))
            }
        }
    }
}
