//! The code of all threads, with every call expanded where it is made.
//!
//! Paper 002 inlines all calls; so do we, without copying instructions: a [`Frame`] is a function in the context of the
//! calls that lead to it, and a [`NodeId`] is an instruction or terminator in a frame. Each thread root has frames of
//! its own, so that what threads of different roots know is kept apart. Recursion has no such expansion and is refused.
//!
//! **Stops.** Threads are interrupted only at *stops*: before instructions that other threads could notice or hinder, at
//! the heads of loops, and where threads begin and end. Everything else commutes with the steps of other threads, so a
//! stop's instruction is executed in one go with what follows it, up to the next stops: a *segment*. Every execution has
//! the same effect as one in which segments are not interrupted (a thread that is not going to make a step any more may
//! stand in the middle of one). Since every cycle has a stop, a segment is a directed acyclic graph; [`Code::order`]
//! sorts it.

use crate::pointers::Pointers;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::index_type;
use leno_ir::program::{Block, BlockId, Body, FuncId, Function, Op, Place, Program, Span, SyncOp, TerminatorKind};

index_type!(
    /// A function, in the context of the calls that lead to it.
    FrameId,
    "frame"
);
index_type!(
    /// An instruction or a terminator in a frame.
    NodeId,
    "n"
);
index_type!(
    /// A node at which threads are interrupted.
    StopId,
    "s"
);

/// Why the prover does not take a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub reason: String,
    /// Whether there is code that is not known: then nothing can be said of it, not even without invariants.
    pub is_open: bool,
}

impl Refusal {
    fn open(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), is_open: true }
    }

    fn too_much(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), is_open: false }
    }
}

/// More than this is not expanded.
const MOST_NODES: usize = 200_000;
const MOST_STOPS: usize = 6_000;

#[derive(Debug)]
pub struct Frame {
    pub func: FuncId,
    pub root: RootId,
    /// Where it was called; none for the first frame of a thread.
    pub caller: Option<(FrameId, Place)>,
    first: u32,
}

/// What a call may call.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// A function with a body.
    Inside(FrameId),
    /// A function without one, or something that is not known.
    Outside,
}

#[derive(Debug)]
pub struct Code<'a, 'p> {
    pub facts: &'a Facts<'p>,
    pub frames: IndexVec<FrameId, Frame>,
    /// By node.
    frame_of: Vec<FrameId>,
    /// By function and block: where its nodes begin, counted from the first of the frame.
    block_starts: IndexVec<FuncId, Vec<u32>>,
    /// The frames that a node calls, by node; sorted.
    called: Vec<(NodeId, FrameId)>,
    /// By root: its first frame; none if no thread of it ever runs.
    entries: IndexVec<RootId, FrameId>,
    /// By node: a topological order of all edges that do not lead to stops; `u32::MAX` if it is never reached.
    order: Vec<u32>,
    stop_of: Vec<Option<StopId>>,
    stops: IndexVec<StopId, NodeId>,
    /// By node: how many atomic sections a thread is in at least.
    depth: Vec<u32>,
    /// Where pointers in memory point.
    pub pointers: Pointers<'p>,
}

impl<'a, 'p> Code<'a, 'p> {
    /// Every access to something shared is a stop, also in atomic sections.
    pub fn new(facts: &'a Facts<'p>) -> Result<Code<'a, 'p>, Refusal> {
        Code::with_sections(facts, false)
    }

    /// Atomic sections in one go: nobody interrupts them, and what happens at their end is known from their beginning.
    pub fn with_whole_sections(facts: &'a Facts<'p>) -> Result<Code<'a, 'p>, Refusal> {
        Code::with_sections(facts, true)
    }

    fn with_sections(facts: &'a Facts<'p>, are_whole: bool) -> Result<Code<'a, 'p>, Refusal> {
        let program = facts.program();
        if program.entry.is_none() {
            return Err(Refusal::open("the program has no `main`"));
        }
        let block_starts = program.functions.iter().map(block_starts).collect();
        let mut code = Code {
            facts,
            frames: IndexVec::new(),
            frame_of: Vec::new(),
            block_starts,
            called: Vec::new(),
            entries: IndexVec::new(),
            order: Vec::new(),
            stop_of: Vec::new(),
            stops: IndexVec::new(),
            depth: Vec::new(),
            pointers: Pointers::new(facts),
        };
        for (root, thread) in facts.threads().roots().iter_enumerated() {
            let entry = code.add_frame(thread.function, root, None)?;
            code.entries.push(entry);
        }
        let mut next = 0;
        while next < code.frames.len() {
            code.expand(FrameId::new(next))?;
            next += 1;
        }
        code.called.sort_unstable();
        code.find_depths();
        code.find_stops(are_whole)?;
        Ok(code)
    }

