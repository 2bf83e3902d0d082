//! Context files: `# Context for T001`, then sections.

use super::{
    TaskId,
    document::{self, Document, Heading},
    lines,
};

pub const DESCRIPTION: &str = "Task Description";
pub const CREATED: &str = "Created";

/// How a call changes a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update<'a> {
    /// Replaces everything except the title and the creation time.
    Replace,
    /// Adds to the end of the file.
    Append,
    ReplaceSection(&'a str),
    AppendToSection(&'a str),
}

/// The text does not close a code fence or comment, so it would swallow the
/// sections below.
#[derive(Debug, PartialEq, Eq)]
pub struct Unclosed;

/// The context file of a new task.
pub fn new(id: TaskId, description: &str, created: &str) -> String {
    let description = Document::parse("").in_own_lines(description);
    format!(
        "# Context for {id}\n\n## {DESCRIPTION}\n\n{description}\n\n## {CREATED}\n\n{created}\n"
    )
}

/// The file after an update. `old` is `None` if there is no file yet.
pub fn update(
    old: Option<&str>,
    id: TaskId,
    content: &str,
    update: Update<'_>,
) -> Result<String, Unclosed> {
    let fresh = format!("# Context for {id}\n");
    let text = match (old, update) {
        (Some(old), _)
            if !old
                .trim_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
                .is_empty() =>
        {
            old
        }
        _ => &fresh,
    };
    let document = Document::parse(text);
    let edit = match update {
        Update::Replace => return replaced(&document, id, content),
        Update::Append => document.append_at_end(content),
        Update::ReplaceSection(name) | Update::AppendToSection(name) => {
            if !document::is_closed(content) {
                return Err(Unclosed);
            }
            let content = without_heading(content, name);
            match (document.section(name), update) {
                (Some(heading), Update::ReplaceSection(_)) => document.set_body(heading, content),
                (Some(heading), _) => document.append(heading, content),
                (None, _) if !document::is_closed(text) => return Err(Unclosed),
                (None, _) => document.append_at_end(&format!("## {}\n\n{content}", name.trim())),
            }
        }
    };
    Ok(lines::apply(text, vec![edit]))
}

/// The content of a section without the section's own heading, which the file has
/// already.
fn without_heading<'a>(content: &'a str, section: &str) -> &'a str {
    let breaks = ['\r', '\n'];
    let text = content.trim_start_matches(breaks);
    let (first, rest) = text.split_at(text.find(breaks).unwrap_or(text.len()));
    let document = Document::parse(first);
    let fold = |text: &str| kit::text::fold(text.trim());
    match document.headings.as_slice() {
        [heading] if fold(heading.name) == fold(section) => rest.trim_start_matches(breaks),
        _ => content,
    }
}

