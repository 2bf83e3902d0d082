//! Finding events and free time.

use serde_json::{Value, json};

use crate::assistant::{Assistant, both, one};

async fn plan(assistant: &Assistant, title: &str, start: &str, minutes: i64) -> Value {
    let event = json!({"title": title, "start": start, "duration_min": minutes});
    assistant.ok("calendar.create", event).await["id"].clone()
}

#[tokio::test]
async fn gaps_between_events_are_found() {
    for assistant in both().await {
        plan(&assistant, "review", "2026-11-16T10:00", 60).await;
        plan(&assistant, "dentist", "2026-11-16T10:30", 90).await;
        plan(&assistant, "call", "2026-11-16T17:30", 60).await;
        let holiday = json!({"title": "Holiday", "start": "2026-11-16", "all_day": true});
        assistant.ok("calendar.create", holiday).await;
        let ask = json!({"duration_min": 60, "from": "tomorrow", "to": "tomorrow"});
        let free = assistant.ok("calendar.free_slots", ask).await;
        let slot = |start: &str, end: &str| {
            json!({
                "start": format!("2026-11-16T{start}:00+09:00"),
                "end": format!("2026-11-16T{end}:00+09:00"),
            })
        };
        assert_eq!(
            free["slots"],
            json!([slot("09:00", "10:00"), slot("12:00", "17:30")])
        );
        assert_eq!(free["all_day"], json!(["Holiday"]));
        assert_eq!(
            free["message"],
            "You are free tomorrow from 9:00 to 10:00, and tomorrow from 12:00 to 17:30."
        );
        let long = json!({
            "duration_min": "6h", "from": "tomorrow", "to": "tomorrow", "latest": "18:00"
        });
        let none = assistant.ok("free_slots", long).await;
        assert_eq!(none["slots"], json!([]));
        assert_eq!(none["details"]["longest_gap_min"], 330);
        let early = json!({
            "duration_min": 60, "from": "2026-11-16T06:00", "to": "2026-11-16T09:00",
            "earliest": "06:00"
        });
        let early = assistant.ok("calendar.free_slots", early).await;
        assert_eq!(early["slots"], json!([slot("06:00", "09:00")]));
    }
}

#[tokio::test]
async fn today_counts_from_now_on() {
    let assistant = one().await;
    assistant.set_clock("2026-11-16T10:07:30+09:00");
    let ask = json!({"duration_min": 30, "to": "today"});
    let free = assistant.ok("calendar.free_slots", ask).await;
    assert_eq!(free["slots"][0]["start"], "2026-11-16T10:10:00+09:00");
}

#[tokio::test]
async fn events_are_searched_and_an_empty_list_says_why() {
    let assistant = one().await;
    let empty = assistant.ok("calendar.list", json!({})).await;
    assert_eq!(
        empty["message"],
        "Nothing is planned from today to Sunday, November 22. The calendar is empty."
    );
    plan(&assistant, "歯医者", "2027-02-01T10:00", 30).await;
    plan(&assistant, "Project review", "2026-12-01T10:00", 30).await;
    let search = json!({"query": "ハイシャ"});
    let found = assistant.ok("calendar.list", search).await;
    assert_eq!(found["events"], json!([]));
    assert_eq!(found["details"]["titles"].as_array().unwrap().len(), 2);
    let found = assistant
        .ok("calendar.list", json!({"query": "歯医"}))
        .await;
    assert_eq!(found["events"][0]["title"], "歯医者");
    let week = assistant
        .ok("calendar.list", json!({"from": "tomorrow"}))
        .await;
    assert_eq!(week["details"]["to"], "2026-11-23T00:00:00+09:00");
    assert_eq!(week["details"]["next"]["title"], "Project review");
    let said = week["message"].as_str().unwrap();
    assert!(
        said.ends_with("The next event is Project review, Tuesday, December 1 at 10:00."),
        "{said}"
    );
}
