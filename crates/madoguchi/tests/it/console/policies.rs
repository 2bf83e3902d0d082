//! A person makes policies stricter on the page, and takes that back: what it binds, and
//! what can't be done with it.

mod elsewhere;

use std::{sync::Arc, time::Duration};

use kit::{Sql, Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, url::DatabaseUrl};

use super::visitor::{ASKS, HTML, Visitor, asking_desk, between, waiting_booking};
use crate::harness::{
    Answer, Desk,
    clients::{self, Browser},
    free_seats, mentions, refused, request, seats_of, show_to_book,
};

const PATH: &str = "/console/policies";
const FILMS: &str = "get_movie_list";

impl Visitor<'_> {
    /// Presses a button of the page, which shows `seen` for the tool.
    async fn choose(&self, tool: &str, policy: &str, seen: &str) -> Answer {
        let (counter, tool) = tool.split_once('.').unwrap();
        let fields = [
            ("counter", counter),
            ("tool", tool),
            ("policy", policy),
            ("seen", seen),
        ];
        self.send(PATH, &fields).await
    }
}

/// The row of a tool on the page.
fn row<'p>(page: &'p str, tool: &str) -> &'p str {
    between(page, &format!("<code>{tool}</code>"), "</tr>")
}

/// In the desk's own rows, as another program could.
async fn in_rows<T: Send + 'static>(
    desk: &Desk,
    work: impl FnMut(&mut dyn Sql) -> kit::Result<T> + Send + 'static,
) -> T {
    let file = desk.place.data().join("madoguchi.db");
    let url = format!("sqlite:///{}", file.display());
    let url = DatabaseUrl::parse(&url).unwrap();
    let database = Database::open(&url, Options::default()).await.unwrap();
    let store: Arc<dyn Store> = Arc::new(database.clone());
    let done = store.transaction(Budget::default(), work).await;
    database.close().await.unwrap();
    done.unwrap()
}

async fn films(desk: &Desk) -> Value {
    desk.call("cinema", FILMS, json!({})).await
}

/// Calls until the tool is denied. Other processes notice a change a moment later.
async fn until_denied(mut called: impl AsyncFnMut() -> Value) {
    for _ in 0..600 {
        if called().await["isError"] == true {
            refused(&called().await, "DENIED_BY_POLICY");
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it is still allowed");
}

#[tokio::test]
async fn a_policy_is_tightened_on_the_page_and_taken_back() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let before = visitor.page(PATH).await.text();
    mentions(
        row(&before, FILMS),
        &[">allowed<", "default", "value=\"ask\"", "value=\"deny\""],
    );
    let denied = visitor
        .choose("cinema.get_movie_list", "deny", "allow")
        .await;
    assert_eq!(denied.status, 200);
    let page = denied.text();
    mentions(
        &page,
        &["role=\"status\"", "cinema.get_movie_list is now deny."],
    );
    let by = [
        ">denied<",
        "tightened by",
        "console",
        "<time ",
        "value=\"allow\"",
        "value=\"ask\"",
    ];
    mentions(row(&page, FILMS), &by);
    // At once, and whatever the tool is called for.
    refused(&films(&desk).await, "DENIED_BY_POLICY");
    let listed = desk.rpc("cinema", "tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(
        listed.iter().all(|tool| tool["name"] != FILMS),
        "{listed:?}"
    );
    // Its own page says why, and what to do.
    let tool = visitor
        .page("/console/tools/cinema/get_movie_list")
        .await
        .text();
    mentions(&tool, &["tightened by", "href=\"/console/policies\""]);
    assert!(!tool.contains("<textarea"), "{tool}");
    let asks = visitor.choose("cinema.get_movie_list", "ask", "deny").await;
    mentions(
        row(&asks.text(), FILMS),
        &[">asks you first<", "tightened by"],
    );
    let back = visitor
        .choose("cinema.get_movie_list", "allow", "ask")
        .await;
    assert_eq!(row(&back.text(), FILMS), row(&before, FILMS));
    assert_eq!(films(&desk).await["isError"], false);
    let tool = visitor
        .page("/console/tools/cinema/get_movie_list")
        .await
        .text();
    assert!(tool.contains("<textarea"), "{tool}");
}

#[tokio::test]
async fn each_change_is_in_the_audit_as_an_act_of_the_console() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    visitor
        .choose("cinema.get_movie_list", "deny", "allow")
        .await;
    let refused = visitor.choose("cinema.reserve_seats", "allow", "ask").await;
    assert_eq!(refused.status, 400);
    let records = loop {
        let arguments = ["audit", "tail", "--json", "--tool", "policy/set"];
        let lines = desk.place.run(&arguments).ok().stdout;
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let records: Vec<Value> = lines.collect();
        // Refusals are recorded a moment later.
        if records.len() == 2 {
            break records;
        }
        assert_eq!(records.len(), 1, "what was changed is there at once");
    };
    for (record, outcome, tool, policy) in [
        (&records[0], "done", "get_movie_list", "deny"),
        (&records[1], "refused", "reserve_seats", "allow"),
    ] {
        assert_eq!(record["caller"], "console", "{record}");
        assert_eq!(record["counter"], "cinema", "{record}");
        assert_eq!(record["outcome"], outcome, "{record}");
        assert_eq!(record["arguments"]["tool"], tool, "{record}");
        assert_eq!(record["arguments"]["policy"], policy, "{record}");
    }
    assert_eq!(records[1]["code"], "POLICY_TOO_LOOSE");
    let page = visitor.page("/console/agents?caller=console").await.text();
    assert!(page.contains("policy/set"), "{page}");
    desk.place.run(&["audit", "verify"]).ok();
}

