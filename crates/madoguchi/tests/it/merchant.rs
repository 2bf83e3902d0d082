//! The shop as its users see it: its own port with real `curl`, the environment
//! variables of its document, LangGraph's adapter, the official clients, imports.

use std::process::Command;

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Desk, Output, Place, clients, configured_keys, refused, request, structured};

const FLAG: &str = "--merchant-port";

async fn desk() -> Desk {
    Desk::setup().own_port(FLAG).start().await
}

fn address(desk: &Desk) -> String {
    format!("http://localhost:{}", desk.own_port)
}

/// What a `curl` command of the document prints.
async fn curl(desk: &Desk, path: &str, body: &str) -> Value {
    let mut command = Command::new("curl");
    command.args(["-sS", "--fail-with-body", "--max-time", "60", "-X", "POST"]);
    command.arg(format!("{}{path}", address(desk)));
    command.args(["-H", "Content-Type: application/json", "-d", body]);
    let output = tokio::task::spawn_blocking(move || Output::of(&mut command, ""));
    output.await.unwrap().ok().json()
}

#[tokio::test]
async fn the_documents_curl_commands() {
    let desk = desk().await;
    let listed = curl(&desk, "/mcp/tools/list", "{}").await;
    let listed = listed["tools"].as_array().unwrap();
    for name in ["search_products", "check_inventory", "build_cart_mandates"] {
        assert!(listed.iter().any(|tool| tool["name"] == name), "{name}");
    }
    let search = r#"{
    "name": "search_products",
    "arguments": {
      "keywords": ["むぎぼー"],
      "limit": 5
    }
  }"#;
    let found = curl(&desk, "/mcp/tools/call", search).await;
    assert_eq!(found["products"].as_array().unwrap().len(), 5);
    assert_eq!(found["isError"], false);
    let text = found["content"][0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    assert_eq!(text["products"], found["products"]);
    let check = r#"{
    "name": "check_inventory",
    "arguments": {
      "product_ids": [1, 2, 3]
    }
  }"#;
    let stock = curl(&desk, "/mcp/tools/call", check).await;
    assert_eq!(stock["inventory"], json!({"1": 50, "2": 30, "3": 0}));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn langgraph_agents_connect() {
    let desk = desk().await;
    let output = clients::python_websocket(&desk.place, "langgraph.py", &[&address(&desk)]).await;
    output.ok();
}

