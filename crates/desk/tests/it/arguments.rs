//! What happens to the arguments of a call, and to the calls inside them.

use desk::settings::Policy;
use serde_json::{Value, json};

use crate::office::Office;

#[tokio::test]
async fn a_change_with_unknown_arguments_is_refused() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let refused = visitor
        .refused("notes.add", json!({ "text": "a", "kee": "k" }))
        .await;
    assert_eq!(refused.code, "UNKNOWN_ARGUMENT");
    assert_eq!(refused.message, "notes_add has no argument `kee`.");
    let next = refused.next.unwrap();
    assert_eq!(next, "Did you mean `key`? Nothing was done.");
    let details = refused.details.unwrap();
    assert_eq!(details["field"], "kee");
    assert_eq!(details["nearest"], "key");
    assert_eq!(details["known"], json!(["text", "key"]));
    let refused = visitor.refused("notes.add", json!({ "text": "a", "colour": "red" }));
    let next = refused.await.next.unwrap();
    assert_eq!(next, "A note has no colour. Nothing was done.");
    let many = json!({ "text": "a", "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7 });
    let refused = visitor.refused("notes.add", many).await;
    let listed = "notes_add has no argument `1`, `2`, `3`, `4`, `5` and 2 more.";
    assert_eq!(refused.message, listed);
    assert_eq!(
        refused.next.unwrap(),
        "Nothing was done. It takes: text, key."
    );
    assert_eq!(refused.details.unwrap()["count"], 7);
    assert!(office.notes().await.is_empty());
}

#[tokio::test]
async fn a_read_ignores_unknown_arguments_and_warns() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let found = visitor.ok("look", json!({ "word": "a" })).await;
    assert!(found.get("warnings").is_none(), "{found}");
    let arguments = json!({ "wrd": "a", "filters": [{ "field": "x", "feild": "y" }] });
    let found = visitor.ok("look", arguments).await;
    let fields: Vec<&Value> = found["warnings"].as_array().unwrap().iter().collect();
    assert_eq!(fields.len(), 2, "{found}");
    assert_eq!(fields[0]["code"], "UNKNOWN_ARGUMENT");
    assert_eq!(fields[0]["field"], "wrd");
    assert_eq!(fields[0]["nearest"], "word");
    assert_eq!(fields[1]["field"], "filters[0].feild");
    assert_eq!(fields[1]["nearest"], "field");
    let many = json!({ "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "word_of_it": 6 });
    let found = visitor.ok("look", many).await;
    let warnings = found["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 6, "five, and how many more");
    let more = warnings[5]["message"].as_str().unwrap();
    assert!(more.starts_with("1 more"), "{more}");
    // Five are named; with exactly five, nothing is added.
    let five = json!({ "1": 1, "2": 2, "3": 3, "4": 4, "5": 5 });
    let found = visitor.ok("look", five).await;
    assert_eq!(found["warnings"].as_array().unwrap().len(), 5);
    let long = "x".repeat(61);
    let found = visitor.ok("look", json!({ long.as_str(): 1 })).await;
    let field = found["warnings"][0]["field"].as_str().unwrap();
    assert_eq!(field, format!("{}…", "x".repeat(60)));
}

#[tokio::test]
async fn broken_rules_are_explained() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let long = "x".repeat(21);
    let own = visitor.refused("notes.add", json!({ "text": long })).await;
    assert_eq!(own.code, "TEXT_TOO_LONG");
    assert_eq!(own.message, "A note has at most 20 characters.");
    let details = json!({ "field": "text", "rule": "maxLength", "value": long });
    assert_eq!(own.details, Some(details));
    // Another rule of the same field, and the same rule of another field.
    let kind = visitor.refused("notes.add", json!({ "text": 5 })).await;
    assert_eq!(kind.code, "INVALID_ARGUMENT");
    assert!(kind.message.starts_with("`text` is not valid: "), "{kind}");
    let missing = visitor.refused("notes.add", json!({ "key": "k" })).await;
    assert_eq!(missing.message, "`text` is missing.");
    let details = json!({ "field": "text", "rule": "required" });
    assert_eq!(missing.details, Some(details));
    for (length, shown) in [(200, 200), (201, 201), (5_000, 201)] {
        let word = "あ".repeat(length);
        let refused = visitor.refused("look", json!({ "word": word })).await;
        assert_eq!(refused.code, "INVALID_ARGUMENT");
        assert!(!refused.message.contains('あ'), "{refused}");
        let details = refused.details.unwrap();
        let value = details["value"].as_str().unwrap();
        assert_eq!(value.chars().count(), shown);
        assert_eq!(value.ends_with('…'), length > 200);
    }
    for (count, is_shown) in [(3, true), (300, false)] {
        let list = json!({ "word": vec![1; count] });
        let details = visitor.refused("look", list).await.details.unwrap();
        assert_eq!(details["value"].is_array(), is_shown, "{details}");
    }
    assert!(office.notes().await.is_empty());
}

#[tokio::test]
async fn arguments_are_normalised_before_they_are_checked() {
    let office = Office::open(|_| {}).await;
    let arguments = json!({ "note": "a", "key": null });
    let added = office.anonymous().ok("notes_add", arguments).await;
    assert_eq!(added["text"], "a");
}

fn batch(calls: &[(&str, Value)]) -> Value {
    let calls = calls
        .iter()
        .map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments }));
    json!({ "calls": calls.collect::<Vec<_>>() })
}

