//! What runs, what happened in the last hour, what waits, what is wrong.

use std::sync::Arc;

use desk::{
    Desk,
    audit::{Activity, CounterActivity, MINUTES},
};
use kit::Result;
use maud::{Markup, html};

use super::super::{
    facts::Finding,
    health,
    inbox::{Inbox, counter_title, tool_title},
    parts::{Tone, excerpt, table, tag, time},
    view::{Page, View, link},
    words::Words,
};

/// How often the page looks again, in seconds.
const EVERY: u32 = 10;

pub async fn page(view: View) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let inbox = Inbox::read(desk).await?;
    let activity = last_hour(desk).await?;
    let main = html! {
        h1 { (words.pick("Overview", "概要")) }
        div id="overview" data-live data-every=(EVERY) {
            (waiting(&view, &inbox))
            (wrong(words, &health::quick(desk).await))
            (lately(&view, activity.as_deref()))
        }
    };
    Ok(Page::new(words.pick("Overview", "概要"), main))
}

/// `None` if calls are not recorded.
async fn last_hour(desk: &Desk) -> Result<Option<Arc<Activity>>> {
    let Some(trail) = &desk.audit.trail else {
        return Ok(None);
    };
    let now = desk.clock.now().as_millisecond();
    trail.activity.get(&trail.store, now).await.map(Some)
}

fn waiting(view: &View, inbox: &Inbox) -> Markup {
    let words = view.words;
    html! {
        section aria-labelledby="waiting-title" {
            h2 id="waiting-title" { (words.waiting) }
            @if inbox.pending().is_empty() {
                p { (words.pick("Nothing is waiting.", "確認を待っている依頼はありません。")) }
            }
            ul class="lines" role="list" {
                @for approval in inbox.pending() {
                    // The address of a question is the same on both pages.
                    li id=(approval.id) {
                        a href={ "/console/approvals#" (approval.id) } {
                            (excerpt(&approval.card.summary, 120))
                        }
                        p class="when" {
                            span { bdi { (excerpt(&approval.caller.name, 60)) } }
                            span { (tool_title(view, &approval.counter, &approval.tool)) }
                            span { (words.lapses) " " (time(words, approval.expires_at)) }
                        }
                    }
                }
            }
        }
    }
}

fn wrong(words: &Words, findings: &[Finding]) -> Markup {
    let bad: Vec<_> = findings.iter().filter(|finding| !finding.is_good).collect();
    html! {
        section aria-labelledby="health-title" {
            h2 id="health-title" { (words.pick("Health", "状態")) }
            @if bad.is_empty() {
                p {
                    (tag(Tone::Good, words.pick("All is well", "正常")))
                    " " a href="/console/health" { (words.pick("Check everything", "すべて調べる")) }
                }
            }
            ul class="lines" role="list" {
                @for finding in bad {
                    li {
                        (tag(Tone::Bad, words.pick("Trouble", "異常")))
                        " " b { (finding.what) } " " (excerpt(&finding.message, 300))
                    }
                }
            }
        }
    }
}

fn lately(view: &View, activity: Option<&Activity>) -> Markup {
    let words = view.words;
    html! {
        section aria-labelledby="lately-title" {
            h2 id="lately-title" { (words.pick("The last hour", "この1時間")) }
            @match activity {
                None => p { (words.pick(
                    "Calls are not recorded: [audit] enabled is false.",
                    "呼び出しは記録されていません（[audit] enabled が false です）。"
                )) },
                Some(activity) => {
                    @if activity.complete_since > activity.since {
                        p class="hint" {
                            (words.pick("Only the newest calls are counted here, since ",
                                "件数が多いため、新しいものだけを数えています："))
                            (time(words, activity.complete_since))
                        }
                    }
                    (counters(view, activity))
                }
            }
        }
    }
}

