//! The page in the console, as data, and the tool that only it has.

use std::sync::Arc;

use kit::{
    Context, Run, Tool,
    console::{Board, PageQuery, Part, Section},
};
use serde_json::{Value, json};

use crate::project::TestProject;

async fn page(project: &TestProject, query: &[(&str, &str)]) -> Vec<Section> {
    let query = query.iter();
    let query = query.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let page = project.counter.page.as_ref().unwrap();
    let query = PageQuery(query.collect());
    page.show(&project.context, &query).await.unwrap()
}

fn board(sections: &[Section]) -> &Board {
    match sections[0].parts.first() {
        Some(Part::Board(board)) => board,
        other => panic!("{other:?}"),
    }
}

/// The ids of the cards in each column.
fn ids(board: &Board) -> Vec<Vec<&str>> {
    let columns = board.columns.iter();
    let ids = columns.map(|column| column.cards.iter().map(|card| card.id.as_str()).collect());
    ids.collect()
}

const TASKS: &str = "## SPEC\n- [ ] one #T001 due:2026-11-14\n- [-] two #T002 after:#T001\n\
    - [ ] without an id\n## Later\n- [x] three #T003\n";

#[tokio::test]
async fn the_board_has_a_column_for_each_status() {
    let project = TestProject::with(TASKS);
    let shown = page(&project, &[]).await;
    let board = board(&shown);
    assert_eq!(
        ids(board),
        [vec!["T001", "T004"], vec!["T002"], vec!["T003"]]
    );
    let tags: Vec<&str> = board.columns[0].cards[0]
        .tags
        .iter()
        .map(|tag| tag.text.as_str())
        .collect();
    assert_eq!(tags, ["T001", "SPEC · 1", "overdue 2026-11-14"]);
    // A button does what the tool would.
    let to = &board.columns[0].cards[1].moves[1];
    let arguments = to.arguments.iter().cloned();
    let arguments: Value = arguments
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    project.ok(board.tool, arguments).await;
    assert_eq!(
        project.tasks(),
        TASKS.replace("- [ ] without an id", "- [x] without an id #T004")
    );
    let shown = page(&project, &[("category", "Later")]).await;
    assert_eq!(ids(self::board(&shown)), [vec![], vec![], vec!["T003"]]);
}

fn page_tool(project: &TestProject) -> Arc<Tool> {
    let tools = project.counter.page.as_ref().unwrap().tools();
    Arc::clone(&tools[0])
}

async fn edit(project: &TestProject, arguments: Value) -> Result<(), String> {
    let tool = page_tool(project);
    let Run::Async(run) = &tool.run else {
        panic!("it waits for files");
    };
    let context: Context = project.context.clone();
    let done = run(context, arguments).await;
    done.map(|_| ()).map_err(|error| error.code.into_owned())
}

/// What the form of a page is based on.
fn base(sections: &[Section]) -> Value {
    let mut parts = sections.iter().flat_map(|section| &section.parts);
    let base = parts.find_map(|part| match part {
        Part::Action(action) => action.fixed.iter().find(|(name, _)| *name == "base"),
        _ => None,
    });
    base.unwrap().1.clone()
}

#[tokio::test]
async fn a_document_is_replaced_unless_it_changed_meanwhile() {
    let project = TestProject::with(TASKS);
    project.put("context/T001.md", "# Context for T001\r\n\r\nold\r\nend");
    let based = base(&page(&project, &[("task", "T001"), ("edit", "1")]).await);
    let change = json!({
        "task_id": "T001", "base": based, "content": "# Context for T001\n\nnew\nend\n"
    });
    edit(&project, change.clone()).await.unwrap();
    let text = project.text("context/T001.md");
    assert_eq!(text, "# Context for T001\r\n\r\nnew\r\nend");
    assert_eq!(edit(&project, change).await.unwrap_err(), "EDIT_CONFLICT");
    project.ok("undo", json!({})).await;
    assert_eq!(
        project.text("context/T001.md"),
        "# Context for T001\r\n\r\nold\r\nend"
    );

    project.adr("Use Rust").await;
    let based = base(&page(&project, &[("adr", "1"), ("edit", "1")]).await);
    let before = project.text("adr/adr-001-use-rust.md");
    let change = json!({ "adr_number": 1, "base": based, "content": "# 1. Use Rust\n" });
    edit(&project, change).await.unwrap();
    assert_eq!(project.text("adr/adr-001-use-rust.md"), "# 1. Use Rust\n");
    project.ok("undo", json!({})).await;
    assert_eq!(project.text("adr/adr-001-use-rust.md"), before);

    let missing = json!({ "task_id": "T900", "base": "", "content": "" });
    assert_eq!(edit(&project, missing).await.unwrap_err(), "TASK_NOT_FOUND");
    let odd = json!({ "adr_number": 0, "base": "", "content": "" });
    assert_eq!(edit(&project, odd).await.unwrap_err(), "INVALID_ADR_NUMBER");
    let none = json!({ "base": "", "content": "" });
    assert_eq!(edit(&project, none).await.unwrap_err(), "INVALID_TASK_ID");
}
