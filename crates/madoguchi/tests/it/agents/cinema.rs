//! Tasks for the cinema counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "cinema",
        config: "",
        has_demo: true,
        tasks: vec![
            Task::new("Which science fiction films are on?")
                .call("get_movie_list", json!({ "genre": "SF" }))
                .shows("movies"),
        ],
    }
}
