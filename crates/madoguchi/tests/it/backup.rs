//! Backups from outside: made while a desk is at work, restored elsewhere, and refused
//! when they are not what they should be.

mod interrupted;
mod load;
mod refused;
mod restored;

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt, path::Path, process::Command};

use serde_json::Value;

use crate::{
    audit::{Trail, files},
    harness::{Desk, Output, Place, mentions},
};

/// Reminders need no approval, messages do, and nobody waits for it.
const CONFIG: &str = "[approval]\nhold_seconds = 0\n\
    tools = { \"innervoice.reminder_create\" = \"allow\" }\n\
    [limits.requests_per_minute]\ninnervoice = 100000\n";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Makes a backup in the place and returns what the command said.
fn back_up(place: &Place) -> Value {
    let file = place.path().join("backup.tar");
    let made = place.run(&["backup", text(&file), "--overwrite", "--json"]);
    made.ok().json()
}

/// A new place with a backup restored into it.
fn restore(backup: &Place) -> (Place, Value) {
    let place = Place::new();
    let file = backup.path().join("backup.tar");
    let restored = place.run(&["restore", text(&file), "--json"]).ok().json();
    (place, restored)
}

/// All files of an installation with their contents, without the database.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = files(directory).into_iter().map(|path| {
        let name = path.strip_prefix(directory).unwrap();
        (text(name).to_owned(), std::fs::read(&path).unwrap())
    });
    all.collect()
}

#[tokio::test]
async fn a_backup_has_everything_and_belongs_to_its_owner_alone() {
    let desk = Desk::setup().config(CONFIG).start().await;
    let place = desk.place.clone();
    std::fs::create_dir_all(place.data().join("assets/tea")).unwrap();
    std::fs::write(place.data().join("assets/tea/緑茶.png"), "a picture").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.data().join("assets/link")).unwrap();
    let general = serde_json::json!({ "roomName": "general", "agentName": "me" });
    desk.ok("rooms", "create_room", general).await;
    let key = place.create_key(&["phone"]);
    let made = back_up(&place);
    assert_eq!(made["has_secret"], true);
    let link = place.data().join("assets/link");
    assert_eq!(made["skipped"], serde_json::json!([text(&link)]));
    let file = place.path().join("backup.tar");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let verified = place.run(&["restore", "--verify", text(&file)]).ok();
    mentions(&verified.stdout, &["ok", "all checksums match"]);
    drop(desk);
    let (other, restored) = restore(&place);
    assert_eq!(restored["keys"][0]["name"], "phone");
    let data = contents(&other.data());
    for name in [
        "madoguchi.db",
        "desk.secret",
        "assets/tea/緑茶.png",
        "rooms/rooms.json",
        "rooms/rooms/general/messages.jsonl",
    ] {
        assert!(data.contains_key(name), "{name} of {:?}", data.keys());
    }
    assert_eq!(data["assets/tea/緑茶.png"], b"a picture");
    assert!(data.keys().any(|name| name.starts_with("audit/text/")));
    for path in files(&other.data()) {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    // The key of the old desk opens the new one.
    let desk = Desk::setup().place(&other).config(CONFIG).start().await;
    let listed = desk
        .call_as(&key, "innervoice", "reminder_list", serde_json::json!({}))
        .await;
    assert_eq!(listed.status, 200, "{}", listed.text());
    Trail::of(&other).verified();
}

#[tokio::test]
async fn a_file_is_replaced_only_when_asked_to_and_never_half() {
    let place = Place::new();
    let nothing = place.run_line("backup backup.tar");
    nothing.fails_with("NOTHING_TO_BACK_UP");
    place.create_key(&["phone"]);
    place.file("backup.tar", "precious");
    let refused = place.run_line("backup backup.tar");
    refused.fails_with("FILE_EXISTS");
    let kept = std::fs::read_to_string(place.path().join("backup.tar")).unwrap();
    assert_eq!(kept, "precious");
    let made = place.run_line("backup backup.tar --overwrite").ok();
    mentions(
        &made.stdout,
        &[
            "Everything that was answered before",
            "desk's secret",
            ".todo/",
        ],
    );
    place.run_line("restore --verify backup.tar").ok();
    place
        .run_line("backup missing/backup.tar")
        .fails_with("BACKUP_UNWRITABLE");
    // Never a device or a link, and never where everybody can fetch it.
    std::os::unix::fs::symlink("/dev/null", place.path().join("link.tar")).unwrap();
    for name in ["link.tar", "data"] {
        let said = place.run(&["backup", name, "--overwrite"]).failed();
        mentions(&said, &["not a plain file"]);
    }
    std::fs::create_dir_all(place.data().join("assets/a")).unwrap();
    place
        .run_line("backup data/assets/a/backup.tar")
        .fails_with("FILE_IS_PUBLIC");
    // No temporary files are left.
    let hidden = std::fs::read_dir(place.path()).unwrap().flatten();
    let hidden = hidden.filter(|it| it.file_name().to_string_lossy().starts_with(".madoguchi"));
    assert_eq!(hidden.count(), 0);
}

/// A shell allows 1,024 open files, and a room has a lock, a log and perhaps an archive.
#[test]
fn more_rooms_than_a_process_may_open_files_are_backed_up() {
    let place = Place::new();
    place
        .run_line("call rooms create_room {\"roomName\":\"r\"}")
        .ok();
    let rooms = place.data().join("rooms/rooms");
    for number in 0..80 {
        let room = rooms.join(format!("r{number}"));
        std::fs::create_dir(&room).unwrap();
        std::fs::write(room.join("messages.jsonl"), "").unwrap();
    }
    let mut command = Command::new("sh");
    place.enter(&mut command);
    command.env("MADOGUCHI_DATA", place.data()).args([
        "-c",
        "ulimit -S -n 100 && exec \"$0\" backup backup.tar --json",
        env!("CARGO_BIN_EXE_madoguchi"),
    ]);
    let made = Output::of(&mut command, "").ok().json();
    assert!(made["parts"].as_u64().unwrap() > 80, "{made}");
}

#[tokio::test]
async fn without_the_secret_the_keys_do_not_work() {
    let place = Place::new();
    let key = place.create_key(&["phone"]);
    let made = place.run_line("backup backup.tar --without-secret").ok();
    mentions(&made.stdout, &["desk.secret: without it"]);
    let other = Place::new();
    let file = place.path().join("backup.tar");
    let said = other.run(&["restore", text(&file)]).ok().stdout;
    mentions(&said, &["has no secret", "keys create NAME"]);
    assert!(!other.data().join("desk.secret").exists());
    let desk = Desk::setup().place(&other).start().await;
    let list = serde_json::json!({});
    let refused = desk
        .call_as(&key, "innervoice", "reminder_list", list)
        .await;
    assert_eq!(refused.status, 401);
}
