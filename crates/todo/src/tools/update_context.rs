//! `update_context`: what is known about a task.

use std::sync::Arc;

use kit::{Result, Tool, tool::as_is};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{TAKES, Words, check, writes};
use crate::{
    errors,
    files::Folder,
    model::{
        CONTENT_LENGTH, SECTION_LENGTH, TaskId,
        context::{self, Update},
        edit, place,
    },
    project::{Project, context_file},
    txn::Txn,
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
    content: String,
    #[serde(default)]
    append: bool,
    section: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    file_path: String,
    updated_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "update_context",
        title: "Write a task's context",
        description: "main-taskのコンテキスト情報を追加・更新します。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "対象のタスクID"
                },
                "content": {
                    "type": "string",
                    "description": "コンテキスト内容",
                    "maxLength": 10000
                },
                "append": {
                    "type": "boolean",
                    "default": false,
                    "description": "既存内容に追記するかどうか"
                },
                "section": {
                    "type": "string",
                    "description": "追記するセクション名",
                    "maxLength": 50
                }
            },
            "required": ["task_id", "content"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                "file_path": {
                    "type": "string",
                    "description": "更新されたcontextファイルパス"
                },
                "updated_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: TAKES,
        rules: &[errors::TASK_ID, errors::CONTENT_LONG, errors::SECTION_LONG],
        normalise: as_is,
    }
    .tool(writes(project, apply))
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
        if place::readable_category(name).is_none() {
            let message = "This cannot be the name of a section.";
            return Err(errors::invalid_argument("section", name, message));
        }
    }
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    if task.id.is_none() {
        let named = edit::change(&board, task, id, &edit::Change::default());
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
