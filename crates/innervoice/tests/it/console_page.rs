//! The owner's page in the console.

use kit::{
    Language,
    console::{Calendar, CellRow, EntryTime, PageLink, Part, Section},
    context::Change,
};
use serde_json::json;

use crate::assistant::{Assistant, both, one};

fn calendar(section: &Section) -> &Calendar {
    let mut parts = section.parts.iter();
    let found = parts.find_map(|part| match part {
        Part::Calendar(calendar) => Some(calendar),
        _ => None,
    });
    found.unwrap()
}

fn rows(section: &Section) -> Vec<&CellRow> {
    let tables = section.parts.iter().filter_map(|part| match part {
        Part::CellTable(table) => Some(&table.rows),
        _ => None,
    });
    tables.flatten().collect()
}

fn link<'a>(section: &'a Section, label: &str) -> &'a PageLink {
    let links = section.parts.iter().filter_map(|part| match part {
        Part::Pager(_, links) => Some(links),
        _ => None,
    });
    let mut links = links.flatten();
    links.find(|link| link.label == label).unwrap()
}

async fn follow(assistant: &Assistant, link: &PageLink) -> Vec<Section> {
    let query: Vec<(&str, &str)> = link.query.iter().map(|(name, it)| (*name, &**it)).collect();
    assistant.page(&query).await
}

fn titled<'a>(sections: &'a [Section], title: &str) -> &'a Section {
    sections.iter().find(|it| it.title == title).unwrap()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_calendar_is_shown_by_week_and_month() {
    for mut assistant in both().await {
        let create = async |arguments| assistant.ok("calendar.create", arguments).await;
        create(
            json!({"title": "朝ラン", "start": "2026-11-16T07:00", "duration_min": 30,
            "repeat": "daily", "location": "公園"}),
        )
        .await;
        create(json!({"title": "holiday", "start": "2026-11-23", "all_day": true})).await;
        // 15 November 2026 is a Sunday.
        let week = assistant.page(&[]).await;
        assert_eq!(week[0].title, "Mon 9 Nov 2026 – Sun 15 Nov 2026");
        assert_eq!(calendar(&week[0]).days, 7);
        assert!(link(&week[0], "Week").is_current);
        let next = follow(&assistant, link(&week[0], "Later")).await;
        let shown = calendar(&next[0]);
        assert_eq!(shown.first.to_string(), "2026-11-16");
        let run = &shown.entries[0];
        assert_eq!((&*run.title, &*run.note), ("朝ラン", "公園"));
        let start = "2026-11-15T22:00:00Z".parse().unwrap();
        assert!(
            matches!(run.when, EntryTime::Span(at, _) if at == start),
            "{run:?}"
        );
        let month = follow(&assistant, link(&next[0], "Month")).await;
        assert_eq!(month[0].title, "November 2026");
        let shown = calendar(&month[0]);
        assert_eq!((shown.days, shown.month), (42, Some((2026, 11))));
        let holiday = shown.entries.iter().find(|one| one.title == "holiday");
        let day = "2026-11-23".parse().unwrap();
        assert_eq!(holiday.unwrap().when, EntryTime::Days(day, day));
        let december = follow(&assistant, link(&month[0], "Later")).await;
        assert_eq!(december[0].title, "December 2026");
        assert!(calendar(&december[0]).entries.len() > 31);
        assistant.context.language = Language::Japanese;
        let month = assistant
            .page(&[("view", "month"), ("on", "2026-11-30")])
            .await;
        assert_eq!(month[0].title, "2026年11月");
        // What is no day is today.
        for on in ["yesterday", "-9999-01-01", "9999-12-31", ""] {
            let page = assistant.page(&[("on", on)]).await;
            assert_eq!(calendar(&page[0]).first.to_string(), "2026-11-09", "{on}");
        }
    }
}

