//! `ExportMetricsServiceRequest`: the metrics of `/metrics`, under the same names.

use crate::{
    environment::Encoding,
    message::{Field, Message, encoded},
    openmetrics::{Family, MetricKind, Series},
    resource::{Items, Resource, attributes},
};

/// Values since the start, not since the last export.
const CUMULATIVE: u32 = 2;

/// When the counts began, and when they were read. Nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Period {
    pub start: u64,
    pub end: u64,
}

pub fn request(
    encoding: Encoding,
    resource: &Resource,
    families: &[Family<'_>],
    period: Period,
) -> Vec<u8> {
    let items = Items {
        groups: Field(1, "resourceMetrics"),
        scopes: Field(2, "scopeMetrics"),
        items: Field(2, "metrics"),
        count: families.len(),
        write: &|at, message| {
            if let Some(it) = families.get(at) {
                family(message, it, period);
            }
        },
    };
    encoded(encoding, |message| resource.write(message, &items))
}

fn family(message: &mut dyn Message, family: &Family<'_>, period: Period) {
    message.text(Field(1, "name"), family.name);
    message.text(Field(2, "description"), family.help);
    if family.name.ends_with("_seconds") {
        message.text(Field(3, "unit"), "s");
    }
    let field = match family.kind {
        MetricKind::Gauge => Field(5, "gauge"),
        MetricKind::Counter => Field(7, "sum"),
        MetricKind::Histogram => Field(9, "histogram"),
    };
    message.message(field, &mut |data| {
        data.messages(
            Field(1, "dataPoints"),
            family.series.len(),
            &mut |at, point| {
                let Some(series) = family.series.get(at) else {
                    return;
                };
                point.fixed(Field(2, "startTimeUnixNano"), period.start);
                point.fixed(Field(3, "timeUnixNano"), period.end);
                match family.kind {
                    MetricKind::Histogram => histogram(point, series),
                    MetricKind::Counter | MetricKind::Gauge => {
                        attributes(point, Field(7, "attributes"), &series.labels);
                        point.double(Field(4, "asDouble"), series.value);
                    }
                }
            },
        );
        if family.kind != MetricKind::Gauge {
            data.number(Field(2, "aggregationTemporality"), CUMULATIVE);
        }
        if family.kind == MetricKind::Counter {
            data.flag(Field(3, "isMonotonic"), true);
        }
    });
}

/// OTLP counts each bucket by itself, and has none with an infinite bound.
fn histogram(point: &mut dyn Message, series: &Series<'_>) {
    let mut before = 0;
    let mut counts = Vec::with_capacity(series.buckets.len());
    for (_, up_to) in &series.buckets {
        counts.push(up_to.saturating_sub(before));
        before = *up_to;
    }
    let bounds = series.buckets.iter().map(|(bound, _)| *bound);
    let bounds: Vec<f64> = bounds.filter(|bound| bound.is_finite()).collect();
    attributes(point, Field(9, "attributes"), &series.labels);
    point.fixed(Field(4, "count"), series.count);
    point.double(Field(5, "sum"), series.value);
    point.fixed_list(Field(6, "bucketCounts"), &counts);
    point.double_list(Field(7, "explicitBounds"), &bounds);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::openmetrics::parse;

    #[test]
    fn buckets_are_counted_each_by_itself() {
        let text = "# TYPE a_seconds histogram\na_seconds_sum 4.5\na_seconds_count 6\n\
            a_seconds_bucket{le=\"0.5\"} 1\na_seconds_bucket{le=\"1.0\"} 3\n\
            a_seconds_bucket{le=\"+Inf\"} 6\n";
        let period = Period { start: 1, end: 2 };
        let resource = Resource::new("1", "x", &[]);
        let json = request(Encoding::Json, &resource, &parse(text), period);
        let json: Value = serde_json::from_slice(&json).unwrap();
        let metric = &json["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
        assert_eq!(metric["unit"], "s");
        let expected = json!({
            "startTimeUnixNano": "1", "timeUnixNano": "2", "attributes": [],
            "count": "6", "sum": 4.5, "bucketCounts": ["1", "2", "3"],
            "explicitBounds": [0.5, 1],
        });
        assert_eq!(metric["histogram"]["dataPoints"][0], expected);
        assert_eq!(metric["histogram"]["aggregationTemporality"], 2);
    }
}
