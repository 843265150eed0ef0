//! One function of the representation, while it is being written.
//!
//! A [`FunctionBuilder`] appends instructions to a current block, makes registers, slots and blocks, and knows where in
//! the source it is. It knows nothing of C's syntax: lowering of C bodies, models of library functions, and the
//! functions that are not in the source (the entry, wrappers) all use it.
//!
//! **Unreachable code.** After a terminator there is no current block until [`FunctionBuilder::switch_to`]; what is
//! appended in between could never run and is dropped.
//!
//! **Held values.** Expressions are pure trees over registers, but registers of C variables change: in `a + (a = 3)`
//! the tree for the left `a` must not see the 3. Code that evaluates one operand before another
//! [holds](FunctionBuilder::hold) it meanwhile. When a register is assigned that a held value mentions, the value is
//! saved into a temporary at the place where it was held (which dominates all that came after, whatever control flow
//! there was), and only then.

use super::lifetimes;
use super::link::Link;
use super::simplify;
use crate::source;
use leno_ir::analysis::retries::unnoticed_failures;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{
    Access, BinaryOp, Block, BlockId, Body, Callee, DataModel, Expr, FuncId, Function, Instr, Local, LocalId, ObjectId,
    Op, Order, Property, Slot, SlotId, Span, Terminator, TerminatorKind, TextId, Type,
};

/// Trees that grow deeper than this are put into a register. It leaves room below
/// [`leno_ir::program::MAX_EXPR_DEPTH`] for what is built around a value before anyone looks again.
const DEEPEST_TREE: usize = 24;

pub struct FunctionBuilder<'a, 'u> {
    pub(super) link: &'a mut Link<'u>,
    name: String,
    params: u32,
    ret: Option<Type>,
    locals: IndexVec<LocalId, Local>,
    /// Registers that may be assigned more than once: those of C variables.
    variables: IndexVec<LocalId, bool>,
    slots: IndexVec<SlotId, Slot>,
    blocks: Vec<OpenBlock>,
    /// The blocks in the order in which they were begun: that of the source.
    begun: Vec<BlockId>,
    current: Option<BlockId>,
    function_span: Span,
    /// Where instructions come from: a unit and a piece of its text, or a fixed span.
    place: Option<(usize, source::Span)>,
    span: Span,
    held: Vec<Held>,
    /// How many held values mention a register.
    mentions: Vec<u32>,
}

struct OpenBlock {
    instrs: Vec<Instr>,
    terminator: Option<Terminator>,
    is_begun: bool,
}

struct Held {
    value: Expr,
    mentions_variables: bool,
    at: Option<(BlockId, usize)>,
}

impl<'a, 'u> FunctionBuilder<'a, 'u> {
    /// A function with these parameters, and its entry block as the current one.
    pub fn new(link: &'a mut Link<'u>, name: &str, params: &[Type], ret: Option<Type>) -> Self {
        let mut builder = FunctionBuilder {
            link,
            name: name.to_string(),
            params: params.len() as u32,
            ret,
            locals: IndexVec::new(),
            variables: IndexVec::new(),
            slots: IndexVec::new(),
            blocks: Vec::new(),
            begun: Vec::new(),
            current: None,
            function_span: Span::NONE,
            place: None,
            span: Span::NONE,
            held: Vec::new(),
            mentions: Vec::new(),
        };
        for ty in params {
            builder.new_temp(*ty);
        }
        let entry = builder.new_block();
        builder.switch_to(entry);
        builder
    }

    pub fn model(&self) -> DataModel {
        self.link.model()
    }

    /// The integer type of pointer width.
    pub fn word(&self) -> Type {
        self.model().word()
    }

    pub fn ret(&self) -> Option<Type> {
        self.ret
    }

    pub fn param(&self, index: usize) -> Expr {
        Expr::Local(LocalId::new(index))
    }

    // ---- places in the source

    /// From here on, instructions come from this piece of a unit's text.
    pub(super) fn set_place(&mut self, unit: usize, place: source::Span) {
        self.place = Some((unit, place));
    }

