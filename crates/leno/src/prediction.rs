//! `leno record` and `leno predict`: one run, and what its reorderings could do.

use crate::arguments::{Replaying, Sources};
use crate::command::{Status, load_to_run, print, properties, recipe_options, say, stop_on_interrupt, write_file};
use clap::{Args, ValueEnum};
use leno::{Cancel, Compiled, Properties};
use leno_engine::{Assumption, Stop};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{DataModel, Reuse};
use leno_predict::{AtomicBlocks, Encoding, Model, PredictOptions, Prediction, Reach, predict};
use leno_record::{RecordOptions, Recorded, Recorder, program_name};
use leno_replay::{ReplayOptions, Replayed};
use leno_report::{Steps, WitnessFile};
use leno_trace::{Communication, MAGIC, Record as TraceRecord, Trace};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::{Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
pub struct Record {
    #[command(flatten)]
    pub program: Sources,
    /// Where to write the trace
    #[arg(short, long, value_name = "FILE", default_value = "trace.leno")]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunOnce,
    /// Say on standard error what it took
    #[arg(long)]
    pub stats: bool,
}

/// How the program is linked and run.
#[derive(Args, Clone, Debug)]
pub struct RunOnce {
    /// Link an object, a library or a flag for the linker (also several: --link=-lz --link=other.o)
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub link: Vec<OsString>,
    /// Kill the program after this many seconds; the trace goes up to there
    #[arg(long, value_name = "SECONDS")]
    pub run_timeout: Option<f64>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct Predict {
    #[command(flatten)]
    pub program: Sources,
    #[command(flatten)]
    pub run: RunOnce,
    /// What to look for: assert, race, deadlock, memsafety, overflow, atomicity, or a `.prp` file [default: the first
    /// four, and whether blocks that are marked as atomic are]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub property: Vec<String>,
    /// Which reorderings of the run count
    #[arg(long, value_enum, default_value_t = ModelName::Symbolic)]
    pub model: ModelName,
    /// How the question is put to the solver
    #[arg(long, value_enum, default_value_t = EncodingName::Composition)]
    pub encoding: EncodingName,
    /// Look at 1, 2, … up to so many context switches
    #[arg(long, value_name = "N")]
    pub context_bound: Option<usize>,
    /// Look at so many events at a time, in windows that overlap by half; 0: at all of them at once
    #[arg(long, value_name = "EVENTS", default_value_t = leno_predict::WINDOW)]
    pub window: usize,
    /// Find everything, not just the first violation
    #[arg(long)]
    pub all: bool,
    /// Give up after this many seconds (the run itself not counted)
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Do not force what is predicted on the real program
    #[arg(long)]
    pub no_replay: bool,
    #[command(flatten)]
    pub replaying: Replaying,
    /// Write the witness of the first violation to this file
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Keep the trace in this file
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Say on standard error what it took
    #[arg(long)]
    pub stats: bool,
    /// Only the verdict
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ModelName {
    /// The code is known: values may change as long as branches do not
    Symbolic,
    /// Only values are known: every read returns what it returned
    Maximal,
    /// Lamport's happens-before
    Hb,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EncodingName {
    /// The theory of order says who comes between a write and its read
    Composition,
    /// All of it written out as clauses, as in the paper
    Cssa,
}

impl From<ModelName> for Model {
    fn from(name: ModelName) -> Model {
        match name {
            ModelName::Symbolic => Model::Symbolic,
            ModelName::Maximal => Model::Maximal,
            ModelName::Hb => Model::HappensBefore,
        }
    }
}

impl From<EncodingName> for Encoding {
    fn from(name: EncodingName) -> Encoding {
        match name {
            EncodingName::Composition => Encoding::Composition,
            EncodingName::Cssa => Encoding::Cssa,
        }
    }
}

pub fn execute_record(record: &Record) -> Result<Status, Status> {
    let sources = record.program.for_real();
    let compiled = load_to_run(&sources, &record.run.args)?;
    let recorded = run_recorded(&compiled, &sources, &record.run, &record.output, false)?;
    if record.stats {
        say(&format!("seconds: {:.3}\nbytes: {}\n", recorded.seconds, recorded.bytes));
    }
    Ok(match recorded.status {
        Some(status) => Status::Program(
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)).try_into().unwrap_or(255),
        ),
        None => Status::NoVerdict,
    })
}

fn run_recorded(
    compiled: &Compiled,
    sources: &Sources,
    run: &RunOnce,
    output: &Path,
    is_quiet: bool,
) -> Result<Recorded, Status> {
    let mut args = vec![program_name(&sources.files[0])];
    args.extend(run.args.iter().cloned());
    let options = RecordOptions {
        cc: sources.cc.clone(),
        link: run.link.clone(),
        args,
        description: describe(sources, run),
        timeout: run.run_timeout.filter(|seconds| *seconds >= 0.0).map(Duration::from_secs_f64),
        silent: is_quiet,
    };
    let recorded = Recorder::new(&compiled.program, options).and_then(|recorder| recorder.run(output));
    recorded.map_err(|message| {
        say(&format!("error: {message}\n"));
        Status::BadInput
    })
}

// --- the description of a trace: how to build the program again

fn describe(sources: &Sources, run: &RunOnce) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = vec![b"leno-predict 1".to_vec()];
    let mut add = |key: &str, value: &[u8]| {
        let escaped = value.iter().flat_map(|byte| match byte {
            b'\n' => b"\\n".to_vec(),
            b'\\' => b"\\\\".to_vec(),
            other => vec![*other],
        });
        lines.push(key.bytes().chain(*b" ").chain(escaped).collect());
    };
    let directory = std::env::current_dir().unwrap_or_default();
    add("directory", directory.as_os_str().as_bytes());
    for file in &sources.files {
        add("file", file.as_os_str().as_bytes());
    }
    for flag in &sources.preprocessor_flags {
        add("flag", flag.as_bytes());
    }
    if let Some(cc) = &sources.cc {
        add("cc", cc.as_bytes());
    }
    if DataModel::from(sources.data_model) == DataModel::Ilp32 {
        add("model", b"ilp32");
    }
    for option in recipe_options(sources) {
        add("option", option.as_bytes());
    }
    for word in &run.link {
        add("link", word.as_bytes());
    }
    for arg in &run.args {
        add("argument", arg.as_bytes());
    }
    if let Some(input) = standard_input() {
        add("input", &input);
    }
    lines.join(&b'\n')
}

/// What the program will read, if it can be known without taking it away: the rest of a file.
pub(crate) fn standard_input() -> Option<Vec<u8>> {
    let mut file = fs::File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    // The program has the same file, and begins where we are.
    let (mut position, mut bytes, mut buffer) = (file.stream_position().ok()?, Vec::new(), vec![0; 1 << 16]);
    loop {
        match file.read_at(&mut buffer, position).ok()? {
            0 => return Some(bytes),
            count => {
                bytes.extend_from_slice(&buffer[..count]);
                position += count as u64;
            }
        }
    }
}

/// The values of a key in a description.
fn lines_of<'d>(description: &'d [u8], key: &'d [u8]) -> impl Iterator<Item = Vec<u8>> + 'd {
    let lines = description.split(|byte| *byte == b'\n');
    lines.filter_map(move |line| unescape(line.strip_prefix(key)?.strip_prefix(b" ")?))
}

fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        value.push(match byte {
            b'\\' if bytes.next()? == &b'n' => b'\n',
            b'\\' => b'\\',
            other => *other,
        });
    }
    Some(value)
}

