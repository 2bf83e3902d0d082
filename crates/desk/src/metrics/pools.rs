//! The connections to database servers.

use std::sync::atomic::{AtomicU64, Ordering};

use kit::sql::PoolStatus;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    database: &'static str,
}

/// Set from the pools' own figures whenever somebody asks.
pub(super) struct PoolMetrics {
    limit: Family<Labels, Gauge>,
    open: Family<Labels, Gauge>,
    in_use: Family<Labels, Gauge>,
    waiting: Family<Labels, Gauge>,
    requests: Family<Labels, Counter>,
    waited: Family<Labels, Counter<f64, AtomicU64>>,
}

impl PoolMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let mut gauge = |name: &str, help: &str| {
            let family = Family::<Labels, Gauge>::default();
            registry.register(name, help, Clone::clone(&family));
            family
        };
        let limit = gauge(
            "database_connections_limit",
            "Connections to the database server that may be open",
        );
        let open = gauge(
            "database_connections_open",
            "Open connections to the database server",
        );
        let in_use = gauge(
            "database_connections_in_use",
            "Connections to the database server that a job uses",
        );
        let waiting = gauge(
            "database_connections_waiting",
            "Jobs that wait for a connection to the database server",
        );
        let requests = Family::default();
        registry.register(
            "database_connection_requests",
            "Jobs that asked for a connection to the database server",
            Clone::clone(&requests),
        );
        let waited = Family::default();
        registry.register(
            "database_connection_wait_seconds",
            "Time that jobs waited for a connection to the database server",
            Clone::clone(&waited),
        );
        Self {
            limit,
            open,
            in_use,
            waiting,
            requests,
            waited,
        }
    }

    pub fn set(&self, database: &'static str, status: PoolStatus) {
        let labels = Labels { database };
        for (gauge, value) in [
            (&self.limit, status.limit),
            (&self.open, status.open),
            (&self.in_use, status.in_use),
            (&self.waiting, status.waiting),
        ] {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            gauge.get_or_create(&labels).set(value);
        }
        let requests = self.requests.get_or_create(&labels);
        requests.inner().store(status.requests, Ordering::Relaxed);
        let seconds = status.waited.as_secs_f64().to_bits();
        let waited = self.waited.get_or_create(&labels);
        waited.inner().store(seconds, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn a_pool_shows_its_size_and_its_waits() {
        let metrics = Metrics::new();
        assert!(!metrics.text([]).unwrap().contains("database_"));
        let mut status = PoolStatus {
            limit: 10,
            open: 4,
            in_use: 3,
            waiting: 2,
            requests: 5,
            waited: Duration::from_millis(1500),
        };
        metrics.text([("main", status)]).unwrap();
        status.waited = Duration::from_millis(2500);
        let text = metrics.text([("main", status)]).unwrap();
        for line in [
            r#"madoguchi_database_connections_limit{database="main"} 10"#,
            r#"madoguchi_database_connections_open{database="main"} 4"#,
            r#"madoguchi_database_connections_in_use{database="main"} 3"#,
            r#"madoguchi_database_connections_waiting{database="main"} 2"#,
            r#"madoguchi_database_connection_requests_total{database="main"} 5"#,
            r#"madoguchi_database_connection_wait_seconds_total{database="main"} 2.5"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
