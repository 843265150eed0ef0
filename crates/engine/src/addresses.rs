//! Where a SAFE depends on which addresses objects have.
//!
//! In the model an object lies at a multiple of 2^40 (LP64), one after the other. A real one lies anywhere that suits its
//! type: a program that computes a number from an address (a hash, a page, the order of two locks) may do something
//! else then, and a SAFE says that it assumes the model's.
//!
//! What is the same for all addresses is not meant: to compare them for equality or with null, to compare or subtract
//! two that lie in the same object, to move one, to take it for a number and back, and to use the bits that its
//! alignment leaves free. Where two addresses of one abstract object may be of several objects, they count as different.
//!
//! Integers that may hold an address are followed through registers, calls and memory, from the conversions of pointers
//! on, and from where a variable that holds nothing but a pointer is read as something else. What is not followed: the
//! bytes of pointers in structures and arrays that are read as those of another type, since fields are not told apart.

use crate::Assumption;
use crate::surroundings::is_model;
use leno_ir::analysis::executions::Times;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::program::{
    BinaryOp, Body, CastOp, Expr, FuncId, LocalId, ObjectKind, Op, Place, Property, RmwOp, Span, Storage,
    TerminatorKind, Type, UnaryOp,
};
use std::collections::BTreeSet;

const OF_THE_MODEL: &str = "addresses are those of the model: what is computed from them may differ elsewhere";

/// What `malloc` guarantees, in bits.
const HEAP_ALIGNMENT: u32 = 4;

/// Numbers up to this one, and so far below zero, are no addresses anywhere.
const NO_ADDRESSES: u128 = 4096;

/// The first place where a number is computed from an address.
pub fn assumed_addresses(facts: &Facts<'_>) -> Option<Assumption> {
    let mut numbers = Numbers { facts, registers: BTreeSet::new(), objects: BTreeSet::new(), results: BTreeSet::new() };
    if !numbers.find() {
        return None;
    }
    let program = facts.program();
    let mut spans: Vec<Span> = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        if !facts.calls().is_reachable(id) || is_model(program, function) {
            continue;
        }
        for block in blocks {
            let computing = block.instrs.iter().filter(|instr| numbers.computes_in(id, &instr.op));
            spans.extend(computing.map(|instr| instr.span));
            let end = &block.terminator;
            let decides = matches!(end.kind, TerminatorKind::Switch { .. });
            let computes =
                |value: &Expr| numbers.computes(id, value) || (decides && numbers.may_hold_address(id, value));
            spans.extend(end.kind.operand().filter(|value| computes(value)).map(|_| end.span));
        }
    }
    let first = spans.into_iter().min_by_key(|span| (span.file.0, span.line, span.column))?;
    Some(Assumption::new(OF_THE_MODEL).at(program, first))
}

/// Integers that may hold addresses.
struct Numbers<'a, 'p> {
    facts: &'a Facts<'p>,
    registers: BTreeSet<(FuncId, LocalId)>,
    /// What is in memory.
    objects: BTreeSet<AbstractId>,
    /// What functions return.
    results: BTreeSet<FuncId>,
}

impl Numbers<'_, '_> {
    /// Follows numbers until there are no more. False if the program has nothing to compute with: no pointer is
    /// converted to an integer, and none is compared or subtracted.
    fn find(&mut self) -> bool {
        let program = self.facts.program();
        let mut is_concerned = false;
        loop {
            let before = (self.registers.len(), self.objects.len(), self.results.len());
            for (id, function) in program.functions.iter_enumerated() {
                let Body::Blocks(blocks) = &function.body else { continue };
                // (What the library does with an address is the same for all.)
                if !self.facts.calls().is_reachable(id) || is_model(program, function) {
                    continue;
                }
                for_each_op(id, function, |place, op| {
                    op.for_each_operand(|operand| is_concerned |= uses_address(operand));
                    self.follow(place, op);
                });
                for block in blocks {
                    let kind = &block.terminator.kind;
                    is_concerned |= kind.operand().is_some_and(uses_address);
                    if let TerminatorKind::Return(Some(value)) = kind
                        && self.may_hold_address(id, value)
                    {
                        self.results.insert(id);
                    }
                }
            }
            if before == (self.registers.len(), self.objects.len(), self.results.len()) {
                return is_concerned;
            }
        }
    }

