//! Which variables are related to each other: the relational partition (paper 002, section 5.1 and Algorithm 2).
//!
//! An octagon on all variables would cost too much, so they are divided into packs, and only variables of one pack are related.
//! The paper puts two variables together if one is assigned from the other, or if an assumption is about both, and only globals
//! with globals and locals with locals. Here a pack is what is connected by copies, sums, comparisons, arguments and results, cells
//! and registers alike: relations between what a thread remembers and what is shared are the ones that counters and allocators need
//! ([`Rule::Paper`] is there to compare). Nothing that is proved depends on the choice, only how much is.
//!
//! An octagon is about numbers of mathematics. Each pack has a *reading*: its variables are read as signed, or as unsigned.

use crate::cells::{CellId, Cells, Extent};
use crate::code::{Code, FrameId};
use crate::state::Variable;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Access, BinaryOp, Body, CastOp, Expr, FuncId, LocalId, Op, TerminatorKind, Type};
use std::collections::{BTreeMap, BTreeSet};

/// What an octagon needs to know of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    pub pack: u32,
    pub is_signed: bool,
    pub width: u32,
}

/// How packs are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Nothing is related.
    Nothing,
    /// Algorithm 2 of the paper.
    Paper,
    Connected,
}

#[derive(Debug, Default)]
pub struct Partition {
    /// By frame.
    functions: Vec<FuncId>,
    registers: BTreeMap<(FuncId, LocalId), Member>,
    cells: BTreeMap<CellId, Member>,
}

/// An access that may go to more cells than this relates nothing.
const MOST_CELLS: usize = 4;

impl Partition {
    pub fn new(code: &Code<'_, '_>, cells: &Cells, rule: Rule) -> Partition {
        let functions = code.frames.iter().map(|frame| frame.func).collect();
        if rule == Rule::Nothing {
            return Partition { functions, ..Partition::default() };
        }
        let mut merging = Merging::new(code, cells, rule);
        for func in reachable(code) {
            merging.visit_function(func);
        }
        let (registers, cells) = merging.members();
        Partition { functions, registers, cells }
    }

    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.cells.is_empty()
    }

    /// None if nothing is related to it.
    pub fn member(&self, variable: Variable) -> Option<Member> {
        match variable {
            Variable::Cell(cell) | Variable::Seen(cell) | Variable::Theirs(cell) => self.cells.get(&cell).copied(),
            Variable::Register(FrameId(frame), local) => {
                let func = self.functions[frame as usize % self.functions.len()];
                self.registers.get(&(func, local)).copied()
            }
        }
    }
}

pub fn reachable(code: &Code<'_, '_>) -> BTreeSet<FuncId> {
    code.frames.iter().map(|frame| frame.func).collect()
}

/// The cells that an access may be of.
pub fn cells_of(code: &Code<'_, '_>, cells: &Cells, func: FuncId, access: &Access) -> Vec<CellId> {
    let facts = code.facts;
    let number = facts.offsets().number(facts.program(), func, &access.ptr);
    let Some(offsets) = number.few() else { return Vec::new() };
    let bytes = access.ty.bytes(facts.program().model);
    let objects = facts.points_to().points_to(func, &access.ptr);
    let all = objects.iter().flat_map(|object| {
        offsets.iter().filter_map(move |offset| cells.get(Extent { object, offset: *offset, bytes }))
    });
    all.collect()
}

/// Sets of variables that are merged. A node is a register of a function, or a cell.
struct Merging<'c, 'a, 'p> {
    code: &'c Code<'a, 'p>,
    cells: &'c Cells,
    rule: Rule,
    /// By function: the node of its first register.
    first: IndexVec<FuncId, usize>,
    first_cell: usize,
    parent: Vec<usize>,
    /// By node: comparisons as signed numbers, less those as unsigned ones.
    votes: Vec<i32>,
    /// The registers that are needed across stops.
    crossing: BTreeSet<(FuncId, LocalId)>,
}

