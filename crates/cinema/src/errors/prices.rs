//! Errors about prices.

use kit::{Error, Language, text::cut};
use serde_json::json;

use crate::model::prices::PriceList;

pub fn unknown_price_class(wanted: &str, list: &PriceList) -> Error {
    let (wanted, _) = cut(wanted, 40);
    let classes = list.classes();
    let names: Vec<&str> = classes
        .iter()
        .map(|rule| rule.price_class.as_str())
        .collect();
    let lines: Vec<String> = classes
        .iter()
        .map(|rule| rule.line(Language::English))
        .collect();
    let names = names.join(", ");
    Error::new(
        "UNKNOWN_PRICE_CLASS",
        format!("`{wanted}` is not a price class of this cinema."),
    )
    .next(format!("Use one of {names}."))
    .japanese(format!(
        "「{wanted}」という券種はありません。{names}のいずれかを指定してください。"
    ))
    .details(json!({ "price_classes": lines }))
}

/// `details`: `{tickets, seats}`.
pub fn tickets_mismatch(tickets: usize, seats: usize) -> Error {
    Error::new(
        "TICKETS_MISMATCH",
        format!("There are {tickets} ticket(s) for {seats} seat(s)."),
    )
    .next("Give as many tickets as seats, or leave tickets out.")
    .japanese(format!(
        "券の枚数（{tickets}）と座席数（{seats}）が一致しません。同じ数にするか、ticketsを省略してください。"
    ))
    .details(json!({ "tickets": tickets, "seats": seats }))
}
