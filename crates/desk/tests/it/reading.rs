//! What a caller may read without a tool call.

use desk::{
    keys::NewKey,
    methods::RESOURCES_READ,
    pipeline::ReadRequest,
    settings::Policy,
    stations::{
        authorize::{self, ReadTarget},
        identify::Identified,
    },
};
use kit::{Context, Error, Result, resource::Reference};
use serde_json::Value;

use crate::office::{Office, Visitor};

fn scoped(name: &str, tools: &[&str]) -> NewKey {
    NewKey {
        name: name.into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        ..NewKey::default()
    }
}

/// Reads as a transport does.
async fn read(office: &Office, visitor: &Visitor<'_>, target: ReadTarget<'_>) -> Result<i32> {
    let from = visitor.admitted().await.unwrap();
    let clock = office.desk.clock.clone();
    let context = Context::new(from.who.caller.clone(), clock, visitor.client.clone());
    let request = ReadRequest {
        from: &from,
        method: RESOURCES_READ,
        target,
        context: &context,
    };
    let work = async { Ok(5) };
    office.desk.read(office.served(), &request, work).await
}

fn code(result: Result<i32>) -> String {
    result.map_or_else(|error| error.code.into_owned(), |n| n.to_string())
}

#[tokio::test]
async fn a_resource_is_shown_to_callers_who_may_use_its_tools() {
    let office = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.send".into(), Policy::Allow);
    });
    let office = office.await;
    let looks = office.with_key(scoped("looks", &["look"])).await;
    let both = office.with_key(scoped("both", &["look", "send"])).await;
    let long = format!("office://notes/{}", "x".repeat(2_048));
    for (uri, by_looks, by_both) in [
        ("office://notes/1", "5", "5"),
        ("office://messages/1", "FORBIDDEN", "5"),
        (
            "office://lamps/1",
            "RESOURCE_NOT_FOUND",
            "RESOURCE_NOT_FOUND",
        ),
        (&long, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND"),
        (&long[..2_048], "5", "5"),
    ] {
        let uris = [uri.to_owned()];
        let read = async |visitor| code(read(&office, visitor, ReadTarget::Resources(&uris)).await);
        assert_eq!(read(&looks).await, by_looks, "{uri}");
        assert_eq!(read(&both).await, by_both, "{uri}");
    }
    // One address that is refused refuses all of them.
    let uris = ["office://notes/1", "office://messages/1"].map(str::to_owned);
    let all = code(read(&office, &looks, ReadTarget::Resources(&uris)).await);
    assert_eq!(all, "FORBIDDEN");
    assert_eq!(code(read(&office, &looks, ReadTarget::List).await), "5");
    let records = office.records().await;
    let refused = records.iter().filter(|it| it["outcome"] == "refused");
    let done = records.iter().filter(|it| it["outcome"] == "done");
    assert_eq!((refused.count(), done.count()), (6, 6), "{records:?}");
    // What was read is in the trail as something personal.
    let is_first = |it: &&Value| it["personal"].to_string().contains("office://notes/1");
    assert_eq!(records.iter().filter(is_first).count(), 3, "{records:?}");
}

/// If the user is asked about a tool, only the tool itself shows its data.
#[tokio::test]
async fn data_that_needs_approval_or_is_denied_is_not_shown_as_a_resource() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let uris = ["office://messages/1".to_owned()];
    let refused = read(&office, &visitor, ReadTarget::Resources(&uris)).await;
    let refused: Error = refused.unwrap_err();
    assert_eq!(refused.code, "FORBIDDEN");
    assert_eq!(refused.next.as_deref(), Some("Call send instead."));
    let greeting = code(read(&office, &visitor, ReadTarget::Prompt("greeting")).await);
    assert_eq!(greeting, "5", "it is enough that its tools may be called");
    let denying = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.send".into(), Policy::Deny);
    });
    let denying = denying.await;
    let visitor = denying.anonymous();
    for target in [ReadTarget::Resources(&uris), ReadTarget::Prompt("greeting")] {
        let code = code(read(&denying, &visitor, target).await);
        assert_eq!(code, "DENIED_BY_POLICY");
    }
}

