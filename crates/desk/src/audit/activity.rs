//! What happened lately, minute by minute: calls, errors and how long they took.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use kit::Result;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::{acts::DESK, store::AuditStore, threads::blocking};

pub const MINUTES: usize = 60;
const MINUTE_MS: i64 = 60_000;
const LINES_A_LOOK: usize = 128;

/// How long the records of an hour may take to read.
const READ_TIME: Duration = Duration::from_millis(150);

/// So many records that were read spare another reading for a millisecond. One takes
/// about two microseconds, so reading takes a fiftieth of a core at most, however many look.
const RECORDS_A_MS: i64 = 10;

/// The last hour as it was read most recently, for all who look.
#[derive(Default)]
pub struct RecentActivity(Mutex<Option<(i64, Arc<Activity>)>>);

impl RecentActivity {
    /// The hour that ends now, or a moment ago if there is much to read.
    pub async fn get(&self, store: &Arc<dyn AuditStore>, now: i64) -> Result<Arc<Activity>> {
        let mut recent = self.0.lock().await;
        if let Some((read_at, activity)) = &*recent
            && (*read_at..read_at + activity.records / RECORDS_A_MS).contains(&now)
        {
            return Ok(Arc::clone(activity));
        }
        let read = blocking(store, move |store, _| {
            last_hour(store, now, Instant::now() + READ_TIME)
        });
        let activity = Arc::new(read.await?);
        *recent = Some((now, Arc::clone(&activity)));
        Ok(activity)
    }
}

/// The calls of the last hour, by counter.
#[derive(Debug)]
pub struct Activity {
    /// When the first of the sixty minutes begins.
    pub since: i64,
    /// Later than `since` if the time was over before all records were read.
    pub complete_since: i64,
    pub counters: BTreeMap<String, CounterActivity>,
    /// How many were read.
    records: i64,
}

#[derive(Debug, Clone)]
pub struct CounterActivity {
    pub calls: [u32; MINUTES],
    pub errors: [u32; MINUTES],
    /// How long the desk worked on each call, in milliseconds; sorted. The time in which
    /// a call waited for a person's decision is left out.
    took: Vec<f32>,
}

impl Default for CounterActivity {
    fn default() -> Self {
        Self {
            calls: [0; MINUTES],
            errors: [0; MINUTES],
            took: Vec::new(),
        }
    }
}

impl CounterActivity {
    pub fn total_calls(&self) -> u32 {
        self.calls.iter().sum()
    }

    pub fn total_errors(&self) -> u32 {
        self.errors.iter().sum()
    }

    /// The time of work within which this share of the calls was done.
    pub fn quantile(&self, share: f64) -> Option<f32> {
        let last = self.took.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index of the list"
        )]
        let at = (share * last as f64).round() as usize;
        self.took.get(at.min(last)).copied()
    }

    fn add(&mut self, minute: usize, call: &BriefRecord<'_>) {
        if let Some(calls) = self.calls.get_mut(minute) {
            *calls += 1;
        }
        let is_error = matches!(call.outcome.as_deref(), Some("refused" | "failed"));
        if let Some(errors) = self.errors.get_mut(minute)
            && is_error
        {
            *errors += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "for a picture")]
        let took = call
            .ms
            .map(|ms| (ms - call.waited_ms.unwrap_or_default()) as f32);
        self.took.extend(took);
    }
}

/// The fields that count. The hash is left to `verify`.
#[derive(Deserialize)]
struct BriefRecord<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    counter: Option<Cow<'a, str>>,
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
    ms: Option<f64>,
    waited_ms: Option<f64>,
}

/// The hour that ends with the minute of `now`.
pub(super) fn last_hour(store: &dyn AuditStore, now: i64, deadline: Instant) -> Result<Activity> {
    let since = (now.div_euclid(MINUTE_MS) + 1) * MINUTE_MS - MINUTES as i64 * MINUTE_MS;
    let mut counters: BTreeMap<String, CounterActivity> = BTreeMap::new();
    let (mut complete_since, mut records) = (since, 0);
    for (passed, line) in store.newest_first(None)?.enumerate() {
        let line = line?;
        let at = line.position.at;
        if at < since {
            break;
        }
        if passed % LINES_A_LOOK == LINES_A_LOOK - 1 && Instant::now() >= deadline {
            complete_since = at;
            break;
        }
        records += 1;
        let minute = usize::try_from((at - since) / MINUTE_MS).unwrap_or_default();
        let Ok(call) = serde_json::from_str::<BriefRecord<'_>>(&line.line) else {
            continue;
        };
        // What people do at the desk itself is not a call of a counter.
        let is_call = call.kind == "call" && call.counter.as_deref() != Some(DESK);
        if let Some(counter) = call.counter.as_deref().filter(|_| is_call) {
            if !counters.contains_key(counter) {
                counters.insert(counter.to_owned(), CounterActivity::default());
            }
            if let Some(counter) = counters.get_mut(counter) {
                counter.add(minute.min(MINUTES - 1), &call);
            }
        }
    }
    for counter in counters.values_mut() {
        counter.took.sort_by(f32::total_cmp);
    }
    Ok(Activity {
        since,
        complete_since,
        counters,
        records,
    })
}
