//! Setting, changing and cancelling reminders.

use kit::context::Language;
use serde_json::{Value, json};

use crate::assistant::{both, one};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_answer_echoes_the_rule_and_the_next_times() {
    for mut assistant in both().await {
        for (time, repeat, rule, next) in [
            (
                "2026-11-16T07:00",
                "weekdays",
                "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
                ["2026-11-16T07", "2026-11-17T07", "2026-11-18T07"],
            ),
            (
                "2026-11-16T07:00",
                "毎週月水金",
                "FREQ=WEEKLY;BYDAY=MO,WE,FR",
                ["2026-11-16T07", "2026-11-18T07", "2026-11-20T07"],
            ),
            (
                "2026-12-31T20:00",
                "monthly",
                "FREQ=MONTHLY;BYMONTHDAY=-1",
                ["2026-12-31T20", "2027-01-31T20", "2027-02-28T20"],
            ),
            (
                "2027-01-30T20:00",
                "毎月",
                "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
                ["2027-01-30T20", "2027-02-28T20", "2027-03-30T20"],
            ),
            (
                "2027-01-31T20:00",
                "FREQ=MONTHLY;BYMONTHDAY=31",
                "FREQ=MONTHLY;BYMONTHDAY=31",
                ["2027-01-31T20", "2027-03-31T20", "2027-05-31T20"],
            ),
            // A series may have begun before now.
            (
                "2026-11-01T09:00",
                "daily",
                "FREQ=DAILY",
                ["2026-11-16T09", "2026-11-17T09", "2026-11-18T09"],
            ),
        ] {
            let arguments = json!({"time": time, "note": "x", "repeat": repeat});
            let answer = assistant.ok("reminder.create", arguments).await;
            assert_eq!(answer["repeat"]["rule"], rule, "{repeat}");
            let next = next.map(|hour| format!("{hour}:00:00+09:00"));
            assert_eq!(answer["next"], json!(next), "{repeat}");
        }
        assistant.context.language = Language::Japanese;
        let arguments = json!({"time": "2026-11-16T07:00", "note": "ゴミ出し", "repeat": "隔週"});
        let answer = assistant.ok("reminder.create", arguments).await;
        assert_eq!(
            answer["message"],
            "隔週月曜、次は明日7時に「ゴミ出し」をお知らせします。"
        );
    }
}

