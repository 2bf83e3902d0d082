//! Search in Japanese and English.

use serde_json::{Value, json};

use crate::project::{TestProject, column, rows};

/// How many files `search_contexts` finds.
async fn count(project: &TestProject, query: &str) -> i64 {
    let answer = project.ok("search_contexts", json!({"query": query})).await;
    answer["total_matches"].as_i64().unwrap()
}

fn found(answer: &Value, field: &str) -> Vec<String> {
    column(&answer["results"], field)
}

#[tokio::test]
async fn search_finds_tasks_by_title_content_and_context() {
    let project = TestProject::with(
        "## A\n- [ ] ログイン画面 #T001\n  - [ ] バリデーション\n- [ ] Login API #T002\n  認証トークンを返す\n- [ ] 他 #T003\n",
    );
    project.put(
        "context/T003.md",
        "# Context for T003\n\nOAuth の認証フロー\n",
    );
    let cases = r#"
T001 {"query": "ろぐいん"}
T001 {"query": "ﾛｸﾞｲﾝ"}
T002 {"query": "ＬＯＧＩＮ"}
T001 {"query": "バリデーション"}
 {"query": "バリデーション", "search_in": ["title"]}
T002 {"query": "認証"}
T003 {"query": "認証", "search_in": ["context"]}
T002T003 {"query": "認証", "search_in": ["title", "content", "context"]}
T002 {"query": "login トークン"}
T002 {"query": "login zzz"}
 {"query": "存在しない"}
 {"query": "!?"}
"#;
    for ([wanted], arguments) in rows(cases) {
        let answer = project.ok("search_tasks", arguments.clone()).await;
        assert_eq!(found(&answer, "task_id").concat(), wanted, "{arguments}");
        assert_eq!(answer["total_matches"], wanted.len() / 4);
    }
    let answer = project.ok("search_tasks", json!({"query": "認証"})).await;
    let best = &answer["results"][0];
    assert_eq!(best["matched_content"], "認証トークンを返す");
    let score = best["match_score"].as_f64().unwrap();
    assert!(score > 0.0 && score < 1.0);
}

#[tokio::test]
async fn matches_in_titles_rank_first() {
    let project = TestProject::with(
        "- [ ] note about search #T001\n- [ ] search #T002\n- [ ] x #T003\n  search\n",
    );
    let answer = project.ok("search_tasks", json!({"query": "search"})).await;
    assert_eq!(found(&answer, "task_id"), ["T002", "T001", "T003"]);
    assert_eq!(answer["results"][0]["match_score"], 1.0);
    let limited = json!({"query": "search", "limit": 1});
    let one = project.ok("search_tasks", limited).await;
    assert_eq!(found(&one, "task_id").len(), 1);
    assert_eq!(one["total_matches"], 3);
}

#[tokio::test]
async fn search_covers_contexts_and_other_markdown_files() {
    let project = TestProject::with("- [ ] a #T001\n");
    for (name, text) in [
        ("context/T001.md", "# Context for T001\n\nレート制限の話\n"),
        (
            "notes/deep/meeting.md",
            "# Meeting\n\nwe spoke about レート制限 and more\n",
        ),
        ("notes/.hidden.md", "レート制限"),
        ("notes/other.txt", "レート制限"),
        ("adr/adr-001-x.md", "# 1. レート制限\n"),
    ] {
        project.put(name, text);
    }
    let query = json!({"query": "れーと制限"});
    let answer = project.ok("search_contexts", query).await;
    assert_eq!(
        found(&answer, "file_path"),
        [".todo/context/T001.md", ".todo/notes/deep/meeting.md"]
    );
    assert_eq!(found(&answer, "task_id"), ["T001", "-"]);
    let second = &answer["results"][1];
    assert_eq!(
        second["matched_content"],
        "we spoke about レート制限 and more"
    );
    // An earlier name of the tool that covers all of them.
    let answer = project.ok("search_adrs", json!({"query": "レート"})).await;
    assert_eq!(answer["total_matches"], 3);
}

#[tokio::test]
async fn search_sees_changed_files() {
    let project = TestProject::with("- [ ] a #T001\n");
    project.put("notes/a.md", "alpha");
    assert_eq!(count(&project, "alpha").await, 1);
    project.put("notes/a.md", "omega");
    assert_eq!(count(&project, "alpha").await, 0);
    assert_eq!(count(&project, "omega").await, 1);
    let note = json!({"task_id": "T001", "content": "omega"});
    project.ok("update_context", note).await;
    assert_eq!(count(&project, "omega").await, 2);
    std::fs::remove_dir_all(project.path("notes")).unwrap();
    assert_eq!(count(&project, "omega").await, 1);
    project.delete("T001").await;
    assert_eq!(count(&project, "omega").await, 0);
}

#[tokio::test]
async fn search_covers_more_text_than_fits_in_memory() {
    let project = TestProject::with("");
    let filler = "lorem ipsum dolor sit amet 意味のない文章。".repeat(650);
    std::fs::create_dir_all(project.path("notes")).unwrap();
    for number in 0..300 {
        let text = format!("# File {number}\n\n{filler}\nneedle{number}x 目印{number}番\n");
        std::fs::write(project.path(&format!("notes/{number}.md")), text).unwrap();
    }
    for query in ["needle7x", "目印7番", "NEEDLE299X 目印"] {
        assert_eq!(count(&project, query).await, 1, "{query}");
    }
    let query = json!({"query": "意味のない文章"});
    let answer = project.ok("search_contexts", query).await;
    assert_eq!(answer["total_matches"], 300);
    assert_eq!(answer["results"].as_array().unwrap().len(), 20);
    // Finds the file that was written first by a single letter.
    project.put("notes/0.md", format!("# Old\n{filler}\n界\n"));
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    std::fs::File::open(project.path("notes/0.md"))
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
    let answer = project.ok("search_contexts", json!({"query": "界"})).await;
    assert_eq!(found(&answer, "file_path"), [".todo/notes/0.md"]);
    assert_eq!(count(&project, "絶対にない").await, 0);
}
