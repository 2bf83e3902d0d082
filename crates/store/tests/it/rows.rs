//! Parameters in, cells out: the same on both engines.

use kit::{Cell, Param, sql::values};

use crate::{both, cells, read, write};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn parameters_out_of_order_and_repeated() {
    for scratch in both().await {
        let rows = read(&scratch.database, |sql| {
            sql.query(
                "SELECT CAST($2 AS TEXT), CAST($1 AS BIGINT), $1 + $3, $2 || $2, $1 + 1",
                &[7.into(), "b".into(), 30.into()],
            )
        })
        .await
        .unwrap();
        let expected = [
            Cell::Text("b".into()),
            Cell::Int(7),
            Cell::Int(37),
            Cell::Text("bb".into()),
            Cell::Int(8),
        ];
        assert_eq!(cells(&rows[0]), expected, "{}", scratch.url);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_kind_of_value_comes_back() {
    for scratch in both().await {
        let rows = write(&scratch.database, |sql| {
            let body = "窓口 'n' \"m\" $1";
            let inserted = sql.query(
                &format!(
                    "INSERT INTO note (id, body, weight) VALUES {} RETURNING id, body, weight",
                    values(3, 3)
                ),
                &[
                    i64::MAX.into(),
                    body.into(),
                    0.1.into(),
                    i64::MIN.into(),
                    Param::Null,
                    Param::Null,
                    0.into(),
                    "".into(),
                    (-2).into(),
                ],
            )?;
            assert_eq!(inserted.len(), 3);
            sql.query("SELECT id, body, weight FROM note ORDER BY id DESC", &[])
        })
        .await
        .unwrap();
        let body = Cell::Text("窓口 'n' \"m\" $1".into());
        assert_eq!(
            cells(&rows[0]),
            [Cell::Int(i64::MAX), body, Cell::Real(0.1)]
        );
        assert_eq!(rows[1].text(1).unwrap(), "");
        assert!((rows[1].real(2).unwrap() + 2.0).abs() < f64::EPSILON);
        assert_eq!(
            cells(&rows[2]),
            [Cell::Int(i64::MIN), Cell::Null, Cell::Null]
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_number_of_changed_rows_and_upserts() {
    for scratch in both().await {
        write(&scratch.database, |sql| {
            let two = "INSERT INTO note (id) VALUES ($1), ($2) ON CONFLICT (id) DO NOTHING";
            assert_eq!(sql.execute(two, &[1.into(), 2.into()])?, 2);
            assert_eq!(sql.execute(two, &[2.into(), 3.into()])?, 1);
            let update = "UPDATE note SET body = $1 WHERE id >= $2";
            assert_eq!(sql.execute(update, &["x".into(), 2.into()])?, 2);
            assert_eq!(sql.execute(update, &["x".into(), 9.into()])?, 0);
            let upsert = "INSERT INTO note (id, body) VALUES ($1, $2)
                ON CONFLICT (id) DO UPDATE SET body = excluded.body RETURNING body";
            assert_eq!(sql.query(upsert, &[3.into(), "y".into()])?[0].text(0)?, "y");
            let sum = sql.query("SELECT CAST(SUM(id) AS BIGINT), COUNT(*) FROM note", &[])?;
            assert_eq!(cells(&sum[0]), [Cell::Int(6), Cell::Int(3)]);
            Ok(())
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn wrong_statements_are_internal_errors() {
    for scratch in both().await {
        for (text, params) in [
            ("SELEKT 1", vec![]),
            ("SELECT body FROM nowhere", vec![]),
            ("SELECT CAST($1 AS BIGINT)", vec![]),
            (
                "SELECT CAST($1 AS BIGINT)",
                vec![Param::Text("x"), 1.into()],
            ),
        ] {
            let error = read(&scratch.database, move |sql| sql.query(text, &params))
                .await
                .unwrap_err();
            assert!(error.is_internal(), "{text}: {error}");
            assert!(error.cause.is_some());
        }
        let error = write(&scratch.database, |sql| {
            sql.execute(
                "INSERT INTO note (id, body) VALUES (1, $1)",
                &["a\0b".into()],
            )
        });
        assert_eq!(error.await.unwrap_err().code, "INVALID_ARGUMENT");
    }
}
