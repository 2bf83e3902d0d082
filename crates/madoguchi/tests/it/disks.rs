//! Disks that are full, damaged or gone, under a running desk: errors say what is wrong,
//! `/readyz` and `doctor` too, nothing acknowledged is lost, and work goes on by itself.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    path::Path,
    process::{Child, Command},
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{Desk, Output, Place, mentions, refused, structured};

async fn on(disk: &Path) -> Desk {
    let disk = disk.to_str().unwrap();
    let desk = Desk::setup().argument("--data").argument(disk);
    desk.start().await
}

fn doctor(data: &Path) -> Output {
    let place = Place::new();
    let mut command = place.command();
    command.env("MADOGUCHI_DATA", data);
    command.args(["doctor", "--json"]);
    Output::of(&mut command, "")
}

/// What `doctor` says about the store.
fn store(data: &Path) -> Value {
    let report = doctor(data).json();
    let findings = report["findings"].as_array().unwrap();
    let store = findings.iter().find(|finding| finding["what"] == "store");
    store.unwrap_or_else(|| panic!("{report}")).clone()
}

async fn cart(desk: &Desk) -> Value {
    let plan = json!({"items": [{"product_id": 1, "quantity": 1}]});
    let arguments = json!({"cart_plan": plan, "products": [{"id": 1}], "reserve": false});
    desk.call("merchant", "build_cart_mandates", arguments)
        .await
}

async fn is_kept(desk: &Desk, cart: &Value) {
    let id = &structured(cart)["cart_mandate"]["contents"]["id"];
    let found = desk
        .ok("merchant", "get_cart_mandate", json!({"cart_id": id}))
        .await;
    assert_eq!(&found["cart_mandate"]["contents"]["id"], id);
}

/// An unlinked file takes every write and forgets it with the process.
#[tokio::test]
async fn nothing_is_acknowledged_while_the_data_directory_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let desk = on(&data).await;
    let before = cart(&desk).await;
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&data, &elsewhere).unwrap();
    let answer = cart(&desk).await;
    refused(&answer, "STORAGE_ERROR");
    let gone = &["removed or replaced", "Nothing was changed"];
    mentions(&answer.to_string(), gone);
    mentions(&desk.answers_readyz(503).await, &["removed or replaced"]);
    let probe = ["healthcheck", "--port", &desk.port.to_string()];
    desk.place.run(&probe).fails_with("NOT_READY");
    // Another database in its place is not the one that callers were told about.
    fs::create_dir_all(&data).unwrap();
    fs::copy(elsewhere.join("madoguchi.db"), data.join("madoguchi.db")).unwrap();
    refused(&cart(&desk).await, "STORAGE_ERROR");

    // The audit trail makes the directory anew to write there.
    let put_back = || fs::remove_dir_all(&data).and_then(|()| fs::rename(&elsewhere, &data));
    while put_back().is_err() {
        assert!(elsewhere.exists());
    }
    desk.answers_readyz(200).await;
    is_kept(&desk, &cart(&desk).await).await;
    is_kept(&desk, &before).await;
}

/// Stops a desk whose database is in one file then.
async fn stopped(data: &Path) -> u64 {
    let mut desk = on(data).await;
    cart(&desk).await;
    desk.signal("TERM");
    assert!(desk.ended().await.success());
    fs::metadata(data.join("madoguchi.db")).unwrap().len()
}

#[tokio::test]
async fn a_damaged_page_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let length = stopped(&data).await;
    // From the second page on: the first one makes it a database.
    let mut file = fs::File::options()
        .write(true)
        .open(data.join("madoguchi.db"))
        .unwrap();
    let half = length / 4096 / 2 * 4096;
    for page in [half, half + 8192, length - 4096] {
        file.seek(SeekFrom::Start(page)).unwrap();
        file.write_all(&[0x5a; 4096]).unwrap();
    }
    drop(file);
    let found = store(&data);
    assert_eq!(found["ok"], false, "{found}");
    mentions(&found.to_string(), &["damaged", "restore a backup"]);
}

#[tokio::test]
async fn a_database_that_is_cut_off_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let length = stopped(&data).await;
    let file = fs::File::options()
        .write(true)
        .open(data.join("madoguchi.db"))
        .unwrap();
    file.set_len(length / 2).unwrap();
    let found = store(&data);
    assert_eq!(found["ok"], false, "{found}");
    mentions(&found.to_string(), &["damaged", "restore a backup"]);
}

