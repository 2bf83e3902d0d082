//! Files as people write them: which lines are tasks, and what an edit leaves
//! unchanged.

use std::sync::Arc;

use super::{
    Status, TaskId,
    board::{Board, Task, TaskLookup},
    edit::{self, EditError, NewTask, TaskChange},
    placement::Destination,
    subtasks::SubtaskSpec,
};

fn board(text: &str) -> Board {
    Board::parse(Arc::from(text)).unwrap()
}

fn task(board: &Board, id: u16) -> &Task {
    match board.find(TaskId(id)) {
        TaskLookup::One(task) => task,
        _ => panic!("T{id:03} in {}", board.text),
    }
}

/// `id title @category [subtasks]` of every task.
fn seen(text: &str) -> Vec<String> {
    let board = board(text);
    board
        .tasks
        .iter()
        .map(|task| {
            let id = task.id.map_or("-".into(), |id| id.to_string());
            let subs: Vec<&str> = task.subtasks.iter().map(|sub| sub.title.as_str()).collect();
            let mut line = format!("{id} {} @{}", task.title, board.category(task));
            if !subs.is_empty() {
                line.push_str(&format!(" {subs:?}"));
            }
            line
        })
        .collect()
}

fn add(text: &str, category: &str) -> Result<String, EditError> {
    edit::create(
        &board(text),
        &NewTask {
            id: TaskId(900),
            title: "new",
            category,
            subtasks: &[],
            due: None,
        },
    )
    .map(|board| board.text.to_string())
}

const SEED: &str = "# Task\n\n## SPEC\n- [ ] 要件定義を作成 #T001\n  - [ ] エラーハンドリング仕様確認\n  - [x] レート制限設計完了\n\n## Frontend\n- [-] Reactコンポーネントを検討 #T002\n";

#[test]
fn the_example_file_of_the_seed_is_parsed() {
    assert_eq!(
        seen(SEED),
        [
            "T001 要件定義を作成 @SPEC [\"エラーハンドリング仕様確認\", \"レート制限設計完了\"]",
            "T002 Reactコンポーネントを検討 @Frontend",
        ]
    );
    let board = board(SEED);
    assert_eq!(task(&board, 2).status, Status::InProgress);
    assert_eq!(task(&board, 1).subtasks[1].status, Status::Done);
}

/// Texts, and the tasks in them.
const TASKS: &[&str] = &[
    " => ",
    "- [ ] a #T001 => T001 a @Default",
    "\u{feff}- [X] a #T001\r\n => T001 a @Default",
    "* [ ] a #T001\n+ [ ] b #T002\n1. [ ] c #T003\n => T001 a @Default | T002 b @Default | T003 c @Default",
    "- [ ] no id\n => - no id @Default",
    "- [] a #T001\n- [x]b #T002\n-[ ] c #T003\n- d #T004\n => ",
    "- [x](link) #T001\n => ",
    "```\n- [ ] a #T001\n```\n- [ ] b #T002\n => T002 b @Default",
    "~~~\n```\n- [ ] a #T001\n~~~\n- [ ] b #T002\n => T002 b @Default",
    "````\n```\n- [ ] a #T001\n```\n````\n- [ ] b #T002\n => T002 b @Default",
    "``` not a `fence`\n- [ ] b #T002\n => T002 b @Default",
    "    - [ ] code #T001\n- [ ] b #T002\n => T002 b @Default",
    "- [ ] a #T001\n  ```\n  - [ ] x #T009\n- [ ] b #T002\n => T001 a @Default | T002 b @Default",
    "<!-- \n- [ ] a #T001\n-->\n- [ ] b #T002\n => T002 b @Default",
    "<!-- one line -->\n- [ ] b #T002\n => T002 b @Default",
    "---\nx:\n- [ ] a #T001\n---\n- [ ] b #T002\n => T002 b @Default",
    "> - [ ] quoted #T001\n- [ ] b #T002\n => T002 b @Default",
    "- plain\n  - [ ] nested #T001\n => ",
    "- [ ] a #T001\n\t- [ ] tab\n\t\t- [x] deep\n => T001 a @Default [\"tab\", \"deep\"]",
    "- [ ] a #T001\n      - [ ] by feel\n => T001 a @Default [\"by feel\"]",
    "- [ ] a #T001\n\n      - [ ] code\n => T001 a @Default",
    "- [ ] a #T001\n  - note\n    - [ ] sub\n => T001 a @Default [\"sub\"]",
    "## A ##\n- [ ] a #T001\n### B\n- [ ] b #T002\n# C\n- [ ] c #T003\n##\tD\n- [ ] d #T004\n##no\n => T001 a @A | T002 b @A | T003 c @Default | T004 d @D",
    "text\n- [ ] a #T001\nlazy\n\nnot lazy\n => T001 a @Default",
    "* * *\n- [ ] a #T001\n- - -\n- [ ] b #T002\n => T001 a @Default | T002 b @Default",
    "- [/] other mark #T001\n- [あ] wide #T002\n => T001 other mark @Default | T002 wide @Default",
];

