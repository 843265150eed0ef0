//! Preprocessed text and the places it came from.
//!
//! A [`Source`] is the text of one translation unit after `cc -E`. A [`Span`] is a range of bytes in it; the line
//! markers that the preprocessor left (`# 12 "queue.h"`) say which line of which file that is. Everything before
//! lowering speaks in spans; a person is shown a [`Location`].

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

/// From byte `offset` on, lines come from `file`, the first of them being number `line`.
#[derive(Clone, Copy, Debug)]
struct Marker {
    offset: u32,
    file: u32,
    line: u32,
}

/// One translation unit's text.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: Vec<u8>,
    files: Vec<String>,
    markers: Vec<Marker>,
}

impl Source {
    /// Text of at most 4 GiB; the lexer adds the markers it meets.
    pub fn new(name: &str, text: Vec<u8>) -> Source {
        let files = vec![name.to_string()];
        Source { name: name.to_string(), text, files, markers: vec![Marker { offset: 0, file: 0, line: 1 }] }
    }

    /// A line marker: the line that begins at `offset` is `line` of `file`.
    pub fn add_marker(&mut self, offset: u32, file: &str, line: u32) {
        let last = self.markers[self.markers.len() - 1].file as usize;
        let file = if self.files[last] == file {
            last
        } else {
            self.files.iter().position(|f| f == file).unwrap_or_else(|| {
                self.files.push(file.to_string());
                self.files.len() - 1
            })
        };
        self.markers.push(Marker { offset, file: file as u32, line });
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The file (an index into [`Source::files`]), line and column of a byte.
    pub fn position(&self, offset: u32) -> (usize, u32, u32) {
        let marker = self.markers[self.markers.partition_point(|m| m.offset <= offset) - 1];
        let end = (offset as usize).min(self.text.len());
        let before = &self.text[(marker.offset as usize).min(end)..end];
        let lines = before.iter().filter(|b| **b == b'\n').count() as u32;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() as u32 + 1;
        (marker.file as usize, marker.line + lines, column)
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
        let offset = (offset as usize).min(self.text.len());
        let start = self.text[..offset].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
        let end = self.text[offset..].iter().position(|b| *b == b'\n').map_or(self.text.len(), |p| offset + p);
        (start as u32, &self.text[start..end])
    }
}
