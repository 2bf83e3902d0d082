//! What a form of the console sends, and whether it may.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use desk::{Desk, stations::identify::Unidentified};
use kit::Error;

use super::{
    page,
    response::{html, trouble},
    session::{self, Session},
    visitor::Visitor,
    words::Words,
};
use crate::transport::{body::read_body, guard::Sender};

/// Somebody without a session, whose forms have to be small.
pub const STRANGER: Sender = Sender::Stranger(Unidentified::InvalidKey);

/// A visitor who may change something: signed in, on a page of the console, with
/// a form of the same session.
pub struct Acting {
    pub session: Session,
    pub fields: Fields,
    pub words: &'static Words,
}

impl Acting {
    pub async fn of(desk: &Desk, headers: &HeaderMap, body: Body) -> Result<Self, Response> {
        let failed = |error: Error| trouble(headers, &error);
        let visitor = Visitor::of(desk, headers).await.map_err(failed)?;
        let words = visitor.words();
        let sender = match visitor.session {
            Some(_) => Sender::Known,
            None => STRANGER,
        };
        let fields = Fields::read(desk, headers, words, body, sender).await?;
        let Some(session) = visitor.session else {
            return Err(html(StatusCode::UNAUTHORIZED, page::closed(words)));
        };
        let state = desk.state.get().await.map_err(failed)?;
        if !session.knows(&state.secret, fields.get("form")) {
            return Err(refused(words));
        }
        Ok(Self {
            session,
            fields,
            words,
        })
    }
}

/// The fields of a form that a page of the console sent.
pub struct Fields(Vec<(String, String)>);

impl Fields {
    pub async fn read(
        desk: &Desk,
        headers: &HeaderMap,
        words: &Words,
        body: Body,
        sender: Sender,
    ) -> Result<Self, Response> {
        if !session::is_from_here(headers, &desk.settings.http.public_url) {
            return Err(refused(words));
        }
        let body = read_body(desk, body, sender, None).await;
        let (body, _) = body.map_err(IntoResponse::into_response)?;
        Ok(Self(form_urlencoded::parse(&body).into_owned().collect()))
    }

    pub fn get(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        let found = fields.find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value)
    }

    /// Whether the form sent this field with this value.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.iter().any(|field| field == (name, value))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// All values of a field that may be there several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub fn refused(words: &Words) -> Response {
    html(StatusCode::FORBIDDEN, page::message(words, words.refused))
}
