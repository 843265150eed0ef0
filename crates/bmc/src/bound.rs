//! Bounds: how far loops, recursion and allocations are unrolled, and how the bounds are raised until they suffice.

pub(crate) mod deepen;
pub(crate) mod loops;

use leno_ir::program::{BlockId, FuncId, Place};
use std::collections::BTreeMap;

/// What has a bound: a loop, by its head; the recursion of a function; the size of an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BoundSite {
    Loop(FuncId, BlockId),
    Recursion(FuncId),
    Allocation(Place),
}

/// How far to unroll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub default: u32,
    pub particular: BTreeMap<BoundSite, u32>,
    /// Whether this is the cheap first round: loops with a constant number of iterations are cut short as well, if
    /// other threads see what they do.
    pub is_cheap_round: bool,
}

impl Bounds {
    pub fn of(&self, what: BoundSite) -> u32 {
        self.particular.get(&what).copied().unwrap_or(self.default)
    }

    /// The bytes of an allocation of unknown size.
    pub fn of_allocation(&self, what: BoundSite) -> u64 {
        u64::from(self.of(what)) * ALLOCATION_UNIT
    }
}

/// The bytes of an allocation with a bound of one.
const ALLOCATION_UNIT: u64 = 64;
