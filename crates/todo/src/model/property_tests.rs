//! Applies random changes to random Markdown. Everything else must stay byte
//! for byte.

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    Status, TaskId,
    board::{Board, Task},
    edit::{self, NewTask, TaskChange},
    lines,
    merge::merge,
    placement::Destination,
    subtasks::SubtaskSpec,
};

/// What people write, and what they should not, separated by `‖`.
const FIXED: &str = concat!(
    "‖‖ ‖# Task‖## SPEC‖## Frontend ##‖##  画面‖### part‖#hash‖text‖  indented text‖    code‖",
    "\tcode‖```‖```rust‖~~~‖  ```‖<!-- note -->‖<!--‖-->‖---‖***‖> quote‖- bullet‖",
    "  - nested bullet‖1. one‖- [ ] nameless‖* [x] nameless too  ‖  - [ ] sub‖",
    "  - [x] done sub‖\t* [-] tab sub‖      - [ ] deep‖- [ ]‖| a | b |‖[link]: x‖Setext\n===‖",
    "<pre>‖</pre>‖- ```‖`#T001`‖#T999‖<<<<<<< x‖日本語の段落です。‖\u{3000}",
);

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(FIXED.split('‖').collect::<Vec<_>>());
    let task = (
        prop::sample::select(vec!["- ", "* ", "+ ", " - ", "  * ", "-   ", "1. ", "-\t"]),
        prop::sample::select(vec![" ", "x", "X", "-", "?"]),
        1u16..60,
        prop::sample::select(vec![
            "#ID title",
            "title #ID",
            "要件#ID定義",
            "a `#T001` b #ID due:2026-12-01",
            "x after:#T002,#T003 #ID  ",
            "#ID",
            "see #T001 #ID",
            "**bold** #ID adr:1",
        ]),
    )
        .prop_map(|(bullet, mark, id, text)| {
            format!(
                "{bullet}[{mark}] {}",
                text.replace("#ID", &format!("#T{id:03}"))
            )
        });
    prop_oneof![3 => fixed.prop_map(str::to_owned), 2 => task, 1 => "[ -~]{0,12}"]
}

fn markdown() -> impl Strategy<Value = String> {
    (
        prop::collection::vec(piece(), 0..30),
        prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]),
        any::<bool>(),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(pieces, eol, ended, mark)| {
            let mut text = pieces.join("\n").replace('\n', eol);
            if ended {
                text.push_str(eol);
            }
            if mark {
                text.insert(0, '\u{feff}');
            }
            text
        })
}

#[derive(Debug, Clone)]
enum Step {
    Create(usize, Vec<String>),
    Title(usize, String),
    Mark(usize, Status),
    Due(usize, bool),
    Subtasks(usize, Vec<(String, Option<Status>)>),
    Remove(usize),
    Move(usize, usize, bool),
    Category(usize, usize),
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![Status::Todo, Status::InProgress, Status::Done])
}

fn title() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}( [a-z]{1,5})?",
        prop::sample::select(vec![
            "タスク",
            "#T003 again",
            "a `b",
            "[x] y",
            "- z",
            "`#T001`",
            "## h",
            "see #T002",
            "a\nb",
        ])
        .prop_map(str::to_owned)
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let subs = prop::collection::vec((title(), prop::option::of(status())), 0..4);
    prop_oneof![
        (any::<usize>(), prop::collection::vec(title(), 0..3))
            .prop_map(|(c, t)| Step::Create(c, t)),
        (any::<usize>(), title()).prop_map(|(i, t)| Step::Title(i, t)),
        (any::<usize>(), status()).prop_map(|(i, s)| Step::Mark(i, s)),
        (any::<usize>(), any::<bool>()).prop_map(|(i, b)| Step::Due(i, b)),
        (any::<usize>(), subs).prop_map(|(i, s)| Step::Subtasks(i, s)),
        any::<usize>().prop_map(Step::Remove),
        (any::<usize>(), any::<usize>(), any::<bool>()).prop_map(|(i, j, b)| Step::Move(i, j, b)),
        (any::<usize>(), any::<usize>()).prop_map(|(i, c)| Step::Category(i, c)),
    ]
}

const CATEGORIES: [&str; 4] = ["SPEC", "Frontend", "Default", "新規"];

fn pick(board: &Board, at: usize) -> Option<&Task> {
    // Duplicate ids are rejected before an edit.
    let alike = |task: &Task| {
        board
            .tasks
            .iter()
            .filter(|other| other.id == task.id)
            .count()
    };
    let single: Vec<&Task> = board.tasks.iter().filter(|task| alike(task) == 1).collect();
    single.get(at % single.len().max(1)).copied()
}

/// The bytes before and after a task's own lines.
fn around<'b>(board: &'b Board, task: &Task) -> (&'b str, &'b str) {
    let bytes = board.bytes(&task.lines);
    (&board.text[..bytes.start], &board.text[bytes.end..])
}

fn common(a: &str, b: &str) -> (usize, usize) {
    let before = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - before;
    let after = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take(most)
        .take_while(|(x, y)| x == y)
        .count();
    (before, after)
}

fn other_lines<'b>(board: &'b Board, task: &Task) -> Vec<&'b str> {
    let all = (0..board.lines.len()).filter(|line| !task.lines.contains(line));
    all.map(|line| board.line(line))
        .filter(|line| !line.trim().is_empty())
        .collect()
}

