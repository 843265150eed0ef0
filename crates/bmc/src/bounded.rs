//! The bounded program: what summarising leaves, and all that pruning, composition, printing and witnesses need of it.
//!
//! There are no loops and no calls any more: `summarize` unrolls them, and is the only place that makes one of these.
//! Pruning and composition simplify and extend its terms.

use crate::facts::ProgramFacts;
use crate::skeleton::Skeleton;
use crate::skeleton::layout::{InstanceId, Layout};
use crate::summarize::Refused;
use crate::{Reported, Task};
use leno_engine::Properties;
use leno_logic::term::{Substitution, Term, Terms};
use leno_symbolic::contents::Initial;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What is asked of a bounded program.
#[derive(Clone, Copy)]
pub struct Question<'p> {
    pub properties: Properties,
    /// Violations that are known already, and not looked for.
    pub reported: &'p BTreeSet<Reported>,
    interrupted: &'p dyn Fn() -> bool,
}

impl<'p> Question<'p> {
    /// The question of a task. `interrupted` is called often; once it has returned true, it must do so for ever.
    pub fn new(task: &'p Task, interrupted: &'p dyn Fn() -> bool) -> Question<'p> {
        Question { properties: task.properties, reported: &task.reported, interrupted }
    }

    /// Whether to stop. What has been computed by then is incomplete, and must not be used.
    pub fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }
}

/// See the module.
pub struct BoundedProgram<'p> {
    pub facts: &'p ProgramFacts<'p>,
    pub question: Question<'p>,
    pub terms: Terms,
    pub skeleton: Skeleton,
    pub layout: Layout<'p>,
    /// Variables that stand for other terms (none but in the mode without summaries).
    pub equations: FxHashMap<Term, Term>,
    /// Calls that were made by a summary of the function.
    pub instantiated: usize,
    /// Whether a loop was cut in a cheap first round that would not have been cut otherwise.
    pub is_cut_short: bool,
}

impl BoundedProgram<'_> {
    /// A constant address, as a term.
    pub fn pointer(&mut self, address: u64) -> Term {
        self.layout.pointer(&mut self.terms, address)
    }

    /// Whether an access lies within an instance.
    pub fn is_inside(&mut self, id: InstanceId, address: Term, bytes: u64, writes: bool) -> Term {
        self.layout.is_inside(&mut self.terms, id, address, bytes, writes)
    }

    /// What some bytes hold before the first write.
    pub fn initial_bytes(&mut self, initial: Initial, offset: u64, bytes: u32) -> Result<Term, Refused> {
        self.layout.initial_bytes(&mut self.terms, initial, offset, bytes)
    }

    /// What is at a known address before the first write, if that is defined.
    pub fn initial_value(&mut self, address: Term, bytes: u32) -> Option<Term> {
        let address = self.terms.as_bits(address)? as u64;
        let instance = self.layout.get(self.layout.at(address)?);
        let (initial, offset) = (instance.initial, address.checked_sub(instance.base)?);
        if initial == Initial::Undefined || offset + u64::from(bytes) > instance.size {
            return None;
        }
        self.initial_bytes(initial, offset, bytes).ok()
    }

    /// Puts values in the place of reads, everywhere. False if there are none.
    pub fn replace_reads(&mut self, values: FxHashMap<Term, Term>) -> bool {
        if values.is_empty() {
            return false;
        }
        let replaced: FxHashSet<Term> = values.keys().copied().collect();
        let mut substitution = Substitution::nested(values);
        for event in self.skeleton.events.iter_mut() {
            let is_kept = self.facts.has_weak_orders && event.is_plain && event.is_atomic;
            for unit in event.reads.iter_mut().filter(|unit| replaced.contains(&unit.value)) {
                if is_kept && unit.condition != Term::FALSE {
                    event.known_reads.push(*unit);
                }
                // Its value is known: there is no need to link it.
                unit.condition = Term::FALSE;
            }
        }
        self.skeleton.replace(|term| substitution.apply(&mut self.terms, term));
        true
    }
}
