//! Draws a board. All cards are in one form: with one for each, a large board would be
//! mostly forms.

use kit::console::{Board, Card, CardMove, Column};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    links::{address, bare_link, label, tags},
    names::FIXED,
};

/// The part of the board's form that differs between boards.
pub fn drawn(counter: &str, board: &Board) -> Markup {
    html! {
        div class="board" tabindex="0" role="group" aria-label=(board.label) {
            @for (at, column) in board.columns.iter().enumerate() {
                (drawn_column(counter, at, column))
            }
        }
    }
}

fn drawn_column(counter: &str, at: usize, column: &Column) -> Markup {
    let title = format!("column-{at}");
    html! {
        div class="column" {
            h3 id=(title) { (label(&column.title)) " " span class="count" { (column.count) } }
            ul role="list" aria-labelledby=(title) {
                @for card in &column.cards { (drawn_card(counter, card)) }
            }
            @if let Some(more) = &column.more { p { (bare_link(counter, more)) } }
        }
    }
}

fn drawn_card(counter: &str, card: &Card) -> Markup {
    html! {
        li id={ "card-" (card.id) } {
            p class="title" {
                a href=(address(counter, &card.query)) { (label(&card.title)) }
            }
            p { (tags(&card.tags)) }
            p class="moves" {
                @for to in &card.moves {
                    button name=(FIXED) value=(arguments(to))
                        aria-label={ (to.label) ": " (card.id) } { (to.label) }
                }
            }
        }
    }
}

fn arguments(to: &CardMove) -> String {
    let arguments = to.arguments.iter();
    let arguments = arguments.map(|(name, value)| ((*name).to_owned(), value.clone()));
    Value::Object(arguments.collect::<Map<_, _>>()).to_string()
}
