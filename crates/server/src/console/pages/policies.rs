//! What is allowed, asked first or denied, tool by tool. A person makes a policy
//! stricter here, and takes that back.

use desk::{
    PreparedTool, ServedCounter,
    policies::TightenedPolicy,
    policy_change::{self, WantedPolicy},
    settings::Policy,
};
use http::StatusCode;
use kit::{Caller, Error, Result};
use maud::{Markup, html};

use super::super::{
    fields::{Fields, refused},
    handlers::Reaction,
    parts::{Notice, Tone, excerpt, form_token, notice, table, tag, time},
    view::{Page, View},
    words::Words,
};

pub async fn page(view: View) -> Result<Page> {
    listed(&view, html! {}).await
}

/// All policies, below what is to be said first.
async fn listed(view: &View, first: Markup) -> Result<Page> {
    let words = view.words;
    let title = words.pick("Policies", "ポリシー");
    let columns = words.pick_all([
        ("Tool", "ツール"),
        ("Agents", "エージェント"),
        ("Set by", "設定元"),
        ("Change", "変更"),
    ]);
    let tightened = view.desk.policies.list().await?;
    let main = html! {
        h1 { (title) }
        (first)
        p class="hint" { (words.pick(
            "What happens when an agent calls a tool. What you do yourself at this console is not asked about again, but a denied tool stays denied.",
            "エージェントがツールを呼び出したときの扱いです。このコンソールでの操作は改めて確認されませんが、禁止は適用されます。"
        )) }
        p class="hint" { (words.pick(
            "Here a policy can become stricter than the configuration file says, and go back to that. It applies within two seconds wherever agents use this data, and outlives a restart.",
            "ここでは、設定ファイルより厳しくすることと、設定ファイルの扱いに戻すことができます。変更は2秒以内に、同じデータを使うすべての窓口とプロセスに適用され、再起動後も続きます。"
        )) }
        @for served in &view.desk.counters {
            @let about = &served.counter.about;
            @let rows = served.tools.iter().map(|tool| row(view, served, tool, &tightened));
            @let title = about.title_in(words.language());
            section { h2 { (title) } (table(title, &columns, rows.collect())) }
        }
        p class="hint" {
            (words.pick("To loosen one, in madoguchi.toml: ", "緩めるには madoguchi.toml で："))
            code translate="no" { "[approval] tools = { \"cinema.reserve_seats\" = \"allow\" }" }
        }
    };
    Ok(Page::new(title, main))
}

fn row(
    view: &View,
    served: &ServedCounter,
    tool: &PreparedTool,
    tightened: &[TightenedPolicy],
) -> Vec<Markup> {
    let (words, counter) = (view.words, served.counter.about.name);
    let address = format!("/console/tools/{counter}/{}", tool.listed_name);
    vec![
        html! { a href=(address) { (tool.tool.title_in(words.language())) } " " code { (tool.listed_name) } },
        in_force(words, tool.policy()),
        origin(words, counter, tool, tightened),
        choices(view, counter, tool),
    ]
}

fn in_force(words: &Words, policy: Policy) -> Markup {
    match policy {
        Policy::Allow => tag(Tone::Good, words.pick("allowed", "許可")),
        Policy::Ask => tag(Tone::Warning, words.pick("asks you first", "先に確認")),
        Policy::Deny => tag(Tone::Bad, words.pick("denied", "禁止")),
    }
}

/// Where the policy in force comes from.
pub fn origin(
    words: &Words,
    counter: &str,
    tool: &PreparedTool,
    tightened: &[TightenedPolicy],
) -> Markup {
    let file = match tool.policy_is_configured {
        true => words.pick("the configuration", "設定ファイル"),
        false => words.pick("default", "既定"),
    };
    let is_of_tool = |row: &&TightenedPolicy| row.counter == counter && row.tool == tool.tool.name;
    let row = tightened.iter().find(is_of_tool);
    let Some(row) = row.filter(|row| row.policy > tool.file_policy) else {
        return html! { (file) };
    };
    html! {
        (words.pick("tightened by ", "厳しくした人：")) (excerpt(&row.set_by, 100))
        ", " (time(words, row.set_at))
        " (" (file) ": " code translate="no" { (tool.file_policy.word()) } ")"
    }
}

/// A button for each policy that can be chosen.
fn choices(view: &View, counter: &str, tool: &PreparedTool) -> Markup {
    let words = view.words;
    let (now, file) = (tool.policy(), tool.file_policy);
    let label = |policy: Policy| match policy {
        _ if policy == file => words.pick("As configured", "設定どおりに"),
        Policy::Allow => words.pick("Allow", "許可"),
        Policy::Ask => words.pick("Ask first", "先に確認"),
        Policy::Deny => words.pick("Deny", "禁止"),
    };
    let mut others = Policy::ALL
        .into_iter()
        .filter(|policy| *policy >= file && *policy != now)
        .peekable();
    html! {
        @if others.peek().is_some() {
            form method="post" action="/console/policies" {
                (form_token(&view.form_token))
                input type="hidden" name="counter" value=(counter);
                input type="hidden" name="tool" value=(tool.tool.name);
                input type="hidden" name="seen" value=(now.word());
                @for policy in others {
                    @let name = format!("{}: {}", label(policy), tool.tool.title_in(words.language()));
                    button name="policy" value=(policy.word()) aria-label=(name) { (label(policy)) }
                    " "
                }
            }
        } @else {
            (words.pick("only in the file", "設定ファイルでのみ"))
        }
    }
}

/// Makes a policy stricter, or takes that back.
pub async fn set(view: View, fields: Fields) -> Result<Reaction> {
    let words = view.words;
    let parsed = (
        Policy::parse(fields.get("policy")),
        Policy::parse(fields.get("seen")),
    );
    // The page sends both; who leaves one out did not look.
    let (Some(policy), Some(seen)) = parsed else {
        return Ok(Reaction::Other(refused(words)));
    };
    let wanted = WantedPolicy {
        counter: fields.get("counter").to_owned(),
        tool: fields.get("tool").to_owned(),
        policy,
        seen: Some(seen),
    };
    let name = format!("{}.{}", wanted.counter, wanted.tool);
    let set = policy_change::set(&view.desk, Caller::console(), wanted).await;
    let (status, said) = match set {
        Ok(()) => (StatusCode::OK, Notice::Good(done(words, &name, policy))),
        Err(error) => match status_of(&error) {
            Some(status) => {
                let said = error.in_language(words.language()).text();
                (status, Notice::Bad(said))
            }
            // Trouble of the desk itself.
            None => return Err(error),
        },
    };
    let mut page = listed(&view, notice(&said)).await?;
    page.status = status;
    Ok(Reaction::Page(page))
}

fn done(words: &Words, name: &str, policy: Policy) -> String {
    let policy = policy.word();
    match words.tag {
        "ja" => format!("{name} を {policy} にしました。"),
        _ => format!("{name} is now {policy}."),
    }
}

fn status_of(error: &Error) -> Option<StatusCode> {
    Some(match &*error.code {
        "POLICY_TOO_LOOSE" => StatusCode::BAD_REQUEST,
        "POLICY_CHANGED" => StatusCode::CONFLICT,
        "UNKNOWN_NAME" => StatusCode::NOT_FOUND,
        "AUDIT_UNAVAILABLE" => StatusCode::SERVICE_UNAVAILABLE,
        _ => return None,
    })
}
