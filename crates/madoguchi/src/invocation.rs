//! Commands for the reader to paste.

use std::path::{Path, PathBuf};

use crate::cli::Global;

/// A command of this program on the same data and configuration.
pub fn command(global: &Global, rest: &str) -> String {
    let mut command = format!("madoguchi {rest}");
    for (flag, path) in [("--config", &global.config), ("--data", &global.data)] {
        if let Some(path) = path {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            command.push_str(&format!(" {flag} {}", quoted(&path)));
        }
    }
    command
}

/// How to make `madoguchi` a command in this shell; `None` if it is one already.
pub fn alias() -> Option<String> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&path).map(|folder| folder.join("madoguchi"));
    let is_this = |found: PathBuf| found.canonicalize().is_ok_and(|found| found == program);
    match on_path.any(is_this) {
        true => None,
        false => Some(format!("alias madoguchi={}", quoted(&program))),
    }
}

/// As a shell takes it.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
    match text.chars().all(is_plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_same_data_and_survives_a_shell() {
        let global = Global {
            config: None,
            data: Some("/srv/my data/it's".into()),
            log_level: None,
        };
        assert_eq!(
            command(&global, "keys list"),
            r"madoguchi keys list --data '/srv/my data/it'\''s'"
        );
    }
}
