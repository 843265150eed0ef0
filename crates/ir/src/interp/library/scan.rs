//! `scanf` and its family, and `strtod`.

use super::directive::Scan;
use super::external::{Checked, Known, NativeCall, VariableArguments};
use super::stdio::{get, push_back, standard_input, stream_at};
use crate::interp::value::Value;
use crate::interp::value::float::f80_from_f64;
use crate::library_memory::Arguments;
use crate::program::FloatKind;
use rustc_apfloat::Float;
use rustc_apfloat::Round;
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};

pub(in crate::interp) const KNOWN: [Known; 22] = [
    Known::variadic("scanf", |call| scan_input(call, Arguments::Area(1))),
    Known::variadic("__isoc99_scanf", |call| scan_input(call, Arguments::Area(1))),
    Known::variadic("__isoc23_scanf", |call| scan_input(call, Arguments::Area(1))),
    Known::new("vscanf", |call| scan_input(call, Arguments::List(1))),
    Known::new("__isoc99_vscanf", |call| scan_input(call, Arguments::List(1))),
    Known::new("__isoc23_vscanf", |call| scan_input(call, Arguments::List(1))),
    Known::variadic("fscanf", |call| scan_stream(call, Arguments::Area(2))),
    Known::variadic("__isoc99_fscanf", |call| scan_stream(call, Arguments::Area(2))),
    Known::variadic("__isoc23_fscanf", |call| scan_stream(call, Arguments::Area(2))),
    Known::new("vfscanf", |call| scan_stream(call, Arguments::List(2))),
    Known::new("__isoc99_vfscanf", |call| scan_stream(call, Arguments::List(2))),
    Known::new("__isoc23_vfscanf", |call| scan_stream(call, Arguments::List(2))),
    Known::variadic("sscanf", |call| scan_text(call, Arguments::Area(2))),
    Known::variadic("__isoc99_sscanf", |call| scan_text(call, Arguments::Area(2))),
    Known::variadic("__isoc23_sscanf", |call| scan_text(call, Arguments::Area(2))),
    Known::new("vsscanf", |call| scan_text(call, Arguments::List(2))),
    Known::new("__isoc99_vsscanf", |call| scan_text(call, Arguments::List(2))),
    Known::new("__isoc23_vsscanf", |call| scan_text(call, Arguments::List(2))),
    Known::new("strtod", |call| string_to_float(call, FloatKind::F64, 1)),
    Known::new("strtof", |call| string_to_float(call, FloatKind::F32, 1)),
    Known::new("strtold", |call| string_to_float(call, FloatKind::F80, 1)),
    Known::new("atof", |call| string_to_float(call, FloatKind::F64, usize::MAX)),
];

fn scan_input(call: &mut NativeCall<'_, '_>, arguments: Arguments) -> Checked<Value> {
    let input = Input { stream: standard_input(call), text: Vec::new(), count: 0 };
    scan(call, input, 0, arguments)
}

fn scan_stream(call: &mut NativeCall<'_, '_>, arguments: Arguments) -> Checked<Value> {
    let input = Input { stream: Some(stream_at(call, 0)?), text: Vec::new(), count: 0 };
    scan(call, input, 1, arguments)
}

fn scan_text(call: &mut NativeCall<'_, '_>, arguments: Arguments) -> Checked<Value> {
    let text = call.text(call.word(0)?, usize::MAX)?;
    let input = Input { stream: None, text, count: 0 };
    scan(call, input, 1, arguments)
}

/// What is scanned: a stream, or a text.
struct Input {
    stream: Option<u64>,
    text: Vec<u8>,
    /// How many bytes have been taken.
    count: usize,
}

impl Input {
    fn next(&mut self, call: &mut NativeCall<'_, '_>) -> Checked<Option<u8>> {
        let byte = match self.stream {
            Some(stream) => get(call, stream)?,
            None => self.text.get(self.count).copied(),
        };
        self.count += usize::from(byte.is_some());
        Ok(byte)
    }

