//! Every error that the counter returns.

use std::{io, ops::Range};

use jiff::civil::Date;
use kit::{
    Error, Rule,
    tool::{UNKNOWN, rule},
};
use serde_json::{Value, json};

use crate::model::{
    self, TaskId,
    board::{Subtask, Task, join},
};

pub const FILE_NOT_FOUND: &str = "FILE_NOT_FOUND";
pub const FILE_READ_ERROR: &str = "FILE_READ_ERROR";
pub const FILE_WRITE_ERROR: &str = "FILE_WRITE_ERROR";
pub const PERMISSION_DENIED: &str = "PERMISSION_DENIED";
pub const INVALID_TASK_ID: &str = "INVALID_TASK_ID";
pub const INVALID_ADR_NUMBER: &str = "INVALID_ADR_NUMBER";
pub const INVALID_STATUS: &str = "INVALID_STATUS";
pub const INVALID_CATEGORY: &str = "INVALID_CATEGORY";
pub const CONTENT_TOO_LONG: &str = "CONTENT_TOO_LONG";
pub const TASK_NOT_FOUND: &str = "TASK_NOT_FOUND";
pub const ADR_NOT_FOUND: &str = "ADR_NOT_FOUND";
pub const REFERENCE_TASK_NOT_FOUND: &str = "REFERENCE_TASK_NOT_FOUND";
pub const INVALID_POSITION: &str = "INVALID_POSITION";
pub const TASK_LIMIT_EXCEEDED: &str = "TASK_LIMIT_EXCEEDED";
pub const ADR_LIMIT_EXCEEDED: &str = "ADR_LIMIT_EXCEEDED";
// Beyond the seed's list.
pub const DUPLICATE_TASK_ID: &str = "DUPLICATE_TASK_ID";
pub const DUPLICATE_ADR_NUMBER: &str = "DUPLICATE_ADR_NUMBER";
pub const CYCLE: &str = "DEPENDENCY_CYCLE";
pub const EDIT_CONFLICT: &str = "EDIT_CONFLICT";
pub const NOTHING_TO_UNDO: &str = "NOTHING_TO_UNDO";
pub const INVALID_DATE: &str = "INVALID_DATE";
pub const KEY_REUSED: &str = "IDEMPOTENCY_KEY_REUSED";
pub const CHANGE_NOT_FOUND: &str = "CHANGE_NOT_FOUND";
pub const SUBTASK_NOT_FOUND: &str = "SUBTASK_NOT_FOUND";
pub const AMBIGUOUS_SUBTASK: &str = "AMBIGUOUS_SUBTASK";
pub const HAS_DEPENDANTS: &str = "TASK_HAS_DEPENDANTS";

const TASK_ID_MESSAGE: &str = "A task id is T and three digits, such as T001.";
const TARGET_MESSAGE: &str =
    "A link goes to a task, such as T002, or with decided_by to an ADR, such as 3.";
pub const ADR_NUMBER_MESSAGE: &str = "An ADR's number is a whole number from 1 to 999.";
const STATUS_MESSAGE: &str = "A task's status is todo, in_progress or done.";
const ADR_STATUS_MESSAGE: &str =
    "An ADR's status is Proposed, Accepted or Deprecated. Superseded needs superseded_by.";
pub const POSITION_MESSAGE: &str = "A position is first, last, before or after.";
const CATEGORY_MESSAGE: &str = "A category is one line of up to 50 characters.";
const DUE_MESSAGE: &str =
    "A due date has the form YYYY-MM-DD. update_task removes it with clear: [\"due\"].";
const SUBTASKS_MESSAGE: &str = "A task has at most 20 sub-tasks of up to 100 characters each.";
const LONG_MESSAGE: &str = "The text is too long.";
// What to do instead of an argument that a tool does not have.
const PRIORITY_MESSAGE: &str = "Priority is the position in the category; reorder_task changes it.";
const DESCRIPTION_MESSAGE: &str = "A task's description is in its context: use update_context \
    with the section Task Description.";
const LINK_MESSAGE: &str = "Use link_tasks with the relation depends_on.";

