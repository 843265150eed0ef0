//! `printf`: directives, flags and conversions, byte for byte as glibc writes them in the C locale.

use super::decimal::{Decimal, Parts, hexadecimal, is_negative, take_apart};
use super::external::{NativeCall, VariableArguments};
use super::violation::{Violation, ViolationKind};
use crate::program::FloatKind;

type Checked<T> = Result<T, Box<Violation>>;

/// The size of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Length {
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

    /// Reads `hh`, `h`, `l`, `ll`, `q`, `L`, `j`, `z`, `t`, and moves past it.
    pub fn parse(format: &[u8], at: &mut usize, long: u64) -> Length {
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

#[derive(Clone, Debug, Default)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    length: Length,
    conversion: u8,
}

/// Formats as `printf` does. The arguments are taken one after the other.
pub(super) fn format(
    call: &mut NativeCall<'_, '_>,
    format: &[u8],
    arguments: &mut VariableArguments,
) -> Checked<Vec<u8>> {
    let mut out = Vec::with_capacity(format.len());
    let mut at = 0;
    while at < format.len() {
        let plain = format[at..].iter().position(|byte| *byte == b'%').unwrap_or(format.len() - at);
        out.extend_from_slice(&format[at..at + plain]);
        at += plain;
        if at < format.len() {
            at += 1;
            let directive = parse(call, format, &mut at, arguments)?;
            convert(call, &directive, arguments, &mut out)?;
        }
    }
    Ok(out)
}

fn parse(
    call: &mut NativeCall<'_, '_>,
    format: &[u8],
    at: &mut usize,
    arguments: &mut VariableArguments,
) -> Checked<Directive> {
    let mut directive = Directive::default();
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
    let width = number_or_argument(call, format, at, arguments)?.unwrap_or(0);
    directive.left |= width < 0;
    directive.width = bounded(call, width.unsigned_abs())?;
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        let precision = number_or_argument(call, format, at, arguments)?.unwrap_or(0);
        directive.precision = match u64::try_from(precision) {
            Ok(precision) => Some(bounded(call, precision)?),
            Err(_) => None,
        };
    }
    directive.length = Length::parse(format, at, call.pointer_bytes());
    let Some(conversion) = format.get(*at) else {
        return Err(call.invalid("the format ends inside a directive".to_string()));
    };
    directive.conversion = *conversion;
    *at += 1;
    Ok(directive)
}

/// glibc refuses to format more than this, and so do we before memory runs out.
fn bounded(call: &NativeCall<'_, '_>, count: u64) -> Checked<usize> {
    if count > 1 << 30 {
        return Err(call.invalid(format!("a width or precision of {count} in the format")));
    }
    Ok(count as usize)
}

fn number_or_argument(
    call: &mut NativeCall<'_, '_>,
    format: &[u8],
    at: &mut usize,
    arguments: &mut VariableArguments,
) -> Checked<Option<i64>> {
    if format.get(*at) == Some(&b'*') {
        *at += 1;
        let value = arguments.integer(call, 4)? as i32;
        return Ok(Some(value.into()));
    }
    let mut number = None;
    while let Some(digit) = format.get(*at).filter(|digit| digit.is_ascii_digit()) {
        let value: i64 = number.unwrap_or(0);
        number = Some(value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        *at += 1;
    }
    Ok(number)
}

fn convert(
    call: &mut NativeCall<'_, '_>,
    directive: &Directive,
    arguments: &mut VariableArguments,
    out: &mut Vec<u8>,
) -> Checked<()> {
    let bytes = directive.length.bytes(call.pointer_bytes());
    match directive.conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let bits = arguments.integer(call, bytes)?;
            let unused = 64 - 8 * bytes;
            let value = ((bits << unused) as i64) >> unused;
            let sign = sign(directive, value < 0);
            number(directive, sign, value.unsigned_abs().to_string(), out);
        }
        b'u' => {
            let value = arguments.integer(call, bytes)?;
            number(directive, "", value.to_string(), out);
        }
        b'o' | b'x' | b'X' | b'b' | b'B' => {
            let value = arguments.integer(call, bytes)?;
            based_integer(directive, value, out);
        }
        b'c' => {
            let byte = arguments.integer(call, 4)? as u8;
            pad(directive, "", &[byte], b' ', out);
        }
        b's' | b'S' => {
            let address = arguments.integer(call, call.pointer_bytes())?;
            let text = string(call, directive, address)?;
            pad(directive, "", &text, b' ', out);
        }
        b'p' => match arguments.integer(call, call.pointer_bytes())? {
            0 => pad(directive, "", b"(nil)", b' ', out),
            address => {
                let hexadecimal = Directive { conversion: b'x', alternative: true, ..directive.clone() };
                let prefix = format!("{}0x", sign(directive, false));
                number(&hexadecimal, &prefix, format!("{address:x}"), out);
            }
        },
        b'n' => {
            let address = arguments.integer(call, call.pointer_bytes())?;
            let count = (out.len() as u64).to_le_bytes();
            call.write(address, &count[..bytes as usize])?;
        }
        b'm' => pad(directive, "", b"Success", b' ', out),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let kind = if directive.length == Length::LongDouble { FloatKind::F80 } else { FloatKind::F64 };
            let bits = arguments.float(call, kind)?;
            float(directive, kind, bits, out);
        }
        other => {
            let message = format!("`{}` is not a conversion of printf", other.escape_ascii());
            return Err(call.violation(ViolationKind::InvalidArgument, message));
        }
    }
    Ok(())
}

