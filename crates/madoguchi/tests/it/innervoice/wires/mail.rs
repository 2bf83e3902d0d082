//! A mail server as providers run them.

use serde_json::{Value, json};

use super::{Caller, Certified};
use crate::harness::{Peer, mentions};

const SERVER: &str = "smtp_server.py";

fn settings(url: &str) -> String {
    format!("language = \"en\"\nsmtp_from = \"Me <me@example.com>\"\nsmtp_url = \"{url}\"\n")
}

fn url(kind: &str, password: &str, port: u16) -> String {
    match kind {
        "starttls" => format!("smtp://me:{password}@127.0.0.1:{port}?tls=required"),
        _ => format!("smtps://me:{password}@127.0.0.1:{port}"),
    }
}

/// A server that demands encryption of this kind, and a login.
async fn strict_server(certified: &Certified, kind: &str) -> Peer {
    let (cert, key) = (&*certified.cert, &*certified.key);
    let arguments = ["--tls", kind, cert, key, "--login", "me", "secret"];
    Peer::start(SERVER, &arguments).await
}

fn is_taken(one: &Value) -> bool {
    one.get("taken").is_some()
}

/// What `doctor` says about the mail server.
fn doctor(certified: &Certified, settings: &str) -> Value {
    let config = format!("[http]\nport = 0\n[innervoice]\n{settings}");
    let file = certified.place.file("doctor.toml", &config);
    let (name, authority) = certified.trust();
    let arguments = ["doctor", "--json", "--config", file.to_str().unwrap()];
    let report = certified.place.run_with(&arguments, &[(name, &authority)]);
    let report = report.json();
    let mut findings = report["findings"].as_array().unwrap().iter();
    let smtp = findings.find(|one| one["what"] == "smtp");
    smtp.unwrap_or_else(|| panic!("{report}")).clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_mail_is_encrypted_and_sent_after_a_login() {
    for kind in ["starttls", "smtps"] {
        let certified = Certified::new();
        let server = strict_server(&certified, kind).await;
        let settings = settings(&url(kind, "secret", server.port));
        let desk = certified.desk(&settings).await;
        let mut caller = Caller::new(&desk).await;
        let sent = caller.send("hello").await;
        caller.becomes("sent").await;
        let late = json!({ "id": sent["id"] });
        let late = caller.call("message.cancel", late).await;
        assert_eq!(late["code"], "TOO_LATE_TO_CANCEL", "{late}");
        let taken = server.so_far(is_taken);
        assert_eq!(taken.len(), 1, "{kind}: {taken:?}");
        assert_eq!(taken[0]["by"], "me", "{kind}");
        let logins = server.so_far(|one| one.get("login").is_some());
        for one in taken.iter().chain(&logins) {
            assert_eq!(one["encrypted"], true, "{kind}: {one}");
        }
        assert_eq!(doctor(&certified, &settings)["ok"], true, "{kind}");
    }
}

/// A wrong password, a certificate of somebody else, a server that does not encrypt:
/// what was to be sent waits until the operator has corrected it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn messages_wait_for_a_mail_server_that_does_not_let_us_in() {
    let certified = Certified::new();
    let server = strict_server(&certified, "starttls").await;
    let open = Peer::start(SERVER, &[]).await;
    let right = settings(&url("starttls", "secret", server.port));
    let wrong = settings(&url("starttls", "wrong", server.port));
    let elsewhere = settings(&url("starttls", "secret", open.port));
    let no_starttls = "The mail server can't be used: STARTTLS is not supported on this server.";
    for (number, (settings, trusts, why)) in [
        (&wrong, true, "The mail server answered 535."),
        (
            &right,
            false,
            "The certificate of the mail server is not trusted.",
        ),
        (&elsewhere, true, no_starttls),
    ]
    .into_iter()
    .enumerate()
    {
        let desk = certified.desk_that(trusts, settings).await;
        let mut caller = Caller::new(&desk).await;
        caller
            .send_to(&format!("number-{number}@example.com"), "hello")
            .await;
        assert_eq!(caller.fails_with(why).await["status"], "queued");
        if trusts {
            let found = doctor(&certified, settings);
            assert_eq!(found["ok"], false, "{found}");
            mentions(
                &found.to_string(),
                &["SMTP_UNREACHABLE", "does not let us in"],
            );
        }
    }
    assert_eq!(server.so_far(is_taken).len(), 0);
    // The password was not said to a server that could be anybody.
    assert_eq!(open.so_far(|one| one.get("login").is_some()).len(), 0);

    let desk = certified.desk(&right).await;
    let (messages, _) = Caller::new(&desk).await.settled().await;
    assert_eq!(messages.len(), 3);
    for (address, message) in &messages {
        assert_eq!(message["status"], "sent", "{address}: {message}");
        let taken = server.so_far(|one| is_taken(one) && one["to"] == **address);
        assert_eq!(taken.len(), 1, "{address}");
    }
}

