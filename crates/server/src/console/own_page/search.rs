//! Draws a field for a search, and links beside each other.

use kit::console::{PageLink, Search};
use maud::{Markup, html};

use super::{
    super::parts::{field, text_field},
    links::{address, label},
};

pub fn drawn(counter: &str, search: &Search) -> Markup {
    let id = format!("search-{}", search.parameter);
    let input = text_field(&id, search.parameter, &search.value);
    html! {
        form class="search" role="search" data-plain method="get" action={ "/console/" (counter) } {
            @for (name, value) in search.kept.iter().filter(|(_, value)| !value.is_empty()) {
                input type="hidden" name=(name) value=(value);
            }
            (field(&id, &search.label, None, input))
            button { (search.button) }
        }
    }
}

pub fn pager(counter: &str, name: &str, links: &[PageLink]) -> Markup {
    html! {
        nav class="pager" aria-label=(name) {
            @for to in links {
                a href=(address(counter, &to.query)) aria-current=[to.is_current.then_some("true")] {
                    (label(&to.label))
                }
            }
        }
    }
}
