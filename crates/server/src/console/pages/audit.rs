//! The audit trail: filters, pages, export.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use desk::{
    DESK, Desk,
    audit::{self, Filter, Position, ToolFilter, Trail, TrailPage},
};
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use kit::{Result, Tool};
use maud::{Markup, html};

use super::super::{
    fields::Fields,
    handlers::Reaction,
    parts::{Notice, field, form_token, notice, select, suggesting, text_field},
    records,
    view::{Page, View},
    words::Words,
};

/// How long a page of the audit may search. Rare records are found over several pages.
const READ_TIME: Duration = Duration::from_millis(200);

/// How much of the trail a page shows.
#[derive(Clone, Copy)]
pub struct Extent {
    records: usize,
    time: Duration,
}

impl Extent {
    pub const PAGE: Self = Self {
        records: 50,
        time: READ_TIME,
    };
    /// For a page that is asked for again with every change, by everybody who has it open.
    pub const BRIEF: Self = Self {
        records: 10,
        time: Duration::from_millis(10),
    };
}

/// What an export reads at a time.
const EXPORTED: Extent = Extent {
    records: 500,
    time: READ_TIME,
};

/// What is asked for, as it stands in the form and in the address.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    pub caller: String,
    pub counter: String,
    pub tool: String,
    pub outcome: String,
    /// Days in the zone of the desk.
    pub since: String,
    pub until: String,
}

impl AuditQuery {
    /// `get` looks a field up by its name.
    pub fn of<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let text = |name: &str| get(name).unwrap_or_default().trim().to_owned();
        Self {
            caller: text("caller"),
            counter: text("counter"),
            tool: text("tool"),
            outcome: text("outcome"),
            since: text("since"),
            until: text("until"),
        }
    }

    pub fn parameters(&self) -> [(&'static str, &str); 6] {
        [
            ("caller", &self.caller),
            ("counter", &self.counter),
            ("tool", &self.tool),
            ("outcome", &self.outcome),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    /// `tools`: those whose titles people may write. An error names the day that is none.
    fn filter<'a>(
        &self,
        tools: impl Iterator<Item = &'a Tool>,
    ) -> std::result::Result<Filter, String> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let day = |text: &str, days: i64| {
            let begin = |date: Date| {
                let date = date.checked_add(days.days()).ok()?;
                let begin = date.to_zoned(TimeZone::system()).ok()?;
                Some(begin.timestamp().as_millisecond())
            };
            let date = given(text).map(|text| text.parse().ok().and_then(begin));
            date.map(|at| at.ok_or_else(|| text.to_owned())).transpose()
        };
        Ok(Filter {
            caller: given(&self.caller),
            counter: given(&self.counter),
            tool: given(&self.tool).map(|text| ToolFilter::new(&text, tools)),
            outcome: given(&self.outcome),
            since: day(&self.since, 0)?,
            until: day(&self.until, 1)?,
            ..Filter::default()
        })
    }
}

fn tools(desk: &Desk) -> impl Iterator<Item = &Tool> {
    let counters = desk.counters.iter().map(|served| &served.counter);
    counters.flat_map(|counter| counter.tools.iter().map(|tool| &**tool))
}

pub async fn page(view: View) -> Result<Page> {
    let words = view.words;
    let wanted = AuditQuery::of(|name| view.address.get(name));
    let title = words.pick("Audit", "監査");
    let main = html! {
        h1 { (title) }
        (filters(&view, &wanted))
        (results(&view, &wanted, Extent::PAGE, true).await?)
        form method="post" action="/console/audit/export" {
            (form_token(&view.form_token))
            @for (name, value) in wanted.parameters() {
                input type="hidden" name=(name) value=(value);
            }
            button { (words.pick("Export these records", "この条件の記録を書き出す")) }
            p class="hint" { (words.pick(
                "One JSON object a line, newest first, without what people wrote.",
                "1行に1件のJSONで、新しい順です。個人が書いた内容は含みません。"
            )) }
        }
    };
    Ok(Page::new(title, main))
}

/// The records that are wanted, from the position in the address on. `who`: whether
/// each line says who called.
pub async fn results(
    view: &View,
    wanted: &AuditQuery,
    extent: Extent,
    who: bool,
) -> Result<Markup> {
    let words = view.words;
    let filter = match wanted.filter(tools(&view.desk)) {
        Ok(filter) => filter,
        Err(day) => return Ok(notice(&not_a_day(words, &day))),
    };
    let Some(trail) = &view.desk.audit.trail else {
        let off = words.pick("Calls are not recorded.", "呼び出しは記録されていません。");
        return Ok(notice(&Notice::Bad(off.into())));
    };
    let before = view.address.get("before");
    let before = before.and_then(|before| before.parse::<Position>().ok());
    let page = read(trail, filter, before, extent).await?;
    Ok(html! {
        (records::list(view, &page, who))
        (records::pager(view, &page, &wanted.parameters()))
    })
}

