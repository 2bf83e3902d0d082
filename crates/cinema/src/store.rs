//! The rows: one SQL text for both engines, with as few statements as possible.
//! `films` and `shows` read the programme, `bookings` reserves seats, `halls` keeps
//! seat plans.

mod bookings;
mod films;
mod halls;
mod insert;
mod shows;

pub use bookings::{
    NewReservation, book, lock_show, reservation, seats_of_caller, taken_by_show, taken_seats,
};
pub use films::{Showing, films, has_films};
pub use halls::{hall, save_hall};
pub use insert::insert_rows;
pub use shows::{Filter, ListFrom, coming_days, coming_ids, listings, show, shows_from};
