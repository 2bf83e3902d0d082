//! What clients can read and watch: the films, and the seat map of every
//! screening of today and later.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Sql, Store,
    page::{Page, unknown_cursor},
    resource::{
        Body, Contents, Question, Reference, Resource, Resources, Shows, Template, escape, unescape,
    },
};
use serde::Serialize;

use crate::{
    house::House,
    model::Show,
    prompts,
    store::{self, ListFrom},
    tools::{get_movie_list, get_seat_availability},
};

const FILMS: &str = "cinema://films";
const SEATS_TEMPLATE: &str = "cinema://shows/{schedule_id}/seats";
const JSON: &str = "application/json";
const FILM_DATA: Shows = Shows::data_of(&["get_movie_list"]);
/// An entry in the list names film, day and time, as the schedule does.
const SEAT_DATA: Shows = Shows {
    read: &["get_seat_availability"],
    listed: &["get_show_schedule"],
};
const PAGE: usize = 50;
/// Completion answers at most a hundred values; this many are looked through.
const LOOKED_THROUGH: usize = 2_000;
const COMPLETIONS: usize = 100;

/// The address of a screening's seat map.
pub fn seats_uri(schedule_id: &str) -> String {
    format!("cinema://shows/{}/seats", encode(schedule_id))
}

fn schedule_of(uri: &str) -> Option<String> {
    decode(
        uri.strip_prefix("cinema://shows/")?
            .strip_suffix("/seats")?,
    )
}

pub struct Shelf {
    house: Arc<House>,
    store: Arc<dyn Store>,
}

impl Shelf {
    pub fn new(house: &Arc<House>, store: &Arc<dyn Store>) -> Self {
        Self {
            house: Arc::clone(house),
            store: Arc::clone(store),
        }
    }

    async fn query<T: Send + 'static>(
        &self,
        context: &Context,
        job: impl FnOnce(&House, &Context, &mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (house, context) = (Arc::clone(&self.house), context.clone());
        let budget = context.budget();
        self.store
            .query(budget, move |sql| job(&house, &context, sql))
            .await
    }
}

impl Resources for Shelf {
    fn shows(&self, uri: &str) -> Option<Shows> {
        if uri == FILMS {
            return Some(FILM_DATA);
        }
        schedule_of(uri).map(|_| SEAT_DATA)
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
                    starts_at: self.house.start_of(self.house.today(context))?,
                    id: String::new(),
                },
            };
            let room = PAGE - usize::from(first_page);
            let mut shows = self
                .query(context, move |_, _, sql| {
                    // One more than fits says whether there is another page.
                    store::shows_from(sql, &from, room + 1)
                })
                .await?;
            let more = shows.len() > room;
            shows.truncate(room);
            let next_cursor = shows.last().filter(|_| more).map(write_cursor);
            let films = first_page.then(films_resource);
            let items = films.into_iter().chain(shows.iter().map(seats_resource));
            Ok(Page {
                items: items.collect(),
                next_cursor,
            })
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![Template {
            uri_template: SEATS_TEMPLATE,
            name: "seats",
            title: "Seats of a screening",
            description: "Free and taken seats, as get_seat_availability answers them.",
            mime_type: JSON,
            shows: SEAT_DATA,
        }]
    }

    fn read<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(async move {
            if uri == FILMS {
                let films = self.query(context, get_movie_list::all).await?;
                return json(&films).map(Some);
            }
            let Some(id) = schedule_of(uri) else {
                return Ok(None);
            };
            let seats = self
                .query(context, move |house, context, sql| {
                    store::show(sql, &id)?
                        .map(|show| get_seat_availability::seats_of(house, context, sql, &show))
                        .transpose()
                })
                .await?;
            seats.as_ref().map(json).transpose()
        })
    }

    fn complete<'a>(
        &'a self,
        context: &'a Context,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let values = match (&question.about, question.argument.as_str()) {
                (Reference::Template(template), "schedule_id") if template == SEATS_TEMPLATE => {
                    self.query(context, |house, context, sql| {
                        let from = house.start_of(house.today(context))?;
                        store::coming_ids(sql, from, LOOKED_THROUGH)
                    })
                    .await?
                }
                (Reference::Prompt(prompt), argument) if prompt == prompts::CLERK => {
                    prompts::complete(&self.house, context, argument)
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

fn films_resource() -> Resource {
    Resource {
        uri: FILMS.into(),
        name: "films".into(),
        title: Some("Movies now showing".into()),
        description: None,
        mime_type: JSON,
    }
}

fn seats_resource(show: &Show) -> Resource {
    Resource {
        uri: seats_uri(&show.id),
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

/// Start and id of the last screening of a page: it stays right when others
/// are added or taken out meanwhile.
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

/// Imported ids may hold anything.
fn encode(id: &str) -> String {
    escape(id, "")
}

fn decode(encoded: &str) -> Option<String> {
    let is_one_part = !encoded.is_empty() && !encoded.contains('/');
    unescape(encoded).filter(|_| is_one_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        for id in ["S20261115-T1-1", "a b/c", "上映%1"] {
            assert_eq!(schedule_of(&seats_uri(id)).as_deref(), Some(id));
        }
        assert_eq!(seats_uri("S1"), "cinema://shows/S1/seats");
        for uri in [
            "cinema://shows//seats",
            "cinema://shows/a/b/seats",
            "cinema://shows/%4/seats",
            "x",
        ] {
            assert_eq!(schedule_of(uri), None, "{uri}");
        }
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for cursor in ["", "s", "s1", "s1:", "sx:1", "p50"] {
            assert_eq!(read_cursor(cursor), None, "{cursor}");
        }
    }
}