impl<'c, 'a, 'p> Merging<'c, 'a, 'p> {
    fn new(code: &'c Code<'a, 'p>, cells: &'c Cells, rule: Rule) -> Merging<'c, 'a, 'p> {
        let mut nodes = 0;
        let mut first: IndexVec<FuncId, usize> = IndexVec::new();
        for function in &code.program().functions {
            first.push(nodes);
            nodes += function.locals.len();
        }
        let all = nodes + cells.len();
        let crossing = crossing(code);
        let parent = (0..all).collect();
        Merging { code, cells, rule, first, first_cell: nodes, parent, votes: vec![0; all], crossing }
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn merge(&mut self, nodes: &[usize]) {
        let is_local = |node: &usize| *node < self.first_cell;
        let is_alike = nodes.iter().all(is_local) || !nodes.iter().any(is_local);
        if self.rule == Rule::Paper && (nodes.len() != 2 || !is_alike) {
            return;
        }
        for pair in nodes.windows(2) {
            let (a, b) = (self.find(pair[0]), self.find(pair[1]));
            if a != b {
                self.parent[b] = a;
                self.votes[a] += self.votes[b];
            }
        }
    }

    fn vote(&mut self, node: usize, vote: i32) {
        let root = self.find(node);
        self.votes[root] += vote;
    }

    fn register(&self, func: FuncId, local: LocalId) -> Option<usize> {
        let ty = self.code.program().functions[func].locals[local].ty;
        matches!(ty, Type::Int(2..=64)).then_some(self.first[func] + local.index())
    }

    fn accessed(&self, func: FuncId, access: &Access) -> Vec<usize> {
        let cells = cells_of(self.code, self.cells, func, access);
        match matches!(access.ty, Type::Int(_)) && cells.len() <= MOST_CELLS {
            true => cells.into_iter().map(|cell| self.first_cell + cell.index()).collect(),
            false => Vec::new(),
        }
    }

