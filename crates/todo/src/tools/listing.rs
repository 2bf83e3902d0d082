//! What `list_tasks` and `list_adrs` share: pages, and what to say about an
//! empty one.

use kit::{Context, Result, context::Language, page};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub struct PageInput {
    /// 取得件数上限
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// 前回のnext_cursor
    cursor: Option<String>,
}

fn default_limit() -> usize {
    50
}

// The fields that every list has.
#[derive(Serialize, JsonSchema)]
pub struct PageOutput {
    /// 総件数
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// An English and a Japanese sentence.
pub type Sentence = (&'static str, &'static str);

impl PageInput {
    /// The page of `all` that was asked for. `why_empty` is said if there is
    /// nothing in it.
    pub fn of<T: Clone>(
        &self,
        context: &Context,
        all: &[T],
        why_empty: Sentence,
        warnings: Vec<String>,
    ) -> Result<(Vec<T>, PageOutput)> {
        let page = page::slice(all, self.cursor.as_deref(), self.limit.clamp(1, 100))?;
        let (english, japanese) = why_empty;
        let output = PageOutput {
            total_count: all.len(),
            next_cursor: page.next_cursor,
            message: all.is_empty().then_some(match context.language {
                Language::English => english,
                Language::Japanese => japanese,
            }),
            warnings,
        };
        Ok((page.items, output))
    }
}