/// The program and arguments that a description speaks of.
fn remembered(description: &[u8]) -> Option<(Sources, RunOnce, PathBuf)> {
    let mut lines = description.split(|byte| *byte == b'\n');
    if lines.next()? != b"leno-predict 1" {
        return None;
    }
    let (mut files, mut flags, mut options): (Vec<PathBuf>, Vec<String>, Vec<String>) = Default::default();
    let (mut directory, mut cc, mut is_32_bit) = (PathBuf::new(), None, false);
    let mut run = RunOnce { link: Vec::new(), run_timeout: None, args: Vec::new() };
    for line in lines {
        let space = line.iter().position(|byte| *byte == b' ')?;
        let (key, rest) = (&line[..space], &line[space + 1..]);
        let value = unescape(rest)?;
        let text = || String::from_utf8_lossy(&value).into_owned();
        match key {
            b"directory" => directory = PathBuf::from(OsString::from_vec(value)),
            b"file" => files.push(PathBuf::from(OsString::from_vec(value))),
            b"flag" => flags.push(text()),
            b"cc" => cc = Some(text()),
            b"model" => is_32_bit = value == b"ilp32",
            b"option" => options.push(text()),
            b"link" => run.link.push(OsString::from_vec(value)),
            b"argument" => run.args.push(OsString::from_vec(value)),
            _ => {}
        }
    }
    Some((Sources::remembered(files, flags, cc, is_32_bit, &options), run, directory))
}

// --- predicting

