//! `search_adrs`: decisions by their text.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    declare::blocking,
    file_search::{self, Match, SearchInput, SearchOutput},
};
use crate::{
    files::Folder,
    model::adr::{Adr, Status},
    search::FileKind,
    state::CounterState,
};

#[derive(Serialize, JsonSchema)]
struct Row {
    adr_number: u16,
    title: String,
    #[schemars(with = "String")]
    status: Status,
    #[serde(flatten)]
    matched: Match,
    file_path: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search_adrs",
            title: "Search ADRs",
            description: "全ADRを全文検索します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .normalise(file_search::normalise)
}

fn handle(state: &CounterState, _: &Context, input: &SearchInput) -> Result<SearchOutput<Row>> {
    let is_adr = |kind| matches!(kind, FileKind::Adr(_));
    file_search::search_files(state, input, is_adr, |hit, text, matched| {
        let FileKind::Adr(number) = hit.kind else {
            return None;
        };
        let adr = Adr::parse(&hit.name, number, text);
        Some(Row {
            adr_number: number,
            title: adr.title,
            status: adr.status,
            matched,
            file_path: Folder::shown(&hit.name),
        })
    })
}
