//! Sentences in answers that save the reader another call.

use jiff::civil::Date;
use kit::{Context, Today, Warning, context::Language, time::japanese_weekday};
use serde::Serialize;

use crate::{
    model::{TaskId, board::Board, graph::Graph},
    txn::Txn,
};

/// The sentence in the caller's language.
pub fn say(context: &Context, english: String, japanese: String) -> String {
    match context.language {
        Language::English => english,
        Language::Japanese => japanese,
    }
}

/// `due Friday 2026-11-20, in 4 days`.
pub fn due(context: &Context, due: Date, today: Date) -> String {
    let days = today.until(due).map_or(0, |span| span.get_days());
    let english = match days {
        ..0 => format!("overdue since {} {due}", due.strftime("%A")),
        0 => "due today".into(),
        1 => format!("due tomorrow, {due}"),
        _ => format!("due {} {due}, in {days} days", due.strftime("%A")),
    };
    let weekday = japanese_weekday(due.weekday());
    let japanese = match days {
        ..0 => format!("期日{due}（{weekday}）を過ぎています"),
        0 => "期日は今日です".into(),
        _ => format!("期日{due}（{weekday}）まであと{days}日"),
    };
    say(context, english, japanese)
}

/// `T004 is due Friday 2026-11-20, in 4 days.`, and what day it is.
#[derive(Serialize)]
pub struct DueHint {
    pub message: String,
    #[serde(flatten)]
    pub today: Today,
}

impl DueHint {
    pub fn new(context: &Context, id: TaskId, date: Date, today: Date) -> Self {
        let phrase = due(context, date, today);
        let (english, japanese) = (format!("{id} is {phrase}."), format!("{id}: {phrase}。"));
        Self {
            message: say(context, english, japanese),
            today: Today::of(context),
        }
    }
}

/// Warns if a task that is worked on or moved up has to wait for others.
pub fn warn_if_blocked(txn: &mut Txn<'_>, board: &Board, id: TaskId) {
    let blockers: Vec<String> = Graph::of(board)
        .blockers(id)
        .map(|first| first.to_string())
        .collect();
    if !blockers.is_empty() {
        let message = format!(
            "{id} waits for tasks that are not done: {}.",
            blockers.join(", ")
        );
        txn.warn(Warning::new("BLOCKED", message).detail("blocked_by", blockers));
    }
}
