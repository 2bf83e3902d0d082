//! Errors about whom a message is for.

use kit::{Error, shortlist};
use serde::Serialize;
use serde_json::json;

#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    pub contact_id: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

fn shorter(to: &str) -> String {
    to.chars().take(60).collect()
}

pub fn recipient_not_found(to: &str, candidates: &[Candidate]) -> Error {
    let to = shorter(to);
    let list = shortlist(candidates);
    let (next, next_japanese) = match candidates {
        [] => (
            "Give an e-mail address or a phone number; contacts_search without a query lists everybody.",
            "メールアドレスか電話番号を指定してください。contacts_searchを条件なしで呼ぶと全員がわかります。",
        ),
        _ => (
            "Ask whether one of details.candidates is meant and give its contact_id.",
            "details.candidatesの誰かを指しているか確認し、そのcontact_idを指定してください。",
        ),
    };
    Error::new(
        "RECIPIENT_NOT_FOUND",
        format!("Nobody called `{to}` is in the address book."),
    )
    .next(next)
    .japanese(format!("「{to}」という連絡先はありません。{next_japanese}"))
    .spoken(
        format!("I found nobody called {to} in your address book."),
        format!("「{to}」さんは連絡先に見つかりませんでした。"),
    )
    .details(json!({ "candidates": list.shown, "more": list.more }))
}

/// The same, with what fills an address book without any contacts.
pub fn empty_address_book(to: &str) -> Error {
    let shown = shorter(to);
    recipient_not_found(to, &[])
        .next(
            "The address book is empty: give an e-mail address or a phone number, or have the user \
             fill it with: madoguchi import innervoice FILE",
        )
        .japanese(format!(
            "「{shown}」という連絡先はありません。連絡先が1件も登録されていません。\
             メールアドレスか電話番号を指定するか、ユーザーに`madoguchi import innervoice FILE`での\
             取り込みを依頼してください。"
        ))
}

pub fn recipient_ambiguous(to: &str, candidates: &[Candidate]) -> Error {
    let to = shorter(to);
    let count = candidates.len();
    let list = shortlist(candidates.iter().map(|one| one.name.as_str()));
    let (names, japanese) = (list.sentence(), list.japanese());
    let shown: Vec<&Candidate> = candidates.iter().take(list.shown.len()).collect();
    Error::new(
        "RECIPIENT_AMBIGUOUS",
        format!("{count} people are called `{to}`: {names}."),
    )
    .next("Ask which one is meant and give its contact_id.")
    .japanese(format!(
        "「{to}」に当てはまる人が{count}人います: {japanese}。誰のことか確認し、そのcontact_idを指定してください。"
    ))
    .spoken(
        format!("Which {to} do you mean: {names}?"),
        format!("「{to}」さんは{count}人います。{japanese}のどなたですか。"),
    )
    .details(json!({ "candidates": shown, "more": list.more }))
}

pub fn too_many_recipients(most: usize) -> Error {
    Error::new(
        "TOO_MANY_RECIPIENTS",
        format!("A message goes to at most {most} people."),
    )
    .next("Nothing was sent. Make several calls.")
    .japanese(format!(
        "1回に送れる宛先は{most}件までです。何も送っていません。分けて送ってください。"
    ))
}

pub fn no_address(name: &str, platform: &str) -> Error {
    Error::new(
        "NO_ADDRESS",
        format!("The address book has no {platform} address for {name}."),
    )
    .next("Use the other platform, or ask for an address.")
    .spoken(
        format!("I have no {platform} address for {name}."),
        format!("{name}さんに{platform}で送れる宛先がありません。"),
    )
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
