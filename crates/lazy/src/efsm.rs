//! Thread models: the control states of a program (paper 004, section 2.2).
//!
//! A thread is an extended finite state machine. Its control states are places of the program; its loops stay loops, and
//! a function has one copy, which returns through a call-site variable. A control state is
//!
//! - a **visible** step: an access to what threads share, a step on a synchronisation object, the start or end of a
//!   thread. It is three steps of the model: `read_sync`, the access, `write_sync`.
//! - a **private** one: the beginning of a function, the place after a call, the head of a loop. It is one step.
//!
//! What follows a control state without a cycle, up to the next control states, belongs to it: its updates are made in
//! parallel, and the conditions on the way are the guards of its transitions. (The paper merges assignments into blocks;
//! merging acyclic code has the same effect on more of it, and leaves fewer paths of different lengths.)

use leno_ir::analysis::callgraph::CallKind;
use leno_ir::analysis::executions::Times;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::liveness::live_before;
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::Idx;
use leno_ir::program::{Block, BlockId, Body, FuncId, Instr, Op, Place, Program, SlotId, Span, TerminatorKind};
use std::collections::{BTreeMap, BTreeSet};

/// What a control state is to the other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    Private,
    Visible,
}

impl Control {
    /// How many steps of the model it takes to leave it.
    pub fn steps(self) -> u32 {
        match self {
            Control::Private => 1,
            Control::Visible => 3,
        }
    }
}

/// The control states of a program. The model of a thread is what can be reached of it from where the thread starts.
pub struct Efsm<'p> {
    pub facts: &'p Facts<'p>,
    controls: BTreeMap<Place, Control>,
    /// By function, block and instruction: the registers that are still needed.
    live: Vec<Vec<Vec<Vec<bool>>>>,
    /// By function: the slots that other threads may access.
    shared_slots: Vec<Vec<SlotId>>,
    /// Slots whose addresses may be found after their activation has ended, and before another one.
    kept_slots: BTreeSet<(FuncId, SlotId)>,
    /// The functions in which threads start.
    roots: BTreeSet<FuncId>,
}

