//! Schedulers, and running a program to its end under one.
//!
//! A scheduler is asked only where it matters: before a step that other threads can see, and once in a while otherwise,
//! so that a thread that never does such a step does not keep the others waiting for ever.

use super::environment::Environment;
use super::image::Image;
use super::machine::{Machine, Options, Status, ThreadId};
use super::step::StepResult;
use super::sync::Wait;
use crate::interp::memory::violation::Violation;
use crate::program::Program;

/// xorshift64*: small, and the same on every platform.
#[derive(Clone, Debug)]
pub struct Prng(u64);

impl Prng {
    pub fn new(seed: u64) -> Prng {
        // One round of splitmix64, so that neighbouring seeds have nothing in common.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Prng((mixed ^ (mixed >> 31)).max(1))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Less than `limit`, or 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A value of `width` bits. Small ones are as likely as all others together: programs tend to care about them.
    pub fn value(&mut self, width: u16) -> u128 {
        let mask = crate::interp::value::ones(width);
        match self.below(4) {
            0 => u128::from(self.below(2)) & mask,
            1 => u128::from(self.below(16)) & mask,
            _ => (u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())) & mask,
        }
    }
}

/// Decides which thread makes the next step.
pub trait Scheduler {
    /// One of `enabled`, which is not empty and in order of creation.
    fn choose(&mut self, machine: &Machine<'_>, enabled: &[ThreadId]) -> ThreadId;
}

/// Any enabled thread, with equal chances. The same seed gives the same execution.
#[derive(Clone, Debug)]
pub struct Random(Prng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Prng::new(seed))
    }
}

impl Scheduler for Random {
    fn choose(&mut self, _: &Machine<'_>, enabled: &[ThreadId]) -> ThreadId {
        enabled[self.0.below(enabled.len() as u64) as usize]
    }
}

/// Each thread in turn.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    last: u32,
}

impl Scheduler for RoundRobin {
    fn choose(&mut self, _: &Machine<'_>, enabled: &[ThreadId]) -> ThreadId {
        let next = enabled.iter().find(|thread| thread.0 > self.last).unwrap_or(&enabled[0]);
        self.last = next.0;
        *next
    }
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    Exited(i32),
    Aborted,
    Violation(Box<Violation>),
    /// Every unfinished thread waits; for each, what for.
    Deadlock(Vec<Blocked>),
    /// No thread can go on because an assumption was false somewhere.
    Stopped,
    StepLimit,
}

/// A thread in a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    pub thread: ThreadId,
    pub thread_name: String,
    pub wait: Wait,
    /// What it waits for, for people.
    pub reason: String,
}

/// How an execution ended, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub ending: Ending,
    pub steps: u64,
    /// Something unknown was called or read: the execution may not be one of the real program.
    pub tainted: bool,
}

/// A thread that makes no visible step may make so many steps before the scheduler is asked again.
const PATIENCE: u32 = 1000;

/// Runs a program from its start to its end, or for at most `limit` steps.
pub fn run(
    program: &Program,
    options: &Options,
    scheduler: &mut dyn Scheduler,
    env: &mut dyn Environment,
    limit: u64,
) -> Outcome {
    let image = Image::new(program);
    let mut machine = Machine::new(&image, options);
    machine.run(scheduler, env, limit)
}

impl Machine<'_> {
    /// Runs from here to the end, or for at most `limit` steps.
    pub fn run(&mut self, scheduler: &mut dyn Scheduler, env: &mut dyn Environment, limit: u64) -> Outcome {
        let mut steps = 0;
        let mut enabled = Vec::new();
        let ending = loop {
            if let Some(ending) = self.run_once(scheduler, env, limit, &mut steps, &mut enabled) {
                break ending;
            }
        };
        env.flush(super::environment::FileHandle::OUTPUT);
        Outcome { ending, steps, tainted: self.tainted }
    }

    /// Lets the scheduler choose a thread, and runs it up to its next visible step.
    fn run_once(
        &mut self,
        scheduler: &mut dyn Scheduler,
        env: &mut dyn Environment,
        limit: u64,
        steps: &mut u64,
        enabled: &mut Vec<ThreadId>,
    ) -> Option<Ending> {
        if self.threads.is_empty() {
            return Some(Ending::Exited(0));
        }
        enabled.clear();
        enabled.extend(self.threads.ids().filter(|thread| self.enabled(*thread)));
        let thread = match enabled[..] {
            [] => return Some(self.deadlock()),
            [only] => only,
            _ => scheduler.choose(self, enabled),
        };
        for _ in 0..PATIENCE {
            if *steps >= limit {
                return Some(Ending::StepLimit);
            }
            match self.step(thread, env) {
                StepResult::Done => *steps += 1,
                StepResult::Blocked => {
                    // It counts, so that the limit ends every run.
                    *steps += 1;
                    return None;
                }
                StepResult::Exited(status) => return Some(Ending::Exited(status)),
                StepResult::Aborted => return Some(Ending::Aborted),
                StepResult::Violation(violation) => return Some(Ending::Violation(violation)),
            }
            if self.threads.len() > 1 && self.is_visible(thread) {
                return None;
            }
        }
        None
    }

    /// Which thread waits for what, when none can step.
    pub fn deadlock(&self) -> Ending {
        if self.threads.iter().any(|thread| thread.status == Status::Stopped) {
            return Ending::Stopped;
        }
        Ending::Deadlock(self.threads.ids().filter_map(|thread| self.blocked(thread)).collect())
    }

    /// What an unfinished thread waits for, if it does.
    pub fn blocked(&self, thread: ThreadId) -> Option<Blocked> {
        let is_running = self.threads[thread].status == Status::Running;
        let wait = self.own_wait(thread).or_else(|| self.wait(thread)).filter(|_| is_running)?;
        let thread_name = self.thread_name(thread).to_string();
        Some(Blocked { thread, thread_name, wait, reason: self.describe_wait(wait) })
    }
}
