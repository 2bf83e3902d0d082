//! Events of the calendar. An occurrence of a series is the event with its own
//! start and end.

use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, Time},
    tz::TimeZone,
};
use kit::{Param, Result, Row, Sql};

use crate::model::{
    exceptions::{Exceptions, Occurrence},
    moment::instant,
    repeat::{Rule, Start, Steps},
    series::Series,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: String,
    pub title: String,
    pub description: String,
    pub location: String,
    pub starts_at: i64,
    pub ends_at: i64,
    pub zone: String,
    pub sequence: i64,
    pub cancelled_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    /// Who made it.
    pub caller: String,
    /// Who changed it last, if anybody did.
    pub changed_by: Option<String>,
    pub rule: Option<String>,
    /// When the last occurrence ends; `None` without an end.
    pub over_at: Option<i64>,
    /// From midnight to midnight.
    pub all_day: bool,
    pub exceptions: Exceptions,
}

pub const COLUMNS: &str = "id, title, description, location, starts_at, ends_at, zone, sequence, \
    cancelled_at, created_at, updated_at, caller, changed_by, rule, over_at, all_day, exceptions";
/// How many columns those are.
pub const WIDTH: usize = 17;

const DAY_MS: i64 = 24 * 60 * 60_000;

impl Event {
    pub fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.text(0)?,
            title: row.text(1)?,
            description: row.text(2)?,
            location: row.text(3)?,
            starts_at: row.int(4)?,
            ends_at: row.int(5)?,
            zone: row.text(6)?,
            sequence: row.int(7)?,
            cancelled_at: row.opt_int(8)?,
            created_at: row.int(9)?,
            updated_at: row.int(10)?,
            caller: row.text(11)?,
            changed_by: row.opt_text(12)?,
            rule: row.opt_text(13)?,
            over_at: row.opt_int(14)?,
            all_day: row.int(15)? != 0,
            exceptions: Exceptions::read(row.opt_text(16)?.as_deref()),
        })
    }

    pub fn zone(&self) -> TimeZone {
        kit::time::zone(&self.zone).unwrap_or(TimeZone::UTC)
    }

    pub fn start(&self) -> Timestamp {
        Timestamp::from_millisecond(self.starts_at).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The day on which it starts, where it takes place.
    pub fn day(&self) -> Date {
        self.day_of(self.starts_at)
    }

    /// The last day of an all-day event.
    pub fn last_day(&self) -> Date {
        self.day_of(self.ends_at - 1)
    }

    pub fn minutes(&self) -> i64 {
        (self.ends_at - self.starts_at) / 60_000
    }

    /// Whether this caller made it and nobody else changed it.
    pub fn is_of(&self, caller: &str) -> bool {
        super::is_of(caller, &self.caller, self.changed_by.as_deref())
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        self.starts_at < other.ends_at && other.starts_at < self.ends_at
    }

    pub fn series(&self) -> Series<'_> {
        Series {
            first: self.starts_at,
            start: Start::new(self.start(), &self.zone()),
            rule: self.rule.as_deref().and_then(|rule| Rule::parse(rule).ok()),
            exceptions: &self.exceptions,
        }
    }

    /// For comparing times.
    pub fn without_description(&self) -> Self {
        let mut event = self.clone();
        event.description = String::new();
        event
    }

    /// One occurrence, as an event.
    pub fn at(&self, occurrence: &Occurrence) -> Self {
        Self {
            starts_at: occurrence.start,
            ends_at: occurrence
                .end
                .unwrap_or_else(|| self.end_after(occurrence.start)),
            ..self.clone()
        }
    }

    /// The end of an occurrence that starts then.
    fn end_after(&self, start: i64) -> i64 {
        let length = self.ends_at - self.starts_at;
        if !self.all_day {
            return start + length;
        }
        // A day has 23 or 25 hours when clocks change.
        let days = (length + DAY_MS / 2) / DAY_MS;
        let day = self.day_of(start).checked_add(days.days()).ok();
        let end = day.and_then(|day| instant(day.to_datetime(Time::midnight()), &self.zone()));
        end.map_or(start + length, Timestamp::as_millisecond)
    }

    /// The occurrences that overlap the range, as events, at most `most`.
    pub fn occurrences(&self, from: i64, to: i64, most: usize, steps: &Steps) -> Vec<Self> {
        let longest = self.ends_at - self.starts_at + DAY_MS;
        let after = from.saturating_sub(longest);
        let moved = self.exceptions.moved().filter(|one| one.start <= after);
        let found = self.series().between(after, to, usize::MAX, steps);
        let found = found.into_iter().chain(moved);
        let found = found.map(|one| self.at(&one));
        found.filter(|one| one.ends_at > from).take(most).collect()
    }

    /// Carries the exceptions over from `before`, which this event replaces. Returns the
    /// coming days of those that have no place in the changed series.
    pub fn carry_exceptions(&mut self, before: &Self, now: i64, steps: &Steps) -> Vec<Date> {
        let retime = |(start, end)| self.retimed(before, start, end);
        let carried = before.series().carry_over(&self.series(), retime, steps);
        let lost = carried.lost_days(now);
        self.exceptions = carried.kept;
        lost
    }

    /// The start and end of an occurrence that was moved. It keeps its time, and follows
    /// a new length unless it has its own.
    fn retimed(&self, before: &Self, start: i64, end: i64) -> (i64, i64) {
        let start = match self.all_day == before.all_day {
            true => start,
            false => self.at_its_time_on(before.day_of(start)).unwrap_or(start),
        };
        let has_own_length = self.all_day == before.all_day && before.end_after(start) != end;
        match has_own_length {
            true => (start, end),
            false => (start, self.end_after(start)),
        }
    }

    fn day_of(&self, at: i64) -> Date {
        let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        at.to_zoned(self.zone()).date()
    }

    /// The time of day of the event, on another day.
    fn at_its_time_on(&self, day: Date) -> Option<i64> {
        let zone = self.zone();
        let time = self.start().to_zoned(zone.clone()).time();
        instant(day.to_datetime(time), &zone).map(Timestamp::as_millisecond)
    }

    /// Finds out when a series is over.
    pub fn find_end(&mut self, steps: &Steps) {
        let series = self.series();
        let last = series
            .rule
            .as_ref()
            .and_then(|rule| rule.last_time(&series.start, steps));
        let moved = self.exceptions.moved().filter_map(|one| one.end).max();
        let last = last.map(|last| self.end_after(last.as_millisecond()));
        self.over_at = last.map(|last| moved.map_or(last, |moved| moved.max(last)));
    }
}