#[tokio::test]
async fn nothing_is_looser_than_the_configuration_says() {
    let config = "[approval]\ntools = { \"cinema.reserve_seats\" = \"ask\", \
                  \"cinema.get_movie_list\" = \"deny\" }\n";
    let desk = Desk::with_config(config).await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page(PATH).await.text();
    assert!(!row(&page, "reserve_seats").contains("value=\"allow\""));
    mentions(row(&page, FILMS), &["only in the file"]);
    let tool = visitor
        .page("/console/tools/cinema/get_movie_list")
        .await
        .text();
    mentions(
        &tool,
        &[
            "the configuration",
            "&quot;cinema.get_movie_list&quot; = &quot;deny&quot;",
        ],
    );
    for (tool, policy, file) in [
        ("cinema.reserve_seats", "allow", "ask"),
        ("cinema.get_movie_list", "allow", "deny"),
        ("cinema.get_movie_list", "ask", "deny"),
        // By the default.
        ("innervoice.message.send", "allow", "ask"),
    ] {
        let answer = visitor.choose(tool, policy, file).await;
        assert_eq!(answer.status, 400, "{tool}");
        let setting = format!("&quot;{tool}&quot; = &quot;{file}&quot;");
        mentions(&answer.text(), &["role=\"alert\"", &setting]);
    }
    refused(&films(&desk).await, "DENIED_BY_POLICY");
    // Nor does a forged row help.
    let forged = [
        "INSERT INTO desk_policies VALUES ('cinema', 'get_movie_list', 'allow', 'x', 0)",
        "INSERT INTO desk_policies VALUES ('cinema', 'get_show_schedule', '?', 'x', 0)",
        "INSERT INTO desk_versions VALUES ('policies', 9)
         ON CONFLICT (name) DO UPDATE SET version = 9",
    ];
    in_rows(&desk, move |sql| {
        for row in forged {
            sql.execute(row, &[])?;
        }
        Ok(())
    })
    .await;
    // What is not understood was meant to be strict.
    let schedule = json!({ "movie_id": "M001", "date": "today" });
    let schedule = async || {
        let tool = "get_show_schedule";
        desk.call("cinema", tool, schedule.clone()).await
    };
    until_denied(schedule).await;
    refused(&films(&desk).await, "DENIED_BY_POLICY");
}

