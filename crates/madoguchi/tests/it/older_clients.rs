//! Clients that were written for the programs the counters' documents come from.
//! They leave out what the protocol wants and nobody needed then.

use serde_json::{Value, json};

use crate::harness::{
    Desk, LEGACY, Pipe, Socket, configured_keys, modern, plain, plain_call, request, result,
    structured,
};

const COUNTERS: [&str; 5] = ["cinema", "innervoice", "merchant", "todo", "rooms"];

/// The shop's own agent. It posts JSON-RPC to the bare base URL, names no
/// capabilities, never says that it is initialized, and reads the text of the
/// first block as JSON.
struct ShopAgent<'a> {
    desk: &'a Desk,
    requests: u64,
}

impl ShopAgent<'_> {
    async fn post(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let body = plain(self.requests, method, params).to_string();
        let headers = [("accept", "application/json")];
        let answer = request(self.desk.own_port, "POST", "/", &headers, body).await;
        assert_eq!(answer.status, 200, "{method}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let message: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(message["id"], self.requests);
        result(&message).clone()
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.post("tools/call", params).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        serde_json::from_str(text).unwrap()
    }
}

#[tokio::test]
async fn the_shops_own_agent_searches_checks_and_builds_three_carts() {
    let desk = Desk::setup().own_port("--merchant-port").start().await;
    let mut agent = ShopAgent {
        desk: &desk,
        requests: 0,
    };
    let client = json!({ "name": "merchant_agent", "version": "1.0.0" });
    let hello = json!({ "protocolVersion": "2025-03-26", "clientInfo": client });
    let about = agent.post("initialize", hello).await;
    assert_eq!(about["protocolVersion"], "2025-03-26");
    assert_eq!(about["serverInfo"]["name"], "merchant_agent_mcp");

    let search = json!({ "keywords": ["むぎぼー"], "limit": 10 });
    let found = agent.call("search_products", search).await;
    let products = found["products"].as_array().unwrap();
    assert!(products.len() >= 3, "{found}");
    let ids: Vec<&Value> = products.iter().map(|product| &product["id"]).collect();
    let stock = agent
        .call("check_inventory", json!({ "product_ids": ids }))
        .await;
    for product in products {
        let in_stock = &stock["inventory"][product["id"].to_string()];
        assert_eq!(in_stock, &product["inventory_count"], "{stock}");
    }

    let address = json!({
        "recipient": "山田太郎",
        "addressLine": ["東京都渋谷区1-2-3"],
        "city": "渋谷区",
        "country": "JP",
        "postalCode": "150-0001",
    });
    for product in products.iter().take(3) {
        let plan = json!({ "items": [{ "product_id": product["id"], "quantity": 1 }] });
        let cart = json!({
            "cart_plan": plan,
            "products": products,
            "shipping_address": address,
        });
        let cart = agent.call("build_cart_mandates", cart).await;
        let mandate = &cart["cart_mandate"];
        let metadata = &mandate["contents"]["metadata"];
        let number = |value: &Value| value.as_f64().unwrap();
        let sum: f64 = ["subtotal", "shipping_fee", "tax"]
            .iter()
            .map(|part| number(&metadata[part]))
            .sum();
        assert_eq!(number(&mandate["contents"]["total"]["value"]), sum);
        assert_eq!(metadata["subtotal"], product["price_jpy"]);
        // The shop behind the agent looks for the goods here.
        assert_eq!(mandate["_metadata"]["raw_items"], metadata["raw_items"]);
        assert_eq!(metadata["raw_items"][0]["product_id"], product["id"]);
    }
}

#[tokio::test]
async fn the_goods_stand_beside_the_contents_in_the_documents_format_alone() {
    let desk = Desk::start().await;
    let cart = |format: &str| {
        json!({
            "cart_plan": { "items": [{ "product_id": 1, "quantity": 2 }] },
            "products": [],
            "format": format,
        })
    };
    for (format, is_there) in [("flat", true), ("ap2-0.1", false)] {
        let built = desk
            .call("merchant", "build_cart_mandates", cart(format))
            .await;
        let mandate = &structured(&built)["cart_mandate"];
        assert_eq!(mandate.get("_metadata").is_some(), is_there, "{mandate}");
    }
}

/// Handshakes that leave out what their client can do, or who it is.
fn short_handshakes() -> Vec<Value> {
    let hello = |params: Value| plain(1, "initialize", params);
    vec![
        hello(json!({ "protocolVersion": LEGACY, "clientInfo": { "name": "a", "version": "1" } })),
        hello(json!({ "protocolVersion": LEGACY, "capabilities": {} })),
        hello(
            json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "a" } }),
        ),
        hello(json!({ "protocolVersion": LEGACY, "clientInfo": { "version": "1" } })),
        hello(json!({ "protocolVersion": LEGACY, "capabilities": null, "clientInfo": null })),
        hello(json!({ "protocolVersion": LEGACY })),
    ]
}

