//! `calendar.list`: lists and searches events.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Today, Tool, Warning,
    shortlist, text::similarity,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{OK, arguments, event, range::Range};
use crate::{
    answers::{AsListed, Conflict, EventView, by_name, sync},
    bounds::{LONGEST_TIME, STEPS_OF_A_LIST},
    calendar_file::PAST_MS,
    model::{names::fold, repeat::Steps},
    state::CounterState,
    store::{
        caldav::{self, SyncStatus},
        events::{self, Event},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Day or time, also tomorrow or 来週; now unless given
    #[schemars(length(max = LONGEST_TIME))]
    from: Option<String>,
    /// Last day, or time; a week after from unless given, a year with query
    #[schemars(length(max = LONGEST_TIME))]
    to: Option<String>,
    /// Part of its title, place or description
    #[schemars(length(max = 200))]
    query: Option<String>,
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    events: Vec<Listed>,
    has_more: bool,
    // Cancelled here, still on the calendar server. Rare, so the schema leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    left_on_server: Option<Vec<String>>,
    // Why it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    details: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
    #[serde(flatten)]
    today: Today,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
struct Listed {
    #[serde(flatten)]
    event: EventView,
    /// ids
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    overlaps: Vec<String>,
    /// with the calendar server
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sync_note: Option<String>,
}

const LIMIT: i64 = 50;
const WEEK: i32 = 7;
const YEAR: i32 = 366;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "calendar.list",
            title: "List events",
            description: "List or search events, each occurrence of a series, and what overlaps.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("予定の一覧")
    .aliases(&["calendar_list"])
    .normalise(|_, arguments| {
        for name in ["from", "to"] {
            arguments::narrow(arguments, name);
        }
        arguments::text(arguments, "query");
        arguments::integer(arguments, "limit");
    })
    .personal(&["query"])
}

/// How many occurrences a search looks through.
const MOST_SEARCHED: usize = 2_000;

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let query = input.query.as_deref().map(fold).unwrap_or_default();
    let days = if query.is_empty() { WEEK } else { YEAR };
    let range = Range::of(context, input.from.as_deref(), input.to.as_deref(), days)?;
    let (from, to) = range.millis();
    let steps = Steps::new(STEPS_OF_A_LIST);
    let limit = usize::try_from(input.limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let most = if query.is_empty() {
        limit + 1
    } else {
        MOST_SEARCHED
    };
    let mut found = events::between(sql, from, to, most, &steps)?;
    let all: Vec<Event> = found.iter().map(Event::without_description).collect();
    found.retain(|event| matches(event, &query));
    let has_more = found.len() > limit;
    found.truncate(limit);
    let language = context.language;
    let left = match state.caldav {
        Some(_) => caldav::left_there(sql, from, to, input.limit.unwrap_or(LIMIT))?,
        None => Vec::new(),
    };
    let mut differ = left.len();
    let mut listed = Vec::with_capacity(found.len());
    for event in &found {
        let standing = match state.caldav {
            // Events that ended long ago are not written to the server.
            Some(_) if event.ends_at >= state.now(context).as_millisecond() - PAST_MS => {
                Some(caldav::standing(sql, event)?)
            }
            _ => None,
        };
        differ += usize::from(matches!(standing, Some(SyncStatus::Conflict(_))));
        listed.push(Listed {
            event: EventView::of(event, language),
            overlaps: overlapping(event, &all)
                .map(|other| other.id.clone())
                .collect(),
            sync: standing.as_ref().map(sync::state),
            sync_note: standing.and_then(|standing| sync::note(&standing, language)),
        });
    }
    let (mut message, details) = match found.is_empty() {
        true => {
            let (message, details) =
                empty(state, context, sql, &range, input.query.as_deref(), &all)?;
            (message, Some(details))
        }
        false => (message(state, context, &found, &all, has_more), None),
    };
    message.push_str(&sync::summary(differ, language));
    let left = left.iter().map(|event| sync::left_there(event, language));
    let left: Vec<String> = left.collect();
    Ok(Output {
        status: OK,
        message,
        events: listed,
        has_more,
        left_on_server: (!left.is_empty()).then_some(left),
        details,
        warnings: incomplete(&steps, language),
        today: Today::of(context),
    })
}

/// A warning if some series could not be expanded.
pub fn incomplete(steps: &Steps, language: Language) -> Vec<Warning> {
    let message = match language {
        Language::English => "Some series take too long to expand; occurrences may be missing.",
        Language::Japanese => {
            "計算に時間がかかりすぎる繰り返しがあり、一部の予定が抜けている可能性があります。"
        }
    };
    match steps.ran_out() {
        true => vec![Warning::new("LIST_INCOMPLETE", message)],
        false => Vec::new(),
    }
}

fn matches(event: &Event, query: &str) -> bool {
    let fields = [&event.title, &event.location, &event.description];
    query.is_empty() || fields.iter().any(|text| fold(text).contains(query))
}

/// Other events at the same time.
fn overlapping<'a>(event: &'a Event, all: &'a [Event]) -> impl Iterator<Item = &'a Event> {
    all.iter().filter(|other| {
        let is_other = other.id != event.id;
        is_other && !event.all_day && !other.all_day && other.overlaps(event)
    })
}

/// How many events are read out.
const READ_OUT: usize = 5;

fn message(
    state: &CounterState,
    context: &Context,
    found: &[Event],
    all: &[Event],
    has_more: bool,
) -> String {
    let language = context.language;
    let said: Vec<String> = found
        .iter()
        .take(READ_OUT)
        .map(|event| {
            let when = event::when(state, context, event);
            match language {
                Language::English => format!("{}, {when}", event.title),
                Language::Japanese => format!("{when}に「{}」", event.title),
            }
        })
        .collect();
    let count = found.len();
    let is_cut = has_more || count > READ_OUT;
    let overlap = found
        .iter()
        .find_map(|event| Some((event, overlapping(event, all).next()?)));
    match language {
        Language::English => {
            let count = match (count, has_more) {
                (1, false) => "There is one event".to_owned(),
                (_, false) => format!("There are {count} events"),
                (_, true) => format!("There are more than {count} events"),
            };
            let rest = if is_cut { "; and so on" } else { "" };
            let overlap = overlap.map_or(String::new(), |(one, other)| {
                format!(" {} and {} overlap.", one.title, other.title)
            });
            format!("{count}: {}{rest}.{overlap}", said.join("; "))
        }
        Language::Japanese => {
            let more = if has_more { "以上" } else { "" };
            let rest = if is_cut { "など" } else { "" };
            let overlap = overlap.map_or(String::new(), |(one, other)| {
                format!("「{}」と「{}」が重なっています。", one.title, other.title)
            });
            format!(
                "予定は{count}件{more}です。{}{rest}です。{overlap}",
                said.join("、")
            )
        }
    }
}

/// Says why nothing was found, and what would have been.
fn empty(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    range: &Range,
    query: Option<&str>,
    all: &[Event],
) -> Result<(String, Map<String, Value>)> {
    let language = context.language;
    let (from, to) = range.rfc3339(context);
    let mut details = Map::from_iter([("from".into(), json!(from)), ("to".into(), json!(to))]);
    let when = range.spoken(context);
    let mut message = match (language, query) {
        (Language::English, None) => format!("Nothing is planned {when}."),
        (Language::English, Some(query)) => format!("No event {when} matches {query}."),
        (Language::Japanese, None) => format!("{when}の予定はありません。"),
        (Language::Japanese, Some(query)) => {
            format!("{when}で「{query}」に当てはまる予定はありません。")
        }
    };
    if let Some(query) = query {
        let query = fold(query);
        let mut near: Vec<(f64, &str)> = all
            .iter()
            .map(|event| {
                (
                    similarity(&query, &fold(&event.title)),
                    event.title.as_str(),
                )
            })
            .collect();
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        near.dedup_by_key(|(_, title)| *title);
        let titles = shortlist(near.into_iter().map(|(_, title)| title));
        details.insert("titles".into(), json!(titles.shown));
        if !titles.shown.is_empty() {
            message.push_str(&match language {
                Language::English => format!(" Other events then: {}.", titles.sentence()),
                Language::Japanese => format!("その間のほかの予定は{}です。", titles.japanese()),
            });
        }
        return Ok((message, details));
    }
    let (_, from) = range.millis();
    let later = from.saturating_add(i64::from(YEAR) * 24 * 60 * 60_000);
    let steps = Steps::new(STEPS_OF_A_LIST);
    let next = events::between(sql, from, later, 1, &steps)?
        .into_iter()
        .next();
    details.insert("next".into(), json!(next.as_ref().map(Conflict::from)));
    if let Some(next) = next {
        let when = event::when(state, context, &next);
        message.push_str(&match language {
            Language::English => format!(" The next event is {}, {when}.", next.title),
            Language::Japanese => format!("次の予定は{when}の「{}」です。", next.title),
        });
    } else if events::coming(sql, 0, 1)?.is_empty() {
        message.push_str(match language {
            Language::English => " The calendar is empty.",
            Language::Japanese => "カレンダーは空です。",
        });
        details.insert(
            "hint".into(),
            json!("calendar_create adds the first event."),
        );
    }
    Ok((message, details))
}
