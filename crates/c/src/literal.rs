//! The values of constants: numbers, characters and strings.
//!
//! Everything follows gcc on an ASCII-compatible machine: characters of the source are bytes in plain literals and
//! UTF-8 in wide ones, an escape too large for its type loses its high bits, `'ab'` is `'a' * 256 + 'b'`. Numbers keep
//! their exact value (integers) or text (floats); which type they have is for the checker to say.

use crate::ast::{CharKind, ExprKind, FloatLiteral, FloatSuffix, IntSuffix};
use crate::diagnostic::quoted;
use crate::lex::{first_character, universal_name};

/// What is wrong with a literal.
pub type Complaint = String;

/// An integer or floating constant.
pub fn number(text: &[u8]) -> Result<ExprKind, Complaint> {
    let (radix, digits_at) = match text {
        [b'0', b'x' | b'X', ..] => (16, 2),
        [b'0', b'b' | b'B', ..] => (2, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let is_float = match radix {
        16 => text.iter().any(|byte| matches!(byte, b'.' | b'p' | b'P')),
        2 => false,
        _ => text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
    };
    if is_float { float(text, radix == 16) } else { integer(text, &text[digits_at..], radix) }
}

fn integer(text: &[u8], digits: &[u8], radix: u32) -> Result<ExprKind, Complaint> {
    let in_radix = |byte: &u8| if radix == 16 { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let length = digits.iter().position(|byte| !in_radix(byte)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(length);
    if digits.is_empty() {
        return Err(format!("{} has no digits", quoted(text)));
    }
    let mut value: u128 = 0;
    for digit in digits {
        let digit_value = char::from(*digit).to_digit(16).unwrap_or(0);
        if digit_value >= radix {
            let kind = if radix == 8 { "octal" } else { "binary" };
            return Err(format!("`{}` is no digit of the {kind} constant {}", char::from(*digit), quoted(text)));
        }
        let next = value.checked_mul(u128::from(radix)).and_then(|value| value.checked_add(u128::from(digit_value)));
        value = next.ok_or_else(|| format!("the integer constant {} is too large", quoted(text)))?;
    }
    if let Some(rest) = without_imaginary(suffix).filter(|rest| integer_suffix(rest).is_some()) {
        let text = String::from_utf8_lossy(&text[..text.len() - rest.len() - 1]).into_owned();
        return Ok(ExprKind::Float { value: FloatLiteral { text }, suffix: FloatSuffix::Unsupported });
    }
    let suffix = integer_suffix(suffix)
        .ok_or_else(|| format!("{} is no suffix of an integer constant that Leno knows", quoted(suffix)))?;
    Ok(ExprKind::Int { value, suffix, decimal: radix == 10 })
}

/// A suffix without its `i` or `j`, if it has one: GNU's imaginary constants.
fn without_imaginary(suffix: &[u8]) -> Option<Vec<u8>> {
    let is_imaginary = |byte: &u8| matches!(byte, b'i' | b'I' | b'j' | b'J');
    let at = suffix.iter().take(4).position(is_imaginary)?;
    Some([&suffix[..at], &suffix[at + 1..]].concat())
}

fn integer_suffix(suffix: &[u8]) -> Option<IntSuffix> {
    let (unsigned, rest) = match suffix {
        [b'u' | b'U', rest @ ..] => (true, rest),
        [rest @ .., b'u' | b'U'] => (true, rest),
        _ => (false, suffix),
    };
    let long = match rest {
        b"" => 0,
        b"l" | b"L" => 1,
        b"ll" | b"LL" => 2,
        _ => return None,
    };
    Some(IntSuffix { unsigned, long })
}

fn float(text: &[u8], hexadecimal: bool) -> Result<ExprKind, Complaint> {
    let mut at = if hexadecimal { 2 } else { 0 };
    let is_digit = |byte: &u8| if hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let skip = |from: usize, accept: &dyn Fn(&u8) -> bool| {
        text[from..].iter().position(|byte| !accept(byte)).map_or(text.len(), |length| from + length)
    };
    let whole = skip(at, &is_digit);
    let mut digits = whole - at;
    at = whole;
    if text.get(at) == Some(&b'.') {
        let fraction = skip(at + 1, &is_digit);
        digits += fraction - at - 1;
        at = fraction;
    }
    if digits == 0 {
        return Err(format!("{} has no digits", quoted(text)));
    }
    let markers: &[u8] = if hexadecimal { b"pP" } else { b"eE" };
    if text.get(at).is_some_and(|byte| markers.contains(byte)) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let exponent = skip(at, &u8::is_ascii_digit);
        if exponent == at {
            return Err(format!("the exponent of {} has no digits", quoted(text)));
        }
        at = exponent;
    } else if hexadecimal {
        let complaint = format!("the hexadecimal floating constant {} needs an exponent such as `p0`", quoted(text));
        return Err(complaint);
    }
    let (number, suffix) = text.split_at(at);
    let suffix = float_suffix(suffix)
        .ok_or_else(|| format!("{} is no suffix of a floating constant that Leno knows", quoted(suffix)))?;
    let text = String::from_utf8_lossy(number).into_owned();
    Ok(ExprKind::Float { value: FloatLiteral { text }, suffix })
}

fn float_suffix(suffix: &[u8]) -> Option<FloatSuffix> {
    if suffix.len() > 6 {
        return None;
    }
    if let Some(rest) = without_imaginary(suffix) {
        let twice = without_imaginary(&rest).is_some();
        return float_suffix(&rest).filter(|_| !twice).map(|_| FloatSuffix::Unsupported);
    }
    match suffix.to_ascii_lowercase().as_slice() {
        b"" | b"d" | b"f64" | b"f32x" => Some(FloatSuffix::None),
        b"f" | b"f32" => Some(FloatSuffix::F),
        b"l" => Some(FloatSuffix::L),
        b"f16" | b"f128" | b"f64x" | b"f128x" | b"q" | b"w" | b"bf16" | b"df" | b"dd" | b"dl" => {
            Some(FloatSuffix::Unsupported)
        }
        _ => None,
    }
}

/// What stands between the quotes of a string or character constant.
#[derive(Clone, Copy)]
pub struct Quoted<'a> {
    pub kind: CharKind,
    content: &'a [u8],
    /// GNU: `R"delimiter(…)delimiter"`, in which a backslash is a backslash.
    raw: bool,
}

pub fn unquote(token: &[u8]) -> Quoted<'_> {
    let (kind, prefix) = match token {
        [b'L', ..] => (CharKind::Wide, 1),
        [b'u', b'8', ..] => (CharKind::Utf8, 2),
        [b'u', ..] => (CharKind::Char16, 1),
        [b'U', ..] => (CharKind::Char32, 1),
        _ => (CharKind::Plain, 0),
    };
    let raw = token.get(prefix) == Some(&b'R');
    let mut content = &token[prefix + usize::from(raw) + 1..token.len() - 1];
    if raw {
        let delimiter = content.iter().position(|byte| *byte == b'(').unwrap_or(0);
        content = &content[delimiter + 1..content.len() - delimiter - 1];
    }
    Quoted { kind, content, raw }
}

/// The value of a character constant.
pub fn character(token: &[u8]) -> Result<ExprKind, Complaint> {
    let quoted = unquote(token);
    let kind = quoted.kind;
    let mut units = Vec::new();
    decode(quoted, kind, &mut units)?;
    let Some(last) = units.last().copied() else {
        return Err("an empty character constant has no value".to_string());
    };
    let value = match kind {
        CharKind::Plain if units.len() == 1 => i64::from(last as u8 as i8),
        CharKind::Plain => {
            let value = units.iter().fold(0u32, |value, unit| value << 8 | unit);
            i64::from(value as i32)
        }
        CharKind::Wide => i64::from(last as i32),
        CharKind::Utf8 | CharKind::Char16 | CharKind::Char32 => i64::from(last),
    };
    Ok(ExprKind::Char { value, kind })
}

/// The kind of adjacent string literals joined: plain ones take the kind of the others.
pub fn joined_kind(first: CharKind, second: CharKind) -> Option<CharKind> {
    match (first, second) {
        (CharKind::Plain, kind) | (kind, CharKind::Plain) => Some(kind),
        (first, second) => (first == second).then_some(first),
    }
}

/// Appends the character units of a literal that is part of one of `kind`.
pub fn decode(quoted: Quoted, kind: CharKind, units: &mut Vec<u32>) -> Result<(), Complaint> {
    let Quoted { content, raw, .. } = quoted;
    units.reserve(content.len());
    let narrow = matches!(kind, CharKind::Plain | CharKind::Utf8);
    let mut at = 0;
    while at < content.len() {
        let byte = content[at];
        if byte == b'\\' && !raw {
            at += escape(&content[at..], kind, units)?;
        } else if narrow || byte.is_ascii() {
            units.push(u32::from(byte));
            at += 1;
        } else if let Some((character, length)) = first_character(&content[at..]) {
            push_character(character, kind, units);
            at += length;
        } else {
            return Err(format!("the byte 0x{byte:02x} is not UTF-8, which a wide literal needs"));
        }
    }
    Ok(())
}

fn push_character(character: char, kind: CharKind, units: &mut Vec<u32>) {
    match kind {
        CharKind::Plain | CharKind::Utf8 => {
            units.extend(character.encode_utf8(&mut [0; 4]).bytes().map(u32::from));
        }
        CharKind::Char16 => units.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| u32::from(*unit))),
        CharKind::Wide | CharKind::Char32 => units.push(character as u32),
    }
}

