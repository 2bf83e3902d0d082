//! What the seats of a reservation cost.

use std::collections::BTreeMap;

use kit::Language;
use serde::{Deserialize, Serialize};

use super::{
    prices::{GENERAL_CLASS, PriceRule, thousands},
    seat::Seat,
};

/// How many tickets of each price class, as a caller names them.
pub type TicketCounts = BTreeMap<String, u32>;

/// A price, as it is kept with a reservation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quote {
    total_yen: i64,
    lines: Vec<QuoteLine>,
    /// The price class of each seat.
    classes: Vec<(String, String)>,
    /// Nobody said who comes: all seats have the default class.
    is_assumed: bool,
    /// What one ticket of the other classes costs.
    #[serde(skip)]
    pub other_prices: BTreeMap<String, i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct QuoteLine {
    price_class: String,
    /// Of the price that applied, in Japanese and in English.
    name: String,
    english_name: String,
    seat_type: String,
    count: i64,
    each_yen: i64,
}

/// A quote in an answer.
#[derive(Debug, Serialize)]
pub struct Price {
    total_yen: i64,
    currency: &'static str,
    lines: Vec<PriceLine>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    other_prices: BTreeMap<String, i64>,
    note: String,
}

#[derive(Debug, Serialize)]
struct PriceLine {
    price_class: String,
    name: String,
    seat_type: String,
    count: i64,
    each_yen: i64,
    amount_yen: i64,
}

impl Quote {
    /// Of no seats yet. `is_assumed`: nobody said who comes.
    pub fn new(is_assumed: bool) -> Self {
        Self {
            is_assumed,
            ..Self::default()
        }
    }

    /// Adds a seat at this price.
    pub fn add(&mut self, seat: &Seat, rule: &PriceRule, class: String, seat_type: &str, yen: i64) {
        self.total_yen = self.total_yen.saturating_add(yen);
        self.classes.push((seat.to_string(), class.clone()));
        let line = QuoteLine {
            price_class: class,
            name: rule.name.clone(),
            english_name: rule.english_name.clone(),
            seat_type: seat_type.to_owned(),
            count: 1,
            each_yen: yen,
        };
        let mut lines = self.lines.iter_mut();
        match lines.find(|known| {
            QuoteLine {
                count: 1,
                ..(*known).clone()
            } == line
        }) {
            Some(known) => known.count += 1,
            None => self.lines.push(line),
        }
    }

    /// As it is kept in a reservation's row.
    pub fn to_text(quote: Option<&Self>) -> String {
        let text = quote.map(|quote| serde_json::to_string(quote).unwrap_or_default());
        text.unwrap_or_default()
    }

    /// The quote of a reservation's row; `None` where it has none.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Who comes, for a new quote; `None`: nobody said so. As many seats as before may be
    /// others; fewer are those that are left. Further ones have the general price.
    pub fn tickets(&self, seats: &[Seat]) -> Option<TicketCounts> {
        if self.is_assumed {
            return None;
        }
        let mut classes: Vec<&str> = self.classes.iter().map(|(_, class)| &**class).collect();
        if seats.len() < classes.len() {
            let left: Vec<String> = seats.iter().map(Seat::to_string).collect();
            let kept = self.classes.iter().filter(|(seat, _)| left.contains(seat));
            classes = kept.map(|(_, class)| &**class).collect();
        }
        classes.resize(seats.len(), GENERAL_CLASS);
        let mut tickets = TicketCounts::new();
        for class in classes {
            *tickets.entry(class.to_owned()).or_default() += 1;
        }
        Some(tickets)
    }

    /// Whether it matters who of the party comes.
    pub fn has_several_classes(&self) -> bool {
        let mut classes = self.classes.iter().map(|(_, class)| class);
        let first = classes.next();
        classes.any(|class| Some(class) != first)
    }

    /// The whole price, as people write it.
    pub fn total(&self, language: Language) -> String {
        let yen = thousands(self.total_yen);
        match language {
            Language::English => format!("{yen} yen"),
            Language::Japanese => format!("{yen}円"),
        }
    }

    pub fn answer(&self, language: Language) -> Price {
        let line = |line: &QuoteLine| PriceLine {
            price_class: line.price_class.clone(),
            name: match language {
                Language::English if !line.english_name.is_empty() => line.english_name.clone(),
                _ => line.name.clone(),
            },
            seat_type: line.seat_type.clone(),
            count: line.count,
            each_yen: line.each_yen,
            amount_yen: line.each_yen.saturating_mul(line.count),
        };
        Price {
            total_yen: self.total_yen,
            currency: "JPY",
            lines: self.lines.iter().map(line).collect(),
            other_prices: self.other_prices.clone(),
            note: self.note(language),
        }
    }

    fn note(&self, language: Language) -> String {
        let class = self.lines.first().map(|line| line.price_class.as_str());
        let (pay, assumed) = match language {
            Language::English => (
                "No payment is taken here; pay at the cinema.",
                format!(
                    " All seats are priced as {}; use tickets for other price classes.",
                    class.unwrap_or_default()
                ),
            ),
            Language::Japanese => (
                "ここではお支払いいただきません。料金は劇場でお支払いください。",
                format!(
                    "全席を{}料金で計算しています。ほかの券種はticketsで指定してください。",
                    class.unwrap_or_default()
                ),
            ),
        };
        match self.is_assumed {
            true => format!("{pay}{assumed}"),
            false => pay.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(names: &str) -> Vec<Seat> {
        names.split(' ').filter_map(Seat::parse).collect()
    }

    #[test]
    fn a_changed_reservation_keeps_its_price_classes() {
        let class = |(seat, class): (&str, &str)| (seat.to_owned(), class.to_owned());
        let quote = Quote {
            classes: [("A1", "general"), ("A2", "child"), ("A3", "child")]
                .map(class)
                .into(),
            ..Quote::default()
        };
        for (seats_now, tickets) in [
            ("B1 B2 B3", vec![("child", 2), ("general", 1)]),
            ("A2 A3", vec![("child", 2)]),
            ("A1", vec![("general", 1)]),
            ("A1 A2 A3 A4", vec![("child", 2), ("general", 2)]),
        ] {
            let tickets = tickets.into_iter().map(|(name, n)| (name.to_owned(), n));
            let found = quote.tickets(&seats(seats_now));
            assert_eq!(found, Some(tickets.collect()), "{seats_now}");
        }
        let assumed = Quote {
            is_assumed: true,
            ..quote
        };
        assert_eq!(assumed.tickets(&seats("A1")), None);
        let kept = Quote::to_text(Some(&assumed));
        assert_eq!(Quote::read(&kept), Some(assumed));
        assert_eq!(Quote::read(&Quote::to_text(None)), None);
    }
}
