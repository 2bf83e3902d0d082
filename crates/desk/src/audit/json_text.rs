//! JSON written piece by piece, for lines that every call has. Its bytes are those
//! that `serde_json` writes.

use jiff::{Timestamp, tz::Offset};

/// Texts are nearly always plain, and then need no escapes.
pub fn push_quoted(text: &str, into: &mut String) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        into.push('"');
        into.push_str(text);
        into.push('"');
        return;
    }
    match serde_json::to_string(text) {
        Ok(quoted) => into.push_str(&quoted),
        Err(_) => into.push_str("\"\""),
    }
}

pub fn push_number(number: u64, into: &mut String) {
    let mut digits = 1;
    let mut rest = number / 10;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    push_digits(number, digits, into);
}

/// The last digits of a number, with leading zeros.
fn push_digits(number: u64, digits: u32, into: &mut String) {
    let mut place = 10_u64.pow(digits.saturating_sub(1));
    while place > 0 {
        // A remainder of ten is one digit.
        into.push(char::from(b'0' + (number / place % 10) as u8));
        place /= 10;
    }
}

/// Milliseconds with three decimals at most, and one at least.
pub fn push_thousandths(ms: f64, into: &mut String) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time since the start of a call; a cast saturates"
    )]
    let thousandths = (ms * 1000.0).round() as u64;
    push_number(thousandths / 1000, into);
    into.push('.');
    let decimals = thousandths % 1000;
    match (decimals % 100, decimals % 10) {
        (0, _) => push_digits(decimals / 100, 1, into),
        (_, 0) => push_digits(decimals / 10, 2, into),
        _ => push_digits(decimals, 3, into),
    }
}

/// Always with milliseconds, so that texts sort in order of time.
pub fn push_time(at: i64, into: &mut String) {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = Offset::UTC.to_datetime(at);
    let parts = [
        (i32::from(time.year()), 4, '-'),
        (i32::from(time.month()), 2, '-'),
        (i32::from(time.day()), 2, 'T'),
        (i32::from(time.hour()), 2, ':'),
        (i32::from(time.minute()), 2, ':'),
        (i32::from(time.second()), 2, '.'),
        (i32::from(time.millisecond()), 3, 'Z'),
    ];
    let length = into.len();
    for (number, digits, after) in parts {
        let Ok(number) = u64::try_from(number) else {
            // Before the year 0. No clock says that.
            into.truncate(length);
            into.push_str(&format!("{at:.3}"));
            return;
        };
        push_digits(number, digits, into);
        into.push(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(push: impl FnOnce(&mut String)) -> String {
        let mut text = String::from("before ");
        push(&mut text);
        text.split_off("before ".len())
    }

    #[test]
    fn numbers_and_texts_are_as_serde_json_writes_them() {
        for number in [0, 9, 10, 99, 100, 12_345_678, u64::MAX] {
            let text = pushed(|text| push_number(number, text));
            assert_eq!(text, number.to_string());
        }
        for ms in [
            0.0,
            0.000_4,
            0.001,
            0.01,
            0.1,
            0.123_456,
            0.9996,
            1.0,
            1.5,
            12.34,
            1_234.567_8,
            30_000.0,
            86_400_000.001,
        ] {
            let text = pushed(|text| push_thousandths(ms, text));
            let rounded: f64 = (ms * 1000.0).round() / 1000.0;
            assert_eq!(text, serde_json::to_string(&rounded).unwrap());
        }
        for plain in [
            "",
            "plain",
            "窓口",
            "a \"quoted\" word",
            "back\\slash",
            "a\nb\u{1}\u{7f}",
        ] {
            let text = pushed(|text| push_quoted(plain, text));
            assert_eq!(text, serde_json::to_string(plain).unwrap());
        }
    }

    #[test]
    fn times_have_milliseconds_and_end_in_z() {
        for at in [
            0,
            1,
            -1,
            999,
            1_800_000_000_123,
            1_709_164_800_000,
            951_868_799_999,
            -62_167_219_200_000,
            -62_167_219_200_001,
            253_402_207_199_999,
            i64::MAX,
        ] {
            let expected = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
            let text = pushed(|text| push_time(at, text));
            assert_eq!(text, format!("{expected:.3}"), "{at}");
        }
    }
}
