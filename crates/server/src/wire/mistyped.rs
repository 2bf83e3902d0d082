//! Requests whose parameters have the wrong form. The protocol crate takes them
//! for requests of methods it does not know.

use desk::methods;
#[expect(deprecated, reason = "clients of the handshake era still use these")]
use rmcp::model::{SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams};
use rmcp::{
    ErrorData,
    model::{self as mcp, CustomRequest, ErrorCode},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::errors::quoted;
use crate::wire::definitions::PublishedCounter;

/// Invalid parameters when there is such a method in the request's era.
#[expect(deprecated, reason = "see above")]
pub fn explain(
    request: &CustomRequest,
    stateless: bool,
    published: &PublishedCounter,
) -> ErrorData {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let wrong = match (request.method.as_str(), stateless) {
        ("tools/call", _) => wrong::<mcp::CallToolRequestParams>(params),
        ("prompts/get", _) => wrong::<mcp::GetPromptRequestParams>(params),
        ("resources/read", _) => wrong::<mcp::ReadResourceRequestParams>(params),
        ("completion/complete", _) => wrong::<mcp::CompleteRequestParams>(params),
        ("tools/list" | "prompts/list" | "resources/list" | "resources/templates/list", _) => {
            wrong::<mcp::PaginatedRequestParams>(params)
        }
        ("subscriptions/listen", true) => wrong::<mcp::SubscriptionsListenRequestParams>(params),
        ("initialize", false) => wrong::<mcp::InitializeRequestParams>(params),
        ("logging/setLevel", false) => wrong::<SetLevelRequestParams>(params),
        ("resources/subscribe", false) => wrong::<SubscribeRequestParams>(params),
        ("resources/unsubscribe", false) => wrong::<UnsubscribeRequestParams>(params),
        (method, _) => {
            let explained = methods::not_found(&published.counter, method);
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, explained, None);
        }
    };
    let wrong = wrong.unwrap_or_else(|| "they do not have its form".into());
    let message = format!("Invalid params of {}: {}.", request.method, quoted(&wrong));
    ErrorData::invalid_params(message, None)
}

fn wrong<T: DeserializeOwned>(params: Value) -> Option<String> {
    let error = serde_json::from_value::<T>(params).err()?;
    Some(without_type_names(&error.to_string()))
}

/// What serde reports, in JSON's terms: types of this program mean nothing to a
/// client.
fn without_type_names(text: &str) -> String {
    if text.contains(" enum ") {
        return "they have none of the forms that are allowed".into();
    }
    // serde fills the fields of a struct from an array, too.
    if text.starts_with("invalid length") {
        return "invalid type: array, expected an object".into();
    }
    let mut words = text.split(' ');
    let mut plain: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "struct" => {
                words.next();
                plain.push("an object");
            }
            "sequence" => plain.push("array"),
            "map" => plain.push("object"),
            other => plain.push(other),
        }
    }
    plain.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_this_program_is_named() {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": [],
            "clientInfo": { "name": "a", "version": "1" },
        });
        let wrong_hello = wrong::<mcp::InitializeRequestParams>(hello).unwrap();
        assert_eq!(wrong_hello, "invalid type: array, expected an object");
        let reference = json!({ "ref": "x", "argument": { "name": "a", "value": "b" } });
        let wrong_reference = wrong::<mcp::CompleteRequestParams>(reference).unwrap();
        assert!(!wrong_reference.contains("Reference"), "{wrong_reference}");
        let call = wrong::<mcp::CallToolRequestParams>(json!({})).unwrap();
        assert_eq!(call, "missing field `name`");
    }
}
