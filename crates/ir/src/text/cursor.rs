//! Reads the smallest pieces of the textual form: words, numbers, strings.
//!
//! There is no token list: the grammar knows at each point what may come, and a few bytes of look-ahead are
//! enough. A position becomes a line and a column only when there is an error to report.

use std::fmt;

use crate::text::names::is_path_byte;

/// What is wrong with a text, and where. Lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

pub(super) type Parsed<T> = Result<T, TextError>;

#[derive(Clone, Copy)]
pub(super) struct Cursor<'s> {
    pub source: &'s str,
    pub at: usize,
}

impl<'s> Cursor<'s> {
    pub fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let before = &self.source.as_bytes()[..at.min(self.source.len())];
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        // Counted in bytes that begin a character, so that `at` may even be inside one.
        let column = 1 + before[line_start..].iter().filter(|b| **b & 0xc0 != 0x80).count();
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Err(TextError { line, column, message: message.into() })
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.at, message)
    }

    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.source[self.at..].chars().next() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                let rest = &self.source.as_bytes()[self.at..];
                let length = rest.iter().take(40).take_while(|b| is_word_byte(**b)).count();
                format!("`{}`", &self.source[self.at..self.at + length])
            }
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'s [u8] {
        &self.source.as_bytes()[self.at..]
    }

    fn starts_with(&self, prefix: &[u8]) -> bool {
        self.rest().starts_with(prefix)
    }

    fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'s str {
        let length = self.rest().iter().take_while(|b| accepts(**b)).count();
        let start = self.at;
        self.at += length;
        // `accepts` takes ASCII only, so both ends are character boundaries; were they not, nothing is taken.
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// Moves over blanks and comments within the line.
    pub fn skip_blanks(&mut self) {
        loop {
            self.take_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
            if self.starts_with(b"//") {
                self.skip_to_line_end();
            } else if self.starts_with(b"/*") {
                let Some(length) = self.comment_length() else { return };
                self.at += length;
            } else {
                return;
            }
        }
    }

    fn comment_length(&self) -> Option<usize> {
        let rest = self.rest();
        let line = &rest[..rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())];
        line[2..].windows(2).position(|pair| pair == b"*/").map(|at| at + 4)
    }

    pub fn skip_to_line_end(&mut self) {
        self.at += self.rest().iter().position(|b| *b == b'\n').unwrap_or(self.rest().len());
    }

    /// Moves over blanks, comments and line ends.
    pub fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.at += 1;
            self.skip_blanks();
        }
    }

    /// Whether `symbol` comes next; if so, moves past it.
    pub fn accept(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        let found = self.starts_with(symbol.as_bytes());
        if found {
            self.at += symbol.len();
        }
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    /// The word that comes next, or an empty one.
    pub fn peek_word(&mut self) -> &'s str {
        self.skip_blanks();
        if !self.peek().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') {
            return "";
        }
        let mut ahead = *self;
        ahead.take_while(is_word_byte)
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub fn digits(&mut self) -> &'s str {
        self.take_while(|b| b.is_ascii_digit())
    }

    pub fn number<N: TryFrom<u128>>(&mut self, what: &str) -> Parsed<N> {
        self.skip_blanks();
        let start = self.at;
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return self.expected(what);
        }
        let (digits, radix) = if self.starts_with(b"0x") {
            self.at += 2;
            (self.take_while(|b| b.is_ascii_hexdigit()), 16)
        } else {
            (self.digits(), 10)
        };
        let value = u128::from_str_radix(digits, radix).ok().and_then(|value| N::try_from(value).ok());
        value.map_or_else(|| self.error_at(start, format!("the number does not fit {what}")), Ok)
    }

    /// The characters of a decimal floating-point number.
    pub fn decimal(&mut self) -> &'s str {
        self.take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
    }

    pub fn path(&mut self) -> &'s str {
        self.take_while(is_path_byte)
    }

    /// A quoted string, of any bytes. `\u{…}` stands for the bytes of a character in UTF-8.
    pub fn quoted_bytes(&mut self) -> Parsed<Vec<u8>> {
        self.expect("\"")?;
        let mut bytes = Vec::new();
        loop {
            let plain = self.rest().iter().take_while(|b| !matches!(b, b'"' | b'\\' | b'\n')).count();
            bytes.extend_from_slice(&self.rest()[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(bytes);
                }
                Some(b'\\') => self.escape(&mut bytes)?,
                _ => return self.expected("`\"` at the end of the string"),
            }
        }
    }

    pub fn quoted_string(&mut self) -> Parsed<String> {
        self.skip_blanks();
        let start = self.at;
        let bytes = self.quoted_bytes()?;
        String::from_utf8(bytes).or_else(|_| self.error_at(start, "the string is not UTF-8"))
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Parsed<()> {
        let start = self.at;
        let letter = self.rest().get(1).copied();
        self.at += 2;
        match letter {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(c @ (b'"' | b'\\')) => bytes.push(c),
            Some(b'x') => {
                let digits = self.rest().get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
                let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
                    return self.error_at(start, "expected two hexadecimal digits after `\\x`");
                };
                bytes.push(byte);
                self.at += 2;
            }
            Some(b'u') if self.peek() == Some(b'{') => {
                self.at += 1;
                let digits = self.take_while(|b| b.is_ascii_hexdigit());
                let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let (Some(character), Some(b'}')) = (character, self.peek()) else {
                    return self.error_at(start, "expected a character's number as in `\\u{1f}`");
                };
                self.at += 1;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => {
                return self
                    .error_at(start, "unknown escape: `\\n`, `\\t`, `\\\"`, `\\\\`, `\\x1f`, `\\u{1f}` are known");
            }
        }
        Ok(())
    }
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
