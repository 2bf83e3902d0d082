//! The lines that a person reads when asked to approve a call: facts, and each
//! changed field before and after.

use jiff::civil::Date;
use kit::{
    approval::CardLine,
    context::Language::{self, English, Japanese},
};

use crate::store::events::Event;

/// Builds the lines. Labels are given in English and Japanese.
pub struct CardLines {
    pub language: Language,
    lines: Vec<CardLine>,
}

impl CardLines {
    pub fn new(language: Language) -> Self {
        Self {
            language,
            lines: Vec::new(),
        }
    }

    /// A field that stays as it is; skipped if it is empty.
    pub fn fact(&mut self, label: (&str, &str), text: &str) {
        if !text.is_empty() {
            let label = self.pick(label).to_owned();
            self.lines.push(CardLine::new(&label, text));
        }
    }

    /// Before and after, each in full; skipped if they are the same.
    pub fn change(&mut self, label: (&str, &str), before: &str, after: &str) {
        if before == after {
            return;
        }
        let words = [("before", "変更前", before), ("after", "変更後", after)];
        for (english, japanese, text) in words {
            let which = self.pick((english, japanese));
            let label = format!("{} ({which})", self.pick(label));
            let text = if text.is_empty() {
                self.pick(("(none)", "(なし)"))
            } else {
                text
            };
            self.lines.push(CardLine::new(&label, text));
        }
    }

    /// A change, or the fact if nothing changes.
    pub fn field(&mut self, label: (&str, &str), before: &str, after: &str) {
        match before == after {
            true => self.fact(label, before),
            false => self.change(label, before, after),
        }
    }

    /// The titles of events at the same time.
    pub fn overlaps(&mut self, events: &[Event]) {
        let titles: Vec<&str> = events.iter().map(|event| event.title.as_str()).collect();
        self.fact(("At the same time", "重なる予定"), &titles.join(", "));
    }

    /// The days whose own time or cancellation is lost.
    pub fn dropped(&mut self, days: &[Date]) {
        let days: Vec<String> = days.iter().map(Date::to_string).collect();
        let label = ("No longer moved or skipped", "個別の変更がなくなる日");
        self.fact(label, &days.join(", "));
    }

    /// Says that another key made or changed this.
    pub fn not_own(&mut self) {
        let by = self.pick(("another key", "別のキー"));
        self.fact(("Made or changed by", "作成・変更者"), by);
    }

    pub fn done(self) -> Vec<CardLine> {
        self.lines
    }

    pub fn pick<'a>(&self, (english, japanese): (&'a str, &'a str)) -> &'a str {
        match self.language {
            English => english,
            Japanese => japanese,
        }
    }
}
