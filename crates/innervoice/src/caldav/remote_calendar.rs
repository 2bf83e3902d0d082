//! One calendar on a CalDAV server, and the requests that write events to it.
//!
//! The address of an event is made from its id, and the file says which version it
//! is. So a repeated attempt finds what an earlier one wrote, and a copy that
//! somebody else changed is never overwritten.

use std::time::Duration;

use kit::{Error, Result};
use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode, Url,
    header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH},
};

use crate::{
    calendar_file, http_client,
    settings::Settings,
    store::{
        caldav::{Due, Outcome, ServerChange, ServerCopy},
        events::Event,
    },
};

const TIMEOUT: Duration = Duration::from_secs(20);

/// The calendar on the server.
pub struct Server {
    client: Client,
    url: Url,
    user: String,
    password: String,
}

impl Server {
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let text = settings.caldav_url.trim().trim_end_matches('/');
        if text.is_empty() {
            return Ok(None);
        }
        // With the slash, `join` appends a name and does not replace the last part.
        let url = Url::parse(&format!("{text}/")).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| {
            Error::new(
                "INVALID_CONFIG",
                "[innervoice] caldav_url is not an address such as https://example.com/me/calendar/.",
            )
        })?;
        Ok(Some(Self {
            client: http_client::client(TIMEOUT)?,
            url,
            user: settings.caldav_user.clone(),
            password: settings.caldav_password.clone(),
        }))
    }

    /// Checks that the calendar exists and accepts our login.
    pub async fn check(&self) -> Result<String> {
        let unusable = |what: String| {
            Error::new("CALDAV_UNUSABLE", format!("The calendar server {what}."))
                .next("Check caldav_url, caldav_user and caldav_password in [innervoice].")
        };
        let look = Method::from_bytes(b"PROPFIND").map_err(Error::internal)?;
        let request = self.authorized(self.client.request(look, self.url.clone()));
        let response = request.header("depth", "0").send().await;
        let response = response
            .map_err(|error| unusable("does not answer".into()).cause(error.without_url()))?;
        match response.status() {
            StatusCode::MULTI_STATUS => Ok("the calendar server answers".into()),
            status => Err(unusable(format!("answers {status}"))),
        }
    }

    fn request(&self, method: Method, event: &Event) -> Result<RequestBuilder, SyncFailure> {
        let url = self.url.join(&format!("{}.ics", event.id));
        let url = url.map_err(|_| SyncFailure("The event's id makes no address.".into()))?;
        Ok(self.authorized(self.client.request(method, url)))
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match self.user.is_empty() {
            true => request,
            false => request.basic_auth(&self.user, Some(&self.password)),
        }
    }

    pub async fn write_event(&self, due: &Due) -> Outcome {
        let told = match due.event.cancelled_at {
            Some(_) => self.delete(due).await,
            None => self.put(due).await,
        };
        told.unwrap_or_else(|SyncFailure(why)| Outcome::Retry(why))
    }

    async fn put(&self, due: &Due) -> Result<Outcome, SyncFailure> {
        let event = &due.event;
        let response = self.write(event, due.etag.as_deref()).await?;
        if response.status() != StatusCode::PRECONDITION_FAILED {
            return written(&response);
        }
        let Some(there) = self.read(event).await? else {
            return Ok(Outcome::Conflict(ServerChange::Deleted, None));
        };
        match version(&there, event) {
            CopyVersion::Ours => Ok(Outcome::Done { etag: there.etag }),
            // An older version of ours, from an attempt whose answer was lost. It is
            // not replaced after a conflict: the user was shown another copy.
            CopyVersion::Older if due.etag.is_none() && !due.overwrites => {
                self.replace(event, there).await
            }
            CopyVersion::Older | CopyVersion::Foreign => Ok(changed(there)),
        }
    }

    /// Replaces the copy that was read, but no later one.
    async fn replace(&self, event: &Event, there: ServerCopy) -> Result<Outcome, SyncFailure> {
        let Some(etag) = &there.etag else {
            return Ok(changed(there));
        };
        let response = self.write(event, Some(etag)).await?;
        match response.status() {
            StatusCode::PRECONDITION_FAILED => Ok(changed(there)),
            _ => written(&response),
        }
    }

    /// Creates the copy, or replaces it if it still has this tag.
    async fn write(&self, event: &Event, etag: Option<&str>) -> Result<Response, SyncFailure> {
        let request = self
            .request(Method::PUT, event)?
            .header(CONTENT_TYPE, "text/calendar; charset=utf-8")
            .body(calendar_file::object(event));
        let request = match etag {
            Some(etag) => request.header(IF_MATCH, etag),
            None => request.header(IF_NONE_MATCH, "*"),
        };
        Ok(request.send().await?)
    }

    async fn read(&self, event: &Event) -> Result<Option<ServerCopy>, SyncFailure> {
        let response = self.request(Method::GET, event)?.send().await?;
        if is_gone(response.status()) {
            return Ok(None);
        }
        if !response.status().is_success() {
            return Err(refused(response.status()));
        }
        Ok(Some(ServerCopy {
            etag: etag_of(&response),
            text: response.text().await?,
        }))
    }

    async fn delete(&self, due: &Due) -> Result<Outcome, SyncFailure> {
        let etag = match &due.etag {
            Some(etag) if !due.overwrites => etag.clone(),
            // It is not certain that the copy is ours, and only ours is deleted.
            _ => match self.read(&due.event).await? {
                None => return Ok(Outcome::Done { etag: None }),
                Some(there) => match (version(&there, &due.event), &there.etag) {
                    (CopyVersion::Ours | CopyVersion::Older, Some(etag)) if !due.overwrites => {
                        etag.clone()
                    }
                    _ => return Ok(changed(there)),
                },
            },
        };
        let request = self.request(Method::DELETE, &due.event)?;
        let response = request.header(IF_MATCH, etag).send().await?;
        match response.status() {
            status if status.is_success() || is_gone(status) => Ok(Outcome::Done { etag: None }),
            // Servers also answer this if the copy does not exist.
            StatusCode::PRECONDITION_FAILED => Ok(match self.read(&due.event).await? {
                Some(there) => changed(there),
                None => Outcome::Done { etag: None },
            }),
            status => Err(refused(status)),
        }
    }
}

