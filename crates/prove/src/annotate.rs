//! What the prover has found, in the checker's words: each state as a list of facts.

use crate::cells::Cells;
use crate::coarsen::Coarsened;
use crate::code::{Code, FrameId};
use crate::state::{Definition, State, Value, Variable};
use leno_domains::{Congruence, Constraint, Numbers, Octagon, Side, word};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::Idx;
use leno_ir::program::Expr;
use leno_verify::annotation::{self, Annotation, Fact};

/// All that was found.
pub fn annotation<'p>(code: &Code<'_, 'p>, cells: &Cells, found: &Coarsened<'p>) -> Annotation<'p> {
    let states = found.invariants.iter_enumerated().map(|(stop, states)| {
        let root = code.root_of(code.stops()[stop]);
        let list = states.iter().filter(|state| !state.is_never());
        list.map(|state| Annotating { code, cells, root }.state(state)).collect()
    });
    Annotation { states: states.collect(), pairs: found.pairs.clone() }
}

struct Annotating<'c, 'a, 'p> {
    code: &'c Code<'a, 'p>,
    cells: &'c Cells,
    root: RootId,
}

impl<'p> Annotating<'_, '_, 'p> {
    fn state(&self, state: &State<'p>) -> annotation::State<'p> {
        let mut facts = Vec::new();
        let registers = state.registers().map(|(frame, local, value)| (Variable::Register(frame, local), value));
        let cells = state.cells().map(|(cell, value)| (Variable::Cell(cell), value));
        for (variable, value) in registers.chain(cells) {
            self.numbers(variable, &value, &mut facts);
        }
        for (variable, definition) in state.definitions() {
            let definition = match definition {
                Definition::Expr(frame, expr) => {
                    self.own_frame(frame, expr).map(|frame| annotation::Definition::Expr(frame, expr))
                }
                Definition::Same(other) => name(other).map(annotation::Definition::Same),
            };
            facts.extend(name(variable).zip(definition).map(|(variable, same)| Fact::Equal(variable, same)));
        }
        for octagon in state.relations() {
            self.relations(state, octagon, &mut facts);
        }
        annotation::State { dirty: state.dirty().collect(), facts }
    }

    /// The frame of an expression, if the checker can tell what it means. One that mentions no register may still have the frame of
    /// the thread that has said so.
    fn own_frame(&self, frame: FrameId, expr: &Expr) -> Option<FrameId> {
        let mut has_registers = false;
        expr.for_each_local(|_| has_registers = true);
        let own = self.code.back(frame).filter(|_| !has_registers).unwrap_or(frame);
        (own.index() < self.code.frames.len() && self.is_known(own, expr)).then_some(own)
    }

    /// Whether the checker can tell which object an address in an expression is of: it must not be a stack object of another
    /// thread, unless there is only one such object.
    fn is_known(&self, frame: FrameId, expr: &Expr) -> bool {
        let facts = self.code.facts;
        let is_one = |slot| {
            let object = facts.points_to().object(AbstractObject::Slot(self.code.func_of(frame), slot));
            object.is_some_and(|object| facts.offsets().exists_once(object))
        };
        let is_own = self.code.frames.get(frame).is_some_and(|data| data.root == self.root);
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            match expr {
                Expr::Slot(slot) if !is_own && !is_one(*slot) => return false,
                Expr::Unary(_, of) | Expr::Cast(_, _, of) => work.push(of),
                Expr::Binary(_, operands) => work.extend(operands.iter()),
                Expr::Select(parts) => work.extend(parts.iter()),
                _ => {}
            }
        }
        true
    }

    /// Which numbers a variable may be.
    fn numbers(&self, variable: Variable, value: &Value, facts: &mut Vec<Fact<'p>>) {
        let (Some(variable), width) = (name(variable), value.width) else { return };
        if self.width(variable) != width {
            return;
        }
        if let Some(bits) = value.numbers.as_constant(width) {
            facts.push(Fact::Is(variable, bits));
            return;
        }
        let interval = value.numbers.hull(width);
        let Some((least, greatest)) = interval.signed_bounds(width) else { return };
        if interval.low() > 0 || interval.high() < word::mask(width) {
            facts.push(Fact::Unsigned(variable, interval.low(), interval.high()));
        }
        let limit = 1u128 << (width - 1);
        if least > -((limit - 1) as i128) - 1 || greatest < (limit - 1) as i128 {
            facts.push(Fact::Signed(variable, least, greatest));
        }
        let bits = value.numbers.bits();
        let known = (bits.zeros | bits.ones) & word::mask(width);
        if known != 0 {
            facts.push(Fact::Bits(variable, known, bits.ones & known));
        }
        match *value.numbers.congruence() {
            Congruence::Exactly(number) => facts.push(Fact::Is(variable, number as u128 & word::mask(width))),
            Congruence::Class { modulus, residue } if modulus > 1 && modulus <= word::mask(width) >> 1 => {
                facts.push(Fact::Remainder(variable, modulus, residue));
            }
            Congruence::Empty | Congruence::Class { .. } => {}
        }
    }

    fn width(&self, variable: annotation::Variable) -> u32 {
        match variable {
            annotation::Variable::Register(frame, local) => {
                let program = self.code.program();
                u32::from(program.functions[self.code.func_of(frame)].locals[local].ty.bits(program.model))
            }
            annotation::Variable::Cell(cell) => crate::cells::cell_width(self.cells.extent(cell).bytes),
        }
    }

    fn relations(&self, state: &State<'p>, octagon: &Octagon<Variable>, facts: &mut Vec<Fact<'p>>) {
        let mut all: Vec<Constraint<Variable>> = octagon.constraints();
        for variable in octagon.variables() {
            let sides = [Side::plus(*variable), Side::minus(*variable)];
            let bounds = sides
                .into_iter()
                .filter_map(|side| Some(Constraint { left: side, right: side, most: octagon.most(side, side)? }));
            all.extend(bounds);
        }
        for Constraint { left, right, most } in all {
            let side = |side: Side<Variable>| {
                Some(annotation::Side { variable: name(side.variable)?, is_negated: side.is_negated })
            };
            if let (Some(left), Some(right), Some(member)) = (side(left), side(right), state.member(left.variable)) {
                facts.push(Fact::Sum { left, right, most, is_signed: member.is_signed });
            }
        }
    }
}

/// A variable as the checker calls it; none for those that are there only while a thread watches another.
fn name(variable: Variable) -> Option<annotation::Variable> {
    match variable {
        Variable::Register(frame, local) => Some(annotation::Variable::Register(frame, local)),
        Variable::Cell(cell) => Some(annotation::Variable::Cell(cell)),
        Variable::Seen(_) | Variable::Theirs(_) => None,
    }
}
