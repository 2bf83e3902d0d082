//! May this caller use this tool here?

use kit::{Caller, Effect, Error, Result};

use crate::{
    desk::PreparedTool,
    stations::identify::{Identified, Scope, allows},
};

pub fn check(who: &Identified, tool: &PreparedTool) -> Result<()> {
    let caller = &who.caller;
    if tool.tool.writes() && who.key.as_ref().is_some_and(|key| key.read_only) {
        return Err(Error::new(
            "FORBIDDEN",
            format!(
                "The key {} only reads, and {} changes something.",
                caller.name, tool.listed_name
            ),
        )
        .next("Ask the operator for a key that may write."));
    }
    let scope = match tool.tool.effect {
        Effect::Manage => Scope::Named,
        Effect::Read | Effect::Write | Effect::Outside => Scope::Any,
    };
    if allows(who, scope, |name| tool.tool.answers_to(name)) {
        return Ok(());
    }
    if *caller == Caller::anonymous() {
        return Err(Error::new(
            "FORBIDDEN",
            format!("{} needs a key that names it.", tool.listed_name),
        )
        .next("Ask the operator for a key with this tool in its scope."));
    }
    Err(Error::new(
        "FORBIDDEN",
        format!("The key {} may not use {}.", caller.name, tool.listed_name),
    )
    .next("Ask the operator for a key with this tool in its scope."))
}

/// A tool that exists but is switched off on this desk.
pub fn not_offered(name: &str, reason: &str) -> Error {
    Error::new(
        "TOOL_NOT_OFFERED",
        format!("{name} is switched off here: {reason}."),
    )
    .next("Ask the operator, or use another tool.")
}
