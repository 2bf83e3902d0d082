//! The settings in force, and where each comes from.

use std::sync::Arc;

use kit::Result;
use maud::html;

use super::super::{
    facts::{Facts, Origin, Setting},
    parts::{Tone, excerpt, table, tag},
    view::{Page, View},
};

pub async fn page(view: View, facts: Arc<Facts>) -> Result<Page> {
    let words = view.words;
    let title = words.pick("Settings", "設定");
    let columns = words.pick_all([("Key", "項目"), ("Value", "値"), ("From", "設定元")]);
    let section = |setting: &Setting| {
        let (section, _) = setting.key.split_once('.').unwrap_or((&setting.key, ""));
        section.to_owned()
    };
    let same = |a: &Setting, b: &Setting| section(a) == section(b);
    let row = |setting: &Setting| {
        let (tone, origin) = match setting.origin {
            Origin::Default => (Tone::Neutral, words.pick("default", "既定")),
            Origin::File => (Tone::Good, words.pick("file", "設定ファイル")),
            Origin::Environment => (Tone::Good, words.pick("environment", "環境変数")),
            Origin::CommandLine => (Tone::Good, words.pick("command line", "コマンドライン")),
        };
        let (_, key) = setting.key.split_once('.').unwrap_or(("", &setting.key));
        vec![
            html! { code { (key) } },
            html! { code { (excerpt(&setting.value, 500)) } },
            tag(tone, origin),
        ]
    };
    let main = html! {
        h1 { (title) }
        p class="hint" { (words.pick(
            "What this desk runs with. Secrets, and addresses that may contain one, are not shown.",
            "この窓口が使っている設定です。秘密の値と、それを含みうるアドレスは表示しません。"
        )) }
        p class="hint" {
            (words.pick("Policies can be stricter here than the file says: ",
                "ポリシーは、設定ファイルより厳しくなっていることがあります："))
            a href="/console/policies" { (words.pick("the policies in force", "適用中のポリシー")) }
        }
        @for settings in facts.settings.chunk_by(same) {
            @let name = settings.first().map(section).unwrap_or_default();
            section {
                h2 { code { "[" (name) "]" } }
                (table(&name, &columns, settings.iter().map(row).collect()))
            }
        }
    };
    Ok(Page::new(title, main))
}
