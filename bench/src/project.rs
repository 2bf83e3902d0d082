//! The same full project in each program's own files: 998 tasks with 4 KB of
//! context, 998 decisions and 8,000 other notes of 4 KB each. The 999th is what
//! is created.

mod writer;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use writer::Writer;

pub const TASKS: usize = 998;
pub const NOTES: usize = 8000;

pub struct Projects {
    pub madoguchi: PathBuf,
    pub backlog: PathBuf,
    pub adrs: PathBuf,
}

pub fn write(root: &Path) -> Result<Projects> {
    let projects = Projects {
        madoguchi: root.join("madoguchi"),
        backlog: root.join("backlog"),
        adrs: root.join("adrs"),
    };
    write_ours(&projects.madoguchi)?;
    backlog(&projects.backlog.join("backlog"))?;
    adrs(&projects.adrs)?;
    Ok(projects)
}

/// Ours alone.
pub fn write_ours(root: &Path) -> Result<()> {
    madoguchi(&root.join(".todo"))
}

fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    fs::create_dir_all(folder)?;
    Ok(fs::write(folder.join(name), text)?)
}

/// In the shape all three read.
fn record(number: usize, text: &str) -> String {
    format!(
        "# {number}. Decision {number}\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n\
         ## Context\n\n{text}\n## Decision\n\nYes.\n\n## Consequences\n\nNone.\n"
    )
}

fn madoguchi(todo: &Path) -> Result<()> {
    let mut writer = Writer::new();
    let mut tasks = String::from("# Task\n");
    for number in 1..=TASKS {
        if number % 50 == 1 {
            tasks.push_str(&format!("\n## Category {number}\n"));
        }
        tasks.push_str(&format!(
            "- [ ] タスク {number} #T{number:03}\n  - [ ] 下調べ\n  - [x] 設計\n"
        ));
        let text = writer.text(number);
        let context = format!("# Context for T{number:03}\n\n## Task Description\n\n{text}");
        put(&todo.join("context"), &format!("T{number:03}.md"), &context)?;
        let adr = record(number, &writer.text(number));
        put(
            &todo.join("adr"),
            &format!("adr-{number:03}-decision.md"),
            &adr,
        )?;
    }
    put(todo, "task.md", &tasks)?;
    for number in 0..NOTES {
        let folder = todo.join(format!("notes/{}", number % 40));
        let text = format!("# Note {number}\n\n{}", writer.text(number));
        put(&folder, &format!("{number}.md"), &text)?;
    }
    Ok(())
}

fn backlog(folder: &Path) -> Result<()> {
    let mut writer = Writer::new();
    let config = "project_name: \"bench\"\ndefault_status: \"To Do\"\n\
        statuses: [\"To Do\", \"In Progress\", \"Done\"]\nlabels: []\ndate_format: yyyy-mm-dd\n\
        remote_operations: false\nauto_commit: false\nfilesystem_only: true\n\
        check_active_branches: false\ntask_prefix: \"task\"\n";
    put(folder, "config.yml", config)?;
    for number in 1..=TASKS {
        let text = writer.text(number);
        let task = format!(
            "---\nid: TASK-{number}\ntitle: タスク {number}\nstatus: To Do\nassignee: []\n\
             created_date: '2026-01-02 03:04'\nlabels: []\ndependencies: []\n\
             ordinal: {number}000\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n\
             {text}<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n\
             - [ ] #1 下調べ\n- [x] #2 設計\n<!-- AC:END -->\n"
        );
        put(
            &folder.join("tasks"),
            &format!("task-{number} - Task.md"),
            &task,
        )?;
        let decision = format!(
            "---\nid: decision-{number}\ntitle: Decision {number}\ndate: '2026-01-02 03:04'\n\
             status: accepted\n---\n{}",
            record(number, &writer.text(number))
        );
        let name = format!("decision-{number} - Decision.md");
        put(&folder.join("decisions"), &name, &decision)?;
    }
    for number in 0..NOTES {
        let note = format!(
            "---\nid: doc-{id}\ntitle: Note {number}\ntype: other\n\
             created_date: '2026-01-02 03:04'\n---\n{}",
            writer.text(number),
            id = number + 1,
        );
        let name = format!("doc-{} - Note.md", number + 1);
        put(&folder.join("docs"), &name, &note)?;
    }
    Ok(())
}

fn adrs(root: &Path) -> Result<()> {
    let mut writer = Writer::new();
    put(root, ".adr-dir", "doc/adr")?;
    for number in 1..=TASKS {
        let text = record(number, &writer.text(number));
        let name = format!("{number:04}-decision-{number}.md");
        put(&root.join("doc/adr"), &name, &text)?;
    }
    Ok(())
}
