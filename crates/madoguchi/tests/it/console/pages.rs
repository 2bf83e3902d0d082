//! The pages of the console over HTTP: what they show, to whom, and what their forms do.

use serde_json::{Value, json};

use super::visitor::{HTML, Visitor, asking_desk, between, status_of, waiting_booking};
use crate::harness::{
    Desk, call,
    clients::{self, Browser},
    configured_keys, free_seats, refused, request, seats_of, show_to_book,
};

/// Every page that needs no more than its address.
const PAGES: [&str; 16] = [
    "/",
    "/console/",
    "/console/connect",
    "/console/agents",
    "/console/tools",
    "/console/tools/cinema/reserve_seats",
    "/console/audit",
    "/console/keys",
    "/console/policies",
    "/console/settings",
    "/console/health",
    "/console/cinema",
    "/console/innervoice",
    "/console/merchant",
    "/console/rooms",
    "/console/todo",
];

#[tokio::test]
async fn every_page_is_shown_to_its_visitor_alone() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    for path in PAGES {
        let page = visitor.page(path).await;
        let text = page.text();
        assert_eq!(page.status, 200, "{path}: {text}");
        assert!(text.contains("<h1"), "{path}: {text}");
        assert!(
            text.contains("aria-current=\"page\"") || path.contains("tools/"),
            "{path}"
        );
        assert!(
            !text.contains(" style=") && !text.contains("<style"),
            "{path}"
        );
        // A cookie shows the frame; without one there is nothing.
        let frame = visitor.get(path).await.text();
        assert!(
            frame.contains("data-fill=") && !frame.contains("<h1"),
            "{path}"
        );
        assert!(frame.len() < 20_000, "{path}: {}", frame.len());
        assert!(!frame.contains(&visitor.token), "{path}");
        let mut thief = visitor.at(&desk);
        thief.token = "0".repeat(64);
        assert_eq!(thief.page(path).await.status, 401, "{path}");
        let stranger = request(desk.port, "GET", path, &[HTML], "").await;
        assert_eq!(stranger.status, 401, "{path}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("script-src 'self'"), "{path}: {policy}");
    }
    for path in [
        "/console/nothing",
        "/console/tools/cinema/nothing",
        "/console/audit/record?segment=..%2F..%2Fx&seq=1",
        "/console/approvals/one?id=ap_nothing",
    ] {
        assert_eq!(visitor.page(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn pages_are_in_the_readers_language() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    for path in PAGES {
        let headers = [
            HTML,
            ("cookie", visitor.cookie.as_str()),
            ("x-console-form", visitor.token.as_str()),
            ("accept-language", "ja"),
        ];
        let page = request(desk.port, "GET", path, &headers, "").await.text();
        assert!(page.contains("<html lang=\"ja\">"), "{path}");
        assert!(page.contains("エージェント"), "{path}");
    }
    // The switch leads back to the page.
    let from = format!("{}?tool=x", desk.url("/console/audit"));
    let headers = [HTML, ("referer", from.as_str())];
    let answer = request(desk.port, "GET", "/console/language?to=ja", &headers, "").await;
    assert_eq!(answer.header("location"), Some("/console/audit?tool=x"));
}

#[tokio::test]
async fn calls_are_on_the_overview_and_lead_to_their_record() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let id = waiting_booking(&desk).await;
    let overview = visitor.page("/console/").await.text();
    assert!(
        overview.contains(&format!("/console/approvals#{id}")),
        "{overview}"
    );
    assert!(
        overview.contains("aria-label=\"Cinema box office: "),
        "{overview}"
    );
    assert!(overview.contains("All is well"), "{overview}");
    // The agent, its timeline, a record, its approval.
    assert_eq!(visitor.decide(&id, "once").await.status, 200);
    let agents = visitor.page("/console/agents").await.text();
    assert!(
        agents.contains("/console/agents?caller=anonymous"),
        "{agents}"
    );
    let timeline = visitor.once_shown("/console/agents?caller=anonymous", "APPROVAL_REQUIRED");
    let timeline = timeline.await;
    assert!(timeline.contains("Reserve seats"), "{timeline}");
    assert!(timeline.contains("schedule_id"), "arguments: {timeline}");
    let record = between(&timeline, "href=\"/console/audit/record?", "\"").replace("&amp;", "&");
    let record = visitor
        .page(&format!("/console/audit/record?{record}"))
        .await;
    assert_eq!(record.status, 200);
    assert!(record.text().contains("seat_ids"), "{}", record.text());
    let approval = visitor
        .page(&format!("/console/approvals/one?id={id}"))
        .await;
    assert!(
        approval.text().contains("Reserve 1 seat(s)"),
        "{}",
        approval.text()
    );
}

#[tokio::test]
async fn a_key_of_the_configuration_leads_to_what_it_did() {
    let keys = configured_keys(&[("phone", "a key of the configuration")]);
    let desk = Desk::with_config(&keys).await;
    let visitor = Visitor::enter(&desk).await;
    let answer = desk
        .call_as(
            "a key of the configuration",
            "cinema",
            "get_movie_list",
            json!({}),
        )
        .await;
    assert_eq!(answer.status, 200);
    let agents = visitor.page("/console/agents").await.text();
    let caller = between(&agents, "href=\"/console/agents?caller=key%3Aphone", "\"");
    let timeline = format!("/console/agents?caller=key%3Aphone{caller}");
    visitor.once_shown(&timeline, "Movies now showing").await;
}

#[tokio::test]
async fn the_audit_is_filtered_paged_and_exported() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    for _ in 0..60 {
        desk.call("cinema", "get_movie_list", json!({})).await;
    }
    desk.call(
        "cinema",
        "get_seat_availability",
        json!({ "schedule_id": "none" }),
    )
    .await;
    let newest = "/console/audit?tool=get_seat_availability";
    visitor.once_shown(newest, "/console/audit/record?").await;
    let first = visitor
        .page("/console/audit?tool=get_movie_list")
        .await
        .text();
    let lines = |page: &str| page.matches("/console/audit/record?").count();
    assert_eq!(lines(&first), 50);
    let older = between(&first, "href=\"", "\" rel=\"next\"");
    let older = older
        .rsplit("href=\"")
        .next()
        .unwrap()
        .replace("&amp;", "&");
    let second = visitor.page(&older).await.text();
    assert_eq!(lines(&second), 10, "{older}");
    assert!(!second.contains("rel=\"next\""));
    // Tools are offered by the names that records have.
    assert!(
        second.contains("<option value=\"reminder.create\">"),
        "{second}"
    );
    let refused = visitor.page("/console/audit?outcome=refused").await.text();
    assert_eq!(lines(&refused), 1, "{refused}");
    let none = visitor.page("/console/audit?caller=nobody").await.text();
    assert!(none.contains("There are no such records."), "{none}");
    let odd = visitor.page("/console/audit?since=yesterday").await.text();
    assert!(odd.contains("is not a day"), "{odd}");
    // A file with all of them, for whoever has the token.
    let fields = [("tool", "get_movie_list")];
    let file = visitor.send("/console/audit/export", &fields).await;
    assert_eq!(file.header("content-type"), Some("application/x-ndjson"));
    let text = file.text();
    let records: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(records.len(), 60);
    assert!(records.iter().all(|it| it["tool"] == "get_movie_list"));
    let mut thief = visitor.at(&desk);
    thief.token = String::new();
    assert_eq!(
        thief.send("/console/audit/export", &fields).await.status,
        403
    );
}

#[tokio::test]
async fn a_person_calls_a_tool_without_being_asked_but_not_a_denied_one() {
    let config = "[approval]\nhold_seconds = 1\ntools = { \"cinema.reserve_seats\" = \"ask\", \
                  \"cinema.cancel_reservation\" = \"deny\" }\n";
    let desk = Desk::with_config(config).await;
    let visitor = Visitor::enter(&desk).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(&desk, schedule_id).await);
    let free: Vec<&String> = free.iter().collect();
    let seats = format!("{}\r\n{}\r\n", free[0], free[1]);
    let path = "/console/tools/cinema/reserve_seats";
    let form = visitor.page(path).await.text();
    assert!(
        form.contains("name=\"argument/date\" type=\"date\""),
        "{form}"
    );
    let fields = [
        ("argument/schedule_id", schedule_id),
        ("argument/seat_ids", &seats),
    ];
    let answer = visitor.send(path, &fields).await.text();
    assert!(answer.contains("reservation_id"), "{answer}");
    assert!(
        answer.contains("madoguchi call cinema reserve_seats"),
        "{answer}"
    );
    assert!(answer.contains("curl -sS "), "{answer}");
    assert!(!answer.contains("mdg_"), "{answer}");
    let taken = seats_of(&desk, schedule_id).await;
    assert!(!free_seats(&taken).contains(free[0]));
    // It is in the audit, and nobody was asked.
    let trail = visitor.page("/console/agents?caller=console").await.text();
    assert!(trail.contains("Reserve seats"), "{trail}");
    let asked = desk.place.run(&["approvals", "list", "--json"]).ok().json();
    assert_eq!(asked, json!([]));
    // An agent is asked, as before.
    let arguments = json!({ "schedule_id": schedule_id, "seat_ids": [free[2]] });
    let answer = desk.call("cinema", "reserve_seats", arguments).await;
    refused(&answer, "APPROVAL_REQUIRED");
    // What the configuration denies, it denies to everybody.
    let path = "/console/tools/cinema/cancel_reservation";
    let denied = visitor
        .send(path, &[("argument/reservation_id", "R1")])
        .await
        .text();
    assert!(denied.contains("DENIED"), "{denied}");
    // Without the token nothing is called.
    let mut thief = visitor.at(&desk);
    thief.token = "0".repeat(64);
    assert_eq!(thief.send(path, &fields).await.status, 403);
}

