//! The board: a column for each status, and the file that it is made from.

use jiff::civil::Date;
use kit::{
    Context, Result,
    console::{
        Action, Board, Card, CardMove, Column, Input, PageLink, PageQuery, Part, Query, Section,
        Tag, TextInput, TextKind, Tone, pick,
    },
    context::Language,
};
use serde_json::json;

use super::editable::editable;
use crate::{
    files::{self, Folder},
    model::{
        CATEGORY_LENGTH, Status, TaskId,
        board::{self, Task},
        graph::{Graph, TaskReadiness},
        listed, shortened,
    },
    state::CounterState,
    task_lookup::PromisedIds,
};

/// How many cards a column shows unless all are asked for.
const CARDS: usize = 100;
/// How many categories are listed.
const CATEGORIES: usize = 50;
/// Characters of `task.md` to show.
const LONGEST_FILE: usize = 20_000;

pub fn sections(
    state: &CounterState,
    context: &Context,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let file = state.files.board()?;
    let promised = PromisedIds::of(&state.files.folder()?, &file);
    let view = View {
        context,
        file: &file,
        graph: Graph::of(&file),
        promised,
        today: state.today(context),
        category: query.get("category"),
        shows_all: query.get("all").is_some(),
    };
    let mut sections = vec![Section {
        title: match view.category {
            Some(category) => category.to_owned(),
            None => pick(context, "Board", "ボード").into(),
        },
        parts: vec![Part::Board(view.board())],
    }];
    sections.push(new_task(context, view.category));
    sections.extend(view.categories());
    sections.push(Section {
        title: Folder::shown(files::TASKS),
        parts: vec![match file.text.trim().is_empty() {
            true => Part::Text(
                pick(
                    context,
                    "There are no tasks yet.",
                    "タスクはまだありません。",
                )
                .into(),
            ),
            false => Part::Code(shortened(&file.text, LONGEST_FILE)),
        }],
    });
    Ok(sections)
}

/// What people call a status.
pub fn status_name(context: &Context, status: Status) -> &'static str {
    match status {
        Status::Todo => pick(context, "To do", "未着手"),
        Status::InProgress => pick(context, "In progress", "作業中"),
        Status::Done => pick(context, "Done", "完了"),
    }
}

pub const STATUSES: [(Status, &str); 3] = [
    (Status::Todo, "todo"),
    (Status::InProgress, "in_progress"),
    (Status::Done, "done"),
];

struct View<'a> {
    context: &'a Context,
    file: &'a board::Board,
    graph: Graph,
    promised: PromisedIds<'a>,
    today: Date,
    category: Option<&'a str>,
    shows_all: bool,
}