    pub(super) fn place(&self) -> Option<(usize, source::Span)> {
        self.place
    }

    /// From here on, instructions come from this place.
    pub fn set_span(&mut self, span: Span) {
        self.place = None;
        self.span = span;
    }

    /// Where instructions come from now.
    pub fn span(&mut self) -> Span {
        if let Some((unit, place)) = self.place {
            self.span = self.link.span(unit, place);
        }
        self.span
    }

    pub(super) fn set_function_span(&mut self, span: Span) {
        self.function_span = span;
    }

    /// Text for messages, interned.
    pub fn text(&mut self, text: &str) -> TextId {
        self.link.text(text)
    }

    // ---- registers, slots, blocks

    /// A register of a C variable: it may be assigned any number of times.
    pub fn new_variable(&mut self, name: &str, ty: Type, signed: bool) -> LocalId {
        self.variables.push(true);
        self.locals.push(Local { name: name.to_string(), ty, signed })
    }

    /// A register for one value. (It may be assigned at several places of which one runs.)
    pub fn new_temp(&mut self, ty: Type) -> LocalId {
        self.variables.push(false);
        self.locals.push(Local { name: String::new(), ty, signed: matches!(ty, Type::Int(2..)) })
    }

    /// Says that a parameter's register is the C variable of this name.
    pub(super) fn name_parameter(&mut self, index: usize, name: &str, signed: bool) -> LocalId {
        let id = LocalId::new(index);
        self.variables[id] = true;
        self.locals[id].name = name.to_string();
        self.locals[id].signed = signed;
        id
    }

    pub fn new_slot(&mut self, name: &str, size: u64, align: u32) -> SlotId {
        self.slots.push(Slot { name: name.to_string(), size, align: align.max(1) })
    }

    pub fn new_block(&mut self) -> BlockId {
        let id = BlockId::new(self.blocks.len());
        self.blocks.push(OpenBlock { instrs: Vec::new(), terminator: None, is_begun: false });
        id
    }

    /// From here on, instructions go to the end of this block.
    pub fn switch_to(&mut self, block: BlockId) {
        debug_assert!(self.blocks[block.index()].terminator.is_none(), "a finished block is left alone");
        self.current = Some(block);
        if !std::mem::replace(&mut self.blocks[block.index()].is_begun, true) {
            self.begun.push(block);
        }
    }

    /// Goes on with a block that was left for another one; with none, what follows cannot be reached.
    pub(super) fn come_back(&mut self, block: Option<BlockId>) {
        self.current = block;
    }

    /// None where control cannot come.
    pub fn current_block(&self) -> Option<BlockId> {
        self.current
    }

    pub fn is_reachable(&self) -> bool {
        self.current.is_some()
    }

    /// Ends the current block. What follows cannot be reached until `switch_to`.
    pub fn terminate(&mut self, kind: TerminatorKind) {
        let Some(block) = self.current.take() else { return };
        let span = self.span();
        self.blocks[block.index()].terminator = Some(Terminator { kind, span });
    }

    pub fn goto(&mut self, block: BlockId) {
        self.terminate(TerminatorKind::Goto(block));
    }

    /// On an `i1`.
    pub fn branch(&mut self, cond: Expr, then: BlockId, otherwise: BlockId) {
        let kind = match cond {
            Expr::Const { bits: 0, .. } => TerminatorKind::Goto(otherwise),
            Expr::Const { .. } => TerminatorKind::Goto(then),
            Expr::Unary(leno_ir::program::UnaryOp::Not, cond) => {
                TerminatorKind::Branch { cond: *cond, then: otherwise, otherwise: then }
            }
            cond => TerminatorKind::Branch { cond, then, otherwise },
        };
        self.terminate(kind);
    }

    /// A finished block goes elsewhere.
    pub(super) fn redirect(&mut self, block: BlockId, to: BlockId) {
        if let Some(terminator) = &mut self.blocks[block.index()].terminator {
            terminator.kind = TerminatorKind::Goto(to);
        }
    }

