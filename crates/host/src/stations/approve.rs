//! Does the user have to say yes first?
//!
//! The policy decides per tool. `ask` refuses until a person can be asked: a
//! call that would need an approval never runs without one.

use kit::{Context, Error, Result};
use serde_json::{Value, json};

use crate::{desk::PreparedTool, settings::Policy};

pub fn check(tool: &PreparedTool, _context: &Context, _arguments: &Value) -> Result<()> {
    match tool.policy {
        Policy::Allow => Ok(()),
        Policy::Ask => Err(Error::new(
            "APPROVAL_REQUIRED",
            format!("{} needs the user's approval.", tool.listed_name),
        )
        .next("Nothing was done. Ask the user to allow this tool in the desk's configuration.")
        .details(json!({ "tool": tool.listed_name }))),
        Policy::Deny => Err(Error::new(
            "DENIED_BY_POLICY",
            format!("The desk's policy does not allow {}.", tool.listed_name),
        )
        .next("Nothing was done. Do not retry; tell the user.")
        .details(json!({ "tool": tool.listed_name }))),
    }
}
