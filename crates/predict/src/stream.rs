//! A trace of any length, in bounded memory: the second walk goes on only as far as the next window needs.
//!
//! The walk makes events in the order of the recorded clock, nearly: what no thread can make any more events before is settled. When a
//! window is full of settled events it is looked at; then its first half is left behind: memory holds what was written, variables that
//! were read become constants, and terms move to a new arena. Of the past only the order of the steps is kept, one pair of numbers
//! for each change of threads, so that the interpreter can be brought to where the window begins.

use crate::build::{Builder, Surveyed};
use crate::event::{Event, EventId, Kind, ThreadEvents, TraceProgram};
use crate::must::MustOrder;
use crate::predict::{Asking, Judge, PredictOptions, Prediction, Reach, Stats, predict};
use crate::question::questions;
use crate::stuck::{is_possible_in, waits};
use crate::trace::Trace;
use crate::walk::Walk;
use crate::window::{Past, Window, cut, recorded_order};
use leno_ir::program::Program;
use leno_logic::limits::Stop;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

struct Stream<'p, 't> {
    walk: Walk<'p, 't, Builder>,
    threads: BTreeMap<u32, ThreadEvents>,
    must: Rc<MustOrder>,
    past: Past,
    is_over: bool,
}

/// Looks for a reordering of a recorded run that goes wrong: all of it at once, or in windows if it is long.
pub fn predict_trace(program: &Program, trace: &Trace, options: &PredictOptions) -> Prediction {
    let start = Instant::now();
    let size = options.window.unwrap_or(usize::MAX).max(2);
    let mut surveyed = Surveyed::new(program, trace);
    let (threads, gaps) = surveyed.threads(trace);
    let builder = Builder::new(std::mem::take(&mut surveyed.sharing), &surveyed.privacy, trace);
    let Surveyed { privacy, mut instances, must, .. } = surveyed;
    let mut walk = Walk::new(program, &privacy, trace, &mut instances, builder);
    walk.start();
    let mut stream = Stream { walk, threads, must, past: Past::default(), is_over: false };
    let is_long = stream.fill(size);
    let walk_seconds = start.elapsed().as_secs_f64();
    let mut prediction = match is_long {
        true => stream.in_windows(program, options, size, gaps),
        false => predict(program, &mut stream.give(gaps), options),
    };
    prediction.stats.walk_seconds += walk_seconds;
    prediction
}

impl Stream<'_, '_> {
    /// Walks until there are more settled events than a window holds; false if there are no more than that in all.
    fn fill(&mut self, size: usize) -> bool {
        let mut enough = size.saturating_add(1);
        while !self.is_over {
            if self.walk.listener.event_count() >= enough {
                if self.walk.listener.settled(self.walk.horizon()) > size {
                    return true;
                }
                enough = self.walk.listener.event_count() + size / 8 + 1;
            }
            if !self.walk.go_on() {
                self.walk.add_pending();
                self.is_over = true;
            }
        }
        self.walk.listener.event_count() > size
    }

    /// What there is, as a trace program.
    fn give(&mut self, gaps: Vec<String>) -> TraceProgram {
        let (terms, threads) = (std::mem::take(&mut self.walk.terms), std::mem::take(&mut self.threads));
        let mut ctp = self.walk.listener.give(terms, threads, Rc::clone(&self.must), gaps);
        ctp.explain(&self.past.memory);
        ctp
    }

