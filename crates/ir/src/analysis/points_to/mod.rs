//! Points-to analysis: which objects may an address be the address of?
//!
//! Whole-program, flow- and context-insensitive, inclusion-based (Andersen): `p = q` says that p may point to
//! whatever q may point to. Paper 000 uses Steensgaard's unification, which merges both sides instead: almost
//! linear, and far less precise, as one helper that is given every list of the program makes them all one.
//! Inclusion is cubic at worst, but tens of thousands of constraints take a fraction of a second, and where a
//! pointer may point to hundreds of objects we do unite what these hold (see the solver), so that even programs
//! in which everything reaches everything take a second or two (the tests have such). What keeps it fast: sets are
//! sparse bit vectors, and the solver works in waves (Pereira and Berlin, "Wave Propagation and Deep
//! Propagation for Pointer Analysis"): collapse cycles, push what is new through the graph in topological order,
//! add the edges that loads, stores and calls through pointers now give rise to, and again.
//!
//! **Objects.** A static object, a slot, an allocation site, a function, each stands for all its instances; and
//! one [`AbstractObject::Unknown`] stands for everything outside the program. Fields are not told apart, but for
//! one thing (see `Cells` in the source): what is stored as a pointer is not found again by a 16- or 32-bit load.
//!
//! **Why it is sound.** A register, of whatever type, is given everything that its value may have been computed
//! from, through any integer arithmetic, conversions and bytewise copies; so casts to integers and back,
//! tagged pointers, `memcpy` byte by byte and xor-linked lists are covered. What is not followed:
//! - Control. A pointer that is rebuilt by testing each of its bits is lost.
//! - The offset of `ptr_add`, and `ptr_diff`: an address is computed from a pointer into the object that it
//!   addresses. C demands this (6.5.6p8); a program that gets from one object into another by adding to a pointer
//!   has a memory error, which must be looked for without relying on these sets. (An offset from a constant
//!   is followed, as `(char *)0 + address` is a cast.)
//! - Access to a pointer's bytes by 16- and 32-bit types of less than pointer width. C forbids it (6.5p7).
//! - Values that come from nowhere. A number that the program did not make from an address is no address.
//!
//! Functions without a body: one that Leno does not know may keep, and store anywhere it can reach,
//! whatever it is given ([`AbstractObject::Unknown`] holds all that and points to it). A known one keeps nothing; it
//! may copy what its arguments reach to where its `writes` parameters point, unless it is variadic (then it is
//! about text), and a pointer that it returns points to what its arguments do or outside the program.
//!
//! Functions that control never reaches from the entry are left out: their sets are empty. A program without an
//! entry is a library, of which every function may be called with unknown arguments.

mod constraints;
mod solver;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::id_set::IdSet;
use crate::index::{Idx, IndexVec};
use crate::index_type;
use crate::library_memory::{counts_through, holds_arguments};
use crate::program::{
    BinaryOp, Body, Callee, CastOp, DataModel, Expr, External, FuncId, Function, LocalId, ObjectId, Op, Place, Program,
    ResultType, SlotId, SyncOp, Type, UnaryOp,
};
use crate::visit::AccessKind;

index_type!(
    /// An abstract object.
    AbstractId,
    "o"
);

pub type ObjectSet = IdSet<AbstractId>;

/// What a pointer may point into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum AbstractObject {
    /// Everything outside the program; always object 0.
    Unknown,
    Static(ObjectId),
    Function(FuncId),
    /// All activations' instances.
    Slot(FuncId, SlotId),
    /// All that one `allocate` makes.
    Site(Place),
}

/// What an instruction may do to objects itself (not what the functions that it calls do, if they have bodies).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accessed {
    pub read: ObjectSet,
    pub written: ObjectSet,
}

impl Accessed {
    pub fn all(&self) -> ObjectSet {
        let mut all = self.read.clone();
        all.union_with(&self.written);
        all
    }
}

/// The numbering of objects and of the variables of the analysis.
#[derive(Clone, Debug)]
struct Numbering {
    objects: IndexVec<AbstractId, AbstractObject>,
    functions_from: u32,
    slots_from: Vec<u32>,
    sites: BTreeMap<Place, AbstractId>,
    locals_from: Vec<u32>,
    /// One for each function: what it returns.
    returns_from: u32,
    /// Two for each object: see [`Cells`].
    contents_from: u32,
    /// What threads give back.
    thread_result: Variable,
    variables: u32,
}

index_type!(
    /// Something that holds values: a register, the contents of an object, …
    Variable,
    "v"
);

