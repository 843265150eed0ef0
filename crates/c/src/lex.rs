//! Preprocessed text to tokens, in one pass over its bytes.
//!
//! What a preprocessor leaves behind is handled here too: line markers become [`Source`] markers, `#pragma pack`
//! becomes a list of changes keyed by token (it decides where members of records lie), other pragmas and `#ident` are
//! skipped. A `.i` file may hold comments. Any other directive means that the text was never preprocessed, and is
//! refused with that advice. Lexing never fails as a whole: at the first bad byte it leaves an [`Tok::Error`] token and
//! stops, so that an earlier mistake is reported first, by the parser.

use crate::ast::{Name, Names};
use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Source, Span};
use crate::token::{Tok, Token, keyword_or_identifier};

/// The tokens of a translation unit.
pub struct Lexed {
    /// Ends in three `Eof` tokens, so that looking ahead by two needs no check.
    pub tokens: Vec<Token>,
    /// In the order of the text.
    pub packs: Vec<PackChange>,
    /// What is wrong at the `Error` token, if there is one.
    pub error: Option<Box<Diagnostic>>,
    pub warnings: Vec<Diagnostic>,
}

/// From token number `token` on, members of records are aligned to at most `alignment` bytes (0: naturally).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackChange {
    pub token: usize,
    pub alignment: u32,
}

/// Lexes the whole text. `names` has its keywords interned.
pub fn lex(source: &mut Source, names: &mut Names) -> Lexed {
    let text = std::mem::take(&mut source.text);
    let mut lexer = Lexer {
        text: &text,
        at: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 },
        line_start: true,
        file: source.name.clone(),
        tokens: Vec::with_capacity(text.len() / 6 + 3),
        packs: Vec::new(),
        pack_stack: Vec::new(),
        pack: 0,
        warnings: Vec::new(),
        source,
        names,
    };
    let error = lexer.run().err();
    if let Some(error) = &error {
        lexer.push(Tok::Error, error.span.start as usize, error.span.end as usize);
    }
    for _ in 0..3 {
        lexer.push(Tok::Eof, text.len(), text.len());
    }
    let Lexer { tokens, packs, warnings, .. } = lexer;
    source.text = text;
    Lexed { tokens, packs, error, warnings }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether only white space and comments came before on this line.
    line_start: bool,
    /// The file that the last line marker named.
    file: String,
    tokens: Vec<Token>,
    packs: Vec<PackChange>,
    pack_stack: Vec<(Vec<u8>, u32)>,
    pack: u32,
    warnings: Vec<Diagnostic>,
    source: &'a mut Source,
    names: &'a mut Names,
}

type LexResult = Result<(), Box<Diagnostic>>;

const SPACE: u8 = 1;
const WORD_START: u8 = 2;
const DIGIT: u8 = 4;

/// What each byte can be part of.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0 => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..=0xff => WORD_START,
            b'0'..=b'9' => DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES[byte as usize]
}

