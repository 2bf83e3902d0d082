//! What clients can read and watch: the calendar as a file, each event as one,
//! and the reminders.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Sql, Store,
    context::Language,
    page::{self, Page},
    resource::{
        Body, CompletionQuestion, Contents, Reference, Resource, Resources, Shows, Template,
        escape, unescape,
    },
};

use crate::{
    answers::ReminderView,
    calendar_file,
    state::CounterState,
    store::{
        events::{self, Event},
        reminders,
    },
};

pub const CALENDAR: &str = "innervoice://calendar.ics";
pub const REMINDERS: &str = "innervoice://reminders";
const EVENT_TEMPLATE: &str = "innervoice://events/{id}.ics";
const ICS: &str = "text/calendar";
const JSON: &str = "application/json";
const CALENDAR_DATA: Shows = Shows::data_of(&["calendar.list"]);
const REMINDER_DATA: Shows = Shows::data_of(&["reminder.list"]);
const PAGE: usize = 50;
const COMPLETIONS: usize = 100;

pub fn event_uri(id: &str) -> String {
    format!("innervoice://events/{}.ics", escape(id, ""))
}

fn event_of(uri: &str) -> Option<String> {
    let id = uri
        .strip_prefix("innervoice://events/")?
        .strip_suffix(".ics")?;
    unescape(id).filter(|id| !id.is_empty())
}

pub struct CounterResources {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
}

impl CounterResources {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
        }
    }

    async fn query<T: Send + 'static>(
        &self,
        context: &Context,
        job: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.store.query(context.budget(), job).await
    }

    /// Events that are not over.
    async fn coming(&self, context: &Context, most: usize) -> Result<Vec<Event>> {
        let now = self.state.now(context).as_millisecond();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.query(context, move |sql| events::coming(sql, now, most))
            .await
    }
}

impl Resources for CounterResources {
    fn shows(&self, uri: &str) -> Option<Shows> {
        match uri {
            CALENDAR => Some(CALENDAR_DATA),
            REMINDERS => Some(REMINDER_DATA),
            _ => event_of(uri).map(|_| CALENDAR_DATA),
        }
    }

    fn list<'a>(
        &'a self,
        context: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(async move {
            let mut all = vec![
                resource(CALENDAR.into(), "calendar", "The calendar", ICS),
                resource(REMINDERS.into(), "reminders", "The reminders", JSON),
            ];
            for event in self.coming(context, 1_000).await? {
                let name = format!("event {}", event.id);
                all.push(resource(event_uri(&event.id), &name, &event.title, ICS));
            }
            page::slice(&all, cursor, PAGE)
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![Template {
            uri_template: EVENT_TEMPLATE,
            name: "event",
            title: "An event",
            description: "One event as an iCalendar file.",
            mime_type: ICS,
            shows: CALENDAR_DATA,
        }]
    }

    fn read<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(async move {
            let now = self.state.now(context).as_millisecond();
            let text = |mime_type, text| {
                Some(Contents {
                    mime_type,
                    body: Body::Text(text),
                })
            };
            match uri {
                CALENDAR => {
                    let feed = self
                        .query(context, move |sql| calendar_file::feed(sql, now))
                        .await?;
                    Ok(text(ICS, feed))
                }
                REMINDERS => {
                    let language: Language = context.language;
                    let views = self
                        .query(context, move |sql| {
                            let found = reminders::list(sql, true, 200)?;
                            ReminderView::all(sql, &found, language)
                        })
                        .await?;
                    let json = serde_json::to_string(&serde_json::json!({ "reminders": views }));
                    Ok(text(JSON, json.map_err(kit::Error::internal)?))
                }
                _ => {
                    let Some(id) = event_of(uri) else {
                        return Ok(None);
                    };
                    let event = self
                        .query(context, move |sql| events::find(sql, &id))
                        .await?;
                    Ok(event.and_then(|event| text(ICS, calendar_file::file(&[event]))))
                }
            }
        })
    }

    fn complete<'a>(
        &'a self,
        context: &'a Context,
        question: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let about_event = matches!(&question.about, Reference::Template(template) if template == EVENT_TEMPLATE);
            if !about_event || question.argument != "id" {
                return Ok(Vec::new());
            }
            let events = self.coming(context, 1_000).await?;
            let ids = events.into_iter().map(|event| event.id);
            let fitting = ids.filter(|id| id.starts_with(&question.typed));
            Ok(fitting.take(COMPLETIONS).collect())
        })
    }

    fn ttl_ms(&self) -> u64 {
        5_000
    }
}

fn resource(uri: String, name: &str, title: &str, mime_type: &'static str) -> Resource {
    Resource {
        uri,
        name: name.into(),
        title: Some(title.into()),
        description: None,
        mime_type,
    }
}
