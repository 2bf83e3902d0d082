//! The embedded index is kept up to date with the database.

use std::path::{Path, PathBuf};

use merchant::Settings;
use serde_json::json;

use crate::{
    meilisearch::until,
    shop::{Shop, ids},
};

pub fn settings(dir: &Path) -> Settings {
    Settings {
        index_dir: dir.to_owned(),
        ..Settings::default()
    }
}

/// Waits until a search finds exactly these products.
pub async fn finds(shop: &Shop, keyword: &str, wanted: &[i64]) {
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

/// The directory of the only catalogue.
pub fn catalogue(dir: &Path) -> PathBuf {
    let mut inside = std::fs::read_dir(dir).unwrap();
    inside.next().unwrap().unwrap().path()
}

#[tokio::test]
async fn changes_of_the_database_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let shop = Shop::open(store::testing::sqlite().await, settings(dir.path()))
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

#[tokio::test]
async fn a_damaged_or_missing_index_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = store::testing::sqlite().await;
    let database = scratch.database.clone();
    let shop = Shop::open(scratch, settings(dir.path()))
        .await
        .with_demo()
        .await;
    finds(&shop, "キーホルダー", &[2]).await;
    let again = |database: store::Database| Shop::on(database, settings(dir.path()));
    finds(&again(database.clone()), "キーホルダー", &[2]).await;

    for file in std::fs::read_dir(catalogue(dir.path())).unwrap() {
        std::fs::write(file.unwrap().path(), b"not an index").unwrap();
    }
    finds(&again(database.clone()), "キーホルダー", &[2]).await;

    std::fs::remove_dir_all(catalogue(dir.path())).unwrap();
    finds(&again(database), "キーホルダー", &[2]).await;
}