#[track_caller]
fn is_welcome(on: &str, answer: &Value) {
    assert_eq!(
        answer["result"]["protocolVersion"], LEGACY,
        "{on}: {answer}"
    );
}

#[tokio::test]
async fn a_handshake_may_leave_out_capabilities_and_client_on_every_transport() {
    let keys = configured_keys(&[("phone", "phone key")]);
    let shop = Desk::setup().own_port("--merchant-port").start().await;
    let voice = Desk::setup()
        .own_port("--innervoice-port")
        .config(&keys)
        .start()
        .await;
    for hello in short_handshakes() {
        let text = hello.to_string();
        for (port, path) in [(shop.port, "/mcp/cinema"), (shop.own_port, "/mcp")] {
            let answer = request(port, "POST", path, &[], text.clone()).await;
            is_welcome("a session", &answer.message());
            let id = answer.header("mcp-session-id").expect("a session");
            let headers = [("mcp-session-id", id), ("mcp-protocol-version", LEGACY)];
            let list = plain(2, "tools/list", json!({})).to_string();
            let answer = request(port, "POST", path, &headers, list).await;
            assert!(result(&answer.message())["tools"].is_array());

            let accept = [("accept", "application/json")];
            let answer = request(port, "POST", path, &accept, text.clone()).await;
            is_welcome("no session", &answer.message());
        }
        let mut socket = Socket::open(&shop, "cinema").await;
        is_welcome("a socket", &socket.request(&hello).await);
        let mut socket = Socket::own_port(&voice, "phone key").await;
        is_welcome("InnerVoice's own port", &socket.request(&hello).await);
        let mut pipe = Pipe::start(shop.place.command().args(["stdio", "cinema"]));
        is_welcome("stdio", &pipe.request(&hello));
        let list = pipe.request(&plain(2, "tools/list", json!({})));
        assert!(result(&list)["tools"].is_array());
    }
}

/// What is there must have its form.
#[tokio::test]
async fn a_handshake_with_something_wrong_is_still_refused() {
    let desk = Desk::start().await;
    for params in [
        json!({ "clientInfo": { "name": "a", "version": "1" } }),
        json!({ "protocolVersion": LEGACY, "clientInfo": "me" }),
        json!({ "protocolVersion": LEGACY, "capabilities": [] }),
    ] {
        let hello = plain(1, "initialize", params);
        let body = hello.to_string();
        let over_http = request(desk.port, "POST", "/mcp/cinema", &[], body).await;
        let mut pipe = Pipe::start(desk.place.command().args(["stdio", "cinema"]));
        for answer in [over_http.message(), pipe.request(&hello)] {
            assert_eq!(answer["error"]["code"], -32602, "{hello}: {answer}");
        }
    }
}

/// The first clients of the rooms.
#[test]
fn bare_requests_on_stdio() {
    let place = crate::harness::Place::new();
    let mut pipe = Pipe::start(place.command().args(["stdio", "rooms"]));
    let listed = pipe.request(&plain(1, "tools/list", json!({})));
    assert!(result(&listed)["tools"].is_array(), "{listed}");
    let call = |id: u64, tool: &str, arguments: Value| {
        let name = format!("agent_communication/{tool}");
        plain_call(id, &name, arguments)
    };
    let made = pipe.request(&call(2, "create_room", json!({ "roomName": "den" })));
    assert_eq!(structured(result(&made))["success"], true, "{made}");
    assert_eq!(result(&made).get("resultType"), None, "{made}");
    // As some write it who have no parameters.
    let listed = json!({ "jsonrpc": "2.0", "id": "3", "method": "tools/list" });
    assert!(pipe.request(&listed)["result"]["tools"].is_array());
    // Others follow in whatever era they say.
    let list = json!({ "name": "list_rooms", "arguments": {} });
    let listed = pipe.request(&modern(4, "tools/call", list));
    assert_eq!(result(&listed)["resultType"], "complete");
    let (rest, status, _) = pipe.finish();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}

/// In the words of the counters' documents.
#[tokio::test]
async fn each_counter_says_what_its_document_calls_it() {
    let desk = Desk::start().await;
    for counter in COUNTERS {
        let mut pipe = Pipe::start(desk.place.command().args(["stdio", counter]));
        let hello = crate::harness::initialize(1, LEGACY);
        let info = pipe.request(&hello)["result"]["serverInfo"].clone();
        let description = info["description"].as_str().unwrap_or_default();
        let words = match counter {
            "cinema" => "映画館窓口業務を行うエージェントのMCPツール群",
            "innervoice" => "calendar/message/reminder操作を安全に実行できる",
            "merchant" => "LangGraphエージェントにデータアクセスツールを提供するMCPサーバー",
            "todo" => "AIエージェント用Markdownベースタスク管理システム",
            _ => "複数のエージェントがルームベースでメッセージをやり取りする",
        };
        assert!(description.contains(words), "{info}");
        let about = pipe.request(&modern(2, "server/discover", json!({})));
        let stamped = &result(&about)["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(stamped["description"], info["description"], "{about}");
    }
}
