//! Policies bind every process on the same data: other desks, stdio, the command line.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    super::visitor::{Visitor, asking_desk},
    FILMS, PATH, films, row, until_denied,
};
use crate::harness::{Desk, Pipe, Place, call, mentions, refused, result};

/// What a tool answers over stdio.
fn over(pipe: &mut Pipe, tool: &str) -> Value {
    result(&pipe.request(&call(1, tool, json!({})))).clone()
}

#[tokio::test]
async fn it_binds_stdio_processes_and_outlives_a_restart() {
    const ROOMS: &str = "agent_communication_list_rooms";
    let mut desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let tools = [("cinema", FILMS), ("rooms", ROOMS), ("todo", "list_tasks")];
    let mut pipes = tools.map(|(counter, _)| desk.stdio(counter, None));
    for ((_, tool), pipe) in tools.iter().zip(&mut pipes) {
        assert_ne!(over(pipe, tool)["isError"], true, "{tool}");
    }
    for (counter, tool) in tools {
        let name = format!("{counter}.{tool}");
        let answer = visitor.choose(&name, "deny", "allow").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    for ((_, tool), pipe) in tools.iter().zip(&mut pipes) {
        until_denied(async || over(pipe, tool)).await;
    }
    desk.signal("TERM");
    assert!(desk.ended().await.success());
    // Nobody has to be told: the first call of a new process is denied.
    for (counter, tool) in tools {
        let mut pipe = desk.stdio(counter, None);
        refused(&over(&mut pipe, tool), "DENIED_BY_POLICY");
        let config = desk.config();
        let once = [
            "call",
            counter,
            tool,
            "{}",
            "--config",
            config.to_str().unwrap(),
        ];
        mentions(&desk.place.run(&once).stdout, &["DENIED_BY_POLICY"]);
    }
    let again = Desk::setup().place(&desk.place).start().await;
    refused(&films(&again).await, "DENIED_BY_POLICY");
    let visitor = Visitor::enter(&again).await;
    mentions(
        row(&visitor.page(PATH).await.text(), FILMS),
        &["tightened by"],
    );
}

/// A process that keeps files opens no database while there is none.
#[tokio::test]
async fn it_binds_a_stdio_process_that_was_there_before_the_database() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["stdio", "todo"]);
    let mut pipe = Pipe::start(&mut command);
    assert_ne!(over(&mut pipe, "list_tasks")["isError"], true);
    assert!(!place.data().join("madoguchi.db").exists());
    let desk = Desk::setup().place(&place).start().await;
    let visitor = Visitor::enter(&desk).await;
    let answer = visitor.choose("todo.list_tasks", "deny", "allow").await;
    assert_eq!(answer.status, 200);
    until_denied(async || over(&mut pipe, "list_tasks")).await;
}

/// A tool may be denied in rows that can't be read.
#[tokio::test]
async fn a_process_that_cannot_read_the_policies_refuses_calls() {
    let place = Place::new();
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(
        place.data().join("madoguchi.db"),
        "no database".repeat(1000),
    )
    .unwrap();
    let mut command = place.command();
    command.args(["stdio", "todo"]);
    let mut pipe = Pipe::start(&mut command);
    let answer = pipe.request(&call(1, "list_tasks", json!({})));
    assert!(answer["error"].is_object(), "{answer}");
}

#[tokio::test]
async fn the_command_line_does_the_same_as_the_page() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let config = desk.config();
    let policies = |arguments: &[&str]| {
        let config = ["--config", config.to_str().unwrap()];
        let all = [&["policies"], arguments, &config].concat();
        desk.place.run(&all)
    };
    let of_films = || {
        let all = policies(&["list", "--json"]).ok().json();
        let mut all = all.as_array().unwrap().iter();
        let films = all.find(|it| it["tool"] == FILMS && it["counter"] == "cinema");
        films.unwrap().clone()
    };
    assert_eq!(of_films()["origin"], "default");
    policies(&["tighten", "cinema.get_movie_list", "deny"]).ok();
    until_denied(async || films(&desk).await).await;
    let tightened = of_films();
    assert_eq!(tightened["policy"], "deny", "{tightened}");
    assert_eq!(tightened["configured"], "allow", "{tightened}");
    assert_eq!(tightened["set_by"], "local user", "{tightened}");
    mentions(
        &policies(&["list"]).ok().stdout,
        &["cinema.get_movie_list", "local user"],
    );
    mentions(
        row(&visitor.page(PATH).await.text(), FILMS),
        &["local user"],
    );
    policies(&["relax", "cinema.get_movie_list"]).ok();
    assert_eq!(of_films()["policy"], "allow");
    policies(&["tighten", "innervoice.message.send", "deny", "--json"]).ok();
    policies(&["tighten", "cinema.nothing", "deny"]).fails_with("UNKNOWN_NAME");
    policies(&["tighten", "cinema", "deny"]).fails_with("UNKNOWN_NAME");
    policies(&["tighten", "cinema.get_movie_list", "allow"]).failed();
    let arguments = ["audit", "tail", "--json", "--tool", "policy/set"];
    let trail = desk.place.run(&arguments).ok().stdout;
    let all = trail
        .lines()
        .filter(|line| line.contains("\"caller\":\"local\""))
        .count();
    assert_eq!(all, 3, "{trail}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn desks_on_one_database_share_policies() {
    let (first, mut second) = (Place::on_postgres(), Place::new());
    second.database = first.database.clone();
    let one = Desk::setup().place(&first).demo().start().await;
    let two = Desk::setup().place(&second).start().await;
    let here = Visitor::enter(&one).await;
    let there = here.at(&two);
    let mut pipe = two.stdio("todo", None);
    assert_ne!(over(&mut pipe, "list_tasks")["isError"], true);
    for tool in ["cinema.get_movie_list", "todo.list_tasks"] {
        let answer = here.choose(tool, "deny", "allow").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    until_denied(async || films(&two).await).await;
    until_denied(async || over(&mut pipe, "list_tasks")).await;
    mentions(
        row(&there.page(PATH).await.text(), FILMS),
        &["tightened by"],
    );
    // A page of the other desk that was opened before.
    let stale = there.choose("cinema.get_movie_list", "ask", "allow").await;
    assert_eq!(stale.status, 409);
    refused(&films(&one).await, "DENIED_BY_POLICY");
    let back = there.choose("cinema.get_movie_list", "allow", "deny").await;
    assert_eq!(back.status, 200);
    assert_eq!(films(&two).await["isError"], false);
    for _ in 0..600 {
        if films(&one).await["isError"] == false {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the other desk does not notice");
}
