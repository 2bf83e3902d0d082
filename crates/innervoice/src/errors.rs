//! Every error code of the counter. Each error has a sentence for the agent, and one
//! that is read out to the user.

mod recipients;
mod times;

use kit::{Error, Rule, error::INVALID_ARGUMENT};
use serde_json::json;

pub use recipients::{
    Candidate, empty_address_book, no_address, recipient_ambiguous, recipient_not_found,
    text_too_long, too_many_recipients, wrong_platform,
};
pub use times::{
    empty_date, empty_hours, empty_range, invalid_repeat, invalid_time, invalid_time_of_day,
    never_fires, no_occurrence, occurrence_exists, rule_too_costly, several_that_day, time_passed,
    too_many_exceptions,
};

const INVALID_DURATION: &str = "INVALID_DURATION";
pub const LONGEST_MINUTES: i64 = 44_640;

pub const DURATION_TYPE: Rule = duration("type");
pub const DURATION_MIN: Rule = duration("minimum");
pub const DURATION_MAX: Rule = duration("maximum");
pub const TITLE_EMPTY: Rule = empty("title", "Give the event a title.");
pub const TEXT_EMPTY: Rule = empty("text", "Say what the message should be.");
pub const NOTE_EMPTY: Rule = empty("note", "Say what to be reminded of.");
pub const TO_EMPTY: Rule = empty("to", "Say whom the message is for.");
pub const PLATFORM: Rule = Rule {
    field: "platform",
    keyword: "enum",
    code: "UNKNOWN_PLATFORM",
    message: "Messages go by sms or email.",
};

const fn duration(keyword: &'static str) -> Rule {
    Rule {
        field: "duration_min",
        keyword,
        code: INVALID_DURATION,
        message: "An event lasts from 1 to 44640 minutes (31 days).",
    }
}

const fn empty(field: &'static str, message: &'static str) -> Rule {
    Rule {
        field,
        keyword: "minLength",
        code: "EMPTY_TEXT",
        message,
    }
}

pub fn invalid_duration() -> Error {
    Error::new(INVALID_DURATION, DURATION_MIN.message)
        .japanese("duration_minは1分から44640分(31日)までです。")
}

pub fn too_many(what: &str, most: i64, cancel: &str) -> Error {
    let (waiting, japanese) = match what {
        "event" => ("events that are not over", "これからの予定"),
        "reminder" => ("active reminders", "有効なリマインダー"),
        _ => ("messages that have yet to be sent", "送信待ちのメッセージ"),
    };
    Error::new(
        format!("TOO_MANY_{}S", what.to_uppercase()),
        format!("You have {most} {waiting}, which is the limit for one key."),
    )
    .next(format!(
        "Nothing was done. Ask the user which ones can go, and cancel them with {cancel}."
    ))
    .japanese(format!(
        "{japanese}が上限の{most}件に達しているため、何も行っていません。不要なものをユーザーに確認し、\
         {cancel}で取り消してください。"
    ))
    .spoken(
        format!("There are already {most} {waiting}, so I did nothing."),
        format!("{japanese}が上限に達しているため、何も行っていません。"),
    )
    .details(json!({ "most": most }))
}

pub fn not_found(what: &str, id: &str, list: &str) -> Error {
    let id: String = id.chars().take(60).collect();
    Error::new(
        format!("{}_NOT_FOUND", what.to_uppercase()),
        format!("There is no {what} {id}."),
    )
    .next(format!("{list} lists those that exist."))
    .japanese(format!(
        "{id}という{}はありません。{list}で確認できます。",
        in_japanese(what)
    ))
    .spoken(
        format!("I can't find that {what}."),
        format!("その{}は見つかりませんでした。", in_japanese(what)),
    )
}

pub fn nothing_to_change() -> Error {
    Error::new("NOTHING_TO_CHANGE", "No change was named.")
        .next("Give at least one field besides the id.")
        .japanese("変更する内容がありません。id以外の項目を少なくとも1つ指定してください。")
        .spoken("What should I change?", "何を変更しますか。")
}

pub fn given_and_cleared(field: &str) -> Error {
    Error::new(
        INVALID_ARGUMENT,
        format!("`{field}` is given and named in `clear`."),
    )
    .next("Do one or the other; nothing was changed.")
    .japanese(format!(
        "`{field}`に値が指定され、`clear`にも含まれています。どちらか一方にしてください。変更はしていません。"
    ))
    .details(json!({ "field": field }))
}

pub fn already_over(what: &str, id: &str, status: &str) -> Error {
    Error::new(
        format!("{}_NOT_ACTIVE", what.to_uppercase()),
        format!("The {what} {id} is {status}."),
    )
    .next("Make a new one instead.")
    .japanese(format!(
        "この{}({id})はすでに終わっているか取り消されています。新しく作ってください。",
        in_japanese(what)
    ))
    .spoken(
        format!("That {what} is already {status}."),
        format!(
            "その{}はすでに終わっているか取り消されています。",
            in_japanese(what)
        ),
    )
}

pub fn too_late(id: &str, status: &str) -> Error {
    Error::new(
        "TOO_LATE_TO_CANCEL",
        format!("The message {id} is {status} and can't be taken back."),
    )
    .next("Send another message that corrects it.")
    .japanese("このメッセージはもう取り消せません。訂正するメッセージを送ってください。")
    .spoken(
        "It is too late to take that message back.",
        "そのメッセージはもう取り消せません。",
    )
    .details(json!({ "status": status }))
}

pub fn nothing_to_cancel() -> Error {
    Error::new("NOTHING_TO_CANCEL", "You have sent no message.")
        .next("message_list shows all messages; give the id of one that is queued.")
        .japanese(
            "送ったメッセージがありません。message_listで確認し、送信待ちのもののidを指定してください。",
        )
}

/// What changes one occurrence can only be its time.
pub fn time_of_all_day() -> Error {
    Error::new(INVALID_ARGUMENT, "An all-day event has no time.")
        .next("Nothing was changed. Give the day alone, or all_day: false with a duration.")
        .japanese("終日の予定に時刻は指定できません。日付だけを指定するか、`all_day: false`と所要時間を指定してください。変更はしていません。")
        .spoken(
            "An all-day event has no time.",
            "終日の予定には時刻がありません。",
        )
        .details(json!({ "field": "start" }))
}

pub fn only_its_time(field: &str) -> Error {
    Error::new(
        INVALID_ARGUMENT,
        format!("With `date` only the time can change, not `{field}`."),
    )
    .next("Nothing was changed. Leave date out to change the whole series.")
    .japanese(format!(
        "`date`を指定したときに変更できるのは日時だけで、`{field}`は変更できません。繰り返し全体を変更するには`date`を省いてください。変更はしていません。"
    ))
    .spoken(
        "For a single day I can only change the time.",
        "1回だけの変更では、日時だけを変えられます。",
    )
    .details(json!({ "field": field }))
}

fn in_japanese(what: &str) -> &'static str {
    match what {
        "event" => "予定",
        "reminder" => "リマインダー",
        _ => "メッセージ",
    }
}

/// A setting that can't be used.
pub fn invalid_config(key: &str, why: &str) -> Error {
    Error::new("INVALID_CONFIG", format!("[innervoice] {key}: {why}."))
        .next("All keys: madoguchi config default")
}
