//! What the environment says about exports, by the OpenTelemetry specification.

use std::time::Duration;

use desk::trace::Sampler;

/// All settings. Export is off for a signal without a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    pub traces: Option<ExportTarget>,
    pub metrics: Option<ExportTarget>,
    pub sampler: Sampler,
    /// Besides those that the program sets itself, which these win over.
    pub resource: Vec<(String, String)>,
    /// How long spans are collected before they are sent.
    pub span_delay: Duration,
    pub max_batch: usize,
    pub max_queue: usize,
    pub metrics_every: Duration,
    /// What could not be used, for the log. Names variables, never their values.
    pub warnings: Vec<String>,
}

/// Where a signal is sent.
#[derive(Clone, PartialEq)]
pub struct ExportTarget {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub encoding: Encoding,
    pub timeout: Duration,
}

/// Leaves out the headers, which contain keys.
impl std::fmt::Debug for ExportTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Target");
        shown.field("url", &self.url).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Protobuf,
    Json,
}

impl Environment {
    pub fn of_process() -> Self {
        Self::read(&|name| std::env::var(name).ok())
    }

    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut reader = Reader {
            variable,
            warnings: Vec::new(),
        };
        let is_off = reader.text("OTEL_SDK_DISABLED");
        let is_on = !is_off.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let traces = is_on
            .then(|| reader.target("TRACES", "/v1/traces"))
            .flatten();
        let metrics = is_on
            .then(|| reader.target("METRICS", "/v1/metrics"))
            .flatten();
        let milliseconds = |reader: &mut Reader<'_>, name: &str, default: u64| {
            Duration::from_millis(reader.number(name, default).max(1))
        };
        let size = |reader: &mut Reader<'_>, name: &str, default: u64| {
            usize::try_from(reader.number(name, default))
                .unwrap_or(usize::MAX)
                .max(1)
        };
        Self {
            sampler: reader.sampler(),
            resource: reader.resource(),
            span_delay: milliseconds(&mut reader, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
            max_batch: size(&mut reader, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
            max_queue: size(&mut reader, "OTEL_BSP_MAX_QUEUE_SIZE", 2_048),
            metrics_every: milliseconds(&mut reader, "OTEL_METRIC_EXPORT_INTERVAL", 60_000),
            warnings: if traces.is_some() || metrics.is_some() || !is_on {
                reader.warnings
            } else {
                // Without an endpoint the other variables are somebody else's.
                let about_endpoint =
                    |it: &String| it.contains("PROTOCOL") || it.contains("ENDPOINT");
                reader.warnings.into_iter().filter(about_endpoint).collect()
            },
            traces,
            metrics,
        }
    }

    pub fn is_on(&self) -> bool {
        self.traces.is_some() || self.metrics.is_some()
    }
}

