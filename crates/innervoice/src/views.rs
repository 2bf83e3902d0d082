//! What chat clients show beside the counter's answers.

use kit::View;

pub const ALL: &[View] = &[View {
    uri: "ui://innervoice/week",
    name: "week",
    title: "Week",
    description: "The events of seven days, with the days before and after.",
    tools: &["calendar.list"],
    script: include_str!("views/week.js"),
    style: include_str!("views/week.css"),
}];
