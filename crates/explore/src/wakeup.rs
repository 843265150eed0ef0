//! Wake-up trees: what must still be explored from a place in the search, and in which order.
//!
//! A tree of sequences of events (Abdulla, Aronis, Jonsson, Sagonas: *Optimal Dynamic Partial Order Reduction*, POPL 2014,
//! section 6). Inserting a sequence that the tree covers already, up to the order of independent events, changes
//! nothing; that is what makes the search explore every class of executions exactly once.

use crate::event::{Choice, Footprint};
use leno_ir::interp::ThreadId;

/// An event to come: who, what it will touch, and which nondeterministic values to give it (if it asks for more: every one).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    pub thread: ThreadId,
    pub footprint: Footprint,
    pub choices: Vec<Choice>,
}

impl Planned {
    pub fn is_dependent(&self, other: &Planned) -> bool {
        self.thread == other.thread || self.footprint.conflicts(&other.footprint)
    }
}

/// Ordered branches; a branch without children is a leaf.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WakeupTree {
    pub branches: Vec<(Planned, WakeupTree)>,
}

impl WakeupTree {
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Makes sure that the tree leads to an execution that starts like `sequence`, up to the order of independent events.
    /// False if it did already.
    pub fn insert(&mut self, mut sequence: Vec<Planned>) -> bool {
        let mut node = self;
        loop {
            if sequence.is_empty() {
                return false;
            }
            let Some(index) = node.branches.iter().position(|(first, _)| begins_with(&mut sequence.clone(), first))
            else {
                break;
            };
            begins_with(&mut sequence, &node.branches[index].0.clone());
            node = &mut node.branches[index].1;
            if node.is_empty() {
                return false; // a leaf: whatever is explored from here covers it
            }
        }
        let mut tree = WakeupTree::default();
        for planned in sequence.into_iter().rev() {
            tree = WakeupTree { branches: vec![(planned, tree)] };
        }
        node.branches.append(&mut tree.branches);
        true
    }
}

/// Whether `first` may come first in `sequence`: it is there with nothing before it that it depends on (it is then taken
/// out), or its thread is not there at all and it is independent of everything that is.
fn begins_with(sequence: &mut Vec<Planned>, first: &Planned) -> bool {
    match sequence.iter().position(|planned| planned.thread == first.thread) {
        Some(index) => {
            let is_initial = sequence[..index].iter().all(|earlier| !earlier.is_dependent(&sequence[index]));
            let same = is_initial && sequence[index].choices.starts_with(&first.choices);
            if same {
                sequence.remove(index);
            }
            same
        }
        // (With a certain value it stands for that one only.)
        None => first.choices.is_empty() && sequence.iter().all(|planned| !planned.is_dependent(first)),
    }
}

/// Whether a sleeping event could begin `sequence`: then all that the sequence leads to has been explored.
pub fn is_weak_initial(sleeping: &Planned, sequence: &[Planned]) -> bool {
    match sequence.iter().position(|planned| planned.thread == sleeping.thread) {
        Some(index) => {
            sequence[..index].iter().all(|earlier| !earlier.is_dependent(&sequence[index]))
                && sequence[index].choices.starts_with(&sleeping.choices)
        }
        None => sleeping.choices.is_empty() && sequence.iter().all(|planned| !planned.is_dependent(sleeping)),
    }
}
