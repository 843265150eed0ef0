//! Variable arguments, as the target's stack holds them.
//!
//! The caller lays them out in memory, one cell after the other, as the System V ABI does for arguments that find no
//! register; `va_list` is the ABI's own structure, with the registers used up. So real C code can walk the same memory.

use super::body::Lowering;
use super::place::How;
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::ExprId;
use crate::types::{QualType, round_up};
use leno_ir::program::{BinaryOp, CastOp, DataModel, Expr, Type};

/// `gp_offset` and `fp_offset` of a `va_list` whose register save area is used up.
const NO_GENERAL_REGISTERS: u128 = 48;
const NO_FLOAT_REGISTERS: u128 = 176;

/// The layout of an area of variable arguments.
pub(super) struct Area {
    model: DataModel,
    end: u64,
    align: u32,
}

impl Area {
    pub fn new(model: DataModel) -> Area {
        Area { model, end: 0, align: model.pointer_bytes() as u32 }
    }

    fn cell(&self) -> u64 {
        self.model.pointer_bytes()
    }

    /// Places one argument: its offset.
    pub fn place(&mut self, size: u64, align: u32, is_record: bool) -> u64 {
        let align = cell_align(self.model, size, align, is_record);
        self.align = self.align.max(align as u32);
        let offset = round_up(self.end, align);
        self.end = offset + round_up(size, self.cell());
        offset
    }

    pub fn size(&self) -> u64 {
        self.end
    }

    pub fn align(&self) -> u32 {
        self.align
    }
}

/// i386 aligns nothing beyond its cells; x86-64 aligns 16-byte scalars and records that ask for it.
fn cell_align(model: DataModel, size: u64, align: u32, is_record: bool) -> u64 {
    let cell = model.pointer_bytes();
    match model {
        DataModel::Ilp32 => cell,
        DataModel::Lp64 if is_record => u64::from(align).max(cell),
        DataModel::Lp64 if size == 16 => 16,
        DataModel::Lp64 => cell,
    }
}

impl Lowering<'_, '_> {
    /// Where in a `va_list` object the address of the next argument is.
    fn cursor_offset(&self) -> u64 {
        match self.b.model() {
            DataModel::Lp64 => 8,
            DataModel::Ilp32 => 0,
        }
    }

    pub fn va_start(&mut self, id: ExprId, list: Expr) -> Result<()> {
        let Some(area) = self.variable_arguments else {
            return self.refuse(id, "`va_start` in a function that takes no variable arguments");
        };
        let list = self.b.reusable(list);
        let cursor = self.b.offset(list.clone(), self.cursor_offset());
        if self.b.model() == DataModel::Lp64 {
            self.b.store(list.clone(), Type::I32, Expr::int(NO_GENERAL_REGISTERS, 32));
            let floats = self.b.offset(list.clone(), 4);
            self.b.store(floats, Type::I32, Expr::int(NO_FLOAT_REGISTERS, 32));
            self.b.store(cursor, Type::Ptr, Expr::Local(area));
            let registers = self.b.offset(list, 16);
            self.b.store(registers, Type::Ptr, Expr::NULL);
        } else {
            self.b.store(cursor, Type::Ptr, Expr::Local(area));
        }
        Ok(())
    }

    pub fn va_copy(&mut self, to: Expr, from: Expr) {
        let (to, from) = (self.b.reusable(to), self.b.reusable(from));
        let pieces: &[(u64, Type)] = match self.b.model() {
            DataModel::Lp64 => &[(0, Type::I32), (4, Type::I32), (8, Type::Ptr), (16, Type::Ptr)],
            DataModel::Ilp32 => &[(0, Type::Ptr)],
        };
        for (offset, ty) in pieces {
            let source = self.b.offset(from.clone(), *offset);
            let value = self.b.load(source, *ty);
            let target = self.b.offset(to.clone(), *offset);
            self.b.store(target, *ty, value);
        }
    }

    /// The next argument's address; the list goes on to the one after.
    pub fn variable_argument_address(&mut self, id: ExprId, args: &[ExprId]) -> Result<Expr> {
        let list = match args.first() {
            Some(list) => self.rvalue(*list)?,
            None => Expr::NULL,
        };
        self.at(self.span_of(id));
        self.next_argument(list, self.type_of(id), self.span_of(id))
    }

    fn next_argument(&mut self, list: Expr, ty: QualType, span: Span) -> Result<Expr> {
        let list = self.b.reusable(list);
        let cursor = self.b.offset(list, self.cursor_offset());
        let next = self.b.load(cursor.clone(), Type::Ptr);
        let size = self.types.size_of(ty.ty).unwrap_or(0);
        let model = self.b.model();
        let align = cell_align(model, size, self.types.align_of(ty.ty), self.is_record(ty));
        let cell = model.pointer_bytes();
        let here = if align > cell { self.align_pointer(next, align) } else { next };
        let after = self.b.offset(here.clone(), round_up(size, cell));
        self.b.store(cursor, Type::Ptr, after);
        self.at(span);
        Ok(here)
    }

    fn align_pointer(&mut self, pointer: Expr, align: u64) -> Expr {
        let bits = self.b.model().pointer_bits();
        let address = self.b.cast(CastOp::PtrToInt, self.b.word(), pointer.clone());
        // The distance to the next multiple, added to the pointer itself: it stays a pointer into the same object.
        let negated = self.b.unary(leno_ir::program::UnaryOp::Neg, address);
        let distance = self.b.binary(BinaryOp::And, negated, Expr::int(u128::from(align - 1), bits));
        let aligned = self.b.binary(BinaryOp::PtrAdd, pointer, distance);
        self.b.materialize(aligned)
    }

    /// `va_arg` of a scalar.
    pub fn va_arg(&mut self, id: ExprId, args: &[ExprId]) -> Result<Expr> {
        let scalar = self.scalar(id)?;
        let address = self.variable_argument_address(id, args)?;
        Ok(self.b.load_from(How::PLAIN.access(address, scalar.ir())))
    }
}