/// Somebody else changed the copy on the server.
fn changed(there: ServerCopy) -> Outcome {
    Outcome::Conflict(ServerChange::Changed, Some(there))
}

enum CopyVersion {
    Ours,
    Older,
    Foreign,
}

/// Every program that changes an event writes a new DTSTAMP.
fn version(there: &ServerCopy, event: &Event) -> CopyVersion {
    let lines = || there.text.lines().map(str::trim_end);
    let ours = calendar_file::object(event);
    let stamp = ours.lines().find(|line| line.starts_with("DTSTAMP"));
    let sequence = lines().find_map(|line| line.strip_prefix("SEQUENCE:")?.parse::<i64>().ok());
    let is_same = stamp.is_some_and(|stamp| lines().any(|line| line == stamp.trim_end()));
    match sequence.unwrap_or(0) {
        sequence if sequence == event.sequence && is_same => CopyVersion::Ours,
        sequence if sequence < event.sequence => CopyVersion::Older,
        _ => CopyVersion::Foreign,
    }
}

/// Why an attempt has to be repeated.
struct SyncFailure(String);

impl From<reqwest::Error> for SyncFailure {
    fn from(error: reqwest::Error) -> Self {
        Self(match http_client::is_untrusted(&error) {
            true => "The certificate of the CalDAV server is not trusted.".into(),
            false => "The CalDAV server could not be reached, or did not answer.".into(),
        })
    }
}

fn refused(status: StatusCode) -> SyncFailure {
    SyncFailure(format!("The CalDAV server answered {}.", status.as_u16()))
}

fn written(response: &Response) -> Result<Outcome, SyncFailure> {
    match response.status() {
        status if status.is_success() => Ok(Outcome::Done {
            etag: etag_of(response),
        }),
        status => Err(refused(status)),
    }
}

fn etag_of(response: &Response) -> Option<String> {
    let etag = response.headers().get(ETAG)?.to_str().ok()?;
    Some(etag.to_owned())
}

fn is_gone(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE)
}
