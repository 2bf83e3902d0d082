//! `search`: tasks, contexts, ADRs and other notes in one list.

use std::{cmp::Ordering, sync::Arc};

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use serde::Serialize;
use serde_json::json;

use super::{
    declare::unlisted,
    file_search::{Match, QueryInput, SearchOutput},
    listing::Explanation,
};
use crate::{
    errors,
    files::{Folder, TASKS},
    model::{
        adr::Adr,
        board::{Board, TaskLookup},
        listed,
    },
    search::{FileKind, Hit, MatchMode, Query, excerpt_at, fold_bytes},
    state::CounterState,
    task_lookup::PromisedIds,
};

/// Matches to show.
const MOST: usize = 20;

#[derive(Serialize)]
struct Row {
    kind: Kind,
    // The task's id or the ADR's number; none for other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    title: String,
    #[serde(flatten)]
    matched: Match,
    // File and line.
    place: String,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Task,
    Context,
    Adr,
    File,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search",
            title: "Search",
            description: "Finds text in tasks, contexts and ADRs. 横断検索します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        unlisted(state, handle),
    )
    .in_japanese("検索")
    .aliases(&["search_adrs"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    input: &QueryInput,
) -> Result<SearchOutput<Row>> {
    let Some(query) = input.query()? else {
        return Ok(SearchOutput::without_words(context));
    };
    let board = state.files.board()?;
    let found = find(state, &board, &query)?;
    let total_matches = found.len();
    let promised = PromisedIds::of(&state.files.folder()?, &board);
    let mut results = Vec::new();
    for found in found.iter().take(MOST) {
        results.extend(found.row(state, (&board, &promised), &query)?);
    }
    let explanation = match results.is_empty() {
        true => why_empty(state, context, &board)?,
        false => Explanation::default(),
    };
    Ok(SearchOutput {
        results,
        total_matches,
        explanation,
    })
}

/// A match before its text is read.
enum SearchMatch<'b> {
    Task(f64, &'b crate::model::board::Task),
    File(Hit),
}

/// A match in a file counts less than one in a task's title.
const FILE_WEIGHT: f64 = 0.9;

/// The matches with all words or, if there are none, those with any. The best
/// come first.
fn find<'b>(state: &CounterState, board: &'b Board, query: &Query) -> Result<Vec<SearchMatch<'b>>> {
    let failed = |error| errors::io(".todo", false, error);
    let folder = state.files.folder()?;
    state.catalog.refresh(&folder).map_err(failed)?;
    let mut found = find_once(state, board, query, MatchMode::All)?;
    if found.is_empty() && query.has_several_words() {
        found = find_once(state, board, query, MatchMode::Any)?;
    }
    found.sort_by(SearchMatch::compare);
    Ok(found)
}

fn find_once<'b>(
    state: &CounterState,
    board: &'b Board,
    query: &Query,
    mode: MatchMode,
) -> Result<Vec<SearchMatch<'b>>> {
    let tasks = board.tasks.iter().filter_map(|task| {
        let (title, block) = (fold_bytes(&task.title), fold_bytes(board.block(task)));
        Some(SearchMatch::Task(query.score(&title, &block, mode)?, task))
    });
    let mut found: Vec<SearchMatch<'b>> = tasks.collect();
    let hits = state
        .catalog
        .search_known(query, mode, usize::MAX, |_| true)
        .map_err(|error| errors::io(".todo", false, error))?;
    found.extend(hits.best.into_iter().map(SearchMatch::File));
    Ok(found)
}

