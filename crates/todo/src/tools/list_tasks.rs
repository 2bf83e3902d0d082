//! `list_tasks`: the board, filtered.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool, context::Language, page};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments, check,
    declare::{blocking, default_list_limit},
};
use crate::{
    errors,
    model::{
        Status, TaskId,
        board::{Board, Task},
        graph::Graph,
        listed,
    },
    state::CounterState,
    task_ids::promised,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// ステータスフィルタ（doing、completed、完了も可）
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    /// カテゴリフィルタ
    category: Option<String>,
    /// 取得件数上限
    #[serde(default = "default_list_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// 着手可能（未着手で先行タスクが全て完了）
    ready: Option<bool>,
    /// 先行タスクが未完了
    blocked: Option<bool>,
    /// 期日超過
    overdue: Option<bool>,
    /// 前回のnext_cursor
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    tasks: Vec<Row>,
    /// 総件数
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    status: Status,
    category: String,
    /// サブタスク数
    subtasks_count: usize,
    /// 優先度（位置ベース、小さいほど高優先度）
    priority: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    blocked_by: Vec<TaskId>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "list_tasks",
            title: "List tasks",
            description: "タスク一覧を取得します。フィルタリング機能付き。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .rules(&[errors::STATUS])
    .normalise(|_, arguments| {
        arguments::status(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::status).transpose()?;
    let board = state.files.board()?;
    let category = input
        .category
        .as_deref()
        .map(|name| board.known_category(name.trim()).unwrap_or(name));
    let today = state.today(context);
    let graph = Graph::of(&board);
    let promised = promised(&state.files.folder()?, &board);
    let wanted = |filter: Option<bool>, is: bool| filter.is_none_or(|wanted| wanted == is);

    let mut rows = Vec::new();
    for task in &board.tasks {
        let open = task.status != Status::Done;
        let blocked_by: Vec<TaskId> = match task.id {
            Some(id) if open => graph.blockers(id).collect(),
            _ => Vec::new(),
        };
        let blocked = !blocked_by.is_empty();
        let ready = task.status == Status::Todo && !blocked;
        let overdue = open && task.due.is_some_and(|due| due < today);
        let matches = status.is_none_or(|status| task.status == status)
            && category.is_none_or(|category| board.category(task) == category)
            && wanted(input.ready, ready)
            && wanted(input.blocked, blocked)
            && wanted(input.overdue, overdue);
        if matches {
            rows.push((task, blocked_by));
        }
    }
    let total_count = rows.len();
    let page = page::slice(&rows, input.cursor.as_deref(), input.limit.clamp(1, 100))?;
    let id_of = |task: &Task| {
        task.id.or_else(|| {
            let found = promised.iter().find(|(other, _)| other.lines == task.lines);
            found.and_then(|(_, id)| *id)
        })
    };
    let message = (total_count == 0).then(|| match (board.tasks.is_empty(), context.language) {
        (true, Language::English) => "There are no tasks yet. Create the first with create_task.",
        (true, Language::Japanese) => "タスクはまだありません。create_taskで作成できます。",
        (false, Language::English) => "No task matches. Omit the filters to list all tasks.",
        (false, Language::Japanese) => {
            "該当するタスクはありません。絞り込みを外すと全件を表示します。"
        }
    });
    Ok(Output {
        message,
        tasks: page
            .items
            .into_iter()
            .map(|(task, blocked_by)| row(&board, task, id_of(task), blocked_by))
            .collect(),
        total_count,
        next_cursor: page.next_cursor,
        warnings: board.warnings.iter().take(20).cloned().collect(),
    })
}

fn row(board: &Board, task: &Task, id: Option<TaskId>, blocked_by: Vec<TaskId>) -> Row {
    Row {
        task_id: id,
        title: listed(&task.title),
        status: task.status,
        category: board.category(task).to_owned(),
        subtasks_count: task.subtasks.len(),
        priority: task.position,
        due: task.due.map(|due| due.to_string()),
        blocked_by,
    }
}
