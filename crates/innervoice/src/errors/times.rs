//! Errors about times and repetition.

use jiff::civil::Date;
use kit::{Error, error::INVALID_ARGUMENT};
use serde_json::json;

use crate::model::{
    moment::{Here, Unreadable, rfc3339},
    spoken,
};

const INVALID_TIME: &str = "INVALID_TIME";

pub fn invalid_time(field: &str, text: &str, why: Unreadable, here: &Here) -> Error {
    let text: String = text.chars().take(60).collect();
    let (message, japanese) = match why {
        Unreadable::Time => (
            format!("`{text}` in {field} is not a time that is understood."),
            format!("{field}の「{text}」は日時として読めません。"),
        ),
        Unreadable::NoTimeOfDay => (
            format!("{field} names a day, `{text}`, without a time of day."),
            format!("{field}の「{text}」には時刻がありません。"),
        ),
        Unreadable::HalfOfDay => (
            format!("`{text}` in {field} may be in the morning or in the afternoon."),
            format!("{field}の「{text}」は午前か午後かわかりません。"),
        ),
        Unreadable::Weekday => (
            format!("The date and the weekday of `{text}` in {field} do not fit together."),
            format!("{field}の「{text}」は日付と曜日が合っていません。"),
        ),
        Unreadable::Zone => (
            format!("The time zone of `{text}` in {field} is not known."),
            format!("{field}の「{text}」のタイムゾーンがわかりません。"),
        ),
        Unreadable::Range => (
            format!("`{text}` in {field} is not within 1970 to 2200."),
            format!("{field}の「{text}」は1970年から2200年の範囲にありません。"),
        ),
    };
    let (spoken, spoken_japanese) = match why {
        Unreadable::NoTimeOfDay => ("At what time?".into(), "何時にしますか。".into()),
        Unreadable::HalfOfDay => (
            "Is that in the morning or in the afternoon?".into(),
            "午前ですか、午後ですか。".into(),
        ),
        Unreadable::Weekday => (
            format!("“{text}” is not that day of the week. Which day do you mean?"),
            format!("「{text}」は曜日が合っていません。どの日のことですか。"),
        ),
        _ => (
            format!("I did not understand when you mean by “{text}”."),
            format!("「{text}」がいつのことかわかりませんでした。"),
        ),
    };
    let now = spoken::in_full(here.now, &here.zone);
    let all_day = match (why, field) {
        (Unreadable::NoTimeOfDay, "start") => " For a whole day give all_day: true.",
        _ => "",
    };
    Error::new(INVALID_TIME, message)
        .next(format!(
            "Write it like 2026-11-16T07:00:00+09:00, tomorrow at 3pm or +30m.{all_day} It is now {now}."
        ))
        .japanese(format!(
            "{japanese}2026-11-16T07:00:00+09:00、明日15時、30分後のように指定してください。現在は{now}です。"
        ))
        .spoken(spoken, spoken_japanese)
        .details(json!({ "field": field, "now": rfc3339(here.now, &here.zone), "time_zone": here.zone.iana_name() }))
}

pub fn empty_range() -> Error {
    Error::new("EMPTY_RANGE", "The list would end before it begins.")
        .next("Give a later `to`.")
        .japanese("一覧の終わりが始まりより前です。toをもっと後にしてください。")
        .spoken(
            "The end is before the beginning.",
            "終わりが始まりより前です。",
        )
}

pub fn time_passed(spoken: &str, now: &str) -> Error {
    Error::new("TIME_PASSED", format!("{spoken} has passed; it is {now}."))
        .next("Ask for a time in the future.")
        .japanese(format!(
            "{spoken}はすでに過ぎています(現在は{now})。これからの日時を確認してください。"
        ))
        .spoken(
            format!("{spoken} has already passed."),
            format!("{spoken}はもう過ぎています。"),
        )
        .details(json!({ "now": now }))
}

pub fn invalid_repeat(text: &str, why: Option<&str>) -> Error {
    let text: String = text.chars().take(100).collect();
    let message = match why {
        Some(why) => format!("The rule in repeat can't be used: {why}."),
        None => format!("`{text}` in repeat is not understood."),
    };
    let japanese = match why {
        Some(_) => "repeatの規則は使えません。".to_owned(),
        None => format!("repeatの「{text}」がわかりません。"),
    };
    Error::new("INVALID_REPEAT", message)
        .next(
            "Use words such as daily, weekdays, every monday, biweekly, monthly, yearly, 毎日, \
             平日, 毎週月水金, 隔週, 毎月末, or an RRULE such as FREQ=WEEKLY;BYDAY=MO.",
        )
        .japanese(format!(
            "{japanese}毎日、平日、毎週月水金、隔週、毎月、毎月末、毎年などの言葉か、\
             FREQ=WEEKLY;BYDAY=MOのようなRRULEで指定してください。"
        ))
        .spoken(
            "I did not understand how often it should repeat.",
            "繰り返し方がわかりませんでした。",
        )
}