#[tokio::test]
async fn invalid_arguments_are_refused_with_a_reason() {
    let assistant = one().await;
    let code = async |arguments: Value| assistant.code("reminder.create", arguments).await;
    let past = json!({"time": "2026-11-15T09:00", "note": "x"});
    assert_eq!(code(past).await, "TIME_PASSED");
    // A time a moment ago still counts as now.
    assistant
        .ok(
            "reminder.create",
            json!({"time": "2026-11-15T09:59:30", "note": "x"}),
        )
        .await;
    for repeat in [
        "sometimes",
        "FREQ=SECONDLY",
        "FREQ=DAILY;UNTIL=20200101",
        "ときどき",
    ] {
        let arguments = json!({"time": "2026-11-16T09:00", "note": "x", "repeat": repeat});
        assert_eq!(code(arguments).await, "INVALID_REPEAT", "{repeat}");
    }
    let empty = json!({"time": "2026-11-16T09:00", "note": " "});
    assert_eq!(code(empty).await, "EMPTY_TEXT");
    let no_time = json!({"time": "later", "note": "x"});
    assert_eq!(code(no_time).await, "INVALID_TIME");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn listed_changed_and_cancelled() {
    for assistant in both().await {
        let create = |time: &str, note: &str| json!({"time": time, "note": note});
        let late = assistant
            .ok("reminder.create", create("2026-11-20T08:00", "late"))
            .await;
        let soon = assistant
            .ok("reminder.create", create("2026-11-16T08:00", "soon"))
            .await;
        let notes = async |arguments: Value| -> Vec<String> {
            let list = assistant.ok("reminder.list", arguments).await;
            let all = list["reminders"].as_array().unwrap().clone();
            all.iter()
                .map(|one| one["note"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(notes(json!({})).await, ["soon", "late"]);
        let id = &soon["id"];
        let changed = json!({"id": id, "time": "2026-11-25T08:00", "note": "later"});
        let changed = assistant.ok("reminder.update", changed).await;
        assert_eq!(changed["next"], json!(["2026-11-25T08:00:00+09:00"]));
        assert_eq!(notes(json!({})).await, ["late", "later"]);
        // A new repetition keeps the time of day.
        let weekly = json!({"id": id, "repeat": "weekly"});
        let weekly = assistant.ok("reminder.update", weekly).await;
        assert_eq!(weekly["next"][1], "2026-12-02T08:00:00+09:00");
        assert_eq!(notes(json!({})).await[1], "later");
        let noted = json!({"id": id, "note": "again"});
        let noted = assistant.ok("reminder.update", noted).await;
        assert_eq!(noted["repeat"]["rule"], "FREQ=WEEKLY;BYDAY=WE");
        let once = json!({"id": id, "repeat": "none"});
        let once = assistant.ok("reminder.update", once).await;
        assert_eq!(once["next"], json!(["2026-11-25T08:00:00+09:00"]));

        assistant.ok("reminder.cancel", json!({"id": id})).await;
        assistant.ok("reminder.cancel", json!({"id": id})).await;
        assert_eq!(notes(json!({})).await, ["late"]);
        assert_eq!(
            notes(json!({"include_past": true})).await,
            ["late", "again"]
        );
        let gone = json!({"id": id, "note": "x"});
        assert_eq!(
            assistant.code("reminder.update", gone).await,
            "REMINDER_NOT_ACTIVE"
        );
        let unknown = json!({"id": "rmd_none", "note": "x"});
        assert_eq!(
            assistant.code("reminder.update", unknown).await,
            "REMINDER_NOT_FOUND"
        );
        assert!(late["id"].is_string());
    }
}

/// The message about a shortened list says that there is more.
#[tokio::test]
async fn the_message_about_a_long_list_is_correct() {
    let assistant = one().await;
    for number in 0..3 {
        let note = format!("note {number}");
        let reminder = json!({"time": "2026-11-16T07:00", "note": note});
        assistant.ok("reminder.create", reminder).await;
        let event = json!({"title": note, "start": "2026-11-16T07:00", "duration_min": 5});
        assistant.ok("calendar.create", event).await;
        let message = json!({"to": "a@example.com", "text": note});
        assistant.ok("message.send", message).await;
    }
    for (limit, reminders, events, messages) in [
        (
            2,
            "More than 2 reminders are set",
            "There are more than 2 events",
            "The newest 2 messages",
        ),
        (
            3,
            "3 reminders are set",
            "There are 3 events",
            "3 messages,",
        ),
    ] {
        for (tool, begins) in [
            ("reminder.list", reminders),
            ("calendar.list", events),
            ("message.list", messages),
        ] {
            let list = assistant.ok(tool, json!({"limit": limit})).await;
            let said = list["message"].as_str().unwrap();
            assert!(said.starts_with(begins), "{tool} {limit}: {said}");
            assert_eq!(list["has_more"], limit < 3, "{tool}");
        }
    }
}

#[tokio::test]
async fn another_time_zone_is_named() {
    let assistant = one().await;
    let there = json!({"time": "2026-11-16T07:00[America/New_York]", "note": "call"});
    let set = assistant.ok("reminder.create", there).await;
    let said = set["message"].as_str().unwrap();
    assert!(said.contains("at 7:00 New York time"), "{said}");
    let nowhere = json!({"time": "2026-11-16T07:00+25:00", "note": "call"});
    assert_eq!(
        assistant.code("reminder.create", nowhere).await,
        "INVALID_TIME"
    );
}
