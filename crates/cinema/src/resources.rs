//! What clients can read and watch: the films, the prices, the place, the seat map of
//! every screening of today and later, tickets, and the key that verifies them.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Sql, Store,
    page::{Page, unknown_cursor},
    resource::{
        Body, CompletionQuestion, Contents, Reference, Resource, Resources, Shows, Template,
    },
};
use serde::Serialize;

use crate::{
    errors,
    model::{Show, Status, place::Place, prices::PriceList},
    prompts,
    state::CounterState,
    store::{self, ListFrom},
    tickets,
    tools::{get_movie_list, get_seat_availability, get_ticket},
    uris::{self, TicketFormat},
    waiting,
};

const JSON: &str = "application/json";
const FILM_DATA: Shows = Shows::data_of(&["get_movie_list"]);
const HOUSE_DATA: Shows = Shows::data_of(&["get_show_schedule"]);
/// An entry of the list shows film, day and time, which are data of the schedule.
const SEAT_DATA: Shows = Shows {
    read: &["get_seat_availability"],
    listed: &["get_show_schedule"],
};
/// Never listed: its address holds an id that cannot be guessed.
const WAITING_DATA: Shows = Shows::data_of(&["get_reservation_details"]);
const TICKET_DATA: Shows = Shows::data_of(&["get_ticket"]);
const PNG: &str = "image/png";
const CALENDAR: &str = "text/calendar";
const PAGE: usize = 50;
/// How many ids a completion looks through for its values.
const LOOKED_THROUGH: usize = 2_000;
const COMPLETIONS: usize = 100;

pub struct CinemaResources {
    state: Arc<CounterState>,
    store: Arc<dyn Store>,
}

impl CinemaResources {
    pub fn new(state: &Arc<CounterState>, store: &Arc<dyn Store>) -> Self {
        Self {
            state: Arc::clone(state),
            store: Arc::clone(store),
        }
    }

    async fn query<T: Send + 'static>(
        &self,
        context: &Context,
        job: impl FnOnce(&CounterState, &Context, &mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (state, context) = (Arc::clone(&self.state), context.clone());
        let budget = context.budget();
        self.store
            .query(budget, move |sql| job(&state, &context, sql))
            .await
    }

    async fn ticket_key(&self, context: &Context) -> Result<Contents> {
        let key = tickets::key(&self.state, context).await?;
        json(&key.public_jwk())
    }

    async fn ticket(
        &self,
        context: &Context,
        id: String,
        format: TicketFormat,
    ) -> Result<Option<Contents>> {
        let key = tickets::key(&self.state, context).await?;
        self.query(context, move |state, context, sql| {
            let Some(found) = store::reservation(sql, &id, state.now(context))? else {
                return Ok(None);
            };
            let ticket = tickets::issue(state, &key, &found)?;
            let (mime_type, body) = match (format, ticket) {
                (TicketFormat::Image, Some(ticket)) => (PNG, Body::Blob(get_ticket::png(&ticket)?)),
                (TicketFormat::Calendar, ticket)
                    if ticket.is_some() || found.status == Status::Cancelled =>
                {
                    let file = tickets::calendar(state, &key, context.language, &found)?;
                    (CALENDAR, Body::Text(file))
                }
                _ => return Err(errors::no_ticket(found.status)),
            };
            Ok(Some(Contents { mime_type, body }))
        })
        .await
    }

    async fn document<D: store::Document + Send + 'static>(
        &self,
        context: &Context,
    ) -> Result<Option<Contents>> {
        let document = self
            .query(context, |_, _, sql| store::any_document::<D>(sql))
            .await?;
        document.as_ref().map(json).transpose()
    }
}

impl Resources for CinemaResources {
    fn shows(&self, uri: &str) -> Option<Shows> {
        match uri {
            uris::FILMS => Some(FILM_DATA),
            uris::PLACE | uris::PRICES => Some(HOUSE_DATA),
            uris::TICKET_KEY => Some(TICKET_DATA),
            _ => {
                let seats = uris::schedule_id(uri).map(|_| SEAT_DATA);
                let waiting = || uris::waiting_id(uri).map(|_| WAITING_DATA);
                let ticket = || uris::ticket(uri).map(|_| TICKET_DATA);
                seats.or_else(waiting).or_else(ticket)
            }
        }
    }

