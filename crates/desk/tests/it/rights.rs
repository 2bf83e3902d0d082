//! What a caller may use.

use desk::{
    FoundTool,
    keys::NewKey,
    pipeline::Refusal,
    settings::Policy,
    stations::{authorize, identify::Identified},
};
use serde_json::json;

use crate::office::{Office, Visitor};

fn named(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        ..NewKey::default()
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

async fn who(visitor: &Visitor<'_>) -> Identified {
    visitor.admitted().await.unwrap().who
}

#[tokio::test]
async fn a_read_only_key_reads_and_changes_nothing() {
    let office = Office::open(|_| {}).await;
    let reader = office.with_key(NewKey {
        read_only: true,
        ..named("reader")
    });
    let reader = reader.await;
    reader.ok("look", json!({})).await;
    let refused = reader.refused("notes.add", json!({ "text": "a" })).await;
    assert_eq!(refused.code, "FORBIDDEN");
    assert!(refused.message.contains("is read-only"), "{refused}");
    assert!(office.notes().await.is_empty());
}

#[tokio::test]
async fn a_key_with_a_list_of_tools_may_use_those_by_any_name() {
    let office = Office::open(|_| {}).await;
    let scoped = office.with_key(NewKey {
        tools: owned(&["notes_add"]),
        ..named("scoped")
    });
    let scoped = scoped.await;
    for name in ["notes.add", "notes_add"] {
        scoped.ok(name, json!({ "text": name })).await;
    }
    let refused = scoped.refused("look", json!({})).await;
    assert_eq!(refused.code, "FORBIDDEN");
    assert_eq!(refused.message, "The key scoped may not use look.");
    let naming = office.with_key(NewKey {
        tools: owned(&["look"]),
        ..named("naming")
    });
    assert_eq!(naming.await.ok("look", json!({})).await["named"], true);
    let all = office.with_key(named("all")).await;
    assert_eq!(all.ok("look", json!({})).await["named"], false);
}

#[tokio::test]
async fn a_tool_of_the_staff_needs_a_key_that_names_it() {
    let office = Office::open(|_| {}).await;
    let number = json!({ "n": 1 });
    let anonymous = office.anonymous().refused("manage", number.clone()).await;
    assert_eq!(anonymous.message, "manage needs a key that names it.");
    let all = office.with_key(named("all")).await;
    let refused = all.refused("manage", number.clone()).await;
    assert_eq!(refused.message, "The key all may not use manage.");
    let staff = office.with_key(NewKey {
        tools: owned(&["manage"]),
        ..named("staff")
    });
    staff.await.ok("manage", number.clone()).await;
    office.local_user().ok("manage", number).await;
    assert_eq!(office.notes().await, ["managed", "managed"]);
}

#[tokio::test]
async fn lists_show_what_the_caller_may_use() {
    let office = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.plan".into(), Policy::Deny);
    });
    let office = office.await;
    let reader = office.with_key(NewKey {
        read_only: true,
        ..named("reader")
    });
    let reader = who(&reader.await).await;
    let user = who(&office.local_user()).await;
    let listed = |who: &Identified, name: &str| {
        let FoundTool::Tool(tool) = office.served().find(name) else {
            panic!("there is no {name}");
        };
        authorize::may_list_tool(who, tool)
    };
    assert!(listed(&user, "look") && listed(&user, "notes.add"));
    assert!(!listed(&user, "plan"), "every call of it is refused");
    assert!(listed(&reader, "look") && !listed(&reader, "notes.add"));
    let code = office
        .local_user()
        .code("plan", json!({ "text": "a" }))
        .await;
    assert_eq!(code, "DENIED_BY_POLICY");
}

#[tokio::test]
async fn tools_that_are_switched_off_say_so_and_unknown_ones_are_refused() {
    let office = Office::open(|settings| {
        settings.tools.exclude = owned(&["notes_add"]);
    });
    let office = office.await;
    let hidden = office.anonymous().refused("notes.add", json!({})).await;
    assert_eq!(hidden.code, "TOOL_NOT_OFFERED");
    assert!(hidden.message.contains("excluded"), "{hidden}");
    let unknown = office.anonymous().call("lok", json!({})).await;
    let Err(Refusal::UnknownTool { name, nearest, .. }) = unknown else {
        panic!("{unknown:?}");
    };
    assert_eq!((name.as_str(), nearest.as_deref()), ("lok", Some("look")));
    let read_only = Office::open(|settings| settings.tools.read_only = true).await;
    let hidden = read_only.anonymous().refused("notes_add", json!({})).await;
    assert!(hidden.message.contains("read-only"), "{hidden}");
    read_only.anonymous().ok("look", json!({})).await;
    let only = Office::open(|settings| settings.tools.only = owned(&["look"])).await;
    only.anonymous().ok("look", json!({})).await;
    let hidden = only.anonymous().refused("plan", json!({})).await;
    assert!(hidden.message.contains("not among the tools"), "{hidden}");
}
