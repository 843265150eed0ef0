//! Could the program notice that freed memory is given out again?
//!
//! An allocation may return the address of an object that was freed before. Only a program that keeps such an address
//! and compares it with a new one can tell, and for all others an allocation is always new: that keeps allocations of
//! different threads independent of each other. The answer is part of the program ([`Program::reuse`]), since what an
//! allocation does depends on it.
//!
//! An address is *stale* if it may be of an object that is freed somewhere, and *young* if it may be of one that is
//! allocated after some object was freed. Reuse is noticed where a stale and a young one meet: in a comparison, a
//! difference, a compare-exchange. (A comparison with null, with a constant or with the address of a variable is none
//! of these.) Numbers that are computed from an address otherwise (a hash, a shift, a truncation) may keep something of
//! it in any form: then it must be assumed that every freed object is remembered.
//!
//! Of functions of the library that are models, only comparisons of bytes count: the addresses that they compare are of
//! areas that they are about to access, or of their own records. So are those in checks that the front end writes.
//!
//! Whether an allocation may come after a free is a flow of one bit through the whole program: it is set by a free, by
//! a call of a function that may free, and by the creation of a thread that may; and from the start in a thread during
//! which another one may free.

use crate::analysis::facts::Facts;
use crate::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use crate::index::Idx;
use crate::program::*;

/// Where, and how, a program could notice it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Noticed {
    pub reuse: Reuse,
    pub comparisons: Vec<Comparison>,
}

/// Two values of which one may be stale and the other young.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The instruction or terminator.
    pub place: Place,
    /// What is compared. Of a compare-exchange: what it expects; the other value is in memory.
    pub values: Vec<Expr>,
}

pub fn noticed(facts: &Facts) -> Noticed {
    let freed = freed(facts, |_| true);
    let young = if freed.is_empty() { ObjectSet::new() } else { allocated_after_free(facts, &freed) };
    Addresses { facts, young, freed }.meetings()
}

/// Where a program could notice whether `realloc`, a function of this number, moves an object: it compares the address
/// that it gave to it with the one that it got.
pub fn noticed_moves(facts: &Facts, realloc: FuncId) -> Noticed {
    let freed = freed(facts, |function| function == realloc);
    let mut young = ObjectSet::new();
    for_each_op(realloc, &facts.program().functions[realloc], |place, op| {
        if let Op::Allocate { .. } = op {
            young.extend(facts.points_to().object(AbstractObject::Site(place)));
        }
    });
    Addresses { facts, young, freed }.meetings()
}

/// Whether the program computes numbers from addresses of stack or heap objects, in which they cannot be recognised.
pub fn computes_with_addresses(facts: &Facts) -> bool {
    let objects = facts.points_to().objects().iter_enumerated();
    let all: ObjectSet = objects
        .filter(|(_, object)| matches!(object, AbstractObject::Slot(..) | AbstractObject::Site(_)))
        .map(|(id, _)| id)
        .collect();
    Addresses { facts, young: all.clone(), freed: all }.meetings().reuse == Reuse::ByNumber
}

impl Noticed {
    fn by_number(&mut self) {
        self.reuse = Reuse::ByNumber;
    }

    fn by_address(&mut self, place: Place, values: Vec<Expr>) {
        self.reuse = self.reuse.max(Reuse::ByAddress);
        self.comparisons.push(Comparison { place, values });
    }
}

/// The sites of heap objects that may be freed by these functions.
fn freed(facts: &Facts, by: impl Fn(FuncId) -> bool) -> ObjectSet {
    let mut freed = ObjectSet::new();
    for (id, function) in facts.program().functions.iter_enumerated().filter(|(id, _)| by(*id)) {
        for_each_op(id, function, |_, op| {
            if let Op::Free { ptr, storage: Storage::Heap } = op {
                freed.union_with(&facts.points_to().points_to(id, ptr));
            }
        });
    }
    freed.iter().filter(|object| is_on_heap(facts, *object)).collect()
}

fn is_on_heap(facts: &Facts, object: AbstractId) -> bool {
    match facts.points_to().objects()[object] {
        AbstractObject::Site(place) => {
            matches!(facts.program().op(place), Some(Op::Allocate { storage: Storage::Heap, .. }))
        }
        _ => false,
    }
}

struct Addresses<'a, 'p> {
    facts: &'a Facts<'p>,
    freed: ObjectSet,
    young: ObjectSet,
}

