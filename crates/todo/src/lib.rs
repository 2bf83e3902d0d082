//! The todo counter: tasks, decisions and context in Markdown files under
//! `.todo/`, which people edit too.
//!
//! `model` parses and edits Markdown, `files` reads and writes files, `project`
//! caches them, `txn` changes several files at once, `state` is what all
//! handlers share, `search` is the full-text search, and `tools` has one file
//! for each tool.

mod console_page;
mod errors;
mod files;
mod index_file;
mod last_changes;
mod model;
mod parallel;
mod project;
mod prompts;
mod resources;
mod search;
mod settings;
mod state;
mod sync;
mod task_lookup;
mod tools;
mod txn;
mod uris;
mod views;
mod watch;

use std::sync::Arc;

use kit::{About, Counter};

pub use settings::Settings;

/// The seed names no environment variables.
pub const SEED_VARIABLES: &[(&str, &str)] = &[];

const ABOUT: About = About {
    name: "todo",
    server_name: "agentic-todo-mcp",
    version: "0.0.1",
    title: "Tasks and decisions",
    japanese_title: "タスクと決定",
    summary: "Tasks, ADRs and context in Markdown files that people edit too.",
    japanese_summary: "タスク、ADR、コンテキストを、人も編集するMarkdownファイルで管理します。",
    description: "AIエージェント用Markdownベースタスク管理システム",
    instructions: "Tasks are lines of .todo/task.md, which people edit too: read before you \
        write. next_tasks says what to do now, search finds anything. A task's context file \
        keeps its description and what you learn about it (update_context with append, or one \
        section of it); decisions are ADRs. Priority is the position in the category. In a line, \
        due:2026-12-01 is a due date and after:#T002 a task it waits for. Use batch for several \
        changes at once. Every change answers a change_id, which undo takes.",
    lists_change: false,
    conventions: kit::Conventions::USUAL,
};

/// Creates the counter. Nothing is read before the first call.
pub fn counter(settings: Settings) -> Counter {
    let state = Arc::new(state::CounterState::new(settings));
    Counter {
        about: ABOUT,
        time_zone: state.zone.clone(),
        tools: [
            tools::create_task::tool(&state),
            tools::update_task::tool(&state),
            tools::delete_task::tool(&state),
            tools::reorder_task::tool(&state),
            tools::list_tasks::tool(&state),
            tools::search_tasks::tool(&state),
            tools::create_adr::tool(&state),
            tools::update_adr_status::tool(&state),
            tools::list_adrs::tool(&state),
            tools::update_context::tool(&state),
            tools::get_context::tool(&state),
            tools::search_contexts::tool(&state),
            tools::get_task::tool(&state),
            tools::link_tasks::tool(&state),
            tools::get_adr::tool(&state),
            tools::search::tool(&state),
            tools::next_tasks::tool(&state),
            tools::batch::tool(&state),
            tools::undo::tool(&state),
        ]
        .map(tools::published)
        .into(),
        prompts: vec![Arc::new(prompts::project_planner())],
        resources: Some(Arc::new(resources::FileResources::new(&state))),
        views: views::ALL,
        store: None,
        files: None,
        demo: None,
        import: None,
        export: None,
        page: Some(Arc::new(console_page::TodoPage::new(&state))),
        background: Some(Arc::new(watch::Watch::new(&state))),
    }
}
