//! The counter without desk and server, on both database engines.

use std::sync::Arc;

use kit::{Context, Store, testing::call, time::Clock};
use serde_json::json;

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_visitor_sees_who_signed_before() {
    for scratch in store::testing::both().await {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(guestbook::MIGRATIONS).await.unwrap();
        let counter = guestbook::counter(guestbook::Settings::default(), store).unwrap();
        let context = Context::of_the_desk(Clock::system());
        for (name, earlier) in [("Mei", json!([])), ("Jun", json!(["Mei"]))] {
            let arguments = json!({ "name": name, "greeting": "Good morning" });
            let answer = call(&counter, &context, "sign_guestbook", arguments).await;
            assert_eq!(answer.unwrap()["earlier"], earlier);
        }
    }
}
