//! `update_context`: writes a task's context file.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    check,
    declare::{DESTROYS, writes},
    hints,
};
use crate::{
    errors,
    files::{Folder, context_file},
    model::{
        CONTENT_LENGTH, SECTION_LENGTH, TaskId,
        context::{self, Update},
        document::Document,
        edit, placement, shortened,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "TaskId")]
    task_id: String,
    #[schemars(length(max = CONTENT_LENGTH))]
    content: String,
    /// 既存内容に追記するかどうか
    #[serde(default)]
    append: bool,
    /// Added if missing
    #[schemars(length(max = SECTION_LENGTH))]
    section: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    file_path: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    // The text that was replaced, cut if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    removed: Option<String>,
    // What the update did.
    #[schemars(skip)]
    message: String,
}

/// Characters of the removed text to answer with. `undo` restores all of it.
const REMOVED: usize = 2000;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_context",
            title: "Write context",
            description: "Replaces all unless append or section is given. \
                main-taskのコンテキスト情報を追加・更新します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("コンテキストの更新")
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    check::length("content", &input.content, CONTENT_LENGTH)?;
    let section = input
        .section
        .as_deref()
        .filter(|name| !name.trim().is_empty());
    if let Some(name) = section {
        check::length("section", name, SECTION_LENGTH)?;
        if placement::readable_category(name).is_none() {
            let message = "This is not a valid section name.";
            return Err(errors::invalid_argument("section", name, message));
        }
    }
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    if task.id.is_none() {
        let named = edit::change(&board, task, id, &edit::TaskChange::default());
        txn.set_board(named.map_err(|refusal| check::refused(refusal, ""))?);
    }
    let update = match (section, input.append) {
        (None, false) => Update::Replace,
        (None, true) => Update::Append,
        (Some(section), false) => Update::ReplaceSection(section),
        (Some(section), true) => Update::AppendToSection(section),
    };
    let name = context_file(id);
    let old = txn.text(&name)?;
    let text = context::update(old.as_deref(), id, &input.content, update)
        .map_err(|_| check::unclosed("content", &input.content))?;
    let message = message(txn.context, old.as_deref(), update);
    let removed = old
        .filter(|old| **old != *text)
        .and_then(|old| context::replaced_text(&old, update))
        .map(|removed| shortened(&removed, REMOVED));
    txn.put(&name, text)?;
    txn.label(format!("update_context {id}"));
    Ok(Output {
        task_id: id,
        file_path: Folder::shown(&name),
        updated_at: txn.now_text(),
        removed,
        message,
    })
}

fn message(context: &Context, old: Option<&str>, update: Update<'_>) -> String {
    let has = |name: &str| old.is_some_and(|old| Document::parse(old).section(name).is_some());
    let (english, japanese) = match update {
        Update::Replace => (
            "Replaced the whole text.".into(),
            "全体を置き換えました。".into(),
        ),
        Update::Append => ("Added to the end.".into(), "末尾に追記しました。".into()),
        Update::ReplaceSection(name) if has(name) => (
            format!("Replaced the section {name}."),
            format!("「{name}」を置き換えました。"),
        ),
        Update::AppendToSection(name) if has(name) => (
            format!("Added to the section {name}."),
            format!("「{name}」に追記しました。"),
        ),
        Update::ReplaceSection(name) | Update::AppendToSection(name) => (
            format!("Added the section {name} at the end."),
            format!("末尾に「{name}」を追加しました。"),
        ),
    };
    hints::say(context, english, japanese)
}
