//! What the console says, in English and Japanese.

use std::sync::LazyLock;

use desk::approvals::{Approval, Status};
use kit::context::Language;
use serde::Deserialize;

/// The texts of one language, read from `english.json` and `japanese.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub tag: &'static str,
    /// The other language, as its readers call it.
    pub other_tag: &'static str,
    pub other_name: &'static str,
    pub waiting: &'static str,
    pub nothing_waits: &'static str,
    pub reload: &'static str,
    pub needs_scripts: &'static str,
    pub opened: &'static str,
    pub who: &'static str,
    pub recipient: &'static str,
    pub asked: &'static str,
    pub lapses: &'static str,
    pub once: &'static str,
    pub always: &'static str,
    /// What a standing grant covers: {tool}, {caller}, {recipient}.
    pub always_for: &'static str,
    pub always_without_recipient: &'static str,
    pub deny: &'static str,
    pub reason: &'static str,
    pub decided: &'static str,
    pub nothing_decided: &'static str,
    pub grants: &'static str,
    pub no_grants: &'static str,
    pub granted: &'static str,
    pub revoke: &'static str,
    pub sign_out: &'static str,
    pub live: &'static str,
    pub connecting: &'static str,
    pub signed_out: &'static str,
    pub just_changed: &'static str,
    pub arrived: &'static str,
    pub no_longer_waits: &'static str,
    pub not_reached: &'static str,
    pub dismiss: &'static str,
    pub enter_title: &'static str,
    pub enter_text: &'static str,
    pub enter: &'static str,
    pub closed_title: &'static str,
    pub closed_text: &'static str,
    pub link_title: &'static str,
    pub link_text: &'static str,
    pub refused: &'static str,
    pub trouble: &'static str,
    pub done_once: &'static str,
    pub done_always: &'static str,
    pub done_denied: &'static str,
    pub done_revoked: &'static str,
    pub not_revoked: &'static str,
    pub already: &'static str,
    pub lapsed: &'static str,
    pub missing: &'static str,
    pub too_long: &'static str,
    pub once_only: &'static str,
    approved: &'static str,
    used: &'static str,
    denied: &'static str,
    expired: &'static str,
    never_came: &'static str,
    /// Who decided: {by}.
    pub by: &'static str,
}

impl Words {
    pub fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Japanese => &JAPANESE,
        }
    }

    /// A text of a single page, which stands there in both languages.
    pub fn pick<'a>(&self, english: &'a str, japanese: &'a str) -> &'a str {
        match self.language() {
            Language::English => english,
            Language::Japanese => japanese,
        }
    }

    /// Several texts, such as the heads of a table's columns, in English and Japanese.
    pub fn pick_all<'a, const N: usize>(&self, texts: [(&'a str, &'a str); N]) -> [&'a str; N] {
        texts.map(|(english, japanese)| self.pick(english, japanese))
    }

    pub fn language(&self) -> Language {
        match self.tag {
            "ja" => Language::Japanese,
            _ => Language::English,
        }
    }

    /// What became of a question.
    pub fn outcome(&self, approval: &Approval) -> &'static str {
        match approval.status {
            Status::Pending => self.waiting,
            Status::Approved => self.approved,
            Status::Used => self.used,
            Status::Denied => self.denied,
            Status::Expired if approval.decided_at.is_some() => self.never_came,
            Status::Expired => self.expired,
        }
    }
}

static ENGLISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("english.json")));
static JAPANESE: LazyLock<Words> = LazyLock::new(|| read(include_str!("japanese.json")));

#[expect(clippy::expect_used, reason = "a test reads both files")]
fn read(file: &'static str) -> Words {
    serde_json::from_str(file).expect("the texts are complete")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_every_text() {
        for (language, tag) in [(Language::English, "en"), (Language::Japanese, "ja")] {
            assert_eq!(Words::of(language).tag, tag);
            assert_eq!(Words::of(language).language(), language);
        }
    }
}
