//! Where a SAFE depends on the order in which operands are evaluated.
//!
//! In `f() + g()`, C leaves open which function is called first, but lowering has decided: the left one. (Accesses
//! of the expression itself are another matter: what nothing orders there is undefined, and reported.) If both
//! calls access an object and one writes it, or if both synchronise while other threads run, the other order may
//! do something else, and a SAFE says that it assumes this one.
//!
//! Operands are seen in the representation by what they leave: a value in a register without a name, which is kept while
//! something else is done, and used only then. (The macros of `<stdatomic.h>` have locals of their own, with reserved names;
//! they count as having none.) Objects that a call itself has made are not counted, nor its locals.

use crate::Assumption;
use crate::surroundings::{is_in_model, is_model};
use leno_ir::analysis::callgraph::CallKind;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::points_to::{AbstractObject, Accessed, ObjectSet, for_each_op};
use leno_ir::program::{
    BlockId, Body, Expr, FuncId, Function, Instr, LocalId, LockKind, Op, Order, Place, Span, SyncOp,
};
use std::collections::{BTreeMap, BTreeSet};

const LEFT_TO_RIGHT: &str = "operands and arguments are evaluated from left to right";

/// The first place where the order of operands may make a difference.
pub fn assumed_orders(facts: &Facts<'_>) -> Option<Assumption> {
    let program = facts.program();
    let mut effects = Effects { facts, known: BTreeMap::new() };
    let functions = program.functions.iter_enumerated();
    let spans = functions.filter(|(id, function)| facts.calls().is_reachable(*id) && !is_model(program, function));
    let first = spans.filter_map(|(id, function)| first_in(&mut effects, id, function)).min_by_key(position)?;
    Some(Assumption::new(LEFT_TO_RIGHT).at(program, first))
}

fn position(span: &Span) -> (u32, u32, u32) {
    (span.file.0, span.line, span.column)
}

fn first_in(effects: &mut Effects<'_, '_>, id: FuncId, function: &Function) -> Option<Span> {
    let Body::Blocks(blocks) = &function.body else { return None };
    // (Cheap, and true of most functions.)
    if !blocks.iter().flat_map(|block| &block.instrs).any(|instr| is_indeterminate(&instr.op)) {
        return None;
    }
    let mut found: Option<Span> = None;
    for (block, code) in blocks.iter_enumerated() {
        for (index, instr) in code.instrs.iter().enumerate() {
            let is_read = matches!(instr.op, Op::Load { .. });
            if !is_read && !is_indeterminate(&instr.op) {
                continue;
            }
            instr.op.for_each_result(|result| {
                let during = kept_during(effects.facts, id, function, (block, index), result);
                let earlier = (Place { func: id, block, index: index as u32 }, instr);
                let depends = during.into_iter().any(|later| effects.order_matters(earlier, later));
                if depends && found.is_none_or(|found| position(&instr.span) < position(&found)) {
                    found = Some(instr.span);
                }
            });
        }
    }
    found
}

/// Whether it is evaluated as a whole before or after another operand: a function call, or an atomic operation.
fn is_indeterminate(op: &Op) -> bool {
    match op {
        Op::Call { .. } | Op::Sync { .. } | Op::Join { .. } => true,
        op => op.access().is_some_and(|(access, _)| access.order != Order::NotAtomic),
    }
}

/// The instructions that are made while a value without a name is kept, and that do not use it themselves.
fn kept_during<'p>(
    facts: &Facts<'p>,
    id: FuncId,
    function: &'p Function,
    (block, index): (BlockId, usize),
    value: LocalId,
) -> Vec<(Place, &'p Instr)> {
    let Body::Blocks(blocks) = &facts.program().functions[id].body else { return Vec::new() };
    let (Some(cfg), true) = (facts.cfg(id), is_nameless(&function.locals[value].name)) else { return Vec::new() };
    let live = facts.liveness(id);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![(block, index + 1, value)];
    while let Some((block, from, value)) = work.pop() {
        let code = &blocks[block];
        let is_live_in = |next: &&BlockId| live[next.0 as usize].registers[value.0 as usize];
        let next: Vec<BlockId> = cfg.successors(block).iter().filter(is_live_in).copied().collect();
        let at_end = code.terminator.kind.operand().is_some_and(|expr| uses(expr, value));
        let instrs = code.instrs.iter().enumerate().skip(from);
        let last_use =
            instrs.clone().filter(|(_, instr)| uses_any(&instr.op, value)).map(|(index, _)| index).next_back();
        let end = match !next.is_empty() || at_end {
            true => code.instrs.len(),
            false => last_use.map_or(from, |index| index + 1),
        };
        for (index, instr) in instrs.take_while(|(index, _)| *index < end) {
            if !uses_any(&instr.op, value) {
                found.push((Place { func: id, block, index: index as u32 }, instr));
                continue;
            }
            if let Op::Assign { dst, .. } = &instr.op
                && is_nameless(&function.locals[*dst].name)
                && seen.insert((block, *dst))
            {
                work.push((block, index + 1, *dst));
            }
        }
        work.extend(next.into_iter().filter(|next| seen.insert((*next, value))).map(|next| (next, 0, value)));
    }
    found
}

