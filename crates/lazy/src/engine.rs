//! The lazy engine behind the contract that all engines share: depth after depth, until something is found or nothing
//! is left.

use crate::efsm::Efsm;
use crate::layout::Copies;
use crate::token::{Reductions, Token};
use crate::unroll::Unroller;
use crate::witness::{follow, plan};
use leno_engine::{
    Context, Counterexample, Covered, Engine, Outcome, Properties, Reason, SourcePlace, Statistics, Stop, Task,
    Unknown, Verdict,
};
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::features::has_op;
use leno_ir::program::{Op, Reuse, SyncOp};
use leno_logic::core::Answer;
use leno_logic::literal::Lit;
use std::time::{Duration, Instant};

/// Bounded model checking of threads that may loop for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyEngine {
    /// How many steps each thread makes at most.
    pub depth: Option<u32>,
    /// How many threads one place may start, and how many objects a thread may allocate at one place.
    pub threads: u32,
    pub allocations: u32,
    pub reductions: Reductions,
}

impl Default for LazyEngine {
    fn default() -> LazyEngine {
        LazyEngine { depth: None, threads: 8, allocations: 4, reductions: Reductions::default() }
    }
}

/// What came of one depth.
enum Found {
    /// Nothing, and there may be more at larger depths.
    Open,
    Verdict(Verdict),
}

impl Engine for LazyEngine {
    fn name(&self) -> &'static str {
        "lazy"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        let efsm = Efsm::new(facts);
        let copies = Copies { threads: self.threads, allocations: self.allocations };
        let unroller = match Unroller::new(&efsm, task.properties, copies) {
            Ok(unroller) => unroller,
            Err(refused) => {
                let verdict = Verdict::unknown(refused.0, "--engine staged or --engine explore");
                let statistics = Statistics::default();
                return Outcome { verdict, covered: Covered::nothing(), assumptions: Vec::new(), statistics };
            }
        };
        let token = Token::new(&unroller, self.reductions, &context.limits);
        Search {
            engine: self,
            facts,
            task,
            context,
            unroller,
            token,
            solving: Duration::ZERO,
            unrolling: Duration::ZERO,
        }
        .run()
    }
}

struct Search<'a, 'p> {
    engine: &'a LazyEngine,
    facts: &'a Facts<'a>,
    task: &'a Task,
    context: &'a Context,
    unroller: Unroller<'p>,
    token: Token,
    solving: Duration,
    unrolling: Duration,
}

impl Search<'_, '_> {
    fn run(mut self) -> Outcome {
        let mut covered = None;
        let mut depth = 0;
        loop {
            if let Some(stop) = self.context.limits.stop() {
                return self.outcome(limit(stop), covered);
            }
            let start = Instant::now();
            self.unroller.unroll_to(depth);
            let more = self.token.extend(&mut self.unroller, &self.task.reported);
            self.unrolling += start.elapsed();
            if self.is_checkpoint(depth) {
                let start = Instant::now();
                let found = self.look(more, depth);
                self.solving += start.elapsed();
                match found {
                    Found::Verdict(verdict) => return self.outcome(verdict, covered.or(Some(depth))),
                    Found::Open => covered = Some(depth),
                }
                self.context.progress.cover(explored(depth));
            }
            if self.engine.depth.is_some_and(|last| depth >= last) {
                let reason = format!("there are executions in which a thread makes more than {depth} steps");
                return self.outcome(Verdict::unknown(reason, "a larger --depth"), covered);
            }
            depth += 1;
        }
    }

    /// The solver is asked at each of the first depths, and then less and less often.
    fn is_checkpoint(&self, depth: u32) -> bool {
        let is_last = self.engine.depth.is_some_and(|last| depth >= last);
        is_last || self.unroller.pending() == 0 || depth < 64 || depth.is_multiple_of(depth.ilog2() - 3)
    }

    fn look(&mut self, more: Lit, depth: u32) -> Found {
        let limits = &self.context.limits;
        match self.token.solve(more, false, limits) {
            Answer::Unsatisfiable => {}
            Answer::Unknown(stop) => return Found::Verdict(limit(stop)),
            Answer::Satisfiable => {
                // (The interpreter takes undefined values to be zero.)
                return Found::Verdict(match self.token.solve(more, true, limits) {
                    Answer::Satisfiable => self.violation(depth),
                    Answer::Unknown(stop) => limit(stop),
                    Answer::Unsatisfiable => Verdict::unknown(
                        format!("a violation at depth {depth} that depends on an undefined value"),
                        "--engine explore tries which values matter",
                    ),
                });
            }
        }
        let gaps: Vec<_> = self.unroller.gaps.iter().map(|gap| gap.path).collect();
        let gap = self.unroller.terms.or(&gaps);
        match self.token.can_hold(&self.unroller, more, gap, limits) {
            Answer::Unsatisfiable => {}
            Answer::Unknown(stop) => return Found::Verdict(limit(stop)),
            Answer::Satisfiable => return Found::Verdict(self.gap()),
        }
        let unfinished = self.unroller.unfinished();
        match self.token.can_hold(&self.unroller, more, unfinished, limits) {
            Answer::Satisfiable => Found::Open,
            Answer::Unknown(stop) => Found::Verdict(limit(stop)),
            Answer::Unsatisfiable => Found::Verdict(self.complete()),
        }
    }

