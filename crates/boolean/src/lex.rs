//! Words and signs.

use leno_c::diagnostic::{Diagnostic, Result};
use leno_c::source::{Source, Span};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// Keywords are words, too: the parser knows them.
    Word(String),
    Number(String),
    Sign(&'static str),
    End,
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    ":=", "!=", "==", "=>", "&&", "||", ":", ";", ",", "(", ")", "[", "]", "<", ">", "=", "!", "&", "|", "^", "?", "*",
    "'",
];

pub fn lex(source: &Source) -> Result<Vec<(Token, Span)>> {
    let text = &source.text;
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(start) = skip_blank(text, at)? {
        let rest = &text[start..];
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
        let length = |test: &dyn Fn(u8) -> bool| rest.iter().take_while(|byte| test(**byte)).count();
        let (token, length) = if is_letter(rest[0]) {
            let length = length(&|byte| is_letter(byte) || byte.is_ascii_digit());
            (Token::Word(text_of(&rest[..length])), length)
        } else if rest[0].is_ascii_digit() {
            let length = length(&|byte| byte.is_ascii_digit());
            (Token::Number(text_of(&rest[..length])), length)
        } else {
            let found = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
            let Some(sign) = found else { return Err(strange(text, start)) };
            (Token::Sign(sign), sign.len())
        };
        at = start + length;
        tokens.push((token, Span::new(start as u32, at as u32)));
    }
    tokens.push((Token::End, Span::new(text.len() as u32, text.len() as u32)));
    Ok(tokens)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Past white space and comments; none at the end of the text.
fn skip_blank(text: &[u8], mut at: usize) -> Result<Option<usize>> {
    loop {
        match &text[at..] {
            [] => return Ok(None),
            [byte, ..] if byte.is_ascii_whitespace() => at += 1,
            [b'/', b'/', rest @ ..] => at += 2 + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', rest @ ..] => match rest.windows(2).position(|pair| pair == b"*/") {
                Some(length) => at += length + 4,
                None => {
                    let span = Span::new(at as u32, at as u32 + 2);
                    return Err(Box::new(
                        Diagnostic::error(span, "this comment does not end").help("end it with `*/`"),
                    ));
                }
            },
            _ => return Ok(Some(at)),
        }
    }
}

fn strange(text: &[u8], at: usize) -> Box<Diagnostic> {
    let next = (at + 1..text.len()).find(|next| text[*next] & 0xc0 != 0x80).unwrap_or(text.len());
    let character = text_of(&text[at..next]);
    let shown: String = character.chars().flat_map(char::escape_debug).collect();
    let span = Span::new(at as u32, next as u32);
    Box::new(Diagnostic::error(span, format!("`{shown}` is no part of a Boolean program")))
}
