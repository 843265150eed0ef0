//! Directives: what a format of `printf` or `scanf` asks for, without doing it.

use crate::program::FloatKind;

/// The size of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Length {
    Char,
    Short,
    #[default]
    Int,
    Long,
    LongLong,
    LongDouble,
}

impl Length {
    /// How many bytes an integer of this length has, given those of `long`.
    pub fn bytes(self, long: u64) -> u64 {
        match self {
            Length::Char => 1,
            Length::Short => 2,
            Length::Int => 4,
            Length::Long => long,
            Length::LongLong | Length::LongDouble => 8,
        }
    }

    /// What a float of this length is to `printf`.
    pub fn float_kind(self) -> FloatKind {
        if self == Length::LongDouble { FloatKind::F80 } else { FloatKind::F64 }
    }

    /// Reads `hh`, `h`, `l`, `ll`, `q`, `L`, `j`, `z`, `t`, and moves past it.
    fn parse(format: &[u8], at: &mut usize, long: u64) -> Length {
        let word = if long == 8 { Length::Long } else { Length::Int };
        let (length, len) = match &format[*at..] {
            [b'h', b'h', ..] => (Length::Char, 2),
            [b'h', ..] => (Length::Short, 1),
            [b'l', b'l', ..] => (Length::LongLong, 2),
            [b'l', ..] => (Length::Long, 1),
            [b'q', ..] | [b'j', ..] => (Length::LongLong, 1),
            [b'L', ..] => (Length::LongDouble, 1),
            [b'z' | b't' | b'Z', ..] => (word, 1),
            _ => (Length::Int, 0),
        };
        *at += len;
        length
    }
}

/// A width or a precision, as the format has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    Number(u64),
    /// `*`: the next argument, or the one at this position (from 1).
    Argument(Option<usize>),
}

/// A directive of `printf`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Print {
    pub left: bool,
    pub plus: bool,
    pub space: bool,
    pub alternative: bool,
    pub zero: bool,
    pub width: Option<Count>,
    pub precision: Option<Count>,
    pub length: Length,
    pub conversion: u8,
    /// `%3$d`: which argument, from 1.
    pub position: Option<usize>,
}

impl Print {
    /// Reads one from behind its `%`, and moves past it. `long` has so many bytes. None if the format ends before.
    pub fn parse(format: &[u8], at: &mut usize, long: u64) -> Option<Print> {
        let mut directive = Print::default();
        let start = *at;
        match number(format, at) {
            Some(position) if format.get(*at) == Some(&b'$') && position > 0 => {
                *at += 1;
                directive.position = Some(position as usize);
            }
            _ => *at = start,
        }
        while let Some(flag) = format.get(*at) {
            match flag {
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternative = true,
                b'0' => directive.zero = true,
                b'\'' | b'I' => {}
                _ => break,
            }
            *at += 1;
        }
        directive.width = count(format, at);
        if format.get(*at) == Some(&b'.') {
            *at += 1;
            directive.precision = Some(count(format, at).unwrap_or(Count::Number(0)));
        }
        directive.length = Length::parse(format, at, long);
        directive.conversion = *format.get(*at)?;
        *at += 1;
        Some(directive)
    }

    pub fn is_float(&self) -> bool {
        matches!(self.conversion, b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A')
    }

    /// All of a format, each with its length in it. None if it ends inside of one.
    pub fn all(format: &[u8], long: u64) -> Option<Vec<(Print, usize)>> {
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(start) = format[at..].iter().position(|byte| *byte == b'%').map(|plain| at + plain) {
            at = start + 1;
            let directive = Print::parse(format, &mut at, long)?;
            all.push((directive, at - start));
        }
        Some(all)
    }
}

/// A directive of `printf`, and where its arguments are in the area of variable arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacedPrint {
    pub directive: Print,
    /// Its length in the format.
    pub letters: usize,
    /// The offset of a precision that is an argument.
    pub precision_at: Option<u64>,
    /// The offset of what is printed, or of the address where `%n` counts. (That of `%%` is of no use.)
    pub value_at: u64,
    /// Where its arguments end.
    pub ends_at: u64,
}

