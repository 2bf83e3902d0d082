//! One task: its lines in the file, its context, and what can be changed.

use kit::{
    Context, Result,
    console::{
        Action, Choice, Input, ListItem, PageLink, PageQuery, Part, Query, Section, TextInput,
        TextKind, pick,
    },
};
use serde_json::json;

use super::{
    board_view::{STATUSES, status_name, tags},
    document_view::DocumentView,
    editable::editable,
};
use crate::{
    files::context_file,
    model::{
        CATEGORY_LENGTH, TITLE_LENGTH, TaskId,
        board::{Board, Task},
        graph::Graph,
        listed,
    },
    state::CounterState,
    task_lookup::find,
};

pub fn sections(
    state: &CounterState,
    context: &Context,
    id: TaskId,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let board = state.files.board()?;
    let folder = state.files.folder()?;
    let task = find(&folder, &board, "task_id", id)?;
    let notes = folder.read(&context_file(id))?;
    let standing = Graph::of(&board).standing(task, state.today(context));
    let about = ListItem {
        label: status_name(context, task.status).into(),
        tags: tags(context, &board, task, Some(id), &standing),
        ..ListItem::default()
    };
    let back = PageLink::new(
        pick(context, "Back to the board", "ボードへ戻る"),
        Query::new(),
    );
    let document = DocumentView {
        text: notes.as_ref().map(|loaded| &*loaded.text),
        target: ("task_id", json!(id.to_string())),
        query: vec![("task", id.to_string())],
        is_edited: query.get("edit").is_some(),
    };
    Ok(vec![
        Section {
            title: listed(&task.title),
            parts: vec![
                Part::List(vec![about]),
                Part::Code(board.block(task).to_owned()),
                Part::Links(vec![back]),
            ],
        },
        Section {
            title: pick(context, "Context", "コンテキスト").into(),
            parts: document.parts(context),
        },
        Section {
            title: pick(context, "Change it", "変更").into(),
            parts: changes(context, &board, task, id),
        },
    ])
}

fn changes(context: &Context, board: &Board, task: &Task, id: TaskId) -> Vec<Part> {
    let this = || ("task_id", json!(id.to_string()));
    let text = |argument, label: &str, value: String, kind| {
        Input::Text(TextInput {
            argument,
            label: label.into(),
            value,
            kind,
            ..TextInput::default()
        })
    };
    let title = editable(&task.title, TITLE_LENGTH);
    let options = STATUSES.iter().map(|(status, name)| {
        let label = status_name(context, *status);
        ((*name).to_owned(), label.to_owned())
    });
    let chosen = STATUSES.iter().find(|(status, _)| *status == task.status);
    let status = Choice {
        argument: "status",
        label: pick(context, "Status", "状態").into(),
        options: options.collect(),
        chosen: chosen.map_or("", |(_, name)| name).to_owned(),
    };
    let category = editable(board.category(task), CATEGORY_LENGTH);
    let due = task.due.map(|due| due.to_string());
    let line = TextKind::Line;
    let mut parts = vec![Part::Edit(Action {
        tool: "update_task",
        label: pick(context, "Save the changes", "変更を保存").into(),
        fixed: vec![this()],
        inputs: vec![
            text("title", pick(context, "Title", "タイトル"), title, line),
            Input::Choice(status),
            text(
                "category",
                pick(context, "Category", "カテゴリ"),
                category,
                line,
            ),
            text(
                "due",
                pick(context, "Due", "期限"),
                due.unwrap_or_default(),
                TextKind::Date,
            ),
        ],
    })];
    let mut button = |tool, label: &str, argument| {
        parts.push(Part::Action(Action {
            tool,
            label: label.into(),
            fixed: vec![this(), argument],
            inputs: Vec::new(),
        }));
    };
    if task.due.is_some() {
        let label = pick(context, "Remove the due date", "期限を外す");
        button("update_task", label, ("clear", json!(["due"])));
    }
    let first = pick(
        context,
        "Move to the top of its category",
        "カテゴリの先頭へ",
    );
    button("reorder_task", first, ("position", json!("first")));
    let last = pick(
        context,
        "Move to the end of its category",
        "カテゴリの末尾へ",
    );
    button("reorder_task", last, ("position", json!("last")));
    parts
}
