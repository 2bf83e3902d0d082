//! Draws a receipt.

use kit::console::Receipt;
use maud::{Markup, html};

use super::{
    super::{parts::excerpt, view::View},
    cells::facts,
    links::label,
};

/// Notes are cut beyond this.
const LONGEST_NOTE: usize = 300;

pub fn drawn(view: &View, counter: &str, receipt: &Receipt) -> Markup {
    let Receipt {
        seller,
        lines,
        sums,
        total,
        ..
    } = receipt;
    html! {
        div class="receipt" {
            p class="seller" { (label(seller)) }
            ul class="amounts" role="list" {
                @for line in lines {
                    li {
                        span {
                            (label(&line.label))
                            span class="hint" { (excerpt(&line.note, LONGEST_NOTE)) }
                        }
                        span class="amount" { (line.amount) }
                    }
                }
                @for (name, amount) in sums { (sum("sum", name, amount)) }
                (sum("sum total", &total.0, &total.1))
            }
            (facts(view, counter, &receipt.facts))
        }
    }
}

fn sum(class: &str, name: &str, amount: &str) -> Markup {
    html! { li class=(class) { span { (name) } span class="amount" { (amount) } } }
}
