//! May this caller use this tool here?

use kit::{Caller, Error, Result};

use crate::{
    desk::{PreparedTool, Window},
    stations::identify::Keyring,
};

pub fn check(
    keyring: &Keyring,
    caller: &Caller,
    window: &Window,
    tool: &PreparedTool,
) -> Result<()> {
    if keyring.allows(&caller.id, window.counter.about.name, tool.tool.name) {
        return Ok(());
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
