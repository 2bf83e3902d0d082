//! The limits of what a caller can store, and of the work a call can cause.

use kit::Caller;
use serde_json::{Value, json};

use crate::assistant::{Assistant, both, one};

/// Many rows of the caller `local`.
async fn fill(assistant: &Assistant, most: i64, insert: &str) {
    let statement = insert.replace(
        "FROM n",
        &format!(
            "FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) \
             SELECT i FROM n) AS n"
        ),
    );
    let statement: &'static str = statement.leak();
    assistant
        .store()
        .transaction(Default::default(), move |sql| sql.execute(statement, &[]))
        .await
        .unwrap();
}

const EVENTS: &str = "INSERT INTO innervoice_events (id, title, description, location, starts_at, \
    ends_at, zone, sequence, caller, created_at, updated_at) \
    SELECT 'evt_' || i, 'x', '', '', 4000000000000, 4000000060000, 'UTC', 0, 'local', 0, 0 FROM n";
const REMINDERS: &str = "INSERT INTO innervoice_reminders (id, note, starts_local, starts_at, zone, \
    status, next_fire_at, caller, created_at, updated_at) \
    SELECT 'rmd_' || i, 'x', '2096-10-02T07:06:40', 4000000000000, 'UTC', 'active', \
    4000000000000, 'local', 0, 0 FROM n";
const MESSAGES: &str = "INSERT INTO innervoice_outbox (id, origin, channel, address, subject, body, \
    status, attempts, undo_until, next_attempt_at, caller, created_at) \
    SELECT 'msg_' || i, 'message', 'email', 'a@example.com', '', 'x', 'queued', 0, 0, 0, \
    'local', 0 FROM n";