impl Lexer<'_> {
    fn run(&mut self) -> LexResult {
        while let Some(&byte) = self.text.get(self.at) {
            match class(byte) {
                SPACE => self.at += 1,
                WORD_START => self.word()?,
                DIGIT => self.number(),
                _ => match byte {
                    b'\n' => {
                        self.at += 1;
                        self.line_start = true;
                    }
                    b'/' if matches!(self.peek(1), b'/' | b'*') => self.comment()?,
                    b'#' if self.line_start => self.directive()?,
                    b'"' | b'\'' => self.quoted(self.at)?,
                    b'.' if self.peek(1).is_ascii_digit() => self.number(),
                    b'\\' => self.word()?,
                    _ => self.punctuator()?,
                },
            }
        }
        Ok(())
    }

    /// The byte `ahead` of the current one; 0 beyond the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Tok, start: usize, end: usize) {
        self.tokens.push(Token { kind, start: start as u32, end: end as u32, name: Name(0) });
        self.line_start = false;
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Span::new(start as u32, end as u32), message))
    }

    fn comment(&mut self) -> LexResult {
        let start = self.at;
        if self.peek(1) == b'/' {
            let rest = &self.text[start..];
            self.at = rest.iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |length| start + length);
            return Ok(());
        }
        let rest = &self.text[start + 2..];
        match rest.windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.at = start + 2 + length + 2,
            None => return Err(self.error(start, start + 2, "this comment is never closed")),
        }
        Ok(())
    }

    /// An identifier, a keyword, or the prefix of a string or character constant.
    fn word(&mut self) -> LexResult {
        let start = self.at;
        let length = self.text[start..].iter().position(|byte| class(*byte) & (WORD_START | DIGIT) == 0);
        let mut end = length.map_or(self.text.len(), |length| start + length);
        let mut word = &self.text[start..end];
        match self.text.get(end) {
            Some(b'"' | b'\'') if matches!(word, b"L" | b"u" | b"U" | b"u8") => {
                self.at = end;
                return self.quoted(start);
            }
            Some(b'"') if matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                self.at = end;
                return self.raw_string(start);
            }
            Some(b'\\') => {
                let bytes = |byte: &u8| class(*byte) & (WORD_START | DIGIT) == 0 && *byte != b'\\';
                end = self.text[end..].iter().position(bytes).map_or(self.text.len(), |length| end + length);
                word = &self.text[start..end];
            }
            _ => {}
        }
        let name = if word.iter().all(|byte| byte.is_ascii() && *byte != b'\\') {
            self.names.intern(std::str::from_utf8(word).unwrap_or_default())
        } else {
            let spelling = self.universal_spelling(start, word)?;
            self.names.intern(&spelling)
        };
        self.tokens.push(Token { kind: keyword_or_identifier(name), start: start as u32, end: end as u32, name });
        self.line_start = false;
        self.at = end;
        Ok(())
    }

    /// An identifier with characters beyond ASCII, written in UTF-8 or as `\u00e9`.
    fn universal_spelling(&self, start: usize, word: &[u8]) -> Result<String, Box<Diagnostic>> {
        let mut spelling = String::new();
        let mut at = 0;
        while at < word.len() {
            let (character, length) = match word[at] {
                b'\\' => universal_name(&word[at..]).ok_or_else(|| {
                    self.error(start + at, start + at + 1, "a stray backslash is no part of any C program")
                })?,
                byte if byte.is_ascii() => (char::from(byte), 1),
                byte => first_character(&word[at..]).ok_or_else(|| {
                    let message = format!("the byte 0x{byte:02x} is neither ASCII nor UTF-8");
                    self.error(start + at, start + at + 1, message)
                })?,
            };
            if !character.is_ascii() && !may_be_in_identifiers(character) {
                let message =
                    format!("the character `{}` (U+{:04X}) is no part of any C token", character, character as u32);
                return Err(self.error(start + at, start + at + length, message));
            }
            spelling.push(character);
            at += length;
        }
        Ok(spelling)
    }

    /// A preprocessing number: whether it is a number is for [`crate::literal`] to say.
    fn number(&mut self) {
        let start = self.at;
        let mut previous = b'0';
        while let Some(&byte) = self.text.get(self.at) {
            let exponent_sign = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E' | b'p' | b'P');
            if class(byte) & (WORD_START | DIGIT) == 0 && byte != b'.' && !exponent_sign {
                break;
            }
            previous = byte;
            self.at += 1;
        }
        self.push(Tok::Number, start, self.at);
    }

    /// A string or character constant whose prefix begins at `start` and whose quote is the current byte.
    fn quoted(&mut self, start: usize) -> LexResult {
        let quote = self.text[self.at];
        let mut end = self.at + 1;
        loop {
            match self.text.get(end) {
                Some(byte) if *byte == quote => break,
                Some(b'\\') if !matches!(self.text.get(end + 1), None | Some(b'\n')) => end += 2,
                Some(b'\n') | None => {
                    let what = if quote == b'"' { "string" } else { "character constant" };
                    return Err(self.error(start, self.at + 1, format!("this {what} is not closed on its line")));
                }
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        self.push(if quote == b'"' { Tok::Str } else { Tok::Char }, start, self.at);
        Ok(())
    }

    /// `R"delimiter(…)delimiter"`, which may go over lines.
    fn raw_string(&mut self, start: usize) -> LexResult {
        const LONGEST_DELIMITER: usize = 16;
        let quote = self.at;
        let rest = &self.text[quote + 1..];
        let delimiter = rest.iter().take(LONGEST_DELIMITER + 1).position(|byte| *byte == b'(');
        let Some(delimiter) = delimiter.filter(|length| !rest[..*length].iter().any(u8::is_ascii_whitespace)) else {
            return Err(self.error(start, quote + 1, "this raw string has no `(` after a short delimiter"));
        };
        let closer = [b")", &rest[..delimiter], b"\""].concat();
        let Some(length) = rest.windows(closer.len()).position(|window| window == closer) else {
            return Err(self.error(start, quote + 1, "this raw string is never closed"));
        };
        self.at = quote + 1 + length + closer.len();
        self.push(Tok::Str, start, self.at);
        Ok(())
    }

    fn punctuator(&mut self) -> LexResult {
        let (kind, length) = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'(', ..) => (Tok::LParen, 1),
            (b')', ..) => (Tok::RParen, 1),
            (b';', ..) => (Tok::Semi, 1),
            (b',', ..) => (Tok::Comma, 1),
            (b'*', b'=', _) => (Tok::MulAssign, 2),
            (b'*', ..) => (Tok::Star, 1),
            (b'{', ..) | (b'<', b'%', _) => (Tok::LBrace, if self.peek(0) == b'{' { 1 } else { 2 }),
            (b'}', ..) => (Tok::RBrace, 1),
            (b'[', ..) => (Tok::LBracket, 1),
            (b']', ..) => (Tok::RBracket, 1),
            (b'<', b':', _) => (Tok::LBracket, 2),
            (b':', b'>', _) => (Tok::RBracket, 2),
            (b':', ..) => (Tok::Colon, 1),
            (b'?', ..) => (Tok::Question, 1),
            (b'~', ..) => (Tok::Tilde, 1),
            (b'.', b'.', b'.') => (Tok::Ellipsis, 3),
            (b'.', ..) => (Tok::Dot, 1),
            (b'=', b'=', _) => (Tok::EqEq, 2),
            (b'=', ..) => (Tok::Assign, 1),
            (b'!', b'=', _) => (Tok::NotEq, 2),
            (b'!', ..) => (Tok::Not, 1),
            (b'+', b'+', _) => (Tok::Inc, 2),
            (b'+', b'=', _) => (Tok::AddAssign, 2),
            (b'+', ..) => (Tok::Plus, 1),
            (b'-', b'>', _) => (Tok::Arrow, 2),
            (b'-', b'-', _) => (Tok::Dec, 2),
            (b'-', b'=', _) => (Tok::SubAssign, 2),
            (b'-', ..) => (Tok::Minus, 1),
            (b'&', b'&', _) => (Tok::AndAnd, 2),
            (b'&', b'=', _) => (Tok::AndAssign, 2),
            (b'&', ..) => (Tok::Amp, 1),
            (b'|', b'|', _) => (Tok::OrOr, 2),
            (b'|', b'=', _) => (Tok::OrAssign, 2),
            (b'|', ..) => (Tok::Pipe, 1),
            (b'^', b'=', _) => (Tok::XorAssign, 2),
            (b'^', ..) => (Tok::Caret, 1),
            (b'<', b'<', b'=') => (Tok::ShlAssign, 3),
            (b'<', b'<', _) => (Tok::Shl, 2),
            (b'<', b'=', _) => (Tok::Le, 2),
            (b'<', ..) => (Tok::Lt, 1),
            (b'>', b'>', b'=') => (Tok::ShrAssign, 3),
            (b'>', b'>', _) => (Tok::Shr, 2),
            (b'>', b'=', _) => (Tok::Ge, 2),
            (b'>', ..) => (Tok::Gt, 1),
            (b'/', b'=', _) => (Tok::DivAssign, 2),
            (b'/', ..) => (Tok::Slash, 1),
            (b'%', b'>', _) => (Tok::RBrace, 2),
            (b'%', b'=', _) => (Tok::RemAssign, 2),
            (b'%', ..) => (Tok::Percent, 1),
            (byte, ..) => {
                let message = format!("the character {} is no part of any C token", quoted(&[byte]));
                return Err(self.error(self.at, self.at + 1, message));
            }
        };
        self.push(kind, self.at, self.at + length);
        self.at += length;
        if kind == Tok::RParen {
            self.pragma_operator();
        }
        Ok(())
    }

    /// Takes a just completed `_Pragma("…")` off the tokens. Preprocessors replace it by a `#pragma` line: only `.i`
    /// files made by hand have it.
    fn pragma_operator(&mut self) {
        let Some(first) = self.tokens.len().checked_sub(4) else { return };
        let [operator, parenthesis, string, _] = self.tokens[first..] else { return };
        if operator.kind != Tok::Pragma || parenthesis.kind != Tok::LParen || string.kind != Tok::Str {
            return;
        }
        self.tokens.truncate(first);
        let text = &self.text[string.start as usize + 1..string.end as usize - 1];
        self.pragma(text.trim_ascii(), operator.start as usize, self.at);
    }

    /// A line that begins with `#`.
    fn directive(&mut self) -> LexResult {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |length| start + length);
        let line = self.text[start + 1..end].trim_ascii();
        let word_end = line.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(line.len());
        let (word, arguments) = line.split_at(word_end);
        match word {
            b"" if line.is_empty() => {}
            b"line" => self.line_marker(arguments.trim_ascii_start(), end),
            [b'0'..=b'9', ..] => self.line_marker(line, end),
            b"pragma" => self.pragma(arguments.trim_ascii(), start, end),
            b"ident" | b"sccs" => {}
            _ => {
                let shown = quoted(&[b"#", &line[..word_end.max(1).min(line.len())]].concat());
                let message = format!("{shown} in text that should be preprocessed already");
                let help =
                    "files named `.i` are read as they are; give the file a name in `.c` to have it preprocessed";
                return Err(Box::new(self.error(start, start + 1, message).help(help)));
            }
        }
        self.at = end;
        Ok(())
    }

    /// `12 "file.c" 2`: the next line is line 12 of `file.c`.
    fn line_marker(&mut self, marker: &[u8], end: usize) {
        let digits = marker.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(marker.len());
        let number = |digits: &[u8]| std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
        let Some(line) = number(&marker[..digits]) else { return };
        let name = marker[digits..].trim_ascii_start();
        if let Some(quoted) = name.strip_prefix(b"\"") {
            self.file = unescape_file_name(quoted);
        }
        self.source.add_marker((end + 1).min(self.text.len()) as u32, &self.file, line);
    }

    fn pragma(&mut self, pragma: &[u8], start: usize, end: usize) {
        if let Some(arguments) = pragma.strip_prefix(b"pack") {
            let arguments = arguments.trim_ascii();
            if let Some(inside) = arguments.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")) {
                self.pragma_pack(inside);
            }
        } else if pragma.starts_with(b"scalar_storage_order") {
            let span = Span::new(start as u32, end as u32);
            self.warnings.push(Diagnostic::warning(span, "`#pragma scalar_storage_order` is ignored"));
        }
    }

    /// `n`, nothing, `push`, `push, n`, `push, name, n`, `pop`, or `pop, name`.
    fn pragma_pack(&mut self, arguments: &[u8]) {
        let mut words = arguments.split(|byte| *byte == b',').map(|word| word.trim_ascii());
        let number = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|text| text.parse::<u32>().ok());
        let first = words.next().unwrap_or_default();
        match first {
            b"push" => {
                let (mut label, mut alignment) = (Vec::new(), self.pack);
                for word in words {
                    match number(word) {
                        Some(number) => alignment = number,
                        None => label = word.to_vec(),
                    }
                }
                self.pack_stack.push((label, self.pack));
                self.pack = alignment;
            }
            b"pop" => {
                let label = words.next();
                let depth = match label {
                    Some(label) => self.pack_stack.iter().rposition(|(known, _)| known == label),
                    None => self.pack_stack.len().checked_sub(1),
                };
                if let Some(depth) = depth {
                    self.pack = self.pack_stack[depth].1;
                    self.pack_stack.truncate(depth);
                }
            }
            b"" => self.pack = 0,
            _ => self.pack = number(first).unwrap_or(self.pack),
        }
        self.packs.push(PackChange { token: self.tokens.len(), alignment: self.pack });
    }
}

