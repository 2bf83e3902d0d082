//! The pages of the shop and of InnerVoice: what they show, to whom, and what people
//! change there.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    counter_pages::press,
    visitor::{HTML, Visitor, between},
};
use crate::harness::{
    Desk,
    clients::{self, Browser},
    request, structured,
};

/// Nobody is asked, so that agents can fill the pages.
const ALLOWS: &str = "[approval]\ntools = { \"innervoice.calendar_create\" = \"allow\", \
    \"innervoice.message_send\" = \"allow\", \"innervoice.reminder_create\" = \"allow\" }\n";

/// What agents may write, at its worst.
fn hostile() -> String {
    format!(
        "<script>alert(1)</script><svg onload=alert(1)>\u{202e}evil\u{200b}{}",
        "x".repeat(300)
    )
}

async fn agent(desk: &Desk, key: &str, tool: &str, arguments: Value) -> Value {
    let answer = desk.call_as(key, "innervoice", tool, arguments).await;
    let message = answer.message();
    structured(&message["result"]).clone()
}

fn stock_form<'a>(fixed: &'a str, count: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("tool", "update_inventory"),
        ("fixed", fixed),
        ("argument/inventory_count", count),
        ("argument/reason", "counted"),
    ]
}

#[tokio::test]
async fn stock_is_changed_by_a_person_and_the_audit_says_so() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let path = "/console/merchant?product=1";
    let page = visitor.page(path).await.text();
    assert!(page.contains("Mugibo Calendar 2025"), "{page}");
    assert!(page.contains("value=\"50\" min=\"0\""), "{page}");
    let fixed = json!({ "product_id": 1 }).to_string();
    let mut thief = visitor.at(&desk);
    thief.token = "0".repeat(64);
    assert_eq!(thief.send(path, &stock_form(&fixed, "0")).await.status, 403);
    let done = visitor.send(path, &stock_form(&fixed, "41")).await.text();
    assert!(done.contains("Done.") && done.contains("50 → 41"), "{done}");
    assert!(done.contains("value=\"41\" min=\"0\""), "{done}");
    let stock = desk.ok("merchant", "check_inventory", json!({ "product_ids": [1] }));
    assert_eq!(stock.await["inventory"]["1"], 41);
    let trail = visitor.page("/console/agents?caller=console").await.text();
    assert!(trail.contains("Update inventory"), "{trail}");
    // What can't be is said, and nothing changes.
    let wrong = visitor.send(path, &stock_form(&fixed, "-1")).await.text();
    assert!(wrong.contains("role=\"alert\""), "{wrong}");
    let japanese = [
        HTML,
        ("cookie", visitor.cookie.as_str()),
        ("x-console-form", visitor.token.as_str()),
        ("accept-language", "ja"),
    ];
    let page = request(desk.port, "GET", path, &japanese, "").await.text();
    assert!(
        page.contains("1,980円") && page.contains("在庫を変更"),
        "{page}"
    );
}

/// People know their agents by name. A key that is revoked keeps its name.
#[tokio::test]
async fn pages_say_by_name_who_made_something() {
    let desk = Desk::with_config(ALLOWS).await;
    let visitor = Visitor::enter(&desk).await;
    let key = desk.place.create_key(&["kitchen <b>radio"]);
    let id = key.split('_').nth(1).unwrap();
    let reminder = json!({ "time": "+30m", "note": "tea" });
    agent(&desk, &key, "reminder_create", reminder).await;
    let link = format!("href=\"/console/agents?caller=key%3A{id}\">");
    for _ in 0..2 {
        let page = visitor.page("/console/innervoice").await.text();
        let reminders = between(&page, "Made by", "</table>");
        let (_, by) = reminders
            .split_once(&link)
            .unwrap_or_else(|| panic!("{reminders}"));
        assert!(
            by.starts_with("<bdi>kitchen &lt;b&gt;radio</bdi></a>"),
            "{by}"
        );
        visitor.send("/console/keys/revoke", &[("id", id)]).await;
    }
}

#[tokio::test]
async fn what_the_configuration_denies_is_denied_to_people_too() {
    let config = "[approval]\ntools = { \"merchant.update_inventory\" = \"deny\", \
                  \"innervoice.message_cancel\" = \"deny\", \"innervoice.message_send\" = \"allow\" }\n";
    let desk = Desk::with_config(config).await;
    let visitor = Visitor::enter(&desk).await;
    let fixed = json!({ "product_id": 1 }).to_string();
    let path = "/console/merchant?product=1";
    let denied = visitor.send(path, &stock_form(&fixed, "41")).await.text();
    assert!(denied.contains("DENIED"), "{denied}");
    let key = desk.place.create_key(&["phone"]);
    let message = json!({ "to": "a@example.com", "text": "hello" });
    let sent = agent(&desk, &key, "message_send", message).await;
    let fixed = json!({ "id": sent["id"] }).to_string();
    let fields = [("tool", "message.cancel"), ("fixed", fixed.as_str())];
    let denied = visitor.send("/console/innervoice", &fields).await.text();
    assert!(denied.contains("DENIED"), "{denied}");
    let listed = agent(&desk, &key, "message_list", json!({})).await;
    assert_eq!(listed["messages"][0]["status"], "queued");
}

