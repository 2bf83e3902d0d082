//! Traces of calls, for OpenTelemetry: one span for a call, and one for each station
//! that it passes. They are collected here and exported by the crate `telemetry`.
//!
//! - `context`: the caller's trace, as a `traceparent` names it
//! - `span`: what is exported
//! - `tracer`: decides which calls are traced
//! - `call_trace`: collects the spans of one call; `description`: what they say
//! - `queue`: where they wait for their export
//!
//! While nothing is exported, a call costs one comparison.

mod call_trace;
mod context;
mod description;
mod queue;
mod span;
mod tracer;

pub use call_trace::{Arrival, CallTrace};
pub use context::TraceContext;
pub use description::CallDescription;
pub use span::{Attribute, Span, SpanKind};
pub use tracer::{Sampler, Tracer};
