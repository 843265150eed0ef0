//! What summaries and pruning are good for: the staged engine in three modes, side by side.
//!
//! The table is that of Sinha and Wang (FSE 2010, Figure 3) on programs of the same names: without summaries (`--mode
//! cssa`), without pruning (`--no-prune`), and with both. Then the three ways to deal with calls. Beside it: the
//! program of their section 1.1 with more and more chained locals, which should take time in proportion, and more and
//! more customers of `account`, as a picture.

use crate::process;
use crate::speed::{child_cpu, own_cpu};
use crate::threeway::Leno;
use leno_bmc::{Calls, Task, Unwinding};
use leno_c::driver::{Input, Options, compile};
use leno_engine::Properties;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Program, options, and its sizes.
const ROWS: &[(&str, &[&str], &[u32])] = &[
    ("synchbench", &["--property", "race"], &[2, 8, 13, 24, 32, 48]),
    ("indexer", &["--property", "assert", "-DENTRY=77"], &[20, 24, 28, 30, 32, 64]),
    ("account", &["--property", "race", "--unwind", "100"], &[2, 4, 11, 21]),
];

const MODES: &[&[&str]] = &[&["--mode", "cssa"], &["--no-prune"], &[]];

/// What one run said.
#[derive(Clone, Debug, Default)]
struct Ran {
    verdict: String,
    seconds: f64,
    threads: u64,
    events: u64,
    reads: u64,
    writes: u64,
    links: u64,
    /// Calls that were made by a summary of their function.
    instantiated: u64,
}

fn check(file: &Path, options: &[&str], leno: &Leno) -> Result<Ran, String> {
    let limit = leno.limit.as_secs_f64();
    let mut command = Command::new(&leno.binary);
    command.args(["check", "--engine", "staged", "--no-replay", "--quiet", "--stats"]);
    command.args(options).arg("--timeout").arg(limit.to_string()).arg(file);
    let mut finished = None;
    let time = child_cpu(1, || {
        finished = process::run(&mut command, b"", leno.limit + Duration::from_secs(30)).ok();
        finished.is_some()
    });
    let finished = finished.ok_or_else(|| format!("{} cannot be run", leno.binary.display()))?;
    let said = finished.errors();
    let figure =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok());
    let count = |name: &str| figure(name).unwrap_or(0.0) as u64;
    let verdict = String::from_utf8_lossy(&finished.stdout).split(':').next().unwrap_or_default().to_string();
    let _: f64 = figure("seconds").ok_or_else(|| format!("{}: no figures: {said}", file.display()))?;
    let seconds = time.as_secs_f64();
    let (threads, events, reads) = (count("threads"), count("events"), count("reads"));
    let (writes, links, instantiated) = (count("writes"), count("links"), count("instantiated"));
    Ok(Ran { verdict, seconds, threads, events, reads, writes, links, instantiated })
}

fn shown(ran: &Ran) -> String {
    if ran.verdict == "UNKNOWN" { "-".to_string() } else { format!("{:.2}", ran.seconds) }
}

/// The table; false if two modes contradict each other.
pub fn table(programs: &Path, leno: &Leno) -> Result<(String, bool), String> {
    let mut out = format!(
        "{:16} {:>7} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9}  {}\n",
        "program", "threads", "reads", "writes", "links", "cssa", "no-prune", "default", "verdict"
    );
    let mut agree = true;
    for (name, options, sizes) in ROWS {
        let file = programs.join(format!("{name}.c"));
        for size in *sizes {
            let size_option = format!("-DN={size}");
            let mut ran = Vec::new();
            for mode in MODES {
                let all: Vec<&str> = options.iter().chain(*mode).copied().chain([size_option.as_str()]).collect();
                ran.push(check(&file, &all, leno)?);
            }
            let decided: Vec<&str> = ran.iter().map(|ran| ran.verdict.as_str()).filter(|v| *v != "UNKNOWN").collect();
            agree &= decided.windows(2).all(|pair| pair[0] == pair[1]);
            let last = ran[MODES.len() - 1].clone();
            let _ = writeln!(
                out,
                "{:16} {:>7} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9}  {}",
                format!("{name}({size})"),
                last.threads,
                last.reads,
                last.writes,
                last.links,
                shown(&ran[0]),
                shown(&ran[1]),
                shown(&ran[2]),
                last.verdict
            );
        }
    }
    out.push_str("(processor time in seconds, reading the program included; -: no verdict within the time limit; other figures are those of the default)\n");
    Ok((out, agree))
}

