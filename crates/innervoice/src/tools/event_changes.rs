//! What an update changed of an event, in words.

use kit::{Context, Language};

use super::event;
use crate::{
    cards::CardLines,
    model::{ics_read, repeat},
    state::CounterState,
    store::{caldav::ServerCopy, events::Event},
};

/// The fields that differ.
pub fn fields(before: &Event, after: &Event) -> Vec<&'static str> {
    let moved = (before.starts_at, &before.zone, before.all_day)
        != (after.starts_at, &after.zone, after.all_day);
    let lasts = before.minutes() != after.minutes();
    [
        ("title", before.title != after.title),
        ("start", moved),
        ("duration_min", lasts),
        ("repeat", before.rule != after.rule),
        ("location", before.location != after.location),
        ("description", before.description != after.description),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}

/// Says what changed, and nothing else.
pub fn message(
    state: &CounterState,
    context: &Context,
    before: &Event,
    after: &Event,
    changed: &[&'static str],
) -> String {
    let language = context.language;
    let title = &before.title;
    if changed.is_empty() {
        return match language {
            Language::English => format!("Nothing changed; {title} was like that already."),
            Language::Japanese => format!("「{title}」はすでにその内容なので、変更はありません。"),
        };
    }
    let parts: Vec<String> = changed
        .iter()
        .map(|field| part(state, context, after, field))
        .collect();
    match language {
        Language::English => format!("I changed {title}: {}.", parts.join(", ")),
        Language::Japanese => format!("「{title}」を変更しました。{}。", parts.join("、")),
    }
}

/// A sentence about what the event overlaps with since it was moved; empty if it was
/// not moved, or overlaps with nothing.
pub fn overlap(language: Language, changed: &[&'static str], conflicts: &[Event]) -> String {
    let is_moved = changed.contains(&"start") || changed.contains(&"duration_min");
    match (language, conflicts) {
        _ if !is_moved => String::new(),
        (_, []) => String::new(),
        (Language::English, [other, ..]) => format!(" It overlaps with {}.", other.title),
        (Language::Japanese, [other, ..]) => format!("「{}」と重なっています。", other.title),
    }
}

fn part(state: &CounterState, context: &Context, after: &Event, field: &str) -> String {
    let language = context.language;
    let (english, japanese) = match field {
        "title" => (
            format!("it is now called {}", after.title),
            format!("件名は「{}」です", after.title),
        ),
        "start" => {
            let when = event::when(state, context, after);
            (format!("it is now {when}"), format!("日時は{when}です"))
        }
        "duration_min" => (
            format!("it lasts {} minutes", after.minutes()),
            format!("長さは{}分です", after.minutes()),
        ),
        "repeat" => match &after.rule {
            Some(rule) => {
                let said = repeat::say(rule, language);
                (format!("it comes {said}"), format!("繰り返しは{said}です"))
            }
            None => (
                "it no longer repeats".into(),
                "繰り返しはなくなりました".into(),
            ),
        },
        "location" if after.location.is_empty() => {
            ("it has no place any more".into(), "場所は消しました".into())
        }
        "location" => (
            format!("the place is {}", after.location),
            format!("場所は{}です", after.location),
        ),
        _ if after.description.is_empty() => {
            ("the description is gone".into(), "説明は消しました".into())
        }
        _ => (
            "the description is new".into(),
            "説明を書き換えました".into(),
        ),
    };
    match language {
        Language::English => english,
        Language::Japanese => japanese,
    }
}

/// How many properties of the copy are shown.
const MOST_SHOWN: usize = 50;

/// Shows the copy on the calendar server that would be replaced.
pub fn on_the_server(lines: &mut CardLines, copy: Option<&ServerCopy>, state: &CounterState) {
    let Some(copy) = copy else {
        let deleted = lines.pick((
            "deleted there; it is put back",
            "サーバー側で削除済み(再登録します)",
        ));
        lines.fact(("On the server", "サーバー側"), deleted);
        return;
    };
    let fields = ics_read::fields(&copy.text, &state.zone);
    for field in fields.iter().take(MOST_SHOWN) {
        let (english, japanese) = match field.name.as_str() {
            "SUMMARY" => ("Title", "件名"),
            "DTSTART" => ("Starts", "開始"),
            "DTEND" => ("Ends", "終了"),
            "LOCATION" => ("Place", "場所"),
            "DESCRIPTION" => ("Description", "説明"),
            other => (other, other),
        };
        let english = format!("{english} (on the server, replaced)");
        let japanese = format!("{japanese} (サーバー側、置き換え前)");
        lines.fact((&english, &japanese), &field.text);
    }
    let more = fields.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        lines.fact(("More fields", "その他の項目数"), &more.to_string());
    }
}
