//! The pages of the audit: what their filters find, and what a record says.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::visitor::{HTML, Visitor, asking_desk, between, waiting_booking};
use crate::{
    audit::{Trail, lines, trail::eventually},
    harness::{Desk, free_seats, mentions, request, seats_of, show_to_book, structured},
};

const BEFORE: &str = "Requests refused before a tool was known";

/// The address of the first record on a page.
fn first_record(page: &str) -> String {
    let rest = between(page, "href=\"/console/audit/record?", "\"");
    format!("/console/audit/record?{}", rest.replace("&amp;", "&"))
}

impl Visitor<'_> {
    /// The page of the newest record about a tool.
    async fn record_of(&self, tool: &str) -> String {
        let list = format!("/console/audit?tool={tool}");
        let list = self.once_shown(&list, "/console/audit/record?").await;
        self.page(&first_record(&list)).await.text()
    }
}

#[tokio::test]
async fn refusals_before_a_tool_is_known_name_the_key_and_the_reason() {
    let desk = Desk::with_config("[limits]\nrequests_per_minute = { todo = 1 }\n").await;
    let visitor = Visitor::enter(&desk).await;
    let phone = desk.place.create_key(&["phone", "--counters", "merchant"]);
    for _ in 0..60 {
        let answer = desk
            .call_as(&phone, "cinema", "get_movie_list", json!({}))
            .await;
        assert_eq!(answer.status, 403);
    }
    for nth in 0..3 {
        let made_up = format!("mdg_{nth:012}_{}", "x".repeat(26));
        let answer = desk
            .call_as(&made_up, "cinema", "get_movie_list", json!({}))
            .await;
        assert_eq!(answer.status, 401);
    }
    desk.rpc("cinema", "tools/lst", json!({})).await;
    for _ in 0..3 {
        desk.rpc("todo", "tools/list", json!({})).await;
    }
    let trail = Trail::of(&desk.place);
    let total = |records: &[Value], code: &str| {
        let of_code = records.iter().filter(|it| it["code"] == code);
        of_code.filter_map(|it| it["count"].as_u64()).sum::<u64>()
    };
    let records = eventually(&trail, "all refusals", |records| {
        total(records, "OUT_OF_SCOPE") == 60
            && total(records, "INVALID_KEY") == 3
            && total(records, "UNKNOWN_METHOD") == 1
            && total(records, "RATE_LIMITED") == 2
    })
    .await;
    let refused: Vec<&Value> = records
        .iter()
        .filter(|it| it["kind"] == "refused_count")
        .collect();
    let mut seen = BTreeSet::new();
    for record in refused {
        // However many there are, one record a second for each caller and reason.
        let one = format!("{} {} {}", record["at"], record["caller"], record["code"]);
        assert!(seen.insert(one), "{record}");
        let (caller, name) = (&record["caller"], &record["caller_name"]);
        match record["code"].as_str().unwrap() {
            "OUT_OF_SCOPE" => assert_eq!(name, "phone", "{record}"),
            "INVALID_KEY" => assert_eq!((caller, name), (&json!("unknown"), &Value::Null)),
            _ => assert_eq!(name, "anonymous", "{record}"),
        }
    }
    // By outcome, by caller, by reason; on the page and on the command line.
    for query in ["outcome=refused", "caller=phone", "outcome=OUT_OF_SCOPE"] {
        let page = visitor.page(&format!("/console/audit?{query}")).await;
        let page = page.text();
        mentions(&page, &[BEFORE, "OUT_OF_SCOPE", ">phone<"]);
        assert!(!page.contains("\"></a>"), "a link without a text: {page}");
        let arguments = query.replace('=', " ");
        let tail = format!("audit tail --{arguments} -n 1000 --json");
        let found = lines(&desk.place.run_line(&tail).ok().stdout);
        assert!(found.iter().any(|it| it["code"] == "OUT_OF_SCOPE"));
    }
    let done = visitor.page("/console/audit?outcome=done").await.text();
    assert!(!done.contains(BEFORE), "{done}");
    let page = visitor.page("/console/audit?caller=phone").await.text();
    let record = visitor.page(&first_record(&page)).await.text();
    mentions(&record, &[BEFORE, "OUT_OF_SCOPE", "phone"]);
    assert!(!record.contains("What it changed"), "{record}");
    let said = desk.place.run(&["audit", "tail", "--caller", "phone"]);
    mentions(&said.ok().stdout, &["requests refused: OUT_OF_SCOPE"]);
    trail.verified();
}

