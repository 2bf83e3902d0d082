//! May this caller use this tool, or see its data in another way?

use kit::{
    Caller, Effect, Error, Result, View,
    resource::{Reference, Shows},
};
use serde_json::{Map, Value, json};

use crate::{
    served_counter::{FoundTool, PreparedTool, ServedCounter},
    settings::Policy,
    stations::identify::{Identified, Scope, allows},
    views,
};

/// The error code for an address without a resource.
pub const RESOURCE_NOT_FOUND: &str = "RESOURCE_NOT_FOUND";
/// The error code for an unknown prompt.
pub const UNKNOWN_PROMPT: &str = "UNKNOWN_PROMPT";
/// The error code for an unknown resource template.
pub const UNKNOWN_TEMPLATE: &str = "UNKNOWN_TEMPLATE";
/// The error code for a caller without the right.
pub const FORBIDDEN: &str = "FORBIDDEN";

/// The error code for a tool that the policy denies.
pub const DENIED_BY_POLICY: &str = "DENIED_BY_POLICY";
/// The error code for a tool that this desk does not offer.
pub const TOOL_NOT_OFFERED: &str = "TOOL_NOT_OFFERED";

/// No resource has a longer address.
pub const LONGEST_ADDRESS: usize = 2_048;

/// What a request without a tool call wants to see.
#[derive(Debug)]
pub enum ReadTarget<'a> {
    /// A list. Its maker leaves out what [`may_see`] refuses.
    List,
    /// Addresses to read or subscribe to.
    Resources(&'a [String]),
    Prompt(&'a str),
    /// A file whose address contains its key.
    File(&'a str),
    /// Completions for an argument of a prompt or template.
    Completion(&'a Reference),
}

impl ReadTarget<'_> {
    /// For the audit trail.
    pub fn as_arguments(&self) -> Map<String, Value> {
        let (name, value) = match self {
            Self::List => return Map::new(),
            Self::Resources(uris) => ("uris", json!(uris)),
            Self::File(name) => ("file", json!(name)),
            Self::Prompt(name) => ("prompt", json!(name)),
            Self::Completion(Reference::Prompt(name)) => ("prompt", json!(name)),
            Self::Completion(Reference::Template(template)) => ("template", json!(template)),
        };
        Map::from_iter([(name.to_owned(), value)])
    }
}

pub fn check(who: &Identified, tool: &PreparedTool) -> Result<()> {
    let caller = &who.caller;
    if tool.tool.writes() && who.key.as_ref().is_some_and(|key| key.read_only) {
        return Err(Error::new(
            FORBIDDEN,
            format!(
                "The key {} is read-only, and {} changes something.",
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
            FORBIDDEN,
            format!("{} needs a key that names it.", tool.listed_name),
        )
        .next("Ask the operator for a key with this tool in its scope."));
    }
    Err(Error::new(
        FORBIDDEN,
        format!("The key {} may not use {}.", caller.name, tool.listed_name),
    )
    .next("Ask the operator for a key with this tool in its scope."))
}

/// Whether the list of tools shows it to this caller. A tool that every call of theirs
/// would be refused only costs an agent attention.
pub fn may_list_tool(who: &Identified, tool: &PreparedTool) -> bool {
    tool.policy() != Policy::Deny && check(who, tool).is_ok()
}

/// The error for a tool that is switched off on this desk.
pub fn not_offered(name: &str, reason: &str) -> Error {
    Error::new(
        TOOL_NOT_OFFERED,
        format!("{name} is switched off here: {reason}."),
    )
    .next("Ask the operator, or use another tool.")
}

/// Checks a read against the tools whose data it shows.
pub fn read(served: &ServedCounter, who: &Identified, target: &ReadTarget<'_>) -> Result<()> {
    match target {
        ReadTarget::List | ReadTarget::File(_) => Ok(()),
        ReadTarget::Resources(uris) => {
            uris.iter()
                .try_for_each(|uri| match views::find(served, uri) {
                    Some(view) => may_see_view(served, who, view),
                    None => data_of(served, who, shows(served, uri)?.read),
                })
        }
        ReadTarget::Prompt(name) => prompt(served, who, name),
        ReadTarget::Completion(Reference::Prompt(name)) => prompt(served, who, name),
        ReadTarget::Completion(Reference::Template(uri_template)) => {
            let templates = served.counter.resources.iter();
            let mut templates = templates.flat_map(|resources| resources.templates());
            let template = templates.find(|template| template.uri_template == *uri_template);
            let template = template.ok_or_else(|| {
                Error::new(UNKNOWN_TEMPLATE, "There is no such resource template.")
                    .next("See resources/templates/list.")
            })?;
            data_of(served, who, template.shows.listed)
        }
    }
}

/// Whether a list shows this caller an entry with data of these tools.
pub fn may_see(served: &ServedCounter, who: &Identified, tools: &[&str]) -> bool {
    data_of(served, who, tools).is_ok()
}

/// Whether a list shows this caller the resource at an address.
pub fn may_list(served: &ServedCounter, who: &Identified, uri: &str) -> bool {
    shows(served, uri).is_ok_and(|shows| may_see(served, who, shows.listed))
}

/// A view contains no data, so it is enough that one of its tools may be called.
pub fn may_see_view(served: &ServedCounter, who: &Identified, view: &View) -> Result<()> {
    let tools = served.tools.iter();
    let mut tools = tools.filter(|tool| views::of_tool(served, tool) == Some(view));
    match tools.any(|tool| may_list_tool(who, tool)) {
        true => Ok(()),
        false => Err(
            Error::new(FORBIDDEN, "This view is for tools that you may not use.")
                .next("Ask the operator for a key with one of these tools in its scope."),
        ),
    }
}

/// Whether the list of resources can ever change for this caller.
pub fn may_list_resources(served: &ServedCounter, who: &Identified) -> bool {
    let templates = served.counter.resources.iter();
    let mut templates = templates.flat_map(|resources| resources.templates());
    templates.any(|template| may_see(served, who, template.shows.listed))
}

/// Whether a list shows this caller a prompt.
pub fn may_prompt(served: &ServedCounter, who: &Identified, name: &str) -> bool {
    prompt(served, who, name).is_ok()
}

fn shows(served: &ServedCounter, uri: &str) -> Result<Shows> {
    let resources = served.counter.resources.as_ref();
    let is_short = uri.len() <= LONGEST_ADDRESS;
    resources
        .filter(|_| is_short)
        .and_then(|resources| resources.shows(uri))
        .ok_or_else(resource_not_found)
}

pub fn resource_not_found() -> Error {
    Error::new(RESOURCE_NOT_FOUND, "There is no resource at this address.")
        .next("See resources/list.")
}

/// If the user must approve a tool, only the tool itself shows its data.
fn data_of(served: &ServedCounter, who: &Identified, tools: &[&str]) -> Result<()> {
    tools.iter().try_for_each(|name| {
        let tool = offered(served, who, name)?;
        match tool.policy() {
            Policy::Allow => Ok(()),
            Policy::Deny => Err(denied(tool)),
            Policy::Ask => Err(Error::new(
                FORBIDDEN,
                format!(
                    "This shows data of {}, for which the user is asked.",
                    tool.listed_name
                ),
            )
            .next(format!("Call {} instead.", tool.listed_name))),
        }
    })
}

/// A prompt shows no data, so it is enough that its tools may be called.
fn prompt(served: &ServedCounter, who: &Identified, name: &str) -> Result<()> {
    let mut prompts = served.counter.prompts.iter();
    let prompt = prompts.find(|prompt| prompt.name == name).ok_or_else(|| {
        Error::new(UNKNOWN_PROMPT, "There is no such prompt.").next("See prompts/list.")
    })?;
    prompt.tools.iter().try_for_each(|name| {
        let tool = offered(served, who, name)?;
        match tool.policy() {
            Policy::Allow | Policy::Ask => Ok(()),
            Policy::Deny => Err(denied(tool)),
        }
    })
}

/// A tool by its name, if this desk offers it and the caller may use it.
pub fn offered<'a>(
    served: &'a ServedCounter,
    who: &Identified,
    name: &str,
) -> Result<&'a PreparedTool> {
    match served.find(name) {
        FoundTool::Tool(tool) => check(who, tool).map(|()| &**tool),
        FoundTool::Hidden { reason, .. } => Err(not_offered(name, reason)),
        FoundTool::Unknown => Err(Error::internal(format!(
            "{name} is not a tool of the counter"
        ))),
    }
}

pub fn denied(tool: &PreparedTool) -> Error {
    let name = tool.listed_name;
    Error::new(
        DENIED_BY_POLICY,
        format!("The desk's policy does not allow {name}."),
    )
    .next("Nothing was done. Do not retry; tell the user.")
    .details(json!({ "tool": name }))
}
