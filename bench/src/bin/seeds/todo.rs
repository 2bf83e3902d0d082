//! Tasks, decisions and contexts: a full project of 10,000 files.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::{figures::megabytes, places::Places, project, session::Session};
use serde_json::{Value, json};

use crate::statements::{Statements, Times};

const ORDINARY_MS: f64 = 100.0;
const SEARCH_MS: f64 = 500.0;
const LARGE_MS: f64 = 2_000.0;
const SESSIONS: usize = 10;
const MEMORY_MB: f64 = 100.0;
const CALLS: usize = 100;

pub fn measure(places: &Places, statements: &mut Statements) -> Result<()> {
    let scratch = places.fresh()?;
    let root = scratch.path().canonicalize()?;
    project::write_ours(&root)?;
    // Two more notes: then there are as many as the document says.
    for name in ["first.md", "second.md"] {
        fs::write(root.join(".todo").join(name), "# A note\n")?;
    }
    let start = || Session::start(command(places, &root)?);
    large(&start, statements)?;
    let mut session = start()?;
    ordinary(&mut session, statements)?;
    searches(&mut session, statements)?;
    let files = files_under(&root.join(".todo"));
    let goal = "10,000 files";
    let measured = format!("{files} files");
    statements.add(
        "todo: handles 10,000 files efficiently (the figures around this one)",
        goal,
        &measured,
        files >= 10_000,
    );
    let memory = session.memory()?;
    let goal = "100 MB";
    let peak = memory.peak as f64;
    statements.add(
        "todo: memory, at its peak",
        goal,
        &megabytes(peak),
        peak / 1024.0 <= MEMORY_MB,
    );
    lengths(&mut session, statements)?;
    limits(&mut session, statements)?;
    drop(session);
    sessions(&start, statements)
}

fn command(places: &Places, root: &Path) -> Result<Command> {
    let mut command = Command::new(places.madoguchi.canonicalize()?);
    let data = root.join("data");
    command.args(["stdio", "todo", "--data"]).arg(data);
    command.current_dir(root);
    Ok(command)
}

fn files_under(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let counts = entries.map(|entry| match entry.path().is_dir() {
        true => files_under(&entry.path()),
        false => 1,
    });
    counts.sum()
}

