//! Moves that are killed in the middle.

use std::{process::Stdio, thread, time::Duration};

use kit::sql::values;
use store::testing::Postgres;

use super::{URL, all_rows, database, move_to, same};
use crate::{
    audit::trail::store_of,
    harness::{Place, mentions},
};

/// Enough that a move takes a while.
async fn fill(place: &Place) {
    place.create_key(&["phone"]);
    let store = store_of(&database(place)).await;
    for batch in 0..60 {
        let fill = move |sql: &mut dyn kit::Sql| {
            let ids: Vec<String> = (0..500).map(|it| format!("call-{batch}-{it}")).collect();
            let text = format!(
                "INSERT INTO desk_writes (call_id, at_ms, caller, counter, tool, \
                 arguments_digest, process, changes) VALUES {}",
                values(500, 8)
            );
            let mut params: Vec<kit::Param<'_>> = Vec::new();
            for id in &ids {
                params.push(id.into());
                params.push(1.into());
                params.extend(["c", "cinema", "t", "d", "p", "[]"].map(kit::Param::from));
            }
            sql.execute(&text, &params)
        };
        store.transaction(Default::default(), fill).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_killed_move_leaves_the_source_usable_and_the_target_not() {
    let place = Place::new();
    fill(&place).await;
    let before = all_rows(&database(&place)).await;
    let url = Postgres::shared().create_database();
    let (mut killed, mut is_moved) = (0, false);
    for pause in [20, 50, 100, 200, 500] {
        let mut command = place.command();
        let mut child = command
            .args(["move", "--to", &url])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(pause));
        let _ = child.kill();
        is_moved = child.wait().unwrap().success();
        let here = place.run_line("keys list");
        // It was killed between its last step and its end.
        is_moved |= here.stderr.contains("DATA_MOVED");
        if is_moved {
            break;
        }
        killed += 1;
        same(&all_rows(&database(&place)).await, &before);
        here.ok();
        let there = place.run_with(&["keys", "list"], &[(URL, &url)]);
        if there.code != Some(0) {
            mentions(&there.stderr, &["DATA_IS_MOVING"]);
            continue;
        }
        // It had not begun to fill the target, so this command made a new desk there.
        let drop = |sql: &mut dyn kit::Sql| sql.execute("DELETE FROM desk_secrets", &[]);
        let store = store_of(&url).await;
        store.transaction(Default::default(), drop).await.unwrap();
    }
    assert!(killed > 0);
    if !is_moved {
        move_to(&place, &url, &[]);
    }
    same(&all_rows(&url).await, &before);
    let keys = place.run_with(&["keys", "list", "--json"], &[(URL, &url)]);
    assert_eq!(keys.ok().json()[0]["name"], "phone");
}

/// The moment after the rows were committed and before the source is marked.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_target_that_was_filled_by_an_interrupted_move_is_filled_anew() {
    let place = Place::new();
    place.create_key(&["phone"]);
    let url = Postgres::shared().create_database();
    move_to(&place, &url, &[]);
    let arriving = |sql: &mut dyn kit::Sql| {
        let text = "INSERT INTO holds (name, since, reason) VALUES ('arriving', 1, 'a test')";
        sql.execute(text, &[])
    };
    let store = store_of(&url).await;
    store
        .transaction(Default::default(), arriving)
        .await
        .unwrap();
    let refused = place.run_with(&["keys", "list"], &[(URL, &url)]);
    mentions(&refused.failed(), &["DATA_IS_MOVING"]);
    // The source is marked already. The same command begins anew all the same.
    place.run_line("keys list").fails_with("DATA_MOVED");
    move_to(&place, &url, &[]);
    place.run_with(&["keys", "list"], &[(URL, &url)]).ok();
    store
        .transaction(Default::default(), arriving)
        .await
        .unwrap();
    place.run_line("move --undo").ok();
    place.create_key(&["tablet"]);
    move_to(&place, &url, &[]);
    let keys = place.run_with(&["keys", "list", "--json"], &[(URL, &url)]);
    assert_eq!(keys.ok().json().as_array().unwrap().len(), 2);
}

/// The same in the other direction: PostgreSQL is marked, the directory is not released.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_directory_that_was_filled_by_an_interrupted_move_is_filled_anew() {
    let url = Postgres::shared().create_database();
    let place = Place::new();
    place
        .run_with(&["keys", "create", "phone"], &[(URL, &url)])
        .ok();
    let other = Place::new();
    let directory = other.data();
    let directory = directory.to_str().unwrap();
    move_to(&place, directory, &[(URL, &url)]);
    let mut list = Vec::new();
    for directory in [other.data().join("rooms"), other.data()] {
        let entries = std::fs::read_dir(directory).unwrap().flatten();
        list.extend(entries.map(|entry| entry.path()));
    }
    list.retain(|path| *path != other.data().join("rooms"));
    let list = serde_json::json!(list).to_string();
    std::fs::write(other.data().join("madoguchi.db-restoring"), list).unwrap();
    other
        .run_line("keys list")
        .fails_with("RESTORE_INTERRUPTED");
    let refused = place.run_with(&["keys", "list"], &[(URL, &url)]);
    refused.fails_with("DATA_MOVED");
    move_to(&place, directory, &[(URL, &url)]);
    let keys = other.run_line("keys list --json").ok().json();
    assert_eq!(keys[0]["name"], "phone");
}
