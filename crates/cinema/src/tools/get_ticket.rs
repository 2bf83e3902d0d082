//! `get_ticket`: what the customer shows at the gate.

use std::sync::Arc;

use base64ct::{Base64, Encoding};
use kit::{
    Context, Definition, Effect, Error, Handler, Hints, Language, Reply, Result, Run, Sql, Today,
    Tool, handler::typed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::arguments;
use crate::{
    answers::{PublishedElsewhere, ScheduleInfo, seat_ids},
    errors,
    model::{
        Show, qr,
        seat::{Seat, join},
        ticket::TicketKey,
    },
    state::CounterState,
    store, tickets, uris,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    reservation_id: String,
}

#[derive(Serialize)]
pub struct Ticket {
    /// The text of the QR code.
    ticket: String,
    schedule_info: ScheduleInfo,
    seat_ids: Vec<String>,
    /// A resource with the PNG.
    image_uri: String,
    /// A resource with an entry for a calendar.
    calendar_uri: String,
    message: String,
    #[serde(flatten)]
    today: Today,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let state = Arc::clone(state);
    let run = Run::Async(Arc::new(move |context, arguments| {
        let state = Arc::clone(&state);
        Box::pin(async move { handle(state, context, typed(arguments)?).await })
    }));
    Tool::new(
        Definition {
            name: "get_ticket",
            title: "Ticket",
            description: "Get the ticket of a reservation as a QR code to show at the entrance; \
                calendar_uri is its .ics.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::<Input, PublishedElsewhere<Ticket>>::from_run(run),
    )
    .in_japanese("チケットの発行")
    .normalise(|_, arguments| arguments::narrow(arguments, "reservation_id"))
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Reply> {
    let key = tickets::key(&state, &context).await?;
    let store = Arc::clone(&state.store);
    let budget = context.budget();
    let read = move |sql: &mut dyn Sql| output(&state, &context, sql, &key, &input.reservation_id);
    let output = store.query(budget, read).await?;
    let image = json!({ "type": "image", "data": png(&output.ticket)?, "mimeType": "image/png" });
    Ok(Reply::Illustrated {
        json: serde_json::to_string(&output).map_err(Error::internal)?,
        blocks: vec![image],
    })
}

fn output(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    key: &TicketKey,
    id: &str,
) -> Result<Ticket> {
    let found = store::reservation(sql, id, state.now(context))?;
    let found = found.ok_or_else(errors::reservation_not_found)?;
    let ticket = tickets::issue(state, key, &found)?;
    Ok(Ticket {
        ticket: ticket.ok_or_else(|| errors::no_ticket(found.status))?,
        schedule_info: ScheduleInfo::from(&found.show),
        seat_ids: seat_ids(&found.seats),
        image_uri: uris::ticket_image(id),
        calendar_uri: uris::ticket_calendar(id),
        message: message(context.language, &found.show, &found.seats),
        today: Today::of(context),
    })
}

/// The ticket as a PNG of its QR code, in Base64.
pub fn png(ticket: &str) -> Result<String> {
    let file = qr::png(ticket).map_err(Error::internal)?;
    Ok(Base64::encode_string(&file))
}

fn message(language: Language, show: &Show, seats: &[Seat]) -> String {
    let (film, hall, seats) = (&show.film_title, &show.theater_name, join(seats));
    let (date, time) = (&show.date, show.start);
    match language {
        Language::English => {
            format!("Show the QR code at the entrance: {film}, {date} {time}, {hall}, {seats}.")
        }
        Language::Japanese => format!(
            "入場口でQRコードをご提示ください。「{film}」{date} {time}、{hall}、座席{seats}。"
        ),
    }
}
