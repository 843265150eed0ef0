//! Which branches another order may decide in another way.
//!
//! A refutation is about the recorded paths: each thread makes a beginning of its own. If some branch may go another
//! way, that is not all that reorderings of the run can do. So, when nothing else is found, every side that was not
//! taken is asked about. The interpreter follows an answer, and goes on behind the branch, along a few schedules
//! (`follow`). If something goes wrong there, it is a finding like any other. If not, what follows the branch is left
//! out, and the report says so. A branch that goes the same way in all orders leaves out nothing.

use crate::encode::Encoded;
use crate::program::event::{EventId, TraceProgram, UntakenId};
use crate::query::confirm::Confirmation;
use crate::query::prediction::PredictOptions;
use crate::query::question::Question;
use crate::query::search::{Confirm, shortest};
use leno_ir::program::Place;
use leno_logic::core::Answer;
use leno_logic::literal::Lit;
use std::collections::BTreeMap;

/// How often we go on behind the same side of a branch.
const MOST_ATTEMPTS: u32 = 3;
/// With more threads we do not ask how little each has to do.
const MOST_THREADS: usize = 16;
/// Conflicts of one call of the solver, before a branch counts as one that may go another way.
const MOST_CONFLICTS: u64 = 50_000;

/// The sides that were not taken, in the solver.
#[derive(Default)]
pub(crate) struct Untaken {
    questions: Vec<(UntakenId, Lit)>,
    /// Some side is taken.
    any: Option<Lit>,
}

impl Untaken {
    pub fn new(ctp: &mut TraceProgram, encoded: &mut Encoded) -> Untaken {
        let mut questions = Vec::new();
        for id in ctp.untaken.ids().collect::<Vec<_>>() {
            questions.push((id, Question::Untaken(id).literal(ctp, encoded)));
        }
        let any = encoded.solver.new_literal();
        let clause: Vec<Lit> = std::iter::once(!any).chain(questions.iter().map(|(_, literal)| *literal)).collect();
        encoded.solver.add_clause(&clause);
        Untaken { questions, any: Some(any) }
    }

    /// Asks which sides may be taken, and has them followed. True if a violation was confirmed, and one is enough.
    pub fn ask(
        &mut self,
        ctp: &TraceProgram,
        encoded: &mut Encoded,
        options: &PredictOptions,
        confirm: &mut Confirm<'_>,
    ) -> bool {
        let Some(any) = self.any else { return false };
        let mut limits = options.limits.clone();
        limits.conflicts = Some(MOST_CONFLICTS);
        let side = |id: UntakenId| (ctp.untaken[id].place, ctp.untaken[id].other_side());
        let mut attempts: BTreeMap<(Place, Place), u32> = BTreeMap::new();
        loop {
            let found = match encoded.solver.solve(&[any], &limits) {
                Answer::Unsatisfiable => return false,
                Answer::Satisfiable => self.questions.iter().find(|(_, literal)| encoded.solver.value(*literal)),
                Answer::Unknown(_) => None,
            };
            let Some(&(id, literal)) = found else {
                // It is not known of the others that they are never taken.
                let sides: BTreeMap<_, UntakenId> = self.questions.iter().map(|(id, _)| (side(*id), *id)).collect();
                for id in sides.into_values() {
                    confirm(ctp, &Question::Untaken(id), &[], None);
                }
                return false;
            };
            let order = encoded.schedule();
            let mut goes_wrong = |order: &[EventId]| {
                matches!(confirm(ctp, &Question::Untaken(id), order, None), Confirmation::Confirmed)
            };
            // What the others have done already cannot go wrong together with what comes: the less, the better.
            let is_confirmed = goes_wrong(&order)
                || ctp.threads.len() <= MOST_THREADS
                    && shortest(encoded, options, None, literal, order).is_some_and(|order| goes_wrong(&order));
            if is_confirmed && !options.all {
                return true;
            }
            let count = attempts.entry(side(id)).or_default();
            *count += 1;
            let is_enough = is_confirmed || *count >= MOST_ATTEMPTS;
            self.questions.retain(|(other, literal)| {
                let is_done = *other == id || (is_enough && side(*other) == side(id));
                if is_done {
                    encoded.solver.add_clause(&[!*literal]);
                }
                !is_done
            });
        }
    }
}