/// The two sorts of memory cells that are told apart within an object.
///
/// An `int` field beside a pointer field would otherwise seem to hold the pointer. Loads of 16 and 32 bits (less
/// than a pointer, more than a character) read only `Narrow`. Pointers are stored only to `Whole`, such narrow
/// integers only to `Narrow`, and all else (characters, words that may copy two halves at once) is stored
/// to both and loaded from both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cells {
    Whole,
    Narrow,
}

const BOTH: &[Cells] = &[Cells::Whole, Cells::Narrow];

fn is_narrow(ty: Type, model: DataModel) -> bool {
    let bits = ty.bits(model);
    bits > 8 && bits < model.pointer_bits()
}

fn cells_loaded(ty: Type, model: DataModel) -> &'static [Cells] {
    if is_narrow(ty, model) { &[Cells::Narrow] } else { BOTH }
}

fn cells_stored(ty: Type, model: DataModel) -> &'static [Cells] {
    match ty {
        Type::Ptr => &[Cells::Whole],
        _ if is_narrow(ty, model) => &[Cells::Narrow],
        _ => BOTH,
    }
}

const UNKNOWN: AbstractId = AbstractId(0);

impl Numbering {
    fn new(program: &Program) -> Numbering {
        let mut objects = IndexVec::new();
        objects.push(AbstractObject::Unknown);
        objects.extend(program.objects.ids().map(AbstractObject::Static));
        let functions_from = objects.len() as u32;
        objects.extend(program.functions.ids().map(AbstractObject::Function));
        let mut sites = BTreeMap::new();
        let mut slots_from = Vec::new();
        let mut locals_from = Vec::new();
        let mut variables = 0u32;
        for (id, function) in program.functions.iter_enumerated() {
            locals_from.push(variables);
            variables += function.locals.len() as u32;
            slots_from.push(objects.len() as u32);
            objects.extend(function.slots.ids().map(|slot| AbstractObject::Slot(id, slot)));
            for_each_op(id, function, |place, op| {
                if matches!(op, Op::Allocate { .. }) {
                    sites.insert(place, objects.push(AbstractObject::Site(place)));
                }
            });
        }
        let returns_from = variables;
        let contents_from = returns_from + program.functions.len() as u32;
        let thread_result = Variable(contents_from + 2 * objects.len() as u32);
        Numbering {
            objects,
            functions_from,
            slots_from,
            sites,
            locals_from,
            returns_from,
            contents_from,
            thread_result,
            variables: thread_result.0 + 1,
        }
    }

    fn local(&self, function: FuncId, local: LocalId) -> Variable {
        Variable(self.locals_from[function.index()] + local.0)
    }

    fn returned(&self, function: FuncId) -> Variable {
        Variable(self.returns_from + function.0)
    }

    fn contents(&self, object: AbstractId, cells: Cells) -> Variable {
        // Nothing is known about the layout of what is outside.
        let narrow = u32::from(cells == Cells::Narrow && object != UNKNOWN);
        Variable(self.contents_from + 2 * object.0 + narrow)
    }

    /// Code holds no values.
    fn holds_values(&self, object: AbstractId) -> bool {
        !matches!(self.objects[object], AbstractObject::Function(_))
    }

    fn is_callable(&self, object: AbstractId) -> bool {
        matches!(self.objects[object], AbstractObject::Function(_) | AbstractObject::Unknown)
    }

    fn static_object(&self, object: ObjectId) -> AbstractId {
        AbstractId(1 + object.0)
    }

    fn function(&self, function: FuncId) -> AbstractId {
        AbstractId(self.functions_from + function.0)
    }

    fn slot(&self, function: FuncId, slot: SlotId) -> AbstractId {
        AbstractId(self.slots_from[function.index()] + slot.0)
    }
}

/// Visits the instructions of a function with their places.
pub fn for_each_op<'p>(id: FuncId, function: &'p Function, mut visit: impl FnMut(Place, &'p Op)) {
    let Body::Blocks(blocks) = &function.body else { return };
    for (block_id, block) in blocks.iter_enumerated() {
        for (index, instr) in block.instrs.iter().enumerate() {
            visit(Place { func: id, block: block_id, index: index as u32 }, &instr.op);
        }
    }
}

/// What a value may have been computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Variable(Variable),
    Address(AbstractId),
}

