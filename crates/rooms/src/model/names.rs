//! The names of rooms and agents. A [`RoomName`] is the only thing a path is
//! ever made from, and it can only hold what [`RoomName::parse`] let through.

use std::fmt;

use kit::Result;

use crate::errors;

pub const ROOM_PATTERN: &str = "^[a-zA-Z0-9_-]+$";
pub const AGENT_PATTERN: &str = r"^[^\x00-\x1f\x7f/\\]+$";
pub const MAX_NAME: usize = 50;
/// Messages of the program itself carry this name; nobody may enter under it.
pub const SYSTEM: &str = "system";

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoomName(String);

impl RoomName {
    pub fn parse(name: &str) -> Result<Self> {
        if is_room_name(name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(errors::invalid_room_name())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub fn is_room_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Any script, but nothing that could break a line or be taken for a path.
pub fn check_agent(name: &str) -> Result<()> {
    let fits = (1..=MAX_NAME).contains(&name.chars().count())
        && !name
            .chars()
            .any(|c| c.is_control() || c == '/' || c == '\\')
        && !name.trim().is_empty();
    if !fits {
        return Err(errors::invalid_agent_name());
    }
    if name.eq_ignore_ascii_case(SYSTEM) {
        return Err(errors::reserved_agent_name());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_names_never_lead_out_of_the_directory() {
        for name in ["general", "dev-team", "A_1", "-", &"x".repeat(50)] {
            assert!(RoomName::parse(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "..",
            "a/b",
            "a\\b",
            "a.b",
            "部屋",
            "a b",
            "a\0",
            &"x".repeat(51),
        ] {
            let error = RoomName::parse(name).unwrap_err();
            assert_eq!(error.code, "INVALID_ROOM_NAME", "{name}");
        }
    }

    #[test]
    fn agents_may_have_names_in_any_script() {
        for name in [
            "agent1",
            "田中",
            "Агент",
            "レビュー担当 (夜)",
            &"あ".repeat(50),
        ] {
            assert!(check_agent(name).is_ok(), "{name}");
        }
        for name in [
            "",
            " ",
            "a\nb",
            "../x",
            "a\\b",
            "system",
            "System",
            &"あ".repeat(51),
        ] {
            let error = check_agent(name).unwrap_err();
            assert_eq!(error.code, "INVALID_AGENT_NAME", "{name}");
        }
    }
}
