//! Bytes into messages, for every transport.

use rmcp::{
    RoleServer,
    model::{ClientRequest, SubscriptionFilter},
    service::RxJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::outbound::Fault;

/// How deep arguments may nest. Deeper JSON serves no tool and costs stack.
pub const MAX_DEPTH: usize = 64;

const NO_MESSAGE: &str = "Invalid Request: this is no JSON-RPC 2.0 message.";

/// The part of a message that decides how it is treated.
#[derive(Debug, Deserialize)]
pub struct Envelope<'a> {
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub method: Option<std::borrow::Cow<'a, str>>,
}

impl Envelope<'_> {
    /// Requests are counted and answered; notifications and responses are not.
    pub fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some_and(|id| id.get() != "null")
    }

    pub fn id(&self) -> Option<Value> {
        serde_json::from_str(self.id?.get()).ok()
    }
}

type Unreadable = (Option<Value>, Fault);

/// Checks form and depth, and reads the envelope.
pub fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, Unreadable> {
    check(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| {
        let fault = if error.is_data() {
            fault(-32600, NO_MESSAGE)
        } else {
            fault(-32700, format!("Parse error: {error}."))
        };
        (None, fault)
    })
}

/// A whole message for the protocol crate. Only what it can't read is looked at
/// a second time.
pub fn message(bytes: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Unreadable> {
    check(bytes)?;
    serde_json::from_slice(bytes).map_err(|_| match envelope(bytes) {
        Ok(envelope) => no_message(&envelope),
        Err(unreadable) => unreadable,
    })
}

/// JSON that is no message.
pub fn no_message(envelope: &Envelope<'_>) -> Unreadable {
    (envelope.id(), fault(-32600, NO_MESSAGE))
}

/// What a request to `subscriptions/listen` asks for; `None` when it does not
/// have the form of one.
pub fn listen_filter(bytes: &[u8]) -> Option<SubscriptionFilter> {
    match message(bytes) {
        Ok(RxJsonRpcMessage::<RoleServer>::Request(request)) => match request.request {
            ClientRequest::SubscriptionsListenRequest(listen) => Some(listen.params.notifications),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a request to `initialize` has the form of one.
pub fn is_handshake(bytes: &[u8]) -> bool {
    matches!(
        message(bytes),
        Ok(RxJsonRpcMessage::<RoleServer>::Request(request))
            if matches!(request.request, ClientRequest::InitializeRequest(_))
    )
}

fn check(bytes: &[u8]) -> Result<(), Unreadable> {
    if too_deep(bytes) {
        return Err((None, fault(-32600, "Invalid Request: nested too deeply.")));
    }
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err((
            None,
            fault(
                -32600,
                "Invalid Request: this revision knows no batches. Send one message at a time.",
            ),
        ));
    }
    Ok(())
}

fn fault(code: i32, message: impl Into<String>) -> Fault {
    Fault {
        code,
        message: message.into(),
        data: None,
    }
}

/// Counts brackets outside strings: no parser runs on what is refused.
pub fn too_deep(bytes: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in bytes {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_depth_outside_strings_only() {
        assert!(!too_deep(&b"[".repeat(MAX_DEPTH)));
        assert!(too_deep(&b"[".repeat(MAX_DEPTH + 1)));
        let text = format!(r#"{{"a":"{}\"{}"}}"#, "[".repeat(500), "{".repeat(500));
        assert!(!too_deep(text.as_bytes()));
    }

    #[test]
    fn tells_requests_from_notifications() {
        assert!(
            envelope(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
                .unwrap()
                .is_request()
        );
        assert!(
            !envelope(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .unwrap()
                .is_request()
        );
        assert!(
            !envelope(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
                .unwrap()
                .is_request()
        );
        assert_eq!(envelope(b"{").unwrap_err().1.code, -32700);
        assert_eq!(envelope(b" [{}]").unwrap_err().1.code, -32600);
        assert_eq!(
            message(br#"{"id":7,"method":"ping"}"#).unwrap_err().0,
            Some(7.into())
        );
    }
}