fn counters(view: &View, activity: &Activity) -> Markup {
    let (desk, words) = (&view.desk, view.words);
    let none = CounterActivity::default();
    let served = desk.counters.iter().map(|served| served.counter.about.name);
    let mut names: Vec<&str> = served.collect();
    // Other processes on the same data may serve more.
    let others = activity.counters.keys().map(String::as_str);
    names.extend(others.filter(|name| desk.counter(name).is_none()));
    let rows = names.into_iter().map(|name| {
        let calls = activity.counters.get(name).unwrap_or(&none);
        let title = counter_title(view, name);
        let address = link("/console/audit", &[("counter", name)]);
        let errors = calls.total_errors();
        let page = desk.counter(name).map(|_| format!("/console/{name}"));
        vec![
            html! { a href=(page.as_ref().unwrap_or(&address)) { (title) } },
            chart(words, title, calls),
            html! { a href=(address) { (calls.total_calls()) } },
            html! { @if errors > 0 { (tag(Tone::Bad, &errors.to_string())) } @else { "0" } },
            took(calls.quantile(0.5)),
            took(calls.quantile(0.95)),
        ]
    });
    let columns = words.pick_all([
        ("Counter", "窓口"),
        ("Calls per minute", "1分ごとの呼び出し"),
        ("Calls", "呼び出し"),
        ("Errors", "エラー"),
        ("Half within", "半数の所要時間"),
        ("95 % within", "95%の所要時間"),
    ]);
    let calls = table(
        words.pick("Calls in the last hour", "この1時間の呼び出し"),
        &columns,
        rows.collect(),
    );
    html! {
        (calls)
        p class="hint" { (words.pick(
            "Times are the desk's own work. The time in which a call waited for a person's decision is not counted.",
            "所要時間は窓口自身の処理の時間です。人の判断を待っていた時間は含みません。"
        )) }
    }
}

/// A time in milliseconds, as short as it is meaningful.
fn took(ms: Option<f32>) -> Markup {
    html! {
        @match ms {
            None => "–",
            Some(ms) if ms < 10.0 => { (format!("{ms:.1}")) " ms" },
            Some(ms) if ms < 1000.0 => { (format!("{ms:.0}")) " ms" },
            Some(ms) => { (format!("{:.1}", ms / 1000.0)) " s" },
        }
    }
}

/// The width of a minute, and the height of the picture.
const MINUTE_WIDTH: u32 = 4;
const HEIGHT: u32 = 40;

/// A column a minute, errors in another colour at its foot.
fn chart(words: &Words, title: &str, calls: &CounterActivity) -> Markup {
    let most = calls.calls.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u32| match count {
        0 => 0,
        // What happened is visible, however little it was.
        count => (u64::from(count) * u64::from(HEIGHT) / u64::from(most)).max(2) as u32,
    };
    let width = MINUTE_WIDTH * MINUTES as u32;
    let label = match words.tag {
        "ja" => format!(
            "{title}：呼び出し{}件、エラー{}件、1分間の最多は{most}件",
            calls.total_calls(),
            calls.total_errors()
        ),
        _ => format!(
            "{title}: {} calls, {} errors, at most {most} in a minute",
            calls.total_calls(),
            calls.total_errors()
        ),
    };
    let columns = calls.calls.iter().zip(&calls.errors).enumerate();
    html! {
        svg class="chart" role="img" aria-label=(label) viewBox={ "0 0 " (width) " " (HEIGHT) }
            preserveAspectRatio="none" {
            @for (minute, (calls, errors)) in columns {
                @let x = minute as u32 * MINUTE_WIDTH;
                @let (all, bad) = (height(*calls), height(*errors));
                @if all > 0 {
                    rect class="calls" x=(x) y=(HEIGHT - all) width=(MINUTE_WIDTH - 1) height=(all) {}
                }
                @if bad > 0 {
                    rect class="errors" x=(x) y=(HEIGHT - bad) width=(MINUTE_WIDTH - 1) height=(bad) {}
                }
            }
        }
    }
}
