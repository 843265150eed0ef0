//! What an execution must come to: the same kind of violation at the same place.
//!
//! The threads may be others: when two of them run the same code, it does not matter which one fails.

use crate::event::Footprint;
use crate::task::What;
use crate::visible_step::{Inputs, Ran, Statics, add_accesses, run_event};
use leno_engine::witness::stuck_for_ever;
use leno_ir::interp::{Blocked, Ending, Machine, Next, Status, ThreadId, ViolationKind};
use leno_ir::program::{Op, Span};
use leno_ir::witness::Claim;

pub enum Goal {
    Violation {
        kind: ViolationKind,
        span: Span,
    },
    Race {
        first: Span,
        second: Span,
    },
    /// Where threads wait, in order.
    Deadlock {
        spans: Vec<Span>,
    },
}

impl Goal {
    /// None if it cannot be seen from the last moment alone.
    pub fn of(claim: &Claim) -> Option<Goal> {
        Some(match claim {
            Claim::Violation { kind, span, .. } => Goal::Violation { kind: *kind, span: *span },
            Claim::Race { first, second, made: None } => Goal::Race { first: first.span, second: second.span },
            Claim::Deadlock { waiting } => {
                let mut spans: Vec<Span> = waiting.iter().map(|waiting| waiting.span).collect();
                spans.sort_by_key(order);
                Goal::Deadlock { spans }
            }
            Claim::Race { made: Some(_), .. } | Claim::Atomicity { .. } => return None,
        })
    }

    /// Whether the goal is met after an event of `thread` that ended like this.
    pub fn met(&self, machine: &Machine<'_>, statics: &Statics, thread: ThreadId, ran: Ran<'_>) -> Option<What> {
        match (self, ran) {
            (Goal::Violation { kind, span }, Ran::Violation(violation, _)) => {
                (violation.kind == *kind && violation.span == *span).then_some(What::Violation(violation))
            }
            (Goal::Violation { kind, span }, Ran::Exited(_)) if kind.is_leak() => {
                let leak = machine.leak(thread, *kind).filter(|leak| leak.span == *span)?;
                Some(What::Violation(leak))
            }
            (Goal::Race { first, second }, Ran::Done) => race(machine, statics, *first, *second),
            (Goal::Deadlock { spans }, Ran::Done) => deadlock(machine, spans),
            _ => None,
        }
    }
}

fn order(span: &Span) -> (u32, u32, u32, u32) {
    (span.file.0, span.line, span.column, span.text.0)
}

fn span(machine: &Machine<'_>, thread: ThreadId) -> Span {
    machine.image().span(machine.pc(thread))
}

fn race(machine: &Machine<'_>, statics: &Statics, first: Span, second: Span) -> Option<What> {
    let stands_at = |wanted: Span| {
        let there = move |thread: &ThreadId| {
            let is_running = machine.threads()[*thread].status == Status::Running;
            is_running && span(machine, *thread) == wanted && machine.enabled(*thread)
        };
        machine.threads().ids().filter(there).collect::<Vec<_>>()
    };
    let others = stands_at(second);
    if others.is_empty() {
        return None;
    }
    for one in stands_at(first) {
        for other in others.iter().copied().filter(|other| *other != one) {
            let (mine, theirs) = (accesses(machine, statics, one), accesses(machine, statics, other));
            if mine.0.iter().any(|a| theirs.0.iter().any(|b| a.races(*b))) {
                return Some(What::Race { first: one, second: other });
            }
        }
    }
    None
}

/// All that the next event of a thread will touch: a whole section, if one begins.
fn accesses(machine: &Machine<'_>, statics: &Statics, thread: ThreadId) -> Footprint {
    let mut footprint = Footprint::default();
    let begins = matches!(machine.next_op(thread), Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin));
    if begins || machine.in_section(thread) {
        let mut ahead = machine.clone();
        run_event(&mut ahead, statics, &mut Inputs::default(), thread, &mut footprint, &mut ());
    } else {
        add_accesses(machine, statics, thread, &mut footprint);
    }
    footprint
}

fn deadlock(machine: &Machine<'_>, wanted: &[Span]) -> Option<What> {
    let is_wanted = |blocked: &[Blocked]| {
        let mut spans: Vec<Span> = blocked.iter().map(|blocked| span(machine, blocked.thread)).collect();
        spans.sort_by_key(order);
        spans == wanted
    };
    let is_stuck = machine.threads().ids().all(|thread| machine.is_stuck(thread));
    let blocked = match is_stuck.then(|| machine.deadlock()) {
        Some(Ending::Deadlock(blocked)) if is_wanted(&blocked) => blocked,
        _ => stuck_for_ever(machine).into_iter().find(|blocked| is_wanted(blocked))?,
    };
    Some(What::Deadlock(blocked))
}