    fn violation(&mut self, depth: u32) -> Verdict {
        let unconfirmed = |why: &str| {
            let reason = format!("a violation at depth {depth} that the interpreter does not follow: {why}");
            Verdict::unknown(reason, "--engine staged or --engine explore")
        };
        let Some(goal) = self.token.reached() else { return unconfirmed("the model violates nothing") };
        let plan = plan(&self.unroller, &mut self.token);
        match follow(&self.unroller, &self.token, &plan, goal) {
            Ok((witness, is_tainted)) => Verdict::Unsafe(Box::new(Counterexample { witness, is_tainted })),
            Err(why) => unconfirmed(&why),
        }
    }

    /// An execution goes where the engine cannot follow it.
    fn gap(&mut self) -> Verdict {
        let assignment = self.token.solver.model(&self.unroller.terms);
        let mut evaluation = leno_logic::term::Evaluation::new(&self.unroller.terms, &assignment);
        let gap = self.unroller.gaps.iter().find(|gap| evaluation.holds(gap.path));
        let reason = gap.map_or("something cannot be followed".to_string(), |gap| {
            let place = SourcePlace::of(self.facts.program(), gap.span);
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            format!("{}{place}", gap.reason)
        });
        Verdict::unknown(reason, "--engine staged or --engine explore")
    }

    /// All executions have been looked at; but not at everything that was asked.
    fn complete(&self) -> Verdict {
        match not_looked_for(self.facts, &self.task.properties) {
            None => Verdict::Safe,
            Some(what) => Verdict::unknown(what, "--engine staged, or fewer properties with --property"),
        }
    }

    fn outcome(self, verdict: Verdict, depth: Option<u32>) -> Outcome {
        let covered = match (&verdict, depth) {
            (Verdict::Safe, _) => Covered::statement("no violation under any schedule and for any input")
                .with(format!("no thread makes more than {} steps", depth.unwrap_or(0))),
            (Verdict::Unsafe(_), Some(depth)) => {
                Covered::statement(format!("the search ended at the first violation, at depth {depth}"))
            }
            (_, Some(depth)) => explored(depth),
            (_, None) => Covered::nothing(),
        };
        let mut statistics = Statistics::default();
        statistics.count("depth", depth.unwrap_or(0).into());
        statistics.count("threads", self.unroller.threads.iter().filter(|thread| thread.is_begun()).count() as u64);
        statistics.count("steps", self.unroller.steps.len() as u64);
        statistics.count("reads", self.unroller.reads.len() as u64);
        statistics.count("writes", self.unroller.writes.len() as u64);
        statistics.count("pairs", self.token.counts.pairs);
        statistics.count("locked_out", self.token.counts.locked_out);
        statistics.count("out_of_order", self.token.counts.out_of_order);
        statistics.count("terms", self.unroller.terms.len() as u64);
        statistics.count("conflicts", self.token.solver.statistics().conflicts);
        statistics.time("unrolling", self.unrolling);
        statistics.time("solving", self.solving);
        Outcome { verdict, covered, assumptions: Vec::new(), statistics }
    }
}

fn explored(depth: u32) -> Covered {
    Covered::statement(format!("no violation in executions in which each thread makes at most {depth} steps"))
        .with(format!("explored to depth {depth}"))
}

fn limit(stop: Stop) -> Verdict {
    Verdict::Unknown(Unknown { reason: Reason::Limit(stop), advice: "more time, or --engine staged".to_string() })
}

/// What is asked for, but not looked for by this engine in this program.
fn not_looked_for(facts: &Facts<'_>, properties: &Properties) -> Option<String> {
    let program = facts.program();
    let waits = |op: &Op| {
        use SyncOp::{BarrierLeave, CondRelock, CondWake, Lock, OnceBegin, ReadLock, SemWait, WriteLock};
        match op {
            Op::Join { .. } => true,
            Op::Sync { op, .. } => matches!(
                op,
                Lock(_)
                    | CondRelock
                    | CondWake { .. }
                    | ReadLock
                    | WriteLock
                    | SemWait
                    | BarrierLeave { .. }
                    | OnceBegin
            ),
            _ => false,
        }
    };
    let what = match () {
        () if properties.leak || properties.memtrack => "leaks of memory are not looked for by this engine",
        () if properties.deadlock && has_op(program, waits) => "deadlocks are not looked for by this engine",
        () if properties.race && has_op(program, Op::may_see_without_order) => {
            "races that need weaker orders than seq_cst are not looked for by this engine"
        }
        () if properties.race && has_op(program, |op| matches!(op, Op::AtomicBegin)) => {
            "races with atomic sections are not looked for by this engine"
        }
        () if program.reuse != Reuse::Unnoticed => "freed memory may be given out again, which is not looked at",
        () => return None,
    };
    Some(what.to_string())
}
