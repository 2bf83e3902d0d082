//! Every error code of the counter.

use kit::{Error, Rule, error::INVALID_ARGUMENT};
use serde::Serialize;
use serde_json::json;

use crate::model::moment::Unreadable;

const INVALID_TIME: &str = "INVALID_TIME";
const INVALID_DURATION: &str = "INVALID_DURATION";
const EXAMPLE: &str = "Write it like 2026-11-16T07:00:00+09:00.";
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
        message: "duration_min is a number of minutes, from 1 to 44640 (31 days).",
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

pub fn invalid_time(field: &str, text: &str, why: Unreadable) -> Error {
    let text: String = text.chars().take(60).collect();
    let message = match why {
        Unreadable::Time => format!("`{text}` in {field} is not an ISO 8601 time."),
        Unreadable::NoTimeOfDay => format!("{field} names a day, `{text}`, without a time of day."),
        Unreadable::Zone => format!("The time zone of `{text}` in {field} is not known."),
        Unreadable::Range => format!("`{text}` in {field} is not within 1970 to 2200."),
    };
    let japanese = match why {
        Unreadable::Time => format!("{field}の「{text}」は日時として読めません。"),
        Unreadable::NoTimeOfDay => format!("{field}の「{text}」には時刻がありません。"),
        Unreadable::Zone => format!("{field}の「{text}」のタイムゾーンがわかりません。"),
        Unreadable::Range => format!("{field}の「{text}」は1970年から2200年の範囲にありません。"),
    };
    Error::new(INVALID_TIME, message)
        .next(EXAMPLE)
        .japanese(format!(
            "{japanese}2026-11-16T07:00:00+09:00のように指定してください。"
        ))
}

pub fn invalid_duration() -> Error {
    Error::new(INVALID_DURATION, DURATION_MIN.message)
        .japanese("duration_minは1分から44640分(31日)までです。")
}

pub fn empty_range() -> Error {
    Error::new("EMPTY_RANGE", "The list would end before it begins.")
        .next("Give a later `to`.")
        .japanese("一覧の終わりが始まりより前です。toをもっと後にしてください。")
}

pub fn time_passed(spoken: &str, now: &str) -> Error {
    Error::new("TIME_PASSED", format!("{spoken} has passed; it is {now}."))
        .next("Ask for a time in the future.")
        .japanese(format!(
            "{spoken}はすでに過ぎています(現在は{now})。これからの日時を確認してください。"
        ))
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
}

pub fn never_fires() -> Error {
    Error::new(
        "INVALID_REPEAT",
        "The reminder would never fire with this rule.",
    )
    .next("Check its days, months and end.")
    .japanese("この規則では一度も通知されません。曜日、日付、月、終わりを確認してください。")
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
    .details(json!({ "most": most }))
}

#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    pub contact_id: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

pub fn recipient_not_found(to: &str, candidates: &[Candidate]) -> Error {
    let to: String = to.chars().take(100).collect();
    let next = if candidates.is_empty() {
        "Give an e-mail address or a phone number, or find the name with contacts_search."
    } else {
        "Ask whether one of details.candidates is meant and give its contact_id."
    };
    Error::new(
        "RECIPIENT_NOT_FOUND",
        format!("Nobody called `{to}` is in the address book."),
    )
    .next(next)
    .japanese(format!(
        "「{to}」という連絡先はありません。{}",
        if candidates.is_empty() {
            "メールアドレスか電話番号を指定するか、contacts_searchで名前を探してください。"
        } else {
            "details.candidatesの誰かを指しているか確認し、そのcontact_idを指定してください。"
        }
    ))
    .details(json!({ "candidates": candidates }))
}

pub fn recipient_ambiguous(to: &str, candidates: &[Candidate]) -> Error {
    let names: Vec<&str> = candidates.iter().map(|one| one.name.as_str()).collect();
    Error::new(
        "RECIPIENT_AMBIGUOUS",
        format!(
            "{} people are called `{to}`: {}.",
            candidates.len(),
            names.join(", ")
        ),
    )
    .next("Ask which one is meant and give its contact_id.")
    .japanese(format!(
        "「{to}」に当てはまる人が{}人います: {}。誰のことか確認し、そのcontact_idを指定してください。",
        candidates.len(),
        names.join("、")
    ))
    .details(json!({ "candidates": candidates }))
}

pub fn no_address(name: &str, platform: &str) -> Error {
    Error::new(
        "NO_ADDRESS",
        format!("The address book has no {platform} address for {name}."),
    )
    .next("Use the other platform, or ask for an address.")
    .japanese(format!(
        "{name}さんの連絡先に{platform}で送れる宛先がありません。もう一方の方法で送るか、宛先を確認してください。"
    ))
}

pub fn wrong_platform(address: &str, platform: &str) -> Error {
    Error::new(
        "WRONG_PLATFORM",
        format!("{address} is not an address for {platform}."),
    )
    .next("Leave platform out, or give an address of that platform.")
    .japanese(format!(
        "{address}には{platform}で送れません。platformを省くか、それで送れる宛先を指定してください。"
    ))
}

pub fn text_too_long(most: usize) -> Error {
    Error::new(
        "TEXT_TOO_LONG",
        format!("A text message holds at most {most} characters."),
    )
    .next("Shorten it, or send it as an e-mail.")
    .japanese(format!(
        "SMSは{most}文字までです。短くするか、メールで送ってください。"
    ))
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
}

pub fn nothing_to_change() -> Error {
    Error::new("NOTHING_TO_CHANGE", "No change was named.")
        .next("Give at least one field besides the id.")
        .japanese("変更する内容がありません。id以外の項目を少なくとも1つ指定してください。")
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
}

pub fn too_late(id: &str, status: &str) -> Error {
    Error::new(
        "TOO_LATE_TO_CANCEL",
        format!("The message {id} is {status} and can't be taken back."),
    )
    .next("Send another message that corrects it.")
    .japanese("このメッセージはもう取り消せません。訂正するメッセージを送ってください。")
    .details(json!({ "status": status }))
}

pub fn nothing_to_cancel() -> Error {
    Error::new("NOTHING_TO_CANCEL", "You have sent no message.")
        .next("message_list shows all messages; give the id of one that is queued.")
        .japanese(
            "送ったメッセージがありません。message_listで確認し、送信待ちのもののidを指定してください。",
        )
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
        .next("`madoguchi config default` shows what can be set.")
}
