//! The user's own preprocessor, and files that need none.
//!
//! C as people write it only means something after *their* compiler's headers and macros, so Leno runs that compiler
//! with `-E`. It adds three flags of its own: `-x c`, so that the name of the file does not matter; `-std=gnu17` unless
//! the user chose a standard, because Leno reads C11 and compilers move their default; and `-m32` for the data model
//! ILP32. A file whose name ends in `.i` is preprocessed already and taken as it is.

use crate::source::Source;
use leno_ir::program::DataModel;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Spans are 32 bits wide.
const LARGEST_TEXT: u64 = u32::MAX as u64;

/// How to preprocess.
#[derive(Clone, Debug, Default)]
pub struct Preprocess {
    /// The compiler, possibly with arguments (`ccache gcc`). If none is given: the environment's `CC`, else `cc`.
    pub cc: Option<String>,
    /// What the user wants passed on: `-I`, `-D`, `-U`, `-include`, `-std=…`.
    pub flags: Vec<String>,
    pub data_model: DataModel,
}

/// Why there is no preprocessed text.
#[derive(Debug)]
pub enum PreprocessError {
    Unreadable {
        file: PathBuf,
        error: io::Error,
    },
    /// The compiler could not be started.
    NoCompiler {
        cc: String,
        error: io::Error,
    },
    /// The compiler refused the file.
    Refused {
        cc: String,
        file: PathBuf,
        status: ExitStatus,
        stderr: String,
        data_model: DataModel,
    },
    TooLarge {
        file: PathBuf,
    },
}

impl fmt::Display for PreprocessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreprocessError::Unreadable { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            PreprocessError::NoCompiler { cc, error } => {
                writeln!(f, "cannot run the C compiler `{cc}`, which preprocesses the program: {error}")?;
                write!(
                    f,
                    "  = help: install one (gcc or clang), or name yours with `--cc` or the environment variable CC"
                )
            }
            PreprocessError::Refused { cc, file, status, stderr, data_model } => {
                write!(f, "`{cc} -E` refuses {} ({status})", file.display())?;
                for line in stderr.trim_end().lines() {
                    write!(f, "\n  | {line}")?;
                }
                if *data_model == DataModel::Ilp32 && stderr.contains("No such file") {
                    write!(f, "\n  = help: the 32-bit headers are a package of their own (on Debian: gcc-multilib)")?;
                }
                Ok(())
            }
            PreprocessError::TooLarge { file } => {
                write!(f, "{} is larger than 4 GiB after preprocessing", file.display())
            }
        }
    }
}

impl std::error::Error for PreprocessError {}

impl Preprocess {
    /// The preprocessed text of one file.
    pub fn file(&self, file: &Path) -> Result<Source, PreprocessError> {
        let unreadable = |error| PreprocessError::Unreadable { file: file.to_path_buf(), error };
        let mut input = File::open(file).map_err(unreadable)?;
        let facts = input.metadata().map_err(unreadable)?;
        if facts.is_dir() {
            return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let text = if file.extension().is_some_and(|extension| extension == "i") {
            if facts.len() > LARGEST_TEXT {
                return Err(PreprocessError::TooLarge { file: file.to_path_buf() });
            }
            let mut text = Vec::with_capacity(facts.len() as usize);
            input.by_ref().take(LARGEST_TEXT + 1).read_to_end(&mut text).map_err(unreadable)?;
            text
        } else {
            self.run(file)?
        };
        if text.len() as u64 > LARGEST_TEXT {
            return Err(PreprocessError::TooLarge { file: file.to_path_buf() });
        }
        Ok(Source::new(&file.to_string_lossy(), text))
    }

    /// The compiler's words: its name, and arguments that belong to it.
    fn compiler(&self) -> Vec<String> {
        let chosen = self.cc.clone().or_else(|| std::env::var("CC").ok()).unwrap_or_default();
        let words: Vec<String> = chosen.split_whitespace().map(str::to_string).collect();
        if words.is_empty() { vec!["cc".to_string()] } else { words }
    }

    fn run(&self, file: &Path) -> Result<Vec<u8>, PreprocessError> {
        let words = self.compiler();
        let cc = words.join(" ");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("-E").args(["-x", "c"]);
        if self.data_model == DataModel::Ilp32 {
            command.arg("-m32");
        }
        if !self.flags.iter().any(|flag| flag.starts_with("-std") || flag.starts_with("--std") || flag == "-ansi") {
            command.arg("-std=gnu17");
        }
        command.args(&self.flags).arg(no_option(file)).stdin(Stdio::null());
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return Err(PreprocessError::NoCompiler { cc, error }),
        };
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            let (file, status, data_model) = (file.to_path_buf(), output.status, self.data_model);
            return Err(PreprocessError::Refused { cc, file, status, stderr, data_model });
        }
        Ok(output.stdout)
    }
}

/// A file whose name begins with `-` must not look like an option.
fn no_option(file: &Path) -> OsString {
    if file.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(file).into_os_string()
    } else {
        file.as_os_str().to_os_string()
    }
}
