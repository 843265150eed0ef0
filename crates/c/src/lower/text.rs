//! Where an instruction comes from, for people: files, lines, and pieces of source text, each stored once.
//!
//! Every instruction asks for its span, so this is a hot path: the last answer is kept, and a piece of text is put
//! together in one reused buffer and looked up without allocating.

use crate::source::{self, Source};
use leno_ir::index::IndexVec;
use leno_ir::program::{FileId, Span, TextId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Longer pieces are cut: a person wants to recognise the place, not to read it.
const LONGEST_TEXT: usize = 80;

/// The files and pieces of text of a program that is being written.
pub struct Texts {
    pub files: IndexVec<FileId, String>,
    pub texts: IndexVec<TextId, String>,
    file_ids: HashMap<String, FileId>,
    /// By hash; where two texts have the same one, the later is at the next free number.
    text_ids: HashMap<u64, TextId, BuildHasherDefault<AlreadyHashed>>,
    /// For each unit, the ids of its files.
    unit_files: Vec<Vec<Option<FileId>>>,
    last: Option<(usize, source::Span, Span)>,
    buffer: Vec<u8>,
}

impl Texts {
    /// Of a program that is made of so many files.
    pub fn new(units: usize) -> Texts {
        let mut texts = Texts {
            files: IndexVec::new(),
            texts: IndexVec::new(),
            file_ids: HashMap::new(),
            text_ids: HashMap::default(),
            unit_files: vec![Vec::new(); units],
            last: None,
            buffer: Vec::new(),
        };
        texts.intern("");
        texts
    }

    pub fn intern(&mut self, text: &str) -> TextId {
        let mut key = hash(text.as_bytes());
        loop {
            match self.text_ids.get(&key) {
                Some(id) if self.texts[*id] == text => return *id,
                Some(_) => key = key.wrapping_add(1),
                None => {
                    let id = self.texts.push(text.to_string());
                    self.text_ids.insert(key, id);
                    return id;
                }
            }
        }
    }

    /// A place in the text of a file, by its number.
    pub fn span(&mut self, source: &Source, unit: usize, place: source::Span) -> Span {
        if let Some((last_unit, last_place, span)) = self.last
            && last_unit == unit
            && last_place == place
        {
            return span;
        }
        let (file, line, column) = source.position(place.start);
        let span = Span { file: self.file(source, unit, file), line, column, text: self.piece(source, place) };
        self.last = Some((unit, place, span));
        span
    }

    fn file(&mut self, source: &Source, unit: usize, file: usize) -> FileId {
        let known = &mut self.unit_files[unit];
        if known.len() <= file {
            known.resize(file + 1, None);
        }
        if let Some(id) = known[file] {
            return id;
        }
        let name = source.files().get(file).map_or("", String::as_str);
        let id = match self.file_ids.get(name) {
            Some(id) => *id,
            None => {
                let id = self.files.push(name.to_string());
                self.file_ids.insert(name.to_string(), id);
                id
            }
        };
        self.unit_files[unit][file] = Some(id);
        id
    }

    /// The source text of a place on one line.
    fn piece(&mut self, source: &Source, place: source::Span) -> TextId {
        let end = (place.end as usize).min(source.text.len());
        let text = &source.text[(place.start as usize).min(end)..end];
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        collapse(text, &mut buffer);
        let id = match std::str::from_utf8(&buffer) {
            Ok(text) => self.intern(text),
            Err(_) => {
                let text = String::from_utf8_lossy(&buffer).into_owned();
                self.intern(&text)
            }
        };
        self.buffer = buffer;
        id
    }
}

/// White space becomes one space, the preprocessor's line markers go, and what is too long ends in dots.
fn collapse(text: &[u8], buffer: &mut Vec<u8>) {
    let mut index = 0;
    let mut at_line_start = false;
    let mut wants_space = false;
    while index < text.len() {
        let byte = text[index];
        if byte == b'\n' {
            at_line_start = true;
        }
        if byte.is_ascii_whitespace() {
            wants_space = true;
            index += 1;
            continue;
        }
        if byte == b'#' && at_line_start {
            index += text[index..].iter().position(|b| *b == b'\n').unwrap_or(text.len() - index);
            continue;
        }
        at_line_start = false;
        if buffer.len() >= LONGEST_TEXT {
            cut(buffer);
            return;
        }
        if wants_space && !buffer.is_empty() {
            buffer.push(b' ');
        }
        wants_space = false;
        buffer.push(byte);
        index += 1;
    }
}

/// Ends the text in dots, not in the middle of a character.
fn cut(buffer: &mut Vec<u8>) {
    while buffer.last().is_some_and(|b| b & 0xC0 == 0x80) {
        buffer.pop();
    }
    if buffer.last().is_some_and(|b| *b >= 0xC0) {
        buffer.pop();
    }
    buffer.extend_from_slice("…".as_bytes());
}

/// A quick hash of short texts: eight bytes at a time, each multiplied in.
fn hash(text: &[u8]) -> u64 {
    let mut state = text.len() as u64;
    for piece in text.chunks(8) {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        state = (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    state ^ (state >> 32)
}

/// For keys that are hashes.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
