//! Links between tasks and to decisions.

use serde_json::json;

use crate::project::TestProject;

#[tokio::test]
async fn links_are_written_as_tags_in_the_line() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n- [x] c #T003\n");
    project.adr("Why").await;
    let link = |relation: &str, target: &str| json!({"task_id": "T001", "relation": relation, "target": target});
    let linked = project.ok("link_tasks", link("depends_on", "T002")).await;
    assert_eq!(linked["blocked_by"], json!(["T002"]));
    project.ok("link_tasks", link("depends_on", "T003")).await;
    project.ok("link_tasks", link("decided_by", "1")).await;
    project.ok("link_tasks", link("relates", "T003")).await;
    let line = "- [ ] a #T001 after:#T002,#T003 adr:001 see:#T003\n";
    assert_eq!(
        project.tasks(),
        format!("{line}- [ ] b #T002\n- [x] c #T003\n")
    );
    // Repeating the call changes nothing.
    project.ok("link_tasks", link("depends_on", "T002")).await;
    assert!(project.tasks().starts_with(line));
    let blocked = project.ok("list_tasks", json!({"blocked": true})).await;
    assert_eq!(blocked["tasks"][0]["blocked_by"], json!(["T002"]));
    assert_eq!(blocked["total_count"], 1);
    project.set_status("T002", "done").await;
    let ready = project.ok("list_tasks", json!({"ready": true})).await;
    assert_eq!(ready["tasks"][0]["task_id"], "T001");
    let adr = project.ok("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(adr["tasks"], json!(["T001"]));
    for (relation, target) in [
        ("depends_on", "T002"),
        ("depends_on", "T003"),
        ("decided_by", "1"),
        ("relates", "T003"),
    ] {
        let mut arguments = link(relation, target);
        arguments["remove"] = json!(true);
        project.ok("link_tasks", arguments).await;
    }
    assert_eq!(
        project.tasks(),
        "- [ ] a #T001\n- [x] b #T002\n- [x] c #T003\n"
    );
}

#[tokio::test]
async fn dependency_cycles_are_rejected() {
    let project =
        TestProject::with("- [ ] a #T001 after:#T002\n- [ ] b #T002\n- [ ] c #T003 blocks:#T002\n");
    for (task, relation, target) in [
        ("T002", "depends_on", "T001"),
        ("T003", "depends_on", "T001"),
        ("T001", "blocks", "T003"),
    ] {
        let arguments = json!({"task_id": task, "relation": relation, "target": target});
        let error = project.refused("link_tasks", arguments.clone()).await;
        assert_eq!(error.code, "DEPENDENCY_CYCLE", "{arguments}");
        assert!(error.message.contains("T001 after T002"), "{error}");
    }
    // A link can be removed from either side.
    let remove =
        json!({"task_id": "T002", "relation": "depends_on", "target": "T003", "remove": true});
    project.ok("link_tasks", remove).await;
    assert_eq!(
        project.tasks(),
        "- [ ] a #T001 after:#T002\n- [ ] b #T002\n- [ ] c #T003\n"
    );
}

#[tokio::test]
async fn a_deleted_task_blocks_nothing() {
    let project = TestProject::with("- [ ] a #T001 after:#T002\n- [ ] b #T002\n");
    let delete = json!({"task_id": "T002", "relink": true});
    project.ok("delete_task", delete).await;
    assert_eq!(project.tasks(), "- [ ] a #T001\n");
    let ready = project.ok("list_tasks", json!({"ready": true})).await;
    assert_eq!(ready["total_count"], 1);
}

/// People write links and ids by hand, and merges double them.
#[tokio::test]
async fn next_tasks_warns_of_circles_and_doubled_ids() {
    let project = TestProject::with(
        "- [ ] a #T001 after:#T002\n- [ ] b #T002 after:#T003\n- [ ] c #T003 blocks:#T002 after:#T001\n\
         - [x] d #T004 after:#T005\n- [ ] e #T005 after:#T004\n- [ ] f #T006 after:#T007\n\
         - [ ] f #T006 after:#T007\n- [ ] g #T007\n",
    );
    let answer = project.ok("next_tasks", json!({})).await;
    let tasks = answer["tasks"].as_array().unwrap();
    let rows: Vec<_> = tasks
        .iter()
        .map(|row| (&row["task_id"], &row["reason"]))
        .collect();
    let ready = json!([
        "T007",
        "T006 waits for it",
        "T005",
        "ready, number 5 in Default"
    ]);
    assert_eq!(
        rows,
        [(&ready[0], &ready[1]), (&ready[2], &ready[3])],
        "{answer}"
    );
    let message = "Waiting: T001 for T002, T002 for T003, T003 for T001, T006 for T007.";
    assert_eq!(answer["message"], message);
    let warnings = answer["warnings"].as_array().unwrap();
    let codes: Vec<&str> = warnings
        .iter()
        .map(|it| it["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["DEPENDENCY_CYCLE", "DUPLICATE_TASK_ID"]);
    assert_eq!(warnings[0]["path"], json!(["T001", "T002", "T003", "T001"]));
    assert_eq!(warnings[1]["task_id"], "T006");
}