/// Appends the value of the escape sequence that `text` begins with, and returns its length.
fn escape(text: &[u8], kind: CharKind, units: &mut Vec<u32>) -> Result<usize, Complaint> {
    let mask = match kind {
        CharKind::Plain | CharKind::Utf8 => 0xff,
        CharKind::Char16 => 0xffff,
        CharKind::Wide | CharKind::Char32 => u32::MAX,
    };
    let Some(&letter) = text.get(1) else {
        return Err("a backslash stands alone at the end of the literal".to_string());
    };
    let simple = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'v' => 11,
        b'0'..=b'7' => {
            let digits = text[1..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7'));
            let (length, value) =
                digits.fold((0, 0), |(length, value), byte| (length + 1, value * 8 + u32::from(byte - b'0')));
            units.push(value & mask);
            return Ok(1 + length);
        }
        b'x' => {
            let length = text[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if length == 0 {
                return Err("`\\x` needs hexadecimal digits after it".to_string());
            }
            let digits = text[2..2 + length].iter().map(|byte| char::from(*byte).to_digit(16).unwrap_or(0));
            units.push(digits.fold(0u32, |value, digit| value << 4 | digit) & mask);
            return Ok(2 + length);
        }
        b'u' | b'U' => {
            let Some((character, length)) = universal_name(text) else {
                return Err(format!("`\\{}` is no universal character name", char::from(letter)));
            };
            push_character(character, kind, units);
            return Ok(length);
        }
        // An unknown escape is the character itself; a multi-byte one is taken byte by byte, or by the next round.
        other if other.is_ascii() => u32::from(other),
        _ => return Ok(1),
    };
    units.push(simple);
    Ok(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(text: &str) -> String {
        match number(text.as_bytes()) {
            Ok(ExprKind::Int { value, suffix, decimal }) => {
                let unsigned = if suffix.unsigned { "u" } else { "" };
                let kind = if decimal { "" } else { " not decimal" };
                format!("{value}{unsigned}{}{kind}", "l".repeat(suffix.long as usize))
            }
            Ok(ExprKind::Float { value, suffix }) => format!("{} {suffix:?}", value.text),
            Ok(other) => format!("{other:?}"),
            Err(complaint) => complaint,
        }
    }

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0", "0 not decimal"),
            ("42", "42"),
            ("0777", "511 not decimal"),
            ("0x7fUl", "127ul not decimal"),
            ("0B101", "5 not decimal"),
            ("1LLU", "1ull"),
            ("1ull", "1ull"),
            ("18446744073709551616", "18446744073709551616"),
            ("1.5", "1.5 None"),
            (".5f", ".5 F"),
            ("1.L", "1. L"),
            ("1e-10F", "1e-10 F"),
            ("0x1.8p3", "0x1.8p3 None"),
            ("0x.8P-1l", "0x.8P-1 L"),
            ("09.5", "09.5 None"),
            ("1.0f128", "1.0 Unsupported"),
            ("1.0if", "1.0 Unsupported"),
            ("1.0if128", "1.0 Unsupported"),
            ("1.5d", "1.5 None"),
            ("1.0iij", "`iij` is no suffix of a floating constant that Leno knows"),
            ("08", "`8` is no digit of the octal constant `08`"),
            ("0b12", "`2` is no digit of the binary constant `0b12`"),
            ("0x", "`0x` has no digits"),
            ("1lL", "`lL` is no suffix of an integer constant that Leno knows"),
            ("3i", "3 Unsupported"),
            ("0x3ULi", "0x3 Unsupported"),
            ("3ii", "`ii` is no suffix of an integer constant that Leno knows"),
            ("0xe+1", "`+1` is no suffix of an integer constant that Leno knows"),
            ("1e", "the exponent of `1e` has no digits"),
            ("0x1.0", "the hexadecimal floating constant `0x1.0` needs an exponent such as `p0`"),
            ("1.2.3", "`.3` is no suffix of a floating constant that Leno knows"),
        ] {
            assert_eq!(shows(text), expected, "{text}");
        }
        assert!(number(&[b'9'; 1000]).is_err());
    }

    #[test]
    fn characters() {
        // Values as gcc 12 gives them on x86-64.
        for (text, expected) in [
            ("'a'", 97),
            (r"'\0'", 0),
            (r"'\377'", -1),
            (r"'\xff'", -1),
            (r"'\x1ff'", -1),
            ("'ab'", 0x6162),
            ("'abcde'", 0x6263_6465),
            (r"'\xff\xff\xff\xff'", -1),
            ("'é'", 0xc3a9),
            ("L'é'", 0xe9),
            (r"L'\xffffffff'", -1),
            (r"u'\xffff'", 0xffff),
            (r"U'\U0001F600'", 0x1f600),
            (r"'\''", 39),
            (r"'\e'", 27),
            (r"'\q'", 113),
            ("u8'a'", 97),
        ] {
            match character(text.as_bytes()) {
                Ok(ExprKind::Char { value, .. }) => assert_eq!(value, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(character(b"''").is_err());
    }

    #[test]
    fn strings() {
        let units = |kind, content: &[u8]| {
            let mut units = Vec::new();
            decode(Quoted { kind, content, raw: false }, kind, &mut units).map(|()| units)
        };
        assert_eq!(units(CharKind::Plain, "é\\u00e9".as_bytes()), Ok(vec![0xc3, 0xa9, 0xc3, 0xa9]));
        assert_eq!(units(CharKind::Char16, "😀".as_bytes()), Ok(vec![0xd83d, 0xde00]));
        assert_eq!(units(CharKind::Plain, b"\\1234\xff"), Ok(vec![0o123, u32::from(b'4'), 0xff]));
        assert!(units(CharKind::Wide, b"\xff").is_err());
        assert!(units(CharKind::Plain, b"\\x").is_err());
        let mut raw = Vec::new();
        assert_eq!(decode(unquote(b"LR\"x(a\\n)\")x\""), CharKind::Wide, &mut raw), Ok(()));
        assert_eq!(raw, b"a\\n)\"".map(u32::from));
        assert_eq!(joined_kind(CharKind::Plain, CharKind::Wide), Some(CharKind::Wide));
        assert_eq!(joined_kind(CharKind::Utf8, CharKind::Wide), None);
    }
}