/// Visits everything whose address the value of `expr` may carry, as the essay above says.
fn for_each_source(numbering: &Numbering, function: FuncId, expr: &Expr, mut visit: impl FnMut(Source)) {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        match expr {
            Expr::Const { .. } => {}
            Expr::Local(id) => visit(Source::Variable(numbering.local(function, *id))),
            Expr::Object(id) => visit(Source::Address(numbering.static_object(*id))),
            Expr::Slot(id) => visit(Source::Address(numbering.slot(function, *id))),
            Expr::Function(id) => visit(Source::Address(numbering.function(*id))),
            Expr::Unary(UnaryOp::Neg | UnaryOp::Not, operand) => work.push(operand),
            Expr::Unary(UnaryOp::FNeg | UnaryOp::FSqrt | UnaryOp::FAbs, _) => {}
            Expr::Binary(BinaryOp::PtrAdd, operands) if !is_constant(&operands[0]) => work.push(&operands[0]),
            Expr::Binary(BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv, _) => {}
            Expr::Binary(op, operands) => {
                if op.result() == ResultType::Operand {
                    work.extend(operands.iter());
                }
            }
            Expr::Cast(_, Type::BOOL, _) => {}
            Expr::Cast(_, _, operand) => work.push(operand),
            Expr::Select(parts) => work.extend(&parts[1..]),
        }
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Const { .. } => true,
        Expr::Cast(CastOp::IntToPtr, _, operand) => matches!(**operand, Expr::Const { .. }),
        _ => false,
    }
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct PointsTo {
    numbering: Numbering,
    /// For each variable the one whose set it shares.
    representative: Vec<Variable>,
    sets: Vec<ObjectSet>,
    /// The variables whose sets are what the spawned threads are given.
    thread_arguments: Vec<Variable>,
    reached: Vec<bool>,
    /// How much work it was, for statistics.
    pub waves: usize,
}

impl PointsTo {
    pub fn new(program: &Program) -> PointsTo {
        solver::solve(program, Numbering::new(program))
    }

    pub fn objects(&self) -> &IndexVec<AbstractId, AbstractObject> {
        &self.numbering.objects
    }

    /// The abstract object of something; none for an instruction that allocates nothing.
    pub fn object(&self, object: AbstractObject) -> Option<AbstractId> {
        match object {
            AbstractObject::Unknown => Some(UNKNOWN),
            AbstractObject::Static(id) => Some(self.numbering.static_object(id)),
            AbstractObject::Function(id) => Some(self.numbering.function(id)),
            AbstractObject::Slot(function, slot) => Some(self.numbering.slot(function, slot)),
            AbstractObject::Site(place) => self.numbering.sites.get(&place).copied(),
        }
    }

    fn set(&self, variable: Variable) -> &ObjectSet {
        &self.sets[self.representative[variable.index()].index()]
    }

