//! What clients can read: calendar files and reminders.

use kit::resource::{CompletionQuestion, Reference};
use serde_json::{Value, json};

use crate::assistant::both;

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_calendar_and_each_event_as_files() {
    for assistant in both().await {
        let arguments = json!({
            "title": "朝ラン, slowly", "start": "2026-11-16T07:00", "duration_min": 30
        });
        let id = assistant.ok("calendar.create", arguments).await["id"].clone();
        let id = id.as_str().unwrap();
        let arguments = json!({"title": "gone", "start": "2026-11-17T07:00", "duration_min": 30});
        let gone = assistant.ok("calendar.create", arguments).await["id"].clone();
        assistant.ok("calendar.cancel", json!({"id": gone})).await;

        let feed = assistant.read("innervoice://calendar.ics").await.unwrap();
        assert!(feed.starts_with("BEGIN:VCALENDAR\r\n"));
        assert!(feed.ends_with("END:VCALENDAR\r\n"));
        for line in [
            "DTSTART;TZID=Asia/Tokyo:20261116T070000",
            "SUMMARY:朝ラン\\, slowly",
            "STATUS:CANCELLED",
            "BEGIN:VTIMEZONE",
            "TZOFFSETTO:+0900",
        ] {
            assert!(feed.contains(&format!("{line}\r\n")), "{line} in\n{feed}");
        }
        assert_eq!(feed.matches("BEGIN:VEVENT").count(), 2);

        let uri = format!("innervoice://events/{id}.ics");
        let event = assistant.read(&uri).await.unwrap();
        assert_eq!(event.matches("BEGIN:VEVENT").count(), 1);
        assert!(event.contains(&format!("UID:{id}@madoguchi")));
        assert_eq!(
            assistant.read("innervoice://events/evt_none.ics").await,
            None
        );
        assert_eq!(assistant.read("innervoice://elsewhere").await, None);

        let resources = assistant.counter.resources.as_ref().unwrap();
        let listed = resources.list(&assistant.context, None).await.unwrap();
        let uris: Vec<_> = listed.items.iter().map(|item| item.uri.as_str()).collect();
        assert_eq!(
            uris,
            ["innervoice://calendar.ics", "innervoice://reminders", &uri]
        );
        let question = CompletionQuestion {
            about: Reference::Template("innervoice://events/{id}.ics".into()),
            argument: "id".into(),
            typed: "evt_".into(),
            settled: Vec::new(),
        };
        let completed = resources
            .complete(&assistant.context, &question)
            .await
            .unwrap();
        assert_eq!(completed, [id]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reminders_as_json() {
    for assistant in both().await {
        let arguments = json!({"time": "2026-11-16T07:00", "note": "x", "repeat": "daily"});
        assistant.ok("reminder.create", arguments).await;
        let text = assistant.read("innervoice://reminders").await.unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["reminders"][0]["note"], "x");
        assert_eq!(value["reminders"][0]["next"].as_array().unwrap().len(), 3);
    }
}
