//! The page of the shop in the console.

use kit::{
    Language,
    console::{Action, Cell, CellTable, Input, PageLink, Part, Receipt, Section},
};
use merchant::Settings;
use p256::{
    ecdsa::SigningKey,
    pkcs8::{EncodePrivateKey, LineEnding},
};
use serde_json::{Value, json};

use crate::{
    carts::{BUILD, plan, plan_of, with},
    shop::{Folder, Shop, both, one, row, with as shop_with},
};

fn titled<'a>(sections: &'a [Section], title: &str) -> &'a Section {
    let found = sections.iter().find(|section| section.title == title);
    found.unwrap_or_else(|| panic!("no {title} in {sections:?}"))
}

fn rows(section: &Section) -> Vec<String> {
    let tables = section.parts.iter().filter_map(|part| match part {
        Part::CellTable(CellTable { rows, .. }) => Some(rows),
        _ => None,
    });
    let rows = tables.flatten();
    rows.map(|row| format!("{:?}", row.cells)).collect()
}

fn pager(section: &Section) -> Vec<&PageLink> {
    let links = section.parts.iter().filter_map(|part| match part {
        Part::Pager(_, links) => Some(links),
        _ => None,
    });
    links.flatten().collect()
}

/// The query of a link, to follow it.
fn followed(link: &PageLink) -> Vec<(&str, &str)> {
    link.query.iter().map(|(name, it)| (*name, &**it)).collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn products_are_listed_a_page_at_a_time_and_searched() {
    for shop in both().await {
        let page = shop.page(&[]).await;
        let first = titled(&page, "Products");
        assert_eq!(rows(first).len(), 20);
        assert!(rows(first)[0].contains("MUGIBO-CAL-2025"), "{first:?}");
        assert!(rows(first)[0].contains("¥1,980"), "{first:?}");
        // Sold out, and still there.
        assert!(rows(first)[2].contains("Sold out"), "{first:?}");
        let links = pager(first);
        assert_eq!(links.len(), 1);
        let next = shop.page(&followed(links[0])).await;
        let second = titled(&next, "Products");
        assert_ne!(rows(first), rows(second));
        let back = pager(second)[0];
        assert_eq!(
            rows(titled(&shop.page(&followed(back)).await, "Products")),
            rows(first)
        );
        let found = shop.page(&[("q", "ｶﾚﾝﾀﾞｰ")]).await;
        assert!(rows(titled(&found, "Products"))[0].contains("MUGIBO-CAL-2025"));
        let nothing = shop.page(&[("q", "zzzzzzzz")]).await;
        assert!(format!("{nothing:?}").contains("No product matches."));
    }
}

fn action(section: &Section) -> &Action {
    let found = section.parts.iter().find_map(|part| match part {
        Part::Action(action) => Some(action),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no action in {section:?}"))
}

/// The section of product 1, whatever its name is in this language.
async fn product(shop: &Shop) -> Section {
    shop.page(&[("product", "1")]).await.remove(0)
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_product_has_its_stock_and_who_changed_it() {
    for shop in both().await {
        let reserving = with(plan_of(1, 4), "reserve", json!(true));
        shop.ok(BUILD, reserving).await;
        let change = json!({"product_id": 1, "inventory_count": 45, "reason": "broken <b>"});
        shop.ok("update_inventory", change).await;
        let section = product(&shop).await;
        let text = format!("{section:?}");
        for expected in [
            "¥2,178",
            "\"41\"",
            "\"45\"",
            "50 → 45",
            "broken <b>",
            "local",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        // The form sets the whole stock, with what carts have reserved.
        let form = action(&section);
        assert_eq!(form.tool, "update_inventory");
        assert_eq!(form.fixed, [("product_id", json!(1))]);
        let Input::Number(count) = &form.inputs[0] else {
            panic!("{form:?}");
        };
        assert_eq!((count.argument, count.value), ("inventory_count", 45));
        for unknown in ["99", "one", ""] {
            let page = shop.page(&[("product", unknown)]).await;
            assert!(format!("{page:?}").contains("There is no such product."));
        }
    }
}

async fn cart(shop: &Shop, arguments: Value) -> String {
    let built = shop.ok(BUILD, arguments).await;
    let id = &built["cart_mandate"]["contents"]["id"];
    id.as_str().unwrap().to_owned()
}

async fn receipt(shop: &Shop, id: &str) -> Receipt {
    let section = shop.page(&[("cart", id)]).await.remove(0);
    match section.parts.into_iter().next() {
        Some(Part::Receipt(receipt)) => receipt,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_cart_mandate_is_a_receipt() {
    for mut shop in both().await {
        let items = json!([{"product_id": 1, "quantity": 2}, {"product_id": 5, "quantity": 1}]);
        let address = json!({"recipient": "山田太郎", "postalCode": "150-0001",
            "addressLine": ["東京都渋谷区1-2-3"], "city": "渋谷区"});
        let id = cart(&shop, with(plan(items), "shipping_address", address)).await;
        let page = shop.page(&[]).await;
        let listed = rows(titled(&page, "Cart mandates"));
        assert!(listed[0].contains("¥8,206"), "{listed:?}");
        assert!(listed[0].contains("Open, nothing reserved"), "{listed:?}");
        let paper = receipt(&shop, &id).await;
        assert_eq!(paper.seller, "Demo Merchant");
        let amounts: Vec<&str> = paper.lines.iter().map(|line| &*line.amount).collect();
        assert_eq!(amounts, ["¥3,960", "¥3,500"]);
        assert!(paper.lines[0].note.starts_with("2 × ¥1,980"));
        let sums: Vec<&str> = paper.sums.iter().map(|(_, amount)| &**amount).collect();
        assert_eq!(sums, ["¥7,460", "free", "¥746"]);
        assert_eq!(paper.total.1, "¥8,206");
        let facts = format!("{:?}", paper.facts);
        for expected in [id.as_str(), "no signing key", "山田太郎\\n150-0001"] {
            assert!(facts.contains(expected), "{expected} in {facts}");
        }
        shop.context.language = Language::Japanese;
        assert_eq!(receipt(&shop, &id).await.total.1, "8,206円");
        shop.context.language = Language::English;
        shop.set_clock("2025-10-23T13:00:00Z");
        let facts = format!("{:?}", receipt(&shop, &id).await.facts);
        assert!(facts.contains("Expired"), "{facts}");
        let missing = shop.page(&[("cart", "cart_none")]).await;
        assert!(format!("{missing:?}").contains("There is no such cart."));
    }
}

#[tokio::test]
async fn a_receipt_names_the_key_that_signs() {
    let folder = Folder::new();
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let pem = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    let settings = Settings {
        signing_key_file: folder.file("merchant.pem", pem.as_bytes()),
        ..Settings::default()
    };
    let shop = shop_with(settings).await;
    let id = cart(&shop, plan_of(1, 1)).await;
    let facts = format!("{:?}", receipt(&shop, &id).await.facts);
    assert!(
        facts.contains("ES256 with did:ap2:merchant:mugibo_merchant#key-1"),
        "{facts}"
    );
}

#[tokio::test]
async fn changes_are_announced_to_the_page() {
    let shop = one().await;
    let cart = cart(&shop, plan_of(1, 1)).await;
    let page = [kit::context::Change::Page];
    assert_eq!(shop.context.take_changes(), page);
    shop.set_stock(1, 40).await;
    assert_eq!(shop.context.take_changes(), page);
    shop.ok("cancel_cart", json!({"cart_id": cart})).await;
    assert_eq!(shop.context.take_changes(), page);
}

#[tokio::test]
async fn hostile_queries_and_names_are_only_texts() {
    let shop = one().await;
    let name = format!("<svg onload=alert(1)>{}", "あ".repeat(150));
    shop.import_rows(vec![row(900, &name)]).await;
    let long = "x".repeat(10_000);
    for query in [
        [("q", long.as_str()), ("from", "-1")],
        [("q", "\u{202e}"), ("from", "99999999999999999999")],
        [("product", "900"), ("carts", "18446744073709551615")],
    ] {
        let page = shop.page(&query).await;
        assert!(page.len() >= 2, "{page:?}");
    }
    let section = shop.page(&[("product", "900")]).await.remove(0);
    assert_eq!(section.title, name);
    let Some(Part::Facts(facts)) = section.parts.first() else {
        panic!("{section:?}");
    };
    assert!(
        facts
            .iter()
            .any(|(_, cell)| matches!(cell, Cell::Text(text) if text == "¥1"))
    );
}
