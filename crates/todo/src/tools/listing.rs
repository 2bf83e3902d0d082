//! What `list_tasks` and `list_adrs` share: pages, and why one is empty.

use kit::{Context, Result, Warning, page};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hints::say;

#[derive(Deserialize, JsonSchema)]
pub struct PageInput {
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    // The `next_cursor` of the page before.
    cursor: Option<String>,
}

fn default_limit() -> usize {
    50
}

// The fields that every list has.
#[derive(Serialize, JsonSchema)]
pub struct PageOutput {
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    next_cursor: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    why_empty: Explanation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

// Why a result is empty, and what would not be.
#[derive(Default, Serialize)]
pub struct Explanation {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

impl Explanation {
    /// The sentence in the caller's language.
    pub fn new(context: &Context, english: String, japanese: String, details: Value) -> Self {
        Self {
            message: Some(say(context, english, japanese)),
            details: Some(details).filter(|details| !details.is_null()),
        }
    }
}

impl PageInput {
    /// The page of `all` that was asked for. `why_empty` is asked if there is
    /// nothing in it.
    pub fn of<T: Clone>(
        &self,
        all: &[T],
        why_empty: impl FnOnce() -> Explanation,
        warnings: Vec<Warning>,
    ) -> Result<(Vec<T>, PageOutput)> {
        let page = page::slice(all, self.cursor.as_deref(), self.limit.clamp(1, 100))?;
        let output = PageOutput {
            total_count: all.len(),
            next_cursor: page.next_cursor,
            why_empty: match all.is_empty() {
                true => why_empty(),
                false => Explanation::default(),
            },
            warnings,
        };
        Ok((page.items, output))
    }
}