#[tokio::test]
async fn seats_are_booked_on_the_plan_of_the_hall() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(&desk, schedule_id).await);
    let free: Vec<&String> = free.iter().collect();
    let path = format!("/console/cinema?show={schedule_id}");
    let page = visitor.page(&path).await.text();
    let place = |seat: &str| format!("name=\"argument/seat_ids[]\" value=\"{seat}\"");
    for seat in &free {
        assert!(page.contains(&place(seat)), "{seat} in {page}");
    }
    let fixed = json!({ "schedule_id": schedule_id }).to_string();
    let fields = [
        ("tool", "reserve_seats"),
        ("fixed", &fixed),
        ("argument/seat_ids[]", free[0]),
        ("argument/seat_ids[]", free[1]),
    ];
    let mut thief = visitor.at(&desk);
    thief.token = "0".repeat(64);
    assert_eq!(thief.send(&path, &fields).await.status, 403);
    let done = visitor.send(&path, &fields).await.text();
    assert!(done.contains("Done."), "{done}");
    let taken = between(&done, &place(free[0]), ">");
    assert!(taken.contains("disabled"), "{taken}");
    // It says what was booked, and lists it.
    let seats = format!("{}, {}", free[0], free[1]);
    let found = [
        format!("Successfully reserved 2 seat(s): {seats}"),
        format!("aria-label=\"Cancel: {seats}\""),
    ];
    for found in found {
        assert!(done.contains(&found), "{found} in {done}");
    }
    let now = free_seats(&seats_of(&desk, schedule_id).await);
    assert!(!now.contains(free[0]) && !now.contains(free[1]) && now.contains(free[2]));
    // Once is once.
    let again = visitor.send(&path, &fields).await.text();
    assert!(
        again.contains("SEATS_TAKEN") || again.contains("role=\"alert\""),
        "{again}"
    );
}

