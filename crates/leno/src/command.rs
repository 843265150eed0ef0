//! What each command does, and with which exit code it ends.

use crate::arguments::{Calls, Check, Command, Dump, EmitC, Linearize, Mode, NodeMemory, Replay, Run, Sources};
use crate::memory::MemoryLimit;
use crate::prediction::{execute_predict, execute_record, standard_input};
use crate::proofs::{Claimed, execute_prove, execute_verify, write_proof};
use leno::{
    Bounds, Cancel, CheckOptions, Compiled, Ending, EngineChoice, Input, LinearizeError, LinearizeOptions, Linearized,
    Options, Properties, RunOptions, Task, Unwinding, Verdict,
};
use leno_bmc::StagedEngine;
use leno_c::library;
use leno_c::preprocess::Preprocess;
use leno_engine::{Assumption, Stop};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::Terminal;
use leno_ir::program::Program;
use leno_record::program_name;
use leno_replay::{ReplayOptions, Replayed};
use leno_report::{Recipe, WitnessFile};
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How a command went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The program ran, and this is its own exit status.
    Program(u8),
    Violation,
    NoVerdict,
    BadInput,
    /// The reader of our output has gone away.
    BrokenPipe,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Program(code) => code,
            Status::Violation => 1,
            Status::NoVerdict => 2,
            Status::BadInput => 3,
            // As the shell reports a death by SIGPIPE.
            Status::BrokenPipe => 141,
        })
    }
}

pub fn execute(command: Command) -> Status {
    let result = match &command {
        Command::Check(check) => execute_check(check),
        Command::Prove(prove) => execute_prove(prove),
        Command::Verify(verify) => execute_verify(verify),
        Command::Linearize(linearize) => execute_linearize(linearize),
        Command::Replay(replay) => execute_replay(replay),
        Command::Run(run) => execute_run(run),
        Command::Dump(dump) => execute_dump(dump),
        Command::EmitC(emit) => execute_emit(emit),
        Command::Record(record) => execute_record(record),
        Command::Predict(predict) => execute_predict(predict),
    };
    result.unwrap_or_else(|status| status)
}

