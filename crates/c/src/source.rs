//! Preprocessed text and the places it came from.
//!
//! A [`Source`] is the text of one translation unit after `cc -E`. A [`Span`] is a range of bytes in it; the line
//! markers that the preprocessor left (`# 12 "queue.h"`) say which line of which file that is. Everything before
//! lowering speaks in spans; a person is shown a [`Location`].

use std::collections::HashMap;

/// A range of bytes of a translation unit's preprocessed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// From the start of `self` to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end.max(self.start) }
    }
}

/// A place in the user's own files. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// From byte `offset` on, which is on physical line number `index` of the text (from 0), lines come from `file`, the
/// first of them being number `line`.
#[derive(Clone, Copy, Debug)]
struct Marker {
    offset: u32,
    index: u32,
    file: u32,
    line: u32,
}

/// One translation unit's text.
///
/// Backslash-newlines are gone: the lines they join are joined, and as many empty lines follow, so that line numbers
/// stay right (a preprocessor does the same, so this only matters to `.i` files made by hand).
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: Vec<u8>,
    /// Where each line begins.
    lines: Vec<u32>,
    files: Vec<String>,
    file_ids: HashMap<String, u32>,
    markers: Vec<Marker>,
}

impl Source {
    /// Text of at most 4 GiB; the lexer adds the markers it meets.
    pub fn new(name: &str, text: Vec<u8>) -> Source {
        let text = join_spliced_lines(text);
        let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        Source {
            name: name.to_string(),
            text,
            lines,
            files: vec![name.to_string()],
            file_ids: HashMap::from([(name.to_string(), 0)]),
            markers: vec![Marker { offset: 0, index: 0, file: 0, line: 1 }],
        }
    }

    /// A line marker: the line that begins at `offset` is `line` of `file`. Markers come in the order of the text.
    pub fn add_marker(&mut self, offset: u32, file: &str, line: u32) {
        let last = self.markers[self.markers.len() - 1].file;
        let file = if self.files[last as usize] == file { last } else { self.file_id(file) };
        self.markers.push(Marker { offset, index: self.line_index(offset) as u32, file, line });
    }

    fn file_id(&mut self, file: &str) -> u32 {
        if let Some(id) = self.file_ids.get(file) {
            return *id;
        }
        let id = self.files.len() as u32;
        self.files.push(file.to_string());
        self.file_ids.insert(file.to_string(), id);
        id
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The number, from 0, of the line of the text that holds a byte.
    fn line_index(&self, offset: u32) -> usize {
        self.lines.partition_point(|start| *start <= offset) - 1
    }

    /// The file (an index into [`Source::files`]), line and column of a byte.
    pub fn position(&self, offset: u32) -> (usize, u32, u32) {
        let offset = offset.min(self.text.len() as u32);
        let marker = self.markers[self.markers.partition_point(|m| m.offset <= offset) - 1];
        let index = self.line_index(offset);
        let line = marker.line.saturating_add(index as u32 - marker.index);
        (marker.file as usize, line, offset - self.lines[index] + 1)
    }

    pub fn location(&self, span: Span) -> Location {
        let (file, line, column) = self.position(span.start);
        Location { file: self.files[file].clone(), line, column }
    }

    /// The text of a span as it stands in the preprocessed source.
    pub fn snippet(&self, span: Span) -> String {
        let end = (span.end as usize).min(self.text.len());
        String::from_utf8_lossy(&self.text[(span.start as usize).min(end)..end]).into_owned()
    }

    /// The whole line (without its end) that holds a byte, and the offset at which it begins.
    pub fn line_at(&self, offset: u32) -> (u32, &[u8]) {
        let index = self.line_index(offset.min(self.text.len() as u32));
        let start = self.lines[index];
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| *next as usize - 1);
        (start, &self.text[start as usize..end])
    }
}

/// Translation phase 2. White space between the backslash and the newline is forgiven, as gcc does.
fn join_spliced_lines(text: Vec<u8>) -> Vec<u8> {
    if !(1..text.len()).any(|at| text[at] == b'\n' && splice_before(&text[..at]).is_some()) {
        return text;
    }
    let mut joined = Vec::with_capacity(text.len());
    let mut owed = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(content) = line.strip_suffix(b"\n") else {
            joined.extend_from_slice(line);
            break;
        };
        if let Some(length) = splice_before(content) {
            joined.extend_from_slice(&content[..length]);
            owed += 1;
        } else {
            joined.extend_from_slice(line);
            joined.resize(joined.len() + owed, b'\n');
            owed = 0;
        }
    }
    joined.resize(joined.len() + owed, b'\n');
    joined
}

/// Where the backslash is, if what stands before a newline ends in one.
fn splice_before(content: &[u8]) -> Option<usize> {
    let last = content.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))?;
    (content[last] == b'\\').then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_the_lines_that_follow_them() {
        let mut source = Source::new("a.i", b"one\n# 7 \"b.h\"\ntwo\n three\n# 2 \"a.i\"\nfour".to_vec());
        source.add_marker(14, "b.h", 7);
        source.add_marker(35, "a.i", 2);
        let at = |offset| {
            let place = source.location(Span::new(offset, offset));
            format!("{}:{}:{}", place.file, place.line, place.column)
        };
        assert_eq!(at(0), "a.i:1:1");
        assert_eq!(at(2), "a.i:1:3");
        assert_eq!(at(14), "b.h:7:1");
        assert_eq!(at(19), "b.h:8:2");
        assert_eq!(at(36), "a.i:2:2");
        assert_eq!(at(9999), "a.i:2:5");
        assert_eq!(source.line_at(20), (18, &b" three"[..]));
    }

    #[test]
    fn spliced_lines_are_joined_and_later_lines_keep_their_numbers() {
        let source = Source::new("a.i", b"in\\\nt x\\ \r\n;\ny".to_vec());
        assert_eq!(source.text, b"int x;\n\n\ny");
        assert_eq!(source.position(9), (0, 4, 1));
        assert_eq!(Source::new("a.i", b"x\\\n".to_vec()).text, b"x\n");
        assert_eq!(Source::new("a.i", b"\n\n\\".to_vec()).text, b"\n\n\\");
        assert_eq!(Source::new("a.i", Vec::new()).position(0), (0, 1, 1));
    }
}
