//! Fewer context switches: a witness as a person would tell it.
//!
//! An engine finds *a* schedule that fails. People understand the one best in which threads take turns least often. So
//! before a witness is shown, it is made shorter, whichever engine found it, in three steps that only need the
//! interpreter:
//!
//! 1. `linearize`: what did not have to happen before the violation is left out, and the rest is put into the order
//!    with the fewest switches among those that respect every dependence; nothing else about the execution changes.
//! 2. `merge`: blocks of a thread's events are dropped, or moved to the thread's next or previous block, whatever they
//!    depend on (after Jalbert and Sen, *A Trace Simplification Technique for Effective Debugging of Concurrent
//!    Programs*, FSE 2010), as long as the interpreter still comes to the same violation.
//! 3. `levels`: all schedules with no switch, then with one, and so on, as far as the budget goes. When it does not
//!    run out, the witness has the fewest switches that there can be, with the inputs that it has.
//!
//! Whatever they propose is run again from the start, and counts only if it ends in the same kind of violation at the
//! same place. Effort is counted in steps of the interpreter, not in time, so that the result is the same on every
//! machine.

mod execution;
mod goal;
mod levels;
mod linearize;
mod merge;

use crate::visible_step::Statics;
use execution::{Course, Schedule};
use goal::Goal;
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Image, Options};
use leno_ir::witness::Witness;

/// Steps of the interpreter, or words copied: about a quarter of a second.
const BUDGET: u64 = 10_000_000;

/// How often another thread takes over.
pub fn context_switches(witness: &Witness) -> usize {
    witness.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

/// A witness of the same violation, with as few context switches as can be found; at worst the same one. `options` are
/// those under which the witness was found.
pub fn shorten(facts: &Facts<'_>, witness: &Witness, options: &Options) -> Witness {
    let Some(goal) = Goal::of(&witness.claim) else { return witness.clone() };
    let image = Image::new(facts.program());
    let statics = Statics::new(facts, &image);
    let course = Course::new(&image, &statics, options, goal, &witness.inputs, BUDGET);
    match course.shorten(witness) {
        Some(shorter) if context_switches(&shorter) <= context_switches(witness) => shorter,
        _ => witness.clone(),
    }
}

impl Course<'_, '_> {
    fn shorten(&self, witness: &Witness) -> Option<Witness> {
        let followed = self.follow(witness)?;
        let mut best = Schedule::from_events(&followed);
        if let Some(shorter) = self.linearize(&best) {
            best = shorter;
        }
        self.merge(&mut best);
        if let Some(shorter) = self.levels(best.blocks.len()) {
            best = shorter;
        }
        self.write_down(&best)
    }
}