fn execute_check(check: &Check) -> Result<Status, Status> {
    let properties = properties(&check.property)?;
    let cancel = Cancel::default();
    let progress = leno::Progress::default();
    let memory = MemoryLimit::watch(check.memory, &cancel, &progress);
    let mut sources = check.program.clone();
    sources.check_overflow |= properties.overflow;
    let compiled = load_to_run(&sources, &check.args)?;
    let engine = engine(check)?;
    let unwinding = Unwinding { fixed: check.unwind, named: check.unwindset.clone() };
    if let Err(message) = leno_bmc::find_loops(&compiled.program, &unwinding) {
        say(&format!(
            "error: {message}\n  = help: loops are called `file:line` or `function:line`, by where they begin\n"
        ));
        return Err(Status::BadInput);
    }
    if let Some(path) = &check.dump_smt2 {
        let task = leno_bmc::Task { unwinding: unwinding.clone(), ..leno_bmc::Task::new(properties) };
        match leno_bmc::query(&compiled.program, &task) {
            Ok(text) => write_file(path, &text)?,
            Err(reason) => say(&format!("no SMT-LIB file: {reason}\n")),
        }
    }
    let timeout = check.timeout.filter(|seconds| *seconds >= 0.0).map(Duration::from_secs_f64);
    let is_shown = !check.quiet && engine != EngineChoice::Staged && io::stderr().is_terminal();
    let display = Display::new(is_shown, &cancel, &progress);
    let replay = (!check.no_replay).then(|| ReplayOptions {
        cc: sources.cc.clone(),
        keep: check.keep.clone(),
        confinement: check.replaying.into(),
        cancel: cancel.clone(),
        ..ReplayOptions::default()
    });
    let staged = StagedEngine {
        prune: !check.no_prune,
        mode: match check.mode {
            Mode::Summaries => leno_bmc::Mode::Summaries,
            Mode::Cssa => leno_bmc::Mode::Cssa,
        },
        calls: check.calls.into(),
    };
    let reductions = leno_lazy::Reductions { locksets: !check.no_mtx, order: !check.no_por };
    let lazy = leno_lazy::LazyEngine { depth: check.depth, reductions, ..leno_lazy::LazyEngine::default() };
    let bounds = Bounds {
        unwinding,
        context_switches: check.context_bound,
        preemptions: check.preemptions,
        ..Bounds::default()
    };
    let options = CheckOptions {
        engine,
        staged,
        lazy,
        task: Task { bounds, ..Task::new(properties) },
        timeout,
        memory: Some(memory.mebibytes),
        replay,
        cancel,
        progress,
    };
    if check.all {
        let found = leno::check_all(&compiled.program, &options);
        memory.release();
        return report_all(check, &sources, &compiled, &found, display.finish());
    }
    let checked = leno::check_program(&compiled.program, &options);
    let time = display.finish();
    memory.release();
    if check.stats {
        say(&format!("{}seconds: {:.3}\n", checked.statistics, time.as_secs_f64()));
        checked.assumptions.iter().for_each(|assumption| say(&format!("assumption: {assumption}\n")));
    }
    if let (Some(witness), Some(path)) = (checked.witness(), &check.witness) {
        let file = WitnessFile::new(&compiled.program, witness, &recipe(&sources, &compiled.program));
        write_file(path, &file.to_json())?;
    }
    if let Some(path) = &check.proof {
        let args = check.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        write_proof(path, &compiled.program, &checked, Claimed { args, ..Claimed::default() })?;
    }
    warn_of_weak_orders(&compiled.program, &checked);
    let report = checked.report_with(&compiled.program, check.steps());
    let shown = if check.quiet { report.lines().next().unwrap_or_default().to_string() + "\n" } else { report };
    print(&shown)?;
    Ok(match checked.verdict {
        Verdict::Safe => Status::Program(0),
        Verdict::Unsafe(..) => Status::Violation,
        Verdict::Unknown(_) => Status::NoVerdict,
    })
}

fn execute_linearize(linearize: &Linearize) -> Result<Status, Status> {
    let (cancel, progress) = (Cancel::default(), leno::Progress::default());
    let memory = MemoryLimit::watch(linearize.memory, &cancel, &progress);
    stop_on_interrupt(&cancel);
    let mut options = LinearizeOptions {
        names: leno::OperationNames {
            operations: linearize.operations.clone(),
            initialisation: linearize.init.clone(),
            initial_numbers: linearize.init_numbers.clone(),
            thread_parameter: linearize.thread_parameter.clone(),
        },
        clients: leno::ClientOptions {
            threads: linearize.threads,
            calls: linearize.calls,
            values: linearize.values,
            prepared: linearize.before.clone(),
        },
        reading: reading(&linearize.program),
        timeout: linearize.timeout.filter(|seconds| *seconds >= 0.0).map(Duration::from_secs_f64),
        memory: Some(memory.mebibytes),
        replay: (!linearize.no_replay).then(|| ReplayOptions {
            cc: linearize.program.cc.clone(),
            confinement: linearize.replaying.into(),
            cancel: cancel.clone(),
            ..ReplayOptions::default()
        }),
        cancel,
        nodes: linearize.node_memory.map(|memory| match memory {
            NodeMemory::Gc => leno::NodesAre::Collected,
            NodeMemory::Manual => leno::NodesAre::Manual,
        }),
    };
    let begun = std::time::Instant::now();
    let no_proof = match &linearize.spec {
        Some(spec) => match prove_linearizable(linearize, &options, spec)? {
            Ok(()) => return Ok(Status::Program(0)),
            Err(no_proof) => Some(no_proof),
        },
        None => None,
    };
    options.timeout = options.timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
    let found = leno::linearize(&linearize.program.files, &options).map_err(|error| unreadable(&error))?;
    memory.release();
    if let (Linearized::Violated { client, .. }, Some(path)) = (&found, &linearize.client) {
        write_file(path, client)?;
    }
    let bounds = format!("up to {} threads with {} calls each", linearize.threads.max(2), linearize.calls.max(1));
    let (text, status) = match found {
        Linearized::Violated { report, .. } => (report, Status::Violation),
        Linearized::Holds { clients, left_out, executions, weak_orders } => {
            let consistency = if weak_orders { ", under sequential consistency" } else { "" };
            let mut text =
                format!("HOLDS: every history of {clients} clients is linearizable ({bounds}){consistency}\n");
            text += &format!("  = {executions} executions, which differ in the order of what depends on each other\n");
            if left_out > 0 {
                text +=
                    &format!("  = {left_out} more clients may wait for ever even sequentially, and were left out\n");
            }
            (text, Status::Program(0))
        }
        Linearized::Undecided { reason, decided, clients } => {
            let text = format!("UNKNOWN: {reason}\n  = of {clients} clients ({bounds}) {decided} are linearizable\n");
            (text + "  = help: fewer threads or calls, or more time with --timeout\n", Status::NoVerdict)
        }
    };
    let (text, status) = match no_proof {
        Some(no_proof) if status != Status::Violation => {
            let text = text.replacen("HOLDS: ", "  = in bounds: ", 1).replacen("UNKNOWN: ", "  = in bounds: ", 1);
            (format!("UNKNOWN: not proved for any number of threads: {no_proof}\n{text}"), Status::NoVerdict)
        }
        _ => (text, status),
    };
    print(&text)?;
    Ok(status)
}

