//! What a test program, in C or Boolean, says about itself in `//~` comments.
//!
//! | comment | meaning |
//! |---|---|
//! | `//~ STDOUT: text` | a line of the expected output (longer output: a file beside it, `NAME.stdout`) |
//! | `//~ EXIT: n` | the expected exit status, if not 0 |
//! | `//~ VIOLATION: text` | a run ends here with a report that says this; at the top of the file: anywhere |
//! | `//~ ERROR: text` | Leno refuses the program here, and says this |
//! | `//~ WARN: text` | Leno warns here, and says this; a warning that is not announced is a failure |
//! | `//~ ARGS: a b` | arguments of the program |
//! | `//~ FLAGS: …` | flags of `leno` |
//! | `//~ SEEDS: n` | run under this many schedules; a violation has to appear in one of them at least |
//! | `//~ FILES: b.c` | more files of the program, beside this one |
//! | `//~ NO-GCC: why` | do not compare with gcc: the program needs what only verifiers have |
//! | `//~ SAFE` | every engine proves it |
//! | `//~ UNSAFE: text` | every engine finds a violation here whose report says this, and the replay confirms it; at the top of the file: anywhere. Several: any of them |
//! | `//~ PROPERTY: race` | what the verdicts below are about, as for `--property`; without it, what `leno check` looks for by itself |
//! | `//~ UNKNOWN explore: text` | this engine (`staged` or `explore`) has no verdict, and its reason says this |
//! | `//~ HOLDS` | prediction shows from one run that all its reorderings are well; with `: text`, what it leaves out says this (`: nothing left out`) |
//! | `//~ PREDICTED: text` | prediction finds this violation, at this line, from one of a few runs; without a text: some violation |
//! | `//~ UNKNOWN predict: text` | prediction has no verdict, and what it says to be open says this |
//! | `//~ NO-REPLAY: why` | what is found is not replayed on the real program |
//!
//! `//~^` instead of `//~` means the line above, `//~^^` the one above that. Words about verdicts may be followed by
//! flags for the preprocessor, and then are about the program with these: `//~ UNSAFE -DBUG: assertion violated`.

use crate::engine::{self, Engine};
use leno::Properties;
use std::fs;
use std::path::{Path, PathBuf};

/// A text that is expected at a line (0: at any).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub line: u32,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Expectation {
    pub file: PathBuf,
    pub stdout: Option<String>,
    pub exit: i32,
    pub violations: Vec<Note>,
    pub errors: Vec<Note>,
    pub warnings: Vec<Note>,
    pub args: Vec<String>,
    pub flags: Vec<String>,
    pub seeds: u64,
    pub more_files: Vec<PathBuf>,
    pub without_gcc: bool,
    pub without_replay: bool,
    pub questions: Vec<Question>,
}

/// A question to engines, and what they are expected to answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// As the program says it.
    pub property: String,
    pub properties: Properties,
    /// More flags for the preprocessor.
    pub flags: Vec<String>,
    pub is_safe: bool,
    /// Violations, any of which may be found.
    pub violations: Vec<Note>,
    /// Engines that have no verdict, and why.
    pub unknown: Vec<(Engine, String)>,
    /// What comes of prediction, if it is asked.
    pub prediction: Option<Predicts>,
}

/// What one run shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Predicts {
    /// All is well; and what is said to be left out.
    Nothing(String),
    Violation(Note),
    /// No verdict, for this reason.
    Open(String),
}

const MARK: &str = "//~";

