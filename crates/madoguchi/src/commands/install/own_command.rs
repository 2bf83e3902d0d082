//! The command that starts this program from a client.

use std::path::{Path, PathBuf};

use kit::{Error, Result};
use serde_json::Value;

use super::paths::Surroundings;

#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// The program and its first arguments.
    pub words: Vec<String>,
    pub warning: Option<String>,
}

/// The given command, else one that starts this very program.
pub fn command(given: Option<&str>, surroundings: &Surroundings) -> Result<Program> {
    if let Some(given) = given {
        return given_command(given, surroundings);
    }
    let running = std::env::current_exe().map_err(Error::internal)?;
    of_executable(&running, surroundings)
}

fn given_command(given: &str, surroundings: &Surroundings) -> Result<Program> {
    let invalid = || {
        let message = "--command is empty or has an open quote.";
        Error::new("INVALID_COMMAND", message)
    };
    let mut words = words(given).ok_or_else(invalid)?;
    let program = words.first_mut().ok_or_else(invalid)?;
    // The client starts it in another directory. A bare name is looked up in PATH.
    if program.contains('/') && Path::new(program).is_relative() {
        let path = std::path::absolute(surroundings.typed(Path::new(program)));
        let path = path.map_err(Error::internal)?;
        *program = path.to_string_lossy().into_owned();
    }
    Ok(Program {
        words,
        warning: None,
    })
}

fn of_executable(running: &Path, surroundings: &Surroundings) -> Result<Program> {
    if let Some(cache) = Cache::of(running) {
        let words = cache.command().ok_or_else(|| cache.unknown_package())?;
        let warning = format!("It starts with `{}`; keep these files.", words.join(" "));
        return Ok(Program {
            words,
            warning: Some(warning),
        });
    }
    // A name in PATH stays the same when a link moves on to a newer version.
    let real = running.canonicalize().ok();
    let in_path = surroundings.find_program("madoguchi", |path| path.canonicalize().ok() == real);
    let path = in_path.unwrap_or_else(|| running.to_owned());
    let word = path.to_str().ok_or_else(|| {
        let message = format!("{} is not UTF-8, as clients need it.", path.display());
        Error::new("INVALID_COMMAND", message).next("Name another one with --command.")
    })?;
    let built_here = running
        .parent()
        .is_some_and(|directory| directory.join(".fingerprint").is_dir());
    Ok(Program {
        words: vec![word.to_owned()],
        warning: built_here.then(|| {
            format!(
                "{word} is in a build directory; `cargo clean` removes it. To keep it, run \
                     `cargo install --path crates/madoguchi` and install again."
            )
        }),
    })
}

/// A directory from which `npx` or `uvx` runs packages. It may be emptied at any time.
enum Cache {
    /// The directory with the `package.json` that npx wrote.
    Npx(PathBuf),
    /// The Python environment.
    Uvx(PathBuf),
}

impl Cache {
    fn of(running: &Path) -> Option<Self> {
        let mut above = running.ancestors().skip(1);
        above.find_map(|directory| {
            let named = |path: &Path, name: &str| path.file_name().is_some_and(|it| it == name);
            let parent = directory.parent()?;
            if named(parent, "_npx") {
                return Some(Self::Npx(directory.to_owned()));
            }
            let is_uv = parent
                .parent()
                .is_some_and(|cache| cache.join("CACHEDIR.TAG").is_file());
            let has_environments = parent.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with("archive-v") || name.starts_with("environments-v")
            });
            (is_uv && has_environments).then(|| Self::Uvx(directory.to_owned()))
        })
    }

    /// The command that runs the same packages; `None` unless all are files.
    fn command(&self) -> Option<Vec<String>> {
        let mut words: Vec<String> = Vec::new();
        match self {
            Self::Npx(directory) => {
                let package = std::fs::read_to_string(directory.join("package.json")).ok()?;
                let package: Value = serde_json::from_str(&package).ok()?;
                words.extend(["npx".into(), "--yes".into()]);
                for file in package.get("dependencies")?.as_object()?.values() {
                    // Relative to the cache.
                    let file = directory.join(file.as_str()?.strip_prefix("file:")?);
                    let file = file.canonicalize().ok()?;
                    words.extend(["--package".into(), file.to_str()?.into()]);
                }
            }
            Self::Uvx(directory) => {
                let wheel = wheel_of(directory)?;
                words.extend(["uvx".into(), "--from".into(), wheel]);
            }
        }
        words.push("madoguchi".into());
        (words.len() > 3).then_some(words)
    }

    fn unknown_package(&self) -> Error {
        let (runner, example) = match self {
            Self::Npx(_) => ("npx", "npx --yes --package /path/madoguchi.tgz madoguchi"),
            Self::Uvx(_) => ("uvx", "uvx --from /path/madoguchi.whl madoguchi"),
        };
        let message =
            format!("This program runs from the cache of {runner}, which may be emptied.");
        Error::new("RUNS_FROM_CACHE", message).next(format!(
            "Name the command that the client should run: --command \"{example}\""
        ))
    }
}

/// The wheel from which an environment got its `madoguchi`.
fn wheel_of(environment: &Path) -> Option<String> {
    let lib = std::fs::read_dir(environment.join("lib")).ok()?.flatten();
    let packages = lib.filter_map(|python| {
        let packages = python.path().join("site-packages");
        Some(std::fs::read_dir(packages).ok()?.flatten())
    });
    let mut about = packages.flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("madoguchi-") && name.ends_with(".dist-info")
    });
    let origin = about.next()?.path().join("direct_url.json");
    let origin: Value = serde_json::from_str(&std::fs::read_to_string(origin).ok()?).ok()?;
    let url = origin.get("url")?.as_str()?;
    let file = kit::resource::unescape(url.strip_prefix("file://")?)?;
    Path::new(&file).is_file().then_some(file)
}

/// The words of a command line. Quotes join what has spaces; `None` if one is open.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in text.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests;
