//! `next_tasks`: what to work on now, and why.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use jiff::civil::Date;
use kit::{Context, Definition, Effect, Hints, Result, Today, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    declare::unlisted,
    hints::{self, say},
    listing::Explanation,
};
use crate::{
    errors,
    model::{
        Status, TaskId,
        board::{Board, Task, TaskLookup},
        graph::{Graph, TaskReadiness},
        listed,
    },
    state::CounterState,
    task_lookup::PromisedIds,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {}

/// Tasks to name.
const MOST: usize = 5;

#[derive(Serialize)]
pub struct Output {
    tasks: Vec<Row>,
    // How many tasks can be worked on.
    total_count: usize,
    #[serde(flatten)]
    explanation: Explanation,
    #[serde(flatten)]
    today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    category: String,
    reason: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "next_tasks",
            title: "Next tasks",
            description: "What to do now, and why. 次に着手するタスク。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        unlisted(state, handle),
    )
    .in_japanese("次のタスク")
}

/// A task that can be worked on.
struct Candidate<'b> {
    task: &'b Task,
    /// The unfinished tasks that wait for it.
    waiting: Vec<TaskId>,
}

fn handle(state: &CounterState, context: &Context, _: &Input) -> Result<Output> {
    let board = state.files.board()?;
    let graph = Graph::of(&board);
    let today = state.today(context);
    let open: Vec<(&Task, TaskReadiness)> = board
        .tasks
        .iter()
        .filter(|task| task.status != Status::Done)
        .map(|task| (task, graph.standing(task, today)))
        .collect();
    let mut candidates: Vec<Candidate<'_>> = open
        .iter()
        .filter(|(_, standing)| standing.blocked_by.is_empty())
        .map(|(task, _)| Candidate {
            task,
            waiting: waiting(&open, task),
        })
        .collect();
    // Equal candidates stay in the order of the file.
    candidates.sort_by_key(|it| {
        (
            Reverse(it.task.status == Status::InProgress),
            it.task.due.unwrap_or(Date::MAX),
            Reverse(it.waiting.len()),
        )
    });
    let promised = PromisedIds::of(&state.files.folder()?, &board);
    let row = |it: &Candidate<'_>| Row {
        task_id: promised.id_of(it.task),
        title: listed(&it.task.title),
        category: board.category(it.task).to_owned(),
        reason: reason(context, &board, it, today),
    };
    let tasks = candidates.iter().take(MOST).map(row);
    Ok(Output {
        tasks: tasks.collect(),
        total_count: candidates.len(),
        explanation: explanation(context, &board, &open, candidates.len()),
        today: Today::of(context),
        warnings: warnings(&board, &graph),
    })
}

/// Circles, which nobody can begin, and ids that do not tell which task is meant.
fn warnings(board: &Board, graph: &Graph) -> Vec<Warning> {
    let circles = graph.circles().into_iter().map(|circle| {
        let ids: Vec<String> = circle.iter().map(TaskId::to_string).collect();
        let message = format!(
            "These tasks wait for each other, so none of them can begin: {}. \
             Remove one of the links with link_tasks.",
            ids.join(" → ")
        );
        Warning::new(errors::CYCLE, message).detail("path", json!(ids))
    });
    let mut ids: Vec<TaskId> = board.tasks.iter().filter_map(|task| task.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let doubles = ids.into_iter().filter_map(|id| match board.find(id) {
        TaskLookup::Several(lines) => {
            let error = errors::duplicate_task("task_id", id, &lines);
            let warning = Warning::new(errors::DUPLICATE_TASK_ID, error.message);
            Some(warning.detail("task_id", json!(id)))
        }
        _ => None,
    });
    circles.chain(doubles).take(kit::SHORTLIST).collect()
}

fn waiting(open: &[(&Task, TaskReadiness)], task: &Task) -> Vec<TaskId> {
    let waits =
        |standing: &TaskReadiness| task.id.is_some_and(|id| standing.blocked_by.contains(&id));
    let waiting = open.iter().filter(|(_, standing)| waits(standing));
    let ids: BTreeSet<TaskId> = waiting.filter_map(|(other, _)| other.id).collect();
    ids.into_iter().collect()
}

fn reason(context: &Context, board: &Board, it: &Candidate<'_>, today: Date) -> String {
    let mut reasons = Vec::new();
    if it.task.status == Status::InProgress {
        reasons.push(say(context, "in progress".into(), "作業中".into()));
    }
    if let Some(due) = it.task.due {
        reasons.push(hints::due(context, due, today));
    }
    if !it.waiting.is_empty() {
        let ids = kit::shortlist(it.waiting.iter().map(TaskId::to_string));
        let verb = if it.waiting.len() == 1 {
            "waits"
        } else {
            "wait"
        };
        let english = format!("{} {verb} for it", ids.sentence());
        reasons.push(say(
            context,
            english,
            format!("{}が待っています", ids.japanese()),
        ));
    }
    if reasons.is_empty() {
        let (position, category) = (it.task.position, board.category(it.task));
        reasons.push(say(
            context,
            format!("ready, number {position} in {category}"),
            format!("着手可能、{category}の{position}番目"),
        ));
    }
    reasons.join(&say(context, "; ".into(), "、".into()))
}

/// Says what waits, or why there is nothing to do.
fn explanation(
    context: &Context,
    board: &Board,
    open: &[(&Task, TaskReadiness)],
    ready: usize,
) -> Explanation {
    let all = board.tasks.len();
    let (english, japanese) = match (all, open.len(), open.len() - ready) {
        (0, ..) => (
            "There are no tasks yet. Create the first with create_task.".into(),
            "タスクはまだありません。create_taskで作成できます。".into(),
        ),
        (_, 0, _) => (
            format!("All tasks are done: {all}."),
            format!("{all}件のタスクはすべて完了しています。"),
        ),
        (_, _, 0) => return Explanation::default(),
        _ => {
            let pairs: BTreeSet<String> = open
                .iter()
                .filter(|(_, standing)| !standing.blocked_by.is_empty())
                .filter_map(|(task, standing)| {
                    let ids: Vec<_> = standing.blocked_by.iter().map(TaskId::to_string).collect();
                    Some(format!("{} for {}", task.id?, ids.join("/")))
                })
                .collect();
            let pairs = kit::shortlist(pairs);
            (
                format!("Waiting: {}.", pairs.sentence()),
                format!("先行タスク待ち: {}。", pairs.japanese()),
            )
        }
    };
    let details = json!({ "done": all - open.len(), "blocked": open.len() - ready });
    Explanation::new(context, english, japanese, details)
}
