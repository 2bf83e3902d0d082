//! The counter's tools, one file each: input, output, description, handler.
//!
//! A tool that changes something has a function `apply`, which `batch` calls too.

mod arguments;
pub mod batch;
mod check;
pub mod create_adr;
pub mod create_task;
pub mod delete_task;
mod found;
pub mod get_adr;
pub mod get_context;
pub mod get_task;
pub mod link_tasks;
pub mod list_adrs;
pub mod list_tasks;
pub mod reorder_task;
pub mod search_adrs;
pub mod search_contexts;
pub mod search_tasks;
pub mod undo;
pub mod update_adr_status;
pub mod update_context;
pub mod update_task;

use std::sync::Arc;

use kit::{Context, Effect, Hints, Reply, Result, Rule, Run, Tool};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{project::Project, txn::Txn};

/// A tool that only looks.
const LOOKS: Hints = Hints {
    read_only: true,
    destructive: false,
    idempotent: true,
    open_world: false,
};

/// A tool that adds something each time.
const ADDS: Hints = Hints {
    read_only: false,
    destructive: false,
    idempotent: false,
    open_world: false,
};

/// A tool that sets something; doing it twice changes nothing more.
const SETS: Hints = Hints {
    idempotent: true,
    ..ADDS
};

/// A tool that takes something away.
const TAKES: Hints = Hints {
    destructive: true,
    ..ADDS
};

/// Arguments that hold what somebody wrote, in whichever tool they are.
const WRITTEN: &[&str] = &[
    "title",
    "description",
    "subtasks",
    "content",
    "context",
    "decision",
    "rationale",
    "consequences",
    "reason",
    "query",
    "operations",
];

/// What all tools of this counter have in common.
struct Words {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: Value,
    output: Value,
    hints: Hints,
    rules: &'static [Rule],
    normalise: fn(&Context, &mut Map<String, Value>),
}

impl Words {
    fn tool(self, run: Run) -> Tool {
        Tool {
            name: self.name,
            aliases: &[],
            title: self.title,
            description: self.description,
            input: self.input,
            output: Some(self.output),
            effect: if self.hints.read_only {
                Effect::Read
            } else {
                Effect::Write
            },
            hints: self.hints,
            time_limit: kit::tool::TIME_LIMIT,
            idempotency_key: None,
            rules: self.rules,
            normalise: self.normalise,
            meta: None,
            personal: WRITTEN,
            card: None,
            inner_calls: None,
            run,
        }
    }
}

pub(crate) async fn on_a_thread<T: Send + 'static>(
    project: Arc<Project>,
    work: impl FnOnce(&Arc<Project>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let blocking = project.blocking.clone();
    blocking.run(move || work(&project)).await
}

fn reads<I, O>(project: &Arc<Project>, handler: fn(&Project, &Context, &I) -> Result<O>) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    runs(project, handler)
}

fn writes<I, O>(project: &Arc<Project>, apply: fn(&mut Txn<'_>, &I) -> Result<O>) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
{
    runs(project, move |project, context, input| {
        project.write(context, |txn| apply(txn, input))
    })
}

fn runs<I, O, H>(project: &Arc<Project>, handler: H) -> Run
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    H: Fn(&Project, &Context, &I) -> Result<O> + Copy + Send + Sync + 'static,
{
    let project = Arc::clone(project);
    Run::Async(Arc::new(move |context, arguments| {
        let project = Arc::clone(&project);
        Box::pin(on_a_thread(project, move |project| {
            let input: I = kit::handler::typed(arguments)?;
            let output = handler(project, &context, &input);
            project.look_ahead();
            Reply::structured(&output?)
        }))
    }))
}
