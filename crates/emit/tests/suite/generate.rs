//! Random single-threaded programs that have one right behaviour, and print it.
//!
//! Each program is many small cases in one file, so that one compilation checks hundreds. A case gives its
//! registers values, computes with them (every operator, integers of every width, all kinds of float, memory, calls,
//! branches and loops), and prints them all. What C compilers may choose is not looked at: which NaN an operation
//! gives, and where objects lie.

use crate::random::Random;
use leno_ir::index::IndexVec;
use leno_ir::program::*;

/// Bytes of the memory that a case computes with; the second half of it holds only `f80`s.
const MEMORY: u64 = 128;

/// A program of `cases` cases.
pub fn program(seed: u64, model: DataModel, cases: usize) -> Program {
    let mut generator = Generator::new(seed, model);
    let helpers: Vec<FuncId> = (0..cases / 4 + 1).map(|_| generator.helper()).collect();
    let cases: Vec<FuncId> = (0..cases).map(|_| generator.case(&helpers)).collect();
    generator.entry(&cases);
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    widest: u16,
    memory: ObjectId,
    format: ObjectId,
    printf: FuncId,
    print: FuncId,
}

/// A function in the making.
#[derive(Default)]
struct Making {
    locals: IndexVec<LocalId, Local>,
    instrs: Vec<Instr>,
}

impl Making {
    fn local(&mut self, name: &str, ty: Type) -> LocalId {
        self.locals.push(Local { name: name.to_string(), ty, signed: false })
    }

    fn push(&mut self, op: Op) {
        self.instrs.push(Instr { op, span: Span::NONE });
    }

    fn block(&mut self, kind: TerminatorKind) -> Block {
        let terminator = Terminator { kind, span: Span::NONE };
        Block { instrs: std::mem::take(&mut self.instrs), terminator, span: Span::NONE }
    }

    fn finish(self, name: &str, params: u32, ret: Option<Type>, blocks: Vec<Block>) -> Function {
        let slots = vec![Slot { name: "scratch".to_string(), size: 16, align: 16 }].into();
        let body = Body::Blocks(blocks.into());
        Function { name: name.to_string(), params, ret, locals: self.locals, slots, body, span: Span::NONE }
    }
}

fn local(id: LocalId) -> Expr {
    Expr::Local(id)
}

fn plain(ptr: Expr, ty: Type) -> Access {
    Access { ptr, ty, order: Order::NotAtomic, volatile: false }
}

impl Generator {
    fn new(seed: u64, model: DataModel) -> Generator {
        let mut program = Program { model, ..Program::default() };
        let object = |name: &str, size, align, init| Object {
            name: name.to_string(),
            kind: ObjectKind::Global,
            size,
            align,
            init,
            span: Span::NONE,
        };
        let memory = program.objects.push(object("memory", MEMORY, 16, Vec::new()));
        let text = Datum::Bytes(b"%016llx\n\0".to_vec());
        let format = program.objects.push(object("format", 9, 1, vec![(0, text)]));
        let mut making = Making::default();
        making.local("format", Type::Ptr);
        making.local("area", Type::Ptr);
        let external = External { known: true, pure: false, writes: Vec::new(), variadic: true };
        let body = Body::External(external);
        let printf =
            program.functions.push(Function { body, ..making.finish("printf", 2, Some(Type::I32), Vec::new()) });
        let widest = if model == DataModel::Lp64 { 128 } else { 64 };
        let random = Random(seed);
        let mut generator = Generator { random, program, widest, memory, format, printf, print: FuncId(0) };
        generator.print = generator.print_function();
        generator
    }

    /// Prints 64 bits.
    fn print_function(&mut self) -> FuncId {
        let mut making = Making::default();
        let value = making.local("value", Type::Int(64));
        making.push(Op::Store { to: plain(Expr::Slot(SlotId(0)), Type::Int(64)), value: local(value) });
        let args = vec![Expr::Object(self.format), Expr::Slot(SlotId(0))];
        making.push(Op::Call { dst: None, callee: Callee::Direct(self.printf), args });
        let blocks = vec![making.block(TerminatorKind::Return(None))];
        self.program.functions.push(making.finish("print", 1, None, blocks))
    }

