//! Witnesses for tests: random schedules on the interpreter until the wanted thing shows.

use leno_ir::interp::{
    Captured, Ending, Environment, FileHandle, Footprint, Image, Machine, Options, Prng, Source, Status, StepResult,
    ThreadId, Violation, ViolationKind, Wait,
};
use leno_ir::program::Program;
use leno_ir::witness::{Claim, Input, Observer, Racer, Recorder, Waiting, Witness};
use std::collections::BTreeMap;

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted<'a> {
    Violation(&'a str),
    Race,
    Deadlock,
    /// Threads that wait for each other's locks while others run.
    Cycle,
}

/// A witness of it; none in thousands of random executions.
pub fn search(program: &Program, wanted: Wanted<'_>, options: &Options) -> Option<Witness> {
    let image = Image::new(program);
    (0..20_000).find_map(|seed| Execution::new(&image, options, seed).run(wanted))
}

struct Execution<'p> {
    machine: Machine<'p>,
    recorder: Recorder,
    random: Prng,
    inputs: Asked,
}

impl<'p> Execution<'p> {
    fn new(image: &'p Image<'p>, options: &Options, seed: u64) -> Execution<'p> {
        let inputs =
            Asked { random: Prng::new(!seed), name: String::new(), given: BTreeMap::new(), rest: Captured::new(seed) };
        let machine = Machine::new(image, options);
        Execution { machine, recorder: Recorder::default(), random: Prng::new(seed), inputs }
    }

    fn run(mut self, wanted: Wanted<'_>) -> Option<Witness> {
        for _ in 0..500 {
            if let Some(claim) = self.state_claim(wanted) {
                return Some(self.witness(claim));
            }
            let enabled = self.machine.enabled_threads();
            if enabled.is_empty() {
                return None;
            }
            let thread = enabled[self.random.below(enabled.len() as u64) as usize];
            match self.move_on(thread)? {
                StepResult::Done | StepResult::Blocked => {}
                StepResult::Violation(violation) => {
                    let is_wanted = wanted == Wanted::Violation(&format!("{:?}", violation.kind));
                    return is_wanted.then(|| self.witness(violated(&violation)));
                }
                StepResult::Exited(_) => {
                    let kinds = [ViolationKind::Leak, ViolationKind::LostMemory];
                    let kind = kinds.into_iter().find(|kind| wanted == Wanted::Violation(&format!("{kind:?}")))?;
                    let leak = self.machine.leak(thread, kind)?;
                    return Some(self.witness(violated(&leak)));
                }
                StepResult::Aborted => return None,
            }
        }
        None
    }

    /// Up to the thread's next schedule point, and over it.
    fn move_on(&mut self, thread: ThreadId) -> Option<StepResult> {
        for _ in 0..2_000_000 {
            let is_point = self.machine.is_at_schedule_point(thread);
            self.inputs.name = self.machine.thread_name(thread).to_string();
            self.recorder.before(&self.machine, thread);
            let result = self.machine.step(thread, &mut self.inputs);
            if result == StepResult::Done {
                self.recorder.after(&self.machine, thread);
            }
            if is_point || result != StepResult::Done || self.machine.threads()[thread].status != Status::Running {
                return Some(result);
            }
        }
        None
    }

    fn witness(self, claim: Claim) -> Witness {
        Witness { claim, steps: self.recorder.steps, inputs: self.inputs.given }
    }

    fn state_claim(&self, wanted: Wanted<'_>) -> Option<Claim> {
        match wanted {
            Wanted::Violation(_) => None,
            Wanted::Race => self.race(),
            Wanted::Deadlock => match self.machine.enabled_threads().is_empty().then(|| self.machine.deadlock())? {
                Ending::Deadlock(blocked) => {
                    Some(Claim::Deadlock { waiting: blocked.iter().map(|b| self.waiting(b.thread, b.wait)).collect() })
                }
                _ => None,
            },
            Wanted::Cycle => self.cycle(),
        }
    }

    fn waiting(&self, thread: ThreadId, wait: Wait) -> Waiting {
        Waiting {
            thread: self.machine.thread_name(thread).to_string(),
            span: self.machine.image().span(self.machine.pc(thread)),
            reason: self.machine.describe_wait(wait),
        }
    }

    fn cycle(&self) -> Option<Claim> {
        let holds = |thread| match self.machine.wait(thread) {
            Some(Wait::Lock { owner: Some(owner), .. }) => Some(owner),
            _ => None,
        };
        let ids: Vec<ThreadId> = self.machine.threads().ids().collect();
        let first =
            ids.into_iter().find(|id| holds(*id).is_some_and(|next| next != *id && holds(next) == Some(*id)))?;
        let threads = [first, holds(first)?];
        let waiting = threads.into_iter().filter_map(|id| Some(self.waiting(id, self.machine.wait(id)?))).collect();
        Some(Claim::Deadlock { waiting })
    }

    /// Two threads that stand before accesses of the same bytes; a thread before an atomic section stands before all of
    /// its.
    fn race(&self) -> Option<Claim> {
        let ids: Vec<ThreadId> = self.machine.threads().ids().collect();
        for first in &ids {
            for second in ids.iter().filter(|second| *second != first) {
                let Some((one, at)) = self.plain_access(*first) else { continue };
                if let Some((other, there)) = self.accesses(*second).into_iter().find(|(b, _)| one.conflicts(*b)) {
                    let racer = |thread: ThreadId, access: Footprint, span| Racer {
                        thread: self.machine.thread_name(thread).to_string(),
                        span,
                        access: format!("{} bytes", access.len),
                    };
                    return Some(Claim::Race {
                        first: racer(*first, one, at),
                        second: racer(*second, other, there),
                        made: None,
                    });
                }
            }
        }
        None
    }

    fn plain_access(&self, thread: ThreadId) -> Option<(Footprint, leno_ir::program::Span)> {
        let span = self.machine.image().span(self.machine.pc(thread));
        let access = self.machine.footprint(thread)?;
        (self.machine.enabled(thread) && !access.atomic && access.len <= 8).then_some((access, span))
    }

    fn accesses(&self, thread: ThreadId) -> Vec<(Footprint, leno_ir::program::Span)> {
        let mut ahead = self.machine.clone();
        let mut found: Vec<_> = self.plain_access(thread).into_iter().collect();
        let mut env = Captured::new(0);
        while found.is_empty() || ahead.in_section(thread) {
            if !ahead.enabled(thread) || ahead.step(thread, &mut env) != StepResult::Done || !ahead.in_section(thread) {
                break;
            }
            let span = ahead.image().span(ahead.pc(thread));
            found.extend(ahead.footprint(thread).filter(|access| !access.atomic).map(|access| (access, span)));
        }
        found
    }
}

fn violated(violation: &Violation) -> Claim {
    Claim::Violation {
        kind: violation.kind,
        thread: violation.thread_name.clone(),
        span: violation.span,
        message: violation.message.clone(),
    }
}

/// Random inputs, kept by thread.
struct Asked {
    random: Prng,
    name: String,
    given: BTreeMap<String, Vec<Input>>,
    rest: Captured,
}

impl Environment for Asked {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, _: ThreadId, width: u16, _: Source) -> u128 {
        let bits = self.random.value(width);
        self.given.entry(self.name.clone()).or_default().push(Input { width, bits });
        bits
    }
    fn flush(&mut self, _: FileHandle) {}
}
