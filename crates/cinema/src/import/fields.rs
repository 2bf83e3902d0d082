//! The fields of a row, under any of the names that people give them. JSON has numbers
//! and lists; CSV has texts.

use std::{cell::RefCell, collections::BTreeSet};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use kit::text::clean;
use serde_json::{Map, Value};

use crate::model::{
    seat::{Seat, SeatReference, split_list},
    when::{HouseTime, read_date, tidy_date, tidy_time},
};

/// What is wrong with a row.
pub type Problem = String;

pub struct Fields<'a> {
    fields: &'a Map<String, Value>,
    /// Names that were asked for. The others are unknown.
    asked: RefCell<BTreeSet<&'static str>>,
}

type Names = &'static [&'static str];

impl<'a> Fields<'a> {
    pub fn new(fields: &'a Map<String, Value>) -> Self {
        Self {
            fields,
            asked: RefCell::default(),
        }
    }

    /// The fields that nobody asked for.
    pub fn unknown(&self) -> impl Iterator<Item = &'a String> {
        let asked = self.asked.borrow().clone();
        let names = self.fields.keys();
        names.filter(move |name| !asked.contains(name.as_str()))
    }

    /// Fields that say nothing which is not known otherwise.
    pub fn ignore(&self, names: Names) {
        self.asked.borrow_mut().extend(names);
    }

    /// The first of these fields that has a value.
    pub fn value(&self, names: Names) -> Option<(&'static str, &'a Value)> {
        self.ignore(names);
        names.iter().find_map(|name| {
            let value = self.fields.get(*name)?;
            let is_empty = value.is_null() || value.as_str().is_some_and(|it| it.trim().is_empty());
            (!is_empty).then_some((*name, value))
        })
    }

    pub fn text(&self, names: Names, most: usize) -> Result<String, Problem> {
        match self.value(names) {
            None => Ok(String::new()),
            Some((_, Value::String(text))) => Ok(clean(text, most)),
            Some((_, Value::Number(number))) => Ok(number.to_string()),
            Some((name, _)) => Err(format!("{name} is not text")),
        }
    }

    pub fn required(&self, names: Names, most: usize) -> Result<String, Problem> {
        let text = self.text(names, most)?;
        match (text.is_empty(), names.first()) {
            (true, Some(name)) => Err(format!("there is no {name}")),
            _ => Ok(text),
        }
    }

    /// A whole number. A unit after it is allowed: `120 min`, `120分`, `2,000円`.
    pub fn integer(&self, names: Names, least: i64, most: i64) -> Result<Option<i64>, Problem> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| {
                let real = number.as_f64().filter(|real| real.fract() == 0.0)?;
                format!("{real:.0}").parse().ok()
            }),
            Value::String(text) => leading_number(text),
            _ => None,
        };
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(format!(
                "{name} is not a whole number from {least} to {most}"
            )),
        }
    }

    pub fn real(&self, names: Names, least: f64, most: f64) -> Result<Option<f64>, Problem> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => kit::text::narrow(text).parse().ok(),
            _ => None,
        };
        match number.filter(|number: &f64| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{name} is not a number from {least} to {most}")),
        }
    }

    /// `YYYY-MM-DD`, from any way to write a date with digits.
    pub fn date(&self, names: Names) -> Result<Option<String>, Problem> {
        let text = self.text(names, 40)?;
        if text.is_empty() {
            return Ok(None);
        }
        // Not `today` and the like: a file is imported on any day.
        let is_numeric = kit::text::narrow(&text).starts_with(|c: char| c.is_ascii_digit());
        let day = text.split(['T', ' ']).next().unwrap_or_default();
        let date = tidy_date(day, jiff::civil::Date::MIN).filter(|_| is_numeric);
        let date = date.and_then(|date| read_date(&date));
        match date {
            Some(date) => Ok(Some(date.to_string())),
            None => Err(format!(
                "`{}` is not a date such as 2026-11-15",
                short(&text)
            )),
        }
    }

    /// A house time: `25:30` is 01:30 of the next day.
    pub fn time(&self, names: Names) -> Result<Option<HouseTime>, Problem> {
        let text = self.text(names, 40)?;
        if text.is_empty() {
            return Ok(None);
        }
        let time = text.split_once('T').map_or(text.as_str(), |(_, time)| time);
        let tidy = tidy_time(time).unwrap_or_default();
        match HouseTime::parse(&tidy) {
            Some(time) => Ok(Some(time)),
            None => Err(format!("`{}` is not a time such as 19:30", short(&text))),
        }
    }

    /// An instant in milliseconds: RFC 3339, or a local date and time.
    pub fn instant(&self, names: Names, zone: &TimeZone) -> Result<Option<i64>, Problem> {
        let text = self.text(names, 60)?;
        if text.is_empty() {
            return Ok(None);
        }
        let local = || {
            let civil: DateTime = text.parse().ok()?;
            Some(civil.to_zoned(zone.clone()).ok()?.timestamp())
        };
        let instant = text.parse::<Timestamp>().ok().or_else(local);
        match instant {
            Some(instant) => Ok(Some(instant.as_millisecond())),
            None => Err(format!(
                "`{}` is not a time such as 2026-11-15T19:30:00+09:00",
                short(&text)
            )),
        }
    }

    /// Texts: a list, or one text separated by commas, spaces, `|` or `;`.
    pub fn list(&self, names: Names) -> Result<Vec<String>, Problem> {
        let texts = match self.value(names) {
            None => Vec::new(),
            Some((_, Value::String(list))) => {
                let words = list.split([',', ' ', '|', ';', '、']);
                words.map(str::to_owned).collect()
            }
            Some((_, Value::Array(items))) => items.iter().map(plain).collect(),
            Some((_, Value::Number(number))) => vec![number.to_string()],
            Some((name, _)) => return Err(format!("{name} is not a list")),
        };
        let texts = texts.into_iter().map(|text| clean(&text, 100));
        Ok(texts.filter(|text| !text.is_empty()).collect())
    }

    /// Seats in any spelling, each once.
    pub fn seats(&self, names: Names) -> Result<Vec<Seat>, Problem> {
        let listed = match self.value(names) {
            None => Vec::new(),
            Some((_, Value::String(list))) => split_list(&list.replace('|', ",")),
            Some((_, Value::Array(items))) => items.iter().map(plain).collect(),
            Some((name, _)) => return Err(format!("{name} is not a list of seats")),
        };
        let mut seats: Vec<Seat> = Vec::with_capacity(listed.len());
        for text in listed {
            let seat = SeatReference::parse(&text)
                .ok_or_else(|| format!("`{}` is not a seat", short(&text)))?;
            if seats.contains(&seat.seat) {
                return Err(format!("seat {} is named twice", seat.seat));
            }
            seats.push(seat.seat);
        }
        Ok(seats)
    }
}