fn unreadable(error: &LinearizeError) -> Status {
    say(&match error {
        LinearizeError::Mistake(mistake) => format!("{mistake}\n"),
        LinearizeError::Unreadable(failure) => failure.to_string(),
        LinearizeError::NoFile(error) => format!("error: cannot write a client down: {error}\n"),
    });
    Status::BadInput
}

/// The proof for any number of threads: prints it, or says why there is none.
fn prove_linearizable(
    linearize: &Linearize,
    options: &LinearizeOptions,
    spec: &str,
) -> Result<Result<(), String>, Status> {
    let observer = match leno::observer(spec) {
        Ok(observer) => observer,
        Err(reason) => {
            say(&format!("error: {reason}\n  = help: choose stack or queue, or name a file with an observer\n"));
            return Err(Status::BadInput);
        }
    };
    let start = std::time::Instant::now();
    let proved = leno::prove_linearizable(&linearize.program.files, options, &observer, options.nodes);
    match proved.map_err(|error| unreadable(&error))? {
        Ok(proof) => {
            print(&leno::linearizability::report(&proof, start.elapsed()))?;
            Ok(Ok(()))
        }
        Err(failed) => {
            if let (Some(path), Some((_, graph))) = (&linearize.view, &failed.view) {
                write_file(path, graph)?;
            }
            let view = failed
                .view
                .map_or(String::new(), |(text, _)| format!("\nThe view in which it ended: {}", text.trim_end()));
            Ok(Err(format!("{}{view}", failed.reason)))
        }
    }
}

/// A SAFE that assumes sequential consistency says where the program asks for less.
fn warn_of_weak_orders(program: &Program, checked: &leno::Checked) {
    if checked.assumptions.iter().any(Assumption::is_sequential_consistency)
        && let Some(span) = Facts::new(program).features().weak_order
    {
        say(&leno_report::text::weak_order(program, span));
    }
}