    /// Whether an address in a register is used for anything but accesses: it may be kept somewhere.
    pub(super) fn is_kept(&self, register: LocalId) -> bool {
        let is_base = |address: &Expr| match address {
            Expr::Local(local) => *local == register,
            Expr::Binary(BinaryOp::PtrAdd, parts) => {
                parts[0] == Expr::Local(register) && !mentions(&parts[1], register)
            }
            _ => false,
        };
        let mut is_kept = false;
        for block in &self.blocks {
            for instr in &block.instrs {
                let address = instr.op.access().map(|(access, _)| &access.ptr).filter(|address| is_base(address));
                instr.op.for_each_operand(|operand| {
                    let is_address = address.is_some_and(|address| std::ptr::eq(address, operand));
                    is_kept |= !is_address && mentions(operand, register);
                });
            }
            let operand = block.terminator.as_ref().and_then(|terminator| terminator.kind.operand());
            is_kept |= operand.is_some_and(|operand| mentions(operand, register));
        }
        is_kept
    }

    // ---- instructions

    pub fn push(&mut self, op: Op) {
        let Some(block) = self.current else { return };
        let span = self.span();
        self.blocks[block.index()].instrs.push(Instr { op, span });
    }

    /// `dst := value`, saving held values that mention `dst` first.
    pub fn assign(&mut self, dst: LocalId, value: Expr) {
        self.before_assigning(dst);
        if value != Expr::Local(dst) {
            self.push(Op::Assign { dst, value });
        }
    }

    /// Like [`assign`](Self::assign) for a value that was just computed and that is not used elsewhere: when it is the
    /// result of the last instruction, that instruction writes `dst` itself.
    pub(super) fn assign_result(&mut self, dst: LocalId, value: Expr) {
        let is_mentioned = self.mentions.get(dst.index()).is_some_and(|count| *count > 0);
        if let (false, Expr::Local(temp), Some(block)) = (is_mentioned, &value, self.current) {
            let last = self.blocks[block.index()].instrs.last_mut();
            if let Some(result) = last.and_then(|instr| result_of(&mut instr.op))
                && result == temp
                && !self.variables[*temp]
            {
                *result = dst;
                return;
            }
        }
        self.assign(dst, value);
    }

    /// The value in a register that is not assigned again (or a constant, or an address).
    pub fn materialize(&mut self, value: Expr) -> Expr {
        match value {
            Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => value,
            Expr::Local(id) if !self.variables[id] => value,
            value => {
                let dst = self.new_temp(self.type_of(&value));
                self.push(Op::Assign { dst, value });
                Expr::Local(dst)
            }
        }
    }

    /// The value in a form that costs little to write down twice: a leaf, or one operation on leaves.
    pub fn reusable(&mut self, value: Expr) -> Expr {
        if depth_within(&value, 2).is_some() { value } else { self.materialize(value) }
    }

    /// The value, in a register if its tree has become deep.
    pub fn bounded(&mut self, value: Expr) -> Expr {
        if depth_within(&value, DEEPEST_TREE).is_some() { value } else { self.materialize(value) }
    }

    pub fn load(&mut self, ptr: Expr, ty: Type) -> Expr {
        self.load_from(plain_access(ptr, ty))
    }

    pub fn load_from(&mut self, from: Access) -> Expr {
        let dst = self.new_temp(from.ty);
        self.push(Op::Load { dst, from });
        Expr::Local(dst)
    }

    /// `value` has type `ty`.
    pub fn store(&mut self, ptr: Expr, ty: Type, value: Expr) {
        self.push(Op::Store { to: plain_access(ptr, ty), value });
    }

    /// A call of a known function: its result, unless it has none.
    pub fn call(&mut self, callee: FuncId, args: Vec<Expr>) -> Option<Expr> {
        let ret = self.link.signature(callee).ret;
        let dst = ret.map(|ty| self.new_temp(ty));
        self.push(Op::Call { dst, callee: Callee::Direct(callee), args });
        dst.map(Expr::Local)
    }

