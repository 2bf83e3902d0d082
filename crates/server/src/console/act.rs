//! What a visitor does: sign in, decide, revoke, sign out. With a script the
//! answer is a sentence for the card; without one it is the page again.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use desk::{Desk, approvals::Decision, stations::identify::Unidentified};
use kit::Error;
use serde_json::json;

use super::{
    language::language_of,
    links, page,
    response::{accepts, html, trouble},
    session::{self, Session},
    visitor::Visitor,
    words::Words,
};
use crate::transport::{answer, body::read_body, guard::Sender};

/// Who decided, as others read it.
const BY: &str = "console";

const LONGEST_REASON: usize = 1000;

/// The outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Once,
    Always,
    Denied,
    Revoked,
    NotRevoked,
    Already,
    Lapsed,
    Missing,
    TooLong,
    OnceOnly,
}

impl Outcome {
    const ALL: [Self; 10] = [
        Self::Once,
        Self::Always,
        Self::Denied,
        Self::Revoked,
        Self::NotRevoked,
        Self::Already,
        Self::Lapsed,
        Self::Missing,
        Self::TooLong,
        Self::OnceOnly,
    ];

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Denied => "denied",
            Self::Revoked => "revoked",
            Self::NotRevoked => "not-revoked",
            Self::Already => "already",
            Self::Lapsed => "lapsed",
            Self::Missing => "missing",
            Self::TooLong => "too-long",
            Self::OnceOnly => "once-only",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Once | Self::Always | Self::Denied | Self::Revoked => StatusCode::OK,
            Self::NotRevoked | Self::Already | Self::Lapsed => StatusCode::CONFLICT,
            Self::Missing => StatusCode::NOT_FOUND,
            Self::TooLong | Self::OnceOnly => StatusCode::BAD_REQUEST,
        }
    }

    pub fn message(self, words: &Words) -> &'static str {
        match self {
            Self::Once => words.done_once,
            Self::Always => words.done_always,
            Self::Denied => words.done_denied,
            Self::Revoked => words.done_revoked,
            Self::NotRevoked => words.not_revoked,
            Self::Already => words.already,
            Self::Lapsed => words.lapsed,
            Self::Missing => words.missing,
            Self::TooLong => words.too_long,
            Self::OnceOnly => words.once_only,
        }
    }

    fn response(self, headers: &HeaderMap, words: &Words) -> Response {
        if !accepts(headers, "application/json") {
            return Redirect::to(&format!("/?done={}", self.word())).into_response();
        }
        let text = json!({ "outcome": self.word(), "message": self.message(words) });
        answer::json(self.status().as_u16(), text.to_string())
    }
}

/// Uses a one-time link up.
pub async fn open(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Body) -> Response {
    let words = Words::of(language_of(&headers));
    let fields = match Fields::read(&desk, &headers, words, body).await {
        Ok(fields) => fields,
        Err(response) => return response,
    };
    let now = desk.clock.now().as_millisecond();
    let opened = async {
        let state = desk.state.get().await?;
        let is_good = links::redeem(state, fields.get("token"), now).await?;
        let enter = || {
            let session = Session::new(now, fields.get("plain") == "yes");
            let cookie = session.cookie(&state.secret, is_secure(&desk));
            let next = if session.plain {
                Redirect::to("/").into_response()
            } else {
                let token = session.form_token(&state.secret);
                html(StatusCode::OK, page::entered(words, &token))
            };
            ([(header::SET_COOKIE, cookie)], next).into_response()
        };
        Ok(is_good.then(enter))
    };
    match opened.await {
        Ok(Some(response)) => response,
        Ok(None) => html(StatusCode::GONE, page::invalid_link(words)),
        Err(error) => trouble(&headers, &error),
    }
}

pub async fn sign_out(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Body) -> Response {
    let acting = match Acting::of(&desk, &headers, body).await {
        Ok(acting) => acting,
        Err(response) => return response,
    };
    let ended = async { acting.session.end(desk.state.get().await?).await };
    if let Err(error) = ended.await {
        return trouble(&headers, &error);
    }
    desk.approvals.announce();
    let cookie = session::no_cookie(is_secure(&desk));
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

pub async fn decide(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let acting = match Acting::of(&desk, &headers, body).await {
        Ok(acting) => acting,
        Err(response) => return response,
    };
    let words = acting.words;
    let reason = acting.fields.get("reason");
    let (decision, done) = match acting.fields.get("decision") {
        "once" => (Decision::Once, Outcome::Once),
        "always" => (Decision::Always, Outcome::Always),
        "deny" if reason.chars().count() > LONGEST_REASON => {
            return Outcome::TooLong.response(&headers, words);
        }
        "deny" => {
            let reason = reason.to_owned();
            (Decision::Deny { reason }, Outcome::Denied)
        }
        _ => return refused(words),
    };
    let outcome = match desk.approvals.decide(&id, decision, BY).await {
        Ok(_) => done,
        Err(error) => match known(&error) {
            Some(outcome) => outcome,
            None => return trouble(&headers, &error),
        },
    };
    outcome.response(&headers, words)
}

pub async fn revoke(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let acting = match Acting::of(&desk, &headers, body).await {
        Ok(acting) => acting,
        Err(response) => return response,
    };
    let outcome = match desk.approvals.revoke_grant(&id).await {
        Ok(()) => Outcome::Revoked,
        Err(error) => match known(&error) {
            Some(outcome) => outcome,
            None => return trouble(&headers, &error),
        },
    };
    outcome.response(&headers, acting.words)
}

fn known(error: &Error) -> Option<Outcome> {
    match &*error.code {
        "ALREADY_DECIDED" => Some(Outcome::Already),
        "APPROVAL_EXPIRED" => Some(Outcome::Lapsed),
        "APPROVAL_NOT_FOUND" => Some(Outcome::Missing),
        "ONCE_ONLY" => Some(Outcome::OnceOnly),
        "GRANT_NOT_FOUND" => Some(Outcome::NotRevoked),
        _ => None,
    }
}

/// A visitor who may change something: signed in, on a page of the console, with
/// a form of the same session.
struct Acting {
    session: Session,
    fields: Fields,
    words: &'static Words,
}

impl Acting {
    async fn of(desk: &Desk, headers: &HeaderMap, body: Body) -> Result<Self, Response> {
        let failed = |error: Error| trouble(headers, &error);
        let visitor = Visitor::of(desk, headers).await.map_err(failed)?;
        let words = visitor.words();
        let fields = Fields::read(desk, headers, words, body).await?;
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
struct Fields(Vec<(String, String)>);

impl Fields {
    async fn read(
        desk: &Desk,
        headers: &HeaderMap,
        words: &Words,
        body: Body,
    ) -> Result<Self, Response> {
        if !session::is_from_here(headers, &desk.settings.http.public_url) {
            return Err(refused(words));
        }
        // Forms are small, whoever sends them.
        let body = read_body(desk, body, Sender::Stranger(Unidentified::InvalidKey), None).await;
        let (body, _) = body.map_err(IntoResponse::into_response)?;
        Ok(Self(form_urlencoded::parse(&body).into_owned().collect()))
    }

    fn get(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        let found = fields.find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value)
    }
}

fn refused(words: &Words) -> Response {
    html(StatusCode::FORBIDDEN, page::message(words, words.refused))
}

/// Whether the visitor's browser reaches the desk over TLS.
fn is_secure(desk: &Desk) -> bool {
    desk.settings.console_url().starts_with("https://")
}
