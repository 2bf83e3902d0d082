//! The price list: what a ticket costs for whom, on which day, in which seat.

use jiff::civil::Date;
use kit::{Language, text::fold};
use serde::{Deserialize, Serialize};

use super::{Show, when::HouseTime};

/// The price class of a customer who names none.
pub const GENERAL_CLASS: &str = "general";

/// Days of the week as a price list names them, Monday first.
pub const WEEKDAYS: [(&str, &str); 7] = [
    ("mon", "月"),
    ("tue", "火"),
    ("wed", "水"),
    ("thu", "木"),
    ("fri", "金"),
    ("sat", "土"),
    ("sun", "日"),
];

/// One line of the price list: a price, or a surcharge on every price. It applies where
/// all its conditions hold; an empty condition always holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PriceRule {
    pub price_id: String,
    /// Who may buy at this price, such as `student`; empty for everybody.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub price_class: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub english_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_yen: Option<i64>,
    /// Added to the price of a seat, in place of a price of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surcharge_yen: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_age: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<i64>,
    /// Names of [`WEEKDAYS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weekdays: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days_of_month: Vec<i64>,
    /// Screenings that start at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_time: Option<HouseTime>,
    /// Screenings that start at this time or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_time: Option<HouseTime>,
    /// Only of a surcharge: the seats it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub seat_type: String,
    /// The hall it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub theater_id: String,
    /// What to bring, such as a student card.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl PriceRule {
    pub fn name(&self, language: Language) -> &str {
        match language {
            Language::English if !self.english_name.is_empty() => &self.english_name,
            _ => &self.name,
        }
    }

    fn applies(&self, occasion: &Occasion<'_>) -> bool {
        let holds = |list: bool, member: bool| !list || member;
        let day = i64::from(occasion.date.day());
        holds(
            !self.weekdays.is_empty(),
            self.weekdays.iter().any(|name| name == occasion.weekday()),
        ) && holds(
            !self.days_of_month.is_empty(),
            self.days_of_month.contains(&day),
        ) && holds(
            !self.theater_id.is_empty(),
            self.theater_id == occasion.theater_id,
        ) && self.from_time.is_none_or(|from| from <= occasion.start)
            && self.to_time.is_none_or(|to| occasion.start <= to)
    }

    /// The rule on one line, as a price board has it.
    pub fn line(&self, language: Language) -> String {
        let class = match self.price_class.as_str() {
            "" => String::new(),
            class => format!("{class}: "),
        };
        let conditions = self.conditions(language);
        let name = self.name(language);
        let sign = if self.surcharge_yen.is_some() {
            "+"
        } else {
            ""
        };
        let yen = thousands(self.surcharge_yen.or(self.price_yen).unwrap_or(0));
        match (language, conditions.is_empty()) {
            (Language::English, true) => format!("{class}{name} {sign}{yen} yen"),
            (Language::English, false) => {
                format!("{class}{name} ({}) {sign}{yen} yen", conditions.join(", "))
            }
            (Language::Japanese, true) => format!("{class}{name} {sign}{yen}円"),
            (Language::Japanese, false) => {
                format!("{class}{name}（{}）{sign}{yen}円", conditions.join("・"))
            }
        }
    }

    fn conditions(&self, language: Language) -> Vec<String> {
        let is_english = language == Language::English;
        let mut said: Vec<String> = Vec::new();
        match (self.min_age, self.max_age, is_english) {
            (Some(from), Some(to), true) => said.push(format!("aged {from} to {to}")),
            (Some(from), Some(to), false) => said.push(format!("{from}～{to}歳")),
            (Some(from), None, true) => said.push(format!("aged {from} or over")),
            (Some(from), None, false) => said.push(format!("{from}歳以上")),
            (None, Some(to), true) => said.push(format!("aged {to} or under")),
            (None, Some(to), false) => said.push(format!("{to}歳以下")),
            (None, None, _) => {}
        }
        if !self.weekdays.is_empty() && is_english {
            said.push(format!("every {}", self.weekdays.join(", ")));
        } else if !self.weekdays.is_empty() {
            let known = WEEKDAYS.iter();
            let known = known.filter(|(name, _)| self.weekdays.iter().any(|day| day == name));
            let names: Vec<&str> = known.map(|(_, japanese)| *japanese).collect();
            said.push(format!("毎週{}曜", names.join("・")));
        }
        if !self.days_of_month.is_empty() {
            let days: Vec<String> = self.days_of_month.iter().map(i64::to_string).collect();
            said.push(match is_english {
                true => format!("day {} of the month", days.join(", ")),
                false => format!("毎月{}日", days.join("・")),
            });
        }
        if let Some(from) = self.from_time {
            said.push(match is_english {
                true => format!("from {from}"),
                false => format!("{from}以降"),
            });
        }
        if let Some(to) = self.to_time {
            said.push(match is_english {
                true => format!("until {to}"),
                false => format!("{to}まで"),
            });
        }
        said.extend([&self.seat_type, &self.theater_id, &self.note].map(String::clone));
        said.retain(|text| !text.is_empty());
        said
    }
}

