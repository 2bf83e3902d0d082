//! The sections of the inbox: pending approvals, recent decisions, standing
//! grants. The page and its stream of changes both use them, so that a card
//! always looks the same.

use desk::{
    Desk, FoundTool,
    approvals::{Approval, Grant, Status},
};
use kit::{
    Result,
    approval::{Card, CardLine},
};
use maud::{Markup, html};

use super::{
    parts::{form_token, time},
    text::{filled, shown},
    view::View,
    words::Words,
};

/// More than enough: questions expire after minutes, and a caller may have fifty
/// at a time.
const MOST_PENDING: i64 = 1000;

/// How many decided ones are shown, of how many newest ones.
const RECENT: usize = 20;
const LOOKED_AT: i64 = 200;

pub struct Inbox {
    /// Oldest first: what arrives does not move what is being read.
    pending: Vec<Approval>,
    /// Newest decision first.
    decided: Vec<Approval>,
    grants: Vec<Grant>,
}

impl Inbox {
    /// Those that wait, oldest first.
    pub fn pending(&self) -> &[Approval] {
        &self.pending
    }

    pub async fn read(desk: &Desk) -> Result<Self> {
        let approvals = &desk.approvals;
        let mut pending = approvals.list(Some(Status::Pending), MOST_PENDING).await?;
        pending.reverse();
        let mut decided = approvals.list(None, LOOKED_AT).await?;
        decided.retain(|approval| approval.status != Status::Pending);
        decided.sort_by_key(|approval| {
            std::cmp::Reverse(approval.decided_at.unwrap_or(approval.expires_at))
        });
        decided.truncate(RECENT);
        Ok(Self {
            pending,
            decided,
            grants: approvals.grants().await?,
        })
    }

    /// When the first of those that wait lapses.
    pub fn next_lapse(&self) -> Option<i64> {
        self.pending
            .iter()
            .map(|approval| approval.expires_at)
            .min()
    }

    pub fn sections(&self, view: &View) -> Markup {
        let words = view.words;
        html! {
            section aria-labelledby="pending-title" {
                h1 id="pending-title" tabindex="-1" { (words.waiting) }
                ul id="pending" role="list" {
                    @for approval in &self.pending { (card(view, approval)) }
                }
                p class="empty" { (words.nothing_waits) }
            }
            section aria-labelledby="decided-title" {
                h2 id="decided-title" tabindex="-1" { (words.decided) }
                ul id="decided" role="list" {
                    @for approval in &self.decided { (decision(view, approval)) }
                }
                p class="empty" { (words.nothing_decided) }
            }
            section aria-labelledby="grants-title" {
                h2 id="grants-title" tabindex="-1" { (words.grants) }
                ul id="grants" role="list" {
                    @for grant in &self.grants { (standing_grant(view, grant)) }
                }
                p class="empty" { (words.no_grants) }
            }
        }
    }
}

fn card(view: &View, approval: &Approval) -> Markup {
    let (words, id) = (view.words, &approval.id);
    let action = format!("/console/approvals/{id}");
    html! {
        li class="card" id=(id) data-id=(id) data-lapses=(approval.expires_at) {
            article aria-labelledby={ (id) "-summary" } {
                (who_asks(view, approval))
                h2 id={ (id) "-summary" } tabindex="-1" dir="auto" { (shown(&approval.card.summary)) }
                (particulars(words, &approval.card))
                p class="when" {
                    span { (words.asked) " " (time(words, approval.created_at)) }
                    " "
                    span {
                        (words.lapses) " " (time(words, approval.expires_at)) " "
                        b class="left" aria-hidden="true" {}
                    }
                }
                div class="choices" {
                    form method="post" action=(action) class="allow" {
                        (form_token(&view.form_token))
                        (allow(view, approval))
                    }
                    form method="post" action=(action) class="deny" {
                        (form_token(&view.form_token))
                        input type="hidden" name="decision" value="deny";
                        label for={ (id) "-reason" } { (words.reason) }
                        div class="buttons" {
                            input id={ (id) "-reason" } name="reason" type="text" maxlength="1000" autocomplete="off";
                            button class="danger" { (words.deny) }
                        }
                    }
                }
            }
        }
    }
}

fn who_asks(view: &View, approval: &Approval) -> Markup {
    let counter = counter_title(view, &approval.counter);
    let tool = tool_title(view, &approval.counter, &approval.tool);
    html! {
        p class="who" {
            span { (view.words.who) }
            " " b { bdi { (shown(&approval.caller.name)) } }
            " " span { (counter) " · " (tool) }
        }
    }
}

