//! The command line of the lab.

use clap::{Parser, Subcommand};
use leno_generate::Shape;
use leno_lab::replays::{Outcome, Plan};
use leno_lab::threeway::Leno;
use leno_lab::{
    annotated_races, c_testsuite, corpus, csmith, exploration, replays, sanitizers, speed, staged, workers,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// As in `leno` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Experiments that compare Leno with the real world
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    experiment: Experiment,
    /// The leno to try [default: it is built first]
    #[arg(long, global = true)]
    leno: Option<PathBuf>,
    /// Seconds that one run of leno may take
    #[arg(long, global = true, default_value_t = 10)]
    timeout: u64,
}

#[derive(Subcommand)]
enum Experiment {
    /// Run the public c-testsuite: DIR is the tests/single-exec of a checkout
    CTestsuite { dir: PathBuf },
    /// Compare gcc, the interpreter and the emitted C on N random programs
    Csmith {
        count: u64,
        #[arg(default_value_t = 1)]
        first_seed: u64,
        /// Passed on to csmith
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// Ask `leno prove` about programs in which comments say which lines race. ROOT is where they are
    AnnotatedRaces { manifest: PathBuf, root: PathBuf },
    /// How many programs of a manifest does Leno take? ROOT is where they are
    Corpus { manifest: PathBuf, root: PathBuf },
    /// Executions that the explorer makes, and how many a second, on the programs of DIR
    Explore {
        #[arg(default_value = "benches/programs")]
        dir: PathBuf,
    },
    /// Replay what is found in C files, or in the programs of a manifest (then ROOT is where they are), very often
    Replays {
        files: Vec<PathBuf>,
        #[arg(long, requires = "root")]
        manifest: Option<PathBuf>,
        #[arg(long)]
        root: Option<PathBuf>,
        /// How often each
        #[arg(long, default_value_t = 100)]
        repeat: usize,
        /// Seconds for finding a violation
        #[arg(long, default_value_t = 5)]
        search: u64,
        /// Keep all processors busy at the same time
        #[arg(long)]
        load: bool,
    },
    /// Megabytes a second of parsing and lowering, and the time that a small program takes
    Speed {
        /// Preprocessed programs to read, instead of one that is made for the purpose
        files: Vec<PathBuf>,
    },
    /// The staged engine without summaries, without pruning, and with both, on the programs of DIR; and how it grows
    Staged {
        #[arg(default_value = "benches/programs")]
        dir: PathBuf,
        /// Write the picture of its growth to this file
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// Only how it grows
        #[arg(long)]
        growth: bool,
        /// Only what becomes of calls
        #[arg(long)]
        calls: bool,
    },
    /// Run random programs under ThreadSanitizer and AddressSanitizer: what they report, Leno must find
    Sanitizers {
        /// The first seed
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[arg(long, default_value_t = 100)]
        count: u64,
        /// How often each program runs under each sanitizer
        #[arg(long, default_value_t = 200)]
        runs: u32,
        /// Milliseconds after which a run is taken to hang
        #[arg(long, default_value_t = 2000)]
        hang: u64,
    },
    /// Print small random concurrent programs: those that the engines are compared on
    Generate {
        /// The first seed
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// How many programs, of this seed and those after it
        #[arg(long, default_value_t = 1)]
        count: u64,
        /// Write SEED.c for each, and native.c to link them with, instead of printing them
        #[arg(long)]
        out: Option<PathBuf>,
        /// Two short threads each
        #[arg(long, conflicts_with = "pitfalls")]
        small: bool,
        /// With what a verdict is most easily wrong about
        #[arg(long)]
        pitfalls: bool,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Experiment::Generate { seed, count, out, small, pitfalls } = &cli.experiment {
        return exit_code(run_generate(*seed, *count, out.as_deref(), &shape_of(*small, *pitfalls)));
    }
    let binary = match cli.leno.map_or_else(build, Ok) {
        Ok(binary) => binary,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(3);
        }
    };
    let leno = Leno { binary, limit: Duration::from_secs(cli.timeout) };
    let result = match &cli.experiment {
        Experiment::CTestsuite { dir } => run_c_testsuite(dir, &leno),
        Experiment::Csmith { count, first_seed, options } => run_csmith(*count, *first_seed, options, &leno),
        Experiment::AnnotatedRaces { manifest, root } => run_annotated_races(manifest, root, &leno),
        Experiment::Corpus { manifest, root } => run_corpus(manifest, root, &leno),
        Experiment::Explore { dir } => exploration::measure(dir, &leno).map(|(table, is_right)| {
            print!("{table}");
            is_right
        }),
        Experiment::Replays { files, manifest, root, repeat, search, load } => {
            let jobs = match (manifest, root) {
                (Some(manifest), Some(root)) => jobs_of_manifest(manifest, root),
                _ => Ok(replays::jobs_of_files(files)),
            };
            let plan = Plan { search: *search, repeat: *repeat, load: *load };
            jobs.map(|jobs| run_replays(&jobs, &plan, &leno))
        }
        Experiment::Speed { files } if !files.is_empty() => speed::measure_files(files).map(|report| {
            print!("{report}");
            true
        }),
        Experiment::Speed { .. } => speed::measure(&leno).map(|report| {
            print!("{report}");
            true
        }),
        Experiment::Sanitizers { seed, count, runs, hang } => {
            let plan = sanitizers::Plan { runs: *runs, limit: Duration::from_millis(*hang) };
            Ok(run_sanitizers(*seed, *count, plan, &leno))
        }
        Experiment::Staged { dir, calls: true, .. } => run_calls(dir, &leno),
        Experiment::Staged { dir, picture, growth, .. } => run_staged(dir, picture.as_deref(), *growth, &leno),
        Experiment::Generate { .. } => Ok(true),
    };
    exit_code(result)
}

fn exit_code(result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(3)
        }
    }
}

