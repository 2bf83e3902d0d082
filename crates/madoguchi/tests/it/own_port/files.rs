//! Files that a counter's own port serves.

use std::{fs, os::unix::fs::symlink};

use super::desk;
use crate::harness::{Answer, Desk, request};

const CALENDAR: &str =
    "/assets/%E3%82%80%E3%81%8E%E3%81%BC%E3%83%BC%E3%82%AB%E3%83%AC%E3%83%B3%E3%83%80%E3%83%BC.png";

fn calendar() -> Vec<u8> {
    (0..300_000u32).map(|i| i as u8).collect()
}

async fn desk_with_files() -> Desk {
    let desk = desk().await;
    let assets = desk.place.data().join("assets");
    fs::create_dir_all(assets.join("more")).unwrap();
    fs::write(assets.join("むぎぼーカレンダー.png"), calendar()).unwrap();
    // As an archive from a Mac leaves it: the dots apart from the letter.
    fs::write(assets.join("は\u{3099}.png"), "ば").unwrap();
    fs::write(assets.join("more/A B.SVG"), "<svg/>").unwrap();
    fs::write(assets.join("unknown.xyz"), "?").unwrap();
    fs::write(assets.join(".hidden.png"), "?").unwrap();
    fs::write(assets.join("empty.txt"), "").unwrap();
    symlink(assets.join("unknown.xyz"), assets.join("inside.png")).unwrap();
    symlink(
        desk.place.data().join("madoguchi.db"),
        assets.join("out.png"),
    )
    .unwrap();
    symlink("/etc", assets.join("etc")).unwrap();
    desk
}

async fn get(desk: &Desk, path: &str) -> Answer {
    request(desk.own_port, "GET", path, &[], "").await
}

#[tokio::test]
async fn files_are_served_with_their_types() {
    let desk = desk_with_files().await;
    let answer = get(&desk, CALENDAR).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("image/png"));
    assert_eq!(answer.header("content-length"), Some("300000"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(answer.body == calendar());
    let tag = answer.header("etag").unwrap();
    let again = request(
        desk.own_port,
        "GET",
        CALENDAR,
        &[("if-none-match", tag)],
        "",
    )
    .await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = request(desk.own_port, "HEAD", CALENDAR, &[], "").await;
    assert_eq!((head.status, head.body.len()), (200, 0));

    for (path, kind) in [
        ("/assets/%E3%81%B0.png", "image/png"),
        ("/assets/more/A%20B.SVG", "image/svg+xml"),
        ("/assets/unknown.xyz", "application/octet-stream"),
        ("/assets/empty.txt", "text/plain; charset=utf-8"),
        ("/assets/inside.png", "image/png"),
    ] {
        let answer = get(&desk, path).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(kind)),
            "{path}"
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("sandbox"), "{path}");
    }
}

#[tokio::test]
async fn nothing_outside_of_the_folder_is_served() {
    let desk = desk_with_files().await;
    for path in [
        "/assets",
        "/assets/",
        "/assets/more",
        "/assets/more/",
        "/assets/none.png",
        "/assets/.hidden.png",
        "/assets/../madoguchi.db",
        "/assets/%2e%2e/madoguchi.db",
        "/assets/..%2fmadoguchi.db",
        "/assets/more/../../madoguchi.db",
        "/assets//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/assets/etc/passwd",
        "/assets/out.png",
        "/assets/unknown.xyz%00.png",
        "/assets/unknown.xyz/x",
        "/assets/..%5cmadoguchi.db",
    ] {
        let answer = get(&desk, path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    assert_eq!(get(&desk, "/assets/%ff.png").await.status, 400);
    assert_eq!(
        request(desk.own_port, "POST", "/assets/unknown.xyz", &[], "")
            .await
            .status,
        405
    );
    // The main port has no files.
    assert_eq!(desk.get("/assets/unknown.xyz").await.status, 404);
}
