//! `ExportTraceServiceRequest`: spans.

use desk::trace::{Attribute, Span, SpanKind};

use crate::{
    environment::Encoding,
    message::{Field, Message, encoded},
    resource::{Items, Resource, attributes},
};

/// Values of OTLP's enumerations.
const KIND_INTERNAL: u32 = 1;
const KIND_SERVER: u32 = 2;
const STATUS_ERROR: u32 = 2;

pub fn request(encoding: Encoding, resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let items = Items {
        groups: Field(1, "resourceSpans"),
        scopes: Field(2, "scopeSpans"),
        items: Field(2, "spans"),
        count: spans.len(),
        write: &|at, message| {
            if let Some(it) = spans.get(at) {
                span(message, it);
            }
        },
    };
    encoded(encoding, |message| resource.write(message, &items))
}

fn span(message: &mut dyn Message, span: &Span) {
    message.id(Field(1, "traceId"), &span.trace_id.to_be_bytes());
    message.id(Field(2, "spanId"), &span.span_id.to_be_bytes());
    if let Some(state) = &span.state {
        message.text(Field(3, "traceState"), state);
    }
    if span.parent != 0 {
        message.id(Field(4, "parentSpanId"), &span.parent.to_be_bytes());
    }
    message.text(Field(5, "name"), &span.name);
    let kind = match span.kind {
        SpanKind::Internal => KIND_INTERNAL,
        SpanKind::Server => KIND_SERVER,
    };
    message.number(Field(6, "kind"), kind);
    message.fixed(Field(7, "startTimeUnixNano"), span.start);
    message.fixed(Field(8, "endTimeUnixNano"), span.end);
    let pairs: Vec<(&str, &str)> = span
        .attributes
        .iter()
        .map(|(name, Attribute::Text(value))| (*name, value.as_ref()))
        .collect();
    attributes(message, Field(9, "attributes"), &pairs);
    if span.failed {
        message.message(Field(15, "status"), &mut |status| {
            status.number(Field(3, "code"), STATUS_ERROR);
        });
    }
}
