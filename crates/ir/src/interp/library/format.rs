//! `printf`: directives, flags and conversions, byte for byte as glibc writes them in the C locale.

use super::decimal::{Decimal, Parts, hexadecimal, is_negative, take_apart};
use super::directive::{Count, Length, Print};
use super::external::{NativeCall, VariableArguments};
use crate::interp::memory::violation::{Violation, ViolationKind};
use crate::program::FloatKind;

type Checked<T> = Result<T, Box<Violation>>;

/// A directive with the width and the precision that its arguments say.
#[derive(Clone, Debug)]
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
    /// `%3$d`: which argument, from 1.
    position: Option<usize>,
}

/// Where the values come from: one after the other, or by position (then all have been fetched before).
enum Values<'a> {
    InOrder(&'a mut VariableArguments),
    Positional(Vec<u128>),
}

impl Values<'_> {
    fn integer(&mut self, call: &mut NativeCall<'_, '_>, bytes: u64, position: Option<usize>) -> Checked<u64> {
        match self {
            Values::InOrder(arguments) => arguments.integer(call, bytes),
            Values::Positional(values) => {
                let value = position.and_then(|position| values.get(position - 1)).copied().unwrap_or(0) as u64;
                Ok(if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) })
            }
        }
    }

    fn float(&mut self, call: &mut NativeCall<'_, '_>, kind: FloatKind, position: Option<usize>) -> Checked<u128> {
        match self {
            Values::InOrder(arguments) => arguments.float(call, kind),
            Values::Positional(values) => {
                Ok(position.and_then(|position| values.get(position - 1)).copied().unwrap_or(0))
            }
        }
    }
}

/// Formats as `printf` does.
pub(in crate::interp) fn format(
    call: &mut NativeCall<'_, '_>,
    format: &[u8],
    arguments: &mut VariableArguments,
) -> Checked<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < format.len() {
        let plain = format[at..].iter().position(|byte| *byte == b'%').unwrap_or(format.len() - at);
        let text = &format[at..at + plain];
        at += plain;
        let directive = match at < format.len() {
            true => {
                at += 1;
                let parsed = Print::parse(format, &mut at, call.pointer_bytes());
                Some(parsed.ok_or_else(|| call.invalid("the format ends inside a directive".to_string()))?)
            }
            false => None,
        };
        pieces.push((text, directive));
    }
    let directives = || pieces.iter().filter_map(|(_, directive)| directive.as_ref());
    let mut values = match directives().any(|directive| directive.position.is_some()) {
        true => Values::Positional(fetch_by_position(call, directives(), arguments)?),
        false => Values::InOrder(arguments),
    };
    let mut out = Vec::with_capacity(format.len());
    for (text, directive) in pieces {
        out.extend_from_slice(text);
        if let Some(directive) = directive {
            let directive = settle_counts(call, &directive, &mut values)?;
            convert(call, &directive, &mut values, &mut out)?;
        }
    }
    Ok(out)
}

/// Finds out what a width and a precision are. A negative width means left; a negative precision means none.
fn settle_counts(call: &mut NativeCall<'_, '_>, print: &Print, values: &mut Values<'_>) -> Checked<Directive> {
    let mut settled = |count: Option<Count>| -> Checked<Option<i64>> {
        Ok(match count {
            None => None,
            Some(Count::Number(number)) => Some(i64::try_from(number).unwrap_or(i64::MAX)),
            Some(Count::Argument(position)) => Some(i64::from(values.integer(call, 4, position)? as i32)),
        })
    };
    let width = settled(print.width)?.unwrap_or(0);
    let precision = settled(print.precision)?;
    let Print { left, plus, space, alternative, zero, length, conversion, position, .. } = *print;
    Ok(Directive {
        left: left || width < 0,
        plus,
        space,
        alternative,
        zero,
        width: bounded(call, width.unsigned_abs())?,
        precision: match precision.map(u64::try_from) {
            Some(Ok(precision)) => Some(bounded(call, precision)?),
            _ => None,
        },
        length,
        conversion,
        position,
    })
}