/// What touches everything: the first search of a process, all tasks page by page,
/// and fifty changes at once.
fn large(start: &dyn Fn() -> Result<Session>, statements: &mut Statements) -> Result<()> {
    let asked = Instant::now();
    let mut session = start()?;
    let word = json!({ "query": "needle4711x" });
    let (text, _) = session.call("search_contexts", &word)?;
    ensure!(text.contains("4711"), "{text}");
    let statement = "todo: large data: start, read all files, and the first search";
    statements.one_within(statement, LARGE_MS, asked.elapsed());

    let asked = Instant::now();
    let (mut cursor, mut count) = (Value::Null, 0);
    loop {
        let mut page = json!({ "limit": 100 });
        if !cursor.is_null() {
            page["cursor"] = cursor;
        }
        let (text, _) = session.call("list_tasks", &page)?;
        let answer: Value = serde_json::from_str(&text)?;
        count += answer["tasks"].as_array().context("tasks")?.len();
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    ensure!(count == project::TASKS, "{count} tasks");
    let statement = "todo: large data: all 998 tasks, page by page";
    statements.one_within(statement, LARGE_MS, asked.elapsed());

    let operations: Vec<Value> = (1..=50)
        .map(|number| {
            let arguments = json!({ "task_id": format!("T{number:03}"), "status": "in_progress" });
            json!({ "tool": "update_task", "arguments": arguments })
        })
        .collect();
    let (_, took) = session.call("batch", &json!({ "operations": operations }))?;
    let statement = "todo: large data: 50 changes in one `batch`";
    statements.one_within(statement, LARGE_MS, took);
    Ok(())
}

fn ordinary(session: &mut Session, statements: &mut Statements) -> Result<()> {
    let mut times = Times::default();
    for number in 0..CALLS {
        let other = format!("T{:03}", 100 + number % 800);
        let task = json!({ "title": format!("Created {number}"), "description": "why" });
        let (text, took) = session.call("create_task", &task)?;
        times.add(took);
        let made: Value = serde_json::from_str(&text)?;
        let id = &made["task_id"];
        for (tool, arguments) in [
            ("update_task", json!({ "task_id": other, "status": "done" })),
            (
                "reorder_task",
                json!({ "task_id": other, "position": "first" }),
            ),
            ("list_tasks", json!({})),
            ("get_context", json!({ "task_id": other })),
            (
                "update_context",
                json!({ "task_id": id, "content": "c".repeat(10_000) }),
            ),
            ("list_adrs", json!({})),
            (
                "update_adr_status",
                json!({ "adr_number": 1 + number, "status": "Accepted" }),
            ),
            ("delete_task", json!({ "task_id": id })),
        ] {
            times.add(session.call(tool, &arguments)?.1);
        }
    }
    let statement = "todo: ordinary operations (create, update, move, delete, list, read)";
    statements.within(statement, ORDINARY_MS, &times);
    Ok(())
}

fn searches(session: &mut Session, statements: &mut Statements) -> Result<()> {
    let mut times = Times::default();
    for number in 0..CALLS {
        let needle = format!("needle{}x", 1 + number * 7 % 900);
        for (tool, query) in [
            ("search_contexts", needle.as_str()),
            ("search_contexts", "認証"),
            ("search_contexts", "ver"),
            ("search_tasks", "タスク"),
            ("search", "Decision"),
        ] {
            times.add(session.call(tool, &json!({ "query": query }))?.1);
        }
    }
    statements.within("todo: searches over all of it", SEARCH_MS, &times);
    Ok(())
}

/// What the document says texts and lists may have at most: so much is taken, and one
/// more is refused.
fn lengths(session: &mut Session, statements: &mut Statements) -> Result<()> {
    let text = |length: usize| json!("あ".repeat(length));
    type Make<'a> = &'a dyn Fn(usize) -> Value;
    let title: Make = &|length| json!({ "title": text(length) });
    let category: Make = &|length| json!({ "title": "t", "category": text(length) });
    let description: Make = &|length| json!({ "title": "t", "description": text(length) });
    let subtasks: Make = &|length| json!({ "title": "t", "subtasks": vec!["s"; length] });
    let content: Make = &|length| json!({ "task_id": "T001", "content": text(length) });
    let query: Make = &|length| json!({ "query": text(length) });
    let page: Make = &|length| json!({ "limit": length });
    for (what, most, tool, make) in [
        ("a title", 100, "create_task", title),
        ("a category", 50, "create_task", category),
        ("a description", 500, "create_task", description),
        ("sub-tasks", 20, "create_task", subtasks),
        ("a context", 10_000, "update_context", content),
        ("a search", 200, "search_tasks", query),
        ("a page", 100, "list_tasks", page),
    ] {
        let (text, _) = session.call(tool, &make(most))?;
        if tool == "create_task" {
            let made: Value = serde_json::from_str(&text)?;
            session.call("delete_task", &json!({ "task_id": made["task_id"] }))?;
        }
        let (answer, _) = session.result(tool, &make(most + 1))?;
        let measured = match answer["isError"] == true {
            true => format!("{most} taken, {} refused", most + 1),
            false => format!("{} taken too", most + 1),
        };
        let statement = format!("todo: the most that {what} may have");
        statements.add(
            &statement,
            &most.to_string(),
            &measured,
            answer["isError"] == true,
        );
    }
    Ok(())
}

/// The numbers of tasks and decisions have three digits.
fn limits(session: &mut Session, statements: &mut Statements) -> Result<()> {
    let task = json!({ "title": "one more" });
    let adr = json!({ "title": "one more", "context": "c", "decision": "d", "rationale": "r" });
    for (tool, arguments, statement, code) in [
        (
            "create_task",
            task,
            "todo: at most 999 tasks: the 999th is made, the next refused",
            "TASK_LIMIT_EXCEEDED",
        ),
        (
            "create_adr",
            adr,
            "todo: at most 999 decisions, likewise",
            "ADR_LIMIT_EXCEEDED",
        ),
    ] {
        session.call(tool, &arguments)?;
        let (answer, _) = session.result(tool, &arguments)?;
        let refused = answer["structuredContent"]["error"]["code"].as_str();
        statements.exactly(statement, code, refused.unwrap_or("made"));
    }
    Ok(())
}

/// Ten sessions, each a process of its own as agents start them.
fn sessions(
    start: &(dyn Fn() -> Result<Session> + Sync),
    statements: &mut Statements,
) -> Result<()> {
    let (times, memory) = thread::scope(|scope| {
        let threads: Vec<_> = (0..SESSIONS)
            .map(|number| scope.spawn(move || one_of_ten(start, number)))
            .collect();
        let (mut all, mut memory) = (Times::default(), 0);
        for thread in threads {
            let joined = thread.join().ok().context("a session panicked")?;
            let (times, peak) = joined?;
            all.extend(times);
            memory = memory.max(peak);
        }
        anyhow::Ok((all, memory))
    })?;
    let statement = "todo: 10 sessions at the same time, ordinary operations of each";
    statements.within(statement, ORDINARY_MS, &times);
    let peak = memory as f64;
    let statement = "todo: memory of each of the 10, at its peak";
    statements.add(
        statement,
        "100 MB",
        &megabytes(peak),
        peak / 1024.0 <= MEMORY_MB,
    );
    Ok(())
}

fn one_of_ten(start: &dyn Fn() -> Result<Session>, number: usize) -> Result<(Times, u64)> {
    let mut session = start()?;
    session.call("list_tasks", &json!({}))?;
    // What it reads in the background is not what is measured.
    thread::sleep(Duration::from_secs(5));
    let mut times = Times::default();
    for turn in 0..20 {
        let task = format!("T{:03}", 100 + number * 20 + turn);
        let status = json!({ "task_id": task, "status": "in_progress" });
        times.add(session.call("update_task", &status)?.1);
        times.add(session.call("list_tasks", &json!({}))?.1);
        let text = json!({ "task_id": task, "content": "more", "append": true });
        times.add(session.call("update_context", &text)?.1);
    }
    Ok((times, session.memory()?.peak))
}
