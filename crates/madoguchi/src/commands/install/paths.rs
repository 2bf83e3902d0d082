//! Where clients keep their configuration, on each platform.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use kit::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

/// What the places depend on.
pub struct Surroundings {
    pub platform: Platform,
    pub home: PathBuf,
    pub current: PathBuf,
    pub variable: fn(&str) -> Option<OsString>,
}

/// A directory in which clients keep their files.
#[derive(Debug, Clone, Copy)]
pub enum Base {
    /// The home directory, or what a variable names in place of it.
    Home(Option<&'static str>),
    /// A directory in the home directory, or what a variable names in place of it.
    InHome(&'static str, &'static str),
    /// `~/.config`, on every platform but Windows, where it is `%APPDATA%`.
    Config,
    /// A directory in `~/.config`, on every platform.
    InConfig(&'static str),
    /// The platform's directory for applications: `~/.config`,
    /// `~/Library/Application Support` or `%APPDATA%`.
    Application,
    /// The current directory.
    Project,
}

/// A file of a client.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub base: Base,
    /// Below the base. The first that exists is used, else the first.
    pub files: &'static [&'static str],
    /// In place of `files` on Windows.
    pub files_on_windows: Option<&'static [&'static str]>,
}

impl Place {
    pub const fn new(base: Base, files: &'static [&'static str]) -> Self {
        Self {
            base,
            files,
            files_on_windows: None,
        }
    }

    pub fn path(&self, surroundings: &Surroundings) -> PathBuf {
        let base = self.base.path(surroundings);
        let on_windows = self
            .files_on_windows
            .filter(|_| surroundings.platform == Platform::Windows);
        let files = on_windows.unwrap_or(self.files);
        let paths = || files.iter().map(|file| base.join(file));
        let there = paths().find(|path| path.symlink_metadata().is_ok());
        there.or_else(|| paths().next()).unwrap_or_default()
    }
}

impl Base {
    fn path(self, surroundings: &Surroundings) -> PathBuf {
        let home = &surroundings.home;
        match self {
            Self::Home(None) => home.clone(),
            Self::Home(Some(variable)) => surroundings.directory(variable).unwrap_or(home.clone()),
            Self::InHome(folder, variable) => surroundings
                .directory(variable)
                .unwrap_or_else(|| home.join(folder)),
            Self::InConfig(folder) => surroundings
                .directory("XDG_CONFIG_HOME")
                .unwrap_or_else(|| home.join(".config"))
                .join(folder),
            Self::Project => surroundings.current.clone(),
            Self::Config | Self::Application => match (surroundings.platform, self) {
                (Platform::Windows, _) => surroundings
                    .directory("APPDATA")
                    .unwrap_or_else(|| home.join("AppData/Roaming")),
                (Platform::MacOs, Self::Application) => home.join("Library/Application Support"),
                _ => surroundings
                    .directory("XDG_CONFIG_HOME")
                    .unwrap_or_else(|| home.join(".config")),
            },
        }
    }
}

impl Surroundings {
    pub fn of_process() -> Result<Self> {
        let home = dirs::home_dir().ok_or_else(|| {
            Error::new("NO_HOME", "There is no home directory.").next("Set the variable HOME.")
        })?;
        let current = std::env::current_dir().map_err(|error| {
            let message = format!("The current directory can't be used: {error}.");
            Error::new("NO_DIRECTORY", message).next("Change to a directory that exists.")
        })?;
        Ok(Self {
            platform: match std::env::consts::OS {
                "macos" => Platform::MacOs,
                "windows" => Platform::Windows,
                _ => Platform::Linux,
            },
            home,
            current,
            variable: |name| std::env::var_os(name),
        })
    }

    /// A path as people type it: relative to the current directory, with `~` for the
    /// home directory.
    pub fn typed(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.home.join(rest),
            Err(_) => self.current.join(path),
        }
    }

    /// A directory that a variable names; a relative one does not count.
    fn directory(&self, variable: &str) -> Option<PathBuf> {
        let named = PathBuf::from((self.variable)(variable)?);
        named.has_root().then_some(named)
    }

    /// Whether a program of that name can be started.
    pub fn has_program(&self, name: &str) -> bool {
        self.find_program(name, |_| true).is_some()
    }

    /// The first program of that name in `PATH` that passes the test.
    pub fn find_program(&self, name: &str, test: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let directories = (self.variable)("PATH")?;
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&directories)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(&name))
            .find(|path| path.is_file() && test(path))
    }
}
