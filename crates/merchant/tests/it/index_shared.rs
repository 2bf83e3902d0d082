//! The embedded index beside other processes, with a restored database, and in a
//! directory that is deleted or cannot be used.

use std::{
    fs::{self, File},
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    index::{catalogue, finds, settings},
    shop::{Shop, ids},
};

async fn import(shop: &Shop, id: i64, name: &str) {
    let rows = json!([{"id": id, "name": name, "price_jpy": 1, "inventory_count": 1}]);
    shop.import_json(&rows.to_string()).await;
}

/// The lock that another process holds while it writes.
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

/// What another process has built so far is not mistaken for the whole index.
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
    second.start_background();
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
async fn searches_work_without_a_usable_index_directory() {
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

/// A database restored from a backup reuses change numbers.
#[tokio::test]
async fn an_index_ahead_of_its_database_is_rebuilt() {
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