    /// Where the numbers of an instruction go.
    fn follow(&mut self, place: Place, op: &Op) {
        let function = place.func;
        match op {
            Op::Assign { dst, value } if self.may_hold_address(function, value) => {
                self.registers.insert((function, *dst));
            }
            Op::Load { dst, from }
                if is_integer(from.ty)
                    && (self.memory_holds(function, &from.ptr) || self.is_pointer_in_disguise(function, &from.ptr)) =>
            {
                self.registers.insert((function, *dst));
            }
            Op::Store { to, value } => self.store(function, &to.ptr, value),
            Op::ReadModifyWrite { dst, at, value, .. } => {
                self.store(function, &at.ptr, value);
                let is_held = is_integer(at.ty) && self.memory_holds(function, &at.ptr);
                self.registers.extend(dst.filter(|_| is_held).map(|dst| (function, dst)));
            }
            Op::CompareExchange { old, at, desired, .. } => {
                self.store(function, &at.ptr, desired);
                if is_integer(at.ty) && self.memory_holds(function, &at.ptr) {
                    self.registers.insert((function, *old));
                }
            }
            Op::Call { dst, args, .. } => self.call(place, *dst, args),
            Op::Spawn { args, .. } => self.call(place, None, args),
            _ => {}
        }
    }

    fn call(&mut self, place: Place, dst: Option<LocalId>, args: &[Expr]) {
        let held: Vec<bool> = args.iter().map(|arg| self.may_hold_address(place.func, arg)).collect();
        for edge in self.facts.calls().callees(place) {
            let params = (0..self.facts.program().functions[edge.callee].params).map(LocalId);
            let given = params.zip(&held).filter(|(_, held)| **held);
            self.registers.extend(given.map(|(param, _)| (edge.callee, param)));
            if let Some(dst) = dst.filter(|_| self.results.contains(&edge.callee)) {
                self.registers.insert((place.func, dst));
            }
        }
    }

    fn store(&mut self, function: FuncId, pointer: &Expr, value: &Expr) {
        if self.may_hold_address(function, value) {
            self.objects.extend(self.facts.points_to().points_to(function, pointer).iter());
        }
    }

    /// Whether a variable of the size of a pointer, which may hold one, is read as something else.
    fn is_pointer_in_disguise(&self, function: FuncId, pointer: &Expr) -> bool {
        let program = self.facts.program();
        let points_to = self.facts.points_to();
        points_to.points_to(function, pointer).iter().any(|object| {
            let size = match points_to.objects()[object] {
                AbstractObject::Static(id) => program.objects[id].size,
                AbstractObject::Slot(function, slot) => program.functions[function].slots[slot].size,
                _ => return false,
            };
            let unknown = points_to.object(AbstractObject::Unknown);
            let holds_address = || points_to.contents(object).iter().any(|held| Some(held) != unknown);
            size == program.model.pointer_bytes() && holds_address()
        })
    }

    fn memory_holds(&self, function: FuncId, pointer: &Expr) -> bool {
        self.facts.points_to().points_to(function, pointer).iter().any(|object| self.objects.contains(&object))
    }

    /// Whether an integer may hold an address, more or less moved or marked.
    fn may_hold_address(&self, function: FuncId, value: &Expr) -> bool {
        match value {
            Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
            Expr::Local(local) => self.registers.contains(&(function, *local)),
            Expr::Unary(_, operand) => self.may_hold_address(function, operand),
            Expr::Cast(CastOp::PtrToInt, _, pointer) => !self.objects_of(function, pointer).is_empty(),
            Expr::Cast(CastOp::IntToPtr, ..) => false,
            Expr::Cast(_, _, operand) => self.may_hold_address(function, operand),
            Expr::Select(parts) => parts[1..].iter().any(|part| self.may_hold_address(function, part)),
            Expr::Binary(op, operands) => {
                let [left, right] = &**operands;
                let held = [left, right].map(|side| self.may_hold_address(function, side));
                match op {
                    // The bits that alignment leaves free are the same for all addresses.
                    BinaryOp::And
                        if marks(left, right).is_some_and(|mask| self.leaves_free_bits(function, value, mask)) =>
                    {
                        false
                    }
                    BinaryOp::URem if remainder(right).is_some_and(|mask| self.are_free(function, left, mask)) => false,
                    // A distance is no address.
                    BinaryOp::Sub => held[0] != held[1],
                    op if is_arithmetic(*op) => held[0] || held[1],
                    _ => false,
                }
            }
        }
    }

