//! A seat, and how people write it.

use std::{cmp::Ordering, fmt};

/// `A5`: the row's letters and the number in the row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Seat {
    pub row: String,
    pub number: u32,
}

impl Seat {
    /// Understands `A5`, `a5`, `Ａ５`, `A-5`, `A列5番` and their like.
    pub fn parse(text: &str) -> Option<Self> {
        let text = kit::text::narrow(text).to_uppercase();
        let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
        let (row, rest) = text.split_at_checked(letters)?;
        let rest = rest.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '列' | 'の' | '-' | '_' | 'ー' | '‐'..='―' | '−')
        });
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = rest.split_at_checked(digits)?;
        let known_unit = matches!(unit.trim(), "" | "番" | "番席" | "席" | "号" | "号席");
        if !(1..=2).contains(&letters) || !(1..=4).contains(&digits) || !known_unit {
            return None;
        }
        Some(Self {
            row: row.to_owned(),
            number: number.parse().ok().filter(|number| *number > 0)?,
        })
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.row, self.number)
    }
}

impl Ord for Seat {
    fn cmp(&self, other: &Self) -> Ordering {
        row_order(&self.row, &other.row).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Seat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// From the screen backwards: A to Z, then AA.
pub fn row_order(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A seat as an argument names it, perhaps with the screening it is in
/// (`SCHEDULE_ID:A5`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatReference {
    pub schedule_id: Option<String>,
    pub seat: Seat,
}

impl SeatReference {
    pub fn parse(text: &str) -> Option<Self> {
        let text = kit::text::narrow(text);
        let (schedule_id, seat) = match text.rsplit_once(':') {
            Some((schedule_id, seat)) => (Some(schedule_id.trim()), seat),
            None => (None, text.as_str()),
        };
        Some(Self {
            schedule_id: schedule_id.filter(|id| !id.is_empty()).map(str::to_owned),
            seat: Seat::parse(seat)?,
        })
    }
}

impl fmt::Display for SeatReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schedule_id {
            Some(schedule_id) => write!(f, "{schedule_id}:{}", self.seat),
            None => self.seat.fmt(f),
        }
    }
}

/// Splits a list such as `A1, A2`, `A1、A2`, `A1 A2` or `A1とA2`.
pub fn split_list(text: &str) -> Vec<String> {
    let text = kit::text::narrow(text);
    let mut found: Vec<String> = Vec::new();
    for part in text.split([',', '、', ';', '・', '&', 'と']) {
        let mut row_alone = false;
        for word in part.split_whitespace() {
            let starts_with_digit = word.starts_with(|c: char| c.is_ascii_digit());
            match found.last_mut() {
                // `A 5` and `A列 5番` are one seat.
                Some(row) if row_alone && starts_with_digit => row.push_str(word),
                _ => found.push(word.to_owned()),
            }
            row_alone = !word.contains(|c: char| c.is_ascii_digit());
        }
    }
    found
}

/// `A1, B2`
pub fn join(seats: &[Seat]) -> String {
    let names: Vec<String> = seats.iter().map(Seat::to_string).collect();
    names.join(", ")
}

/// The seats of `from` that are not in `but`.
pub fn without(from: &[Seat], but: &[Seat]) -> Vec<Seat> {
    let left = from.iter().filter(|seat| !but.contains(seat));
    left.cloned().collect()
}

/// The seats in groups that sit side by side, in the order of the hall.
pub fn side_by_side(seats: &[Seat]) -> Vec<Vec<Seat>> {
    let mut sorted = seats.to_vec();
    sorted.sort();
    sorted
        .chunk_by(|left, right| left.row == right.row && left.number + 1 == right.number)
        .map(<[Seat]>::to_vec)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_the_same_seat() {
        for spelling in [
            "A5",
            "a5",
            "Ａ５",
            "ａ５",
            "A-5",
            "Ａ－５",
            "A列5番",
            "Ａ列５番",
            "A列5",
            "A 5",
            "A05",
            " A5 ",
            "A列の5番席",
            "A−5",
            "a_5",
        ] {
            let seat = Seat::parse(spelling).unwrap_or_else(|| panic!("{spelling}"));
            assert_eq!(seat.to_string(), "A5", "{spelling}");
        }
        assert_eq!(Seat::parse("AA12").unwrap().to_string(), "AA12");
    }

    #[test]
    fn what_is_no_seat_is_refused() {
        for text in [
            "", "A", "5", "A0", "A-", "5A", "あ5", "ABC5", "A5B", "A1-A3", "A99999", "A5番地",
        ] {
            assert_eq!(Seat::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_seat_can_carry_its_screening() {
        let named = SeatReference::parse("S20261115-T1-1:Ａ列５番").unwrap();
        assert_eq!(named.schedule_id.as_deref(), Some("S20261115-T1-1"));
        assert_eq!(named.to_string(), "S20261115-T1-1:A5");
        assert_eq!(SeatReference::parse("a-5").unwrap().to_string(), "A5");
        assert_eq!(SeatReference::parse(":A5").unwrap().schedule_id, None);
    }

    #[test]
    fn lists_are_split() {
        for list in [
            "A1,A2",
            "A1, A2",
            "A1、A2",
            "A1 A2",
            "A1　A2",
            "A1とA2",
            "A1;A2",
            "Ａ１，Ａ２",
            "A1・A2",
        ] {
            assert_eq!(split_list(list), ["A1", "A2"], "{list}");
        }
        assert_eq!(split_list("A 1, A列 2番"), ["A1", "A列2番"]);
        assert_eq!(split_list(" , "), Vec::<String>::new());
    }

    #[test]
    fn rows_sort_from_the_screen_backwards() {
        let mut seats: Vec<Seat> = ["AA1", "B1", "A10", "A2"]
            .iter()
            .filter_map(|text| Seat::parse(text))
            .collect();
        seats.sort();
        assert_eq!(join(&seats), "A2, A10, B1, AA1");
    }

    #[test]
    fn groups_of_seats_side_by_side() {
        for (names, groups) in [
            ("A1 A2 A3", "A1, A2, A3"),
            ("A3 A1 A2", "A1, A2, A3"),
            ("A1 A3", "A1 | A3"),
            ("A9 A10 B11", "A9, A10 | B11"),
        ] {
            let found = side_by_side(&names.split(' ').filter_map(Seat::parse).collect::<Vec<_>>());
            let found: Vec<String> = found.iter().map(|group| join(group)).collect();
            assert_eq!(found.join(" | "), groups, "{names}");
        }
    }
}
