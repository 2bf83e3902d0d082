//! The addresses of resources.

use super::names::RoomName;

pub fn room(room: &RoomName) -> String {
    format!("rooms://{room}")
}

pub fn messages(room: &RoomName) -> String {
    format!("rooms://{room}/messages")
}

/// The room that an address names, and whether its messages are meant.
pub fn parse(uri: &str) -> Option<(RoomName, bool)> {
    let rest = uri.strip_prefix("rooms://")?;
    let (name, messages) = match rest.strip_suffix("/messages") {
        Some(name) => (name, true),
        None => (rest, false),
    };
    Some((RoomName::parse(name).ok()?, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_can_be_parsed_again() {
        let name = RoomName::parse("dev-team").unwrap();
        assert_eq!(messages(&name), "rooms://dev-team/messages");
        assert_eq!(parse(&messages(&name)), Some((name.clone(), true)));
        assert_eq!(parse(&room(&name)), Some((name, false)));
        for uri in ["rooms://", "rooms://../x", "rooms://a/b/messages", "x"] {
            assert_eq!(parse(uri), None, "{uri}");
        }
    }
}
