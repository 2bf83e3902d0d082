//! One question and its answer, however long ago.

use kit::Result;
use maud::html;

use super::super::{
    inbox::{decision, tool_title},
    parts::pairs,
    readable::readable,
    view::{Page, View},
};

pub async fn page(view: View) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let id = view.address.get("id").unwrap_or_default();
    let approval = match desk.approvals.get(id).await {
        Ok(approval) => approval,
        Err(error) if error.is_internal() => return Err(error),
        Err(_) => return Ok(Page::not_found(words)),
    };
    let title = tool_title(&view, &approval.counter, &approval.tool).to_owned();
    let main = html! {
        h1 { (title) }
        ul class="lines" role="list" id="decided" { (decision(&view, &approval)) }
        section class="answer" {
            h2 { (words.pick("Arguments", "引数")) }
            (readable(words, &approval.arguments))
        }
        (pairs(vec![(words.pick("Approval", "確認"), html! { code { (approval.id) } })]))
    };
    Ok(Page::new(title, main))
}
