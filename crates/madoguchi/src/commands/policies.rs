//! `madoguchi policies`: which tools are allowed, asked about first or denied.

use std::{process::ExitCode, sync::Arc};

use desk::{
    Desk, PreparedTool,
    policies::TightenedPolicy,
    policy_change::{self, WantedPolicy},
    settings::Policy,
};
use kit::{Caller, Result};
use serde_json::{Value, json};

use crate::{
    cli::{CounterOptions, Global, PoliciesAction, Stricter},
    locale, open,
    output::{Cell, Look, Styled, pretty, table},
    runtime::on_one_thread,
};

pub fn run(global: &Global, action: &PoliciesAction) -> Result<ExitCode> {
    let options = CounterOptions::default();
    let config = open::configuration(global, &options)?;
    on_one_thread(async {
        let opened = open::desk(global, config, &options, None).await?;
        let text = act(&opened.desk, action).await;
        opened.close().await?;
        text?.print()
    })
}

async fn act(desk: &Arc<Desk>, action: &PoliciesAction) -> Result<Styled> {
    desk.policies.refresh().await?;
    match action {
        PoliciesAction::List { json } => {
            let tightened = desk.policies.list().await?;
            let all = desk.counters.iter().flat_map(|served| {
                let counter = served.counter.about.name;
                let tools = served.tools.iter();
                tools.map(move |tool| ListedPolicy { counter, tool })
            });
            Ok(match json {
                true => {
                    let all = all.map(|it| it.described(&tightened));
                    pretty(&Value::Array(all.collect())).into()
                }
                false => {
                    let rows = all.map(|it| it.row(&tightened));
                    table(["TOOL", "POLICY", "SET BY"], rows)
                }
            })
        }
        PoliciesAction::Tighten { tool, policy, json } => {
            let policy = match policy {
                Stricter::Ask => Policy::Ask,
                Stricter::Deny => Policy::Deny,
            };
            set(desk, tool, Some(policy), *json).await
        }
        PoliciesAction::Relax { tool, json } => set(desk, tool, None, *json).await,
    }
}

/// `None`: what the configuration says.
async fn set(
    desk: &Arc<Desk>,
    name: &str,
    policy: Option<Policy>,
    as_json: bool,
) -> Result<Styled> {
    let (counter, tool) = name.split_once('.').unwrap_or((name, ""));
    let (_, found) = policy_change::find(desk, counter, tool)?;
    let policy = policy.unwrap_or(found.file_policy);
    let wanted = WantedPolicy {
        counter: counter.to_owned(),
        tool: tool.to_owned(),
        policy,
        seen: None,
    };
    policy_change::set(desk, Caller::local_user(), wanted).await?;
    let now = found.policy().word();
    Ok(match as_json {
        true => pretty(&json!({ "tool": name, "policy": now })).into(),
        false => format!("{name} is now {now}. It applies within two seconds everywhere.").into(),
    })
}

struct ListedPolicy<'d> {
    counter: &'static str,
    tool: &'d PreparedTool,
}

impl ListedPolicy<'_> {
    fn tightened<'t>(&self, all: &'t [TightenedPolicy]) -> Option<&'t TightenedPolicy> {
        let is_own =
            |row: &&TightenedPolicy| row.counter == self.counter && row.tool == self.tool.tool.name;
        let own = all.iter().find(is_own);
        own.filter(|row| row.policy > self.tool.file_policy)
    }

    fn origin(&self) -> &'static str {
        match self.tool.policy_is_configured {
            true => "configuration",
            false => "default",
        }
    }

    fn described(&self, all: &[TightenedPolicy]) -> Value {
        let tightened = self.tightened(all);
        json!({
            "counter": self.counter,
            "tool": self.tool.tool.name,
            "policy": self.tool.policy().word(),
            "configured": self.tool.file_policy.word(),
            "origin": tightened.map_or(self.origin(), |_| "tightened"),
            "set_by": tightened.map(|row| &row.set_by),
            "set_at": tightened.map(|row| locale::utc(row.set_at)),
        })
    }

    fn row(&self, all: &[TightenedPolicy]) -> [Cell; 3] {
        let policy = self.tool.policy();
        let look = match policy {
            Policy::Allow => Look::Good,
            Policy::Ask => Look::Action,
            Policy::Deny => Look::Bad,
        };
        let origin = match self.tightened(all) {
            Some(row) => format!("{}, {}", row.set_by, locale::utc(row.set_at)),
            None => self.origin().to_owned(),
        };
        [
            format!("{}.{}", self.counter, self.tool.listed_name).into(),
            Cell::new(look, policy.word()),
            origin.into(),
        ]
    }
}
