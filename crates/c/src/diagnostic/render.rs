//! A diagnostic as a person sees it: the message, the place, the line, an underline, what to do.
//!
//! Spans are places in the preprocessed text, but people know the text they wrote. The line markers name its file and
//! line; the column is harder, because a preprocessor squeezes white space, drops comments and expands macros. So the
//! two lines are *aligned*: as long as they agree but for white space and comments, a place in one is a place in the
//! other. Where they stop agreeing (after a macro), the underlined text may still occur exactly once in the original
//! line; failing that, the whole line is underlined. If the file cannot be read, the preprocessed line is shown.

use super::{Diagnostic, Severity};
use crate::source::{Source, Span};
use std::fmt::Write;

/// The most characters of a line that are shown, and how many of them come before the place.
const WIDTH: usize = 110;
const BEFORE: usize = 50;
/// A source file larger than this is not read again just to show a line of it.
const LARGEST_FILE: u64 = 64 << 20;

struct Style {
    severity: &'static str,
    strong: &'static str,
    gutter: &'static str,
    reset: &'static str,
}

impl Style {
    fn new(severity: Severity, color: bool) -> Style {
        if !color {
            return Style { severity: "", strong: "", gutter: "", reset: "" };
        }
        let severity = match severity {
            Severity::Error => "\x1b[1;31m",
            Severity::Warning => "\x1b[1;33m",
        };
        Style { severity, strong: "\x1b[1m", gutter: "\x1b[1;34m", reset: "\x1b[0m" }
    }
}

/// The diagnostic in the form that rustc made familiar; ends in a newline.
pub fn render(diagnostic: &Diagnostic, source: &Source, color: bool) -> String {
    let style = Style::new(diagnostic.severity, color);
    let Style { severity, strong, gutter, reset } = style;
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut text = format!("{severity}{word}{reset}{strong}: {}{reset}\n", printable(&diagnostic.message));
    text.push_str(&render_place(diagnostic.span, source, &style));
    if let Some(help) = &diagnostic.help {
        let margin = " ".repeat(source.location(diagnostic.span).line.to_string().len());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{margin} {gutter}={reset} {strong}help{reset}: {}", printable(help));
    }
    text
}

/// A place with its line and its text underlined, as it stands below the message of a diagnostic.
///
/// `text` is what a program says of the place; the line itself is read from the file, if it is still there.
pub fn render_excerpt(file: &str, line: u32, text: &str, color: bool) -> String {
    let mut source = Source::new(file, text.as_bytes().to_vec());
    source.add_marker(0, file, line);
    render_place(Span::new(0, text.len() as u32), &source, &Style::new(Severity::Error, color))
}

fn render_place(span: Span, source: &Source, style: &Style) -> String {
    let Style { severity, gutter, reset, .. } = style;
    let shown = ShownLine::new(span, source);
    let excerpt = shown.excerpt();
    let place = source.location(span);
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let file = printable(&place.file);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{margin}{gutter}-->{reset} {file}:{number}:{}", shown.start + 1);
    let _ = writeln!(text, "{margin} {gutter}|{reset}");
    let _ = writeln!(text, "{gutter}{number} |{reset} {}", excerpt.line);
    let _ = writeln!(text, "{margin} {gutter}|{reset} {}{severity}{}{reset}", excerpt.indent, excerpt.underline);
    text
}

/// A line and the bytes of it to underline.
struct ShownLine {
    line: Vec<u8>,
    start: usize,
    end: usize,
}

impl ShownLine {
    fn new(span: Span, source: &Source) -> ShownLine {
        let (line_start, line) = source.line_at(span.start);
        let start = (span.start.saturating_sub(line_start) as usize).min(line.len());
        let end = (span.end.saturating_sub(line_start) as usize).clamp(start, line.len());
        let (file, number, _) = source.position(span.start);
        match original_line(&source.files()[file], number) {
            Some(original) => ShownLine::in_original(original, line, start, end),
            None => ShownLine { line: line.to_vec(), start, end },
        }
    }