/// The columns of a row: `before => after`.
fn columns<const N: usize>(row: &str) -> [&str; N] {
    let mut columns = row.split(" => ");
    std::array::from_fn(|_| columns.next().unwrap())
}

#[test]
fn tasks_are_told_from_other_text() {
    for row in TASKS {
        let [text, tasks] = columns(row);
        assert_eq!(seen(text).join(" | "), tasks, "{text:?}");
    }
}

#[test]
fn positions_are_counted_in_the_category() {
    let text = "## A\n- [ ] a #T001\n## B\n- [ ] b #T002\n## A\n- [ ] c #T003\n";
    let board = board(text);
    let positions: Vec<usize> = board.tasks.iter().map(|task| task.position).collect();
    assert_eq!(positions, [1, 1, 2]);
}

#[test]
fn duplicates_indented_ids_and_conflicts_are_reported() {
    let text = "- [ ] a #T001\n- [ ] b #T001\n  - [ ] c #T007\n  - [ ] see #T001\n";
    let warnings = board(text).warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for part in ["lines 1 and 2", "#T007 in line 3"] {
        assert!(warnings.iter().any(|warning| warning.contains(part)));
    }
    let conflict = "<<<<<<< HEAD\n- [ ] a #T001\n=======\n- [ ] b #T001\n>>>>>>> x\n";
    assert!(Board::parse(Arc::from(conflict)).is_err());
    let shown = format!("```\n{conflict}```\n");
    assert!(Board::parse(Arc::from(shown)).is_ok());
    assert!(Board::parse(Arc::from("a\0b")).is_err());
}

#[test]
fn new_tasks_go_to_the_end_of_their_category() {
    for row in [
        " => Default => # Task\n\n## Default\n- [ ] new #T900\n",
        "# Task\n => Default => # Task\n\n## Default\n- [ ] new #T900\n",
        "# Task => A => # Task\n\n## A\n- [ ] new #T900",
        "## A\n => A => ## A\n- [ ] new #T900\n",
        "## A\n\n## B\n => A => ## A\n- [ ] new #T900\n\n## B\n",
        "## A\nprose\n\n## B\n => A => ## A\nprose\n\n- [ ] new #T900\n\n## B\n",
        "- [ ] a #T001 => Default => - [ ] a #T001\n- [ ] new #T900",
        "- [ ] a #T001\r\n => Default => - [ ] a #T001\r\n- [ ] new #T900\r\n",
        "* [ ] a #T001\n => Default => * [ ] a #T001\n* [ ] new #T900\n",
        "## A\n- [ ] a #T001\n  note\n\n\ntext\n## B\n => A => ## A\n- [ ] a #T001\n  note\n- [ ] new #T900\n\n\ntext\n## B\n",
        "- [ ] a #T001\n\n- [ ] b #T002\n\nend\n => Default => - [ ] a #T001\n\n- [ ] b #T002\n\n- [ ] new #T900\n\nend\n",
    ] {
        let [text, category, wanted] = columns(row);
        assert_eq!(add(text, category).as_deref(), Ok(wanted), "{text:?}");
    }
    assert_eq!(add("```\nnever closed\n", "A"), Err(EditError::Swallowed));
    assert_eq!(add("<!-- never closed\n", "A"), Err(EditError::Swallowed));
}

#[test]
fn tasks_are_removed_with_their_notes() {
    for row in [
        "- [ ] a #T001\n- [ ] b #T002\n- [ ] c #T003\n => - [ ] a #T001\n- [ ] c #T003\n",
        "- [ ] a #T001\n\n- [ ] b #T002\n  x\n\n- [ ] c #T003\n => - [ ] a #T001\n\n- [ ] c #T003\n",
        "- [ ] a #T001\n- [ ] b #T002 => - [ ] a #T001",
        "- [ ] a #T001\n\n- [ ] b #T002\n => - [ ] a #T001\n",
        "\u{feff}- [ ] b #T002\r\nx\r\n\r\ntext => \u{feff}text",
        "- [ ] b #T002 => ",
        "## A\n- [ ] b #T002\n\n## B\n => ## A\n\n## B\n",
    ] {
        let [text, wanted] = columns(row);
        let board = board(text);
        let after = edit::remove(&board, task(&board, 2)).unwrap();
        assert_eq!(&*after.text, wanted, "{text:?}");
    }
}

