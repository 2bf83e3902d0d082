//! Search in Japanese and English.

use serde_json::{Value, json};

use crate::project::TestProject;

fn found(answer: &Value, field: &str) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .map(|r| r[field].as_str().unwrap_or("-").to_owned())
        .collect()
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
    for (query, places, wanted) in [
        ("ろぐいん", None, vec!["T001"]),
        ("ﾛｸﾞｲﾝ", None, vec!["T001"]),
        ("ＬＯＧＩＮ", None, vec!["T002"]),
        ("バリデーション", None, vec!["T001"]),
        ("バリデーション", Some(json!(["title"])), vec![]),
        ("認証", None, vec!["T002"]),
        ("認証", Some(json!(["context"])), vec!["T003"]),
        (
            "認証",
            Some(json!(["title", "content", "context"])),
            vec!["T002", "T003"],
        ),
        ("login トークン", None, vec!["T002"]),
        ("login zzz", None, vec!["T002"]),
        ("存在しない", None, vec![]),
        ("!?", None, vec![]),
    ] {
        let mut arguments = json!({"query": query});
        if let Some(places) = places {
            arguments["search_in"] = places;
        }
        let answer = project.ok("search_tasks", arguments.clone()).await;
        assert_eq!(found(&answer, "task_id"), wanted, "{arguments}");
        assert_eq!(answer["total_matches"], wanted.len());
    }
    let answer = project.ok("search_tasks", json!({"query": "認証"})).await;
    assert_eq!(
        answer["results"][0]["matched_content"],
        "認証トークンを返す"
    );
    let score = answer["results"][0]["match_score"].as_f64().unwrap();
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
    let one = project
        .ok("search_tasks", json!({"query": "search", "limit": 1}))
        .await;
    assert_eq!(
        (found(&one, "task_id").len(), &one["total_matches"]),
        (1, &json!(3))
    );
}

#[tokio::test]
async fn search_covers_contexts_and_other_markdown_files() {
    let project = TestProject::with("- [ ] a #T001\n");
    project.put("context/T001.md", "# Context for T001\n\nレート制限の話\n");
    project.put(
        "notes/deep/meeting.md",
        "# Meeting\n\nwe spoke about レート制限 and more\n",
    );
    project.put("notes/.hidden.md", "レート制限");
    project.put("notes/other.txt", "レート制限");
    project.put("adr/adr-001-x.md", "# 1. レート制限\n");
    let answer = project
        .ok("search_contexts", json!({"query": "れーと制限"}))
        .await;
    assert_eq!(
        found(&answer, "file_path"),
        [".todo/context/T001.md", ".todo/notes/deep/meeting.md"]
    );
    assert_eq!(found(&answer, "task_id"), ["T001", "-"]);
    assert_eq!(
        answer["results"][1]["matched_content"],
        "we spoke about レート制限 and more"
    );
    let answer = project.ok("search_adrs", json!({"query": "レート"})).await;
    assert_eq!(answer["total_matches"], 1);
}

#[tokio::test]
async fn search_sees_changed_files() {
    let project = TestProject::with("- [ ] a #T001\n");
    project.put("notes/a.md", "alpha");
    let count = |answer: Value| answer["total_matches"].as_i64().unwrap();
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "alpha"}))
                .await
        ),
        1
    );
    project.put("notes/a.md", "omega");
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "alpha"}))
                .await
        ),
        0
    );
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "omega"}))
                .await
        ),
        1
    );
    project
        .ok(
            "update_context",
            json!({"task_id": "T001", "content": "omega"}),
        )
        .await;
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "omega"}))
                .await
        ),
        2
    );
    std::fs::remove_dir_all(project.path("notes")).unwrap();
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "omega"}))
                .await
        ),
        1
    );
    project.ok("delete_task", json!({"task_id": "T001"})).await;
    assert_eq!(
        count(
            project
                .ok("search_contexts", json!({"query": "omega"}))
                .await
        ),
        0
    );
}

#[tokio::test]
async fn search_covers_more_text_than_fits_in_memory() {
    let project = TestProject::with("");
    let filler = "lorem ipsum dolor sit amet 意味のない文章。".repeat(650);
    for number in 0..300 {
        let text = format!("# File {number}\n\n{filler}\nneedle{number}x 目印{number}番\n");
        std::fs::create_dir_all(project.path("notes")).unwrap();
        std::fs::write(project.path(&format!("notes/{number}.md")), text).unwrap();
    }
    for query in ["needle7x", "目印7番", "NEEDLE299X 目印"] {
        let answer = project.ok("search_contexts", json!({"query": query})).await;
        assert_eq!(answer["total_matches"], 1, "{query}");
    }
    let answer = project
        .ok("search_contexts", json!({"query": "意味のない文章"}))
        .await;
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
    assert_eq!(answer["total_matches"], 1);
    assert_eq!(answer["results"][0]["file_path"], ".todo/notes/0.md");
    let answer = project
        .ok("search_contexts", json!({"query": "絶対にない"}))
        .await;
    assert_eq!(answer["total_matches"], 0);
}
