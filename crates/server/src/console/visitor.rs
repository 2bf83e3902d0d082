//! Who looks at the console.

use axum::http::HeaderMap;
use desk::Desk;
use kit::{Result, context::Language};

use super::{language::language_of, session::Session, words::Words};

/// With it a script says that it is one of the console's.
pub const FORM_TOKEN: &str = "x-console-form";

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
