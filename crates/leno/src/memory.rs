//! A limit on the memory that Leno itself takes.
//!
//! A thread looks now and then at how much memory the process has. Over the limit, it first asks: the search looks at a
//! flag all the time, stops, and says what is known. If no engine answers soon (the front end does not look), or the
//! memory keeps growing, it says `UNKNOWN` itself and ends the process with the exit code for that, before the system
//! does it with another.
//!
//! A limit on the address space (`ulimit -v`) is one, too, and a hard one: an allocation beyond it ends the process at
//! once, in the solver (C++) as in Rust. So we stop a little below it, by what a growing table may want to have at
//! once. (What is reserved without being used counts: stacks above all, and the allocator's reserves.)

use leno_engine::{Cancel, Progress, Stop};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(5);

/// How long a search may take to stop. (It gives back what it has, which may take a while.)
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct MemoryLimit {
    /// In MiB.
    pub mebibytes: u64,
    /// Where the search is asked to stop.
    cancel: Cancel,
    /// How far the search has come.
    progress: Progress,
    /// Watching is over.
    done: Arc<AtomicBool>,
}

impl MemoryLimit {
    /// Watches from now on. Without a number: three quarters of what the machine has.
    pub fn watch(mebibytes: Option<u64>, cancel: &Cancel, progress: &Progress) -> MemoryLimit {
        let mebibytes = mebibytes.unwrap_or_else(|| machine_memory() / MIB / 4 * 3).min(address_space() / MIB);
        let (cancel, progress) = (cancel.clone(), progress.clone());
        let limit = MemoryLimit { mebibytes, cancel, progress, done: Arc::default() };
        let watched = limit.clone();
        // If no thread can be had, there is no memory for one either: the search finds out by itself.
        let _ = thread::Builder::new().name("memory".to_string()).spawn(move || watched.look());
        limit
    }

    pub fn bytes(&self) -> u64 {
        self.mebibytes.saturating_mul(MIB)
    }

    /// The verdict is there: what follows is small.
    pub fn release(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    fn look(&self) {
        let (limit, address_space) = (self.bytes(), address_space());
        let mut since: Option<Instant> = None;
        while !self.done.load(Ordering::Relaxed) {
            let (reserved, resident) = memory();
            let room = room(resident);
            if resident > limit || reserved.saturating_add(room) > address_space {
                self.cancel.request(Stop::Memory);
                let is_late = since.get_or_insert_with(Instant::now).elapsed() > PATIENCE;
                let grows = resident > limit.saturating_add(limit / 4).saturating_add(64 * MIB);
                if is_late || grows || reserved.saturating_add(room / 4) > address_space {
                    self.give_up();
                }
            }
            thread::sleep(PERIOD);
        }
    }

    fn give_up(&self) -> ! {
        let established = match self.progress.covered() {
            Some(covered) => covered.statement,
            None => match self.progress.executions() {
                0 => "nothing was looked at completely".to_string(),
                executions => format!("no violation in {executions} executions; there are more"),
            },
        };
        println!(
            "UNKNOWN: the memory limit of {} MiB was reached\n  = {established}\n  \
             = help: allow more with --memory, or make the program smaller",
            self.mebibytes
        );
        std::process::exit(2);
    }
}

/// What an allocation may want to have at once, in a process that occupies so much: tables grow by doubling, and a
/// thread's heap by 64 MiB.
fn room(resident: u64) -> u64 {
    resident / 4 + (resident / 2).min(96 * MIB)
}

/// What the process has reserved, and what it occupies.
fn memory() -> (u64, u64) {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = text.split(' ').map(|field| field.parse::<u64>().unwrap_or(0) * 4096);
    (pages.next().unwrap_or(0), pages.next().unwrap_or(0))
}

/// What there is, of this machine or of the part of it that we are confined to.
fn machine_memory() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    let confined =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    total.map_or(u64::MAX, |kib| kib * 1024).min(confined.unwrap_or(u64::MAX))
}

/// A limit on the address space (`ulimit -v`).
fn address_space() -> u64 {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(u64::MAX)
}
