//! `madoguchi demo tour`: one call of each counter, with an explanation. It runs on
//! a temporary directory and reads neither the user's data nor their settings.

mod guide;
mod steps;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use desk::{
    Desk,
    approvals::{Approval, Decision, Status},
    settings::Level,
};
use kit::{Error, Result, context::Language};
use serde_json::{Map, Value};

use crate::{
    cli::{CounterOptions, Global},
    config::{self, Config, Sources},
    counters, in_process, invocation,
    locale::{self, pick},
    open,
    output::{Cell, Look, Styled, aligned, tell},
    runtime::on_one_thread,
};
use guide::{Guide, Reply};
use steps::{STEPS, TourStep};

pub fn run(global: &Global) -> Result<ExitCode> {
    let folder = tempfile::Builder::new()
        .prefix("madoguchi-tour-")
        .tempdir()
        .map_err(|error| {
            let message = format!("No temporary directory can be made: {error}.");
            Error::new("NO_TEMPORARY_DIRECTORY", message)
                .next("Name a directory for it in the variable TMPDIR.")
        })?;
    let (own, config, project) = surroundings(folder.path())?;
    desk::log::init(&config.settings.log);
    on_one_thread(async {
        tokio::select! {
            // Listens before anything is shown. The directory is removed either way.
            biased;
            _ = tokio::signal::ctrl_c() => {
                tell("");
                Ok(ExitCode::SUCCESS)
            }
            walked = walk(global, &own, config, &project) => walked,
        }
    })
}

