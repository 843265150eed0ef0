//! `leno prove`, the files that it writes, and `leno verify`, which reads them.

use crate::arguments::{Prove, Sources, Verify};
use crate::command::{Status, load, load_open, load_to_run, print, properties, say, stop_on_interrupt, write_file};
use crate::memory::MemoryLimit;
use leno::{Cancel, CheckOptions, Checked, EngineChoice, Properties, Task, Uses, Verdict, is_boolean};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{DataModel, Program};
use leno_prove::SourceInvariant;
use leno_report::{InvariantLine, fingerprint, invariant_json, invariant_yaml};
use leno_verify::file::{self, Header};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the command line did to the program before it was proved.
#[derive(Clone, Default)]
pub struct Claimed {
    pub replicate: Vec<String>,
    pub uses: Uses,
    pub args: Vec<String>,
}

/// The program that is proved, and what to say of how a library was taken.
fn load_claimed(sources: &Sources, overflow: bool, claimed: &Claimed) -> Result<(Program, Vec<String>), Status> {
    let mut sources = sources.clone();
    sources.check_overflow |= overflow;
    sources.entries = claimed.uses.functions();
    let is_library = !claimed.uses.entries.is_empty();
    let args: Vec<OsString> = claimed.args.iter().map(OsString::from).collect();
    let boolean = sources.files.first().is_some_and(|file| is_boolean(file));
    let compiled = match is_library {
        false => load_to_run(&sources, &args)?,
        // (In a Boolean program, threads start in the middle of functions.)
        true if boolean => load_open(&sources, &claimed.uses.entries)?,
        true => load(&sources)?,
    };
    let opened = match is_library && !boolean {
        true => leno::open_library(&compiled, &claimed.uses),
        false => Ok((compiled.program.clone(), Vec::new())),
    };
    let replicated =
        opened.and_then(|(program, notes)| Ok((leno_prove::replicate(&program, &claimed.replicate)?, notes)));
    replicated.map_err(|message| {
        say(&format!("error: {message}\n"));
        Status::BadInput
    })
}

fn seconds(timeout: Option<f64>) -> Option<Duration> {
    timeout.filter(|seconds| *seconds >= 0.0).map(Duration::from_secs_f64)
}

pub fn execute_prove(prove: &Prove) -> Result<Status, Status> {
    let properties = match prove.property.is_empty() {
        true => Properties { assertion: true, ..Properties::NONE },
        false => properties(&prove.property)?,
    };
    let properties = with_checks(properties, &prove.check)?;
    let (cancel, progress) = (Cancel::default(), leno::Progress::default());
    let memory = MemoryLimit::watch(prove.memory, &cancel, &progress);
    let claimed = Claimed {
        replicate: prove.replicate.clone(),
        uses: Uses { init: prove.init.clone(), entries: prove.entry.clone(), exit: prove.exit.clone() },
        args: prove.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
    };
    let (program, notes) = load_claimed(&prove.program, properties.overflow, &claimed)?;
    stop_on_interrupt(&cancel);
    let options = CheckOptions {
        engine: EngineChoice::Prove,
        task: Task::new(properties),
        timeout: seconds(prove.timeout),
        memory: Some(memory.mebibytes),
        cancel,
        progress,
        ..CheckOptions::default()
    };
    let start = Instant::now();
    let mut checked = leno::check_program(&program, &options);
    checked.covered.details.extend(notes);
    show_invariants(prove, &program, &options)?;
    memory.release();
    if prove.stats {
        say(&format!("{}seconds: {:.3}\n", checked.statistics, start.elapsed().as_secs_f64()));
    }
    if let Some(path) = &prove.proof {
        write_proof(path, &program, &checked, claimed)?;
    }
    let report = checked.report(&program);
    print(&if prove.quiet { report.lines().next().unwrap_or_default().to_string() + "\n" } else { report })?;
    Ok(match checked.verdict {
        Verdict::Safe => Status::Program(0),
        Verdict::Unsafe(..) => Status::Violation,
        Verdict::Unknown(_) => Status::NoVerdict,
    })
}