    /// Finds bytes `start..end` of the preprocessed line in the original one.
    fn in_original(original: Vec<u8>, line: &[u8], start: usize, end: usize) -> ShownLine {
        if start < end {
            let from = align(&original, line, start).map(|at| skip_blank(&original, at));
            if let (Some(from), Some(to)) = (from, align(&original, line, end)) {
                return ShownLine { line: original, start: from, end: to };
            }
            if let Some(from) = only_occurrence(&original, &line[start..end]) {
                return ShownLine { line: original, start: from, end: from + end - start };
            }
        } else if let Some(at) = align(&original, line, start) {
            return ShownLine { line: original, start: at, end: at };
        }
        let content = original.trim_ascii_start();
        let (first, length) = (original.len() - content.len(), content.trim_ascii_end().len());
        if start == end && line[start..].trim_ascii().is_empty() && !original.contains(&b'/') {
            return ShownLine { line: original, start: first + length, end: first + length };
        }
        ShownLine { line: original, start: first, end: first + length }
    }

    fn excerpt(&self) -> Excerpt {
        // A window of bytes that surely holds the characters to be shown: lines can be megabytes long.
        let first = boundary(&self.line, self.start.saturating_sub(4 * BEFORE));
        let last = boundary(&self.line, self.line.len().min(self.start + 4 * WIDTH));
        let mut cells: Vec<(usize, String)> = Vec::new();
        let mut at = first;
        for chunk in self.line[first..last.max(first)].utf8_chunks() {
            for character in chunk.valid().chars() {
                cells.push((at, cell(character)));
                at += character.len_utf8();
            }
            for byte in chunk.invalid() {
                cells.push((at, format!("\\x{byte:02x}")));
                at += 1;
            }
        }
        let place = cells.iter().position(|(at, _)| *at >= self.start).unwrap_or(cells.len());
        let from = if cells.len() > WIDTH || first > 0 { place.saturating_sub(BEFORE) } else { 0 };
        let to = cells.len().min(from + WIDTH);
        let clipped_left = from > 0 || first > 0;
        let clipped_right = to < cells.len() || last < self.line.len();
        let mut excerpt = Excerpt::default();
        if clipped_left {
            excerpt.line.push('…');
            excerpt.indent.push(' ');
        }
        for (at, cell) in &cells[from..to] {
            excerpt.line.push_str(cell);
            let width = cell.chars().count();
            if *at < self.start {
                excerpt.indent.extend(std::iter::repeat_n(' ', width));
            } else if *at < self.end {
                excerpt.underline.extend(std::iter::repeat_n('^', width));
            }
        }
        if clipped_right {
            excerpt.line.push('…');
        }
        if excerpt.underline.is_empty() {
            excerpt.underline.push('^');
        }
        excerpt
    }
}

#[derive(Default)]
struct Excerpt {
    line: String,
    indent: String,
    underline: String,
}

/// What a character looks like on a terminal.
fn cell(character: char) -> String {
    match character {
        '\t' => "    ".to_string(),
        '\r' => String::new(),
        character if character.is_control() => character.escape_default().to_string(),
        character => character.to_string(),
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|character| if character == '\n' { "\n".to_string() } else { cell(character) }).collect()
}

/// The nearest start of a UTF-8 character at or before `at`.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(*at)).unwrap_or(at)
}

/// Line `number` of a file, if there is such a file of an ordinary kind.
fn original_line(file: &str, number: u32) -> Option<Vec<u8>> {
    let facts = std::fs::metadata(file).ok()?;
    if !facts.is_file() || facts.len() > LARGEST_FILE {
        return None;
    }
    let text = std::fs::read(file).ok()?;
    let line = text.split(|byte| *byte == b'\n').nth((number as usize).checked_sub(1)?)?;
    Some(line.to_vec())
}

