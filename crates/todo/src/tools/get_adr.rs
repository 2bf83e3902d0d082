//! `get_adr`: one decision in full.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, get_context::cut, list_adrs::times, reads};
use crate::{
    errors,
    files::Folder,
    model::{
        TaskId,
        adr::{Adr, Status},
        entry::Link,
    },
    project::{Project, adr_file},
};

#[derive(Deserialize)]
pub struct Input {
    adr_number: i64,
}

#[derive(Serialize)]
pub struct Output {
    adr_number: u16,
    adr_id: String,
    title: String,
    status: Status,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskId>,
    content: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    file_path: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "get_adr",
        title: "Read an ADR",
        description: "ADRの全文と、それに基づくタスクを取得します。",
        input: json!({
            "type": "object",
            "properties": {
                "adr_number": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 999,
                    "description": "3（#3、adr-003も可）"
                }
            },
            "required": ["adr_number"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "adr_number": { "type": "integer" },
                "adr_id": { "type": "string" },
                "title": { "type": "string" },
                "status": { "type": "string" },
                "created_at": { "type": "string" },
                "updated_at": { "type": "string" },
                "superseded_by": { "type": "integer" },
                "supersedes": { "type": "array", "items": { "type": "integer" } },
                "tasks": { "type": "array", "items": { "type": "string" } },
                "content": { "type": "string" },
                "truncated": { "type": "boolean" },
                "file_path": { "type": "string" }
            }
        }),
        hints: LOOKS,
        rules: &[errors::ADR_NUMBER],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::adr_number(arguments, "adr_number");
}

fn handle(project: &Project, _: &Context, input: &Input) -> Result<Output> {
    let number = check::adr_number("adr_number", input.adr_number)?;
    let stem = project.adr_stem("adr_number", number)?;
    let name = adr_file(&stem);
    let loaded = project
        .folder()?
        .read(&name)?
        .ok_or_else(|| errors::adr_not_found("adr_number", number))?;
    let adr = Adr::parse(&stem, number, &loaded.text);
    let board = project.board()?;
    let tasks = board
        .tasks
        .iter()
        .filter(|task| task.linked(Link::Adr).any(|linked| linked == number))
        .filter_map(|task| task.id)
        .collect();
    let (created_at, updated_at) = times(project, &adr);
    let (content, truncated) = cut(&loaded.text);
    Ok(Output {
        adr_number: number,
        title: adr.title,
        status: adr.status,
        created_at,
        updated_at,
        superseded_by: adr.superseded_by,
        supersedes: adr.supersedes,
        tasks,
        content,
        truncated,
        file_path: Folder::shown(&name),
        adr_id: stem,
    })
}