impl SearchMatch<'_> {
    fn score(&self) -> f64 {
        match self {
            Self::Task(score, _) => *score,
            Self::File(hit) => hit.score * FILE_WEIGHT,
        }
    }

    /// `context T001`, for a sentence.
    fn name(&self) -> String {
        match self {
            Self::Task(_, task) => match task.id {
                Some(id) => format!("task {id}"),
                None => listed(&task.title),
            },
            Self::File(hit) => match hit.kind {
                FileKind::Context(id) => format!("context {id}"),
                FileKind::Adr(number) => format!("ADR {number}"),
                FileKind::Other => Folder::shown(&hit.name),
            },
        }
    }

    /// The better match first.
    fn compare(&self, other: &Self) -> Ordering {
        other.score().total_cmp(&self.score())
    }

    /// `None` if the file was deleted since the search.
    fn row(
        &self,
        state: &CounterState,
        (board, promised): (&Board, &PromisedIds<'_>),
        query: &Query,
    ) -> Result<Option<Row>> {
        let folder = state.files.folder()?;
        let matched = |matched_content| Match {
            match_score: (self.score() * 1000.0).round() / 1000.0,
            matched_content,
        };
        let hit = match self {
            Self::Task(_, task) => {
                let (line, text) = excerpt_at(board.block(task), query);
                let id = promised.id_of(task);
                return Ok(Some(Row {
                    kind: Kind::Task,
                    id: id.map(|id| id.to_string()),
                    title: listed(&task.title),
                    matched: matched(text),
                    place: place(TASKS, task.lines.start + line),
                }));
            }
            Self::File(hit) => hit,
        };
        let Some(loaded) = folder.read(&hit.name)? else {
            return Ok(None);
        };
        let (kind, id, title) = match hit.kind {
            FileKind::Context(id) => {
                let title = match board.find(id) {
                    TaskLookup::One(task) => listed(&task.title),
                    _ => format!("Context for {id}"),
                };
                (Kind::Context, Some(id.to_string()), title)
            }
            FileKind::Adr(number) => {
                let title = Adr::parse(&hit.name, number, &loaded.text).title;
                (Kind::Adr, Some(number.to_string()), title)
            }
            FileKind::Other => (Kind::File, None, hit.name.clone()),
        };
        let (line, text) = excerpt_at(&loaded.text, query);
        Ok(Some(Row {
            kind,
            id,
            title,
            matched: matched(text),
            place: place(&hit.name, line),
        }))
    }
}

/// `.todo/task.md:12`.
fn place(name: &str, line: usize) -> String {
    format!("{}:{}", Folder::shown(name), line + 1)
}

/// For a search of one kind that found nothing: where else the words are.
pub fn elsewhere(state: &CounterState, context: &Context, query: &Query) -> Result<Explanation> {
    let board = state.files.board()?;
    let found = find(state, &board, query)?;
    if found.is_empty() {
        return why_empty(state, context, &board);
    }
    let names = kit::shortlist(found.iter().map(SearchMatch::name));
    Ok(Explanation::new(
        context,
        format!("Nothing here; `search` finds {}.", names.sentence()),
        format!(
            "ここにはありません。searchでは見つかります: {}。",
            names.japanese()
        ),
        json!({ "use": "search", "found": names.shown, "more": names.more }),
    ))
}

fn why_empty(state: &CounterState, context: &Context, board: &Board) -> Result<Explanation> {
    let (tasks, adrs) = (board.tasks.len(), state.files.adrs()?.len());
    if tasks + adrs == 0 {
        return Ok(Explanation::new(
            context,
            "There are no tasks and no ADRs yet. Create the first with create_task or create_adr."
                .into(),
            "タスクもADRもまだありません。create_taskかcreate_adrで作成してください。".into(),
            json!({ "searched": { "tasks": 0, "adrs": 0 } }),
        ));
    }
    Ok(Explanation::new(
        context,
        format!(
            "Nothing contains these words; {tasks} tasks, {adrs} ADRs and all contexts were searched. \
             Try fewer or other words."
        ),
        format!(
            "該当する箇所はありません（タスク{tasks}件、ADR{adrs}件、全コンテキストを検索）。別の言葉で検索してください。"
        ),
        json!({ "searched": { "tasks": tasks, "adrs": adrs } }),
    ))
}
