//! vCard 2.1, 3.0 and 4.0, as far as names and addresses go.

use super::{
    address::{self, Platform},
    names::parts,
};

/// One person of an address book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// Where in the file it begins.
    pub line: u64,
    pub uid: Option<String>,
    pub name: String,
    /// Everything else the person is called: family and given name alone,
    /// readings, nicknames.
    pub other_names: Vec<String>,
    /// The preferred one of a platform first.
    pub addresses: Vec<(Platform, String)>,
    /// Addresses that are not valid.
    pub unusable: Vec<String>,
}

/// All cards of a file.
pub fn read(text: &str, country_code: &str) -> Vec<Card> {
    let mut cards = Vec::new();
    let mut open: Option<Vec<Property>> = None;
    let mut begun = 0;
    for (number, line) in unfold(text) {
        let Some(property) = Property::read(&line) else {
            continue;
        };
        match (property.name.as_str(), property.value.trim()) {
            ("BEGIN", value) if value.eq_ignore_ascii_case("VCARD") => {
                open = Some(Vec::new());
                begun = number;
            }
            ("END", value) if value.eq_ignore_ascii_case("VCARD") => {
                if let Some(properties) = open.take() {
                    cards.push(card(begun, &properties, country_code));
                }
            }
            _ => {
                if let Some(open) = &mut open {
                    open.push(property);
                }
            }
        }
    }
    cards
}

struct Property {
    name: String,
    parameters: String,
    value: String,
}

impl Property {
    /// `group.NAME;PARAM=x:value`
    fn read(line: &str) -> Option<Self> {
        let (head, value) = split_unquoted(line, ':')?;
        let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
        let name = name.rsplit('.').next()?.trim().to_uppercase();
        let parameters = parameters.to_uppercase();
        let value = if parameters.contains("QUOTED-PRINTABLE") {
            quoted_printable(value)
        } else {
            value.to_owned()
        };
        Some(Self {
            name,
            parameters,
            value,
        })
    }

    fn text(&self) -> String {
        unescape(&self.value).trim().to_owned()
    }

    fn is_preferred(&self) -> bool {
        self.parameters
            .split([';', ',', '=', '"'])
            .any(|part| part == "PREF")
    }

    fn is_mobile(&self) -> bool {
        ["CELL", "MOBILE", "IPHONE"]
            .iter()
            .any(|kind| self.parameters.contains(kind))
    }

    fn is_fax(&self) -> bool {
        self.parameters.contains("FAX") || self.parameters.contains("PAGER")
    }
}

fn card(line: u64, properties: &[Property], country_code: &str) -> Card {
    let mut card = Card {
        line,
        ..Card::default()
    };
    let mut full = Vec::new();
    let (mut phonetic_family, mut phonetic_given) = (String::new(), String::new());
    let mut ranked: Vec<(u8, Platform, String)> = Vec::new();
    for property in properties {
        match property.name.as_str() {
            "FN" => full.push(property.text()),
            "N" => names(&property.value, &mut card.other_names),
            "NICKNAME" => card.other_names.extend(split_escaped(&property.value, ',')),
            "SORT-STRING" => card.other_names.push(property.text()),
            "SOUND" => names(&property.value, &mut card.other_names),
            "X-PHONETIC-LAST-NAME" => phonetic_family = property.text(),
            "X-PHONETIC-FIRST-NAME" => phonetic_given = property.text(),
            "UID" => card.uid = Some(property.text()),
            "EMAIL" => match address::email(&property.text()) {
                Some(address) => {
                    let rank = if property.is_preferred() { 0 } else { 1 };
                    ranked.push((rank, Platform::Email, address));
                }
                None => card.unusable.push(property.text()),
            },
            "TEL" if !property.is_fax() => match address::phone(&property.text(), country_code) {
                Some(number) => {
                    let rank = match (property.is_preferred(), property.is_mobile()) {
                        (true, _) => 0,
                        (false, true) => 1,
                        (false, false) => 2,
                    };
                    ranked.push((rank, Platform::Sms, number));
                }
                None => card.unusable.push(property.text()),
            },
            _ => {}
        }
    }
    if !phonetic_family.is_empty() || !phonetic_given.is_empty() {
        let reading = format!("{phonetic_family} {phonetic_given}");
        card.other_names.push(reading.trim().to_owned());
        card.other_names
            .push(format!("{phonetic_given} {phonetic_family}"));
        card.other_names.extend([phonetic_family, phonetic_given]);
    }
    let mut full = full.into_iter().filter(|name| !name.is_empty());
    card.name = full
        .next()
        .or_else(|| card.other_names.first().cloned())
        .unwrap_or_default();
    card.other_names.extend(full);
    if !properties.iter().any(|property| property.name == "N") {
        card.other_names.extend(parts(&card.name));
    }
    card.other_names.retain(|name| !name.trim().is_empty());
    ranked.sort_by_key(|(rank, platform, _)| (platform.as_str(), *rank));
    for (_, platform, address) in ranked {
        if !card.addresses.contains(&(platform, address.clone())) {
            card.addresses.push((platform, address));
        }
    }
    card
}

