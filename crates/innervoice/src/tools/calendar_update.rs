//! `calendar.update`: changes the fields that are given. The user sees each field
//! before and after.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{self, Card, describe},
    context::Language,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    OVERWRITES,
    event::{self, Output},
};
use crate::{
    bounds::{LONGEST_ID, LONGEST_TIME},
    cards::CardLines,
    errors::{self, LONGEST_MINUTES},
    model::ics_read,
    state::CounterState,
    store::{
        caldav::{self, ServerCopy},
        events::{self, Event},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The event's id, evt_…
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    /// New title
    #[schemars(length(min = 1, max = 500))]
    title: Option<String>,
    /// New start, ISO 8601; the duration stays unless given
    #[schemars(length(max = LONGEST_TIME))]
    start: Option<String>,
    /// New duration, as in calendar_create
    #[schemars(with = "Option<f64>", range(min = 1, max = LONGEST_MINUTES))]
    duration_min: Option<i64>,
    /// New description
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// New place
    #[schemars(length(max = 500))]
    location: Option<String>,
    /// Fields to empty; "" counts as not given
    #[serde(default)]
    clear: Vec<Clearable>,
    /// After a conflict: replace the copy on the calendar server, which the user is shown
    overwrite: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Description,
    Location,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let tool = Tool::new(
        Definition {
            name: "calendar.update",
            title: "Change an event",
            description: "Change an event's title, time, place or description; what is not given \
                stays. The user is asked first.",
            hints: OVERWRITES,
            effect: Effect::Outside,
        },
        Handler::transaction(state, handle),
    );
    event::with_fields(tool)
        .aliases(&["calendar_update"])
        .card(describe(state, card))
}

/// An event before and after a call.
struct Update {
    before: Event,
    after: Event,
    /// The copy on the server that is replaced; `Some(None)` if it was deleted.
    replaces: Option<Option<ServerCopy>>,
}

impl Update {
    fn of(state: &CounterState, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let before = event::find(sql, &input.id)?;
        let overwrites = input.overwrite == Some(true) && state.caldav.is_some();
        let is_named = overwrites
            || input.title.is_some()
            || input.start.is_some()
            || input.duration_min.is_some()
            || input.description.is_some()
            || input.location.is_some()
            || !input.clear.is_empty();
        if !is_named {
            return Err(errors::nothing_to_change());
        }
        if before.cancelled_at.is_some() {
            return Err(errors::already_over("event", &before.id, "cancelled"));
        }
        let mut after = before.clone();
        if let Some(start) = &input.start {
            let start = state.moment("start", start)?;
            after.starts_at = start.millis();
            after.zone = start.zone_name();
        }
        let minutes = input.duration_min.unwrap_or_else(|| before.minutes());
        after.ends_at = after.starts_at + minutes * 60_000;
        after.title = input.title.unwrap_or(after.title);
        let clears = |field| input.clear.contains(&field);
        after.description = new_text(
            "description",
            input.description,
            clears(Clearable::Description),
            after.description,
        )?;
        after.location = new_text(
            "location",
            input.location,
            clears(Clearable::Location),
            after.location,
        )?;
        let replaces = match overwrites {
            true => caldav::in_conflict(sql, &before)?,
            false => None,
        };
        Ok(Self {
            before,
            after,
            replaces,
        })
    }

    fn changes_anything(&self) -> bool {
        self.before != self.after || self.replaces.is_some()
    }

    /// What the user approves: this version of the event, and this copy of it.
    fn state(&self) -> String {
        let copy = self.replaces.as_ref().map(|copy| match copy {
            Some(copy) => copy.etag.as_deref().unwrap_or("no tag"),
            None => "deleted",
        });
        format!("{}/{}", self.before.sequence, copy.unwrap_or_default())
    }
}

/// The new value of a text that can be given or cleared.
fn new_text(
    field: &str,
    given: Option<String>,
    is_cleared: bool,
    before: String,
) -> Result<String> {
    match (given, is_cleared) {
        (Some(_), true) => Err(errors::given_and_cleared(field)),
        (None, true) => Ok(String::new()),
        (Some(text), false) => Ok(text),
        (None, false) => Ok(before),
    }
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let update = Update::of(state, sql, input)?;
    context.check_card(None, Some(&update.state()))?;
    let event = &update.after;
    if update.changes_anything() {
        let now = state.now(context).as_millisecond();
        if !events::update(sql, event, &context.caller.id, now)? {
            return Err(approval::state_changed());
        }
        if let Some(copy) = &update.replaces
            && !caldav::overwrite(sql, &event.id, copy.as_ref())?
        {
            return Err(approval::state_changed());
        }
        event::changed(context, event);
    }
    let conflicts = event::conflicts(sql, event)?;
    Ok(Output::new(
        event,
        &conflicts,
        message(state, context, event),
    ))
}

/// For the person who is asked: the event, and each field before and after.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let update = Update::of(state, sql, input)?;
    let (before, after) = (&update.before, &update.after);
    let mut lines = CardLines::new(context.language);
    event::add_lines(&mut lines, before, after);
    if (before.starts_at, before.ends_at) != (after.starts_at, after.ends_at) {
        lines.overlaps(&event::conflicts(sql, after)?);
    }
    if let Some(copy) = &update.replaces {
        on_the_server(&mut lines, copy.as_ref(), state);
    }
    let title = &before.title;
    let replaces = update.replaces.is_some();
    Ok(Card {
        summary: match (context.language, replaces) {
            (Language::English, false) => format!("Change \"{title}\" in the calendar"),
            (Language::English, true) => {
                format!("Change \"{title}\" and replace its copy on the calendar server")
            }
            (Language::Japanese, false) => format!("予定「{title}」を変更する"),
            (Language::Japanese, true) => {
                format!("予定「{title}」を変更し、カレンダーサーバー側の内容を置き換える")
            }
        },
        lines: lines.done(),
        state: Some(update.state()),
        exempt: !update.changes_anything(),
        ..Card::default()
    })
}

/// How many properties of the copy are shown.
const MOST_SHOWN: usize = 50;

/// Shows the copy that would be replaced.
fn on_the_server(lines: &mut CardLines, copy: Option<&ServerCopy>, state: &CounterState) {
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

fn message(state: &CounterState, context: &Context, event: &Event) -> String {
    let spoken = state.spoken(context, event.starts_at, &event.zone());
    match context.language {
        Language::English => format!("{} is now {spoken}.", event.title),
        Language::Japanese => format!("「{}」を{spoken}に変更しました。", event.title),
    }
}
