//! Certificates that can't be used, and keys that others can read.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;

use crate::harness::{
    Output, Place,
    tls::{self, Authority, Pair},
};

/// What `config check`, `doctor` and `serve` say of a pair.
fn judged(place: &Place) -> [String; 3] {
    let file = place.file("madoguchi.toml", &tls::config(place));
    let file = file.to_str().unwrap();
    let check = place.run(&["config", "check", file]).failed();
    let doctor = place.run(&["doctor", "--config", file]);
    assert_ne!(doctor.code, Some(0), "{}", doctor.stdout);
    let serve = place.run(&[
        "serve",
        "--config",
        file,
        "--merchant-port",
        "0",
        "--innervoice-port",
        "0",
    ]);
    [check, doctor.stdout, serve.failed()]
}

#[test]
fn unusable_certificates_are_refused_at_start() {
    let authority = Authority::new();
    let good = authority.issue();
    let other = authority.issue();
    let expired = authority.issue_expired();
    let early = authority.issue_with(|params| params.not_before = rcgen::date_time_ymd(2900, 1, 1));
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let pair = |cert: &str, key: &str| Pair {
        cert: cert.into(),
        key: key.into(),
        der: good.der.clone(),
    };
    for (pair, said) in [
        (
            pair(&good.cert, &other.key),
            "is not that of the certificate",
        ),
        (pair(&good.key, &good.key), "There is no certificate in"),
        (pair(&good.cert, &good.cert), "There is no private key in"),
        (pair("hello", &good.key), "There is no certificate in"),
        (pair(&good.cert, locked), "has a passphrase"),
        (expired, "ended on 2020-12-31"),
        (early, "begins only on 2900-01-01"),
    ] {
        let place = Place::new();
        pair.install(&place);
        for text in judged(&place) {
            assert!(text.contains("INVALID_TLS"), "{text}");
            assert!(text.contains(said), "{said}: {text}");
            assert!(text.contains("[tls]") || text.contains("clock"), "{text}");
        }
    }
    // Files that are not there, and half a pair.
    let place = Place::new();
    for text in judged(&place) {
        assert!(text.contains("desk.pem can't be read"), "{text}");
    }
    let file = place.file("half.toml", "[tls]\ncert = 'desk.pem'\n");
    let said = place.run(&["config", "check", file.to_str().unwrap()]);
    said.fails_with("key in [tls] is missing");
}

#[tokio::test]
async fn a_private_key_that_others_can_read_causes_a_warning() {
    let (desk, authority) = tls::start("").await;
    assert!(!desk.log().contains("chmod"), "{}", desk.log());
    let key = desk.place.path().join("desk.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    desk.signal("HUP");
    let warns = |entry: &Value| {
        let text = entry["message"].as_str().unwrap_or_default();
        entry["level"] == "WARN" && text.contains("chmod 600")
    };
    desk.logs("a warning", warns).await;

    let config = desk.config();
    let doctor = ["doctor", "--config", config.to_str().unwrap()];
    let said = desk.place.run(&doctor).stdout;
    assert!(said.contains("chmod 600"), "{said}");
    // It knows a running desk for one, although it asks without TLS.
    let port = desk.port.to_string();
    let mut command = desk.place.command();
    command.args(doctor).env("MADOGUCHI_HTTP__PORT", &port);
    let said = Output::of(&mut command, "").stdout;
    assert!(said.contains("is served by a desk"), "{said}");

    // One that ends soon, likewise.
    let soon = jiff::Timestamp::now().as_second() + 3 * 24 * 60 * 60;
    let soon = authority.issue_with(|params| {
        params.not_after = time::OffsetDateTime::from_unix_timestamp(soon).unwrap();
    });
    soon.install(&desk.place);
    let said = desk.place.run(&doctor).stdout;
    assert!(said.contains("; the certificate ends on"), "{said}");
}
