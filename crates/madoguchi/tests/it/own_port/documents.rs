//! The ports that the counters' documents give them.

use std::fs;

use serde_json::{Value, json};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::post;
use crate::harness::{Desk, configured_keys, plain, request, result, upgrade_head};

/// The merchant's document, read as its users do: the port, the paths, the
/// names in the answers.
#[tokio::test]
async fn the_merchant_port_works_as_its_document_says() {
    let desk = Desk::setup().own_port("--merchant-port").start().await;
    let call = |name: &'static str, arguments: Value| {
        let call = json!({ "name": name, "arguments": arguments }).to_string();
        let port = desk.own_port;
        async move {
            let answer = request(port, "POST", "/mcp/tools/call", &[], call).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            answer.message()
        }
    };
    let list = post(&desk, "/mcp/tools/list", "{}").await.message();
    let tools = list["tools"].as_array().unwrap();
    for name in ["search_products", "check_inventory", "build_cart_mandates"] {
        assert!(tools.iter().any(|tool| tool["name"] == name), "{name}");
    }
    let found = call(
        "search_products",
        json!({ "keywords": ["むぎぼー"], "limit": 5 }),
    )
    .await;
    let products = found["products"].as_array().unwrap();
    assert!(!products.is_empty(), "{found}");
    let ids: Vec<&Value> = products.iter().map(|product| &product["id"]).collect();
    let stock = call("check_inventory", json!({ "product_ids": ids })).await;
    let of_first = &stock["inventory"][products[0]["id"].to_string()];
    assert_eq!(*of_first, products[0]["inventory_count"], "{stock}");

    // The agent of the demo, at the bare address.
    let headers = [("accept", "*/*")];
    let search = json!({ "name": "search_products", "arguments": { "keywords": ["むぎぼー"] } });
    let body = plain(1, "tools/call", search).to_string();
    let answer = request(desk.own_port, "POST", "/", &headers, body)
        .await
        .message();
    let text = result(&answer)["content"][0]["text"].as_str().unwrap();
    let own: Value = serde_json::from_str(text).unwrap();
    assert_eq!(own["products"][0]["id"], products[0]["id"]);

    // Other names are for the operator to allow.
    for host in ["merchant_agent_mcp:8011", "evil.example"] {
        let headers = [("host", host)];
        let answer = request(desk.own_port, "POST", "/mcp/tools/list", &headers, "{}").await;
        assert_eq!(answer.status, 403, "{host}: {}", answer.text());
        assert!(
            answer
                .text()
                .contains("allowed_hosts in [merchant_listener]")
        );
    }
}

/// The container example lets agents call the shop as its document does.
#[tokio::test]
async fn the_merchant_in_a_container_has_the_name_of_its_document() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/examples/container.toml"
    );
    let example = fs::read_to_string(example).unwrap();
    let desk = Desk::setup()
        .config(&example)
        // Not on all of this machine's addresses.
        .env("MADOGUCHI_HTTP__ADDRESS", "127.0.0.1")
        .env("MADOGUCHI_MERCHANT_LISTENER__ADDRESS", "127.0.0.1")
        .own_port("--merchant-port")
        .start()
        .await;
    let headers = [("host", "merchant_agent_mcp:8011")];
    let search = json!({ "name": "search_products", "arguments": { "keywords": ["むぎぼー"] } });
    let call = search.to_string();
    let found = request(desk.own_port, "POST", "/mcp/tools/call", &headers, call).await;
    assert_eq!(found.status, 200, "{}", found.text());
    assert!(!found.message()["products"].as_array().unwrap().is_empty());
    let call = plain(1, "tools/call", search).to_string();
    let found = request(desk.own_port, "POST", "/", &headers, call).await;
    assert_eq!(found.status, 200, "{}", found.text());
    // By no other name, and the rest of the desk asks for keys.
    let headers = [("host", "evil.example")];
    let answer = request(desk.own_port, "POST", "/mcp/tools/list", &headers, "{}").await;
    assert_eq!(answer.status, 403);
    let list = desk.rpc("merchant", "tools/list", json!({})).await;
    assert_eq!(list["error"]["code"], 401, "{list}");
}

/// The name in the InnerVoice document, where the operator allows it.
#[tokio::test]
async fn innervoice_has_the_name_of_its_document_when_the_operator_says_so() {
    let flag = "--innervoice-port";
    let keys = configured_keys(&[("phone", "phone key")]);
    let named = format!("[innervoice_listener]\nallowed_hosts = [\"mcp.innervoice.app\"]\n{keys}");
    for (config, expected) in [(named, "HTTP/1.1 101"), (keys, "HTTP/1.1 403")] {
        let desk = Desk::setup().config(&config).own_port(flag).start().await;
        let head = upgrade_head("/", "authorization: Bearer phone key\r\n");
        let head = head.replace("host: 127.0.0.1", "host: mcp.innervoice.app");
        let mut stream = TcpStream::connect(("127.0.0.1", desk.own_port))
            .await
            .unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(std::str::from_utf8(&status).unwrap(), expected);
    }
}