/// The table of the ways to deal with calls.
fn run_calls(programs: &Path, leno: &Leno) -> Result<bool, String> {
    let (table, agree) = staged::calls(programs, leno)?;
    println!("{table}");
    Ok(agree)
}

/// The table of the modes, chains of locals, and growth.
fn run_staged(programs: &Path, picture: Option<&Path>, only_growth: bool, leno: &Leno) -> Result<bool, String> {
    let mut agree = true;
    if !only_growth {
        let (table, is_consistent) = staged::table(programs, leno)?;
        println!("{table}");
        agree = is_consistent && run_calls(programs, leno)?;
    }
    println!("{}", staged::chains(leno)?);
    let (growth, svg) = staged::growth(programs, leno)?;
    println!("{growth}");
    if let Some(path) = picture {
        fs::write(path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(agree)
}

fn shape_of(small: bool, pitfalls: bool) -> Shape {
    match (small, pitfalls) {
        (_, true) => Shape::pitfalls(),
        (true, _) => Shape::small(),
        _ => Shape::default(),
    }
}

fn run_sanitizers(first: u64, count: u64, plan: sanitizers::Plan, leno: &Leno) -> bool {
    let mut summary = sanitizers::Summary::default();
    let seeds: Vec<u64> = (first..first.saturating_add(count)).collect();
    for batch in seeds.chunks(20) {
        let compared = workers::each(batch, |seed| {
            sanitizers::compare(&leno_generate::generate(*seed, &Shape::pitfalls()).to_c(), plan, leno)
        });
        for (seed, compared) in batch.iter().zip(&compared) {
            for line in summary.add(*seed, compared) {
                println!("{line}");
            }
        }
    }
    println!("{summary}");
    summary.is_right()
}

/// Programs of consecutive seeds, to the standard output or into a directory.
fn run_generate(seed: u64, count: u64, out: Option<&Path>, shape: &Shape) -> Result<bool, String> {
    let write = |name: String, text: &str, directory: &Path| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    if let Some(directory) = out {
        fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        write("native.c".to_string(), leno_generate::NATIVE, directory)?;
    }
    for seed in seed..seed.saturating_add(count) {
        let text = leno_generate::generate(seed, shape).to_c();
        match out {
            Some(directory) => write(format!("{seed}.c"), &text, directory)?,
            None => print!("// seed {seed}\n{text}"),
        }
    }
    Ok(true)
}

/// Builds leno beside this very program.
fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let status = Command::new(cargo).args(["build", "--release", "-q", "-p", "leno"]).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("leno cannot be built".to_string());
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = this.parent().and_then(Path::parent).ok_or("this program is nowhere")?;
    Ok(target.join("release").join("leno"))
}

fn run_c_testsuite(dir: &Path, leno: &Leno) -> Result<bool, String> {
    let programs = c_testsuite::programs(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let results = workers::each(&programs, |program| c_testsuite::check(program, leno));
    let mut failures = 0;
    for (program, result) in programs.iter().zip(&results) {
        if let Err(message) = result {
            failures += 1;
            println!("{}: {message}", program.file_name().unwrap_or_default().to_string_lossy());
        }
    }
    println!("c-testsuite: {} of {} programs as expected", programs.len() - failures, programs.len());
    Ok(failures == 0 && !programs.is_empty())
}

/// Takes seeds until `count` programs have been compared.
fn run_csmith(count: u64, first_seed: u64, options: &[String], leno: &Leno) -> Result<bool, String> {
    let headers = csmith::headers().ok_or("csmith is not installed (Debian packages csmith, libcsmith-dev)")?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let (mut same, mut skipped, mut different, mut seed) = (0, 0, 0, first_seed);
    while same + different < count {
        let batch: Vec<u64> = (seed..seed + (count - same - different).min(50)).collect();
        seed += batch.len() as u64;
        let verdicts = workers::each(&batch, |seed| csmith::compare(*seed, &options, leno, &headers));
        for (seed, verdict) in batch.iter().zip(verdicts) {
            match verdict {
                csmith::Verdict::Same => same += 1,
                csmith::Verdict::Skipped => skipped += 1,
                csmith::Verdict::Different(message) => {
                    different += 1;
                    println!("seed {seed}: {message}");
                }
            }
        }
    }
    println!("csmith: {same} programs behave the same, {different} do not; {skipped} ran too long to be compared");
    Ok(different == 0)
}

fn jobs_of_manifest(manifest: &Path, root: &Path) -> Result<Vec<replays::Job>, String> {
    let text = fs::read_to_string(manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let root = std::path::absolute(root).map_err(|error| error.to_string())?;
    replays::jobs_of_manifest(&text, &root)
}

fn run_replays(jobs: &[replays::Job], plan: &Plan, leno: &Leno) -> bool {
    let (mut all, mut some, mut never, mut nothing, mut broken) = (0, 0, 0, 0, 0);
    replays::run(jobs, plan, leno, |job, outcome| {
        let (count, text) = match outcome {
            Outcome::Nothing => (&mut nothing, None),
            Outcome::Replayed { confirmed, .. } if *confirmed == plan.repeat => (&mut all, None),
            Outcome::Replayed { confirmed: 0, said } => (&mut never, Some(said)),
            Outcome::Replayed { said, .. } => (&mut some, Some(said)),
            Outcome::Broken(message) => (&mut broken, Some(message)),
        };
        *count += 1;
        if let Some(text) = text {
            println!("{} ({}, {}): {}", job.file.display(), job.property, job.model, text.trim_end());
        }
    });
    let found = all + some + never;
    println!("{found} violations: {all} confirmed {0} of {0} times, {some} not always, {never} never", plan.repeat);
    println!("nothing found: {nothing}; broken: {broken}");
    some + never + broken == 0
}

fn run_annotated_races(manifest: &Path, root: &Path, leno: &Leno) -> Result<bool, String> {
    let text = fs::read_to_string(manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let rows = annotated_races::rows(&text, root)?;
    let mut summary = annotated_races::Summary::default();
    for (row, answer) in rows.iter().zip(workers::each(&rows, |row| annotated_races::ask(row, leno))) {
        for line in summary.add(row, &answer?) {
            println!("{line}");
        }
    }
    println!("{summary}");
    Ok(summary.is_right())
}

fn run_corpus(manifest: &Path, root: &Path, leno: &Leno) -> Result<bool, String> {
    let text = fs::read_to_string(manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let rows = corpus::rows(&text, root)?;
    let verdicts = workers::each(&rows, |row| corpus::check(row, leno));
    let (mut lowered, mut not_c, mut refused, mut broken) = (0, 0, 0, 0);
    for (row, verdict) in rows.iter().zip(&verdicts) {
        match verdict {
            corpus::Verdict::Lowered => lowered += 1,
            corpus::Verdict::NotC => not_c += 1,
            corpus::Verdict::Refused(message) => {
                refused += 1;
                println!("refused: {}", corpus::describe(row, message));
            }
            corpus::Verdict::Broken(message) => {
                broken += 1;
                println!("BROKEN:  {}", corpus::describe(row, message));
            }
        }
    }
    let accepted = lowered + refused + broken;
    let share = 100.0 * f64::from(lowered) / f64::from(accepted.max(1));
    println!("{lowered} of {accepted} programs that gcc accepts become valid representation: {share:.1} %");
    println!("{refused} refused, {broken} broken; {not_c} that gcc refuses, too");
    Ok(broken == 0)
}
