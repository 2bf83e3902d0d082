//! Tasks for the rooms counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "rooms",
        config: "",
        has_demo: false,
        tasks: vec![
            Task::new("Open a room for the release")
                .call("create_room", json!({ "roomName": "release" }))
                .shows("release"),
        ],
    }
}
