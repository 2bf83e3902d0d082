//! Whoever makes, rotates or revokes a key leaves a record of it.

use serde_json::{Value, json};

use super::visitor::{Visitor, between};
use crate::{
    audit::lines,
    harness::{Desk, Place, mentions},
};

/// The records about keys, oldest first.
fn key_records(place: &Place) -> Vec<Value> {
    let tail = ["audit", "tail", "-n", "1000", "--json", "--tool", "key/"];
    lines(&place.run(&tail).ok().stdout)
}

/// Who did what to which key, and what came of it.
fn acts(records: &[Value]) -> Vec<[&str; 4]> {
    let acts = records.iter().map(|record| {
        assert_eq!(record["counter"], "desk", "{record}");
        let name = record["arguments"]["name"].as_str().unwrap();
        let text = |name: &str| record[name].as_str().unwrap();
        [text("caller"), text("tool"), name, text("outcome")]
    });
    acts.collect()
}

async fn each_change_of_a_key_is_recorded(place: &Place) {
    // Its own port makes the first key.
    let setup = Desk::setup().place(place).own_port("--innervoice-port");
    let desk = setup.start().await;
    let visitor = Visitor::enter(&desk).await;
    let fields = [
        ("name", "phone"),
        ("counter", "cinema"),
        ("tools", "get_movie_list"),
        ("read_only", "yes"),
    ];
    let made = visitor.send("/console/keys", &fields).await.text();
    let mut secrets = vec![format!("mdg_{}", between(&made, "mdg_", "<"))];
    let id = secrets[0].split('_').nth(1).unwrap().to_owned();
    let fields = [("id", &*id), ("grace", "1")];
    let rotated = visitor.send("/console/keys/rotate", &fields).await.text();
    secrets.push(format!("mdg_{}", between(&rotated, "mdg_", "<")));
    let taken = visitor.send("/console/keys", &[("name", "phone")]).await;
    mentions(&taken.text(), &["KEY_NAME_TAKEN"]);
    visitor.send("/console/keys/revoke", &[("id", &id)]).await;
    // The same on the command line, also by the key itself, which is a secret.
    let created = ["keys", "create", "tablet", "--expires", "30d", "--json"];
    let tablet = place.run(&created).ok().json();
    secrets.push(tablet["key"].as_str().unwrap().to_owned());
    let rotate = ["keys", "rotate", secrets.last().unwrap(), "--json"];
    let again = place.run(&rotate).ok().json();
    secrets.push(again["key"].as_str().unwrap().to_owned());
    place.run(&["keys", "revoke", "tablet"]).ok();
    place
        .run(&["keys", "rotate", &id])
        .fails_with("KEY_REVOKED");
    let records = key_records(place);
    assert_eq!(
        acts(&records),
        [
            ["desk", "key/create", "innervoice", "done"],
            ["console", "key/create", "phone", "done"],
            ["console", "key/rotate", "phone", "done"],
            ["console", "key/create", "phone", "refused"],
            ["console", "key/revoke", "phone", "done"],
            ["local", "key/create", "tablet", "done"],
            ["local", "key/rotate", "tablet", "done"],
            ["local", "key/revoke", "tablet", "done"],
            ["local", "key/rotate", "phone", "refused"],
        ]
    );
    let scope = &records[1]["arguments"];
    assert_eq!(scope["id"], *id, "{scope}");
    assert_eq!(scope["counters"], json!(["cinema"]), "{scope}");
    assert_eq!(scope["tools"], json!(["get_movie_list"]), "{scope}");
    assert_eq!(scope["read_only"], true, "{scope}");
    assert!(records[5]["arguments"]["expires_at"].is_string());
    readable_without_secrets(place, &visitor, &secrets).await;
    place.run(&["audit", "verify"]).ok();
}

/// What people see of the records, and that they never see a key.
async fn readable_without_secrets(place: &Place, visitor: &Visitor<'_>, secrets: &[String]) {
    let pages = [
        visitor.page("/console/audit?counter=desk").await.text(),
        visitor.page("/console/audit?tool=Key+rotated").await.text(),
        visitor.page("/console/agents?caller=console").await.text(),
    ];
    mentions(
        &pages[0],
        &[
            "Key made",
            "Key revoked",
            "<code>key/create</code>",
            "The desk itself",
            "KEY_NAME_TAKEN",
            "tablet",
        ],
    );
    assert!(!pages[1].contains(">Key made<"), "{}", pages[1]);
    mentions(&pages[2], &["Key rotated", "phone"]);
    // One of them leads to its page.
    let record = between(&pages[1], "href=\"/console/audit/record?", "\"").replace("&amp;", "&");
    let record = visitor
        .page(&format!("/console/audit/record?{record}"))
        .await;
    mentions(&record.text(), &["Key rotated", "href=\"/console/keys\""]);
    mentions(
        &place.run(&["audit", "tail"]).ok().stdout,
        &["console", "desk.key/create", "phone"],
    );
    let everything = place.run(&["audit", "export", "--personal"]).ok().stdout;
    for key in secrets {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!everything.contains(secret), "{everything}");
        assert!(!pages.concat().contains(secret));
    }
    // Only who has the desk's own rows may complete the trail of such a command.
    assert!(
        everything.contains("\"counters\":[[\"desk\"]]"),
        "{everything}"
    );
}

#[tokio::test]
async fn each_change_of_a_key_is_in_the_audit() {
    each_change_of_a_key_is_recorded(&Place::new()).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn each_change_of_a_key_is_in_the_audit_on_postgres() {
    each_change_of_a_key_is_recorded(&Place::on_postgres()).await;
}

/// `[audit]` decides what is recorded about keys, as about calls.
#[tokio::test]
async fn where_records_are_off_or_without_arguments_keys_are_made_nevertheless() {
    let off = Desk::with_config("[audit]\nenabled = false\n").await;
    let config = off.config();
    let config = config.to_str().unwrap();
    let create = ["keys", "create", "phone", "--config", config];
    off.place.run(&create).ok();
    assert_eq!(key_records(&off.place).len(), 0);
    let brief = Desk::with_config("[audit]\narguments = \"none\"\n").await;
    let config = brief.config();
    let create = [
        "keys",
        "create",
        "phone",
        "--config",
        config.to_str().unwrap(),
    ];
    brief.place.run(&create).ok();
    let records = key_records(&brief.place);
    assert_eq!(records.len(), 1, "{records:?}");
    assert!(records.iter().all(|it| it["arguments"].is_null()));
}