#[tokio::test]
async fn each_call_inside_another_is_checked_like_a_call_of_its_own() {
    let office = Office::open(|settings| {
        settings.tools.exclude = vec!["plan".into()];
        let policies = &mut settings.approval.tools;
        policies.insert("office.slow".into(), Policy::Deny);
    });
    let office = office.await;
    let visitor = office.anonymous();
    let good = ("notes_add", json!({ "note": "a" }));
    let ran = visitor
        .ok("batch", batch(std::slice::from_ref(&good)))
        .await;
    let first = &ran["calls"][0];
    assert_eq!(first["tool"], "notes.add", "its own name");
    assert_eq!(first["arguments"], json!({ "text": "a" }), "normalised");
    for (bad, code, says) in [
        (("plan", json!({})), "TOOL_NOT_OFFERED", "excluded"),
        (("manage", json!({ "n": 1 })), "FORBIDDEN", "names it"),
        (
            ("lok", json!({})),
            "INVALID_ARGUMENT",
            "There is no tool lok.",
        ),
        (
            ("batch", batch(&[])),
            "INVALID_ARGUMENT",
            "can't be one of them",
        ),
        (("look", json!({ "wrd": "a" })), "UNKNOWN_ARGUMENT", "`wrd`"),
        (("notes.add", json!({})), "INVALID_ARGUMENT", "is missing"),
        (
            ("combined", json!({ "n": 1 })),
            "FORBIDDEN",
            "With these arguments, combined does what manage does.",
        ),
    ] {
        let refused = visitor.refused("batch", batch(&[good.clone(), bad])).await;
        assert_eq!(refused.code, code, "{refused}");
        let starts = refused.message.starts_with("Operation 2: ");
        let ends = refused.message.ends_with(" Nothing was changed.");
        assert!(starts && ends, "{refused}");
        assert!(refused.message.contains(says), "{refused}");
        assert_eq!(refused.details.unwrap()["operation"], 2);
    }
    let near = visitor.refused("batch", batch(&[("lok", json!({}))])).await;
    assert_eq!(near.next.as_deref(), Some("Did you mean look?"));
    let far = visitor.refused("batch", batch(&[("zzz", json!({}))])).await;
    assert_eq!(far.next.as_deref(), Some("See tools/list."));
    let denied = batch(&[good, ("slow", json!({ "n": 1 }))]);
    assert_eq!(visitor.code("batch", denied).await, "DENIED_BY_POLICY");
}

/// Only the tool itself can check what an earlier call answers.
#[tokio::test]
async fn values_that_are_filled_in_later_are_not_checked_yet() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let later = json!({ "text": ["?"] });
    let ran = visitor.ok("batch", batch(&[("notes.add", later)])).await;
    assert_eq!(ran["calls"][0]["arguments"]["text"], json!(["?"]));
    let other = json!({ "text": ["?"], "key": 5 });
    let refused = visitor.refused("batch", batch(&[("notes.add", other)]));
    assert_eq!(refused.await.details.unwrap()["field"], "key");
    let alone = visitor.code("notes.add", json!({ "text": ["?"] })).await;
    assert_eq!(alone, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn a_call_that_does_the_work_of_another_tool_needs_the_right_to_it() {
    let office = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.act".into(), Policy::Deny);
    });
    let office = office.await;
    let refused = office
        .anonymous()
        .refused("combined", json!({ "n": 1 }))
        .await;
    assert_eq!(refused.code, "FORBIDDEN");
    let says = "With these arguments, combined does what manage does.";
    assert!(refused.message.ends_with(says), "{refused}");
    let user = office.local_user();
    for n in [0, 1] {
        assert_eq!(user.ok("combined", json!({ "n": n })).await["act"], n);
    }
    let denied = user.refused("combined", json!({ "n": 2 })).await;
    assert_eq!(denied.code, "DENIED_BY_POLICY");
    let says = "With these arguments, combined does what act does.";
    assert!(denied.message.ends_with(says), "{denied}");
}