    fn entry(&mut self, cases: &[FuncId]) {
        let mut making = Making::default();
        making.local("argc", Type::I32);
        making.local("argv", Type::Ptr);
        for case in cases {
            // Which case follows: for whoever has to find out why the output differs.
            self.print_value(&mut making, Expr::int(0xca5e_0000 + u128::from(case.0), 64));
            making.push(Op::Call { dst: None, callee: Callee::Direct(*case), args: Vec::new() });
        }
        let blocks = vec![making.block(TerminatorKind::Exit(Expr::int(0, 32)))];
        self.program.entry = Some(self.program.functions.push(making.finish("entry", 2, None, blocks)));
    }

    fn width(&mut self) -> u16 {
        let usual = [1, 8, 16, 32, 32, 64, 64, 128, 7, 24, 31, 33, 63, 65, 127];
        let width = if self.random.one_in(3) { 1 + self.random.below(128) as u16 } else { self.random.pick(&usual) };
        width.min(self.widest)
    }

    fn any_type(&mut self) -> Type {
        match self.random.below(8) {
            0 => Type::Ptr,
            1..=2 => self.float(),
            _ => Type::Int(self.width()),
        }
    }

    fn float(&mut self) -> Type {
        Type::Float(self.random.pick(&[FloatKind::F32, FloatKind::F64, FloatKind::F80]))
    }

    /// A function of a few parameters that computes something from them.
    fn helper(&mut self) -> FuncId {
        let mut making = Making::default();
        let params = 1 + self.random.below(5) as u32;
        for index in 0..params {
            let ty = self.any_type();
            making.local(&format!("p{index}"), ty);
        }
        for _ in 0..3 {
            let ty = self.any_type();
            let fresh = making.local("", ty);
            let value = self.constant(ty);
            making.push(Op::Assign { dst: fresh, value });
        }
        for _ in 0..4 {
            self.assignment(&mut making, params as usize);
        }
        let ret = self.any_type();
        let value = self.expr(&making, ret, 3);
        let blocks = vec![making.block(TerminatorKind::Return(Some(value)))];
        let name = self.random.pick(&["helper", "main", "printf", "while", "u32", "__x", "M_PI", "exit"]);
        self.program.functions.push(making.finish(name, params, Some(ret), blocks))
    }

    fn case(&mut self, helpers: &[FuncId]) -> FuncId {
        let mut making = Making::default();
        for index in 0..10 {
            let ty = self.any_type();
            let name = self.random.pick(&["", "x", "int", "stdout", "leno_start"]);
            making.local(name, ty);
            let value = self.constant(ty);
            making.push(Op::Assign { dst: LocalId(index), value });
        }
        let (counter, pointer) = (making.local("counter", Type::I32), making.local("function", Type::Ptr));
        making.push(Op::Assign { dst: counter, value: Expr::int(0, 32) });
        self.clear_memory(&mut making);
        let count = 3 + self.random.below(5) as u32;
        let mut blocks = vec![making.block(TerminatorKind::Goto(BlockId(1)))];
        for id in 1..count {
            for _ in 0..2 + self.random.below(5) {
                match self.random.below(6) {
                    0..=2 => self.assignment(&mut making, 10),
                    3 => self.store(&mut making),
                    4 => self.load(&mut making),
                    _ => self.call(&mut making, helpers, pointer),
                }
            }
            let kind = self.jump(&mut making, id, count, counter);
            blocks.push(making.block(kind));
        }
        for index in 0..10 {
            self.print_local(&mut making, LocalId(index));
        }
        self.print_memory(&mut making);
        blocks.push(making.block(TerminatorKind::Return(None)));
        self.program.functions.push(making.finish("case", 0, None, blocks))
    }

