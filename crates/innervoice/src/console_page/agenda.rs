//! The calendar, by week or by month.

use jiff::{
    ToSpan as _,
    civil::{Date, Weekday, date},
};
use kit::{
    Context, Language, Result, Sql,
    console::{
        Calendar, CalendarEntry, EntryTime, PageLink, PageQuery, Part, Query, Section, pick,
    },
    time::written_day,
};

use super::wording::keeping;
use crate::{
    answers::timestamp,
    bounds::STEPS_OF_A_LIST,
    model::repeat::Steps,
    store::events::{self, Event},
};

/// How many events and occurrences are read.
const MOST: usize = 1_000;

/// A reader in another zone sees some hours of the days around.
const AROUND_MS: i64 = 24 * 60 * 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Week,
    Month,
}

/// What part of the calendar is shown.
#[derive(Debug)]
pub struct Agenda<'a> {
    query: &'a PageQuery,
    layout: Layout,
    /// A day of the week or month.
    on: Date,
    today: Date,
}

impl<'a> Agenda<'a> {
    pub fn of(context: &Context, query: &'a PageQuery) -> Self {
        let today = context.clock.now_in(&context.zone).date();
        let on = query.get("on").and_then(|on| on.parse::<Date>().ok());
        let on = on.filter(|on| (date(1970, 2, 1)..date(2260, 1, 1)).contains(on));
        Self {
            query,
            layout: match query.get("view") {
                Some("month") => Layout::Month,
                _ => Layout::Week,
            },
            on: on.unwrap_or(today),
            today,
        }
    }

    fn query(&self, layout: Layout, on: Date) -> Query {
        let view = match layout {
            Layout::Week => "week",
            Layout::Month => "month",
        };
        let set = vec![("view", view.to_owned()), ("on", on.to_string())];
        keeping(self.query, set)
    }

    /// The first day and the number of days, in whole weeks from Monday on.
    fn days(&self) -> (Date, usize) {
        match self.layout {
            Layout::Week => (monday(self.on), 7),
            Layout::Month => {
                let first = monday(self.on.first_of_month());
                let last = monday(self.on.last_of_month());
                let weeks = (0..6).find(|week| plus(first, 7 * week) == last);
                (first, 7 * (weeks.unwrap_or(5) as usize + 1))
            }
        }
    }

    pub fn section(&self, sql: &mut dyn Sql, context: &Context) -> Result<Section> {
        let (first, days) = self.days();
        let last = plus(first, days as i32);
        let midnight = |day: Date| {
            let at = day.to_zoned(context.zone.clone());
            at.map_or(0, |at| at.timestamp().as_millisecond())
        };
        let (from, to) = (midnight(first) - AROUND_MS, midnight(last) + AROUND_MS);
        let steps = Steps::new(STEPS_OF_A_LIST);
        let mut found = events::between(sql, from, to, MOST + 1, &steps)?;
        let is_cut = found.len() > MOST || steps.ran_out();
        found.truncate(MOST);
        let calendar = Calendar {
            label: pick(context, "Calendar", "カレンダー").into(),
            zone: context.zone.clone(),
            first,
            days,
            month: match self.layout {
                Layout::Week => None,
                Layout::Month => Some((self.on.year(), self.on.month())),
            },
            most_a_day: match self.layout {
                Layout::Week => 40,
                Layout::Month => 4,
            },
            day_query: keeping(self.query, vec![("view", "week".into())]),
            day_parameter: "on",
            entries: found
                .iter()
                .map(|event| self.entry(context, event))
                .collect(),
        };
        let mut parts = vec![self.links(context), Part::Calendar(calendar)];
        if found.is_empty() {
            let text = pick(
                context,
                "Nothing is planned on these days.",
                "この期間に予定はありません。",
            );
            parts.push(Part::Text(text.into()));
        }
        if is_cut {
            parts.push(Part::there_are_more(context, found.len()));
        }
        Ok(Section {
            title: self.title(context, first, plus(last, -1)),
            parts,
        })
    }

    fn entry(&self, context: &Context, event: &Event) -> CalendarEntry {
        let mut query = self.query(self.layout, self.on);
        query.push(("event", event.id.clone()));
        let title = match event.title.trim() {
            "" => pick(context, "(no title)", "（無題）"),
            title => title,
        };
        CalendarEntry {
            title: title.to_owned(),
            note: event.location.clone(),
            when: match event.all_day {
                true => EntryTime::Days(event.day(), event.last_day()),
                false => EntryTime::Span(event.start(), timestamp(event.ends_at)),
            },
            query,
        }
    }

    fn title(&self, context: &Context, first: Date, last: Date) -> String {
        let language = context.language;
        match (self.layout, language) {
            (Layout::Week, _) => {
                let (first, last) = (written_day(first, language), written_day(last, language));
                format!("{first} – {last}")
            }
            (Layout::Month, Language::English) => self.on.strftime("%B %Y").to_string(),
            (Layout::Month, Language::Japanese) => self.on.strftime("%Y年%-m月").to_string(),
        }
    }

    /// To the other layout, and to the time before and after.
    fn links(&self, context: &Context) -> Part {
        let (before, after) = match self.layout {
            Layout::Week => (plus(self.on, -7), plus(self.on, 7)),
            Layout::Month => (
                plus(self.on.first_of_month(), -1).first_of_month(),
                plus(self.on.last_of_month(), 1),
            ),
        };
        let to = |english, japanese, layout, on| {
            let label: &str = pick(context, english, japanese);
            PageLink::new(label, self.query(layout, on))
        };
        let layout = |english, japanese, layout| PageLink {
            is_current: self.layout == layout,
            ..to(english, japanese, layout, self.on)
        };
        let links = vec![
            layout("Week", "週", Layout::Week),
            layout("Month", "月", Layout::Month),
            to("Earlier", "前へ", self.layout, before),
            to("Today", "今日", self.layout, self.today),
            to("Later", "次へ", self.layout, after),
        ];
        Part::Pager(
            pick(context, "Days of the calendar", "カレンダーの期間").into(),
            links,
        )
    }
}

/// The Monday of the week.
fn monday(day: Date) -> Date {
    let since = day.weekday().since(Weekday::Monday);
    plus(day, -i32::from(since))
}

fn plus(day: Date, days: i32) -> Date {
    day.checked_add(days.days()).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_has_whole_weeks_from_monday_on() {
        let month = |on: Date| {
            let agenda = Agenda {
                query: &PageQuery::default(),
                layout: Layout::Month,
                on,
                today: on,
            };
            agenda.days()
        };
        // November 2026 begins on a Sunday, February 2027 on a Monday.
        assert_eq!(month(date(2026, 11, 16)), (date(2026, 10, 26), 42));
        assert_eq!(month(date(2027, 2, 28)), (date(2027, 2, 1), 28));
        assert_eq!(month(date(2026, 12, 1)), (date(2026, 11, 30), 35));
    }
}
