//! Planning, moving and cancelling events.

use kit::context::Language;
use serde_json::json;

use crate::assistant::{both, one};

#[tokio::test]
async fn times_as_voice_models_send_them() {
    let assistant = one().await;
    for (start, minutes, end) in [
        ("2026-11-16T07:00:00", json!(30), "16T07:30:00+09:00"),
        (
            "２０２６－１１－１６Ｔ０７：００",
            json!("３０"),
            "16T07:30:00+09:00",
        ),
        ("2026-11-15T22:00:00Z", json!("30分"), "16T07:30:00+09:00"),
        ("2026/11/16 7:00", json!("1時間半"), "16T08:30:00+09:00"),
        ("2026-11-16T07:00:00", json!(30.0), "16T07:30:00+09:00"),
        (
            "2026-11-16T07:00[America/New_York]",
            json!(60),
            "16T08:00:00-05:00",
        ),
    ] {
        let arguments = json!({"title": "x", "start": start, "duration_min": minutes});
        let answer = assistant.ok("calendar.create", arguments).await;
        let expected = format!("2026-11-{end}");
        assert_eq!(answer["event"]["end"], expected, "{start} {minutes}");
    }
}

#[tokio::test]
async fn invalid_arguments_are_refused_with_a_reason() {
    let assistant = one().await;
    let code = async |title: &str, start: &str, minutes: serde_json::Value| {
        let arguments = json!({"title": title, "start": start, "duration_min": minutes});
        assistant.code("calendar.create", arguments).await
    };
    let good = "2026-11-16T07:00:00+09:00";
    for start in [
        "tomorrow",
        "2026-11-16",
        "2026-02-30T07:00",
        "9999-01-01T00:00",
    ] {
        assert_eq!(code("x", start, json!(30)).await, "INVALID_TIME", "{start}");
    }
    for minutes in [
        json!(0),
        json!(-5),
        json!(100_000),
        json!("long"),
        json!([30]),
    ] {
        let code = code("x", good, minutes.clone()).await;
        assert_eq!(code, "INVALID_DURATION", "{minutes}");
    }
    assert_eq!(code("  ", good, json!(30)).await, "EMPTY_TEXT");
    assert_eq!(assistant.count("innervoice_events").await, 0);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn overlapping_events_are_reported_and_adjacent_ones_are_not() {
    for mut assistant in both().await {
        let create = |title: &str, start: &str| json!({"title": title, "start": format!("2026-11-16T{start}:00"), "duration_min": 60});
        assistant
            .ok("calendar.create", create("standup", "09:00"))
            .await;
        let next = assistant
            .ok("calendar.create", create("review", "10:00"))
            .await;
        assert_eq!(next["conflicts"], json!([]));
        let over = assistant
            .ok("calendar.create", create("dentist", "09:30"))
            .await;
        let titles: Vec<_> = over["conflicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["title"].as_str().unwrap())
            .collect();
        assert_eq!(titles, ["standup", "review"]);
        assert_eq!(
            over["message"],
            "I added dentist to your calendar for tomorrow at 9:30, which overlaps with standup."
        );
        let later = json!({"id": over["id"], "start": "2026-11-16T10:30:00"});
        let moved = assistant.ok("calendar.update", later).await;
        let message = moved["message"].as_str().unwrap();
        assert!(message.ends_with("It overlaps with review."), "{message}");
        assistant.context.language = Language::Japanese;
        let lunch = assistant
            .ok("calendar.create", create("昼食", "12:00"))
            .await;
        assert_eq!(lunch["message"], "明日12時に「昼食」の予定を入れました。");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn listed_changed_and_cancelled() {
    for assistant in both().await {
        let arguments = json!({
            "title": "run", "start": "2026-11-16T07:00", "duration_min": 30,
            "description": "slowly", "location": "park"
        });
        let id = assistant.ok("calendar.create", arguments).await["id"].clone();
        let list = assistant.ok("calendar.list", json!({})).await;
        assert_eq!(list["events"][0]["id"], id);
        let tomorrow = assistant.ok("calendar.list", json!({"from": "明日"})).await;
        assert_eq!(tomorrow["events"].as_array().unwrap().len(), 1);
        let today = json!({"from": "2026-11-15", "to": "2026-11-15"});
        assert_eq!(
            assistant.ok("calendar.list", today).await["events"],
            json!([])
        );

        let moved = json!({"id": id, "start": "2026-11-17T08:00"});
        let moved = assistant.ok("calendar.update", moved).await;
        // Fields that were not given stay.
        assert_eq!(moved["event"]["end"], "2026-11-17T08:30:00+09:00");
        assert_eq!(moved["event"]["description"], "slowly");
        assert_eq!(moved["event"]["location"], "park");
        assert_eq!(moved["conflicts"], json!([]));
        let emptied = json!({"id": id, "clear": ["location"], "description": "", "title": ""});
        for _ in 0..2 {
            let emptied = assistant.ok("calendar.update", emptied.clone()).await;
            assert_eq!(emptied["event"].get("location"), None);
            assert_eq!(emptied["event"]["description"], "slowly");
            assert_eq!(emptied["event"]["title"], "run");
        }
        for nothing in [
            json!({"id": id}),
            json!({"id": id, "description": ""}),
            json!({"id": id, "clear": []}),
        ] {
            let code = assistant.code("calendar.update", nothing).await;
            assert_eq!(code, "NOTHING_TO_CHANGE");
        }
        for unclear in [
            json!({"id": id, "clear": ["description"], "description": "fast"}),
            json!({"id": id, "clear": ["title"]}),
        ] {
            let code = assistant.code("calendar.update", unclear).await;
            assert_eq!(code, "INVALID_ARGUMENT");
        }

        assistant.ok("calendar.cancel", json!({"id": id})).await;
        assistant.ok("calendar.cancel", json!({"id": id})).await;
        assert_eq!(
            assistant.ok("calendar.list", json!({})).await["events"],
            json!([])
        );
        let late = json!({"id": id, "title": "walk"});
        assert_eq!(
            assistant.code("calendar.update", late).await,
            "EVENT_NOT_ACTIVE"
        );
        let unknown = json!({"id": "evt_none"});
        assert_eq!(
            assistant.code("calendar.cancel", unknown).await,
            "EVENT_NOT_FOUND"
        );
    }
}

#[tokio::test]
async fn the_card_shows_the_absolute_time() {
    let mut assistant = one().await;
    let arguments = json!({"title": "run", "start": "2026-11-15T22:00:00Z", "duration_min": 30});
    let card = assistant
        .card("calendar.create", arguments.clone())
        .await
        .unwrap();
    assert_eq!(
        card.lines[1].text,
        "Mon 16 Nov 2026, 07:00 (Asia/Tokyo, UTC+09:00)"
    );
    assistant.context.language = Language::Japanese;
    let card = assistant.card("calendar.create", arguments).await.unwrap();
    assert_eq!(card.summary, "予定「run」を追加する");
    assert_eq!(
        card.lines[1].text,
        "2026年11月16日(月) 07:00 (Asia/Tokyo, UTC+09:00)"
    );
    // The card refuses too, so that nobody is asked.
    let wrong = json!({"title": "run", "start": "soon", "duration_min": 30});
    let refused = assistant.card("calendar.create", wrong).await.unwrap_err();
    assert_eq!(refused.code, "INVALID_TIME");
}
