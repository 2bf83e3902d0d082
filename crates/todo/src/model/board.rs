//! `task.md`: its unchanged text, and where the categories and tasks are in it.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use jiff::civil::Date;

use super::{
    DEFAULT_CATEGORY, Status, TaskId,
    lines::{self, LineSpan, slice},
    markdown_blocks::{self, Block, BlockKind, Item},
    numbers::NumberSet,
    task_text::{Link, TaskText},
};

/// Lines are counted from 0; `lines` in messages from 1.
#[derive(Debug)]
pub struct Board {
    pub text: Arc<str>,
    pub lines: Vec<LineSpan>,
    pub blocks: Vec<Block>,
    pub sections: Vec<Section>,
    pub tasks: Vec<Task>,
    /// Problems that a person should look at.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// Its `##` line; `None` above the first one and below a `#`.
    pub heading: Option<usize>,
    pub lines: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its line, sub-tasks and notes, without trailing blank lines.
    pub lines: Range<usize>,
    pub section: usize,
    /// Its position in its category, from 1.
    pub position: usize,
    pub id: Option<TaskId>,
    pub title: String,
    pub status: Status,
    pub due: Option<Date>,
    pub links: Vec<(Link, u16)>,
    pub subtasks: Vec<Subtask>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    pub line: usize,
    pub title: String,
    pub status: Status,
}

/// Why a text cannot be parsed. Shown to the caller, so it contains no path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub String);

pub enum TaskLookup<'a> {
    One(&'a Task),
    None,
    /// The lines that carry the id, from 1.
    Several(Vec<usize>),
}

impl Board {
    pub fn empty() -> Self {
        Self {
            text: "".into(),
            lines: Vec::new(),
            blocks: Vec::new(),
            sections: vec![head(0)],
            tasks: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub fn parse(text: Arc<str>) -> Result<Self, Unreadable> {
        let lines = lines::split(&text);
        let blocks = markdown_blocks::read(&text, &lines);
        check(&text, &lines, &blocks)?;
        let mut board = Self {
            text,
            lines,
            blocks,
            sections: Vec::new(),
            tasks: Vec::new(),
            warnings: Vec::new(),
        };
        board.read();
        board.warn_of_duplicates();
        Ok(board)
    }

    fn read(&mut self) {
        let mut sections = vec![head(0)];
        let mut tasks: Vec<Task> = Vec::new();
        let mut indented: Vec<(TaskId, usize)> = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let line = self.line(index);
            match block.kind {
                BlockKind::Heading { level, name } if level <= 2 => {
                    if let Some(last) = sections.last_mut() {
                        last.lines.end = index;
                    }
                    let mut section = head(index);
                    if level == 2 {
                        let name = slice(line, name.0..name.1);
                        if !name.is_empty() {
                            name.clone_into(&mut section.name);
                        }
                        section.heading = Some(index);
                    }
                    sections.push(section);
                }
                BlockKind::Item(item) if item.mark.is_some() => {
                    let rest = slice(line, item.rest..line.len());
                    let status = status(line, &item);
                    if item.depth == 0 {
                        let parsed = TaskText::parse(rest);
                        tasks.push(Task::new(index, sections.len() - 1, status, parsed));
                        continue;
                    }
                    if rest.contains("#T")
                        && let Some(id) = TaskText::parse(rest).id()
                    {
                        indented.push((id, index + 1));
                    }
                    if let Some(task) = tasks.last_mut()
                        && block.owner == Some(task.lines.start)
                    {
                        task.subtasks.push(Subtask {
                            line: index,
                            title: rest.trim().to_owned(),
                            status,
                        });
                    }
                }
                _ => {}
            }
            // Blank lines belong to the task only if more of it
            // follows.
            if block.kind != BlockKind::Blank
                && let Some(task) = tasks.last_mut()
                && block.owner == Some(task.lines.start)
            {
                task.lines.end = index + 1;
            }
        }
        if let Some(last) = sections.last_mut() {
            last.lines.end = self.lines.len();
        }
        number_positions(&sections, &mut tasks);
        // If another task has the id, the sub-task only mentions it.
        indented.retain(|(id, _)| tasks.iter().all(|task| task.id != Some(*id)));
        self.warnings = indented
            .into_iter()
            .map(|(id, line)| {
                format!(
                    "#{id} in line {line} is indented, so it is a sub-task; \
                     a task must not be indented."
                )
            })
            .collect();
        self.sections = sections;
        self.tasks = tasks;
    }

    fn warn_of_duplicates(&mut self) {
        let mut met = NumberSet::default();
        let mut twice = NumberSet::default();
        for id in self.tasks.iter().filter_map(|task| task.id) {
            if met.contains(id.0) {
                twice.insert(id.0);
            }
            met.insert(id.0);
        }
        let mut places: BTreeMap<TaskId, Vec<usize>> = BTreeMap::new();
        for task in &self.tasks {
            if let Some(id) = task.id.filter(|id| twice.contains(id.0)) {
                places.entry(id).or_default().push(task.lines.start + 1);
            }
        }
        for (id, lines) in places {
            self.warnings.push(format!(
                "Several tasks have the id #{id}, in lines {}; give all but one a new id.",
                join(&lines)
            ));
        }
    }

    pub fn line(&self, index: usize) -> &str {
        self.lines.get(index).map_or("", |line| line.of(&self.text))
    }

    pub fn item(&self, index: usize) -> Option<Item> {
        match self.blocks.get(index)?.kind {
            BlockKind::Item(item) => Some(item),
            _ => None,
        }
    }

    /// The bytes of some lines, without the final line ending.
    pub fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let start = self.start_of(lines.start);
        let last = lines
            .end
            .checked_sub(1)
            .and_then(|last| self.lines.get(last));
        start..last.map_or(start, |line| line.end).max(start)
    }