/// `what` is an event or a reminder.
pub fn never_fires(what: &str) -> Error {
    Error::new(
        "INVALID_REPEAT",
        format!("With this rule the {what} would never come."),
    )
    .next("Check its days, months and end.")
    .spoken(
        "It would never come with that repetition.",
        "その繰り返しでは一度も来ません。",
    )
    .japanese("この規則では一度も来ません。曜日、日付、月、終わりを確認してください。")
}

pub fn rule_too_costly() -> Error {
    Error::new(
        "RULE_TOO_COSTLY",
        "Finding the next times of this rule would take too long.",
    )
    .next(
        "Use a rule that comes more often, UNTIL instead of COUNT, or a start nearer to today.",
    )
    .japanese(
        "この規則の次の日時を求めるには時間がかかりすぎます。もっと頻繁に来る規則にするか、COUNTの代わりに\
         UNTILを使うか、開始日時を今日に近づけてください。",
    )
}

/// `dates` are days near it on which the series comes.
pub fn no_occurrence(name: &str, day: Date, dates: &[String]) -> Error {
    let near = match dates {
        [] => "It has no other days.".to_owned(),
        dates => format!("Days near it: {}.", dates.join(", ")),
    };
    Error::new("NO_OCCURRENCE", format!("{name} does not come on {day}."))
        .next(format!("{near} Nothing was done."))
        .japanese(format!(
            "「{name}」は{day}にはありません。近い日は{}です。何も行っていません。",
            dates.join("、")
        ))
        .spoken(
            format!("{name} does not come on that day."),
            format!("「{name}」はその日にはありません。"),
        )
        .details(json!({ "date": day.to_string(), "dates": dates }))
}

pub fn invalid_time_of_day(text: &str) -> Error {
    Error::new(INVALID_TIME, format!("`{text}` is not a time of day."))
        .next("Write it like 09:00.")
        .japanese(format!(
            "「{text}」は時刻ではありません。09:00のように指定してください。"
        ))
        .spoken(
            format!("I did not understand “{text}” as a time of day."),
            format!("「{text}」が何時のことかわかりませんでした。"),
        )
}

/// The hours of a day end before they begin, or are more than a day.
pub fn empty_hours(earliest: &str, latest: &str) -> Error {
    Error::new(
        "EMPTY_RANGE",
        format!("From {earliest} to {latest} is no part of a day."),
    )
    .next("Give a later `latest`: 26:00 is 2:00 on the next day. It is at most 24 hours after `earliest`.")
    .japanese(format!(
        "{earliest}から{latest}までは指定できません。latestをearliestより後にしてください。翌日の2時は26:00です。24時間を超えることはできません。"
    ))
    .spoken(
        "The end of the day is before its beginning.",
        "時間帯の終わりが始まりより前です。",
    )
    .details(json!({ "earliest": earliest, "latest": latest }))
}

pub fn several_that_day(name: &str, times: &[String]) -> Error {
    Error::new(
        "SEVERAL_OCCURRENCES",
        format!("{name} comes {} times that day.", times.len()),
    )
    .next("Give date with a time of details.times; nothing was done.")
    .japanese(format!(
        "「{name}」はその日に{}回あります。details.timesの日時をdateに指定してください。何も行っていません。",
        times.len()
    ))
    .spoken(
        format!("{name} comes several times that day. Which one do you mean?"),
        format!("「{name}」はその日に何回かあります。どれのことですか。"),
    )
    .details(json!({ "times": times }))
}

/// `date` was sent, but names no day.
pub fn empty_date(name: &str) -> Error {
    Error::new(
        INVALID_ARGUMENT,
        format!("`date` is empty, and {name} repeats."),
    )
    .next(
        "Nothing was done. Give the day of the occurrence, or date: all for the whole series.",
    )
    .japanese(format!(
        "「{name}」は繰り返しですが、`date`が空です。何も行っていません。対象の日を指定するか、繰り返し全体なら`date`を`all`にしてください。"
    ))
    .spoken(
        format!("Do you mean one day of {name}, or all of it?"),
        format!("「{name}」の1回だけですか、それとも繰り返し全体ですか。"),
    )
    .details(json!({ "field": "date" }))
}

/// An occurrence would be moved to the time of another one.
pub fn occurrence_exists(name: &str, time: &str) -> Error {
    Error::new(
        "OCCURRENCE_EXISTS",
        format!("{name} already comes at {time}."),
    )
    .next("Nothing was done. Give another time, or cancel this occurrence.")
    .japanese(format!(
        "「{name}」はすでに{time}にあります。何も行っていません。別の日時を指定するか、この回を取り消してください。"
    ))
    .spoken(
        format!("{name} already comes at that time."),
        format!("「{name}」はその日時にすでにあります。"),
    )
    .details(json!({ "time": time }))
}

pub fn too_many_exceptions(most: usize) -> Error {
    Error::new(
        "TOO_MANY_EXCEPTIONS",
        format!("A series can have {most} occurrences that were moved or skipped."),
    )
    .next("Nothing was done. Cancel the series and make a new one.")
    .japanese(format!(
        "移動や取り消しは1つの繰り返しにつき{most}回までです。何も行っていません。繰り返しを取り消して、新しく作ってください。"
    ))
}
