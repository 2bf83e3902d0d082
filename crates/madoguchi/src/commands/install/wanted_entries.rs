//! What a client starts, or connects to, for each counter.

use std::path::{Path, PathBuf};

use kit::{Error, Result};
use store::url::DatabaseUrl;

use super::{
    ask::Terminal,
    clients::{Client, Start},
    edit::WantedEntry,
    entries::{Key, Remote, Stdio},
    format::Entry,
    own_command,
    paths::Surroundings,
};
use crate::{
    cli::{CounterOptions, Global, Install, Scope},
    config::{self, Config},
    counters::{self, Registration},
    descriptions::described,
    invocation, location, open,
};

/// What was asked for.
pub struct Request<'a> {
    pub global: &'a Global,
    pub arguments: &'a Install,
    pub client: &'static Client,
    pub counters: &'a [&'static str],
    pub surroundings: &'a Surroundings,
    /// To ask for what is missing.
    pub terminal: Option<&'a Terminal>,
}

/// The entries, and what the person should know about them.
pub struct Launch {
    pub entries: Vec<WantedEntry>,
    pub warnings: Vec<String>,
}

impl Request<'_> {
    pub fn launch(&self) -> Result<Launch> {
        let config = open::configuration(self.global, &CounterOptions::default())?;
        match &self.arguments.url {
            Some(url) => self.remote(&config, url),
            None => self.stdio(&config),
        }
    }

    fn stdio(&self, config: &Config) -> Result<Launch> {
        let given = self.arguments.command.as_deref();
        let program = own_command::command(given, self.surroundings)?;
        let (command, first) = program
            .words
            .split_first()
            .ok_or_else(|| Error::internal("a command without words"))?;
        // The servers start elsewhere, where they would not find it.
        let config_file = config::file(self.global.config.as_deref());
        let mut entries = Vec::new();
        for registration in self.registrations() {
            let mut arguments = first.to_vec();
            arguments.extend(["stdio".into(), registration.name.into()]);
            arguments.extend(self.project(registration)?);
            for (flag, path) in [("--data", &self.global.data), ("--config", &config_file)] {
                if let Some(path) = path {
                    arguments.extend([flag.into(), self.absolute(path)?]);
                }
            }
            let name = self.client.entry_name(registration.name);
            let stdio = Stdio {
                description: summary(config, registration)?,
                command: command.clone(),
                arguments,
                environment: self.folder(registration, config)?,
                name: name.clone(),
            };
            entries.push(WantedEntry {
                counter: registration.name,
                name,
                entry: (self.client.stdio)(&stdio),
            });
        }
        Ok(Launch {
            entries,
            warnings: program.warning.into_iter().collect(),
        })
    }

    fn registrations(&self) -> impl Iterator<Item = &'static Registration> {
        let all = counters::all().iter();
        all.filter(|registration| self.counters.contains(&registration.name))
    }

    /// The flag for the project, if the counter has one and the client does not start
    /// its servers there.
    fn project(&self, registration: &Registration) -> Result<Vec<String>> {
        let Some(flag) = registration.flags.iter().find(|flag| flag.is_project) else {
            return Ok(Vec::new());
        };
        let mut given = self.arguments.flags.0.iter();
        let given = given.find(|given| (given.counter, given.key) == (registration.name, flag.key));
        let scope = self.arguments.scope;
        let directory = match (given, self.client.start(scope), scope) {
            (Some(given), _, _) => self.absolute(&given.value)?,
            (None, Start::Variable(variable), _) => variable.into(),
            (None, _, Scope::Project) => utf8(&self.surroundings.current)?,
            (None, Start::InProject, Scope::User) => return Ok(Vec::new()),
            (None, Start::Elsewhere, Scope::User) => self.ask_project(registration, flag.name)?,
        };
        Ok(vec![format!("--{}", flag.name), directory])
    }

    fn ask_project(&self, registration: &Registration, flag: &str) -> Result<String> {
        let (counter, client) = (registration.name, self.client);
        let current = &self.surroundings.current;
        let Some(terminal) = self.terminal else {
            let message = format!(
                "{} starts its servers in no project, so {counter} needs one.",
                client.title
            );
            let next = format!(
                "Name it: madoguchi install {} {counter} --{flag} {}",
                client.name,
                invocation::quoted(current)
            );
            return Err(Error::new("PROJECT_NEEDED", message).next(next));
        };
        let question = format!("Which project should {counter} serve?");
        let answer = terminal.line(&question, &utf8(current)?)?;
        self.absolute(Path::new(&answer))
    }

    /// The variable that names the counter's directory, which all servers share.
    fn folder(&self, registration: &Registration, config: &Config) -> Result<Entry> {
        let mut environment = Entry::new();
        let Some((key, inside_data)) = registration.folder else {
            return Ok(environment);
        };
        // A directory that is named would keep the counter in files.
        let url = &config.settings.database.url;
        let data = self.global.data.as_deref();
        let on_postgres = matches!(location::database_url(url, data)?, DatabaseUrl::Postgres(_));
        let moves = registration.on_postgres.is_some() && on_postgres;
        if moves && !config.keeps_files.contains(registration.name) {
            return Ok(environment);
        }
        let settings = config.counters.get(registration.name);
        let configured = settings.and_then(|settings| settings.get(key));
        let is_default = configured == (registration.default_settings)().get(key);
        let folder: PathBuf = match configured.and_then(toml::Value::as_str) {
            Some(configured) if !is_default => configured.into(),
            _ => location::data_directory(self.global.data.as_deref())?.join(inside_data),
        };
        let mut variables = registration.variables.iter();
        if let Some((variable, _)) = variables.find(|(_, sets)| *sets == key) {
            environment.insert((*variable).into(), self.absolute(&folder)?.into());
        }
        Ok(environment)
    }

    fn remote(&self, config: &Config, url: &str) -> Result<Launch> {
        let base = desk_address(url)?;
        let title = self.client.title;
        let entry = self.client.remote.ok_or_else(|| {
            let message = format!("The file of {title} can't name a desk on the network.");
            Error::new("URL_UNSUPPORTED", message).next("Leave out --url.")
        })?;
        if !self.arguments.flags.0.is_empty() {
            let message = "A running desk chooses its own project.";
            return Err(Error::new("URL_WITH_PROJECT", message).next("Leave out --root or --url."));
        }
        let variable = self.arguments.key_env.clone();
        let key = variable.map(|variable| self.key(variable)).transpose()?;
        let (mut entries, mut warnings) = (Vec::new(), Vec::new());
        for registration in self.registrations() {
            let counter = registration.name;
            if key.is_none() && always_needs_key(config, registration)? {
                warnings.push(format!(
                    "{counter} needs a key. Make one with `madoguchi keys create NAME --counters \
                     {counter}`, put it into an environment variable and name that with --key-env."
                ));
            }
            let name = self.client.entry_name(counter);
            let remote = Remote {
                name: name.clone(),
                description: summary(config, registration)?,
                url: format!("{base}/mcp/{counter}"),
                key: key.clone(),
            };
            entries.push(WantedEntry {
                counter,
                name,
                entry: entry(&remote),
            });
        }
        Ok(Launch { entries, warnings })
    }

    fn key(&self, variable: String) -> Result<(String, Key)> {
        let is_name = variable.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && variable
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_');
        // Keys of desks look like names, too.
        if !is_name || desk::keys::id_of(&variable).is_some() {
            let message = "--key-env takes the name of an environment variable, not the key.";
            return Err(Error::new("INVALID_KEY_ENV", message)
                .next("Put the key into a variable, such as MADOGUCHI_KEY, and name that."));
        }
        if self.client.key == Key::Unsupported {
            let message = format!("{} reads no keys from the environment.", self.client.title);
            return Err(Error::new("KEY_ENV_UNSUPPORTED", message)
                .next("Leave out --key-env and add the header Authorization by hand."));
        }
        Ok((variable, self.client.key))
    }

    fn absolute(&self, path: &Path) -> Result<String> {
        let absolute = std::path::absolute(self.surroundings.typed(path));
        utf8(&absolute.map_err(Error::internal)?)
    }
}

