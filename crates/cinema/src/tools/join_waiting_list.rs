//! `join_waiting_list`: a party waits for seats of a screening that has none for it.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments,
    find_best_seats::{Wishes, say_largest_party},
    get_reservation_details::{self, Output},
};
use crate::{
    answers::PublishedElsewhere,
    booking, errors,
    find::{self, ScreeningQuery},
    ids,
    model::{best_seats::best_blocks, hall::SeatMap},
    state::CounterState,
    store::{self, NewWaiting},
    waiting,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    schedule_id: String,
    #[schemars(range(min = 1))]
    party_size: usize,
    // As in find_best_seats.
    together: Option<bool>,
    #[schemars(range(max = 20))]
    wheelchairs: Option<usize>,
    couple: Option<bool>,
    aisle: Option<bool>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let mut tool = Tool::new(
        Definition {
            name: "join_waiting_list",
            title: "Waiting list",
            description: "Wait for seats of a full screening; those that become free are held \
                for the first party they fit. Answers as get_reservation_details.",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("キャンセル待ち")
    .idempotency_key("idempotency_key")
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "schedule_id");
        Wishes::normalise(arguments);
    });
    say_largest_party(&mut tool, state);
    tool
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<PublishedElsewhere<Output>> {
    let settings = &state.settings;
    let wishes = Wishes {
        together: input.together,
        wheelchairs: input.wheelchairs,
        couple: input.couple,
        aisle: input.aisle,
    };
    let needs = wishes.needs(input.party_size, settings.max_seats_per_group.get())?;
    let query = ScreeningQuery {
        schedule_id: Some(&input.schedule_id),
        ..ScreeningQuery::default()
    };
    let show = find::screening(state, context, sql, &query)?;
    booking::check_on_sale(state, context, &show)?;
    let hall = state.hall(sql, &show)?;
    if best_blocks(&SeatMap::new(&hall, []), &needs, 1).is_empty() {
        return Err(errors::party_never_fits(&show, needs.party_size));
    }
    store::lock_show(sql, &show.id)?;
    let waiting = store::waiting_parties(sql, &show.id)?;
    let most = settings.max_waiting_per_show.min(store::MOST_WAITING);
    if waiting.len() >= most as usize {
        return Err(errors::waiting_list_full(most));
    }
    let own = waiting.iter().filter(|it| *it.caller == *context.caller.id);
    let most = settings.max_waiting_per_caller;
    if most > 0 && own.count() >= most as usize {
        return Err(errors::too_many_parties(most));
    }
    let id = ids::waiting();
    store::join_waiting(
        sql,
        &NewWaiting {
            id: &id,
            show_id: &show.id,
            party_size: needs.party_size,
            wishes: &serde_json::to_string(&needs).map_err(kit::Error::internal)?,
            caller: &context.caller.id,
            now: state.now(context),
        },
    )?;
    // There may be seats for it.
    waiting::offer_free_seats(state, context, sql, &show)?;
    state.waiting_changed.notify_one();
    get_reservation_details::details(state, context, sql, id).map(PublishedElsewhere)
}
