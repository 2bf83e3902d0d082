//! `create_task`: a line in `task.md`, and a context file.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, declare::writes, hints::DueHint};
use crate::{
    files::{Folder, context_file},
    model::{
        CATEGORY_LENGTH, DESCRIPTION_LENGTH, MOST_SUBTASKS, TITLE_LENGTH, TaskId, context,
        document, edit, edit::NewTask, placement,
    },
    state::CounterState,
    txn::Txn,
};

const NAME: &str = "create_task";

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(min = 1, max = TITLE_LENGTH))]
    title: String,
    #[schemars(length(max = CATEGORY_LENGTH))]
    category: Option<String>,
    #[schemars(length(max = DESCRIPTION_LENGTH))]
    description: Option<String>,
    #[serde(default)]
    #[schemars(length(max = MOST_SUBTASKS), inner(length(max = TITLE_LENGTH)))]
    subtasks: Vec<String>,
    /// YYYY-MM-DD
    due: Option<String>,
    // A retry with the same key creates nothing twice.
    idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    file_path: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[serde(flatten)]
    #[schemars(skip)]
    due: Option<DueHint>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: NAME,
            title: "Create a task",
            description: "Adds a task. 新規main-taskを作成し、対応するcontextファイルを生成します。",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("タスクの作成")
    .normalise(normalise)
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::list(arguments, "subtasks");
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let title = check::title("title", &input.title)?;
    let category = input.category.as_deref().map(check::category).transpose()?;
    if let Some(description) = &input.description {
        check::length("description", description, DESCRIPTION_LENGTH)?;
        check::closed("description", description)?;
    }
    check::subtask_count(input.subtasks.len())?;
    for subtask in &input.subtasks {
        check::title("subtasks", subtask)?;
    }
    let today = txn.now().date();
    let due = input.due.as_deref().map(|text| check::due(text, today));
    let due = due.transpose()?;
    let hint = |context, id| due.map(|due| DueHint::new(context, id, due, today));

    let board = txn.board()?;
    let key = input.idempotency_key.as_deref();
    let earlier = txn.earlier_request(NAME, key, &title)?;
    let id = match &earlier {
        Some(earlier) => {
            let id = TaskId(earlier.number);
            if board.tasks.iter().any(|task| task.id == Some(id)) {
                return Ok(Output {
                    task_id: id,
                    file_path: Folder::shown(&context_file(id)),
                    created_at: earlier.at.clone(),
                    due: hint(txn.context, id),
                });
            }
            id
        }
        None => txn.new_task_id()?,
    };
    let category = category.as_deref().unwrap_or(placement::default_category());
    let board = edit::create(
        &board,
        &NewTask {
            id,
            title: &title,
            category: board.known_category(category).unwrap_or(category),
            subtasks: &input.subtasks,
            due,
        },
    )
    .map_err(|refusal| check::refused(refusal, &title))?;
    txn.set_board(board);

    let created_at = txn.now_text();
    txn.note_request(NAME, key, &title, id.0, &created_at)?;
    let name = context_file(id);
    // An existing file holds somebody's notes for this task.
    if txn.text(&name)?.is_none() {
        let description = match &input.description {
            Some(description) => description.clone(),
            None if document::is_closed(&title) => title,
            // Escapes a title that would open a code fence here.
            None => format!("\\{title}"),
        };
        txn.put(&name, context::new(id, &description, &created_at))?;
    }
    txn.label(format!("create_task {id}"));
    Ok(Output {
        task_id: id,
        file_path: Folder::shown(&name),
        created_at,
        due: hint(txn.context, id),
    })
}