    pub fn program(&self) -> &'p Program {
        self.facts.program()
    }

    fn add_frame(&mut self, func: FuncId, root: RootId, caller: Option<(FrameId, Place)>) -> Result<FrameId, Refusal> {
        let function = &self.program().functions[func];
        let Body::Blocks(blocks) = &function.body else {
            return Err(Refusal::open(format!("a thread starts in `{}`, which has no body", function.name)));
        };
        let first = self.frame_of.len();
        let frame = self.frames.push(Frame { func, root, caller, first: first as u32 });
        let count: usize = blocks.iter().map(|block| block.instrs.len() + 1).sum();
        if first + count > MOST_NODES {
            return Err(Refusal::too_much("the program is too large when calls are expanded"));
        }
        self.frame_of.resize(first + count, frame);
        Ok(frame)
    }

    fn expand(&mut self, id: FrameId) -> Result<(), Refusal> {
        let (func, root) = (self.frames[id].func, self.frames[id].root);
        let program = self.program();
        let Body::Blocks(blocks) = &program.functions[func].body else { return Ok(()) };
        for (block_id, block) in blocks.iter_enumerated() {
            for (index, instr) in block.instrs.iter().enumerate() {
                let place = Place { func, block: block_id, index: index as u32 };
                match &instr.op {
                    Op::Call { .. } => {}
                    Op::Spawn { .. } if self.facts.calls().is_unknown(place) => {
                        return Err(Refusal::open("a thread starts in a function that is not known"));
                    }
                    _ => continue,
                }
                if matches!(instr.op, Op::Spawn { .. }) {
                    continue;
                }
                for edge in self.facts.calls().callees(place) {
                    if matches!(program.functions[edge.callee].body, Body::External(_)) {
                        continue;
                    }
                    if self.is_active(id, edge.callee) {
                        let name = &program.functions[edge.callee].name;
                        return Err(Refusal::too_much(format!("`{name}` calls itself, directly or not")));
                    }
                    let callee = self.add_frame(edge.callee, root, Some((id, place)))?;
                    self.called.push((self.node(id, place), callee));
                }
            }
        }
        Ok(())
    }

    fn is_active(&self, frame: FrameId, func: FuncId) -> bool {
        let mut at = Some(frame);
        while let Some(id) = at {
            if self.frames[id].func == func {
                return true;
            }
            at = self.frames[id].caller.map(|(caller, _)| caller);
        }
        false
    }

    pub fn node(&self, frame: FrameId, place: Place) -> NodeId {
        let data = &self.frames[frame];
        NodeId(data.first + self.block_starts[data.func][place.block.index()] + place.index)
    }

    pub fn frame_of(&self, node: NodeId) -> FrameId {
        self.frame_of[node.index()]
    }

    /// The function of a frame; also of a frame of another thread ([`Code::theirs`]).
    pub fn func_of(&self, frame: FrameId) -> FuncId {
        self.frames[FrameId::new(frame.index() % self.frames.len())].func
    }

    /// The same frame, of another thread that is in the same state.
    pub fn theirs(&self, frame: FrameId) -> FrameId {
        FrameId::new(frame.index() + self.frames.len())
    }

    /// A frame of another thread, as that one calls it.
    pub fn back(&self, frame: FrameId) -> Option<FrameId> {
        frame.index().checked_sub(self.frames.len()).map(FrameId::new)
    }

    pub fn root_of(&self, node: NodeId) -> RootId {
        self.frames[self.frame_of(node)].root
    }

    pub fn place(&self, node: NodeId) -> Place {
        let frame = &self.frames[self.frame_of(node)];
        let starts = &self.block_starts[frame.func];
        let at = node.0 - frame.first;
        let block = starts.partition_point(|start| *start <= at) - 1;
        Place { func: frame.func, block: BlockId::new(block), index: at - starts[block] }
    }

    fn block(&self, place: Place) -> Option<&'p Block> {
        match &self.program().functions[place.func].body {
            Body::Blocks(blocks) => blocks.get(place.block),
            Body::External(_) => None,
        }
    }

    pub fn instruction(&self, node: NodeId) -> Option<&'p Op> {
        let place = self.place(node);
        self.block(place)?.instrs.get(place.index as usize).map(|instr| &instr.op)
    }

    pub fn terminator(&self, node: NodeId) -> Option<&'p TerminatorKind> {
        self.block(self.place(node)).map(|block| &block.terminator.kind)
    }

    /// Where the threads of a root begin.
    pub fn entry(&self, root: RootId) -> NodeId {
        NodeId(self.frames[self.entries[root]].first)
    }

    pub fn roots(&self) -> impl Iterator<Item = RootId> + use<> {
        (0..self.entries.len()).map(RootId::new)
    }

    pub fn block_start(&self, frame: FrameId, block: BlockId) -> NodeId {
        self.node(frame, Place { func: self.frames[frame].func, block, index: 0 })
    }

    /// What a call may call.
    pub fn calls(&self, node: NodeId) -> Vec<Call> {
        let (place, program, calls) = (self.place(node), self.program(), self.facts.calls());
        let from = self.called.partition_point(|(at, _)| *at < node);
        let inside = self.called[from..].iter().take_while(|(at, _)| *at == node);
        let mut all: Vec<Call> = inside.map(|(_, frame)| Call::Inside(*frame)).collect();
        let mut callees = calls.callees(place).iter().map(|edge| &program.functions[edge.callee].body);
        if callees.any(|body| matches!(body, Body::External(_))) || calls.is_unknown(place) {
            all.push(Call::Outside);
        }
        all
    }

    /// Where a function returns to.
    pub fn after_call(&self, frame: FrameId) -> Option<NodeId> {
        let (caller, place) = self.frames[frame].caller?;
        Some(NodeId(self.node(caller, place).0 + 1))
    }

    /// The nodes that control may go on to within a thread.
    pub fn successors(&self, node: NodeId) -> Vec<NodeId> {
        let frame = self.frame_of(node);
        if let Some(op) = self.instruction(node) {
            if !matches!(op, Op::Call { .. }) {
                return vec![NodeId(node.0 + 1)];
            }
            let after = |call: &Call| match call {
                Call::Inside(callee) => NodeId(self.frames[*callee].first),
                Call::Outside => NodeId(node.0 + 1),
            };
            return self.calls(node).iter().map(after).collect();
        }
        let mut all = Vec::new();
        match self.terminator(node) {
            Some(TerminatorKind::Return(_)) => all.extend(self.after_call(frame)),
            Some(kind) => kind.for_each_target(|block| all.push(self.block_start(frame, block))),
            None => {}
        }
        all
    }

    fn find_stops(&mut self, are_sections_whole: bool) -> Result<(), Refusal> {
        let count = self.frame_of.len();
        let mut is_stop = vec![false; count];
        let mut finished: Vec<NodeId> = Vec::new();
        // 0: not seen, 1: on the path, 2: finished.
        let mut seen = vec![0u8; count];
        for root in self.roots() {
            let entry = self.entry(root);
            is_stop[entry.index()] = true;
            let mut path = vec![(entry, self.successors(entry))];
            seen[entry.index()] = 1;
            while let Some((node, successors)) = path.last_mut() {
                let Some(next) = successors.pop() else {
                    seen[node.index()] = 2;
                    finished.push(*node);
                    path.pop();
                    continue;
                };
                match seen[next.index()] {
                    0 => {
                        seen[next.index()] = 1;
                        path.push((next, self.successors(next)));
                    }
                    1 => is_stop[next.index()] = true,
                    _ => {}
                }
            }
        }
        self.order = vec![u32::MAX; count];
        for (order, node) in finished.iter().rev().enumerate() {
            self.order[node.index()] = order as u32;
            let is_inside = are_sections_whole && self.is_exclusive(*node) && self.is_access(*node);
            is_stop[node.index()] |= self.is_visible(*node) && !is_inside;
            // (A new thread is at its first stop from then on: what its creator does next it may see.)
            if matches!(self.instruction(*node), Some(Op::Spawn { .. })) {
                is_stop[node.index() + 1] = true;
            }
        }
        self.stop_of = vec![None; count];
        for node in (0..count).map(NodeId::new).filter(|node| is_stop[node.index()]) {
            self.stop_of[node.index()] = Some(self.stops.push(node));
        }
        if self.stops.len() > MOST_STOPS {
            return Err(Refusal::too_much("the program has too many shared accesses when calls are expanded"));
        }
        Ok(())
    }

    fn is_access(&self, node: NodeId) -> bool {
        let access = |op: &Op| op.access().is_some() && !matches!(op, Op::Spawn { .. });
        self.instruction(node).is_some_and(|op| access(op) || matches!(op, Op::AtomicBegin | Op::AtomicEnd))
    }

    /// Whether another thread could notice this step, or be kept from a step by it.
    fn is_visible(&self, node: NodeId) -> bool {
        let place = self.place(node);
        let Some(op) = self.instruction(node) else {
            let is_first = self.frames[self.frame_of(node)].caller.is_none();
            return match self.terminator(node) {
                Some(TerminatorKind::Return(_)) => is_first,
                Some(TerminatorKind::ThreadExit(_)) => true,
                _ => false,
            };
        };
        match op {
            Op::Load { .. }
            | Op::Store { .. }
            | Op::ReadModifyWrite { .. }
            | Op::CompareExchange { .. }
            | Op::Free { .. }
            | Op::ObjectSize { .. }
            | Op::BeginLife { .. }
            | Op::EndLife { .. }
            | Op::Call { .. } => self.facts.sharing().is_shared_access(place),
            Op::Assign { .. }
            | Op::Fence { .. }
            | Op::Allocate { .. }
            | Op::Assume { .. }
            | Op::Assert { .. }
            | Op::Nondet { .. }
            | Op::ThreadSelf { .. }
            | Op::CheckMove { .. }
            | Op::Undefine { .. }
            | Op::Yield => false,
            _ => true,
        }
    }

    /// The least number of sections on any path, from what is known of nothing down to it.
    fn find_depths(&mut self) {
        self.depth = vec![u32::MAX; self.frame_of.len()];
        let mut work: Vec<(NodeId, u32)> = self.roots().map(|root| (self.entry(root), 0)).collect();
        while let Some((node, depth)) = work.pop() {
            if self.depth[node.index()] <= depth {
                continue;
            }
            self.depth[node.index()] = depth;
            let after = match self.instruction(node) {
                Some(Op::AtomicBegin) => depth.saturating_add(1).min(u32::MAX - 1),
                Some(Op::AtomicEnd) => depth.saturating_sub(1),
                _ => depth,
            };
            work.extend(self.successors(node).into_iter().map(|next| (next, after)));
        }
    }

    /// Whether no other thread makes a step while a thread is here: in an atomic section, and not where it may block.
    pub fn is_exclusive(&self, node: NodeId) -> bool {
        let depth = self.depth[node.index()];
        depth > 0 && depth < u32::MAX && !self.instruction(node).is_some_and(may_block)
    }

    /// A number that is larger for what comes later in a segment.
    pub fn order(&self, node: NodeId) -> u32 {
        self.order[node.index()]
    }

    /// Whether control may get to a node at all.
    pub fn is_reached(&self, node: NodeId) -> bool {
        self.order[node.index()] != u32::MAX
    }

    pub fn stop(&self, node: NodeId) -> Option<StopId> {
        self.stop_of[node.index()]
    }

    pub fn stops(&self) -> &IndexVec<StopId, NodeId> {
        &self.stops
    }
}

