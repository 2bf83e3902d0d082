//! Names of files, relative to `.todo/`.

use crate::model::TaskId;

pub const TASKS: &str = "task.md";
pub const INDEX: &str = "index.md";
pub const ADRS: &str = "adr";
pub const CONTEXTS: &str = "context";

pub fn context_file(id: TaskId) -> String {
    format!("{CONTEXTS}/{id}.md")
}

pub fn adr_file(stem: &str) -> String {
    format!("{ADRS}/{stem}.md")
}

pub fn is_adr(name: &str) -> bool {
    stem_in(ADRS, name).is_some()
}

/// The name of a Markdown file in `folder`, without folder and `.md`.
pub fn stem_in<'a>(folder: &str, name: &'a str) -> Option<&'a str> {
    name.strip_prefix(folder)?
        .strip_prefix('/')?
        .strip_suffix(".md")
}

/// The task whose context file this is.
pub fn task_of(name: &str) -> Option<TaskId> {
    stem_in(CONTEXTS, name).and_then(TaskId::parse)
}