#[test]
fn tasks_are_moved() {
    let tight = "- [ ] a #T001\n- [ ] b #T002\n  - [ ] s\n- [ ] c #T003\n";
    let loose = "- [ ] a #T001\n\n- [ ] b #T002\n\n- [ ] c #T003";
    for (text, id, before, order) in [
        (tight, 3, 1, [3, 1, 2]),
        (tight, 2, 1, [2, 1, 3]),
        (loose, 3, 1, [3, 1, 2]),
        (loose, 1, 3, [2, 1, 3]),
    ] {
        let block = |number| match number {
            1 => "- [ ] a #T001",
            2 if text == tight => "- [ ] b #T002\n  - [ ] s",
            2 => "- [ ] b #T002",
            _ => "- [ ] c #T003",
        };
        let wanted = match text == tight {
            true => order.map(block).join("\n") + "\n",
            false => order.map(block).join("\n\n"),
        };
        let board = board(text);
        let place = Destination::Before(task(&board, before));
        let after = edit::relocate(&board, task(&board, id), TaskId(id), place).unwrap();
        assert_eq!(&*after.text, wanted, "{text:?}");
    }
    let board = board("## A\n- [ ] a #T001\n  n\n## B\n");
    let after =
        edit::relocate(&board, task(&board, 1), TaskId(1), Destination::EndOf("B")).unwrap();
    assert_eq!(&*after.text, "## A\n## B\n- [ ] a #T001\n  n\n");
}

#[test]
fn replacing_sub_tasks_keeps_the_lines_of_the_others() {
    let text =
        "- [ ] a #T001\n  note\n  * [x]  one\n    detail\n\n  * [ ] two\n  after\n- [ ] b #T002";
    let one = "  * [x]  one\n    detail\n";
    let two = "  * [ ] two\n";
    let without_one = text.replace(one, "");
    for (titles, result) in [
        ("one two", text.to_owned()),
        ("one +two", text.replace("[ ] two", "[x] two")),
        (
            "one mid two",
            text.replace("\n\n  * [ ] two", "\n  * [ ] mid\n\n  * [ ] two"),
        ),
        ("two", without_one.clone()),
        ("", without_one.replace(two, "")),
        (
            "zero one two",
            text.replace(one, &format!("  * [ ] zero\n{one}")),
        ),
        ("two one", without_one.replace(two, &format!("{two}{one}"))),
    ] {
        // `+` marks a sub-task that is set to done.
        let wanted: Vec<(&str, Option<Status>)> = titles
            .split_whitespace()
            .map(|title| match title.strip_prefix('+') {
                Some(title) => (title, Some(Status::Done)),
                None => (title, None),
            })
            .collect();
        assert_eq!(with_subtasks(text, &wanted), result, "{titles}");
    }
}

/// The text after the first task got these sub-tasks.
fn with_subtasks(text: &str, wanted: &[(&str, Option<Status>)]) -> String {
    let board = board(text);
    let wanted: Vec<SubtaskSpec> = wanted
        .iter()
        .map(|(title, status)| SubtaskSpec {
            title: (*title).into(),
            status: *status,
        })
        .collect();
    let change = TaskChange {
        subtasks: Some(&wanted),
        ..TaskChange::default()
    };
    let after = edit::change(&board, task(&board, 1), TaskId(1), &change);
    after.unwrap().text.to_string()
}

#[test]
fn first_sub_tasks_are_indented_like_the_rest_of_the_file() {
    for row in [
        "- [ ] a #T001\n- [ ] b #T002\n\t- [ ] s\n => - [ ] a #T001\n\t- [ ] x\n- [ ] b #T002\n\t- [ ] s\n",
        "1. [ ] a #T001\n => 1. [ ] a #T001\n   - [ ] x\n",
        "- [ ] a #T001\r\n  note => - [ ] a #T001\r\n  note\r\n  - [ ] x",
    ] {
        let [text, wanted] = columns(row);
        assert_eq!(with_subtasks(text, &[("x", None)]), wanted);
    }
}

#[test]
fn items_without_an_id_get_one_when_touched() {
    for (text, wanted) in [
        ("- [ ] a\n", "- [x] a #T005\n"),
        ("- [ ] a  \r\n", "- [x] a #T005  \r\n"),
        ("- [ ]\n", "- [x] #T005\n"),
        ("- [ ] see `#T001`", "- [x] see `#T001` #T005"),
    ] {
        let board = board(text);
        let change = TaskChange {
            status: Some(Status::Done),
            ..TaskChange::default()
        };
        let after = edit::change(&board, &board.tasks[0], TaskId(5), &change).unwrap();
        assert_eq!(&*after.text, wanted, "{text:?}");
    }
}
