//! The desk: all counters, and what they share.

use std::{sync::Arc, time::Duration};

use kit::{About, Counter, Result, Store, time::Clock};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    approvals::Approvals,
    audit,
    metrics::Metrics,
    settings::Settings,
    state::DeskState,
    stations::{audit::Audit, identify::Keyring, limit::Limiter},
    window::Window,
};

/// How long the last answers have to leave before streams are closed.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// One program, all counters. Shared by every transport.
pub struct Desk {
    /// Tells this process's writes from those of others on the same store.
    pub process: String,
    pub windows: Vec<Arc<Window>>,
    pub settings: Settings,
    pub clock: Clock,
    pub keyring: Arc<Keyring>,
    pub limiter: Limiter,
    pub audit: Audit,
    /// What the desk itself keeps.
    pub state: Arc<DeskState>,
    pub approvals: Approvals,
    pub metrics: Metrics,
    /// Cancelled when the program is asked to stop: nothing new is begun.
    pub stopping: CancellationToken,
    /// Cancelled when what was under way is done: open streams end.
    pub ending: CancellationToken,
    /// Calls and connections that are finished before the program ends.
    pub under_way: TaskTracker,
}

impl Desk {
    pub fn new(
        counters: Vec<Counter>,
        settings: Settings,
        clock: Clock,
        state: Arc<DeskState>,
    ) -> Result<Self> {
        let metrics = Metrics::new();
        let abouts: Vec<About> = counters
            .iter()
            .map(|counter| counter.about.clone())
            .collect();
        let windows = counters
            .into_iter()
            .map(|counter| Window::new(counter, &settings, &metrics).map(Arc::new))
            .collect::<Result<_>>()?;
        Ok(Self {
            process: kit::ids::random("", 16),
            windows,
            keyring: Arc::new(Keyring::new(&settings.identity, &abouts, &state, &clock)?),
            limiter: Limiter::new(&settings.limits, &abouts, &state, &clock),
            audit: Audit::new(&settings.audit, &clock, None),
            approvals: Approvals::new(&state, &clock),
            state,
            metrics,
            settings,
            clock,
            stopping: CancellationToken::new(),
            ending: CancellationToken::new(),
            under_way: TaskTracker::new(),
        })
    }

    /// Keeps the audit trail at `place`; without it calls are only logged.
    pub fn audited(mut self, place: &audit::Place) -> Result<Self> {
        if !self.settings.audit.enabled {
            return Ok(self);
        }
        let mut stores: Vec<(&Arc<dyn Store>, Vec<&'static str>)> = Vec::new();
        for window in &self.windows {
            let (counter, name) = (&window.counter, window.counter.about.name);
            let Some(store) = &counter.store else {
                continue;
            };
            match stores.iter_mut().find(|(it, _)| Arc::ptr_eq(it, store)) {
                Some((_, names)) => names.push(name),
                None => stores.push((store, vec![name])),
            }
        }
        let trail = audit::Trail::new(
            place.shelf()?,
            self.clock.clone(),
            self.process.clone(),
            stores.into_iter().map(|(_, names)| names).collect(),
        );
        let trail = Some(Arc::new(trail));
        self.audit = Audit::new(&self.settings.audit, &self.clock, trail);
        Ok(self)
    }

    /// Waits until every call is answered, at most as long as the settings say,
    /// and then ends the streams that are still open.
    pub async fn finish(&self) {
        self.stopping.cancel();
        self.under_way.close();
        let limit = Duration::from_secs(self.settings.http.shutdown_seconds);
        if tokio::time::timeout(limit, self.under_way.wait())
            .await
            .is_err()
        {
            tracing::warn!("some calls were still under way at the end");
        }
        // The last answers are written but perhaps not yet sent.
        tokio::time::sleep(LAST_WORDS).await;
        self.ending.cancel();
    }

    /// Whether the desk's own rows are in this store too.
    pub fn keeps_rows_in(&self, store: &Arc<dyn Store>) -> bool {
        let own = self.state.opened().map(|state| &state.store);
        own.is_some_and(|own| Arc::ptr_eq(own, store))
    }

    pub fn window(&self, name: &str) -> Option<&Arc<Window>> {
        self.windows
            .iter()
            .find(|window| window.counter.about.name == name)
    }
}