impl View<'_> {
    fn board(&self) -> Board {
        Board {
            label: pick(self.context, "Tasks by status", "状態別のタスク").into(),
            tool: "update_task",
            columns: STATUSES.map(|(status, _)| self.column(status)).into(),
        }
    }

    fn column(&self, status: Status) -> Column {
        let tasks = self.file.tasks.iter().filter(|task| {
            let category = self.file.category(task);
            task.status == status && self.category.is_none_or(|wanted| wanted == category)
        });
        let tasks: Vec<&Task> = tasks.collect();
        let most = if self.shows_all { usize::MAX } else { CARDS };
        let more = tasks.len().saturating_sub(most);
        Column {
            title: status_name(self.context, status).into(),
            count: tasks.len(),
            cards: tasks.iter().take(most).map(|it| self.card(it)).collect(),
            more: (more > 0).then(|| self.all(more)),
        }
    }

    /// The link to the same board with all cards.
    fn all(&self, more: usize) -> PageLink {
        let mut query: Query = vec![("all", "1".into())];
        query.extend(self.category.map(|it| ("category", it.to_owned())));
        let label = match self.context.language {
            Language::English => format!("{more} more"),
            Language::Japanese => format!("ほか{more}件"),
        };
        PageLink::new(label, query)
    }

    fn card(&self, task: &Task) -> Card {
        let id = self.promised.id_of(task);
        let moves = STATUSES.iter().filter(|(status, _)| *status != task.status);
        let moves = moves.filter_map(|(status, name)| {
            Some(CardMove {
                label: status_name(self.context, *status).into(),
                arguments: vec![("task_id", json!(id?.to_string())), ("status", json!(name))],
            })
        });
        let standing = self.graph.standing(task, self.today);
        Card {
            id: match id {
                Some(id) => id.to_string(),
                None => format!("line-{}", task.lines.start + 1),
            },
            title: listed(&task.title),
            query: id.map(|id| ("task", id.to_string())).into_iter().collect(),
            tags: tags(self.context, self.file, task, id, &standing),
            moves: moves.collect(),
        }
    }

    fn categories(&self) -> Option<Section> {
        let mut names: Vec<&str> = self.file.category_names().collect();
        names.dedup();
        names.truncate(CATEGORIES);
        if names.len() < 2 {
            return None;
        }
        let all = PageLink {
            is_current: self.category.is_none(),
            ..PageLink::new(pick(self.context, "All categories", "すべて"), Query::new())
        };
        let names = names.into_iter().map(|name| PageLink {
            is_current: self.category == Some(name),
            ..PageLink::new(name, vec![("category", name.to_owned())])
        });
        Some(Section {
            title: pick(self.context, "Categories", "カテゴリ").into(),
            parts: vec![Part::Links(std::iter::once(all).chain(names).collect())],
        })
    }
}

/// What a card says about its task: its number, where it stands, when it is due.
pub fn tags(
    context: &Context,
    file: &board::Board,
    task: &Task,
    id: Option<TaskId>,
    standing: &TaskReadiness,
) -> Vec<Tag> {
    let mut tags: Vec<Tag> = id
        .map(|id| Tag::new(Tone::Neutral, id.to_string()))
        .into_iter()
        .collect();
    let place = format!("{} · {}", file.category(task), task.position);
    tags.push(Tag::new(Tone::Neutral, place));
    if let Some(due) = task.due {
        tags.push(match standing.overdue {
            true => Tag::new(
                Tone::Bad,
                format!("{} {due}", pick(context, "overdue", "期限切れ")),
            ),
            false => Tag::new(
                Tone::Neutral,
                format!("{} {due}", pick(context, "due", "期限")),
            ),
        });
    }
    if !task.subtasks.is_empty() {
        let done = format!("{}/{}", task.subtasks_done(), task.subtasks.len());
        tags.push(Tag::new(Tone::Neutral, done));
    }
    if !standing.blocked_by.is_empty() {
        let others: Vec<String> = standing.blocked_by.iter().map(TaskId::to_string).collect();
        let text = pick(context, "waits for", "待ち:");
        tags.push(Tag::new(
            Tone::Warning,
            format!("{text} {}", others.join(", ")),
        ));
    }
    tags
}

fn new_task(context: &Context, category: Option<&str>) -> Section {
    let text = |argument, label: &str, kind| TextInput {
        argument,
        label: label.into(),
        kind,
        ..TextInput::default()
    };
    let title = TextInput {
        is_required: true,
        ..text("title", pick(context, "Title", "タイトル"), TextKind::Line)
    };
    let in_category = TextInput {
        value: editable(category.unwrap_or_default(), CATEGORY_LENGTH),
        ..text(
            "category",
            pick(context, "Category", "カテゴリ"),
            TextKind::Line,
        )
    };
    let due = text("due", pick(context, "Due", "期限"), TextKind::Date);
    let description = pick(context, "Description", "説明");
    Section {
        title: pick(context, "New task", "新しいタスク").into(),
        parts: vec![Part::Action(Action {
            tool: "create_task",
            label: pick(context, "Add it", "追加").into(),
            fixed: Vec::new(),
            inputs: [
                title,
                in_category,
                due,
                text("description", description, TextKind::Lines),
            ]
            .map(Input::Text)
            .into(),
        })],
    }
}