fn run(board: &Board, step: &Step, fresh: TaskId) -> Option<Board> {
    let named = |task: &Task| task.id.unwrap_or(fresh);
    match step {
        Step::Create(category, subtasks) => created(board, *category, subtasks, fresh),
        Step::Remove(at) => removed(board, pick(board, *at)?),
        Step::Move(at, to, before) => {
            let task = pick(board, *at)?;
            let others: Vec<&Task> = board
                .in_category(board.category(task))
                .filter(|other| other.lines != task.lines)
                .collect();
            let other = others.get(to % others.len().max(1))?;
            let place = if *before {
                Destination::Before(other)
            } else {
                Destination::After(other)
            };
            relocated(board, task, named(task), place)
        }
        Step::Category(at, category) => {
            let task = pick(board, *at)?;
            relocated(
                board,
                task,
                named(task),
                Destination::EndOf(CATEGORIES[category % 4]),
            )
        }
        Step::Title(at, title) => {
            let change = TaskChange {
                title: Some(title),
                ..TaskChange::default()
            };
            changed(board, *at, fresh, &change)
        }
        Step::Mark(at, status) => {
            let change = TaskChange {
                status: Some(*status),
                ..TaskChange::default()
            };
            changed(board, *at, fresh, &change)
        }
        Step::Due(at, some) => {
            let due = some.then(|| "2027-01-02".parse().unwrap());
            let change = TaskChange {
                due: Some(due),
                ..TaskChange::default()
            };
            changed(board, *at, fresh, &change)
        }
        Step::Subtasks(at, wanted) => {
            let wanted: Vec<SubtaskSpec> = wanted
                .iter()
                .map(|(title, status)| SubtaskSpec {
                    title: title.clone(),
                    status: *status,
                })
                .collect();
            let change = TaskChange {
                subtasks: Some(&wanted),
                ..TaskChange::default()
            };
            changed(board, *at, fresh, &change)
        }
    }
}

fn created(board: &Board, category: usize, subtasks: &[String], id: TaskId) -> Option<Board> {
    let new = NewTask {
        id,
        title: "新しい task",
        category: CATEGORIES[category % 4],
        subtasks,
        due: None,
    };
    let after = edit::create(board, &new).ok()?;
    assert_one_edit(&board.text, &after.text, board.text.len());
    Some(after)
}

fn removed(board: &Board, task: &Task) -> Option<Board> {
    let after = edit::remove(board, task).ok()?;
    assert_eq!(other_lines(board, task), all_lines(&after));
    assert_one_edit(&board.text, &after.text, after.text.len());
    let gone = board.text.len() - after.text.len();
    let blank = gone - board.block(task).len();
    assert!(blank <= 8, "{:?}\n{:?}", board.text, after.text);
    Some(after)
}

/// The common start and end of both texts cover `unchanged` bytes.
fn assert_one_edit(before: &str, after: &str, unchanged: usize) {
    let (start, end) = common(before, after);
    assert!(start + end >= unchanged, "{before:?}\n{after:?}");
}

fn all_lines(board: &Board) -> Vec<&str> {
    let all = (0..board.lines.len()).map(|line| board.line(line));
    all.filter(|line| !line.trim().is_empty()).collect()
}

fn changed(board: &Board, at: usize, fresh: TaskId, change: &TaskChange<'_>) -> Option<Board> {
    let task = pick(board, at)?;
    let id = task.id.unwrap_or(fresh);
    let after = edit::change(board, task, id, change).ok()?;
    let new = after.tasks.iter().find(|task| task.id == Some(id)).unwrap();
    let ((before, below), (now_before, now_below)) = (around(board, task), around(&after, new));
    assert_eq!(before, now_before);
    // A blank line may have to separate the text below.
    let apart = now_below.strip_suffix(below).unwrap_or("?");
    assert!(
        apart.trim().is_empty() && apart.len() <= 2,
        "{:?}\n{:?}",
        board.text,
        after.text
    );
    Some(after)
}

fn relocated(board: &Board, task: &Task, id: TaskId, place: Destination<'_>) -> Option<Board> {
    let after = edit::relocate(board, task, id, place).ok()?;
    let new = after.tasks.iter().find(|task| task.id == Some(id)).unwrap();
    let mut rest = other_lines(&after, new);
    // A new category adds its heading.
    if let Destination::EndOf(category) = place {
        let heading = format!("## {category}");
        if rest.len() > other_lines(board, task).len() {
            assert_eq!(rest.pop(), Some(heading.as_str()));
        }
    }
    assert_eq!(other_lines(board, task), rest);
    Some(after)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changes_leave_everything_else_alone(text in markdown(), steps in prop::collection::vec(step(), 1..8)) {
        let Ok(mut board) = Board::parse(Arc::from(text.as_str())) else { return Ok(()) };
        for (number, step) in steps.iter().enumerate() {
            let fresh = TaskId(700 + number as u16);
            if let Some(after) = run(&board, step, fresh) {
                // The written text parses to the same tasks.
                let again = Board::parse(Arc::clone(&after.text)).unwrap();
                prop_assert_eq!(&again.tasks, &after.tasks);
                prop_assert_eq!(
                    after.text.starts_with('\u{feff}'),
                    board.text.starts_with('\u{feff}')
                );
                board = after;
            }
        }
    }

    #[test]
    fn every_byte_is_on_a_line(text in markdown()) {
        let all = lines::split(&text);
        let mut joined = String::new();
        if text.starts_with('\u{feff}') {
            joined.push('\u{feff}');
        }
        for line in &all {
            joined.push_str(line.of(&text));
            joined.push_str(line.eol(&text));
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn merging_does_not_depend_on_the_order(base in markdown(), ours in markdown(), theirs in markdown()) {
        if let (Ok(one), Ok(other)) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours)) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(merge(&base, &base, &theirs).unwrap(), theirs.clone());
        prop_assert_eq!(merge(&base, &ours, &base).unwrap(), ours);
    }
}
