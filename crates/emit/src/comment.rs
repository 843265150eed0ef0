//! Text from the user's program inside the emitted C: comments and string literals that nothing can break out of.

use leno_ir::program::{Program, Span};

/// Source text in a comment is a reminder, not a copy.
const LONGEST: usize = 100;

/// ` /* main.c:12 counter */`, or nothing when there is nothing to say.
pub(crate) fn marker(program: &Program, span: Span) -> String {
    let mut said = place(program, span).map_or(String::new(), |(file, line)| {
        let name = file.rsplit('/').next().unwrap_or(file);
        format!("{name}:{line}")
    });
    if let Some(text) = program.texts.get(span.text).filter(|text| !text.is_empty()) {
        said.push(' ');
        said.push_str(text);
    }
    if said.is_empty() { said } else { format!(" /* {} */", inside_comment(said.trim_start())) }
}

/// `main.c:12`, or a phrase that says that there is no such place.
pub(crate) fn position(program: &Program, span: Span) -> String {
    place(program, span).map_or("an unknown place".to_string(), |(file, line)| format!("{file}:{line}"))
}

fn place(program: &Program, span: Span) -> Option<(&str, u32)> {
    let file = program.files.get(span.file)?;
    (span.line > 0).then_some((file.as_str(), span.line))
}

/// Neither ends the comment, nor begins another, nor leaves the line or what a terminal should be shown.
pub(crate) fn inside_comment(text: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() { c } else { ' ' };
    let mut line: String = text.chars().take(LONGEST).map(shown).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push_str("...");
    }
    line.replace("*/", "* /").replace("/*", "/ *")
}

/// A C string literal of these bytes.
pub(crate) fn string_literal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            // A question mark might begin a trigraph.
            b'?' => text.push_str("\\?"),
            b' '..=b'~' => text.push(char::from(*byte)),
            // Three octal digits: unlike a hexadecimal escape it ends by itself.
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

/// An assembler label that gives something its real name, if a linker could know anything by that name.
pub(crate) fn linker_name(name: &str) -> Option<String> {
    let follows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let can_be = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(follows);
    can_be.then(|| format!("__asm__(\"{name}\")"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_cannot_be_left() {
        for hostile in ["*/ int x;", "a /* b", "*/*/", "/*/", "line\nbreak", "\u{202e}hidden"] {
            let text = inside_comment(hostile);
            assert!(!text.contains("*/") && !text.contains("/*") && !text.contains('\n'), "{text:?}");
            assert!(!text.contains('\u{202e}'));
        }
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(string_literal(b"a\"\\\n\x00\x017?\xff"), r#""a\"\\\n\000\0017\?\377""#);
    }
}
