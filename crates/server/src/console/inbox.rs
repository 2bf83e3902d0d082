//! What waits, what was decided, what is allowed for good: the sections of the
//! inbox. The page is made of them, and so is every message of its stream, so
//! that a card looks the same however it came.

use desk::{
    Desk, FoundTool,
    approvals::{Approval, Grant, Status},
};
use jiff::{Timestamp, tz::TimeZone};
use kit::{
    Result,
    approval::{Card, Line},
};

use super::{
    text::{escape, shown},
    words::Words,
};

/// Questions lapse after minutes, and a caller may have fifty at a time.
const MOST_PENDING: i64 = 1000;

/// How many decided ones are shown, of how many newest ones.
const RECENT: usize = 20;
const LOOKED_AT: i64 = 200;

/// For whom it is shown.
pub struct View<'a> {
    pub desk: &'a Desk,
    pub words: &'static Words,
    /// Empty where a script fills it in.
    pub form_token: &'a str,
}

pub struct Inbox {
    /// Oldest first: what arrives does not move what is being read.
    pending: Vec<Approval>,
    /// Newest decision first.
    decided: Vec<Approval>,
    grants: Vec<Grant>,
}

impl Inbox {
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

    pub fn sections(&self, view: &View<'_>) -> String {
        let words = view.words;
        let cards = self.pending.iter().map(|approval| card(view, approval));
        let decided = self.decided.iter().map(|approval| decision(view, approval));
        let grants = self.grants.iter().map(|grant| standing(view, grant));
        [
            section("pending", words.waiting, words.nothing_waits, cards),
            section("decided", words.decided, words.nothing_decided, decided),
            section("grants", words.grants, words.no_grants, grants),
        ]
        .concat()
    }
}

fn section(id: &str, title: &str, empty: &str, items: impl Iterator<Item = String>) -> String {
    let heading = if id == "pending" { "h1" } else { "h2" };
    format!(
        r#"<section aria-labelledby="{id}-title"><{heading} id="{id}-title" tabindex="-1">{title}</{heading}>
<ul id="{id}" role="list">{items}</ul><p class="empty">{empty}</p></section>
"#,
        items = items.collect::<String>(),
    )
}

fn card(view: &View<'_>, approval: &Approval) -> String {
    let words = view.words;
    let id = escape(&approval.id);
    let tool = tool_title(view.desk, &approval.counter, &approval.tool);
    format!(
        r#"<li class="card" id="{id}" data-id="{id}" data-lapses="{lapses_at}"><article aria-labelledby="{id}-summary">
<p class="who"><span>{who}</span> <b><bdi>{caller}</bdi></b> <span>{counter} · {tool}</span></p>
<h2 id="{id}-summary" tabindex="-1" dir="auto">{summary}</h2>
{particulars}
<p class="when"><span>{asked} {asked_at}</span> <span>{lapses} {lapses_time} <b class="left" aria-hidden="true"></b></span></p>
<div class="choices">
<form method="post" action="/console/approvals/{id}" class="allow"><input type="hidden" name="form" value="{token}">
<div class="buttons"><button class="primary" name="decision" value="once">{once}</button>{always}</form>
<form method="post" action="/console/approvals/{id}" class="deny"><input type="hidden" name="form" value="{token}"><input type="hidden" name="decision" value="deny">
<label for="{id}-reason">{reason}</label><div class="buttons"><input id="{id}-reason" name="reason" type="text" maxlength="1000" autocomplete="off"><button class="danger">{deny}</button></div></form>
</div></article></li>
"#,
        lapses_at = approval.expires_at,
        who = words.who,
        caller = shown(&approval.caller.name),
        counter = escape(counter_title(view.desk, &approval.counter)),
        tool = escape(tool),
        summary = shown(&approval.card.summary),
        particulars = particulars(words, &approval.card),
        asked = words.asked,
        asked_at = time(approval.created_at),
        lapses = words.lapses,
        lapses_time = time(approval.expires_at),
        token = view.form_token,
        once = words.once,
        always = always(words, tool, approval),
        reason = words.reason,
        deny = words.deny,
    )
}

fn particulars(words: &Words, card: &Card) -> String {
    let line = |label: &str, text: &str| {
        format!(
            "<div><dt dir=\"auto\">{}</dt><dd dir=\"auto\">{}</dd></div>",
            shown(label),
            shown(text)
        )
    };
    let recipient = card.recipient.as_deref();
    let recipient = recipient.map(|recipient| line(words.recipient, recipient));
    let lines = card.lines.iter();
    let lines = lines.map(|Line { label, text }| line(label, text));
    let all: String = recipient.into_iter().chain(lines).collect();
    if all.is_empty() {
        return all;
    }
    format!("<dl>{all}</dl>")
}

