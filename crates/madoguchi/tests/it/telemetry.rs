//! Traces and metrics as an OpenTelemetry collector gets them. The collector is a
//! script that reads them with the official messages.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    Desk, LEGACY, Peer, Session, Socket, call, configured_keys, modern_headers, request, result,
    structured,
};

const COLLECTOR: &str = "otlp_collector.py";

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn traceparent(flags: &str) -> String {
    format!("00-{TRACE}-{PARENT}-{flags}")
}

/// A desk that exports to the collector, soon after each call.
async fn exporting(collector: &Peer, variables: &[(&str, &str)]) -> Desk {
    let endpoint = format!("http://127.0.0.1:{}", collector.port);
    let mut setup = Desk::setup()
        .config(&configured_keys(&[("phone", "phone key")]))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .env("OTEL_METRIC_EXPORT_INTERVAL", "200");
    for (name, value) in variables {
        setup = setup.env(name, value);
    }
    setup.start().await
}

/// The attributes of a span, a resource or a series, by name.
fn attributes(of: &Value) -> Value {
    let pairs = of["attributes"].as_array().into_iter().flatten();
    let pairs = pairs.map(|it| {
        let name = it["key"].as_str().unwrap().to_owned();
        (name, it["value"]["stringValue"].clone())
    });
    Value::Object(pairs.collect())
}

/// Everything of one kind that the collector got.
fn got(collector: &Peer, path: &str, names: [&str; 3]) -> Vec<Value> {
    let requests = collector.so_far(|one| one["path"] == path);
    let mut found = Vec::new();
    for request in requests {
        assert!(request.get("broken").is_none(), "{request}");
        let groups = request["message"][names[0]].as_array().unwrap();
        for scope in groups
            .iter()
            .flat_map(|it| it[names[1]].as_array().unwrap())
        {
            found.extend(scope[names[2]].as_array().unwrap().iter().cloned());
        }
    }
    found
}

fn spans(collector: &Peer) -> Vec<Value> {
    got(
        collector,
        "/v1/traces",
        ["resourceSpans", "scopeSpans", "spans"],
    )
}

/// Waits for a span of the first kind: a call, not a station.
async fn calls(collector: &Peer, count: usize) -> Vec<Value> {
    for _ in 0..200 {
        let calls: Vec<Value> = spans(collector)
            .into_iter()
            .filter(|span| span["kind"] == "SPAN_KIND_SERVER")
            .collect();
        if calls.len() >= count {
            return calls;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the collector only got {:?}", spans(collector));
}

fn children<'a>(spans: &'a [Value], of: &Value) -> Vec<&'a str> {
    let is_child = |span: &&Value| span["parentSpanId"] == of["spanId"];
    let names = spans.iter().filter(is_child);
    names.map(|span| span["name"].as_str().unwrap()).collect()
}