    fn clear_memory(&mut self, making: &mut Making) {
        for offset in (0..MEMORY).step_by(8) {
            let value = if offset < MEMORY / 2 { self.integer(64) } else { Expr::int(0, 64) };
            making.push(Op::Store { to: plain(self.address(offset), Type::Int(64)), value });
        }
    }

    fn address(&self, offset: u64) -> Expr {
        let word = self.program.model.pointer_bits();
        Expr::binary(BinaryOp::PtrAdd, Expr::Object(self.memory), Expr::int(offset.into(), word))
    }

    /// Forward, or back to the same block a few times.
    fn jump(&mut self, making: &mut Making, id: u32, count: u32, counter: LocalId) -> TerminatorKind {
        let target = |random: &mut Random| BlockId(id + 1 + random.below((count - id) as usize) as u32);
        match self.random.below(4) {
            0 => TerminatorKind::Goto(target(&mut self.random)),
            1 => {
                let (then, otherwise) = (target(&mut self.random), target(&mut self.random));
                TerminatorKind::Branch { cond: self.expr(making, Type::BOOL, 4), then, otherwise }
            }
            2 => {
                let ty = Type::Int(self.width());
                let value = self.expr(making, ty, 3);
                let bits = ty.bits(self.program.model);
                let mut cases: Vec<(u128, BlockId)> = Vec::new();
                for _ in 0..self.random.below(4) {
                    let Expr::Const { bits: case, .. } = self.integer(bits) else { continue };
                    cases.push((case, target(&mut self.random)));
                }
                cases.sort_by_key(|(case, _)| *case);
                cases.dedup_by_key(|(case, _)| *case);
                TerminatorKind::Switch { value, cases, default: target(&mut self.random) }
            }
            _ => {
                let next = Expr::binary(BinaryOp::Add, local(counter), Expr::int(1, 32));
                making.push(Op::Assign { dst: counter, value: next });
                let cond = Expr::binary(BinaryOp::ULt, local(counter), Expr::int(4, 32));
                TerminatorKind::Branch { cond, then: BlockId(id), otherwise: BlockId(id + 1) }
            }
        }
    }

    fn assignment(&mut self, making: &mut Making, locals: usize) {
        let dst = LocalId(self.random.below(locals) as u32);
        let value = self.expr(making, making.locals[dst].ty, 5);
        making.push(Op::Assign { dst, value });
    }

    fn some_local(&mut self, making: &Making) -> (LocalId, Type) {
        let id = LocalId(self.random.below(10.min(making.locals.len())) as u32);
        (id, making.locals[id].ty)
    }

    /// Where values of a type may lie in memory, aligned or not.
    fn place(&mut self, ty: Type) -> Expr {
        let half = MEMORY / 2;
        let offset = match ty {
            Type::Float(FloatKind::F80) => half + 16 * self.random.below((half / 16) as usize) as u64,
            ty => self.random.below((half - ty.bytes(self.program.model)) as usize) as u64,
        };
        self.address(offset)
    }

    fn in_memory(ty: Type) -> bool {
        matches!(ty, Type::Int(8 | 16 | 32 | 64 | 128) | Type::Float(_))
    }

    fn store(&mut self, making: &mut Making) {
        let (id, ty) = self.some_local(making);
        if !Self::in_memory(ty) {
            return;
        }
        let value = match ty {
            Type::Float(kind) => one_nan(id, kind),
            _ => self.expr(making, ty, 2),
        };
        let to = Access { volatile: self.random.one_in(4), ..plain(self.place(ty), ty) };
        making.push(Op::Store { to, value });
    }

    fn load(&mut self, making: &mut Making) {
        let (dst, ty) = self.some_local(making);
        if Self::in_memory(ty) {
            let from = Access { volatile: self.random.one_in(4), ..plain(self.place(ty), ty) };
            making.push(Op::Load { dst, from });
        }
    }

