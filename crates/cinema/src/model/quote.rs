//! What the seats of a reservation cost.

use std::collections::BTreeMap;

use kit::Language;
use serde::{Deserialize, Serialize};

use super::{prices::PriceRule, seat::Seat};

/// How many tickets of each price class, as a caller names them.
pub type Tickets = BTreeMap<String, u32>;

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

    /// The quote of a reservation's row; `None` where it has none.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
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