fn not_a_day(words: &Words, day: &str) -> Notice {
    Notice::Bad(match words.tag {
        "ja" => format!("「{day}」は日付ではありません。2026-11-16 のように書いてください。"),
        _ => format!("{day} is not a day. Write it like 2026-11-16."),
    })
}

async fn read(
    trail: &Trail,
    filter: Filter,
    before: Option<Position>,
    extent: Extent,
) -> Result<TrailPage> {
    audit::blocking(&trail.store, move |store, _| {
        let deadline = Instant::now() + extent.time;
        audit::page(store, &filter, before, extent.records, deadline)
    })
    .await
}

const OUTCOMES: [(&str, &str, &str); 6] = [
    ("", "All", "すべて"),
    ("done", "Done", "完了"),
    ("refused", "Refused", "拒否"),
    ("failed", "Failed", "失敗"),
    ("asked", "Asked first", "確認待ち"),
    ("abandoned", "Client left", "中断"),
];

fn filters(view: &View, wanted: &AuditQuery) -> Markup {
    let words = view.words;
    let all = ("", words.pick("All", "すべて"));
    let served = view.desk.counters.iter().map(|served| {
        let about = &served.counter.about;
        (about.name, about.title_in(words.language()))
    });
    let own = (DESK, records::desk_title(words));
    let counters: Vec<_> = std::iter::once(all).chain(served).chain([own]).collect();
    let tools = view.desk.counters.iter().flat_map(|served| &served.tools);
    // By the names that records have, each once.
    let tools: BTreeMap<&str, &str> = tools
        .map(|tool| (tool.tool.name, tool.tool.title_in(words.language())))
        .collect();
    let outcomes =
        OUTCOMES.map(|(value, english, japanese)| (value, words.pick(english, japanese)));
    let zone = TimeZone::system();
    let zone = zone.iana_name().unwrap_or("UTC");
    let day = |id: &str, name: &str, value: &str| {
        html! { input id=(id) name=(name) type="date" value=(value); }
    };
    html! {
        form method="get" action="/console/audit" role="search" {
            div class="fields" {
                (field("counter", words.pick("Counter", "窓口"), None,
                    select("counter", "counter", &wanted.counter, &counters)))
                (field("tool", words.pick("Tool", "ツール"),
                    Some(words.pick("Part of a name or a title", "名前か表示名の一部")),
                    suggesting("tool", &wanted.tool, &tools)))
                (field("caller", words.pick("Caller", "呼び出し元"), None,
                    text_field("caller", "caller", &wanted.caller)))
                (field("outcome", words.pick("Outcome", "結果"), None,
                    select("outcome", "outcome", &wanted.outcome, &outcomes)))
                (field("since", words.pick("From", "開始日"), Some(zone),
                    day("since", "since", &wanted.since)))
                (field("until", words.pick("To", "終了日"), Some(zone),
                    day("until", "until", &wanted.until)))
            }
            button class="primary" { (words.pick("Show", "表示")) }
        }
    }
}

/// All records that match, as a file. They are read as the browser takes them.
pub async fn export(view: View, fields: Fields) -> Result<Reaction> {
    let wanted = AuditQuery::of(|name| Some(fields.get(name)));
    let (filter, trail) = match (
        wanted.filter(tools(&view.desk)),
        view.desk.audit.trail.clone(),
    ) {
        (Ok(filter), Some(trail)) => (filter, trail),
        _ => return Ok(Reaction::Page(page(view).await?)),
    };
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"audit.jsonl\"",
        ),
    ];
    let body = Body::from_stream(exported(trail, filter));
    Ok(Reaction::Other(
        (StatusCode::OK, headers, body).into_response() as Response,
    ))
}

fn exported(
    trail: Arc<Trail>,
    filter: Filter,
) -> impl futures::Stream<Item = std::result::Result<Bytes, std::io::Error>> {
    let begin = (Some(None), trail, filter);
    futures::stream::try_unfold(begin, |(before, trail, filter)| async move {
        let Some(before) = before else {
            return Ok(None);
        };
        let page = read(&trail, filter.clone(), before, EXPORTED);
        let page = page.await.map_err(std::io::Error::other)?;
        let mut text = String::new();
        for record in &page.records {
            text.push_str(&record.json.to_string());
            text.push('\n');
        }
        let next = page.next.map(Some);
        Ok(Some((Bytes::from(text), (next, trail, filter))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole() {
        let mut wanted = AuditQuery {
            since: "2026-11-16".into(),
            until: "2026-11-16".into(),
            ..AuditQuery::default()
        };
        let filter = wanted.filter(std::iter::empty()).unwrap();
        let day = filter.until.unwrap() - filter.since.unwrap();
        assert_eq!(day, 24 * 60 * 60 * 1000);
        assert_eq!((filter.caller, filter.tool), (None, None));
        wanted.until = "tomorrow".into();
        let odd = wanted.filter(std::iter::empty());
        assert_eq!(odd.unwrap_err(), "tomorrow");
    }
}
