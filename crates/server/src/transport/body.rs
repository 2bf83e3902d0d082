//! The body of a request, within its limits of size and time.

use std::{pin::pin, sync::Arc, task::Poll, time::Duration};

use axum::{
    body::{Body, HttpBody},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use desk::{Desk, stations::identify::Unidentified};
use http_body_util::BodyExt;

use super::{answer, connections::OpenConnection, guard::Sender, request_budget::BudgetPermit};

/// How much of a body is read without a valid key where one is needed: enough to
/// find the request's id, too little to fill the memory.
pub const MAX_UNIDENTIFIED_BODY: usize = 64 * 1024;

/// The body, within its limits. A large one comes with its permit.
pub async fn read_body(
    desk: &Desk,
    mut body: Body,
    sender: Sender,
    open: Option<&Arc<OpenConnection>>,
) -> Result<(Bytes, Option<BudgetPermit>), Unread> {
    let http = &desk.settings.http;
    let most = match sender {
        Sender::Known => http.max_body_bytes,
        Sender::Stranger(_) => http.max_body_bytes.min(MAX_UNIDENTIFIED_BODY),
    };
    let within = Duration::from_secs(http.body_timeout_seconds);
    let read = {
        let mut collected = pin!(collect(&mut body, most, open));
        // Most bodies come with their heads, and need no timer.
        match futures::poll!(&mut collected) {
            Poll::Ready(read) => Ok(read),
            Poll::Pending => tokio::time::timeout(within, collected).await,
        }
    };
    match read {
        Ok(Err(Unread::TooLarge)) => {
            answer::drain(body).await;
            Err(match sender {
                Sender::Known => Unread::TooLarge,
                Sender::Stranger(why) => Unread::FromStranger(why),
            })
        }
        Ok(Ok(read)) => {
            let permit = open.and_then(|open| open.request.end(http.max_head_bytes));
            Ok((read, permit))
        }
        Ok(Err(unread)) => Err(unread),
        Err(_) => Err(Unread::Late),
    }
}

async fn collect(
    body: &mut Body,
    most: usize,
    open: Option<&Arc<OpenConnection>>,
) -> Result<Bytes, Unread> {
    let announced = body.size_hint().exact();
    let announced = announced.map_or(most, |size| usize::try_from(size).unwrap_or(usize::MAX));
    if announced > most {
        return Err(Unread::TooLarge);
    }
    if let Some(open) = open {
        drop(open.request.end(announced));
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if read.len() + data.len() > most {
            return Err(Unread::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    TooLarge,
    /// More than is read of somebody who has shown no valid key.
    FromStranger(Unidentified),
    BrokenOff,
    Late,
}

impl IntoResponse for Unread {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is larger than max_body_bytes in [http].",
            ),
            Self::FromStranger(_) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is larger than what is read without a key.",
            ),
            Self::BrokenOff => (StatusCode::BAD_REQUEST, "The body broke off."),
            Self::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time.",
            ),
        };
        answer::refuse(status, text)
    }
}
