//! From a trace to its trace program: two walks.
//!
//! The first walk finds out which memory threads share; the second makes events of the accesses to it.

use crate::program::builder::EventBuilder;
use crate::program::event::{ThreadEvents, TraceProgram};
use crate::program::fork_join_order::ForkJoinOrder;
use crate::walk::Walk;
use crate::walk::objects::Instances;
use crate::walk::sharing_pass::{Sharing, SharingPass};
use crate::walk::thread::ThreadSummary;
use leno_ir::program::{Place, Program};
use leno_logic::limits::{Limits, Stop};
use leno_trace::{ThreadIndex, ThreadPrivate, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What the first walk finds out.
pub(crate) struct FirstPass {
    pub private: ThreadPrivate,
    pub instances: Instances,
    pub must: Rc<ForkJoinOrder>,
    pub sharing: Sharing,
    /// The threads, still without events.
    pub threads: BTreeMap<ThreadIndex, ThreadEvents>,
    /// What could not be walked, in words.
    pub gaps: Vec<String>,
}

impl FirstPass {
    pub(crate) fn new(program: &Program, trace: &Trace, limits: &Limits) -> Result<FirstPass, Stop> {
        let private = ThreadPrivate::new(program);
        let mut instances = Instances::collect(program, trace);
        let mut walk = Walk::new(program, &private, trace, &mut instances, SharingPass::default(), limits);
        let summaries = walk.run()?;
        let pass = std::mem::take(&mut walk.listener);
        drop(walk);
        let must = Rc::new(ForkJoinOrder::new(&pass.thread_steps));
        let sharing = Sharing::new(program, &instances, &must, &pass);
        let gaps = gaps(trace, &summaries);
        let thread = |ThreadSummary { name, finished, points, inputs, .. }| ThreadEvents {
            name,
            events: Vec::new(),
            finished,
            points,
            inputs,
        };
        let threads = summaries.into_iter().map(|(id, summary)| (id, thread(summary))).collect();
        Ok(FirstPass { private, instances, must, sharing, threads, gaps })
    }
}

/// What the walks do not cover, in words.
fn gaps(trace: &Trace, threads: &BTreeMap<ThreadIndex, ThreadSummary>) -> Vec<String> {
    let mut gaps: Vec<String> = trace.damage.clone();
    if trace.foreign_threads > 0 {
        let count = trace.foreign_threads;
        gaps.push(format!("{count} threads were not started by the program itself, and are left out"));
    }
    for (id, thread) in threads {
        gaps.extend(trace.handler_runs.get(id).map(|count| {
            let times = if *count == 1 { "once".to_string() } else { format!("{count} times") };
            format!(
                "{}: a signal handler ran {times}, and what it did is seen only where the program read it later",
                thread.name
            )
        }));
        gaps.extend(thread.problem.as_ref().map(|problem| format!("{}: {problem}", thread.name)));
    }
    gaps
}

/// Walks the trace twice, and gives its events; fails only if a limit is reached.
pub fn build(program: &Program, trace: &Trace, limits: &Limits) -> Result<TraceProgram, Stop> {
    let mut first = FirstPass::new(program, trace, limits)?;
    let builder = EventBuilder::new(std::mem::take(&mut first.sharing), &first.private, trace);
    let FirstPass { private, mut instances, must, threads, mut gaps, .. } = first;
    let mut walk = Walk::new(program, &private, trace, &mut instances, builder, limits);
    walk.run()?;
    gaps.extend(walk.add_pending());
    gaps.extend(walk.callback_gap());
    let left_out = std::mem::take(&mut walk.left_out);
    let Walk { terms, listener: mut builder, .. } = walk;
    let mut built = builder.take_program(terms, threads, must, gaps);
    built.infer_recorded_values(&FxHashMap::default());
    built.left_out = left_out;
    built.leave_out_unfinished();
    Ok(built)
}

/// The places of the schedule points that each thread passed, by its name: what a reordering of the run may do, and no
/// more.
pub fn paths(program: &Program, trace: &Trace, limits: &Limits) -> Result<BTreeMap<String, Vec<Place>>, Stop> {
    let private = ThreadPrivate::new(program);
    let mut instances = Instances::collect(program, trace);
    let mut walk = Walk::new(program, &private, trace, &mut instances, SharingPass::default(), limits);
    walk.paths = Some(BTreeMap::new());
    let threads = walk.run()?;
    let mut paths = walk.paths.take().unwrap_or_default();
    Ok(threads.into_iter().map(|(id, thread)| (thread.name, paths.remove(&id).unwrap_or_default())).collect())
}
