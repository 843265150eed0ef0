//! Constants: integers and floats as C literals that mean exactly these bits.

use leno_ir::program::{FloatKind, Type};

/// An integer literal of the type in which integers of this width are computed.
pub(crate) fn integer(bits: u128, width: u16) -> String {
    let (high, low) = ((bits >> 64) as u64, bits as u64);
    match crate::types::computing(width) {
        32 => format!("{}u", digits(low)),
        64 => format!("{}ull", digits(low)),
        _ => format!("LENO_U128({}ull, {}ull)", digits(high), digits(low)),
    }
}

fn digits(value: u64) -> String {
    if value < 0x10_0000 { value.to_string() } else { format!("{value:#x}") }
}

pub(crate) fn mask(width: u16) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The value of a small signed constant.
pub(crate) fn small_signed(bits: u128, width: u16) -> Option<i32> {
    let unused = 128 - u32::from(width.clamp(1, 128));
    i32::try_from(((bits << unused) as i128) >> unused).ok()
}

/// Any constant, as an operand that needs no parentheses.
pub(crate) fn any(ty: Type, bits: u128) -> String {
    match ty {
        Type::Int(width) => integer(bits, width),
        Type::Ptr if bits == 0 => "(ptr)0".to_string(),
        Type::Ptr => format!("(ptr){}ull", digits(bits as u64)),
        Type::Float(FloatKind::F32) => float(bits, &F32),
        Type::Float(FloatKind::F64) => float(bits, &F64),
        Type::Float(FloatKind::F80) => float(bits, &F80),
    }
}

/// A binary floating-point format, and how C writes its literals.
struct Format {
    /// Bits below the exponent; for the x87 format, that includes the explicit integer bit.
    significand: u32,
    fraction: u32,
    exponent: u32,
    suffix: &'static str,
}

const F32: Format = Format { significand: 23, fraction: 23, exponent: 8, suffix: "f" };
const F64: Format = Format { significand: 52, fraction: 52, exponent: 11, suffix: "" };
const F80: Format = Format { significand: 64, fraction: 63, exponent: 15, suffix: "L" };

/// Zero and normal numbers have literals. All else (infinities, NaNs with what they carry, denormals, the odd
/// encodings of the x87) is made from its bits.
fn float(bits: u128, format: &Format) -> String {
    let sign = if bits >> (format.significand + format.exponent) & 1 == 1 { "-" } else { "" };
    let exponent = (bits >> format.significand) as i64 & ((1 << format.exponent) - 1);
    let significand = bits & mask(format.significand as u16);
    let fraction = bits & mask(format.fraction as u16);
    let explicit_one = format.significand == format.fraction || significand >> format.fraction == 1;
    let largest = (1 << format.exponent) - 1;
    let text = if exponent == 0 && significand == 0 {
        format!("{sign}0.0{}", format.suffix)
    } else if exponent == 0 || exponent == largest || !explicit_one {
        return float_from_bits(bits, format);
    } else {
        let power = exponent - largest / 2;
        match whole_number(fraction, power, format) {
            Some(number) => format!("{sign}{number}.0{}", format.suffix),
            None => format!("{sign}0x1{}p{power:+}{}", hexadecimal_fraction(fraction, format), format.suffix),
        }
    };
    if sign.is_empty() { text } else { format!("({text})") }
}

fn float_from_bits(bits: u128, format: &Format) -> String {
    match format.suffix {
        "f" => format!("leno_f32_from({bits:#x}u)"),
        "" => format!("leno_f64_from({bits:#x}ull)"),
        _ => format!("leno_f80_from({:#x}ull, {:#x}ull)", (bits >> 64) as u64, bits as u64),
    }
}

/// Small whole numbers are written as people do.
fn whole_number(fraction: u128, power: i64, format: &Format) -> Option<u128> {
    if !(0..=20).contains(&power) {
        return None;
    }
    let value = fraction | 1 << format.fraction;
    let unused = format.fraction - power as u32;
    (value & ((1 << unused) - 1) == 0).then_some(value >> unused)
}

fn hexadecimal_fraction(fraction: u128, format: &Format) -> String {
    let nibbles = format.fraction.div_ceil(4);
    let aligned = fraction << (nibbles * 4 - format.fraction);
    let digits = format!("{aligned:0width$x}", width = nibbles as usize);
    match digits.trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_exact() {
        let f64_case = |value: f64| float(u128::from(value.to_bits()), &F64);
        assert_eq!(f64_case(0.0), "0.0");
        assert_eq!(f64_case(-0.0), "(-0.0)");
        assert_eq!(f64_case(3.0), "3.0");
        assert_eq!(f64_case(0.1), "0x1.999999999999ap-4");
        assert_eq!(f64_case(-1e300), "(-0x1.7e43c8800759cp+996)");
        assert_eq!(f64_case(f64::INFINITY), "leno_f64_from(0x7ff0000000000000ull)");
        assert_eq!(f64_case(5e-324), "leno_f64_from(0x1ull)");
        assert_eq!(float(u128::from(0.1f32.to_bits()), &F32), "0x1.99999ap-4f");
        assert_eq!(float(0x3fff << 64 | 1 << 63, &F80), "1.0L");
        assert_eq!(float(0x3fff << 64 | 0xc000_0000_0000_0001, &F80), "0x1.8000000000000002p+0L");
        assert_eq!(float(0x3fff << 64, &F80), "leno_f80_from(0x3fffull, 0x0ull)");
    }
}
