//! The frame around every page of the console, and the pages at its door.

use maud::{DOCTYPE, Markup, html};

use super::{
    parts::{Notice, form_token, notice},
    view::Page,
    words::Words,
};

/// The files of the console: name, media type, text.
pub const FILES: [(&str, &str, &str); 7] = [
    (
        "console.css",
        "text/css",
        concat!(
            include_str!("../styles/colours.css"),
            include_str!("../styles/buttons.css"),
            include_str!("static/console.css")
        ),
    ),
    (
        "pages.css",
        "text/css",
        concat!(
            include_str!("static/pages.css"),
            include_str!("../styles/plan.css")
        ),
    ),
    (
        "own_page.css",
        "text/css",
        include_str!("static/own_page.css"),
    ),
    (
        "console.js",
        "text/javascript",
        include_str!("static/console.js"),
    ),
    (
        "pages.js",
        "text/javascript",
        include_str!("static/pages.js"),
    ),
    (
        "reader.js",
        "text/javascript",
        include_str!("static/reader.js"),
    ),
    (
        "enter.js",
        "text/javascript",
        include_str!("static/enter.js"),
    ),
];

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
    /// The list of all pages; empty for those at the door.
    pages: Option<Markup>,
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
                link rel="stylesheet" href="/console/pages.css";
                link rel="stylesheet" href="/console/own_page.css";
                @if let Some(name) = frame.script {
                    script type="module" src={ "/console/" (name) } {}
                }
            }
            body {
                @if frame.pages.is_some() {
                    a class="skip" href="#main" { (words.pick("Skip to the content", "本文へ")) }
                }
                header class="bar" {
                    p class="brand" translate="no" { a href="/console/" { "Madoguchi " span lang="ja" { "窓口" } } }
                    div class="beside" {
                        (frame.bar)
                        a class="quiet" href={ "/console/language?to=" (words.other_tag) }
                            lang=(words.other_tag) hreflang=(words.other_tag) { (words.other_name) }
                    }
                }
                @if let Some(pages) = frame.pages {
                    div class="desk" { (pages) (frame.main) }
                } @else {
                    (frame.main)
                }
            }
        }
    }
}

/// A page with its content.
pub fn whole(words: &Words, pages: Markup, form_token: &str, page: Page) -> Markup {
    let main = html! { main id="main" tabindex="-1" { (page.main) } };
    let parts = Frame {
        title: &page.title,
        script: Some("pages.js"),
        bar: sign_out(words, form_token),
        pages: Some(pages),
        main,
    };
    frame(words, parts)
}

/// The frame of a page. The script asks for the content.
pub fn unfilled(words: &Words, pages: Markup) -> Markup {
    let main = html! {
        main id="main" tabindex="-1" data-fill=(words.not_reached) {
            noscript { (notice(&Notice::Bad(words.needs_scripts.into()))) }
            p class="empty shown" { (words.opened) }
        }
    };
    let parts = Frame {
        title: words.pick("Console", "コンソール"),
        script: Some("pages.js"),
        bar: sign_out(words, ""),
        pages: Some(pages),
        main,
    };
    frame(words, parts)
}

/// The inbox for a browser without scripts.
pub fn plain_inbox(words: &Words, pages: Markup, form_token: &str, sections: Markup) -> Markup {
    let main = html! {
        main id="main" tabindex="-1" class="narrow" {
            p { (words.reload) }
            (sections)
        }
    };
    let parts = Frame {
        title: words.waiting,
        bar: sign_out(words, form_token),
        pages: Some(pages),
        main,
        ..Frame::default()
    };
    frame(words, parts)
}

/// The inbox's frame. The script fills it, and the forms' tokens.
pub fn inbox(words: &Words, pages: Markup) -> Markup {
    let bar = html! {
        span class="live" id="live" data-live=(words.live) data-connecting=(words.connecting) {}
        (sign_out(words, ""))
    };
    let main = html! {
        main id="main" tabindex="-1" class="narrow" {
            div id="inbox" data-just-changed=(words.just_changed) data-arrived=(words.arrived)
                data-gone=(words.no_longer_waits) data-not-reached=(words.not_reached)
                data-signed-out=(words.signed_out) data-dismiss=(words.dismiss) {
                div id="notices" {}
                // The script shows it where it can be used.
                p { button id="notify" type="button" hidden data-done=(words.pick(
                    "This browser tells you when something waits, while this page is open.",
                    "このページを開いている間、確認待ちをこのブラウザが通知します。"
                )) {
                    (words.pick("Notify me in this browser", "このブラウザで通知する"))
                } }
                p id="said" class="unseen" role="status" aria-live="polite" {}
                noscript { (notice(&Notice::Bad(words.needs_scripts.into()))) }
                div id="sections" {}
            }
        }
    };
    let parts = Frame {
        title: words.waiting,
        script: Some("console.js"),
        bar,
        pages: Some(pages),
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
