//! `search_contexts`: contexts, and the other Markdown people keep in `.todo/`.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::Serialize;
use serde_json::json;

use super::{
    LOOKS, Words,
    found::{self, Found, Question},
    reads,
};
use crate::{errors, files::Folder, model::TaskId, project::Project, search::Kind};

#[derive(Serialize)]
struct Row {
    /// None for files that are no task's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    match_score: f64,
    matched_content: String,
    file_path: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "search_contexts",
        title: "Search contexts",
        description: "全コンテキストファイルを検索します。",
        input: found::input(),
        output: found::output(json!({
            "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
            "file_path": { "type": "string" }
        })),
        hints: LOOKS,
        rules: &[errors::QUERY_LONG],
        normalise: found::normalise,
    }
    .tool(reads(project, handle))
}

fn handle(project: &Project, _: &Context, question: &Question) -> Result<Found<Row>> {
    let no_adr = |kind| !matches!(kind, Kind::Adr(_));
    found::among(project, question, no_adr, |hit, _, matched_content| {
        Some(Row {
            task_id: match hit.kind {
                Kind::Context(id) => Some(id),
                _ => None,
            },
            match_score: hit.score,
            matched_content,
            file_path: Folder::shown(&hit.name),
        })
    })
}
