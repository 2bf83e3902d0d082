//! What chat clients show beside the counter's answers.

use kit::View;

pub const ALL: &[View] = &[View {
    uri: "ui://todo/board",
    name: "board",
    title: "Task board",
    description: "The tasks in three columns, which can be moved from one to the next.",
    tools: &["list_tasks"],
    script: include_str!("views/board.js"),
    style: include_str!("views/board.css"),
}];
