//! Checks arguments again, for calls through `batch`.

use jiff::civil::Date;
use kit::{Error, Result};

use crate::{
    errors,
    files::{Folder, TASKS},
    model::{
        CATEGORY_LENGTH, MOST, MOST_SUBTASKS, Status, TITLE_LENGTH, TaskId, adr, document,
        edit::{EditError, is_only_tags},
        one_line, placement,
        task_text::date_of,
    },
};

pub fn task_id(field: &str, text: &str) -> Result<TaskId> {
    TaskId::parse(text).ok_or_else(|| errors::invalid_task_id(field, text))
}

pub fn adr_number(field: &str, number: i64) -> Result<u16> {
    u16::try_from(number)
        .ok()
        .filter(|number| (1..=MOST).contains(number))
        .ok_or_else(|| errors::invalid_adr(field, number, errors::ADR_NUMBER_MESSAGE))
}

pub fn status(text: &str) -> Result<Status> {
    Status::parse(text).ok_or_else(|| errors::invalid_status(text, false))
}

pub fn adr_status(text: &str) -> Result<adr::Status> {
    adr::Status::parse(text).ok_or_else(|| errors::invalid_status(text, true))
}

pub fn length(field: &str, text: &str, most: usize) -> Result<()> {
    if text.chars().count() > most {
        return Err(errors::too_long(field, text, most));
    }
    Ok(())
}

/// A title on one line that is not empty.
pub fn title(field: &str, text: &str) -> Result<String> {
    length(field, text, TITLE_LENGTH)?;
    let title = one_line(text);
    if title.is_empty() || is_only_tags(&title) {
        return Err(errors::invalid_argument(
            field,
            text,
            "A title cannot be empty.",
        ));
    }
    Ok(title)
}

pub fn category(text: &str) -> Result<String> {
    placement::readable_category(text)
        .filter(|name| name.chars().count() <= CATEGORY_LENGTH)
        .ok_or_else(|| errors::invalid_category(text))
}

pub fn due(text: &str, today: Date) -> Result<Date> {
    date_of(text.trim()).ok_or_else(|| errors::invalid_date(text, today))
}

pub fn subtask_count(count: usize) -> Result<()> {
    if count > MOST_SUBTASKS {
        return Err(errors::too_many_subtasks(count));
    }
    Ok(())
}

/// A text with other text after it must close its code fences.
pub fn closed(field: &str, text: &str) -> Result<()> {
    if document::is_closed(text) {
        return Ok(());
    }
    Err(unclosed(field, text))
}

pub fn unclosed(field: &str, text: &str) -> Error {
    errors::invalid_argument(
        field,
        text,
        "The text opens a code fence or a comment and does not close it.",
    )
}

/// The error for a change that `task.md` cannot take.
pub fn refused(refusal: EditError, title: &str) -> Error {
    match refusal {
        EditError::Title => errors::invalid_argument(
            "title",
            title,
            "With this title the line would be parsed as something else.",
        ),
        EditError::Swallowed => errors::unplaceable(&Folder::shown(TASKS)),
    }
}
