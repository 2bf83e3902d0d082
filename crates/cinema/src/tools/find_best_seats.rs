//! `find_best_seats`: the best free seats for a party, in one screening or across many.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{ToSpan, civil::Date};
use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool, context::Language,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{arguments, hold_seats};
use crate::{
    answers::{AnyObject, PublishedElsewhere, seat_ids},
    booking::{self, Order},
    errors,
    find::{self, ScreeningQuery, given},
    model::{
        Listing, Show,
        best_seats::{Block, Needs, best_blocks},
        film::strictness,
        hall::{GENERAL, Hall, SeatMap},
        quote::TicketCounts,
        seat::Seat,
    },
    programme::Filters,
    reasons,
    state::CounterState,
    store::{self, Filter},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// People, with those in wheelchairs
    #[schemars(range(min = 1))]
    party_size: usize,
    /// One screening; else any that fits
    schedule_id: Option<String>,
    /// Or movie_id; none for any movie
    movie_title: Option<String>,
    /// First day; words work too
    date: Option<String>,
    /// Last day
    to_date: Option<String>,
    /// Earliest start, HH:MM
    from_time: Option<String>,
    /// Latest start
    to_time: Option<String>,
    /// As in get_show_schedule
    max_age_class: Option<String>,
    #[serde(flatten)]
    wishes: Wishes,
    /// True holds the best ones at once
    #[serde(default)]
    hold: bool,
    /// As in reserve_seats
    #[schemars(with = "Option<AnyObject>")]
    tickets: Option<TicketCounts>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

/// What a party needs besides seats.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Wishes {
    /// Default true
    pub together: Option<bool>,
    /// Companions sit beside them
    #[schemars(range(max = 20))]
    pub wheelchairs: Option<usize>,
    /// Couple seats
    pub couple: Option<bool>,
    pub aisle: Option<bool>,
}

impl Wishes {
    pub fn needs(&self, party_size: usize, most: u8) -> Result<Needs> {
        let needs = Needs {
            party_size,
            wheelchairs: self.wheelchairs.unwrap_or(0),
            couple: self.couple.unwrap_or(false),
            aisle: self.aisle.unwrap_or(false),
            together: self.together.unwrap_or(true),
        };
        if party_size > usize::from(most) {
            return Err(errors::group_too_large(party_size, most));
        }
        if needs.wheelchairs > party_size {
            return Err(errors::too_many_wheelchairs());
        }
        if needs.couple && needs.wheelchairs > 0 {
            return Err(errors::couple_and_wheelchair());
        }
        if needs.couple && party_size % 2 == 1 {
            return Err(errors::odd_couple_party());
        }
        Ok(needs)
    }

    pub fn normalise(arguments: &mut arguments::Arguments) {
        arguments::integer(arguments, "party_size");
        arguments::integer(arguments, "wheelchairs");
        for name in ["together", "couple", "aisle"] {
            arguments::boolean(arguments, name);
        }
    }
}

#[derive(Serialize)]
pub struct BestSeats {
    /// The best first.
    blocks: Vec<Proposal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<hold_seats::Output>,
    message: String,
    #[serde(flatten)]
    today: Today,
}

#[derive(Serialize)]
struct Proposal {
    seat_ids: Vec<String>,
    together: bool,
    leaves_lone_seat: bool,
    schedule_id: String,
    movie_title: String,
    date: String,
    start_time: String,
    end_time: String,
    theater_name: String,
    age_class: String,
    /// Which of the seats are for wheelchairs or couples.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    special_seats: BTreeMap<String, Vec<String>>,
}

/// The seats that are not ordinary, by their type.
fn special_seats(hall: &Hall, seats: &[Seat]) -> BTreeMap<String, Vec<String>> {
    let mut special: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in seats.iter().filter_map(|seat| hall.seat(seat)) {
        if place.seat_type != GENERAL {
            let seats = special.entry(place.seat_type.clone()).or_default();
            seats.push(place.seat.to_string());
        }
    }
    special
}

/// Screenings that one call looks at.
const MOST_SHOWS: usize = 300;
const MOST_DAYS: i64 = 31;
const LISTED: usize = 5;
/// Blocks of one screening, if there are several.
const PER_SHOW: usize = 2;
/// Blocks that are tried if others take the best ones at the same moment.
const TRIES: usize = 20;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let mut tool = Tool::new(
        Definition {
            name: "find_best_seats",
            title: "Best seats",
            description: "Find the best free seats for a party, in one screening or across films \
                and days. Answers blocks, the best first, and hold as hold_seats answers.",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::prepared(state, prepare, write),
    )
    .in_japanese("おすすめの席")
    .idempotency_key("idempotency_key")
    .normalise(|context, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::movie(arguments);
        arguments::date(context, arguments, "date");
        arguments::date(context, arguments, "to_date");
        arguments::time(arguments, "from_time");
        arguments::time(arguments, "to_time");
        arguments::age_class(arguments, "max_age_class");
        arguments::boolean(arguments, "hold");
        arguments::tickets(arguments);
        Wishes::normalise(arguments);
    });
    say_largest_party(&mut tool, state);
    tool
}

