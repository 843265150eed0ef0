//! A trace of any length, in bounded memory: the second walk goes only as far as the next window needs.
//!
//! The walk makes events nearly in the order of the recorded clock. An event is *settled* if no thread can make an
//! event before it any more. When there are more settled events than a window holds, the window is searched; then its
//! first half is retired: memory holds what was written, variables that were read become constants, and terms move to a
//! new arena. Of the prefix only the order of the threads is kept, one pair of numbers for each context switch, so that
//! the interpreter can be brought to where the window begins.

use crate::program::build::FirstPass;
use crate::program::builder::EventBuilder;
use crate::program::event::{EventId, Kind, ThreadEvents, TraceProgram};
use crate::program::fork_join_order::ForkJoinOrder;
use crate::program::term_migration::TermMigration;
use crate::program::window::{Frontier, NextStep, Prefix, Window, recorded_order};
use crate::query::confirm::{Confirmation, Confirmer};
use crate::query::global_deadlock::{is_possible_in, waits};
use crate::query::prediction::{PredictOptions, Prediction, Reach, Stats};
use crate::query::question::questions;
use crate::query::search::{Search, predict_events};
use crate::walk::Walk;
use leno_ir::program::Program;
use leno_trace::{ThreadIndex, Trace};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// The second walk, between two windows.
struct Stream<'p, 't> {
    walk: Walk<'p, 't, EventBuilder>,
    threads: BTreeMap<ThreadIndex, ThreadEvents>,
    must: Rc<ForkJoinOrder>,
    prefix: Prefix,
    is_over: bool,
    /// What the walk could not cover, in words.
    gaps: Vec<String>,
}

/// What becomes of all windows together.
struct Progress {
    gaps: Vec<String>,
    stats: Stats,
}

/// Looks for a reordering of a recorded run that violates a property: in all of it at once, or in windows if it is
/// long.
pub fn predict(program: &Program, trace: &Trace, options: &PredictOptions) -> Prediction {
    let start = Instant::now();
    let size = options.window.unwrap_or(usize::MAX).max(2);
    let mut first = match FirstPass::new(program, trace, &options.limits) {
        Ok(first) => first,
        Err(stop) => return Prediction::stopped(stop, trace.damage.clone()),
    };
    let builder = EventBuilder::new(std::mem::take(&mut first.sharing), &first.private, trace);
    let FirstPass { private, mut instances, must, threads, gaps, .. } = first;
    let mut walk = Walk::new(program, &private, trace, &mut instances, builder, &options.limits);
    walk.start();
    let mut stream = Stream { walk, threads, must, prefix: Prefix::default(), is_over: false, gaps };
    let is_long = stream.fill(size);
    let walk_seconds = start.elapsed().as_secs_f64();
    let mut prediction = match (stream.walk.stopped, is_long) {
        (Some(stop), _) => Prediction::stopped(stop, std::mem::take(&mut stream.gaps)),
        (None, true) => stream.predict_in_windows(program, options, size),
        (None, false) => predict_events(program, &mut stream.take_program(), options),
    };
    prediction.stats.walk_seconds += walk_seconds;
    prediction
}

impl Stream<'_, '_> {
    /// Walks until there are more settled events than a window holds; false if there are no more than that in all.
    fn fill(&mut self, size: usize) -> bool {
        let mut enough = size.saturating_add(1);
        while !self.is_over {
            let count = self.walk.listener.event_count();
            if count >= enough {
                if self.walk.listener.events_before(self.walk.horizon()) > size {
                    return true;
                }
                enough = count + size / 8 + 1;
            }
            if !self.walk.advance_next() {
                self.gaps.extend(self.walk.add_pending());
                self.gaps.extend(self.walk.callback_gap());
                self.is_over = true;
            }
        }
        self.walk.listener.event_count() > size
    }

    /// The events that have been made and not retired, as a trace program.
    fn take_program(&mut self) -> TraceProgram {
        let (terms, threads) = (std::mem::take(&mut self.walk.terms), std::mem::take(&mut self.threads));
        let gaps = std::mem::take(&mut self.gaps);
        let mut ctp = self.walk.listener.take_program(terms, threads, Rc::clone(&self.must), gaps);
        ctp.infer_recorded_values(&self.prefix.memory);
        ctp.left_out = self.walk.left_out.clone();
        if self.is_over {
            ctp.leave_out_unfinished();
        }
        ctp
    }

