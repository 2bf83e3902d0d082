//! Every method of the protocol that is answered here, and what a caller needs
//! for an answer. A method that is not in the table is refused by the first
//! stations, on every transport.

/// What a caller needs, besides being let in at the counter and within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing: it tells what the counter is, or is about the connection itself.
    Counter,
    /// It calls a tool, and passes all stations of the pipeline.
    Call,
    /// It shows data: the caller needs the right to the tools whose data it is.
    Data,
    /// It lists what there is; the list holds what the caller may see.
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

/// No method of the protocol: a file for programs that know nothing but an
/// address. The key in the address opens that file alone.
pub const FILE: Method = method("file", Access::Data);

/// Methods of both eras.
pub const METHODS: [Method; 15] = [
    TOOLS_CALL,
    TOOLS_LIST,
    RESOURCES_LIST,
    TEMPLATES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    // It ends only what the same connection began.
    method("resources/unsubscribe", Access::Counter),
    SUBSCRIPTIONS_LISTEN,
    PROMPTS_LIST,
    PROMPTS_GET,
    COMPLETE,
    method("initialize", Access::Counter),
    method("server/discover", Access::Counter),
    method("ping", Access::Counter),
    // How much the same connection is told.
    method("logging/setLevel", Access::Counter),
];

pub fn is_known(name: &str) -> bool {
    METHODS.iter().any(|method| method.name == name)
}