/// The parameters `$1` to `$11` of what can be changed.
fn parameters<'a>(event: &'a Event, exceptions: Option<&'a str>) -> Vec<Param<'a>> {
    vec![
        Param::Text(&event.id),
        Param::Text(&event.title),
        Param::Text(&event.description),
        Param::Text(&event.location),
        Param::Int(event.starts_at),
        Param::Int(event.ends_at),
        Param::Text(&event.zone),
        event.rule.as_deref().into(),
        event.over_at.into(),
        Param::Int(event.all_day.into()),
        exceptions.into(),
    ]
}

pub fn insert(sql: &mut dyn Sql, event: &Event) -> Result<()> {
    let mut all = parameters(event, None);
    all.extend([Param::Text(&event.caller), Param::Int(event.created_at)]);
    sql.execute(
        "INSERT INTO innervoice_events (id, title, description, location, starts_at, ends_at, \
         zone, rule, over_at, all_day, exceptions, sequence, caller, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $13)",
        &all,
    )?;
    Ok(())
}

/// Changes it if nobody else did meanwhile; `false` if somebody did.
pub fn update(sql: &mut dyn Sql, event: &Event, by: &str, now: i64) -> Result<bool> {
    let exceptions = event.exceptions.text();
    let mut all = parameters(event, exceptions.as_deref());
    all.extend([Param::Int(now), Param::Text(by), Param::Int(event.sequence)]);
    let changed = sql.execute(
        "UPDATE innervoice_events SET title = $2, description = $3, location = $4, \
         starts_at = $5, ends_at = $6, zone = $7, rule = $8, over_at = $9, all_day = $10, \
         exceptions = $11, sequence = sequence + 1, updated_at = $12, changed_by = $13 \
         WHERE id = $1 AND sequence = $14 AND cancelled_at IS NULL",
        &all,
    )?;
    Ok(changed == 1)
}

/// Cancels it if nobody changed it meanwhile; `false` if somebody did.
pub fn cancel(sql: &mut dyn Sql, event: &Event, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_events SET cancelled_at = $2, updated_at = $2, sequence = sequence + 1 \
         WHERE id = $1 AND sequence = $3 AND cancelled_at IS NULL",
        &[
            Param::Text(&event.id),
            Param::Int(now),
            Param::Int(event.sequence),
        ],
    )?;
    Ok(changed == 1)
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Option<Event>> {
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM innervoice_events WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    row.as_ref().map(Event::of).transpose()
}

