//! Whether all is well.

use std::sync::Arc;

use kit::Result;
use maud::html;

use super::super::{
    facts::Facts,
    health,
    parts::{Tone, excerpt, table, tag},
    view::{Page, View},
};

pub async fn page(view: View, facts: Arc<Facts>) -> Result<Page> {
    let words = view.words;
    let findings = health::full(&view.desk, &facts).await;
    let rows = findings.iter().map(|finding| {
        let state = match finding.is_good {
            true => tag(Tone::Good, words.pick("OK", "正常")),
            false => tag(Tone::Bad, words.pick("Trouble", "異常")),
        };
        vec![
            html! { (finding.what) },
            state,
            excerpt(&finding.message, 1000),
        ]
    });
    let title = words.pick("Health", "状態");
    let columns = words.pick_all([("What", "対象"), ("State", "状態"), ("Details", "詳細")]);
    let main = html! {
        h1 { (title) }
        (table(title, &columns, rows.collect()))
        p class="hint" {
            (words.pick("The same on the command line, also while no desk runs: ",
                "窓口が動いていないときも、コマンドで同じことを調べられます："))
            code translate="no" { "madoguchi doctor" }
        }
    };
    Ok(Page::new(title, main))
}
