//! The name, the health check and the end of a database.

use kit::Store;
use store::STORAGE_ERROR;

use crate::{both, insert, read, write};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_database_is_probed_and_closed() {
    for scratch in both().await {
        let database = &scratch.database;
        database.check().await.unwrap();
        write(database, |sql| insert(sql, 1)).await.unwrap();
        database.close().await.unwrap();
        database.close().await.unwrap();
        let closed = [
            database.check().await.unwrap_err(),
            write(database, |sql| insert(sql, 2)).await.unwrap_err(),
            read(database, |sql| sql.query("SELECT 1", &[]))
                .await
                .unwrap_err(),
        ];
        for error in closed {
            assert_eq!(error.code, STORAGE_ERROR);
            assert!(error.message.contains("closed"), "{error}");
        }
        assert_eq!(crate::ids(&scratch.again().await).await, [1]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn engines_report_their_names() {
    let names: Vec<_> = both().await.iter().map(|s| s.database.engine()).collect();
    assert_eq!(names, ["sqlite", "postgres"]);
}
