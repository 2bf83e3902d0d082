//! Events and reminders that repeat, last all day, or are changed for one day.

use serde_json::{Value, json};

use crate::assistant::{Assistant, both, one};

/// Ten o'clock on seven Tuesdays, from the next one on.
pub fn weekly() -> Value {
    json!({
        "title": "Team meeting", "start": "2026-11-17T10:00", "duration_min": 60,
        "repeat": "every tuesday until the end of the year"
    })
}

pub async fn days(assistant: &Assistant, arguments: Value) -> Vec<String> {
    let list = assistant.ok("calendar.list", arguments).await;
    let events = list["events"].as_array().unwrap().iter();
    let start = |event: &Value| event["start"].as_str().unwrap()[5..16].to_owned();
    events.map(start).collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_event_repeats_until_the_end_of_the_year() {
    for assistant in both().await {
        let made = assistant.ok("calendar.create", weekly()).await;
        assert_eq!(
            made["message"],
            "I added Team meeting to your calendar every Tuesday, until December 31, 2026, first \
             Tuesday, November 17 at 10:00."
        );
        assert_eq!(
            made["event"]["repeat"]["rule"],
            "FREQ=WEEKLY;BYDAY=TU;UNTIL=20261231"
        );
        let year = json!({"from": "2026-11-01", "to": "2027-03-01"});
        assert_eq!(
            days(&assistant, year.clone()).await,
            [
                "11-17T10:00",
                "11-24T10:00",
                "12-01T10:00",
                "12-08T10:00",
                "12-15T10:00",
                "12-22T10:00",
                "12-29T10:00"
            ]
        );
        // An occurrence is at the same time as another event.
        let over = json!({"title": "lunch", "start": "2026-12-01T10:30", "duration_min": 60});
        let over = assistant.ok("calendar.create", over).await;
        assert_eq!(over["conflicts"][0]["start"], "2026-12-01T10:00:00+09:00");
        let list = json!({"from": "2026-12-01", "to": "2026-12-01"});
        let list = assistant.ok("calendar.list", list).await;
        assert_eq!(list["events"][0]["overlaps"], json!([over["id"]]));
        let said = list["message"].as_str().unwrap();
        assert!(said.ends_with("Team meeting and lunch overlap."), "{said}");
        let feed = assistant.read("innervoice://calendar.ics").await.unwrap();
        assert!(
            feed.contains("RRULE:FREQ=WEEKLY;BYDAY=TU;UNTIL=20261231T145959Z\r\n"),
            "{feed}"
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_occurrence_is_skipped_or_moved_and_the_others_stay() {
    for assistant in both().await {
        let id = assistant.ok("calendar.create", weekly()).await["id"].clone();
        let skip = json!({"id": id, "date": "12/1"});
        let skipped = assistant.ok("calendar.cancel", skip.clone()).await;
        assert_eq!(
            skipped["message"],
            "I cancelled Team meeting, Tuesday, December 1 at 10:00; the other times stay."
        );
        // A retry succeeds, and says that it was done before.
        let again = assistant.says("calendar.cancel", skip).await;
        assert_eq!(again, "Team meeting was already cancelled on 2026-12-01.");
        let moved = json!({"id": id, "date": "2026-11-24", "start": "3pm"});
        let moved = assistant.ok("calendar.update", moved).await;
        assert_eq!(moved["event"]["start"], "2026-11-24T15:00:00+09:00");
        assert_eq!(moved["event"]["end"], "2026-11-24T16:00:00+09:00");
        let range = json!({"from": "2026-11-16", "to": "2026-12-10"});
        let expected = ["11-17T10:00", "11-24T15:00", "12-08T10:00"];
        assert_eq!(days(&assistant, range.clone()).await, expected);
        // A moved occurrence can be moved again, to another day.
        let moved = json!({"id": id, "date": "2026-11-24", "start": "2026-11-26T09:00"});
        assistant.ok("calendar.update", moved).await;
        let expected = ["11-17T10:00", "11-26T09:00", "12-08T10:00"];
        assert_eq!(days(&assistant, range.clone()).await, expected);
        let feed = assistant.read("innervoice://calendar.ics").await.unwrap();
        for line in [
            "EXDATE;TZID=Asia/Tokyo:20261201T100000",
            "RECURRENCE-ID;TZID=Asia/Tokyo:20261124T100000",
            "DTSTART;TZID=Asia/Tokyo:20261126T090000",
        ] {
            assert!(feed.contains(&format!("{line}\r\n")), "{line} in\n{feed}");
        }
        // A day on which it does not come: nothing is done, and days are offered.
        for (tool, arguments) in [
            ("calendar.cancel", json!({"id": id, "date": "2026-12-02"})),
            (
                "calendar.update",
                json!({"id": id, "date": "2026-12-02", "start": "9am"}),
            ),
        ] {
            let refused = assistant.refused(tool, arguments).await;
            assert_eq!(refused.code, "NO_OCCURRENCE");
            let dates = &refused.details.unwrap()["dates"];
            assert_eq!(dates[0], "2026-11-26");
            assert_eq!(dates[1], "2026-12-08");
        }
        let title = json!({"id": id, "date": "2026-12-08", "title": "x"});
        let code = assistant.code("calendar.update", title).await;
        assert_eq!(code, "INVALID_ARGUMENT");
        assert_eq!(days(&assistant, range).await.len(), 3);
        assistant.ok("calendar.cancel", json!({"id": id})).await;
        let year = json!({"from": "2026-11-01", "to": "2027-03-01"});
        assert_eq!(days(&assistant, year).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_series_moves_to_another_weekday() {
    let assistant = one().await;
    let id = assistant.ok("calendar.create", weekly()).await["id"].clone();
    let moved = json!({"id": id, "start": "2026-11-19T09:00"});
    assistant.ok("calendar.update", moved).await;
    let range = json!({"from": "2026-11-16", "to": "2026-11-27"});
    assert_eq!(
        days(&assistant, range).await,
        ["11-19T09:00", "11-26T09:00"]
    );
    let once = json!({"id": id, "repeat": "none"});
    let once = assistant.ok("calendar.update", once).await;
    assert_eq!(once["changed"], json!(["repeat"]));
    assert_eq!(once["event"].get("repeat"), None);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_event_lasts_all_day() {
    for assistant in both().await {
        let holiday = json!({"title": "Holiday", "start": "friday", "all_day": true});
        let made = assistant.ok("calendar.create", holiday).await;
        assert_eq!(made["event"]["start"], "2026-11-20");
        assert_eq!(made["event"]["end"], "2026-11-20");
        assert_eq!(made["event"]["all_day"], true);
        assert_eq!(
            made["message"],
            "I added Holiday to your calendar for Friday, November 20, all day."
        );
        // It takes no time, so nothing overlaps with it.
        let lunch = json!({"title": "lunch", "start": "2026-11-20T12:00", "duration_min": 60});
        let lunch = assistant.ok("calendar.create", lunch).await;
        assert_eq!(lunch["conflicts"], json!([]));
        let trip = json!({
            "title": "Trip", "start": "2026-12-01", "all_day": true, "duration_min": 4320
        });
        let trip = assistant.ok("calendar.create", trip).await;
        assert_eq!(trip["event"]["end"], "2026-12-03");
        let feed = assistant.read("innervoice://calendar.ics").await.unwrap();
        for line in ["DTSTART;VALUE=DATE:20261201", "DTEND;VALUE=DATE:20261204"] {
            assert!(feed.contains(&format!("{line}\r\n")), "{line} in\n{feed}");
        }
        // A time is never dropped in silence.
        let at_three = json!({"id": made["id"], "start": "15:00"});
        let error = assistant.refused("calendar.update", at_three).await;
        assert!(
            error.text().contains("all-day event has no time"),
            "{error}"
        );
        // Without a length it lasts an hour, not a day.
        let timed = json!({"id": made["id"], "all_day": false, "start": "9am"});
        let timed = assistant.ok("calendar.update", timed).await;
        assert_eq!(timed["event"]["start"], "2026-11-20T09:00:00+09:00");
        assert_eq!(timed["event"]["end"], "2026-11-20T10:00:00+09:00");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_day_of_a_reminder_is_skipped_or_moved() {
    for assistant in both().await {
        let daily = json!({"time": "2026-11-16T08:00", "note": "vitamins", "repeat": "daily"});
        let id = assistant.ok("reminder.create", daily).await["id"].clone();
        let next = async || {
            let list = assistant.ok("reminder.list", json!({})).await;
            let next = list["reminders"][0]["next"].as_array().unwrap().clone();
            let next: Vec<String> = next
                .iter()
                .map(|at| at.as_str().unwrap()[5..16].to_owned())
                .collect();
            next
        };
        let skip = json!({"id": id, "date": "tomorrow"});
        let skipped = assistant.says("reminder.cancel", skip).await;
        assert_eq!(
            skipped,
            "I will not remind you tomorrow at 8:00: vitamins. The other times stay."
        );
        assert_eq!(next().await, ["11-17T08:00", "11-18T08:00", "11-19T08:00"]);
        let moved = json!({"id": id, "date": "2026-11-18", "time": "21:00"});
        let moved = assistant.ok("reminder.update", moved).await;
        assert_eq!(
            moved["message"],
            "I will remind you Wednesday, November 18 at 21:00 instead of Wednesday, November 18 \
             at 8:00: vitamins. The other times stay."
        );
        assert_eq!(next().await, ["11-17T08:00", "11-18T21:00", "11-19T08:00"]);
        let code = assistant
            .code("reminder.cancel", json!({"id": id, "date": "2026-11-10"}))
            .await;
        assert_eq!(code, "NO_OCCURRENCE");
        assistant.ok("reminder.cancel", json!({"id": id})).await;
        // A date that names the only time of a reminder cancels it.
        let once = json!({"time": "2026-11-16T08:00", "note": "once"});
        let id = assistant.ok("reminder.create", once).await["id"].clone();
        let other_day = json!({"id": id, "date": "2026-11-17"});
        assert_eq!(
            assistant.code("reminder.cancel", other_day).await,
            "NO_OCCURRENCE"
        );
        let that_day = json!({"id": id, "date": "2026-11-16"});
        assistant.ok("reminder.cancel", that_day).await;
        let list = assistant.ok("reminder.list", json!({})).await;
        assert_eq!(list["reminders"], json!([]));
        assert_eq!(list["details"]["reason"], "none_active");
    }
}
