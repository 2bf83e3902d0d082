//! `madoguchi import COUNTER FILE`.

use std::{process::ExitCode, sync::Arc};

use kit::{
    BoxFuture, Caller, Context, Error, Result,
    context::{Client, Language},
    counter::{Imported, InvalidRows},
};

use crate::{
    cli::{CounterOptions, Global, Import},
    locale, open,
    output::{pretty, print, tell},
    progress::{Progress, Step},
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Import) -> Result<ExitCode> {
    let options = CounterOptions::default();
    let mut config = open::configuration(global, &options)?;
    config.log_less();
    desk::log::init(&config.settings.log);
    let imported = on_one_thread(async {
        let opened = open::desk(global, config, &options, Some(&arguments.counter)).await?;
        let import = opened
            .desk
            .counter(&arguments.counter)
            .and_then(|served| served.counter.import.clone())
            .ok_or_else(|| {
                let message = format!("{} has no import.", arguments.counter);
                Error::new("NO_IMPORT", message)
            })?;
        let clock = opened.desk.clock.clone();
        let client = Arc::new(Terminal::new(arguments));
        let mut context = Context::new(Caller::local_user(), clock, client);
        context.language = locale::language();
        let cancel = context.cancel.clone();
        let invalid = match arguments.skip_invalid {
            true => InvalidRows::Skip,
            false => InvalidRows::AsUsual,
        };
        let work = match (&arguments.synonyms, &arguments.file) {
            (Some(file), _) => import.import_synonyms(&context, file),
            (None, Some(file)) => import.import(&context, file, invalid),
            (None, None) => return Err(Error::new("NO_FILE", "There is no file to import.")),
        };
        let mut work = std::pin::pin!(work);
        let imported = tokio::select! {
            imported = &mut work => imported,
            // Finishes the current batch; a later import continues after it.
            _ = tokio::signal::ctrl_c() => {
                cancel.cancel();
                work.await
            }
        };
        opened.close().await?;
        imported
    })?;
    if arguments.json {
        print(&pretty(&imported))?;
    } else {
        show_problems(&imported);
        print(&imported.message)?;
    }
    Ok(match imported.refused {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn show_problems(imported: &Imported) {
    for problem in &imported.problems {
        let file = problem.file.as_ref();
        let file = file.map_or(String::new(), |file| format!("{file} "));
        tell(&format!("{file}line {}: {}", problem.line, problem.problem));
    }
    let more = imported
        .skipped
        .saturating_sub(imported.problems.len() as u64);
    if more > 0 {
        tell(&format!("and {more} more"));
    }
}

/// Shows on stderr what the counter reports.
struct Terminal(Progress);

impl Terminal {
    fn new(arguments: &Import) -> Self {
        let file = arguments.file.as_ref().or(arguments.synonyms.as_ref());
        let name = file.and_then(|file| file.file_name());
        let name = name.unwrap_or_default().to_string_lossy();
        Self(Progress::new(match locale::language() {
            Language::English => format!("Importing {name}"),
            Language::Japanese => format!("{name}を取り込み中"),
        }))
    }
}

impl Client for Terminal {
    fn progress<'a>(
        &'a self,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        let message = message.unwrap_or_default();
        // Such as `1200 rows`; any other message begins a part of unknown length.
        let counted = message.split_once(' ');
        let counted = counted.and_then(|(count, noun)| Some((count.parse().ok()?, noun)));
        match counted {
            Some((count, noun)) => self.0.set(Step {
                done,
                total,
                count,
                noun,
            }),
            None => self.0.next_part(&message),
        }
        Box::pin(std::future::ready(()))
    }
}
