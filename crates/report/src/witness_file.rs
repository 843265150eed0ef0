//! Witness files: a witness that outlives the process that found it.
//!
//! A file has everything that a person or another tool wants to know, in words: files, lines, functions, what each step
//! did. What it takes to follow the witness again refers to the program by numbers (function, block, instruction), and
//! these mean something only in the very program that they were made for. So a file also says how to build that
//! program, and carries its fingerprint: [`WitnessFile::witness`] refuses any other program.
//!
//! Whatever stands in a file, reading it gives a witness or an error, and nothing else.

use crate::fingerprint::fingerprint;
use crate::words;
use leno_ir::interp::Place;
use leno_ir::program::{BlockId, Body, DataModel, FileId, FuncId, Program, Span, TextId};
use leno_ir::witness::{self, Claim, Racer, VERSION, Waiting, Witness};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How the program is built from its sources.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipe {
    /// In the order in which they were given, as they were given.
    pub files: Vec<String>,
    /// The directory that the names of files are relative to.
    pub directory: String,
    pub cc: Option<String>,
    /// The preprocessor's flags, in order.
    pub cc_flags: Vec<String>,
    pub data_model: DataModel,
    /// Leno's own options that change what the program is or does: `malloc-may-fail`, `check-overflow`, ….
    pub options: Vec<String>,
    /// The program's arguments, its name first.
    pub arguments: Vec<String>,
}

/// A witness file, read or about to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessFile {
    contents: File,
    data_model: DataModel,
}

/// Why a file is no witness, or not one of this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WitnessFileError {
    /// It is not JSON, or not of this form.
    Malformed(String),
    /// A later version of Leno wrote it.
    Version(u64),
    /// The program is not the one that the witness was found in.
    OtherProgram { expected: String, found: String },
}

impl fmt::Display for WitnessFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WitnessFileError::Malformed(what) => write!(f, "this is not a witness file: {what}"),
            WitnessFileError::Version(version) => {
                write!(f, "this witness file has version {version}, and this Leno understands version {VERSION}")
            }
            WitnessFileError::OtherProgram { expected, found } => write!(
                f,
                "the program has changed since the witness was found (its fingerprint was {expected}, and now is {found})"
            ),
        }
    }
}

impl std::error::Error for WitnessFileError {}

type Result<T> = std::result::Result<T, WitnessFileError>;

const FORMAT: &str = "leno-witness";