fn particulars(words: &Words, card: &Card) -> Markup {
    let recipient = card.recipient.as_deref().map(|it| (words.recipient, it));
    let lines = card.lines.iter();
    let lines = lines.map(|CardLine { label, text }| (label.as_ref(), text.as_ref()));
    let mut all = recipient.into_iter().chain(lines).peekable();
    html! {
        @if all.peek().is_some() {
            dl {
                @for (label, text) in all {
                    div { dt dir="auto" { (shown(label)) } dd dir="auto" { (shown(text)) } }
                }
            }
        }
    }
}

/// The buttons that allow a call: this time, and for good where that can be.
fn allow(view: &View, approval: &Approval) -> Markup {
    let (words, id) = (view.words, &approval.id);
    let for_good = approval.card.allows_standing_grant();
    html! {
        div class="buttons" {
            button class="primary" name="decision" value="once" { (words.once) }
            @if for_good {
                button name="decision" value="always" aria-describedby={ (id) "-always" } { (words.always) }
            }
        }
        @if for_good {
            p class="hint" id={ (id) "-always" } { (always_for(view, approval)) }
        }
    }
}

/// What a standing grant would cover.
fn always_for(view: &View, approval: &Approval) -> Markup {
    let words = view.words;
    let tool = tool_title(view, &approval.counter, &approval.tool);
    let recipient = approval.card.recipient.as_deref();
    let template = match recipient {
        Some(_) => words.always_for,
        None => words.always_without_recipient,
    };
    let bold = |text: Markup| html! { b { bdi { (text) } } };
    let values = [
        ("tool", bold(html! { (tool) })),
        ("caller", bold(shown(&approval.caller.name))),
        ("recipient", bold(shown(recipient.unwrap_or_default()))),
    ];
    filled(template, &values)
}

pub fn decision(view: &View, approval: &Approval) -> Markup {
    let (words, id) = (view.words, &approval.id);
    let outcome = words.outcome(approval);
    html! {
        li id=(id) data-id=(id) data-outcome=(outcome) {
            details {
                summary {
                    span class={ "tag " (approval.status.word()) } { (outcome) }
                    " " span class="what" dir="auto" { (shown(&approval.card.summary)) }
                }
                (who_asks(view, approval))
                (particulars(words, &approval.card))
            }
            p class="when" {
                span { (time(words, approval.decided_at.unwrap_or(approval.expires_at))) }
                " "
                span {
                    @if let Some(by) = &approval.decided_by { (decided_by(words, by)) }
                }
            }
            @if let Some(reason) = &approval.reason {
                p class="reason" dir="auto" { (shown(reason)) }
            }
        }
    }
}

fn standing_grant(view: &View, grant: &Grant) -> Markup {
    let (words, id) = (view.words, &grant.id);
    html! {
        li data-id=(id) {
            div class="grant" {
                div id={ (id) "-what" } {
                    p class="what" {
                        b { (tool_title(view, &grant.counter, &grant.tool)) }
                        @if !grant.recipient.is_empty() {
                            " " span class="what" { "→ " bdi { (shown(&grant.recipient)) } }
                        }
                    }
                    p class="when" {
                        span { bdi { (shown(&grant.caller.name)) } }
                        " " span { (words.granted) " " (time(words, grant.created_at)) }
                        " " span { (decided_by(words, &grant.granted_by)) }
                    }
                }
                form method="post" action={ "/console/grants/" (id) "/revoke" } {
                    (form_token(&view.form_token))
                    button aria-describedby={ (id) "-what" } { (words.revoke) }
                }
            }
        }
    }
}

fn decided_by(words: &Words, by: &str) -> Markup {
    filled(words.by, &[("by", shown(by))])
}

/// The title in the reader's language, or the name where this desk does not have the counter.
pub fn counter_title<'a>(view: &View, counter: &'a str) -> &'a str {
    let served = view.desk.counter(counter);
    served.map_or(counter, |served| {
        served.counter.about.title_in(view.words.language())
    })
}

/// The same for a tool.
pub fn tool_title<'a>(view: &View, counter: &str, tool: &'a str) -> &'a str {
    match view.desk.counter(counter).map(|served| served.find(tool)) {
        Some(FoundTool::Tool(found)) => found.tool.title_in(view.words.language()),
        _ => tool,
    }
}
