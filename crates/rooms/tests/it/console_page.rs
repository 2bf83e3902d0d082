//! The page in the console, as data.

use kit::{
    Caller, Context,
    console::{Input, ListItem, Message, PageQuery, Part, Section},
    context::Language,
};

use super::desk::{Desk, member, message};

fn console(desk: &Desk) -> Context {
    desk.for_caller(Caller::console()).context
}

async fn page(desk: &Desk, query: &[(&str, &str)]) -> Vec<Section> {
    page_for(desk, &console(desk), query).await
}

async fn page_for(desk: &Desk, context: &Context, query: &[(&str, &str)]) -> Vec<Section> {
    let query = query.iter();
    let query = query.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let page = desk.counter.page.as_ref().unwrap();
    let shown = page.show(context, &PageQuery(query.collect())).await;
    shown.unwrap()
}

fn items(section: &Section) -> &[ListItem] {
    match section.parts.first() {
        Some(Part::List(items)) => items,
        other => panic!("{other:?}"),
    }
}

fn tags(item: &ListItem) -> Vec<&str> {
    item.tags.iter().map(|tag| tag.text.as_str()).collect()
}

fn messages(section: &Section) -> &[Message] {
    match section.parts.first() {
        Some(Part::Messages(messages)) => &messages.items,
        other => panic!("{other:?}"),
    }
}

/// The tools that the forms of a section call.
fn tools(section: &Section) -> Vec<&str> {
    let actions = section.parts.iter().filter_map(|part| match part {
        Part::Action(action) => Some(action.tool),
        _ => None,
    });
    actions.collect()
}

#[tokio::test]
async fn rooms_are_listed_with_what_was_said_last_and_what_is_unread() {
    let desk = Desk::new();
    desk.room("old", &["bob"]).await;
    desk.room("dev", &["bob", "eve"]).await;
    desk.send("old", "bob", "first").await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    desk.send("dev", "bob", "second").await;
    let shown = page(&desk, &[]).await;
    let list = &shown[0];
    let [dev, old] = items(list) else {
        panic!("{list:?}");
    };
    assert_eq!(
        (dev.label.as_str(), dev.note.as_str()),
        ("dev", "bob: second")
    );
    assert_eq!(
        (old.label.as_str(), old.note.as_str()),
        ("old", "bob: first")
    );
    assert_eq!(tags(dev), ["2 members, 1 message"]);
    let mut person = console(&desk);
    let entered = desk.call_as(&person, "enter_room", member("dev", "Ann"));
    entered.await.unwrap();
    let shown = page(&desk, &[]).await;
    let list = &shown[0];
    assert_eq!(tags(&items(list)[0]), ["3 members, 1 message", "1 unread"]);
    person.language = Language::Japanese;
    let shown = page_for(&desk, &person, &[]).await;
    let list = &shown[0];
    assert_eq!(tags(&items(list)[0]), ["メンバー3、メッセージ1", "未読1"]);
}

#[tokio::test]
async fn a_person_has_a_seat_that_nobody_else_can_use() {
    let desk = Desk::new();
    desk.room("dev", &["bob"]).await;
    let first = desk.send("dev", "bob", "one").await;
    let console = console(&desk);
    let shown = page(&desk, &[("room", "dev")]).await;
    assert_eq!(tools(&shown[1]), ["enter_room"]);
    let entered = desk.call_as(&console, "enter_room", member("dev", "Ann"));
    entered.await.unwrap();
    let mut answer = message("dev", "Ann", "@bob two");
    answer["replyTo"] = first.into();
    desk.call_as(&console, "send_message", answer)
        .await
        .unwrap();
    for key in [None, Some("alpha")] {
        let other = desk.outcome(key, "send_message", message("dev", "Ann", "x"));
        assert_eq!(other.await, "AGENT_NAME_TAKEN");
    }
    let shown = page(&desk, &[("room", "dev"), ("to", "bob")]).await;
    let [one, two] = messages(&shown[0]) else {
        panic!("{:?}", shown[0]);
    };
    assert_eq!((one.text.as_str(), one.is_own), ("one", false));
    assert_eq!((two.text.as_str(), two.is_own), ("@bob two", true));
    assert_eq!(two.mentions, ["bob"]);
    assert_eq!(two.answers.as_deref(), Some("bob: one"));
    assert_eq!(
        tools(&shown[1]),
        ["send_message", "mark_read", "leave_room"]
    );
    let Some(Part::Action(send)) = shown[1].parts.first() else {
        panic!("{:?}", shown[1]);
    };
    assert!(matches!(&send.inputs[..], [Input::Text(text)] if text.value == "@bob "));
    let names: Vec<&str> = items(&shown[2])
        .iter()
        .map(|it| it.label.as_str())
        .collect();
    assert_eq!(names, ["Ann", "bob"]);
    // Nobody is mentioned who is not there.
    let shown = page(&desk, &[("room", "dev"), ("to", "nobody")]).await;
    let Some(Part::Action(send)) = shown[1].parts.first() else {
        panic!("{:?}", shown[1]);
    };
    assert!(matches!(&send.inputs[..], [Input::Text(text)] if text.value.is_empty()));
}
