//! Which ids are issued, also across worktrees of one repository.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use crate::project::{TestProject, adr};

/// A repository with a second worktree, as git lays them out.
fn repository(directory: &Path) {
    let git = directory.join("main/.git");
    fs::create_dir_all(git.join("worktrees/second")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir_all(directory.join("second/packages/web")).unwrap();
    fs::create_dir_all(directory.join("main/packages/web")).unwrap();
    let second = git.join("worktrees/second");
    fs::write(second.join("HEAD"), "ref: refs/heads/second\n").unwrap();
    fs::write(second.join("commondir"), "../..\n").unwrap();
    let pointer = format!("gitdir: {}\n", second.display());
    fs::write(directory.join("second/.git"), pointer).unwrap();
}

#[tokio::test]
async fn worktrees_never_issue_the_same_number() {
    let directory = TempDir::new().unwrap();
    repository(directory.path());
    let main = TestProject::at(&directory.path().join("main"));
    let second = TestProject::at(&directory.path().join("second"));
    assert_eq!(main.task("a").await, "T001");
    assert_eq!(second.task("b").await, "T002");
    assert_eq!(main.task("c").await, "T003");
    assert_eq!(second.adr("x").await, 1);
    assert_eq!(main.adr("y").await, 2);
    assert!(directory.path().join("main/.git/madoguchi-todo").exists());
    assert!(!main.exists(".numbers") && !second.exists(".numbers"));
    // An item that is in both worktrees has the same id.
    main.put("task.md", "- [ ] by hand\n");
    second.put("task.md", "- [ ] by hand\n");
    for worktree in [&main, &second] {
        assert_eq!(worktree.list().await["tasks"][0]["task_id"], "T004");
    }
    // Another project in the repository has its own numbers.
    let web = TestProject::at(&directory.path().join("main/packages/web"));
    assert_eq!(web.task("a").await, "T001");
    let web = TestProject::at(&directory.path().join("second/packages/web"));
    assert_eq!(web.task("a").await, "T002");
}

#[tokio::test]
async fn numbers_are_not_reused_while_others_are_free() {
    let project = TestProject::bare();
    for id in ["T001", "T002"] {
        assert_eq!(project.task("a").await, id);
        project.delete(id).await;
    }
    // Numbers used by people and other branches are skipped too.
    project.put(
        "task.md",
        "- [ ] mine #T010\n\nSee #T020 on the other branch.\n",
    );
    assert_eq!(project.task("b").await, "T021");
    fs::write(project.path(".numbers"), "broken").unwrap();
    assert_eq!(project.task("c").await, "T022");
}

#[tokio::test]
async fn a_ledger_that_is_cut_off_counts_up_to_its_last_whole_line() {
    let project = TestProject::bare();
    let keyed = json!({"title": "a", "idempotency_key": "k"});
    assert_eq!(
        project.ok("create_task", keyed.clone()).await["task_id"],
        "T001"
    );
    assert_eq!(project.task("b").await, "T002");
    project.delete("T002").await;
    // What a power failure may leave of the next lines.
    let mut ledger = fs::read(project.path(".numbers")).unwrap();
    ledger.extend([0; 512]);
    ledger.extend(b"\xe3\x81{\".\":{\"tasks\":\"1-");
    fs::write(project.path(".numbers"), &ledger).unwrap();
    assert_eq!(project.task("c").await, "T003");
    assert_eq!(project.ok("create_task", keyed).await["task_id"], "T001");
    project.delete("T003").await;
    assert_eq!(project.task("d").await, "T004");
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_through_a_link_in_place_of_the_ledger() {
    let project = TestProject::bare();
    assert_eq!(project.task("a").await, "T001");
    let elsewhere = TempDir::new().unwrap();
    let theirs = elsewhere.path().join("theirs");
    fs::write(&theirs, "theirs\n").unwrap();
    fs::remove_file(project.path(".numbers")).unwrap();
    std::os::unix::fs::symlink(&theirs, project.path(".numbers")).unwrap();
    assert_eq!(project.task("b").await, "T002");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs\n");
    let ledger = fs::symlink_metadata(project.path(".numbers")).unwrap();
    assert!(ledger.is_file());
    // Nor is one created where a link leads to nothing.
    fs::remove_file(project.path(".numbers")).unwrap();
    let nothing = elsewhere.path().join("nothing");
    std::os::unix::fs::symlink(&nothing, project.path(".numbers")).unwrap();
    assert_eq!(project.task("c").await, "T003");
    assert!(!nothing.exists());
    // A copy of the project that shares its files keeps its own.
    let copy = elsewhere.path().join("copy");
    fs::hard_link(project.path(".numbers"), &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    assert_eq!(project.task("d").await, "T004");
    assert_eq!(fs::read(&copy).unwrap(), before);
}

#[tokio::test]
async fn the_number_of_an_undone_task_is_not_issued_again_though_the_ledger_was_lost() {
    let project = TestProject::bare();
    assert_eq!(project.task("a").await, "T001");
    let made = project.ok("create_task", json!({"title": "b"})).await;
    fs::remove_file(project.path(".numbers")).unwrap();
    let undo = json!({"change_id": made["change_id"]});
    project.ok("undo", undo).await;
    assert_eq!(project.task("c").await, "T003");
}

/// A key that can't be looked up may have been used.
#[tokio::test]
async fn nothing_is_created_under_a_key_while_the_ledger_cannot_be_read() {
    let project = TestProject::bare();
    let keyed = json!({"title": "a", "idempotency_key": "k"});
    assert_eq!(
        project.ok("create_task", keyed.clone()).await["task_id"],
        "T001"
    );
    let ledger = fs::read(project.path(".numbers")).unwrap();
    fs::remove_file(project.path(".numbers")).unwrap();
    fs::create_dir(project.path(".numbers")).unwrap();
    let code = project.code("create_task", keyed.clone()).await;
    assert_eq!(code, "FILE_READ_ERROR");
    fs::remove_dir(project.path(".numbers")).unwrap();
    fs::write(project.path(".numbers"), ledger).unwrap();
    assert_eq!(project.ok("create_task", keyed).await["task_id"], "T001");
    assert_eq!(project.list().await["tasks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_ledger_does_not_grow_with_every_change() {
    let project = TestProject::bare();
    for number in 1..=300 {
        let keyed = json!({"title": "a", "idempotency_key": format!("{number:0>64}")});
        project.ok("create_task", keyed).await;
        let length = fs::metadata(project.path(".numbers")).unwrap().len();
        assert!(length < 300 << 10, "{length} bytes after {number} tasks");
    }
    project.delete("T300").await;
    assert_eq!(project.task("b").await, "T301");
}

#[tokio::test]
async fn a_refused_call_uses_no_number() {
    let project = TestProject::with("- [ ] a #T001\n");
    let fails = json!({"tool": "delete_task", "arguments": {"task_id": "T077"}});
    let mut keyed = json!({"title": "b", "idempotency_key": "k"});
    let record = adr("Why");
    let operations = json!({"operations": [
        {"tool": "create_task", "arguments": keyed},
        {"tool": "create_task", "arguments": {"title": "c"}},
        {"tool": "create_adr", "arguments": record},
        fails,
    ]});
    assert_eq!(project.code("batch", operations).await, "TASK_NOT_FOUND");
    let mut supersedes = adr("Why");
    supersedes["supersedes"] = json!(7);
    let code = project.code("create_adr", supersedes).await;
    assert_eq!(code, "ADR_NOT_FOUND");
    let other = project.ok("create_task", json!({"title": "other"})).await;
    assert_eq!(other["task_id"], "T002");
    assert_eq!(project.ok("create_adr", adr("Why")).await["adr_number"], 1);
    // The key of the refused call is free.
    keyed["title"] = json!("another");
    let made = project.ok("create_task", keyed).await;
    assert_eq!(made["task_id"], "T003");
}