/// No variable of the program: C reserves such names.
fn is_nameless(name: &str) -> bool {
    name.is_empty() || name.starts_with("__")
}

fn uses(expr: &Expr, value: LocalId) -> bool {
    let mut found = false;
    expr.for_each_local(|local| found |= local == value);
    found
}

fn uses_any(op: &Op, value: LocalId) -> bool {
    let mut found = false;
    op.for_each_operand(|expr| found |= uses(expr, value));
    found
}

/// What an instruction does, with all the functions that it calls.
#[derive(Clone, Default)]
struct Effect {
    accessed: Accessed,
    /// It makes an access that orders others, or an atomic one.
    synchronises: bool,
}

struct Effects<'f, 'p> {
    facts: &'f Facts<'p>,
    known: BTreeMap<FuncId, Effect>,
}

impl Effects<'_, '_> {
    fn order_matters(&mut self, (a, left): (Place, &Instr), (b, right): (Place, &Instr)) -> bool {
        // Instructions of one call are in order.
        let is_open = is_indeterminate(&left.op) || is_indeterminate(&right.op);
        if !is_open || left.span == right.span {
            return false;
        }
        let (left, right) = (self.of(a, &left.op), self.of(b, &right.op));
        let (x, y) = (&left.accessed, &right.accessed);
        let conflict =
            x.written.intersects(&y.written) || x.written.intersects(&y.read) || x.read.intersects(&y.written);
        conflict || (left.synchronises && right.synchronises && self.has_company(a))
    }

    /// Whether other threads may be alive there.
    fn has_company(&self, place: Place) -> bool {
        let (parallel, threads) = (self.facts.parallel(), self.facts.threads());
        threads
            .running(place.func)
            .iter()
            .any(|root| threads.roots().ids().any(|other| parallel.may_overlap_thread(*root, place, other)))
    }

    fn of(&mut self, place: Place, op: &Op) -> Effect {
        let mut effect = self.of_instruction(place.func, op);
        let edges = self.facts.calls().callees(place).iter().filter(|edge| edge.kind == CallKind::Call);
        for callee in edges.map(|edge| edge.callee).collect::<Vec<_>>() {
            let called = self.of_function(callee);
            effect.accessed.read.union_with(&called.accessed.read);
            effect.accessed.written.union_with(&called.accessed.written);
            effect.synchronises |= called.synchronises;
        }
        effect
    }

    fn of_instruction(&self, function: FuncId, op: &Op) -> Effect {
        let is_lock = |op: &SyncOp| matches!(op, SyncOp::Lock(LockKind::Mutex | LockKind::Spin) | SyncOp::Unlock(_));
        let program = self.facts.program();
        match op {
            // Who comes first to a lock is not a matter of its contents.
            Op::Sync { op, .. } if is_lock(op) => Effect { synchronises: true, ..Effect::default() },
            op => Effect {
                accessed: self.facts.points_to().may_access(program, function, op),
                synchronises: matches!(op, Op::Sync { .. } | Op::Join { .. } | Op::Spawn { .. })
                    || op.access().is_some_and(|(access, _)| access.order != Order::NotAtomic),
            },
        }
    }

    fn of_function(&mut self, function: FuncId) -> Effect {
        if let Some(known) = self.known.get(&function) {
            return known.clone();
        }
        let (program, calls) = (self.facts.program(), self.facts.calls());
        let mut called = BTreeSet::from([function]);
        let mut work = vec![function];
        while let Some(next) = work.pop() {
            let edges = calls.edges_from(next).iter().filter(|edge| edge.kind == CallKind::Call);
            work.extend(edges.map(|edge| edge.callee).filter(|callee| called.insert(*callee)));
        }
        let mut effect = Effect::default();
        for id in &called {
            for_each_op(*id, &program.functions[*id], |_, op| {
                let of_op = self.of_instruction(*id, op);
                effect.accessed.read.union_with(&of_op.accessed.read);
                effect.accessed.written.union_with(&of_op.accessed.written);
                effect.synchronises |= of_op.synchronises;
            });
        }
        effect.accessed.read = self.lasting(&effect.accessed.read, &called);
        effect.accessed.written = self.lasting(&effect.accessed.written, &called);
        self.known.insert(function, effect.clone());
        effect
    }

    /// Without what these functions have made themselves, and what belongs to models of the library.
    fn lasting(&self, objects: &ObjectSet, called: &BTreeSet<FuncId>) -> ObjectSet {
        let program = self.facts.program();
        let is_lasting = |object: &AbstractObject| match object {
            AbstractObject::Slot(function, _) => !called.contains(function),
            AbstractObject::Site(place) => !called.contains(&place.func),
            AbstractObject::Static(object) => !is_in_model(program, program.objects[*object].span),
            AbstractObject::Unknown | AbstractObject::Function(_) => true,
        };
        objects.iter().filter(|object| is_lasting(&self.facts.points_to().objects()[*object])).collect()
    }
}
