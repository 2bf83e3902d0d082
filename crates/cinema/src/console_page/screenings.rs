//! The programme, by day.

use jiff::civil::Date;
use kit::{
    Context, Language, Result, Sql,
    console::{PageLink, PageQuery, Part, Section, pick},
    time::written_day,
};

use super::wording::when_and_where;
use crate::{
    model::Listing,
    state::CounterState,
    store::{self, Filter},
};

/// How many screenings are listed.
const MOST: usize = 100;
/// How many days can be chosen.
const MOST_DAYS: usize = 31;

pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
) -> Result<Section> {
    let now = state.sales_time(context);
    let mut parts = Vec::new();
    let days = match store::coming_days(sql, now)? {
        Some((first, _)) => store::days_from(sql, &first, MOST_DAYS)?,
        None => Vec::new(),
    };
    let days: Vec<Date> = days.iter().filter_map(|day| day.parse().ok()).collect();
    if let Some(first) = days.first() {
        let wanted = query.get("day").and_then(|day| day.parse().ok());
        let shown = wanted.filter(|day| days.contains(day)).unwrap_or(*first);
        let links = days.iter().map(|day| PageLink {
            is_current: *day == shown,
            ..PageLink::new(
                written_day(*day, context.language),
                query.with(&["show"], vec![("day", day.to_string())]),
            )
        });
        let label = pick(context, "Day", "日");
        parts.push(Part::Pager(label.into(), links.collect()));
        parts.extend(listed(state, context, sql, query, shown)?);
    } else {
        let text = pick(
            context,
            "No screenings are planned.",
            "上映の予定はありません。",
        );
        parts.push(Part::Text(text.into()));
    }
    Ok(Section {
        title: pick(context, "Next screenings", "これからの上映").into(),
        parts,
    })
}

fn listed(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &PageQuery,
    day: Date,
) -> Result<Vec<Part>> {
    let filter = Filter {
        dates: vec![day.to_string()],
        from: Some(state.sales_time(context)),
        ..Filter::default()
    };
    let mut found = store::listings(sql, &filter, state.now(context), MOST + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    let links = found.iter().map(|Listing { show, free, .. }| PageLink {
        label: show.title_in(context.language).to_owned(),
        note: match context.language {
            Language::English => format!("{}, {free} seats free", when_and_where(show)),
            Language::Japanese => format!("{}、空席{free}", when_and_where(show)),
        },
        query: vec![("show", show.id.clone()), ("day", day.to_string())],
        is_current: query.get("show") == Some(show.id.as_str()),
    });
    let mut parts = vec![Part::Links(links.collect())];
    parts.extend(more);
    Ok(parts)
}
