//! The protocol's own HTTP headers. A name that is known when the program is compiled is
//! found without being read letter by letter.

use http::HeaderName;

pub static METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub static NAME: HeaderName = HeaderName::from_static("mcp-name");
pub static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
