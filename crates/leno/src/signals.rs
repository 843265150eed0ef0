//! Signals that are sent to `leno record` and `leno predict`.
//!
//! While the recorded program runs, the signal is meant for it: it is passed on (unless it comes from the terminal, which
//! sends it to the program, too), and what the program does then is its own business. Before and after, it asks Leno to stop. Either way Leno ends as it always does, so that no files and no
//! processes are left, and a trace that was asked for is there.
//!
//! Until the run is over the signals are blocked in all threads, and one thread waits for them. The recorder unblocks
//! them in the program. After the run they are as for all other commands: each of these signals stops Leno.

use crate::command::stop_on_interrupt;
use leno::Cancel;
use leno_engine::Stop;
use leno_record::Running;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

/// How long Leno may take to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// The code of a signal that no process has sent.
const FROM_KERNEL: i32 = 0x80;

/// What signals have done so far.
#[derive(Clone, Default)]
pub struct Signals {
    /// The program, while it runs.
    pub running: Running,
    /// Where Leno is asked to stop.
    pub cancel: Cancel,
    last: Arc<AtomicI32>,
}

fn passed_on() -> SigSet {
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect()
}

impl Signals {
    /// Takes signals from now on. To be called before any other thread is started.
    pub fn take() -> Signals {
        let signals = Signals::default();
        let set = passed_on();
        // Without a thread that waits for them, signals have to end the process as usual.
        if set.thread_block().is_ok() {
            let watched = signals.clone();
            let thread = thread::Builder::new().name("signals".to_string()).spawn(move || watched.wait(&set));
            if thread.is_err() {
                let _ = set.thread_unblock();
            }
        }
        signals
    }

    /// The run is over.
    pub fn release(&self) {
        stop_on_interrupt(&self.cancel);
        let _ = passed_on().thread_unblock();
    }

    /// The signal that came last, if one came.
    pub fn last(&self) -> Option<i32> {
        Some(self.last.load(Ordering::SeqCst)).filter(|number| *number > 0)
    }

    fn wait(&self, set: &SigSet) {
        let Ok(arrivals) = SignalFd::new(set) else { return };
        while let Ok(Some(arrival)) = arrivals.read_signal() {
            let number = i32::try_from(arrival.ssi_signo).unwrap_or_default();
            let Ok(signal) = Signal::try_from(number) else { continue };
            self.last.store(number, Ordering::SeqCst);
            if let Some(process) = self.running.process() {
                if arrival.ssi_code != FROM_KERNEL {
                    let _ = kill(Pid::from_raw(process), signal);
                }
                continue;
            }
            self.cancel.request(Stop::Cancelled);
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(PATIENCE);
                std::process::exit(128 + number);
            });
        }
    }
}
