//! `madoguchi import COUNTER FILE`.

use std::{
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kit::{
    BoxFuture, Caller, Context, Error, Result,
    context::Client,
    counter::{Imported, InvalidRows},
};

use crate::{
    cli::{CounterOptions, Global, Import},
    open,
    output::{pretty, print, tell},
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Import) -> Result<ExitCode> {
    let options = CounterOptions::default();
    let config = open::configuration(global, &options)?;
    desk::log::init(&config.settings.log);
    let imported = on_one_thread(async {
        let opened = open::desk(global, config, &options, Some(&arguments.counter)).await?;
        let import = opened
            .desk
            .window(&arguments.counter)
            .and_then(|window| window.counter.import.clone())
            .ok_or_else(|| {
                let message = format!("{} has no import.", arguments.counter);
                Error::new("NO_IMPORT", message)
            })?;
        let clock = opened.desk.clock.clone();
        let context = Context::new(Caller::local_user(), clock, Arc::new(Terminal::default()));
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

/// Shows progress on stderr.
#[derive(Default)]
struct Terminal {
    last: Mutex<Option<Instant>>,
}

impl Client for Terminal {
    fn progress<'a>(
        &'a self,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
            *last = Some(Instant::now());
            let share = total
                .filter(|total| *total > 0.0)
                .map(|total| done / total * 100.0);
            let share = share.map_or(String::new(), |share| format!("{share:.0} %, "));
            tell(&format!("{share}{}", message.unwrap_or_default()));
        }
        Box::pin(std::future::ready(()))
    }
}
