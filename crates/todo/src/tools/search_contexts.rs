//! `search_contexts`: contexts, and the other Markdown files in `.todo/`.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    declare::blocking,
    file_search::{self, Match, SearchInput, SearchOutput},
    search,
};
use crate::{
    files::Folder,
    model::TaskId,
    search::{FileKind, Hit},
    state::CounterState,
};

#[derive(Serialize, JsonSchema)]
struct Row {
    // `None` for files that are no task's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    #[serde(flatten)]
    matched: Match,
    file_path: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search_contexts",
            title: "Search contexts",
            description: "Searches contexts and notes. 全コンテキストファイルを検索します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .in_japanese("コンテキストの検索")
    .normalise(file_search::normalise)
}

fn handle(
    state: &CounterState,
    context: &Context,
    input: &SearchInput,
) -> Result<SearchOutput<Row>> {
    let Some(query) = input.query()? else {
        return Ok(SearchOutput::without_words(context));
    };
    let is_not_adr = |kind| !matches!(kind, FileKind::Adr(_));
    let row = |hit: &Hit, matched| Row {
        task_id: match hit.kind {
            FileKind::Context(id) => Some(id),
            _ => None,
        },
        matched,
        file_path: Folder::shown(&hit.name),
    };
    let mut output = file_search::search_files(state, &query, input.limit(), is_not_adr, row)?;
    if output.results.is_empty() {
        output.explanation = search::elsewhere(state, context, &query)?;
    }
    Ok(output)
}
