//! Invariants for other tools: as JSON, and as a correctness witness of the verification competition.
//!
//! The witness is the YAML form of version 2.0: one entry of type `invariant_set`, with a `location_invariant` for each statement. A
//! location is a line; the column may be left out, and is then the leftmost one at which a statement begins.

use crate::sha256::sha256;
use leno_ir::program::DataModel;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What holds whenever a thread is about to execute the statement of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvariantLine {
    pub file: String,
    pub line: u32,
    pub function: String,
    /// A C expression.
    pub value: String,
}

/// A JSON array, with an object for each line.
pub fn invariant_json(lines: &[InvariantLine]) -> String {
    let objects: Vec<serde_json::Value> = lines
        .iter()
        .map(|it| serde_json::json!({ "file": it.file, "line": it.line, "function": it.function, "invariant": it.value }))
        .collect();
    let mut text = serde_json::to_string_pretty(&objects).unwrap_or_default();
    text.push('\n');
    text
}

/// A correctness witness; or which file cannot be read.
pub fn invariant_yaml(lines: &[InvariantLine], files: &[PathBuf], model: DataModel) -> Result<String, String> {
    let mut hashes = Vec::new();
    for file in files {
        let bytes = fs::read(file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        hashes.push((file.display().to_string(), sha256(&bytes)));
    }
    let mut content = String::new();
    for line in lines {
        _ = write!(
            content,
            "    - invariant:\n        type: location_invariant\n        location:\n          file_name: {}\n          \
             line: {}\n          function: {}\n        value: {}\n        format: c_expression\n",
            quoted(&line.file),
            line.line,
            quoted(&line.function),
            quoted(&line.value)
        );
    }
    let content = if content.is_empty() { "  content: []\n".to_string() } else { format!("  content:\n{content}") };
    let time = now();
    let identity: String = hashes.iter().map(|(_, hash)| hash.as_str()).collect::<String>() + &content + &time;
    let mut text = "- entry_type: invariant_set\n  metadata:\n    format_version: \"2.0\"\n".to_string();
    _ = writeln!(text, "    uuid: {}\n    creation_time: {time}", uuid(&sha256(identity.as_bytes())));
    _ = writeln!(text, "    producer:\n      name: Leno\n      version: {}", quoted(env!("CARGO_PKG_VERSION")));
    text += "    task:\n      input_files:\n";
    hashes.iter().for_each(|(file, _)| _ = writeln!(text, "        - {}", quoted(file)));
    text += "      input_file_hashes:\n";
    hashes.iter().for_each(|(file, hash)| _ = writeln!(text, "        {}: {hash}", quoted(file)));
    let model = match model {
        DataModel::Lp64 => "LP64",
        DataModel::Ilp32 => "ILP32",
    };
    text += "      specification: \"CHECK( init(main()), LTL(G ! call(reach_error())) )\"\n";
    _ = writeln!(text, "      data_model: {model}\n      language: C");
    Ok(text + &content)
}

/// A string as YAML has it, which takes those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A UUID (of the kind that is a hash) from the digits of one.
fn uuid(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-5{}-8{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}

/// The time in the form of ISO 8601.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The day of the calendar that is so many days after the first of 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(789), (1972, 2, 29));
        assert_eq!(date(20_775), (2026, 11, 18));
    }
}