    fn back(&mut self, call: &mut NativeCall<'_, '_>, byte: u8) {
        self.count -= 1;
        if let Some(stream) = self.stream {
            push_back(call, stream, byte);
        }
    }

    fn peek(&mut self, call: &mut NativeCall<'_, '_>) -> Checked<Option<u8>> {
        let byte = self.next(call)?;
        if let Some(byte) = byte {
            self.back(call, byte);
        }
        Ok(byte)
    }

    fn skip_space(&mut self, call: &mut NativeCall<'_, '_>) -> Checked<()> {
        while let Some(byte) = self.next(call)? {
            if !is_space(byte) {
                self.back(call, byte);
                break;
            }
        }
        Ok(())
    }

    /// Takes bytes as long as `accept`, given those so far, says so.
    fn take(
        &mut self,
        call: &mut NativeCall<'_, '_>,
        most: usize,
        accept: impl Fn(&[u8], u8) -> bool,
    ) -> Checked<Vec<u8>> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(byte) = self.next(call)? else { break };
            if !accept(&taken, byte) {
                self.back(call, byte);
                break;
            }
            taken.push(byte);
        }
        Ok(taken)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

fn scan(call: &mut NativeCall<'_, '_>, mut input: Input, format_index: usize, arguments: Arguments) -> Checked<Value> {
    let format = call.text(call.word(format_index)?, usize::MAX)?;
    let mut arguments = VariableArguments::new(call, arguments)?;
    if input.stream.is_some() {
        may_receive_all(call, &format, arguments.clone())?;
    }
    let mut assigned = 0u32;
    let mut at = 0;
    while at < format.len() {
        let byte = format[at];
        at += 1;
        if is_space(byte) {
            input.skip_space(call)?;
            continue;
        }
        if byte != b'%' || format.get(at) == Some(&b'%') {
            at += usize::from(byte == b'%');
            if byte == b'%' {
                input.skip_space(call)?;
            }
            match input.next(call)? {
                Some(found) if found == byte => continue,
                Some(found) => input.back(call, found),
                None if assigned == 0 => return Ok(end_of_input()),
                None => {}
            }
            break;
        }
        let parsed = Scan::parse(&format, &mut at, call.pointer_bytes());
        let directive = parsed.ok_or_else(|| call.invalid("the format ends inside a directive".to_string()))?;
        if !matches!(directive.conversion, b'c' | b'[' | b'n') {
            input.skip_space(call)?;
        }
        if directive.conversion != b'n' && input.peek(call)?.is_none() {
            return Ok(if assigned == 0 { end_of_input() } else { Value::defined(assigned.into()) });
        }
        let Some(bytes) = convert(call, &mut input, &directive)? else { break };
        if !directive.suppressed {
            let destination = arguments.integer(call, call.pointer_bytes())?;
            call.write(destination, &bytes)?;
            assigned += u32::from(directive.conversion != b'n');
        }
    }
    Ok(Value::defined(assigned.into()))
}

