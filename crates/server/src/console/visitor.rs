//! Who looks at the console, and in which language.

use axum::http::HeaderMap;
use desk::Desk;
use kit::{Result, context::Language};

use super::{
    session::{self, Session},
    words::Words,
};
use crate::wire::language;

pub const LANGUAGE_COOKIE: &str = "madoguchi_language";

pub struct Visitor {
    pub language: Language,
    pub session: Option<Session>,
}

impl Visitor {
    pub async fn of(desk: &Desk, headers: &HeaderMap) -> Result<Self> {
        let now = desk.clock.now().as_millisecond();
        Ok(Self {
            language: language_of(headers),
            session: Session::of(desk.state.get().await?, headers, now).await?,
        })
    }

    pub fn words(&self) -> &'static Words {
        Words::of(self.language)
    }
}

/// The language that was chosen, else the browser's.
pub fn language_of(headers: &HeaderMap) -> Language {
    match session::cookies(headers, LANGUAGE_COOKIE).next() {
        Some("ja") => Language::Japanese,
        Some("en") => Language::English,
        _ => language::of_headers(headers).unwrap_or(Language::English),
    }
}