    fn in_windows(
        &mut self,
        program: &Program,
        options: &PredictOptions,
        size: usize,
        mut gaps: Vec<String>,
    ) -> Prediction {
        gaps.push(format!(
            "the trace was looked at in windows of {size} events that overlap by half: what needs events from further apart, \
             or another order before a window, is missed"
        ));
        let mut judge = Judge::new(program, options);
        let mut stats = Stats { threads: self.threads.len(), ..Stats::default() };
        let mut within = Reach::Windows;
        loop {
            let mut ctp = self.give(Vec::new());
            stats.accesses = ctp.accesses;
            let order = recorded_order(&ctp);
            let to = order.len().min(size);
            let edge = options.properties.deadlock.then(|| self.edge(program, &ctp, &order[..to])).flatten();
            let knows_all = edge.is_some();
            let mut window = cut(&mut ctp, &order[..to], &edge.unwrap_or_default(), &self.past);
            let reach = self.ask(options, &ctp, &mut window, knows_all, &mut judge, (&mut gaps, &mut stats));
            window.give_back(&mut ctp);
            let is_last = self.is_over && to == order.len();
            if !matches!(reach, Reach::All | Reach::Windows) {
                within = reach;
            }
            if is_last || matches!(reach, Reach::First | Reach::Stopped(_)) {
                stats.events += order.len();
                return judge.conclude(within, gaps, stats);
            }
            let gone = &order[..size / 2];
            stats.events += gone.len();
            self.past.add(&ctp, gone);
            let threads = &mut self.walk.threads;
            let take_over = |terms: &mut crate::transplant::Transplant<'_>| Walk::<Builder>::transplant(threads, terms);
            (self.walk.terms, self.threads) = self.walk.listener.leave_behind(ctp, gone, take_over);
            let start = Instant::now();
            self.fill(size);
            stats.walk_seconds += start.elapsed().as_secs_f64();
            if options.limits.deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return judge.conclude(Reach::Stopped(Stop::Time), gaps, stats);
            }
        }
    }

    /// What each thread does next, behind the window of these events: if everybody may be stuck in that window, and it is known of
    /// everybody what that would mean.
    fn edge(&mut self, program: &Program, ctp: &TraceProgram, order: &[EventId]) -> Option<BTreeMap<u32, Event>> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for id in order {
            *counts.entry(ctp.event(*id).thread).or_default() += 1;
        }
        let mut edge = BTreeMap::new();
        for (number, thread) in &ctp.threads {
            let count = counts.get(number).copied().unwrap_or(0);
            match thread.events.get(count).map(|id| ctp.event(*id)) {
                Some(event) if waits(program, event) => _ = edge.insert(*number, event.clone()),
                // It has not begun, or has something to do before it may be stuck.
                Some(event) if count > 0 || matches!(event.kind, Kind::Start) => {}
                Some(_) => return None,
                None => {
                    if let Some((at, child)) = self.walk.joins(*number) {
                        let join = self.walk.listener.stands_before(&ctp.terms, &at, Kind::Join { child });
                        edge.insert(*number, join);
                    }
                }
            }
        }
        let inside = order.iter().map(|id| ctp.event(*id));
        is_possible_in(program, inside.chain(edge.values().filter(|event| !matches!(event.kind, Kind::Join { .. }))))
            .then_some(edge)
    }

    /// Puts the questions about a window.
    fn ask(
        &self,
        options: &PredictOptions,
        ctp: &TraceProgram,
        window: &mut Window,
        knows_all: bool,
        judge: &mut Judge<'_>,
        (gaps, stats): (&mut Vec<String>, &mut Stats),
    ) -> Reach {
        // In most windows of most runs there is nothing to ask, and nothing has to be encoded.
        let program = Some(judge.program);
        if questions(program, &window.ctp, options.properties, options.blocks, knows_all).0.is_empty() {
            stats.windows += 1;
            return Reach::Windows;
        }
        let mut asking = Asking::new(program, &mut window.ctp, options, knows_all, gaps);
        let Window { ctp: inner, origin, targets } = window;
        let reach = asking.run(inner, options, &mut |_, question, here, bound| {
            let whole = question.in_whole(origin, targets);
            let here: Vec<_> = here.iter().filter_map(|id| origin[id.0 as usize]).collect();
            judge.take(ctp, &self.past.steps, &whole, &here, bound)
        });
        asking.add_to(stats, gaps);
        reach
    }
}
