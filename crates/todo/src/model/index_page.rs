//! `index.md`. The program writes the region between two markers; the rest
//! belongs to people.

use std::collections::BTreeMap;

use super::{
    Status,
    adr::Adr,
    board::Board,
    graph::Graph,
    lines::{self, slice},
};

const BEGIN: &str = "<!-- todo:begin (written by the program; what is outside is yours) -->";
const BEGIN_START: &str = "<!-- todo:begin";
const END: &str = "<!-- todo:end -->";
const TASKS: &str = "## Tasks";
const ADRS: &str = "## Decisions";

/// Updates the page. A part that is `None` stays as it is. `Err` unless there
/// is exactly one pair of markers, in order.
pub fn update(old: Option<&str>, tasks: Option<&str>, adrs: Option<&str>) -> Result<String, ()> {
    let Some(old) = old else {
        let region = region("", tasks, adrs, "\n");
        return Ok(format!("# Index\n\n{region}\n"));
    };
    let all = lines::split(old);
    let eol = lines::eol_at(old, &all, None);
    let (begins, ends): (Vec<_>, Vec<_>) = (
        old.match_indices(BEGIN_START).map(|(at, _)| at).collect(),
        old.match_indices(END).map(|(at, _)| at).collect(),
    );
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => {
            let region = region("", tasks, adrs, eol);
            let kept = old.trim_end_matches(['\r', '\n']);
            let gap = if kept.is_empty() {
                String::new()
            } else {
                eol.repeat(2)
            };
            Ok(format!("{kept}{gap}{region}{eol}"))
        }
        ([begin], [end]) if begin < end => {
            let inside = slice(old, *begin..*end);
            let region = region(inside, tasks, adrs, eol);
            let after = slice(old, end + END.len()..old.len());
            Ok(format!("{}{region}{after}", slice(old, 0..*begin)))
        }
        _ => Err(()),
    }
}

/// Whether the page has both parts, so that one can be updated alone.
pub fn has_parts(page: &str) -> bool {
    page.contains(BEGIN_START) && page.contains(TASKS) && page.contains(ADRS)
}

fn region(old: &str, tasks: Option<&str>, adrs: Option<&str>, eol: &str) -> String {
    let (old_tasks, old_adrs) = match (old.find(TASKS), old.find(ADRS)) {
        (Some(tasks), Some(adrs)) if tasks < adrs => (
            slice(old, tasks..adrs).trim(),
            slice(old, adrs..old.len()).trim(),
        ),
        _ => ("", ""),
    };
    let own = |text: &str| text.replace('\n', eol);
    let tasks = tasks.map_or_else(|| old_tasks.to_owned(), own);
    let adrs = adrs.map_or_else(|| old_adrs.to_owned(), own);
    format!("{BEGIN}{eol}{eol}{tasks}{eol}{eol}{adrs}{eol}{eol}{END}")
}

#[derive(Default)]
struct Count {
    todo: usize,
    in_progress: usize,
    done: usize,
    blocked: usize,
}

pub fn tasks(board: &Board) -> String {
    let graph = Graph::of(board);
    let mut order: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for name in board.category_names() {
        if !order.contains(&name) {
            order.push(name);
        }
    }
    for task in &board.tasks {
        let count = counts.entry(board.category(task)).or_default();
        match task.status {
            Status::Todo => count.todo += 1,
            Status::InProgress => count.in_progress += 1,
            Status::Done => count.done += 1,
        }
        let blocked = task
            .id
            .is_some_and(|id| graph.blockers(id).next().is_some());
        count.blocked += usize::from(blocked && task.status != Status::Done);
    }
    let mut text = format!("{TASKS}\n\n[task.md](task.md)\n");
    if order.is_empty() {
        return text.trim_end().to_owned();
    }
    text.push_str("\n| Category | Todo | In progress | Done | Blocked |\n|---|---|---|---|---|\n");
    let empty = Count::default();
    for name in order {
        let count = counts.get(name).unwrap_or(&empty);
        text.push_str(&format!(
            "| [{}](task.md#{}) | {} | {} | {} | {} |\n",
            cell(name),
            anchor(name),
            count.todo,
            count.in_progress,
            count.done,
            count.blocked
        ));
    }
    text.trim_end().to_owned()
}

pub fn adrs(adrs: &[Adr]) -> String {
    let mut text = format!("{ADRS}\n");
    if adrs.is_empty() {
        text.push_str("\nNone yet.\n");
    } else {
        text.push_str("\n| No. | Decision | Status |\n|---|---|---|\n");
    }
    for adr in adrs {
        let status = match adr.superseded_by {
            Some(by) => format!("Superseded by {by:03}"),
            None => adr.status.name().to_owned(),
        };
        text.push_str(&format!(
            "| {:03} | [{}](<adr/{}.md>) | {status} |\n",
            adr.number,
            cell(&adr.title),
            adr.stem
        ));
    }
    text.trim_end().to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('[', "\\[")
        .replace(']', "\\]")
        .replace("-->", "--\\>")
}

/// The anchor that GitHub gives to a heading.
fn anchor(name: &str) -> String {
    let lower = name.to_lowercase();
    lower
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_outside_the_region_stays() {
        let made = update(None, Some("## Tasks\n\na"), Some("## Decisions\n\nb")).unwrap();
        let edited = format!("Mine\n\n{made}\nAlso mine");
        let updated = update(Some(&edited), Some("## Tasks\n\nc"), None).unwrap();
        assert_eq!(updated, edited.replace("\n\na\n", "\n\nc\n"));
        let again = update(Some(&updated), Some("## Tasks\n\nc"), None).unwrap();
        assert_eq!(again, updated);
    }

    #[test]
    fn a_page_without_a_region_gets_one_at_its_end() {
        let page = update(
            Some("# Ours\r\n\r\ntext"),
            Some("## Tasks"),
            Some("## Decisions"),
        )
        .unwrap();
        assert!(
            page.starts_with("# Ours\r\n\r\ntext\r\n\r\n<!-- todo:begin"),
            "{page}"
        );
        assert!(!page.replace("\r\n", "").contains('\n'));
        let again = update(Some(&page), Some("## Tasks"), Some("## Decisions")).unwrap();
        assert_eq!(again, page);
    }

    #[test]
    fn broken_markers_are_left_alone() {
        for broken in [
            "<!-- todo:begin -->",
            "<!-- todo:end --> <!-- todo:begin -->",
        ] {
            assert!(update(Some(broken), Some("x"), Some("y")).is_err());
        }
    }
}
