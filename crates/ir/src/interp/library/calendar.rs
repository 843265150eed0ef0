//! Dates: `gmtime_r`, `localtime_r`, `mktime`, `asctime_r`, `ctime_r`, `strftime`. The time zone is UTC.
//!
//! Of a `struct tm` the nine `int`s that C has are read and written; what else a C library keeps there is not.

use super::external::{Checked, Known, NativeCall};
use crate::interp::value::Value;

/// The `int`s of a `struct tm`, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Date {
    second: i64,
    minute: i64,
    hour: i64,
    day: i64,
    month: i64,
    year: i64,
    weekday: i64,
    day_of_year: i64,
}

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const SECONDS_A_DAY: i64 = 86_400;

pub(in crate::interp) const KNOWN: [Known; 7] = [
    Known::new("gmtime_r", write_date),
    Known::new("localtime_r", write_date),
    Known::new("mktime", to_seconds),
    Known::new("timegm", to_seconds),
    Known::new("asctime_r", |call| {
        let date = read_date(call, call.word(0)?)?;
        write_text(call, date)
    }),
    Known::new("ctime_r", |call| {
        let seconds = read_seconds(call)?;
        write_text(call, Date::at(seconds))
    }),
    Known::new("strftime", |call| {
        let (target, size) = (call.word(0)?, call.word(1)?);
        let format = call.text(call.word(2)?, usize::MAX)?;
        let date = read_date(call, call.word(3)?)?;
        let Some(mut text) = date.formatted(&format) else {
            return Err(call.invalid("the format has a directive that is not known".to_string()));
        };
        if text.len() as u64 >= size {
            return Ok(Value::defined(0));
        }
        let length = text.len();
        text.push(0);
        call.write(target, &text)?;
        Ok(Value::defined(length as u128))
    }),
];

impl Date {
    /// The date, so many seconds after the beginning of 1970. (Years are counted in cycles of 400, from a first of March.)
    fn at(seconds: i64) -> Date {
        let (days, rest) = (seconds.div_euclid(SECONDS_A_DAY), seconds.rem_euclid(SECONDS_A_DAY));
        let shifted = days + 719_468;
        let (cycle, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_cycle = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = (month_from_march + 2) % 12;
        let year = cycle * 400 + year_of_cycle + i64::from(month < 2);
        let mut date = Date {
            second: rest % 60,
            minute: rest / 60 % 60,
            hour: rest / 3_600,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            month,
            year: year - 1900,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: 0,
        };
        date.day_of_year = days - first_day(year);
        date
    }

    /// The seconds since the beginning of 1970; fields may be out of their ranges.
    fn seconds(&self) -> i64 {
        let year = self.year + 1900 + self.month.div_euclid(12);
        let month = self.month.rem_euclid(12);
        let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize];
        let days = first_day(year) + before + i64::from(is_leap && month > 1) + self.day - 1;
        days * SECONDS_A_DAY + self.hour * 3_600 + self.minute * 60 + self.second
    }

    fn weekday_name(&self) -> &'static str {
        DAYS[self.weekday.rem_euclid(7) as usize]
    }

    fn month_name(&self) -> &'static str {
        MONTHS[self.month.rem_euclid(12) as usize]
    }

    /// As `strftime` writes it in the C locale; none if it has a directive that is not known here.
    fn formatted(&self, format: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut letters = format.iter();
        while let Some(letter) = letters.next() {
            match letter {
                b'%' => out.extend(self.piece(*letters.next()?)?.into_bytes()),
                other => out.push(*other),
            }
        }
        Some(out)
    }

    fn piece(&self, directive: u8) -> Option<String> {
        let Date { second, minute, hour, day, month, year, .. } = *self;
        let half = (hour + 11) % 12 + 1;
        let part = if hour < 12 { "AM" } else { "PM" };
        Some(match directive {
            b'%' => "%".to_string(),
            b'n' => "\n".to_string(),
            b't' => "\t".to_string(),
            b'a' => self.weekday_name()[..3].to_string(),
            b'A' => self.weekday_name().to_string(),
            b'b' | b'h' => self.month_name()[..3].to_string(),
            b'B' => self.month_name().to_string(),
            b'c' => format!(
                "{:.3} {:.3} {day:2} {hour:02}:{minute:02}:{second:02} {}",
                self.weekday_name(),
                self.month_name(),
                year + 1900
            ),
            b'C' => format!("{:02}", (year + 1900).div_euclid(100)),
            b'd' => format!("{day:02}"),
            b'D' | b'x' => format!("{:02}/{day:02}/{:02}", month + 1, year.rem_euclid(100)),
            b'e' => format!("{day:2}"),
            b'F' => format!("{}-{:02}-{day:02}", year + 1900, month + 1),
            b'H' => format!("{hour:02}"),
            b'I' => format!("{half:02}"),
            b'j' => format!("{:03}", self.day_of_year + 1),
            b'm' => format!("{:02}", month + 1),
            b'M' => format!("{minute:02}"),
            b'p' => part.to_string(),
            b'r' => format!("{half:02}:{minute:02}:{second:02} {part}"),
            b'R' => format!("{hour:02}:{minute:02}"),
            b's' => self.seconds().to_string(),
            b'S' => format!("{second:02}"),
            b'T' | b'X' => format!("{hour:02}:{minute:02}:{second:02}"),
            b'u' => ((self.weekday + 6).rem_euclid(7) + 1).to_string(),
            b'w' => self.weekday.to_string(),
            b'y' => format!("{:02}", year.rem_euclid(100)),
            b'Y' => (year + 1900).to_string(),
            b'z' => "+0000".to_string(),
            b'Z' => "GMT".to_string(),
            _ => return None,
        })
    }
}