#[tokio::test]
async fn calls_that_asked_a_person_first_are_found_by_that() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    waiting_booking(&desk).await;
    let asked = "/console/audit?outcome=asked";
    let page = visitor.once_shown(asked, "APPROVAL_REQUIRED").await;
    assert_eq!(page.matches("/console/audit/record?").count(), 1, "{page}");
    let tail = desk.place.run_line("audit tail --outcome asked --json");
    assert_eq!(lines(&tail.ok().stdout).len(), 1);
}

#[tokio::test]
async fn tools_are_found_by_part_of_their_name_and_by_their_titles() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    desk.ok("cinema", "get_movie_list", json!({})).await;
    desk.ok("rooms", "agent_communication_list_rooms", json!({}))
        .await;
    let shown = "href=\"/console/audit/record?";
    for (text, title) in [
        ("movie_li", "Movies now showing"),
        ("MOVIE", "Movies now showing"),
        ("movies+now", "Movies now showing"),
        (
            "%E4%B8%8A%E6%98%A0%E4%B8%AD%E3%81%AE%E6%98%A0%E7%94%BB",
            "Movies now showing",
        ),
        // Another of its names than the one in records.
        ("communication_list", "List rooms"),
    ] {
        let path = format!("/console/audit?tool={text}");
        let page = visitor.once_shown(&path, shown).await;
        assert_eq!(page.matches(shown).count(), 1, "{text}: {page}");
        assert!(page.contains(&format!(">{title}</a>")), "{text}: {page}");
    }
    let none = visitor
        .page("/console/audit?tool=no+such+tool")
        .await
        .text();
    mentions(&none, &["There are no such records."]);
    for text in ["movie_li", "movies now", "上映中"] {
        let arguments = ["audit", "tail", "--json", "--tool", text];
        let found = lines(&desk.place.run(&arguments).ok().stdout);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0]["tool"], "get_movie_list");
    }
}

#[tokio::test]
async fn a_record_says_what_was_changed_or_why_that_is_not_known() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let fixed = json!({ "product_id": 1 }).to_string();
    let stock = [
        ("tool", "update_inventory"),
        ("fixed", &*fixed),
        ("argument/inventory_count", "41"),
        ("argument/reason", "counted"),
    ];
    let done = visitor.send("/console/merchant?product=1", &stock).await;
    mentions(&done.text(), &["50 → 41"]);
    mentions(
        &visitor.record_of("update_inventory").await,
        &["no address of its own", "href=\"/console/merchant\""],
    );
    let task = json!({ "title": "Write it" });
    let task = desk.ok("todo", "create_task", task).await;
    let id = &task["task_id"];
    let context = json!({ "task_id": id, "content": "## Plan\n" });
    structured(&desk.call("todo", "update_context", context).await);
    mentions(
        &visitor.record_of("update_context").await,
        &[
            "keeps no list of what each call changed",
            "href=\"/console/todo\"",
        ],
    );
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(&desk, schedule_id).await);
    let seat = free.first().unwrap();
    let booking = json!({ "schedule_id": schedule_id, "seat_ids": [seat] });
    desk.ok("cinema", "reserve_seats", booking.clone()).await;
    let address = format!("<code><bdi>cinema://shows/{schedule_id}/seats</bdi></code>");
    let booked = visitor.record_of("reserve_seats").await;
    mentions(&booked, &[&address]);
    // It is taken now.
    desk.call("cinema", "reserve_seats", booking).await;
    let refused = "/console/audit?tool=reserve_seats&outcome=refused";
    let list = visitor.once_shown(refused, "/console/audit/record?").await;
    let refused = visitor.page(&first_record(&list)).await.text();
    mentions(&refused, &["the call was not carried out"]);
    mentions(
        &visitor.record_of("get_seat_availability").await,
        &["Nothing: it only reads."],
    );
    let read = json!({ "uri": "cinema://movies" });
    desk.rpc("cinema", "resources/read", read).await;
    desk.rpc("cinema", "resources/list", json!({})).await;
    mentions(
        &visitor.record_of("resources/list").await,
        &["Nothing: it only reads."],
    );
    let fields = [
        ("counter", "cinema"),
        ("tool", "get_movie_list"),
        ("policy", "deny"),
        ("seen", "allow"),
    ];
    visitor.send("/console/policies", &fields).await;
    let policy = visitor.record_of("policy/set").await;
    mentions(&policy, &["What the arguments say.", "Policy changed"]);
    assert!(policy.contains("<a href=\"/console/policies\">Policies</a>"));
}