#[tokio::test]
async fn forged_forms_change_nothing() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let good = "counter=cinema&tool=get_movie_list&policy=deny&seen=allow";
    let with_token = format!("form={}&{good}", visitor.token);
    let mut thief = visitor.at(&desk);
    thief.token = "0".repeat(64);
    let forged = thief.choose("cinema.get_movie_list", "deny", "allow").await;
    assert_eq!(forged.status, 403);
    for (body, more) in [
        (good, vec![]),
        (&*with_token, vec![("origin", "https://evil.example")]),
        (&*with_token, vec![("authorization", "Bearer mdg_x")]),
    ] {
        let answer = visitor.post(PATH, body, &more).await;
        assert_eq!(answer.status, 403, "{more:?}");
    }
    let stranger = [HTML, ("cookie", "madoguchi_console=x")];
    let answer = request(desk.port, "POST", PATH, &stranger, with_token.clone()).await;
    assert!([401, 403].contains(&answer.status), "{}", answer.status);
    let answer = visitor.get(&format!("{PATH}?{with_token}")).await;
    assert_eq!(answer.status, 200, "a link only shows the page");
    // Who leaves out what they saw did not look.
    for fields in [
        vec![("counter", "cinema"), ("tool", FILMS), ("policy", "deny")],
        vec![("counter", "cinema"), ("tool", FILMS), ("seen", "allow")],
    ] {
        assert_eq!(visitor.send(PATH, &fields).await.status, 403);
    }
    assert_eq!(
        visitor
            .choose("cinema.get_movie_list", "DENY", "allow")
            .await
            .status,
        403
    );
    let long = format!("cinema.{}", "<b>".repeat(10_000));
    for unknown in ["cinema.nothing", "nothing.get_movie_list", ".", &long] {
        let answer = visitor.choose(unknown, "deny", "allow").await;
        assert_eq!(answer.status, 404, "{unknown}");
        let text = answer.text();
        mentions(&text, &["role=\"alert\"", "There is no tool"]);
        assert!(!text.contains("<b><b>") && text.len() < 300_000);
    }
    assert_eq!(films(&desk).await["isError"], false);
    let stored = in_rows(&desk, |sql| {
        sql.query("SELECT tool FROM desk_policies", &[])
    })
    .await;
    assert_eq!(stored.len(), 0);
}

#[tokio::test]
async fn of_two_pages_that_change_a_policy_at_once_one_is_told_to_look_again() {
    let desk = Desk::start().await;
    let (one, two) = (Visitor::enter(&desk).await, Visitor::enter(&desk).await);
    for _ in 0..10 {
        let (first, second) = tokio::join!(
            one.choose("cinema.get_movie_list", "deny", "allow"),
            two.choose("cinema.get_movie_list", "ask", "allow"),
        );
        let mut answers = [(first, "deny"), (second, "ask")];
        answers.sort_by_key(|(answer, _)| answer.status);
        assert_eq!(answers[0].0.status, 200);
        assert_eq!(answers[1].0.status, 409);
        let (won, said) = (answers[0].1, answers[1].0.text());
        mentions(
            &said,
            &[
                "role=\"alert\"",
                "POLICY_CHANGED",
                &format!("it is now {won}"),
            ],
        );
        let back = two.choose("cinema.get_movie_list", "allow", won).await;
        assert_eq!(back.status, 200, "{}", back.text());
    }
    // Whoever wants what is already so is content.
    for _ in 0..2 {
        let answer = one.choose("cinema.get_movie_list", "deny", "allow").await;
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn a_call_that_waits_is_denied_when_its_tool_is() {
    let config = ASKS.replace("hold_seconds = 1", "hold_seconds = 60");
    let desk = Desk::with_config(&config).await;
    let visitor = Visitor::enter(&desk).await;
    let deny = async {
        loop {
            let all = desk.place.run(&["approvals", "list", "--json"]).ok().json();
            if let Some(id) = all[0]["id"].as_str() {
                let denied = visitor.choose("cinema.reserve_seats", "deny", "ask").await;
                assert_eq!(denied.status, 200);
                return visitor.decide(id, "once").await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let seats = seats_of(&desk, schedule_id).await;
    let free = free_seats(&seats);
    let arguments = json!({ "schedule_id": schedule_id, "seat_ids": [free.first().unwrap()] });
    let held = desk.call("cinema", "reserve_seats", arguments);
    let (answer, decided) = tokio::join!(held, deny);
    assert_eq!(decided.status, 200);
    refused(&answer, "DENIED_BY_POLICY");
    let seats = seats_of(&desk, schedule_id).await;
    assert_eq!(free_seats(&seats), free);
}

#[tokio::test]
async fn a_tightened_policy_asks_about_calls_that_were_allowed() {
    let desk = Desk::with_config("[approval]\nhold_seconds = 1\n").await;
    let visitor = Visitor::enter(&desk).await;
    let answer = visitor.choose("cinema.reserve_seats", "ask", "allow").await;
    assert_eq!(answer.status, 200);
    let id = waiting_booking(&desk).await;
    assert_eq!(visitor.decide(&id, "once").await.status, 200);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_tighten_policies_in_a_browser() {
    let desk = asking_desk().await;
    let url = desk.url("");
    let arguments = ["all", url.as_str()];
    let script = "console_policies.mjs";
    let tightened = clients::in_browser(Browser::Chromium, &desk.place, script, &arguments);
    tightened.await.ok();
}