fn string(call: &mut NativeCall<'_, '_>, directive: &Directive, address: u64) -> Checked<Vec<u8>> {
    let most = directive.precision.unwrap_or(usize::MAX);
    if address == 0 {
        // glibc is kind to null pointers, if there is room for its kindness.
        return Ok(if most >= 6 { b"(null)".to_vec() } else { Vec::new() });
    }
    if directive.conversion == b'S' || directive.length == Length::Long {
        return call.wide_text(address, most);
    }
    call.text(address, most)
}

fn sign(directive: &Directive, negative: bool) -> &'static str {
    match negative {
        true => "-",
        false if directive.plus => "+",
        false if directive.space => " ",
        false => "",
    }
}

fn based_integer(directive: &Directive, value: u64, out: &mut Vec<u8>) {
    let (digits, prefix) = match directive.conversion {
        b'o' => (format!("{value:o}"), ""),
        b'x' => (format!("{value:x}"), "0x"),
        b'X' => (format!("{value:X}"), "0X"),
        b'b' => (format!("{value:b}"), "0b"),
        _ => (format!("{value:b}"), "0B"),
    };
    let shown = directive.alternative && value != 0;
    let mut directive = directive.clone();
    if directive.conversion == b'o' && directive.alternative {
        // The alternative form of octal is one more digit.
        let enough = digits.len() + usize::from(value != 0);
        if directive.precision.is_some_and(|precision| precision < enough) {
            directive.precision = Some(enough);
        } else if directive.precision.is_none() && value != 0 {
            return number(&directive, "", format!("0{digits}"), out);
        }
    }
    number(&directive, if shown { prefix } else { "" }, digits, out);
}

/// An integer: at least `precision` digits, none for zero when that is zero; a precision turns zero padding off.
fn number(directive: &Directive, prefix: &str, digits: String, out: &mut Vec<u8>) {
    let digits = match directive.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    };
    let fill = if directive.zero && directive.precision.is_none() { b'0' } else { b' ' };
    pad(directive, prefix, digits.as_bytes(), fill, out);
}

/// Fills up to the width: on the right, or on the left before the prefix (spaces) or after it (zeros).
fn pad(directive: &Directive, prefix: &str, body: &[u8], fill: u8, out: &mut Vec<u8>) {
    let missing = directive.width.saturating_sub(prefix.len() + body.len());
    let fill = if directive.left { b' ' } else { fill };
    let padding = std::iter::repeat_n(fill, missing);
    if directive.left {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(body);
        out.extend(padding);
    } else if fill == b'0' {
        out.extend_from_slice(prefix.as_bytes());
        out.extend(padding);
        out.extend_from_slice(body);
    } else {
        out.extend(padding);
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(body);
    }
}

fn float(directive: &Directive, kind: FloatKind, bits: u128, out: &mut Vec<u8>) {
    let upper = directive.conversion.is_ascii_uppercase();
    let sign = sign(directive, is_negative(kind, bits));
    let (prefix, body) = match take_apart(kind, bits) {
        Parts::Nan => return pad(directive, sign, if upper { b"NAN" } else { b"nan" }, b' ', out),
        Parts::Infinite => return pad(directive, sign, if upper { b"INF" } else { b"inf" }, b' ', out),
        Parts::Finite { mantissa, exponent } => match directive.conversion.to_ascii_lowercase() {
            b'a' => (format!("{sign}0x"), hexadecimal_float(directive, kind, bits)),
            b'f' => (sign.to_string(), fixed(directive, Decimal::exact(mantissa, exponent))),
            b'e' => (sign.to_string(), scientific(directive, Decimal::exact(mantissa, exponent))),
            _ => (sign.to_string(), general(directive, Decimal::exact(mantissa, exponent))),
        },
    };
    let (prefix, body) = if upper { (prefix.to_uppercase(), body.to_uppercase()) } else { (prefix, body) };
    pad(directive, &prefix, body.as_bytes(), if directive.zero { b'0' } else { b' ' }, out);
}

fn fixed(directive: &Directive, value: Decimal) -> String {
    let (whole, fraction) = value.fixed(directive.precision.unwrap_or(6));
    joined(directive, &whole, &fraction)
}

fn scientific(directive: &Directive, value: Decimal) -> String {
    let (first, fraction, exponent) = value.scientific(directive.precision.unwrap_or(6));
    format!("{}{}", joined(directive, &first, &fraction), power_of_ten(exponent))
}

fn power_of_ten(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.unsigned_abs())
}

fn joined(directive: &Directive, whole: &str, fraction: &str) -> String {
    let point = if fraction.is_empty() && !directive.alternative { "" } else { "." };
    format!("{whole}{point}{fraction}")
}

/// `%g`: `precision` significant digits in whichever form suits the exponent, without trailing zeros unless `#`.
fn general(directive: &Directive, value: Decimal) -> String {
    let precision = directive.precision.unwrap_or(6).max(1);
    let (first, fraction, exponent) = value.clone().scientific(precision - 1);
    let trimmed = |fraction: &str| match directive.alternative {
        true => fraction.to_string(),
        false => fraction.trim_end_matches('0').to_string(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        return format!("{}{}", joined(directive, &first, &trimmed(&fraction)), power_of_ten(exponent));
    }
    let (whole, fraction) = value.fixed((precision as i32 - 1 - exponent) as usize);
    joined(directive, &whole, &trimmed(&fraction))
}

fn hexadecimal_float(directive: &Directive, kind: FloatKind, bits: u128) -> String {
    let (first, fraction, exponent) = hexadecimal(kind, bits, directive.precision);
    let fraction: String = fraction.iter().map(|digit| format!("{digit:x}")).collect();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}p{sign}{}", joined(directive, &format!("{first:x}"), &fraction), exponent.unsigned_abs())
}
