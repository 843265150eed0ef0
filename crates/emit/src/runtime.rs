//! The runtime: a C text from which an emitted file gets what it needs.
//!
//! `runtime.c` is a sequence of parts. A part begins with lines `//= names : more names` and goes on to the next such
//! line; it is taken if something that is taken mentions one of the names before the colon. Those after the colon
//! are mentioned by it too, where its text does not show it.

use std::collections::BTreeSet;

const TEXT: &str = include_str!("runtime.c");

struct Part {
    defines: BTreeSet<&'static str>,
    mentions: BTreeSet<&'static str>,
    text: String,
}

/// The parts that `code` needs, in order; without those that define a name that is `provided` otherwise.
pub(crate) fn for_code(code: &str, provided: &[&str]) -> String {
    let mut parts = parts();
    parts.retain(|part| !provided.iter().any(|name| part.defines.contains(name)));
    let mut wanted: BTreeSet<&str> = identifiers(code);
    wanted.insert("core");
    let mut taken = vec![false; parts.len()];
    // Each round takes at least one more part.
    while let Some(index) = (0..parts.len()).find(|i| !taken[*i] && !parts[*i].defines.is_disjoint(&wanted)) {
        taken[index] = true;
        wanted.extend(&parts[index].mentions);
    }
    let chosen: Vec<&str> = parts.iter().zip(taken).filter(|(_, taken)| *taken).map(|(part, _)| &*part.text).collect();
    chosen.join("\n")
}

fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut in_header = false;
    for line in TEXT.lines() {
        if let Some(header) = line.strip_prefix("//=") {
            if !in_header {
                parts.push(Part { defines: BTreeSet::new(), mentions: BTreeSet::new(), text: String::new() });
            }
            let (defines, mentions) = header.split_once(':').unwrap_or((header, ""));
            if let Some(part) = parts.last_mut() {
                part.defines.extend(defines.split_whitespace());
                part.mentions.extend(mentions.split_whitespace());
            }
        } else if let Some(part) = parts.last_mut() {
            part.text.push_str(line);
            part.text.push('\n');
            part.mentions.extend(identifiers(line));
        }
        in_header = line.starts_with("//=");
    }
    for part in &mut parts {
        part.text.truncate(part.text.trim_end().len());
        part.text.push('\n');
    }
    parts
}

/// The identifiers of a C text, outside of comments on one line and strings.
fn identifiers(code: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.insert(&rest[..length]);
            length
        } else {
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_taken() {
        let nothing = for_code("int x; /* leno_udiv32 */ const char *s = \"leno_join \\\" leno_park\";", &[]);
        assert!(!nothing.contains("leno_") && !nothing.contains("pthread"), "{nothing}");
        let division = for_code("leno_sdiv128(a, b)", &[]);
        assert!(division.contains("LENO_DIVISION(128)") && division.contains("#define LENO_DIVISION"));
        assert!(division.contains("typedef unsigned __int128 u128") && !division.contains("LENO_DIVISION(64)"));
        assert!(for_code("leno_join(x)", &[]).contains("#include <pthread.h>"));
    }

    #[test]
    fn every_name_has_one_part() {
        let mut seen = BTreeSet::new();
        for part in parts() {
            for name in part.defines {
                assert!(seen.insert(name), "{name} is defined twice");
            }
        }
    }
}
