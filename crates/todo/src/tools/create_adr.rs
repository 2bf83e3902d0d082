//! `create_adr`: a new decision record.

use std::sync::Arc;

use kit::{Result, Tool, tool::as_is};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ADDS, Words, check, writes};
use crate::{
    errors,
    files::Folder,
    model::{
        ADR_TEXT_LENGTH,
        adr::{self, Status},
        adr_edit::{self, NewAdr},
    },
    project::{Project, adr_file},
    txn::Txn,
};

const NAME: &str = "create_adr";

#[derive(Deserialize)]
pub struct Input {
    title: String,
    context: String,
    decision: String,
    rationale: String,
    #[serde(default)]
    consequences: String,
    status: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    adr_id: String,
    adr_number: u16,
    file_path: String,
    created_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: NAME,
        title: "Create an ADR",
        description: "新規ADRを作成します。",
        input: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description": "ADRのタイトル",
                    "maxLength": 100,
                    "minLength": 1
                },
                "context": {
                    "type": "string",
                    "description": "決定の背景・文脈",
                    "maxLength": 2000
                },
                "decision": {
                    "type": "string",
                    "description": "決定内容",
                    "maxLength": 2000
                },
                "rationale": {
                    "type": "string",
                    "description": "決定理由",
                    "maxLength": 2000
                },
                "consequences": {
                    "type": "string",
                    "description": "決定の影響・結果",
                    "maxLength": 2000
                },
                "status": {
                    "type": "string",
                    "enum": ["Proposed", "Accepted", "Deprecated"],
                    "default": "Proposed",
                    "description": "ADRステータス"
                },
                "idempotency_key": {
                    "type": "string",
                    "description": "再試行時に同じ値を渡すと二重に作成されません",
                    "maxLength": 200
                }
            },
            "required": ["title", "context", "decision", "rationale"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "adr_id": {
                    "type": "string",
                    "pattern": "^adr-[0-9]{3}-.*$",
                    "description": "生成されたADR ID"
                },
                "adr_number": { "type": "integer" },
                "file_path": {
                    "type": "string",
                    "description": "作成されたADRファイルパス"
                },
                "created_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: ADDS,
        rules: &[
            errors::TITLE_LONG,
            errors::CONTEXT_LONG,
            errors::DECISION_LONG,
            errors::RATIONALE_LONG,
            errors::CONSEQUENCES_LONG,
            errors::ADR_STATUS,
        ],
        normalise: as_is,
    }
    .tool(writes(project, apply))
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let title = check::title("title", &input.title)?;
    let texts = [
        ("context", &input.context),
        ("decision", &input.decision),
        ("rationale", &input.rationale),
        ("consequences", &input.consequences),
    ];
    for (field, text) in texts {
        check::length(field, text, ADR_TEXT_LENGTH)?;
        check::closed(field, text)?;
    }
    let status = input.status.as_deref().map(check::adr_status).transpose()?;

    let key = input.idempotency_key.as_deref();
    let number = match txn.earlier(NAME, key, &title)? {
        Some(earlier) => {
            let is_it = |stem: &String| adr::number_of(stem) == Some(earlier.number);
            if let Some(stem) = txn.adr_stems()?.into_iter().find(is_it) {
                return Ok(Output {
                    adr_number: earlier.number,
                    file_path: Folder::shown(&adr_file(&stem)),
                    adr_id: stem,
                    created_at: earlier.at,
                });
            }
            earlier.number
        }
        None => txn.new_adr_number()?,
    };
    let created_at = txn.now_text();
    txn.note(NAME, key, &title, number, &created_at)?;
    let stem = adr::stem(number, &title);
    let name = adr_file(&stem);
    let text = adr_edit::new(&NewAdr {
        number,
        title: &title,
        status: status.unwrap_or(Status::Proposed),
        context: &input.context,
        decision: &input.decision,
        rationale: &input.rationale,
        consequences: &input.consequences,
        now: &txn.now(),
    });
    txn.put(&name, text)?;
    txn.label(format!("create_adr {number}"));
    Ok(Output {
        adr_id: stem,
        adr_number: number,
        file_path: Folder::shown(&name),
        created_at,
    })
}
