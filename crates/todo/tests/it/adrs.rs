//! Decisions: made, superseded, found; those of other tools as well.

use serde_json::json;

use crate::yard::Yard;

#[tokio::test]
async fn a_record_from_beginning_to_end() {
    let yard = Yard::bare();
    let made = yard
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
            "created_at": "2026-11-15T10:00:00+09:00"
        })
    );
    let text = yard.text("adr/adr-001-認証方式-jwt.md");
    assert!(text.starts_with(
        "# 1. 認証方式：JWT\n\nDate: 2026-11-15\n\n## Status\n\nProposed\n\n## Context\n\n背景\n"
    ));
    yard.adr("Better").await;
    let accept = json!({"adr_number": 1, "status": "Accepted", "reason": "agreed\nby all"});
    let updated = yard.ok("update_adr_status", accept).await;
    assert_eq!(
        (&updated["old_status"], &updated["new_status"]),
        (&json!("Proposed"), &json!("Accepted"))
    );
    let replace = json!({"adr_number": 1, "status": "Deprecated", "superseded_by": 2});
    yard.ok("update_adr_status", replace.clone()).await;
    let first = yard.text("adr/adr-001-認証方式-jwt.md");
    assert!(
        first.contains("## Status\n\nSuperseded by [2. Better](adr-002-better.md)\n"),
        "{first}"
    );
    assert!(first.ends_with("- 2026-11-15T10:00:00+09:00 Proposed\n- 2026-11-15T10:00:00+09:00 Accepted: agreed by all\n- 2026-11-15T10:00:00+09:00 Superseded by 2\n"), "{first}");
    let second = yard.text("adr/adr-002-better.md");
    assert!(
        second.contains("Proposed\n\nSupersedes [1. 認証方式：JWT](adr-001-認証方式-jwt.md)\n")
    );
    // The same again changes nothing.
    yard.ok("update_adr_status", replace).await;
    assert_eq!(yard.text("adr/adr-002-better.md"), second);
    let back = json!({"adr_number": 2, "status": "Deprecated", "superseded_by": 1});
    assert_eq!(
        yard.code("update_adr_status", back).await,
        "INVALID_ADR_NUMBER"
    );

    let listed = yard.ok("list_adrs", json!({})).await;
    assert_eq!(listed["adrs"][0]["status"], "Deprecated");
    assert_eq!(listed["adrs"][0]["superseded_by"], 2);
    assert_eq!(listed["adrs"][0]["created_at"], "2026-11-15T10:00:00+09:00");
    let proposed = yard.ok("list_adrs", json!({"status": "proposed"})).await;
    assert_eq!(proposed["total_count"], 1);
    let read = yard.ok("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(
        (&read["superseded_by"], &read["adr_id"]),
        (&json!(2), &json!("adr-001-認証方式-jwt"))
    );
    let found = yard.ok("search_adrs", json!({"query": "鍵 ＪＷＴ"})).await;
    assert_eq!(found["results"][0]["adr_number"], 1);
    assert_eq!(found["total_matches"], 1);
}

#[tokio::test]
async fn directories_of_adr_tools_are_read() {
    let yard = Yard::bare();
    let text = "# 1. Record architecture decisions\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n## Context\n\nWe need to record.\n";
    yard.put("adr/0001-record-architecture-decisions.md", text);
    yard.put("adr/README.md", "not a record");
    let listed = yard.ok("list_adrs", json!({})).await;
    assert_eq!(listed["total_count"], 1);
    assert_eq!(listed["adrs"][0]["title"], "Record architecture decisions");
    assert_eq!(listed["adrs"][0]["created_at"], "2026-01-02T00:00:00+09:00");
    assert_eq!(yard.adr("Next").await, 2);
    yard.ok(
        "update_adr_status",
        json!({"adr_number": 1, "status": "Deprecated"}),
    )
    .await;
    let changed = yard.text("adr/0001-record-architecture-decisions.md");
    let expected = text.replace("Accepted", "Deprecated")
        + "\n## Status history\n\n- 2026-11-15T10:00:00+09:00 Deprecated\n";
    assert_eq!(changed, expected);
}

#[tokio::test]
async fn numbers_that_two_files_have_are_named() {
    let yard = Yard::bare();
    yard.put("adr/adr-001-a.md", "# a\n");
    yard.put("adr/adr-001-b.md", "# b\n");
    let listed = yard.ok("list_adrs", json!({})).await;
    assert!(
        listed["warnings"][0]
            .as_str()
            .unwrap()
            .contains("adr-001-a, adr-001-b")
    );
    let error = yard.refused("get_adr", json!({"adr_number": 1})).await;
    assert_eq!(error.code, "DUPLICATE_ADR_NUMBER");
    assert_eq!(yard.adr("c").await, 2);
}
