//! Heads reveal what was removed: those that a process keeps apart from its records, and
//! those that are stored elsewhere.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{
    Trail, lines,
    trail::{on_both, store_of},
};
use crate::harness::{Desk, Place, mentions};

async fn write(desk: &Desk, times: usize) {
    for _ in 0..times {
        desk.ok("fixture", "fixture_write", json!({})).await;
    }
}

async fn stop(desk: &mut Desk, signal: &str) {
    desk.signal(signal);
    desk.ended().await;
}

#[tokio::test]
async fn a_newest_segment_that_was_cut_off_after_a_kill_is_noticed() {
    let mut desk = Desk::start().await;
    write(&desk, 3).await;
    stop(&mut desk, "KILL").await;
    let trail = Trail::of(&desk.place);
    assert_eq!(trail.verified()["without_head"], json!([]));
    let segment = trail.segments().remove(0);
    let name = segment.file_stem().unwrap().to_str().unwrap().to_owned();
    let good = fs::read(&segment).unwrap();

    fs::remove_file(&segment).unwrap();
    mentions(&trail.broken(), &[&name, "the segment is missing"]);
    // The last record, as a damaged file system would.
    fs::write(&segment, &good[..good.len() - 10]).unwrap();
    let said = format!("{name} line 4: it ends here, but the head that its process kept saw 4");
    mentions(&trail.broken(), &[&said]);
    fs::write(&segment, &good).unwrap();
    trail.verified();

    // The next desk completes what it can, and does not hide what is missing.
    fs::write(&segment, &good[..good.len() - 10]).unwrap();
    let mut next = Desk::setup().place(&desk.place).start().await;
    write(&next, 1).await;
    next.logs("that records are lost", |entry| {
        let message = "the audit segment of a process that had crashed has lost records";
        entry["message"] == message && entry["records"] == 4
    })
    .await;
    stop(&mut next, "TERM").await;
    let said = format!("{name} line 4: it ends here, but was sealed with 4 records");
    mentions(&trail.broken(), &[&said]);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rows_removed_after_a_kill_are_noticed() {
    let trail = Trail {
        place: Place::new(),
        url: Some(store::testing::Postgres::shared().create_database()),
    };
    let url = trail.url.clone().unwrap();
    let mut desk = Desk::setup()
        .place(&trail.place)
        .database(&url)
        .start()
        .await;
    write(&desk, 3).await;
    stop(&mut desk, "KILL").await;
    trail.verified();
    let store = store_of(&url).await;
    for (statement, said) in [
        (
            "DELETE FROM desk_audit WHERE seq = 4",
            "line 4: it ends here, but the head that its process kept saw 4",
        ),
        ("DELETE FROM desk_audit", "the segment is missing"),
    ] {
        let remove = move |sql: &mut dyn kit::Sql| sql.execute(statement, &[]);
        let removed = store.transaction(Default::default(), remove);
        assert!(removed.await.unwrap() > 0);
        mentions(&trail.broken(), &[said]);
    }
}

/// A file beside the trail, and its name as an argument.
fn file(trail: &Trail, name: &str, text: &str) -> String {
    trail.place.file(name, text).to_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_signed_head_shows_later_that_nothing_was_removed_on_both_engines() {
    for (mut desk, trail) in on_both("").await {
        write(&desk, 2).await;
        let shown = trail.run(&["head"]).ok().stdout;
        let signed = trail.run(&["head", "--sign"]).ok().stdout;
        let head = lines(&signed).remove(0);
        assert_eq!(head["segments"][0]["seq"], 3, "{head}");
        mentions(&shown, &[head["segments"][0]["hash"].as_str().unwrap()]);
        let unsigned = trail.run(&["head", "--json"]).ok().stdout;
        let key = trail.run(&["head", "--public-key"]).ok().stdout;
        let head_file = file(&trail, "head.json", &signed);
        let key_file = file(&trail, "key.json", &key);
        let unsigned_file = file(&trail, "unsigned.json", &unsigned);
        write(&desk, 1).await;
        stop(&mut desk, "TERM").await;

        let against = ["verify", "--json", "--against", &head_file];
        assert_eq!(trail.run(&against).ok().json()["heads"], 1);
        let with_key = [&against[..], &["--key", &key_file]].concat();
        trail.run(&with_key).ok();
        trail.run(&["verify", "--against", &unsigned_file]).ok();
        let unsigned = ["verify", "--against", &unsigned_file, "--key", &key_file];
        trail.run(&unsigned).fails_with("HEAD_REFUSED");
        let forged = file(
            &trail,
            "forged.json",
            &signed.replace("Z\",\"hash", "Y\",\"hash"),
        );
        let forged = ["verify", "--against", &forged];
        trail.run(&forged).fails_with("HEAD_REFUSED");
        let nothing = file(&trail, "nothing.json", "{}");
        let nothing = ["verify", "--against", &nothing];
        trail.run(&nothing).fails_with("HEAD_UNREADABLE");

        // Another installation has another key, and not these records.
        let other = Trail::of(&Place::new());
        let there = ["verify", "--against", &head_file];
        other.run(&there).fails_with("HEAD_REFUSED");
        let there = [&there[..], &["--key", &key_file]].concat();
        let said = other.run(&there);
        assert_eq!(said.code, Some(1), "{said:?}");
        mentions(&said.stdout, &["BROKEN", "the head of"]);

        // Everything is removed, and what vouches for it.
        match &trail.url {
            None => fs::remove_dir_all(trail.directory()).unwrap(),
            Some(url) => {
                let store = store_of(url).await;
                let remove = |sql: &mut dyn kit::Sql| sql.execute("DELETE FROM desk_audit", &[]);
                store.transaction(Default::default(), remove).await.unwrap();
            }
        }
        trail.verified();
        let said = trail.run(&with_key);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_eq!(said.json()["ok"], false);
    }
}

/// The heads in a file, once the newest has these segments.
async fn shipped(path: &PathBuf, segments: &[i64]) -> Vec<Value> {
    for _ in 0..300 {
        let heads = lines(&fs::read_to_string(path).unwrap_or_default());
        let newest = heads.last().and_then(|head| head["segments"].as_array());
        if newest.is_some_and(|newest| newest.iter().map(|one| &one["seq"]).eq(segments)) {
            return heads;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no {segments:?}: {:?}", fs::read_to_string(path));
}

#[tokio::test]
async fn heads_are_appended_to_a_file_while_records_are_added() {
    let place = Place::new();
    let path = place.path().join("heads.jsonl");
    let config = format!("[audit]\nship_to = {path:?}\nship_seconds = 1\n");
    let mut desk = Desk::setup().place(&place).config(&config).start().await;
    write(&desk, 1).await;
    shipped(&path, &[2]).await;
    write(&desk, 1).await;
    // One more if a head was sent between the two records of a call.
    let sent = shipped(&path, &[3]).await.len();
    // Nothing is new, so nothing is sent.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(shipped(&path, &[3]).await.len(), sent);
    let metrics = desk.get("/metrics").await.text();
    let counted = format!("madoguchi_audit_heads_sent_total {sent}\n");
    mentions(&metrics, &[&counted]);
    stop(&mut desk, "TERM").await;
    let all = shipped(&path, &[]).await;
    assert_eq!(all.len(), sent + 1);
    assert_eq!(all[sent]["checkpoints"]["seq"], 1);
    let trail = Trail::of(&place);
    let path = path.to_str().unwrap();
    let against = ["verify", "--json", "--against", path];
    assert_eq!(trail.run(&against).ok().json()["heads"], sent + 1);
    fs::remove_dir_all(trail.directory()).unwrap();
    let said = trail.run(&["verify", "--against", path]);
    assert_eq!(said.code, Some(1), "{said:?}");
}

/// A receiver that refuses the first requests.
async fn receiver(refusals: usize) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/heads", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&received);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let body = loop {
                let length = stream.read(&mut part).await.unwrap();
                bytes.extend_from_slice(&part[..length]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((_, body)) = text.split_once("\r\n\r\n")
                    && serde_json::from_str::<Value>(body).is_ok()
                {
                    break body.to_owned();
                }
            };
            let count = {
                let mut seen = seen.lock().unwrap();
                seen.push(body);
                seen.len()
            };
            let status = if count <= refusals {
                "503 Busy"
            } else {
                "204 OK"
            };
            let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, received)
}

#[tokio::test]
async fn heads_are_posted_until_the_receiver_takes_them() {
    let (url, received) = receiver(2).await;
    let place = Place::new();
    let config = format!("[audit]\nship_to = {url:?}\nship_seconds = 1\n");
    let mut desk = Desk::setup().place(&place).config(&config).start().await;
    write(&desk, 1).await;
    desk.logs("that heads can't be sent", |entry| {
        entry["message"] == "heads of the audit trail can't be sent: the receiver answered 503 Service Unavailable"
    })
    .await;
    desk.logs("that heads are sent again", |entry| {
        entry["message"] == "heads of the audit trail are sent again"
    })
    .await;
    stop(&mut desk, "TERM").await;
    let received = received.lock().unwrap().clone();
    assert_eq!(received[0], received[2], "the same head is sent again");
    let heads = file(&Trail::of(&place), "heads.jsonl", &received[2..].concat());
    let trail = Trail::of(&place);
    let verified = trail.run(&["verify", "--json", "--against", &heads]).ok();
    assert!(verified.json()["heads"].as_u64() >= Some(2), "{verified:?}");
}
