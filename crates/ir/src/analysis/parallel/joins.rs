//! Which threads does a `join` wait for?
//!
//! A handle that is joined was once stored by the instruction that created the thread. So we follow the value of the
//! handle backwards: through copies, parameters and results, and through memory, by all instructions that may write
//! where it is loaded from. If all of these are creations of threads, a join that succeeds is of one of their threads.
//! Everything else that may have made the number (arithmetic, a constant, an input) makes the answer unknown. A handle
//! is never 0, so memory that still holds its initial zeros is no source. Memory that has not been set may hold
//! anything; that it may be the source is said with the answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::callgraph::CallKind;
use crate::analysis::facts::Facts;
use crate::analysis::number::Number;
use crate::analysis::points_to::{AbstractId, AbstractObject, for_each_op};
use crate::analysis::threads::RootId;
use crate::analysis::undefined;
use crate::program::*;

/// The threads that a join may be of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Joined {
    pub root: RootId,
    /// Whether the thread was created by the same activation that joins it.
    pub is_own: bool,
    /// Whether the handle may come from memory that has not been set.
    pub may_be_undefined: bool,
}

/// By join: the one root that it is of, if it is certain.
pub(super) fn joined_roots(facts: &Facts) -> BTreeMap<Place, Joined> {
    let mut result = BTreeMap::new();
    let mut writers = None;
    for (id, function) in facts.program().functions.iter_enumerated() {
        for_each_op(id, function, |place, op| {
            let Op::Join { thread, .. } = op else { return };
            let mut trace = Trace::new(facts, writers.get_or_insert_with(|| Writers::new(facts)));
            trace.expression(id, thread);
            if let Some(sites) = trace.follow() {
                // A handle that a thread has asked for is its own.
                let own = trace.selves.iter().flat_map(|func| facts.threads().running(*func).iter().copied());
                let created = sites.iter().flat_map(|site| facts.threads().created_at(*site));
                let mut roots = created.chain(own);
                if let (Some(root), None) = (roots.next(), roots.next()) {
                    let is_own = trace.is_own && trace.selves.is_empty() && sites.iter().all(|site| site.func == id);
                    result.insert(place, Joined { root, is_own, may_be_undefined: trace.may_be_undefined });
                }
            }
        });
    }
    result
}

/// All instructions that may write to an object, and all that may call or return to a function.
pub(super) struct Writers<'a> {
    by_object: BTreeMap<AbstractId, Vec<(Place, &'a Op)>>,
}

