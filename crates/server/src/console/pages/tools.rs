//! All tools, and a form to try each.

use std::sync::Arc;

use desk::{
    FoundTool, PreparedTool, ServedCounter,
    pipeline::{Answer, Refusal},
    settings::Policy,
};
use kit::{Reply, Result};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    super::{
        fields::Fields,
        handlers::Reaction,
        parts::{Notice, Tone, copyable, excerpt, form_token, notice, table, tag},
        person,
        readable::readable,
        schema_form::{self, AS_JSON},
        snippets::Snippets,
        view::{Page, View},
        words::Words,
    },
    policies,
};

pub async fn list(view: View) -> Result<Page> {
    let words = view.words;
    let title = words.pick("Tools", "ツール");
    let main = html! {
        h1 { (title) }
        @for served in &view.desk.counters {
            section { h2 { (served.counter.about.title_in(words.language())) } (of_counter(words, served)) }
        }
    };
    Ok(Page::new(title, main))
}

/// The tools of one counter.
pub fn of_counter(words: &Words, served: &ServedCounter) -> Markup {
    let counter = served.counter.about.name;
    let rows = served.tools.iter().map(|tool| {
        vec![
            html! { a href=(address(counter, tool)) { (tool.tool.title_in(words.language())) } },
            html! { code { (tool.listed_name) } " " (badges(words, tool)) },
            html! { (tool.tool.description) },
        ]
    });
    let columns = words.pick_all([
        ("Title", "題名"),
        ("Name", "名前"),
        ("What it does", "説明"),
    ]);
    table(
        served.counter.about.title_in(words.language()),
        &columns,
        rows.collect(),
    )
}

fn address(counter: &str, tool: &PreparedTool) -> String {
    format!("/console/tools/{counter}/{}", tool.listed_name)
}

/// Whether it changes something, and what is asked first.
fn badges(words: &Words, tool: &PreparedTool) -> Markup {
    html! {
        @if tool.tool.hints.destructive {
            (tag(Tone::Warning, words.pick("overwrites or deletes", "上書き・削除"))) " "
        } @else if tool.tool.writes() {
            (tag(Tone::Neutral, words.pick("changes", "変更"))) " "
        }
        @match tool.policy() {
            Policy::Allow => "",
            Policy::Ask => (tag(Tone::Warning, words.pick("asks first", "確認あり"))),
            Policy::Deny => (tag(Tone::Bad, words.pick("denied", "禁止"))),
        }
    }
}

/// The tool that the address names.
fn found(view: &View) -> Option<(Arc<ServedCounter>, Arc<PreparedTool>)> {
    let mut parts = view.address.below();
    let served = view.desk.counter(parts.next()?)?;
    match (served.find(parts.next()?), parts.next()) {
        (FoundTool::Tool(tool), None) => Some((Arc::clone(served), Arc::clone(tool))),
        _ => None,
    }
}

pub async fn tool(view: View) -> Result<Page> {
    Ok(match found(&view) {
        Some((served, tool)) => {
            let denied = if_denied(&view, &served, &tool).await?;
            tool_page(&view, (&served, &tool), denied, &|_| None, html! {})
        }
        None => Page::not_found(view.words),
    })
}

/// Calls the tool, and shows its answer above the form.
pub async fn call(view: View, fields: Fields) -> Result<Reaction> {
    let words = view.words;
    let Some((served, tool)) = found(&view) else {
        return Ok(Reaction::Page(Page::not_found(words)));
    };
    let entered = |name: &str| Some(fields.get(name).to_owned());
    let answer = match schema_form::arguments(&tool.tool.input, &entered) {
        Err(field) => notice(&Notice::Bad(not_json(words, &field))),
        Ok(arguments) => {
            let name = tool.tool.name;
            let given = arguments.clone();
            let language = words.language();
            let answer = person::call(&view.desk, &served, name, given, language).await;
            html! {
                (answered(words, answer))
                (copies(&view, &served, &tool, &arguments))
            }
        }
    };
    let denied = if_denied(&view, &served, &tool).await?;
    let page = tool_page(&view, (&served, &tool), denied, &entered, answer);
    Ok(Reaction::Page(page))
}

