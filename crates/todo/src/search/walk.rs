//! Finds the files to search.

use std::{fs, io, path::Path};

use crate::files::{self, Folder, Stamp};

/// A limit in case a symbolic link leads to a large directory.
pub const MOST_FILES: usize = 50_000;
const MOST_DEPTH: usize = 12;

#[derive(Default)]
pub struct Walk {
    /// Every file that is searched, with its stamp.
    pub files: Vec<(String, Stamp)>,
    /// Whether some of them are symbolic links.
    pub has_links: bool,
}

pub fn all(folder: &Folder) -> io::Result<Walk> {
    let mut found = Walk::default();
    match fs::read_dir(&folder.todo) {
        Ok(_) => walk(folder, "", 0, &mut found),
        Err(error) if files::is_missing(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// `task.md` is searched task by task, and `index.md` only repeats other files.
pub fn is_searched(name: &str) -> bool {
    let hidden = name.split('/').any(|part| part.starts_with('.'));
    !hidden && is_markdown(name) && name != files::TASKS && name != files::INDEX
}

fn is_markdown(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ending.eq_ignore_ascii_case("md") || ending.eq_ignore_ascii_case("markdown")
}

fn walk(folder: &Folder, inside: &str, depth: usize, found: &mut Walk) {
    let directory = folder.todo.join(inside);
    let Ok(entries) = fs::read_dir(&directory) else {
        return;
    };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let name = match inside {
            "" => file_name.to_owned(),
            _ => format!("{inside}/{file_name}"),
        };
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if metadata.is_dir() && depth < MOST_DEPTH {
            walk(folder, &name, depth + 1, found);
            continue;
        }
        if !is_searched(&name) || found.files.len() >= MOST_FILES {
            continue;
        }
        if metadata.is_file() {
            found.files.push((name, Stamp::of(&metadata)));
        } else if metadata.is_symlink()
            && let Some(stamp) = linked(folder, &entry.path())
        {
            found.files.push((name, stamp));
            found.has_links = true;
        }
    }
}

/// Follows a link to a file within the project.
fn linked(folder: &Folder, path: &Path) -> Option<Stamp> {
    let target = path.canonicalize().ok()?;
    let metadata = fs::metadata(&target).ok()?;
    (target.starts_with(&folder.root) && metadata.is_file()).then(|| Stamp::of(&metadata))
}