    /// Any value of this type.
    pub fn nondet(&mut self, ty: Type) -> Expr {
        let dst = self.new_temp(ty);
        self.push(Op::Nondet { dst });
        Expr::Local(dst)
    }

    /// The property is violated unless `cond` (an `i1`).
    pub fn assert(&mut self, cond: Expr, property: Property, message: &str) {
        if cond != Expr::bool(true) {
            let message = self.text(message);
            self.push(Op::Assert { cond, property, message });
        }
    }

    /// A value of this type that was never written: what the semantics calls uninitialised.
    pub fn undefined(&mut self, ty: Type) -> Expr {
        Expr::Local(self.new_temp(ty))
    }

    // ---- other functions and objects of the program

    /// The function that calls to this external name reach, if some unit or model defines it.
    pub fn function_named(&mut self, name: &str) -> Option<FuncId> {
        self.link.function_named(name)
    }

    /// Whether some initialiser of the program makes a mutex of another kind than the normal one.
    pub fn has_initialised_kinds(&self) -> bool {
        self.link.units.iter().any(|unit| unit.unit.has_mutex_kinds)
    }

    /// The object of this external name, if some unit or model defines it.
    pub fn object_named(&mut self, name: &str) -> Option<ObjectId> {
        self.link.object_named(name)
    }

    // ---- types

    pub fn type_of(&self, value: &Expr) -> Type {
        value.ty(&self.locals, self.model())
    }

    // ---- held values

    /// Keeps a value while something else is evaluated; [`release`](Self::release) gives it back, last in first out.
    pub fn hold(&mut self, value: Expr) {
        let mut mentioned = Vec::new();
        self.variables_in(&value, &mut mentioned);
        for id in &mentioned {
            if self.mentions.len() <= id.index() {
                self.mentions.resize(id.index() + 1, 0);
            }
            self.mentions[id.index()] += 1;
        }
        let at = self.current.map(|block| (block, self.blocks[block.index()].instrs.len()));
        self.held.push(Held { value, mentions_variables: !mentioned.is_empty(), at });
    }

    /// The value that was held last, as it was when it was held.
    pub fn release(&mut self) -> Expr {
        let Some(held) = self.held.pop() else { return Expr::NULL };
        if held.mentions_variables {
            self.forget_mentions(&held.value);
        }
        held.value
    }

    fn forget_mentions(&mut self, value: &Expr) {
        let mut mentioned = Vec::new();
        self.variables_in(value, &mut mentioned);
        for id in mentioned {
            self.mentions[id.index()] -= 1;
        }
    }

    fn variables_in(&self, value: &Expr, found: &mut Vec<LocalId>) {
        match value {
            Expr::Local(id) if self.variables[*id] => found.push(*id),
            Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
            Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => self.variables_in(operand, found),
            Expr::Binary(_, operands) => operands.iter().for_each(|o| self.variables_in(o, found)),
            Expr::Select(parts) => parts.iter().for_each(|o| self.variables_in(o, found)),
        }
    }

    /// Call this before appending an instruction whose destination is the register of a C variable.
    pub fn before_assigning(&mut self, dst: LocalId) {
        // From the newest on: it is the newest that mention what is being assigned, and the count says when to stop.
        let mut index = self.held.len();
        while index > 0 && self.mentions.get(dst.index()).is_some_and(|count| *count > 0) {
            index -= 1;
            if self.held[index].mentions_variables && mentions(&self.held[index].value, dst) {
                self.save_held(index);
            }
        }
    }

    fn save_held(&mut self, index: usize) {
        let ty = self.type_of(&self.held[index].value);
        let temp = self.new_temp(ty);
        let held = &mut self.held[index];
        let value = std::mem::replace(&mut held.value, Expr::Local(temp));
        held.mentions_variables = false;
        let at = held.at;
        self.forget_mentions(&value);
        let Some((block, position)) = at else { return };
        let span = self.span();
        self.blocks[block.index()].instrs.insert(position, Instr { op: Op::Assign { dst: temp, value }, span });
        for held in &mut self.held {
            if let Some((b, p)) = &mut held.at
                && *b == block
                && *p > position
            {
                *p += 1;
            }
        }
    }