/// Calls that are executed where they are made, by summaries of functions, and by what seems better.
const CALLS: &[(&str, Calls)] = &[("inline", Calls::Inline), ("summary", Calls::Summary), ("auto", Calls::Auto)];

/// Program, what to look for, how often loops may go round at most, and macros.
const CALLING: &[(&str, &str, Option<u32>, &str)] = &[
    ("ledger", "race", None, "N=4 ENTRIES=8"),
    ("ledger", "race", None, "N=4 ENTRIES=32"),
    ("ledger", "race", None, "N=16 ENTRIES=8"),
    ("ledger", "race", None, "N=4 ENTRIES=8 BITS=512"),
    ("dispatch", "race", None, "N=4 REQUESTS=32"),
    ("synchbench", "race", None, "N=13"),
    ("indexer", "assert", None, "N=64 ENTRY=77"),
    ("account", "race", Some(100), "N=21"),
];

/// How often each program is summarised, and how often it is checked.
const REPEATED: (u32, u32) = (50, 5);

/// What function summaries are good for; false if two ways contradict each other.
pub fn calls(programs: &Path, leno: &Leno) -> Result<(String, bool), String> {
    let mut out = format!(
        "{:30} {:>6} {:>15}   {:^23}   {:^23}\n{:30} {:>6} {:>8} {:>6}   {:>7} {:>7} {:>7}   {:>7} {:>7} {:>7}  {}\n",
        "",
        "",
        "by summary with",
        "summarising",
        "all",
        "program",
        "events",
        "summary",
        "auto",
        "inline",
        "summary",
        "auto",
        "inline",
        "summary",
        "auto",
        "verdict"
    );
    let mut agree = true;
    for &(name, property, unwind, macros) in CALLING {
        let file = programs.join(format!("{name}.c"));
        let macros: Vec<String> = macros.split(' ').map(|one| format!("-D{one}")).collect();
        let bound = unwind.map(|unwind| unwind.to_string());
        let mut options = vec!["--property", property];
        options.extend(macros.iter().map(String::as_str));
        options.extend(bound.iter().flat_map(|bound| ["--unwind", bound]));
        let program = compiled(&file, &macros)?;
        let (mut summarizing, mut ran) = (Vec::new(), Vec::new());
        for (option, calls) in CALLS {
            let properties =
                Properties { race: property == "race", assertion: property == "assert", ..Properties::NONE };
            let unwinding = Unwinding { fixed: unwind, named: Vec::new() };
            let task = Task { calls: *calls, unwinding, ..Task::new(properties) };
            leno_bmc::summarize(&program, &task)?;
            summarizing.push(own_cpu(REPEATED.0, || drop(leno_bmc::summarize(&program, &task))));
            let all: Vec<&str> = options.iter().copied().chain(["--calls", option]).collect();
            let mut best = check(&file, &all, leno)?;
            for _ in 1..REPEATED.1 {
                best.seconds = best.seconds.min(check(&file, &all, leno)?.seconds);
            }
            ran.push(best);
        }
        agree &= ran.windows(2).all(|pair| pair[0].verdict == pair[1].verdict);
        let title = format!("{name} {}", macros.join(" ").replace("-D", ""));
        let last = &ran[CALLS.len() - 1];
        let _ = write!(out, "{title:30} {:>6} {:>8} {:>6}  ", last.events, ran[1].instantiated, last.instantiated);
        summarizing.iter().for_each(|time| _ = write!(out, " {:>7.4}", time.as_secs_f64()));
        out.push_str("  ");
        ran.iter().for_each(|ran| _ = write!(out, " {:>7.2}", ran.seconds));
        let _ = writeln!(out, "  {}", last.verdict);
    }
    let _ = writeln!(
        out,
        "(processor time in seconds; summarising: the mean of {} times; all: the best of {} runs, reading the program included)",
        REPEATED.0, REPEATED.1
    );
    Ok((out, agree))
}

fn compiled(file: &Path, macros: &[String]) -> Result<leno_ir::program::Program, String> {
    let mut options = Options::default();
    options.preprocess.flags.extend_from_slice(macros);
    let compiled = compile(&[Input::File(file.to_path_buf())], &options).map_err(|failure| failure.to_string())?;
    Ok(compiled.program)
}

