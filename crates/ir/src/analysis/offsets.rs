//! At which offset does a pointer point into its object, and which constants may an integer be?
//!
//! [`PointsTo`] says which objects an address may belong to; this says where in them. Together they say when an address
//! is certain: one object, one offset. As points-to analysis, it is flow- and context-insensitive: a register, the
//! result of a function, and the pointers and the integers that an object holds are each one [`Number`], which
//! everything that is assigned to it is joined to. For a pointer the number counts from the beginning of the object
//! that it points into, whichever that is; for an integer it is the value.
//!
//! **Why it is sound.** Registers change by assignments only, and every assignment is joined. Memory changes by stores,
//! which are all found by points-to analysis, and so is everything else that writes (library functions,
//! synchronisation, thread handles); what is not a store of a whole pointer over a whole pointer, or of an integer of
//! the same size, makes the contents unknown. Integers that were made from pointers are unknown. A null pointer and a
//! number that was not made from an address point nowhere: an access there is an error that ends the execution, and
//! need not be told of. An integer that may be undefined may be any number (see `undefined`), because engines may take
//! undefined values for inputs instead of reporting them.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::executions::{Executions, Times};
use crate::analysis::facts::Facts;
use crate::analysis::number::Number;
use crate::analysis::points_to::{AbstractId, AbstractObject, PointsTo, for_each_op};
use crate::analysis::undefined;
use crate::index::Idx;
use crate::program::*;

/// One place in memory: an object of which there is one instance, and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Address {
    pub object: AbstractId,
    pub offset: i64,
}

/// What an object may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Contents {
    /// The offsets of the pointers in it.
    pointers: Number,
    /// Where these are.
    pointers_at: Number,
    /// The integers in it, if they are all of one size.
    integers: Number,
    integer_bits: Option<u16>,
}

const EMPTY: Contents =
    Contents { pointers: Number::NONE, pointers_at: Number::NONE, integers: Number::NONE, integer_bits: None };

const UNKNOWN: Contents =
    Contents { pointers: Number::ANY, pointers_at: Number::ANY, integers: Number::ANY, integer_bits: None };

#[derive(Clone, Debug)]
pub struct Offsets {
    locals_from: Vec<usize>,
    locals: Vec<Number>,
    returned: Vec<Number>,
    contents: Vec<Contents>,
    /// By object: whether there is one instance of it at most.
    exists_once: Vec<bool>,
}

impl Offsets {
    pub fn new(facts: &Facts) -> Offsets {
        let (program, points_to, executions) = (facts.program(), facts.points_to(), facts.executions());
        let mut locals_from = Vec::new();
        let mut count = 0;
        for function in &program.functions {
            locals_from.push(count);
            count += function.locals.len();
        }
        let objects = points_to.objects();
        let result = Offsets {
            locals_from,
            locals: vec![Number::NONE; count],
            returned: vec![Number::NONE; program.functions.len()],
            contents: vec![EMPTY; objects.len()],
            exists_once: objects.iter().map(|object| exists_once(program, executions, *object)).collect(),
        };
        let mut solver = Solver { facts, program, points_to, calls: facts.calls(), result, changed: true };
        solver.start();
        while solver.changed {
            solver.changed = false;
            solver.pass();
        }
        solver.result
    }

    fn local(&self, function: FuncId, local: LocalId) -> &Number {
        &self.locals[self.locals_from[function.index()] + local.index()]
    }

    /// Whether there is one instance of an object at most, in a whole execution.
    pub fn exists_once(&self, object: AbstractId) -> bool {
        self.exists_once[object.index()]
    }

    /// The offset of a pointer in its object, or the value of an integer.
    pub fn number(&self, program: &Program, function: FuncId, expr: &Expr) -> Number {
        let evaluation = Evaluation { offsets: self, program, function };
        evaluation.number(expr)
    }

    /// The one place that a pointer can point to, wherever it is used without an error.
    pub fn address(
        &self,
        program: &Program,
        points_to: &PointsTo,
        function: FuncId,
        pointer: &Expr,
    ) -> Option<Address> {
        let objects = points_to.points_to(function, pointer);
        let object = objects.iter().next().filter(|_| objects.len() == 1)?;
        if !self.exists_once(object) {
            return None;
        }
        let offset = self.number(program, function, pointer).exact()?;
        Some(Address { object, offset })
    }
}

fn exists_once(program: &Program, executions: &Executions, object: AbstractObject) -> bool {
    match object {
        AbstractObject::Unknown | AbstractObject::Function(_) => false,
        AbstractObject::Static(id) => program.objects[id].kind != ObjectKind::ThreadLocal,
        AbstractObject::Slot(function, _) => executions.of_function(function) != Times::Many,
        AbstractObject::Site(place) => executions.of(place) != Times::Many,
    }
}

