//! The end of a replayed program: by itself, or because it takes too much.
//!
//! The program is one process, and cannot start others (`runtime/confine.c`), so whoever waits for it can also see all
//! that it takes: its memory, its threads, and the files of its working directory, which is flat. No limit of the
//! kernel covers these for one process (address space is no measure with AddressSanitizer, and a limit on
//! processes counts all of the user's), so they are looked at every few milliseconds.

use crate::ReplayOptions;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) enum Ending {
    Ended(ExitStatus),
    TimedOut(Duration),
    /// It was ended, because all of its threads slept, and went on sleeping.
    Waited,
    /// It was ended, because it wanted more than this.
    Needs(String),
    Cancelled,
}

impl Ending {
    pub(crate) fn describe(&self) -> String {
        match self {
            Ending::TimedOut(after) => {
                format!("the program did not come to its next step within {} seconds", after.as_secs_f32())
            }
            Ending::Waited => "the program waits for something that does not come".to_string(),
            Ending::Needs(what) => format!("it {}", needs(what)),
            Ending::Cancelled => "the replay was stopped".to_string(),
            Ending::Ended(status) => match status.signal() {
                Some(SIGSYS) => format!("it {}", needs("another process, or another system call that is not allowed")),
                Some(signal) => format!("the program died of signal {signal}"),
                None => format!("the program ended with status {} and reported nothing", status.code().unwrap_or(-1)),
            },
        }
    }
}

const SIGSYS: i32 = 31;

/// Why a run that asked for more than a confined one gets confirms nothing.
pub(crate) fn needs(what: &str) -> String {
    format!("needs {what}, which replay does not allow unless --replay-unconfined is given")
}

const MIB: u64 = 1 << 20;
const THREADS: u64 = 30_000;
const FILES: usize = 1_000;
const FILE_BYTES: u64 = 256 * MIB;

/// Waits for the end of a process, and brings it about when it takes too long; if it is confined to a directory, also
/// when it takes too much.
pub(crate) fn wait(mut child: Child, confined_to: Option<&Path>, options: &ReplayOptions) -> io::Result<Ending> {
    let (start, timeout, memory) = (Instant::now(), options.timeout, memory_limit(options.memory));
    let mut activity = Activity { switches: 0, since: start, looked: start };
    let ending = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Ended(status));
        }
        if start.elapsed() > timeout {
            break Ending::TimedOut(timeout);
        }
        if activity.has_ceased(child.id()) {
            break Ending::Waited;
        }
        if options.cancel.requested().is_some() {
            break Ending::Cancelled;
        }
        if let Some(what) = confined_to.and_then(|directory| excess(child.id(), directory, memory)) {
            break Ending::Needs(what);
        }
        thread::sleep((start.elapsed() / 8).clamp(Duration::from_micros(500), Duration::from_millis(20)));
    };
    child.kill()?;
    child.wait()?;
    Ok(ending)
}

/// How long all threads of a replay may sleep. Its scheduler never lets them, so it is a call of the system that waits:
/// for a thread whose turn has not come, or for what is outside.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often to look at all threads: there may be thousands.
const PERIOD: Duration = Duration::from_millis(500);

/// How often threads have been switched to, and since when that has not changed.
struct Activity {
    switches: u64,
    since: Instant,
    looked: Instant,
}

impl Activity {
    fn has_ceased(&mut self, process: u32) -> bool {
        if self.looked.elapsed() < PERIOD {
            return false;
        }
        self.looked = Instant::now();
        match sleepers(process) {
            Some(switches) if switches == self.switches => self.since.elapsed() > PATIENCE,
            switches => {
                (self.switches, self.since) = (switches.unwrap_or(0), self.looked);
                false
            }
        }
    }
}

/// If all threads sleep: how often they have been switched to.
fn sleepers(process: u32) -> Option<u64> {
    let mut switches = 0;
    for task in fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        field("State:").filter(|state| state.starts_with('S'))?;
        for name in ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"] {
            switches += field(name)?.parse::<u64>().ok()?;
        }
    }
    Some(switches)
}

/// What a process takes too much of.
fn excess(process: u32, directory: &Path, memory: u64) -> Option<String> {
    // Where /proc is missing, what is left are the limits of the kernel.
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    if (number("VmRSS:") + number("VmSwap:")) * 1024 > memory {
        return Some(format!("more than {} MiB of memory", memory / MIB));
    }
    if number("Threads:") > THREADS {
        return Some("more than 30,000 threads".to_string());
    }
    let (mut count, mut bytes) = (0, 0);
    for entry in fs::read_dir(directory).ok()?.flatten() {
        count += 1;
        bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        if count > FILES {
            return Some("more than 1,000 files".to_string());
        }
    }
    (bytes > FILE_BYTES).then(|| "more than 256 MiB in files".to_string())
}

/// At most half of what the machine has: the limit is there for the sake of the others on it.
fn memory_limit(wanted: u64) -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    total.map_or(wanted, |kib| wanted.min(kib * 1024 / 2))
}
