//! The nouns of a cinema and the rules about them, without any I/O: [`film`] (genres
//! and age classes), [`titles`] and [`words`] (which film somebody means), [`recommend`] (which film
//! somebody might like), [`seat`] (how
//! a seat is written), [`hall`] (the seat plan and the free seats), [`best_seats`] (which
//! free seats suit a party best), [`party`] (seats that are booked together), [`prices`]
//! and [`quote`] (what they cost), [`ticket`], [`qr`] and [`ticket_calendar`] (what a
//! customer takes home), [`place`] (where the cinema is), [`when`] (dates and house times).

pub mod best_seats;
pub mod film;
pub mod hall;
pub mod party;
pub mod place;
pub mod prices;
pub mod qr;
pub mod quote;
pub mod recommend;
pub mod seat;
pub mod ticket;
pub mod ticket_calendar;
pub mod titles;
pub mod when;
mod words;

use kit::Language;

/// Where a reservation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Kept for somebody until it expires.
    Held,
    Confirmed,
    Cancelled,
    Expired,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Confirmed => "confirmed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// The status now. A hold whose time has passed is expired, even if the row
    /// still says `held`.
    pub fn read(stored: &str, expires_at: Option<i64>, now: i64) -> Option<Self> {
        Some(match stored {
            "held" if expires_at.is_some_and(|at| at <= now) => Self::Expired,
            "held" => Self::Held,
            "confirmed" => Self::Confirmed,
            "cancelled" => Self::Cancelled,
            "expired" => Self::Expired,
            _ => return None,
        })
    }
}

/// A hash (FNV-1a). It tells whether what is cached is still what is stored.
pub fn digest(bytes: impl Iterator<Item = u8>) -> i64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// One screening of one film in one hall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Show {
    pub id: String,
    pub film_id: String,
    pub film_title: String,
    /// Empty if unknown.
    pub film_english_title: String,
    pub genre: String,
    pub age_class: String,
    pub theater_id: String,
    pub theater_name: String,
    pub seat_count: i64,
    /// Identifies the hall's seat plan: equal digests mean equal plans.
    pub layout_digest: i64,
    /// The day of the programme. A show after midnight belongs to the day before.
    pub date: String,
    pub start: when::HouseTime,
    pub end: when::HouseTime,
    /// Milliseconds since 1970.
    pub starts_at: i64,
    /// How many parties wait for seats.
    pub waiting: i64,
    pub is_demo: bool,
    /// Identifies the price list; `None` if there is none.
    pub price_digest: Option<i64>,
}

impl Show {
    pub fn title_in(&self, language: Language) -> &str {
        match language {
            Language::English if !self.film_english_title.is_empty() => &self.film_english_title,
            _ => &self.film_title,
        }
    }

    pub fn has_begun(&self, now: i64) -> bool {
        self.starts_at <= now
    }
}

/// A screening and how many of its seats are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub show: Show,
    pub free: i64,
    /// How many free ordinary seats there are side by side, if that was counted.
    pub most_together: Option<usize>,
}

impl Listing {
    pub fn can_be_booked(&self, now: i64) -> bool {
        self.free > 0 && !self.show.has_begun(now)
    }
}