impl PlacedPrint {
    /// All of a format, for pointers of `word` bytes. None if it ends inside of one, or has directives that are of a
    /// kind that is not understood here: by position, wide, not standard.
    pub fn all(format: &[u8], word: u64) -> Option<Vec<PlacedPrint>> {
        let mut next = 0;
        let mut placed = Vec::new();
        for (directive, letters) in Print::all(format, word)? {
            if directive.position.is_some() {
                return None;
            }
            let mut count_at = |count: Option<Count>| {
                let is_argument = matches!(count, Some(Count::Argument(_)));
                next += if is_argument { word } else { 0 };
                is_argument.then(|| next - word)
            };
            count_at(directive.width);
            let precision_at = count_at(directive.precision);
            if directive.length == Length::LongDouble && word == 8 && directive.is_float() {
                next = next.checked_next_multiple_of(16)?;
            }
            let value_at = next;
            next += match directive.conversion {
                b'%' | b'm' => 0,
                _ if directive.is_float() => match (directive.length, word) {
                    (Length::LongDouble, 8) => 16,
                    (Length::LongDouble, _) => 12,
                    _ => 8,
                },
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => directive.length.bytes(word).max(word),
                b'c' | b's' if directive.length == Length::Int => word,
                b'p' | b'n' => word,
                _ => return None,
            };
            placed.push(PlacedPrint { directive, letters, precision_at, value_at, ends_at: next });
        }
        Some(placed)
    }
}

/// A directive of `scanf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scan {
    /// `*`: it is read, but not stored.
    pub suppressed: bool,
    pub width: Option<usize>,
    pub length: Length,
    pub conversion: u8,
    /// The bytes that `%[…]` accepts.
    pub set: Vec<u8>,
}

impl Scan {
    /// Reads one from behind its `%`, and moves past it. `long` has so many bytes. None if the format ends before.
    pub fn parse(format: &[u8], at: &mut usize, long: u64) -> Option<Scan> {
        let suppressed = format.get(*at) == Some(&b'*');
        *at += usize::from(suppressed);
        let width = number(format, at).map(|width| usize::try_from(width).unwrap_or(usize::MAX));
        let length = Length::parse(format, at, long);
        let conversion = *format.get(*at)?;
        *at += 1;
        let set = if conversion == b'[' { parse_set(format, at) } else { Vec::new() };
        Some(Scan { suppressed, width: width.filter(|width| *width > 0), length, conversion, set })
    }

    /// All of a format. None if it ends inside of one.
    pub fn all(format: &[u8], long: u64) -> Option<Vec<Scan>> {
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(start) = format[at..].iter().position(|byte| *byte == b'%').map(|plain| at + plain) {
            at = start + 1;
            match format.get(at) {
                Some(b'%') => at += 1,
                _ => all.push(Scan::parse(format, &mut at, long)?),
            }
        }
        Some(all)
    }

    /// How many bytes it writes at most, given those of `long`; none if it is as many as there are (`%s`), or if it is
    /// not known.
    pub fn most_bytes(&self, long: u64) -> Option<u64> {
        Some(match (self.conversion, self.width) {
            (b's' | b'[' | b'c', _) if self.length != Length::Int => return None,
            (b's' | b'[', width) => (width? as u64).saturating_add(1),
            (b'c', width) => width.unwrap_or(1) as u64,
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n', _) => self.length.bytes(long),
            (b'p', _) => long,
            (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', _) => u64::from(self.float_kind().bits() / 8),
            _ => return None,
        })
    }

    /// What kind of float it stores.
    pub fn float_kind(&self) -> FloatKind {
        match self.length {
            Length::Long => FloatKind::F64,
            Length::LongDouble => FloatKind::F80,
            _ => FloatKind::F32,
        }
    }
}

fn number(format: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = None;
    while let Some(digit) = format.get(*at).filter(|digit| digit.is_ascii_digit()) {
        let value: u64 = number.unwrap_or(0);
        number = Some(value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        *at += 1;
    }
    number
}

fn count(format: &[u8], at: &mut usize) -> Option<Count> {
    if format.get(*at) != Some(&b'*') {
        return number(format, at).map(Count::Number);
    }
    *at += 1;
    let start = *at;
    match number(format, at) {
        Some(position) if format.get(*at) == Some(&b'$') && position > 0 => {
            *at += 1;
            Some(Count::Argument(Some(position as usize)))
        }
        _ => {
            *at = start;
            Some(Count::Argument(None))
        }
    }
}

/// The bytes that `%[…]` accepts.
fn parse_set(format: &[u8], at: &mut usize) -> Vec<u8> {
    let negated = format.get(*at) == Some(&b'^');
    *at += usize::from(negated);
    let start = *at;
    let mut listed = [false; 256];
    while let Some(byte) = format.get(*at) {
        if *byte == b']' && *at > start {
            *at += 1;
            break;
        }
        match format.get(*at..*at + 3) {
            Some([from, b'-', to]) if *to != b']' => {
                (*from..=*to).for_each(|byte| listed[usize::from(byte)] = true);
                *at += 3;
            }
            _ => {
                listed[usize::from(*byte)] = true;
                *at += 1;
            }
        }
    }
    (0..=255).filter(|byte| listed[usize::from(*byte)] != negated).collect()
}
