//! Catalogues from files.

use serde_json::json;

use crate::shop::{Folder, Shop, both, both_empty};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_three_formats_give_the_same_products() {
    let folder = Folder::new();
    let files = [
        folder.file(
            "shop.json",
            r#"[{"id": 7, "sku": "K-7", "name": "急須", "price_jpy": 4200, "inventory_count": 3,
                "category": "kitchen", "keywords": ["茶器", "常滑"]},
               {"id": 8, "name": "湯呑", "price_cents": 88000, "inventory_count": 1}]"#,
        ),
        folder.file(
            "shop.ndjson",
            "{\"id\": 7, \"sku\": \"K-7\", \"name\": \"急須\", \"price_jpy\": 4200, \"inventory_count\": 3, \
             \"category\": \"kitchen\", \"keywords\": [\"茶器\", \"常滑\"]}\n\n\
             {\"id\": 8, \"name\": \"湯呑\", \"price_cents\": 88000, \"inventory_count\": 1}",
        ),
        folder.file(
            "shop.csv",
            "\u{feff}id,sku,name,price_jpy,inventory_count,category,keywords\r\n\
             7,K-7,急須,4200,3,kitchen,茶器|常滑\r\n8,,湯呑,880,1,,\r\n",
        ),
    ];
    for file in files {
        for shop in both_empty().await {
            let imported = shop.import(&file).await.unwrap();
            assert_eq!(
                (imported.imported, imported.skipped),
                (2, 0),
                "{imported:?}"
            );
            let first = shop.ok("get_product", json!({"product_id": 7})).await;
            assert_eq!(first["product"]["price_jpy"], 4200.0);
            assert_eq!(first["product"]["category"], "kitchen");
            assert_eq!(first["keywords"], json!(["茶器", "常滑"]));
            let second = shop.ok("get_product", json!({"sku": "8"})).await;
            assert_eq!(second["product"]["price_jpy"], 880.0);
            assert_eq!(shop.search(json!({"keywords": ["茶器"]})).await, [7]);
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn bad_rows_are_named_with_their_line_and_skipped() {
    let folder = Folder::new();
    let lines = folder.file(
        "rows.ndjson",
        "{\"id\": 1, \"name\": \"a\", \"price_jpy\": 1}\n\
         {\"id\": 2, \"name\": \"b\"\n\
         {\"id\": 3, \"name\": \"c\", \"price_jpy\": 1.5}\n\
         {\"id\": 1, \"name\": \"again\", \"price_jpy\": 2}\n\
         {\"id\": 4, \"sku\": \"1\", \"name\": \"d\", \"price_jpy\": 1}\n",
    );
    let table = folder.file(
        "rows.csv",
        "id,sku,name,price_jpy\n1,1,a,1\n2,2,b\n3,3,c,1.5\n1,1,again,2\n4,1,d,1\n",
    );
    for file in [lines, table] {
        for shop in both_empty().await {
            let imported = shop.import(&file).await.unwrap();
            let mut at: Vec<u64> = imported
                .problems
                .iter()
                .map(|problem| problem.line)
                .collect();
            at.sort_unstable();
            let first = if file.extension().unwrap() == "csv" {
                2
            } else {
                1
            };
            assert_eq!(at, [first, first + 1, first + 2, first + 4], "{imported:?}");
            assert_eq!((imported.imported, imported.skipped), (1, 4));
            let product = shop.ok("get_product", json!({"product_id": 1})).await;
            assert_eq!(product["product"]["name"], "again");
        }
    }
}

/// Whatever the line endings, and with blank lines in between.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn line_numbers_of_a_spreadsheet_are_right() {
    let folder = Folder::new();
    let table = "id,name,price_jpy\n\
                 1,a,x\n\
                 \n\
                 2,\"two\nlines\",x\n\
                 3,b\n\
                 4,c,4\n\
                 \n\
                 \n\
                 5,d,x";
    let shop = both_empty().await.remove(0);
    for end in ["\n", "\r\n", "\r"] {
        for last in ["", end] {
            let text = format!("{}{last}", table.replace('\n', end));
            for mark in ["", "\u{feff}"] {
                let file = folder.file("lines.csv", format!("{mark}{text}"));
                let imported = shop.import(&file).await.unwrap();
                let at: Vec<u64> = imported.problems.iter().map(|p| p.line).collect();
                assert_eq!(at, [2, 4, 6, 10], "{end:?} {imported:?}");
                assert_eq!(imported.imported, 1);
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_file_that_is_not_a_catalogue_is_refused() {
    let folder = Folder::new();
    for (name, content, code) in [
        ("empty", "", "EMPTY_FILE"),
        ("blank", " \n ", "EMPTY_FILE"),
        (
            "broken.json",
            "[{\"id\": 1, \"name\": \"a\", \"price_jpy\": 1},\n{\"id\":",
            "INVALID_FILE",
        ),
        (
            "two.json",
            "[{\"id\": 1, \"name\": \"a\", \"price_jpy\": 1}]\n[{\"id\": 2}]",
            "INVALID_FILE",
        ),
        (
            "prose.txt",
            "Dear shop, here are our prices.",
            "INVALID_FILE",
        ),
        ("other.csv", "number;title\n1;x\n", "INVALID_FILE"),
    ] {
        let file = folder.file(name, content);
        for shop in both_empty().await {
            let error = shop.import(&file).await.unwrap_err();
            assert_eq!(error.code, code, "{name}: {error}");
        }
    }
    let shop = both_empty().await.remove(0);
    let shift_jis = folder.file("sjis.csv", b"id,\x96\xbc\x91\x4f\n1,x\n");
    let said = shop.import(&shift_jis).await.unwrap_err().to_string();
    assert!(said.contains("it is not UTF-8. Give"), "{said}");
    for shop in both_empty().await {
        let missing = folder.path().join("nowhere.json");
        let error = shop.import(&missing).await.unwrap_err();
        assert_eq!(error.code, "FILE_READ_ERROR");
    }
}

/// What the first run wrote is neither lost nor written twice.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_interrupted_import_continues_where_it_stopped() {
    let folder = Folder::new();
    let rows: String = (1..=3_500)
        .map(|id| format!("{{\"id\": {id}, \"name\": \"商品{id}\", \"price_jpy\": {id}}}\n"))
        .collect();
    let file = folder.file("many.ndjson", rows);
    for shop in both_empty().await {
        let error = shop.stopped_after(2).import(&file).await.unwrap_err();
        assert_eq!(error.code, "IMPORT_INTERRUPTED", "{error}");
        let imported = shop.import(&file).await.unwrap();
        assert_eq!(
            (imported.already_there, imported.imported),
            (2_000, 1_500),
            "{imported:?}"
        );
        assert_eq!(shop.count("merchant_products").await, 3_500);
        // A finished file starts from the beginning: it may restore older prices.
        let again = shop.import(&file).await.unwrap();
        assert_eq!((again.already_there, again.imported), (0, 3_500));
    }
}

/// What another file wrote is not mistaken for rows of the interrupted one.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_interrupted_import_starts_again_after_another_import() {
    let folder = Folder::new();
    let rows = |count: u32, price: u32| -> String {
        (1..=count)
            .map(|id| format!("{{\"id\": {id}, \"name\": \"x\", \"price_jpy\": {price}}}\n"))
            .collect()
    };
    let many = folder.file("many.ndjson", rows(2_500, 100));
    let other = folder.file("other.ndjson", rows(1, 999));
    for shop in both_empty().await {
        shop.stopped_after(1).import(&many).await.unwrap_err();
        shop.import(&other).await.unwrap();
        shop.import(&many).await.unwrap();
        let product = shop.ok("get_product", json!({"product_id": 1})).await;
        assert_eq!(product["product"]["price_jpy"], 100.0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_sku_is_found_as_the_shop_writes_it() {
    let folder = Folder::new();
    let table = folder.file(
        "skus.csv",
        "id,sku,name,price_jpy\n1,Ｋ－１,a,1\n2,K-2,b,1\n77,,c,1\n",
    );
    let shop = both_empty().await.remove(0);
    shop.import(&table).await.unwrap();
    for (sku, id) in [
        (json!("Ｋ－１"), 1),
        (json!("K-2"), 2),
        (json!(" Ｋ-２ "), 2),
        (json!(77), 77),
    ] {
        for arguments in [json!({"sku": sku}), json!({"sku": sku, "product_id": id})] {
            let product = shop.ok("get_product", arguments).await;
            assert_eq!(product["product"]["id"], id, "{sku}");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn unknown_fields_are_reported() {
    let folder = Folder::new();
    let table = folder.file("a.csv", "ID,Name,Price_JPY,Stock,Note\n1,a,1,7,\n");
    let shop = both_empty().await.remove(0);
    let said = shop.import(&table).await.unwrap().message;
    assert_eq!(
        said,
        "Imported 1 product(s). Unknown fields were ignored: stock."
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn imported_products_replace_demo_products() {
    let folder = Folder::new();
    let file = folder.file(
        "one.json",
        r#"[{"id": 1, "name": "本物", "price_jpy": 5, "inventory_count": 2}]"#,
    );
    for shop in both().await {
        let imported = shop.import(&file).await.unwrap();
        assert!(
            imported.message.contains("29 sample product(s)"),
            "{}",
            imported.message
        );
        shop.remove_demo().await;
        assert_eq!(shop.search(json!({"keywords": []})).await, [1]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_foreign_products_table_is_not_touched() {
    for scratch in store::testing::both().await {
        let store: std::sync::Arc<dyn kit::Store> = std::sync::Arc::new(scratch.database.clone());
        let table = match store.engine() {
            "sqlite" => "main.products",
            _ => "public.products",
        };
        store
            .transaction(kit::sql::Budget::default(), move |sql| {
                sql.execute(&format!("CREATE TABLE {table} (id BIGINT, name TEXT)"), &[])?;
                sql.execute(&format!("INSERT INTO {table} VALUES (1, 'theirs')"), &[])
            })
            .await
            .unwrap();
        let shop = Shop::with_demo(scratch, merchant::Settings::default()).await;
        let rows = shop.sql(&format!("SELECT name FROM {table}")).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].text(0).unwrap(), "theirs");
    }
}