fn arguments(tool: &str) -> Value {
    match tool {
        "calendar.create" => {
            json!({"title": "x", "start": "2026-11-16T07:00", "duration_min": 5})
        }
        "reminder.create" => json!({"time": "2026-11-16T07:00", "note": "x"}),
        _ => json!({"to": "taro@example.com", "text": "x"}),
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn events_reminders_and_messages_of_a_caller_are_limited() {
    for mut assistant in both().await {
        for (tool, insert, most, cancel, code) in [
            (
                "calendar.create",
                EVENTS,
                5_000,
                ("calendar.cancel", "evt_1"),
                "TOO_MANY_EVENTS",
            ),
            (
                "reminder.create",
                REMINDERS,
                1_000,
                ("reminder.cancel", "rmd_1"),
                "TOO_MANY_REMINDERS",
            ),
            (
                "message.send",
                MESSAGES,
                1_000,
                ("message.cancel", "msg_1"),
                "TOO_MANY_MESSAGES",
            ),
        ] {
            fill(&assistant, most - 1, insert).await;
            assistant.ok(tool, arguments(tool)).await;
            let refused = assistant.refused(tool, arguments(tool)).await;
            assert_eq!(refused.code, code);
            assert!(refused.next.unwrap().contains("Nothing was done"));
            // The card refuses too, so that nobody is asked.
            let card = assistant.card(tool, arguments(tool)).await.unwrap_err();
            assert_eq!(card.code, code);
            // Another caller has a limit of its own.
            let own = assistant.context.caller.clone();
            assistant.context.caller = Caller::new("key:other", "other");
            assistant.ok(tool, arguments(tool)).await;
            assistant.context.caller = own;
            // A cancelled one makes room for another.
            assistant.ok(cancel.0, json!({"id": cancel.1})).await;
            assistant.ok(tool, arguments(tool)).await;
            assert_eq!(assistant.code(tool, arguments(tool)).await, code);
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn exceptions_of_a_series_are_limited() {
    for assistant in both().await {
        let event = json!({
            "title": "x", "start": "2026-11-16T07:00", "duration_min": 5, "repeat": "daily"
        });
        let event = assistant.ok("calendar.create", event).await["id"].clone();
        let reminder = json!({"time": "2026-11-16T07:00", "note": "x", "repeat": "daily"});
        let reminder = assistant.ok("reminder.create", reminder).await["id"].clone();
        let skipped: serde_json::Map<String, Value> =
            (0..200).map(|at| (at.to_string(), Value::Null)).collect();
        let skipped = Value::Object(skipped);
        for table in ["innervoice_events", "innervoice_reminders"] {
            let update = format!("UPDATE {table} SET exceptions = '{skipped}' RETURNING 1");
            assistant.sql(&update).await;
        }
        for (tool, id) in [("calendar.cancel", event), ("reminder.cancel", reminder)] {
            let one_more = json!({"id": id, "date": "2026-11-18"});
            assert_eq!(assistant.code(tool, one_more).await, "TOO_MANY_EXCEPTIONS");
        }
    }
}

#[tokio::test]
async fn every_text_argument_has_a_maximum_length() {
    let assistant = one().await;
    let mut checked = 0;
    for tool in &assistant.counter.tools {
        for (name, schema) in tool.input["properties"].as_object().unwrap() {
            if schema["type"] != "string" || schema.get("enum").is_some() {
                continue;
            }
            let most = schema["maxLength"].as_u64();
            let most = most.unwrap_or_else(|| panic!("{}: {name} has no maxLength", tool.name));
            assert!(most <= 20_000, "{}: {name}", tool.name);
            let validator = jsonschema::validator_for(schema).unwrap();
            let long = "x".repeat(usize::try_from(most).unwrap() + 1);
            assert!(!validator.is_valid(&json!(long)), "{}: {name}", tool.name);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

/// All minutes of a year, of which BYSETPOS takes the first.
fn every_minute() -> String {
    let all = |until: u32| {
        let numbers: Vec<String> = (0..until).map(|number| number.to_string()).collect();
        numbers.join(",")
    };
    format!(
        "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={};BYMINUTE={};BYSETPOS=1;COUNT=9999",
        all(24),
        all(60)
    )
}

/// It comes in 2044 and in 2072, and COUNT makes every day since its start count.
const COSTLY: &str = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=9999";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_rule_that_takes_too_long_is_refused() {
    for assistant in both().await {
        let first_minutes = json!({
            "time": "2026-11-16T07:00", "note": "x", "repeat": every_minute()
        });
        let answer = assistant.ok("reminder.create", first_minutes).await;
        assert_eq!(
            answer["next"],
            json!([
                "2027-01-01T00:00:00+09:00",
                "2028-01-01T00:00:00+09:00",
                "2029-01-01T00:00:00+09:00"
            ])
        );
        let costly = json!({"time": "1970-01-02T07:00", "note": "x", "repeat": COSTLY});
        let refused = assistant.refused("reminder.create", costly.clone()).await;
        assert_eq!(refused.code, "RULE_TOO_COSTLY");
        assert!(refused.next.unwrap().contains("UNTIL"));
        let card = assistant.card("reminder.create", costly).await.unwrap_err();
        assert_eq!(card.code, "RULE_TOO_COSTLY");
        let change = json!({"id": answer["id"], "time": "1970-01-02T07:00", "repeat": COSTLY});
        let code = assistant.code("reminder.update", change).await;
        assert_eq!(code, "RULE_TOO_COSTLY");
        assert_eq!(assistant.count("innervoice_reminders").await, 1);
    }
}

/// Rules that an earlier version accepted. The list still takes bounded work, and
/// shows the next time of each.
#[tokio::test]
async fn a_list_of_costly_rules_shows_the_next_time_of_each() {
    let assistant = one().await;
    let insert = format!(
        "INSERT INTO innervoice_reminders (id, note, starts_local, starts_at, zone, rule, status, \
         next_fire_at, caller, created_at, updated_at) \
         SELECT 'rmd_' || i, 'x', '1970-01-01T07:00:00', 0, 'UTC', '{COSTLY}', 'active', \
         2340342000000, 'local', 0, 0 FROM n"
    );
    fill(&assistant, 200, &insert).await;
    let list = assistant.ok("reminder.list", json!({"limit": 200})).await;
    let reminders = list["reminders"].as_array().unwrap();
    assert_eq!(reminders.len(), 200);
    for reminder in reminders {
        assert_eq!(reminder["next"][0], "2044-02-29T07:00:00+00:00");
    }
}

/// Expensive work runs beside other readers, not on the one writer.
#[tokio::test]
async fn rules_and_names_are_looked_up_before_the_transaction() {
    let assistant = one().await;
    for name in ["reminder.create", "reminder.update", "message.send"] {
        let tool = assistant.counter.tool(name).unwrap();
        assert!(matches!(tool.run, kit::Run::Prepared(_)), "{name}");
    }
}