/// All violations, and what can be said of the rest.
fn report_all(
    check: &Check,
    sources: &Sources,
    compiled: &Compiled,
    found: &[leno::Checked],
    time: Duration,
) -> Result<Status, Status> {
    let Some((rest, violations)) = found.split_last() else { return Ok(Status::NoVerdict) };
    if check.stats {
        say(&rest.statistics.to_string());
        say(&format!("violations: {}\nseconds: {:.3}\n", violations.len(), time.as_secs_f64()));
        rest.assumptions.iter().for_each(|assumption| say(&format!("assumption: {assumption}\n")));
    }
    for checked in violations {
        let report = checked.report_with(&compiled.program, check.steps());
        let shown = if check.quiet { report.lines().next().unwrap_or_default() } else { report.trim_end() };
        print(&format!("{shown}\n{}", if check.quiet { "" } else { "\n" }))?;
    }
    for (index, witness) in found.iter().filter_map(leno::Checked::witness).enumerate() {
        if let Some(path) = &check.witness {
            let file = WitnessFile::new(&compiled.program, witness, &recipe(sources, &compiled.program));
            write_file(&numbered(path, index + 1), &file.to_json())?;
        }
    }
    warn_of_weak_orders(&compiled.program, rest);
    let report = rest.report_with(&compiled.program, check.steps());
    let rest_of_it =
        if violations.is_empty() { report } else { format!("Violations: {}. The rest: {report}", violations.len()) };
    print(&rest_of_it)?;
    Ok(match (&rest.verdict, violations.is_empty()) {
        (_, false) => Status::Violation,
        (Verdict::Safe, true) => Status::Program(0),
        (_, true) => Status::NoVerdict,
    })
}

