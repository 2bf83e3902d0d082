//! Reads the text of `/metrics` back into numbers, so that every metric there is
//! exported without being named here.

/// All series of one name.
#[derive(Debug, PartialEq)]
pub struct Family<'a> {
    pub name: &'a str,
    pub help: &'a str,
    pub kind: MetricKind,
    pub series: Vec<Series<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

type Labels<'a> = Vec<(&'a str, String)>;

/// The values under one set of labels.
#[derive(Debug, Default, PartialEq)]
pub struct Series<'a> {
    pub labels: Labels<'a>,
    /// Of a counter or a gauge; the sum of a histogram.
    pub value: f64,
    pub count: u64,
    /// Upper bounds, each with the count of all values up to it.
    pub buckets: Vec<(f64, u64)>,
}

/// Kinds of metrics that are not known here are left out.
pub fn parse(text: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut help = ("", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ').unwrap_or((rest, ""));
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, ""));
            let kind = match kind.trim() {
                "counter" => MetricKind::Counter,
                "gauge" => MetricKind::Gauge,
                "histogram" => MetricKind::Histogram,
                _ => continue,
            };
            let help = if help.0 == name { help.1 } else { "" };
            families.push(Family {
                name,
                help,
                kind,
                series: Vec::new(),
            });
        } else if let Some(family) = families.last_mut() {
            add(family, line);
        }
    }
    families
}

fn add<'a>(family: &mut Family<'a>, line: &'a str) {
    let Some((name, mut labels, value)) = sample(line) else {
        return;
    };
    let Some(suffix) = name.strip_prefix(family.name) else {
        return;
    };
    let bound = labels.iter().position(|(name, _)| *name == "le");
    let bound = bound.map(|at| labels.remove(at).1);
    let known = family.series.iter().position(|it| it.labels == labels);
    let at = known.unwrap_or_else(|| {
        family.series.push(Series {
            labels,
            ..Series::default()
        });
        family.series.len() - 1
    });
    let Some(series) = family.series.get_mut(at) else {
        return;
    };
    let count = value as u64;
    match (family.kind, suffix, bound.as_deref()) {
        (MetricKind::Counter, "_total", _)
        | (MetricKind::Gauge, "", _)
        | (MetricKind::Histogram, "_sum", _) => {
            series.value = value;
        }
        (MetricKind::Histogram, "_count", _) => series.count = count,
        (MetricKind::Histogram, "_bucket", Some(bound)) => {
            let bound = if bound == "+Inf" {
                f64::INFINITY
            } else {
                bound.parse().unwrap_or(f64::NAN)
            };
            series.buckets.push((bound, count));
        }
        _ => {}
    }
}

/// A line: the name, the labels, the value.
fn sample(line: &str) -> Option<(&str, Labels<'_>, f64)> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at_checked(end)?;
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.trim_start_matches(',').split_once("=\"")?;
            let (value, after) = quoted(after)?;
            labels.push((label, value));
            rest = after;
        }
        rest = rest.strip_prefix('}')?;
    }
    let value = rest.split_whitespace().next()?;
    Some((name, labels, value.parse().ok()?))
}

/// What stands before the closing quote, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_metric_of_a_desk_is_read() {
        let metrics = desk::metrics::Metrics::new();
        let tool = metrics.of_tool("cinema", "reserve_seats");
        tool.observe(Duration::from_millis(2), true);
        tool.observe(Duration::from_secs(60), false);
        metrics.connections.set(7);
        let text = metrics.text([]).unwrap();
        let families = parse(&text);
        let series = |name: &str| {
            let family = families.iter().find(|it| it.name == name);
            let family = family.unwrap_or_else(|| panic!("no {name} in {text}"));
            (family.kind, &family.series[0])
        };
        let (kind, calls) = series("madoguchi_calls");
        assert_eq!((kind, calls.value), (MetricKind::Counter, 2.0));
        let labels = [
            ("counter", "cinema".to_owned()),
            ("tool", "reserve_seats".to_owned()),
        ];
        assert_eq!(calls.labels, labels);
        assert_eq!(series("madoguchi_connections").1.value, 7.0);
        let (kind, latency) = series("madoguchi_call_seconds");
        assert_eq!((kind, latency.count), (MetricKind::Histogram, 2));
        assert!((latency.value - 60.002).abs() < 0.001);
        assert_eq!(latency.labels, labels);
        assert_eq!(latency.buckets.last(), Some(&(f64::INFINITY, 2)));
        assert_eq!(
            latency.buckets.iter().find(|it| it.0 == 30.0),
            Some(&(30.0, 1))
        );
        let names = text.lines().filter(|line| line.starts_with("# TYPE "));
        assert_eq!(families.len(), names.count());
    }

    #[test]
    fn labels_may_hold_anything() {
        let line = r#"a_total{x="1,}\" \\ \n",y=""} 3"#;
        let expected = vec![("x", "1,}\" \\ \n".to_owned()), ("y", String::new())];
        assert_eq!(sample(line), Some(("a_total", expected, 3.0)));
        for broken in ["", "a", "a{", "a{x}", "a{x=\"", "a{x=\"1\"", "a b"] {
            assert_eq!(sample(broken), None, "{broken}");
        }
    }
}