    /// Directly, through a register, or through a pointer of another type.
    fn call(&mut self, making: &mut Making, helpers: &[FuncId], pointer: LocalId) {
        let id = self.random.pick(helpers);
        let helper = &self.program.functions[id];
        let ret = helper.ret;
        let params: Vec<Type> = helper.locals.iter().take(helper.params as usize).map(|local| local.ty).collect();
        let Some(dst) = (0..10).map(LocalId).find(|id| Some(making.locals[*id].ty) == ret) else { return };
        let way = self.random.below(3);
        let mut args = Vec::new();
        for ty in params {
            let ty = match ty {
                Type::Int(_) if way == 2 => Type::Int(self.width()),
                ty => ty,
            };
            args.push(self.expr(making, ty, 2));
        }
        let callee = match way {
            0 => Callee::Direct(id),
            1 => {
                making.push(Op::Assign { dst: pointer, value: Expr::Function(id) });
                Callee::Indirect(local(pointer))
            }
            _ => {
                args.push(self.integer(32));
                Callee::Indirect(Expr::Function(id))
            }
        };
        making.push(Op::Call { dst: Some(dst), callee, args });
    }

    fn print_value(&self, making: &mut Making, value: Expr) {
        making.push(Op::Call { dst: None, callee: Callee::Direct(self.print), args: vec![value] });
    }

    fn print_local(&self, making: &mut Making, id: LocalId) {
        let wide = Type::Int(64);
        match making.locals[id].ty {
            Type::Int(64) => self.print_value(making, local(id)),
            Type::Int(..64) => self.print_value(making, Expr::cast(CastOp::ZeroExtend, wide, local(id))),
            Type::Int(width) => {
                self.print_value(making, Expr::cast(CastOp::Truncate, wide, local(id)));
                let high = Expr::binary(BinaryOp::LShr, local(id), Expr::int(64, width));
                self.print_value(making, Expr::cast(CastOp::Truncate, wide, high));
            }
            Type::Ptr => {
                let offset = Expr::binary(BinaryOp::PtrDiff, local(id), Expr::Object(self.memory));
                let offset = match self.program.model {
                    DataModel::Lp64 => offset,
                    DataModel::Ilp32 => Expr::cast(CastOp::SignExtend, wide, offset),
                };
                self.print_value(making, offset);
            }
            Type::Float(kind) => {
                let scratch = Expr::Slot(SlotId(0));
                making.push(Op::Store { to: plain(scratch.clone(), wide), value: Expr::int(0, 64) });
                let to = plain(scratch.clone(), Type::Float(kind));
                making.push(Op::Store { to, value: one_nan(id, kind) });
                let loaded = making.local("", wide);
                making.push(Op::Load { dst: loaded, from: plain(scratch.clone(), wide) });
                self.print_value(making, local(loaded));
                if kind == FloatKind::F80 {
                    let high = making.local("", Type::Int(16));
                    let word = self.program.model.pointer_bits();
                    let place = Expr::binary(BinaryOp::PtrAdd, scratch, Expr::int(8, word));
                    making.push(Op::Load { dst: high, from: plain(place, Type::Int(16)) });
                    self.print_value(making, Expr::cast(CastOp::ZeroExtend, wide, local(high)));
                }
            }
        }
    }

    fn print_memory(&self, making: &mut Making) {
        for offset in (0..MEMORY).step_by(8) {
            let loaded = making.local("", Type::Int(64));
            making.push(Op::Load { dst: loaded, from: plain(self.address(offset), Type::Int(64)) });
            self.print_value(making, local(loaded));
        }
    }

    fn constant(&mut self, ty: Type) -> Expr {
        match ty {
            Type::Int(width) => self.integer(width),
            Type::Ptr => self.address(self.program.objects[self.memory].size / 2),
            Type::Float(kind) => self.float_constant(kind),
        }
    }

    fn integer(&mut self, width: u16) -> Expr {
        let wide = u128::from(self.random.next()) << 64 | u128::from(self.random.next());
        let bits = match self.random.below(8) {
            0 => 0,
            1 => 1,
            2 => u128::MAX,
            3 => 1 << (width - 1),
            4 => (1 << (width - 1)) - 1,
            5 => u128::from(self.random.next() % 200),
            6 => 0u128.wrapping_sub(u128::from(self.random.next() % 200)),
            _ => wide,
        };
        Expr::int(bits, width)
    }