    /// Start of a line. For the line after the last one: the end of the
    /// text.
    pub fn start_of(&self, line: usize) -> usize {
        self.lines
            .get(line)
            .map_or(self.text.len(), |line| line.start)
    }

    pub fn category(&self, task: &Task) -> &str {
        self.sections
            .get(task.section)
            .map_or(DEFAULT_CATEGORY, |section| &section.name)
    }

    /// All of a task's lines, as in the file.
    pub fn block(&self, task: &Task) -> &str {
        slice(&self.text, self.bytes(&task.lines))
    }

    pub fn find(&self, id: TaskId) -> TaskLookup<'_> {
        let mut found = self.tasks.iter().filter(|task| task.id == Some(id));
        match (found.next(), found.next()) {
            (None, _) => TaskLookup::None,
            (Some(task), None) => TaskLookup::One(task),
            (Some(first), Some(second)) => {
                let lines = [first, second].into_iter().chain(found);
                TaskLookup::Several(lines.map(|task| task.lines.start + 1).collect())
            }
        }
    }

    /// The category's tasks in their order.
    pub fn in_category<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Task> {
        self.tasks
            .iter()
            .filter(move |task| self.category(task) == name)
    }

    /// Finds a category by name: an exact match, else a folded one.
    pub fn known_category(&self, name: &str) -> Option<&str> {
        let mut names = self.category_names();
        let folded = kit::text::fold(name);
        names
            .clone()
            .find(|known| *known == name)
            .or_else(|| names.find(|known| !folded.is_empty() && kit::text::fold(known) == folded))
    }

    /// Names of categories that have a heading or a task. Names may repeat.
    pub fn category_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.sections
            .iter()
            .enumerate()
            .filter(|(index, section)| {
                section.heading.is_some() || self.tasks.iter().any(|task| task.section == *index)
            })
            .map(|(_, section)| section.name.as_str())
    }

    /// Every number written as `#T001` anywhere, even if no task has it.
    pub fn mentioned(&self) -> impl Iterator<Item = u16> + '_ {
        self.text
            .match_indices("#T")
            .filter_map(|(at, _)| TaskId::parse(self.text.get(at + 1..at + 5)?).map(|id| id.0))
    }

    /// Keys for items without an id: category, title, and a count if the
    /// title repeats.
    pub fn keys_without_id(&self) -> Vec<(String, &Task)> {
        let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut keys = Vec::new();
        for task in self.tasks.iter().filter(|task| task.id.is_none()) {
            let category = self.category(task);
            let count = seen.entry((category, &task.title)).or_default();
            *count += 1;
            let again = if *count > 1 {
                format!("\n{count}")
            } else {
                String::new()
            };
            keys.push((format!("{category}\n{}{again}", task.title), task));
        }
        keys
    }
}

impl Task {
    fn new(line: usize, section: usize, status: Status, parsed: TaskText) -> Self {
        let mut links: Vec<(Link, u16)> = Vec::new();
        for link in Link::ALL {
            links.extend(parsed.links(link).map(|target| (link, target)));
        }
        Self {
            lines: line..line + 1,
            section,
            position: 0,
            id: parsed.id(),
            status,
            due: parsed.due(),
            title: parsed.title,
            links,
            subtasks: Vec::new(),
        }
    }

    pub fn subtasks_done(&self) -> usize {
        let done = |sub: &&Subtask| sub.status == Status::Done;
        self.subtasks.iter().filter(done).count()
    }

    pub fn linked(&self, wanted: Link) -> impl Iterator<Item = u16> + '_ {
        self.links
            .iter()
            .filter(move |(link, _)| *link == wanted)
            .map(|(_, target)| *target)
    }
}

/// Numbers the tasks of each category from 1.
fn number_positions(sections: &[Section], tasks: &mut [Task]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks {
        let name = sections
            .get(task.section)
            .map_or("", |section| &section.name);
        let count = counts.entry(name).or_default();
        *count += 1;
        task.position = *count;
    }
}

fn head(line: usize) -> Section {
    Section {
        name: DEFAULT_CATEGORY.into(),
        heading: None,
        lines: line..line,
    }
}

fn status(line: &str, item: &Item) -> Status {
    let mark = item
        .mark
        .and_then(|at| line.get(at..)?.chars().next())
        .unwrap_or(' ');
    Status::of_mark(mark)
}

/// Rejects binary files and files with merge conflict markers.
fn check(text: &str, lines: &[LineSpan], blocks: &[Block]) -> Result<(), Unreadable> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(Unreadable("it is not text".into()));
    }
    let marker = |sign: &str| {
        lines.iter().zip(blocks).position(|(line, block)| {
            let line = line.of(text);
            block.kind != BlockKind::Opaque
                && line
                    .strip_prefix(sign)
                    .is_some_and(|tail| tail.is_empty() || tail.starts_with(' '))
        })
    };
    match (marker("<<<<<<<"), marker(">>>>>>>")) {
        (Some(from), Some(to)) if from < to => Err(Unreadable(format!(
            "it has an unresolved merge conflict in lines {} to {}",
            from + 1,
            to + 1
        ))),
        _ => Ok(()),
    }
}

pub fn join(numbers: &[usize]) -> String {
    let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.join(""),
    }
}
