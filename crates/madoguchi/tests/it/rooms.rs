//! Agents in rooms: the same conversations on three set-ups. A stdio process for
//! each agent, one desk for all, and both at once on one directory.

mod clients;
mod names;
mod on_postgres;
mod original;
mod waking;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{Desk, Pipe, Place, modern, refused, result, structured};

fn room(room: &str) -> Value {
    json!({ "roomName": room })
}

fn member(agent: &str, room: &str) -> Value {
    json!({ "agentName": agent, "roomName": room })
}

fn message(agent: &str, room: &str, text: &str) -> Value {
    json!({ "agentName": agent, "roomName": room, "message": text })
}

/// Makes the place of a test: its rooms are in files, or on PostgreSQL.
type NewPlace = fn() -> Place;

/// Each of these tests with rooms in files, and on PostgreSQL.
macro_rules! on_both_stores {
    ($($test:ident)*) => {
        mod in_files {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::harness::Place::new).await;
            })*
        }

        mod in_tables {
            $(#[tokio::test]
            #[ignore = "needs other programs; scripts/test runs it"]
            async fn $test() {
                super::$test(crate::harness::Place::on_postgres).await;
            })*
        }
    };
}
use on_both_stores;

on_both_stores! {
    agents_find_each_other_and_talk
    waiting_ends_with_the_message_that_was_waited_for
    messages_stay_in_their_room_and_none_is_lost
    every_error_of_the_seed_has_its_code
    a_process_that_ends_takes_its_agents_offline
    the_variables_are_enforced
}

/// One way to the counter. Clones share it.
#[derive(Clone)]
enum Way {
    Stdio(Arc<Mutex<Pipe>>),
    Http(Arc<Desk>),
}

impl Way {
    fn stdio(place: &Place) -> Self {
        Self::stdio_with(place, &[])
    }

    fn stdio_with(place: &Place, variables: &[(&str, &str)]) -> Self {
        let mut command = place.command();
        command.args(["stdio", "rooms"]);
        if place.database.is_none() {
            command.env("AGENT_COMM_DATA_DIR", place.path().join("talk"));
        }
        command.envs(variables.iter().copied());
        Self::Stdio(Arc::new(Mutex::new(Pipe::start(&mut command))))
    }

