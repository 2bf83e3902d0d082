//! `list_adrs`: all decisions.

use std::{collections::BTreeMap, sync::Arc};

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments, check,
    declare::blocking,
    listing::{PageInput, PageOutput, Sentence},
};
use crate::{
    errors,
    files::adr_file,
    model::{
        adr::{Adr, Status},
        listed,
    },
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// ステータスフィルタ（小文字も可）
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    #[serde(flatten)]
    page: PageInput,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    adrs: Vec<Row>,
    #[serde(flatten)]
    page: PageOutput,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    #[schemars(range(min = 1, max = 999))]
    adr_number: u16,
    title: String,
    status: Status,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<u16>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "list_adrs",
            title: "List ADRs",
            description: "ADR一覧を取得します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .rules(errors::ADR_RULES)
    .normalise(|_, arguments| {
        arguments::adr_status(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

const NO_ADRS: Sentence = (
    "There are no ADRs yet. Create the first with create_adr.",
    "ADRはまだありません。create_adrで作成できます。",
);
const NO_MATCH: Sentence = (
    "No ADR has this status. Omit status to list all ADRs.",
    "このステータスのADRはありません。statusを外すと全件を表示します。",
);

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::adr_status).transpose()?;
    let mut adrs = state.files.adrs()?;
    let warnings = duplicates(&adrs);
    let why_empty = if adrs.is_empty() { NO_ADRS } else { NO_MATCH };
    adrs.retain(|adr| status.is_none_or(|status| adr.status == status));
    let (adrs, page) = input.page.of(context, &adrs, why_empty, warnings)?;
    let row = |adr: Arc<Adr>| {
        let (created_at, updated_at) = times(state, &adr);
        Row {
            adr_number: adr.number,
            title: listed(&adr.title),
            status: adr.status,
            created_at,
            updated_at,
            superseded_by: adr.superseded_by,
        }
    };
    Ok(Output {
        adrs: adrs.into_iter().map(row).collect(),
        page,
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

/// When a record was created and last changed, from its text or else from its
/// file.
pub fn times(state: &CounterState, adr: &Adr) -> (String, String) {
    let of_file = || {
        let stamp = state
            .files
            .folder()
            .and_then(|folder| folder.stamp(&adr_file(&adr.stem)));
        state.when_ms(stamp.ok().flatten().map_or(0, |stamp| stamp.modified_ms()))
    };
    let say = |when: Option<crate::model::adr::DateOrTime>| {
        when.map(|when| state.when(when.timestamp(&state.zone)))
    };
    let created = say(adr.created).unwrap_or_else(of_file);
    let updated = say(adr.updated).unwrap_or_else(of_file);
    (created, updated)
}