#[tokio::test]
async fn the_list_of_pages_says_how_many_questions_wait() {
    const NONE: &str = "<span id=\"waiting\" class=\"count\" hidden><b>0</b>";
    const ONE: &str =
        "<span id=\"waiting\" class=\"count\"><b>1</b><span class=\"unseen\"> waiting</span>";
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    mentions(&visitor.page("/console/keys").await.text(), &[NONE]);
    let mut stream = visitor.watch("/console/cinema/events").await;
    let id = waiting_booking(&desk).await;
    // Whoever has a counter's page open is told at once.
    let mut heard = String::new();
    while !heard.contains("data: waiting") {
        let mut read = vec![0; 4096];
        let length = stream.read(&mut read).await.unwrap();
        assert!(length > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&read[..length]));
    }
    for path in ["/console/", "/console/keys", "/console/cinema"] {
        mentions(&visitor.page(path).await.text(), &[ONE]);
        // A cookie alone shows nothing.
        mentions(&visitor.get(path).await.text(), &[NONE]);
    }
    let asked = visitor.page("/console/waiting").await;
    assert_eq!((asked.status, asked.text().as_str()), (200, "1"));
    assert_eq!(visitor.get("/console/waiting").await.status, 401);
    let stranger = request(desk.port, "GET", "/console/waiting", &[HTML], "").await;
    assert_eq!(stranger.status, 401);
    let headers = [
        HTML,
        ("cookie", visitor.cookie.as_str()),
        ("x-console-form", visitor.token.as_str()),
        ("accept-language", "ja"),
    ];
    let page = request(desk.port, "GET", "/console/keys", &headers, "").await;
    mentions(&page.text(), &["件が確認待ち"]);
    assert_eq!(visitor.decide(&id, "deny").await.status, 200);
    mentions(&visitor.page("/console/keys").await.text(), &[NONE]);
}

/// As the overview writes a time.
fn written(ms: f32) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

#[tokio::test]
async fn the_time_for_which_calls_wait_for_a_person_is_not_the_desks() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    waiting_booking(&desk).await;
    let trail = Trail::of(&desk.place);
    let is_booking = |it: &&Value| it["code"] == "APPROVAL_REQUIRED";
    let records = eventually(&trail, "the booking", |records| {
        records.iter().any(|it| is_booking(&it))
    })
    .await;
    let booking = records.iter().find(is_booking).unwrap();
    let of = |record: &Value, name: &str| record[name].as_f64().unwrap_or_default();
    let waited = of(booking, "waited_ms");
    assert!(waited >= 1000.0, "{booking}");
    assert!(of(booking, "ms") >= waited, "{booking}");
    let calls = records.iter().filter(|it| it["counter"] == "cinema");
    let mut own: Vec<f32> = calls
        .map(|it| (of(it, "ms") - of(it, "waited_ms")) as f32)
        .collect();
    own.sort_by(f32::total_cmp);
    assert!(own.len() < 10, "the slowest is the one that counts");
    let overview = visitor.page("/console/").await.text();
    let row = between(&overview, "aria-label=\"Cinema box office: ", "</tr>");
    let slowest = between(row, "data-column=\"95 % within\"><div>", "</div>");
    assert_eq!(slowest, written(*own.last().unwrap()));
    mentions(&overview, &["waited for a person"]);
    let list = visitor.page("/console/audit?outcome=asked").await.text();
    let record = visitor.page(&first_record(&list)).await.text();
    mentions(&record, &["Of that, waiting for a person"]);
}