/// A condition for events that are not over at a time.
pub fn not_over(at: &str) -> String {
    format!(
        "((rule IS NULL AND ends_at > {at}) \
         OR (rule IS NOT NULL AND (over_at IS NULL OR over_at > {at})))"
    )
}

/// How many of a caller's events are not over, counted up to `most`.
pub fn coming_of(sql: &mut dyn Sql, caller: &str, now: i64, most: i64) -> Result<i64> {
    let rows = format!(
        "SELECT 1 FROM innervoice_events \
         WHERE caller = $1 AND {} AND cancelled_at IS NULL",
        not_over("$3")
    );
    super::count(
        sql,
        &rows,
        &[Param::Text(caller), Param::Int(most), Param::Int(now)],
    )
}

/// Events that are not over, each series once.
pub fn coming(sql: &mut dyn Sql, now: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events WHERE {} AND cancelled_at IS NULL \
             ORDER BY starts_at, id LIMIT $2",
            not_over("$1")
        ),
        &[Param::Int(now), Param::Int(most)],
    )?;
    rows.iter().map(Event::of).collect()
}

/// The longest duration of an event.
const LONGEST_MS: i64 = crate::errors::LONGEST_MINUTES * 60_000;
/// How many series are expanded.
const MOST_SERIES: i64 = 5_000;

/// Events that are not cancelled and overlap the range, in order, with each
/// occurrence of a series, at most `most`.
pub fn between(
    sql: &mut dyn Sql,
    from: i64,
    to: i64,
    most: usize,
    steps: &Steps,
) -> Result<Vec<Event>> {
    occurrences_between(sql, from, to, most, steps, |_| {})
}

/// The same without descriptions. A series can have many occurrences, and each would
/// have a copy of a long text.
pub fn times_between(sql: &mut dyn Sql, from: i64, to: i64, steps: &Steps) -> Result<Vec<Event>> {
    let all = usize::MAX;
    occurrences_between(sql, from, to, all, steps, |event| {
        event.description = String::new();
    })
}

fn occurrences_between(
    sql: &mut dyn Sql,
    from: i64,
    to: i64,
    most: usize,
    steps: &Steps,
    shorten: fn(&mut Event),
) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events WHERE rule IS NULL \
             AND starts_at >= $3 AND starts_at < $2 AND ends_at > $1 AND cancelled_at IS NULL \
             ORDER BY starts_at, id LIMIT $4"
        ),
        &[
            Param::Int(from),
            Param::Int(to),
            Param::Int(from.saturating_sub(LONGEST_MS)),
            Param::Int(i64::try_from(most).unwrap_or(i64::MAX)),
        ],
    )?;
    let mut found = rows.iter().map(Event::of).collect::<Result<Vec<_>>>()?;
    // An occurrence can be moved to a time before the series.
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events WHERE rule IS NOT NULL \
             AND (starts_at < $2 OR exceptions IS NOT NULL) \
             AND (over_at IS NULL OR over_at > $1) AND cancelled_at IS NULL \
             ORDER BY starts_at, id LIMIT $3"
        ),
        &[Param::Int(from), Param::Int(to), Param::Int(MOST_SERIES)],
    )?;
    found.iter_mut().for_each(shorten);
    for row in &rows {
        let mut series = Event::of(row)?;
        shorten(&mut series);
        found.extend(series.occurrences(from, to, most, steps));
        if found.len() > most.saturating_mul(2) {
            keep_first(&mut found, most);
        }
    }
    keep_first(&mut found, most);
    Ok(found)
}

fn keep_first(found: &mut Vec<Event>, most: usize) {
    found.sort_by(|a, b| (a.starts_at, &a.id).cmp(&(b.starts_at, &b.id)));
    found.truncate(most);
}

/// For a feed: cancelled events too, so that subscribers remove them.
pub fn for_feed(sql: &mut dyn Sql, from: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events WHERE starts_at >= $1 OR {} \
             ORDER BY starts_at, id LIMIT $2",
            not_over("$1")
        ),
        &[Param::Int(from), Param::Int(most)],
    )?;
    rows.iter().map(Event::of).collect()
}
