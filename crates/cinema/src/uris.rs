//! The addresses of the counter's resources.

use kit::resource::{escape, unescape};

pub const FILMS: &str = "cinema://films";
pub const PLACE: &str = "cinema://place";
pub const PRICES: &str = "cinema://prices";
pub const SEATS_TEMPLATE: &str = "cinema://shows/{schedule_id}/seats";
pub const WAITING_TEMPLATE: &str = "cinema://waiting/{waiting_id}";
/// The public key with which a gate verifies tickets.
pub const TICKET_KEY: &str = "cinema://ticket-key";
pub const TICKET_TEMPLATE: &str = "cinema://tickets/{reservation_id}";
pub const CALENDAR_TEMPLATE: &str = "cinema://tickets/{reservation_id}.ics";

/// The address of a screening's seat map. Imported ids may hold any character.
pub fn seats(schedule_id: &str) -> String {
    format!("cinema://shows/{}/seats", escape(schedule_id, ""))
}

/// The address of a party on a waiting list.
pub fn waiting(waiting_id: &str) -> String {
    format!("cinema://waiting/{}", escape(waiting_id, ""))
}

/// The party whose place on a waiting list is at this address.
pub fn waiting_id(uri: &str) -> Option<String> {
    let escaped = uri.strip_prefix("cinema://waiting/")?;
    let is_one_part = !escaped.is_empty() && !escaped.contains('/');
    unescape(escaped).filter(|_| is_one_part)
}

/// The screening whose seat map is at this address.
pub fn schedule_id(uri: &str) -> Option<String> {
    let escaped = uri
        .strip_prefix("cinema://shows/")?
        .strip_suffix("/seats")?;
    let is_one_part = !escaped.is_empty() && !escaped.contains('/');
    unescape(escaped).filter(|_| is_one_part)
}

/// The address of a ticket's image.
pub fn ticket_image(reservation_id: &str) -> String {
    format!("cinema://tickets/{}", escape(reservation_id, ""))
}

/// The address of a booking's calendar file.
pub fn ticket_calendar(reservation_id: &str) -> String {
    format!("{}.ics", ticket_image(reservation_id))
}

/// What a ticket's address shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketFormat {
    Image,
    Calendar,
}

/// The reservation whose ticket is at this address.
pub fn ticket(uri: &str) -> Option<(String, TicketFormat)> {
    let escaped = uri.strip_prefix("cinema://tickets/")?;
    let (escaped, format) = match escaped.strip_suffix(".ics") {
        Some(escaped) => (escaped, TicketFormat::Calendar),
        None => (escaped, TicketFormat::Image),
    };
    let is_one_part = !escaped.is_empty() && !escaped.contains('/');
    Some((unescape(escaped).filter(|_| is_one_part)?, format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_address_yields_its_reservation_id() {
        for id in ["rsv_1", "a b/c", "予約%1"] {
            for (uri, format) in [
                (ticket_image(id), TicketFormat::Image),
                (ticket_calendar(id), TicketFormat::Calendar),
            ] {
                assert_eq!(ticket(&uri), Some((id.to_owned(), format)));
            }
        }
        for uri in [
            "cinema://tickets/",
            "cinema://tickets/.ics",
            "cinema://tickets/a/b",
            "x",
        ] {
            assert_eq!(ticket(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_seat_address_yields_its_schedule_id() {
        for id in ["S20261115-T1-1", "a b/c", "上映%1"] {
            assert_eq!(schedule_id(&seats(id)).as_deref(), Some(id));
        }
        assert_eq!(seats("S1"), "cinema://shows/S1/seats");
        for uri in [
            "cinema://shows//seats",
            "cinema://shows/a/b/seats",
            "cinema://shows/%4/seats",
            "x",
        ] {
            assert_eq!(schedule_id(uri), None, "{uri}");
        }
    }
}