/// `Family;Given;…`: both orders, and each alone.
fn names(value: &str, into: &mut Vec<String>) {
    let parts = split_escaped(value, ';');
    let part = |at: usize| parts.get(at).cloned().unwrap_or_default();
    let (family, given) = (part(0), part(1));
    if !family.is_empty() && !given.is_empty() {
        into.push(format!("{family} {given}"));
        into.push(format!("{given} {family}"));
    }
    into.extend([family, given]);
}

/// Lines that belong together, with the number of the first.
pub(super) fn unfold(text: &str) -> Vec<(u64, String)> {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let continues = lines.last().is_some_and(|(_, last)| {
            line.starts_with([' ', '\t'])
                || (last.ends_with('=') && last.to_uppercase().contains("QUOTED-PRINTABLE"))
        });
        match lines.last_mut() {
            Some((_, last)) if continues => {
                if line.starts_with([' ', '\t']) {
                    last.push_str(line.get(1..).unwrap_or_default());
                } else {
                    last.pop();
                    last.push_str(line);
                }
            }
            _ => lines.push((at as u64 + 1, line.to_owned())),
        }
    }
    lines
}

pub(super) fn split_unquoted(line: &str, separator: char) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            c if c == separator && !quoted => {
                return Some((line.get(..at)?, line.get(at + 1..)?));
            }
            _ => {}
        }
    }
    None
}

fn split_escaped(value: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        let last = parts.last_mut();
        match (letter, last) {
            ('\\', Some(last)) => {
                last.push('\\');
                last.extend(letters.next());
            }
            (c, _) if c == separator => parts.push(String::new()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    parts
        .iter()
        .map(|part| unescape(part).trim().to_owned())
        .collect()
}

pub(super) fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

fn quoted_printable(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'=' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next().unwrap_or(b' '), rest.next().unwrap_or(b' ')];
        let digits = std::str::from_utf8(&digits).unwrap_or_default();
        bytes.extend(u8::from_str_radix(digits, 16).ok());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_every_version() {
        let file = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u-1\r\nN:田中;太郎;;;\r\nFN:田中 太郎\r\n\
            X-PHONETIC-LAST-NAME:たなか\r\nX-PHONETIC-FIRST-NAME:たろう\r\n\
            EMAIL;TYPE=HOME:taro@home.example.com\r\n\
            item1.EMAIL;type=INTERNET;type=pref:taro@\r\n work.example.com\r\n\
            TEL;TYPE=HOME:03-1234-5678\r\nTEL;TYPE=CELL:090-1234-5678\r\nEND:VCARD\r\n\
            BEGIN:VCARD\nVERSION:4.0\nFN:Ann \\\"Annie\\\" Lee\\, PhD\nNICKNAME:Annie,A.L.\n\
            EMAIL;PREF=1:ann@example.com\nTEL;VALUE=uri;TYPE=\"voice,cell\":tel:+1-555-0100-222\n\
            END:VCARD\n\
            BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E9=88=B4=E6=9C=A8;=\n=E8=8A=B1\n\
            TEL;CELL:08011112222\nEMAIL:nobody\nEND:VCARD\n";
        let cards = read(file, "81");
        assert_eq!(cards.len(), 3);
        let taro = &cards[0];
        assert_eq!((taro.name.as_str(), taro.line), ("田中 太郎", 1));
        assert_eq!(taro.uid.as_deref(), Some("u-1"));
        for name in ["田中", "太郎", "太郎 田中", "たなか たろう", "たなか"] {
            assert!(taro.other_names.iter().any(|known| known == name), "{name}");
        }
        assert_eq!(
            taro.addresses,
            [
                (Platform::Email, "taro@work.example.com".to_owned()),
                (Platform::Email, "taro@home.example.com".to_owned()),
                (Platform::Sms, "+819012345678".to_owned()),
                (Platform::Sms, "+81312345678".to_owned()),
            ]
        );
        assert_eq!(cards[1].name, "Ann \"Annie\" Lee, PhD");
        assert_eq!(cards[1].addresses[1].1, "+15550100222");
        assert_eq!(cards[2].name, "鈴木 花");
        assert_eq!(cards[2].unusable, ["nobody"]);
    }

    #[test]
    fn broken_files_are_read_as_far_as_they_go() {
        assert!(read("", "81").is_empty());
        assert!(read("hello\nworld", "81").is_empty());
        assert!(read("BEGIN:VCARD\nFN:x", "81").is_empty());
        assert_eq!(read("BEGIN:VCARD\nFN\n:\nEND:VCARD", "81").len(), 1);
    }
}