/// By block: where its nodes begin.
fn block_starts(function: &Function) -> Vec<u32> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let sizes = blocks.iter().map(|block| block.instrs.len() as u32 + 1);
    sizes.scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect()
}

/// Whether a step may have to wait. Within an atomic section the section is split there.
fn may_block(op: &Op) -> bool {
    match op {
        Op::Join { .. } => true,
        Op::Sync { op, .. } => !matches!(
            op,
            SyncOp::LockInit { .. }
                | SyncOp::LockDestroy(_)
                | SyncOp::TryLock(_)
                | SyncOp::Unlock(_)
                | SyncOp::RwUnlock
                | SyncOp::CondSignal
                | SyncOp::CondBroadcast
                | SyncOp::SemPost
        ),
        _ => false,
    }
}

/// Where a place is in the source.
pub fn at(program: &Program, place: Place) -> String {
    let function = &program.functions[place.func];
    let span = match &function.body {
        Body::Blocks(blocks) => blocks.get(place.block).map_or(Span::NONE, |block| {
            block.instrs.get(place.index as usize).map_or(block.terminator.span, |instr| instr.span)
        }),
        Body::External(_) => Span::NONE,
    };
    match program.files.get(span.file).filter(|_| span.line > 0) {
        Some(file) => format!("{file}:{}", span.line),
        None => format!("`{}`", function.name),
    }
}
