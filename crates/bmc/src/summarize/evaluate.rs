//! Expressions in a state: registers are those of the activation, addresses those of the layout.

use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::index::Idx;
use leno_ir::program::{DataModel, Expr, FuncId, LocalId, ObjectId, SlotId, Type};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::operators;
use leno_symbolic::translate::{self, Leaves, translate};

/// Where an expression is evaluated.
struct Here<'a, 'p> {
    execution: &'a mut Execution<'p>,
    frame: &'a Frame,
    state: &'a mut State,
}

impl Leaves for Here<'_, '_> {
    type Error = Refused;

    fn terms(&mut self) -> &mut Terms {
        &mut self.execution.terms
    }

    fn model(&self) -> DataModel {
        self.execution.program.model
    }

    fn local(&mut self, local: LocalId) -> Result<Term, Refused> {
        if let Some(value) = self.state.local(local) {
            return Ok(value);
        }
        // Undefined: any value, which it then keeps.
        let ty = self.execution.program.functions[self.frame.func].locals[local].ty;
        let width = self.execution.width(ty);
        let value = self.execution.terms.variable(Sort::Bits(width), "undefined");
        self.state.set_local(local, value);
        Ok(value)
    }

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        self.execution.static_address(object)
    }

    fn slot_address(&mut self, slot: SlotId) -> Result<u64, Refused> {
        Ok(self.execution.layout.get(self.frame.slots[slot.index()]).base)
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        self.execution.layout.function_address(function)
    }
}

impl Execution<'_> {
    pub(crate) fn width(&self, ty: Type) -> u32 {
        operators::width(self.program.model, ty)
    }

    pub(crate) fn evaluate(&mut self, frame: &Frame, state: &mut State, expr: &Expr) -> Result<Term, Refused> {
        translate(&mut Here { execution: self, frame, state }, expr)
    }

    pub(crate) fn condition(&mut self, frame: &Frame, state: &mut State, expr: &Expr) -> Result<Term, Refused> {
        translate::condition(&mut Here { execution: self, frame, state }, expr)
    }

    /// The low `width` bits, or zeros above.
    pub(crate) fn fit(&mut self, value: Term, width: u32) -> Term {
        operators::fit(&mut self.terms, value, width)
    }
}