#[tokio::test]
async fn a_cart_mandate_is_read_as_a_receipt() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let items = json!([{ "product_id": 1, "quantity": 2 }, { "product_id": 5, "quantity": 1 }]);
    let built = desk.ok(
        "merchant",
        "build_cart_mandates",
        json!({ "cart_plan": { "items": items }, "products": [] }),
    );
    let built = built.await;
    let id = built["cart_mandate"]["contents"]["id"].as_str().unwrap();
    let list = visitor.page("/console/merchant").await.text();
    assert!(list.contains(&format!("cart={id}")), "{list}");
    let page = visitor.page(&format!("/console/merchant?cart={id}")).await;
    let page = page.text();
    let receipt = between(&page, "class=\"receipt\"", "</section>");
    for expected in [
        "Demo Merchant",
        "¥3,960",
        "¥746",
        "¥8,206",
        "no signing key",
        id,
    ] {
        assert!(receipt.contains(expected), "{expected} in {receipt}");
    }
}

#[tokio::test]
async fn the_page_of_innervoice_is_its_owners() {
    let desk = Desk::with_config(ALLOWS).await;
    let visitor = Visitor::enter(&desk).await;
    let key = desk.place.create_key(&["phone"]);
    let message = json!({ "to": "a@example.com", "text": "a secret text" });
    let sent = agent(&desk, &key, "message_send", message).await;
    let event = json!({ "title": "run", "start": "2026-11-17T07:00+09:00", "duration_min": 30 });
    agent(&desk, &key, "calendar_create", event).await;
    let path = "/console/innervoice?on=2026-11-17";
    let page = visitor.page(path).await.text();
    assert!(
        page.contains("a secret text") && page.contains("07:00"),
        "{page}"
    );
    // Neither the agent's key nor the cookie alone opens it.
    let bearer = format!("Bearer {key}");
    let headers = [HTML, ("authorization", bearer.as_str())];
    let agents = request(desk.port, "GET", path, &headers, "").await;
    assert_eq!(agents.status, 403);
    let cookie = visitor.get(path).await.text();
    assert!(!cookie.contains("a secret text"), "{cookie}");
    // In the zone of the reader, with the counter's beside it.
    let cookies = format!("{}; madoguchi_zone=America/New_York", visitor.cookie);
    let headers = [
        HTML,
        ("cookie", &cookies),
        ("x-console-form", &visitor.token),
    ];
    let abroad = request(desk.port, "GET", path, &headers, "").await.text();
    assert!(abroad.contains("17:00–17:30"), "{abroad}");
    assert!(abroad.contains("Tue 17 07:00 Tokyo"), "{abroad}");
    // The button belongs to its row, wherever that is when something else arrives.
    let id = sent["id"].as_str().unwrap();
    assert!(
        page.contains(&format!("<tr role=\"row\" id=\"row-{id}\">")),
        "{page}"
    );
    // What waits is taken back.
    let fixed = json!({ "id": sent["id"] }).to_string();
    let fields = [("tool", "message.cancel"), ("fixed", fixed.as_str())];
    let done = visitor.send(path, &fields).await.text();
    assert!(
        done.contains("Done.") && done.contains("Taken back"),
        "{done}"
    );
    let listed = agent(&desk, &key, "message_list", json!({})).await;
    assert_eq!(listed["messages"][0]["status"], "cancelled");
    let trail = visitor.page("/console/agents?caller=console").await.text();
    assert!(trail.contains("Take back message"), "{trail}");
}

#[tokio::test]
async fn events_and_reminders_are_made_and_cancelled_on_the_page() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let path = "/console/innervoice";
    let in_a_moment = jiff::Timestamp::now() + std::time::Duration::from_secs(2);
    let in_a_moment = in_a_moment.to_string();
    for (note, time) in [
        ("Water the plants", "tomorrow at 9am"),
        ("Look up", &in_a_moment),
    ] {
        let fields = [("argument/note", note), ("argument/time", time)];
        let made = press(&visitor, path, "reminder.create", json!({}), &fields).await;
        assert!(made.contains(note) && made.contains("Done."), "{made}");
    }
    let page = visitor.page(path).await.text();
    let (before, _) = page.split_once("Cancel: Water the plants").unwrap();
    let (_, button) = before.rsplit_once("&quot;id&quot;:&quot;").unwrap();
    let (id, _) = button.split_once("&quot;").unwrap();
    let done = press(&visitor, path, "reminder.cancel", json!({ "id": id }), &[]).await;
    assert!(!done.contains("Cancel: Water the plants"), "{done}");
    // Whoever looks at the page learns what has fired.
    let mut fired = String::new();
    for _ in 0..200 {
        fired = visitor.page(path).await.text();
        if fired.contains("Fired lately") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let shown = between(&fired, "Fired lately", "</table>");
    assert!(shown.contains("Look up"), "{fired}");

    let fields = [
        ("argument/title", "Run"),
        ("argument/start", "2030-05-02 07:00"),
        ("argument/duration_min", "1h 30m"),
    ];
    press(&visitor, path, "calendar.create", json!({}), &fields).await;
    let week = visitor.page("/console/innervoice?on=2030-05-02").await;
    let week = week.text();
    assert!(week.contains("07:00"), "{week}");
    let event = between(&week, "event=", "\"");
    let event = event.split('&').next().unwrap();
    let path = format!("/console/innervoice?event={event}");
    let page = visitor.page(&path).await.text();
    assert!(page.contains("Cancel the event"), "{page}");
    let done = press(
        &visitor,
        &path,
        "calendar.cancel",
        json!({ "id": event }),
        &[],
    )
    .await;
    assert!(!done.contains("Cancel the event"), "{done}");
}

