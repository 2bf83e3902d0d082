//! What a visitor does: sign in, decide, revoke, sign out. With a script the
//! answer is a sentence for the card; without one it is the page again.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use desk::{Desk, approvals::Decision};
use kit::{Error, Result};
use serde_json::json;

use super::{
    fields::{Acting, Fields, STRANGER, refused},
    language::language_of,
    links, page,
    response::{accepts, html, trouble},
    session::{self, Session},
    words::Words,
};
use crate::transport::answer;

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
            return Redirect::to(&format!("/console/approvals?done={}", self.word()))
                .into_response();
        }
        let text = json!({ "outcome": self.word(), "message": self.message(words) });
        answer::json(self.status().as_u16(), text.to_string())
    }
}

/// Uses a one-time link up.
pub async fn open(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Body) -> Response {
    let words = Words::of(language_of(&headers));
    let fields = match Fields::read(&desk, &headers, words, body, STRANGER).await {
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
    let decided = desk.approvals.decide(&id, decision, BY).await;
    respond(&headers, words, decided.map(|_| done))
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
    let revoked = desk.approvals.revoke_grant(&id).await;
    respond(&headers, acting.words, revoked.map(|()| Outcome::Revoked))
}

/// Says what became of it, also if that is no longer possible.
fn respond(headers: &HeaderMap, words: &Words, done: Result<Outcome>) -> Response {
    match done.or_else(|error| known(&error).ok_or(error)) {
        Ok(outcome) => outcome.response(headers, words),
        Err(error) => trouble(headers, &error),
    }
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

/// Whether the visitor's browser reaches the desk over TLS.
fn is_secure(desk: &Desk) -> bool {
    desk.settings.console_url().starts_with("https://")
}
