//! The desk: all counters and what they share.

use std::{sync::Arc, time::Duration};

use kit::{About, Counter, Result, Store, sql::PoolStatus, time::Clock};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    approvals::Approvals,
    audit::{self, acts::DESK},
    clients::ClientsSeen,
    metrics::Metrics,
    policies::Policies,
    served_counter::ServedCounter,
    settings::Settings,
    state::DeskState,
    stations::{audit::Audit, identify::Keyring, limit::Limiter},
    trace::Tracer,
};

/// How long the last answers may take to be sent before streams are closed.
const FLUSH_TIME: Duration = Duration::from_millis(100);

/// One program, all counters. Shared by every transport.
pub struct Desk {
    /// Identifies the writes of this process in a shared store.
    pub process: String,
    pub counters: Vec<Arc<ServedCounter>>,
    pub settings: Settings,
    pub clock: Clock,
    pub keyring: Arc<Keyring>,
    pub limiter: Limiter,
    pub audit: Audit,
    /// The desk's own rows and secret.
    pub state: Arc<DeskState>,
    pub approvals: Approvals,
    pub policies: Policies,
    pub clients: Arc<ClientsSeen>,
    pub metrics: Metrics,
    /// Off, unless traces are exported.
    pub tracer: Tracer,
    /// Cancelled when the program is asked to stop. `/readyz` fails then, and calls
    /// are still served.
    pub draining: CancellationToken,
    /// Cancelled when load balancers have had time to notice. Nothing new begins then.
    pub stopping: CancellationToken,
    /// Cancelled when all calls in flight have ended. Open streams end then.
    pub ending: CancellationToken,
    /// Calls and connections for which the program waits before it exits.
    pub in_flight: TaskTracker,
}

impl Desk {
    /// Whether a counter needs a key on the main port.
    pub fn needs_key(&self, counter: &str) -> bool {
        self.settings.http.require_key || self.keyring.always_needs(counter)
    }

    pub fn new(
        counters: Vec<Counter>,
        settings: Settings,
        clock: Clock,
        state: Arc<DeskState>,
    ) -> Result<Self> {
        let (metrics, stopping) = (Metrics::new(), CancellationToken::new());
        let abouts: Vec<About> = counters
            .iter()
            .map(|counter| counter.about.clone())
            .collect();
        let counters: Vec<Arc<ServedCounter>> = counters
            .into_iter()
            .map(|counter| ServedCounter::new(counter, &settings, &metrics).map(Arc::new))
            .collect::<Result<_>>()?;
        Ok(Self {
            process: kit::ids::random("", 16),
            keyring: Arc::new(Keyring::new(&settings.identity, &abouts, &state, &clock)?),
            limiter: Limiter::new(&settings.limits, &abouts, &state, &clock),
            audit: Audit::new(&settings.audit, &clock, None),
            approvals: Approvals::new(&state, &clock),
            policies: Policies::new(&state, &counters),
            clients: Arc::new(ClientsSeen::new(&state, &clock)),
            counters,
            state,
            metrics,
            tracer: Tracer::default(),
            settings,
            clock,
            draining: stopping.child_token(),
            stopping,
            ending: CancellationToken::new(),
            in_flight: TaskTracker::new(),
        })
    }

    /// Keeps the audit trail at `location`. Without this, calls are only logged.
    pub fn audited(mut self, location: &audit::AuditLocation) -> Result<Self> {
        if !self.settings.audit.enabled {
            return Ok(self);
        }
        let mut stores: Vec<(&Arc<dyn Store>, Vec<&'static str>)> = Vec::new();
        for served in &self.counters {
            let (counter, name) = (&served.counter, served.counter.about.name);
            let Some(store) = &counter.store else {
                continue;
            };
            match stores.iter_mut().find(|(it, _)| Arc::ptr_eq(it, store)) {
                Some((_, names)) => names.push(name),
                None => stores.push((store, vec![name])),
            }
        }
        let stores: Vec<_> = stores.into_iter().map(|(_, names)| names).collect();
        let stores = match self.counters.is_empty() {
            false => stores,
            // It changes nothing but the desk's own rows.
            true => vec![vec![DESK]],
        };
        let trail = audit::Trail::new(
            location.open()?,
            self.clock.clone(),
            self.process.clone(),
            stores,
        );
        let trail = Some(Arc::new(trail.bounded(self.settings.audit.max_bytes)));
        self.audit = Audit::new(&self.settings.audit, &self.clock, trail);
        Ok(self)
    }

    /// Lets load balancers notice that this desk stops, then stops.
    pub async fn drain(&self, wait: Duration) {
        self.draining.cancel();
        tokio::time::sleep(wait).await;
        self.stopping.cancel();
    }

    /// Waits until every call is answered, for `shutdown_seconds` at most, and then
    /// ends the open streams.
    pub async fn finish(&self) {
        self.stopping.cancel();
        self.in_flight.close();
        let limit = Duration::from_secs(self.settings.http.shutdown_seconds);
        if tokio::time::timeout(limit, self.in_flight.wait())
            .await
            .is_err()
        {
            tracing::warn!("some calls were still in flight at the end");
        }
        // The last answers may not have been sent yet.
        tokio::time::sleep(FLUSH_TIME).await;
        self.ending.cancel();
    }

    /// Whether this store also has the desk's own rows.
    pub fn keeps_rows_in(&self, store: &Arc<dyn Store>) -> bool {
        let own = self.state.opened().map(|state| &state.store);
        own.is_some_and(|own| Arc::ptr_eq(own, store))
    }

    /// The connections to database servers: `main`, and the counters with one of their own.
    pub fn pools(&self) -> Vec<(&'static str, PoolStatus)> {
        let main = self.state.opened().and_then(|state| state.store.pool());
        let own = self.counters.iter().filter_map(|served| {
            let store = served.counter.store.as_ref()?;
            let is_own = !self.keeps_rows_in(store);
            Some((served.counter.about.name, is_own.then(|| store.pool())??))
        });
        let main = main.map(|status| ("main", status));
        main.into_iter().chain(own).collect()
    }

    pub fn counter(&self, name: &str) -> Option<&Arc<ServedCounter>> {
        self.counters
            .iter()
            .find(|served| served.counter.about.name == name)
    }
}
