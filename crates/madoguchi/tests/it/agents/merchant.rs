//! Tasks for the merchant counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "merchant",
        config: "",
        has_demo: true,
        tasks: vec![
            Task::new("Do you have running shoes?")
                .call(
                    "search_products",
                    json!({ "keywords": ["ランニングシューズ"] }),
                )
                .shows("products"),
        ],
    }
}