fn not_json(words: &Words, field: &str) -> String {
    match words.tag {
        "ja" => format!("{field} がJSONではありません。何も実行していません。"),
        _ => format!("{field} is not JSON. Nothing was called."),
    }
}

/// `denied`: why it can't be called.
fn tool_page(
    view: &View,
    (served, tool): (&ServedCounter, &PreparedTool),
    denied: Option<Markup>,
    entered: schema_form::Entered<'_>,
    answer: Markup,
) -> Page {
    let words = view.words;
    let about = &served.counter.about;
    let title = tool.tool.title_in(words.language());
    let main = html! {
        p class="actions" {
            a href={ "/console/" (about.name) } { (about.title_in(words.language())) }
            a href="/console/tools" { (words.pick("All tools", "すべてのツール")) }
        }
        h1 { (title) }
        p { code { (tool.listed_name) } " " (badges(words, tool)) }
        p { (tool.tool.description) }
        (answer)
        (denied.unwrap_or_else(|| to_try(view, served, tool, entered)))
    };
    Page::new(title, main)
}

/// A form that calls the tool.
fn to_try(
    view: &View,
    served: &ServedCounter,
    tool: &PreparedTool,
    entered: schema_form::Entered<'_>,
) -> Markup {
    let words = view.words;
    let as_json = entered(AS_JSON).unwrap_or_default();
    html! {
        section aria-labelledby="form-title" {
            h2 id="form-title" { (words.pick("Try it", "試す")) }
            form method="post" action=(address(served.counter.about.name, tool)) {
                (form_token(&view.form_token))
                div class="fields" { (schema_form::fields(words, &tool.tool.input, entered)) }
                details open[!as_json.is_empty()] {
                    summary { (words.pick("All arguments as JSON", "すべての引数をJSONで")) }
                    div class="field" {
                        label for="as-json" { (words.pick(
                            "If this is filled in, the fields above do not count.",
                            "入力すると、上の欄より優先されます。"
                        )) }
                        textarea id="as-json" name=(AS_JSON) class="code" { "\n" (as_json) }
                    }
                }
                p class="hint" { (effect(words, tool)) }
                button class="primary" { (words.pick("Call", "実行")) }
            }
        }
    }
}

/// Why a tool can't be called, and what to do about it; `None` if it can.
async fn if_denied(
    view: &View,
    served: &ServedCounter,
    tool: &PreparedTool,
) -> Result<Option<Markup>> {
    if tool.policy() != Policy::Deny {
        return Ok(None);
    }
    let (words, counter) = (view.words, served.counter.about.name);
    let tightened = view.desk.policies.list().await?;
    Ok(Some(html! {
        section aria-labelledby="denied-title" {
            h2 id="denied-title" { (words.pick("Denied", "禁止")) }
            p { (words.pick(
                "The policy denies this tool, to agents and to you.",
                "ポリシーにより、エージェントも、あなたも、このツールを使えません。"
            )) }
            p {
                (words.pick("Set by: ", "設定元："))
                (policies::origin(words, counter, tool, &tightened))
            }
            @if tool.file_policy == Policy::Deny {
                p {
                    (words.pick(
                        "To allow it, change this in madoguchi.toml and restart: ",
                        "使えるようにするには、madoguchi.toml の次の設定を変更して再起動してください："
                    ))
                    code translate="no" {
                        "[approval] tools = { \"" (counter) "." (tool.tool.name) "\" = \"deny\" }"
                    }
                }
            } @else {
                p { a href="/console/policies" { (words.pick(
                    "Take it back on the page of policies", "ポリシーのページで元に戻す"
                )) } }
            }
        }
    }))
}

/// What a press of the button does.
fn effect(words: &Words, tool: &PreparedTool) -> &'static str {
    match tool.tool.writes() {
        true => words.pick(
            "This really does it, and you are not asked again. The audit records it as console.",
            "実際に実行され、改めて確認はされません。監査には console として記録されます。",
        ),
        false => words.pick(
            "This changes nothing. The audit records it as console.",
            "何も変更しません。監査には console として記録されます。",
        ),
    }
}

fn answered(words: &Words, answer: std::result::Result<Answer, Refusal>) -> Markup {
    match value_of(words, answer) {
        Ok(value) => shown_value(words, &value),
        Err(why_not) => why_not,
    }
}

