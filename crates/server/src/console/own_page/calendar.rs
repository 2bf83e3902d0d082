//! Draws some days of a calendar: a grid on a wide screen, a list on a narrow one.

use jiff::{Timestamp, ToSpan as _, Zoned, civil::Date, tz::TimeZone};
use kit::{
    Language,
    console::{Calendar, CalendarEntry, EntryTime},
    time::japanese_weekday,
};
use maud::{Markup, html};

use super::{
    super::{parts::excerpt, view::View, words::Words},
    cells::place_of,
    links::address,
};

/// Titles are cut beyond this; the event's own page has them whole.
const LONGEST_TITLE: usize = 80;

pub fn drawn(view: &View, counter: &str, calendar: &Calendar) -> Markup {
    let today = view.desk.clock.now_in(&view.zone).date();
    let grid = Grid {
        words: view.words,
        zone: &view.zone,
        counter,
        calendar,
        today,
    };
    grid.drawn(view.desk.clock.now())
}

struct Grid<'a> {
    words: &'a Words,
    /// The reader's.
    zone: &'a TimeZone,
    counter: &'a str,
    calendar: &'a Calendar,
    today: Date,
}

impl Grid<'_> {
    fn drawn(&self, now: Timestamp) -> Markup {
        let Calendar { first, days, .. } = *self.calendar;
        let days = (0..days).filter_map(|at| {
            let at = i32::try_from(at).ok()?;
            first.checked_add(at.days()).ok()
        });
        html! {
            p class="hint" { (self.whose_times(now)) }
            ol class="calendar" role="list" aria-label=(self.calendar.label) {
                @for day in days { (self.day(day)) }
            }
        }
    }

    /// In which zone the days and times are.
    fn whose_times(&self, now: Timestamp) -> String {
        let named = |zone: &TimeZone| zone.iana_name().unwrap_or("UTC").to_owned();
        let (here, there) = (named(self.zone), named(&self.calendar.zone));
        let differ = self.zone.to_offset(now) != self.calendar.zone.to_offset(now);
        match (differ, self.words.language()) {
            (false, Language::English) => format!("Times are those of {there}."),
            (false, Language::Japanese) => format!("時刻は{there}のものです。"),
            (true, Language::English) => {
                format!("Times are those of {here}, where you are; beside them, those of {there}.")
            }
            (true, Language::Japanese) => {
                format!("時刻は現在地（{here}）のもので、横に{there}の時刻を添えています。")
            }
        }
    }

    fn day(&self, day: Date) -> Markup {
        let on_it: Vec<&CalendarEntry> = self.on(day);
        let most = self.calendar.most_a_day;
        let left = on_it.len().saturating_sub(most);
        let is_other = (self.calendar.month)
            .is_some_and(|(year, month)| (day.year(), day.month()) != (year, month));
        let class = match (is_other, on_it.is_empty()) {
            (true, true) => "other empty-day",
            (true, false) => "other",
            (false, true) => "empty-day",
            (false, false) => "",
        };
        let mut query = self.calendar.day_query.clone();
        query.retain(|(name, _)| *name != self.calendar.day_parameter);
        query.push((self.calendar.day_parameter, day.to_string()));
        html! {
            li class=(class) aria-current=[(day == self.today).then_some("date")] {
                p class="day" { (self.written(day)) }
                @if !on_it.is_empty() {
                    ul role="list" {
                        @for entry in on_it.iter().take(most) { (self.entry(day, entry)) }
                    }
                }
                @if left > 0 {
                    p { a href=(address(self.counter, &query)) { (self.more(left)) } }
                }
            }
        }
    }

    fn more(&self, left: usize) -> String {
        match self.words.language() {
            Language::English => format!("{left} more"),
            Language::Japanese => format!("ほか{left}件"),
        }
    }

    /// `Mon 16`, with the month where one begins.
    fn written(&self, day: Date) -> String {
        let names_month = day.day() == 1 || day == self.calendar.first;
        let weekday = japanese_weekday(day.weekday());
        match (self.words.language(), names_month) {
            (Language::English, false) => day.strftime("%a %-d").to_string(),
            (Language::English, true) => day.strftime("%a %-d %b").to_string(),
            (Language::Japanese, false) => format!("{}日({weekday})", day.day()),
            (Language::Japanese, true) => {
                format!("{}月{}日({weekday})", day.month(), day.day())
            }
        }
    }

    /// What is on a day: that which lasts all day first.
    fn on(&self, day: Date) -> Vec<&CalendarEntry> {
        let midnight = |day: Date| {
            day.to_zoned(self.zone.clone())
                .ok()
                .map(|at| at.timestamp())
        };
        let next = day.tomorrow().unwrap_or(day);
        let (Some(from), Some(to)) = (midnight(day), midnight(next)) else {
            return Vec::new();
        };
        let is_on = |entry: &&CalendarEntry| match entry.when {
            EntryTime::Days(first, last) => (first..=last).contains(&day),
            EntryTime::Span(start, end) => start < to && (end > from || start >= from),
        };
        let mut found: Vec<&CalendarEntry> = self.calendar.entries.iter().filter(is_on).collect();
        found.sort_by_key(|entry| matches!(entry.when, EntryTime::Span(_, _)));
        found
    }

    fn entry(&self, day: Date, entry: &CalendarEntry) -> Markup {
        html! {
            li {
                span class="at" { (self.hours(day, entry.when)) }
                " " a href=(address(self.counter, &entry.query)) {
                    (excerpt(&entry.title, LONGEST_TITLE))
                }
                @if !entry.note.is_empty() {
                    " " span class="hint" { (excerpt(&entry.note, LONGEST_TITLE)) }
                }
                @if let Some(there) = self.there(day, entry.when) {
                    " " span class="there" { (there) }
                }
            }
        }
    }

    /// From when to when on this day, in the reader's zone.
    fn hours(&self, day: Date, when: EntryTime) -> String {
        let all_day = || self.words.pick("all day", "終日").to_owned();
        let EntryTime::Span(start, end) = when else {
            return all_day();
        };
        let (start, end) = (self.here(start), self.here(end));
        let ends_today = end.date() == day;
        match (start.date() == day, ends_today) {
            (true, true) => format!("{}–{}", clock(&start), clock(&end)),
            (true, false) => format!("{}–", clock(&start)),
            (false, true) => format!("–{}", clock(&end)),
            (false, false) => all_day(),
        }
    }

    /// When it starts where the counter is, on the day when it starts here, if the
    /// clocks differ.
    fn there(&self, day: Date, when: EntryTime) -> Option<String> {
        let EntryTime::Span(start, _) = when else {
            return None;
        };
        let here = self.here(start);
        let there = start.to_zoned(self.calendar.zone.clone());
        if here.offset() == there.offset() || here.date() != day {
            return None;
        }
        let day = match here.date() == there.date() {
            true => String::new(),
            false => format!("{} ", self.written(there.date())),
        };
        Some(format!("{day}{} {}", clock(&there), place_of(&there)))
    }

    fn here(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.zone.clone())
    }
}

