//! `undo`: takes back the caller's last change.

use std::sync::Arc;

use kit::{Context, Reply, Result, Run, Tool, tool::as_is};
use serde::Serialize;
use serde_json::json;

use super::{TAKES, Words, on_a_thread};
use crate::{
    errors,
    project::{Project, locked},
    undo::revert,
};

#[derive(Serialize)]
pub struct Output {
    undone: String,
    files: Vec<String>,
    undone_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    let project = Arc::clone(project);
    Words {
        name: "undo",
        title: "Undo",
        description: "自分の直前の変更を取り消します。その後の他者の変更は保持します。",
        input: json!({ "type": "object", "properties": {} }),
        output: json!({
            "type": "object",
            "properties": {
                "undone": { "type": "string", "description": "取り消した操作" },
                "files": { "type": "array", "items": { "type": "string" } },
                "undone_at": { "type": "string" }
            }
        }),
        hints: TAKES,
        rules: &[],
        normalise: as_is,
    }
    .tool(Run::Async(Arc::new(move |context, _| {
        let project = Arc::clone(&project);
        Box::pin(on_a_thread(project, move |project| {
            let output = handle(project, &context)?;
            Reply::structured(&output)
        }))
    })))
}

fn handle(project: &Project, context: &Context) -> Result<Output> {
    let last = locked(&project.undo).last(&context.caller.id);
    let done = last.ok_or_else(errors::nothing_to_undo)?;
    let output = project.write_unrecorded(context, |txn| {
        Ok(Output {
            files: revert(txn, &done)?,
            undone: done.label.clone(),
            undone_at: txn.now_text(),
        })
    })?;
    locked(&project.undo).forget(&done);
    Ok(output)
}
