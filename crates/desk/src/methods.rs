//! Every method of the protocol that is supported, and what a caller needs for it.
//! The first stations refuse other methods, and methods for something that the
//! counter does not have, on every transport.

use kit::{
    Counter,
    text::{cut, nearest, visible},
};

/// How many characters of an unknown method's name an error repeats.
const REPEATED: usize = 40;

/// What a caller needs, besides access to the counter and a request within the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing: it describes the counter, or concerns the connection itself.
    Counter,
    /// It calls a tool, and passes all stations of the pipeline.
    Call,
    /// It shows data: the caller needs the right to the tools whose data it is.
    Data,
    /// It lists what the caller may see.
    List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    pub name: &'static str,
    pub access: Access,
}

const fn method(name: &'static str, access: Access) -> Method {
    Method { name, access }
}

pub const RESOURCES_LIST: Method = method("resources/list", Access::List);
pub const TEMPLATES_LIST: Method = method("resources/templates/list", Access::List);
pub const PROMPTS_LIST: Method = method("prompts/list", Access::List);
pub const RESOURCES_READ: Method = method("resources/read", Access::Data);
pub const RESOURCES_SUBSCRIBE: Method = method("resources/subscribe", Access::Data);
pub const SUBSCRIPTIONS_LISTEN: Method = method("subscriptions/listen", Access::Data);
pub const PROMPTS_GET: Method = method("prompts/get", Access::Data);
pub const COMPLETE: Method = method("completion/complete", Access::Data);
pub const TOOLS_CALL: Method = method("tools/call", Access::Call);
pub const TOOLS_LIST: Method = method("tools/list", Access::Counter);

/// Not a method of the protocol: reads a file by its address alone. The key in the
/// address opens only that file.
pub const FILE: Method = method("file", Access::Data);

/// Methods of both eras.
pub const METHODS: [Method; 15] = [
    TOOLS_CALL,
    TOOLS_LIST,
    RESOURCES_LIST,
    TEMPLATES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    // It ends only a subscription of the same connection.
    method("resources/unsubscribe", Access::Counter),
    SUBSCRIPTIONS_LISTEN,
    PROMPTS_LIST,
    PROMPTS_GET,
    COMPLETE,
    method("initialize", Access::Counter),
    method("server/discover", Access::Counter),
    method("ping", Access::Counter),
    // It changes only how much the same connection receives.
    method("logging/setLevel", Access::Counter),
];

/// Whether a counter supports a method. It supports none of a capability that it does
/// not declare: clients and conformance tests rely on that.
pub fn offers(counter: &Counter, name: &str) -> bool {
    let has_prompts = !counter.prompts.is_empty();
    let has_resources = counter.resources.is_some();
    match name.split_once('/') {
        Some(("prompts", _)) if !has_prompts => false,
        Some(("resources", _)) if !has_resources => false,
        Some(("completion", _)) if !has_prompts && !has_resources => false,
        _ => METHODS.iter().any(|method| method.name == name),
    }
}

/// The same for a client that shows views, which are resources too.
pub fn offers_with_views(counter: &Counter, name: &str) -> bool {
    let reads = [RESOURCES_LIST, TEMPLATES_LIST, RESOURCES_READ];
    let is_read = reads.iter().any(|method| method.name == name);
    offers(counter, name) || (is_read && counter.is_readable())
}

/// The message for a method that is not supported.
pub fn not_found(counter: &Counter, name: &str) -> String {
    let shown = match cut(name, REPEATED) {
        (all, 0) => visible(all),
        (start, _) => visible(start) + "…",
    };
    let mut offered = METHODS.map(|method| method.name).to_vec();
    offered.retain(|method| offers(counter, method));
    let hint = if offered.contains(&name) {
        " The protocol revision of this request does not have it.".to_owned()
    } else if METHODS.iter().any(|method| method.name == name) {
        let what = name.split('/').next().unwrap_or_default();
        format!(" The counter {} has no {what}.", counter.about.name)
    } else if counter.tool(name).is_some() {
        format!(" {shown} is a tool: send tools/call with params.name \"{shown}\".")
    } else if let Some(near) = nearest_method(name, &offered) {
        format!(" Did you mean {near}?")
    } else {
        String::new()
    };
    format!(
        "Method not found: {shown}.{hint} This counter answers {}.",
        offered.join(", ")
    )
}

/// The method that was probably meant: each part of its name is near and begins
/// alike. `roots/list` is neither `tools/list` nor `prompts/list`.
fn nearest_method<'a>(name: &str, offered: &[&'a str]) -> Option<&'a str> {
    let name = name.replace(['.', '_'], "/");
    let is_near = |method: &&str| {
        let (given, own) = (name.split('/'), method.split('/'));
        given.clone().count() == own.clone().count()
            && given.zip(own).all(|(given, own)| {
                given.chars().next() == own.chars().next() && nearest(given, [own]).is_some()
            })
    };
    nearest(&name, offered.iter().copied().filter(is_near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_method_that_is_really_near_is_suggested() {
        let offered = METHODS.map(|method| method.name);
        for (name, near) in [
            ("tools/lst", Some("tools/list")),
            ("tool/list", Some("tools/list")),
            ("tools_list", Some("tools/list")),
            ("resource/templates/list", Some("resources/templates/list")),
            ("initialise", Some("initialize")),
            ("roots/list", None),
            ("sampling/createMessage", None),
            ("tools", None),
            ("", None),
        ] {
            assert_eq!(nearest_method(name, &offered), near, "{name}");
        }
    }
}
