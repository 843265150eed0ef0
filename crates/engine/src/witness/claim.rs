//! Claims: what goes wrong in the state that a machine is in.

use leno_ir::interp::{Blocked, Footprint, Machine, ThreadId, Violation, Wait};
use leno_ir::program::Span;
use leno_ir::witness::{Claim, Racer, Waiting};
use std::collections::BTreeSet;

fn span(machine: &Machine<'_>, thread: ThreadId) -> Span {
    machine.image().span(machine.pc(thread))
}

pub fn claim_violation(violation: &Violation) -> Claim {
    Claim::Violation {
        kind: violation.kind,
        thread: violation.thread_name.clone(),
        span: violation.span,
        message: violation.message.clone(),
    }
}

/// The claim that two threads race; None if they do not stand before conflicting accesses.
pub fn claim_race(machine: &Machine<'_>, first: ThreadId, second: ThreadId) -> Option<Claim> {
    let (a, b) = conflict(&machine.next_accesses(first), &machine.next_accesses(second))?;
    Some(Claim::Race { first: racer(machine, first, Some(a)), second: racer(machine, second, Some(b)), made: None })
}

/// The claim that the next step of a thread races with a step that was made: nothing orders the two, although there may
/// be no state in which both are about to be made. None if it does not.
pub fn claim_unordered(machine: &Machine<'_>, second: ThreadId) -> Option<Claim> {
    let past = machine.unordered(second)?;
    let at = machine.next_accesses(second).into_iter().find(|at| past.at.conflicts(*at));
    let first = Racer {
        thread: machine.thread_name(past.thread).to_string(),
        span: machine.image().span(past.pc),
        access: access_text(machine, past.at),
    };
    Some(Claim::Race { first, second: racer(machine, second, at), made: Some(past.step) })
}

/// The first two accesses of two steps that conflict. A step has many if it is a call of a library function.
pub fn conflict(first: &[Footprint], second: &[Footprint]) -> Option<(Footprint, Footprint)> {
    let pairs = first.iter().flat_map(|a| second.iter().map(|b| (*a, *b)));
    pairs.into_iter().find(|(a, b)| a.conflicts(*b) && !(a.atomic && b.atomic))
}

/// The claim that these threads wait for ever.
pub fn claim_deadlock(machine: &Machine<'_>, blocked: &[Blocked]) -> Claim {
    let waiting = blocked.iter().map(|blocked| Waiting {
        thread: blocked.thread_name.clone(),
        span: span(machine, blocked.thread),
        reason: blocked.reason.clone(),
    });
    Claim::Deadlock { waiting: waiting.collect() }
}

/// What a thread is about to do, for a claim: this access, or a whole section.
pub fn racer(machine: &Machine<'_>, thread: ThreadId, access: Option<Footprint>) -> Racer {
    let access = match access {
        Some(at) => access_text(machine, at),
        None => "an atomic section".to_string(),
    };
    Racer { thread: machine.thread_name(thread).to_string(), span: span(machine, thread), access }
}

fn access_text(machine: &Machine<'_>, at: Footprint) -> String {
    let what = if at.writes { "write" } else { "read" };
    let kind = if at.atomic { "atomic " } else { "" };
    format!("{kind}{what} of {}", machine.describe_address(at.address))
}

/// Threads that will never go on, whatever the others do: they wait for each other's locks, or for each other's ends, in
/// a circle; or for a lock that a thread holds that has ended. They stay so; so it is enough to look for them at the end
/// of an execution.
pub fn stuck_for_ever(machine: &Machine<'_>) -> Vec<Vec<Blocked>> {
    let mut found: Vec<Vec<ThreadId>> = Vec::new();
    for start in machine.threads().ids() {
        if found.iter().all(|threads| !threads.contains(&start)) {
            found.extend(circle(machine, &mut vec![start], &mut BTreeSet::new()));
        }
    }
    for thread in machine.threads().ids() {
        if !is_join(machine, thread) && machine.holders(thread).iter().any(|holder| machine.has_ended(*holder)) {
            found.push(vec![thread]);
        }
    }
    let blocked = |threads: Vec<ThreadId>| threads.into_iter().filter_map(|thread| machine.blocked(thread)).collect();
    found.into_iter().map(blocked).collect()
}

fn is_join(machine: &Machine<'_>, thread: ThreadId) -> bool {
    matches!(machine.blocked(thread), Some(Blocked { wait: Wait::Join(_), .. }))
}

/// A circle that goes through the first thread of the path, and on along the path. What was `seen` leads to none.
fn circle(machine: &Machine<'_>, path: &mut Vec<ThreadId>, seen: &mut BTreeSet<ThreadId>) -> Option<Vec<ThreadId>> {
    let (&first, &last) = (path.first()?, path.last()?);
    for next in machine.holders(last) {
        if next == first {
            return Some(path.clone());
        }
        if seen.insert(next) {
            path.push(next);
            let found = circle(machine, path, seen);
            path.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
