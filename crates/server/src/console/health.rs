//! Whether this desk is well: what `madoguchi doctor` finds, as far as it concerns a
//! desk that runs.

use std::{sync::Arc, time::Duration};

use desk::Desk;
use kit::sql::Budget;
use serde_json::Value;

use super::facts::{Facts, Finding};

/// How long the servers that counters need may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What can be told without asking other servers.
pub async fn quick(desk: &Arc<Desk>) -> Vec<Finding> {
    let mut findings = vec![store(desk).await, trail(desk)];
    findings.extend(desk.counters.iter().map(|served| {
        let health = served.health();
        let text = health.as_ref().map(in_words).unwrap_or_default();
        let tools = served.tools.len();
        let text = match text.is_empty() {
            true => format!("{tools} tools"),
            false => format!("{tools} tools, {text}"),
        };
        Finding::good(served.counter.about.name, text)
    }));
    findings
}

/// All of it.
pub async fn full(desk: &Arc<Desk>, facts: &Facts) -> Vec<Finding> {
    let mut findings = match tokio::time::timeout(PATIENCE, (facts.machine)()).await {
        Ok(findings) => findings,
        Err(_) => vec![Finding::bad("machine", "the checks took too long")],
    };
    findings.extend(quick(desk).await);
    for served in &desk.counters {
        let Some(background) = &served.counter.background else {
            continue;
        };
        let name = served.counter.about.name;
        match tokio::time::timeout(PATIENCE, background.check()).await {
            Ok(answers) => {
                findings.extend(answers.into_iter().map(|(what, answer)| match answer {
                    Ok(message) => Finding::good(what, message),
                    Err(error) => Finding::bad(what, error.text()),
                }));
            }
            Err(_) => findings.push(Finding::bad(name, "a server did not answer in time")),
        }
    }
    findings
}

async fn store(desk: &Desk) -> Finding {
    let read = async {
        let store = &desk.state.get().await?.store;
        store
            .query(Budget::default(), |sql| sql.query_one("SELECT 1", &[]))
            .await
    };
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(_)) => Finding::good("store", "answers"),
        Ok(Err(error)) => Finding::bad("store", error.text()),
        Err(_) => Finding::bad("store", "did not answer in time"),
    }
}

fn trail(desk: &Desk) -> Finding {
    match (desk.audit.trouble(), &desk.audit.trail) {
        (Some(trouble), _) => Finding::bad("audit", trouble),
        (None, Some(_)) => Finding::good("audit", "calls are recorded"),
        (None, None) => Finding::good("audit", "off: calls are only logged"),
    }
}

/// `{"index": {"documents": 7}}` as `index.documents: 7`.
fn in_words(health: &Value) -> String {
    fn add(path: &str, value: &Value, parts: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    add(&format!("{path}{dot}{name}"), value, parts);
                }
            }
            Value::String(text) => parts.push(format!("{path}: {text}")),
            other => parts.push(format!("{path}: {other}")),
        }
    }
    let mut parts = Vec::new();
    add("", health, &mut parts);
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_told_in_words() {
        let health = serde_json::json!({ "index": { "documents": 7 }, "mail": "off" });
        assert_eq!(in_words(&health), "index.documents: 7, mail: off");
    }
}