impl Addresses<'_, '_> {
    /// Where a stale address may meet a young one, and where numbers are computed from stale ones.
    fn meetings(&self) -> Noticed {
        let mut noticed = Noticed::default();
        if self.young.is_empty() || self.freed.is_empty() {
            return noticed;
        }
        let facts = self.facts;
        for (id, function) in facts.program().functions.iter_enumerated() {
            let Body::Blocks(blocks) = &function.body else { continue };
            if !facts.calls().is_reachable(id) {
                continue;
            }
            for_each_op(id, function, |place, op| {
                if is_front_ends(op) {
                    return;
                }
                op.for_each_operand(|operand| self.noticed_in(place, operand, &mut noticed));
                self.noticed_by(place, op, &mut noticed);
            });
            for (block, code) in blocks.iter_enumerated() {
                let place = Place { func: id, block, index: code.instrs.len() as u32 };
                if let Some(operand) = code.terminator.kind.operand() {
                    self.noticed_in(place, operand, &mut noticed);
                }
            }
        }
        noticed
    }

    /// Whether two values may be a stale address and a young one.
    fn meet(&self, function: FuncId, left: &Expr, right: &Expr) -> bool {
        let points_to = self.facts.points_to();
        let (left, right) = (points_to.points_to(function, left), points_to.points_to(function, right));
        let is_pair = |one: &ObjectSet, other: &ObjectSet| one.intersects(&self.freed) && other.intersects(&self.young);
        is_pair(&left, &right) || is_pair(&right, &left)
    }

    fn may_be_stale(&self, function: FuncId, value: &Expr) -> bool {
        self.facts.points_to().points_to(function, value).intersects(&self.freed)
    }

    /// What the evaluation of an expression notices.
    fn noticed_in(&self, place: Place, expr: &Expr, noticed: &mut Noticed) {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            let computes = match expr {
                Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
                Expr::Unary(op, operand) => {
                    work.push(operand);
                    matches!(op, UnaryOp::Neg | UnaryOp::Not) && self.may_be_stale(place.func, operand)
                }
                Expr::Cast(op, to, operand) => {
                    work.push(operand);
                    let is_number = match op {
                        CastOp::Truncate => *to != Type::BOOL,
                        CastOp::UIntToFloat | CastOp::SIntToFloat => true,
                        _ => false,
                    };
                    is_number && self.may_be_stale(place.func, operand)
                }
                Expr::Binary(op, operands) => {
                    work.extend(operands.iter());
                    let [left, right] = &**operands;
                    let counts = !self.is_model(place.func) || self.is_byte(place.func, left);
                    if counts && compares(*op) && self.meet(place.func, left, right) {
                        noticed.by_address(place, operands.to_vec());
                    }
                    !self.is_model(place.func) && self.computes(place.func, *op, left, right)
                }
                Expr::Select(parts) => {
                    work.extend(parts.iter());
                    false
                }
            };
            if computes {
                noticed.by_number();
            }
        }
    }

    fn is_model(&self, function: FuncId) -> bool {
        let program = self.facts.program();
        program.files.get(program.functions[function].span.file).is_some_and(|file| file.starts_with("<leno>"))
    }

    fn is_byte(&self, function: FuncId, expr: &Expr) -> bool {
        let program = self.facts.program();
        match expr {
            Expr::Cast(CastOp::ZeroExtend | CastOp::SignExtend, _, byte) => self.is_byte(function, byte),
            _ => expr.ty(&program.functions[function].locals, program.model) == Type::I8,
        }
    }

    /// Whether an operator makes a number in which an address can no longer be recognised.
    fn computes(&self, function: FuncId, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        use BinaryOp::*;
        let is_constant = |expr: &Expr| matches!(expr, Expr::Const { .. });
        let (left_stale, right_stale) = (self.may_be_stale(function, left), self.may_be_stale(function, right));
        match op {
            // A mark in the lowest bits leaves it recognisable.
            And | Or | Xor => (left_stale || right_stale) && !is_constant(left) && !is_constant(right),
            Add | PtrAdd => left_stale && right_stale,
            Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | SMulOverflow | UMulOverflow => {
                left_stale || right_stale
            }
            _ => false,
        }
    }

    /// What an instruction notices by comparing or computing with what is in memory.
    fn noticed_by(&self, place: Place, op: &Op, noticed: &mut Noticed) {
        match op {
            Op::CompareExchange { old, expected, .. } if self.meet(place.func, &Expr::Local(*old), expected) => {
                noticed.by_address(place, vec![expected.clone()]);
            }
            Op::ReadModifyWrite { op, value, at, .. } if *op != RmwOp::Exchange => {
                let objects = self.facts.points_to().points_to(place.func, &at.ptr);
                let is_stale = |object| self.facts.points_to().contents(object).intersects(&self.freed);
                let is_mark = matches!(value, Expr::Const { .. });
                if !is_mark && self.may_be_stale(place.func, value) && objects.iter().any(is_stale) {
                    noticed.by_number();
                }
            }
            _ => {}
        }
    }
}

/// Whether it is a check that the front end writes: of addresses that are about to be accessed.
fn is_front_ends(op: &Op) -> bool {
    matches!(op, Op::Assert { property, .. } if *property != Property::Assertion)
}

/// Whether the result of an operator tells if two addresses are the same.
fn compares(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | Ne | ULt | ULe | SLt | SLe | PtrDiff | Sub | USubOverflow | SSubOverflow)
}