/// The text that an update takes away: a section's, or all except the title and
/// the creation time. `None` if there is none.
pub fn replaced_text(old: &str, update: Update<'_>) -> Option<String> {
    let document = Document::parse(old);
    let text = match update {
        Update::Append | Update::AppendToSection(_) => return None,
        Update::ReplaceSection(name) => document.content_text(document.section(name)?).to_owned(),
        Update::Replace => {
            let created = document.section(CREATED);
            let created = created.map(|heading| {
                let when = created_line(&document, heading);
                let is_text = |line: &usize| !document.line(*line).trim().is_empty();
                let next = (when + 1..document.lines.len()).find(is_text);
                heading.line..next.unwrap_or(document.lines.len())
            });
            let title = document.headings.first().filter(|first| first.level == 1);
            let kept = (0..document.lines.len()).filter(|line| {
                title.is_none_or(|title| title.line != *line)
                    && created
                        .as_ref()
                        .is_none_or(|created| !created.contains(line))
            });
            let lines: Vec<&str> = kept.map(|line| document.line(line)).collect();
            lines.join("\n").trim().to_owned()
        }
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The line with the creation time. What follows it was appended to the file.
fn created_line(document: &Document<'_>, created: Heading<'_>) -> usize {
    document.content(&document.body(created)).start
}

fn replaced(document: &Document<'_>, id: TaskId, content: &str) -> Result<String, Unclosed> {
    let eol = document.eol();
    let mark = if document.text.starts_with('\u{feff}') {
        "\u{feff}"
    } else {
        ""
    };
    let content = document.in_own_lines(content);
    let new = Document::parse(&content);
    let titled = new
        .headings
        .first()
        .is_some_and(|first| first.level == 1 && first.line == 0);
    let mut text = mark.to_owned();
    if !titled {
        text.push_str(&format!("# Context for {id}{eol}{eol}"));
    }
    text.push_str(&content);
    text.push_str(eol);
    let created = document
        .section(CREATED)
        .filter(|_| new.section(CREATED).is_none());
    if let Some(created) = created {
        if !document::is_closed(&content) {
            return Err(Unclosed);
        }
        let when = document.line(created_line(document, created)).trim();
        text.push_str(&format!("{eol}## {CREATED}{eol}{eol}{when}{eol}"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: TaskId = TaskId(1);

    fn after(old: &str, content: &str, how: Update<'_>) -> String {
        update(Some(old), ID, content, how).unwrap()
    }

    #[test]
    fn replacing_a_section_keeps_the_others() {
        let old = new(ID, "what", "2026-11-15T10:00:00+09:00");
        let text = after(&old, "better", Update::ReplaceSection("task description"));
        assert_eq!(text, old.replace("what", "better"));
        let text = after(&old, "more", Update::AppendToSection(DESCRIPTION));
        assert_eq!(text, old.replace("what", "what\n\nmore"));
        let text = after(&old, "- a", Update::AppendToSection("Notes"));
        assert_eq!(text, format!("{old}\n## Notes\n\n- a\n"));
        let text = after(&text, "- b", Update::AppendToSection("Notes"));
        assert_eq!(text, format!("{old}\n## Notes\n\n- a\n- b\n"));
    }

    #[test]
    fn the_heading_of_a_section_is_not_doubled() {
        let old = "# Context for T001\n\n## Notes\n\nold\n";
        for content in ["## Notes\n\nx", "\n# notes #\nx", "x"] {
            let text = after(old, content, Update::ReplaceSection("Notes"));
            assert_eq!(text, old.replace("old", "x"), "{content}");
            let text = after(old, content, Update::AppendToSection("Notes"));
            assert_eq!(text, old.replace("old", "old\n\nx"), "{content}");
            let text = after(old, content, Update::ReplaceSection("Notes "));
            assert_eq!(text, old.replace("old", "x"), "{content}");
        }
        let text = after(old, "## New\n\nx", Update::ReplaceSection("New"));
        assert_eq!(text, format!("{old}\n## New\n\nx\n"));
        let text = after(old, "### Part\n\nx", Update::ReplaceSection("Notes"));
        assert_eq!(text, old.replace("old", "### Part\n\nx"));
    }

    #[test]
    fn replace_keeps_the_title_and_the_creation_time() {
        let old = new(ID, "what", "then");
        let text = after(&old, "## Plan\nx", Update::Replace);
        assert_eq!(
            text,
            "# Context for T001\n\n## Plan\nx\n\n## Created\n\nthen\n"
        );
    }

    #[test]
    fn line_endings_and_code_are_respected() {
        let old = "\u{feff}# Context for T001\r\n\r\n```\r\n## Notes\r\n```\r\n\r\n## Notes\r\nold\r\n## End";
        let text = after(old, "a\nb", Update::ReplaceSection("Notes"));
        assert_eq!(text, old.replace("old", "a\r\nb"));
        let text = after(old, "x", Update::AppendToSection("End"));
        assert_eq!(text, format!("{old}\r\n\r\nx"));
        let unclosed = update(Some(old), ID, "```", Update::ReplaceSection("Notes"));
        assert_eq!(unclosed, Err(Unclosed));
    }

    #[test]
    fn a_missing_context_file_is_created() {
        let text = update(None, ID, "x", Update::Append).unwrap();
        assert_eq!(text, "# Context for T001\n\nx\n");
    }
}
