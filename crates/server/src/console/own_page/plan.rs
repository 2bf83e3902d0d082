//! Draws a plan: boxes to be ticked, in the shape of a hall.

use std::collections::BTreeSet;

use kit::console::{Place, PlaceState, Plan, PlanRow};
use maud::{Markup, html};

use super::{super::words::Words, names::ARGUMENT};

pub fn drawn(words: &Words, plan: &Plan) -> Markup {
    let places = plan.rows.iter().flat_map(|row| row.places.iter().flatten());
    let special: BTreeSet<&str> = places.map(|place| &*place.note).collect();
    let special: Vec<&str> = special
        .into_iter()
        .filter(|note| !note.is_empty())
        .collect();
    html! {
        fieldset class="plan" {
            legend { (plan.label) }
            p class="hint" {
                span class="place free" { "1" } " " (words.pick("free", "空き")) " "
                span class="place held" { "1" } " " (words.pick("held", "取り置き")) " "
                span class="place taken" { "1" } " " (words.pick("taken", "予約済み")) " "
                span class="place chosen" { "1" } " " (words.pick("chosen", "選択中"))
                @if !special.is_empty() { " " span class="place special" { "1" } " " (special.join(", ")) }
            }
            div class="hall" tabindex="0" role="group" aria-label=(plan.label) {
                p class="front" { (plan.front) }
                @for row in &plan.rows { (drawn_row(words, plan, row)) }
            }
        }
    }
}

fn drawn_row(words: &Words, plan: &Plan, row: &PlanRow) -> Markup {
    html! {
        div class="row" role="group" aria-label=(row.label) {
            span class="label" aria-hidden="true" { (row.label) }
            @for place in &row.places {
                @match place {
                    None => span class="gap" {},
                    Some(place) => (drawn_place(words, plan, place)),
                }
            }
        }
    }
}

fn drawn_place(words: &Words, plan: &Plan, place: &Place) -> Markup {
    let (class, state) = match place.state {
        PlaceState::Free => ("free", words.pick("free", "空き")),
        PlaceState::Held => ("held", words.pick("held", "取り置き")),
        PlaceState::Taken => ("taken", words.pick("taken", "予約済み")),
    };
    let name = [&*place.value, &*place.note, state];
    let name: Vec<&str> = name.into_iter().filter(|word| !word.is_empty()).collect();
    html! {
        label class={ "place " (class) @if !place.note.is_empty() { " special" } } title=(name.join(", ")) {
            input type="checkbox" name={ (ARGUMENT) (plan.argument) "[]" } value=(place.value)
                aria-label=(name.join(", ")) disabled[place.state != PlaceState::Free];
            span aria-hidden="true" { (place.label) }
        }
    }
}