    fn float_constant(&mut self, kind: FloatKind) -> Expr {
        let ordinary = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1.5,
            0.1,
            -2.75,
            127.9,
            128.0,
            -129.0,
            255.5,
            65536.0,
            2147483647.0,
            2147483648.0,
            -2147483649.0,
            4294967295.5,
            4294967296.0,
            9.2e18,
            -9.3e18,
            1.8e19,
            2e19,
            1e38,
            -1e39,
            3.5e38,
            1e300,
            1e-300,
            1e-45,
            5e-324,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let value = match self.random.below(4) {
            0 => f64::from_bits(self.random.next()),
            _ => self.random.pick(&ordinary),
        };
        let double = Expr::Const { ty: Type::Float(FloatKind::F64), bits: value.to_bits().into() };
        match kind {
            FloatKind::F64 => double,
            FloatKind::F32 => Expr::Const { ty: Type::Float(kind), bits: (value as f32).to_bits().into() },
            FloatKind::F80 if self.random.flip() => self.extended_constant(),
            FloatKind::F80 => Expr::cast(CastOp::FloatToFloat, Type::Float(kind), double),
        }
    }

    /// A normal number, an infinity or a NaN of the x87 format: the leading one is always there.
    fn extended_constant(&mut self) -> Expr {
        let sign_and_exponent = 1 + self.random.next() % 0x7fff + (self.random.next() & 0x8000);
        let mantissa = if self.random.flip() { 1 << 63 } else { self.random.next() | 1 << 63 };
        let bits = u128::from(sign_and_exponent) << 64 | u128::from(mantissa);
        Expr::Const { ty: Type::Float(FloatKind::F80), bits }
    }

    fn leaf(&mut self, making: &Making, ty: Type) -> Expr {
        // A case has ten registers to compute with; the others have their own purposes.
        let fits = |id: &LocalId| id.0 < 10 && making.locals[*id].ty == ty;
        let candidates: Vec<LocalId> = making.locals.ids().filter(fits).collect();
        if candidates.is_empty() || self.random.one_in(5) {
            self.constant(ty)
        } else {
            local(self.random.pick(&candidates))
        }
    }

    fn expr(&mut self, making: &Making, ty: Type, depth: usize) -> Expr {
        if depth == 0 || self.random.one_in(6) {
            return self.leaf(making, ty);
        }
        if self.random.one_in(10) {
            let condition = self.expr(making, Type::BOOL, depth - 1);
            let (then, otherwise) = (self.expr(making, ty, depth - 1), self.expr(making, ty, depth - 1));
            return Expr::select(condition, then, otherwise);
        }
        match ty {
            Type::Int(width) => self.integer_expr(making, width, depth - 1),
            Type::Float(kind) => self.float_expr(making, kind, depth - 1),
            Type::Ptr => self.pointer_expr(making, depth - 1),
        }
    }

