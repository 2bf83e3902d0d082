//! One calendar on a CalDAV server, and the requests that write events to it.
//!
//! An event's address there is made of its id, and what is written says which
//! version it is. So an attempt whose answer was lost is recognised when it is
//! made again, and a copy that somebody else changed is never overwritten.

use std::time::Duration;

use kit::{Error, Result};
use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode, Url,
    header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH},
};

use crate::{
    calendar_file,
    settings::Settings,
    store::{
        caldav::{Due, Outcome, ServerCopy, Theirs},
        events::Event,
    },
};

const CONNECT: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(20);

/// The calendar there.
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
        // With the slash names are put behind it, not in place of its last part.
        let url = Url::parse(&format!("{text}/")).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| {
            Error::new(
                "INVALID_CONFIG",
                "[innervoice] caldav_url is no address such as https://example.com/me/calendar/.",
            )
        })?;
        // Where two TLS libraries are linked in, rustls wants to be told which.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(TIMEOUT)
            // A redirect would carry the password to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(Error::internal)?;
        Ok(Some(Self {
            client,
            url,
            user: settings.caldav_user.clone(),
            password: settings.caldav_password.clone(),
        }))
    }

    /// Whether the calendar is there and lets us in.
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

    fn request(&self, method: Method, event: &Event) -> Result<RequestBuilder, Trouble> {
        let url = self.url.join(&format!("{}.ics", event.id));
        let url = url.map_err(|_| Trouble("The event's id makes no address.".into()))?;
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
        told.unwrap_or_else(|Trouble(why)| Outcome::Retry(why))
    }

    async fn put(&self, due: &Due) -> Result<Outcome, Trouble> {
        let event = &due.event;
        let response = self.write(event, due.etag.as_deref()).await?;
        if response.status() != StatusCode::PRECONDITION_FAILED {
            return written(&response);
        }
        let Some(there) = self.read(event).await? else {
            return Ok(Outcome::Conflict(Theirs::Deleted, None));
        };
        match version(&there, event) {
            Version::Ours => Ok(Outcome::Done { etag: there.etag }),
            // Ours of before, from an attempt whose answer was lost. What the user
            // wants replaced was shown to them, and this is something else.
            Version::Older if due.etag.is_none() && !due.overwrites => {
                self.replace(event, there).await
            }
            Version::Older | Version::Foreign => Ok(changed(there)),
        }
    }

    /// Writes over the copy that was read, and over no later one.
    async fn replace(&self, event: &Event, there: ServerCopy) -> Result<Outcome, Trouble> {
        let Some(etag) = &there.etag else {
            return Ok(changed(there));
        };
        let response = self.write(event, Some(etag)).await?;
        match response.status() {
            StatusCode::PRECONDITION_FAILED => Ok(changed(there)),
            _ => written(&response),
        }
    }

    /// Made if there is no copy, else changed if the copy is still this one.
    async fn write(&self, event: &Event, etag: Option<&str>) -> Result<Response, Trouble> {
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

    async fn read(&self, event: &Event) -> Result<Option<ServerCopy>, Trouble> {
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

    async fn delete(&self, due: &Due) -> Result<Outcome, Trouble> {
        let etag = match &due.etag {
            Some(etag) if !due.overwrites => etag.clone(),
            // Nothing of ours is there for certain: only what we wrote is deleted.
            _ => match self.read(&due.event).await? {
                None => return Ok(Outcome::Done { etag: None }),
                Some(there) => match (version(&there, &due.event), &there.etag) {
                    (Version::Ours | Version::Older, Some(etag)) if !due.overwrites => etag.clone(),
                    _ => return Ok(changed(there)),
                },
            },
        };
        let request = self.request(Method::DELETE, &due.event)?;
        let response = request.header(IF_MATCH, etag).send().await?;
        match response.status() {
            status if status.is_success() || is_gone(status) => Ok(Outcome::Done { etag: None }),
            // Servers answer so to a condition on what is not there, too.
            StatusCode::PRECONDITION_FAILED => Ok(match self.read(&due.event).await? {
                Some(there) => changed(there),
                None => Outcome::Done { etag: None },
            }),
            status => Err(refused(status)),
        }
    }
}

/// Somebody else changed the server's copy to this.
fn changed(there: ServerCopy) -> Outcome {
    Outcome::Conflict(Theirs::Changed, Some(there))
}

enum Version {
    Ours,
    Older,
    Foreign,
}

/// Whoever changes an event writes another DTSTAMP.
fn version(there: &ServerCopy, event: &Event) -> Version {
    let lines = || there.text.lines().map(str::trim_end);
    let ours = calendar_file::object(event);
    let stamp = ours.lines().find(|line| line.starts_with("DTSTAMP"));
    let sequence = lines().find_map(|line| line.strip_prefix("SEQUENCE:")?.parse::<i64>().ok());
    let is_same = stamp.is_some_and(|stamp| lines().any(|line| line == stamp.trim_end()));
    match sequence.unwrap_or(0) {
        sequence if sequence == event.sequence && is_same => Version::Ours,
        sequence if sequence < event.sequence => Version::Older,
        _ => Version::Foreign,
    }
}

/// Why an attempt has to be made again.
struct Trouble(String);

impl From<reqwest::Error> for Trouble {
    fn from(_: reqwest::Error) -> Self {
        Self("The CalDAV server could not be reached, or did not answer.".into())
    }
}

fn refused(status: StatusCode) -> Trouble {
    Trouble(format!("The CalDAV server answered {}.", status.as_u16()))
}

fn written(response: &Response) -> Result<Outcome, Trouble> {
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
