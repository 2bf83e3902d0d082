//! What is found in a text about a time, and what it means.

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, DateTime, Time, Weekday},
};

/// What somebody said about a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidTime {
    /// The first and the last day: `tomorrow`, `next week`.
    Days(Date, Date),
    Local(DateTime),
    At(Timestamp),
}

/// Why a time can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclear {
    NotUnderstood,
    /// `at 3` without am or pm.
    HalfOfDay,
    /// `Friday, November 21`, which is another weekday.
    Weekday,
}

pub type Reading<T> = Result<T, Unclear>;

/// The parts that were found in a text.
#[derive(Debug, Default)]
pub struct Parts {
    pub days: Option<(Date, Date)>,
    /// The day was named by its weekday alone.
    pub by_weekday: bool,
    /// The weekday beside a date.
    pub weekday: Option<Weekday>,
    /// The date is a day of a month without its year.
    pub has_no_year: bool,
    pub time: Option<TimeOfDay>,
    pub half: Option<Half>,
    pub at: Option<Timestamp>,
}

/// An hour as it was said, and a minute.
#[derive(Debug, Clone, Copy)]
pub struct TimeOfDay {
    pub hour: i8,
    pub minute: i8,
}

/// The part of the day that makes an hour clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Morning,
    /// From noon to the evening.
    Afternoon,
    Night,
}

impl Parts {
    pub fn day(&mut self, day: Date) {
        self.days = Some((day, day));
    }

    pub fn resolve(mut self, now: &Zoned, day: Option<Date>) -> Reading<SaidTime> {
        if let Some(weekday) = self.weekday {
            let (said, _) = self.days.ok_or(Unclear::NotUnderstood)?;
            let this_year = Date::new(now.year(), said.month(), said.day());
            // The weekday tells whether a day of this year that has passed is meant.
            let may_be = [Some(said), this_year.ok().filter(|_| self.has_no_year)];
            let fits = |day: &Date| day.weekday() == weekday;
            let day = may_be.into_iter().flatten().find(fits);
            self.day(day.ok_or(Unclear::Weekday)?);
        }
        self.meant(now, day).ok_or(Unclear::NotUnderstood)
    }

    /// The time of day, in minutes from midnight, if nothing else was said.
    pub fn minutes(&self) -> Option<i32> {
        let (later, time) = self.time?.on_the_clock(self.half)?;
        let is_time_alone = self.days.is_none() && self.at.is_none() && self.weekday.is_none();
        let minutes = i32::from(time.hour()) * 60 + i32::from(time.minute());
        is_time_alone.then_some(later * 24 * 60 + minutes)
    }

    fn meant(&self, now: &Zoned, day: Option<Date>) -> Option<SaidTime> {
        if let Some(at) = self.at {
            return (self.days.is_none() && self.time.is_none()).then_some(SaidTime::At(at));
        }
        let Some(said) = self.time else {
            let (first, last) = self.days?;
            return Some(SaidTime::Days(first, last));
        };
        let (later_days, time) = said.on_the_clock(self.half)?;
        let local = |day: Date| Some(day.checked_add(later_days.days()).ok()?.to_datetime(time));
        let passed = |at: DateTime| at <= now.datetime();
        match self.days {
            Some((day, last)) if day == last => {
                let at = local(day)?;
                let is_next_week = self.by_weekday && day == now.date() && passed(at);
                let weeks = i64::from(is_next_week);
                at.checked_add(weeks.weeks()).ok().map(SaidTime::Local)
            }
            // A time in a week is no time.
            Some(_) => None,
            None => {
                let at = local(day.unwrap_or_else(|| now.date()))?;
                // `夜1時`, said just after midnight, is in the same night.
                let earlier = at.checked_sub(later_days.days()).ok()?;
                let at = if day.is_none() && !passed(earlier) {
                    earlier
                } else {
                    at
                };
                let days = i64::from(day.is_none() && passed(at));
                at.checked_add(days.days()).ok().map(SaidTime::Local)
            }
        }
    }
}

impl TimeOfDay {
    /// The time, and by how many days it is later than the day that was said:
    /// `夜12時`, `tonight at 1` and `25時` are on the next day.
    fn on_the_clock(self, half: Option<Half>) -> Option<(i32, Time)> {
        let hour = match (half, self.hour) {
            (Some(Half::Morning), 12) => 0,
            (Some(Half::Night), 0..=4) => self.hour + 24,
            (Some(Half::Afternoon | Half::Night), 1..=11) => self.hour + 12,
            (Some(Half::Night), 12) => 24,
            (_, hour) => hour,
        };
        let (later, hour) = match hour {
            0..=23 => (0, hour),
            24..=29 => (1, hour - 24),
            _ => return None,
        };
        let time = Time::new(hour, self.minute, 0, 0).ok()?;
        Some((later, time))
    }
}

/// `15:00`, `7:05`.
pub fn colon_time(text: &str) -> Option<TimeOfDay> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |text: &str, most: usize| {
        let fits = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse().ok()).flatten()
    };
    let minute = (minute.len() == 2).then(|| digits(minute, 2)).flatten()?;
    Some(TimeOfDay {
        hour: digits(hour, 2)?,
        minute,
    })
}
