//! What all handlers share: the settings, the time zone, and a cache of seat plans.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{ToSpan, civil::Date, tz::TimeZone};
use kit::{Context, Result, Sql, Store, WaitLimit};
use tokio::sync::Notify;

use crate::{
    errors,
    model::{
        Show,
        hall::Hall,
        prices::PriceList,
        when::{self, HouseTime},
    },
    settings::Settings,
    store,
    ticket_keys::TicketKeys,
};

/// In milliseconds.
pub const MINUTE: i64 = 60_000;

/// How many calls wait for seats at once, for one caller and in all.
const WAITS_PER_CALLER: u32 = 100;
const WAITS: u32 = 1_000;

pub struct CounterState {
    pub settings: Settings,
    pub zone: TimeZone,
    pub store: Arc<dyn Store>,
    /// Calls that wait for seats.
    pub waits: WaitLimit,
    /// A party has joined a waiting list.
    pub waiting_changed: Notify,
    /// Seat plans by hall. A plan rarely changes and every booking needs it; the
    /// digest that comes with each show says whether ours is still valid.
    plans: Mutex<HashMap<String, (i64, Arc<Hall>)>>,
    pub ticket_keys: TicketKeys,
    /// The operator's price list and the demo's, each with its digest.
    price_lists: Mutex<HashMap<bool, (i64, Arc<PriceList>)>>,
}

impl CounterState {
    pub fn new(settings: Settings, store: &Arc<dyn Store>) -> Self {
        Self {
            zone: settings.zone(),
            settings,
            store: Arc::clone(store),
            waits: WaitLimit::new(WAITS_PER_CALLER, WAITS),
            waiting_changed: Notify::new(),
            plans: Mutex::default(),
            ticket_keys: TicketKeys::default(),
            price_lists: Mutex::default(),
        }
    }

    pub fn hall(&self, sql: &mut dyn Sql, show: &Show) -> Result<Arc<Hall>> {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((digest, hall)) = plans().get(&show.theater_id)
            && *digest == show.layout_digest
        {
            return Ok(Arc::clone(hall));
        }
        let hall = Arc::new(store::hall(sql, &show.theater_id)?);
        plans().insert(
            show.theater_id.clone(),
            (show.layout_digest, Arc::clone(&hall)),
        );
        Ok(hall)
    }

    /// The prices of a screening; `None` if none are known. Real screenings never
    /// have the demo's prices.
    pub fn prices(&self, sql: &mut dyn Sql, show: &Show) -> Result<Option<Arc<PriceList>>> {
        let Some(wanted) = show.price_digest else {
            return Ok(None);
        };
        let lists = || {
            self.price_lists
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((digest, list)) = lists().get(&show.is_demo)
            && *digest == wanted
        {
            return Ok(Some(Arc::clone(list)));
        }
        let list = store::document::<PriceList>(sql, show.is_demo)?.map(Arc::new);
        if let Some(list) = &list {
            lists().insert(show.is_demo, (wanted, Arc::clone(list)));
        }
        Ok(list)
    }

    pub fn now(&self, context: &Context) -> i64 {
        context.clock.now().as_millisecond()
    }

    /// A screening is on sale while it has not begun at this time: now, or earlier or
    /// later if the operator closes sales at another time than the start.
    pub fn sales_time(&self, context: &Context) -> i64 {
        self.now(context) + i64::from(self.settings.sales_close_minutes) * MINUTE
    }

    /// When the seats of a screening are no longer sold.
    pub fn sales_close_at(&self, show: &Show) -> i64 {
        show.starts_at - i64::from(self.settings.sales_close_minutes) * MINUTE
    }

    pub fn today(&self, context: &Context) -> Date {
        context.clock.now_in(&self.zone).date()
    }

    /// The day whose programme is running. Until five in the morning, when the last
    /// late show is over, that is yesterday.
    pub fn programme_day(&self, context: &Context) -> Date {
        let now = context.clock.now_in(&self.zone);
        now.checked_sub(5.hours())
            .map_or(now.date(), |then| then.date())
    }

    pub fn read_date(&self, text: &str) -> Result<Date> {
        when::read_date(text).ok_or_else(errors::invalid_date)
    }

    pub fn instant(&self, date: Date, time: HouseTime) -> Result<i64> {
        when::instant(date, time, &self.zone).ok_or_else(errors::invalid_date)
    }

    /// When a screening ends, in milliseconds since 1970.
    pub fn end_of(&self, show: &Show) -> Result<i64> {
        self.instant(self.read_date(&show.date)?, show.end)
    }

    pub fn start_of(&self, date: Date) -> Result<i64> {
        self.instant(date, HouseTime::from_minutes(0))
    }
}
