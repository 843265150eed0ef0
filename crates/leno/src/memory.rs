//! A limit on the memory that Leno itself takes.
//!
//! A thread looks now and then at how much memory the process has. Over the limit, it first asks: the search looks at a flag all the
//! time, stops, and says what is known. If nobody answers soon (the front end does not look), or the memory keeps growing, it
//! says `UNKNOWN` itself and ends the process with the exit code for that, before the system does it with another.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(5);

/// How long a search may take to stop.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct MemoryLimit {
    /// In MiB.
    pub mebibytes: u64,
    over: Arc<AtomicBool>,
    /// How far the search has come.
    executions: Arc<AtomicU64>,
    /// Nobody has to watch any more.
    done: Arc<AtomicBool>,
}

impl MemoryLimit {
    /// Watches from now on. Without a number: three quarters of what the machine has.
    pub fn watch(mebibytes: Option<u64>) -> MemoryLimit {
        let mebibytes = mebibytes.unwrap_or_else(|| machine_memory() / MIB / 4 * 3);
        let limit = MemoryLimit { mebibytes, over: Arc::default(), executions: Arc::default(), done: Arc::default() };
        let watched = limit.clone();
        // If no thread can be had, there is no memory for one either: the search finds out by itself.
        let _ = thread::Builder::new().name("memory".to_string()).spawn(move || watched.look());
        limit
    }

    pub fn bytes(&self) -> u64 {
        self.mebibytes.saturating_mul(MIB)
    }

    /// Whether it is time to stop; `executions` is how far the search has come.
    pub fn is_reached(&self, executions: u64) -> bool {
        self.executions.store(executions, Ordering::Relaxed);
        self.over.load(Ordering::Relaxed)
    }

    /// The verdict is there: what follows is small.
    pub fn release(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    fn look(&self) {
        let limit = self.bytes();
        let mut since: Option<Instant> = None;
        while !self.done.load(Ordering::Relaxed) {
            let resident = resident_memory();
            if resident > limit {
                self.over.store(true, Ordering::Relaxed);
                let is_late = since.get_or_insert_with(Instant::now).elapsed() > PATIENCE;
                if is_late || resident > limit.saturating_add(limit / 4).saturating_add(64 * MIB) {
                    self.give_up();
                }
            }
            thread::sleep(PERIOD);
        }
    }

    fn give_up(&self) -> ! {
        println!(
            "UNKNOWN: the memory limit of {} MiB was reached\n  \
             = no violation in {} executions; there are more\n  \
             = help: allow more with --memory, or make the program smaller",
            self.mebibytes,
            self.executions.load(Ordering::Relaxed)
        );
        std::process::exit(2);
    }
}

/// What the process occupies now.
fn resident_memory() -> u64 {
    let pages =
        fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// What there is, of this machine or of the part of it that we are confined to.
fn machine_memory() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    let confined =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    total.map_or(u64::MAX, |kib| kib * 1024).min(confined.unwrap_or(u64::MAX)).min(address_space())
}

/// What is left of a limit on the address space (`ulimit -v`) beside what is reserved without being used: stacks above all.
fn address_space() -> u64 {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let limit = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    limit.map_or(u64::MAX, |limit| limit.saturating_sub(1536 * MIB).max(limit / 4))
}
