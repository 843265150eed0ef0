//! At most so many context switches.
//!
//! A line with at most `k` switches is made of `k + 1` segments, each of which belongs to one chain. So there are `k`
//! *fences*, nodes of a chain of their own; for each event and each fence a literal says on which side of it the event
//! lies; and a segment between two fences has an owner. The theory of order does the rest: events after a fence keep
//! all that follow them on their chain behind it.
//!
//! The bound holds under a literal. Without it, all fences come before all events, by unit propagation: a bound that is
//! lifted costs no decisions. A bound that is not among the failed assumptions was not needed to refute the query.

use super::Solver;
use crate::literal::Lit;
use crate::order::{Chain, Node};
use std::collections::BTreeMap;

impl Solver {
    /// The literal under which the line of these events has at most `switches` adjacent pairs of different chains. Each
    /// event comes with the literal that says whether it happens; one that does not is passed over. Events that are
    /// made later are not counted: bound them anew.
    pub fn bound_switches(&mut self, events: &[(Node, Lit)], switches: usize) -> Lit {
        let bound = self.new_literal();
        let fences = self.add_chain();
        let fences: Vec<Node> = (0..switches).map(|_| self.add_node(fences)).collect();
        let owners: Vec<BTreeMap<Chain, Lit>> = (0..=switches).map(|_| self.add_owners(events)).collect();
        for &(event, happens) in events {
            let chain = self.chain_of(event);
            let behind: Vec<Lit> = fences.iter().map(|&fence| self.before(fence, event)).collect();
            for &lit in &behind {
                self.add_clause(&[bound, lit]);
            }
            for (segment, owners) in owners.iter().enumerate() {
                let mut clause = vec![!bound, !happens, owners[&chain]];
                clause.extend(segment.checked_sub(1).map(|fence| !behind[fence]));
                clause.extend(behind.get(segment));
                self.add_clause(&clause);
            }
        }
        bound
    }

    /// A literal for each chain of the events, at most one of which holds.
    fn add_owners(&mut self, events: &[(Node, Lit)]) -> BTreeMap<Chain, Lit> {
        let mut owners = BTreeMap::new();
        for &(event, _) in events {
            let chain = self.chain_of(event);
            if !owners.contains_key(&chain) {
                let owner = self.new_literal();
                owners.values().for_each(|&other: &Lit| self.add_clause(&[!owner, !other]));
                owners.insert(chain, owner);
            }
        }
        owners
    }
}
