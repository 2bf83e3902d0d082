//! The space that the audit trail takes, and that is left for it. A figure that is not
//! known is left out.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::gauge::ConstGauge,
    registry::Registry,
};

use crate::audit::Space;

#[derive(Debug, Clone, Default)]
pub struct SpaceMetrics(Arc<Mutex<Option<Space>>>);

impl SpaceMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register_collector(Box::new(metrics.clone()));
        metrics
    }

    pub fn set(&self, space: Space) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(space);
    }
}

impl Collector for SpaceMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let space = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(space) = space else {
            return Ok(());
        };
        let figures = [
            (
                "audit_bytes",
                "Space that the audit trail takes, in bytes",
                Some(space.bytes as f64),
            ),
            (
                "audit_bytes_per_day",
                "What the audit trail grows by in 24 hours at the present rate, in bytes",
                space.per_day.map(|bytes| bytes as f64),
            ),
            (
                "disk_free_bytes",
                "Free space on the disk of the audit trail, in bytes",
                space.free.map(|bytes| bytes as f64),
            ),
            (
                "disk_days_left",
                "Days until the disk is full at the present rate; left out if old records are dropped before",
                space.days_left,
            ),
        ];
        for (name, help, value) in figures {
            if let Some(value) = value {
                let gauge = ConstGauge::new(value);
                let metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
                gauge.encode(metric)?;
            }
        }
        Ok(())
    }
}
