//! Tables: static objects that nothing writes, read at an index that is not known.
//!
//! What is read is one of the table's entries; and what is found there says something of the index. So the zero at the end
//! of a table ends a loop in time: `for (i = 0; table[i].port != 0; i++)`. A read becomes two ways to go on, one for the entries
//! that are zero and one for the others, each with the indices that lead there. (The paper names such loops as one of the two
//! causes of its false alarms.) An index beyond the table ends the execution; whether there is one is asked elsewhere
//! (`bounds`).

use crate::cells::{Cells, initial_bits};
use crate::code::FrameId;
use crate::evaluate::Evaluator;
use crate::state::{State, Value, Variable};
use leno_domains::{Domain, Interval, Numbers, Product, word};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::program::{Access, BinaryOp, CastOp, Expr, LocalId, ObjectKind};

/// Larger tables may hold anything.
const MOST_BYTES: u64 = 1024;

/// A read from a table.
#[derive(Clone, Debug)]
pub struct TableRead<'p> {
    /// What is added to the address, beside constants.
    pub index: (FrameId, &'p Expr),
    /// Each index that is possible, and the bits that are there (none: an address).
    pub entries: Vec<(i64, Option<u128>)>,
    width: u32,
}

impl TableRead<'_> {
    /// The entries that are zero, or those that are not (or may not be).
    pub fn entries_of(&self, is_zero: bool) -> impl Iterator<Item = (i64, Option<u128>)> + '_ {
        self.entries.iter().copied().filter(move |(_, bits)| (*bits == Some(0)) == is_zero)
    }
}

/// The two ways to go on, in this order.
pub const WAYS: [bool; 2] = [false, true];

impl<'p> Evaluator<'_, 'p> {
    /// What a read from a table may find; none if it is not one.
    pub fn table_read(
        &self,
        cells: &Cells,
        state: &State<'p>,
        frame: FrameId,
        access: &'p Access,
    ) -> Option<TableRead<'p>> {
        let program = self.code.program();
        let (bytes, width) = (access.ty.bytes(program.model), u32::from(access.ty.bits(program.model)));
        let reach = self.reach_of(state, frame, &access.ptr)?;
        let [(object, offsets)] = reach.from.as_slice() else { return None };
        let AbstractObject::Static(id) = self.code.facts.points_to().objects()[*object] else { return None };
        let data = &program.objects[id];
        let is_table = cells.is_unwritten(*object) && data.kind != ObjectKind::External && data.size <= MOST_BYTES;
        let most = data.size.checked_sub(bytes)?;
        let ([first], true) = (offsets.as_slice(), is_table && u64::from(width) == 8 * bytes) else { return None };
        let mut base = *first;
        let mut index = None;
        for (frame, added) in reach.added {
            let value = self.value(state, frame, added);
            match value.numbers.as_constant(value.width) {
                Some(bits) => base = base.checked_add(i64::try_from(word::signed(value.width, bits)).ok()?)?,
                None if index.is_none() => index = Some((frame, added, value)),
                None => return None,
            }
        }
        let (of_index, index, value) = index?;
        let within = ((-base), i64::try_from(most).ok()?.checked_sub(base)?);
        let entries = (within.0..=within.1)
            .filter(|number| {
                let number = Product::constant(value.width, *number as u128 & word::mask(value.width));
                !value.numbers.meet(&number, &value.width).is_bottom()
            })
            .map(|number| (number, initial_bits(program, id, base + number, bytes)))
            .collect();
        Some(TableRead { index: (of_index, index), entries, width })
    }

    /// The state in which the entry that was read is zero, or is not.
    pub fn after_table_read(
        &self,
        state: &State<'p>,
        frame: FrameId,
        dst: LocalId,
        read: &TableRead<'p>,
        is_zero: bool,
    ) -> State<'p> {
        let value = |bits: Option<u128>| bits.map_or(Value::any(read.width), |bits| Value::constant(read.width, bits));
        let Some(found) = read.entries_of(is_zero).map(|(_, bits)| value(bits)).reduce(|all, one| all.join(&one))
        else {
            return State::NEVER;
        };
        let numbers = || read.entries_of(is_zero).map(|(number, _)| number);
        let (Some(least), Some(greatest)) = (numbers().min(), numbers().max()) else { return State::NEVER };
        let mut state = state.clone();
        self.restrict_index(&mut state, read.index.0, read.index.1, (least.into(), greatest.into()));
        state.assign(Variable::Register(frame, dst), found, None, None);
        state
    }

    /// Keeps the states in which an index is between two numbers. Indices are multiples of something: what is multiplied is
    /// restricted.
    fn restrict_index(&self, state: &mut State<'p>, frame: FrameId, expr: &'p Expr, (least, greatest): (i128, i128)) {
        if let Expr::Binary(BinaryOp::Mul, operands) = expr
            && let Expr::Const { bits, .. } = operands[1]
        {
            let value = self.value(state, frame, &operands[0]);
            let factor = word::signed(value.width, bits);
            let bounds = value.numbers.hull(value.width).signed_bounds(value.width);
            let limit = 1i128 << (value.width.min(64) - 1);
            let fits = |number: i128| number.checked_mul(factor).is_some_and(|product| product.abs() < limit);
            if factor > 0 && bounds.is_some_and(|(low, high)| fits(low) && fits(high)) {
                let bounds = (-((-least).div_euclid(factor)), greatest.div_euclid(factor));
                self.restrict_index(state, frame, &operands[0], bounds);
            }
            return;
        }
        if let Expr::Cast(CastOp::SignExtend, _, of) = expr {
            return self.restrict_index(state, frame, of, (least, greatest));
        }
        let width = self.width(frame, expr);
        let range = -(1i128 << (width.min(64) - 1))..=(1i128 << (width.min(64) - 1)) - 1;
        if !range.contains(&least) || !range.contains(&greatest) || least > greatest {
            return;
        }
        let interval = Interval::signed(width, least, greatest);
        self.restrict_to(state, frame, expr, Value { width, numbers: Product::from_interval(width, &interval) });
    }
}
