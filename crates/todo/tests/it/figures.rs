//! How long things take on a full project, and how much memory they need:
//! `cargo test -p todo --release --test it figures -- --ignored --nocapture`

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::yard::Yard;

/// A few thousand words, some of them much more frequent than others.
struct Writer {
    words: Vec<String>,
    seed: u64,
}

impl Writer {
    fn new() -> Self {
        let mut writer = Self {
            words: Vec::new(),
            seed: 7,
        };
        let syllables = [
            "an", "ber", "con", "de", "est", "fi", "gra", "in", "lo", "ment", "or", "pre", "ra",
            "sta", "ti", "ver",
        ];
        let kanji: Vec<char> =
            "認証検索設計画面通知課金在庫予約監視確認更新削除登録権限管理仕様要件定義実装試験評価"
                .chars()
                .collect();
        let endings = ["", "する", "の", "を", "が", "について", "機能"];
        for number in 0..3000 {
            let word = if number % 3 == 0 {
                let pair: String = [0; 2]
                    .iter()
                    .map(|_| kanji[writer.next() % kanji.len()])
                    .collect();
                format!("{pair}{}", endings[writer.next() % endings.len()])
            } else {
                (0..2 + writer.next() % 3)
                    .map(|_| syllables[writer.next() % syllables.len()])
                    .collect()
            };
            writer.words.push(word);
        }
        writer
    }

    fn next(&mut self) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize
    }

    /// 4 KB of text with one word that is nowhere else.
    fn text(&mut self, name: &str, number: usize) -> String {
        let mut text = format!("# {name}\n\nneedle{number}x 目印{number}番\n\n");
        while text.len() < 4096 {
            let range = [60, 600, 3000][self.next() % 3];
            let at = self.next() % range;
            text.push_str(&self.words[at]);
            text.push(if self.next() % 12 == 0 { '\n' } else { ' ' });
        }
        text
    }
}

/// 999 tasks with contexts, 999 records and 8,000 other files of 4 KB each.
fn full() -> Yard {
    let yard = Yard::bare();
    let mut writer = Writer::new();
    let mut tasks = String::from("# Task\n");
    for number in 1..=998 {
        if number % 50 == 1 {
            tasks.push_str(&format!("\n## Category {number}\n"));
        }
        tasks.push_str(&format!(
            "- [ ] タスク {number} の認証とログイン #T{number:03}\n  - [ ] 下調べ\n  - [x] 設計\n"
        ));
    }
    yard.put("task.md", tasks);
    for number in 1..=998 {
        let context = writer.text(&format!("Context for T{number:03}"), number);
        fs::create_dir_all(yard.path("context")).unwrap();
        fs::create_dir_all(yard.path("adr")).unwrap();
        fs::write(yard.path(&format!("context/T{number:03}.md")), context).unwrap();
        let adr = format!(
            "# {number}. Decision\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n{}",
            writer.text("x", number)
        );
        fs::write(yard.path(&format!("adr/adr-{number:03}-decision.md")), adr).unwrap();
    }
    for number in 0..8000 {
        let folder = format!("notes/{}", number % 40);
        fs::create_dir_all(yard.path(&folder)).unwrap();
        fs::write(
            yard.path(&format!("{folder}/{number}.md")),
            writer.text("Note", number),
        )
        .unwrap();
    }
    yard
}

/// Seconds of processor time so far: the machine may be busy with other things.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}

fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or("VmRSS: 0 kB");
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1024.0
}

async fn timed(yard: &Yard, tool: &str, arguments: &[Value]) -> (Duration, Duration) {
    let mut times = Vec::new();
    for arguments in arguments {
        let mut arguments = arguments.clone();
        let definition = yard.counter.tool(tool).unwrap();
        (definition.normalise)(&yard.context, arguments.as_object_mut().unwrap());
        let start = Instant::now();
        kit::testing::call(&yard.counter, &yard.context, tool, arguments)
            .await
            .unwrap();
        times.push(start.elapsed());
    }
    times.sort();
    (times[times.len() / 2], times[(times.len() * 99) / 100])
}