/// The name of a file in a line marker, up to its closing quote.
fn unescape_file_name(quoted: &[u8]) -> String {
    let mut name = Vec::new();
    let mut bytes = quoted.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => {
                let mut octal = 0u32;
                let mut digits = 0;
                while let Some(digit @ b'0'..=b'7') = bytes.peek().copied() {
                    if digits == 3 {
                        break;
                    }
                    octal = octal * 8 + u32::from(digit - b'0');
                    digits += 1;
                    bytes.next();
                }
                if digits > 0 { name.push(octal as u8) } else { name.extend(bytes.next()) }
            }
            byte => name.push(byte),
        }
    }
    String::from_utf8_lossy(&name).into_owned()
}

/// The character that UTF-8 text begins with, and its length.
pub fn first_character(text: &[u8]) -> Option<(char, usize)> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid.chars().next().map(|character| (character, character.len_utf8()))
}

/// `\u12ab` or `\U0012abcd` at the start of `text`, and its length.
pub fn universal_name(text: &[u8]) -> Option<(char, usize)> {
    let digits = match text {
        [b'\\', b'u', ..] => 4,
        [b'\\', b'U', ..] => 8,
        _ => return None,
    };
    let digits = text.get(2..2 + digits)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let value = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((char::from_u32(value)?, 2 + digits.len()))
}

