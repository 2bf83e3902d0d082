//! `create_adr`: a new decision record.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, declare::writes, update_adr_status};
use crate::{
    errors,
    files::{Folder, adr_file},
    model::{
        ADR_TEXT_LENGTH, TITLE_LENGTH,
        adr::{self, Status},
        adr_write::{self, NewAdr},
    },
    state::CounterState,
    txn::Txn,
};

const NAME: &str = "create_adr";

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(min = 1, max = TITLE_LENGTH))]
    title: String,
    #[schemars(length(max = ADR_TEXT_LENGTH))]
    context: String,
    #[schemars(length(max = ADR_TEXT_LENGTH))]
    decision: String,
    #[schemars(length(max = ADR_TEXT_LENGTH))]
    rationale: String,
    #[schemars(length(max = ADR_TEXT_LENGTH))]
    consequences: Option<String>,
    #[serde(default = "proposed")]
    #[schemars(with = "Status")]
    status: String,
    // The ADR that it replaces.
    supersedes: Option<i64>,
    // A retry with the same key creates nothing twice.
    idempotency_key: Option<String>,
}

fn proposed() -> String {
    Status::Proposed.name().to_owned()
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[schemars(regex(pattern = "^adr-[0-9]{3}-.*$"))]
    adr_id: String,
    #[schemars(skip)]
    adr_number: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    supersedes: Option<i64>,
    file_path: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: NAME,
            title: "Create an ADR",
            description: "Records a decision. 新規ADRを作成します。",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("ADRの作成")
    .rules(errors::ADR_RULES)
    .normalise(normalise)
    .implied_tools(|arguments| match arguments.contains_key("supersedes") {
        true => &["update_adr_status"],
        false => &[],
    })
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::adr_number(arguments, "supersedes");
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let title = check::title("title", &input.title)?;
    let consequences = input.consequences.as_deref().unwrap_or_default();
    let texts = [
        ("context", input.context.as_str()),
        ("decision", &input.decision),
        ("rationale", &input.rationale),
        ("consequences", consequences),
    ];
    for (field, text) in texts {
        check::length(field, text, ADR_TEXT_LENGTH)?;
        check::closed(field, text)?;
    }
    let status = check::adr_status(&input.status)?;

    let key = input.idempotency_key.as_deref();
    let number = match txn.earlier_request(NAME, key, &title)? {
        Some(earlier) => {
            let is_it = |stem: &String| adr::number_of(stem) == Some(earlier.number);
            if let Some(stem) = txn.adr_stems()?.into_iter().find(is_it) {
                return Ok(Output {
                    adr_number: earlier.number,
                    supersedes: input.supersedes,
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
    txn.note_request(NAME, key, &title, number, &created_at)?;
    let stem = adr::stem(number, &title);
    let name = adr_file(&stem);
    let text = adr_write::new(&NewAdr {
        number,
        title: &title,
        status,
        context: &input.context,
        decision: &input.decision,
        rationale: &input.rationale,
        consequences,
        now: &txn.now(),
    });
    txn.put(&name, text)?;
    txn.label(format!("create_adr {number}"));
    if let Some(old) = input.supersedes {
        update_adr_status::supersede(txn, old, number)?;
    }
    Ok(Output {
        adr_id: stem,
        adr_number: number,
        supersedes: input.supersedes,
        file_path: Folder::shown(&name),
        created_at,
    })
}