    fn predict_in_windows(&mut self, program: &Program, options: &PredictOptions, size: usize) -> Prediction {
        let mut progress = Progress {
            gaps: std::mem::take(&mut self.gaps),
            stats: Stats { threads: self.threads.len(), ..Stats::default() },
        };
        progress.gaps.push(format!(
            "the trace was searched in windows of {size} events that overlap by half: violations that need events from \
             further apart, or another order before a window, are missed"
        ));
        let mut confirmer = Confirmer::new(program, options);
        let mut within = Reach::Windows;
        loop {
            let mut ctp = self.take_program();
            progress.gaps.append(&mut ctp.gaps);
            confirmer.left_out = std::mem::take(&mut ctp.left_out);
            progress.stats.accesses = ctp.accesses;
            let order = recorded_order(&ctp);
            let inside = &order[..order.len().min(size)];
            let reach = self.search_window(options, &mut ctp, inside, &mut confirmer, &mut progress);
            if !matches!(reach, Reach::All | Reach::Windows) {
                within = reach;
            }
            let is_last = self.is_over && inside.len() == order.len();
            if is_last || matches!(reach, Reach::First | Reach::Stopped(_)) {
                progress.stats.events += order.len();
                if is_last && !matches!(reach, Reach::First | Reach::Stopped(_)) {
                    progress.gaps.extend(confirmer.follow_run(&ctp, &self.prefix.segments, &order));
                }
                return confirmer.conclude(within, progress.gaps, progress.stats);
            }
            let gone = &order[..size / 2];
            progress.stats.events += gone.len();
            self.retire(ctp, gone);
            let start = Instant::now();
            self.fill(size);
            progress.stats.walk_seconds += start.elapsed().as_secs_f64();
            if let Some(stop) = self.walk.stopped.or(options.limits.stop()) {
                return confirmer.conclude(Reach::Stopped(stop), progress.gaps, progress.stats);
            }
        }
    }

    /// These events have happened, and need not be kept.
    fn retire(&mut self, ctp: TraceProgram, gone: &[EventId]) {
        self.prefix.add(&ctp, gone);
        let threads = &mut self.walk.threads;
        let others = |terms: &mut TermMigration<'_>| Walk::<EventBuilder>::migrate_terms(threads, terms);
        (self.walk.terms, self.threads) = self.walk.listener.retire(ctp, gone, others);
    }

    /// The next step of each thread behind a window of these events: if all threads may be blocked within the window,
    /// and it is known of each thread what it does next.
    fn frontier(&mut self, program: &Program, ctp: &TraceProgram, order: &[EventId]) -> Option<Frontier> {
        let mut counts: BTreeMap<ThreadIndex, usize> = BTreeMap::new();
        for id in order {
            *counts.entry(ctp.event(*id).thread).or_default() += 1;
        }
        let mut frontier = Frontier::new();
        for (id, thread) in &ctp.threads {
            let count = counts.get(id).copied().unwrap_or(0);
            match thread.events.get(count).map(|next| (*next, ctp.event(*next))) {
                Some((next, event)) if waits(program, event) => {
                    frontier.insert(*id, NextStep { event: event.clone(), origin: Some(next) });
                }
                // It has not begun, or has events in the window before it may be blocked.
                Some((_, event)) if count > 0 || matches!(event.kind, Kind::Start) => {}
                Some(_) => return None,
                None => {
                    if let Some((at, child)) = self.walk.awaited_thread(*id) {
                        let event = self.walk.listener.next_event(&ctp.terms, &at, Kind::Join { child }, true);
                        frontier.insert(*id, NextStep { event, origin: None });
                    }
                }
            }
        }
        let inside = order.iter().map(|id| ctp.event(*id));
        let next = frontier.values().map(|next| &next.event).filter(|event| !matches!(event.kind, Kind::Join { .. }));
        is_possible_in(program, inside.chain(next)).then_some(frontier)
    }

    /// Searches the window of these events.
    fn search_window(
        &mut self,
        options: &PredictOptions,
        ctp: &mut TraceProgram,
        order: &[EventId],
        confirmer: &mut Confirmer<'_>,
        progress: &mut Progress,
    ) -> Reach {
        let program = confirmer.program;
        let frontier = options.properties.deadlock.then(|| self.frontier(program, ctp, order)).flatten();
        let knows_all = frontier.is_some();
        let mut window = Window::new(ctp, order, &frontier.unwrap_or_default(), &self.prefix);
        // In most windows of most runs there is no question, and nothing has to be encoded.
        if questions(Some(program), &window.ctp, options, knows_all).0.is_empty() {
            window.give_back(ctp);
            progress.stats.windows += 1;
            return Reach::Windows;
        }
        let mut search = Search::new(Some(program), &mut window.ctp, options, knows_all, &mut progress.gaps);
        let Window { ctp: inner, origin, targets } = &window;
        let (whole, segments) = (&*ctp, &self.prefix.segments);
        let reach = search.run(inner, options, &mut |_, question, here, bound| {
            let here: Vec<EventId> = here.iter().filter_map(|id| origin[*id]).collect();
            let Some(question) = question.in_whole(origin, targets) else {
                let title = question.title(inner);
                progress.gaps.push(format!("a {title} that begins before its window could not be confirmed"));
                return Confirmation::Unconfirmed;
            };
            confirmer.confirm(whole, segments, &question, &here, bound)
        });
        search.add_to(&mut progress.stats, &mut progress.gaps);
        window.give_back(ctp);
        reach
    }
}
