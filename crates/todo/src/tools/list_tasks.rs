//! `list_tasks`: the board, filtered.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Today, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    arguments, check,
    declare::blocking,
    listing::{Explanation, PageInput, PageOutput},
};
use crate::{
    model::{
        Status, TaskId,
        board::{Board, Task},
        graph::{Graph, TaskReadiness},
        listed, nearest_first,
    },
    state::CounterState,
    task_lookup::PromisedIds,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Also doing, completed, 完了
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    category: Option<String>,
    ready: Option<bool>,
    blocked: Option<bool>,
    overdue: Option<bool>,
    #[serde(flatten)]
    page: PageInput,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    tasks: Vec<Row>,
    #[serde(flatten)]
    page: PageOutput,
    #[serde(flatten)]
    #[schemars(skip)]
    today: Option<Today>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    status: Status,
    category: String,
    subtasks_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    subtasks_done: Option<usize>,
    priority: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    due: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    blocked_by: Vec<TaskId>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "list_tasks",
            title: "List tasks",
            description: "Lists tasks. タスク一覧を取得します。フィルタリング機能付き。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .in_japanese("タスクの一覧")
    .normalise(|_, arguments| {
        arguments::status(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

/// A filter that the caller gave.
struct Filter<'a> {
    name: &'static str,
    value: String,
    keeps: Keeps<'a>,
}

type Keeps<'a> = Box<dyn Fn(&Task, &TaskReadiness) -> bool + 'a>;
/// A filter by name: what was asked for, and whether a task is that.
type Flag = (&'static str, Option<bool>, fn(&TaskReadiness) -> bool);

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let board = state.files.board()?;
    let filters = filters(input, &board)?;
    let graph = Graph::of(&board);
    let today = state.today(context);
    let all: Vec<(&Task, TaskReadiness)> = board
        .tasks
        .iter()
        .map(|task| (task, graph.standing(task, today)))
        .collect();
    let matching: Vec<&(&Task, TaskReadiness)> = all
        .iter()
        .filter(|(task, standing)| filters.iter().all(|it| (it.keeps)(task, standing)))
        .collect();
    let why_empty = || why_empty(context, &board, &filters, &all);
    let warnings = warnings(&board);
    let (tasks, page) = input.page.of(&matching, why_empty, warnings)?;

    let promised = PromisedIds::of(&state.files.folder()?, &board);
    let row = |(task, standing): &(&Task, TaskReadiness)| Row {
        task_id: promised.id_of(task),
        title: listed(&task.title),
        status: task.status,
        category: board.category(task).to_owned(),
        subtasks_count: task.subtasks.len(),
        subtasks_done: (!task.subtasks.is_empty()).then(|| task.subtasks_done()),
        priority: task.position,
        due: task.due.map(|due| due.to_string()),
        blocked_by: standing.blocked_by.clone(),
    };
    let speaks_of_days = input.overdue.is_some() || tasks.iter().any(|it| it.0.due.is_some());
    Ok(Output {
        tasks: tasks.into_iter().map(row).collect(),
        page,
        today: speaks_of_days.then(|| Today::of(context)),
    })
}

fn filters<'a>(input: &'a Input, board: &'a Board) -> Result<Vec<Filter<'a>>> {
    let mut filters: Vec<Filter<'a>> = Vec::new();
    if let Some(text) = &input.status {
        let status = check::status(text)?;
        filters.push(Filter {
            name: "status",
            value: text.clone(),
            keeps: Box::new(move |task, _| task.status == status),
        });
    }
    if let Some(name) = &input.category {
        let known = board.known_category(name.trim()).unwrap_or(name);
        filters.push(Filter {
            name: "category",
            value: name.clone(),
            keeps: Box::new(move |task, _| board.category(task) == known),
        });
    }
    let flags: [Flag; 3] = [
        ("ready", input.ready, |standing| standing.ready),
        ("blocked", input.blocked, |standing| {
            !standing.blocked_by.is_empty()
        }),
        ("overdue", input.overdue, |standing| standing.overdue),
    ];
    for (name, wanted, is) in flags {
        if let Some(wanted) = wanted {
            filters.push(Filter {
                name,
                value: wanted.to_string(),
                keeps: Box::new(move |_, standing| is(standing) == wanted),
            });
        }
    }
    Ok(filters)
}

/// Says which filter excluded everything, and how many tasks there are without
/// it.
fn why_empty(
    context: &Context,
    board: &Board,
    filters: &[Filter<'_>],
    all: &[(&Task, TaskReadiness)],
) -> Explanation {
    if all.is_empty() {
        return Explanation::new(
            context,
            "There are no tasks yet. Create the first with create_task.".into(),
            "タスクはまだありません。create_taskで作成できます。".into(),
            Value::Null,
        );
    }
    let given: Vec<String> = filters
        .iter()
        .map(|filter| format!("{}: {}", filter.name, filter.value))
        .collect();
    let mut without = Map::new();
    for (index, filter) in filters.iter().enumerate() {
        let others = filters.iter().enumerate().filter(|(at, _)| *at != index);
        let kept = |(task, standing): &&(&Task, TaskReadiness)| {
            others.clone().all(|(_, it)| (it.keeps)(task, standing))
        };
        let count = all.iter().filter(kept).count();
        if count > 0 {
            without.insert(filter.name.into(), count.into());
        }
    }
    let mut english = format!("No task matches {}.", given.join(", "));
    let mut japanese = format!("条件（{}）に合うタスクはありません。", given.join("、"));
    for (name, count) in &without {
        english.push_str(&format!(" Without {name}: {count}."));
        japanese.push_str(&format!("{name}を外すと{count}件です。"));
    }
    let mut details = Map::from_iter([("without".to_owned(), without.into())]);
    let category = filters.iter().find(|filter| filter.name == "category");
    if let Some(category) = category
        && board.known_category(category.value.trim()).is_none()
    {
        let mut names: Vec<&str> = board.category_names().collect();
        names.dedup();
        let names = kit::shortlist(nearest_first(names, &category.value));
        english.push_str(&format!(" Categories: {}.", names.sentence()));
        japanese.push_str(&format!("カテゴリ: {}。", names.japanese()));
        details.insert("categories".into(), json!(names.shown));
        details.insert("more_categories".into(), names.more.into());
    }
    Explanation::new(context, english, japanese, details.into())
}

/// What a person should look at in the file.
fn warnings(board: &Board) -> Vec<Warning> {
    let texts = kit::shortlist(board.warnings.iter().cloned());
    let more = (texts.more > 0).then(|| format!("{} more problems.", texts.more));
    let texts = texts.shown.into_iter().chain(more);
    texts.map(|text| Warning::new("CHECK_FILE", text)).collect()
}