/// The rest of the buttons' row: the choice to allow it for good, where there is one.
fn always(words: &Words, tool: &str, approval: &Approval) -> String {
    if !approval.card.allows_standing_grant() {
        return "</div>".to_owned();
    }
    format!(
        r#"<button name="decision" value="always" aria-describedby="{id}-always">{always}</button></div>
<p class="hint" id="{id}-always">{always_for}</p>"#,
        id = escape(&approval.id),
        always = words.always,
        always_for = always_for(words, tool, approval),
    )
}

fn always_for(words: &Words, tool: &str, approval: &Approval) -> String {
    let (template, recipient) = match approval.card.recipient.as_deref() {
        Some(recipient) => (words.always_for, shown(recipient)),
        None => (words.always_without_recipient, String::new()),
    };
    let bold = |text: &str| format!("<b><bdi>{text}</bdi></b>");
    // What an agent wrote comes last, so that no part of it is filled in.
    template
        .replace("{tool}", &bold(&escape(tool)))
        .replace("{caller}", &bold(&shown(&approval.caller.name)))
        .replace("{recipient}", &bold(&recipient))
}

fn decision(view: &View<'_>, approval: &Approval) -> String {
    let words = view.words;
    let outcome = words.outcome(approval);
    let by = approval.decided_by.as_deref();
    let by = by.map_or(String::new(), |by| words.decided_by(&shown(by)));
    let reason = approval.reason.as_deref().map_or(String::new(), |reason| {
        format!("<p class=\"reason\" dir=\"auto\">{}</p>", shown(reason))
    });
    format!(
        r#"<li id="{id}" data-id="{id}" data-outcome="{outcome}"><details><summary><span class="tag {status}">{outcome}</span> <span class="what" dir="auto">{summary}</span></summary>
<p class="who"><span>{who}</span> <b><bdi>{caller}</bdi></b> <span>{counter} · {tool}</span></p>{particulars}</details>
<p class="when"><span>{time}</span> <span>{by}</span></p>{reason}</li>
"#,
        id = escape(&approval.id),
        status = approval.status.word(),
        summary = shown(&approval.card.summary),
        who = words.who,
        caller = shown(&approval.caller.name),
        counter = escape(counter_title(view.desk, &approval.counter)),
        tool = escape(tool_title(view.desk, &approval.counter, &approval.tool)),
        particulars = particulars(words, &approval.card),
        time = time(approval.decided_at.unwrap_or(approval.expires_at)),
    )
}

fn standing(view: &View<'_>, grant: &Grant) -> String {
    let words = view.words;
    let id = escape(&grant.id);
    let recipient = match grant.recipient.as_str() {
        "" => String::new(),
        recipient => format!(
            " <span class=\"what\">→ <bdi>{}</bdi></span>",
            shown(recipient)
        ),
    };
    format!(
        r#"<li data-id="{id}"><div class="grant"><div id="{id}-what"><p class="what"><b>{tool}</b>{recipient}</p>
<p class="when"><span><bdi>{caller}</bdi></span> <span>{granted} {time}</span> <span>{by}</span></p></div>
<form method="post" action="/console/grants/{id}/revoke"><input type="hidden" name="form" value="{token}"><button aria-describedby="{id}-what">{revoke}</button></form></div></li>
"#,
        tool = escape(tool_title(view.desk, &grant.counter, &grant.tool)),
        caller = shown(&grant.caller.name),
        granted = words.granted,
        time = time(grant.created_at),
        by = words.decided_by(&shown(&grant.granted_by)),
        token = view.form_token,
        revoke = words.revoke,
    )
}

fn counter_title<'a>(desk: &'a Desk, counter: &'a str) -> &'a str {
    desk.window(counter)
        .map_or(counter, |window| window.counter.about.title)
}

/// The title, or the name where this desk does not have the tool.
fn tool_title<'a>(desk: &'a Desk, counter: &str, tool: &'a str) -> &'a str {
    match desk.window(counter).map(|window| window.find(tool)) {
        Some(FoundTool::Tool(found)) => found.tool.title,
        _ => tool,
    }
}

/// With the zone of the desk; a browser with scripts shows its own.
fn time(at_ms: i64) -> String {
    let Ok(at) = Timestamp::from_millisecond(at_ms) else {
        return String::new();
    };
    let local = at.to_zoned(TimeZone::system());
    format!(
        "<time datetime=\"{at}\">{}</time>",
        local.strftime("%Y-%m-%d %H:%M:%S %Z (UTC%:z)")
    )
}
