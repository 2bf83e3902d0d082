//! Draws a conversation. It is at its end when the page opens, without scripts too.

use kit::console::{Message, Messages};
use maud::{Markup, html};

use super::{
    super::{
        parts::{exact_time, excerpt},
        text::shown,
        words::Words,
    },
    links::{bare_link, label},
};

/// The rest of a longer message is shown when somebody asks for it.
const SHOWN_AT_ONCE: usize = 2000;
const LONGEST_ANSWERED: usize = 160;

pub fn drawn(words: &Words, counter: &str, messages: &Messages) -> Markup {
    let Messages { older, newest, .. } = messages;
    html! {
        @if older.is_some() || newest.is_some() {
            p class="pager" {
                @if let Some(older) = older { (bare_link(counter, older)) }
                @if let Some(newest) = newest { (bare_link(counter, newest)) }
            }
        }
        @if messages.items.is_empty() {
            p class="hint" { (words.pick("No messages yet.", "まだメッセージはありません。")) }
        } @else {
            div class="talk" tabindex="0" role="region" aria-label=(messages.label) {
                ol class="messages" {
                    @for message in &messages.items { (one(words, message)) }
                }
            }
        }
    }
}

fn one(words: &Words, message: &Message) -> Markup {
    let (start, more) = kit::text::cut(&message.text, SHOWN_AT_ONCE);
    let rest = message.text.get(start.len()..).unwrap_or_default();
    // Other programs write ids too.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id = message.id.chars().all(is_plain);
    let id = id.then(|| format!("message-{}", message.id));
    html! {
        li id=[id] class=[message.is_own.then_some("own")] {
            p class="who" {
                b { (label(&message.author)) }
                @if let Some(at) = message.at_ms { (exact_time(words, at)) }
                @for name in &message.mentions {
                    span class="tag" { "@" (label(name)) }
                }
            }
            @if let Some(answered) = &message.answers {
                p class="reason" { (excerpt(answered, LONGEST_ANSWERED)) }
            }
            p class="said" dir="auto" { (shown(start)) }
            @if more > 0 {
                details {
                    summary { (rest_label(words, more)) }
                    p class="said" dir="auto" { (shown(rest)) }
                }
            }
        }
    }
}

fn rest_label(words: &Words, more: usize) -> String {
    match words.tag {
        "ja" => format!("残りの{more}文字"),
        _ => format!("{more} more characters"),
    }
}
