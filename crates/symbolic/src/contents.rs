//! What memory holds before it is written.
//!
//! A static object begins with the pieces of its initialiser and zeros between them. Pieces that are addresses depend
//! on where an engine puts objects and functions, which it says by [`Addresses`].

use leno_ir::program::{Datum, FuncId, ObjectId, Program};
use leno_logic::term::{Sort, Term, Terms};

/// Where an engine has put static objects and functions.
pub trait Addresses {
    /// Why something has no address.
    type Error;

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Self::Error>;
    fn function_address(&mut self, function: FuncId) -> Result<u64, Self::Error>;
}

/// What an object holds before it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initial {
    Zero,
    Undefined,
    /// The initial value of a static object.
    Static(ObjectId),
    /// Bytes that come from outside of the program, by their number: its arguments.
    Given(u32),
}

impl Initial {
    /// Whether all of it is certainly zero.
    pub fn is_zero(self, program: &Program) -> bool {
        match self {
            Initial::Zero => true,
            Initial::Static(object) => program.objects[object].init.is_empty(),
            Initial::Undefined | Initial::Given(_) => false,
        }
    }

    /// The value of `bytes` bytes at an offset. What is undefined is a new variable.
    pub fn value<A: Addresses>(
        self,
        terms: &mut Terms,
        program: &Program,
        given: &[Vec<u8>],
        (offset, bytes): (u64, u32),
        addresses: &mut A,
    ) -> Result<Term, A::Error> {
        let width = bytes * 8;
        Ok(match self {
            Initial::Undefined => terms.variable(Sort::Bits(width), "undefined"),
            Initial::Zero => terms.bits(width, 0),
            Initial::Given(index) => {
                let all = given.get(index as usize).map_or(&[][..], Vec::as_slice);
                let contents = all.iter().skip(offset as usize).take(bytes as usize);
                let value = contents.rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
                terms.bits(width, value)
            }
            Initial::Static(object) => {
                let value = static_value(program, object, (offset, bytes), addresses)?;
                terms.bits(width, value)
            }
        })
    }
}

/// The bytes of one piece of an initialiser.
pub fn datum_bytes<A: Addresses>(program: &Program, datum: &Datum, addresses: &mut A) -> Result<Vec<u8>, A::Error> {
    let address = match datum {
        Datum::Bytes(bytes) => return Ok(bytes.clone()),
        Datum::Object(object, shift) => addresses.object_address(*object)?.wrapping_add_signed(*shift),
        Datum::Function(function) => addresses.function_address(*function)?,
    };
    Ok(address.to_le_bytes()[..program.model.pointer_bytes() as usize].to_vec())
}

/// The first bytes of a static object's initial value from an offset on, at most 16, as a number.
pub fn static_value<A: Addresses>(
    program: &Program,
    object: ObjectId,
    (offset, bytes): (u64, u32),
    addresses: &mut A,
) -> Result<u128, A::Error> {
    let (init, end) = (&program.objects[object].init, offset.saturating_add(bytes.into()));
    // Pieces do not overlap: of those that begin before the offset, only the last can reach it.
    let first = init.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
    let mut value = 0;
    for (start, datum) in init[first..].iter().take_while(|(start, _)| *start < end) {
        let whole;
        let piece = match datum {
            Datum::Bytes(bytes) => bytes.as_slice(),
            address => {
                whole = datum_bytes(program, address, addresses)?;
                whole.as_slice()
            }
        };
        let skipped = offset.saturating_sub(*start).min(piece.len() as u64);
        let at = start + skipped;
        for (index, byte) in piece[skipped as usize..].iter().take(end.saturating_sub(at) as usize).enumerate() {
            value |= u128::from(*byte) << ((at - offset + index as u64) * 8);
        }
    }
    Ok(value)
}