/// `w.json`, then `w-2.json`, and so on.
fn numbered(path: &Path, number: usize) -> std::path::PathBuf {
    if number == 1 {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

/// The engine that is meant. Bounds are those of the staged engine.
fn engine(check: &Check) -> Result<EngineChoice, Status> {
    use crate::arguments::Engine;
    let is_bounded = check.unwind.is_some()
        || !check.unwindset.is_empty()
        || check.context_bound.is_some()
        || check.no_prune
        || check.all
        || check.mode != Mode::Summaries
        || check.calls != Calls::Auto;
    match check.engine {
        Engine::Staged => Ok(EngineChoice::Staged),
        Engine::Auto if is_bounded => Ok(EngineChoice::Staged),
        Engine::Explore | Engine::States if is_bounded => {
            say(
                "error: exploration has no bounds on loops and switches\n  = help: --engine staged has, and exploration has --preemptions\n",
            );
            Err(Status::BadInput)
        }
        Engine::Lazy if is_bounded || check.preemptions.is_some() => {
            say("error: the lazy engine has no bounds on loops and switches\n  = help: it has --depth\n");
            Err(Status::BadInput)
        }
        Engine::Prove if is_bounded || check.preemptions.is_some() => {
            say("error: the prover has no bounds\n  = help: --engine staged has\n");
            Err(Status::BadInput)
        }
        Engine::Auto if check.preemptions.is_some() => Ok(EngineChoice::Explore),
        Engine::Auto => Ok(EngineChoice::Auto),
        Engine::Explore => Ok(EngineChoice::Explore),
        Engine::Prove => Ok(EngineChoice::Prove),
        Engine::Lazy => Ok(EngineChoice::Lazy),
        Engine::States => Ok(EngineChoice::States),
    }
}

/// How to build the program again.
pub(crate) fn recipe(sources: &Sources, program: &Program) -> Recipe {
    Recipe {
        files: sources.files.iter().map(|file| file.display().to_string()).collect(),
        directory: std::env::current_dir().map_or(String::new(), |directory| directory.display().to_string()),
        cc: sources.cc.clone(),
        cc_flags: sources.preprocessor_flags.clone(),
        data_model: sources.data_model.into(),
        options: recipe_options(sources),
        arguments: program.command.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
    }
}

pub(crate) fn recipe_options(sources: &Sources) -> Vec<String> {
    let options = [
        (sources.malloc_may_fail, "malloc-may-fail"),
        (sources.spurious_wakeups, "spurious-wakeups"),
        (sources.check_overflow, "check-overflow"),
        (sources.real_process, "real-process"),
    ];
    options.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| (*name).to_string()).collect()
}

fn execute_replay(replay: &Replay) -> Result<Status, Status> {
    let wrong = |message: String| {
        say(&format!("error: `{}`: {message}\n", replay.witness.display()));
        Status::BadInput
    };
    let text = fs::read_to_string(&replay.witness).map_err(|error| wrong(error.to_string()))?;
    let file = WitnessFile::parse(&text).map_err(|error| wrong(error.to_string()))?;
    let recipe = file.recipe();
    let keep = replay.keep.as_ref().map(|keep| std::path::absolute(keep).unwrap_or_else(|_| keep.clone()));
    let has = |option: &str| recipe.options.iter().any(|name| name == option);
    // Names of files are part of the program: they must be the same as when the witness was found.
    if let Err(error) = std::env::set_current_dir(&recipe.directory) {
        return Err(wrong(format!("its program was in `{}`: {error}", recipe.directory)));
    }
    let inputs: Vec<Input> = recipe.files.iter().map(|file| Input::File(file.into())).collect();
    let options = Options {
        preprocess: Preprocess { cc: recipe.cc.clone(), flags: recipe.cc_flags.clone(), data_model: recipe.data_model },
        library: library::Options {
            allocation_may_fail: has("malloc-may-fail"),
            spurious_wakeups: has("spurious-wakeups"),
            real_process: has("real-process"),
        },
        check_signed_overflow: has("check-overflow"),
        entries: Vec::new(),
        color: io::stderr().is_terminal(),
    };
    let mut compiled = leno::compile(&inputs, &options).map_err(|failure| {
        say(&failure.to_string());
        Status::BadInput
    })?;
    compiled.program.command = recipe.arguments.iter().map(|word| word.clone().into_bytes()).collect();
    let witness = file.witness(&compiled.program).map_err(|error| wrong(error.to_string()))?;
    let machine = leno::replay_machine();
    let input = standard_input().unwrap_or_default();
    let (confinement, cancel) = (replay.replaying.into(), Cancel::default());
    stop_on_interrupt(&cancel);
    let options =
        ReplayOptions { cc: recipe.cc, keep, input, machine, confinement, cancel, ..ReplayOptions::default() };
    let runs = leno_replay::replay_often(&compiled.program, &witness, &options, replay.repeat);
    let confirmed = runs.iter().filter(|run| run.is_confirmed()).count();
    // The worst one counts, and is shown.
    let (text, status) = match runs.iter().find(|run| !run.is_confirmed()).or(runs.first()) {
        Some(Replayed::Confirmed { how }) => (format!("confirmed: {how}\n"), Status::Violation),
        Some(Replayed::NotConfirmed { why }) => (format!("not confirmed: {why}\n"), Status::NoVerdict),
        None => (String::new(), Status::NoVerdict),
    };
    print(&text)?;
    if replay.repeat > 1 {
        print(&format!("confirmed {confirmed} of {} times\n", runs.len()))?;
    }
    Ok(status)
}

/// The properties that a list of names, or a `.prp` file of the verification competition, selects.
pub(crate) fn properties(names: &[String]) -> Result<Properties, Status> {
    if names.is_empty() {
        return Ok(Properties::DEFAULT);
    }
    let mut selected = Properties::NONE;
    for name in names {
        let text = if name.ends_with(".prp") {
            fs::read_to_string(name).map_err(|error| {
                say(&format!("error: cannot read `{name}`: {error}\n"));
                Status::BadInput
            })?
        } else {
            name.clone()
        };
        let has = |word: &str| text.contains(word);
        let before = selected;
        selected.assertion |= text == "assert" || has("call(reach_error") || has("call(__VERIFIER_error");
        selected.race |= text == "race" || has("no-data-race") || has("! data-race");
        selected.deadlock |= text == "deadlock";
        selected.memory |= text == "memsafety" || has("valid-deref") || has("valid-free") || has("valid-memsafety");
        selected.leak |= text == "leak" || has("valid-memcleanup");
        // (Who asks for memory safety by name means what the competition means by it.)
        selected.memtrack |=
            text == "memtrack" || text == "memsafety" || has("valid-memtrack") || has("valid-memsafety");
        selected.overflow |= text == "overflow" || has("overflow)");
        if selected == before && text != "all" {
            say(&format!(
                "error: `{name}` selects no property\n  = help: choose from assert, race, deadlock, memsafety, overflow, leak, memtrack\n"
            ));
            return Err(Status::BadInput);
        }
    }
    Ok(selected)
}

/// Ctrl-C asks to stop, so that nothing is left behind. Without a handler it just ends the process.
pub(crate) fn stop_on_interrupt(cancel: &Cancel) {
    let cancel = cancel.clone();
    let _ = ctrlc::set_handler(move || cancel.request(Stop::Cancelled));
}

/// A line on the terminal that shows how far the search is, and the end of the search on Ctrl-C.
struct Display {
    start: Instant,
    /// The thread that writes the line, and what ends it.
    line: Option<(thread::JoinHandle<()>, Arc<AtomicBool>)>,
}

/// How often the line is written anew.
const PERIOD: Duration = Duration::from_millis(200);

impl Display {
    fn new(is_shown: bool, cancel: &Cancel, progress: &leno::Progress) -> Display {
        let start = Instant::now();
        stop_on_interrupt(cancel);
        let line = is_shown.then(|| {
            let (is_done, progress) = (Arc::new(AtomicBool::new(false)), progress.clone());
            let flag = Arc::clone(&is_done);
            let writer = thread::spawn(move || {
                while !flag.load(Ordering::Relaxed) {
                    thread::park_timeout(PERIOD);
                    let executions = progress.executions();
                    if executions > 0 && !flag.load(Ordering::Relaxed) {
                        let rate = executions as f64 / start.elapsed().as_secs_f64();
                        say(&format!("\r{executions} executions, {rate:.0} a second"));
                    }
                }
                say("\r\x1b[K");
            });
            (writer, is_done)
        });
        Display { start, line }
    }

    fn finish(self) -> Duration {
        if let Some((writer, is_done)) = self.line {
            is_done.store(true, Ordering::Relaxed);
            writer.thread().unpark();
            // (It has nothing to say but that line.)
            let _ = writer.join();
        }
        self.start.elapsed()
    }
}

fn execute_run(run: &Run) -> Result<Status, Status> {
    let compiled = load_to_run(&run.program, &run.args)?;
    let mut status = Status::Program(0);
    for seed in run.seed..run.seed.saturating_add(run.runs.max(1)) {
        status = run_once(run, &compiled, seed);
        if status != Status::Program(0) {
            break;
        }
    }
    Ok(status)
}

fn run_once(run: &Run, compiled: &Compiled, seed: u64) -> Status {
    let options = RunOptions { seed, max_steps: run.max_steps.unwrap_or(u64::MAX) };
    let outcome = {
        let mut terminal = Terminal::new(seed);
        leno::run_in(&compiled.program, &options, &mut terminal)
    };
    if let Some(report) = outcome.report() {
        say(&report);
        if run.runs > 1 {
            say(&format!("to see this run again: --seed {seed}\n"));
        }
    }
    match outcome.ending {
        Ending::Exited(status) => Status::Program(status as u8),
        // 128 + SIGABRT, as a shell reports it.
        Ending::Aborted => Status::Program(134),
        Ending::Violation(_) | Ending::Deadlock(_) => Status::Violation,
        Ending::Stopped | Ending::StepLimit => Status::NoVerdict,
    }
}

fn execute_dump(dump: &Dump) -> Result<Status, Status> {
    let compiled = load_open(&dump.program, &dump.entry)?;
    if dump.what.dfg {
        let context = leno_engine::Context::default();
        return match leno_prove::show_data_flow(&Facts::new(&compiled.program), &context, dump.dot) {
            Ok(text) => print(&text),
            Err(reason) => {
                say(&format!("error: there is no data flow graph: {reason}\n"));
                Err(Status::NoVerdict)
            }
        };
    }
    if dump.what.efsm {
        let picture = if dump.dot { leno_lazy::Picture::Dot } else { leno_lazy::Picture::Text };
        return print(&leno_lazy::show(&Facts::new(&compiled.program), picture));
    }
    if dump.what.skeleton {
        let picture = if dump.dot { leno_bmc::Picture::Dot } else { leno_bmc::Picture::Text };
        let unwinding = Unwinding { fixed: Some(dump.unwind), named: Vec::new() };
        let task = leno_bmc::Task { unwinding, ..leno_bmc::Task::new(Properties::DEFAULT) };
        return match leno_bmc::show(&compiled.program, &task, picture) {
            Ok(text) => print(&text),
            Err(reason) => {
                say(&format!("error: there is no skeleton: {reason}\n"));
                Err(Status::NoVerdict)
            }
        };
    }
    let text = if dump.what.cfg { leno_ir::dot::program(&compiled.program) } else { compiled.program.to_string() };
    print(&text)
}

fn execute_emit(emit: &EmitC) -> Result<Status, Status> {
    let compiled = load(&emit.program)?;
    let options = leno_emit::Options { comments: !emit.no_comments };
    let text = leno_emit::emit(&compiled.program, &options);
    let Some(path) = &emit.output else { return print(&text) };
    write_file(path, &text)?;
    Ok(Status::Program(0))
}

pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Status> {
    fs::write(path, text).map_err(|error| {
        say(&format!("error: cannot write `{}`: {error}\n", path.display()));
        Status::BadInput
    })
}

/// Reads the program, and says what is to be said about it.
pub(crate) fn load(sources: &Sources) -> Result<Compiled, Status> {
    load_open(sources, &[])
}

/// The same; any number of threads run these functions, if there are any.
pub(crate) fn load_open(sources: &Sources, entry: &[String]) -> Result<Compiled, Status> {
    let inputs: Vec<Input> = sources.files.iter().cloned().map(Input::File).collect();
    let compiled = match entry.is_empty() {
        true => leno::compile(&inputs, &reading(sources)),
        false => leno::compile_open(&inputs, entry, &reading(sources)),
    };
    match compiled {
        Ok(compiled) => {
            compiled.warnings.iter().for_each(|warning| say(&warning.rendered));
            Ok(compiled)
        }
        Err(failure) => {
            say(&failure.to_string());
            Err(Status::BadInput)
        }
    }
}

/// How the user wants the files to be read.
fn reading(sources: &Sources) -> Options {
    Options {
        preprocess: Preprocess {
            cc: sources.cc.clone(),
            flags: sources.preprocessor_flags.clone(),
            data_model: sources.data_model.into(),
        },
        library: library::Options {
            allocation_may_fail: sources.malloc_may_fail,
            spurious_wakeups: sources.spurious_wakeups,
            real_process: sources.real_process,
        },
        check_signed_overflow: sources.check_overflow,
        entries: sources.entries.clone(),
        color: io::stderr().is_terminal(),
    }
}

/// Reads a program that is to be started with these arguments.
pub(crate) fn load_to_run(sources: &Sources, args: &[OsString]) -> Result<Compiled, Status> {
    let mut compiled = load(sources)?;
    if compiled.program.entry.is_none() {
        say("error: the program has no `main`\n  = help: name all of its files\n");
        return Err(Status::BadInput);
    }
    let name = program_name(&sources.files[0]);
    let words = std::iter::once(&name).chain(args);
    compiled.program.command = words.map(|word| word.as_encoded_bytes().to_vec()).collect();
    Ok(compiled)
}

/// To standard error; a closed stream is no reason to fail.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// To standard output, which may be a closed pipe (`| head`).
pub(crate) fn print(text: &str) -> Result<Status, Status> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Status::Program(0)),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Status::BrokenPipe),
        Err(error) => {
            say(&format!("error: cannot write to standard output: {error}\n"));
            Err(Status::BadInput)
        }
    }
}