impl Expectation {
    /// Reads a program's expectations; a comment that says nothing known is an error.
    pub fn read(file: &Path) -> Result<Expectation, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        // (No compiler knows Boolean programs.)
        let without_gcc = leno::is_boolean(file);
        let mut expectation = Expectation { file: file.to_path_buf(), seeds: 1, without_gcc, ..Expectation::default() };
        let mut stdout = String::new();
        let mut is_heading = true;
        let mut property = String::new();
        for (index, line) in text.lines().enumerate() {
            let Some((code, comment)) = line.split_once(MARK) else {
                is_heading &= line.starts_with("//") || line.trim().is_empty();
                continue;
            };
            let carets = comment.len() - comment.trim_start_matches('^').len();
            let alone_at_top = is_heading && code.trim().is_empty() && carets == 0;
            let number = if alone_at_top { 0 } else { (index + 1 - carets) as u32 };
            let comment = comment.trim_start_matches('^');
            let (word, value) = comment.split_once(':').unwrap_or((comment, ""));
            let note = Note { line: number, text: value.trim().to_string() };
            let words = || value.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            let (word, qualifiers) = word.trim().split_once(' ').unwrap_or((word.trim(), ""));
            let is_verdict = matches!(word, "SAFE" | "UNSAFE" | "UNKNOWN" | "HOLDS" | "PREDICTED");
            if !qualifiers.is_empty() && !is_verdict {
                return Err(format!("{}:{}: `{word}` takes no `{qualifiers}`", file.display(), index + 1));
            }
            match word {
                _ if is_verdict => expectation
                    .expect(word, qualifiers, &property, note)
                    .map_err(|message| format!("{}:{}: {message}", file.display(), index + 1))?,
                "PROPERTY" => property = value.trim().to_string(),
                "NO-REPLAY" => expectation.without_replay = true,
                "STDOUT" => stdout += &format!("{}\n", value.strip_prefix(' ').unwrap_or(value)),
                "EXIT" => expectation.exit = number_of(value, file)?,
                "SEEDS" => expectation.seeds = number_of(value, file)?,
                "VIOLATION" => expectation.violations.push(note),
                "ERROR" => expectation.errors.push(note),
                "WARN" => expectation.warnings.push(note),
                "ARGS" => expectation.args = words(),
                "FLAGS" => expectation.flags = words(),
                "FILES" => expectation.more_files = words().iter().map(|name| file.with_file_name(name)).collect(),
                "NO-GCC" => expectation.without_gcc = true,
                other => return Err(format!("{}:{}: `{other}` is no expectation", file.display(), index + 1)),
            }
        }
        let beside = fs::read_to_string(file.with_extension("stdout")).ok();
        expectation.stdout = beside.or((!stdout.is_empty()).then_some(stdout));
        Ok(expectation)
    }

    /// Adds to what is expected of engines.
    fn expect(&mut self, word: &str, qualifiers: &str, property: &str, note: Note) -> Result<(), String> {
        let (flags, names): (Vec<&str>, Vec<&str>) =
            qualifiers.split_whitespace().partition(|qualifier| qualifier.starts_with('-'));
        let question = self.question(property, flags.iter().map(|flag| flag.to_string()).collect())?;
        match (word, names.as_slice()) {
            ("SAFE", []) => question.is_safe = true,
            ("UNSAFE", []) => question.violations.push(note),
            ("UNKNOWN", ["staged"]) => question.unknown.push((Engine::Staged, note.text)),
            ("UNKNOWN", ["states"]) => question.unknown.push((Engine::States, note.text)),
            ("UNKNOWN", ["explore"]) => question.unknown.push((Engine::Explore, note.text)),
            ("UNKNOWN", ["predict"]) => question.prediction = Some(Predicts::Open(note.text)),
            ("HOLDS", []) => question.prediction = Some(Predicts::Nothing(note.text)),
            ("PREDICTED", []) => question.prediction = Some(Predicts::Violation(note)),
            _ => return Err(format!("`{word} {qualifiers}` is no expectation")),
        }
        match question.is_safe && !question.violations.is_empty() {
            true => Err("it cannot be both safe and unsafe".to_string()),
            false => Ok(()),
        }
    }

    fn question(&mut self, property: &str, flags: Vec<String>) -> Result<&mut Question, String> {
        let properties = if property.is_empty() { Properties::DEFAULT } else { engine::properties(property)? };
        let known = self.questions.iter().position(|known| known.properties == properties && known.flags == flags);
        let at = known.unwrap_or(self.questions.len());
        if known.is_none() {
            self.questions.push(Question {
                property: property.to_string(),
                properties,
                flags,
                is_safe: false,
                violations: Vec::new(),
                unknown: Vec::new(),
                prediction: None,
            });
        }
        Ok(&mut self.questions[at])
    }

    /// Whether something can go wrong in the program as it is, whatever the schedule of a run makes of it.
    pub fn is_unsafe(&self) -> bool {
        self.violations.is_empty() && self.questions.iter().any(|asked| asked.flags.is_empty() && !asked.is_safe)
    }

    /// All files of the program.
    pub fn files(&self) -> Vec<PathBuf> {
        std::iter::once(&self.file).chain(&self.more_files).cloned().collect()
    }

    /// Writes the output down: in the file if it is short, beside it if it is not.
    pub fn bless(&self, stdout: &[u8]) -> std::io::Result<()> {
        let beside = self.file.with_extension("stdout");
        let text = String::from_utf8_lossy(stdout);
        let source = fs::read_to_string(&self.file)?;
        let marker = format!("{MARK} STDOUT:");
        let mut kept: String =
            source.lines().filter(|line| !line.starts_with(&marker)).map(|line| format!("{line}\n")).collect();
        if fs::exists(&beside)? {
            fs::remove_file(&beside)?;
        }
        if text.lines().count() <= 12 && (text.is_empty() || text.ends_with('\n')) && !text.contains('\t') {
            for line in text.lines() {
                kept += format!("{marker} {line}").trim_end();
                kept.push('\n');
            }
        } else {
            fs::write(beside, stdout)?;
        }
        if kept == source { Ok(()) } else { fs::write(&self.file, kept) }
    }
}

fn number_of<T: std::str::FromStr>(text: &str, file: &Path) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{}: `{text}` is no number", file.display()))
}

/// All programs below a directory that are not part of another one.
pub fn programs(directory: &Path) -> Result<Vec<Expectation>, String> {
    let mut files = Vec::new();
    gather(directory, &mut files).map_err(|error| format!("{}: {error}", directory.display()))?;
    files.sort();
    let programs = files.iter().map(|file| Expectation::read(file)).collect::<Result<Vec<_>, _>>()?;
    let is_part = |program: &Expectation| {
        programs.iter().any(|other| other.file != program.file && other.more_files.contains(&program.file))
    };
    Ok(programs.iter().filter(|program| !is_part(program)).cloned().collect())
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "c" || extension == "bp") {
            files.push(path);
        }
    }
    Ok(())
}
