//! Secrets for the person who starts a desk: the first key and a link to the
//! console. They are printed on a terminal and never logged. Without a terminal they
//! go to a file that only its owner can read, and the log names the file.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
};

use desk::{Desk, key_change, keys::NewKey, private_files};
use kit::{Error, Result};
use server::console;

use super::page::FirstKey;
use crate::{cli::Global, invocation, location};

const FIRST_KEY: &str = "first-key.txt";
const CONSOLE_LINK: &str = "console-link.txt";

/// Where the secrets go.
pub enum HandOver {
    /// To the page on stdout.
    Page,
    /// To stderr: stdout is not a terminal.
    Stderr,
    Directory(PathBuf),
}

impl HandOver {
    pub fn new(global: &Global) -> Result<Self> {
        Ok(if std::io::stdout().is_terminal() {
            Self::Page
        } else if std::io::stderr().is_terminal() {
            Self::Stderr
        } else {
            let data = location::data_directory(global.data.as_deref())?;
            Self::Directory(std::path::absolute(data).map_err(Error::internal)?)
        })
    }

    pub fn is_page(&self) -> bool {
        matches!(self, Self::Page)
    }

    /// Creates the first key, if the counter always needs one and there has never
    /// been any. Returns it if it belongs on the page.
    pub async fn first_key(
        &self,
        global: &Global,
        desk: &Arc<Desk>,
        counter: &'static str,
    ) -> Result<Option<FirstKey>> {
        let served = desk.counters.iter().find(|served| {
            let about = &served.counter.about;
            about.name == counter && about.conventions.always_needs_key
        });
        let Some(served) = served.filter(|_| desk.settings.identity.keys.is_empty()) else {
            return Ok(None);
        };
        // Before the key is created, so that it can be handed over.
        if let Self::Directory(directory) = self {
            private_files::create_directory(directory)
                .map_err(|error| unusable(directory, &error))?;
        }
        let wanted = NewKey {
            name: counter.into(),
            counters: vec![counter.into()],
            ..NewKey::default()
        };
        let first = key_change::create_first(desk, wanted).await?;
        let Some((_, key)) = first else {
            return Ok(None);
        };
        let title = served.counter.about.title;
        let rotate = invocation::command(global, &format!("keys rotate {counter}"));
        match self {
            Self::Page => {
                return Ok(Some(FirstKey {
                    counter,
                    title,
                    key,
                }));
            }
            // Not logged, because the log level could hide it.
            Self::Stderr => eprintln!(
                "\nThe first key for {title}, shown only once. Its clients send it as\n\n    \
                 Authorization: Bearer {key}\n\nIf it is lost, make another: \
                 {rotate}\n"
            ),
            Self::Directory(directory) => match write(directory, FIRST_KEY, &key) {
                Ok(path) => tracing::warn!(
                    "The first key for {title} is in {}. Give it to its client and remove the \
                     file. If it is lost, make another: {rotate}",
                    path.display()
                ),
                Err(error) => tracing::error!(
                    "The first key for {title} was created but could not be handed over: {} \
                     Make another: {rotate}",
                    error.message
                ),
            },
        }
        Ok(None)
    }

    /// Makes a one-time link to the console. Returns it if it belongs on the page.
    pub async fn console_link(&self, global: &Global, desk: &Desk) -> Result<Option<String>> {
        let now = desk.clock.now().as_millisecond();
        let token = console::links::create(desk.state.get().await?, now).await?;
        let address = console::links::address(&desk.settings.console_url(), &token);
        let open = invocation::command(global, "approvals open");
        match self {
            Self::Page => return Ok(Some(address)),
            Self::Stderr => {
                eprintln!("\nOpen the console once within 10 minutes:\n\n    {address}\n");
            }
            Self::Directory(directory) => match write(directory, CONSOLE_LINK, &address) {
                Ok(path) => tracing::info!(
                    "console: {} has a link that works once within 10 minutes; \
                     `{open}` makes another",
                    path.display()
                ),
                Err(error) => tracing::warn!("{} For a link to the console: {open}", error.message),
            },
        }
        Ok(None)
    }
}

fn write(directory: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = directory.join(name);
    private_files::create_directory(directory)
        .and_then(|()| private_files::replace(&path, |file| writeln!(file, "{text}")))
        .map_err(|error| unusable(&path, &error))?;
    Ok(path)
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        "DATA_UNUSABLE",
        format!("{} can't be written: {error}.", path.display()),
    )
    .next("Name another directory with --data DIR.")
}