/// `2,000`
pub fn thousands(yen: i64) -> String {
    let digits = yen.to_string();
    let mut text = String::with_capacity(digits.len() + 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// When and where a ticket is used. A show after midnight counts to its programme's day.
#[derive(Debug)]
pub struct Occasion<'a> {
    pub date: Date,
    pub start: HouseTime,
    pub theater_id: &'a str,
}

impl<'a> Occasion<'a> {
    pub fn of(show: &'a Show) -> Option<Self> {
        Some(Self {
            date: super::when::read_date(&show.date)?,
            start: show.start,
            theater_id: &show.theater_id,
        })
    }

    fn weekday(&self) -> &'static str {
        let index = self.date.weekday().to_monday_zero_offset();
        let named = usize::try_from(index).ok().and_then(|at| WEEKDAYS.get(at));
        named.map_or("", |(name, _)| name)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceList {
    pub rules: Vec<PriceRule>,
}

impl PriceList {
    /// The first rule of each price class, in the order of the list.
    pub fn classes(&self) -> Vec<&PriceRule> {
        let mut classes: Vec<&PriceRule> = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.price_yen.is_some()) {
            let class = &rule.price_class;
            if !class.is_empty() && !classes.iter().any(|known| known.price_class == *class) {
                classes.push(rule);
            }
        }
        classes
    }

    /// The class of customers who name none: `general`, or else the first of the list.
    pub fn default_class(&self) -> &str {
        let classes = self.classes();
        let general = classes
            .iter()
            .find(|class| class.price_class == GENERAL_CLASS);
        let default = general.or(classes.first());
        default.map_or(GENERAL_CLASS, |rule| &rule.price_class)
    }

    /// The class of this id, or whose price has this name in either language.
    pub fn class(&self, wanted: &str) -> Option<&str> {
        let wanted = fold(wanted);
        let names = |rule: &PriceRule| {
            [&rule.price_class, &rule.name, &rule.english_name].map(|name| fold(name))
        };
        let classes = self.classes();
        let mut known = classes.iter();
        let found = known.find(|rule| names(rule).contains(&wanted));
        match found {
            Some(rule) => Some(&rule.price_class),
            None if wanted == GENERAL_CLASS || wanted == "大人" || wanted == "adult" => {
                Some(self.default_class())
            }
            None => None,
        }
    }

    /// The cheapest price for somebody of this class. Everybody may buy at the prices
    /// of the default class.
    pub fn price(&self, class: &str, occasion: &Occasion<'_>) -> Option<&PriceRule> {
        let default = self.default_class();
        self.rules
            .iter()
            .filter(|rule| {
                rule.price_yen.is_some()
                    && ["", class, default].contains(&rule.price_class.as_str())
                    && rule.applies(occasion)
            })
            .min_by_key(|rule| rule.price_yen)
    }

    /// What a seat of this type costs more. All surcharges that apply are added.
    pub fn surcharge(&self, seat_type: &str, occasion: &Occasion<'_>) -> i64 {
        self.rules
            .iter()
            .filter(|rule| ["", seat_type].contains(&rule.seat_type.as_str()))
            .filter(|rule| rule.applies(occasion))
            .filter_map(|rule| rule.surcharge_yen)
            .fold(0, i64::saturating_add)
    }

    /// The price in an ordinary seat of the default class and of the cheapest one.
    pub fn range(&self, occasion: &Occasion<'_>, seat_type: &str) -> Option<(i64, i64)> {
        let surcharge = self.surcharge(seat_type, occasion);
        let of = |class: &str| Some(self.price(class, occasion)?.price_yen? + surcharge);
        let general = of(self.default_class())?;
        let classes = self.classes();
        let lowest = classes.iter().filter_map(|rule| of(&rule.price_class));
        Some((general, lowest.min().unwrap_or(general)))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn rule(class: &str, yen: i64) -> PriceRule {
        PriceRule {
            price_id: format!("{class}{yen}"),
            price_class: class.into(),
            name: class.into(),
            price_yen: Some(yen),
            ..PriceRule::default()
        }
    }

    fn list() -> PriceList {
        let late = HouseTime::parse("20:00");
        PriceList {
            rules: vec![
                rule("general", 2_000),
                rule("child", 1_000),
                PriceRule {
                    weekdays: vec!["mon".into(), "tue".into()],
                    ..rule("senior", 1_200)
                },
                PriceRule {
                    days_of_month: vec![1],
                    ..rule("", 1_300)
                },
                PriceRule {
                    from_time: late,
                    english_name: "Late show".into(),
                    ..rule("", 1_500)
                },
                PriceRule {
                    price_yen: None,
                    surcharge_yen: Some(500),
                    seat_type: "カップル".into(),
                    ..rule("", 0)
                },
            ],
        }
    }

    #[test]
    fn the_cheapest_rule_that_applies_counts() {
        let list = list();
        // The first of December 2026 is a Tuesday.
        for (day, start, class, yen) in [
            (2, "10:00", "general", 2_000),
            (2, "20:00", "general", 1_500),
            (2, "25:10", "general", 1_500),
            (2, "10:00", "child", 1_000),
            (2, "20:00", "child", 1_000),
            (1, "20:00", "general", 1_300),
            (1, "10:00", "senior", 1_200),
            // Without a price of its own on this day.
            (2, "10:00", "senior", 2_000),
            (7, "10:00", "senior", 1_200),
        ] {
            let occasion = Occasion {
                date: date(2026, 12, day),
                start: HouseTime::parse(start).unwrap(),
                theater_id: "T1",
            };
            let found = list.price(class, &occasion).and_then(|rule| rule.price_yen);
            assert_eq!(found, Some(yen), "{day} {start} {class}");
            assert_eq!(list.surcharge("カップル", &occasion), 500);
            assert_eq!(list.surcharge("一般", &occasion), 0);
        }
    }

    #[test]
    fn classes_have_names_and_a_default() {
        let mut list = list();
        assert_eq!(list.class("Child"), Some("child"));
        assert_eq!(list.class("大人"), Some("general"));
        assert_eq!(list.class("late show"), None);
        list.rules.remove(0);
        assert_eq!(list.default_class(), "child");
    }

    #[test]
    fn rules_are_written_as_on_a_price_board() {
        let mut senior = rule("senior", 1_300);
        senior.min_age = Some(60);
        senior.days_of_month = vec![1, 14];
        senior.weekdays = vec!["wed".into()];
        senior.from_time = HouseTime::parse("20:00");
        assert_eq!(
            senior.line(Language::English),
            "senior: senior (aged 60 or over, every wed, day 1, 14 of the month, from 20:00) 1,300 yen"
        );
        assert_eq!(
            senior.line(Language::Japanese),
            "senior: senior（60歳以上・毎週水曜・毎月1・14日・20:00以降）1,300円"
        );
        let couple = list().rules.pop().unwrap();
        assert_eq!(couple.line(Language::Japanese), "（カップル）+500円");
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
