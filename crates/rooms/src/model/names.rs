//! The names of rooms and agents. Paths are made from [`RoomName`]s alone, and a
//! [`RoomName`] only holds what [`RoomName::parse`] accepts.

use std::{borrow::Cow, fmt};

use kit::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::errors;

/// With the length, which takes fewer characters than `minLength` and `maxLength`.
pub const ROOM_PATTERN: &str = "^[a-zA-Z0-9_-]{1,50}$";
pub const AGENT_PATTERN: &str = r"^[^\x00-\x1f\x7f/\\]{1,50}$";
pub const MAX_NAME: usize = 50;
/// Messages of the program itself carry this name; nobody may enter under it.
pub const SYSTEM: &str = "system";

// No doc comment: it would be published with the schema of every tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(inline)]
pub struct RoomName(#[schemars(regex(pattern = ROOM_PATTERN))] String);

impl<'de> Deserialize<'de> for RoomName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).map_err(D::Error::custom)
    }
}

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

/// A name as it is compared and kept: one spelling for what looks and is the
/// same, such as が as one character and as two. Names in files may be spelt
/// either way.
pub fn canonical(name: &str) -> Cow<'_, str> {
    if is_nfc(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.nfc().collect())
    }
}

/// The rules for every name, even of members that are already in the files: nothing
/// that could break a line or be taken for a path.
pub fn check_agent(name: &str) -> Result<()> {
    let fits = (1..=MAX_NAME).contains(&name.chars().count())
        && !name
            .chars()
            .any(|c| c.is_control() || c == '/' || c == '\\')
        && !name.trim().is_empty();
    if !fits {
        return Err(errors::invalid_agent_name());
    }
    if is_like_system(name) {
        return Err(errors::reserved_agent_name(SYSTEM));
    }
    Ok(())
}

/// The stricter rules for a newcomer: invisible characters could make a name look like
/// another agent's.
pub fn check_newcomer(name: &str) -> Result<()> {
    check_agent(name)?;
    if name.chars().any(is_invisible) {
        return Err(errors::invisible_in_agent_name());
    }
    if name.starts_with(['@', '＠']) {
        return Err(errors::at_before_agent_name());
    }
    Ok(())
}

/// The refusal for somebody who is not a member of a room.
pub fn not_in_room(agent: &str, room: &RoomName) -> kit::Error {
    match check_newcomer(agent) {
        Ok(()) => errors::agent_not_in_room(agent, room.as_str()),
        Err(error) => error,
    }
}

fn is_like_system(name: &str) -> bool {
    let seen: String = name.chars().filter(|c| !is_invisible(*c)).collect();
    let folded = kit::text::fold(seen.trim_start_matches(['@', '＠']));
    folded.chars().map(latin_twin).eq(SYSTEM.chars())
}

/// The form of a name that people see. Names with the same form can be mistaken for
/// each other: they differ in case, width, spaces, invisible characters, or letters
/// of other scripts that look Latin.
pub fn visible(name: &str) -> String {
    let seen = name.nfkc().filter(|c| !is_invisible(*c));
    let small = seen.flat_map(char::to_lowercase).map(latin_twin);
    let text: String = small.nfkc().collect();
    let words: Vec<&str> = text.trim_start_matches('@').split_whitespace().collect();
    words.join(" ")
}

/// Another name among these that people could take for `agent`, unless `agent` is among
/// them itself.
pub fn similar<'a>(agent: &str, among: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    if among.clone().any(|name| name == agent) {
        return None;
    }
    let seen = visible(agent);
    let mut among = among;
    among.find(|name| visible(name) == seen)
}

/// Small letters of other scripts, each after the Latin letter that they look like, by
/// themselves or as capitals.
const LATIN_TWINS: &str =
    "aаαɑ bвβ cс dԁ eеҽε gɡ hһнη iіıι jј kкκ lӏ mмμ nո oоοօ pрρ qԛ sѕ tтτ uս vνѵ wԝ xхχ yуүγυ zζ";

fn latin_twin(c: char) -> char {
    let mut groups = LATIN_TWINS.split(' ');
    let group = groups.find(|group| !c.is_ascii() && group.contains(c));
    group.and_then(|group| group.chars().next()).unwrap_or(c)
}

/// Characters without a shape of their own (Unicode's default ignorable and
/// format characters), and blanks that are not the usual ones.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00a0}' | '\u{00ad}' | '\u{034f}'
            | '\u{0600}'..='\u{0605}' | '\u{061c}' | '\u{06dd}' | '\u{070f}'
            | '\u{0890}' | '\u{0891}' | '\u{08e2}'
            | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
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

    #[test]
    fn newcomers_cannot_hide_behind_invisible_characters() {
        for name in ["bob", "田中　花子", "José", "👍", "bob@home"] {
            assert!(check_newcomer(name).is_ok(), "{name}");
        }
        for name in [
            "bo\u{200b}b",
            "bob\u{202e}",
            "bob\u{fe0f}",
            "bob\u{00a0}smith",
            "\u{3164}",
            "@bob",
            "＠bob",
        ] {
            let error = check_newcomer(name).unwrap_err();
            assert_eq!(
                error.code,
                "INVALID_AGENT_NAME",
                "{}",
                name.escape_unicode()
            );
            assert!(check_agent(name).is_ok(), "who is there already can speak");
        }
        for name in [
            "ＳＹＳＴＥＭ",
            "sys\u{200b}tem",
            "@System",
            "s y s t e m",
            "ѕуѕтем",
        ] {
            let error = check_agent(name).unwrap_err();
            assert!(error.message.contains("reserved"), "{name}");
        }
    }

    #[test]
    fn names_that_look_alike_have_one_visible_form() {
        for name in [
            "Alice",
            "ＡＬＩＣＥ",
            "al\u{200b}ice",
            "\u{202e}alice\u{2069}",
            "alice\u{fe0f}",
            " alice ",
            "@alice",
            "аlісе",
            "Αlice",
        ] {
            assert_eq!(visible(name), "alice", "{}", name.escape_unicode());
        }
        assert_eq!(visible("田中　 花子"), visible("田中 花子"));
        assert_eq!(visible("ﾚﾋﾞｭｰ"), visible("レビュー"));
        let apart = [
            "alice",
            "alice2",
            "alice-2",
            "al ice",
            "alíce",
            "れびゅー",
            "レビュー",
        ];
        let forms: std::collections::HashSet<String> = apart.map(visible).into();
        assert_eq!(forms.len(), apart.len());
    }

    #[test]
    fn composed_and_decomposed_characters_are_the_same() {
        assert_eq!(canonical("か\u{3099}"), "が");
        assert_eq!(canonical("ＡＢ"), "ＡＢ");
    }
}
