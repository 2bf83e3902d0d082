//! The price list and the place.

use super::fields::{Fields, Problem, short};
use crate::model::{
    place::Place,
    prices::{PriceRule, WEEKDAYS},
};

const MOST_YEN: i64 = 1_000_000;

pub fn price(fields: &Fields<'_>) -> Result<PriceRule, Problem> {
    let price_class = fields.text(&["price_class", "class"], 50)?;
    let name = fields.text(&["name", "price_name"], 100)?;
    let id = fields.text(&["price_id", "id"], 100)?;
    // A class alone, or a name, identifies the line.
    let ids = [&id, &price_class, &name];
    let price_id = ids.into_iter().find(|text| !text.is_empty());
    let price_id = price_id.ok_or("there is no price_id")?.clone();
    let rule = PriceRule {
        price_id,
        name: match name.is_empty() {
            true => price_class.clone(),
            false => name,
        },
        price_class,
        english_name: fields.text(&["english_name", "name_en"], 100)?,
        price_yen: fields.integer(&["price_yen", "price", "yen"], 0, MOST_YEN)?,
        surcharge_yen: fields.integer(&["surcharge_yen", "surcharge"], 0, MOST_YEN)?,
        min_age: fields.integer(&["min_age"], 0, 150)?,
        max_age: fields.integer(&["max_age"], 0, 150)?,
        weekdays: weekdays(fields)?,
        days_of_month: days_of_month(fields)?,
        from_time: fields.time(&["from_time"])?,
        to_time: fields.time(&["to_time"])?,
        seat_type: fields.text(&["seat_type"], 50)?,
        theater_id: fields.text(&["theater_id", "hall_id"], 100)?,
        note: fields.text(&["note"], 300)?,
    };
    match (rule.price_yen, rule.surcharge_yen) {
        (None, None) => Err("there is no price_yen or surcharge_yen".into()),
        (Some(_), Some(_)) => Err("there are both price_yen and surcharge_yen".into()),
        (Some(_), None) if !rule.seat_type.is_empty() => {
            Err("a price for a seat_type is a surcharge: use surcharge_yen".into())
        }
        (None, Some(_)) if !rule.price_class.is_empty() => {
            Err("a surcharge is for every price_class".into())
        }
        _ => Ok(rule),
    }
}

/// Days of the week in either language, such as `wed`, `Wednesday` or 水曜日.
fn weekdays(fields: &Fields<'_>) -> Result<Vec<String>, Problem> {
    let named = fields.list(&["weekdays", "weekday"])?;
    let mut days = Vec::new();
    for text in &named {
        let text = text.to_lowercase();
        let known = WEEKDAYS
            .iter()
            .find(|(english, japanese)| text.starts_with(english) || text.starts_with(japanese));
        match known {
            Some((english, _)) => days.push((*english).to_owned()),
            None => return Err(format!("`{}` is not a day of the week", short(&text))),
        }
    }
    Ok(days)
}

fn days_of_month(fields: &Fields<'_>) -> Result<Vec<i64>, Problem> {
    let named = fields.list(&["days_of_month", "day_of_month"])?;
    let read = |text: &String| {
        let day = text.trim_end_matches('日').parse().ok();
        day.filter(|day| (1..=31).contains(day))
            .ok_or_else(|| format!("`{}` is not a day of the month", short(text)))
    };
    named.iter().map(read).collect()
}

pub fn place(fields: &Fields<'_>) -> Result<Place, Problem> {
    let place = Place {
        name: fields.text(&["name"], 300)?,
        english_name: fields.text(&["english_name", "name_en"], 300)?,
        address: fields.text(&["address"], 500)?,
        english_address: fields.text(&["english_address", "address_en"], 500)?,
        directions: fields.text(&["directions", "access"], 2_000)?,
        english_directions: fields.text(&["english_directions", "access_en"], 2_000)?,
        accessibility: fields.text(&["accessibility"], 2_000)?,
        english_accessibility: fields.text(&["english_accessibility"], 2_000)?,
        parking: fields.text(&["parking"], 1_000)?,
        opening_hours: fields.text(&["opening_hours"], 500)?,
        phone: fields.text(&["phone", "tel"], 50)?,
        website: fields.text(&["website", "url"], 500)?,
        map_url: fields.text(&["map_url"], 1_000)?,
    };
    for (name, url) in [("website", &place.website), ("map_url", &place.map_url)] {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        if !url.is_empty() && !is_web {
            return Err(format!("{name} is not an http(s) address"));
        }
    }
    match place.name.is_empty() && place.english_name.is_empty() {
        true => Err("there is no name".into()),
        false => Ok(place),
    }
}
