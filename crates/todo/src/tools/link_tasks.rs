//! `link_tasks`: dependencies, related tasks and decisions.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, declare::writes_unlisted};
use crate::{
    errors,
    model::{
        TaskId, adr,
        board::Board,
        edit::{self, TaskChange, relinked},
        graph::Graph,
        task_text::Link,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "TaskId")]
    task_id: String,
    relation: Relation,
    /// Task id or ADR number
    target: String,
    remove: Option<bool>,
}

impl Input {
    fn remove(&self) -> bool {
        self.remove.unwrap_or(false)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    DependsOn,
    Blocks,
    Relates,
    DecidedBy,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    blocked_by: Vec<TaskId>,
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "link_tasks",
            title: "Link tasks",
            description: "Links a task to a task or an ADR. タスクを関連付けます。",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        writes_unlisted(state, apply),
    )
    .in_japanese("タスクの関連付け")
    .normalise(normalise)
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::target(arguments, "target");
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = txn.board()?;
    txn.find(&board, "task_id", id)?;
    match input.relation {
        Relation::DecidedBy => {
            let number = record(txn, input)?;
            set(txn, id, Link::Adr, number, input.remove())?;
        }
        Relation::Relates => {
            let other = other(txn, id, input)?;
            set(txn, id, Link::See, other.0, input.remove())?;
            if input.remove() {
                set(txn, other, Link::See, id.0, true)?;
            }
        }
        Relation::DependsOn => {
            let other = other(txn, id, input)?;
            waits(txn, (id, other), Link::After, input)?;
        }
        Relation::Blocks => {
            let other = other(txn, id, input)?;
            waits(txn, (other, id), Link::Blocks, input)?;
        }
    }
    txn.label(format!("link_tasks {id}"));
    let board = txn.board()?;
    Ok(Output {
        task_id: id,
        blocked_by: Graph::of(&board).blockers(id).collect(),
        updated_at: txn.now_text(),
    })
}

/// Makes the first task of the pair wait for the second. The link may be in
/// either line: it is added to the caller's task and removed from both.
fn waits(txn: &mut Txn<'_>, pair: (TaskId, TaskId), link: Link, input: &Input) -> Result<()> {
    let (waiting, first) = pair;
    if input.remove() {
        set(txn, waiting, Link::After, first.0, true)?;
        return set(txn, first, Link::Blocks, waiting.0, true);
    }
    let graph = Graph::of(&*txn.board()?);
    if graph.waits_for(waiting).any(|other| other == first) {
        return Ok(());
    }
    if let Some(mut path) = graph.path(first, waiting) {
        path.insert(0, waiting);
        return Err(errors::cycle("target", &input.target, &path));
    }
    match link {
        Link::Blocks => set(txn, first, link, waiting.0, false),
        _ => set(txn, waiting, link, first.0, false),
    }
}

pub fn set(txn: &mut Txn<'_>, id: TaskId, link: Link, target: u16, remove: bool) -> Result<()> {
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let has = task.linked(link).any(|number| number == target);
    if has != remove {
        return Ok(());
    }
    let targets = relinked(task, link, target, remove);
    let change = TaskChange {
        links: Some((link, &targets)),
        ..TaskChange::default()
    };
    let changed: Board =
        edit::change(&board, task, id, &change).map_err(|refusal| check::refused(refusal, ""))?;
    txn.set_board(changed);
    Ok(())
}

/// The other task. Its id is written into its line if it is missing, since the
/// link refers to it.
fn other(txn: &mut Txn<'_>, id: TaskId, input: &Input) -> Result<TaskId> {
    let other = check::task_id("target", &input.target)?;
    let board = txn.board()?;
    let task = txn.find(&board, "target", other)?;
    if other == id {
        return Err(errors::cycle("target", &input.target, &[id, id]));
    }
    if task.id.is_none() {
        let named = edit::change(&board, task, other, &TaskChange::default());
        txn.set_board(named.map_err(|refusal| check::refused(refusal, ""))?);
    }
    Ok(other)
}

fn record(txn: &mut Txn<'_>, input: &Input) -> Result<u16> {
    let number: i64 = input.target.parse().map_err(|_| {
        let message = "decided_by takes the number of an ADR.";
        errors::invalid_adr("target", input.target.as_str(), message)
    })?;
    let number = check::adr_number("target", number)?;
    let known = txn
        .adr_stems()?
        .iter()
        .any(|stem| adr::number_of(stem) == Some(number));
    if !known && !input.remove() {
        return Err(errors::adr_not_found("target", number));
    }
    Ok(number)
}
