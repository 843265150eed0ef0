//! Which variables tell the phases of a program apart: flags, states of state machines, words of locks.
//!
//! What is known behind `if (ready)` is known because of `ready`. So states in which such a variable has different values are kept
//! apart (`states`). The variables for it are those that are only ever given a few different constants, as far as a look at the whole
//! program, without any order, can tell. Nothing that is proved depends on the choice, only how much is.

use crate::cells::{CellId, Cells, initial_bits};
use crate::code::Code;
use crate::partition::{cells_of, reachable};
use crate::state::Variable;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::program::{BinaryOp, Body, CastOp, Expr, FuncId, LocalId, Op, Place, RmwOp, TerminatorKind, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A variable with more values than this is no phase.
const MOST_VALUES: usize = 4;
/// So many cells, and registers of a function, are taken.
const MOST_VARIABLES: usize = 12;

/// Some constants; none: too many to be told.
type Few = Option<BTreeSet<u128>>;

#[derive(Debug, Default)]
pub struct Phases {
    functions: Vec<FuncId>,
    /// The most important first.
    cells: Vec<CellId>,
    registers: BTreeSet<(FuncId, LocalId)>,
}

impl Phases {
    pub fn none() -> Phases {
        Phases::default()
    }

    pub fn new(code: &Code<'_, '_>, cells: &Cells) -> Phases {
        let mut looking =
            Looking { code, cells, registers: BTreeMap::new(), memory: BTreeMap::new(), loads: BTreeMap::new() };
        looking.start();
        while looking.visit_all() {}
        let is_phase = |few: &Few| few.as_ref().is_some_and(|few| few.len() > 1);
        let mut chosen: Vec<CellId> =
            looking.memory.iter().filter(|(_, few)| is_phase(few)).map(|(cell, _)| *cell).collect();
        let loads = |cell: &CellId| {
            std::cmp::Reverse((cells.is_shared(*cell), looking.loads.get(cell).map_or(0, BTreeSet::len)))
        };
        chosen.sort_by_key(loads);
        chosen.truncate(MOST_VARIABLES);
        let program = code.program();
        let named = |(func, local): &(FuncId, LocalId)| !program.functions[*func].locals[*local].name.is_empty();
        let registers = looking.registers.iter().filter(|(key, few)| named(key) && is_phase(few)).map(|(key, _)| *key);
        Phases {
            functions: code.frames.iter().map(|frame| frame.func).collect(),
            cells: chosen,
            registers: registers.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.registers.is_empty()
    }

    /// The more important, the smaller; none if it is no phase.
    pub fn rank(&self, variable: Variable) -> Option<usize> {
        match variable {
            Variable::Cell(cell) => self.cells.iter().position(|other| *other == cell),
            Variable::Register(frame, local) => {
                let func = *self.functions.get(frame.0 as usize)?;
                self.registers.contains(&(func, local)).then_some(self.cells.len() + frame.0 as usize)
            }
            Variable::Seen(_) | Variable::Theirs(_) => None,
        }
    }
}

struct Looking<'c, 'a, 'p> {
    code: &'c Code<'a, 'p>,
    cells: &'c Cells,
    registers: BTreeMap<(FuncId, LocalId), Few>,
    memory: BTreeMap<CellId, Few>,
    /// Where a cell is loaded.
    loads: BTreeMap<CellId, BTreeSet<Place>>,
}

impl Looking<'_, '_, '_> {
    fn start(&mut self) {
        let facts = self.code.facts;
        let known: Vec<(CellId, Few)> = self
            .cells
            .iter()
            .map(|(id, cell)| {
                let extent = cell.extent;
                let AbstractObject::Static(object) = facts.points_to().objects()[extent.object] else {
                    return (id, Some(BTreeSet::new()));
                };
                let bits = initial_bits(self.code.program(), object, extent.offset, extent.bytes);
                (id, bits.map(|bits| BTreeSet::from([bits])))
            })
            .collect();
        self.memory.extend(known);
    }

    fn values(&self, func: FuncId, expr: &Expr) -> Few {
        match expr {
            Expr::Const { bits, .. } => Some(BTreeSet::from([*bits])),
            Expr::Local(local) => self.registers.get(&(func, *local)).cloned().unwrap_or_else(|| Some(BTreeSet::new())),
            Expr::Cast(CastOp::ZeroExtend | CastOp::Truncate, _, of) => self.values(func, of),
            Expr::Select(parts) => union(self.values(func, &parts[1]), &self.values(func, &parts[2])),
            Expr::Binary(
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::ULt | BinaryOp::ULe | BinaryOp::SLt | BinaryOp::SLe,
                _,
            ) => Some(BTreeSet::from([0, 1])),
            _ => None,
        }
    }

    fn add(&mut self, func: FuncId, local: LocalId, few: &Few) -> bool {
        let old = self.registers.entry((func, local)).or_insert_with(|| Some(BTreeSet::new()));
        let new = union(old.clone(), few);
        let changes = *old != new;
        *old = new;
        changes
    }

    fn store(&mut self, cells: &[CellId], few: &Few) -> bool {
        let mut changes = false;
        for cell in cells {
            let old = self.memory.entry(*cell).or_insert_with(|| Some(BTreeSet::new()));
            let new = union(old.clone(), few);
            changes |= *old != new;
            *old = new;
        }
        changes
    }

    fn visit_all(&mut self) -> bool {
        let mut changes = false;
        for func in reachable(self.code) {
            let Body::Blocks(blocks) = &self.code.program().functions[func].body else { continue };
            for (block, code) in blocks.iter_enumerated() {
                for (index, instr) in code.instrs.iter().enumerate() {
                    changes |= self.visit(Place { func, block, index: index as u32 }, &instr.op);
                }
            }
        }
        changes
    }

    fn visit(&mut self, place: Place, op: &Op) -> bool {
        let func = place.func;
        match op {
            Op::Assign { dst, value } => self.add(func, *dst, &self.values(func, value)),
            Op::Load { dst, from } => {
                let cells = cells_of(self.code, self.cells, func, from);
                let mut few = if cells.is_empty() { None } else { Some(BTreeSet::new()) };
                for cell in &cells {
                    few = union(few, &self.memory[cell]);
                    self.loads.entry(*cell).or_default().insert(place);
                }
                self.add(func, *dst, &few)
            }
            Op::Store { to, value } => {
                let cells = cells_of(self.code, self.cells, func, to);
                self.store(&cells, &self.values(func, value))
            }
            Op::ReadModifyWrite { dst, at, op, value } => {
                let cells = cells_of(self.code, self.cells, func, at);
                let few = if *op == RmwOp::Exchange { self.values(func, value) } else { None };
                let changes = self.store(&cells, &few);
                dst.iter().fold(changes, |changes, dst| self.add(func, *dst, &None) | changes)
            }
            Op::CompareExchange { ok, old, at, desired, .. } => {
                let cells = cells_of(self.code, self.cells, func, at);
                let changes = self.store(&cells, &self.values(func, desired));
                let truth = Some(BTreeSet::from([0, 1]));
                self.add(func, *ok, &truth) | self.add(func, *old, &None) | changes
            }
            Op::Call { dst, args, .. } => self.visit_call(place, dst.as_ref(), args),
            Op::Nondet { dst } => {
                let ty = self.code.program().functions[func].locals[*dst].ty;
                let few = if ty == Type::BOOL { Some(BTreeSet::from([0, 1])) } else { None };
                self.add(func, *dst, &few)
            }
            _ => {
                let mut changes = false;
                op.for_each_result(|local| changes |= self.add(func, local, &None));
                changes
            }
        }
    }

    fn visit_call(&mut self, place: Place, dst: Option<&LocalId>, args: &[Expr]) -> bool {
        let mut changes = false;
        for edge in self.code.facts.calls().callees(place) {
            let callee = &self.code.program().functions[edge.callee];
            for (number, arg) in args.iter().enumerate().take(callee.params as usize) {
                let few = self.values(place.func, arg);
                changes |= self.add(edge.callee, leno_ir::index::Idx::new(number), &few);
            }
            let Some(dst) = dst else { continue };
            let Body::Blocks(blocks) = &callee.body else {
                changes |= self.add(place.func, *dst, &None);
                continue;
            };
            for block in blocks {
                if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                    let few = self.values(edge.callee, value);
                    changes |= self.add(place.func, *dst, &few);
                }
            }
        }
        changes
    }
}

fn union(left: Few, right: &Few) -> Few {
    let mut all = left?;
    all.extend(right.as_ref()?);
    (all.len() <= MOST_VALUES).then_some(all)
}