/// The address of a desk, without the path that each counter has.
fn desk_address(url: &str) -> Result<&str> {
    let base = url.trim_end_matches('/');
    let base = base.strip_suffix("/mcp").unwrap_or(base);
    let rest = base
        .strip_prefix("http://")
        .or_else(|| base.strip_prefix("https://"));
    // No query, and no password, which would be written into the file.
    let has_more =
        |rest: &str| rest.contains(['?', '#', '@']) || rest.contains(char::is_whitespace);
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains("/mcp") && !has_more(rest) => Ok(base),
        _ => Err(Error::new(
            "INVALID_URL",
            format!("`{url}` is not the address of a desk."),
        )
        .next("It looks like http://127.0.0.1:8010, without /mcp/COUNTER.")),
    }
}

fn summary(config: &Config, registration: &Registration) -> Result<&'static str> {
    let described = described(config, &CounterOptions::default(), Some(registration.name))?;
    Ok(described
        .first()
        .map_or("", |counter| counter.about.summary))
}

fn always_needs_key(config: &Config, registration: &Registration) -> Result<bool> {
    let described = described(config, &CounterOptions::default(), Some(registration.name))?;
    Ok(described
        .first()
        .is_some_and(|counter| counter.about.conventions.always_needs_key))
}

fn utf8(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} is not UTF-8, as clients need it.", path.display());
        Error::new("INVALID_PATH", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_desk_has_no_path_of_a_counter() {
        for (given, base) in [
            ("http://127.0.0.1:8010", "http://127.0.0.1:8010"),
            ("http://127.0.0.1:8010/", "http://127.0.0.1:8010"),
            ("https://desk.example.com/mcp/", "https://desk.example.com"),
            ("https://example.com/desk", "https://example.com/desk"),
        ] {
            assert_eq!(desk_address(given).unwrap(), base);
        }
        for given in [
            "127.0.0.1:8010",
            "http://",
            "http://h/mcp/todo",
            "ws://h",
            "http://me:secret@h",
            "http://h?key=secret",
            "http://h/#a",
            "http://h /x",
        ] {
            assert_eq!(
                desk_address(given).unwrap_err().code,
                "INVALID_URL",
                "{given}"
            );
        }
    }
}
