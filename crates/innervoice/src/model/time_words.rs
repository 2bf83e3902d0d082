//! Times as people say them, in English or Japanese: `tomorrow at 3pm`, `来週の金曜`.
//!
//! Weeks begin on Monday. A time without a day is the next such time; a weekday is
//! the next such day, or today.

mod days;
mod english;
mod japanese;
mod parts;

use jiff::{Zoned, civil::Date};

pub use english::weekday as english_weekday;
pub use parts::{SaidTime, Unclear};

/// `day` is the day of a time without one; `None`: the next such time.
pub fn read(text: &str, now: &Zoned, day: Option<Date>) -> Result<SaidTime, Unclear> {
    let text = kit::text::narrow(text).to_lowercase();
    let said = match text.is_ascii() {
        true => english::read(&text, now)?,
        false => japanese::read(&text, now)?,
    };
    said.resolve(now, day)
}

/// A time of day in minutes from midnight: `9`, `09:00`, `9am`, `9時`; `26:00` is on the
/// next day.
pub fn minutes_of_day(text: &str, now: &Zoned) -> Option<i32> {
    let text = kit::text::narrow(text).to_lowercase();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let hour = text.parse::<i32>().ok()?;
        return (0..30).contains(&hour).then_some(hour * 60);
    }
    let parts = match text.is_ascii() {
        true => english::read(&text, now),
        false => japanese::read(&text, now),
    };
    parts.ok()?.minutes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Wednesday, ten in the morning.
    fn now() -> Zoned {
        "2026-11-18T10:00:00[Asia/Tokyo]".parse().unwrap()
    }

    fn said(text: &str) -> String {
        match read(text, &now(), None) {
            Ok(SaidTime::Days(first, last)) if first == last => first.to_string(),
            Ok(SaidTime::Days(first, last)) => format!("{first} to {last}"),
            Ok(SaidTime::Local(local)) => local.strftime("%Y-%m-%d %H:%M").to_string(),
            Ok(SaidTime::At(at)) => {
                let zoned = at.to_zoned(now().time_zone().clone());
                zoned.strftime("at %Y-%m-%d %H:%M").to_string()
            }
            Err(why) => format!("{why:?}"),
        }
    }

    /// Words that mean the same, and what they mean.
    const WORDS: &[(&str, &str)] = &[
        (
            "tomorrow at 3pm | tomorrow 15:00 | 3 pm tomorrow | tomorrow afternoon at 3 | \
             Tomorrow, 3:00 PM | 明日15時 | 明日の午後3時 | あした 15:00 | 明日の15時に | 明日午後三時",
            "2026-11-19 15:00",
        ),
        (
            "+30m | in 30 minutes | in half an hour | 30分後 | 30 minutes from now | 30分後に",
            "at 2026-11-18 10:30",
        ),
        ("in an hour | +1h | 1時間後 | 60分後", "at 2026-11-18 11:00"),
        (
            "in 1 hour 30 minutes | 1時間半後 | 1時間30分後 | +90m",
            "at 2026-11-18 11:30",
        ),
        ("+2d", "at 2026-11-20 10:00"),
        (
            "来週の金曜 | next friday | 来週金曜日 | friday next week",
            "2026-11-27",
        ),
        (
            "friday | this friday | 金曜 | 今週の金曜日 | 次の金曜 | on friday | 20日 | the 20th",
            "2026-11-20",
        ),
        (
            "11/20 | nov 20 | 20 november | november 20th, 2026 | 11月20日 | 2026年11月20日 | in 2 days | 2日後",
            "2026-11-20",
        ),
        ("11/1 | 11月1日", "2027-11-01"),
        (
            "Friday, Nov 20 at 3pm | nov 20 (fri) 15:00 | Friday, November 20, 2026 at 15:00 | \
             fri 11/20 3pm | friday the 20th at 3pm | 2026-11-20 (Fri) 15:00 | 11月20日(金)15時 | \
             11月20日 金曜日 15時 | ２０日（金）の午後3時 | 2026年11月20日(金曜日)15時",
            "2026-11-20 15:00",
        ),
        ("tomorrow, thursday | 明日(木)", "2026-11-19"),
        (
            "this morning at 9 | 今朝9時 | this morning 9:00",
            "2026-11-18 09:00",
        ),
        (
            "today 26:30 | 今日26:30 | 11/18 26:30 | 26:30",
            "2026-11-19 02:30",
        ),
        ("friday 24:00 | 金曜24:00", "2026-11-21 00:00"),
        ("wednesday at 9am", "2026-11-25 09:00"),
        (
            "wednesday at 11am | 水曜11時 | today at 11:00 | 11:00 | 11am | 今日11時",
            "2026-11-18 11:00",
        ),
        ("9am | 9:00 | 9時 | 朝9時", "2026-11-19 09:00"),
        (
            "tonight at 8 | 今夜8時 | 今晩8時 | 20:00 | 8pm | 夜8時",
            "2026-11-18 20:00",
        ),
        (
            "tomorrow morning at 7 | 明朝7時 | 明日の朝7時",
            "2026-11-19 07:00",
        ),
        ("noon | 正午 | 12pm", "2026-11-18 12:00"),
        (
            "friday noon | 金曜の正午 | friday at noon",
            "2026-11-20 12:00",
        ),
        (
            "day after tomorrow at 18:30 | 明後日18時半 | あさって18時30分",
            "2026-11-20 18:30",
        ),
        ("in 3 days at 9am | 3日後の9時", "2026-11-21 09:00"),
        ("next week | 来週", "2026-11-23 to 2026-11-29"),
        ("this weekend | 週末 | 今週末", "2026-11-21 to 2026-11-22"),
        ("next month | 来月", "2026-12-01 to 2026-12-31"),
        (
            "end of the year | 年末 | the end of year | december 31",
            "2026-12-31",
        ),
        (
            "end of the month | 月末 | 今月末 | end of november",
            "2026-11-30",
        ),
        ("end of next month | 来月末 | 12月末", "2026-12-31"),
        ("来月5日 | dec 5", "2026-12-05"),
        ("yesterday | 昨日", "2026-11-17"),
        (
            "2026-11-20 3pm | 2026/11/20 15:00 | 11/20 15時",
            "2026-11-20 15:00",
        ),
        (
            "今日の25時 | 今夜25時 | 今夜1時 | tonight at 1am | 夜1時",
            "2026-11-19 01:00",
        ),
        ("明日の深夜1時 | tomorrow night at 1am", "2026-11-20 01:00"),
        (
            "midnight tomorrow | 明日0時 | midnight | 今夜12時 | 今夜0時 | midnight tonight",
            "2026-11-19 00:00",
        ),
    ];

    #[test]
    fn times_and_days_in_both_languages() {
        for (texts, expected) in WORDS {
            for text in texts.split(" | ") {
                assert_eq!(said(text), *expected, "{text}");
            }
        }
    }

    #[test]
    fn what_is_unclear_is_not_guessed() {
        for text in ["tomorrow at 3", "at 7", "friday at 11"] {
            assert_eq!(said(text), "HalfOfDay", "{text}");
        }
        for text in ["friday, nov 21", "11月21日(金)", "tomorrow monday"] {
            assert_eq!(said(text), "Weekday", "{text}");
        }
        let nonsense = "soon | later | そのうち | tomorrow never | at | 25:99 | 30:00 | friday monday | \
            3pm 4pm | 99日 | next | in | in minutes | 来週15時 | +m | 13pm";
        for text in nonsense.split(" | ") {
            assert_eq!(said(text), "NotUnderstood", "{text}");
        }
    }

    #[test]
    fn times_of_day() {
        for (texts, minutes) in [
            ("9 | 09 | 9:00 | 09:00 | 9am | ９時 | 朝9時", Some(9 * 60)),
            ("18:30 | 6:30pm | 18時半", Some(18 * 60 + 30)),
            ("noon | 正午 | 12", Some(12 * 60)),
            ("24:00 | 24時", Some(24 * 60)),
            ("26:00 | 26 | 深夜2時", Some(26 * 60)),
            (
                "30:00 | 99 | tomorrow | tomorrow at 9am | | at 9 | +30m | 金曜",
                None,
            ),
        ] {
            for text in texts.split(" | ") {
                assert_eq!(minutes_of_day(text, &now()), minutes, "{text}");
            }
        }
    }

    #[test]
    fn a_time_beyond_the_calendar_is_not_understood() {
        for text in ["999999か月後", "999999週間後"] {
            assert_eq!(said(text), "NotUnderstood", "{text}");
        }
    }
}