    fn integer_expr(&mut self, making: &Making, width: u16, depth: usize) -> Expr {
        use BinaryOp::*;
        let ty = Type::Int(width);
        if width == 1 && self.random.flip() {
            return self.condition(making, depth);
        }
        match self.random.below(10) {
            0 => {
                let op = self.random.pick(&[UnaryOp::Neg, UnaryOp::Not]);
                Expr::unary(op, self.expr(making, ty, depth))
            }
            1 if width < self.widest => {
                let from = width + 1 + self.random.below((self.widest - width) as usize) as u16;
                Expr::cast(CastOp::Truncate, ty, self.expr(making, Type::Int(from), depth))
            }
            2 if width > 1 => {
                let from = 1 + self.random.below(width as usize - 1) as u16;
                let op = self.random.pick(&[CastOp::ZeroExtend, CastOp::SignExtend]);
                Expr::cast(op, ty, self.expr(making, Type::Int(from), depth))
            }
            3 => {
                let from = self.float();
                let op = self.random.pick(&[CastOp::FloatToUInt, CastOp::FloatToSInt]);
                Expr::cast(op, ty, self.expr(making, from, depth))
            }
            4 if ty == self.program.model.word() => {
                let (left, right) = (self.expr(making, Type::Ptr, depth), self.expr(making, Type::Ptr, depth));
                Expr::binary(PtrDiff, left, right)
            }
            _ => {
                let all = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor];
                let op = self.random.pick(&all);
                let left = self.expr(making, ty, depth);
                Expr::binary(op, left, self.expr(making, ty, depth))
            }
        }
    }

    fn condition(&mut self, making: &Making, depth: usize) -> Expr {
        use BinaryOp::*;
        match self.random.below(5) {
            0 => {
                let ty = self.float();
                let op = self.random.pick(&[FEq, FNe, FLt, FLe]);
                let left = self.expr(making, ty, depth);
                Expr::binary(op, left, self.expr(making, ty, depth))
            }
            1 => {
                let op = self.random.pick(&[Eq, Ne, ULt, ULe]);
                let left = self.expr(making, Type::Ptr, depth);
                Expr::binary(op, left, self.expr(making, Type::Ptr, depth))
            }
            _ => {
                let ty = Type::Int(self.width());
                let op = self.random.pick(BinaryOp::TESTS);
                let left = self.expr(making, ty, depth);
                Expr::binary(op, left, self.expr(making, ty, depth))
            }
        }
    }

    fn float_expr(&mut self, making: &Making, kind: FloatKind, depth: usize) -> Expr {
        use BinaryOp::*;
        let ty = Type::Float(kind);
        match self.random.below(6) {
            0 => {
                let op = self.random.pick(&[UnaryOp::FNeg, UnaryOp::FSqrt, UnaryOp::FAbs]);
                Expr::unary(op, self.expr(making, ty, depth))
            }
            1 => {
                let from = Type::Int(self.width());
                let op = self.random.pick(&[CastOp::UIntToFloat, CastOp::SIntToFloat]);
                Expr::cast(op, ty, self.expr(making, from, depth))
            }
            2 => match self.float() {
                from if from == ty => self.expr(making, ty, depth),
                from => Expr::cast(CastOp::FloatToFloat, ty, self.expr(making, from, depth)),
            },
            3 if kind != FloatKind::F80 => {
                let bits = self.expr(making, Type::Int(kind.bits()), depth);
                Expr::cast(CastOp::Bitcast, ty, bits)
            }
            _ => {
                let op = self.random.pick(&[FAdd, FSub, FMul, FDiv]);
                let left = self.expr(making, ty, depth);
                Expr::binary(op, left, self.expr(making, ty, depth))
            }
        }
    }

    /// Always into the same object, but anywhere around it.
    fn pointer_expr(&mut self, making: &Making, depth: usize) -> Expr {
        let word = self.program.model.word();
        let pointer = self.expr(making, Type::Ptr, depth);
        match self.random.below(3) {
            0 => Expr::cast(CastOp::IntToPtr, Type::Ptr, Expr::cast(CastOp::PtrToInt, word, pointer)),
            _ => {
                let small = Expr::int(u128::from(self.random.next() % 4000), self.program.model.pointer_bits());
                Expr::binary(BinaryOp::PtrAdd, pointer, small)
            }
        }
    }
}

/// The float in a register, or the same NaN for all that it might hold.
fn one_nan(id: LocalId, kind: FloatKind) -> Expr {
    let bits = match kind {
        FloatKind::F32 => 0x7fc0_0000,
        FloatKind::F64 => 0x7ff8 << 48,
        FloatKind::F80 => 0x7fff_c000 << 48,
    };
    let is_number = Expr::binary(BinaryOp::FEq, local(id), local(id));
    Expr::select(is_number, local(id), Expr::Const { ty: Type::Float(kind), bits })
}