/// Expressions in a function.
struct Evaluation<'a> {
    offsets: &'a Offsets,
    program: &'a Program,
    function: FuncId,
}

impl Evaluation<'_> {
    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(&self.program.functions[self.function].locals, self.program.model)
    }

    fn bits(&self, expr: &Expr) -> u16 {
        self.ty(expr).bits(self.program.model)
    }

    fn number(&self, expr: &Expr) -> Number {
        match expr {
            Expr::Const { ty: Type::Int(bits), bits: value } if *bits <= 64 => {
                Number::constant(*value as i64).truncate(*bits)
            }
            // Null, or an address that is none.
            Expr::Const { ty: Type::Ptr, .. } => Number::NONE,
            Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => Number::constant(0),
            Expr::Local(local) => self.offsets.local(self.function, *local).clone(),
            Expr::Unary(..) | Expr::Const { .. } => Number::ANY,
            Expr::Binary(op, operands) => self.binary(*op, &operands[0], &operands[1]),
            Expr::Cast(op, ty, operand) => self.cast(*op, *ty, operand),
            Expr::Select(parts) => self.number(&parts[1]).join(&self.number(&parts[2])),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Number {
        let bits = self.bits(left);
        if bits > 64 {
            return Number::ANY;
        }
        let constant = |expr: &Expr| match self.ty(expr) {
            Type::Int(_) => self.number(expr).exact(),
            _ => None,
        };
        let number = match op {
            // The offset of a pointer that is a constant may be the address.
            BinaryOp::PtrAdd if matches!(left, Expr::Const { .. } | Expr::Cast(..)) => return Number::ANY,
            BinaryOp::PtrAdd | BinaryOp::Add => self.number(left).add(&self.number(right)),
            BinaryOp::Sub => self.number(left).add(&self.number(right).times(-1)),
            BinaryOp::Mul => match (constant(left), constant(right)) {
                (_, Some(factor)) => self.number(left).times(factor),
                (Some(factor), _) => self.number(right).times(factor),
                _ => return Number::ANY,
            },
            BinaryOp::Shl => match constant(right) {
                Some(shift @ 0..=62) if shift < i64::from(bits) => self.number(left).times(1 << shift),
                _ => return Number::ANY,
            },
            _ => return Number::ANY,
        };
        number.truncate(bits)
    }

    fn cast(&self, op: CastOp, ty: Type, operand: &Expr) -> Number {
        let (from, to) = (self.bits(operand), ty.bits(self.program.model));
        match (op, operand) {
            // The bits stay. What is between the two casts keeps its offset.
            (CastOp::IntToPtr, Expr::Cast(CastOp::PtrToInt, _, pointer)) => self.number(pointer),
            (CastOp::SignExtend, _) if to <= 64 => self.extended(operand),
            (CastOp::ZeroExtend, _) if to <= 64 => self.extended(operand).unsigned(from),
            (CastOp::Truncate, _) if from <= 64 => self.number(operand).truncate(to),
            _ => Number::ANY,
        }
    }

    /// What is about to be extended. Of a number that is not known at all its size is known.
    fn extended(&self, operand: &Expr) -> Number {
        let number = self.number(operand);
        if number == Number::ANY { Number::of_bits(self.bits(operand)) } else { number }
    }
}

struct Solver<'a> {
    facts: &'a Facts<'a>,
    program: &'a Program,
    points_to: &'a PointsTo,
    calls: &'a CallGraph,
    result: Offsets,
    changed: bool,
}