/// glibc refuses to format more than this, and so do we before memory runs out.
fn bounded(call: &NativeCall<'_, '_>, count: u64) -> Checked<usize> {
    if count > 1 << 30 {
        return Err(call.invalid(format!("a width or precision of {count} in the format")));
    }
    Ok(count as usize)
}

/// The values of all arguments, in order, when directives name them by position: how large each one is, the directives
/// say.
fn fetch_by_position<'d>(
    call: &mut NativeCall<'_, '_>,
    directives: impl Iterator<Item = &'d Print>,
    arguments: &mut VariableArguments,
) -> Checked<Vec<u128>> {
    let mut sizes: Vec<Option<FloatKind>> = Vec::new();
    let mut bytes: Vec<u64> = Vec::new();
    let mut note = |position: usize, kind: Option<FloatKind>, size: u64| {
        // Far beyond what a call can have: the format is not one.
        let position = position.min(4096);
        sizes.resize(sizes.len().max(position), None);
        bytes.resize(bytes.len().max(position), 4);
        sizes[position - 1] = kind;
        bytes[position - 1] = size;
    };
    for directive in directives {
        for count in [directive.width, directive.precision] {
            if let Some(Count::Argument(Some(position))) = count {
                note(position, None, 4);
            }
        }
        let Some(position) = directive.position else { continue };
        match directive.conversion {
            b's' | b'S' | b'p' | b'n' => note(position, None, call.pointer_bytes()),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                note(position, Some(directive.length.float_kind()), 0)
            }
            _ => note(position, None, directive.length.bytes(call.pointer_bytes())),
        }
    }
    let fetch = sizes.into_iter().zip(bytes).map(|(kind, bytes)| match kind {
        Some(kind) => arguments.float(call, kind),
        None => arguments.integer(call, bytes).map(u128::from),
    });
    fetch.collect()
}

fn convert(
    call: &mut NativeCall<'_, '_>,
    directive: &Directive,
    values: &mut Values<'_>,
    out: &mut Vec<u8>,
) -> Checked<()> {
    let bytes = directive.length.bytes(call.pointer_bytes());
    let (pointer, position) = (call.pointer_bytes(), directive.position);
    match directive.conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let bits = values.integer(call, bytes, position)?;
            let unused = 64 - 8 * bytes;
            let value = ((bits << unused) as i64) >> unused;
            let sign = sign(directive, value < 0);
            digits(directive, sign, value.unsigned_abs().to_string(), out);
        }
        b'u' => {
            let value = values.integer(call, bytes, position)?;
            digits(directive, "", value.to_string(), out);
        }
        b'o' | b'x' | b'X' | b'b' | b'B' => {
            let value = values.integer(call, bytes, position)?;
            based_integer(directive, value, out);
        }
        b'c' => {
            let byte = values.integer(call, 4, position)? as u8;
            pad(directive, "", &[byte], b' ', out);
        }
        b's' | b'S' => {
            let address = values.integer(call, pointer, position)?;
            let text = string(call, directive, address)?;
            pad(directive, "", &text, b' ', out);
        }
        b'p' => match values.integer(call, pointer, position)? {
            0 => pad(directive, "", b"(nil)", b' ', out),
            address => {
                let prefix = format!("{}0x", sign(directive, false));
                digits(directive, &prefix, format!("{address:x}"), out);
            }
        },
        b'n' => {
            let address = values.integer(call, pointer, position)?;
            let count = (out.len() as u64).to_le_bytes();
            call.write(address, &count[..bytes as usize])?;
        }
        b'm' => pad(directive, "", b"Success", b' ', out),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let kind = directive.length.float_kind();
            let bits = values.float(call, kind, position)?;
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
            return self::digits(&directive, "", format!("0{digits}"), out);
        }
    }
    self::digits(&directive, if shown { prefix } else { "" }, digits, out);
}

/// An integer: at least `precision` digits, none for zero when that is zero; a precision turns zero padding off.
fn digits(directive: &Directive, prefix: &str, digits: String, out: &mut Vec<u8>) {
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
