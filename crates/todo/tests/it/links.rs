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
