//! What the span of a call says, by the OpenTelemetry conventions for MCP. It says
//! nothing about the caller and the arguments: others may see traces than may see data.

use kit::ids::CallId;

use super::call_trace::CallTrace;
use crate::audit::entry::Outcome;

pub struct CallDescription<'a> {
    pub call: CallId,
    pub counter: &'static str,
    /// The tool, or the method of a request without one.
    pub tool: &'static str,
    pub over_network: bool,
    pub outcome: &'a Outcome,
}

impl CallTrace {
    pub fn describe(&mut self, it: &CallDescription<'_>) {
        let Some(method) = self.method() else {
            return;
        };
        let is_call = it.tool != method;
        if is_call {
            self.about(it.tool);
            self.set("gen_ai.operation.name", "execute_tool");
            self.set("gen_ai.tool.name", it.tool);
        }
        let transport = if it.over_network { "tcp" } else { "pipe" };
        self.set("network.transport", transport);
        self.set("madoguchi.counter", it.counter);
        self.set("madoguchi.call", it.call.to_string());
        self.set("madoguchi.outcome", it.outcome.word());
        let code = match it.outcome {
            Outcome::Done | Outcome::Asked => return,
            Outcome::Refused(code) => code.clone(),
            Outcome::Failed(_) => kit::error::INTERNAL.to_owned(),
            Outcome::Abandoned => return self.failed("cancelled"),
        };
        if is_call {
            self.set("madoguchi.error.code", code);
            self.failed("tool_error");
        } else {
            self.failed(code);
        }
    }
}
