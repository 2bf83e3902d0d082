//! `get_task`: everything about one task.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Today, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{arguments, check, declare::unlisted};
use crate::{
    files::context_file,
    model::{Status, TaskId, graph::Graph, shortened, task_text::Link},
    state::CounterState,
    task_lookup::find,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Also 2, #t2
    #[schemars(with = "TaskId")]
    task_id: String,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    title: String,
    status: Status,
    category: String,
    priority: usize,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    overdue: bool,
    #[serde(flatten)]
    today: Option<Today>,
    ready: bool,
    subtasks: Vec<Subtask>,
    depends_on: Vec<TaskId>,
    blocks: Vec<TaskId>,
    relates: Vec<TaskId>,
    decided_by: Vec<u16>,
    blocked_by: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_excerpt: Option<String>,
}

#[derive(Serialize)]
struct Subtask {
    title: String,
    status: Status,
}

/// Characters of the context to show; get_context has the whole text.
const EXCERPT: usize = 400;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_task",
            title: "Read a task",
            description: "One task in full. タスクの詳細を取得します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        unlisted(state, handle),
    )
    .in_japanese("タスクの表示")
    .normalise(|_, arguments| arguments::task_id(arguments, "task_id"))
}

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = state.files.board()?;
    let task = find(&state.files.folder()?, &board, "task_id", id)?;
    let graph = Graph::of(&board);
    let standing = graph.standing(task, state.today(context));
    let linked = |link| task.linked(link).map(TaskId).collect::<Vec<_>>();
    let mut relates = linked(Link::See);
    for other in &board.tasks {
        if let Some(other_id) = other.id
            && other.linked(Link::See).any(|number| number == id.0)
            && !relates.contains(&other_id)
        {
            relates.push(other_id);
        }
    }
    let loaded = state.files.folder()?.read(&context_file(id))?;
    Ok(Output {
        task_id: id,
        title: task.title.clone(),
        status: task.status,
        category: board.category(task).to_owned(),
        priority: task.position,
        line: task.lines.start + 1,
        due: task.due.map(|due| due.to_string()),
        overdue: standing.overdue,
        today: task.due.map(|_| Today::of(context)),
        ready: standing.ready,
        subtasks: task
            .subtasks
            .iter()
            .map(|sub| Subtask {
                title: sub.title.clone(),
                status: sub.status,
            })
            .collect(),
        depends_on: graph.waits_for(id).collect(),
        blocks: graph.waiting(id).collect(),
        relates,
        decided_by: task.linked(Link::Adr).collect(),
        blocked_by: standing.blocked_by,
        context_excerpt: loaded.map(|loaded| excerpt(&loaded.text)),
    })
}

/// The start of the context, without its title.
fn excerpt(text: &str) -> String {
    let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
    if lines.peek().is_some_and(|line| line.starts_with("# ")) {
        lines.next();
    }
    let body = lines.collect::<Vec<_>>().join("\n");
    shortened(body.trim(), EXCERPT)
}
