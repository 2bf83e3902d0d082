//! Links within a counter's page, and lists of them.

use kit::console::{ListItem, PageLink, Tag, Tone};
use maud::{Markup, html};

use super::super::{
    parts::{self, excerpt, time},
    view::link,
    words::Words,
};

/// Labels are cut beyond this.
const LONGEST_LABEL: usize = 200;
const LONGEST_NOTE: usize = 300;

pub fn address(counter: &str, query: &[(&str, String)]) -> String {
    let query: Vec<(&str, &str)> = query.iter().map(|(name, it)| (*name, &**it)).collect();
    link(&format!("/console/{counter}"), &query)
}

pub fn label(text: &str) -> Markup {
    excerpt(text, LONGEST_LABEL)
}

pub fn drawn_link(counter: &str, to: &PageLink) -> Markup {
    html! {
        li {
            a href=(address(counter, &to.query)) aria-current=[to.is_current.then_some("true")] {
                (label(&to.label))
            }
            p class="when" { span { (excerpt(&to.note, LONGEST_LABEL)) } }
        }
    }
}

/// The link by itself.
pub fn bare_link(counter: &str, to: &PageLink) -> Markup {
    html! { a href=(address(counter, &to.query)) { (label(&to.label)) } }
}

pub fn tags(tags: &[Tag]) -> Markup {
    html! {
        @for tag in tags {
            @let tone = match tag.tone {
                Tone::Good => parts::Tone::Good,
                Tone::Bad => parts::Tone::Bad,
                Tone::Warning => parts::Tone::Warning,
                Tone::Neutral => parts::Tone::Neutral,
            };
            (parts::tag_of(tone, label(&tag.text))) " "
        }
    }
}

pub fn drawn_item(words: &Words, counter: &str, item: &ListItem) -> Markup {
    html! {
        li {
            @if let Some(query) = &item.query {
                a href=(address(counter, query))
                    aria-current=[item.is_current.then_some("true")] { (label(&item.label)) }
            } @else {
                b { (label(&item.label)) }
            }
            " " (tags(&item.tags))
            @if !item.note.is_empty() { p class="note" { (excerpt(&item.note, LONGEST_NOTE)) } }
            @if item.at_ms.is_some() || !item.more.is_empty() {
                p class="when" {
                    @if let Some(at) = item.at_ms { (time(words, at)) }
                    @for (name, query) in &item.more {
                        a href=(address(counter, query)) { (label(name)) }
                    }
                }
            }
        }
    }
}