/// Each class of refusal, at each step. What a recipient is called says how the server
/// treats it at each attempt.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_temporary_refusal_is_retried_and_a_final_one_is_reported() {
    const CASES: [(&str, &str, u64, &str); 9] = [
        ("rcpt-450.accept", "sent", 2, ""),
        ("data-451.accept", "sent", 2, ""),
        ("data-452.rcpt-421.accept", "sent", 3, ""),
        ("cut.accept", "sent", 2, ""),
        ("rcpt-550", "failed", 1, "The mail server answered 550."),
        ("rcpt-553", "failed", 1, "The mail server answered 553."),
        ("data-552", "failed", 1, "The mail server answered 552."),
        ("data-554", "failed", 1, "The mail server answered 554."),
        (
            "data-451.data-550",
            "failed",
            2,
            "The mail server answered 550.",
        ),
    ];
    let server = Peer::start(SERVER, &[]).await;
    let certified = Certified::new();
    let url = format!("smtp://127.0.0.1:{}", server.port);
    let desk = certified.desk(&settings(&url)).await;
    let mut caller = Caller::new(&desk).await;
    for (manners, ..) in CASES {
        caller
            .send_to(&format!("{manners}@example.com"), manners)
            .await;
    }
    let (messages, said) = caller.settled().await;
    mentions(&said, &["5 could not be sent."]);
    for (manners, status, attempts, why) in CASES {
        let address = format!("{manners}@example.com");
        let message = &messages[&address];
        assert_eq!(message["status"], status, "{message}");
        assert_eq!(message["attempts"], attempts, "{message}");
        assert_eq!(
            message["last_error"].as_str().unwrap_or_default(),
            why,
            "{message}"
        );
        let taken = server.so_far(|one| is_taken(one) && one["to"] == *address);
        let ends: Vec<_> = taken
            .iter()
            .map(|one| one["taken"].as_str().unwrap())
            .collect();
        let expected: &[&str] = match manners {
            "cut.accept" => &["cut", "accept"],
            _ if status == "sent" => &["accept"],
            _ => &[],
        };
        assert_eq!(ends, expected, "{manners}");
        // A server that has a message already recognises it.
        assert!(
            taken.iter().all(|one| one["id"] == taken[0]["id"]),
            "{taken:?}"
        );
    }
}

/// A server that greets with a refusal has not seen the message, so even a final one
/// says nothing about it.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_refusal_to_talk_at_all_is_not_about_the_message() {
    // The second 554 is for the question whether it refuses everything.
    let greetings = ["--greet", "421", "--greet", "554", "--greet", "554"];
    let server = Peer::start(SERVER, &greetings).await;
    let certified = Certified::new();
    let url = format!("smtp://127.0.0.1:{}", server.port);
    let desk = certified.desk(&settings(&url)).await;
    let mut caller = Caller::new(&desk).await;
    caller.send("hello").await;
    let sent = caller.becomes("sent").await;
    assert_eq!(sent["attempts"], 3, "{sent}");
    assert_eq!(server.so_far(is_taken).len(), 1);
}
