//! What chat clients show beside the counter's answers.

use kit::View;

pub const ALL: &[View] = &[View {
    uri: "ui://cinema/seats",
    name: "seats",
    title: "Seats of a screening",
    description: "The plan of the hall: pick seats, which are held at once, and book them.",
    tools: &["get_seat_availability", "hold_seats"],
    script: include_str!("views/seats.js"),
    style: "",
}];
