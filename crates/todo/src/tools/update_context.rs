//! `update_context`: writes a task's context file.

use std::sync::Arc;

use kit::{Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    check,
    declare::{DESTROYS, writes},
};
use crate::{
    errors,
    files::{Folder, context_file},
    model::{
        CONTENT_LENGTH, SECTION_LENGTH, TaskId,
        context::{self, Update},
        edit, placement,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// 対象のタスクID
    #[schemars(with = "TaskId")]
    task_id: String,
    /// コンテキスト内容
    #[schemars(length(max = CONTENT_LENGTH))]
    content: String,
    /// 既存内容に追記するかどうか
    #[serde(default)]
    append: bool,
    /// 追記するセクション名
    #[schemars(length(max = SECTION_LENGTH))]
    section: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    /// 更新されたcontextファイルパス
    file_path: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_context",
            title: "Write a task's context",
            description: "main-taskのコンテキスト情報を追加・更新します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
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
    txn.put(&name, text)?;
    txn.label(format!("update_context {id}"));
    Ok(Output {
        task_id: id,
        file_path: Folder::shown(&name),
        updated_at: txn.now_text(),
    })
}