    /// The objects that the value of `expr`, as a pointer, may point into.
    pub fn points_to(&self, function: FuncId, expr: &Expr) -> Cow<'_, ObjectSet> {
        let mut result: Cow<'_, ObjectSet> = Cow::Owned(ObjectSet::new());
        for_each_source(&self.numbering, function, expr, |source| match source {
            Source::Address(object) => drop(result.to_mut().insert(object)),
            Source::Variable(variable) if result.is_empty() => result = Cow::Borrowed(self.set(variable)),
            Source::Variable(variable) => {
                let set = self.set(variable);
                if !set.is_subset_of(&result) {
                    result.to_mut().union_with(set);
                }
            }
        });
        result
    }

    /// The objects whose addresses an object may hold.
    pub fn contents(&self, object: AbstractId) -> ObjectSet {
        let mut all = self.set(self.numbering.contents(object, Cells::Whole)).clone();
        all.union_with(self.set(self.numbering.contents(object, Cells::Narrow)));
        all
    }

    /// `from`, and all objects that can be reached from there through memory.
    pub fn reachable(&self, from: &ObjectSet) -> ObjectSet {
        let mut reached = from.clone();
        let mut work: Vec<AbstractId> = from.iter().collect();
        while let Some(object) = work.pop() {
            for next in self.contents(object).difference(&reached).iter() {
                reached.insert(next);
                work.push(next);
            }
        }
        reached
    }

    /// Whether two addresses may be of the same object.
    pub fn may_alias(&self, left: (FuncId, &Expr), right: (FuncId, &Expr)) -> bool {
        self.points_to(left.0, left.1).intersects(&self.points_to(right.0, right.1))
    }

    /// The functions that a pointer may be the address of, and whether it may come from outside.
    pub fn functions(&self, function: FuncId, pointer: &Expr) -> (Vec<FuncId>, bool) {
        let set = self.points_to(function, pointer);
        let as_function = |object| match self.numbering.objects[object] {
            AbstractObject::Function(id) => Some(id),
            _ => None,
        };
        (set.iter().filter_map(as_function).collect(), set.contains(UNKNOWN))
    }

    /// Whether control may reach a function from the entry (or at all, in a library).
    pub fn is_reached(&self, function: FuncId) -> bool {
        self.reached[function.index()]
    }

    /// What threads are given when they start or give back when they end; what else they share they
    /// find through static objects.
    pub fn handed_between_threads(&self) -> ObjectSet {
        let mut handed = self.set(self.numbering.thread_result).clone();
        for variable in &self.thread_arguments {
            handed.union_with(self.set(*variable));
        }
        handed
    }

    /// What has been given away to functions that Leno does not know, and what can be reached from it.
    pub fn escaped_to_unknown(&self) -> ObjectSet {
        let mut escaped = self.set(self.numbering.contents(UNKNOWN, Cells::Whole)).clone();
        escaped.insert(UNKNOWN);
        escaped
    }

    /// The objects that an instruction may access itself.
    pub fn may_access(&self, program: &Program, function: FuncId, op: &Op) -> Accessed {
        let mut accessed = Accessed::default();
        if let Some((access, kind)) = op.access() {
            let objects = self.points_to(function, &access.ptr);
            if kind != AccessKind::Write {
                accessed.read.union_with(&objects);
            }
            if kind != AccessKind::Read {
                accessed.written.union_with(&objects);
            }
        }
        match op {
            Op::Free { ptr, .. } => drop(accessed.written.union_with(&self.points_to(function, ptr))),
            Op::BeginLife { slot } | Op::EndLife { slot } => {
                accessed.written.extend(self.object(AbstractObject::Slot(function, *slot)));
            }
            Op::ObjectSize { ptr, .. } => drop(accessed.read.union_with(&self.points_to(function, ptr))),
            Op::Sync { op, at, .. } => {
                self.updated(&mut accessed, function, at);
                if let SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. } = op {
                    self.updated(&mut accessed, function, mutex);
                }
            }
            Op::Call { callee, args, .. } => self.accessed_by_call(&mut accessed, program, function, callee, args),
            Op::Spawn { func, args, .. } => {
                let callee = Callee::Indirect(func.clone());
                self.accessed_by_call(&mut accessed, program, function, &callee, args);
            }
            _ => {}
        }
        self.without_functions(accessed)
    }

    fn updated(&self, accessed: &mut Accessed, function: FuncId, pointer: &Expr) {
        let objects = self.points_to(function, pointer);
        accessed.read.union_with(&objects);
        accessed.written.union_with(&objects);
    }

    fn accessed_by_call(
        &self,
        accessed: &mut Accessed,
        program: &Program,
        function: FuncId,
        callee: &Callee,
        args: &[Expr],
    ) {
        let (callees, unknown) = match callee {
            Callee::Direct(id) => (vec![*id], false),
            Callee::Indirect(pointer) => self.functions(function, pointer),
        };
        let mut unknown = unknown;
        for id in callees {
            match &program.functions[id].body {
                Body::External(external) if external.known => {
                    self.accessed_by_known(accessed, function, (program, id), external, args);
                }
                Body::External(_) => unknown = true,
                Body::Blocks(_) => {}
            }
        }
        if unknown {
            let escaped = self.escaped_to_unknown();
            accessed.read.union_with(&escaped);
            accessed.written.union_with(&escaped);
        }
    }

    fn accessed_by_known(
        &self,
        accessed: &mut Accessed,
        function: FuncId,
        (program, callee): (&Program, FuncId),
        external: &External,
        args: &[Expr],
    ) {
        let name = &program.functions[callee].name;
        let counts = counts_through(program, name, args);
        for (index, arg) in args.iter().enumerate() {
            let direct = self.points_to(function, arg);
            let reached = self.reachable(&direct);
            if external.writes.contains(&(index as u32)) || counts == Some(index as u32) {
                // Through variable arguments it writes where these point (`scanf`).
                accessed.written.union_with(if holds_arguments(name, index as u32) { &reached } else { &direct });
            }
            if !external.pure {
                accessed.read.union_with(&reached);
            }
        }
    }

    /// Code is no memory that anyone could share.
    fn without_functions(&self, accessed: Accessed) -> Accessed {
        let strip = |set: ObjectSet| {
            let is_memory = set.iter().all(|object| self.numbering.holds_values(object));
            if is_memory { set } else { set.iter().filter(|object| self.numbering.holds_values(*object)).collect() }
        };
        Accessed { read: strip(accessed.read), written: strip(accessed.written) }
    }
}
