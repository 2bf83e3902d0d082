//! Finding events and free time.

use serde_json::{Value, json};

use crate::assistant::{Assistant, both, one};

async fn plan(assistant: &Assistant, title: &str, start: &str, minutes: i64) -> Value {
    let event = json!({"title": title, "start": start, "duration_min": minutes});
    assistant.ok("calendar.create", event).await["id"].clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
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
            "You are free tomorrow from 9:00 to 10:00, and tomorrow from 12:00 to 17:30. But note \
             what lasts all day: Holiday."
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
async fn hours_reach_into_the_night_or_are_refused() {
    let assistant = one().await;
    let ask = async |day: &str, earliest: &str, latest: &str| {
        let ask = json!({
            "duration_min": 60, "from": day, "to": day, "earliest": earliest, "latest": latest
        });
        let slots = assistant.ok("calendar.free_slots", ask).await["slots"].clone();
        let time = |slot: &Value, name: &str| slot[name].as_str().unwrap()[8..16].to_owned();
        let slots = slots.as_array().unwrap().iter();
        let slots = slots.map(|slot| format!("{}-{}", time(slot, "start"), time(slot, "end")));
        slots.collect::<Vec<_>>()
    };
    plan(&assistant, "radio", "2026-11-17T00:30", 30).await;
    let night = ["16T22:00-17T00:30", "17T01:00-17T02:00"];
    assert_eq!(ask("tomorrow", "22:00", "26:00").await, night);
    assert_eq!(ask("tomorrow", "10pm", "26時").await, night);
    assert_eq!(ask("tomorrow", "20", "24:00").await, ["16T20:00-17T00:00"]);
    // After midnight the night before goes on.
    assistant.set_clock("2026-11-18T00:30:00+09:00");
    let tonight = json!({
        "duration_min": 60, "to": "2026-11-18T12:00", "earliest": "22:00", "latest": "26:00"
    });
    let tonight = assistant.ok("calendar.free_slots", tonight).await;
    assert_eq!(
        tonight["slots"],
        json!([{"start": "2026-11-18T00:30:00+09:00", "end": "2026-11-18T02:00:00+09:00"}])
    );
    for (earliest, latest, code) in [
        ("18:00", "09:00", "EMPTY_RANGE"),
        ("09:00", "09:00", "EMPTY_RANGE"),
        ("00:00", "29:00", "EMPTY_RANGE"),
        ("19:00", "", "EMPTY_RANGE"),
        ("09:00", "31:00", "INVALID_TIME"),
        ("dawn", "18:00", "INVALID_TIME"),
    ] {
        let ask = json!({"duration_min": 60, "earliest": earliest, "latest": latest});
        let refused = assistant.code("calendar.free_slots", ask).await;
        assert_eq!(refused, code, "{earliest} to {latest}");
    }
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
