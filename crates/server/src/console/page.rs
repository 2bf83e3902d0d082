//! The frame around every page of the console, and the pages at its door.

use maud::{DOCTYPE, Markup, html};

use super::{
    inbox::{Inbox, View, form_token},
    words::Words,
};

pub const STYLE: &str = include_str!("static/console.css");
pub const SCRIPT: &str = include_str!("static/console.js");
pub const ENTER_SCRIPT: &str = include_str!("static/enter.js");

/// A counter's window with its shutter half up.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect x='3' y='5' width='26' height='22' rx='5' fill='%230b6b63'/%3E%3Crect x='8' y='15' width='16' height='12' fill='%23fff'/%3E%3C/svg%3E";

/// The command that makes a new link.
const OPEN: &str = "madoguchi approvals open";

/// The parts of a page that differ.
#[derive(Default)]
struct Frame<'a> {
    title: &'a str,
    /// A file of the console.
    script: Option<&'a str>,
    /// In the bar at the top, before the other language.
    bar: Markup,
    main: Markup,
}

fn frame(words: &Words, frame: Frame<'_>) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(words.tag) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (frame.title) " · Madoguchi" }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href="/console/console.css";
                @if let Some(name) = frame.script {
                    script type="module" src={ "/console/" (name) } {}
                }
            }
            body {
                header class="bar" {
                    p class="brand" translate="no" { "Madoguchi " span lang="ja" { "窓口" } }
                    div class="beside" {
                        (frame.bar)
                        a class="quiet" href={ "/console/language?to=" (words.other_tag) }
                            lang=(words.other_tag) hreflang=(words.other_tag) { (words.other_name) }
                    }
                }
                (frame.main)
            }
        }
    }
}

/// The inbox as a whole, for a browser without scripts.
pub fn plain_inbox(view: &View<'_>, inbox: &Inbox, notice: Option<&str>) -> Markup {
    let words = view.words;
    let main = html! {
        main {
            @if let Some(notice) = notice {
                p class="notice" role="status" { (notice) }
            }
            p { (words.reload) }
            (inbox.sections(view))
        }
    };
    let parts = Frame {
        title: words.waiting,
        bar: sign_out(words, view.form_token),
        main,
        ..Frame::default()
    };
    frame(words, parts)
}

/// The inbox's frame. The script fills it, and the forms' tokens.
pub fn inbox(words: &Words) -> Markup {
    let bar = html! {
        span class="live" id="live" data-live=(words.live) data-connecting=(words.connecting) {}
        (sign_out(words, ""))
    };
    let main = html! {
        main id="inbox" data-just-changed=(words.just_changed) data-arrived=(words.arrived)
            data-gone=(words.no_longer_waits) data-not-reached=(words.not_reached)
            data-signed-out=(words.signed_out) data-dismiss=(words.dismiss) {
            div id="notices" {}
            p id="said" class="unseen" role="status" aria-live="polite" {}
            noscript { p class="notice bad" { (words.needs_scripts) } }
            div id="sections" {}
        }
    };
    let parts = Frame {
        title: words.waiting,
        script: Some("console.js"),
        bar,
        main,
    };
    frame(words, parts)
}

fn sign_out(words: &Words, token: &str) -> Markup {
    html! {
        form method="post" action="/console/sign-out" id="sign-out" {
            (form_token(token))
            button class="quiet" { (words.sign_out) }
        }
    }
}

/// What a one-time link shows before it is used.
pub fn enter(words: &Words, token: &str) -> Markup {
    let form = html! {
        p { (words.enter_text) }
        form method="post" action="/console/open" {
            input type="hidden" name="token" value=(token);
            noscript { input type="hidden" name="plain" value="yes"; }
            button class="primary" { (words.enter) }
        }
    };
    door(words, words.enter_title, form)
}

/// What the link's button leads to: tells the token to the console's own storage.
pub fn entered(words: &Words, form_token: &str) -> Markup {
    let main = html! {
        main class="door" id="entered" data-form=(form_token) {
            p { a href="/" { (words.opened) } }
        }
    };
    let parts = Frame {
        title: words.enter_title,
        script: Some("enter.js"),
        main,
        ..Frame::default()
    };
    frame(words, parts)
}

/// For visitors without a session.
pub fn closed(words: &Words) -> Markup {
    how_to_open(words, words.closed_title, words.closed_text)
}

/// For a link that was used, has expired or never existed.
pub fn invalid_link(words: &Words) -> Markup {
    how_to_open(words, words.link_title, words.link_text)
}

fn how_to_open(words: &Words, title: &str, text: &str) -> Markup {
    let content = html! {
        p { (text) }
        p { code translate="no" { (OPEN) } }
    };
    door(words, title, content)
}

/// One sentence, and the way back.
pub fn message(words: &Words, text: &str) -> Markup {
    let main = html! {
        main class="door" { h1 { (text) } p { a href="/" { (words.waiting) } } }
    };
    let parts = Frame {
        title: words.waiting,
        main,
        ..Frame::default()
    };
    frame(words, parts)
}

fn door(words: &Words, title: &str, content: Markup) -> Markup {
    let main = html! { main class="door" { h1 { (title) } (content) } };
    let parts = Frame {
        title,
        main,
        ..Frame::default()
    };
    frame(words, parts)
}
