//! Child processes that are allowed to misbehave: they get a time limit, and what they print is kept within bounds.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use wait_timeout::ChildExt;

/// More output than this is cut off.
const MOST_OUTPUT: u64 = 16 << 20;

/// What became of a child process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// As a shell says it: 128 plus the signal if it died of one.
    Status(i32),
    TimedOut,
}

impl Finished {
    pub fn succeeded(&self) -> bool {
        self.ending == Ending::Status(0)
    }

    /// What it printed.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// What it printed on standard error.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Far longer than any child of a test takes, also on a busy machine. What takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Runs a command without input.
pub fn run_patiently(command: &mut Command) -> Finished {
    run(command, b"", PATIENCE).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a command with `input`, for at most `limit`.
pub fn run(command: &mut Command, input: &[u8], limit: Duration) -> io::Result<Finished> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|threads| {
        threads.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let out = threads.spawn(|| gather(stdout));
        let err = threads.spawn(|| gather(stderr));
        let ending = match child.wait_timeout(limit)? {
            Some(status) => Ending::Status(shell_status(status)),
            None => {
                child.kill()?;
                child.wait()?;
                Ending::TimedOut
            }
        };
        let stdout = out.join().unwrap_or_default();
        let stderr = err.join().unwrap_or_default();
        Ok(Finished { ending, stdout, stderr })
    })
}

fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

fn gather(pipe: Option<impl Read>) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(mut pipe) = pipe {
        // A broken pipe leaves what has come so far; what is too much must still be drained.
        let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut text);
        let _ = io::copy(&mut pipe, &mut io::sink());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_watched() {
        let shell = |script: &str, limit| run(Command::new("sh").args(["-c", script]), b"in", limit);
        let second = Duration::from_secs(20);
        let copied = shell("cat; echo e >&2; exit 7", second).expect("sh runs");
        assert_eq!(
            (copied.ending, &copied.stdout[..], &copied.stderr[..]),
            (Ending::Status(7), &b"in"[..], &b"e\n"[..])
        );
        assert_eq!(shell("kill -ABRT $$", second).expect("sh runs").ending, Ending::Status(134));
        let slow = run(Command::new("sleep").arg("30"), b"", Duration::from_millis(50));
        assert_eq!(slow.expect("sleep runs").ending, Ending::TimedOut);
    }
}
