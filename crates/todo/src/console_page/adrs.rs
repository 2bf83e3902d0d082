//! The decisions: a list, and one of them.

use kit::{
    Context, Result,
    console::{
        Action, Choice, Input, ListItem, PageLink, PageQuery, Part, Query, Section, Tag, TextInput,
        TextKind, Tone, pick,
    },
    context::Language,
};
use serde_json::json;

use super::document_view::DocumentView;
use crate::{
    errors,
    files::{Folder, adr_file},
    model::{
        adr::{Adr, Status},
        listed,
    },
    state::CounterState,
};

/// How many are listed unless all are asked for.
const LISTED: usize = 50;

pub fn list(state: &CounterState, context: &Context, query: &PageQuery) -> Result<Section> {
    let adrs = state.files.adrs()?;
    let most = match query.get("adrs") {
        Some(_) => usize::MAX,
        None => LISTED,
    };
    let more = adrs.len().saturating_sub(most);
    let items = adrs.iter().rev().take(most).map(|adr| ListItem {
        label: format!("{}. {}", adr.number, listed(&adr.title)),
        query: Some(vec![("adr", adr.number.to_string())]),
        tags: tags(context, adr),
        ..ListItem::default()
    });
    let mut parts = vec![match adrs.is_empty() {
        true => Part::Text(pick(context, "There are no ADRs yet.", "ADRはまだありません。").into()),
        false => Part::List(items.collect()),
    }];
    if more > 0 {
        let label = match context.language {
            Language::English => format!("{more} older ones"),
            Language::Japanese => format!("以前の{more}件"),
        };
        let all = PageLink::new(label, vec![("adrs", "all".into())]);
        parts.push(Part::Links(vec![all]));
    }
    Ok(Section {
        title: pick(context, "Decisions (ADRs)", "決定（ADR）").into(),
        parts,
    })
}

fn tags(context: &Context, adr: &Adr) -> Vec<Tag> {
    let tone = match adr.status {
        Status::Proposed => Tone::Warning,
        Status::Accepted => Tone::Good,
        Status::Deprecated => Tone::Neutral,
    };
    let mut tags = vec![Tag::new(tone, status_name(context, adr.status))];
    if let Some(by) = adr.superseded_by {
        tags.push(Tag::new(
            Tone::Neutral,
            match context.language {
                Language::English => format!("superseded by {by}"),
                Language::Japanese => format!("ADR {by} に置き換え"),
            },
        ));
    }
    tags
}

fn status_name(context: &Context, status: Status) -> &'static str {
    match status {
        Status::Proposed => pick(context, "Proposed", "提案"),
        Status::Accepted => pick(context, "Accepted", "承認"),
        Status::Deprecated => pick(context, "Deprecated", "廃止"),
    }
}

pub fn one(
    state: &CounterState,
    context: &Context,
    number: u16,
    query: &PageQuery,
) -> Result<Vec<Section>> {
    let stem = state.files.adr_stem("adr_number", number)?;
    let loaded = state.files.folder()?.read(&adr_file(&stem))?;
    let loaded = loaded.ok_or_else(|| errors::adr_not_found("adr_number", number))?;
    let adr = Adr::parse(&stem, number, &loaded.text);
    let about = ListItem {
        label: Folder::shown(&adr_file(&stem)),
        tags: tags(context, &adr),
        ..ListItem::default()
    };
    let back = PageLink::new(
        pick(context, "Back to the board", "ボードへ戻る"),
        Query::new(),
    );
    let document = DocumentView {
        text: Some(&loaded.text),
        target: ("adr_number", json!(number)),
        query: vec![("adr", number.to_string())],
        is_edited: query.get("edit").is_some(),
    };
    let mut parts = vec![Part::List(vec![about])];
    parts.extend(document.parts(context));
    parts.push(Part::Links(vec![back]));
    Ok(vec![
        Section {
            title: format!("{number}. {}", listed(&adr.title)),
            parts,
        },
        status_form(context, &adr),
    ])
}

fn status_form(context: &Context, adr: &Adr) -> Section {
    let options = Status::ALL.map(|status| {
        let label = status_name(context, status);
        (status.name().to_owned(), label.to_owned())
    });
    let status = Choice {
        argument: "status",
        label: pick(context, "Status", "状態").into(),
        options: options.into(),
        chosen: adr.status.name().to_owned(),
    };
    let reason = TextInput {
        argument: "reason",
        label: pick(context, "Reason", "理由").into(),
        ..TextInput::default()
    };
    Section {
        title: pick(context, "Decide", "決定").into(),
        parts: vec![Part::Action(Action {
            tool: "update_adr_status",
            label: pick(context, "Set the status", "状態を変更").into(),
            fixed: vec![("adr_number", json!(adr.number))],
            inputs: vec![Input::Choice(status), Input::Text(reason)],
        })],
    }
}

pub fn new_adr(context: &Context) -> Section {
    let fields = [
        ("title", "Title", "タイトル", TextKind::Line),
        ("context", "Context", "背景", TextKind::Lines),
        ("decision", "Decision", "決定", TextKind::Lines),
        ("rationale", "Rationale", "理由", TextKind::Lines),
    ];
    let inputs = fields.map(|(argument, english, japanese, kind)| {
        Input::Text(TextInput {
            argument,
            label: pick(context, english, japanese).into(),
            kind,
            is_required: true,
            ..TextInput::default()
        })
    });
    Section {
        title: pick(context, "Record a decision", "決定を記録").into(),
        parts: vec![Part::Action(Action {
            tool: "create_adr",
            label: pick(context, "Record it", "記録").into(),
            fixed: Vec::new(),
            inputs: inputs.into(),
        })],
    }
}