#[expect(clippy::print_stderr, reason = "figures are for reading")]
fn report(what: &str, (median, worst): (Duration, Duration)) {
    let (memory, cpu) = (resident_mb(), cpu());
    eprintln!(
        "{what:<44} median {median:>10.2?}  p99 {worst:>10.2?}  memory {memory:.1} MB  cpu {cpu:.2} s"
    );
}

#[tokio::test]
#[ignore = "takes a while; for measuring"]
async fn figures() {
    let made = full();
    tokio::time::sleep(Duration::from_millis(100)).await;
    report("before", (Duration::ZERO, Duration::ZERO));
    let start = Instant::now();
    let yard = Yard::at(&made.root);
    yard.counter
        .background
        .as_ref()
        .unwrap()
        .start(std::sync::Arc::new(|_| {}));
    report("open", (start.elapsed(), start.elapsed()));
    report("first list", timed(&yard, "list_tasks", &[json!({})]).await);
    report(
        "list",
        timed(&yard, "list_tasks", &vec![json!({}); 200]).await,
    );
    report(
        "list, ready",
        timed(&yard, "list_tasks", &vec![json!({"ready": true}); 200]).await,
    );
    report(
        "get_task",
        timed(&yard, "get_task", &vec![json!({"task_id": "T500"}); 200]).await,
    );
    report(
        "first create",
        timed(&yard, "create_task", &[json!({"title": "x"})]).await,
    );
    let update: Vec<Value> = (0..200)
        .map(|n| json!({"task_id": "T500", "status": if n % 2 == 0 { "done" } else { "todo" }}))
        .collect();
    report("update", timed(&yard, "update_task", &update).await);
    let mut creates = Vec::new();
    for _ in 0..50 {
        yard.ok("delete_task", json!({"task_id": "T999"})).await;
        let (time, _) = timed(&yard, "create_task", &[json!({"title": "x"})]).await;
        creates.push(time);
    }
    creates.sort();
    report("create", (creates[25], creates[49]));
    let write: Vec<Value> = (0..100)
        .map(|n| json!({"task_id": "T500", "content": format!("{n}"), "section": "N"}))
        .collect();
    report(
        "update_context",
        timed(&yard, "update_context", &write).await,
    );
    report(
        "first list_adrs",
        timed(&yard, "list_adrs", &[json!({})]).await,
    );
    report(
        "list_adrs",
        timed(&yard, "list_adrs", &vec![json!({}); 50]).await,
    );
    report(
        "first search",
        timed(&yard, "search_contexts", &[json!({"query": "認証"})]).await,
    );
    for query in [
        "needle4711x",
        "目印4711番",
        "needle4711x 認証",
        "認証",
        "ver",
        "認証 確認",
        "verest conde",
        "絶対ない言葉",
    ] {
        let arguments = vec![json!({"query": query}); 20];
        report(
            &format!("search_contexts {query}"),
            timed(&yard, "search_contexts", &arguments).await,
        );
    }
    report(
        "search_tasks",
        timed(
            &yard,
            "search_tasks",
            &vec![json!({"query": "認証 ログイン"}); 50],
        )
        .await,
    );
    let all = json!({"query": "課金", "search_in": ["title", "content", "context"]});
    report(
        "search_tasks with contexts",
        timed(&yard, "search_tasks", &vec![all; 50]).await,
    );
    report(
        "search_adrs",
        timed(
            &yard,
            "search_adrs",
            &vec![json!({"query": "needle471x"}); 50],
        )
        .await,
    );
    yard.counter.background.as_ref().unwrap().stop().await;
    report(
        "search_contexts, not watched",
        timed(
            &yard,
            "search_contexts",
            &vec![json!({"query": "needle4711x"}); 20],
        )
        .await,
    );
}
