//! Functions that the logic knows nothing of, but how to compute them.
//!
//! An application to constants is computed when it is built, also where a substitution makes the arguments constant.
//! Any other one is, for circuits, a vector of fresh bits: an over-approximation, so that what is unsatisfiable stays
//! so. A model of it need not be one: see [`Solver::mismatches`](crate::solver::Solver::mismatches), which finds
//! applications whose value in the model is not that of the function, and [`Function::lemmas`], which says what the
//! model should have known.

use super::{Node, Term, Terms};
use std::sync::Arc;

/// A function of up to three bit-vectors.
pub trait Function: Send + Sync {
    /// Functions with the same name are the same.
    fn name(&self) -> &str;
    /// The bits of the result.
    fn width(&self) -> u32;
    fn compute(&self, arguments: &[u128]) -> u128;
    /// What always holds and does not hold in a model with this mismatch; the more of other models it excludes, the
    /// better. (With none, or none that does, the model's arguments are said to have their value.)
    fn lemmas(&self, _terms: &mut Terms, _mismatch: &Mismatch) -> Vec<Term> {
        Vec::new()
    }
}

/// A function that an arena knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(u32);

/// An application whose value in a model is not that of the function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub application: Term,
    pub arguments: Vec<Term>,
    /// The values of the arguments in the model; of those that are wrong themselves, what they should be.
    pub values: Vec<u128>,
    /// The value of the application in the model, and what it should be.
    pub found: u128,
    pub exact: u128,
}

/// Choices between so many constants are looked into.
const MOST_LEAVES: usize = 16;

impl Terms {
    /// Makes a function known, unless one of that name is.
    pub fn function(&mut self, function: Arc<dyn Function>) -> FunctionId {
        let known = self.functions.iter().position(|other| other.name() == function.name());
        let index = known.unwrap_or_else(|| {
            self.functions.push(function);
            self.functions.len() - 1
        });
        FunctionId(index as u32)
    }

    /// What a function is, by its number.
    pub fn function_of(&self, id: FunctionId) -> &Arc<dyn Function> {
        &self.functions[id.0 as usize]
    }

    pub fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// A function of terms: of at least one and at most three.
    pub fn apply(&mut self, function: FunctionId, arguments: &[Term]) -> Term {
        assert!((1..=3).contains(&arguments.len()), "functions have one to three arguments, not {}", arguments.len());
        let constants: Vec<u128> = arguments.iter().map_while(|argument| self.as_bits(*argument)).collect();
        if constants.len() == arguments.len() {
            let known = self.functions[function.0 as usize].clone();
            return self.bits(known.width(), known.compute(&constants));
        }
        let mut others = arguments.iter().enumerate().filter(|(_, argument)| self.as_bits(**argument).is_none());
        if let (Some((index, &choice)), None) = (others.next(), others.next())
            && self.constant_leaves(choice).is_some()
            && let Node::Ite(condition, then, otherwise) = self.node(choice)
        {
            let mut arguments = arguments.to_vec();
            arguments[index] = then;
            let then = self.apply(function, &arguments);
            arguments[index] = otherwise;
            let otherwise = self.apply(function, &arguments);
            return self.ite(condition, then, otherwise);
        }
        let mut padded = [None; 3];
        for (place, argument) in padded.iter_mut().zip(arguments) {
            self.expect_bits(*argument);
            *place = Some(*argument);
        }
        self.intern(Node::Apply(function, padded))
    }

    /// Among how many constants a term chooses; none if there is anything else among them, or too many.
    fn constant_leaves(&self, root: Term) -> Option<usize> {
        let (mut waiting, mut leaves) = (vec![root], 0);
        while let Some(term) = waiting.pop() {
            match self.node(term) {
                Node::Bits { .. } => leaves += 1,
                Node::Ite(_, then, otherwise) => waiting.extend([then, otherwise]),
                _ => return None,
            }
            if leaves + waiting.len() > MOST_LEAVES {
                return None;
            }
        }
        Some(leaves)
    }

    /// That an application has the value that it should have where its arguments have these values.
    pub fn at_this_point(&mut self, mismatch: &Mismatch) -> Term {
        let mut same = Vec::new();
        for (&argument, &value) in mismatch.arguments.iter().zip(&mismatch.values) {
            let value = self.bits(self.width(argument), value);
            same.push(self.eq(argument, value));
        }
        let here = self.and(&same);
        let exact = self.bits(self.width(mismatch.application), mismatch.exact);
        let right = self.eq(mismatch.application, exact);
        self.implies(here, right)
    }
}
