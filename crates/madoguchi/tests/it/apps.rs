//! MCP Apps: which clients see views, who may read them, and what people do with them
//! in a client that shows them.

use serde_json::{Value, json};

use crate::harness::{
    Desk, Pipe,
    clients::{self, Browser},
    configured_keys, free_seats, initialize, initialized, mentions, modern, plain, result,
    seats_of, show_to_book,
};

const VIEWS: [(&str, &str, &str); 4] = [
    ("cinema", "get_seat_availability", "ui://cinema/seats"),
    ("merchant", "get_cart_mandate", "ui://merchant/cart"),
    ("todo", "list_tasks", "ui://todo/board"),
    ("innervoice", "calendar_list", "ui://innervoice/week"),
];

const APPROVAL: &str = "ui://madoguchi/approval";
const KEY: &str = "mdg_a_key_for_the_views_of_all_counters_000000";

fn extension() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": {
        "mimeTypes": ["text/html;profile=mcp-app"]
    } } })
}

async fn desk(more: &str) -> Desk {
    Desk::with_config(&format!("{more}\n{}", configured_keys(&[("all", KEY)]))).await
}

/// A request of a client that shows views.
async fn showing(desk: &Desk, counter: &str, method: &str, params: Value) -> Value {
    let mut message = modern(1, method, params);
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = extension();
    desk.post(counter, Some(KEY), &message).await.message()
}

async fn not_showing(desk: &Desk, counter: &str, method: &str) -> Value {
    let message = modern(1, method, json!({}));
    desk.post(counter, Some(KEY), &message).await.message()
}

fn tool<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut tools = result(list)["tools"].as_array().unwrap().iter();
    tools.find(|tool| tool["name"] == name).unwrap()
}

fn addresses(list: &Value) -> Vec<&str> {
    let resources = result(list)["resources"].as_array().unwrap().iter();
    let all = resources.map(|one| one["uri"].as_str().unwrap());
    all.filter(|uri| uri.starts_with("ui://")).collect()
}

#[tokio::test]
async fn clients_that_show_views_find_one_for_each_counter() {
    let desk = desk("").await;
    for (counter, name, uri) in VIEWS {
        let list = showing(&desk, counter, "tools/list", json!({})).await;
        assert_eq!(tool(&list, name)["_meta"]["ui"]["resourceUri"], uri);
        assert_eq!(result(&list)["cacheScope"], "private");
        // A cursor or a progress token takes the other path through the program.
        let asked = json!({ "_meta": { "progressToken": 1 } });
        let other = showing(&desk, counter, "tools/list", asked).await;
        assert_eq!(result(&other)["tools"], result(&list)["tools"], "{counter}");

        let list = showing(&desk, counter, "resources/list", json!({})).await;
        assert!(addresses(&list).contains(&uri), "{list}");
        let read = showing(&desk, counter, "resources/read", json!({ "uri": uri })).await;
        let contents = &result(&read)["contents"][0];
        assert_eq!(contents["mimeType"], "text/html;profile=mcp-app");
        let csp = json!({ "connectDomains": [], "resourceDomains": [] });
        assert_eq!(contents["_meta"]["ui"]["csp"], csp);
        let page = contents["text"].as_str().unwrap();
        mentions(page, &["<!DOCTYPE html>", "script-src 'sha256-", "draw = "]);
        for outside in [
            "http:",
            "https:",
            "src=",
            "@import",
            "url(",
            "innerHTML",
            "eval(",
        ] {
            assert!(!page.contains(outside), "{uri} has {outside}");
        }
        assert!(page.len() < 40_000, "{uri}: {}", page.len());

        let discovered = showing(&desk, counter, "server/discover", json!({})).await;
        let capabilities = &result(&discovered)["capabilities"];
        assert_eq!(
            capabilities["extensions"]["io.modelcontextprotocol/ui"],
            json!({})
        );
    }
}

#[tokio::test]
async fn other_clients_see_nothing_of_views() {
    let desk = desk("").await;
    for (counter, name, _) in VIEWS {
        let list = not_showing(&desk, counter, "tools/list").await;
        assert_eq!(tool(&list, name).get("_meta"), None, "{counter}");
        assert!(!list.to_string().contains("ui://"), "{counter}");
        let list = not_showing(&desk, counter, "resources/list").await;
        match counter {
            // It has views alone.
            "merchant" => assert_eq!(list["error"]["code"], -32601, "{list}"),
            _ => assert!(addresses(&list).is_empty(), "{list}"),
        }
        let discovered = not_showing(&desk, counter, "server/discover").await;
        assert_eq!(result(&discovered)["capabilities"].get("extensions"), None);
    }
}

