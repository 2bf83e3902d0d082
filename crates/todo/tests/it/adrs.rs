//! Decisions: created, superseded and found, including those of other tools.

use serde_json::json;

use crate::project::{TestProject, adr};

#[tokio::test]
async fn an_adr_is_created_superseded_listed_and_found() {
    let project = TestProject::bare();
    let made = project
        .ok(
            "create_adr",
            json!({
                "title": "認証方式：JWT", "context": "背景", "decision": "JWTを使う",
                "rationale": "簡単", "consequences": "鍵の管理"
            }),
        )
        .await;
    assert_eq!(
        made,
        json!({
            "adr_id": "adr-001-認証方式-jwt", "adr_number": 1,
            "file_path": ".todo/adr/adr-001-認証方式-jwt.md",
            "created_at": "2026-11-15T10:00:00+09:00", "change_id": made["change_id"]
        })
    );
    let text = project.text("adr/adr-001-認証方式-jwt.md");
    assert!(text.starts_with(
        "# 1. 認証方式：JWT\n\nDate: 2026-11-15\n\n## Status\n\nProposed\n\n## Context\n\n背景\n"
    ));
    project.adr("Better").await;
    let accept = json!({"adr_number": 1, "status": "Accepted", "reason": "agreed\nby all"});
    let updated = project.ok("update_adr_status", accept).await;
    assert_eq!(
        (&updated["old_status"], &updated["new_status"]),
        (&json!("Proposed"), &json!("Accepted"))
    );
    let replace = json!({"adr_number": 1, "status": "Deprecated", "superseded_by": 2});
    project.ok("update_adr_status", replace.clone()).await;
    let first = project.text("adr/adr-001-認証方式-jwt.md");
    assert!(
        first.contains("## Status\n\nSuperseded by [2. Better](adr-002-better.md)\n"),
        "{first}"
    );
    assert!(first.ends_with("- 2026-11-15T10:00:00+09:00 Proposed\n- 2026-11-15T10:00:00+09:00 Accepted: agreed by all\n- 2026-11-15T10:00:00+09:00 Superseded by 2\n"), "{first}");
    let second = project.text("adr/adr-002-better.md");
    assert!(
        second.contains("Proposed\n\nSupersedes [1. 認証方式：JWT](adr-001-認証方式-jwt.md)\n")
    );
    // Repeating the call changes nothing.
    project.ok("update_adr_status", replace).await;
    assert_eq!(project.text("adr/adr-002-better.md"), second);
    let back = json!({"adr_number": 2, "status": "Deprecated", "superseded_by": 1});
    let code = project.code("update_adr_status", back).await;
    assert_eq!(code, "INVALID_ADR_NUMBER");

    let listed = project.ok("list_adrs", json!({})).await;
    assert_eq!(listed["adrs"][0]["status"], "Deprecated");
    assert_eq!(listed["adrs"][0]["superseded_by"], 2);
    assert_eq!(listed["adrs"][0]["created_at"], "2026-11-15T10:00:00+09:00");
    let proposed = project.ok("list_adrs", json!({"status": "proposed"})).await;
    assert_eq!(proposed["total_count"], 1);
    let read = project.ok("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(
        (&read["superseded_by"], &read["adr_id"]),
        (&json!(2), &json!("adr-001-認証方式-jwt"))
    );
    let query = json!({"query": "鍵 ＪＷＴ"});
    let found = project.ok("search", query).await;
    assert_eq!(found["results"][0]["id"], "1");
    assert_eq!(found["total_matches"], 1);
}

#[tokio::test]
async fn adr_tools_directories_are_supported() {
    let project = TestProject::bare();
    let text = "# 1. Record architecture decisions\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n## Context\n\nWe need to record.\n";
    project.put("adr/0001-record-architecture-decisions.md", text);
    project.put("adr/README.md", "not a record");
    let listed = project.ok("list_adrs", json!({})).await;
    assert_eq!(listed["total_count"], 1);
    assert_eq!(listed["adrs"][0]["title"], "Record architecture decisions");
    assert_eq!(listed["adrs"][0]["created_at"], "2026-01-02T00:00:00+09:00");
    assert_eq!(project.adr("Next").await, 2);
    let deprecate = json!({"adr_number": 1, "status": "Deprecated"});
    project.ok("update_adr_status", deprecate).await;
    let changed = project.text("adr/0001-record-architecture-decisions.md");
    let expected = text.replace("Accepted", "Deprecated")
        + "\n## Status history\n\n- 2026-11-15T10:00:00+09:00 Deprecated\n";
    assert_eq!(changed, expected);
}

#[tokio::test]
async fn duplicate_adr_numbers_are_reported_with_their_files() {
    let project = TestProject::bare();
    project.put("adr/adr-001-a.md", "# a\n");
    project.put("adr/adr-001-b.md", "# b\n");
    let listed = project.ok("list_adrs", json!({})).await;
    let warning = listed["warnings"][0].to_string();
    assert!(warning.contains("adr-001-a, adr-001-b"), "{warning}");
    let error = project.refused("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(error.code, "DUPLICATE_ADR_NUMBER");
    assert_eq!(project.adr("c").await, 2);
}

#[tokio::test]
async fn an_adr_is_superseded_once_and_named_in_any_spelling() {
    let project = TestProject::bare();
    for (old, number) in [
        (json!(null), 1),
        (json!("ADR-001"), 2),
        (json!("adr-002"), 3),
        (json!("3"), 4),
        (json!("004"), 5),
    ] {
        let mut call = adr("Why");
        call["supersedes"] = old;
        assert_eq!(project.ok("create_adr", call).await["adr_number"], number);
    }
    let mut again = adr("Again");
    again["supersedes"] = json!(1);
    let error = project.refused("create_adr", again).await;
    assert_eq!(error.code, "INVALID_ADR_NUMBER");
    assert_eq!(error.message, "ADR 1 is already superseded by ADR 2.");
    assert_eq!(error.details.unwrap()["field"], "supersedes");
    let update = json!({"adr_number": 1, "status": "Superseded", "superseded_by": "ADR-005"});
    let code = project.code("update_adr_status", update.clone()).await;
    assert_eq!(code, "INVALID_ADR_NUMBER");
    // Its successor is gone, or it is valid again.
    let accepted = json!({"adr_number": 1, "status": "Accepted"});
    project.ok("update_adr_status", accepted).await;
    let changed = project.ok("update_adr_status", update).await;
    assert_eq!(changed["superseded_by"], 5);
}
