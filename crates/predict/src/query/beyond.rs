//! Behind a branch that was not taken: the interpreter is led to the branch, and goes on by itself.
//!
//! Nothing is known there but the program. So it is run on, along two schedules: the thread that has taken the branch
//! runs until it has to wait, and the others then; and the other way round. That finds what goes wrong behind most
//! branches that matter (a lock is taken, shared memory is read, something is compared), and proves nothing. A schedule
//! ends where the program asks for an input: what was recorded is not for this path.

use crate::program::event::{EventId, TraceProgram, UntakenId};
use crate::program::window::Segment;
use crate::query::confirm::is_asked_for;
use crate::query::follow::{Followed, Leader, Reached, Stray};
use crate::query::prediction::PredictOptions;
use leno_engine::Properties;
use leno_engine::witness::{claim_race, claim_violation};
use leno_ir::interp::{Image, Source, Status, ThreadId};
use leno_ir::program::Program;
use leno_ir::witness::Claim;

/// Steps of one schedule.
const MOST_STEPS: usize = 100_000;
/// Steps of one thread after which others go on: it may wait for them in a loop.
const STEPS_IN_A_ROW: usize = 5_000;

/// Who goes first behind the branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    TheThread,
    TheOthers,
}

/// What goes wrong behind a branch that is taken at the end of this order; none if nothing is seen.
pub(crate) fn follow_beyond(
    program: &Program,
    ctp: &TraceProgram,
    prefix: &[Segment],
    untaken: UntakenId,
    order: &[EventId],
    options: &PredictOptions,
) -> Option<Reached> {
    let image = Image::new(program);
    for first in [First::TheThread, First::TheOthers] {
        if options.limits.stop().is_some() {
            return None;
        }
        let mut leader = Leader::new(&image, ctp, &options.machine, &options.input);
        leader.limits = options.limits.clone();
        let claim = match leader.beyond(ctp, prefix, untaken, order, first, options.properties) {
            Ok(claim) => claim,
            Err(Stray::Violation(violation)) => Some(claim_violation(&violation)),
            Err(Stray::Lost(_) | Stray::Ended(_)) => None,
        };
        if let Some(claim) = claim.filter(|claim| is_asked_for(claim, options.properties)) {
            let is_tainted = leader.follower.machine.is_tainted();
            return Some(Reached { witness: leader.follower.into_witness(claim), is_tainted, wrong_at: None });
        }
    }
    None
}

impl Leader<'_> {
    fn beyond(
        &mut self,
        ctp: &TraceProgram,
        prefix: &[Segment],
        untaken: UntakenId,
        order: &[EventId],
        first: First,
        properties: Properties,
    ) -> Followed<Option<Claim>> {
        self.follow_prefix(ctp, prefix)?;
        for &id in order {
            self.pass_event(ctp, id)?;
        }
        let branch = &ctp.untaken[untaken];
        let thread = self.find(&ctp.threads[&branch.thread].name)?;
        self.stand(thread, branch.point)?;
        self.is_free = true;
        self.go_to_next_point(thread)?;
        for other in self.machine().threads().ids().collect::<Vec<_>>() {
            self.go_to_next_point(other)?;
        }
        let given = self.follower.inputs.given().len();
        let mut turn = match first {
            First::TheThread => Some(thread),
            First::TheOthers => self.next_turn(thread),
        };
        let mut steps = 0;
        while steps < MOST_STEPS {
            let Some(current) = turn else { break };
            steps += 1;
            if let Some(claim) = self.race_at(current, properties) {
                return Ok(Some(claim));
            }
            for _ in 0..STEPS_IN_A_ROW {
                if !self.can_go_on(current) {
                    break;
                }
                steps += 1;
                self.step(current)?;
                if self.asks_for_more(given) {
                    return Ok(None);
                }
                if let Some(claim) = self.race_at(current, properties) {
                    return Ok(Some(claim));
                }
            }
            self.go_to_next_point(current)?;
            turn = self.next_turn(current);
        }
        let is_over = turn.is_none() && self.machine().threads().iter().any(|state| state.status == Status::Running);
        if is_over && properties.deadlock { self.deadlock(&[]).map(Some) } else { Ok(None) }
    }

    fn can_go_on(&self, thread: ThreadId) -> bool {
        self.machine().threads()[thread].status == Status::Running && self.machine().enabled(thread)
    }

    /// The next thread after this one that can go on.
    fn next_turn(&self, last: ThreadId) -> Option<ThreadId> {
        let all: Vec<ThreadId> = self.machine().threads().ids().collect();
        let start = all.iter().position(|thread| *thread == last).map_or(0, |index| index + 1);
        all.iter().cycle().skip(start).take(all.len()).copied().find(|thread| self.can_go_on(*thread))
    }

    /// Runs a thread up to its next schedule point.
    fn go_to_next_point(&mut self, thread: ThreadId) -> Followed<()> {
        for _ in 0..MOST_STEPS {
            if !self.can_go_on(thread) || self.machine().is_at_schedule_point(thread) {
                break;
            }
            self.step(thread)?;
        }
        Ok(())
    }

    /// Whether the program has asked for an input since so many were given.
    fn asks_for_more(&self, given: usize) -> bool {
        let new = self.follower.inputs.given().get(given..).unwrap_or_default();
        new.iter().any(|given| matches!(given.source, Source::Instruction | Source::External))
    }

    /// A race of what a thread is about to do with what another one is about to do.
    fn race_at(&self, thread: ThreadId, properties: Properties) -> Option<Claim> {
        let machine = self.machine();
        let stands = |thread: ThreadId| {
            machine.threads()[thread].status == Status::Running
                && machine.is_at_schedule_point(thread)
                && !machine.in_section(thread)
        };
        if !properties.race || !stands(thread) {
            return None;
        }
        let others = machine.threads().ids().filter(|other| *other != thread && stands(*other));
        others.into_iter().find_map(|other| claim_race(machine, thread, other))
    }
}
