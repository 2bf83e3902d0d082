//! The addresses of the counter's resources.

use kit::resource::{escape, unescape};

pub const FILMS: &str = "cinema://films";
pub const SEATS_TEMPLATE: &str = "cinema://shows/{schedule_id}/seats";
pub const WAITING_TEMPLATE: &str = "cinema://waiting/{waiting_id}";

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

#[cfg(test)]
mod tests {
    use super::*;

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