async fn walk(global: &Global, own: &Global, config: Config, project: &Path) -> Result<ExitCode> {
    let guide = Guide::new();
    introduce().print()?;
    let opened = open::desk(own, config, &CounterOptions::default(), None).await?;
    opened.first_demo().await?;
    let toured = tour(&guide, &opened.desk, project).await;
    opened.close().await?;
    match toured? {
        true => farewell(global).print(),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// Data, settings and a project of the tour's own.
fn surroundings(folder: &Path) -> Result<(Global, Config, PathBuf)> {
    let (data, project) = (folder.join("data"), folder.join("project"));
    std::fs::create_dir(&project).map_err(Error::internal)?;
    let sources = Sources {
        data: Some(data.clone()),
        file: None,
        environment: Vec::new(),
    };
    let mut config = config::load(&sources, counters::all())?;
    config.settings.log.level = Level::Warn;
    // A call that needs approval says so at once.
    config.settings.approval.hold_seconds = 0;
    let root = project.to_string_lossy().into_owned();
    let todo = config.counters.entry("todo".into()).or_default();
    todo.insert("root".into(), toml::Value::String(root));
    let global = Global {
        config: None,
        data: Some(data),
        log_level: None,
    };
    Ok((global, config, project))
}

/// `false` if the person stopped it.
async fn tour(guide: &Guide, desk: &Arc<Desk>, project: &Path) -> Result<bool> {
    for (number, step) in (1..).zip(&STEPS) {
        heading(number, step).print()?;
        let answer = call(desk, step).await?;
        let answer = match pending(desk).await? {
            None => answer,
            Some(approval) => {
                asked(&approval).print()?;
                let Some(answer) = decide(guide, desk, step, &approval).await? else {
                    return Ok(false);
                };
                answer
            }
        };
        answered(step, &answer, project).print()?;
        let is_last = number == STEPS.len();
        if !is_last && guide.ask(guide::GO_ON).await? == Reply::Stop {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The structured content of the answer, or of the error.
async fn call(desk: &Arc<Desk>, step: &TourStep) -> Result<Value> {
    let arguments = match (step.arguments)(locale::language()) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let response = in_process::call(
        desk,
        in_process::silent_client(),
        step.counter,
        step.tool,
        arguments,
    )
    .await?;
    let content = response.pointer("/result/structuredContent");
    Ok(content.cloned().unwrap_or_default())
}

async fn pending(desk: &Desk) -> Result<Option<Approval>> {
    let pending = desk.approvals.list(Some(Status::Pending), 1).await?;
    Ok(pending.into_iter().next())
}

/// Approves or denies, and makes the call again. `None` if the person stopped.
async fn decide(
    guide: &Guide,
    desk: &Arc<Desk>,
    step: &TourStep,
    approval: &Approval,
) -> Result<Option<Value>> {
    let (decision, command) = match guide.ask(guide::APPROVE).await? {
        Reply::Stop => return Ok(None),
        Reply::Yes => (Decision::Once, "approve"),
        Reply::No => (
            Decision::Deny {
                reason: String::new(),
            },
            "deny",
        ),
    };
    desk.approvals
        .decide(&approval.id, decision, "the tour")
        .await?;
    let mut text = Styled::default();
    let command = format!("madoguchi approvals {command} {}", approval.id);
    text.plain("\n     ").add(Look::Action, &command);
    if !guide.asks {
        text.plain(pick(
            "\n     (Nobody is at a terminal, so the tour approves its own question.)",
            "\n     （端末に人がいないため、ツアーが自分で承認します。）",
        ));
    }
    text.print()?;
    call(desk, step).await.map(Some)
}

fn introduce() -> Styled {
    let mut text = Styled::default();
    text.plain("\n").add(
        Look::Bold,
        pick("A tour of Madoguchi", "Madoguchi（窓口）のツアー"),
    );
    text.plain(pick(
        "\n\nAI agents call tools at five counters. Here is one call of each, on sample data in a\n\
         temporary directory: nothing of yours is read or changed.\n",
        "\n\nAIエージェントは5つの窓口でツールを呼び出します。それぞれの呼び出しを1つずつご覧ください。\n\
         一時フォルダのサンプルデータを使い、お手元のデータには触れません。\n",
    ));
    text
}

fn heading(number: usize, step: &TourStep) -> Styled {
    let mut text = Styled::default();
    let title = step.title(locale::language());
    let arguments = (step.arguments)(locale::language());
    let command = format!(
        "madoguchi call {} {} '{arguments}'",
        step.counter, step.tool
    );
    text.plain("\n")
        .add(
            Look::Bold,
            &format!("{number}/{}  {}: {title}", STEPS.len(), step.counter),
        )
        .plain("\n\n     ")
        .add(Look::Action, &command)
        .plain("\n");
    text
}

/// The question, as the person sees it in the console.
fn asked(approval: &Approval) -> Styled {
    let mut text = Styled::default();
    text.plain("\n     ").plain(pick(
        "The agent has to wait: this acts on the outside world, so you are asked first. The\n     \
         console and `madoguchi approvals list` show:",
        "エージェントは待たされます。外部に影響する操作なので、先にあなたの承認が必要です。\n     \
         コンソールと`madoguchi approvals list`にはこう表示されます:",
    ));
    text.plain("\n\n       ")
        .add(Look::Bold, &approval.card.summary);
    for line in &approval.card.lines {
        let shown = kit::text::visible_lines(&line.text, "       │ ");
        text.plain(&format!("\n       {}: {shown}", line.label));
    }
    text.plain("\n");
    text
}

fn answered(step: &TourStep, answer: &Value, project: &Path) -> Styled {
    let mut text = Styled::default();
    text.plain("\n");
    let rows: Vec<Vec<Cell>> = (step.answer)(answer, project)
        .into_iter()
        .map(|row| {
            let indent = std::iter::once("   ".to_owned());
            indent.chain(row).map(Cell::from).collect()
        })
        .collect();
    text.append(&aligned(&rows));
    text.plain("\n\n     ")
        .add(Look::Dim, step.shows(locale::language()))
        .plain("\n");
    text
}

/// How to go on with a real client.
fn farewell(global: &Global) -> Styled {
    let mut text = Styled::default();
    text.plain("\n").add(
        Look::Bold,
        pick("That was all five.", "以上、5つの窓口でした。"),
    );
    let mut lines = vec![
        (
            "Connect your own client",
            "お使いのクライアントを接続する",
            invocation::command(global, "install claude-code todo rooms"),
        ),
        (
            "Or start the desk with console, demo data and all counters",
            "コンソールとデモデータ付きで全窓口を起動する",
            invocation::command(global, "serve"),
        ),
    ];
    if let Some(alias) = invocation::alias() {
        lines.insert(
            0,
            (
                "First make `madoguchi` a command of this shell",
                "まず`madoguchi`をこのシェルのコマンドにする",
                alias,
            ),
        );
    }
    for (english, japanese, command) in lines {
        let what = match locale::language() {
            Language::English => english,
            Language::Japanese => japanese,
        };
        text.plain(&format!("\n\n  {what}:\n    "))
            .add(Look::Action, &command);
    }
    text.plain("\n");
    text
}
