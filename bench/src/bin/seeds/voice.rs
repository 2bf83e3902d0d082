//! The limit of the InnerVoice counter, and the sums and defaults of the shop.

use std::{process::Command, time::Duration};

use anyhow::{Context as _, Result, bail};
use bench::{
    http::Connection,
    places::Places,
    server::{Running, free_port, make_key},
    session::Session,
    wire::Target,
};
use serde_json::{Value, json};

use crate::statements::Statements;

const ASKED: u64 = 120;

pub async fn measure(places: &Places, statements: &mut Statements) -> Result<()> {
    let data = places.fresh()?;
    let key = make_key(&places.madoguchi, data.path())?;
    let port = free_port()?;
    let mut serve = Command::new(&places.madoguchi);
    serve.args(["serve", "--merchant-port", "0", "--innervoice-port", "0"]);
    serve.args(["--port", &port.to_string(), "--data"]);
    serve.arg(data.path()).arg("--root").arg(data.path());
    let running = Running::spawn(serve, &places.logs.join("seeds.log"))?;
    let mut connection = connect(port).await?;
    let target = Target::new(port, "/mcp/innervoice", "reminder_list").with_key(&key);
    let mut accepted = 0;
    for number in 0..ASKED {
        let request = target.request(number, "{}");
        let (status, _) = connection.ask(request.as_bytes()).await?;
        accepted += u64::from(status == 200);
    }
    let statement = "innervoice: 100 requests a minute for a key: accepted of 120 at once";
    statements.exactly(statement, "100", &accepted.to_string());
    running.stop()?;
    shop(places, data.path(), statements)
}

async fn connect(port: u16) -> Result<Connection> {
    let probe = format!("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    for _ in 0..600 {
        if let Ok(mut connection) = Connection::open(port).await
            && matches!(connection.ask(probe.as_bytes()).await, Ok((200, _)))
        {
            return Ok(connection);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the desk does not answer; see .env/logs/seeds.log")
}

fn shop(places: &Places, data: &std::path::Path, statements: &mut Statements) -> Result<()> {
    let mut command = Command::new(&places.madoguchi);
    command.args(["stdio", "merchant", "--data"]).arg(data);
    let mut session = Session::start(command)?;
    let (text, _) = session.call("search_products", &json!({ "keywords": [] }))?;
    let found: Value = serde_json::from_str(&text)?;
    let count = found["products"].as_array().context("products")?.len();
    let statement = "merchant: a search answers with 20 products at most unless told otherwise";
    statements.add(
        statement,
        "20",
        &count.to_string(),
        count <= 20 && count > 0,
    );
    for (items, figures, statement) in [
        (
            json!([{ "product_id": 1, "quantity": 2 }, { "product_id": 5, "quantity": 1 }]),
            "7460.0 + 0.0 + 746.0",
            "merchant: goods, shipping and 10 % tax of a cart of 5,000 yen or more",
        ),
        (
            json!([{ "product_id": 1, "quantity": 1 }]),
            "1980.0 + 500.0 + 248.0",
            "merchant: the same below 5,000 yen, with 500 yen for shipping",
        ),
    ] {
        let cart = json!({
            "cart_plan": { "items": items }, "products": [],
            "shipping_address": {
                "recipient": "A", "addressLine": ["1-2-3"], "city": "Shibuya", "country": "JP",
                "postalCode": "150-0001",
            },
        });
        let (text, _) = session.call("build_cart_mandates", &cart)?;
        let made: Value = serde_json::from_str(&text)?;
        let of = &made["cart_mandate"]["contents"]["metadata"];
        let sums = ["subtotal", "shipping_fee", "tax"].map(|field| of[field].to_string());
        statements.exactly(statement, figures, &sums.join(" + "));
    }
    Ok(())
}