/// Records what a scan of a stream writes if there is input for all directives: with some input there is.
fn may_receive_all(call: &mut NativeCall<'_, '_>, format: &[u8], mut arguments: VariableArguments) -> Checked<()> {
    let word = call.pointer_bytes();
    for directive in Scan::all(format, word).unwrap_or_default().iter().filter(|directive| !directive.suppressed) {
        let destination = arguments.integer(call, word)?;
        call.may_receive(destination, directive.most_bytes(word).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// `EOF`
fn end_of_input() -> Value {
    Value::defined(u32::MAX.into())
}

/// What a directive stores, or nothing when the input does not match.
fn convert(call: &mut NativeCall<'_, '_>, input: &mut Input, directive: &Scan) -> Checked<Option<Vec<u8>>> {
    let bytes = directive.length.bytes(call.pointer_bytes()) as usize;
    let most = directive.width.unwrap_or(usize::MAX);
    let with_end = |mut text: Vec<u8>| {
        text.push(0);
        text
    };
    Ok(match directive.conversion {
        b'd' | b'u' => scan_integer(call, input, most, 10)?.map(|value| value.to_le_bytes()[..bytes].to_vec()),
        b'i' => scan_integer(call, input, most, 0)?.map(|value| value.to_le_bytes()[..bytes].to_vec()),
        b'o' => scan_integer(call, input, most, 8)?.map(|value| value.to_le_bytes()[..bytes].to_vec()),
        b'x' | b'X' => scan_integer(call, input, most, 16)?.map(|value| value.to_le_bytes()[..bytes].to_vec()),
        b'p' => {
            let len = call.pointer_bytes() as usize;
            scan_integer(call, input, most, 16)?.map(|value| value.to_le_bytes()[..len].to_vec())
        }
        b'n' => Some((input.count as u64).to_le_bytes()[..bytes].to_vec()),
        b's' => Some(with_end(input.take(call, most, |_, byte| !is_space(byte))?)),
        b'c' => {
            let count = directive.width.unwrap_or(1);
            let taken = input.take(call, count, |_, _| true)?;
            (taken.len() == count).then_some(taken)
        }
        b'[' => {
            let taken = input.take(call, most, |_, byte| directive.set.contains(&byte))?;
            (!taken.is_empty()).then(|| with_end(taken))
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let kind = directive.float_kind();
            let text = input.take(call, most, continues_float)?;
            let (len, bits) = parse_float(&text, kind);
            (len > 0).then(|| bits.to_le_bytes()[..usize::from(kind.bits() / 8)].to_vec())
        }
        other => return Err(call.invalid(format!("`{}` is not a conversion of scanf", other.escape_ascii()))),
    })
}

/// An integer in the given base; 0 means that its prefix says which.
fn scan_integer(call: &mut NativeCall<'_, '_>, input: &mut Input, width: usize, base: u32) -> Checked<Option<u64>> {
    let text = input.take(call, width, |taken, byte| continues_integer(taken, byte, base))?;
    let negative = text.first() == Some(&b'-');
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(&text);
    let prefixed = digits.len() >= 2 && digits[0] == b'0' && matches!(digits[1], b'x' | b'X');
    let (base, digits) = match base {
        16 | 0 if prefixed => (16, &digits[2..]),
        0 if digits.first() == Some(&b'0') => (8, digits),
        0 => (10, digits),
        _ => (base, digits),
    };
    if digits.is_empty() {
        return Ok(prefixed.then_some(0));
    }
    let mut value = 0u64;
    for digit in digits {
        let digit = u64::from((*digit as char).to_digit(base).unwrap_or(0));
        value = value.saturating_mul(base.into()).saturating_add(digit);
    }
    Ok(Some(if negative { value.wrapping_neg() } else { value }))
}

fn continues_integer(taken: &[u8], byte: u8, base: u32) -> bool {
    let signs = usize::from(matches!(taken.first(), Some(b'-' | b'+')));
    let digits = &taken[signs..];
    let prefixed = digits.len() >= 2 && matches!(digits[1], b'x' | b'X');
    match byte {
        b'-' | b'+' => taken.is_empty(),
        b'x' | b'X' => digits == b"0" && matches!(base, 0 | 16),
        _ => {
            let radix = match base {
                0 if prefixed => 16,
                0 if digits.first() == Some(&b'0') => 8,
                0 => 10,
                _ => base,
            };
            (byte as char).is_digit(radix)
        }
    }
}

/// Whether a byte may follow in the text of a float.
fn continues_float(taken: &[u8], byte: u8) -> bool {
    let lower: Vec<u8> = taken.iter().chain([&byte]).map(u8::to_ascii_lowercase).collect();
    let body = lower.strip_prefix(b"-").or_else(|| lower.strip_prefix(b"+")).unwrap_or(&lower);
    if body.is_empty() || b"infinity".starts_with(body) || b"nan".starts_with(body) {
        return true;
    }
    let (digits, is_digit, mark): (&[u8], fn(&u8) -> bool, u8) = match body {
        [b'0', b'x', rest @ ..] => (rest, u8::is_ascii_hexdigit, b'p'),
        _ => (body, u8::is_ascii_digit, b'e'),
    };
    let mut parts = digits.splitn(2, |byte| *byte == mark);
    let mantissa = parts.next().unwrap_or_default();
    let mantissa_is_fine = mantissa.iter().filter(|byte| **byte == b'.').count() <= 1
        && mantissa.iter().all(|byte| *byte == b'.' || is_digit(byte));
    let exponent_is_fine = parts.next().is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        mantissa.iter().any(is_digit) && exponent.iter().all(u8::is_ascii_digit)
    });
    mantissa_is_fine && exponent_is_fine
}

/// The float at the start of a text: how long it is (0 when there is none), and its bits.
fn parse_float(text: &[u8], kind: FloatKind) -> (usize, u128) {
    let start = text.iter().take_while(|byte| is_space(**byte)).count();
    let text = &text[start..];
    let mut len = 0;
    while len < text.len() && continues_float(&text[..len], text[len]) {
        len += 1;
    }
    // The longest beginning that is a number: `1e` and `infin` end early.
    let parsed = (1..=len).rev().find_map(|len| Some((len, complete_float(&text[..len], kind)?)));
    parsed.map_or((0, 0), |(len, bits)| (start + len, bits))
}

fn complete_float(text: &[u8], kind: FloatKind) -> Option<u128> {
    let text = std::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let sign = u128::from(negative) << (kind.bits() - 1);
    let magnitude = match body {
        "inf" | "infinity" => special(kind, f64::INFINITY),
        "nan" => special(kind, f64::NAN.abs()),
        _ => {
            if !body.bytes().any(|byte| byte.is_ascii_hexdigit()) || body.ends_with(['e', 'p', '+', '-', 'x']) {
                return None;
            }
            let is_hexadecimal = body.starts_with("0x");
            let digits = if is_hexadecimal && !body.contains('p') { format!("{body}p0") } else { body.to_string() };
            rounded(kind, &digits)?
        }
    };
    Some(magnitude | sign)
}

fn special(kind: FloatKind, value: f64) -> u128 {
    match kind {
        FloatKind::F32 => (value as f32).to_bits().into(),
        FloatKind::F64 => value.to_bits().into(),
        FloatKind::F80 => f80_from_f64(value.to_bits()),
    }
}

fn rounded(kind: FloatKind, digits: &str) -> Option<u128> {
    let round = Round::NearestTiesToEven;
    match kind {
        FloatKind::F32 => Single::from_str_r(digits, round).ok().map(|parsed| parsed.value.to_bits()),
        FloatKind::F64 => Double::from_str_r(digits, round).ok().map(|parsed| parsed.value.to_bits()),
        FloatKind::F80 => X87DoubleExtended::from_str_r(digits, round).ok().map(|parsed| parsed.value.to_bits()),
    }
}

/// The text at an address as far as it may be read as a float: the byte behind it is looked at, and no more.
fn number_text(call: &mut NativeCall<'_, '_>, address: u64) -> Checked<Vec<u8>> {
    let mut text = Vec::new();
    let mut spaces = 0;
    loop {
        let byte = call.read_byte(address.wrapping_add(text.len() as u64))?;
        let is_leading_space = text.len() == spaces && is_space(byte);
        if !is_leading_space && (byte == 0 || !continues_float(&text[spaces..], byte)) {
            return Ok(text);
        }
        spaces += usize::from(is_leading_space);
        text.push(byte);
    }
}

fn string_to_float(call: &mut NativeCall<'_, '_>, kind: FloatKind, end_index: usize) -> Checked<Value> {
    let start = call.word(0)?;
    let text = number_text(call, start)?;
    let (len, bits) = parse_float(&text, kind);
    if end_index != usize::MAX && call.word(end_index)? != 0 {
        let end = start + len as u64;
        let pointer = call.pointer_bytes() as usize;
        call.write(call.word(end_index)?, &end.to_le_bytes()[..pointer])?;
    }
    Ok(Value::defined(bits))
}
