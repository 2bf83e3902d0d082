//! Shows how far long work has come: a bar with rate and time left on a terminal,
//! and elsewhere a line now and then. Everything goes to stderr.

use std::{
    io::IsTerminal,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use kit::context::Language;

use crate::{locale, output::tell};

/// When the first line is printed where there is no terminal. Work that is done before
/// prints none.
const FIRST_LINE: Duration = Duration::from_secs(3);

/// How often the bar moves by itself, so that a long step does not look like a
/// program that hangs.
const TICK: Duration = Duration::from_millis(200);

/// How far the work has come.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Step<'a> {
    /// In any unit.
    pub done: f64,
    /// In the same unit; `None`: nobody knows.
    pub total: Option<f64>,
    /// What was done so far, for people: 1,200 `records`.
    pub count: u64,
    pub noun: &'a str,
}

pub struct Progress {
    what: String,
    began: Instant,
    /// `None` where there is no terminal.
    bar: Option<ProgressBar>,
    next_line: Mutex<Duration>,
}

impl Progress {
    /// `what` is being done: `Importing products.csv`.
    pub fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0).with_style(style(false));
            bar.set_prefix(what.clone());
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            what,
            began: Instant::now(),
            bar,
            next_line: Mutex::new(FIRST_LINE),
        }
    }

    pub fn set(&self, step: Step<'_>) {
        let elapsed = self.began.elapsed();
        if let Some(bar) = &self.bar {
            if let Some(total) = step.total.filter(|_| bar.length() == Some(0)) {
                bar.set_style(style(true));
                bar.set_length(in_units(total));
            }
            bar.set_position(in_units(step.done));
            bar.set_message(amount(&step, elapsed));
            return;
        }
        let mut next = self
            .next_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if elapsed >= *next {
            *next = line_after(elapsed);
            tell(&format!("{}: {}", self.what, line(&step, elapsed)));
        }
    }

    /// The next part of the work, of unknown length.
    pub fn next_part(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_style(style(false));
            bar.set_length(0);
            bar.set_position(0);
            bar.set_prefix(what.to_owned());
            bar.set_message(String::new());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// When the line after one at `elapsed` is due. The longer the work has taken, the fewer
/// lines are printed: 35 in an hour.
fn line_after(elapsed: Duration) -> Duration {
    elapsed + FIRST_LINE.max(elapsed / 5)
}

/// Bars count whole units, and some work counts in fractions.
fn in_units(amount: f64) -> u64 {
    (amount * 1000.0) as u64
}

fn style(has_end: bool) -> ProgressStyle {
    let style = ProgressStyle::with_template(template(has_end, locale::language()));
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn template(has_end: bool, language: Language) -> &'static str {
    match (has_end, language) {
        (true, Language::English) => "{prefix} [{bar:24}] {percent:>3} % {msg}, {eta} left",
        (true, Language::Japanese) => "{prefix} [{bar:24}] {percent:>3} % {msg} 残り{eta}",
        (false, _) => "{spinner} {prefix} {msg} {elapsed}",
    }
}

/// `1,200 records, 400/s`
fn amount(step: &Step<'_>, elapsed: Duration) -> String {
    let count = grouped(step.count);
    let seconds = elapsed.as_secs_f64();
    if seconds < 0.5 {
        return format!("{count} {}", step.noun);
    }
    let rate = grouped((step.count as f64 / seconds) as u64);
    format!("{count} {}, {rate}/s", step.noun)
}

fn line(step: &Step<'_>, elapsed: Duration) -> String {
    let amount = amount(step, elapsed);
    let Some(total) = step.total.filter(|total| *total > 0.0) else {
        return amount;
    };
    let share = (step.done / total).clamp(0.0, 1.0);
    let percent = (share * 100.0) as u64;
    if share == 0.0 {
        return format!("{percent} %, {amount}");
    }
    let left = elapsed.mul_f64((1.0 - share) / share).as_secs();
    match locale::language() {
        Language::English => format!("{percent} %, {amount}, {left} s left"),
        Language::Japanese => format!("{percent} %, {amount}, 残り{left}秒"),
    }
}

/// `12,345`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_share_the_rate_and_the_time_left() {
        let step = Step {
            done: 250.0,
            total: Some(1000.0),
            count: 12_000,
            noun: "rows",
        };
        let said = line(&step, Duration::from_secs(10));
        assert_eq!(said, "25 %, 12,000 rows, 1,200/s, 30 s left");
        let unknown = Step {
            total: None,
            ..step
        };
        assert_eq!(
            line(&unknown, Duration::from_secs(10)),
            "12,000 rows, 1,200/s"
        );
        let begun = Step { done: 0.0, ..step };
        assert!(line(&begun, Duration::from_secs(10)).starts_with("0 %, "));
    }

    #[test]
    fn long_work_prints_few_lines() {
        let (mut at, mut lines) = (FIRST_LINE, 0);
        while at < Duration::from_secs(3600) {
            at = line_after(at);
            lines += 1;
        }
        assert_eq!(lines, 35);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn templates_are_valid() {
        for language in [Language::English, Language::Japanese] {
            for has_end in [true, false] {
                let style = ProgressStyle::with_template(template(has_end, language));
                assert!(style.is_ok(), "{language:?}");
            }
        }
    }
}
