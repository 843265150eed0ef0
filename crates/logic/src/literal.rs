//! Variables and literals of propositional logic.
//!
//! A literal is a variable and a sign packed into one word, so that it can index arrays. Variable 0 is the constant:
//! every solver begins with the unit clause that makes it true, which gives all layers one literal for `true` and one
//! for `false`.

use std::fmt;
use std::ops::Not;

/// A propositional variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// The literal that holds in every model.
    pub const TRUE: Lit = Lit(0);
    /// The literal that holds in none.
    pub const FALSE: Lit = Lit(1);

    /// The literal that holds when `var` has the value `value`.
    pub fn new(var: Var, value: bool) -> Lit {
        Lit(var.0 << 1 | u32::from(!value))
    }

    /// The variable of this literal.
    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// Whether this is the variable itself, not its negation.
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// A dense number: twice the variable, plus one if negated.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The signed number of DIMACS files, proofs and CaDiCaL: variables count from 1.
    pub fn to_dimacs(self) -> i32 {
        let number = (self.0 >> 1) as i32 + 1;
        if self.is_positive() { number } else { -number }
    }

    /// The inverse of [`Lit::to_dimacs`]; `number` is not 0.
    pub fn from_dimacs(number: i32) -> Lit {
        Lit::new(Var(number.unsigned_abs() - 1), number > 0)
    }

    /// `self` if `value`, else its negation.
    pub fn with_value(self, value: bool) -> Lit {
        if value { self } else { !self }
    }
}

impl Var {
    /// The literal that holds when the variable is true.
    pub fn positive(self) -> Lit {
        Lit::new(self, true)
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Lit {
        Lit::TRUE.with_value(value)
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}{}", if self.is_positive() { "" } else { "-" }, self.0 >> 1)
    }
}