/// Publishes the operator's limit.
pub fn say_largest_party(tool: &mut Tool, state: &CounterState) {
    if let Some(Value::Object(field)) = tool.input.pointer_mut("/properties/party_size") {
        field.insert(
            "maximum".into(),
            state.settings.max_seats_per_group.get().into(),
        );
    }
}

/// A block of a screening, as it was free when it was found.
#[derive(Clone)]
struct Candidate {
    show: Show,
    block: Block,
}

pub struct Plan {
    input: Input,
    needs: Needs,
    candidates: Vec<Candidate>,
    shows: usize,
}

fn prepare(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Plan> {
    let needs = input
        .wishes
        .needs(input.party_size, state.settings.max_seats_per_group.get())?;
    let shows = shows(state, context, sql, &input)?;
    let count = shows.len();
    let candidates = ranked(state, context, sql, &needs, shows)?;
    Ok(Plan {
        input,
        needs,
        candidates,
        shows: count,
    })
}

/// The screenings that the arguments allow.
fn shows(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<Vec<Show>> {
    if given(input.schedule_id.as_deref()).is_some() {
        let query = ScreeningQuery {
            schedule_id: input.schedule_id.as_deref(),
            movie_title: input.movie_title.as_deref(),
            ..ScreeningQuery::default()
        };
        let show = find::screening(state, context, sql, &query)?;
        booking::check_on_sale(state, context, &show)?;
        return Ok(vec![show]);
    }
    let film = given(input.movie_title.as_deref());
    let film = film.map(|title| find::film(sql, title)).transpose()?;
    let dates = days(state, context, input)?;
    let filter = Filter {
        films: film.iter().map(|film| film.id.as_str()).collect(),
        dates: dates.iter().map(Date::to_string).collect(),
        from: Some(state.sales_time(context)),
        ..Filter::default()
    };
    let mut found = store::listings(sql, &filter, state.now(context), MOST_SHOWS)?;
    let [from, to] = Filters::times(
        given(input.from_time.as_deref()),
        given(input.to_time.as_deref()),
    )?;
    let fits = |show: &Show| {
        from.is_none_or(|from| from <= show.start) && to.is_none_or(|to| show.start <= to)
    };
    let strictest = given(input.max_age_class.as_deref()).map(strictness);
    let suits = |show: &Show| strictest.is_none_or(|most| strictness(&show.age_class) <= most);
    found.retain(|Listing { show, free, .. }| *free > 0 && fits(show) && suits(show));
    Ok(found.into_iter().map(|listing| listing.show).collect())
}

/// The days of the search; today and the six days after it if none is named.
fn days(state: &CounterState, context: &Context, input: &Input) -> Result<Vec<Date>> {
    let read = |text: Option<&str>| given(text).map(|text| state.read_date(text)).transpose();
    let (first, last) = (
        read(input.date.as_deref())?,
        read(input.to_date.as_deref())?,
    );
    let today = state.programme_day(context);
    let (first, last) = match (first, last) {
        (Some(first), Some(last)) => (first, last),
        (Some(first), None) => (first, first),
        (None, Some(last)) => (today.min(last), last),
        (None, None) => (today, today.checked_add(6.days()).unwrap_or(today)),
    };
    if last < first {
        return Err(errors::days_swapped(first, last));
    }
    let days = first.series(1.day()).take_while(|day| *day <= last);
    let days: Vec<Date> = days.take(MOST_DAYS as usize + 1).collect();
    match days.len() as i64 > MOST_DAYS {
        true => Err(errors::too_many_days(MOST_DAYS)),
        false => Ok(days),
    }
}

/// The blocks of all screenings, the best first.
fn ranked(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    needs: &Needs,
    shows: Vec<Show>,
) -> Result<Vec<Candidate>> {
    let ids: Vec<&str> = shows.iter().map(|show| show.id.as_str()).collect();
    let mut taken = store::taken_by_show(sql, &ids, state.now(context))?;
    let each = if shows.len() == 1 { TRIES } else { PER_SHOW };
    let mut found = Vec::new();
    for show in shows {
        let hall = state.hall(sql, &show)?;
        let taken = taken.remove(&show.id).unwrap_or_default();
        let map = SeatMap::new(&hall, taken);
        let blocks = best_blocks(&map, needs, each).into_iter();
        found.extend(blocks.map(|block| Candidate {
            show: show.clone(),
            block,
        }));
    }
    found.sort_by_key(|it| (it.block.rank(), it.show.starts_at));
    found.truncate(TRIES + LISTED);
    Ok(found)
}

fn write(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    plan: &Plan,
) -> Result<PublishedElsewhere<BestSeats>> {
    let mut candidates = plan.candidates.clone();
    let hold = match plan.input.hold && !candidates.is_empty() {
        true => Some(hold_best(state, context, sql, plan, &mut candidates)?),
        false => None,
    };
    candidates.truncate(LISTED);
    let message = match plan.shows == 0 && !store::has_films(sql)? {
        true => reasons::no_films(context.language).to_owned(),
        false => message(context.language, plan, &candidates, hold.is_some()),
    };
    let mut proposals = Vec::with_capacity(candidates.len());
    for Candidate { show, block } in &candidates {
        let hall = state.hall(sql, show)?;
        proposals.push(Proposal {
            seat_ids: seat_ids(&block.seats),
            together: block.is_together,
            leaves_lone_seat: block.leaves_lone_seat,
            schedule_id: show.id.clone(),
            movie_title: show.film_title.clone(),
            date: show.date.clone(),
            start_time: show.start.to_string(),
            end_time: show.end.to_string(),
            theater_name: show.theater_name.clone(),
            age_class: show.age_class.clone(),
            special_seats: special_seats(&hall, &block.seats),
        });
    }
    Ok(PublishedElsewhere(BestSeats {
        blocks: proposals,
        hold,
        message,
        today: Today::of(context),
    }))
}

/// Holds the best block that is still free, and drops those before it.
fn hold_best(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    plan: &Plan,
    candidates: &mut Vec<Candidate>,
) -> Result<hold_seats::Output> {
    // What was free when the call was prepared may be taken by now.
    let mut still_free = None;
    for (at, Candidate { show, block }) in candidates.iter().enumerate().take(TRIES) {
        let taken = store::taken_seats(sql, &show.id, state.now(context), None)?;
        if block.seats.iter().all(|seat| !taken.contains(seat)) {
            still_free = Some(at);
            break;
        }
    }
    let best = match still_free {
        Some(at) => {
            candidates.drain(..at);
            candidates.first()
        }
        None => {
            let shows = shows(state, context, sql, &plan.input)?;
            *candidates = ranked(state, context, sql, &plan.needs, shows)?;
            candidates.first()
        }
    };
    let Some(Candidate { show, block }) = best else {
        return Err(errors::no_block_left());
    };
    let order = Order::new(state, context, sql, show.clone(), block.seats.clone())?;
    let order = order.priced(state, sql, plan.input.tickets.as_ref())?;
    let hold = hold_seats::hold(state, context, sql, &order)?;
    hold_seats::answer(state, context, sql, &hold)
}

fn message(language: Language, plan: &Plan, found: &[Candidate], held: bool) -> String {
    let size = plan.needs.party_size;
    match (language, plan.shows, found.first(), held) {
        (Language::English, 0, ..) => "No screening fits; widen the days or times, or leave the \
            film out."
            .into(),
        (Language::Japanese, 0, ..) => {
            "条件に合う上映がありません。日付や時間の範囲を広げるか、作品の指定を外してください。"
                .into()
        }
        (Language::English, shows, None, _) => format!(
            "None of {shows} screening(s) has seats for this party of {size}; set together to \
             false, widen the days, or use join_waiting_list."
        ),
        (Language::Japanese, shows, None, _) => format!(
            "{shows}回の上映のどれにも{size}名分の席がありません。togetherをfalseにするか、日程を広げるか、キャンセル待ちをご利用ください。"
        ),
        (Language::English, _, Some(best), held) => format!(
            "{} {}: {} on {} at {}.",
            if held { "Held" } else { "Best" },
            seat_ids(&best.block.seats).join(", "),
            best.show.film_title,
            best.show.date,
            best.show.start
        ),
        (Language::Japanese, _, Some(best), held) => format!(
            "{}: {} {}「{}」{}。",
            if held {
                "確保した席"
            } else {
                "おすすめの席"
            },
            best.show.date,
            best.show.start,
            best.show.film_title,
            seat_ids(&best.block.seats).join(", ")
        ),
    }
}
