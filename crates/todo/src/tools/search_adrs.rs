//! `search_adrs`: decisions by their text.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::Serialize;
use serde_json::json;

use super::{
    LOOKS, Words,
    found::{self, Found, Question},
    reads,
};
use crate::{
    errors,
    files::Folder,
    model::adr::{Adr, Status},
    project::Project,
    search::Kind,
};

#[derive(Serialize)]
struct Row {
    adr_number: u16,
    title: String,
    status: Status,
    match_score: f64,
    matched_content: String,
    file_path: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "search_adrs",
        title: "Search ADRs",
        description: "全ADRを全文検索します。",
        input: found::input(),
        output: found::output(json!({
            "adr_number": { "type": "integer" },
            "title": { "type": "string" },
            "status": { "type": "string" },
            "file_path": { "type": "string" }
        })),
        hints: LOOKS,
        rules: &[errors::QUERY_LONG],
        normalise: found::normalise,
    }
    .tool(reads(project, handle))
}

fn handle(project: &Project, _: &Context, question: &Question) -> Result<Found<Row>> {
    let is_adr = |kind| matches!(kind, Kind::Adr(_));
    found::among(project, question, is_adr, |hit, text, matched_content| {
        let Kind::Adr(number) = hit.kind else {
            return None;
        };
        let adr = Adr::parse(&hit.name, number, text);
        Some(Row {
            adr_number: number,
            title: adr.title,
            status: adr.status,
            match_score: hit.score,
            matched_content,
            file_path: Folder::shown(&hit.name),
        })
    })
}
