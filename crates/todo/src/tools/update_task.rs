//! `update_task`: some of a task's properties.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{Context, Definition, Effect, Hints, Result, Today, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    arguments, check,
    declare::writes,
    hints::{self, DueHint},
    subtask_change::SubtaskChange,
};
use crate::{
    errors,
    model::{
        CATEGORY_LENGTH, Status, TITLE_LENGTH, TaskId,
        board::{Board, Task},
        edit,
        edit::TaskChange,
        graph::Graph,
        listed,
        placement::Destination,
        shortened,
        subtasks::SubtaskSpec,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{ "task_id": "T001", "subtask": { "title": "Write tests", "status": "done" } }]))]
pub struct Input {
    #[schemars(with = "TaskId")]
    task_id: String,
    #[schemars(length(max = TITLE_LENGTH))]
    title: Option<String>,
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    #[schemars(length(max = CATEGORY_LENGTH))]
    category: Option<String>,
    /// Replaces all 全置換
    subtasks: Option<Vec<Subtask>>,
    /// Sets, adds or removes one
    subtask: Option<SubtaskChange>,
    /// YYYY-MM-DD
    due: Option<String>,
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
    updated_fields: Vec<&'static str>,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    // Tasks that waited for this one and can be begun now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    now_ready: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    message: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    today: Option<Today>,
    // The task's lines in the file after the change.
    #[schemars(skip)]
    lines: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_task",
            title: "Update a task",
            description: "Changes only what is given. 既存taskの部分更新を行います。",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("タスクの更新")
    .normalise(normalise)
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::titled(arguments, "subtasks");
    arguments::change(arguments, "subtask", |value| {
        Some(json!({ "title": value.as_str()? }))
    });
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
    let today = txn.now().date();
    let due = new_due(input, today)?;

    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let subtasks = match (&input.subtasks, &input.subtask) {
        (Some(_), Some(subtask)) => {
            let message = "Give either `subtasks`, which replaces all, or `subtask`.";
            return Err(errors::invalid_argument("subtask", &subtask.title, message));
        }
        (Some(all), None) => Some(wanted(all)?),
        (None, Some(one)) => Some(one.applied_to(task)?),
        (None, None) => None,
    };
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
    let now = txn.find(&changed, "task_id", id)?;
    warn_of_removed_subtasks(txn, input, task, now);
    let (mut sentences, mut today_hint) = (Vec::new(), None);
    if let Some(due) = now.due.filter(|due| task.due != Some(*due)) {
        let hint = DueHint::new(txn.context, id, due, today);
        sentences.push(hint.message);
        today_hint = Some(hint.today);
    }
    if now.status != task.status && now.status != Status::Todo {
        hints::warn_if_blocked(txn, &board, id);
    }
    let now_ready = match now.status == Status::Done && task.status != Status::Done {
        true => finish(txn, (&board, &changed), now, id, &mut sentences),
        false => Vec::new(),
    };
    let output = Output {
        task_id: id,
        updated_fields: changed_fields((&board, task), (&changed, now)),
        updated_at: txn.now_text(),
        now_ready,
        message: (!sentences.is_empty()).then(|| sentences.join(" ")),
        today: today_hint,
        lines: shortened(changed.block(now), LINES),
    };
    txn.set_board(changed);
    txn.label(format!("update_task {id}"));
    Ok(output)
}

/// Characters of the task's lines to answer with.
const LINES: usize = 1000;

/// The fields that differ.
fn changed_fields(
    (old_board, old): (&Board, &Task),
    (new_board, new): (&Board, &Task),
) -> Vec<&'static str> {
    let titles = |task: &Task| -> Vec<_> {
        let all = task.subtasks.iter();
        all.map(|sub| (sub.title.clone(), sub.status)).collect()
    };
    let fields = [
        ("title", old.title != new.title),
        ("status", old.status != new.status),
        (
            "category",
            old_board.category(old) != new_board.category(new),
        ),
        ("subtasks", titles(old) != titles(new)),
        ("due", old.due != new.due),
    ];
    let changed = fields.into_iter().filter(|(_, changed)| *changed);
    changed.map(|(name, _)| name).collect()
}

/// Replacing the list loses what it does not repeat.
fn warn_of_removed_subtasks(txn: &mut Txn<'_>, input: &Input, old: &Task, new: &Task) {
    let gone = old.subtasks.iter().filter(|sub| {
        let same = |other: &crate::model::board::Subtask| other.title == sub.title;
        !new.subtasks.iter().any(same)
    });
    let gone: Vec<&str> = gone.map(|sub| sub.title.as_str()).collect();
    if input.subtasks.is_some() && !gone.is_empty() {
        let message = format!(
            "`subtasks` replaced the whole list, which removed: {}. \
             To change one of them, use `subtask`.",
            gone.join(", ")
        );
        txn.warn(Warning::new("SUBTASKS_REMOVED", message).detail("removed", json!(gone)));
    }
}

/// The tasks that became ready when this one was finished. Adds sentences about
/// all that waited for it, and warns of sub-tasks that are still open.
fn finish(
    txn: &mut Txn<'_>,
    (before, after): (&Board, &Board),
    task: &Task,
    id: TaskId,
    sentences: &mut Vec<String>,
) -> Vec<TaskId> {
    let open = task
        .subtasks
        .iter()
        .filter(|sub| sub.status != Status::Done);
    let open: Vec<&str> = open.map(|sub| sub.title.as_str()).collect();
    if !open.is_empty() {
        let message = format!("{id} is done, but sub-tasks are open: {}.", open.join(", "));
        txn.warn(Warning::new("OPEN_SUBTASKS", message).detail("open", json!(open)));
    }
    let today = txn.now().date();
    let (old, new) = (Graph::of(before), Graph::of(after));
    let (mut ready, mut names) = (Vec::new(), Vec::new());
    for other in &after.tasks {
        let Some(other_id) = other.id else { continue };
        if !old.blockers(other_id).any(|first| first == id) {
            continue;
        }
        let standing = new.standing(other, today);
        let name = format!("{other_id} {}", listed(&other.title));
        if standing.ready {
            ready.push(other_id);
            names.push(name);
        } else if !standing.blocked_by.is_empty() {
            let ids: Vec<String> = standing.blocked_by.iter().map(TaskId::to_string).collect();
            sentences.push(hints::say(
                txn.context,
                format!("{name} still waits for {}.", ids.join(", ")),
                format!("{name}はまだ{}を待っています。", ids.join("、")),
            ));
        }
    }
    sentences.truncate(kit::SHORTLIST);
    if !names.is_empty() {
        let names = kit::shortlist(names);
        let now = hints::say(
            txn.context,
            format!("Now ready: {}.", names.sentence()),
            format!("着手可能になりました: {}。", names.japanese()),
        );
        sentences.insert(0, now);
    }
    ready
}

/// `Some(None)` takes the date away.
fn new_due(input: &Input, today: Date) -> Result<Option<Option<Date>>> {
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
    let given = given.map(|text| check::due(text, today)).transpose()?;
    Ok(given.map(Some))
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
