//! Who owns which seat, in the store and in the files.

use std::collections::HashMap;

use super::source::Origin;
use crate::model::seat::Seat;

/// The owner of a seat.
enum Owner {
    Stored,
    InFile(Origin),
}

pub struct Owners(HashMap<String, HashMap<Seat, Owner>>);

impl Owners {
    pub fn new(stored: HashMap<String, HashMap<Seat, String>>) -> Self {
        let of_show = |seats: HashMap<Seat, String>| {
            let seats = seats.into_keys();
            seats.map(|seat| (seat, Owner::Stored)).collect()
        };
        let shows = stored.into_iter();
        Self(shows.map(|(show, seats)| (show, of_show(seats))).collect())
    }

    /// Takes the seats for a row, or none if one has an owner.
    pub fn take(&mut self, show: &str, seats: &[Seat], at: &Origin) -> Result<(), String> {
        let owned = self.0.entry(show.to_owned()).or_default();
        for seat in seats {
            match owned.get(seat) {
                None => {}
                Some(Owner::Stored) => {
                    return Err(format!("seat {seat} of {show} is already sold or held"));
                }
                Some(Owner::InFile(other)) => {
                    let other = other.in_words();
                    return Err(format!("seat {seat} of {show} is reserved in {other}"));
                }
            }
        }
        for seat in seats {
            owned.insert(seat.clone(), Owner::InFile(at.clone()));
        }
        Ok(())
    }

    /// The row that reserves a seat.
    pub fn in_file(&self, show: &str, seat: &Seat) -> Option<String> {
        match self.0.get(show)?.get(seat)? {
            Owner::InFile(at) => Some(at.in_words()),
            Owner::Stored => None,
        }
    }

    pub fn without_owner(&self, show: &str, seats: &[Seat]) -> Vec<Seat> {
        let owned = self.0.get(show);
        let is_free = |seat: &&Seat| owned.is_none_or(|owned| !owned.contains_key(*seat));
        seats.iter().filter(is_free).cloned().collect()
    }
}
