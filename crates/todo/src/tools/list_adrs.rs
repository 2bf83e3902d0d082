//! `list_adrs`: the decisions there are.

use std::{collections::BTreeMap, sync::Arc};

use kit::{Context, Result, Tool, context::Language, page};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    model::{
        adr::{Adr, Status},
        listed,
    },
    project::{Project, adr_file},
};

#[derive(Deserialize)]
pub struct Input {
    status: Option<String>,
    #[serde(default = "fifty")]
    limit: usize,
    cursor: Option<String>,
}

fn fifty() -> usize {
    50
}

#[derive(Serialize)]
pub struct Output {
    adrs: Vec<Row>,
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    adr_number: u16,
    title: String,
    status: Status,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<u16>,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "list_adrs",
        title: "List ADRs",
        description: "ADR一覧を取得します。",
        input: json!({
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": ["Proposed", "Accepted", "Deprecated"],
                    "description": "ステータスフィルタ（小文字も可）"
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 50 },
                "cursor": { "type": "string", "description": "前回のnext_cursor" }
            }
        }),
        output: json!({
            "type": "object",
            "properties": {
                "adrs": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "adr_number": { "type": "integer", "minimum": 1, "maximum": 999 },
                            "title": { "type": "string" },
                            "status": {
                                "type": "string",
                                "enum": ["Proposed", "Accepted", "Deprecated"]
                            },
                            "created_at": { "type": "string", "format": "date-time" },
                            "updated_at": { "type": "string", "format": "date-time" },
                            "superseded_by": { "type": "integer" }
                        }
                    }
                },
                "total_count": { "type": "integer" },
                "next_cursor": { "type": "string" },
                "message": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } }
            }
        }),
        hints: LOOKS,
        rules: &[errors::ADR_STATUS],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::adr_status(arguments, "status");
    arguments::integer(arguments, "limit");
}

fn handle(project: &Project, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::adr_status).transpose()?;
    let mut adrs = project.adrs()?;
    let warnings = duplicates(&adrs);
    let has_any = !adrs.is_empty();
    adrs.retain(|adr| status.is_none_or(|status| adr.status == status));
    let total_count = adrs.len();
    let page = page::slice(&adrs, input.cursor.as_deref(), input.limit.clamp(1, 100))?;
    let adrs = page
        .items
        .into_iter()
        .map(|adr| {
            let (created_at, updated_at) = times(project, &adr);
            Row {
                adr_number: adr.number,
                title: listed(&adr.title),
                status: adr.status,
                created_at,
                updated_at,
                superseded_by: adr.superseded_by,
            }
        })
        .collect();
    let message = (total_count == 0).then_some(match (has_any, context.language) {
        (false, Language::English) => "There are no ADRs yet; create_adr makes the first.",
        (false, Language::Japanese) => "ADRはまだありません。create_adrで作成できます。",
        (true, Language::English) => "No ADR has this status; without it all are listed.",
        (true, Language::Japanese) => {
            "このステータスのADRはありません。statusを外すと全件を表示します。"
        }
    });
    Ok(Output {
        message,
        adrs,
        total_count,
        next_cursor: page.next_cursor,
        warnings,
    })
}

fn duplicates(adrs: &[Arc<Adr>]) -> Vec<String> {
    let mut files: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for adr in adrs {
        files.entry(adr.number).or_default().push(&adr.stem);
    }
    let several = files.into_iter().filter(|(_, stems)| stems.len() > 1);
    several
        .map(|(number, stems)| {
            format!(
                "Several files have the number {number}: {}.",
                stems.join(", ")
            )
        })
        .collect()
}

/// When a record was made and last changed: as it says itself, else as its file does.
pub fn times(project: &Project, adr: &Adr) -> (String, String) {
    let of_file = || {
        let stamp = project
            .folder()
            .and_then(|folder| folder.stamp(&adr_file(&adr.stem)));
        project.when_ms(stamp.ok().flatten().map_or(0, |stamp| stamp.modified_ms()))
    };
    let say = |when: Option<crate::model::adr::When>| {
        when.map(|when| project.when(when.timestamp(&project.zone)))
    };
    let created = say(adr.created).unwrap_or_else(of_file);
    let updated = say(adr.updated).unwrap_or_else(of_file);
    (created, updated)
}
