//! Known bits: which bits of a vector are the same in all models.
//!
//! Computed once for each node, from those of its operands. They decide comparisons of vectors that share nothing but
//! their ranges (an `unsigned char` is less than 256), find that a mask does nothing, and turn vectors into constants.
//!
//! Of a variable nothing is known by itself. A caller that knows more (all that is ever written to a place is 0 or 1)
//! can say so ([`Terms::learn`]). Of Booleans nothing is kept.

use super::{Node, Term, Terms};
use crate::abstraction::transfer;
use leno_domains::{Domain, KnownBits};

impl Terms {
    /// What is known of a node of `width` bits (0 for a Boolean) whose operands are in the arena.
    pub(super) fn known_of(&self, node: Node, width: u32) -> KnownBits {
        if width == 0 { KnownBits::ANY } else { transfer(self, node, width, |operand| self.known(operand)) }
    }

    /// Takes in what is the same in all models that matter, of variables: then of all that is made of them.
    pub fn learn(&mut self, facts: &[(Term, KnownBits)]) {
        for &(variable, known) in facts {
            self.known[variable.index()] = known;
        }
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if !matches!(node, Node::Variable(_)) {
                let width = u32::from(self.widths[index]);
                self.known[index] = self.known_of(node, width).meet(&self.known[index], &width);
            }
        }
    }
}
