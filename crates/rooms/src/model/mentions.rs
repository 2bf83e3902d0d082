//! Finds the agents that a message mentions with `@name`.
//!
//! Japanese has no spaces, so the members of the room decide first: in
//! `@田中さん、お願いします` the longest member's name that fits is meant. Only
//! when none fits is the name cut out of the text by itself.

/// How many agents one message can mention; the first ones count.
pub const MAX_MENTIONS: usize = 100;
/// How many `@` of one message are looked at. Each is compared with every
/// member while the room's lock is held.
const MAX_SIGNS: usize = 1_000;

/// The agents a message mentions, in order, each once. A member's own spelling
/// stands for whatever case the text uses.
pub fn mentions<'a>(text: &str, members: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut signs = 0;
    let mut before = None;
    for (at, character) in text.char_indices() {
        if is_at(character) && !before.is_some_and(is_of_address) {
            signs += 1;
            if signs > MAX_SIGNS || found.len() == MAX_MENTIONS {
                break;
            }
            let rest = text.get(at + character.len_utf8()..).unwrap_or_default();
            let name = member(rest, members.clone()).or_else(|| word(rest));
            if let Some(name) = name
                && !found.iter().any(|known| known == name)
            {
                found.push(name.to_owned());
            }
        }
        before = Some(character);
    }
    found
}

pub fn is_at(character: char) -> bool {
    matches!(character, '@' | '＠')
}

/// `someone@example.com` mentions nobody.
fn is_of_address(before: char) -> bool {
    before.is_ascii_alphanumeric() || matches!(before, '.' | '_' | '-' | '+')
}

fn member<'a>(rest: &str, members: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    members
        .filter(|name| {
            after(rest, name).is_some_and(|rest| ends_there(name.chars().next_back(), rest))
        })
        // Of `bob` and `BOB` the one that is spelt like it.
        .max_by_key(|name| (name.len(), rest.starts_with(name)))
}

/// What follows `name` at the beginning of `text`, whatever the case.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in name.chars() {
        let here = rest.next()?;
        if here != wanted && !here.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether a name that ends in `last` can end before `rest`: `dev` is not meant
/// by `@developer`, nor 田 by `@田中`, but 田中 is by `@田中様` and `@田中さん`.
fn ends_there(last: Option<char>, rest: &str) -> bool {
    let (Some(last), Some(next)) = (last, rest.chars().next()) else {
        return true;
    };
    if HONORIFICS.iter().any(|title| rest.starts_with(title)) {
        return true;
    }
    let latin = |c: char| c.is_alphanumeric() && !is_japanese(c) || c == '_';
    let both = |is: fn(char) -> bool| is(last) && is(next);
    // `agent-1` goes on after `agent`, a dash before a blank does not.
    let hyphenated = next == '-' && rest.chars().nth(1).is_some_and(latin);
    !(latin(last) && (latin(next) || hyphenated) || both(is_kanji) || both(is_katakana))
}

/// The name at the beginning of `text`, without knowing who is there.
fn word(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let belongs = if first.is_ascii() {
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
    } else {
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | 'ー' | '々')
    };
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches('-');
    let bare = HONORIFICS
        .iter()
        .find_map(|title| word.strip_suffix(title))
        .filter(|bare| !bare.is_empty())
        .unwrap_or(word);
    Some(bare).filter(|name| !name.is_empty() && name.chars().count() <= super::names::MAX_NAME)
}

const HONORIFICS: [&str; 9] = [
    "さん",
    "さま",
    "様",
    "くん",
    "君",
    "ちゃん",
    "氏",
    "殿",
    "先生",
];

fn is_kanji(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々')
}

fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a0}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}')
}

fn is_japanese(c: char) -> bool {
    is_kanji(c) || is_katakana(c) || matches!(c, '\u{3040}'..='\u{309f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, members: &[&str]) -> Vec<String> {
        mentions(text, members.iter().copied())
    }

    #[test]
    fn the_example_of_the_seed_mentions_its_coordinator() {
        let text = "Hello @coordinator, task completed!";
        assert_eq!(found(text, &[]), ["coordinator"]);
        assert_eq!(found(text, &["coordinator", "agent1"]), ["coordinator"]);
    }

    #[test]
    fn japanese_names_are_found_without_spaces() {
        for text in [
            "@田中さん、お願いします",
            "進捗は@田中に聞いて",
            "＠田中様へ",
            "@田中",
            "@田中：確認済み",
        ] {
            assert_eq!(found(text, &["田中", "鈴木"]), ["田中"], "{text}");
        }
        assert_eq!(
            found("@レビュー担当お願い", &["レビュー担当"]),
            ["レビュー担当"]
        );
        assert_eq!(found("@佐藤さん、どうぞ", &[]), ["佐藤"]);
        assert_eq!(found("@agent1さん", &[]), ["agent1"]);
        assert_eq!(found("@さくらさん", &["さくら"]), ["さくら"]);
    }

    #[test]
    fn the_longest_member_is_meant_and_no_other() {
        let members = ["dev", "developer", "田", "田中", "agent", "agent-1"];
        assert_eq!(found("@developer", &members), ["developer"]);
        assert_eq!(found("@田中 @agent-1!", &members), ["田中", "agent-1"]);
        assert_eq!(found("@devs", &members), ["devs"]);
        assert_eq!(found("@田中村", &["田中"]), ["田中村"]);
        assert_eq!(found("@dev- wait", &members), ["dev"]);
        assert_eq!(found("@Dev", &members), ["dev"]);
        assert_eq!(found("@Agent One: hi", &["Agent One"]), ["Agent One"]);
    }

    #[test]
    fn the_first_hundred_mentions_count() {
        let text: String = (0..3_000).map(|n| format!("@w{n} ")).collect();
        let mentioned = found(&text, &[]);
        assert_eq!(mentioned.len(), MAX_MENTIONS);
        assert_eq!(mentioned.last().unwrap(), "w99");
        let signs = "@ ".repeat(MAX_SIGNS - 1);
        assert_eq!(found(&format!("{signs}@bob"), &[]), ["bob"]);
        assert!(found(&format!("{signs}@ @bob"), &[]).is_empty());
    }

    #[test]
    fn each_name_is_found_once_and_addresses_are_none() {
        assert_eq!(found("@b @a @b", &[]), ["b", "a"]);
        assert!(found("mail someone@example.com, or @ noon", &[]).is_empty());
        assert_eq!(found("(@a) こんにちは@b", &[]), ["a", "b"]);
    }
}
