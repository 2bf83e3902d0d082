//! Parts of answers that several tools share.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use kit::{Context, Today, Warning, context::Language};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    model::{
        Listing, Show, Status,
        hall::GENERAL,
        prices::{Occasion, PriceList},
        quote::Price,
        seat::Seat,
        when::rfc3339,
    },
    store::StoredReservation,
};

/// A screening, as the answers about seats and reservations describe it. Its schema is
/// published once, as [`Schedule`].
#[derive(Debug, Serialize)]
pub struct ScheduleInfo {
    pub schedule_id: String,
    pub movie_id: String,
    pub movie_title: String,
    pub date: String,
    pub start_time: String,
    pub end_time: String,
    pub theater_id: String,
    pub theater_name: String,
    pub age_class: String,
}

/// The schema of an object whose fields are published elsewhere or vary.
#[derive(JsonSchema)]
#[schemars(transform = without_required)]
pub struct AnyObject {}

/// Lists of required fields would be a quarter of an output schema, and tell a model
/// nothing. The descriptions of a type itself go too.
pub fn without_required(schema: &mut Schema) {
    schema.remove("required");
    schema.remove("description");
}

impl From<&Show> for ScheduleInfo {
    fn from(show: &Show) -> Self {
        Self {
            schedule_id: show.id.clone(),
            movie_id: show.film_id.clone(),
            movie_title: show.film_title.clone(),
            date: show.date.clone(),
            start_time: show.start.to_string(),
            end_time: show.end.to_string(),
            theater_id: show.theater_id.clone(),
            theater_name: show.theater_name.clone(),
            age_class: show.age_class.clone(),
        }
    }
}

/// A screening with its counts of seats.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Schedule {
    schedule_id: String,
    movie_id: String,
    movie_title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    english_title: String,
    date: String,
    /// 25:30 is 01:30 of the next day
    start_time: String,
    end_time: String,
    theater_id: String,
    age_class: String,
    available_seats_count: i64,
    total_seats_count: i64,
    /// Neither begun nor full
    bookable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_together: Option<usize>,
    // Of a general ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_yen: Option<i64>,
    // Of the cheapest.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_from_yen: Option<i64>,
}

impl Schedule {
    /// Adds what a ticket costs, if that is known.
    #[must_use]
    pub fn priced(mut self, show: &Show, list: Option<&PriceList>) -> Self {
        let occasion = Occasion::of(show);
        let range = list.zip(occasion);
        let range = range.and_then(|(list, occasion)| list.range(&occasion, GENERAL));
        (self.price_yen, self.price_from_yen) = range.unzip();
        self
    }

    /// Where the caller named no film, the English title helps to tell them apart.
    pub fn of(listing: &Listing, now: i64, film_is_named: bool) -> Self {
        let show = &listing.show;
        let says_nothing = film_is_named || show.film_english_title == show.film_title;
        let english_title = match says_nothing {
            true => String::new(),
            false => show.film_english_title.clone(),
        };
        Self {
            schedule_id: show.id.clone(),
            movie_id: show.film_id.clone(),
            movie_title: show.film_title.clone(),
            english_title,
            date: show.date.clone(),
            start_time: show.start.to_string(),
            end_time: show.end.to_string(),
            theater_id: show.theater_id.clone(),
            age_class: show.age_class.clone(),
            available_seats_count: listing.free,
            total_seats_count: show.seat_count,
            bookable: listing.can_be_booked(now),
            most_together: listing.most_together,
            price_yen: None,
            price_from_yen: None,
        }
    }
}

/// A screening to choose from, in an error's details.
#[derive(Debug, Serialize)]
pub struct Candidate<'a> {
    schedule_id: &'a str,
    movie_title: &'a str,
    date: &'a str,
    start_time: String,
    theater_id: &'a str,
    available_seats_count: i64,
}

impl<'a> From<&'a Listing> for Candidate<'a> {
    fn from(listing: &'a Listing) -> Self {
        let show = &listing.show;
        Self {
            schedule_id: &show.id,
            movie_title: &show.film_title,
            date: &show.date,
            start_time: show.start.to_string(),
            theater_id: &show.theater_id,
            available_seats_count: listing.free,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Reservation {
    /// Keep it like a ticket
    pub reservation_id: String,
    pub schedule_id: String,
    pub seat_ids: Vec<String>,
    pub reservation_time: String,
    /// held, confirmed, cancelled or expired
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl Reservation {
    pub fn of(stored: &StoredReservation, zone: &TimeZone) -> Self {
        let held_until = stored.expires_at.filter(|_| stored.status == Status::Held);
        Self {
            reservation_id: stored.id.clone(),
            schedule_id: stored.show.id.clone(),
            seat_ids: seat_ids(&stored.seats),
            reservation_time: rfc3339(stored.created_at, zone),
            status: stored.status.as_str().into(),
            expires_at: held_until.map(|at| rfc3339(at, zone)),
        }
    }
}

pub fn seat_ids(seats: &[Seat]) -> Vec<String> {
    seats.iter().map(Seat::to_string).collect()
}

/// A reservation after something was done with it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Booking {
    pub reservation: Reservation,
    /// As in get_show_schedule
    #[schemars(with = "AnyObject")]
    pub schedule_info: ScheduleInfo,
    /// Signed; get_ticket shows it as a QR code
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// total_yen, lines, note
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    pub price: Option<Price>,
    pub message: String,
    #[serde(flatten)]
    pub today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Booking {
    pub fn new(context: &Context, stored: &StoredReservation, message: String) -> Self {
        Self {
            reservation: Reservation::of(stored, &context.zone),
            schedule_info: ScheduleInfo::from(&stored.show),
            ticket: None,
            price: stored
                .price
                .as_ref()
                .map(|price| price.answer(context.language)),
            message,
            today: Today::of(context),
            warnings: Vec::new(),
        }
    }
}

/// A `T` whose fields the schema of another tool lists. Listing them for each tool
/// would cost every caller thousands of characters.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct PublishedElsewhere<T>(pub T);

impl<T> JsonSchema for PublishedElsewhere<T> {
    fn schema_name() -> Cow<'static, str> {
        "PublishedElsewhere".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AnyObject::json_schema(generator)
    }
}

/// What to tell people about a film that is not for everybody.
pub fn age_warning(show_class: &str, language: Language) -> Option<Warning> {
    let (english, japanese) = match show_class {
        "PG12" => (
            "PG12: children under 12 need a parent's guidance.",
            "PG12: 12歳未満の方には保護者の助言・指導が必要です。",
        ),
        "R15+" => (
            "R15+: nobody under 15 is admitted.",
            "R15+: 15歳未満の方はご入場いただけません。",
        ),
        "R18+" => (
            "R18+: nobody under 18 is admitted.",
            "R18+: 18歳未満の方はご入場いただけません。",
        ),
        _ => return None,
    };
    let message = match language {
        Language::English => english,
        Language::Japanese => japanese,
    };
    Some(Warning::new("AGE_CLASS", message).detail("age_class", show_class))
}