/// A disk on which some calls fail for some files of a desk, until this is dropped.
struct BrokenDisk(Child);

impl BrokenDisk {
    fn new(desk: &Desk, files: &[&Path], calls: &str, error: &str) -> Self {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null"]);
        strace.args(["-p", &desk.pid().to_string()]);
        strace.args(files.iter().flat_map(|file| [Path::new("-P"), file]));
        let failing = format!("inject={calls}:error={error}");
        strace.args(["-e", &format!("trace={calls}"), "-e", &failing]);
        let strace = strace.spawn().unwrap();
        while !is_traced(desk.pid()) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Self(strace)
    }
}

/// Whether all threads of a process are traced. One that has just ended counts.
fn is_traced(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let mut states =
        threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("status")));
    states.all(|state| !state.is_ok_and(|text| text.contains("TracerPid:\t0")))
}

impl Drop for BrokenDisk {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_full_disk_is_named_and_work_goes_on_when_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let desk = on(&data).await;
    let before = cart(&desk).await;
    let log = data.join("madoguchi.db-wal");
    let full = BrokenDisk::new(&desk, &[&log], "pwrite64", "ENOSPC");
    let answer = cart(&desk).await;
    refused(&answer, "STORAGE_ERROR");
    mentions(&answer.to_string(), &["disk", "full", "free some space"]);
    mentions(&desk.answers_readyz(503).await, &["disk", "full"]);
    // Reading goes on.
    is_kept(&desk, &before).await;
    // Nobody calls a desk that is not ready, so it has to notice by itself.
    drop(full);
    desk.answers_readyz(200).await;
    is_kept(&desk, &cart(&desk).await).await;
    is_kept(&desk, &before).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn errors_of_the_disk_are_refusals_and_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let desk = on(&data).await;
    let room = json!({"roomName": "a", "agentName": "x"});
    desk.ok("rooms", "create_room", room).await;
    let say = async |text: &str| {
        let arguments = json!({"roomName": "a", "agentName": "x", "message": text});
        desk.call("rooms", "send_message", arguments).await
    };
    structured(&say("before").await);
    let before = cart(&desk).await;
    let (log, room) = (
        data.join("madoguchi.db-wal"),
        data.join("rooms/rooms/a/messages.jsonl"),
    );
    let broken = BrokenDisk::new(&desk, &[&log, &room], "fdatasync,fsync", "EIO");
    for _ in 0..3 {
        refused(&cart(&desk).await, "STORAGE_ERROR");
        refused(&say("meanwhile").await, "STORAGE_ERROR");
    }
    mentions(&desk.answers_readyz(503).await, &["database", "can't be"]);
    is_kept(&desk, &before).await;
    drop(broken);

    desk.answers_readyz(200).await;
    let after = cart(&desk).await;
    structured(&say("after").await);
    drop(desk);
    let desk = on(&data).await;
    is_kept(&desk, &before).await;
    is_kept(&desk, &after).await;
    let found = desk
        .ok("rooms", "get_messages", json!({"roomName": "a"}))
        .await;
    let texts = found["messages"].as_array().unwrap().iter();
    let texts: Vec<&Value> = texts.map(|message| &message["message"]).collect();
    assert_eq!(texts, ["after", "before"]);
}

/// Once it was mapped into memory, and reading the missing part killed the process.
#[tokio::test]
async fn a_search_index_that_is_cut_off_under_a_desk_does_not_kill_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let desk = on(&data).await;
    let search = json!({"keywords": ["カレンダー"], "limit": 5});
    let find = async || desk.ok("merchant", "search_products", search.clone()).await;
    let mut found = find().await;
    while found["fallback"] == true {
        tokio::time::sleep(Duration::from_millis(50)).await;
        found = find().await;
    }
    let mut cut = 0;
    for index in fs::read_dir(data.join("search")).unwrap() {
        let index = index.unwrap().path();
        for file in fs::read_dir(index).unwrap().flatten() {
            let path = file.path();
            let ending = path.extension().unwrap_or_default();
            if ending != "json" && ending != "lock" {
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_len(0).unwrap();
                cut += 1;
            }
        }
    }
    assert!(cut > 0);
    for word in ["カレンダー", "mug", "シューズ", "a", "2025"] {
        let search = json!({"keywords": [word], "limit": 5});
        let answer = desk.call("merchant", "search_products", search).await;
        assert_ne!(answer["isError"], true, "{answer}");
    }
    desk.answers_readyz(200).await;
}