impl<'p> Efsm<'p> {
    pub fn new(facts: &'p Facts<'p>) -> Efsm<'p> {
        let program = facts.program();
        let mut roots: BTreeSet<FuncId> = program.entry.into_iter().collect();
        roots.extend(facts.calls().edges().iter().filter(|edge| edge.kind == CallKind::Spawn).map(|edge| edge.callee));
        let live = program.functions.iter_enumerated().map(|(id, function)| match facts.cfg(id) {
            Some(cfg) => live_before(function, cfg, facts.private_slots(id), program.model),
            None => Vec::new(),
        });
        let mut efsm = Efsm {
            facts,
            controls: BTreeMap::new(),
            live: live.collect(),
            shared_slots: program.functions.ids().map(|id| shared_slots(facts, id)).collect(),
            kept_slots: kept_slots(facts),
            roots,
        };
        for (id, function) in program.functions.iter_enumerated() {
            if let (Body::Blocks(blocks), true) = (&function.body, facts.points_to().is_reached(id)) {
                for (block, code) in blocks.iter_enumerated() {
                    efsm.find_controls(id, block, code);
                }
            }
        }
        efsm
    }

    pub fn program(&self) -> &'p Program {
        self.facts.program()
    }

    fn find_controls(&mut self, func: FuncId, block: BlockId, code: &Block) {
        let Some(cfg) = self.facts.cfg(func).filter(|cfg| cfg.is_reachable(block)) else { return };
        let is_loop_head = cfg.predecessors(block).iter().any(|from| cfg.is_retreating(*from, block));
        if block.index() == 0 || is_loop_head {
            self.controls.insert(Place { func, block, index: 0 }, Control::Private);
        }
        for (index, instr) in code.instrs.iter().enumerate() {
            let after = Place { func, block, index: index as u32 + 1 };
            if self.is_call_of_body(Place { index: index as u32, ..after }, &instr.op) {
                self.controls.insert(after, Control::Private);
            }
        }
        for index in 0..=code.instrs.len() as u32 {
            let place = Place { func, block, index };
            let is_visible = match code.instrs.get(index as usize) {
                Some(instr) => self.is_visible_op(place, &instr.op),
                None => self.is_visible_terminator(func, &code.terminator.kind),
            };
            if is_visible {
                self.controls.insert(place, Control::Visible);
            }
        }
    }

    /// Whether an instruction goes on in a function of the program.
    pub fn is_call_of_body(&self, place: Place, op: &Op) -> bool {
        let has_body = |func: FuncId| matches!(self.program().functions[func].body, Body::Blocks(_));
        matches!(op, Op::Call { .. }) && self.facts.calls().callees(place).iter().any(|edge| has_body(edge.callee))
    }

    fn is_visible_op(&self, place: Place, op: &Op) -> bool {
        match op {
            Op::Spawn { .. } | Op::Join { .. } | Op::Detach { .. } | Op::Sync { .. } => true,
            Op::AtomicBegin | Op::AtomicEnd => true,
            // What is born is part of what threads share, if they share it.
            Op::Call { .. } => {
                let callees = self.facts.calls().callees(place);
                callees.iter().any(|edge| !self.shared_slots(edge.callee).is_empty())
            }
            Op::Allocate { .. } => {
                let site = self.facts.points_to().object(AbstractObject::Site(place));
                site.is_some_and(|site| self.facts.sharing().of(site) == Sharing::Shared)
            }
            _ => self.facts.sharing().is_shared_access(place),
        }
    }

    fn is_visible_terminator(&self, func: FuncId, kind: &TerminatorKind) -> bool {
        match kind {
            TerminatorKind::Return(_) => self.is_root(func) || !self.shared_slots(func).is_empty(),
            TerminatorKind::ThreadExit(_) | TerminatorKind::Exit(_) | TerminatorKind::Abort => true,
            _ => false,
        }
    }

    /// What a place is, if it is a control state.
    pub fn control(&self, place: Place) -> Option<Control> {
        self.controls.get(&place).copied()
    }

    /// Whether threads start in a function.
    pub fn is_root(&self, func: FuncId) -> bool {
        self.roots.contains(&func)
    }

    pub fn shared_slots(&self, func: FuncId) -> &[SlotId] {
        &self.shared_slots[func.index()]
    }

    pub fn kept_slots(&self) -> &BTreeSet<(FuncId, SlotId)> {
        &self.kept_slots
    }

    /// The registers of its function that may still be used at a place.
    pub fn live(&self, place: Place) -> &[bool] {
        let of_block = self.live[place.func.index()].get(place.block.index());
        of_block.and_then(|block| block.get(place.index as usize)).map_or(&[], Vec::as_slice)
    }

    pub fn block(&self, place: Place) -> Option<&'p Block> {
        match &self.program().functions[place.func].body {
            Body::Blocks(blocks) => blocks.get(place.block),
            Body::External(_) => None,
        }
    }

    pub fn instr(&self, place: Place) -> Option<&'p Instr> {
        self.block(place)?.instrs.get(place.index as usize)
    }

    pub fn span(&self, place: Place) -> Span {
        let at_end = || self.block(place).map_or(Span::NONE, |block| block.terminator.span);
        self.instr(place).map_or_else(at_end, |instr| instr.span)
    }

    /// Where a block stands in the order in which the blocks of its function are executed.
    pub fn position(&self, place: Place) -> usize {
        self.facts.cfg(place.func).and_then(|cfg| cfg.position(place.block)).unwrap_or(usize::MAX)
    }

    /// Where threads start.
    pub fn roots(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.roots.iter().copied()
    }
}

fn shared_slots(facts: &Facts<'_>, func: FuncId) -> Vec<SlotId> {
    let is_shared = |slot: &SlotId| {
        let object = facts.points_to().object(AbstractObject::Slot(func, *slot));
        object.is_some_and(|object| facts.sharing().of(object) == Sharing::Shared)
    };
    facts.program().functions[func].slots.ids().filter(is_shared).collect()
}

/// Slots of functions that are executed more than once whose addresses are stored in memory or returned.
fn kept_slots(facts: &Facts<'_>) -> BTreeSet<(FuncId, SlotId)> {
    let (program, points_to) = (facts.program(), facts.points_to());
    let mut stored = ObjectSet::new();
    for object in points_to.objects().ids() {
        stored.union_with(&points_to.contents(object));
    }
    let mut kept = BTreeSet::new();
    for (func, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        if facts.executions().of_function(func) != Times::Many {
            continue;
        }
        let mut found = stored.clone();
        for block in blocks {
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                found.union_with(&points_to.points_to(func, value));
            }
        }
        let is_kept = |slot: &SlotId| {
            points_to.object(AbstractObject::Slot(func, *slot)).is_some_and(|object| found.contains(object))
        };
        kept.extend(function.slots.ids().filter(is_kept).map(|slot| (func, slot)));
    }
    kept
}
