//! What the trail says about calls.

use desk::settings::{KeepArguments, RecordReads};
use serde_json::{Value, json};
use store::testing;

use crate::office::Office;

/// The calls among the records.
fn calls(records: &[Value]) -> Vec<&Value> {
    let calls = records.iter().filter(|it| it["kind"] == "call");
    calls.collect()
}

async fn make_calls(office: &Office) {
    let visitor = office.anonymous();
    visitor.ok("look", json!({ "word": "a", "wrd": "b" })).await;
    visitor.ok("notes_add", json!({ "text": "a" })).await;
    visitor
        .refused("send", json!({ "to": "Ann", "text": "b" }))
        .await;
    let approval = office.approve().await;
    visitor
        .ok("send", json!({ "to": "Ann", "text": "b" }))
        .await;
    visitor.refused("breaks", json!({ "n": 0 })).await;
    visitor
        .call("nothing", json!({ "n": 0 }))
        .await
        .unwrap_err();
    let batch = json!({ "calls": [{ "tool": "notes_add", "arguments": { "text": "c" } }] });
    visitor.ok("batch", batch).await;
    assert_eq!(approval.tool, "send");
}

fn check_calls(records: &[Value]) {
    let calls = calls(records);
    let outcomes: Vec<(&str, &str)> = calls
        .iter()
        .map(|it| {
            (
                it["tool"].as_str().unwrap(),
                it["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("look", "done"),
        ("notes.add", "done"),
        ("send", "refused"),
        ("send", "done"),
        ("breaks", "failed"),
        ("unknown", "refused"),
        ("batch", "done"),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(calls[2]["code"], "APPROVAL_REQUIRED");
    assert_eq!(calls[5]["code"], "UNKNOWN_TOOL");
    assert!(calls[3]["approval"].as_str().unwrap().starts_with("ap_"));
    assert!(calls[2].get("approval").is_none(), "{}", calls[2]);
    for call in calls {
        assert_eq!(call["caller"], "anonymous");
        assert_eq!(call["counter"], "office");
    }
}

#[tokio::test]
async fn every_call_has_a_record_with_its_outcome_and_arguments() {
    let office = Office::open(|_| {}).await;
    make_calls(&office).await;
    let records = office.records().await;
    check_calls(&records);
    let calls = calls(&records);
    // What is personal, or what no schema knows, is kept apart.
    assert_eq!(calls[0]["arguments"], json!({ "word": "a" }));
    assert_eq!(calls[0]["personal"], json!({ "wrd": "b" }));
    assert_eq!(calls[1]["arguments"], json!({}));
    assert_eq!(calls[1]["personal"], json!({ "text": "a" }));
    assert_eq!(calls[5]["personal"], json!({ "tool": "nothing" }));
    assert_eq!(calls[6]["arguments"]["inner_calls"], json!(["notes.add"]));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_trail_in_rows_says_the_same() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    make_calls(&office).await;
    check_calls(&office.records().await);
}

#[tokio::test]
async fn arguments_are_left_out_where_the_settings_say_so() {
    let office = Office::open(|settings| settings.audit.arguments = KeepArguments::None).await;
    office
        .anonymous()
        .ok("notes.add", json!({ "text": "secret" }))
        .await;
    let records = office.records().await;
    let [call] = calls(&records)[..] else {
        panic!("{records:?}");
    };
    assert!(!call.to_string().contains("secret"), "{call}");
}

#[tokio::test]
async fn reads_can_be_counted_instead_of_recorded() {
    let office = Office::open(|settings| settings.audit.reads = RecordReads::Summary).await;
    let visitor = office.anonymous();
    for _ in 0..3 {
        visitor.ok("look", json!({})).await;
    }
    visitor.ok("notes.add", json!({ "text": "a" })).await;
    visitor.refused("breaks", json!({ "n": 0 })).await;
    office.pass(60_000);
    office.desk.audit.report_counts(office.desk.clock.now());
    visitor.ok("look", json!({})).await;
    let records = office.records().await;
    let tools: Vec<&Value> = calls(&records).iter().map(|it| &it["tool"]).collect();
    assert_eq!(tools, ["notes.add", "breaks"]);
    let counts = records.iter().filter(|it| it["kind"] == "read_count");
    let counts: Vec<(&Value, &Value)> = counts.map(|it| (&it["tool"], &it["count"])).collect();
    let (look, three, one) = (json!("look"), json!(3), json!(1));
    assert_eq!(counts, [(&look, &three), (&look, &one)]);
}
