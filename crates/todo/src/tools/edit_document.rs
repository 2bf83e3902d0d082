//! `edit_document`: a whole context or ADR, as a person edited it in the console. Agents
//! have `update_context` and `update_adr_status`.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use kit::{Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    check,
    declare::{DESTROYS, writes_unlisted},
    update_adr_status,
};
use crate::{
    errors,
    files::{Folder, context_file},
    model::{TaskId, document},
    state::CounterState,
    txn::Txn,
};

/// In characters.
pub const LONGEST: usize = 100_000;

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "Option<TaskId>")]
    task_id: Option<String>,
    adr_number: Option<i64>,
    #[schemars(length(max = LONGEST))]
    content: String,
    /// The fingerprint of the text that was edited
    base: String,
}

#[derive(Serialize)]
pub struct Output {
    file_path: String,
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "edit_document",
            title: "Edit a document",
            description: "Replaces a context or an ADR that nobody changed meanwhile.",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes_unlisted(state, apply),
    )
    .in_japanese("文書の編集")
    .keeps_empty(&["content"])
    // Whoever denies these denies this too.
    .implied_tools(|arguments| match arguments.contains_key("adr_number") {
        true => &["update_adr_status"],
        false => &["update_context"],
    })
}

/// Tells whether a text is still the one that was edited.
pub fn fingerprint(text: Option<&str>) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    check::length("content", &input.content, LONGEST)?;
    let (name, label) = match input.adr_number {
        Some(number) => {
            let number = check::adr_number("adr_number", number)?;
            let (name, ..) = update_adr_status::read(txn, "adr_number", number)?;
            (name, format!("edit_adr {number}"))
        }
        None => {
            let text = input.task_id.as_deref().unwrap_or_default();
            let id = check::task_id("task_id", text)?;
            let board = txn.board()?;
            txn.find(&board, "task_id", id)?;
            (context_file(id), format!("update_context {id}"))
        }
    };
    let old = txn.text(&name)?;
    if fingerprint(old.as_deref()) != input.base {
        return Err(errors::conflict(&Folder::shown(&name)));
    }
    let text = document::with_lines(old.as_deref().unwrap_or_default(), &input.content);
    txn.put(&name, text)?;
    txn.label(label);
    Ok(Output {
        file_path: Folder::shown(&name),
        updated_at: txn.now_text(),
    })
}