    async fn http(place: &Place) -> Self {
        let mut setup = Desk::setup().place(place);
        if place.database.is_none() {
            let talk = place.path().join("talk");
            setup = setup.env("AGENT_COMM_DATA_DIR", talk.to_str().unwrap());
        }
        Self::Http(Arc::new(setup.start().await))
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        match self {
            Self::Http(desk) => desk.call("rooms", tool, arguments).await,
            Self::Stdio(pipe) => {
                let pipe = Arc::clone(pipe);
                let params = json!({ "name": tool, "arguments": arguments });
                let call = modern(1, "tools/call", params);
                let answer = move || pipe.lock().unwrap().request(&call);
                result(&tokio::task::spawn_blocking(answer).await.unwrap()).clone()
            }
        }
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Value {
        structured(&self.call(tool, arguments).await).clone()
    }
}

/// Four agents on each set-up.
async fn set_ups(place: NewPlace) -> Vec<(&'static str, Place, Vec<Way>)> {
    let (apart, desk, mixed) = (place(), place(), place());
    let one = Way::http(&desk).await;
    let other = Way::http(&mixed).await;
    vec![
        (
            "stdio",
            apart.clone(),
            (0..4).map(|_| Way::stdio(&apart)).collect(),
        ),
        ("http", desk, vec![one; 4]),
        (
            "both",
            mixed.clone(),
            vec![Way::stdio(&mixed), other.clone(), Way::stdio(&mixed), other],
        ),
    ]
}

const NAMES: [&str; 4] = ["coordinator", "花子", "reviewer-2", "bob"];

async fn meet(agents: &[Way], room: &str) {
    agents[0].ok("create_room", self::room(room)).await;
    for (agent, name) in agents.iter().zip(NAMES) {
        agent.ok("enter_room", member(name, room)).await;
    }
}

async fn say(agent: &Way, name: &str, room: &str, text: &str) -> Value {
    agent.ok("send_message", message(name, room, text)).await
}

async fn agents_find_each_other_and_talk(place: NewPlace) {
    for (way, place, agents) in set_ups(place).await {
        meet(&agents, "dev-team").await;
        let users = agents[3].ok("list_room_users", room("dev-team")).await;
        let listed = users["users"].as_array().unwrap().iter();
        let names: BTreeSet<&str> = listed.map(|u| u["name"].as_str().unwrap()).collect();
        assert_eq!(names, NAMES.into(), "{way}");
        assert_eq!(users["onlineCount"], 4, "{way}");

        let text = "レビューお願いします @花子 @bob";
        let sent = say(&agents[0], NAMES[0], "dev-team", text).await;
        assert_eq!(sent["mentions"], json!(["花子", "bob"]), "{way}");
        say(&agents[3], "bob", "dev-team", "OK").await;
        let mine = json!({ "roomName": "dev-team", "agentName": "花子", "mentionsOnly": true });
        let mentions = agents[1].ok("get_messages", mine).await;
        assert_eq!(mentions["count"], 1, "{way}");
        assert_eq!(mentions["messages"][0]["id"], sent["messageId"], "{way}");
        let query = json!({ "roomName": "dev-team", "query": "れびゅー" });
        let found = agents[2].ok("search_messages", query).await;
        assert_eq!(found["messages"][0]["id"], sent["messageId"], "{way}");

        if place.database.is_some() {
            continue;
        }
        // The log is the seed's format, whoever wrote.
        let log = std::fs::read_to_string(place.path().join("talk/rooms/dev-team/messages.jsonl"));
        let log = log.unwrap();
        let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
        let seed = "id roomName agentName message mentions timestamp metadata";
        assert_eq!(keys, seed.split(' ').collect::<Vec<_>>(), "{way}");
    }
}

async fn waiting_ends_with_the_message_that_was_waited_for(place: NewPlace) {
    for (way, _place, agents) in set_ups(place).await {
        meet(&agents, "dev-team").await;
        let waiting = json!({
            "agentName": NAMES[1], "roomName": "dev-team", "mentionsOnly": true, "timeout": 20,
        });
        let (answer, ()) = tokio::join!(agents[1].ok("wait_for_messages", waiting), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            say(&agents[2], NAMES[2], "dev-team", "not for you").await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            say(&agents[2], NAMES[2], "dev-team", "@花子 now").await;
        });
        assert!(answer.to_string().contains("@花子 now"), "{way}: {answer}");
        assert!(
            !answer.to_string().contains("not for you"),
            "{way}: {answer}"
        );
    }
}

async fn messages_stay_in_their_room_and_none_is_lost(place: NewPlace) {
    for (way, _place, agents) in set_ups(place).await {
        let rooms = ["one", "two", "three"];
        for room in rooms {
            meet(&agents, room).await;
        }
        let work = agents.iter().zip(NAMES).map(async |(agent, name)| {
            for round in 0..10 {
                for room in rooms {
                    say(agent, name, room, &format!("{room} {name} {round}")).await;
                }
            }
        });
        futures::future::join_all(work).await;
        for room in rooms {
            let all = json!({ "roomName": room, "limit": 1000 });
            let read = agents[0].ok("get_messages", all).await;
            assert_eq!(read["count"], 40, "{way} {room}");
            let messages = read["messages"].as_array().unwrap().iter();
            let texts: BTreeSet<&str> = messages.map(|m| m["message"].as_str().unwrap()).collect();
            assert_eq!(texts.len(), 40, "{way} {room}");
            let prefix = format!("{room} ");
            assert!(texts.iter().all(|text| text.starts_with(&prefix)), "{way}");
        }
        let status = agents[3].ok("get_status", json!({})).await;
        assert_eq!(status["totalMessages"], 120, "{way}");
        assert_eq!(status["totalRooms"], 3, "{way}");
    }
}