struct Reader<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    /// An empty variable counts as unset.
    fn text(&self, name: &str) -> Option<String> {
        let text = (self.variable)(name)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The variable of one signal, else the one of all.
    fn of_signal(&self, signal: &str, name: &str) -> Option<String> {
        self.text(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"))
            .or_else(|| self.text(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    fn number(&mut self, name: &str, default: u64) -> u64 {
        let Some(text) = self.text(name) else {
            return default;
        };
        text.parse().unwrap_or_else(|_| {
            self.warn(format!("{name} is not a number; {default} is used"));
            default
        })
    }

    fn target(&mut self, signal: &str, path: &str) -> Option<ExportTarget> {
        let own = self.text(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"));
        let shared = self.text("OTEL_EXPORTER_OTLP_ENDPOINT");
        let shared = shared.map(|base| format!("{}{path}", base.trim_end_matches('/')));
        let url = own.or(shared)?;
        let exporter = format!("OTEL_{signal}_EXPORTER");
        match self.text(&exporter).as_deref() {
            None | Some("otlp") => {}
            Some("none") => return None,
            Some(_) => {
                self.warn(format!(
                    "{exporter} is neither otlp nor none; nothing is exported"
                ));
                return None;
            }
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            self.warn(
                "OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL; nothing is exported"
                    .into(),
            );
            return None;
        }
        let encoding = match self.of_signal(signal, "PROTOCOL").as_deref() {
            None | Some("http/protobuf") => Encoding::Protobuf,
            Some("http/json") => Encoding::Json,
            Some(_) => {
                self.warn(
                    "OTEL_EXPORTER_OTLP_PROTOCOL is neither http/protobuf nor http/json; nothing \
                     is exported. Collectors take both on port 4318."
                        .into(),
                );
                return None;
            }
        };
        let timeout = self.of_signal(signal, "TIMEOUT");
        let timeout = timeout.and_then(|text| text.parse().ok()).unwrap_or(10_000);
        Some(ExportTarget {
            url,
            headers: pairs(&self.of_signal(signal, "HEADERS").unwrap_or_default()),
            encoding,
            timeout: Duration::from_millis(timeout),
        })
    }

    fn sampler(&mut self) -> Sampler {
        let name = self.text("OTEL_TRACES_SAMPLER");
        let name = name.as_deref().unwrap_or("parentbased_always_on");
        let by_parent = name.starts_with("parentbased_");
        let ratio = match name.trim_start_matches("parentbased_") {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => self.ratio(),
            _ => {
                self.warn("OTEL_TRACES_SAMPLER is not known; every call is traced".into());
                return Sampler::default();
            }
        };
        Sampler { by_parent, ratio }
    }

    fn ratio(&mut self) -> f64 {
        let Some(text) = self.text("OTEL_TRACES_SAMPLER_ARG") else {
            return 1.0;
        };
        let ratio = text.parse().ok();
        ratio
            .filter(|it| (0.0..=1.0).contains(it))
            .unwrap_or_else(|| {
                self.warn(
                    "OTEL_TRACES_SAMPLER_ARG is not between 0 and 1; every call is traced".into(),
                );
                1.0
            })
    }

    fn resource(&self) -> Vec<(String, String)> {
        let mut resource = pairs(&self.text("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        if let Some(name) = self.text("OTEL_SERVICE_NAME") {
            resource.retain(|(key, _)| key != "service.name");
            resource.push(("service.name".into(), name));
        }
        resource
    }
}

/// `key=value,key=value`, with values as in URLs. What has another form is left out.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then(|| (key.to_owned(), decoded(value.trim())))
    });
    pairs.collect()
}

/// Replaces `%20` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let is_hex = |it: &&str| it.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = digits
            .filter(is_hex)
            .and_then(|it| u8::from_str_radix(it, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Environment {
        Environment::read(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    #[test]
    fn without_an_endpoint_nothing_is_exported() {
        let off = read(&[("OTEL_SERVICE_NAME", "desk"), ("OTEL_TRACES_SAMPLER", "x")]);
        assert!(!off.is_on());
        assert_eq!(off.warnings, [""; 0]);
        assert!(!read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")]).is_on());
        assert!(!read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).is_on());
    }

    #[test]
    fn one_endpoint_is_enough() {
        let on = read(&[ENDPOINT]);
        let (traces, metrics) = (on.traces.unwrap(), on.metrics.unwrap());
        assert_eq!(traces.url, "http://collector:4318/v1/traces");
        assert_eq!(metrics.url, "http://collector:4318/v1/metrics");
        assert_eq!(traces.encoding, Encoding::Protobuf);
        assert_eq!(traces.timeout, Duration::from_secs(10));
        assert_eq!(on.sampler, Sampler::default());
    }

    #[test]
    fn each_signal_can_have_its_own_settings() {
        let on = read(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://other/path"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b%3D, x = 1,junk"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1000"),
        ]);
        let (traces, metrics) = (on.traces.unwrap(), on.metrics.unwrap());
        assert_eq!(traces.url, "https://other/path");
        assert_eq!(traces.timeout, Duration::from_secs(1));
        assert_eq!(metrics.timeout, Duration::from_millis(2500));
        assert_eq!(metrics.encoding, Encoding::Json);
        let headers = [("api-key", "a b="), ("x", "1")];
        assert_eq!(
            traces.headers,
            headers.map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
        assert!(!format!("{traces:?}").contains("a b="), "{traces:?}");
        let off = read(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "none")]);
        assert!(off.traces.is_some() && off.metrics.is_none());
    }

    #[test]
    fn what_is_not_supported_is_reported() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ] {
            let off = read(&[(name, value), ENDPOINT]);
            assert!(!off.is_on(), "{name}");
            assert!(off.warnings.iter().any(|it| it.contains(name)), "{name}");
        }
        let odd = read(&[
            ENDPOINT,
            ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
            ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
        ]);
        assert!(odd.is_on());
        assert_eq!(odd.warnings.len(), 2, "{:?}", odd.warnings);
    }

    #[test]
    fn samplers_have_their_standard_names() {
        for (name, argument, by_parent, ratio) in [
            ("always_on", "", false, 1.0),
            ("always_off", "", false, 0.0),
            ("traceidratio", "0.25", false, 0.25),
            ("parentbased_always_on", "", true, 1.0),
            ("parentbased_always_off", "", true, 0.0),
            ("parentbased_traceidratio", "0.5", true, 0.5),
            ("parentbased_traceidratio", "7", true, 1.0),
        ] {
            let on = read(&[
                ENDPOINT,
                ("OTEL_TRACES_SAMPLER", name),
                ("OTEL_TRACES_SAMPLER_ARG", argument),
            ]);
            assert_eq!(on.sampler, Sampler { by_parent, ratio }, "{name}");
        }
    }

    #[test]
    fn the_service_has_the_name_that_it_is_given() {
        let on = read(&[
            ENDPOINT,
            (
                "OTEL_RESOURCE_ATTRIBUTES",
                "service.name=a,deployment.environment.name=test",
            ),
            ("OTEL_SERVICE_NAME", "b"),
        ]);
        let expected = [
            ("deployment.environment.name", "test"),
            ("service.name", "b"),
        ];
        assert_eq!(
            on.resource,
            expected.map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
    }
}
