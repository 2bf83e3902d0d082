//! `update_task`: some of a task's properties.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, declare::writes};
use crate::{
    errors,
    model::{
        CATEGORY_LENGTH, Status, TITLE_LENGTH, TaskId, edit, edit::TaskChange,
        placement::Destination, subtasks::SubtaskSpec,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// 更新対象のタスクID
    #[schemars(with = "TaskId")]
    task_id: String,
    /// 新しいタイトル
    #[schemars(length(max = TITLE_LENGTH))]
    title: Option<String>,
    /// 新しいステータス
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    /// 新しいカテゴリ
    #[schemars(length(max = CATEGORY_LENGTH))]
    category: Option<String>,
    /// サブタスクリスト（全置換）。文字列も可
    subtasks: Option<Vec<Subtask>>,
    /// 期日 YYYY-MM-DD
    due: Option<String>,
    /// 削除する項目（""は未指定）
    #[serde(default)]
    clear: Vec<Clearable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Due,
}

#[derive(Deserialize, JsonSchema)]
struct Subtask {
    #[schemars(length(max = TITLE_LENGTH))]
    title: String,
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    /// 更新されたフィールド名のリスト
    updated_fields: Vec<&'static str>,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_task",
            title: "Update a task",
            description: "既存taskの部分更新を行います。",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .normalise(normalise)
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
    let change = TaskChange {
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
            changed =
                edit::relocate(&changed, task, id, Destination::EndOf(&name)).map_err(refused)?;
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
                let message = "`due` is both set and listed in `clear`. Choose one.";
                Err(errors::invalid_argument("due", text, message))
            }
        };
    }
    Ok(given.map(check::due).transpose()?.map(Some))
}

fn wanted(subtasks: &[Subtask]) -> Result<Vec<SubtaskSpec>> {
    check::subtask_count(subtasks.len())?;
    subtasks
        .iter()
        .map(|subtask| {
            Ok(SubtaskSpec {
                title: check::title("subtasks", &subtask.title)?,
                status: subtask.status.as_deref().map(check::status).transpose()?,
            })
        })
        .collect()
}