/// Runs a script of an official client, over HTTP and over stdio.
async fn connects(run: impl AsyncFn(&Place, &[&str]) -> Output, modes: [&str; 3]) {
    for mode in modes {
        let desk = Desk::start().await;
        let http = run(&desk.place, &[&desk.url(""), mode]).await;
        assert_eq!(http.code, Some(0), "{mode}\n{}", http.stderr);
        let place = Place::new();
        place.load_demo_of("merchant", &[]);
        let stdio = run(&place, &["stdio", mode]).await;
        assert_eq!(stdio.code, Some(0), "{mode}\n{}", stdio.stderr);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_python_client() {
    let run = async |place: &Place, arguments: &[&str]| {
        clients::python(place, "merchant.py", arguments).await
    };
    connects(run, ["auto", "legacy", "2026-07-28"]).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_typescript_client() {
    let run = async |place: &Place, arguments: &[&str]| {
        clients::node(place, "merchant.mjs", arguments).await
    };
    connects(run, ["auto", "legacy", "pin"]).await;
}

fn cart(product_id: i64, quantity: i64) -> Value {
    json!({
        "cart_plan": { "items": [{ "product_id": product_id, "quantity": quantity }] },
        "products": [],
    })
}

#[tokio::test]
async fn the_documents_variables() {
    let desk = Desk::setup()
        .env("MERCHANT_ID", "did:ap2:merchant:other")
        .env("MERCHANT_NAME", "よその店")
        .env("SHIPPING_FEE", "700.0")
        .env("FREE_SHIPPING_THRESHOLD", "2000.0")
        .env("TAX_RATE", "0.08")
        .env("TAX_ROUNDING", "ceil")
        .env("LOG_LEVEL", "WARNING")
        .start()
        .await;
    let built = desk
        .call("merchant", "build_cart_mandates", cart(1, 1))
        .await;
    let contents = &structured(&built)["cart_mandate"]["contents"];
    assert_eq!(contents["merchant_id"], "did:ap2:merchant:other");
    // (1980 + 700) × 0.08 = 214.4
    assert_eq!(contents["metadata"]["shipping_fee"], 700.0);
    assert_eq!(contents["metadata"]["tax"], 215.0);
    let mut ap2 = cart(5, 1);
    ap2["format"] = json!("ap2-0.1");
    let built = desk.call("merchant", "build_cart_mandates", ap2).await;
    let contents = &structured(&built)["cart_mandate"]["contents"];
    assert_eq!(contents["merchant_name"], "よその店");
    assert_eq!(
        contents["payment_request"]["details"]["total"]["amount"]["value"],
        3780.0
    );
    assert_eq!(desk.log(), "");
}

#[tokio::test]
async fn invalid_variables_are_refused() {
    let place = Place::new();
    for (name, value) in [
        ("TAX_RATE", "10"),
        ("TAX_RATE", "ten"),
        ("SHIPPING_FEE", "500.5"),
        ("SHIPPING_FEE", "-1"),
        ("TAX_ROUNDING", "up"),
        ("DATABASE_URL", "mysql://db/shop"),
    ] {
        let mut command = place.command();
        command.args([
            "call",
            "merchant",
            "check_inventory",
            "{\"product_ids\": []}",
        ]);
        command.env(name, value);
        let said = Output::of(&mut command, "").failed();
        assert!(
            said.starts_with("error: INVALID_"),
            "{name}={value}: {said}"
        );
        assert!(!said.contains("mysql://"), "{said}");
    }
}

/// `DATABASE_URL` moves only the shop: the rest stays in the data directory, and no
/// sample data is written to the operator's own database.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn database_url_moves_only_the_shop() {
    let postgres = Postgres::shared().create_database();
    let place = Place::new();
    let file = place.path().join("shop.db");
    let sqlite = format!("sqlite+aiosqlite:///{}", file.display());
    for url in [sqlite.as_str(), postgres.as_str()] {
        let desk = Desk::setup().env("DATABASE_URL", url).start().await;
        let shop = desk
            .call("merchant", "search_products", json!({"keywords": []}))
            .await;
        assert_eq!(structured(&shop)["products"], json!([]));
        let films = desk.call("cinema", "get_movie_list", json!({})).await;
        assert!(!structured(&films)["movies"].as_array().unwrap().is_empty());
        let catalogue = desk.place.file(
            "one.csv",
            "id,name,price_jpy,inventory_count\n7,急須,4200,3\n",
        );
        let mut import = desk.place.command();
        import
            .args(["import", "merchant"])
            .arg(catalogue)
            .env("DATABASE_URL", url);
        let said = Output::of(&mut import, "").ok().stdout;
        assert_eq!(said, "Imported 1 product(s).\n");
        let stock = desk
            .call("merchant", "check_inventory", json!({"product_ids": [7]}))
            .await;
        assert_eq!(structured(&stock)["inventory"]["7"], 3);
        assert!(desk.place.data().join("madoguchi.db").exists());
    }
    assert!(file.exists());
}

#[tokio::test]
async fn an_import_reports_what_it_skipped() {
    let place = Place::new();
    let file = place.file(
        "shop.ndjson",
        "{\"id\": 1, \"name\": \"a\", \"price_jpy\": 1}\n{\"id\": 2}\n",
    );
    let file = file.to_str().unwrap();
    let output = place.run(&["import", "merchant", file]).ok();
    assert_eq!(output.stdout, "Imported 1 product(s); skipped 1 row(s).\n");
    assert!(
        output.stderr.contains("line 2: there is no name"),
        "{}",
        output.stderr
    );
    let json = place
        .run(&["import", "merchant", file, "--json"])
        .ok()
        .json();
    assert_eq!(json["imported"], 1);
    assert_eq!(json["problems"][0]["line"], 2);
    let said = place.run(&["import", "rooms", file]).failed();
    assert!(said.contains("NO_IMPORT"), "{said}");
    let said = place.run(&["import", "merchant", "nowhere.csv"]).failed();
    assert!(said.contains("FILE_READ_ERROR"), "{said}");
}

#[tokio::test]
async fn only_staff_keys_change_the_stock() {
    let key = |name, secret| configured_keys(&[(name, secret)]) + "counters = [\"merchant\"]\n";
    let staff = key("staff", "staff-secret") + "tools = [\"update_inventory\"]\n";
    let keys = staff + &key("agent", "agent-secret");
    let desk = Desk::setup().own_port(FLAG).config(&keys).start().await;
    let body = json!({"name": "update_inventory", "arguments": {"product_id": 1, "change": 5}});
    let call = async |key: &str| {
        let key = format!("Bearer {key}");
        let mut headers = vec![("content-type", "application/json")];
        if key != "Bearer " {
            headers.push(("authorization", key.as_str()));
        }
        let (path, body) = ("/mcp/tools/call", body.to_string());
        request(desk.own_port, "POST", path, &headers, body).await
    };
    for key in ["", "agent-secret"] {
        let answer: Value = serde_json::from_str(&call(key).await.text()).unwrap();
        refused(&answer, "FORBIDDEN");
    }
    assert_eq!(call("wrong").await.status, 401);
    let answer: Value = serde_json::from_str(&call("staff-secret").await.text()).unwrap();
    assert_eq!(answer["stock"], 55, "{answer}");
    // The user's own process needs no key.
    let arguments = "{\"product_id\": 1, \"inventory_count\": 50}";
    let answer = desk
        .place
        .run(&["call", "merchant", "update_inventory", arguments])
        .ok();
    assert_eq!(answer.json()["stock_before"], 55);
}

/// Two stdio processes and a desk share one shop.
#[tokio::test]
async fn what_one_process_changes_another_finds() {
    let desk = Desk::start().await;
    let file = desk.place.file(
        "more.json",
        r#"[{"id": 900, "name": "竹のうちわ", "price_jpy": 1200, "inventory_count": 4}]"#,
    );
    desk.place
        .run(&["import", "merchant", file.to_str().unwrap()])
        .ok();
    finds(&desk, "うちわ", 900).await;
}

/// Waits until the first product of a search is this one.
async fn finds(desk: &Desk, keyword: &str, id: i64) {
    let search = json!({"keywords": [keyword]});
    for _ in 0..200 {
        let found = desk
            .call("merchant", "search_products", search.clone())
            .await;
        let found = structured(&found);
        if found["products"][0]["id"] == id && found["fallback"].is_null() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the desk does not find {keyword}");
}

#[tokio::test]
async fn imported_synonyms_are_used_by_a_running_desk() {
    let desk = Desk::start().await;
    finds(&desk, "running shoes", 16).await;
    let file = desk
        .place
        .file("synonyms.txt", "joggers, ランニングシューズ\nalone\n");
    let file = file.to_str().unwrap();
    let import = ["import", "merchant", "--synonyms", file];
    let output = desk.place.run(&import).ok();
    assert_eq!(
        output.stdout,
        "Searches now use 1 group(s) of synonyms; skipped 1 line(s).\n"
    );
    assert!(
        output.stderr.contains("line 2: a group"),
        "{}",
        output.stderr
    );
    finds(&desk, "joggers", 16).await;
    let said = desk.place.run(&["import", "merchant"]).failed();
    assert!(said.contains("<FILE>"), "{said}");
    let said = desk
        .place
        .run(&["import", "innervoice", "--synonyms", file]);
    assert!(said.failed().contains("NO_SYNONYMS"));
}
