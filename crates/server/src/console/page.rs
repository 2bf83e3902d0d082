//! The frame around every page of the console, and the pages at its door.

use super::{
    inbox::{Inbox, View},
    text::escape,
    words::Words,
};

pub const STYLE: &str = include_str!("static/console.css");
pub const SCRIPT: &str = include_str!("static/console.js");
pub const ENTER_SCRIPT: &str = include_str!("static/enter.js");

/// A counter's window with its shutter half up.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect x='3' y='5' width='26' height='22' rx='5' fill='%230b6b63'/%3E%3Crect x='8' y='15' width='16' height='12' fill='%23fff'/%3E%3C/svg%3E";

/// Where the new link is made.
const OPEN: &str = "madoguchi approvals open";

fn frame(words: &Words, title: &str, head: &str, beside: &str, body: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="{tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Madoguchi</title>
<link rel="icon" href="{ICON}">
<link rel="stylesheet" href="/console/console.css">
{head}</head>
<body>
<header class="bar">
<p class="brand" translate="no">Madoguchi <span lang="ja">窓口</span></p>
<div class="beside">{beside}<a class="quiet" href="/console/language?to={other_tag}" lang="{other_tag}" hreflang="{other_tag}">{other_name}</a></div>
</header>
{body}
</body>
</html>
"#,
        tag = words.tag,
        title = escape(title),
        other_tag = words.other_tag,
        other_name = words.other_name,
    )
}

/// The inbox as a whole, for a browser without scripts.
pub fn plain_inbox(view: &View<'_>, inbox: &Inbox, notice: Option<&str>) -> String {
    let words = view.words;
    let notice = notice.map_or(String::new(), |notice| {
        format!("<p class=\"notice\" role=\"status\">{}</p>", escape(notice))
    });
    let body = format!(
        "<main>{notice}<p>{}</p>{}</main>",
        words.reload,
        inbox.sections(view)
    );
    let beside = sign_out(words, view.form_token);
    frame(words, words.waiting, "", &beside, &body)
}

/// The inbox's frame. The script fills it, and the forms' tokens.
pub fn inbox(words: &Words) -> String {
    let beside = format!(
        r#"<span class="live" id="live" data-live="{live}" data-connecting="{connecting}"></span>{sign_out}"#,
        live = words.live,
        connecting = words.connecting,
        sign_out = sign_out(words, ""),
    );
    let body = format!(
        r#"<main id="inbox" data-just-changed="{just_changed}" data-arrived="{arrived}" data-gone="{gone}" data-not-reached="{not_reached}" data-signed-out="{signed_out}" data-dismiss="{dismiss}">
<div id="notices"></div>
<p id="said" class="unseen" role="status" aria-live="polite"></p>
<noscript><p class="notice bad">{needs_scripts}</p></noscript>
<div id="sections"></div>
</main>"#,
        just_changed = words.just_changed,
        arrived = words.arrived,
        gone = words.no_longer_waits,
        not_reached = words.not_reached,
        signed_out = words.signed_out,
        dismiss = words.dismiss,
        needs_scripts = words.needs_scripts,
    );
    let script = script("console.js");
    frame(words, words.waiting, &script, &beside, &body)
}

fn script(name: &str) -> String {
    format!("<script type=\"module\" src=\"/console/{name}\"></script>\n")
}

fn sign_out(words: &Words, token: &str) -> String {
    format!(
        r#"<form method="post" action="/console/sign-out" id="sign-out"><input type="hidden" name="form" value="{token}"><button class="quiet">{}</button></form>"#,
        words.sign_out,
    )
}

/// What a one-time link shows before it is used.
pub fn enter(words: &Words, token: &str) -> String {
    let body = format!(
        r#"<main class="door"><h1>{title}</h1><p>{text}</p>
<form method="post" action="/console/open"><input type="hidden" name="token" value="{token}"><noscript><input type="hidden" name="plain" value="yes"></noscript><button class="primary">{enter}</button></form></main>"#,
        title = words.enter_title,
        text = words.enter_text,
        token = escape(token),
        enter = words.enter,
    );
    frame(words, words.enter_title, "", "", &body)
}

/// What the link's button leads to: tells the token to the console's own storage.
pub fn entered(words: &Words, form_token: &str) -> String {
    let body = format!(
        "<main class=\"door\" id=\"entered\" data-form=\"{form_token}\"><p><a href=\"/\">{}</a></p></main>",
        words.opened
    );
    frame(words, words.enter_title, &script("enter.js"), "", &body)
}

/// For whoever has no session.
pub fn closed(words: &Words) -> String {
    door(words, words.closed_title, words.closed_text)
}

/// For whoever comes with a link that was used, or never was one.
pub fn link_is_spent(words: &Words) -> String {
    door(words, words.link_title, words.link_text)
}

fn door(words: &Words, title: &str, text: &str) -> String {
    let body = format!(
        "<main class=\"door\"><h1>{title}</h1><p>{text}</p><p><code translate=\"no\">{OPEN}</code></p></main>"
    );
    frame(words, title, "", "", &body)
}

/// One sentence, and the way back.
pub fn says(words: &Words, text: &str) -> String {
    let body = format!(
        "<main class=\"door\"><h1>{}</h1><p><a href=\"/\">{}</a></p></main>",
        escape(text),
        words.waiting
    );
    frame(words, words.waiting, "", "", &body)
}