    fn objects_of(&self, function: FuncId, value: &Expr) -> ObjectSet {
        let unknown = self.facts.points_to().object(AbstractObject::Unknown);
        let objects = self.facts.points_to().points_to(function, value);
        objects.iter().filter(|object| Some(*object) != unknown).collect()
    }

    /// Whether an instruction computes with an address.
    fn computes_in(&self, function: FuncId, op: &Op) -> bool {
        // (Checks that the front end writes are about addresses in one object.)
        if matches!(op, Op::Assert { property, .. } if *property != Property::Assertion) {
            return false;
        }
        let mut computes = false;
        op.for_each_operand(|operand| computes |= self.computes(function, operand));
        match op {
            Op::ReadModifyWrite { op, at, value, .. } if self.memory_holds(function, &at.ptr) => {
                let held = self.may_hold_address(function, value);
                computes
                    || match (op, value) {
                        (RmwOp::Exchange, _) => false,
                        (RmwOp::Add | RmwOp::Sub, _) => held,
                        (RmwOp::And | RmwOp::Or | RmwOp::Xor, Expr::Const { ty, bits }) => {
                            !is_low(*ty, *bits, HEAP_ALIGNMENT)
                        }
                        _ => true,
                    }
            }
            _ => computes,
        }
    }

    /// Whether a number that is computed in an expression depends on which addresses there are.
    fn computes(&self, function: FuncId, expr: &Expr) -> bool {
        match expr {
            Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
            Expr::Unary(op, operand) => {
                let is_number = matches!(op, UnaryOp::Neg | UnaryOp::Not) && self.may_hold_address(function, operand);
                is_number || self.computes(function, operand)
            }
            Expr::Cast(op, to, operand) => {
                let is_number = match (op, to) {
                    (CastOp::Truncate, Type::Int(width)) => *width < self.facts.program().model.pointer_bits(),
                    (CastOp::UIntToFloat | CastOp::SIntToFloat, _) => true,
                    _ => false,
                };
                (is_number && self.may_hold_address(function, operand)) || self.computes(function, operand)
            }
            Expr::Select(parts) => parts.iter().any(|part| self.computes(function, part)),
            Expr::Binary(op, operands) => {
                let [left, right] = &**operands;
                self.computes(function, left)
                    || self.computes(function, right)
                    || self.operator_computes(function, *op, left, right)
            }
        }
    }

    fn operator_computes(&self, function: FuncId, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        use BinaryOp::*;
        let held = [left, right].map(|side| self.may_hold_address(function, side));
        let is_held = held[0] || held[1];
        match op {
            Eq | Ne => false,
            ULt | ULe | SLt | SLe => {
                if is_no_address(left) || is_no_address(right) {
                    return false;
                }
                let are_pointers = self.are_pointers(function, left, right);
                (is_held || are_pointers) && !self.are_in_one_object(function, left, right)
            }
            PtrDiff => self.are_pointers(function, left, right) && !self.are_in_one_object(function, left, right),
            Sub => match held {
                [true, true] => !self.are_in_one_object(function, left, right),
                [first, second] => second && !first,
            },
            And | Or | Xor => match marks(left, right) {
                Some(mask) => is_held && !self.are_free(function, if held[0] { left } else { right }, mask),
                None => is_held,
            },
            Add => held[0] && held[1],
            PtrAdd => held[1] && !matches!(left, Expr::Const { .. }),
            URem if remainder(right).is_some_and(|mask| self.are_free(function, left, mask)) => false,
            Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | SAddOverflow | SSubOverflow | SMulOverflow
            | UAddOverflow | USubOverflow | UMulOverflow => is_held,
            FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => false,
        }
    }

    /// Whether both may be addresses, and not null or a number in disguise.
    fn are_pointers(&self, function: FuncId, left: &Expr, right: &Expr) -> bool {
        let function_code = &self.facts.program().functions[function];
        let is_pointer = |side: &Expr| side.ty(&function_code.locals, self.facts.program().model) == Type::Ptr;
        let may_point = |side: &Expr| !self.objects_of(function, side).is_empty();
        is_pointer(left) && is_pointer(right) && may_point(left) && may_point(right)
    }

