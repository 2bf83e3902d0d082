//! Files of a counter for programs that can only fetch a URL, such as calendars.
//! The key is part of the URL and opens that file alone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use desk::{
    Desk,
    digest::hex,
    methods,
    pipeline::{Admitted, ReadRequest, Refusal},
    stations::{authorize::ReadTarget, identify::Unidentified},
};
use kit::{Context, counter::File};
use sha2::{Digest, Sha256};

use super::{
    answer,
    connections::{OpenConnection, Standing},
};
use crate::{address_limits::Visit, wire::definitions::PublishedCounter};

const TIME_LIMIT: Duration = Duration::from_secs(15);

/// The key in the address of a file.
pub fn key_in_path(path: &str) -> Option<&str> {
    path.strip_prefix("/files/")?.split('/').nth(1)
}

pub async fn serve(
    desk: &Arc<Desk>,
    published: &PublishedCounter,
    (key, name): (&str, &str),
    request: &HeaderMap,
    from: &Visit,
    open: &OpenConnection,
) -> Response {
    let counter = &published.counter;
    let Some(files) = &counter.files else {
        return no_such_file();
    };
    let about = counter.about.name;
    let who = match desk.keyring.identify_for_file(key, about, name).await {
        Ok(who) => who,
        Err(Unidentified::Unavailable) => {
            return answer::refusal(None, &Refusal::of(&Unidentified::Unavailable, about));
        }
        Err(why) => {
            from.wrong_key();
            desk.refuse_unidentified(published, &why);
            return no_such_file();
        }
    };
    // Before it is read: a slow client may need longer than the time limit of
    // unidentified connections.
    if let Err(full) = open.settle(Standing::Identified) {
        return full.answer();
    }
    if let Err(why) = desk.limiter.admit(&who.caller.id, about).await {
        return answer::refusal(None, &why.into());
    }
    let mut context = Context::of_the_desk(desk.clock.clone());
    context.caller = who.caller.clone();
    context.zone = counter.time_zone.clone();
    context.deadline = Some(Instant::now() + TIME_LIMIT);
    let admitted = Admitted {
        who,
        address: Some(from.address),
        arrival: None,
    };
    let read = ReadRequest {
        from: &admitted,
        method: methods::FILE,
        target: ReadTarget::File(name),
        context: &context,
    };
    let found = match desk
        .read(published, &read, files.file(&context, name))
        .await
    {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(counter = about, %error, cause = ?error.cause, "a file could not be read");
            return answer::refuse(
                StatusCode::SERVICE_UNAVAILABLE,
                "The file can't be read now. Try again in a moment.",
            );
        }
    };
    let Some(file) = found else {
        return no_such_file();
    };
    deliver(file, request)
}

fn deliver(file: File, request: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", hex(&Sha256::digest(&file.bytes)));
    let mut response = if is_known(request, &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(file.bytes))
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, file.kind),
        (header::ETAG, tag.as_str()),
        // The URL is a secret: proxies must not cache the file.
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    response
}

/// Whether the client has this version already. A proxy that compressed it may
/// have made the tag a weak one.
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let lists = request.get_all(header::IF_NONE_MATCH).iter();
    lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(|given| given.trim())
        .any(|given| given == "*" || given.trim_start_matches("W/") == tag)
}

fn no_such_file() -> Response {
    answer::refuse(StatusCode::NOT_FOUND, "There is no such file.")
}
