//! What is said where there is nothing yet, and how much is said at once.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::{Pipe, Place, call, result};

/// Answers of one call on stdio and by `madoguchi call`.
fn answers(place: &Place, counter: &str, tool: &str, arguments: &Value) -> [Value; 2] {
    let mut pipe = Pipe::start(place.command().args(["stdio", counter]));
    let answer = pipe.request(&call(1, tool, arguments.clone()));
    let said = result(&answer)["structuredContent"].clone();
    let text = arguments.to_string();
    let printed = place.run(&["call", counter, tool, &text]).ok().json();
    [said, printed]
}

#[tokio::test]
async fn an_empty_store_says_what_to_do_first() {
    let place = Place::new();
    for (counter, tool, arguments, step) in [
        (
            "cinema",
            "get_movie_list",
            json!({}),
            "madoguchi demo load cinema",
        ),
        (
            "cinema",
            "get_movie_list",
            json!({ "search_query": "銀河" }),
            "madoguchi demo load cinema",
        ),
        (
            "cinema",
            "find_best_seats",
            json!({ "party_size": 2 }),
            "madoguchi demo load cinema",
        ),
        (
            "merchant",
            "search_products",
            json!({ "keywords": [] }),
            "madoguchi demo load merchant",
        ),
        (
            "merchant",
            "search_products",
            json!({ "keywords": ["x"], "brand": ["y"] }),
            "madoguchi demo load merchant",
        ),
        ("innervoice", "calendar_list", json!({}), "calendar_create"),
        ("innervoice", "reminder_list", json!({}), "reminder_create"),
        ("innervoice", "message_list", json!({}), "message_send"),
        (
            "innervoice",
            "contacts_search",
            json!({}),
            "madoguchi import innervoice",
        ),
        ("todo", "list_tasks", json!({}), "create_task"),
        ("todo", "list_adrs", json!({}), "create_adr"),
        ("todo", "next_tasks", json!({}), "create_task"),
        ("todo", "search", json!({ "query": "x" }), "create_task"),
        ("rooms", "list_rooms", json!({}), "create_room"),
        ("rooms", "get_status", json!({}), "create_room"),
        (
            "rooms",
            "search_messages",
            json!({ "query": "x" }),
            "create_room",
        ),
    ] {
        for said in answers(&place, counter, tool, &arguments) {
            // InnerVoice's messages are read out, so its details have the step.
            let place = if counter == "innervoice" {
                "details"
            } else {
                "message"
            };
            let shown = said[place].to_string();
            assert!(shown.contains(step), "{counter} {tool}: {said}");
        }
    }
}

#[tokio::test]
async fn a_refusal_in_an_empty_store_says_what_to_do_first_and_that_helps() {
    let place = Place::new();
    for (counter, tool, arguments) in [
        (
            "cinema",
            "get_show_schedule",
            r#"{"movie_id": "M001", "date": "2030-01-07"}"#,
        ),
        (
            "cinema",
            "get_seat_availability",
            r#"{"schedule_id": "S1"}"#,
        ),
        ("merchant", "get_product", r#"{"product_id": 1}"#),
    ] {
        let printed = place.run(&["call", counter, tool, arguments]);
        let step = format!("madoguchi demo load {counter}");
        assert!(printed.stdout.contains(&step), "{tool}: {printed:?}");
    }
    let send = r#"{"to": "Tanaka", "text": "Hello there"}"#;
    let printed = place.run(&["call", "innervoice", "message_send", send]);
    let step = "madoguchi import innervoice FILE";
    assert!(printed.stdout.contains(step), "{printed:?}");
    // The step that was named helps.
    place.load_demo_of("cinema", &[]);
    for said in answers(&place, "cinema", "get_movie_list", &json!({})) {
        assert_ne!(said["movies"], json!([]));
        assert_eq!(said.get("message"), None, "{said}");
    }
    let none = json!({ "search_query": "存在しない" });
    for said in answers(&place, "cinema", "get_movie_list", &none) {
        let message = said["message"].as_str().unwrap();
        assert!(!message.contains("demo load"), "{message}");
    }
}

#[tokio::test]
async fn a_page_of_products_ends_before_the_answer_is_too_large() {
    let place = Place::new();
    let mut rows = String::from("id,sku,name,description,price_jpy,inventory_count\n");
    for id in 1..=1_000 {
        let about = "とても便利な商品です。".repeat(10);
        writeln!(rows, "{id},S-{id},棚 {id},{about},100,5").unwrap();
    }
    let file = place.file("products.csv", &rows);
    place
        .run(&["import", "merchant", file.to_str().unwrap()])
        .ok();
    let mut pipe = Pipe::start(place.command().args(["stdio", "merchant"]));
    // A list, what a search finds, and what is shown where it finds nothing.
    for keywords in [json!([]), json!(["棚"]), json!(["zzzzqqqq"])] {
        let mut arguments = json!({ "keywords": keywords, "limit": 1_000 });
        let mut ids = Vec::new();
        loop {
            let answer = pipe.request(&call(1, "search_products", arguments.clone()));
            let size = answer.to_string().len();
            assert!(size < 256_000, "{keywords}: {size} bytes");
            let said = &result(&answer)["structuredContent"];
            let is_fallback = said.get("fallback").is_some();
            assert_eq!(is_fallback, keywords == json!(["zzzzqqqq"]), "{keywords}");
            let products = said["products"].as_array().unwrap();
            ids.extend(products.iter().map(|one| one["id"].as_i64().unwrap()));
            let Some(cursor) = said.get("next_cursor") else {
                break;
            };
            assert_eq!(said["warnings"][0]["code"], "PAGE_CUT");
            arguments["cursor"] = cursor.clone();
        }
        ids.sort_unstable();
        assert_eq!(ids, (1..=1_000).collect::<Vec<i64>>(), "{keywords}");
    }
}
