//! Sends what others keep: the desk's traces and metrics to an OpenTelemetry collector,
//! over OTLP/HTTP as protobuf or JSON, and heads of the audit trail.
//!
//! - `environment`: what the standard `OTEL_…` variables say
//! - `exporter`: the tasks that collect and send
//! - `sending`: one request to the collector, with retries
//! - `traces`, `metrics`: the messages; `openmetrics` reads the text of `/metrics`
//! - `heads`: signed heads of the audit trail, to a file or a web address
//! - `message`: writes a message, as protobuf or JSON
//!
//! Nothing here can slow a call down: spans come through a queue that drops what does
//! not fit, and the drops are counted.

pub mod environment;
mod exporter;
mod heads;
mod message;
mod metrics;
mod openmetrics;
mod resource;
mod sending;
mod traces;

pub use environment::Environment;
pub use exporter::Exporter;
pub use heads::HeadShipper;
