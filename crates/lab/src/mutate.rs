//! Programs made worse: what a fuzzer would do to C text, with a seed.

pub use leno_testing::Random;

/// Words that are worth putting anywhere.
const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "...",
    "->",
    ".",
    "?",
    ":",
    "=",
    "+=",
    "<<",
    "0",
    "1.5",
    "-1",
    "18446744073709551616",
    "0x",
    "'",
    "\"",
    "\\",
    "#",
    "struct",
    "union",
    "enum",
    "int",
    "void",
    "char",
    "long",
    "float",
    "typedef",
    "static",
    "extern",
    "_Atomic",
    "_Thread_local",
    "const",
    "sizeof",
    "_Alignof",
    "_Alignas",
    "_Generic",
    "typeof",
    "__attribute__",
    "((packed))",
    "__asm__",
    "goto",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "if",
    "else",
    "while",
    "do",
    "for",
    "_Bool",
    "_Complex",
    "__int128",
    "__builtin_va_arg",
    "__builtin_offsetof",
    "_Static_assert",
    "register",
    "inline",
    "main",
    "x",
    "\0",
    "\u{7f}",
    "é",
    "/*",
    "*/",
    "//",
    "\n",
];

/// A program made from `text` by a few random changes.
pub fn mutate(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        text = mutate_once(&text, random);
    }
    text
}

fn mutate_once(text: &[u8], random: &mut Random) -> Vec<u8> {
    let tokens = tokens(text);
    let token = |random: &mut Random| tokens.get(random.below(tokens.len())).copied().unwrap_or((0, 0));
    let (start, end) = token(random);
    let replaced = |with: &[u8]| [&text[..start], with, &text[end..]].concat();
    match random.below(10) {
        0 => text[..random.below(text.len() + 1)].to_vec(),
        1 | 2 => replaced(b" "),
        3 => replaced(&text[start..end].repeat(2 + random.below(3))),
        4 => {
            let (a, b) = token(random);
            replaced(&[b" ", &text[a..b], b" "].concat())
        }
        5 | 6 => replaced(format!(" {} ", WORDS[random.below(WORDS.len())]).as_bytes()),
        7 => {
            // A stretch of tokens moves somewhere else.
            let (at, _) = token(random);
            let stop = tokens.iter().find(|(s, _)| *s > start + random.below(60)).map_or(end, |(_, e)| *e).max(end);
            let cut = [&text[..start], &text[stop..]].concat();
            let at = at.min(cut.len());
            [&cut[..at], b" ", &text[start..stop], b" ", &cut[at..]].concat()
        }
        8 => {
            let mut bytes = text.to_vec();
            if let Some(byte) = bytes.get_mut(start) {
                *byte = random.below(256) as u8;
            }
            bytes
        }
        _ => {
            let levels = 1 + random.below(200);
            let (open, close) = [("(", ")"), ("{", "}"), ("[", "]"), ("*", ""), ("-", ""), ("!", "")][random.below(6)];
            replaced(&[open.repeat(levels).as_bytes(), &text[start..end], close.repeat(levels).as_bytes()].concat())
        }
    }
}

/// Where the words, numbers and other characters of a text are.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at += 1;
        if is_word(text[start]) {
            while at < text.len() && is_word(text[at]) {
                at += 1;
            }
        }
        if !text[start].is_ascii_whitespace() {
            tokens.push((start, at));
        }
    }
    tokens
}