pub fn execute_predict(ask: &Predict) -> Result<Status, Status> {
    let is_trace = |bytes: &[u8]| bytes.starts_with(&MAGIC);
    let first = beginning(&ask.program.files[0]);
    match ask.program.files.as_slice() {
        [file] if is_trace(&first) => predict_again(ask, file),
        [file] if leno_predict::text::is_trace(&first) => predict_text(ask, file, &fs::read(file).unwrap_or_default()),
        _ => predict_program(ask),
    }
}

/// Enough of a file to see what it is.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        let _ = file.take(1 << 16).read_to_end(&mut bytes);
    }
    bytes
}

fn predict_program(ask: &Predict) -> Result<Status, Status> {
    let mut sources = ask.program.for_real();
    sources.check_overflow |= asked_for(&ask.property)?.0.overflow;
    let compiled = load_to_run(&sources, &ask.run.args)?;
    let scratch = std::env::temp_dir().join(format!("leno-predict-{}.leno", std::process::id()));
    let path = ask.trace.as_ref().unwrap_or(&scratch);
    let recorded = run_recorded(&compiled, &sources, &ask.run, path, false)?;
    if ask.stats {
        say(&format!("run-seconds: {:.3}\ntrace-bytes: {}\n", recorded.seconds, recorded.bytes));
    }
    let trace = open_trace(path);
    if ask.trace.is_none() {
        let _ = fs::remove_file(&scratch);
    }
    let trace = trace?;
    let ended = how_it_ended(recorded.status, &trace);
    predict_recorded(ask, &compiled, &sources, &trace, ended)
}