impl<'a> Writers<'a> {
    pub fn new(facts: &'a Facts) -> Writers<'a> {
        let mut by_object: BTreeMap<AbstractId, Vec<(Place, &Op)>> = BTreeMap::new();
        for (id, function) in facts.program().functions.iter_enumerated() {
            if facts.points_to().is_reached(id) {
                for_each_op(id, function, |place, op| {
                    let written = facts.points_to().may_access(facts.program(), id, op).written;
                    written.iter().for_each(|object| by_object.entry(object).or_default().push((place, op)));
                });
            }
        }
        Writers { by_object }
    }

    pub fn of(&self, object: AbstractId) -> &[(Place, &'a Op)] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Register(FuncId, LocalId),
    Result(FuncId),
    /// Of one word.
    Memory(AbstractId, Number),
}

struct Trace<'a> {
    facts: &'a Facts<'a>,
    writers: &'a Writers<'a>,
    seen: BTreeSet<Source>,
    work: Vec<Source>,
    sites: BTreeSet<Place>,
    /// The functions in which a thread asks for its own handle.
    selves: BTreeSet<FuncId>,
    is_known: bool,
    /// Whether all sources are in one activation: its registers, and slots whose addresses go nowhere.
    is_own: bool,
    may_be_undefined: bool,
}

impl<'a> Trace<'a> {
    fn new(facts: &'a Facts<'a>, writers: &'a Writers<'a>) -> Trace<'a> {
        let (seen, sites, selves) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (is_known, is_own, may_be_undefined) = (true, true, false);
        Trace { facts, writers, seen, work: Vec::new(), sites, selves, is_known, is_own, may_be_undefined }
    }

    /// The instructions that created what was asked for; none if it may come from elsewhere.
    fn follow(&mut self) -> Option<BTreeSet<Place>> {
        while let Some(source) = self.work.pop() {
            if !self.is_known || self.seen.len() > MOST_SOURCES {
                return None;
            }
            match source {
                Source::Register(function, local) => self.register(function, local),
                Source::Result(function) => self.result(function),
                Source::Memory(object, at) => self.memory(object, &at),
            }
        }
        self.is_known.then(|| self.sites.clone())
    }

    fn push(&mut self, source: Source) {
        if self.seen.insert(source.clone()) {
            self.work.push(source);
        }
    }

    fn expression(&mut self, function: FuncId, expr: &Expr) {
        match expr {
            Expr::Const { bits: 0, .. } => {}
            Expr::Local(local) => self.push(Source::Register(function, *local)),
            Expr::Cast(CastOp::PtrToInt | CastOp::IntToPtr, _, operand) => self.expression(function, operand),
            Expr::Select(parts) => {
                self.expression(function, &parts[1]);
                self.expression(function, &parts[2]);
            }
            _ => self.is_known = false,
        }
    }

    fn register(&mut self, function: FuncId, local: LocalId) {
        let facts = self.facts;
        let code = &facts.program().functions[function];
        if local.0 < code.params {
            self.is_own = false;
            self.arguments(function, local);
        } else {
            self.is_known &= !undefined::may_be_undefined(facts, function, local);
        }
        for_each_op(function, code, |place, op| {
            let mut is_result = false;
            op.for_each_result(|dst| is_result |= dst == local);
            match op {
                _ if !is_result => {}
                Op::Assign { value, .. } => self.expression(function, value),
                Op::ThreadSelf { .. } => drop(self.selves.insert(function)),
                Op::Load { from, .. } if self.is_word(from.ty) => {
                    let at = facts.offsets().number(facts.program(), function, &from.ptr);
                    for object in facts.points_to().points_to(function, &from.ptr).iter() {
                        self.push(Source::Memory(object, at.clone()));
                    }
                }
                Op::Call { .. } => {
                    self.is_own = false;
                    self.is_known &= !facts.calls().is_unknown(place);
                    facts.calls().callees(place).iter().for_each(|edge| self.push(Source::Result(edge.callee)));
                }
                _ => self.is_known = false,
            }
        });
    }

    /// What a parameter is given.
    fn arguments(&mut self, function: FuncId, param: LocalId) {
        let facts = self.facts;
        let program = facts.program();
        let ty = program.functions[function].locals[param].ty;
        // The entry's arguments, and those of functions that are called from outside, are not known.
        let object = facts.points_to().object(AbstractObject::Function(function));
        let escapes = object.is_some_and(|object| facts.points_to().escaped_to_unknown().contains(object));
        self.is_known &= !escapes && program.entry.is_some_and(|entry| entry != function);
        for edge in facts.calls().edges().iter().filter(|edge| edge.callee == function) {
            let Some(Op::Call { args, .. } | Op::Spawn { args, .. }) = program.op(edge.place) else { continue };
            // What is not given is undefined.
            let Some(arg) = args.get(param.0 as usize) else {
                self.is_known = false;
                return;
            };
            self.is_known &= arg.ty(&program.functions[edge.place.func].locals, program.model) == ty;
            self.is_known &= edge.kind == CallKind::Call || self.is_word(ty);
            self.expression(edge.place.func, arg);
        }
    }

    fn result(&mut self, function: FuncId) {
        let code = &self.facts.program().functions[function];
        let Body::Blocks(blocks) = &code.body else {
            self.is_known = false;
            return;
        };
        self.is_known &= code.ret.is_some_and(|ty| self.is_word(ty));
        for block in blocks {
            match &block.terminator.kind {
                TerminatorKind::Return(Some(value)) => self.expression(function, value),
                TerminatorKind::Return(None) => self.is_known = false,
                _ => {}
            }
        }
    }

    fn memory(&mut self, object: AbstractId, at: &Number) {
        let facts = self.facts;
        let program = facts.program();
        match facts.points_to().objects()[object] {
            AbstractObject::Unknown | AbstractObject::Function(_) => self.is_known = false,
            AbstractObject::Static(id) => {
                self.is_own = false;
                let is_zero =
                    |datum: &Datum| matches!(datum, Datum::Bytes(bytes) if bytes.iter().all(|byte| *byte == 0));
                self.is_known &= program.objects[id].kind != ObjectKind::External;
                self.is_known &= program.objects[id].init.iter().all(|(_, datum)| is_zero(datum));
            }
            AbstractObject::Slot(function, slot) => {
                self.may_be_undefined |= !undefined::is_set_first(facts, function, slot);
                self.is_own &= facts.private_slots(function).get(slot.0 as usize) == Some(&true);
            }
            AbstractObject::Site(place) => {
                self.is_own = false;
                self.may_be_undefined |= !matches!(program.op(place), Some(Op::Allocate { zeroed: true, .. }));
            }
        }
        let word = program.model.pointer_bytes();
        for &(place, op) in self.writers.of(object) {
            let Some((access, _)) = op.access() else {
                self.is_known &= !self.may_touch(place.func, op, at);
                continue;
            };
            let to = facts.offsets().number(program, place.func, &access.ptr);
            if !to.overlaps(access.ty.bytes(program.model), at, word) {
                continue;
            }
            self.is_known &= self.is_word(access.ty) && is_whole(&to, at, word);
            match op {
                Op::Spawn { .. } => drop(self.sites.insert(place)),
                Op::Store { value, .. } => self.expression(place.func, value),
                _ => self.is_known = false,
            }
        }
    }

    /// Whether something that makes no access of its own may change a word: a step on a synchronisation object, a
    /// library function.
    fn may_touch(&self, function: FuncId, op: &Op, at: &Number) -> bool {
        let word = self.facts.program().model.pointer_bytes();
        let touches = |pointer: &Expr| {
            let to = self.facts.offsets().number(self.facts.program(), function, pointer);
            to.overlaps(SYNC_BYTES, at, word)
        };
        match op {
            // (What a slot holds when a life of it begins is undefined: that is looked at elsewhere.)
            Op::Free { .. } | Op::BeginLife { .. } | Op::EndLife { .. } => false,
            Op::Sync { op: SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. }, at, .. } => {
                touches(at) || touches(mutex)
            }
            Op::Sync { at, .. } => touches(at),
            _ => true,
        }
    }

    fn is_word(&self, ty: Type) -> bool {
        !matches!(ty, Type::Float(_))
            && ty.bits(self.facts.program().model) == self.facts.program().model.pointer_bits()
    }
}

/// A search of more sources than this is given up.
const MOST_SOURCES: usize = 1000;

/// No step on a synchronisation object touches more bytes of it.
pub(super) const SYNC_BYTES: u64 = 20;

/// Whether words at offsets of one set and of another are the same if they overlap.
fn is_whole(left: &Number, right: &Number, word: u64) -> bool {
    // One byte at each, and only there, can be common if the words are apart by multiples of their size.
    let one = |shift: u64| Number::constant(shift as i64);
    (1..word).all(|shift| !left.add(&one(shift)).overlaps(1, right, 1) && !right.add(&one(shift)).overlaps(1, left, 1))
}
