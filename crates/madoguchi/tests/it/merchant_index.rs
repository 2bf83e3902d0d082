//! The search index of a shop whose processes are killed and whose files are
//! damaged, on a catalogue that takes a while to build.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{Desk, Place, structured};

/// More than one commit of the index, so that it can be killed between them, and
/// more than a search waits for.
const ROWS: usize = 12_000;

fn catalogue(place: &Place, length: usize) -> PathBuf {
    let mut rows = String::new();
    for id in 1..=length {
        let name = if id == length { "羅針盤" } else { "便箋" };
        let row = json!({
            "id": id, "name": format!("{name} {id}"), "price_jpy": id, "inventory_count": 1,
        });
        writeln!(rows, "{row}").unwrap();
    }
    place.file("shop.ndjson", &rows)
}

/// `import`, with its log in a pipe.
fn import(place: &Place, file: &PathBuf) -> Child {
    place
        .command()
        .args(["--log-level", "info", "import", "merchant"])
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads the log until `what` has appeared this many times.
fn says(child: &mut Child, what: &str, times: usize) {
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let said = lines
        .map_while(Result::ok)
        .filter(|line| line.contains(what));
    assert_eq!(said.take(times).count(), times, "it never said {what}");
}

/// The last product of the catalogue, or nothing.
fn called(place: &Place) -> Value {
    let search = json!({"keywords": ["羅針盤"], "limit": 5}).to_string();
    let output = place.run(&["call", "merchant", "search_products", &search]);
    output.ok().json()
}

#[track_caller]
fn is_last(answer: &Value, last: usize) {
    let ids: Vec<&Value> = answer["products"]
        .as_array()
        .unwrap()
        .iter()
        .map(|product| &product["id"])
        .collect();
    assert_eq!(ids, [&json!(last)], "{answer}");
}

/// Killed while building the index: the next process continues from what was
/// committed. Damaged later: it is rebuilt, and searches say so.
#[tokio::test]
async fn an_index_survives_kill_9_and_damage() {
    let place = Place::new();
    let file = catalogue(&place, ROWS);
    let mut importing = import(&place, &file);
    says(&mut importing, "building the search index", 2);
    importing.kill().unwrap();
    importing.wait().unwrap();

    // The rows were complete, the index was not. A call waits for it as long as it
    // can, and what is built by then stays.
    let mut answer = called(&place);
    for _ in 0..20 {
        if answer["fallback"].is_null() {
            break;
        }
        answer = called(&place);
    }
    is_last(&answer, ROWS);

    for folder in fs::read_dir(place.data().join("search")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let is_part = path
                .extension()
                .is_some_and(|end| end != "lock" && end != "json");
            if is_part && fs::metadata(&path).unwrap().len() > 0 {
                fs::write(path, b"not what was written").unwrap();
            }
        }
    }
    let desk = Desk::setup().place(&place).start().await;
    let search = json!({"keywords": ["羅針盤"], "limit": 5});
    let mut fell_back = false;
    loop {
        let result = desk
            .call("merchant", "search_products", search.clone())
            .await;
        let answer = structured(&result);
        if answer["fallback"].is_null() {
            is_last(answer, ROWS);
            break;
        }
        fell_back = true;
        let reason = answer["fallback_reason"].as_str().unwrap();
        assert!(reason.starts_with("The search index is being"), "{reason}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(fell_back, "searches do not wait for a large index");
    desk.logs("that it is damaged", |entry| {
        entry["message"] == "the search index is damaged and will be rebuilt"
    })
    .await;
}

/// Searches are answered during the import, and find what has been imported.
#[tokio::test]
async fn a_desk_serves_while_another_process_imports() {
    let desk = Desk::start().await;
    let file = catalogue(&desk.place, 3_000);
    let mut importing = import(&desk.place, &file);
    let search = json!({"keywords": ["羅針盤"], "limit": 5});
    let last = loop {
        let ended = importing.try_wait().unwrap();
        let result = desk
            .call("merchant", "search_products", search.clone())
            .await;
        let answer = structured(&result).clone();
        if answer["fallback"].is_null() {
            break answer;
        }
        assert!(ended.is_none_or(|status| status.success()));
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    is_last(&last, 3_000);
    assert!(importing.wait().unwrap().success());
    let ready = desk.get("/readyz").await;
    assert_eq!(ready.status, 200);
}