/// Signals that end a run which goes wrong, with their numbers.
const CRASHES: [(i32, &str); 5] = [(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (11, "SIGSEGV")];

/// What a run leaves open that did not come to an end of its own.
fn how_it_ended(status: Option<ExitStatus>, trace: &Trace) -> Option<String> {
    let Some(status) = status else {
        return Some(
            "what the run would have done later: it took longer than --run-timeout, and was killed".to_string(),
        );
    };
    let signal = status.signal()?;
    let (_, name) = CRASHES.into_iter().find(|(number, _)| *number == signal)?;
    // (Who calls `abort`, or whose assertion fails, ends on purpose.)
    let is_end = |record| matches!(record, TraceRecord::End { .. } | TraceRecord::Failed { .. });
    let is_on_purpose = trace.threads().any(|thread| trace.records(thread).any(is_end));
    (!is_on_purpose).then(|| format!("why the run itself was ended by {name}"))
}

fn open_trace(path: &Path) -> Result<Trace, Status> {
    let wrong = |message: String| {
        say(&format!("error: `{}`: {message}\n", path.display()));
        Status::BadInput
    };
    Trace::open(path).map_err(|error| wrong(error.to_string()))
}

/// A trace that was recorded before: the program is built again as it was then.
fn predict_again(ask: &Predict, path: &Path) -> Result<Status, Status> {
    let wrong = |message: String| {
        say(&format!("error: `{}`: {message}\n", path.display()));
        Status::BadInput
    };
    let trace = open_trace(path)?;
    let Some((sources, run, directory)) = remembered(&trace.description) else {
        return Err(wrong("the trace does not say which program it is of".to_string()));
    };
    // Names of files are part of the program: they must be the same as when it was recorded.
    if let Err(error) = std::env::set_current_dir(&directory) {
        return Err(wrong(format!("its program was in `{}`: {error}", directory.display())));
    }
    if asked_for(&ask.property)?.0.overflow && !sources.check_overflow {
        return Err(wrong("it was recorded without `--property overflow`, and does not decide that".to_string()));
    }
    let compiled = load_to_run(&sources, &run.args)?;
    predict_recorded(ask, &compiled, &sources, &trace, None)
}

fn predict_recorded(
    ask: &Predict,
    compiled: &Compiled,
    sources: &Sources,
    trace: &Trace,
    ended: Option<String>,
) -> Result<Status, Status> {
    for damage in &trace.damage {
        say(&format!("warning: {damage}; what comes before it is used\n"));
    }
    let mut options = predict_options(ask)?;
    options.input = lines_of(&trace.description, b"input").next().unwrap_or_default();
    let mut prediction = predict(&compiled.program, trace, &options);
    prediction.gaps.extend(ended);
    if ask.stats {
        show_stats(&prediction);
    }
    report(ask, compiled, sources, &options.input, &prediction)
}

/// The properties, and the blocks that are to be atomic: those that are marked, unless something else is asked for.
fn asked_for(names: &[String]) -> Result<(Properties, AtomicBlocks), Status> {
    let (atomicity, others): (Vec<String>, Vec<String>) = names.iter().cloned().partition(|name| name == "atomicity");
    let blocks = match (names.is_empty(), atomicity.is_empty()) {
        (true, _) => AtomicBlocks::Marked,
        (false, true) => AtomicBlocks::None,
        (false, false) => AtomicBlocks::All,
    };
    if others.is_empty() && !atomicity.is_empty() {
        return Ok((Properties::NONE, blocks));
    }
    let selected = properties(&others)?;
    // (Memory safety by its name is what a run can show of it; `leak` and `memtrack` by theirs are refused.)
    let asks_for_leaks =
        selected.leak || (selected.memtrack && !selected.memory) || others.iter().any(|name| name == "memtrack");
    if asks_for_leaks {
        say("error: prediction does not decide `leak` and `memtrack`\n  = help: `leno check` does\n");
        return Err(Status::BadInput);
    }
    Ok((Properties { memtrack: false, ..selected }, blocks))
}

fn predict_options(ask: &Predict) -> Result<PredictOptions, Status> {
    let (properties, blocks) = asked_for(&ask.property)?;
    let mut options = PredictOptions {
        properties,
        blocks,
        model: ask.model.into(),
        encoding: ask.encoding.into(),
        context_bound: ask.context_bound,
        window: (ask.window > 0).then_some(ask.window),
        all: ask.all,
        ..PredictOptions::default()
    };
    options.limits.deadline = deadline(ask);
    Ok(options)
}

fn deadline(ask: &Predict) -> Option<Instant> {
    let timeout = ask.timeout.filter(|seconds| *seconds >= 0.0)?;
    Some(Instant::now() + Duration::from_secs_f64(timeout))
}

fn show_stats(prediction: &Prediction) {
    let stats = &prediction.stats;
    let mut out = String::new();
    let _ = writeln!(out, "threads: {}\naccesses: {}\nevents: {}", stats.threads, stats.accesses, stats.events);
    let _ = writeln!(out, "kept: {}\nquestions: {}\nlinks: {}", stats.kept, stats.questions, stats.links);
    let _ = writeln!(out, "windows: {}\nconflicts: {}", stats.windows, stats.conflicts);
    let _ = writeln!(out, "walk-seconds: {:.3}\nencode-seconds: {:.3}", stats.walk_seconds, stats.encode_seconds);
    let _ = writeln!(out, "solve-seconds: {:.3}", stats.solve_seconds);
    say(&out);
}

/// Forces what was predicted on the real program, and says what came of it all.
fn report(
    ask: &Predict,
    compiled: &Compiled,
    sources: &Sources,
    input: &[u8],
    prediction: &Prediction,
) -> Result<Status, Status> {
    let program = &compiled.program;
    let cancel = Cancel::default();
    stop_on_interrupt(&cancel);
    let (mut out, mut is_violated, mut open) = (String::new(), false, Vec::new());
    for predicted in &prediction.findings {
        let witness = match &predicted.witness {
            Ok(witness) => witness,
            Err(why) => {
                open.push(format!("{} at {}: {why}", predicted.title, predicted.places.join(" and ")));
                continue;
            }
        };
        let machine = leno::replay_machine();
        // Who makes it shorter knows nothing of an input, nor of threads that wait for each other outside.
        let shorter = match input.is_empty() && !Communication::is_possible(program) {
            true => leno_explore::shorten(&Facts::new(program), witness, &machine),
            false => (**witness).clone(),
        };
        let replayed = (!ask.no_replay).then(|| {
            let mut options = ReplayOptions { cc: sources.cc.clone(), machine, ..ReplayOptions::default() };
            options.input = input.to_vec();
            (options.confinement, options.cancel) = (ask.replaying.into(), cancel.clone());
            // A witness from the end of a long run has all steps of that run.
            options.timeout += Duration::from_micros(100) * u32::try_from(shorter.steps.len()).unwrap_or(u32::MAX);
            leno_replay::replay(program, &shorter, &options)
        });
        if predicted.is_tainted && !replayed.as_ref().is_some_and(Replayed::is_confirmed) {
            let tried = match &replayed {
                Some(Replayed::NotConfirmed { why }) => format!("replay does not show it: {why}"),
                _ => "it was not replayed".to_string(),
            };
            let why = format!("on the way to it the program calls a function that Leno does not know, and {tried}");
            open.push(format!("{} at {}: {why}", predicted.title, predicted.places.join(" and ")));
            continue;
        }
        if let (Some(path), false) = (&ask.witness, is_violated) {
            let recipe = crate::command::recipe(sources, program);
            write_file(path, &WitnessFile::new(program, &shorter, &recipe).to_json())?;
        }
        is_violated = true;
        let text = leno_report::text::violation(program, &shorter, replayed.as_ref(), Steps::Folded);
        match ask.quiet {
            true => _ = writeln!(out, "{}", text.lines().next().unwrap_or_default()),
            false => _ = writeln!(out, "{text}"),
        }
    }
    let mut gaps = prediction.gaps.clone();
    if program.reuse != Reuse::Unnoticed {
        gaps.push("executions in which freed memory is given out again, which the program could notice".to_string());
    }
    let covers_all = prediction.reach == Reach::All && gaps.is_empty() && open.is_empty();
    if !is_violated {
        let reach = match prediction.lifted_from {
            Some(bound) => describe_lifting(bound),
            None => describe_reach(prediction.reach),
        };
        let verdict = if covers_all { "HOLDS" } else { "UNKNOWN" };
        let weak_order = Facts::new(program).features().weak_order.filter(|_| covers_all);
        let consistency = if weak_order.is_some() { ", under sequential consistency" } else { "" };
        let _ = writeln!(out, "{verdict}: {reach}{consistency}");
        for left_out in &prediction.left_out {
            let _ = writeln!(out, "  leaves out: {left_out}");
        }
        if let Some(span) = weak_order {
            say(&leno_report::text::weak_order(program, span));
            if !ask.quiet {
                let _ = writeln!(out, "  assuming: {}", Assumption::sequential_consistency(program, span));
            }
        }
    }
    let mut ends = asked_for(&ask.property)?.0.unasked_ends();
    ends.overflow &= sources.check_overflow;
    if !is_violated && covers_all && !ask.quiet && ends != Properties::NONE {
        let _ = writeln!(out, "  assuming: {}", leno_report::text::no_ends(&ends, "was not looked for"));
    }
    if !ask.quiet {
        for gap in &gaps {
            let _ = writeln!(out, "  = not covered: {gap}");
        }
        for open in &open {
            let _ = writeln!(out, "  = predicted, but not confirmed: {open}");
        }
    }
    print(&out)?;
    Ok(match (is_violated, covers_all) {
        (true, _) => Status::Violation,
        (false, true) => Status::Program(0),
        (false, false) => Status::NoVerdict,
    })
}

/// A refutation that did not need the bound on context switches.
fn describe_lifting(bound: usize) -> String {
    let switches = switches(bound);
    format!(
        "what was asked for holds for all interleavings of this trace: that it holds with at most {switches} was shown without using \
         the bound"
    )
}

fn switches(count: usize) -> String {
    if count == 1 { "1 context switch".to_string() } else { format!("{count} context switches") }
}

fn describe_reach(reach: Reach) -> String {
    match reach {
        Reach::All => "no reordering of this run violates anything that was asked for".to_string(),
        Reach::Windows => "no reordering within a window of this run violates anything that was asked for".to_string(),
        Reach::Switches(most) => {
            format!("no reordering of this run with at most {} violates anything that was asked for", switches(most))
        }
        Reach::First => "nothing that could be confirmed".to_string(),
        Reach::Stopped(Stop::Time) => "the time limit was reached".to_string(),
        Reach::Stopped(Stop::Memory) => "the memory limit was reached".to_string(),
        Reach::Stopped(Stop::Cancelled) => "it was interrupted".to_string(),
        Reach::Stopped(Stop::Conflicts | Stop::Solver) => "the solver gave up".to_string(),
    }
}

/// A trace that another tool has written: nothing is known but what it says.
fn predict_text(ask: &Predict, path: &Path, bytes: &[u8]) -> Result<Status, Status> {
    let mut events = leno_predict::text::read(bytes).map_err(|error| {
        say(&format!("error: `{}`: {error}\n", path.display()));
        Status::BadInput
    })?;
    let options = predict_options(ask)?;
    let findings = leno_predict::text::predict(&mut events, &options);
    let mut out = String::new();
    for finding in &findings.found {
        let _ = writeln!(out, "PREDICTED: {}", finding.title);
        if !ask.quiet {
            for place in &finding.places {
                let _ = writeln!(out, "  --> {place}");
            }
            let _ = writeln!(out, "  = in this order: {}", finding.order.join(", "));
        }
    }
    if findings.found.is_empty() {
        let verdict = if findings.reach == Reach::All { "HOLDS" } else { "UNKNOWN" };
        let _ = writeln!(out, "{verdict}: {}", describe_reach(findings.reach));
    }
    print(&out)?;
    Ok(match (findings.found.is_empty(), findings.reach) {
        (false, _) => Status::Violation,
        (true, Reach::All) => Status::Program(0),
        (true, _) => Status::NoVerdict,
    })
}