/// What holds, on standard output or in a file, if that is asked for.
fn show_invariants(prove: &Prove, program: &Program, options: &CheckOptions) -> Result<(), Status> {
    let is_shown = prove.show_invariants || prove.show_rounds;
    if !is_shown && prove.invariants.is_none() {
        return Ok(());
    }
    let limits = leno_engine::Limits::default().with_cancel(&options.cancel);
    let limits = match options.timeout {
        Some(timeout) => limits.within(timeout),
        None => limits,
    };
    let context = leno_engine::Context::within(limits);
    let facts = Facts::new(program);
    let no_invariants = |reason: String| say(&format!("there are no invariants: {reason}\n"));
    if is_shown {
        match leno_prove::show_invariants(&facts, &context, prove.show_rounds) {
            Ok(text) => _ = print(&text)?,
            Err(reason) => no_invariants(reason),
        }
    }
    let Some(path) = &prove.invariants else { return Ok(()) };
    match leno_prove::source_invariants(&facts, &context) {
        Ok(invariants) => {
            let is_yaml = path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
            let model: DataModel = prove.program.data_model.into();
            let lines = invariants.into_iter().map(|SourceInvariant { file, line, function, value }| InvariantLine {
                file,
                line,
                function,
                value,
            });
            let lines: Vec<InvariantLine> = lines.collect();
            let text = match is_yaml {
                true => invariant_yaml(&lines, &prove.program.files, model),
                false => Ok(invariant_json(&lines)),
            };
            let text = text.map_err(|message| {
                say(&format!("error: {message}\n"));
                Status::BadInput
            })?;
            write_file(path, &text)?;
        }
        Err(reason) => no_invariants(reason),
    }
    Ok(())
}

/// Writes the proof of a verdict, or says why there is none.
pub fn write_proof(path: &Path, program: &Program, checked: &Checked, claimed: Claimed) -> Result<(), Status> {
    let no_proof = |reason: &str| say(&format!("no proof was written: {reason}\n"));
    match &checked.proof {
        _ if checked.verdict != Verdict::Safe => no_proof("not everything was proved"),
        None => no_proof("it was decided by another engine than the prover"),
        Some(Err(reason)) => no_proof(reason),
        Some(Ok(written)) => {
            let header = Header {
                fingerprint: fingerprint(program),
                asked: written.asked,
                are_sections_whole: written.are_sections_whole,
                replicate: claimed.replicate,
                entry: claimed.uses.entries,
                init: claimed.uses.init,
                exit: claimed.uses.exit,
                args: claimed.args,
            };
            write_file(path, &file::write(&header, &written.body))?;
        }
    }
    Ok(())
}

/// What is to be proved, with the assertions that are inserted.
fn with_checks(mut properties: Properties, checks: &[String]) -> Result<Properties, Status> {
    for check in checks {
        match check.as_str() {
            "bounds" => properties.bounds = true,
            "overflow" => properties.overflow = true,
            _ => {
                say(&format!("error: `{check}` is nothing to check\n  = help: choose from bounds, overflow\n"));
                return Err(Status::BadInput);
            }
        }
    }
    Ok(properties)
}

pub fn execute_verify(verify: &Verify) -> Result<Status, Status> {
    let bytes = fs::read(&verify.proof).map_err(|error| {
        say(&format!("error: cannot read `{}`: {error}\n", verify.proof.display()));
        Status::BadInput
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let header = match file::read_header(&text) {
        Ok(header) => header,
        Err(why) => {
            print(&format!("REJECTED: {why}\n"))?;
            return Ok(Status::NoVerdict);
        }
    };
    let uses = Uses { init: header.init.clone(), entries: header.entry.clone(), exit: header.exit.clone() };
    let claimed = Claimed { replicate: header.replicate.clone(), uses, args: header.args.clone() };
    let (cancel, progress) = (Cancel::default(), leno::Progress::default());
    let memory = MemoryLimit::watch(verify.memory, &cancel, &progress);
    let (program, notes) = load_claimed(&verify.program, header.asked.overflow, &claimed)?;
    stop_on_interrupt(&cancel);
    let options = CheckOptions {
        timeout: seconds(verify.timeout),
        memory: Some(memory.mebibytes),
        cancel,
        progress,
        ..CheckOptions::default()
    };
    let start = Instant::now();
    let mut checked = leno::verify_program(&program, &leno::ProofFile { header: &header, text: &text }, &options);
    memory.release();
    if verify.stats {
        say(&format!("{}seconds: {:.3}\n", checked.statistics, start.elapsed().as_secs_f64()));
    }
    checked.covered.details.extend(leno::claim(&header));
    checked.covered.details.extend(notes);
    let report = checked.report(&program);
    let report = match checked.verdict {
        Verdict::Safe => report,
        _ => report.replacen("UNKNOWN", "REJECTED", 1),
    };
    print(&if verify.quiet { report.lines().next().unwrap_or_default().to_string() + "\n" } else { report })?;
    Ok(match checked.verdict {
        Verdict::Safe => Status::Program(0),
        _ => Status::NoVerdict,
    })
}
