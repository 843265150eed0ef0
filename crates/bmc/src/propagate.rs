//! Values of reads that can copy one write only: they are that write's value, everywhere.
//!
//! Arguments of threads, configuration that is written before threads start, results that are read after they have been joined: with their
//! values known, addresses and conditions that depend on them become constants. Each of these reads is replaced by what it
//! reads, which may itself be made of reads that are replaced; since what is read was written before, there is an end to it.
//!
//! The value of a read that does not occur is nobody's business, so the replacement needs no condition.

use crate::pieces::Pieces;
use crate::prune::MayCopy;
use crate::summarize::Summarizer;
use leno_logic::term::{Node, Substitution, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces what can be replaced in the skeleton. False if nothing can.
pub fn propagate(summary: &mut Summarizer<'_>, pieces: &Pieces, may_copy: &[Option<MayCopy>]) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    for (read, may_copy) in pieces.reads.iter().zip(may_copy) {
        let Some(may_copy) = may_copy else { continue };
        if !matches!(summary.terms.node(read.unit.value), Node::Variable(_)) {
            continue;
        }
        // (Where something may overwrite what is read, it still has to be found out whether it can be read at all.)
        if let ([only], false, true) = (may_copy.writes.as_slice(), may_copy.initial, may_copy.overwriting.is_empty()) {
            let value = pieces.writes[*only].unit.value;
            values.insert(read.unit.value, value);
        }
    }
    summary.replace_reads(values)
}

impl Summarizer<'_> {
    /// Puts values in the place of reads, everywhere. False if there are none.
    pub(crate) fn replace_reads(&mut self, values: FxHashMap<Term, Term>) -> bool {
        if values.is_empty() {
            return false;
        }
        let replaced: FxHashSet<Term> = values.keys().copied().collect();
        let mut substitution = Substitution::nested(values);
        let mut skeleton = std::mem::take(&mut self.skeleton);
        for unit in skeleton.events.iter_mut().flat_map(|event| &mut event.reads) {
            if replaced.contains(&unit.value) {
                // There is nothing left to find out about it.
                unit.condition = Term::FALSE;
            }
        }
        skeleton.replace(|term| substitution.apply(&mut self.terms, term));
        self.skeleton = skeleton;
        true
    }
}
