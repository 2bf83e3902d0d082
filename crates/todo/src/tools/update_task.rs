//! `update_task`: some of a task's properties.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{SETS, Words, arguments, check, writes};
use crate::{
    errors,
    model::{TaskId, edit, edit::Change, place::Place, subtasks::Wanted},
    project::Project,
    txn::Txn,
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
    title: Option<String>,
    status: Option<String>,
    category: Option<String>,
    subtasks: Option<Vec<Subtask>>,
    due: Option<String>,
    #[serde(default)]
    clear: Vec<Clearable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Due,
}

#[derive(Deserialize)]
struct Subtask {
    title: String,
    status: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    updated_fields: Vec<&'static str>,
    updated_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "update_task",
        title: "Update a task",
        description: "既存taskの部分更新を行います。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "更新対象のタスクID"
                },
                "title": {
                    "type": "string",
                    "description": "新しいタイトル",
                    "maxLength": 100
                },
                "status": {
                    "type": "string",
                    "enum": ["todo", "in_progress", "done"],
                    "description": "新しいステータス"
                },
                "category": {
                    "type": "string",
                    "description": "新しいカテゴリ",
                    "maxLength": 50
                },
                "subtasks": {
                    "type": "array",
                    "description": "サブタスクリスト（全置換）。文字列も可",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": { "type": "string", "maxLength": 100 },
                            "status": {
                                "type": "string",
                                "enum": ["todo", "in_progress", "done"]
                            }
                        },
                        "required": ["title"]
                    }
                },
                "due": { "type": "string", "description": "期日 YYYY-MM-DD" },
                "clear": {
                    "type": "array",
                    "description": "削除する項目（\"\"は未指定）",
                    "items": { "type": "string", "enum": ["due"] }
                }
            },
            "required": ["task_id"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                "updated_fields": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "更新されたフィールド名のリスト"
                },
                "updated_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: SETS,
        rules: &[
            errors::TASK_ID,
            errors::TITLE_LONG,
            errors::STATUS,
            errors::CATEGORY,
            errors::SUBTASKS_LONG,
            errors::SUBTASK_STATUS,
            errors::DUE,
        ],
        normalise,
    }
    .tool(writes(project, apply))
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::titled(arguments, "subtasks");
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let title = input
        .title
        .as_deref()
        .map(|title| check::title("title", title))
        .transpose()?;
    let status = input.status.as_deref().map(check::status).transpose()?;
    let category = input.category.as_deref().map(check::category).transpose()?;
    let subtasks = input.subtasks.as_deref().map(wanted).transpose()?;
    let due = new_due(input)?;

    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let change = Change {
        title: title.as_deref(),
        status,
        due,
        links: None,
        subtasks: subtasks.as_deref(),
    };
    let refused = |refusal| check::refused(refusal, title.as_deref().unwrap_or_default());
    let mut changed = edit::change(&board, task, id, &change).map_err(refused)?;
    if let Some(category) = &category {
        let name = changed
            .known_category(category)
            .unwrap_or(category)
            .to_owned();
        let task = txn.find(&changed, "task_id", id)?;
        if changed.category(task) != name {
            changed = edit::relocate(&changed, task, id, Place::EndOf(&name)).map_err(refused)?;
        }
    }
    txn.set_board(changed);
    txn.label(format!("update_task {id}"));
    let fields = [
        ("title", title.is_some()),
        ("status", status.is_some()),
        ("category", category.is_some()),
        ("subtasks", subtasks.is_some()),
        ("due", due.is_some()),
    ];
    Ok(Output {
        task_id: id,
        updated_fields: fields
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| name)
            .collect(),
        updated_at: txn.now_text(),
    })
}

/// `Some(None)` takes the date away.
fn new_due(input: &Input) -> Result<Option<Option<Date>>> {
    let given = input.due.as_deref();
    if input.clear.contains(&Clearable::Due) {
        return match given {
            None => Ok(Some(None)),
            Some(text) => {
                let message = "`due` is given and named in `clear`. Do one or the other.";
                Err(errors::invalid_argument("due", text, message))
            }
        };
    }
    Ok(given.map(check::due).transpose()?.map(Some))
}

fn wanted(subtasks: &[Subtask]) -> Result<Vec<Wanted>> {
    check::subtask_count(subtasks.len())?;
    subtasks
        .iter()
        .map(|subtask| {
            Ok(Wanted {
                title: check::title("subtasks", &subtask.title)?,
                status: subtask.status.as_deref().map(check::status).transpose()?,
            })
        })
        .collect()
}
