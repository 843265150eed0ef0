//! Reads blocks, instructions and expressions.

use crate::index::{Idx, IndexVec};
use crate::program::{
    Access, BinaryOp, Block, BlockId, Callee, CastOp, Expr, FloatKind, Instr, LocalId, MAX_EXPR_DEPTH, Op, Order,
    Property, RmwOp, SlotId, Storage, Terminator, TerminatorKind, TextId, Type, UnaryOp,
};
use crate::text::cursor::Parsed;
use crate::text::parse::Parser;
use crate::text::words::{Word, sync_arity, sync_from_parts, type_from_word};

/// The highest block that was mentioned, and where.
type HighestTarget = Option<(BlockId, usize)>;

impl Parser<'_> {
    pub fn blocks(&mut self) -> Parsed<IndexVec<BlockId, Block>> {
        let mut blocks: IndexVec<BlockId, Block> = IndexVec::new();
        let mut highest = None;
        loop {
            self.cursor.skip_lines();
            if self.cursor.peek() == Some(b'}') {
                break;
            }
            let start = self.cursor.at;
            if self.block_number()? != blocks.next_id() {
                return self
                    .cursor
                    .error_at(start, format!("expected {} here: blocks go up one by one", blocks.next_id()));
            }
            self.cursor.expect(":")?;
            let block = self.block(&mut highest)?;
            blocks.push(block);
        }
        match highest {
            Some((target, at)) if target.index() >= blocks.len() => self
                .cursor
                .error_at(at, format!("there is no block {target}: the number of blocks is {}", blocks.len())),
            _ => Ok(blocks),
        }
    }

    fn block(&mut self, highest: &mut HighestTarget) -> Parsed<Block> {
        let span = self.end_of_statement()?;
        let mut instrs = Vec::new();
        loop {
            self.cursor.skip_lines();
            if let Some(kind) = self.terminator(highest)? {
                let terminator = Terminator { kind, span: self.end_of_statement()? };
                return Ok(Block { instrs, terminator, span });
            }
            let op = self.op()?;
            instrs.push(Instr { op, span: self.end_of_statement()? });
        }
    }

    fn block_number(&mut self) -> Parsed<BlockId> {
        let word = self.cursor.peek_word();
        let digits = word.strip_prefix('b').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) => {
                self.cursor.at += word.len();
                Ok(BlockId(number))
            }
            None => self.cursor.expected("a block such as `b0`"),
        }
    }

    fn target(&mut self, highest: &mut HighestTarget) -> Parsed<BlockId> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let target = self.block_number()?;
        if highest.is_none_or(|(known, _)| known < target) {
            *highest = Some((target, start));
        }
        Ok(target)
    }

    /// None, and nothing read, when what comes next is no terminator.
    fn terminator(&mut self, highest: &mut HighestTarget) -> Parsed<Option<TerminatorKind>> {
        let word = self.cursor.peek_word();
        let start = self.cursor;
        self.cursor.at += word.len();
        Ok(Some(match word {
            "goto" => TerminatorKind::Goto(self.target(highest)?),
            "branch" => {
                let cond = self.expr()?;
                self.cursor.expect(",")?;
                let then = self.target(highest)?;
                self.cursor.expect(",")?;
                TerminatorKind::Branch { cond, then, otherwise: self.target(highest)? }
            }
            "switch" => self.switch(highest)?,
            "return" if self.at_end_of_statement() => TerminatorKind::Return(None),
            "return" => TerminatorKind::Return(Some(self.expr()?)),
            "thread_exit" => TerminatorKind::ThreadExit(self.expr()?),
            "exit" => TerminatorKind::Exit(self.expr()?),
            "abort" => TerminatorKind::Abort,
            "unreachable" => TerminatorKind::Unreachable,
            _ => {
                self.cursor = start;
                return Ok(None);
            }
        }))
    }

    fn switch(&mut self, highest: &mut HighestTarget) -> Parsed<TerminatorKind> {
        let value = self.expr()?;
        self.cursor.expect("{")?;
        let mut cases = Vec::new();
        loop {
            self.cursor.skip_lines();
            if self.cursor.accept_word("default") {
                break;
            }
            let case = self.cursor.number("a case or `default`")?;
            self.cursor.expect("=>")?;
            cases.push((case, self.target(highest)?));
            self.cursor.accept(",");
        }
        self.cursor.expect("=>")?;
        let default = self.target(highest)?;
        self.cursor.skip_lines();
        self.cursor.expect("}")?;
        Ok(TerminatorKind::Switch { value, cases, default })
    }

    fn op(&mut self) -> Parsed<Op> {
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b'%') {
            return self.op_without_result();
        }
        let dst = self.local_reference()?;
        if self.cursor.accept(",") {
            return self.compare_exchange(dst);
        }
        self.cursor.expect("=")?;
        let word = self.cursor.peek_word();
        let start = self.cursor;
        self.cursor.at += word.len();
        Ok(match word {
            "load" => Op::Load { dst, from: self.access()? },
            "allocate" => self.allocate(dst)?,
            "object_size" => Op::ObjectSize { dst, ptr: self.expr()? },
            "nondet" => Op::Nondet { dst },
            "undefined" => Op::Undefine { dst },
            "thread_self" => Op::ThreadSelf { dst },
            _ => {
                self.cursor = start;
                match self.op_with_optional_result(Some(dst))? {
                    Some(op) => op,
                    None => Op::Assign { dst, value: self.expr()? },
                }
            }
        })
    }

    /// None, and nothing read, when it is something else.
    fn op_with_optional_result(&mut self, dst: Option<LocalId>) -> Parsed<Option<Op>> {
        let word = self.cursor.peek_word();
        let start = self.cursor;
        self.cursor.at += word.len();
        Ok(Some(match word {
            "rmw" => {
                let op = self.word("`exchange`, `add`, `sub`, `and`, `or`, `xor` or `nand`", RmwOp::from_word)?;
                let at = self.access()?;
                self.cursor.expect(",")?;
                Op::ReadModifyWrite { dst, at, op, value: self.expr()? }
            }
            "call" => {
                let callee = match self.cursor.accept("*") {
                    true => Callee::Indirect(self.expr()?),
                    false => Callee::Direct(self.function_reference()?),
                };
                Op::Call { dst, callee, args: self.arguments()? }
            }
            "join" => Op::Join { dst, thread: self.expr()? },
            _ => {
                let Some(arity) = sync_arity(word) else {
                    self.cursor = start;
                    return Ok(None);
                };
                let at = self.expr()?;
                let mut operands = Vec::new();
                while operands.len() < *arity.end() && self.cursor.accept(",") {
                    operands.push(self.expr()?);
                }
                match sync_from_parts(word, operands) {
                    Some(op) => Op::Sync { dst, op, at },
                    None => return self.cursor.expected("`,` and another operand"),
                }
            }
        }))
    }

    fn op_without_result(&mut self) -> Parsed<Op> {
        if let Some(op) = self.op_with_optional_result(None)? {
            return Ok(op);
        }
        let word = self.cursor.peek_word();
        let start = self.cursor;
        self.cursor.at += word.len();
        Ok(match word {
            "store" => {
                let to = self.access()?;
                self.cursor.expect("=")?;
                Op::Store { to, value: self.expr()? }
            }
            "fence" => Op::Fence { order: self.order()? },
            "free" => Op::Free { ptr: self.expr()?, storage: Storage::Heap },
            "free_stack" => Op::Free { ptr: self.expr()?, storage: Storage::Stack },
            "begin_life" => Op::BeginLife { slot: self.slot_reference()? },
            "end_life" => Op::EndLife { slot: self.slot_reference()? },
            "assume" => Op::Assume { cond: self.expr()? },
            "assert" => {
                let cond = self.expr()?;
                self.cursor.expect(",")?;
                let what = "`assertion`, `division_by_zero` or `signed_overflow`";
                let property = self.word(what, Property::from_word)?;
                let message = if self.cursor.accept(",") { self.text()? } else { TextId(0) };
                Op::Assert { cond, property, message }
            }
            "spawn" => {
                let func = self.expr()?;
                let args = self.arguments()?;
                let handle = if self.cursor.accept("->") { Some(self.access()?) } else { None };
                Op::Spawn { handle, func, args }
            }
            "check_move" => {
                let from = self.expr()?;
                self.cursor.expect(",")?;
                Op::CheckMove { from, to: self.expr()? }
            }
            "detach" => Op::Detach { thread: self.expr()? },
            "atomic_begin" => Op::AtomicBegin,
            "atomic_end" => Op::AtomicEnd,
            "yield" => Op::Yield,
            _ => {
                self.cursor = start;
                return self.cursor.expected("an instruction or a terminator");
            }
        })
    }

    fn compare_exchange(&mut self, ok: LocalId) -> Parsed<Op> {
        let old = self.local_reference()?;
        self.cursor.expect("=")?;
        self.cursor.expect_word("cmpxchg")?;
        let weak = self.cursor.accept_word("weak");
        let at = self.access()?;
        self.cursor.expect(",")?;
        let expected = self.expr()?;
        self.cursor.expect(",")?;
        let desired = self.expr()?;
        self.cursor.expect(",")?;
        self.cursor.expect_word("failure")?;
        Ok(Op::CompareExchange { ok, old, at, expected, desired, failure: self.order()?, weak })
    }

    fn allocate(&mut self, dst: LocalId) -> Parsed<Op> {
        let zeroed = self.cursor.accept_word("zeroed");
        let storage = self.word("`heap` or `stack`", Storage::from_word)?;
        let size = self.expr()?;
        self.cursor.expect_word("align")?;
        Ok(Op::Allocate { dst, size, align: self.cursor.number("an alignment")?, storage, zeroed })
    }

    fn order(&mut self) -> Parsed<Order> {
        self.word("a memory order such as `seq_cst`", Order::from_word)
    }

    fn access(&mut self) -> Parsed<Access> {
        let volatile = self.cursor.accept_word("volatile");
        let order = match Order::from_word(self.cursor.peek_word()) {
            Some(_) => self.order()?,
            None => Order::NotAtomic,
        };
        let ty = self.ty()?;
        Ok(Access { ptr: self.expr()?, ty, order, volatile })
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        self.cursor.expect("(")?;
        while !self.cursor.accept(")") {
            if !args.is_empty() {
                self.cursor.expect(",")?;
            }
            args.push(self.expr()?);
        }
        Ok(args)
    }

    fn local_reference(&mut self) -> Parsed<LocalId> {
        self.reference("%", "local", |parser| &parser.locals).map(LocalId)
    }

    fn slot_reference(&mut self) -> Parsed<SlotId> {
        self.reference("$", "slot", |parser| &parser.slots).map(SlotId)
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.expr_of_depth(MAX_EXPR_DEPTH)
    }

    /// Reads an expression that is at most `depth` deep; recursion ends there.
    fn expr_of_depth(&mut self, depth: usize) -> Parsed<Expr> {
        self.cursor.skip_blanks();
        let Some(below) = depth.checked_sub(1) else {
            return self.cursor.error(format!("the expression is more than {MAX_EXPR_DEPTH} deep"));
        };
        match self.cursor.peek() {
            Some(b'%') => return Ok(Expr::Local(self.local_reference()?)),
            Some(b'@') => return Ok(Expr::Object(self.object_reference()?)),
            Some(b'&') => return Ok(Expr::Function(self.function_reference()?)),
            Some(b'$') => return Ok(Expr::Slot(self.slot_reference()?)),
            _ => {}
        }
        let word = self.cursor.peek_word();
        let start = self.cursor;
        self.cursor.at += word.len();
        match word {
            "true" => return Ok(Expr::bool(true)),
            "false" => return Ok(Expr::bool(false)),
            "null" => return Ok(Expr::NULL),
            "select" => {
                let [cond, then, otherwise] = self.operands(below)?;
                return Ok(Expr::select(cond, then, otherwise));
            }
            _ => {}
        }
        if let Some(ty) = type_from_word(word) {
            return self.constant(ty);
        }
        if let Some(op) = UnaryOp::from_word(word) {
            let [operand] = self.operands(below)?;
            return Ok(Expr::unary(op, operand));
        }
        if let Some(op) = BinaryOp::from_word(word) {
            let [left, right] = self.operands(below)?;
            return Ok(Expr::binary(op, left, right));
        }
        if let Some(op) = CastOp::from_word(word) {
            self.cursor.expect("(")?;
            let operand = self.expr_of_depth(below)?;
            self.cursor.expect_word("to")?;
            let ty = self.ty()?;
            self.cursor.expect(")")?;
            return Ok(Expr::cast(op, ty, operand));
        }
        self.cursor = start;
        self.cursor.expected("an expression")
    }

    /// `(a, b, c)`
    fn operands<const N: usize>(&mut self, depth: usize) -> Parsed<[Expr; N]> {
        self.cursor.expect("(")?;
        let mut operands = [const { Expr::NULL }; N];
        for (position, operand) in operands.iter_mut().enumerate() {
            if position > 0 {
                self.cursor.expect(",")?;
            }
            *operand = self.expr_of_depth(depth)?;
        }
        self.cursor.expect(")")?;
        Ok(operands)
    }

    fn constant(&mut self, ty: Type) -> Parsed<Expr> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let rest = self.cursor.source.as_bytes().get(start..).unwrap_or_default();
        let bits = match ty {
            Type::Float(kind) if !rest.starts_with(b"0x") => self.decimal_float(kind)?,
            Type::Int(width) if self.cursor.accept("-") => {
                let magnitude: u128 = self.cursor.number("an integer")?;
                if magnitude > 1 << (width - 1) {
                    return self.cursor.error_at(start, format!("the number does not fit {ty}"));
                }
                magnitude.wrapping_neg() & (u128::MAX >> (128 - width))
            }
            _ => self.cursor.number("a number")?,
        };
        let width = match ty {
            Type::Int(width) => width,
            Type::Float(kind) => kind.bits(),
            // How wide a pointer is, the model says, and the validator checks.
            Type::Ptr => 64,
        };
        if width < 128 && bits >> width != 0 {
            return self.cursor.error_at(start, format!("the number does not fit {ty}"));
        }
        Ok(Expr::Const { ty, bits })
    }

    fn decimal_float(&mut self, kind: FloatKind) -> Parsed<u128> {
        let start = self.cursor.at;
        let digits = self.cursor.decimal();
        let bits = match kind {
            FloatKind::F32 => {
                digits.parse().ok().filter(|value: &f32| value.is_finite()).map(|v| u128::from(v.to_bits()))
            }
            FloatKind::F64 => {
                digits.parse().ok().filter(|value: &f64| value.is_finite()).map(|v| u128::from(v.to_bits()))
            }
            FloatKind::F80 => None,
        };
        let what =
            if kind == FloatKind::F80 { "the bits of an f80 as `0x…`" } else { "a number, or bits as `0x…`" };
        bits.map_or_else(
            || {
                self.cursor.at = start;
                self.cursor.expected(what)
            },
            Ok,
        )
    }
}
