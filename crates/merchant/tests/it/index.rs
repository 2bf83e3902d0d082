//! The embedded index and the database it follows.

use std::{path::Path, time::Duration};

use merchant::Settings;
use serde_json::json;

use crate::shop::Shop;

async fn shop_at(dir: &Path, database: store::testing::Scratch) -> Shop {
    let settings = Settings {
        index_dir: dir.to_owned(),
        ..Settings::default()
    };
    Shop::open(database, settings).await
}

/// Waits until a search answers as expected.
async fn finds(shop: &Shop, keyword: &str, wanted: &[i64]) {
    let mut found = Vec::new();
    for _ in 0..200 {
        let answer = shop
            .ok("search_products", json!({"keywords": [keyword]}))
            .await;
        found = if answer["fallback"] == true {
            Vec::new()
        } else {
            crate::shop::ids(&answer)
        };
        found.sort_unstable();
        if found == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(found, wanted, "{keyword}");
}

#[tokio::test]
async fn what_changes_in_the_database_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let shop = shop_at(dir.path(), store::testing::sqlite().await)
        .await
        .with_demo()
        .await;
    finds(&shop, "マグカップ", &[]).await;
    shop.ok(
        "update_inventory",
        json!({"product_id": 3, "inventory_count": 5}),
    )
    .await;
    finds(&shop, "マグカップ", &[3]).await;
    let demo = shop.counter.demo.clone().unwrap();
    demo.remove(&shop.context).await.unwrap();
    finds(&shop, "マグカップ", &[]).await;
}

/// Another process, or the same one later, goes on with what is there, also
/// when the files were damaged in between.
#[tokio::test]
async fn a_damaged_or_missing_index_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let database = scratch.database.clone();
    let shop = shop_at(dir.path(), scratch).await.with_demo().await;
    finds(&shop, "キーホルダー", &[2]).await;
    let again = |database: store::Database| {
        let settings = Settings {
            index_dir: dir.path().to_owned(),
            ..Settings::default()
        };
        Shop::on(database, settings)
    };
    finds(&again(database.clone()), "キーホルダー", &[2]).await;

    for file in std::fs::read_dir(catalogue(dir.path())).unwrap() {
        std::fs::write(file.unwrap().path(), b"not an index").unwrap();
    }
    finds(&again(database.clone()), "キーホルダー", &[2]).await;

    std::fs::remove_dir_all(catalogue(dir.path())).unwrap();
    finds(&again(database), "キーホルダー", &[2]).await;
}

fn catalogue(dir: &Path) -> std::path::PathBuf {
    let mut inside = std::fs::read_dir(dir).unwrap();
    inside.next().unwrap().unwrap().path()
}