    fn list<'a>(
        &'a self,
        context: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(async move {
            let first_page = cursor.is_none();
            let from = match cursor {
                Some(cursor) => read_cursor(cursor).ok_or_else(unknown_cursor)?,
                None => ListFrom {
                    starts_at: self.state.start_of(self.state.today(context))?,
                    id: String::new(),
                },
            };
            let (house, mut shows, room) = self
                .query(context, move |_, _, sql| {
                    let house = match first_page {
                        true => house_resources(&store::document_names(sql)?),
                        false => Vec::new(),
                    };
                    let room = PAGE - house.len();
                    // One more than fits says whether there is another page.
                    Ok((house, store::shows_from(sql, &from, room + 1)?, room))
                })
                .await?;
            let more = shows.len() > room;
            shows.truncate(room);
            let next_cursor = shows.last().filter(|_| more).map(write_cursor);
            let items = house.into_iter().chain(shows.iter().map(seats_resource));
            Ok(Page {
                items: items.collect(),
                next_cursor,
            })
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![
            Template {
                uri_template: uris::SEATS_TEMPLATE,
                name: "seats",
                title: "Seats of a screening",
                description: "Free and taken seats, as get_seat_availability answers them with map: true.",
                mime_type: JSON,
                shows: SEAT_DATA,
            },
            Template {
                uri_template: uris::WAITING_TEMPLATE,
                name: "waiting",
                title: "Place on a waiting list",
                description: "waiting of get_reservation_details. Changes when seats are held for the party.",
                mime_type: JSON,
                shows: WAITING_DATA,
            },
            Template {
                uri_template: uris::TICKET_TEMPLATE,
                name: "ticket",
                title: "Ticket of a reservation",
                description: "The QR code to show at the entrance.",
                mime_type: PNG,
                shows: TICKET_DATA,
            },
            Template {
                uri_template: uris::CALENDAR_TEMPLATE,
                name: "calendar entry",
                title: "Calendar entry of a reservation",
                description: "Film, time, theater and seats, for the customer's calendar.",
                mime_type: CALENDAR,
                shows: TICKET_DATA,
            },
        ]
    }

    fn read<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(async move {
            let known = match uri {
                uris::FILMS => {
                    let films = self.query(context, get_movie_list::all).await?;
                    return json(&films).map(Some);
                }
                uris::PRICES => self.document::<PriceList>(context).await?,
                uris::PLACE => self.document::<Place>(context).await?,
                _ => None,
            };
            if known.is_some() {
                return Ok(known);
            }
            if let Some(id) = uris::waiting_id(uri) {
                let look = move |state: &CounterState, context: &Context, sql: &mut dyn Sql| {
                    match store::waiting_party(sql, &id)? {
                        Some(_) => Ok(Some(waiting::state_of(state, context, sql, &id)?.0)),
                        None => Ok(None),
                    }
                };
                let found = self.query(context, look).await?;
                return found.as_ref().map(json).transpose();
            }
            if uri == uris::TICKET_KEY {
                return self.ticket_key(context).await.map(Some);
            }
            if let Some((id, format)) = uris::ticket(uri) {
                return self.ticket(context, id, format).await;
            }
            let Some(id) = uris::schedule_id(uri) else {
                return Ok(None);
            };
            let seats = self
                .query(context, move |state, context, sql| {
                    store::show(sql, &id)?
                        .map(|show| {
                            get_seat_availability::seats_of(state, context, sql, &show, true)
                        })
                        .transpose()
                })
                .await?;
            seats.as_ref().map(json).transpose()
        })
    }

    fn complete<'a>(
        &'a self,
        context: &'a Context,
        question: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let values = match (&question.about, question.argument.as_str()) {
                (Reference::Template(template), "schedule_id")
                    if template == uris::SEATS_TEMPLATE =>
                {
                    self.query(context, |state, context, sql| {
                        let from = state.start_of(state.today(context))?;
                        store::coming_ids(sql, from, LOOKED_THROUGH)
                    })
                    .await?
                }
                (Reference::Prompt(prompt), argument) if prompt == prompts::CLERK => {
                    prompts::complete(&self.state, context, argument)
                }
                _ => Vec::new(),
            };
            let typed = question.typed.to_lowercase();
            Ok(values
                .into_iter()
                .filter(|value| value.to_lowercase().starts_with(&typed))
                .take(COMPLETIONS)
                .collect())
        })
    }

    fn ttl_ms(&self) -> u64 {
        5_000
    }
}

/// The films, the key of tickets, and the documents that exist.
fn house_resources(documents: &[String]) -> Vec<Resource> {
    let all = [
        (uris::FILMS, "films", "Movies now showing"),
        (
            uris::PLACE,
            "place",
            "Where the cinema is, how to get there, accessibility",
        ),
        (uris::PRICES, "prices", "Price list"),
        (
            uris::TICKET_KEY,
            "ticket key",
            "Public key of tickets, a JSON Web Key",
        ),
    ];
    let exists = |name: &str| {
        ["films", "ticket key"].contains(&name) || documents.iter().any(|known| known == name)
    };
    all.into_iter()
        .filter(|(_, name, _)| exists(name))
        .map(|(uri, name, title)| Resource {
            uri: uri.into(),
            name: name.into(),
            title: Some(title.into()),
            description: None,
            mime_type: JSON,
        })
        .collect()
}

fn seats_resource(show: &Show) -> Resource {
    Resource {
        uri: uris::seats(&show.id),
        name: format!("seats {}", show.id),
        title: Some(format!("{} {} {}", show.date, show.start, show.film_title)),
        description: Some(format!("Seat map, {}", show.theater_name)),
        mime_type: JSON,
    }
}

fn json(value: &impl Serialize) -> Result<Contents> {
    Ok(Contents {
        mime_type: JSON,
        body: Body::Text(serde_json::to_string(value).map_err(kit::Error::internal)?),
    })
}

/// Start and id of the last screening of a page. It stays valid when screenings are
/// added or removed.
fn write_cursor(last: &Show) -> String {
    format!("s{}:{}", last.starts_at, last.id)
}

fn read_cursor(cursor: &str) -> Option<ListFrom> {
    let (starts_at, id) = cursor.strip_prefix('s')?.split_once(':')?;
    Some(ListFrom {
        starts_at: starts_at.parse().ok()?,
        id: Some(id).filter(|id| !id.is_empty())?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_cursors_are_refused() {
        for cursor in ["", "s", "s1", "s1:", "sx:1", "p50"] {
            assert_eq!(read_cursor(cursor), None, "{cursor}");
        }
    }
}
