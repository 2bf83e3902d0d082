//! The calls of the tour, one of each counter.

use std::path::Path;

use kit::context::Language;
use serde_json::{Value, json};

use crate::locale::pick;

pub struct TourStep {
    pub counter: &'static str,
    pub tool: &'static str,
    /// What happens, in English and Japanese.
    title: [&'static str; 2],
    pub arguments: fn(Language) -> Value,
    /// The answer in short, in columns. The path is the project of the tour.
    pub answer: fn(&Value, &Path) -> Vec<Vec<String>>,
    /// What the call shows, in English and Japanese.
    shows: [&'static str; 2],
}

impl TourStep {
    pub fn title(&self, language: Language) -> &'static str {
        in_language(self.title, language)
    }

    pub fn shows(&self, language: Language) -> &'static str {
        in_language(self.shows, language)
    }
}

fn in_language([english, japanese]: [&'static str; 2], language: Language) -> &'static str {
    match language {
        Language::English => english,
        Language::Japanese => japanese,
    }
}

pub const STEPS: [TourStep; 5] = [
    TourStep {
        counter: "cinema",
        tool: "find_best_seats",
        title: ["two good seats for tomorrow", "明日の映画で良い席を2つ探す"],
        arguments: |language| match language {
            Language::English => json!({ "party_size": 2, "date": "tomorrow" }),
            Language::Japanese => json!({ "party_size": 2, "date": "明日" }),
        },
        answer: |answer, _| {
            let blocks = list(answer, "blocks").iter().take(3);
            let line = |block: &Value| {
                let seats: Vec<&str> = list(block, "seat_ids")
                    .iter()
                    .filter_map(Value::as_str)
                    .collect();
                let [film, date, time, hall] =
                    ["movie_title", "date", "start_time", "theater_name"]
                        .map(|name| text(block, name).to_owned());
                vec![film, date, time, hall, seats.join(", ")]
            };
            blocks.map(line).collect()
        },
        shows: [
            "The best seats of all screenings. `hold: true` would keep them while a customer decides.",
            "全上映から良い席を選びます。`hold: true`を付けると、お客様が決めるまで確保します。",
        ],
    },
    TourStep {
        counter: "merchant",
        tool: "search_products",
        title: ["search the shop", "商品を探す"],
        arguments: |language| match language {
            Language::English => json!({ "keywords": ["calendar"], "limit": 3 }),
            Language::Japanese => json!({ "keywords": ["ｶﾚﾝﾀﾞｰ"], "limit": 3 }),
        },
        answer: |answer, _| {
            let products = list(answer, "products").iter();
            let line = |product: &Value| {
                let [price, stock] = ["price_jpy", "inventory_count"]
                    .map(|name| product[name].as_f64().unwrap_or_default());
                let left = pick("in stock", "在庫");
                let name = text(product, "name").to_owned();
                vec![name, format!("¥{price}"), format!("{left} {stock}")]
            };
            products.map(line).collect()
        },
        shows: [
            "English words, kana of any width and misspellings find the same products.",
            "半角カナや英語、表記ゆれでも同じ商品が見つかります。",
        ],
    },
    TourStep {
        counter: "todo",
        tool: "create_task",
        title: ["plan a task of a project", "プロジェクトのタスクを作る"],
        arguments: |language| match language {
            Language::English => json!({
                "title": "Publish the release",
                "subtasks": ["Write the changelog", "Tag the commit"],
            }),
            Language::Japanese => json!({
                "title": "リリースを公開する",
                "subtasks": ["変更履歴を書く", "タグを付ける"],
            }),
        },
        answer: |answer, project| {
            let made = ["task_id", "file_path"].map(|name| text(answer, name).to_owned());
            let mut lines = vec![made.to_vec()];
            let written = std::fs::read_to_string(project.join(".todo/task.md"));
            let written = written.unwrap_or_default();
            let tasks = written.lines().filter(|line| line.contains("[ ]"));
            lines.extend(tasks.take(4).map(|line| vec![format!("  {line}")]));
            lines
        },
        shows: [
            "The plan is Markdown in `.todo/` of the project. People edit the same files.",
            "計画はプロジェクトの`.todo/`にあるMarkdownです。人も同じファイルを編集できます。",
        ],
    },
    TourStep {
        counter: "rooms",
        tool: "agent_communication_create_room",
        title: [
            "a room in which agents talk",
            "エージェント同士が話す部屋を作る",
        ],
        arguments: |_| json!({ "roomName": "release", "agentName": "alice" }),
        answer: |answer, _| vec![vec![text(answer, "message").to_owned()]],
        shows: [
            "Other agents enter it, mention each other with @name and wait for replies.",
            "ほかのエージェントも入室し、@名前で呼びかけ、返事を待てます。",
        ],
    },
    TourStep {
        counter: "innervoice",
        tool: "calendar_create",
        title: [
            "an appointment, with your approval",
            "予定を入れる（あなたの承認が必要）",
        ],
        arguments: |language| match language {
            Language::English => json!({
                "title": "Lunch with Aoi", "start": "tomorrow at 12:30", "duration_min": 60,
            }),
            Language::Japanese => json!({
                "title": "葵さんとランチ", "start": "明日12時30分", "duration_min": 60,
            }),
        },
        answer: |answer, _| vec![vec![text(answer, "message").to_owned()]],
        shows: [
            "An approval is for exactly this call, once. Agents can't approve themselves.",
            "承認はこの呼び出し1回だけに有効です。エージェントが自分で承認することはできません。",
        ],
    },
];

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_step() {
        for counter in crate::counters::all() {
            let steps = STEPS.iter().filter(|step| step.counter == counter.name);
            assert_eq!(steps.count(), 1, "{}", counter.name);
        }
    }
}