/// The days from 1970 to the first of January of a year.
fn first_day(year: i64) -> i64 {
    let before = year - 1;
    365 * (year - 1970) + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 477
}

fn read_seconds(call: &mut NativeCall<'_, '_>) -> Checked<i64> {
    let bytes = call.read(call.word(0)?, call.pointer_bytes())?;
    let bits = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    Ok(if call.pointer_bytes() == 4 { i64::from(bits as i32) } else { bits as i64 })
}

fn read_date(call: &mut NativeCall<'_, '_>, address: u64) -> Checked<Date> {
    let bytes = call.read(address, 36)?;
    let field = |index: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[4 * index..4 * index + 4]);
        i64::from(i32::from_le_bytes(word))
    };
    Ok(Date {
        second: field(0),
        minute: field(1),
        hour: field(2),
        day: field(3),
        month: field(4),
        year: field(5),
        weekday: field(6),
        day_of_year: field(7),
    })
}

fn store_date(call: &mut NativeCall<'_, '_>, address: u64, date: Date) -> Checked<()> {
    let Date { second, minute, hour, day, month, year, weekday, day_of_year } = date;
    let fields = [second, minute, hour, day, month, year, weekday, day_of_year, 0];
    let bytes: Vec<u8> = fields.iter().flat_map(|field| (*field as i32).to_le_bytes()).collect();
    call.write(address, &bytes)
}

/// `gmtime_r`
fn write_date(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let seconds = read_seconds(call)?;
    let address = call.word(1)?;
    // Far beyond what an `int` can count in years.
    if seconds.unsigned_abs() > 1 << 55 {
        return Ok(Value::defined(0));
    }
    store_date(call, address, Date::at(seconds))?;
    Ok(Value::defined(address.into()))
}

/// `mktime`: also puts the fields into their ranges.
fn to_seconds(call: &mut NativeCall<'_, '_>) -> Checked<Value> {
    let address = call.word(0)?;
    let seconds = read_date(call, address)?.seconds();
    store_date(call, address, Date::at(seconds))?;
    Ok(Value::defined((seconds as u64).into()))
}

/// `asctime_r`
fn write_text(call: &mut NativeCall<'_, '_>, date: Date) -> Checked<Value> {
    let address = call.word(1)?;
    let mut text = date.formatted(b"%c\n").unwrap_or_default();
    text.push(0);
    call.write(address, &text)?;
    Ok(Value::defined(address.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_there_and_back() {
        for seconds in
            [0, -1, 951_782_399, 951_782_400, 1_709_164_800, 4_102_444_799, -2_208_988_800, i64::from(i32::MAX)]
        {
            assert_eq!(Date::at(seconds).seconds(), seconds);
        }
        let text = |seconds| {
            String::from_utf8(Date::at(seconds).formatted(b"%c %j %F").unwrap_or_default()).unwrap_or_default()
        };
        assert_eq!(text(0), "Thu Jan  1 00:00:00 1970 001 1970-01-01");
        assert_eq!(text(1_709_164_800), "Thu Feb 29 00:00:00 2024 060 2024-02-29");
        assert_eq!(text(-1), "Wed Dec 31 23:59:59 1969 365 1969-12-31");
    }
}