const STATIONS: [&str; 9] = [
    "identify",
    "limit",
    "resolve",
    "authorize",
    "normalise",
    "validate",
    "approve",
    "run",
    "audit",
];

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_call_is_a_span_with_one_for_each_station_in_the_trace_of_its_caller() {
    for protocol in ["http/protobuf", "http/json"] {
        let collector = Peer::start(COLLECTOR, &[]).await;
        let desk = exporting(
            &collector,
            &[
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
                ("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=secret%20one"),
                ("OTEL_SERVICE_NAME", "front desk"),
                (
                    "OTEL_RESOURCE_ATTRIBUTES",
                    "deployment.environment.name=test",
                ),
            ],
        )
        .await;
        let secret = json!({ "search_query": "nobody's business" });
        let mut message = call(1, "get_movie_list", secret);
        let mut headers = modern_headers("tools/call", &message["params"]);
        headers.push(("traceparent", traceparent("01")));
        headers.push(("tracestate", "vendor=1".to_owned()));
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let body = message.to_string();
        let answer = request(desk.port, "POST", "/mcp/cinema", &headers, body).await;
        let answer = answer.message();
        structured(result(&answer));

        let call = calls(&collector, 1).await.remove(0);
        let all = spans(&collector);
        assert_eq!(call["name"], "tools/call get_movie_list");
        assert_eq!(
            (&call["traceId"], &call["parentSpanId"]),
            (&json!(TRACE), &json!(PARENT))
        );
        assert_eq!(call["traceState"], "vendor=1");
        assert!(call.get("status").is_none(), "{call}");
        let id = &result(&answer)["_meta"]["madoguchi/call"];
        let expected = json!({
            "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_movie_list", "network.transport": "tcp",
            "madoguchi.counter": "cinema", "madoguchi.call": id, "madoguchi.outcome": "done",
        });
        assert_eq!(attributes(&call), expected);
        assert_eq!(children(&all, &call), STATIONS);
        for span in &all {
            let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
            assert!(
                time("startTimeUnixNano") <= time("endTimeUnixNano"),
                "{span}"
            );
            assert_eq!(span["traceId"], TRACE);
        }
        let told = collector.so_far(|it| it["path"] == "/v1/traces");
        assert!(told.iter().all(|it| it["key"] == "secret one"), "{told:?}");
        let kind = if protocol == "http/json" {
            "application/json"
        } else {
            "application/x-protobuf"
        };
        assert!(told.iter().all(|it| it["type"] == kind), "{told:?}");
        let resource = attributes(&told[0]["message"]["resourceSpans"][0]["resource"]);
        assert_eq!(resource["service.name"], "front desk");
        assert_eq!(resource["deployment.environment.name"], "test");
        assert!(resource["service.instance.id"].is_string(), "{resource}");
        assert!(!json!(told).to_string().contains("business"), "{told:?}");

        // What the message says wins over the headers of the request.
        let other = TRACE.replace("4bf9", "5bf9");
        let meta = format!("00-{other}-{PARENT}-01");
        message["params"]["_meta"]["traceparent"] = meta.into();
        let body = message.to_string();
        request(desk.port, "POST", "/mcp/cinema", &headers, body).await;
        let calls = calls(&collector, 2).await;
        assert_eq!(calls[1]["traceId"], other.as_str());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_path_into_the_desk_is_traced() {
    let collector = Peer::start(COLLECTOR, &[]).await;
    let desk = exporting(&collector, &[]).await;
    let parent = traceparent("01");
    let meta = json!({ "traceparent": parent });

    let mut socket = Socket::open(&desk, "cinema").await;
    let mut message = call(1, "get_movie_list", json!({ "limit": 1 }));
    message["params"]["_meta"]["traceparent"] = parent.clone().into();
    socket.request(&message).await;
    // With a progress token it goes through the protocol crate.
    message["params"]["_meta"]["progressToken"] = 7.into();
    message["id"] = 2.into();
    socket.request(&message).await;

    let mut session = Session::open(&desk, "cinema", LEGACY).await;
    let params = json!({ "name": "no_such_tool", "arguments": {}, "_meta": meta });
    session.request("tools/call", params).await;
    let params = json!({ "name": "reserve_seats", "arguments": {}, "_meta": meta });
    session.request("tools/call", params).await;
    let params = json!({ "uri": "cinema://nothing", "_meta": meta });
    session.request("resources/read", params).await;

    let calls = calls(&collector, 5).await;
    let all = spans(&collector);
    assert!(
        calls.iter().all(|it| it["parentSpanId"] == PARENT),
        "{calls:?}"
    );
    let names: Vec<&str> = calls
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let expected = [
        "tools/call get_movie_list",
        "tools/call get_movie_list",
        "tools/call unknown",
        "tools/call reserve_seats",
        "resources/read",
    ];
    assert_eq!(names, expected);
    let run = all.iter().find(|it| it["name"] == "run").unwrap();
    assert_eq!(children(&all, run), ["store query"]);
    // Refused before it ran.
    assert!(!children(&all, &calls[3]).contains(&"run"));
    for (call, kind) in [(2, "tool_error"), (3, "tool_error"), (4, "NOT_FOUND")] {
        let call = &calls[call];
        assert_eq!(call["status"]["code"], "STATUS_CODE_ERROR", "{call}");
        let attributes = attributes(call);
        if kind == "tool_error" {
            assert!(
                attributes["madoguchi.error.code"].is_string(),
                "{attributes}"
            );
            assert_eq!(attributes["error.type"], kind);
        } else {
            assert!(attributes["error.type"].is_string(), "{attributes}");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn metrics_are_exported_under_the_names_they_have_in_prometheus() {
    let collector = Peer::start(COLLECTOR, &[]).await;
    let desk = exporting(&collector, &[]).await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    let path = "/v1/metrics";
    let before = collector.so_far(|it| it["path"] == path).len();
    collector.said(before + 2, |it| it["path"] == path).await;
    let mut metrics = got(
        &collector,
        path,
        ["resourceMetrics", "scopeMetrics", "metrics"],
    );
    metrics.reverse();
    let newest = |name: &str| metrics.iter().find(|it| it["name"] == name).unwrap();
    let of_tool = |points: &Value| {
        let points = points["dataPoints"].as_array().unwrap();
        let mut found = points
            .iter()
            .filter(|it| attributes(it)["tool"] == "fixture_write");
        found.next().unwrap().clone()
    };
    let calls = &newest("madoguchi_calls")["sum"];
    assert_eq!(calls["isMonotonic"], true);
    assert_eq!(of_tool(calls)["asDouble"], 1.0);
    let latency = of_tool(&newest("madoguchi_call_seconds")["histogram"]);
    assert_eq!(latency["count"], "1");
    let counts = latency["bucketCounts"].as_array().unwrap();
    let bounds = latency["explicitBounds"].as_array().unwrap();
    assert_eq!(counts.len(), bounds.len() + 1);
    assert_eq!(
        counts.iter().filter(|it| *it == "1").count(),
        1,
        "{counts:?}"
    );
    // Everything that Prometheus sees.
    let text = desk.get("/metrics").await.text();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(metrics.iter().any(|it| it["name"] == name), "{name}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_caller_and_the_sampler_decide_what_is_traced() {
    let collector = Peer::start(COLLECTOR, &[]).await;
    let desk = exporting(
        &collector,
        &[("OTEL_TRACES_SAMPLER", "parentbased_always_off")],
    )
    .await;
    let message = call(1, "fixture_write", json!({}));
    let post = async |flags: Option<&str>| {
        let mut headers = modern_headers("tools/call", &message["params"]);
        headers.extend(flags.map(|flags| ("traceparent", traceparent(flags))));
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        request(
            desk.port,
            "POST",
            "/mcp/fixture",
            &headers,
            message.to_string(),
        )
        .await
    };
    post(None).await;
    post(Some("00")).await;
    post(Some("01")).await;
    calls(&collector, 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(calls(&collector, 1).await.len(), 1);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_collector_that_is_busy_gets_the_spans_later() {
    let collector = Peer::start(COLLECTOR, &["503", "503", "200"]).await;
    let desk = exporting(&collector, &[("OTEL_METRICS_EXPORTER", "none")]).await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    let told = collector.said(3, |it| it["path"] == "/v1/traces").await;
    assert_eq!(told[2]["status"], 200);
    assert_eq!(told[0]["message"], told[2]["message"]);
    let count = async |name: &str| {
        let text = desk.get("/metrics").await.text();
        let line = format!("madoguchi_{name}_total ");
        let value = text.lines().find_map(|it| it.strip_prefix(&line));
        value.unwrap().parse::<u64>().unwrap()
    };
    while count("spans_exported").await == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(count("spans_dropped").await, 0);
}

/// Needs no collector: there is none.
#[tokio::test]
async fn without_its_collector_a_desk_works_and_counts_what_is_lost() {
    let mut desk = Desk::setup()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
        .env("OTEL_BSP_SCHEDULE_DELAY", "10")
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "8")
        .start()
        .await;
    for _ in 0..20 {
        desk.ok("fixture", "fixture_write", json!({})).await;
    }
    let text = desk.get("/metrics").await.text();
    let dropped = text
        .lines()
        .find_map(|line| line.strip_prefix("madoguchi_spans_dropped_total "));
    assert!(dropped.unwrap().parse::<u64>().unwrap() > 0, "{text}");
    desk.signal("TERM");
    let ended = tokio::time::timeout(Duration::from_secs(15), desk.ended());
    assert!(ended.await.expect("it does not stop").success());
    assert!(
        desk.log().contains("spans can't be exported"),
        "{}",
        desk.log()
    );
}

#[tokio::test]
async fn a_protocol_that_is_not_spoken_is_reported_and_nothing_is_exported() {
    let desk = Desk::setup()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .start()
        .await;
    assert!(
        desk.log()
            .contains("OTEL_EXPORTER_OTLP_PROTOCOL is neither"),
        "{}",
        desk.log()
    );
}