    /// Whether two addresses certainly lie in the same object.
    fn are_in_one_object(&self, function: FuncId, left: &Expr, right: &Expr) -> bool {
        let (left, right) = (self.objects_of(function, left), self.objects_of(function, right));
        let mut all = left.iter().chain(right.iter());
        let Some(object) = all.next() else { return false };
        !left.is_empty() && !right.is_empty() && all.all(|other| other == object) && self.is_one(object)
    }

    /// Whether an abstract object stands for one, as far as two addresses of it can meet.
    fn is_one(&self, object: AbstractId) -> bool {
        let program = self.facts.program();
        match self.facts.points_to().objects()[object] {
            AbstractObject::Unknown => false,
            AbstractObject::Function(_) => true,
            AbstractObject::Static(id) => program.objects[id].kind != ObjectKind::ThreadLocal,
            AbstractObject::Slot(function, _) => {
                !self.facts.calls().is_recursive(function) && self.facts.sharing().of(object) != Sharing::Shared
                    || self.facts.executions().of_function(function) != Times::Many
            }
            AbstractObject::Site(place) => self.facts.executions().of(place) != Times::Many,
        }
    }

    /// Whether a mask is about bits only that the alignment of these addresses leaves free.
    fn are_free(&self, function: FuncId, value: &Expr, mask: (Type, u128)) -> bool {
        let bits = self.objects_of(function, value).iter().map(|object| self.free_bits(object)).min();
        is_low(mask.0, mask.1, bits.unwrap_or(0))
    }

    /// The same, and nothing but these bits is left.
    fn leaves_free_bits(&self, function: FuncId, value: &Expr, (ty, bits): (Type, u128)) -> bool {
        let is_small = bits < NO_ADDRESSES;
        is_small && self.are_free(function, value, (ty, bits))
    }

    fn free_bits(&self, object: AbstractId) -> u32 {
        let program = self.facts.program();
        let align = match self.facts.points_to().objects()[object] {
            AbstractObject::Unknown | AbstractObject::Function(_) => return 0,
            AbstractObject::Static(id) => program.objects[id].align,
            AbstractObject::Slot(function, slot) => program.functions[function].slots[slot].align,
            AbstractObject::Site(place) => match program.op(place) {
                Some(Op::Allocate { storage: Storage::Heap, align, .. }) => {
                    return align.trailing_zeros().max(HEAP_ALIGNMENT);
                }
                Some(Op::Allocate { align, .. }) => *align,
                _ => return 0,
            },
        };
        if align == 0 { 0 } else { align.trailing_zeros() }
    }
}

/// Whether a pointer is converted to a number, or pointers are subtracted or put in order.
fn uses_address(expr: &Expr) -> bool {
    use BinaryOp::{PtrDiff, SLe, SLt, ULe, ULt};
    match expr {
        Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
        Expr::Cast(CastOp::PtrToInt, ..) | Expr::Binary(PtrDiff | ULt | ULe | SLt | SLe, _) => true,
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => uses_address(operand),
        Expr::Binary(_, operands) => operands.iter().any(uses_address),
        Expr::Select(parts) => parts.iter().any(uses_address),
    }
}

/// The constant side of a mask.
fn marks(left: &Expr, right: &Expr) -> Option<(Type, u128)> {
    match (left, right) {
        (Expr::Const { ty, bits }, _) | (_, Expr::Const { ty, bits }) => Some((*ty, *bits)),
        _ => None,
    }
}

/// The lowest bits, as a mask, that a remainder is.
fn remainder(divisor: &Expr) -> Option<(Type, u128)> {
    match divisor {
        Expr::Const { ty, bits } if bits.is_power_of_two() => Some((*ty, bits - 1)),
        _ => None,
    }
}

/// Whether the bits that are set, or those that are not, are among the `low` lowest.
fn is_low(ty: Type, bits: u128, low: u32) -> bool {
    let Type::Int(width) = ty else { return false };
    let ones = u128::MAX >> (128 - u32::from(width.clamp(1, 128)));
    bits >> low == 0 || (!bits & ones) >> low == 0
}

fn is_no_address(value: &Expr) -> bool {
    let Expr::Const { ty, bits } = value else { return false };
    let width = match ty {
        Type::Int(width) => u32::from(*width),
        _ => 64,
    };
    let ones = u128::MAX >> (128 - width.clamp(1, 128));
    *bits < NO_ADDRESSES || *bits > ones - NO_ADDRESSES
}

fn is_integer(ty: Type) -> bool {
    matches!(ty, Type::Int(_))
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Add | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor)
}
