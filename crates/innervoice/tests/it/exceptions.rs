//! What becomes of moved and skipped occurrences, and what `date` means.

use serde_json::{Value, json};

use crate::{
    assistant::{Assistant, both, one},
    series::{days, weekly},
};

const TO_CHRISTMAS: (&str, &str) = ("2026-11-16", "2026-12-24");

fn range((from, to): (&str, &str)) -> Value {
    json!({"from": from, "to": to})
}

/// A weekly meeting: 24 November is moved to the 26th, 1 December is skipped.
async fn with_exceptions(assistant: &Assistant) -> Value {
    let id = assistant.ok("calendar.create", weekly()).await["id"].clone();
    let moved = json!({"id": id, "date": "2026-11-24", "start": "2026-11-26T09:00"});
    assistant.ok("calendar.update", moved).await;
    let skipped = json!({"id": id, "date": "2026-12-01"});
    assistant.ok("calendar.cancel", skipped).await;
    id
}

async fn daily(assistant: &Assistant, repeat: &str) -> Value {
    let daily = json!({"time": "2026-11-16T08:00", "note": "vitamins", "repeat": repeat});
    assistant.ok("reminder.create", daily).await["id"].clone()
}

/// The next times of the only reminder.
async fn next(assistant: &Assistant) -> Vec<String> {
    let list = assistant.ok("reminder.list", json!({})).await;
    let next = list["reminders"][0]["next"].as_array().unwrap().iter();
    next.map(|at| at.as_str().unwrap()[5..16].to_owned())
        .collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_empty_date_never_means_the_whole_series() {
    for assistant in both().await {
        let event = assistant.ok("calendar.create", weekly()).await["id"].clone();
        let reminder = daily(&assistant, "daily").await;
        for empty in [json!(""), json!(null), json!("  ")] {
            for (tool, arguments) in [
                ("calendar.cancel", json!({"id": event, "date": empty})),
                ("reminder.cancel", json!({"id": reminder, "date": empty})),
                (
                    "calendar.update",
                    json!({"id": event, "date": empty, "start": "11:00"}),
                ),
                (
                    "reminder.update",
                    json!({"id": reminder, "date": empty, "time": "09:30"}),
                ),
            ] {
                let refused = assistant.refused(tool, arguments).await;
                assert_eq!(refused.code, "INVALID_ARGUMENT", "{tool}");
                assert!(refused.text().contains("date: all"), "{refused}");
            }
        }
        assert_eq!(next(&assistant).await[0], "11-16T08:00");
        assert_eq!(days(&assistant, range(TO_CHRISTMAS)).await.len(), 6);
        // Only the whole series has a title, and one event has no other days.
        let title = json!({"id": event, "date": "", "title": "Team"});
        assistant.ok("calendar.update", title).await;
        let once = json!({"title": "x", "start": "2026-11-20T09:00", "duration_min": 30});
        let once = assistant.ok("calendar.create", once).await["id"].clone();
        assistant
            .ok("calendar.cancel", json!({"id": once, "date": ""}))
            .await;
        // A client that has to send it names all of them.
        for (tool, id) in [("calendar.cancel", event), ("reminder.cancel", reminder)] {
            assistant.ok(tool, json!({"id": id, "date": "all"})).await;
        }
        assert_eq!(days(&assistant, range(TO_CHRISTMAS)).await, [""; 0]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_series_keeps_its_moved_and_skipped_days() {
    for assistant in both().await {
        let id = with_exceptions(&assistant).await;
        let later = json!({"id": id, "start": "11:00", "duration_min": 90});
        let later = assistant.ok("calendar.update", later).await;
        assert_eq!(later.get("warnings"), None);
        let expected = [
            "11-17T11:00",
            "11-26T09:00",
            "12-08T11:00",
            "12-15T11:00",
            "12-22T11:00",
        ];
        assert_eq!(days(&assistant, range(TO_CHRISTMAS)).await, expected);
        // The moved one had the length of the series, so it follows it.
        let list = range(("2026-11-26", "2026-11-26"));
        let list = assistant.ok("calendar.list", list).await;
        assert_eq!(list["events"][0]["end"], "2026-11-26T10:30:00+09:00");
        let shorter = json!({"id": id, "repeat": "every tuesday until december 10"});
        assistant.ok("calendar.update", shorter).await;
        let days_left = days(&assistant, range(TO_CHRISTMAS)).await;
        assert_eq!(days_left, expected[..3]);
        // On Thursdays it has neither of these days, and says so.
        let thursday = json!({"id": id, "start": "2026-11-19T09:00"});
        let thursday = assistant.ok("calendar.update", thursday).await;
        let warning = &thursday["warnings"][0];
        assert_eq!(warning["code"], "EXCEPTIONS_DROPPED");
        assert_eq!(warning["dates"], json!(["2026-11-24", "2026-12-01"]));
        assert_eq!(
            days(&assistant, range(TO_CHRISTMAS)).await,
            ["11-19T09:00", "11-26T09:00", "12-03T09:00", "12-10T09:00"]
        );
    }
}

#[tokio::test]
async fn a_moved_day_of_an_all_day_series_gets_the_time_of_the_series() {
    let assistant = one().await;
    let holiday = json!({
        "title": "Market", "start": "2026-11-20", "all_day": true, "repeat": "every friday"
    });
    let id = assistant.ok("calendar.create", holiday).await["id"].clone();
    let moved = json!({"id": id, "date": "2026-11-27", "start": "2026-11-28"});
    assistant.ok("calendar.update", moved).await;
    let timed = json!({"id": id, "all_day": false, "start": "9am"});
    assistant.ok("calendar.update", timed).await;
    let list = range(("2026-11-28", "2026-11-28"));
    let list = assistant.ok("calendar.list", list).await;
    assert_eq!(list["events"][0]["start"], "2026-11-28T09:00:00+09:00");
    assert_eq!(list["events"][0]["end"], "2026-11-28T10:00:00+09:00");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_reminder_keeps_its_moved_and_skipped_days() {
    for assistant in both().await {
        let id = daily(&assistant, "daily, 6 times").await;
        let skip = json!({"id": id, "date": "2026-11-17"});
        assistant.ok("reminder.cancel", skip).await;
        let moved = json!({"id": id, "date": "2026-11-16", "time": "21:00"});
        assistant.ok("reminder.update", moved).await;
        let earlier = ["11-16T21:00", "11-18T08:00", "11-19T08:00"];
        assert_eq!(next(&assistant).await, earlier);
        let later = json!({"id": id, "time": "09:30"});
        let later = assistant.ok("reminder.update", later).await;
        assert_eq!(later["changed"], json!(["time"]));
        assert_eq!(later.get("warnings"), None);
        let times = ["11-16T21:00", "11-18T09:30", "11-19T09:30"];
        assert_eq!(next(&assistant).await, times);
        let same = json!({"id": id, "time": "09:30"});
        let same = assistant.ok("reminder.update", same).await;
        assert_eq!(same["changed"], json!([]));
        // The repetition continues at the time of the series, not of the moved one.
        let workdays = json!({"id": id, "repeat": "weekdays"});
        assistant.ok("reminder.update", workdays).await;
        assert_eq!(next(&assistant).await, times);
        // Without repetition the next one is left.
        let once = json!({"id": id, "repeat": "none"});
        let once = assistant.ok("reminder.update", once).await;
        assert_eq!(once["next"], json!(["2026-11-16T21:00:00+09:00"]));
    }
}

/// A rule with a number of times counts from its start, which a new time leaves alone.
#[tokio::test]
async fn a_new_time_does_not_start_the_count_again() {
    let assistant = one().await;
    let id = daily(&assistant, "daily, 4 times").await;
    for day in ["2026-11-16", "2026-11-17"] {
        let skip = json!({"id": id, "date": day});
        assistant.ok("reminder.cancel", skip).await;
    }
    let later = json!({"id": id, "time": "09:30"});
    assistant.ok("reminder.update", later).await;
    assert_eq!(next(&assistant).await, ["11-18T09:30", "11-19T09:30"]);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn occurrences_never_coincide_and_one_of_a_day_is_named() {
    for assistant in both().await {
        let event = assistant.ok("calendar.create", weekly()).await["id"].clone();
        let reminder = daily(&assistant, "daily").await;
        // To the time of another one.
        let onto = json!({"id": event, "date": "2026-11-24", "start": "2026-12-01T10:00"});
        let code = assistant.code("calendar.update", onto).await;
        assert_eq!(code, "OCCURRENCE_EXISTS");
        let onto = json!({"id": reminder, "date": "2026-11-17", "time": "2026-11-18T08:00"});
        let code = assistant.code("reminder.update", onto).await;
        assert_eq!(code, "OCCURRENCE_EXISTS");
        // To the day of another one: that day names both.
        for (update, cancel, id, time) in [
            ("calendar.update", "calendar.cancel", &event, "start"),
            ("reminder.update", "reminder.cancel", &reminder, "time"),
        ] {
            let beside = json!({"id": id, "date": "2026-11-24", time: "2026-12-01T15:00"});
            assistant.ok(update, beside).await;
            let both = json!({"id": id, "date": "2026-12-01"});
            let refused = assistant.refused(cancel, both).await;
            assert_eq!(refused.code, "SEVERAL_OCCURRENCES");
            let times = refused.details.unwrap()["times"].clone();
            assert_eq!(times[1], "2026-12-01T15:00:00+09:00");
            let named = json!({"id": id, "date": times[1]});
            assistant.ok(cancel, named).await;
        }
        let day = range(("2026-12-01", "2026-12-01"));
        assert_eq!(days(&assistant, day).await, ["12-01T10:00"]);
    }
}

#[tokio::test]
async fn the_last_time_is_said_to_be_the_last() {
    let assistant = one().await;
    let twice = json!({
        "title": "Yoga", "start": "2026-11-17T10:00", "duration_min": 60, "repeat": "daily, 2 times"
    });
    let event = assistant.ok("calendar.create", twice).await["id"].clone();
    let reminder = daily(&assistant, "daily, 2 times").await;
    for (tool, arguments, says) in [
        (
            "calendar.cancel",
            json!({"id": event, "date": "2026-11-18"}),
            "I cancelled Yoga, Wednesday, November 18 at 10:00; the other times stay.",
        ),
        (
            "calendar.cancel",
            json!({"id": event, "date": "2026-11-17"}),
            "I cancelled Yoga, Tuesday, November 17 at 10:00, which was the last time.",
        ),
        (
            "reminder.cancel",
            json!({"id": reminder, "date": "2026-11-16"}),
            "I will not remind you tomorrow at 8:00: vitamins. The other times stay.",
        ),
        (
            "reminder.update",
            json!({"id": reminder, "date": "2026-11-17", "time": "9:00"}),
            "I will remind you Tuesday, November 17 at 9:00 instead of Tuesday, November 17 at \
             8:00: vitamins.",
        ),
        (
            "reminder.cancel",
            json!({"id": reminder, "date": "2026-11-17"}),
            "I will not remind you Tuesday, November 17 at 9:00, which was the last time: vitamins.",
        ),
    ] {
        assert_eq!(assistant.says(tool, arguments).await, says);
    }
    // Nothing is left of either.
    let again = json!({"id": event, "title": "x"});
    let code = assistant.code("calendar.update", again).await;
    assert_eq!(code, "EVENT_NOT_ACTIVE");
    let again = json!({"id": reminder, "note": "x"});
    let code = assistant.code("reminder.update", again).await;
    assert_eq!(code, "REMINDER_NOT_ACTIVE");
    let never = json!({
        "title": "x", "start": "2026-11-17T10:00", "duration_min": 60,
        "repeat": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"
    });
    let refused = assistant.refused("calendar.create", never).await;
    assert!(
        refused.message.contains("the event would never"),
        "{refused}"
    );
}
