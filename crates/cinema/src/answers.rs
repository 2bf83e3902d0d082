//! Parts of answers that several tools share.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Listing, Show};

/// A screening, as the answers about seats and reservations describe it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduleInfo {
    pub schedule_id: String,
    pub movie_id: String,
    /// The programme's day, YYYY-MM-DD.
    pub date: String,
    /// HH:MM; 25:30 is 01:30 of the next day.
    pub start_time: String,
    pub end_time: String,
    pub theater_id: String,
    pub theater_name: String,
    pub movie_title: String,
}

impl From<&Show> for ScheduleInfo {
    fn from(show: &Show) -> Self {
        Self {
            schedule_id: show.id.clone(),
            movie_id: show.film_id.clone(),
            date: show.date.clone(),
            start_time: show.start.to_string(),
            end_time: show.end.to_string(),
            theater_id: show.theater_id.clone(),
            theater_name: show.theater_name.clone(),
            movie_title: show.film_title.clone(),
        }
    }
}

/// A screening with its counts of seats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Schedule {
    #[serde(flatten)]
    info: ScheduleInfo,
    available_seats_count: i64,
    total_seats_count: i64,
    /// False once it has begun or is full.
    bookable: bool,
}

impl Schedule {
    pub fn of(listing: &Listing, now: i64) -> Self {
        Self {
            info: ScheduleInfo::from(&listing.show),
            available_seats_count: listing.free,
            total_seats_count: listing.show.seat_count,
            bookable: listing.can_be_booked(now),
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
pub struct Reservation {
    /// Whoever has it may look at the reservation: keep it like a ticket.
    pub reservation_id: String,
    pub schedule_id: String,
    pub seat_ids: Vec<String>,
    /// RFC 3339, with the cinema's offset.
    pub reservation_time: String,
    /// held, confirmed, cancelled or expired.
    pub status: String,
    /// Until when the seats are held, for a reservation that is `held`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}