#[tokio::test]
async fn a_view_is_for_callers_who_may_use_one_of_its_tools() {
    let office = Office::open(|settings| {
        let policies = &mut settings.approval.tools;
        policies.insert("office.look".into(), Policy::Ask);
    });
    let office = office.await;
    let looks = office.with_key(scoped("looks", &["look"])).await;
    let adds = office.with_key(scoped("adds", &["notes.add"])).await;
    let view = ["ui://madoguchi/approval".to_owned()];
    for (visitor, expected) in [(looks, "5"), (adds, "FORBIDDEN")] {
        let seen = read(&office, &visitor, ReadTarget::Resources(&view)).await;
        assert_eq!(code(seen), expected);
    }
}

#[tokio::test]
async fn completions_are_for_callers_who_may_see_the_list() {
    let office = Office::open(|_| {}).await;
    let looks = office.with_key(scoped("looks", &["look"])).await;
    let adds = office.with_key(scoped("adds", &["notes.add"])).await;
    let prompt = |name: &str| Reference::Prompt(name.into());
    let template = |uri: &str| Reference::Template(uri.into());
    for (about, by_looks, by_adds) in [
        (template("office://messages/{id}"), "5", "FORBIDDEN"),
        (
            template("office://x/{id}"),
            "UNKNOWN_TEMPLATE",
            "UNKNOWN_TEMPLATE",
        ),
        (prompt("greeting"), "FORBIDDEN", "FORBIDDEN"),
        (prompt("farewell"), "UNKNOWN_PROMPT", "UNKNOWN_PROMPT"),
    ] {
        let read =
            async |visitor| code(read(&office, visitor, ReadTarget::Completion(&about)).await);
        assert_eq!(read(&looks).await, by_looks, "{about:?}");
        assert_eq!(read(&adds).await, by_adds, "{about:?}");
    }
}

#[tokio::test]
async fn lists_leave_out_what_the_caller_may_not_see() {
    let office = Office::open(|_| {}).await;
    let served = office.served();
    let who = async |visitor: Visitor<'_>| -> Identified { visitor.admitted().await.unwrap().who };
    let looks = who(office.with_key(scoped("looks", &["look"])).await).await;
    let adds = who(office.with_key(scoped("adds", &["notes.add"])).await).await;
    assert!(authorize::may_list(served, &looks, "office://messages/1"));
    assert!(!authorize::may_list(served, &adds, "office://messages/1"));
    assert!(!authorize::may_list(served, &looks, "office://lamps/1"));
    assert!(authorize::may_list_resources(served, &looks));
    assert!(!authorize::may_list_resources(served, &adds));
    let user = who(office.local_user()).await;
    assert!(authorize::may_prompt(served, &user, "greeting"));
    assert!(!authorize::may_prompt(served, &looks, "greeting"));
    assert!(!authorize::may_prompt(served, &user, "farewell"));
}

#[tokio::test]
async fn work_that_breaks_or_is_cancelled_is_answered() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let from = visitor.admitted().await.unwrap();
    let clock = office.desk.clock.clone();
    let context = Context::new(from.who.caller.clone(), clock, visitor.client.clone());
    let request = || ReadRequest {
        from: &from,
        method: RESOURCES_READ,
        target: ReadTarget::List,
        context: &context,
    };
    let broken = async { panic!("it is broken") };
    let answer: Result<()> = office.desk.read(office.served(), &request(), broken).await;
    assert!(answer.unwrap_err().is_internal());
    context.cancel.cancel();
    let endless = std::future::pending();
    let answer: Result<()> = office.desk.read(office.served(), &request(), endless).await;
    assert_eq!(answer.unwrap_err().code, "CANCELLED");
}
