//! The embedded index is kept up to date with the database: beside other processes,
//! with a restored database, and in a directory that is damaged, deleted or cannot
//! be used.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use merchant::Settings;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    meilisearch::until,
    shop::{Folder, Shop, ids, row},
};

fn settings(dir: &Path) -> Settings {
    Settings {
        index_dir: dir.to_owned(),
        ..Settings::default()
    }
}

/// Waits until a search finds exactly these products.
async fn finds(shop: &Shop, keyword: &str, wanted: &[i64]) {
    until(&format!("{keyword} finds {wanted:?}"), async || {
        let answer = shop.find(keyword).await;
        let mut found = match answer["fallback"].is_null() {
            true => ids(&answer),
            false => Vec::new(),
        };
        found.sort_unstable();
        found == wanted
    })
    .await;
}

/// A shop whose index is complete, its directory, and the database for another
/// process.
async fn indexed() -> (Shop, TempDir, store::Database) {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let shop = Shop::with_demo(scratch, settings(dir.path())).await;
    finds(&shop, "キーホルダー", &[2]).await;
    (shop, dir, again)
}

/// The directory of the only catalogue.
fn catalogue(dir: &TempDir) -> PathBuf {
    let mut inside = fs::read_dir(dir.path()).unwrap();
    inside.next().unwrap().unwrap().path()
}

/// The lock that another process holds while it writes.
async fn writer_lock(dir: &TempDir) -> File {
    let path = catalogue(dir).join(".tantivy-writer.lock");
    let take = move || {
        let file = File::open(path).unwrap();
        file.lock().unwrap();
        file
    };
    tokio::task::spawn_blocking(take).await.unwrap()
}

fn health(shop: &Shop) -> Value {
    let background = shop.counter.background.as_ref().unwrap();
    background.health().unwrap()
}

#[tokio::test]
async fn changes_of_the_database_are_found() {
    let (shop, _dir, _) = indexed().await;
    finds(&shop, "マグカップ", &[]).await;
    shop.set_stock(3, 5).await;
    finds(&shop, "マグカップ", &[3]).await;
    shop.remove_demo().await;
    finds(&shop, "マグカップ", &[]).await;
}

#[tokio::test]
async fn a_damaged_or_missing_index_is_rebuilt() {
    let (_shop, dir, database) = indexed().await;
    let again = || Shop::on(database.clone(), settings(dir.path()));
    finds(&again(), "キーホルダー", &[2]).await;

    for file in fs::read_dir(catalogue(&dir)).unwrap() {
        fs::write(file.unwrap().path(), b"not an index").unwrap();
    }
    finds(&again(), "キーホルダー", &[2]).await;

    // A shop from above may be making a file there at this moment.
    while fs::remove_dir_all(catalogue(&dir)).is_err() {}
    finds(&again(), "キーホルダー", &[2]).await;
}

#[tokio::test]
async fn what_one_process_commits_another_finds() {
    let (first, dir, again) = indexed().await;
    let second = Shop::on(again, settings(dir.path()));
    finds(&second, "キーホルダー", &[2]).await;
    for (id, name) in [(500, "羅針盤"), (501, "望遠鏡"), (502, "顕微鏡")] {
        first.import_rows(vec![row(id, name)]).await;
        finds(&second, name, &[id]).await;
        finds(&first, name, &[id]).await;
    }
}

/// What another process has built so far is not mistaken for the whole index.
#[tokio::test]
async fn an_index_that_another_process_is_building_is_not_complete() {
    let (first, dir, again) = indexed().await;
    first.close().await;
    let other = writer_lock(&dir).await;
    first.import_rows(vec![row(500, "羅針盤")]).await;

    let second = Shop::on(again, settings(dir.path()));
    second.start_background();
    loop {
        let answer = second.find("キーホルダー").await;
        assert_eq!(answer["fallback"], true, "{answer:#}");
        let reason = answer["fallback_reason"].as_str().unwrap();
        if reason.contains("being built") {
            break;
        }
        assert!(reason.contains("being opened"), "{reason}");
    }
    let health = health(&second);
    let building = &health["search"]["index"]["building"];
    assert_eq!(building["done"], 30, "{health}");

    drop(other);
    finds(&second, "羅針盤", &[500]).await;
    finds(&second, "キーホルダー", &[2]).await;
    second.close().await;
}

#[tokio::test]
async fn searches_work_without_a_usable_index_directory() {
    let place = Folder::new();
    let file = place.file("file", "in the way");
    let scratch = store::testing::sqlite().await;
    let shop = Shop::with_demo(scratch, settings(&file.join("search"))).await;
    let answer = shop.find("キーホルダー").await;
    assert_eq!(answer["fallback"], true);
    let reason = answer["fallback_reason"].as_str().unwrap();
    assert!(reason.contains("can't be used"), "{reason}");
    assert!(!answer.to_string().contains("file"), "no path is told");
    // Listing needs no index; counting facets does.
    let list = json!({"keywords": [], "facets": true, "sort": "price_desc", "limit": 2});
    let answer = shop.ok("search_products", list).await;
    assert_eq!(ids(&answer), [20, 12]);
    assert_eq!(answer["fallback"], Value::Null);
    assert_eq!(answer["warnings"][0]["code"], "NO_FACETS");
    assert!(answer["next_cursor"].is_string(), "{answer}");
    fs::remove_file(&file).unwrap();
    finds(&shop, "キーホルダー", &[2]).await;
}

#[tokio::test]
async fn an_index_deleted_while_open_is_rebuilt() {
    let (shop, dir, _) = indexed().await;
    drop(writer_lock(&dir).await);
    fs::remove_dir_all(catalogue(&dir)).unwrap();
    shop.import_rows(vec![row(500, "羅針盤")]).await;
    finds(&shop, "羅針盤", &[500]).await;
    finds(&shop, "キーホルダー", &[2]).await;
}

/// A database restored from a backup reuses change numbers.
#[tokio::test]
async fn an_index_ahead_of_its_database_is_rebuilt() {
    let (shop, dir, again) = indexed().await;
    shop.close().await;
    drop(writer_lock(&dir).await);
    for statement in [
        "DELETE FROM merchant_products WHERE change_number > 5 RETURNING 1",
        "UPDATE merchant_catalogue SET changes = 5 RETURNING 1",
    ] {
        shop.sql(statement).await;
    }
    let restored = Shop::on(again, settings(dir.path()));
    restored.import_rows(vec![row(500, "羅針盤")]).await;
    finds(&restored, "羅針盤", &[500]).await;
    assert_eq!(health(&restored)["search"]["documents"], 6);
}