#[tokio::test]
async fn keys_are_made_rotated_and_revoked() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let fields = [
        ("name", "phone <b>"),
        ("counter", "cinema"),
        ("tools", "get_movie_list"),
        ("read_only", "yes"),
    ];
    let made = visitor.send("/console/keys", &fields).await.text();
    assert!(made.contains("phone &lt;b&gt;"), "{made}");
    let key = format!("mdg_{}", between(&made, "mdg_", "<"));
    let works = async |key: &str| {
        let message = call(1, "get_movie_list", json!({}));
        desk.post("cinema", Some(key), &message).await.status == 200
    };
    assert!(works(&key).await);
    let page = visitor.page("/console/keys").await.text();
    assert!(!page.contains(&key), "it is shown once");
    let id = key.split('_').nth(1).unwrap();
    let fields = [("id", id), ("grace", "0")];
    let rotated = visitor.send("/console/keys/rotate", &fields).await.text();
    let second = format!("mdg_{}", between(&rotated, "mdg_", "<"));
    assert_ne!(second, key);
    assert!(works(&second).await && !works(&key).await);
    let revoked = visitor
        .send("/console/keys/revoke", &[("id", id)])
        .await
        .text();
    assert!(revoked.contains("is revoked"), "{revoked}");
    assert!(!works(&second).await);
    // What is wrong is said on the page.
    for (name, tools) in [("console", ""), ("", ""), ("x", "no_such_tool")] {
        let fields = [("name", name), ("tools", tools)];
        let wrong = visitor.send("/console/keys", &fields).await.text();
        assert!(wrong.contains("role=\"alert\""), "{name}: {wrong}");
        assert!(!wrong.contains("mdg_"), "{name}");
    }
}