#[tokio::test]
async fn a_client_of_the_handshake_era_declares_it_once() {
    let desk = desk("").await;
    for declared in [extension(), json!({})] {
        let shows = declared != json!({});
        let mut pipe: Pipe = desk.stdio("cinema", None);
        let mut hello = initialize(1, "2025-11-25");
        hello["params"]["capabilities"] = declared;
        let agreed = pipe.request(&hello);
        let capabilities = &result(&agreed)["capabilities"];
        assert_eq!(capabilities.get("extensions").is_some(), shows);
        pipe.send(&initialized());
        let list = pipe.request(&plain(2, "tools/list", json!({})));
        let view = &tool(&list, "hold_seats")["_meta"]["ui"]["resourceUri"];
        assert_eq!(*view == "ui://cinema/seats", shows, "{view}");
        let list = pipe.request(&plain(3, "resources/list", json!({})));
        assert_eq!(!addresses(&list).is_empty(), shows, "{list}");
    }
}

#[tokio::test]
async fn a_view_is_for_those_who_may_use_one_of_its_tools() {
    let desk = desk("[approval]\ntools = { \"cinema.cancel_reservation\" = \"ask\" }\n").await;
    let made = |name: &str, tools: &str| {
        let words = [
            "keys",
            "create",
            name,
            "--counter",
            "cinema",
            "--tool",
            tools,
            "--json",
        ];
        let made = desk.place.run(&words).ok().json();
        made["key"].as_str().unwrap().to_owned()
    };
    let (sees, other) = (made("sees", "hold_seats"), made("other", "get_movie_list"));
    for (key, uri, may) in [
        (&sees, "ui://cinema/seats", true),
        (&other, "ui://cinema/seats", false),
        (&sees, APPROVAL, false),
        (&sees, "ui://cinema/unknown", false),
        (&sees, "ui://todo/board", false),
    ] {
        let read = modern(1, "resources/read", json!({ "uri": uri }));
        let answer = desk.post("cinema", Some(key), &read).await.message();
        assert_eq!(answer.get("result").is_some(), may, "{uri}: {answer}");
        let mut list = modern(1, "resources/list", json!({}));
        list["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = extension();
        let list = desk.post("cinema", Some(key), &list).await.message();
        assert_eq!(addresses(&list).contains(&uri), may, "{uri}: {list}");
    }
    // What is asked about has the view that leads to the console.
    let list = showing(&desk, "cinema", "tools/list", json!({})).await;
    let asked = &tool(&list, "cancel_reservation")["_meta"]["ui"]["resourceUri"];
    assert_eq!(asked, APPROVAL);
    assert!(
        addresses(&showing(&desk, "cinema", "resources/list", json!({})).await).contains(&APPROVAL)
    );
}

/// The views in Chromium: in a host of a few lines, and in the official Inspector.
async fn in_a_browser(cases: &str) {
    let asks = "[approval]\ntools = { \"cinema.get_movie_list\" = \"ask\" }\nhold_seconds = 1\n";
    let desk = desk(asks).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free: Vec<String> = free_seats(&seats_of(&desk, schedule_id).await)
        .into_iter()
        .collect();
    let url = desk.url("");
    let arguments = [cases, url.as_str(), schedule_id, &free[0], &free[1], KEY];
    let output = clients::in_browser(Browser::Chromium, &desk.place, "apps.mjs", &arguments).await;
    let said = output.ok().stdout;
    // What was picked there is found through the API.
    let seats = free_seats(&seats_of(&desk, schedule_id).await);
    assert!(!seats.contains(&free[0]), "{said}");
    let booked: Value = serde_json::from_str(said.trim()).unwrap();
    let arguments = json!({ "reservation_id": booked["reservation_id"] });
    let found = desk
        .ok("cinema", "get_reservation_details", arguments)
        .await;
    assert_eq!(found["reservation"]["status"], booked["status"], "{found}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_use_every_view_in_a_browser() {
    in_a_browser("views").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_are_picked_in_the_official_inspector() {
    in_a_browser("inspector").await;
}
