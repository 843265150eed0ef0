//! Expressions of the representation, as terms.

use crate::operators::{binary, cast, pointer, unary, width};
use leno_ir::program::{DataModel, Expr, FuncId, LocalId, ObjectId, SlotId};
use leno_logic::term::{Term, Terms};

/// Where the leaves of expressions come from: an engine's registers and addresses.
pub trait Leaves {
    /// Why a leaf has no term.
    type Error;

    fn terms(&mut self) -> &mut Terms;
    fn model(&self) -> DataModel;
    fn local(&mut self, local: LocalId) -> Result<Term, Self::Error>;
    fn object_address(&mut self, object: ObjectId) -> Result<u64, Self::Error>;
    fn slot_address(&mut self, slot: SlotId) -> Result<u64, Self::Error>;
    fn function_address(&mut self, function: FuncId) -> Result<u64, Self::Error>;
}

/// The value of an expression.
pub fn translate<L: Leaves>(leaves: &mut L, expr: &Expr) -> Result<Term, L::Error> {
    let model = leaves.model();
    let address = match expr {
        Expr::Const { ty, bits } => return Ok(leaves.terms().bits(width(model, *ty), *bits)),
        Expr::Local(local) => return leaves.local(*local),
        Expr::Object(object) => leaves.object_address(*object)?,
        Expr::Slot(slot) => leaves.slot_address(*slot)?,
        Expr::Function(function) => leaves.function_address(*function)?,
        Expr::Unary(op, operand) => {
            let value = translate(leaves, operand)?;
            return Ok(unary(leaves.terms(), model, *op, value));
        }
        Expr::Binary(op, operands) => {
            let left = translate(leaves, &operands[0])?;
            let right = translate(leaves, &operands[1])?;
            return Ok(binary(leaves.terms(), model, *op, left, right));
        }
        Expr::Cast(op, ty, operand) => {
            let value = translate(leaves, operand)?;
            return Ok(cast(leaves.terms(), model, *op, *ty, value));
        }
        Expr::Select(parts) => {
            let condition = condition(leaves, &parts[0])?;
            let then = translate(leaves, &parts[1])?;
            let otherwise = translate(leaves, &parts[2])?;
            return Ok(leaves.terms().ite(condition, then, otherwise));
        }
    };
    Ok(pointer(leaves.terms(), model, address))
}

/// Whether an expression of one bit is true.
pub fn condition<L: Leaves>(leaves: &mut L, expr: &Expr) -> Result<Term, L::Error> {
    let value = translate(leaves, expr)?;
    Ok(leaves.terms().bits_to_bool(value))
}
