//! The waiting list of a full screening. Seats that become free are held for the first
//! party that they suit.

use std::collections::HashSet;

use kit::{
    Context, Result, Sql,
    context::{Change, Language},
};
use serde::Serialize;

use crate::{
    answers::seat_ids,
    errors, ids,
    model::{
        Show, Status,
        best_seats::{Needs, best_blocks},
        hall::SeatMap,
        seat::Seat,
        when::rfc3339,
    },
    quote::quote,
    state::{CounterState, MINUTE},
    store::{self, NewReservation, WaitingParty},
    uris,
};

/// Where a party stands, as the tools answer it.
#[derive(Debug, Serialize)]
pub struct WaitingState {
    waiting_id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<i64>,
    party_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seat_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    pub message: String,
}

impl WaitingState {
    pub fn is_waiting(&self) -> bool {
        self.status == "waiting"
    }
}

/// Where the party with this id stands, and for which screening it waits.
pub fn state_of(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: &str,
) -> Result<(WaitingState, Option<Show>)> {
    let party = store::waiting_party(sql, id)?.ok_or_else(errors::waiting_not_found)?;
    let now = state.now(context);
    let show = store::show(sql, &party.show_id)?;
    let hold = match &party.hold_id {
        Some(hold_id) => store::reservation(sql, hold_id, now)?,
        None => None,
    };
    let is_closed = show
        .as_ref()
        .is_none_or(|show| show.has_begun(state.sales_time(context)));
    let status = match (&*party.status, hold.as_ref().map(|hold| hold.status)) {
        ("waiting", _) if is_closed => "closed",
        ("waiting", _) => "waiting",
        ("offered", Some(Status::Held)) => "offered",
        ("offered", Some(Status::Confirmed)) => "booked",
        ("offered", Some(Status::Expired) | None) => "lapsed",
        _ => "left",
    };
    let position = match status {
        "waiting" => Some(store::position(sql, &party)?),
        _ => None,
    };
    let hold = hold.filter(|_| ["offered", "booked"].contains(&status));
    let seats: &[Seat] = hold.as_ref().map_or(&[], |hold| &hold.seats);
    let until = hold.as_ref().and_then(|hold| hold.expires_at);
    let expires_at = until.map(|at| rfc3339(at, &state.zone));
    let found = WaitingState {
        message: message(context.language, status, position, expires_at.as_deref()),
        position,
        party_size: party.party_size,
        seat_ids: seat_ids(seats),
        hold_id: hold.as_ref().map(|hold| hold.id.clone()),
        expires_at,
        waiting_id: party.id,
        status,
    };
    Ok((found, show))
}

fn message(language: Language, status: &str, position: Option<i64>, until: Option<&str>) -> String {
    let (place, until) = (position.unwrap_or(0), until.unwrap_or_default());
    match (language, status) {
        (Language::English, "waiting") => {
            format!(
                "The party is number {place} in line. get_reservation_details with this waiting_id and a timeout waits for seats."
            )
        }
        (Language::English, "offered") => {
            format!("Seats are held for the party until {until}. Book hold_id with reserve_seats.")
        }
        (Language::English, "booked") => "The party has its seats.".into(),
        (Language::English, "lapsed") => {
            "The seats that were held for the party were not booked in time. Join again.".into()
        }
        (Language::English, "closed") => {
            "Sales are closed and no seats became free; offer another screening.".into()
        }
        (Language::English, _) => "The party no longer waits.".into(),
        (Language::Japanese, "waiting") => {
            format!(
                "{place}番目にお待ちです。このwaiting_idとtimeoutでget_reservation_detailsを呼ぶと空席を待てます。"
            )
        }
        (Language::Japanese, "offered") => {
            format!("{until}まで席を確保しています。このhold_idでreserve_seatsを呼んでください。")
        }
        (Language::Japanese, "booked") => "お席は予約済みです。".into(),
        (Language::Japanese, "lapsed") => {
            "確保した席は期限までに予約されませんでした。もう一度お申し込みください。".into()
        }
        (Language::Japanese, "closed") => {
            "空席が出ないまま販売を終了しました。別の回をご案内ください。".into()
        }
        (Language::Japanese, _) => "キャンセル待ちは取り消されました。".into(),
    }
}

