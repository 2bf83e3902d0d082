//! The embedded index when things go on around it: other processes, a database
//! put back, a directory that can't be used or is deleted.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use merchant::Settings;
use serde_json::{Value, json};

use crate::{
    meilisearch::until,
    shop::{Shop, ids},
};

fn settings(dir: &Path) -> Settings {
    Settings {
        index_dir: dir.to_owned(),
        ..Settings::default()
    }
}

async fn finds(shop: &Shop, keyword: &str, wanted: &[i64]) {
    until("it is found", async || {
        let answer = shop.find(keyword).await;
        answer["fallback"].is_null() && ids(&answer) == wanted
    })
    .await;
}

async fn import(shop: &Shop, id: i64, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.json");
    let rows = json!([{"id": id, "name": name, "price_jpy": 1, "inventory_count": 1}]);
    fs::write(&file, rows.to_string()).unwrap();
    let import = shop.counter.import.clone().unwrap();
    import.import(&shop.context, &file).await.unwrap();
}

/// The directory of the one catalogue.
fn catalogue(dir: &Path) -> PathBuf {
    let mut inside = fs::read_dir(dir).unwrap();
    inside.next().unwrap().unwrap().path()
}

/// As another process would hold it while it writes.
async fn writer_lock(dir: &Path) -> File {
    let path = catalogue(dir).join(".tantivy-writer.lock");
    let take = move || {
        let file = File::open(path).unwrap();
        file.lock().unwrap();
        file
    };
    tokio::task::spawn_blocking(take).await.unwrap()
}

#[tokio::test]
async fn what_one_process_commits_another_finds() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let first = Shop::open(scratch, settings(dir.path()))
        .await
        .with_demo()
        .await;
    let second = Shop::on(again, settings(dir.path()));
    finds(&first, "キーホルダー", &[2]).await;
    finds(&second, "キーホルダー", &[2]).await;
    for (id, name) in [(500, "羅針盤"), (501, "望遠鏡"), (502, "顕微鏡")] {
        import(&first, id, name).await;
        finds(&second, name, &[id]).await;
        finds(&first, name, &[id]).await;
    }
}

/// A reader does not take for the whole what another process has built so far.
#[tokio::test]
async fn an_index_that_another_process_is_building_is_not_complete() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let first = Shop::open(scratch, settings(dir.path()))
        .await
        .with_demo()
        .await;
    finds(&first, "キーホルダー", &[2]).await;
    first.close().await;
    let other = writer_lock(dir.path()).await;
    import(&first, 500, "羅針盤").await;

    let second = Shop::on(again, settings(dir.path()));
    second.open_for_business();
    let answer = second.find("キーホルダー").await;
    assert_eq!(answer["fallback"], true, "{answer:#}");
    let reason = answer["fallback_reason"].as_str().unwrap();
    assert!(reason.contains("being built"), "{reason}");
    let health = second
        .counter
        .background
        .as_ref()
        .unwrap()
        .health()
        .unwrap();
    assert_eq!(
        health["search"]["index"]["building"]["done"], 30,
        "{health}"
    );

    drop(other);
    finds(&second, "羅針盤", &[500]).await;
    finds(&second, "キーホルダー", &[2]).await;
    second.close().await;
}

#[tokio::test]
async fn an_index_directory_that_cannot_be_used_is_no_reason_to_fail() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let scratch = store::testing::sqlite().await;
    let shop = Shop::open(scratch, settings(&file.join("search"))).await;
    let shop = shop.with_demo().await;
    let answer = shop.find("キーホルダー").await;
    assert_eq!(answer["fallback"], true);
    assert_eq!(answer["engine"], "database");
    let reason = answer["fallback_reason"].as_str().unwrap();
    assert!(reason.contains("can't be used"), "{reason}");
    assert!(!answer.to_string().contains("file"), "no path is told");
    // A list needs no index; only its counts do.
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
async fn an_index_that_is_deleted_while_it_is_open_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let shop = Shop::open(scratch, settings(dir.path()))
        .await
        .with_demo()
        .await;
    finds(&shop, "キーホルダー", &[2]).await;
    drop(writer_lock(dir.path()).await);
    fs::remove_dir_all(catalogue(dir.path())).unwrap();
    import(&shop, 500, "羅針盤").await;
    finds(&shop, "羅針盤", &[500]).await;
    finds(&shop, "キーホルダー", &[2]).await;
}

/// A database from a backup numbers its changes anew from where it was.
#[tokio::test]
async fn an_index_ahead_of_its_database_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let again = scratch.again().await;
    let shop = Shop::open(scratch, settings(dir.path()))
        .await
        .with_demo()
        .await;
    finds(&shop, "キーホルダー", &[2]).await;
    shop.close().await;
    drop(writer_lock(dir.path()).await);
    shop.sql("DELETE FROM merchant_products WHERE change_number > 5 RETURNING 1")
        .await;
    shop.sql("UPDATE merchant_catalogue SET changes = 5 RETURNING 1")
        .await;
    let restored = Shop::on(again, settings(dir.path()));
    import(&restored, 500, "羅針盤").await;
    finds(&restored, "羅針盤", &[500]).await;
    let health = restored.counter.background.as_ref().unwrap().health();
    assert_eq!(health.unwrap_or(Value::Null)["search"]["documents"], 6);
}
