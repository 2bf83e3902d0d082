//! `madoguchi audit`: shows, exports, verifies and erases the audit trail. All of it
//! works while a desk is running.

mod head;
mod records;
mod report;

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use desk::{
    audit::{
        self, AuditStore, ErasureScope, Filter, FoundRecord, ToolFilter, TrailProgress, UNWATCHED,
    },
    private_files,
};
use kit::{Error, Result, time::Clock};
use serde_json::json;

use crate::{
    cli::{AuditAction, AuditErase, AuditExport, AuditTail, AuditVerify, CounterOptions, Global},
    config::Config,
    descriptions,
    locale::pick,
    open::{self, OwnRows},
    output::{compact, pretty, print, tell},
    progress::{Progress, Step},
    runtime::on_one_thread,
};

const FOLLOW_EVERY: Duration = Duration::from_millis(500);

pub fn run(global: &Global, action: &AuditAction) -> Result<ExitCode> {
    on_one_thread(async {
        let config = open::configuration(global, &CounterOptions::default())?;
        desk::log::init(&config.settings.log);
        let rows = open::own_rows(global, &config);
        let store = open::audit_place(global, &config, &rows.state)?.open()?;
        match action {
            AuditAction::Tail(arguments) => {
                let tool = tools_meant(&config, arguments)?;
                tail(store, tool, arguments).await
            }
            AuditAction::Export(arguments) => export(store, arguments).await,
            AuditAction::Verify(arguments) => verify(&rows, store, arguments).await,
            AuditAction::Head(arguments) => head::print_head(&rows, &store, arguments).await,
            AuditAction::Erase(arguments) => erase(store, arguments).await,
        }
    })
}

/// What `--tool` means: part of a name, or of a title.
fn tools_meant(config: &Config, arguments: &AuditTail) -> Result<Option<ToolFilter>> {
    let Some(text) = &arguments.tool else {
        return Ok(None);
    };
    let options = CounterOptions {
        fixture: true,
        ..CounterOptions::default()
    };
    let all = descriptions::described(config, &options, None)?;
    let tools = all.iter().flat_map(|counter| counter.tools.iter());
    Ok(Some(ToolFilter::new(text, tools.map(|tool| &**tool))))
}

async fn tail(
    store: Arc<dyn AuditStore>,
    tool: Option<ToolFilter>,
    arguments: &AuditTail,
) -> Result<ExitCode> {
    let filter = Filter {
        caller: arguments.caller.clone(),
        counter: arguments.counter.clone(),
        tool,
        outcome: arguments.outcome.clone(),
        since: arguments.since.as_deref().map(time).transpose()?,
        until: None,
        personal: arguments.personal,
        segments: false,
    };
    let mut from = now();
    // Records from before the first look are not shown again; those that arrive
    // during it are.
    let wanted = filter.clone();
    let mut seen = audit::blocking(&store, move |store, _| {
        let mut seen = HashSet::new();
        audit::find_new(store, &wanted, &mut seen, from)?;
        Ok(seen)
    })
    .await?;
    let (wanted, last) = (filter.clone(), arguments.lines);
    let found = audit::blocking(&store, move |store, _| {
        audit::find(store, &wanted, Some(last), UNWATCHED)
    })
    .await?;
    records::show(&found, arguments.json)?;
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    for it in &found {
        seen.insert((it.segment.clone(), it.seq));
    }
    loop {
        tokio::time::sleep(FOLLOW_EVERY).await;
        let wanted = filter.clone();
        let began = now();
        let new;
        (new, seen) = audit::blocking(&store, move |store, _| {
            let new = audit::find_new(store, &wanted, &mut seen, from)?;
            Ok((new, seen))
        })
        .await?;
        from = began;
        records::show(&new, arguments.json)?;
    }
}

async fn export(store: Arc<dyn AuditStore>, arguments: &AuditExport) -> Result<ExitCode> {
    let filter = Filter {
        since: arguments.since.as_deref().map(time).transpose()?,
        until: arguments.until.as_deref().map(time).transpose()?,
        personal: arguments.personal,
        segments: true,
        ..Filter::default()
    };
    let progress = Progress::new(pick("Reading the audit trail", "監査記録を読み込み中"));
    let found = audit::blocking(&store, move |store, _| {
        audit::find(store, &filter, None, &|at| progress.set(step(at)))
    })
    .await?;
    match &arguments.output {
        None => {
            for some in found.chunks(1000) {
                let lines: Vec<String> = some.iter().map(|it| compact(&it.json)).collect();
                print(&lines.join("\n"))?;
            }
        }
        Some(path) => {
            to_file(path, &found).map_err(|error| {
                Error::new(
                    "OUTPUT_UNUSABLE",
                    format!("{} can't be written: {error}.", path.display()),
                )
            })?;
            tell(&format!("{} records in {}", found.len(), path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Only its owner may read it, because it contains what callers sent.
fn to_file(path: &Path, found: &[FoundRecord]) -> io::Result<()> {
    let write = |file: &mut dyn Write| {
        for it in found {
            writeln!(file, "{}", it.json)?;
        }
        Ok(())
    };
    match fs::metadata(path) {
        // The permissions of a pipe or a device stay as they are.
        Ok(there) if !there.is_file() => {
            let mut file = io::BufWriter::new(File::options().write(true).open(path)?);
            write(&mut file)?;
            file.flush()
        }
        _ => private_files::replace(path, write),
    }
}

async fn verify(
    rows: &OwnRows,
    store: Arc<dyn AuditStore>,
    arguments: &AuditVerify,
) -> Result<ExitCode> {
    let heads = head::expected(rows, arguments).await?;
    let progress = Progress::new(pick("Verifying the audit trail", "監査記録を検証中"));
    let report = audit::blocking(&store, move |store, _| {
        audit::verify_against(store, &heads, &|at| progress.set(step(at)))
    })
    .await?;
    if arguments.json {
        print(&pretty(&report))?;
    } else {
        report::in_words(&report).print()?;
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn step(at: TrailProgress) -> Step<'static> {
    Step {
        done: at.segments_done as f64,
        total: Some(at.segments as f64),
        count: at.records,
        noun: pick("records", "件"),
    }
}

async fn erase(store: Arc<dyn AuditStore>, arguments: &AuditErase) -> Result<ExitCode> {
    let which = ErasureScope {
        call: arguments.call.clone(),
        caller: arguments.caller.clone(),
        since: arguments.since.as_deref().map(time).transpose()?,
        until: arguments.until.as_deref().map(time).transpose()?,
    };
    let erased =
        audit::blocking(&store, move |store, _| audit::erase(store, &which, now())).await?;
    if arguments.json {
        print(&compact(&json!({ "erased": erased })))
    } else {
        print(&format!("erased the arguments of {erased} records"))
    }
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}

/// `2026-11-15T08:00:00Z`, a day, or how long ago: `90s`, `15m`, `2h`, `7d`.
fn time(text: &str) -> Result<i64> {
    let text = text.trim();
    let ago = text.char_indices().next_back().and_then(|(at, unit)| {
        let number: i64 = text.get(..at)?.parse().ok()?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return None,
        };
        number.checked_mul(seconds * 1000)
    });
    if let Some(ago) = ago {
        return Ok(now() - ago);
    }
    let parsed = kit::time::instant(text);
    parsed.ok_or_else(|| {
        Error::new("INVALID_TIME", format!("`{text}` is not a time."))
            .next("Write it like 2026-11-15T08:00:00Z, 2026-11-15, or 2h for two hours ago.")
    })
}
