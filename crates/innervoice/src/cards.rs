//! What a person sees who is asked about a change: what is there, and each field
//! that changes before and after.

use kit::{
    approval::Line,
    context::Language::{self, English, Japanese},
};

use crate::store::events::Event;

/// The lines of such a card. Labels are given in English and Japanese.
pub struct Lines {
    language: Language,
    lines: Vec<Line>,
}

impl Lines {
    pub fn new(language: Language) -> Self {
        Self {
            language,
            lines: Vec::new(),
        }
    }

    /// What is so and stays so; nothing where the text is empty.
    pub fn fact(&mut self, label: (&str, &str), text: &str) {
        if !text.is_empty() {
            let label = self.say(label).to_owned();
            self.lines.push(Line::new(&label, text));
        }
    }

    /// Before and after, each in full; nothing where they are the same.
    pub fn change(&mut self, label: (&str, &str), before: &str, after: &str) {
        if before == after {
            return;
        }
        let words = [("before", "変更前", before), ("after", "変更後", after)];
        for (english, japanese, text) in words {
            let which = self.say((english, japanese));
            let label = format!("{} ({which})", self.say(label));
            let text = if text.is_empty() {
                self.say(("(none)", "(なし)"))
            } else {
                text
            };
            self.lines.push(Line::new(&label, text));
        }
    }

    /// A change, or the fact where nothing changes.
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

    /// Tells that somebody else made or changed what the card is about.
    pub fn not_own(&mut self) {
        let by = self.say(("another key", "別のキー"));
        self.fact(("Made or changed by", "作成・変更者"), by);
    }

    pub fn done(self) -> Vec<Line> {
        self.lines
    }

    pub fn say<'a>(&self, (english, japanese): (&'a str, &'a str)) -> &'a str {
        match self.language {
            English => english,
            Japanese => japanese,
        }
    }
}
