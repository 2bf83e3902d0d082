//! `search_tasks`: tasks by their titles, notes and contexts.

use std::{collections::HashMap, sync::Arc};

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments,
    declare::blocking,
    file_search::{self, Match, SearchInput, SearchOutput},
    listing::Explanation,
    search,
};
use crate::{
    errors,
    files::context_file,
    model::{
        Status, TaskId,
        board::{Board, Task},
        lines::slice,
        listed,
    },
    search::{MatchMode, Query, excerpt, fold, fold_bytes},
    state::CounterState,
    task_lookup::PromisedIds,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[serde(flatten)]
    search: SearchInput,
    #[serde(default = "title_and_content")]
    search_in: Vec<SearchIn>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchIn {
    Title,
    Content,
    Context,
}

fn title_and_content() -> Vec<SearchIn> {
    vec![SearchIn::Title, SearchIn::Content]
}

#[derive(Serialize, JsonSchema)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    status: Status,
    category: String,
    #[serde(flatten)]
    matched: Match,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search_tasks",
            title: "Search tasks",
            description: "Searches task lines; `search` covers more. 全文検索によるタスク検索を行います。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .in_japanese("タスクの検索")
    .normalise(|context, arguments| {
        file_search::normalise(context, arguments);
        arguments::list(arguments, "search_in");
    })
}

/// A task, and where in it the best match is.
struct TaskMatch<'b> {
    task: &'b Task,
    score: f64,
    found_in: SearchIn,
}

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<SearchOutput<Row>> {
    let Some(query) = input.search.query()? else {
        return Ok(SearchOutput::without_words(context));
    };
    let board = state.files.board()?;
    let contexts = match input.search_in.contains(&SearchIn::Context) {
        true => state
            .catalog
            .contexts(&state.files.folder()?, &query)
            .map_err(|error| errors::io(".todo", false, error))?,
        false => HashMap::new(),
    };
    let find = |strength| matches(&board, &query, &input.search_in, &contexts, strength);
    let mut found = find(MatchMode::All);
    if found.is_empty() && query.has_several_words() {
        found = find(MatchMode::Any);
    }
    let total_matches = found.len();
    // Equal matches stay in the order of the file.
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(input.search.limit());
    let promised = PromisedIds::of(&state.files.folder()?, &board);
    let row = |found: &TaskMatch<'_>| Row {
        task_id: promised.id_of(found.task),
        title: listed(&found.task.title),
        status: found.task.status,
        category: board.category(found.task).to_owned(),
        matched: Match {
            match_score: (found.score * 1000.0).round() / 1000.0,
            matched_content: shown(state, &board, found, &query),
        },
    };
    let explanation = match found.is_empty() {
        true => search::elsewhere(state, context, &query)?,
        false => Explanation::default(),
    };
    Ok(SearchOutput {
        results: found.iter().map(row).collect(),
        total_matches,
        explanation,
    })
}

fn matches<'b>(
    board: &'b Board,
    query: &Query,
    search_in: &[SearchIn],
    contexts: &HashMap<TaskId, f64>,
    strength: MatchMode,
) -> Vec<TaskMatch<'b>> {
    let score = |task: &Task, part: SearchIn| match part {
        SearchIn::Title => query.score(&fold_bytes(&task.title), b"", strength),
        SearchIn::Content => query
            .score(b"", &fold_bytes(board.block(task)), strength)
            .map(|score| score * 0.9),
        SearchIn::Context => contexts.get(&task.id?).map(|score| score * 0.8),
    };
    let best = |task: &'b Task| {
        [SearchIn::Title, SearchIn::Content, SearchIn::Context]
            .into_iter()
            .filter(|part| search_in.contains(part))
            .filter_map(|part| Some((score(task, part)?, part)))
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(score, found_in)| TaskMatch {
                task,
                score,
                found_in,
            })
    };
    board.tasks.iter().filter_map(best).collect()
}

fn shown(state: &CounterState, board: &Board, found: &TaskMatch<'_>, query: &Query) -> String {
    match (found.found_in, found.task.id) {
        (SearchIn::Title, _) => excerpt(&found.task.title, query),
        (SearchIn::Context, Some(id)) => {
            let text = state
                .files
                .folder()
                .and_then(|folder| folder.read(&context_file(id)));
            match text {
                Ok(Some(loaded)) => excerpt(&loaded.text, query),
                _ => String::new(),
            }
        }
        _ => {
            let block = board.block(found.task);
            let line = board.line(found.task.lines.start);
            // The result shows the title already, so prefer the text below it.
            let below = slice(block, line.len()..block.len());
            let best = excerpt(below, query);
            let matches = query.words().any(|word| fold(&best).contains(word));
            if matches { best } else { excerpt(block, query) }
        }
    }
}
