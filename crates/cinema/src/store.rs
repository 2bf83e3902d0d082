//! The rows: one SQL text for both engines, with as few statements as possible.
//! `films` and `shows` read the programme, `bookings` keeps reservations, `booking_lists`
//! lists them, `seats` says who owns a seat, `waiting` who waits for one. `halls` has seat
//! plans, `tickets` the key of tickets and who was admitted, `documents` the price list and
//! the place.

mod booking_lists;
mod bookings;
mod documents;
mod exports;
mod films;
mod halls;
mod imports;
mod insert;
mod seats;
mod shows;
mod tickets;
mod waiting;

pub use booking_lists::{ListedBooking, bookings_at_console, bookings_of_show};
pub use bookings::{
    HOLDS_PER_DELETION, NewReservation, Revision, StoredReservation, book, delete_expired_holds,
    expiring, held_by_caller, lock_caller, lock_show, locked_reservation, remove, reservation,
    revise,
};
pub use documents::{Document, any_document, document, document_names, save_document};
pub use exports::{
    films_to_export, halls_to_export, has_own_films, reservations_to_export, shows_to_export,
};
pub use films::{Showing, films, has_films};
pub use halls::{hall, save_hall};
pub use imports::{
    KnownFilm, KnownShow, NewShow, ReservationRow, has_demo, known_films, known_halls,
    known_reservations, known_shows, save_films, save_reservations, save_shows, seat_owners,
};
pub use insert::insert_rows;
pub use seats::{
    Owned, keep_until, owned_seats, release, seats_of_caller, take, taken_by_show, taken_seats,
};
pub use shows::{
    Filter, ListFrom, coming_days, coming_ids, days_from, listings, show, shows_from,
    shows_with_waiting,
};
pub use tickets::{admit, booked_ids, keep_ticket_secret, ticket_secret};
pub use waiting::{
    MOST_WAITING, NewWaiting, WaitingParty, count_waiting, delete_waiting, join_waiting,
    leave_waiting, offered, position, waiting_parties, waiting_party,
};