async fn every_error_of_the_seed_has_its_code(place: NewPlace) {
    for (way, place, agents) in set_ups(place).await {
        meet(&agents, "dev-team").await;
        let agent = &agents[0];
        let dev = "dev-team";
        agent.ok("create_room", room("other")).await;
        let clear = |confirm: bool| json!({ "roomName": dev, "confirm": confirm });
        let say_too_much = message("bob", dev, &"x".repeat(10_001));
        for (tool, arguments, code) in [
            ("get_messages", room("none"), "ROOM_NOT_FOUND"),
            ("create_room", room(dev), "ROOM_ALREADY_EXISTS"),
            ("create_room", room("../x"), "INVALID_ROOM_NAME"),
            ("leave_room", member("nobody", dev), "AGENT_NOT_IN_ROOM"),
            ("enter_room", member("bob", dev), "AGENT_ALREADY_IN_ROOM"),
            (
                "send_message",
                message("bob", "other", "x"),
                "AGENT_NOT_IN_ROOM",
            ),
            (
                "send_message",
                message("bob", dev, ""),
                "INVALID_MESSAGE_FORMAT",
            ),
            ("send_message", say_too_much, "INVALID_MESSAGE_FORMAT"),
            ("clear_room_messages", clear(false), "CONFIRMATION_REQUIRED"),
        ] {
            refused(&agent.call(tool, arguments).await, code);
        }
        say(agent, NAMES[0], dev, "one").await;
        let cleared = agent.ok("clear_room_messages", clear(true)).await;
        assert_eq!(cleared["clearedCount"], 1, "{way}");
        drop(place);
    }
}

#[tokio::test]
async fn tools_answer_to_all_three_spellings() {
    let place = Place::new();
    let agent = Way::stdio(&place);
    for name in [
        "agent_communication/list_rooms",
        "agent_communication_list_rooms",
        "list_rooms",
    ] {
        agent.ok(name, json!({})).await;
    }
}

async fn a_process_that_ends_takes_its_agents_offline(place: NewPlace) {
    let place = place();
    let (stays, goes) = (Way::stdio(&place), Way::stdio(&place));
    stays.ok("create_room", room("r")).await;
    stays.ok("enter_room", member("stays", "r")).await;
    goes.ok("enter_room", member("goes", "r")).await;
    let Way::Stdio(pipe) = goes else {
        unreachable!()
    };
    let pipe = Arc::into_inner(pipe).unwrap().into_inner().unwrap();
    let (_, status, _) = pipe.finish();
    assert!(status.success());
    let users = stays.ok("list_room_users", room("r")).await;
    assert_eq!(users["onlineCount"], 1, "{users}");
}

async fn the_variables_are_enforced(place: NewPlace) {
    let place = place();
    let limits = [
        ("AGENT_COMM_MAX_ROOMS", "1"),
        ("AGENT_COMM_MAX_MESSAGES", "3"),
    ];
    let few = Way::stdio_with(&place, &limits);
    few.ok("create_room", room("r")).await;
    let second = few.call("create_room", room("s")).await;
    refused(&second, "ROOM_LIMIT_EXCEEDED");
    few.ok("enter_room", member("a", "r")).await;
    for number in 0..5 {
        say(&few, "a", "r", &format!("message {number}")).await;
    }
    if place.database.is_none() {
        let log = place.path().join("talk/rooms/r/messages.jsonl");
        assert!(std::fs::read_to_string(&log).unwrap().lines().count() <= 3);
    }
    let query = json!({ "roomName": "r", "query": "message 0" });
    let found = few.ok("search_messages", query).await;
    assert_eq!(found["count"], 1, "the archive is searched too: {found}");

    let mut command = place.command();
    command
        .args(["stdio", "rooms"])
        .env("AGENT_COMM_LOCK_TIMEOUT", "soon");
    let (_, status, said) = Pipe::start(&mut command).finish();
    assert!(!status.success());
    assert!(said.contains("AGENT_COMM_LOCK_TIMEOUT"), "{said}");
}
