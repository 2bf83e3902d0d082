//! Amounts, names and times as the page writes them.

use jiff::Timestamp;
use kit::{
    Context, Language,
    console::{Cell, PageQuery, Part, Query, Section, Tag, Tone, pick},
};

use crate::{model::money::Yen, state::CounterState, store::Product};

/// What the page shows besides the details of one thing.
const VIEWS: [&str; 3] = ["q", "from", "carts"];

/// The query of a link that changes this, and keeps the rest of the page.
pub fn keeping(query: &PageQuery, set: Query) -> Query {
    query.with(&VIEWS, set)
}

/// `¥1,980`, `1,980円`.
pub fn yen(context: &Context, amount: Yen) -> String {
    let digits = amount.get().to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match context.language {
        Language::English => format!("¥{grouped}"),
        Language::Japanese => format!("{grouped}円"),
    }
}

/// The name of a product in the reader's language, if it has one.
pub fn name<'a>(context: &Context, product: &'a Product) -> &'a str {
    let language = pick(context, "en", "ja");
    product.names.get(language).unwrap_or(&product.name)
}

pub fn price(context: &Context, price_yen: i64) -> String {
    Yen::new(price_yen).map_or_else(|_| price_yen.to_string(), |price| yen(context, price))
}

/// How many can be sold now.
pub fn available(context: &Context, count: i64) -> Cell {
    match count {
        ..=0 => Cell::Tag(Tag::new(Tone::Bad, pick(context, "Sold out", "売り切れ"))),
        _ => Cell::text(count.to_string()),
    }
}

/// A time in the shop's zone.
pub fn time(state: &CounterState, at_ms: i64) -> Cell {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    Cell::Time(at.to_zoned(state.zone.clone()))
}

/// A section that only says that something does not exist.
pub fn missing(title: &str, text: &str) -> Section {
    Section {
        title: title.into(),
        parts: vec![Part::Text(text.into())],
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kit::{Caller, context::NoClient, time::Clock};

    use super::*;

    #[test]
    fn amounts_are_written_as_people_write_them() {
        let mut context = Context::new(Caller::console(), Clock::system(), Arc::new(NoClient));
        for (amount, english) in [
            (0, "¥0"),
            (980, "¥980"),
            (1_980, "¥1,980"),
            (123_456, "¥123,456"),
            (1_234_567, "¥1,234,567"),
        ] {
            assert_eq!(price(&context, amount), english);
        }
        context.language = Language::Japanese;
        assert_eq!(price(&context, 8_206), "8,206円");
    }
}