/// Seat numbers: a list of numbers, or ranges such as `1-4 6-10`.
pub fn numbers(value: &Value) -> Result<Vec<u32>, Problem> {
    let texts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => {
            let text = kit::text::narrow(text).replace(['~', '〜', '–'], "-");
            let words = text.split([',', ' ', ';', '、', '|']);
            words.map(str::to_owned).collect()
        }
        _ => return Err("the numbers are not a list".into()),
    };
    let mut numbers = Vec::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        let read = |text: &str| {
            let number = text.trim().parse::<u32>().ok();
            number.filter(|number| (1..=9_999).contains(number))
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (read(first), read(last)) {
            (Some(first), Some(last)) if first <= last => numbers.extend(first..=last),
            _ => return Err(format!("`{}` is not a seat number", short(text))),
        }
    }
    Ok(numbers)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn leading_number(text: &str) -> Option<i64> {
    let text = kit::text::narrow(text).replace(',', "");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-');
    let (number, unit) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let known_unit = ["", "min", "minutes", "m", "分", "円", "yen", "歳"].contains(&unit.trim());
    number.parse().ok().filter(|_| known_unit)
}

/// What a message repeats of a value.
pub fn short(text: &str) -> &str {
    kit::text::cut(text, 40).0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_in_the_forms_of_json_and_csv() {
        let row = json!({
            "id": 7, "duration": "120分", "rating": "4.5", "date": "2026/1/2",
            "start_time": "9:05", "end_time": "2026-01-02T25:30", "seats": "A1|a-2",
            "at": "2026-01-02 10:00:00", "days": "mon wed", "none": "", "more": 1
        });
        let fields = Fields::new(row.as_object().unwrap());
        assert_eq!(fields.text(&["movie_id", "id"], 9).unwrap(), "7");
        assert_eq!(fields.integer(&["duration"], 1, 600).unwrap(), Some(120));
        assert_eq!(fields.real(&["rating"], 0.0, 5.0).unwrap(), Some(4.5));
        assert_eq!(fields.date(&["date"]).unwrap().unwrap(), "2026-01-02");
        let time = |name| fields.time(name).unwrap().unwrap().to_string();
        assert_eq!(time(&["start_time"]), "09:05");
        assert_eq!(time(&["end_time"]), "25:30");
        let seats = fields.seats(&["seats"]).unwrap();
        assert_eq!(crate::model::seat::join(&seats), "A1, A2");
        let instant = fields.instant(&["at"], &TimeZone::UTC).unwrap();
        assert_eq!(instant, Some(1_767_348_000_000));
        assert_eq!(fields.list(&["days"]).unwrap(), ["mon", "wed"]);
        assert_eq!(fields.value(&["none"]), None);
        assert_eq!(fields.unknown().collect::<Vec<_>>(), ["more"]);
        assert!(fields.required(&["title"], 9).is_err());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let row = json!({
            "date": "today", "time": "30:00", "at": "soon", "seats": ["A1", "A1"], "n": "x"
        });
        let fields = Fields::new(row.as_object().unwrap());
        assert!(fields.date(&["date"]).is_err());
        assert!(fields.time(&["time"]).is_err());
        assert!(fields.instant(&["at"], &TimeZone::UTC).is_err());
        let twice = fields.seats(&["seats"]).unwrap_err();
        assert_eq!(twice, "seat A1 is named twice");
        assert!(fields.integer(&["n"], 0, 9).is_err());
    }

    #[test]
    fn seat_numbers_in_ranges() {
        for value in [json!("1-3 5"), json!([1, 2, 3, 5]), json!("１〜３, 5")] {
            assert_eq!(numbers(&value).unwrap(), [1, 2, 3, 5], "{value}");
        }
        for value in [json!("3-1"), json!("0"), json!("x"), json!({})] {
            assert!(numbers(&value).is_err(), "{value}");
        }
    }
}