// ---- what is in the file; the field names are the format, and `docs/witness.md` explains them

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    tool: Tool,
    program: ProgramInfo,
    property: String,
    claim: ClaimInfo,
    threads: Vec<String>,
    steps: Vec<StepInfo>,
    inputs: BTreeMap<String, Vec<InputInfo>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    version: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramInfo {
    files: Vec<String>,
    directory: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cc: Option<String>,
    cc_flags: Vec<String>,
    data_model: String,
    options: Vec<String>,
    arguments: Vec<String>,
    fingerprint: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum ClaimInfo {
    Violation {
        violation: String,
        thread: String,
        at: Position,
        message: String,
    },
    Race {
        first: RacerInfo,
        second: RacerInfo,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        made: Option<usize>,
    },
    Deadlock {
        waiting: Vec<WaitingInfo>,
    },
    Atomicity {
        first: RacerInfo,
        between: RacerInfo,
        second: RacerInfo,
        block: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RacerInfo {
    thread: String,
    at: Position,
    access: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingInfo {
    thread: String,
    at: Position,
    waits_for: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepInfo {
    thread: String,
    at: Position,
    function: String,
    effect: String,
    /// Function, block, instruction.
    place: [u32; 3],
}

/// A place in the source. Without a file: code that no source line stands for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u32,
    column: u32,
    text: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputInfo {
    width: u16,
    /// Hexadecimal: JSON's numbers are not wide enough.
    bits: String,
}

// ---- from a witness to a file

impl WitnessFile {
    pub fn new(program: &Program, witness: &Witness, recipe: &Recipe) -> WitnessFile {
        let position = |span| position(program, span);
        let racer = |racer: &Racer| RacerInfo {
            thread: racer.thread.clone(),
            at: position(racer.span),
            access: racer.access.clone(),
        };
        let claim = match &witness.claim {
            Claim::Violation { kind, thread, span, message } => ClaimInfo::Violation {
                violation: words::of_kind(*kind).to_string(),
                thread: thread.clone(),
                at: position(*span),
                message: message.clone(),
            },
            Claim::Race { first, second, made } => {
                ClaimInfo::Race { first: racer(first), second: racer(second), made: *made }
            }
            Claim::Atomicity { first, between, second, block } => ClaimInfo::Atomicity {
                first: racer(first),
                between: racer(between),
                second: racer(second),
                block: block.clone(),
            },
            Claim::Deadlock { waiting } => {
                let waiting = waiting.iter().map(|waiting| WaitingInfo {
                    thread: waiting.thread.clone(),
                    at: position(waiting.span),
                    waits_for: waiting.reason.clone(),
                });
                ClaimInfo::Deadlock { waiting: waiting.collect() }
            }
        };
        let contents = File {
            format: FORMAT.to_string(),
            version: VERSION.into(),
            tool: Tool { name: "leno".to_string(), version: env!("CARGO_PKG_VERSION").to_string() },
            program: program_info(program, recipe),
            property: property(&witness.claim).to_string(),
            claim,
            threads: threads(witness),
            steps: witness.steps.iter().map(|step| step_info(program, step)).collect(),
            inputs: witness.inputs.iter().map(|(thread, inputs)| (thread.clone(), inputs_info(inputs))).collect(),
        };
        WitnessFile { contents, data_model: recipe.data_model }
    }

    /// The text of the file. The same witness always gives the same text.
    pub fn to_json(&self) -> String {
        // Maps have string keys and nothing else can fail.
        let mut text = serde_json::to_string_pretty(&self.contents).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn program_info(program: &Program, recipe: &Recipe) -> ProgramInfo {
    ProgramInfo {
        files: recipe.files.clone(),
        directory: recipe.directory.clone(),
        cc: recipe.cc.clone(),
        cc_flags: recipe.cc_flags.clone(),
        data_model: words::of_model(recipe.data_model).to_string(),
        options: recipe.options.clone(),
        arguments: recipe.arguments.clone(),
        fingerprint: fingerprint(program),
    }
}

/// The property that is violated, as the command line calls it.
fn property(claim: &Claim) -> &'static str {
    use leno_ir::interp::ViolationKind::*;
    match claim {
        Claim::Race { .. } => "race",
        Claim::Deadlock { .. } => "deadlock",
        Claim::Atomicity { .. } => "atomicity",
        Claim::Violation { kind, .. } => match kind {
            Assertion => "assert",
            SignedOverflow => "overflow",
            NullDereference | OutOfBounds | InvalidPointer | UseAfterFree | UseAfterScope | WriteToConstant
            | DoubleFree | InvalidFree => "memsafety",
            Leak => "leak",
            LostMemory => "memtrack",
            _ => "other",
        },
    }
}

/// Every thread that is mentioned, parents first.
fn threads(witness: &Witness) -> Vec<String> {
    let mut names: Vec<String> = vec!["main".to_string()];
    names.extend(witness.steps.iter().map(|step| step.thread.clone()));
    names.extend(witness.inputs.keys().cloned());
    names.extend(witness.claim.threads().map(str::to_string));
    // `main.2` before `main.10`.
    names.sort_by_cached_key(|name| name.split('.').map(|part| (part.len(), part.to_string())).collect::<Vec<_>>());
    names.dedup();
    names
}

fn step_info(program: &Program, step: &witness::Step) -> StepInfo {
    StepInfo {
        thread: step.thread.clone(),
        at: position(program, step.span),
        function: program.functions.get(step.place.func).map(|function| function.name.clone()).unwrap_or_default(),
        effect: step.effect.clone(),
        place: [step.place.func.0, step.place.block.0, step.place.index],
    }
}

fn inputs_info(inputs: &[witness::Input]) -> Vec<InputInfo> {
    inputs.iter().map(|input| InputInfo { width: input.width, bits: format!("{:#x}", input.bits) }).collect()
}

fn position(program: &Program, span: Span) -> Position {
    Position {
        file: program.files.get(span.file).cloned(),
        line: span.line,
        column: span.column,
        text: program.texts.get(span.text).cloned().unwrap_or_default(),
    }
}

// ---- and back

impl WitnessFile {
    /// Reads the text of a file, of whatever origin.
    pub fn parse(text: &str) -> Result<WitnessFile> {
        let malformed = |error: serde_json::Error| WitnessFileError::Malformed(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
            return Err(WitnessFileError::Malformed(format!("its \"format\" is not \"{FORMAT}\"")));
        }
        // Of another version, nothing else is known.
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => return Err(WitnessFileError::Version(version)),
            None => return Err(WitnessFileError::Malformed("it has no \"version\"".to_string())),
        }
        // From the text once more, because only then errors have lines.
        let contents: File = serde_json::from_str(text).map_err(malformed)?;
        let Some(data_model) = words::model_of(&contents.program.data_model) else {
            let found = &contents.program.data_model;
            return Err(WitnessFileError::Malformed(format!("there is no data model {found:?}")));
        };
        Ok(WitnessFile { contents, data_model })
    }

    /// How to build the program.
    pub fn recipe(&self) -> Recipe {
        let program = &self.contents.program;
        Recipe {
            files: program.files.clone(),
            directory: program.directory.clone(),
            cc: program.cc.clone(),
            cc_flags: program.cc_flags.clone(),
            data_model: self.data_model,
            options: program.options.clone(),
            arguments: program.arguments.clone(),
        }
    }

    pub fn property(&self) -> &str {
        &self.contents.property
    }

    pub fn tool_version(&self) -> &str {
        &self.contents.tool.version
    }

    /// The witness, for the program that it was found in.
    pub fn witness(&self, program: &Program) -> Result<Witness> {
        let (expected, found) = (self.contents.program.fingerprint.clone(), fingerprint(program));
        if expected != found {
            return Err(WitnessFileError::OtherProgram { expected, found });
        }
        let resolve = Resolve::new(program);
        let steps = self.contents.steps.iter().enumerate();
        Ok(Witness {
            claim: resolve.claim(&self.contents.claim)?,
            steps: steps.map(|(index, step)| resolve.step(index, step)).collect::<Result<_>>()?,
            inputs: self
                .contents
                .inputs
                .iter()
                .map(|(thread, inputs)| Ok((thread.clone(), inputs.iter().map(input).collect::<Result<_>>()?)))
                .collect::<Result<_>>()?,
        })
    }
}

fn input(info: &InputInfo) -> Result<witness::Input> {
    let bits = info.bits.strip_prefix("0x").and_then(|digits| u128::from_str_radix(digits, 16).ok());
    let fits = |bits: &u128| (1..=128).contains(&info.width) && (info.width == 128 || bits >> info.width == 0);
    match bits.filter(fits) {
        Some(bits) => Ok(witness::Input { width: info.width, bits }),
        None => {
            let (width, bits) = (info.width, &info.bits);
            Err(WitnessFileError::Malformed(format!("{bits:?} is not an input of {width} bits")))
        }
    }
}

/// From words back to the numbers of one program.
struct Resolve<'p> {
    program: &'p Program,
    files: BTreeMap<&'p str, FileId>,
    texts: BTreeMap<&'p str, TextId>,
}

impl<'p> Resolve<'p> {
    fn new(program: &'p Program) -> Resolve<'p> {
        let files = program.files.iter_enumerated().rev().map(|(id, file)| (file.as_str(), id)).collect();
        let texts = program.texts.iter_enumerated().rev().map(|(id, text)| (text.as_str(), id)).collect();
        Resolve { program, files, texts }
    }

    fn claim(&self, claim: &ClaimInfo) -> Result<Claim> {
        Ok(match claim {
            ClaimInfo::Violation { violation, thread, at, message } => Claim::Violation {
                kind: words::kind_of(violation).ok_or_else(|| {
                    WitnessFileError::Malformed(format!("there is no kind of violation that is called {violation:?}"))
                })?,
                thread: thread.clone(),
                span: self.span(at)?,
                message: message.clone(),
            },
            ClaimInfo::Race { first, second, made } => {
                Claim::Race { first: self.racer(first)?, second: self.racer(second)?, made: *made }
            }
            ClaimInfo::Atomicity { first, between, second, block } => Claim::Atomicity {
                first: self.racer(first)?,
                between: self.racer(between)?,
                second: self.racer(second)?,
                block: block.clone(),
            },
            ClaimInfo::Deadlock { waiting } => {
                Claim::Deadlock { waiting: waiting.iter().map(|waiting| self.waiting(waiting)).collect::<Result<_>>()? }
            }
        })
    }

    fn racer(&self, racer: &RacerInfo) -> Result<Racer> {
        Ok(Racer { thread: racer.thread.clone(), span: self.span(&racer.at)?, access: racer.access.clone() })
    }

    fn waiting(&self, waiting: &WaitingInfo) -> Result<Waiting> {
        let span = self.span(&waiting.at)?;
        Ok(Waiting { thread: waiting.thread.clone(), span, reason: waiting.waits_for.clone() })
    }

    fn step(&self, index: usize, step: &StepInfo) -> Result<witness::Step> {
        let [func, block, instr] = step.place;
        let place = Place { func: FuncId(func), block: BlockId(block), index: instr };
        let exists = self.program.functions.get(place.func).is_some_and(|function| match &function.body {
            Body::Blocks(blocks) => blocks.get(place.block).is_some_and(|block| instr as usize <= block.instrs.len()),
            Body::External(_) => false,
        });
        if !exists {
            let place = step.place;
            let what = format!("step {} is at {place:?}, a place that the program does not have", index + 1);
            return Err(WitnessFileError::Malformed(what));
        }
        let span = self.span(&step.at)?;
        Ok(witness::Step { thread: step.thread.clone(), place, span, effect: step.effect.clone() })
    }

    fn span(&self, at: &Position) -> Result<Span> {
        let file = match &at.file {
            Some(file) => self.files.get(file.as_str()).copied(),
            None => Some(Span::NONE.file),
        };
        let text = self.texts.get(at.text.as_str()).copied().or(at.text.is_empty().then_some(Span::NONE.text));
        match (file, text) {
            (Some(file), Some(text)) => Ok(Span { file, line: at.line, column: at.column, text }),
            (None, _) => Err(WitnessFileError::Malformed(format!("the program has no file {:?}", at.file))),
            (_, None) => Err(WitnessFileError::Malformed(format!("the program has no text {:?}", at.text))),
        }
    }
}