    /// The variables that a number is a sum of.
    fn summands(&self, func: FuncId, expr: &Expr) -> Vec<usize> {
        match expr {
            Expr::Local(local) => self.register(func, *local).into_iter().collect(),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, operands) => {
                operands.iter().flat_map(|operand| self.summands(func, operand)).collect()
            }
            Expr::Unary(_, of) => self.summands(func, of),
            Expr::Cast(CastOp::ZeroExtend | CastOp::SignExtend | CastOp::Truncate, _, of) => self.summands(func, of),
            _ => Vec::new(),
        }
    }

    fn visit_comparisons(&mut self, func: FuncId, expr: &Expr) {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            if let Expr::Binary(op, operands) = expr {
                let vote = match op {
                    BinaryOp::SLt | BinaryOp::SLe => Some(2),
                    BinaryOp::ULt | BinaryOp::ULe => Some(-2),
                    BinaryOp::Eq | BinaryOp::Ne => Some(0),
                    _ => None,
                };
                if let Some(vote) = vote {
                    let (left, right) = (self.summands(func, &operands[0]), self.summands(func, &operands[1]));
                    left.iter().chain(&right).for_each(|node| self.vote(*node, vote));
                    if !left.is_empty() && !right.is_empty() {
                        self.merge(&[left, right].concat());
                    }
                }
            }
            match expr {
                Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => work.push(operand),
                Expr::Binary(_, operands) => work.extend(operands.iter()),
                Expr::Select(parts) => work.extend(parts.iter()),
                _ => {}
            }
        }
    }

    fn visit_function(&mut self, func: FuncId) {
        let function = &self.code.program().functions[func];
        for (local, data) in function.locals.iter_enumerated().filter(|(_, data)| !data.name.is_empty()) {
            if let Some(node) = self.register(func, local) {
                self.vote(node, if data.signed { 1 } else { -1 });
            }
        }
        let Body::Blocks(blocks) = &function.body else { return };
        for (block_id, block) in blocks.iter_enumerated() {
            for (index, instr) in block.instrs.iter().enumerate() {
                let place = leno_ir::program::Place { func, block: block_id, index: index as u32 };
                instr.op.for_each_operand(|operand| self.visit_comparisons(func, operand));
                self.visit(func, place, &instr.op);
            }
            if let TerminatorKind::Branch { cond: expr, .. } | TerminatorKind::Return(Some(expr)) =
                &block.terminator.kind
            {
                self.visit_comparisons(func, expr);
            }
        }
    }

    fn visit(&mut self, func: FuncId, place: leno_ir::program::Place, op: &Op) {
        let assigned = |this: &Self, dst: &LocalId, mut from: Vec<usize>| {
            from.extend(this.register(func, *dst));
            from
        };
        let related = match op {
            Op::Assign { dst, value } => assigned(self, dst, self.summands(func, value)),
            Op::Load { dst, from } => assigned(self, dst, self.accessed(func, from)),
            Op::Store { to, value } => [self.accessed(func, to), self.summands(func, value)].concat(),
            Op::ReadModifyWrite { dst: Some(dst), at, .. } => assigned(self, dst, self.accessed(func, at)),
            Op::CompareExchange { old, at, expected, desired, .. } => {
                let numbers = [self.summands(func, expected), self.summands(func, desired)].concat();
                assigned(self, old, [self.accessed(func, at), numbers].concat())
            }
            Op::Call { dst, args, .. } => return self.visit_call(func, place, dst.as_ref(), args),
            _ => return,
        };
        self.merge(&related);
    }

    fn visit_call(&mut self, func: FuncId, place: leno_ir::program::Place, dst: Option<&LocalId>, args: &[Expr]) {
        for edge in self.code.facts.calls().callees(place) {
            let callee = &self.code.program().functions[edge.callee];
            for (number, arg) in args.iter().enumerate().take(callee.params as usize) {
                let mut related = self.summands(func, arg);
                related.extend(self.register(edge.callee, LocalId::new(number)));
                self.merge(&related);
            }
            let Body::Blocks(blocks) = &callee.body else { continue };
            for block in blocks {
                if let (Some(dst), TerminatorKind::Return(Some(value))) = (dst, &block.terminator.kind) {
                    let mut related = self.summands(edge.callee, value);
                    related.extend(self.register(func, *dst));
                    self.merge(&related);
                }
            }
        }
    }

    fn members(mut self) -> (BTreeMap<(FuncId, LocalId), Member>, BTreeMap<CellId, Member>) {
        let program = self.code.program();
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut registers, mut cells) = (Vec::new(), Vec::new());
        for func in reachable(self.code) {
            for (local, data) in program.functions[func].locals.iter_enumerated() {
                let is_kept = !data.name.is_empty() || self.crossing.contains(&(func, local));
                let Some(node) = self.register(func, local).filter(|_| is_kept) else { continue };
                let root = self.find(node);
                *sizes.entry(root).or_default() += 1;
                registers.push(((func, local), root, u32::from(data.ty.bits(program.model))));
            }
        }
        let followed: Vec<(CellId, u64)> = self.cells.iter().map(|(id, cell)| (id, cell.extent.bytes)).collect();
        for (cell, bytes) in followed.into_iter().filter(|(_, bytes)| *bytes <= 8) {
            let root = self.find(self.first_cell + cell.index());
            *sizes.entry(root).or_default() += 1;
            cells.push((cell, root, crate::cells::cell_width(bytes)));
        }
        let votes = &self.votes;
        let member = |root: usize, width: u32| {
            (sizes[&root] > 1).then_some(Member { pack: root as u32, is_signed: votes[root] >= 0, width })
        };
        let registers = registers.into_iter().filter_map(|(key, root, width)| Some((key, member(root, width)?)));
        let cells = cells.into_iter().filter_map(|(key, root, width)| Some((key, member(root, width)?)));
        (registers.collect(), cells.collect())
    }
}

/// The registers that are read in another segment than the one that assigns them.
fn crossing(code: &Code<'_, '_>) -> BTreeSet<(FuncId, LocalId)> {
    let stops: BTreeSet<leno_ir::program::Place> = code.stops().iter().map(|stop| code.place(*stop)).collect();
    let mut all = BTreeSet::new();
    for func in reachable(code) {
        let Body::Blocks(blocks) = &code.program().functions[func].body else { continue };
        for (block_id, block) in blocks.iter_enumerated() {
            let mut here: BTreeSet<LocalId> = BTreeSet::new();
            for index in 0..=block.instrs.len() {
                let place = leno_ir::program::Place { func, block: block_id, index: index as u32 };
                if stops.contains(&place) {
                    here.clear();
                }
                let mut read = |local: LocalId| {
                    if !here.contains(&local) {
                        all.insert((func, local));
                    }
                };
                match block.instrs.get(index) {
                    Some(instr) => {
                        instr.op.for_each_operand(|operand| operand.for_each_local(&mut read));
                        instr.op.for_each_result(|local| _ = here.insert(local));
                    }
                    None => {
                        if let TerminatorKind::Branch { cond: expr, .. }
                        | TerminatorKind::Switch { value: expr, .. }
                        | TerminatorKind::Return(Some(expr)) = &block.terminator.kind
                        {
                            expr.for_each_local(read);
                        }
                    }
                }
            }
        }
    }
    all
}