/// What a call answered, or why it did not.
fn value_of(
    words: &Words,
    answer: std::result::Result<Answer, Refusal>,
) -> std::result::Result<Value, Markup> {
    match answer.map(|answer| answer.result) {
        Ok(Ok(reply)) => Ok(of_reply(reply)),
        Ok(Err(error)) => Err(html! {
            (notice(&Notice::Bad(error.text())))
            (as_json(words, &error.structured()))
        }),
        Err(refusal) => Err(notice(&Notice::Bad(refused(words, &refusal)))),
    }
}

fn shown_value(words: &Words, value: &Value) -> Markup {
    let title = words.pick("Answer", "応答");
    html! {
        section class="answer" aria-labelledby="answer-title" {
            h2 id="answer-title" { (title) }
            @if let Some(message) = value.get("message").and_then(Value::as_str) {
                p class="notice" role="status" { (excerpt(message, 1000)) }
            }
            (readable(words, value))
            (as_json(words, value))
        }
    }
}

/// What became of a call, in a sentence, with the rest below.
pub fn in_short(words: &Words, answer: std::result::Result<Answer, Refusal>) -> Markup {
    let value = match value_of(words, answer) {
        Ok(value) => value,
        Err(why_not) => return why_not,
    };
    let message = value.get("message").and_then(Value::as_str);
    let warnings = value.get("warnings").and_then(Value::as_array);
    let warnings = warnings.into_iter().flatten();
    let warnings = warnings.filter_map(|warning| warning.get("message")?.as_str());
    let warnings = warnings.filter(|warning| Some(*warning) != message);
    html! {
        p class="notice" role="status" {
            (words.pick("Done. ", "完了しました。"))
            @if let Some(message) = message { (excerpt(message, 1000)) }
        }
        @for warning in warnings { p class="notice warning" { (excerpt(warning, 1000)) } }
        details { summary { (words.pick("The answer", "応答")) } (shown_value(words, &value)) }
    }
}

fn as_json(words: &Words, value: &Value) -> Markup {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    html! {
        details {
            summary { (words.pick("The answer as JSON", "応答のJSON")) }
            (copyable(words, "JSON", &json))
        }
    }
}

fn of_reply(reply: Reply) -> Value {
    match reply {
        Reply::Structured(json) | Reply::Illustrated { json, .. } => {
            serde_json::from_str(&json).unwrap_or_default()
        }
        Reply::Kept(kept) => serde_json::from_str(&kept.json).unwrap_or_default(),
        Reply::Content(blocks) => Value::Array(blocks),
        Reply::InputRequired { .. } => Value::Null,
    }
}

fn refused(words: &Words, refusal: &Refusal) -> String {
    match refusal {
        Refusal::RateLimited { retry_after_ms } | Refusal::Unavailable { retry_after_ms } => {
            let seconds = retry_after_ms.div_ceil(1000);
            match words.tag {
                "ja" => format!("いまは実行できません。{seconds}秒後にもう一度お試しください。"),
                _ => format!("Not now. Try again in {seconds} seconds."),
            }
        }
        _ => words
            .pick(
                "The desk refused the call.",
                "窓口が呼び出しを受け付けませんでした。",
            )
            .to_owned(),
    }
}

fn copies(
    view: &View,
    served: &ServedCounter,
    tool: &PreparedTool,
    arguments: &Map<String, Value>,
) -> Markup {
    let words = view.words;
    let snippets = Snippets::new(&view.desk, served, tool, arguments);
    html! {
        details {
            summary { (words.pick("The same call elsewhere", "同じ呼び出しをほかから")) }
            @if snippets.needs_key {
                p class="hint" {
                    (words.pick("It needs a key in MADOGUCHI_KEY: ", "環境変数 MADOGUCHI_KEY にキーを設定してください。"))
                    a href="/console/keys" { (words.pick("make one", "キーを作る")) }
                }
            }
            (copyable(words, "curl", &snippets.curl))
            (copyable(words, words.pick("Command line", "コマンド"), &snippets.command))
            (copyable(words, words.pick("Client configuration", "クライアントの設定"), &snippets.client))
        }
    }
}