fn clock(at: &Zoned) -> String {
    at.strftime("%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn zone(name: &str) -> TimeZone {
        kit::time::zone(name).unwrap()
    }

    fn entry(title: &str, start: &str, end: &str) -> CalendarEntry {
        CalendarEntry {
            title: title.into(),
            note: String::new(),
            when: EntryTime::Span(start.parse().unwrap(), end.parse().unwrap()),
            query: vec![("event", "evt_1".into())],
        }
    }

    fn calendar(entries: Vec<CalendarEntry>) -> Calendar {
        Calendar {
            label: "Calendar".into(),
            zone: zone("Asia/Tokyo"),
            first: date(2026, 11, 16),
            days: 7,
            month: None,
            most_a_day: 2,
            day_query: Vec::new(),
            day_parameter: "on",
            entries,
        }
    }

    /// Each day of the calendar, as a reader in this zone sees it.
    fn days(reader: &str, calendar: &Calendar) -> Vec<String> {
        let grid = Grid {
            words: Words::of(Language::English),
            zone: &zone(reader),
            counter: "innervoice",
            calendar,
            today: date(2026, 11, 17),
        };
        let now = "2026-11-17T00:00:00Z".parse().unwrap();
        let page = grid.drawn(now).into_string();
        page.split("<p class=\"day\">")
            .skip(1)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn events_are_on_the_days_of_their_reader() {
        // Tuesday at nine in Tokyo, which is Monday evening in New York.
        let all = calendar(vec![entry(
            "run",
            "2026-11-17T00:00:00Z",
            "2026-11-17T01:00:00Z",
        )]);
        let tokyo = days("Asia/Tokyo", &all);
        assert!(tokyo[1].contains("09:00–10:00"), "{}", tokyo[1]);
        assert!(!tokyo.concat().contains("class=\"there\""), "{tokyo:?}");
        let york = days("America/New_York", &all);
        assert!(!york[1].contains("run"), "{}", york[1]);
        assert!(york[0].contains("19:00–20:00"), "{}", york[0]);
        assert!(york[0].contains("Tue 17 09:00 Tokyo"), "{}", york[0]);
    }

    #[test]
    fn what_lasts_over_midnight_is_on_both_days() {
        let all = calendar(vec![entry(
            "trip",
            "2026-11-16T13:00:00Z",
            "2026-11-18T01:00:00Z",
        )]);
        let days = days("Asia/Tokyo", &all);
        for (day, hours) in [(0, "22:00–<"), (1, "all day"), (2, "–10:00")] {
            assert!(days[day].contains(hours), "{}", days[day]);
        }
        assert!(!days[3].contains("trip"), "{}", days[3]);
    }

    #[test]
    fn a_full_day_says_how_many_are_left_out() {
        let at = |hour: u32| {
            let start = format!("2026-11-17T0{hour}:00:00Z");
            entry(&format!("n{hour}"), &start, &start)
        };
        let mut entries: Vec<CalendarEntry> = (0..3).map(at).collect();
        entries.push(CalendarEntry {
            when: EntryTime::Days(date(2026, 11, 17), date(2026, 11, 17)),
            ..at(9)
        });
        let days = days("Asia/Tokyo", &calendar(entries));
        let tuesday = &days[1];
        assert!(
            tuesday.contains("n9") && tuesday.contains("n0"),
            "{tuesday}"
        );
        assert!(
            !tuesday.contains("n1") && tuesday.contains(">2 more<"),
            "{tuesday}"
        );
        assert!(tuesday.contains("?on=2026-11-17"), "{tuesday}");
        assert!(days[0].contains("Mon 16 Nov"), "{}", days[0]);
    }

    #[test]
    fn hostile_titles_are_text() {
        let hostile = format!("<script>alert(1)</script>\u{202e}{}", "x".repeat(10_000));
        let at = "2026-11-17T03:00:00Z";
        let days = days("Asia/Tokyo", &calendar(vec![entry(&hostile, at, at)]));
        let page = &days[1];
        assert!(
            !page.contains("<script") && page.contains("U+202E"),
            "{page}"
        );
        assert!(
            !page.contains('\u{202e}') && page.matches('x').count() < 200,
            "{page}"
        );
    }
}