/// Holds free seats for those who wait, the first in line first. A party that needs more
/// than there is does not hold up those behind it.
pub fn offer_free_seats(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
) -> Result<()> {
    let now = state.now(context);
    let close_at = state.sales_close_at(show);
    if close_at <= now {
        return Ok(());
    }
    store::lock_show(sql, &show.id)?;
    let parties = store::waiting_parties(sql, &show.id)?;
    if parties.is_empty() {
        return Ok(());
    }
    let hall = state.hall(sql, show)?;
    let mut taken = store::taken_seats(sql, &show.id, now, None)?;
    // Wishes for which there are no seats, since the last offer.
    let mut in_vain: HashSet<&str> = HashSet::new();
    let mut offered = 0;
    for party in &parties {
        if taken.len() >= hall.seat_count() {
            break;
        }
        if in_vain.contains(&*party.wishes) || !may_have_more(state, sql, show, party, now)? {
            continue;
        }
        let map = SeatMap::new(&hall, taken.iter().cloned());
        let Some(block) = best_blocks(&map, &needs(party), 1).pop() else {
            in_vain.insert(&party.wishes);
            continue;
        };
        let price = quote(state, sql, show, &hall, &block.seats, None)?;
        let minutes = i64::from(state.settings.waiting_offer_minutes.get());
        let new = NewReservation {
            id: &ids::reservation(),
            show_id: &show.id,
            seats: &block.seats,
            caller: &party.caller,
            created_at: now,
            expires_at: Some((now + minutes * MINUTE).min(close_at)),
            price: price.as_ref(),
        };
        if !store::book(sql, &new, now)? {
            // Somebody was faster. The next look finds other seats.
            store::remove(sql, &new)?;
            continue;
        }
        store::offered(sql, &party.id, new.id)?;
        taken.extend(block.seats);
        offered += 1;
        context.changed(Change::Resource(uris::waiting(&party.id)));
    }
    if offered > 0 {
        store::count_waiting(sql, &show.id)?;
        context.changed(Change::Resource(uris::seats(&show.id)));
    }
    Ok(())
}

/// Whether the party's caller may hold and have so many seats more. Otherwise it waits
/// until it may.
fn may_have_more(
    state: &CounterState,
    sql: &mut dyn Sql,
    show: &Show,
    party: &WaitingParty,
    now: i64,
) -> Result<bool> {
    let settings = &state.settings;
    let (most_held, most) = (
        settings.max_held_seats_per_caller,
        settings.max_seats_per_caller,
    );
    if most_held > 0 {
        let held = store::held_by_caller(sql, &party.caller, now)?;
        if held + party.party_size > most_held as usize {
            return Ok(false);
        }
    }
    if most > 0 {
        let reserved = store::seats_of_caller(sql, &show.id, &party.caller, now)?;
        return Ok(reserved.saturating_add_unsigned(party.party_size as u64) <= i64::from(most));
    }
    Ok(true)
}

/// Whether free seats suit a party that waits, without holding them. Looking is cheap; an
/// offer is a durable transaction.
pub fn fit_somebody(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
) -> Result<bool> {
    let now = state.now(context);
    let hall = state.hall(sql, show)?;
    let taken = store::taken_seats(sql, &show.id, now, None)?;
    if taken.len() >= hall.seat_count() {
        return Ok(false);
    }
    let map = SeatMap::new(&hall, taken);
    let mut wishes: HashSet<String> = HashSet::new();
    for party in store::waiting_parties(sql, &show.id)? {
        let is_new = wishes.insert(party.wishes.clone());
        if is_new && !best_blocks(&map, &needs(&party), 1).is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn needs(party: &WaitingParty) -> Needs {
    serde_json::from_str(&party.wishes).unwrap_or_else(|_| Needs::of(party.party_size))
}