/// The errors of broken schema rules. A field means the same in every tool, so
/// all tools share this list, except those with an ADR's status.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("task_id", "*", INVALID_TASK_ID, TASK_ID_MESSAGE),
    rule("reference_task_id", "*", INVALID_TASK_ID, TASK_ID_MESSAGE),
    rule("target", "*", INVALID_TASK_ID, TARGET_MESSAGE),
    rule("adr_number", "*", INVALID_ADR_NUMBER, ADR_NUMBER_MESSAGE),
    rule("status", "*", INVALID_STATUS, STATUS_MESSAGE),
    rule("position", "*", INVALID_POSITION, POSITION_MESSAGE),
    rule("category", "*", INVALID_CATEGORY, CATEGORY_MESSAGE),
    rule("due", "*", INVALID_DATE, DUE_MESSAGE),
    rule("subtasks", "enum", INVALID_STATUS, STATUS_MESSAGE),
    rule("subtasks", "maxLength", CONTENT_TOO_LONG, SUBTASKS_MESSAGE),
    rule("subtasks", "maxItems", CONTENT_TOO_LONG, SUBTASKS_MESSAGE),
    rule("title", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("description", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("content", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("section", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("query", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("priority", UNKNOWN, "UNKNOWN_ARGUMENT", PRIORITY_MESSAGE),
    rule("description", UNKNOWN, "UNKNOWN_ARGUMENT", DESCRIPTION_MESSAGE),
    rule("depends_on", UNKNOWN, "UNKNOWN_ARGUMENT", LINK_MESSAGE),
    rule("blocked_by", UNKNOWN, "UNKNOWN_ARGUMENT", LINK_MESSAGE),
];

/// The same for tools with an ADR's status.
#[rustfmt::skip]
pub const ADR_RULES: &[Rule] = &[
    rule("status", "*", INVALID_STATUS, ADR_STATUS_MESSAGE),
    rule("adr_number", "*", INVALID_ADR_NUMBER, ADR_NUMBER_MESSAGE),
    rule("superseded_by", "*", INVALID_ADR_NUMBER, ADR_NUMBER_MESSAGE),
    rule("title", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("reason", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("context", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("decision", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("rationale", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
    rule("consequences", "maxLength", CONTENT_TOO_LONG, LONG_MESSAGE),
];

fn about(error: Error, field: &str, value: impl Into<Value>) -> Error {
    error.details(json!({ "field": field, "value": value.into() }))
}

pub fn task_not_found(field: &str, id: &str) -> Error {
    let code = if field == "reference_task_id" {
        REFERENCE_TASK_NOT_FOUND
    } else {
        TASK_NOT_FOUND
    };
    let error =
        Error::new(code, format!("There is no task {id}.")).next("List the tasks with list_tasks.");
    about(error, field, id)
}

pub fn invalid_task_id(field: &str, value: &str) -> Error {
    about(Error::new(INVALID_TASK_ID, TASK_ID_MESSAGE), field, value)
}

pub fn duplicate_task(field: &str, id: TaskId, lines: &[usize]) -> Error {
    let lines = join(lines);
    let error = Error::new(
        DUPLICATE_TASK_ID,
        format!("Several tasks in task.md have the id #{id}, in lines {lines}."),
    )
    .next("Ask the user which one is meant, and give the others new ids.");
    about(error, field, id.to_string())
}

pub fn adr_not_found(field: &str, number: u16) -> Error {
    let error = Error::new(ADR_NOT_FOUND, format!("There is no ADR {number}."))
        .next("List the ADRs with list_adrs.");
    about(error, field, number)
}

pub fn duplicate_adr(field: &str, number: u16, files: &[String]) -> Error {
    let error = Error::new(
        DUPLICATE_ADR_NUMBER,
        format!(
            "Several files have the number {number}: {}.",
            kit::shortlist(files).sentence()
        ),
    )
    .next("Rename all but one of them.");
    about(error, field, number)
}

pub fn invalid_adr(field: &str, value: impl Into<Value>, message: &str) -> Error {
    about(Error::new(INVALID_ADR_NUMBER, message), field, value)
}

pub fn invalid_status(value: &str, of_adr: bool) -> Error {
    let message = if of_adr {
        ADR_STATUS_MESSAGE
    } else {
        STATUS_MESSAGE
    };
    about(Error::new(INVALID_STATUS, message), "status", value)
}

pub fn superseded_needs_deprecated(value: &str) -> Error {
    let error = Error::new(
        INVALID_STATUS,
        "A superseded ADR has the status Deprecated.",
    )
    .next("Set status to Superseded together with superseded_by.");
    about(error, "status", value)
}

pub fn superseded_already(field: &str, number: u16, by: u16) -> Error {
    let message = format!("ADR {number} is already superseded by ADR {by}.");
    invalid_adr(field, number, &message).next(format!(
        "Supersede ADR {by} instead, or set the status of ADR {number} to Accepted first."
    ))
}

pub fn invalid_category(value: &str) -> Error {
    let error = Error::new(INVALID_CATEGORY, "This is not a valid category name.")
        .next("Use one line of up to 50 characters that does not end in #.");
    about(error, "category", value)
}

pub fn invalid_position(field: &str, value: &str, message: impl Into<String>) -> Error {
    about(Error::new(INVALID_POSITION, message), field, value)
}

pub fn invalid_date(value: &str, today: Date) -> Error {
    let error = Error::new(INVALID_DATE, DUE_MESSAGE).next(format!("Today is {today}."));
    about(error, "due", value)
}

pub fn invalid_argument(field: &str, value: &str, message: &str) -> Error {
    about(
        Error::new(kit::error::INVALID_ARGUMENT, message),
        field,
        model::shortened(value, 200),
    )
}

pub fn too_long(field: &str, value: &str, most: usize) -> Error {
    let error = Error::new(
        CONTENT_TOO_LONG,
        format!(
            "`{field}` has {} characters; {most} are allowed.",
            value.chars().count()
        ),
    )
    .next("Shorten it.");
    about(error, field, model::shortened(value, 200))
}

pub fn too_many_subtasks(count: usize) -> Error {
    let error = Error::new(CONTENT_TOO_LONG, SUBTASKS_MESSAGE).next("Split it into several tasks.");
    about(error, "subtasks", count)
}

pub fn task_limit() -> Error {
    let error = Error::new(
        TASK_LIMIT_EXCEEDED,
        "There are already 999 tasks, the maximum.",
    )
    .next("Delete tasks that are done.");
    about(error, "task_id", "T999")
}

pub fn adr_limit() -> Error {
    let error = Error::new(
        ADR_LIMIT_EXCEEDED,
        "There are already 999 ADRs, the maximum.",
    );
    about(error, "adr_number", 999)
}

pub fn cycle(field: &str, value: &str, path: &[TaskId]) -> Error {
    let steps: Vec<String> = path.iter().map(TaskId::to_string).collect();
    let error = Error::new(
        CYCLE,
        format!(
            "These tasks would wait for each other: {}.",
            steps.join(" after ")
        ),
    )
    .next("Remove one of the links first.");
    about(error, field, value)
}

pub fn no_context(id: TaskId) -> Error {
    let error = Error::new(FILE_NOT_FOUND, format!("{id} has no context file yet."))
        .next("Create one with update_context.");
    about(error, "task_id", id.to_string())
}

pub fn key_reused() -> Error {
    let error = Error::new(
        KEY_REUSED,
        "This idempotency key was used for another call.",
    )
    .next("Use a new key, or repeat the same call.");
    error.details(json!({ "field": "idempotency_key" }))
}

pub fn nothing_to_undo() -> Error {
    Error::new(
        NOTHING_TO_UNDO,
        "You have changed nothing since this program started.",
    )
    .next("To undo an older change, give its change_id.")
}

pub fn change_not_found(id: &str) -> Error {
    let error = Error::new(
        CHANGE_NOT_FOUND,
        format!("There is no change {id}: it was undone, or it is not one of the last 50."),
    )
    .next("Give a change_id that a call answered.");
    about(error, "change_id", id)
}

pub fn subtask_not_found(task: &Task, title: &str) -> Error {
    let titles: Vec<&str> = task.subtasks.iter().map(|sub| sub.title.as_str()).collect();
    let nearest = kit::shortlist(model::nearest_first(titles, title));
    let message = match nearest.shown.is_empty() {
        true => "The task has no sub-tasks.".to_owned(),
        false => format!("The task has no sub-task with the title \"{title}\"."),
    };
    let error = Error::new(SUBTASK_NOT_FOUND, message)
        .next("Use a title from `subtasks`, or omit status and remove to add it.");
    error.details(json!({
        "field": "subtask", "value": title, "subtasks": nearest.shown, "more": nearest.more
    }))
}

/// `candidates`: the sub-tasks with that title, with their positions.
pub fn ambiguous_subtask(title: &str, candidates: &[(usize, &Subtask)]) -> Error {
    let candidates = candidates
        .iter()
        .map(|(at, sub)| json!({ "position": at + 1, "title": sub.title, "status": sub.status }));
    let message = format!("Several sub-tasks have the title \"{title}\".");
    Error::new(AMBIGUOUS_SUBTASK, message)
        .next("Send all of them in `subtasks`, in their order and with their statuses.")
        .details(json!({
            "field": "subtask", "value": title, "candidates": candidates.collect::<Vec<_>>()
        }))
}

pub fn too_many_links(count: usize) -> Error {
    Error::new(
        kit::error::INVALID_ARGUMENT,
        format!("Nothing was deleted: that would add {count} links between other tasks."),
    )
    .next("Finish the task instead, or remove some of its links with link_tasks first.")
}

/// Deleting a task would unblock those that wait for it.
pub fn has_dependants(id: TaskId, dependants: &[(TaskId, String)]) -> Error {
    let names = kit::shortlist(dependants.iter().map(|(id, title)| format!("{id} {title}")));
    let error = Error::new(
        HAS_DEPENDANTS,
        format!("Nothing was deleted: {} waits for {id}.", names.sentence()),
    )
    .next(
        "Finish it instead, or delete it with relink: true; then they wait for what it waited for.",
    );
    let shown = dependants.iter().take(kit::SHORTLIST);
    let shown: Vec<Value> = shown
        .map(|(id, title)| json!({ "task_id": id.to_string(), "title": title }))
        .collect();
    error.details(json!({
        "field": "task_id", "value": id.to_string(), "dependants": shown, "more": names.more
    }))
}

/// Somebody else keeps changing the same lines while we write.
pub fn conflict(file: &str) -> Error {
    let error = Error::new(
        EDIT_CONFLICT,
        format!("{file} was changed by somebody else meanwhile; nothing was written."),
    )
    .next("Read it again and decide what it should say.");
    about(error, "file", file)
}

/// A change can't be undone, since the same lines were changed later. `by`: the id and
/// label of the later change, unless somebody edited the file.
pub fn undo_conflict(
    file: &str,
    lines: Option<Range<usize>>,
    by: Option<(String, String)>,
) -> Error {
    let place = match lines {
        Some(lines) if lines.len() > 1 => {
            format!(" in lines {} to {}", lines.start, lines.end - 1)
        }
        Some(lines) => format!(" in line {}", lines.start),
        None => String::new(),
    };
    let Some((id, label)) = by else {
        let message = format!("{file} was edited{place} since this change; nothing was undone.");
        let error = Error::new(EDIT_CONFLICT, message);
        return about(error, "file", file).next("Read it again and decide what it should say.");
    };
    let message = format!("{label} changed {file} again{place}; nothing was undone.");
    Error::new(EDIT_CONFLICT, message)
        .next(format!(
            "Undo {id} first, or make the change with another call."
        ))
        .details(json!({
            "field": "file", "value": file,
            "later_change": { "change_id": id, "operations": label },
        }))
}

/// Undoing a deletion would give two tasks the same id.
pub fn id_taken(id: TaskId) -> Error {
    let error = Error::new(
        EDIT_CONFLICT,
        format!("Another task is {id} by now; nothing was undone."),
    )
    .next("Create the task again instead.");
    about(error, "task_id", id.to_string())
}

/// The file would hide the change, so nothing is written.
pub fn unplaceable(file: &str) -> Error {
    let error = Error::new(
        FILE_WRITE_ERROR,
        format!("{file} has a code fence or comment that is never closed; nothing was written."),
    )
    .next("Ask the user to fix the file.");
    about(error, "file", file)
}

pub fn unreadable(file: &str, why: &str) -> Error {
    let error = Error::new(FILE_READ_ERROR, format!("{file} cannot be read: {why}."))
        .next("The file was left unchanged. Ask the user to fix it first.");
    about(error, "file", file)
}

pub fn outside(file: &str) -> Error {
    let error = Error::new(
        PERMISSION_DENIED,
        format!("{file} leads out of the project."),
    );
    about(error, "file", file)
}

pub fn read_only(file: &str) -> Error {
    let error = Error::new(PERMISSION_DENIED, format!("{file} is write-protected."));
    about(error, "file", file)
}

/// An error of the operating system, without its paths.
/// About the ledger of numbers.
pub fn ledger(writing: bool, cause: io::Error) -> Error {
    io("The ledger of numbers", writing, cause)
}

pub fn io(file: &str, writing: bool, cause: io::Error) -> Error {
    let (code, what) = match cause.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (PERMISSION_DENIED, "may not be accessed")
        }
        io::ErrorKind::NotFound => (FILE_NOT_FOUND, "does not exist"),
        io::ErrorKind::StorageFull => (FILE_WRITE_ERROR, "does not fit on the disk, which is full"),
        _ if writing => (FILE_WRITE_ERROR, "could not be written"),
        _ => (FILE_READ_ERROR, "could not be read"),
    };
    about(Error::new(code, format!("{file} {what}.")), "file", file).cause(cause)
}

pub fn busy(file: &str) -> Error {
    let error = Error::new(
        FILE_WRITE_ERROR,
        format!("Another process has been writing in {file} for too long."),
    )
    .next("Try again.");
    about(error, "file", file)
}
