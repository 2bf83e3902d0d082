//! Who is let in, and how often.

use desk::{keys::NewKey, pipeline::Refusal, stations::identify::Credentials};
use serde_json::json;
use store::testing;

use crate::{
    counter::NAME,
    office::{DAY, Office, Visitor},
};

fn key(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        ..NewKey::default()
    }
}

async fn refusal(visitor: &Visitor<'_>) -> Refusal {
    visitor.admitted().await.unwrap_err()
}

#[tokio::test]
async fn a_request_without_a_valid_key_is_refused_where_one_is_needed() {
    let office = Office::open(|_| {}).await;
    let needs_key = Credentials::Nothing { key_required: true };
    let nobody = office.visitor(needs_key);
    assert_eq!(refusal(&nobody).await, Refusal::InvalidKey);
    let wrong = format!("mdg_{}_{}", "0".repeat(12), "0".repeat(26));
    let stranger = office.visitor(Credentials::Key(wrong));
    assert_eq!(refusal(&stranger).await, Refusal::InvalidKey);
    let elsewhere = office.with_key(NewKey {
        counters: vec!["rooms".into()],
        ..key("elsewhere")
    });
    let elsewhere = elsewhere.await;
    assert_eq!(
        refusal(&elsewhere).await,
        Refusal::OutOfScope { counter: NAME }
    );
    let here = office.with_key(NewKey {
        counters: vec!["rooms".into(), NAME.into()],
        ..key("here")
    });
    let found = here.await.ok("look", json!({})).await;
    assert_eq!(found["caller"], "here");
    // The three refusals are recorded as counts.
    let records = office.records().await;
    let counts = records.iter().filter(|it| it["kind"] == "refused_count");
    let counts: Vec<u64> = counts.map(|it| it["count"].as_u64().unwrap()).collect();
    assert_eq!(counts.iter().sum::<u64>(), 3, "{records:?}");
}

#[tokio::test]
async fn a_method_that_the_counter_does_not_have_is_refused() {
    let office = Office::open(|_| {}).await;
    let visitor = office.anonymous();
    let credentials = &visitor.credentials;
    let admit = async |method| {
        office
            .desk
            .admit(office.served(), credentials, method)
            .await
    };
    let Err(Refusal::UnknownMethod(text)) = admit("tools/lst").await else {
        panic!("it was admitted");
    };
    assert!(text.contains("Did you mean tools/list?"), "{text}");
    for method in ["tools/list", "resources/read", "prompts/get", "ping"] {
        assert!(admit(method).await.is_ok(), "{method}");
    }
}

async fn exactly_the_limit_passes(office: &Office) {
    let (phone, tablet) = (
        office.with_key(key("phone")).await,
        office.with_key(key("tablet")).await,
    );
    for _ in 0..3 {
        assert!(phone.admitted().await.is_ok());
    }
    for _ in 0..2 {
        let Refusal::RateLimited { retry_after_ms } = refusal(&phone).await else {
            panic!("it was refused for another reason");
        };
        assert!(
            (50_000..=60_001).contains(&retry_after_ms),
            "{retry_after_ms}"
        );
    }
    assert!(tablet.admitted().await.is_ok());
}

#[tokio::test]
async fn each_caller_may_make_as_many_requests_as_the_limit() {
    let office = Office::open(|settings| {
        let limits = &mut settings.limits.requests_per_minute;
        limits.insert(NAME.into(), 3);
    });
    exactly_the_limit_passes(&office.await).await;
    let unlimited = Office::open(|settings| {
        let limits = &mut settings.limits.requests_per_minute;
        limits.insert(NAME.into(), 0);
    });
    let unlimited = unlimited.await;
    for _ in 0..10 {
        assert!(unlimited.anonymous().admitted().await.is_ok());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_limit_is_the_same_in_rows() {
    let scratch = testing::postgres().await;
    let office = Office::on(scratch, |settings| {
        let limits = &mut settings.limits.requests_per_minute;
        limits.insert(NAME.into(), 3);
    });
    let office = office.await;
    exactly_the_limit_passes(&office).await;
    // Rows of callers who have not called for a day are deleted.
    let slots = "SELECT caller FROM desk_slots";
    assert_eq!(office.texts(slots).await.len(), 6, "three for each caller");
    let now = jiff::Timestamp::now().as_millisecond();
    desk::ledger::purge(&office.store, now).await.unwrap();
    assert_eq!(office.texts(slots).await.len(), 6);
    let later = now + DAY + 60_000;
    desk::ledger::purge(&office.store, later).await.unwrap();
    assert_eq!(office.texts(slots).await.len(), 0);
}