/// Where in `original` the first `length` bytes of `line` end, if the two agree so far.
fn align(original: &[u8], line: &[u8], length: usize) -> Option<usize> {
    let mut at = 0;
    for byte in line[..length].iter().filter(|byte| !byte.is_ascii_whitespace()) {
        at = skip_blank(original, at);
        if original.get(at) != Some(byte) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Past white space and comments.
fn skip_blank(line: &[u8], mut at: usize) -> usize {
    loop {
        match &line[at..] {
            [byte, ..] if byte.is_ascii_whitespace() => at += 1,
            [b'/', b'*', rest @ ..] => match rest.windows(2).position(|pair| pair == b"*/") {
                Some(length) => at += length + 4,
                None => return at,
            },
            _ => return at,
        }
    }
}

fn only_occurrence(line: &[u8], text: &[u8]) -> Option<usize> {
    // Longer texts are not worth the search: lines can be megabytes long.
    if text.is_empty() || text.len() > 200 || line.len() > 100_000 {
        return None;
    }
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let stands_alone = |at: &usize| {
        let joined_left = is_word(text.first()) && is_word(at.checked_sub(1).and_then(|before| line.get(before)));
        let joined_right = is_word(text.last()) && is_word(line.get(at + text.len()));
        !joined_left && !joined_right
    };
    let found = |(at, window): (usize, &[u8])| (window == text).then_some(at);
    let mut occurrences = line.windows(text.len()).enumerate().filter_map(found).filter(stands_alone);
    let first = occurrences.next()?;
    if occurrences.next().is_some() { None } else { Some(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underlined(original: &str, line: &str, part: &str) -> String {
        let start = if part.is_empty() { line.len() } else { line.find(part).unwrap_or(0) };
        let shown = ShownLine::in_original(original.into(), line.as_bytes(), start, start + part.len());
        let excerpt = shown.excerpt();
        format!("{}\n{}{}", excerpt.line, excerpt.indent, excerpt.underline)
    }

    #[test]
    fn the_place_is_found_in_the_original_line() {
        assert_eq!(
            underlined("\tx  =  /* c */ yy+1;", " x = yy+1;", "yy"),
            "    x  =  /* c */ yy+1;\n                  ^^"
        );
        assert_eq!(underlined("F(a) + bad;", "((a)) + bad;", "bad"), "F(a) + bad;\n       ^^^");
        assert_eq!(underlined("F(a) + G;", "((a)) + bad;", "bad"), "F(a) + G;\n^^^^^^^^^");
        assert_eq!(underlined("return F(x)", " return x+x", ""), "return F(x)\n           ^");
        assert_eq!(underlined("x = bad + badly;", "y = bad + badly;", "bad"), "x = bad + badly;\n    ^^^");
    }

    #[test]
    fn long_lines_are_clipped_and_control_characters_escaped() {
        let line = format!("{}\u{1b}[31m bad é{}", "x".repeat(5_000_000), "y".repeat(5_000_000));
        let start = line.find("bad").unwrap_or(0);
        let excerpt = ShownLine { line: line.into_bytes(), start, end: start + 3 }.excerpt();
        assert!(excerpt.line.chars().count() < WIDTH + 20, "{}", excerpt.line);
        assert!(
            excerpt.line.contains("\\u{1b}[31m bad é") && excerpt.line.starts_with('…') && excerpt.line.ends_with('…')
        );
        let column = excerpt.indent.chars().count();
        assert_eq!(excerpt.line.chars().skip(column).take(3).collect::<String>(), "bad");
        assert_eq!(excerpt.underline, "^^^");
    }

    #[test]
    fn the_whole_message() {
        let source = Source::new("no such file.c", b"int x\nint y\xff;\n".to_vec());
        let diagnostic = Diagnostic::error(Span::new(10, 12), "strange").help("think");
        let expected = "\
error: strange
 --> no such file.c:2:5
  |
2 | int y\\xff;
  |     ^^^^^
  = help: think
";
        assert_eq!(render(&diagnostic, &source, false), expected);
        let beyond = Diagnostic::warning(Span::new(900, 990), "odd");
        assert!(render(&beyond, &source, true).starts_with("\x1b[1;33mwarning"));
    }
}
