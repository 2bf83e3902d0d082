//! `list_tasks`: the board, filtered.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments, check,
    declare::blocking,
    listing::{PageInput, PageOutput, Sentence},
};
use crate::{
    model::{Status, TaskId, board::Task, graph::Graph, listed},
    state::CounterState,
    task_ids::PromisedIds,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// ステータスフィルタ（doing、completed、完了も可）
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    /// カテゴリフィルタ
    category: Option<String>,
    /// 着手可能（未着手で先行タスクが全て完了）
    ready: Option<bool>,
    /// 先行タスクが未完了
    blocked: Option<bool>,
    /// 期日超過
    overdue: Option<bool>,
    #[serde(flatten)]
    page: PageInput,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    tasks: Vec<Row>,
    #[serde(flatten)]
    page: PageOutput,
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
    .normalise(|_, arguments| {
        arguments::status(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

const NO_TASKS: Sentence = (
    "There are no tasks yet. Create the first with create_task.",
    "タスクはまだありません。create_taskで作成できます。",
);
const NO_MATCH: Sentence = (
    "No task matches. Omit the filters to list all tasks.",
    "該当するタスクはありません。絞り込みを外すと全件を表示します。",
);

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::status).transpose()?;
    let board = state.files.board()?;
    let category = input
        .category
        .as_deref()
        .map(|name| board.known_category(name.trim()).unwrap_or(name));
    let today = state.today(context);
    let graph = Graph::of(&board);
    let promised = PromisedIds::of(&state.files.folder()?, &board);
    let wanted = |filter: Option<bool>, is: bool| filter.is_none_or(|wanted| wanted == is);

    let mut matching = Vec::new();
    for task in &board.tasks {
        let standing = graph.standing(task, today);
        let matches = status.is_none_or(|status| task.status == status)
            && category.is_none_or(|category| board.category(task) == category)
            && wanted(input.ready, standing.ready)
            && wanted(input.blocked, !standing.blocked_by.is_empty())
            && wanted(input.overdue, standing.overdue);
        if matches {
            matching.push((task, standing.blocked_by));
        }
    }
    let why_empty = match board.tasks.is_empty() {
        true => NO_TASKS,
        false => NO_MATCH,
    };
    let warnings = board.warnings.iter().take(20).cloned().collect();
    let (tasks, page) = input.page.of(context, &matching, why_empty, warnings)?;
    let row = |(task, blocked_by): (&Task, Vec<TaskId>)| Row {
        task_id: promised.id_of(task),
        title: listed(&task.title),
        status: task.status,
        category: board.category(task).to_owned(),
        subtasks_count: task.subtasks.len(),
        priority: task.position,
        due: task.due.map(|due| due.to_string()),
        blocked_by,
    };
    Ok(Output {
        tasks: tasks.into_iter().map(row).collect(),
        page,
    })
}