/// Products, events, reminders and messages with hostile texts, and the desk that has
/// them; the agent's key, and the day of the events.
async fn filled() -> (Desk, String, String) {
    let desk = Desk::with_config(ALLOWS).await;
    let key = desk.place.create_key(&["phone"]);
    let hostile = hostile();
    let product = json!([{ "id": 900, "name": hostile, "description": "y".repeat(10_000),
        "price_jpy": 1, "inventory_count": 3, "keywords": hostile }]);
    let file = desk.place.file("shop.json", &product.to_string());
    desk.place
        .run(&["import", "merchant", file.to_str().unwrap()])
        .ok();
    let tokyo = kit::time::zone("Asia/Tokyo").unwrap();
    let day = jiff::Timestamp::now().to_zoned(tokyo).date();
    let day = day.tomorrow().unwrap().to_string();
    let at = |hour: &str| format!("{day}T{hour}:00+09:00");
    for (tool, arguments) in [
        (
            "calendar_create",
            json!({ "title": "review", "start": at("15"), "duration_min": 60,
                "description": format!("{hostile}\n{}", "z".repeat(9_000)) }),
        ),
        (
            "calendar_create",
            json!({ "title": hostile, "start": at("17"), "duration_min": 60, "location": hostile }),
        ),
        (
            "reminder_create",
            json!({ "time": at("18"), "note": hostile }),
        ),
        (
            "message_send",
            json!({ "to": "a@example.com", "subject": "<b>", "text": format!("{hostile}{}", "w".repeat(9_000)) }),
        ),
        (
            "message_send",
            json!({ "to": "b@example.com, c@example.com", "text": "see you" }),
        ),
    ] {
        let answer = agent(&desk, &key, tool, arguments).await;
        assert_eq!(answer["status"], "ok", "{answer}");
    }
    (desk, key, day)
}

#[tokio::test]
async fn hostile_texts_are_harmless_in_the_shop_and_the_calendar() {
    let (desk, key, day) = filled().await;
    let visitor = Visitor::enter(&desk).await;
    let listed = agent(&desk, &key, "message_list", json!({})).await;
    let message = listed["messages"][2]["id"].as_str().unwrap();
    let events = agent(&desk, &key, "calendar_list", json!({ "from": day })).await;
    let event = events["events"][0]["id"].as_str().unwrap();
    for path in [
        "/console/merchant?q=evil".to_owned(),
        "/console/merchant?product=900".to_owned(),
        "/console/merchant?q=%3Cscript%3Ealert(1)%3C/script%3E".to_owned(),
        format!("/console/innervoice?on={day}"),
        format!("/console/innervoice?view=month&on={day}&event={event}"),
        format!("/console/innervoice?message={message}"),
        "/console/innervoice?who=%3Csvg%20onload%3Dalert(1)%3E".to_owned(),
    ] {
        let page = visitor.page(&path).await;
        let text = page.text();
        assert_eq!(page.status, 200, "{path}: {text}");
        assert!(
            !text.contains("<script>alert") && !text.contains("<svg onload"),
            "{path}: {text}"
        );
        assert!(
            !text.contains('\u{202e}') && !text.contains('\u{200b}'),
            "{path}"
        );
        assert!(text.len() < 100_000, "{path}: {}", text.len());
    }
    let path = format!("/console/innervoice?message={message}");
    let whole = visitor.page(&path).await.text();
    assert!(whole.contains(&"w".repeat(9_000)), "{whole}");
}

pub async fn in_a_browser(browser: Browser, cases: &str) {
    let (desk, key, day) = filled().await;
    let url = desk.url("");
    let arguments = [cases, url.as_str(), key.as_str(), day.as_str()];
    let output = clients::in_browser(browser, &desk.place, "console_shop.mjs", &arguments).await;
    output.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_use_the_shop_and_the_calendar_in_a_browser() {
    in_a_browser(Browser::Chromium, "using").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_shop_and_the_calendar_are_accessible_in_a_browser() {
    in_a_browser(Browser::Chromium, "looking").await;
}
