//! Tasks for the innervoice counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "innervoice",
        config: "[approval]\nhold_seconds = 0\n",
        has_demo: false,
        tasks: vec![
            Task::new("What do I have to do today?")
                .call("reminder_list", json!({}))
                .shows("message"),
        ],
    }
}
