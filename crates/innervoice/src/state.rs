//! What all handlers share: the settings, the time zone, and the servers.

use std::sync::Arc;

use jiff::{Timestamp, tz::TimeZone};
use kit::{Context, Result, Store};

use crate::{
    answers::timestamp,
    caldav::Server,
    model::{address::Platform, moment::Here, spoken},
    outbox::Channels,
    settings::Settings,
};

/// Where and when a caller speaks of times.
pub fn here(context: &Context) -> Here {
    Here {
        zone: context.zone.clone(),
        now: context.asked_at(),
        day: None,
    }
}

pub struct CounterState {
    pub settings: Settings,
    pub zone: TimeZone,
    pub channels: Channels,
    pub caldav: Option<Server>,
    pub store: Arc<dyn Store>,
}

impl CounterState {
    pub fn new(settings: Settings, store: &Arc<dyn Store>) -> Result<Self> {
        Ok(Self {
            zone: settings.zone(),
            channels: Channels::new(&settings)?,
            caldav: Server::new(&settings)?,
            store: Arc::clone(store),
            settings,
        })
    }

    pub fn now(&self, context: &Context) -> Timestamp {
        context.clock.now()
    }

    /// A time as a voice would say it to this person.
    pub fn spoken(&self, context: &Context, at: i64, zone: &TimeZone) -> String {
        let (at, now) = (timestamp(at), self.now(context));
        spoken::time(at, zone, &self.zone, now, context.language)
    }

    /// Whether this kind of message can be sent.
    pub fn sends(&self, platform: Platform) -> bool {
        match platform {
            Platform::Email => self.channels.email.is_some(),
            Platform::Sms => self.channels.sms.is_some(),
        }
    }
}