    // ---- the end

    /// The finished function: blocks that can be reached, in order, chains of them merged. What it mentions becomes
    /// part of the program.
    pub fn finish(mut self) -> Function {
        if self.is_reachable() {
            self.terminate(TerminatorKind::Unreachable);
        }
        let blocks = self.take_blocks();
        let mut function = Function {
            name: self.name,
            params: self.params,
            ret: self.ret,
            locals: self.locals,
            slots: self.slots,
            body: Body::Blocks(simplify::simplify(blocks)),
            span: self.function_span,
        };
        lifetimes::drop_idle(&mut function, self.link.model());
        let mentioned = simplify::drop_unused(&mut function);
        let unnoticed = unnoticed_failures(&function, self.link.model());
        if let Body::Blocks(blocks) = &mut function.body {
            for (block, index) in unnoticed {
                if let Op::CompareExchange { weak, .. } = &mut blocks[block].instrs[index].op {
                    *weak = false;
                }
            }
        }
        mentioned.functions.into_iter().for_each(|id| self.link.want_function(id));
        mentioned.objects.into_iter().for_each(|id| self.link.want_object(id));
        function
    }

    /// The blocks in the order in which they were begun. What was never begun cannot be reached.
    fn take_blocks(&mut self) -> Vec<Block> {
        let mut numbers = vec![BlockId::new(self.begun.len()); self.blocks.len()];
        for (index, block) in self.begun.iter().enumerate() {
            numbers[block.index()] = BlockId::new(index);
        }
        let unreachable = || Terminator { kind: TerminatorKind::Unreachable, span: Span::NONE };
        let mut blocks = Vec::with_capacity(self.begun.len() + 1);
        for id in &self.begun {
            let open = &mut self.blocks[id.index()];
            let mut terminator = open.terminator.take().unwrap_or_else(unreachable);
            simplify::for_each_target(&mut terminator.kind, |to| *to = numbers[to.index()]);
            blocks.push(Block { instrs: std::mem::take(&mut open.instrs), terminator, span: Span::NONE });
        }
        blocks.push(Block { instrs: Vec::new(), terminator: unreachable(), span: Span::NONE });
        blocks
    }
}

/// An access that no other thread should make at the same time.
pub fn plain_access(ptr: Expr, ty: Type) -> Access {
    Access { ptr, ty, order: Order::NotAtomic, volatile: false }
}

/// The register that an instruction with one result writes.
fn result_of(op: &mut Op) -> Option<&mut LocalId> {
    match op {
        Op::Load { dst, .. } | Op::Nondet { dst } | Op::Allocate { dst, .. } => Some(dst),
        Op::ReadModifyWrite { dst, .. } | Op::Call { dst, .. } => dst.as_mut(),
        _ => None,
    }
}

fn mentions(value: &Expr, id: LocalId) -> bool {
    match value {
        Expr::Local(local) => *local == id,
        Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => mentions(operand, id),
        Expr::Binary(_, operands) => operands.iter().any(|o| mentions(o, id)),
        Expr::Select(parts) => parts.iter().any(|o| mentions(o, id)),
    }
}

/// The depth of a tree, if it is at most `limit`.
fn depth_within(value: &Expr, limit: usize) -> Option<usize> {
    let limit = limit.checked_sub(1)?;
    let below = match value {
        Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => 0,
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => depth_within(operand, limit)?,
        Expr::Binary(_, operands) => depth_within(&operands[0], limit)?.max(depth_within(&operands[1], limit)?),
        Expr::Select(parts) => {
            let [cond, then, otherwise] = &**parts;
            depth_within(cond, limit)?.max(depth_within(then, limit)?).max(depth_within(otherwise, limit)?)
        }
    };
    Some(below + 1)
}
