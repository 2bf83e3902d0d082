//! What `/livez`, `/readyz` and `/metrics` tell, and to whom.

use crate::harness::{Answer, Desk, configured_keys, mentions, request};

async fn get(desk: &Desk, path: &str, key: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str())];
    let headers = if key.is_empty() { &[][..] } else { &headers };
    request(desk.port, "GET", path, headers, "").await
}

fn keys() -> String {
    let mut keys = configured_keys(&[("phone", "phone key"), ("kiosk", "kiosk key")]);
    keys.push_str("counters = [\"cinema\"]\n");
    keys
}

#[tokio::test]
async fn where_keys_are_required_readyz_tells_others_only_whether_the_desk_is_ready() {
    let config = format!("[http]\nrequire_key = true\n{}", keys());
    let desk = Desk::with_config(&config).await;
    assert_eq!(get(&desk, "/livez", "").await.text(), "ok\n");
    let ready = get(&desk, "/readyz", "").await;
    assert_eq!((ready.status, ready.text()), (200, "ready\n".into()));
    let ready = get(&desk, "/readyz", "wrong").await;
    assert_eq!((ready.status, ready.text()), (200, "ready\n".into()));
    let ready = get(&desk, "/readyz", "phone key").await.text();
    assert!(ready.starts_with("ready\n"), "{ready}");
    mentions(&ready, &["innervoice: "]);

    for key in ["", "wrong"] {
        let answer = get(&desk, "/metrics", key).await;
        assert_eq!(answer.status, 401, "{key:?}");
        assert!(answer.header("www-authenticate").is_some());
        assert!(!answer.text().contains("madoguchi_"), "{}", answer.text());
    }
    // Any key will do that opens a counter.
    for key in ["phone key", "kiosk key"] {
        let metrics = get(&desk, "/metrics", key).await;
        assert_eq!(metrics.status, 200);
        assert!(metrics.text().contains("madoguchi_calls_total"));
    }
    // One that opens a file alone does not.
    let config = desk.config();
    let file = ["reader", "--file", "innervoice/calendar.ics", "--config"];
    let reader = [&file[..], &[config.to_str().unwrap()]].concat();
    let answer = get(&desk, "/metrics", &desk.place.create_key(&reader)).await;
    assert_eq!(answer.status, 401);
}

/// Whether a key is right must not be found out here by trying.
#[tokio::test]
async fn wrong_keys_count_here_too() {
    let config = format!(
        "[http]\nrequire_key = true\n[limits]\nwrong_keys_per_minute = 2\n{}",
        keys()
    );
    let desk = Desk::with_config(&config).await;
    assert_eq!(get(&desk, "/readyz", "guess").await.status, 200);
    assert_eq!(get(&desk, "/metrics", "guess").await.status, 401);
    assert_eq!(get(&desk, "/readyz", "guess").await.status, 429);
    assert_eq!(get(&desk, "/metrics", "guess").await.status, 429);
    assert_eq!(get(&desk, "/metrics", "phone key").await.status, 200);
}

#[tokio::test]
async fn metrics_can_be_opened_to_everybody() {
    let config = format!(
        "[http]\nrequire_key = true\npublic_metrics = true\n{}",
        keys()
    );
    let desk = Desk::with_config(&config).await;
    assert_eq!(get(&desk, "/metrics", "").await.status, 200);
    assert_eq!(get(&desk, "/metrics", "phone key").await.status, 200);
    assert_eq!(get(&desk, "/metrics", "wrong").await.status, 401);
    assert_eq!(get(&desk, "/readyz", "").await.text(), "ready\n");
}

/// InnerVoice needs a key everywhere, also for how its work is going.
#[tokio::test]
async fn where_no_key_is_required_innervoice_keeps_to_itself() {
    let desk = Desk::with_config(&keys()).await;
    assert_eq!(get(&desk, "/metrics", "").await.status, 200);
    assert_eq!(get(&desk, "/metrics", "wrong").await.status, 401);
    let ready = get(&desk, "/readyz", "").await.text();
    assert!(ready.contains("merchant: "), "{ready}");
    assert!(!ready.contains("innervoice"), "{ready}");
    let ready = get(&desk, "/readyz", "phone key").await.text();
    assert!(ready.contains("innervoice: "), "{ready}");
}
