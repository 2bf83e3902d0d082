//! The counter's tools, one file each: input, output, description, handler.

mod arguments;
pub mod cancel_reservation;
pub mod check_ticket;
pub mod exchange_seats;
pub mod find_best_seats;
pub mod get_movie_list;
pub mod get_reservation_details;
pub mod get_seat_availability;
pub mod get_show_schedule;
pub mod get_ticket;
pub mod hold_seats;
pub mod join_waiting_list;
pub mod reserve_seats;

const DATE_PATTERN: &str = r"^\d{4}-\d{2}-\d{2}$";
const TIME_PATTERN: &str = r"^\d{2}:\d{2}$";