impl Solver<'_> {
    /// What is there before anything is executed.
    fn start(&mut self) {
        for (id, object) in self.program.objects.iter_enumerated() {
            let Some(of) = self.points_to.object(AbstractObject::Static(id)) else { continue };
            let contents = &mut self.result.contents[of.index()];
            for (at, datum) in &object.init {
                let offset = match datum {
                    Datum::Object(_, offset) => *offset,
                    Datum::Function(_) => 0,
                    Datum::Bytes(_) => {
                        contents.integers = Number::ANY;
                        continue;
                    }
                };
                contents.pointers.join_with(&Number::constant(offset));
                contents.pointers_at.join_with(&Number::constant(*at as i64));
            }
            contents.integers.join_with(&Number::constant(0));
            if object.kind == ObjectKind::External {
                *contents = UNKNOWN;
            }
        }
        let outside = self.points_to.escaped_to_unknown();
        for object in outside.iter() {
            self.result.contents[object.index()] = UNKNOWN;
        }
        for (id, function) in self.program.functions.iter_enumerated() {
            let is_root = self.program.entry.is_none_or(|entry| entry == id);
            let given = is_root || self.may_be_called_from_outside(id);
            for local in (0..function.params).map(LocalId).filter(|_| given) {
                self.set_local(id, local, &Number::ANY);
            }
            self.start_undefined(id, function);
        }
    }

    /// Integers that may be read before they are set may be any number, if that is not an error.
    fn start_undefined(&mut self, id: FuncId, function: &Function) {
        for local in function.locals.ids().skip(function.params as usize) {
            let is_integer = matches!(function.locals[local].ty, Type::Int(_));
            if is_integer && undefined::may_be_undefined(self.facts, id, local) {
                self.set_local(id, local, &Number::ANY);
            }
        }
        for slot in function.slots.ids() {
            let object = self.points_to.object(AbstractObject::Slot(id, slot));
            if let Some(object) = object.filter(|_| !undefined::is_set_first(self.facts, id, slot)) {
                self.result.contents[object.index()].integers = Number::ANY;
            }
        }
    }

    fn may_be_called_from_outside(&self, function: FuncId) -> bool {
        let object = self.points_to.object(AbstractObject::Function(function));
        object.is_some_and(|object| self.points_to.escaped_to_unknown().contains(object))
    }

    fn number(&self, function: FuncId, expr: &Expr) -> Number {
        self.result.number(self.program, function, expr)
    }

    fn set_local(&mut self, function: FuncId, local: LocalId, number: &Number) {
        let at = self.result.locals_from[function.index()] + local.index();
        self.changed |= self.result.locals[at].join_with(number);
    }

    fn pass(&mut self) {
        for (id, function) in self.program.functions.iter_enumerated() {
            if !self.points_to.is_reached(id) {
                continue;
            }
            let mut ops = Vec::new();
            for_each_op(id, function, |place, op| ops.push((place, op)));
            ops.into_iter().for_each(|(place, op)| self.op(place, op));
            let Body::Blocks(blocks) = &function.body else { continue };
            for block in blocks {
                let number = match &block.terminator.kind {
                    TerminatorKind::Return(Some(value)) => self.number(id, value),
                    TerminatorKind::Return(None) => Number::ANY,
                    _ => continue,
                };
                self.changed |= self.result.returned[id.index()].join_with(&number);
            }
        }
    }

    fn op(&mut self, place: Place, op: &Op) {
        let id = place.func;
        match op {
            Op::Assign { dst, value } => {
                let number = self.number(id, value);
                self.set_local(id, *dst, &number);
            }
            Op::Load { dst, from } => {
                let number = self.loaded(id, from);
                self.set_local(id, *dst, &number);
            }
            Op::Store { to, value } => self.store(id, to, value),
            Op::ReadModifyWrite { dst, at, op: RmwOp::Exchange, value } => {
                self.store(id, at, value);
                let number = self.loaded(id, at);
                dst.iter().for_each(|dst| self.set_local(id, *dst, &number));
            }
            Op::CompareExchange { ok, old, at, desired, .. } => {
                self.store(id, at, desired);
                let number = self.loaded(id, at);
                self.set_local(id, *old, &number);
                self.set_local(id, *ok, &Number::ANY);
            }
            Op::ReadModifyWrite { at, .. } => {
                self.overwrite(id, &at.ptr, at.ty.bytes(self.program.model));
                self.set_results(id, op);
            }
            Op::Allocate { dst, zeroed, .. } => {
                self.set_local(id, *dst, &Number::constant(0));
                let first = if *zeroed { Number::constant(0) } else { Number::ANY };
                if let Some(object) = self.points_to.object(AbstractObject::Site(place)) {
                    self.changed |= self.result.contents[object.index()].integers.join_with(&first);
                }
            }
            Op::Call { dst, args, .. } => self.call(place, op, *dst, args),
            Op::Spawn { handle, args, .. } => {
                if let Some(handle) = handle {
                    self.overwrite(id, &handle.ptr, handle.ty.bytes(self.program.model));
                }
                self.call(place, op, None, args);
            }
            Op::Sync { op: sync, at, .. } => {
                self.overwrite(id, at, SYNC_BYTES);
                if let SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. } = sync {
                    self.overwrite(id, mutex, SYNC_BYTES);
                }
                self.set_results(id, op);
            }
            _ => self.set_results(id, op),
        }
    }

    fn set_results(&mut self, function: FuncId, op: &Op) {
        op.for_each_result(|dst| self.set_local(function, dst, &Number::ANY));
    }

    fn call(&mut self, place: Place, op: &Op, dst: Option<LocalId>, args: &[Expr]) {
        let locals = &self.program.functions[place.func].locals;
        let mut result = Number::NONE;
        let mut is_known = true;
        for edge in self.calls.callees(place) {
            let callee = &self.program.functions[edge.callee];
            if matches!(callee.body, Body::External(_)) {
                is_known = false;
                continue;
            }
            for param in (0..callee.params).map(LocalId) {
                let is_same = |arg: &&Expr| arg.ty(locals, self.program.model) == callee.locals[param].ty;
                let arg = args.get(param.index()).filter(is_same);
                let number = arg.map_or(Number::ANY, |arg| self.number(place.func, arg));
                self.set_local(edge.callee, param, &number);
            }
            let same = dst.is_none_or(|dst| Some(locals[dst].ty) == callee.ret);
            result.join_with(if same { &self.result.returned[edge.callee.index()] } else { &Number::ANY });
        }
        // What has no body, or is not known, may write and return anything.
        is_known &= !self.calls.is_unknown(place);
        if !is_known {
            result = Number::ANY;
            let written = self.points_to.may_access(self.program, place.func, op).written;
            written.iter().for_each(|object| self.forget(object));
        }
        dst.iter().for_each(|dst| self.set_local(place.func, *dst, &result));
    }

    fn loaded(&self, function: FuncId, from: &Access) -> Number {
        let mut number = Number::NONE;
        for object in self.points_to.points_to(function, &from.ptr).iter() {
            let contents = &self.result.contents[object.index()];
            let found = match from.ty {
                Type::Ptr => contents.pointers.clone(),
                Type::Int(bits)
                    if contents.pointers_at.is_none() && contents.integer_bits.is_none_or(|all| all == bits) =>
                {
                    contents.integers.clone()
                }
                _ => Number::ANY,
            };
            number.join_with(&found);
        }
        number
    }

    fn store(&mut self, function: FuncId, to: &Access, value: &Expr) {
        let model = self.program.model;
        let at = self.number(function, &to.ptr);
        let stored = self.number(function, value);
        let carries_address = !self.points_to.points_to(function, value).is_empty();
        for object in self.points_to.points_to(function, &to.ptr).iter() {
            match to.ty {
                Type::Ptr => self.store_pointer(object, &at, &stored),
                Type::Int(bits) if !carries_address => {
                    self.damage_pointers(object, &at, to.ty.bytes(model));
                    let contents = &mut self.result.contents[object.index()];
                    let same = contents.integer_bits.is_none_or(|all| all == bits);
                    self.changed |= contents.integer_bits.replace(bits).is_none();
                    self.changed |= contents.integers.join_with(if same { &stored } else { &Number::ANY });
                }
                _ if !carries_address => {
                    self.damage_pointers(object, &at, to.ty.bytes(model));
                    self.changed |= self.result.contents[object.index()].integers.join_with(&Number::ANY);
                }
                _ => self.forget(object),
            }
        }
    }

    fn store_pointer(&mut self, object: AbstractId, at: &Number, stored: &Number) {
        let width = self.program.model.pointer_bytes();
        let contents = &mut self.result.contents[object.index()];
        self.changed |= contents.pointers_at.join_with(at);
        self.changed |= contents.pointers.join_with(stored);
        self.damage_pointers(object, at, width);
    }

    /// What a write of `len` bytes does to the pointers in an object: it may change parts of them, unless it replaces
    /// them as a whole.
    fn damage_pointers(&mut self, object: AbstractId, at: &Number, len: u64) {
        let width = self.program.model.pointer_bytes();
        let contents = &mut self.result.contents[object.index()];
        let places = &contents.pointers_at;
        let replaces = len == width && is_aligned(at, width) && is_aligned(places, width);
        if !replaces && at.overlaps(len, places, width) {
            self.changed |= contents.pointers.join_with(&Number::ANY);
        }
    }

    fn overwrite(&mut self, function: FuncId, pointer: &Expr, len: u64) {
        let at = self.number(function, pointer);
        for object in self.points_to.points_to(function, pointer).iter() {
            self.damage_pointers(object, &at, len);
            self.changed |= self.result.contents[object.index()].integers.join_with(&Number::ANY);
        }
    }

    fn forget(&mut self, object: AbstractId) {
        let contents = &mut self.result.contents[object.index()];
        self.changed |= contents.pointers.join_with(&Number::ANY);
        self.changed |= contents.pointers_at.join_with(&Number::ANY);
        self.changed |= contents.integers.join_with(&Number::ANY);
    }
}

/// No step on a synchronisation object touches more bytes of it.
const SYNC_BYTES: u64 = 20;

fn is_aligned(at: &Number, width: u64) -> bool {
    // One byte that comes every `width` bytes, if these are the offsets of whole words.
    let width = width as i64;
    match at {
        Number::Among(values) => values.iter().all(|value| value.rem_euclid(width) == 0),
        Number::Congruent { remainder, divisor, .. } => divisor % width as u64 == 0 && remainder % width as u64 == 0,
    }
}
