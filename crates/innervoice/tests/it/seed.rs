//! The counter compared with its specification.

use serde_json::{Value, json};

use crate::assistant::{both, one};

#[tokio::test]
async fn its_tools_have_the_documents_names_and_parameters() {
    let assistant = one().await;
    let required = |name: &str| {
        let tool = assistant.counter.tool(name).unwrap();
        assert_eq!(tool.name, name);
        let safe = name.replace('.', "_");
        assert_eq!(tool.client_safe_name(), safe);
        assert!(assistant.counter.tool(&safe).is_some());
        tool.input["required"].clone()
    };
    assert_eq!(
        required("calendar.create"),
        json!(["title", "start", "duration_min"])
    );
    assert_eq!(required("message.send"), json!(["to", "text"]));
    assert_eq!(required("reminder.create"), json!(["time", "note"]));
    let optional = |tool: &str, field: &str| {
        let tool = assistant.counter.tool(tool).unwrap();
        tool.input["properties"][field]["type"].clone()
    };
    assert_eq!(optional("calendar.create", "duration_min"), "number");
    for (tool, field) in [
        ("calendar.create", "description"),
        ("calendar.create", "location"),
        ("message.send", "platform"),
        ("reminder.create", "repeat"),
    ] {
        assert_eq!(optional(tool, field), "string", "{tool} {field}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_documents_call_gets_the_documents_answer() {
    for assistant in both().await {
        let arguments: Value = serde_json::from_str(
            r#"{"title": "朝ラン", "start": "2025-09-19T07:00:00+09:00", "duration_min": 30}"#,
        )
        .unwrap();
        let answer = assistant.ok("calendar.create", arguments).await;
        assert!(answer["id"].as_str().unwrap().starts_with("evt_"));
        assert_eq!(answer["event"]["start"], "2025-09-19T07:00:00+09:00");
        assert_eq!(answer["event"]["end"], "2025-09-19T07:30:00+09:00");
        let sent = json!({"to": "taro@example.com", "text": "おはよう"});
        let answer = assistant.ok("message.send", sent).await;
        assert!(answer["id"].as_str().unwrap().starts_with("msg_"));
        let reminder = json!({"time": "2026-11-16T08:00:00+09:00", "note": "薬"});
        let answer = assistant.ok("reminder.create", reminder).await;
        assert!(answer["id"].as_str().unwrap().starts_with("rmd_"));
        assert_eq!(answer["next"], json!(["2026-11-16T08:00:00+09:00"]));
    }
}

#[tokio::test]
async fn tools_that_write_ask_the_user_and_others_do_not() {
    let assistant = one().await;
    for tool in &assistant.counter.tools {
        let asks = tool.effect == kit::Effect::Outside;
        assert_eq!(asks, tool.writes(), "{}", tool.name);
        assert_eq!(tool.card.is_some(), asks, "{}", tool.name);
        let creates = matches!(
            tool.name,
            "calendar.create" | "message.send" | "reminder.create"
        );
        let retries = tool.idempotency_key.is_some();
        assert_eq!(retries, creates, "{}", tool.name);
    }
}

#[tokio::test]
async fn a_counter_that_never_opened_can_be_closed() {
    let assistant = one().await;
    assistant.counter.background.as_ref().unwrap().stop().await;
}