/// The sites of heap objects that may be allocated after one of the freed objects was freed.
fn allocated_after_free(facts: &Facts, freed: &ObjectSet) -> ObjectSet {
    let flow = Flow::new(facts, freed);
    let mut young = ObjectSet::new();
    for id in facts.program().functions.ids() {
        flow.walk(id, |place, op, is_after| {
            if let (Op::Allocate { storage: Storage::Heap, .. }, true) = (op, is_after) {
                young.extend(facts.points_to().object(AbstractObject::Site(place)));
            }
        });
    }
    young
}

/// Where may an object have been freed before?
struct Flow<'a, 'p> {
    facts: &'a Facts<'p>,
    /// By function: whether it, or what it calls or starts, may free one.
    frees: Vec<bool>,
    /// By function: whether one may have been freed before it begins.
    begins_after: Vec<bool>,
}

impl<'a, 'p> Flow<'a, 'p> {
    fn new(facts: &'a Facts<'p>, freed: &ObjectSet) -> Flow<'a, 'p> {
        let program = facts.program();
        let mut places = Vec::new();
        for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
            for_each_op(id, function, |place, op| match op {
                Op::Free { ptr, storage: Storage::Heap } if facts.points_to().points_to(id, ptr).intersects(freed) => {
                    places.push(place)
                }
                _ => {}
            });
        }
        let mut frees = vec![false; program.functions.len()];
        places.iter().for_each(|place| frees[place.func.index()] = true);
        spread(&mut frees, facts.calls().edges().iter().map(|edge| (edge.callee, edge.place.func)));
        let begins_after = vec![program.entry.is_none(); program.functions.len()];
        let mut flow = Flow { facts, frees, begins_after };
        flow.begin_threads(&places);
        flow.pass_on();
        flow
    }

    /// A thread may begin after a free, as far as its own steps are concerned, if there may be one while it is alive.
    fn begin_threads(&mut self, frees: &[Place]) {
        let (threads, parallel) = (self.facts.threads(), self.facts.parallel());
        for (id, root) in threads.roots().iter_enumerated() {
            let is_meanwhile = |place: &Place| {
                threads.running(place.func).iter().any(|by| parallel.may_overlap_thread(*by, *place, id))
            };
            self.begins_after[root.function.index()] |= frees.iter().any(is_meanwhile);
        }
    }

    /// Functions that are called or started after a free begin after it.
    fn pass_on(&mut self) {
        loop {
            let mut begins_after = self.begins_after.clone();
            for id in self.facts.program().functions.ids() {
                self.walk(id, |place, _, is_after| {
                    for edge in self.facts.calls().callees(place) {
                        begins_after[edge.callee.index()] |= is_after;
                    }
                });
            }
            if begins_after == self.begins_after {
                return;
            }
            self.begins_after = begins_after;
        }
    }

    /// Visits the instructions of a function that may run, and says whether something may have been freed before each.
    fn walk(&self, id: FuncId, mut visit: impl FnMut(Place, &Op, bool)) {
        let (Some(cfg), Body::Blocks(blocks)) = (self.facts.cfg(id), &self.facts.program().functions[id].body) else {
            return;
        };
        if !self.facts.calls().is_reachable(id) {
            return;
        }
        let sets = |place: Place, op: &Op| match op {
            Op::Free { .. } => true,
            Op::Call { .. } | Op::Spawn { .. } => {
                self.facts.calls().callees(place).iter().any(|edge| self.frees[edge.callee.index()])
            }
            _ => false,
        };
        let at = |block: BlockId, index: usize| Place { func: id, block, index: index as u32 };
        let mut after = vec![false; blocks.len()];
        for (block, code) in blocks.iter_enumerated() {
            let is_set = code.instrs.iter().enumerate().any(|(index, instr)| sets(at(block, index), &instr.op));
            after[block.index()] = is_set || self.begins_after[id.index()];
        }
        let successors = |block: BlockId| cfg.successors(block).iter().map(move |next| (block, *next));
        spread(&mut after, blocks.ids().flat_map(successors).collect::<Vec<_>>().into_iter());
        for (block, code) in blocks.iter_enumerated() {
            let comes_after = |from: &BlockId| after[from.index()];
            let mut is_after = self.begins_after[id.index()] || cfg.predecessors(block).iter().any(comes_after);
            for (index, instr) in code.instrs.iter().enumerate() {
                visit(at(block, index), &instr.op, is_after);
                is_after |= sets(at(block, index), &instr.op);
            }
        }
    }
}

/// Sets whatever an edge leads to from what is set, until nothing changes.
fn spread<I: Idx>(flags: &mut [bool], edges: impl Iterator<Item = (I, I)> + Clone) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (from, to) in edges.clone() {
            changed |= flags[from.index()] && !flags[to.index()];
            flags[to.index()] |= flags[from.index()];
        }
    }
}