#[tokio::test]
async fn settings_say_where_they_come_from_and_keep_secrets() {
    let secret = "a-secret-of-more-than-32-characters-for-sure";
    let config = format!("[identity]\nsecret = \"{secret}\"\n[audit]\nkeep_days = 12\n");
    let desk = Desk::with_config(&config).await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page("/console/settings").await.text();
    assert!(!page.contains(secret), "{page}");
    let of = |key: &str| {
        let row = between(&page, &format!("<code>{key}</code>"), "</tr>");
        row.to_owned()
    };
    assert!(of("keep_days").contains(">12<") && of("keep_days").contains(">file<"));
    assert!(
        of("hold_seconds").contains(">default<"),
        "{}",
        of("hold_seconds")
    );
}

#[tokio::test]
async fn hostile_texts_are_harmless_on_every_page() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let hostile = format!(
        "<script>alert(1)</script><svg onload=alert(1)>\u{202e}evil\u{200b}{}",
        "x".repeat(10_000)
    );
    let arguments = json!({ "schedule_id": hostile, "seat_ids": [hostile], "query": hostile });
    desk.call("cinema", "reserve_seats", arguments).await;
    let arguments = json!({ "room_name": "dev", "description": hostile });
    desk.call("rooms", "agent_communication_create_room", arguments)
        .await;
    for path in PAGES
        .into_iter()
        .chain(["/console/agents?caller=anonymous"])
    {
        let page = visitor.page(path).await.text();
        assert!(
            !page.contains("<script>alert") && !page.contains("<svg onload"),
            "{path}"
        );
        assert!(
            !page.contains('\u{202e}') && !page.contains('\u{200b}'),
            "{path}"
        );
        assert!(page.len() < 300_000, "{path}: {}", page.len());
    }
    // What a visitor enters themselves comes back as text too.
    let path = "/console/tools/cinema/reserve_seats";
    let fields = [
        ("argument/schedule_id", hostile.as_str()),
        ("argument/seat_ids", "A1"),
    ];
    let page = visitor.send(path, &fields).await.text();
    assert!(!page.contains("<script>alert") && !page.contains("<svg onload"));
}

/// People in a browser: every page is looked at, and some are used.
pub async fn in_a_browser(browser: Browser, cases: &str) {
    let desk = asking_desk().await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(&desk, schedule_id).await);
    let free: Vec<&String> = free.iter().collect();
    let id = waiting_booking(&desk).await;
    let url = desk.url("");
    let arguments = [cases, url.as_str(), schedule_id, free[1]];
    let script = "console_pages.mjs";
    let output = clients::in_browser(browser, &desk.place, script, &arguments).await;
    output.ok();
    assert_eq!(status_of(&desk, &id), "pending");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_use_the_pages_in_a_browser() {
    in_a_browser(Browser::Chromium, "using").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn pages_are_accessible_in_a_browser() {
    in_a_browser(Browser::Chromium, "looking").await;
}