#[tokio::test]
async fn an_event_is_shown_with_its_text() {
    let assistant = one().await;
    let text = format!("agenda\n{}", "x".repeat(5_000));
    let made = assistant
        .ok(
            "calendar.create",
            json!({"title": "review", "start": "2026-11-16T15:00", "description": text, "duration_min": 60,
                "repeat": "every monday"}),
        )
        .await;
    let id = made["id"].as_str().unwrap();
    let page = assistant.page(&[("event", id)]).await;
    assert_eq!(page[0].title, "review");
    let facts = format!("{:?}", page[0]);
    assert!(
        facts.contains(&"x".repeat(5_000)) && facts.contains("every Monday"),
        "{facts}"
    );
    let page = assistant.page(&[("event", "evt_none")]).await;
    assert!(format!("{:?}", page[0]).contains("There is no such event."));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_that_waits_can_be_taken_back() {
    for assistant in both().await {
        let sent = assistant
            .ok(
                "message.send",
                json!({"to": "a@example.com, b@example.com", "text": "hello\nworld"}),
            )
            .await;
        let id = sent["id"].as_str().unwrap();
        assert_eq!(assistant.context.take_changes(), [Change::Page]);
        let page = assistant.page(&[]).await;
        let outbox = titled(&page, "Outbox");
        let rows_of_both = rows(outbox);
        assert_eq!(rows_of_both.len(), 2);
        let labels: Vec<&str> = rows_of_both
            .iter()
            .map(|row| &*row.action.as_ref().unwrap().label)
            .collect();
        assert_eq!(labels, ["Take back all 2", "Take back"]);
        let action = rows_of_both[0].action.as_ref().unwrap();
        assert_eq!(action.arguments, [("id", json!(id))]);
        assert_eq!(action.about, "a@example.com, b@example.com");
        let whole = assistant.page(&[("message", id)]).await;
        let text = format!("{:?}", whole[0]);
        assert!(
            text.contains("hello\\nworld") && text.contains("message.cancel"),
            "{text}"
        );
        assistant.ok("message.cancel", json!({"id": id})).await;
        assert_eq!(assistant.context.take_changes(), [Change::Page]);
        let page = assistant.page(&[("messages", "cancelled")]).await;
        let gone = rows(titled(&page, "Outbox"));
        assert_eq!(gone.len(), 2);
        assert!(gone.iter().all(|row| row.action.is_none()));
        let waiting = assistant.page(&[("messages", "queued")]).await;
        assert_eq!(rows(titled(&waiting, "Outbox")).len(), 0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reminders_and_contacts_are_listed() {
    for assistant in both().await {
        assistant.know_people().await;
        let later = json!({"time": "2026-11-16T09:00", "note": "薬", "repeat": "毎日"});
        assistant.ok("reminder.create", later).await;
        let once = json!({"time": "2026-11-17T09:00", "note": "call"});
        let once = assistant.ok("reminder.create", once).await;
        assistant
            .ok("reminder.cancel", json!({"id": once["id"]}))
            .await;
        let page = assistant.page(&[]).await;
        let coming = titled(&page, "Reminders");
        assert_eq!(rows(coming).len(), 1);
        let row = format!("{:?}", rows(coming)[0]);
        assert!(
            row.contains("2026-11-16T09:00:00+09:00") && row.contains("every day"),
            "{row}"
        );
        let all = follow(&assistant, link(coming, "All")).await;
        let all = rows(titled(&all, "Reminders"));
        assert_eq!(all.len(), 2);
        assert!(format!("{:?}", all[1]).contains("Cancelled"));
        assert_eq!(rows(titled(&page, "Address book")).len(), 4);
        let tanaka = assistant.page(&[("who", "tanaka")]).await;
        assert_eq!(rows(titled(&tanaka, "Address book")).len(), 2);
    }
}

#[tokio::test]
async fn a_link_keeps_the_rest_of_the_page() {
    let assistant = one().await;
    let query = [("view", "month"), ("on", "2026-12-24"), ("event", "evt_x")];
    let page = assistant.page(&query).await;
    let waiting = link(titled(&page, "Outbox"), "Waiting");
    let names: Vec<&str> = waiting.query.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["view", "on", "messages"]);
}
