//! A counter: its own page, how to connect, its tools, what happened there lately.

use std::{sync::Arc, time::Instant};

use desk::ServedCounter;
use kit::{
    Caller, Context, Result,
    console::{PageQuery, Section},
    context::NoClient,
};
use maud::{Markup, html};

use super::{
    super::{
        fields::Fields,
        handlers::Reaction,
        open_pages::OpenPages,
        own_page::{self, OwnPage, SentForm},
        parts::{Notice, copyable, notice},
        person,
        readable::readable,
        view::{Page, View, link},
    },
    audit::{AuditQuery, Extent, results},
    tools,
};

pub async fn page(view: View, open_pages: Arc<OpenPages>) -> Result<Page> {
    let Some(served) = served(&view) else {
        return Ok(Page::not_found(view.words));
    };
    let began = Instant::now();
    let page = drawn(&view, &served, None).await?;
    open_pages.drawn(served.counter.about.name, began.elapsed());
    Ok(page)
}

fn served(view: &View) -> Option<Arc<ServedCounter>> {
    let name = view.address.path.trim_start_matches("/console/");
    view.desk.counter(name).map(Arc::clone)
}

/// Does what a form of the counter's own page asks for.
pub async fn act(view: View, fields: Fields) -> Result<Reaction> {
    let Some(served) = served(&view) else {
        return Ok(Reaction::Page(Page::not_found(view.words)));
    };
    let words = view.words;
    let (outcome, keeps_entered) = match own_page::is_preview(&fields) {
        true => {
            let text = words.pick(
                "This is a preview. Nothing is saved yet.",
                "プレビューです。まだ保存されていません。",
            );
            (notice(&Notice::Good(text.into())), true)
        }
        false => {
            let (tool, arguments) = own_page::sent(&fields);
            let language = words.language();
            let answer = person::call(&view.desk, &served, &tool, arguments, language).await;
            let is_done = matches!(&answer, Ok(answer) if answer.result.is_ok());
            (tools::in_short(words, answer), !is_done)
        }
    };
    let sent = SentForm {
        fields: &fields,
        outcome,
        keeps_entered,
    };
    Ok(Reaction::Page(drawn(&view, &served, Some(&sent)).await?))
}

async fn drawn(view: &View, served: &ServedCounter, sent: Option<&SentForm<'_>>) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let about = &served.counter.about;
    let wanted = AuditQuery {
        counter: about.name.to_owned(),
        ..AuditQuery::default()
    };
    let base = desk.settings.console_url();
    let title = about.title_in(words.language());
    let main = html! {
        h1 { (title) }
        p { (words.pick(about.summary, about.japanese_summary)) }
        (own(view, served, sent).await?)
        section {
            h2 { (words.pick("Connect an agent", "エージェントをつなぐ")) }
            (copyable(words, words.pick("Address for agents", "エージェント用アドレス"),
                &format!("{base}/mcp/{}", about.name)))
        }
        section {
            h2 { (words.pick("Tools", "ツール")) }
            (tools::of_counter(words, served))
        }
        section id="lately" data-live {
            h2 { (words.pick("Lately", "最近の呼び出し")) }
            (results(view, &wanted, Extent::BRIEF, true).await?)
            p {
                a href=(link("/console/audit", &[("counter", about.name)])) {
                    (words.pick("In the audit", "監査で見る"))
                }
            }
        }
        @if let Some(health) = served.health() {
            section {
                h2 { (words.pick("Health", "状態")) }
                (readable(words, &health))
            }
        }
    };
    Ok(Page::new(title, main))
}

/// What the counter itself shows, and what became of a form of it.
async fn own(view: &View, served: &ServedCounter, sent: Option<&SentForm<'_>>) -> Result<Markup> {
    let outcome = |sections: &[Section]| {
        let sent = sent.filter(|sent| !sent.is_on(sections));
        html! { @if let Some(sent) = sent { (sent.shown()) } }
    };
    let Some(page) = &served.counter.page else {
        return Ok(outcome(&[]));
    };
    let clock = view.desk.clock.clone();
    let mut context = Context::new(Caller::console(), clock, Arc::new(NoClient));
    context.language = view.words.language();
    context.zone = served.counter.time_zone.clone();
    let query = view.address.all();
    let query = query.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let name = served.counter.about.name;
    let words = view.words;
    let unanswered = words.pick(
        "The desk did not answer, but it may have done it. Look before you send it again.",
        "窓口から返答がありませんが、実行された可能性があります。送り直す前に確かめてください。",
    );
    Ok(
        match page.show(&context, &PageQuery(query.collect())).await {
            Ok(sections) => html! {
                div id="own" data-live data-watch={ "/console/" (name) "/events" }
                    data-every=[page.look_again_seconds()] data-just-changed=(words.just_changed)
                    data-unanswered=(unanswered) {
                    (outcome(&sections))
                    (OwnPage { view, counter: name, sent }.drawn(&sections))
                }
            },
            Err(error) if error.is_internal() => return Err(error),
            Err(error) => html! {
                (outcome(&[]))
                (notice(&Notice::Bad(error.in_language(context.language).text())))
            },
        },
    )
}
