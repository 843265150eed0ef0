//! Expressions of the representation as terms.
//!
//! Every value is a bit-vector of its type's width, also `i1`. Shift amounts count modulo the width, as on the semantics page.
//! Those of floats are in `floats`.

use crate::state::State;
use crate::summarize::{Frame, Refused, Summarizer};
use leno_ir::program::{BinaryOp, CastOp, Expr, Type, UnaryOp};
use leno_logic::term::{Sort, Term};

impl Summarizer<'_> {
    pub(crate) fn width(&self, ty: Type) -> u32 {
        u32::from(ty.bits(self.program.model))
    }

    pub(crate) fn evaluate(&mut self, frame: &Frame, state: &mut State, expr: &Expr) -> Result<Term, Refused> {
        match expr {
            Expr::Const { ty, bits } => Ok(self.terms.bits(self.width(*ty), *bits)),
            Expr::Local(local) => {
                if let Some(value) = state.locals[local.0 as usize] {
                    return Ok(value);
                }
                // Undefined: any value, which it then keeps.
                let ty = self.program.functions[frame.func].locals[*local].ty;
                let value = self.terms.variable(Sort::Bits(self.width(ty)), "undefined");
                state.set_local(local.0 as usize, value);
                Ok(value)
            }
            Expr::Object(object) => {
                let address = self.static_address(*object)?;
                Ok(self.pointer(address))
            }
            Expr::Slot(slot) => {
                let base = self.instances.get(frame.slots[slot.0 as usize]).base;
                Ok(self.pointer(base))
            }
            Expr::Function(function) => {
                let address = self.function_address(*function)?;
                Ok(self.pointer(address))
            }
            Expr::Unary(op, operand) => {
                let value = self.evaluate(frame, state, operand)?;
                match op {
                    UnaryOp::Neg => Ok(self.terms.neg(value)),
                    UnaryOp::Not => Ok(self.terms.bvnot(value)),
                    UnaryOp::FNeg => Ok(self.floats().negate(value)),
                    UnaryOp::FAbs => Ok(self.floats().absolute(value)),
                    UnaryOp::FSqrt => Ok(self.floats().root(value)),
                }
            }
            Expr::Binary(op, operands) => {
                let left = self.evaluate(frame, state, &operands[0])?;
                let right = self.evaluate(frame, state, &operands[1])?;
                self.binary(*op, left, right)
            }
            Expr::Cast(op, ty, operand) => {
                let value = self.evaluate(frame, state, operand)?;
                self.cast(*op, *ty, value)
            }
            Expr::Select(parts) => {
                let condition = self.evaluate(frame, state, &parts[0])?;
                let condition = self.terms.bits_to_bool(condition);
                let then = self.evaluate(frame, state, &parts[1])?;
                let otherwise = self.evaluate(frame, state, &parts[2])?;
                Ok(self.terms.ite(condition, then, otherwise))
            }
        }
    }

    pub(crate) fn condition(&mut self, frame: &Frame, state: &mut State, expr: &Expr) -> Result<Term, Refused> {
        let value = self.evaluate(frame, state, expr)?;
        Ok(self.terms.bits_to_bool(value))
    }

    pub(crate) fn pointer(&mut self, address: u64) -> Term {
        let width = u32::from(self.program.model.pointer_bits());
        self.terms.bits(width, address.into())
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Result<Term, Refused> {
        use BinaryOp::*;
        let terms = &mut self.terms;
        let width = terms.width(a);
        let modulo = |terms: &mut leno_logic::term::Terms, amount: Term| {
            // The shift counts modulo the width; for a power of two that is a mask.
            let number = terms.bits(width, width.into());
            terms.urem(amount, number)
        };
        let truth = match op {
            Add | PtrAdd => return Ok(terms.add(a, b)),
            Sub | PtrDiff => return Ok(terms.sub(a, b)),
            Mul => return Ok(terms.mul(a, b)),
            UDiv => return Ok(terms.udiv(a, b)),
            SDiv => return Ok(terms.sdiv(a, b)),
            URem => return Ok(terms.urem(a, b)),
            SRem => return Ok(terms.srem(a, b)),
            And => return Ok(terms.bvand(a, b)),
            Or => return Ok(terms.bvor(a, b)),
            Xor => return Ok(terms.bvxor(a, b)),
            Shl => {
                let amount = modulo(terms, b);
                return Ok(terms.shl(a, amount));
            }
            LShr => {
                let amount = modulo(terms, b);
                return Ok(terms.lshr(a, amount));
            }
            AShr => {
                let amount = modulo(terms, b);
                return Ok(terms.ashr(a, amount));
            }
            Eq => terms.eq(a, b),
            Ne => {
                let same = terms.eq(a, b);
                terms.not(same)
            }
            ULt => terms.ult(a, b),
            ULe => terms.ule(a, b),
            SLt => terms.slt(a, b),
            SLe => terms.sle(a, b),
            SAddOverflow => terms.sadd_overflow(a, b),
            SSubOverflow => terms.ssub_overflow(a, b),
            SMulOverflow => terms.smul_overflow(a, b),
            UAddOverflow => terms.uadd_overflow(a, b),
            USubOverflow => terms.usub_overflow(a, b),
            UMulOverflow => terms.umul_overflow(a, b),
            FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => return Ok(self.floats().binary(op, a, b)),
        };
        Ok(terms.bool_to_bits(truth, 1))
    }

    pub(crate) fn cast(&mut self, op: CastOp, ty: Type, value: Term) -> Result<Term, Refused> {
        let width = self.width(ty);
        match op {
            CastOp::Truncate => Ok(self.terms.extract(value, 0, width)),
            CastOp::ZeroExtend => Ok(self.terms.zero_extend(value, width)),
            CastOp::SignExtend => Ok(self.terms.sign_extend(value, width)),
            CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => Ok(value),
            CastOp::UIntToFloat
            | CastOp::SIntToFloat
            | CastOp::FloatToUInt
            | CastOp::FloatToSInt
            | CastOp::FloatToFloat => Ok(self.floats().cast(op, ty, value)),
        }
    }

    /// The low `width` bits, or zeros above: how arguments are fitted to parameters.
    pub(crate) fn fit(&mut self, value: Term, width: u32) -> Term {
        let has = self.terms.width(value);
        match has.cmp(&width) {
            std::cmp::Ordering::Less => self.terms.zero_extend(value, width),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.terms.extract(value, 0, width),
        }
    }
}
