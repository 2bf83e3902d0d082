//! Tasks for the todo counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "todo",
        config: "",
        has_demo: false,
        tasks: vec![
            Task::new("Note that I have to call the printer")
                .call("create_task", json!({ "title": "Call the printer" }))
                .shows("T001"),
        ],
    }
}
