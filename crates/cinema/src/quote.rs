//! Prices the seats of a screening. No payment is taken.

use std::collections::BTreeMap;

use kit::{Result, Sql};

use crate::{
    errors,
    model::{
        Show,
        hall::{GENERAL, Hall},
        prices::{Occasion, PriceList},
        quote::{Quote, TicketCounts},
        seat::Seat,
    },
    state::CounterState,
};

/// What the seats cost; `None` where no price is known.
///
/// The first seats get the first class of the price list, and so on. The total does not
/// depend on who sits where, since surcharges are the same for everybody.
pub fn quote(
    state: &CounterState,
    sql: &mut dyn Sql,
    show: &Show,
    hall: &Hall,
    seats: &[Seat],
    tickets: Option<&TicketCounts>,
) -> Result<Option<Quote>> {
    let (Some(list), Some(occasion)) = (state.prices(sql, show)?, Occasion::of(show)) else {
        return Ok(None);
    };
    let tickets = tickets.filter(|tickets| tickets.values().any(|count| *count > 0));
    let classes = match tickets {
        Some(tickets) => classes(&list, tickets, seats.len())?,
        None => vec![list.default_class().to_owned(); seats.len()],
    };
    let mut quote = Quote::new(tickets.is_none());
    for (seat, class) in seats.iter().zip(classes) {
        let seat_type = hall.seat(seat).map_or(GENERAL, |place| &place.seat_type);
        let Some(rule) = list.price(&class, &occasion) else {
            return Ok(None);
        };
        let each_yen = rule.price_yen.unwrap_or(0) + list.surcharge(seat_type, &occasion);
        quote.add(seat, rule, class, seat_type, each_yen);
    }
    if tickets.is_none() {
        let surcharge = list.surcharge(GENERAL, &occasion);
        for class in list.classes() {
            let price = list.price(&class.price_class, &occasion);
            if let Some(yen) = price.and_then(|rule| rule.price_yen)
                && class.price_class != list.default_class()
            {
                let class = class.price_class.clone();
                quote.other_prices.insert(class, yen + surcharge);
            }
        }
    }
    Ok(Some(quote))
}

/// The price of a reservation with these seats: with `tickets` if the caller names them,
/// else for those who came before.
pub fn requote(
    state: &CounterState,
    sql: &mut dyn Sql,
    before: Option<&Quote>,
    order: (&Show, &Hall, &[Seat]),
    tickets: Option<&TicketCounts>,
) -> Result<Option<Quote>> {
    let (show, hall, seats) = order;
    let named = tickets.filter(|tickets| tickets.values().any(|count| *count > 0));
    let earlier = match named {
        Some(_) => None,
        None => before.and_then(|before| before.tickets(seats)),
    };
    quote(state, sql, show, hall, seats, named.or(earlier.as_ref()))
}

/// The class of each ticket, in the order of the price list.
fn classes(list: &PriceList, tickets: &TicketCounts, seats: usize) -> Result<Vec<String>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, count) in tickets {
        let class = list
            .class(name)
            .ok_or_else(|| errors::unknown_price_class(name, list))?;
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        let all = counts.entry(class).or_default();
        *all = all.saturating_add(count);
    }
    let all = counts
        .values()
        .fold(0_usize, |all, count| all.saturating_add(*count));
    if all != seats {
        return Err(errors::tickets_mismatch(all, seats));
    }
    let classes = list.classes().into_iter().flat_map(|rule| {
        let count = counts.get(&*rule.price_class).copied().unwrap_or(0);
        std::iter::repeat_n(rule.price_class.clone(), count)
    });
    Ok(classes.collect())
}
