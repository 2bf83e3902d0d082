//! Long work shows how far it has come.

use std::fmt::Write as _;

use crate::harness::{Place, Terminal, mentions, terminal::plain};

fn products(count: usize) -> String {
    let mut rows = String::from("id,sku,name,description,price_jpy,inventory_count\n");
    for id in 1..=count {
        writeln!(rows, "{id},S-{id},棚 {id},便利な棚です。,100,5").unwrap();
    }
    rows
}

#[tokio::test]
async fn an_import_shows_a_bar_on_a_terminal_and_nothing_of_it_elsewhere() {
    let place = Place::new();
    let file = place.file("products.csv", &products(3_000));
    let import = ["import", "merchant", file.to_str().unwrap()];
    let shown = Terminal::new().run(&place, &import).await.ok().stdout;
    let shown = plain(&shown);
    mentions(
        &shown,
        &[
            "Importing products.csv",
            "rows",
            "%",
            "left",
            "Imported 3000 product(s).",
        ],
    );
    mentions(&shown, &["Building the search index"]);

    let place = Place::new();
    let file = place.file("products.csv", &products(100));
    let quick = place
        .run(&["import", "merchant", file.to_str().unwrap(), "--json"])
        .ok();
    assert_eq!(quick.json()["imported"], 100);
    draws_nothing(&quick.stderr);
}

#[tokio::test]
async fn verifying_and_exporting_the_trail_show_a_bar_on_a_terminal() {
    let place = Place::new();
    place.run(&["call", "todo", "list_tasks"]).ok();
    let verify = Terminal::new().run(&place, &["audit", "verify"]).await.ok();
    mentions(&plain(&verify.stdout), &["Verifying the audit trail", "ok"]);
    let export = ["audit", "export", "--output", "trail.jsonl"];
    let shown = Terminal::new()
        .env("LANG", "ja_JP.UTF-8")
        .run(&place, &export)
        .await;
    mentions(&plain(&shown.ok().stdout), &["監査記録を読み込み中"]);
    let quiet = place.run(&["audit", "verify", "--json"]).ok();
    assert_eq!(quiet.json()["ok"], true);
    draws_nothing(&quiet.stderr);
}

/// Whole lines at most, which tell how far it is if it takes seconds.
#[track_caller]
fn draws_nothing(text: &str) {
    assert!(!text.contains(['\r', '\u{1b}']), "{text:?}");
}