/// C11's annex D.1.
fn may_be_in_identifiers(character: char) -> bool {
    const RANGES: &[(u32, u32)] = &[
        (0xa8, 0xa8),
        (0xaa, 0xaa),
        (0xad, 0xad),
        (0xaf, 0xaf),
        (0xb2, 0xb5),
        (0xb7, 0xba),
        (0xbc, 0xbe),
        (0xc0, 0xd6),
        (0xd8, 0xf6),
        (0xf8, 0x167f),
        (0x1681, 0x180d),
        (0x180f, 0x1fff),
        (0x200b, 0x200d),
        (0x202a, 0x202e),
        (0x203f, 0x2040),
        (0x2054, 0x2054),
        (0x2060, 0x218f),
        (0x2460, 0x24ff),
        (0x2776, 0x2793),
        (0x2c00, 0x2dff),
        (0x2e80, 0x2fff),
        (0x3004, 0x3007),
        (0x3021, 0x302f),
        (0x3031, 0xd7ff),
        (0xf900, 0xfd3d),
        (0xfd40, 0xfdcf),
        (0xfdf0, 0xfe44),
        (0xfe47, 0xfffd),
    ];
    let code = character as u32;
    if code >= 0x10000 {
        return code < 0xf0000 && code & 0xffff <= 0xfffd;
    }
    RANGES.iter().any(|(first, last)| (*first..=*last).contains(&code))
}
