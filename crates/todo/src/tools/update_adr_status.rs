//! `update_adr_status`: accepts, deprecates or supersedes a decision.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, declare::writes};
use crate::{
    errors,
    files::adr_file,
    model::{
        REASON_LENGTH,
        adr::{self, Adr, Status},
        adr_write, one_line,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(range(min = 1, max = 999))]
    adr_number: i64,
    /// Superseded needs superseded_by
    #[schemars(with = "Status")]
    status: String,
    #[schemars(length(max = REASON_LENGTH))]
    reason: Option<String>,
    superseded_by: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[schemars(range(min = 1, max = 999))]
    adr_number: u16,
    #[schemars(with = "String")]
    old_status: Status,
    #[schemars(with = "String")]
    new_status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    superseded_by: Option<u16>,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "update_adr_status",
            title: "Set ADR status",
            description: "Changes an ADR's status. ADRのステータスを更新します。",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("ADRの状態の変更")
    .rules(errors::ADR_RULES)
    .normalise(normalise)
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::integer(arguments, "adr_number");
    arguments::adr_number(arguments, "superseded_by");
    // Superseded is a Deprecated that names its successor. Without one the
    // schema refuses it, with a message that says so.
    if arguments.contains_key("superseded_by") {
        arguments::change(arguments, "status", |value| {
            (value == "Superseded").then(|| Status::Deprecated.name().into())
        });
    }
}

/// Replaces one ADR by another, for `supersedes` in `create_adr`.
pub fn supersede(txn: &mut Txn<'_>, old: i64, by: u16) -> Result<Output> {
    let input = Input {
        adr_number: old,
        status: Status::Deprecated.name().to_owned(),
        reason: None,
        superseded_by: Some(by.into()),
    };
    update(txn, &input, "supersedes")
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    update(txn, input, "adr_number")
}

/// `field` is the argument that names the ADR.
fn update(txn: &mut Txn<'_>, input: &Input, field: &str) -> Result<Output> {
    let number = check::adr_number(field, input.adr_number)?;
    let status = check::adr_status(&input.status)?;
    let reason = input.reason.as_deref().unwrap_or_default();
    check::length("reason", reason, REASON_LENGTH)?;
    let reason = one_line(reason);
    let reason = Some(reason.as_str()).filter(|reason| !reason.is_empty());

    let (name, text, old) = read(txn, field, number)?;
    let now = txn.now();
    let successor = match input.superseded_by {
        Some(by) => Some(successor(txn, by, status, &old)?),
        None => None,
    };
    let by = successor.as_ref().map(|(_, _, adr)| adr);
    if let (Some(by), Some(other)) = (by, old.superseded_by)
        && by.number != other
        && read(txn, field, other).is_ok()
    {
        return Err(errors::superseded_already(field, number, other));
    }
    let same = old.status == status && old.superseded_by == by.map(|by| by.number);
    if !same || reason.is_some() {
        txn.put(
            &name,
            adr_write::with_status(&text, status, by, reason, &now),
        )?;
    }
    if let Some((name, text, by)) = &successor
        && !by.supersedes.contains(&number)
    {
        txn.put(name, adr_write::superseding(text, &old, &now))?;
    }
    txn.label(format!("update_adr_status {number}"));
    Ok(Output {
        adr_number: number,
        old_status: old.status,
        new_status: status,
        superseded_by: by.map(|by| by.number),
        updated_at: txn.now_text(),
    })
}

/// The file of an ADR, its text, and what it says.
pub type Record = (String, Arc<str>, Adr);

fn successor(txn: &mut Txn<'_>, by: i64, status: Status, old: &Adr) -> Result<Record> {
    const FIELD: &str = "superseded_by";
    if status != Status::Deprecated {
        return Err(errors::superseded_needs_deprecated(status.name()));
    }
    let by = check::adr_number(FIELD, by)?;
    let record = read(txn, FIELD, by)?;
    if by == old.number || record.2.superseded_by == Some(old.number) {
        let message = "A decision cannot supersede itself or its successor.";
        return Err(errors::invalid_adr(FIELD, by, message));
    }
    Ok(record)
}

pub fn read(txn: &mut Txn<'_>, field: &str, number: u16) -> Result<Record> {
    let mut stems = txn.adr_stems()?;
    stems.retain(|stem| adr::number_of(stem) == Some(number));
    let stem = match stems.as_slice() {
        [] => return Err(errors::adr_not_found(field, number)),
        [stem] => stem,
        several => return Err(errors::duplicate_adr(field, number, several)),
    };
    let name = adr_file(stem);
    let text = txn
        .text(&name)?
        .ok_or_else(|| errors::adr_not_found(field, number))?;
    let adr = Adr::parse(stem, number, &text);
    Ok((name, text, adr))
}