/// The program of section 1.1 with so many locals, each one more than the one before.
pub fn chain(locals: u32) -> String {
    let mut out = format!(
        "#include <assert.h>\n#include <pthread.h>\nint x, z[{0}];\nvoid *first(void *arg)\n{{\n    int a0 = x;\n",
        locals + 1
    );
    for index in 1..=locals {
        let _ = writeln!(out, "    int a{index} = a{} + 1; z[{index}] = a{index};", index - 1);
    }
    let _ = write!(
        out,
        "    x = a{locals};\n    return 0;\n}}\nvoid *second(void *arg)\n{{\n    z[0] = 1;\n    x = 0;\n    x = 5;\n    int y = x;\n    \
         assert(y == 5 || y >= {locals});\n    return 0;\n}}\n\
         int main(void)\n{{\n    pthread_t a, b;\n    pthread_create(&a, 0, first, 0);\n    pthread_create(&b, 0, second, 0);\n    \
         pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}}\n"
    );
    out
}

/// Seconds for longer and longer chains.
pub fn chains(leno: &Leno) -> Result<String, String> {
    let mut out = format!("{:>7} {:>7} {:>9}\n", "locals", "events", "seconds");
    let directory = std::env::temp_dir().join(format!("leno-chains-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    for locals in [100, 500, 1_000, 2_000, 3_000, 4_000, 5_000] {
        let file = directory.join(format!("chain{locals}.c"));
        fs::write(&file, chain(locals)).map_err(|error| error.to_string())?;
        let ran = check(&file, &["--property", "assert"], leno)?;
        let _ = writeln!(out, "{locals:>7} {:>7} {:>9.3} {}", ran.events, ran.seconds, ran.verdict);
    }
    let _ = fs::remove_dir_all(&directory);
    Ok(out)
}

/// Events and seconds for more and more customers, as text and as a picture.
pub fn growth(programs: &Path, leno: &Leno) -> Result<(String, String), String> {
    let mut points = Vec::new();
    let mut out = format!("{:>8} {:>7} {:>8} {:>9}\n", "account", "events", "links", "seconds");
    for size in [2, 4, 8, 16, 24, 32, 48, 64] {
        let options = ["--property", "race", "--unwind", "100", &format!("-DN={size}")];
        let ran = check(&programs.join("account.c"), &options, leno)?;
        let _ = writeln!(out, "{size:>8} {:>7} {:>8} {:>9.3} {}", ran.events, ran.links, ran.seconds, ran.verdict);
        points.push((f64::from(size), ran.events as f64, ran.seconds));
    }
    Ok((out, picture(&points)))
}

/// Two curves over the number of threads, each with an axis of its own.
fn picture(points: &[(f64, f64, f64)]) -> String {
    let (width, height, margin) = (640.0, 360.0, 56.0);
    let most = |value: fn(&(f64, f64, f64)) -> f64| points.iter().map(value).fold(1e-9, f64::max);
    let (most_threads, most_events, most_seconds) = (most(|p| p.0), most(|p| p.1), most(|p| p.2));
    let across = |threads: f64| margin + threads / most_threads * (width - 2.0 * margin);
    let up = |share: f64| height - margin - share * (height - 2.0 * margin);
    let curve = |share: &dyn Fn(&(f64, f64, f64)) -> f64| -> String {
        points.iter().map(|point| format!("{:.1},{:.1} ", across(point.0), up(share(point)))).collect()
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let events = curve(&|p| p.1 / most_events);
    let _ = writeln!(out, "<polyline points=\"{events}\" fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\"/>");
    let seconds = curve(&|p| p.2 / most_seconds);
    let _ = writeln!(out, "<polyline points=\"{seconds}\" fill=\"none\" stroke=\"#d62728\" stroke-width=\"2\"/>");
    for point in points {
        let x = across(point.0);
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            height - margin + 16.0,
            point.0
        );
    }
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        let y = up(share);
        let _ = writeln!(
            out,
            "<line x1=\"{margin}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\n\
             <text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#1f77b4\">{:.0}</text>\n\
             <text x=\"{}\" y=\"{y:.1}\" fill=\"#d62728\">{:.2}</text>",
            width - margin,
            margin - 6.0,
            share * most_events,
            width - margin + 6.0,
            share * most_seconds
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{margin}\" y=\"24\" fill=\"#1f77b4\">events</text>\n<text x=\"{}\" y=\"24\" text-anchor=\"end\" fill=\"#d62728\">seconds</text>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">customers of account.c</text>\n</svg>",
        width - margin,
        width / 2.0,
        height - 10.0
    );
    out
}
