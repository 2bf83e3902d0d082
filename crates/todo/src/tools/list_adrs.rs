//! `list_adrs`: all decisions.

use std::{collections::BTreeMap, sync::Arc};

use kit::{Context, Definition, Effect, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    arguments, check,
    declare::blocking,
    listing::{Explanation, PageInput, PageOutput},
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
    /// Also Superseded
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    superseded: Option<bool>,
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
    #[schemars(skip)]
    superseded_by: Option<u16>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "list_adrs",
            title: "List ADRs",
            description: "Lists ADRs. ADR一覧を取得します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .in_japanese("ADRの一覧")
    .rules(errors::ADR_RULES)
    .normalise(|_, arguments| {
        let status = arguments.get("status").and_then(Value::as_str);
        if status.is_some_and(|status| status.eq_ignore_ascii_case("superseded")) {
            arguments.remove("status");
            arguments.insert("superseded".into(), true.into());
        }
        arguments::adr_status(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::adr_status).transpose()?;
    let all = state.files.adrs()?;
    let mut adrs = all.clone();
    adrs.retain(|adr| {
        let superseded = adr.superseded_by.is_some();
        status.is_none_or(|status| adr.status == status)
            && input.superseded.is_none_or(|wanted| superseded == wanted)
    });
    let why_empty = || why_empty(context, &all);
    let (adrs, page) = input.page.of(&adrs, why_empty, duplicates(&all))?;
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

fn why_empty(context: &Context, all: &[Arc<Adr>]) -> Explanation {
    if all.is_empty() {
        return Explanation::new(
            context,
            "There are no ADRs yet. Create the first with create_adr.".into(),
            "ADRはまだありません。create_adrで作成できます。".into(),
            Value::Null,
        );
    }
    let superseded = all.iter().filter(|adr| adr.superseded_by.is_some()).count();
    let mut counts: Vec<(&str, usize)> = Status::ALL
        .into_iter()
        .map(|status| {
            let count = all.iter().filter(|adr| adr.status == status).count();
            (status.name(), count)
        })
        .collect();
    counts.push(("Superseded", superseded));
    counts.retain(|(_, count)| *count > 0);
    let listed: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let listed = listed.join(", ");
    Explanation::new(
        context,
        format!("No ADR has this status. There are: {listed}."),
        format!("このステータスのADRはありません。内訳: {listed}。"),
        json!({ "statuses": Map::from_iter(counts.into_iter().map(|(name, count)| (name.into(), count.into()))) }),
    )
}

fn duplicates(adrs: &[Arc<Adr>]) -> Vec<Warning> {
    let mut files: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for adr in adrs {
        files.entry(adr.number).or_default().push(&adr.stem);
    }
    let several = files.into_iter().filter(|(_, stems)| stems.len() > 1);
    several
        .map(|(number, stems)| {
            let stems = stems.join(", ");
            let message = format!("Several files have the number {number}: {stems}.");
            Warning::new(errors::DUPLICATE_ADR_NUMBER, message)
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
