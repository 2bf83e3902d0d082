//! Bytes into messages, for every transport.

use rmcp::{
    RoleServer,
    model::{ClientRequest, SubscriptionFilter},
    service::RxJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::errors::Fault;

/// How deep arguments may nest. Deeper JSON serves no tool and costs stack.
pub const MAX_DEPTH: usize = 64;

/// The longest `initialize`. The protocol crate keeps it for as long as the
/// session or socket lasts.
pub const LONGEST_HANDSHAKE: usize = 16 * 1024;

/// How many values a message may hold. Each takes many times the memory of its
/// text, so the size of a message does not bound them.
pub const MAX_VALUES: usize = 20_000;

const NO_MESSAGE: &str = "Invalid Request: this is not a JSON-RPC 2.0 message.";

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
    let envelope = parsed_envelope(bytes)?;
    if bytes.len() > LONGEST_HANDSHAKE && envelope.method.as_deref() == Some("initialize") {
        let text = format!("Invalid Request: initialize is longer than {LONGEST_HANDSHAKE} bytes.");
        return Err((envelope.id(), fault(-32600, text)));
    }
    Ok(envelope)
}

fn parsed_envelope(bytes: &[u8]) -> Result<Envelope<'_>, Unreadable> {
    serde_json::from_slice(bytes).map_err(|error| {
        let fault = if error.is_data() {
            fault(-32600, NO_MESSAGE)
        } else {
            fault(-32700, format!("Parse error: {error}."))
        };
        (None, fault)
    })
}

/// A whole message for the protocol crate. It is parsed a second time only if the
/// protocol crate can't read it.
pub fn message(bytes: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Unreadable> {
    check(bytes)?;
    if bytes.len() > LONGEST_HANDSHAKE {
        // Refuses a handshake of this length.
        envelope(bytes)?;
    }
    let message = serde_json::from_slice(bytes).map_err(|_| match envelope(bytes) {
        Ok(envelope) => no_message(&envelope),
        Err(unreadable) => unreadable,
    })?;
    Ok(if is_odd_handshake(&message) {
        let whole = completed_handshake(bytes);
        whole
            .and_then(|whole| serde_json::from_slice(&whole).ok())
            .unwrap_or(message)
    } else {
        message
    })
}

/// The protocol crate takes an incomplete handshake for an unknown method.
fn is_odd_handshake(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    matches!(
        message,
        RxJsonRpcMessage::<RoleServer>::Request(request)
            if matches!(&request.request, ClientRequest::CustomRequest(it) if it.method == "initialize")
    )
}

/// A handshake with empty values for what a small client omits: capabilities,
/// name and version. `None` if nothing is missing, or if it is not a handshake.
pub fn completed_handshake(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(bytes).ok()?;
    let params = message.get_mut("params")?.as_object_mut()?;
    let mut is_changed = fill(params, "capabilities", json!({}));
    is_changed |= fill(params, "clientInfo", json!({}));
    let client = params.get_mut("clientInfo")?.as_object_mut()?;
    is_changed |= fill(client, "name", json!(""));
    is_changed |= fill(client, "version", json!(""));
    is_changed.then(|| message.to_string().into_bytes())
}

/// Whether the value was missing.
fn fill(object: &mut Map<String, Value>, name: &str, value: Value) -> bool {
    let is_missing = object.get(name).is_none_or(Value::is_null);
    if is_missing {
        object.insert(name.into(), value);
    }
    is_missing
}

/// JSON that is not a message.
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
    if too_complex(bytes) {
        let text = format!(
            "Invalid Request: nested more than {MAX_DEPTH} levels, or more than {MAX_VALUES} values."
        );
        return Err((None, fault(-32600, text)));
    }
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err((
            None,
            fault(
                -32600,
                "Invalid Request: this revision has no batches. Send one message at a time.",
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

/// Whether a message nests too deeply or holds too many values. Counts brackets
/// and commas outside strings: no parser runs on what is refused.
pub fn too_complex(bytes: &[u8]) -> bool {
    // Each value takes a byte, and each level an opening bracket. Most messages are too
    // short for so many.
    let mut brackets = memchr::memchr2_iter(b'{', b'[', bytes);
    if bytes.len() <= MAX_VALUES && brackets.nth(MAX_DEPTH).is_none() {
        return false;
    }
    let mut depth = 0usize;
    let mut values = 0usize;
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
                values += 1;
            }
            b',' => values += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH || values > MAX_VALUES {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_depth_outside_strings_only() {
        assert!(!too_complex(&b"[".repeat(MAX_DEPTH)));
        assert!(too_complex(&b"[".repeat(MAX_DEPTH + 1)));
        let text = format!(r#"{{"a":"{}\"{}"}}"#, "[".repeat(500), "{".repeat(500));
        assert!(!too_complex(text.as_bytes()));
    }

    #[test]
    fn counts_values_outside_strings_only() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count));
        assert!(!too_complex(list(MAX_VALUES - 1).as_bytes()));
        assert!(too_complex(list(MAX_VALUES).as_bytes()));
        let text = format!(r#"["{}"]"#, ",".repeat(2 * MAX_VALUES));
        assert!(!too_complex(text.as_bytes()));
    }

    #[test]
    fn a_handshake_may_omit_capabilities_and_client_info() {
        let completed = |params: Value| {
            let hello =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
            let whole = completed_handshake(hello.to_string().as_bytes())?;
            let whole: Value = serde_json::from_slice(&whole).unwrap();
            Some(whole["params"].clone())
        };
        let nobody = json!({ "name": "", "version": "" });
        assert_eq!(
            completed(json!({ "protocolVersion": "x", "clientInfo": null })),
            Some(json!({ "protocolVersion": "x", "capabilities": {}, "clientInfo": nobody }))
        );
        let named = json!({ "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
        assert_eq!(completed(named), None);
        // A value of another form is not replaced.
        assert_eq!(completed(json!({ "clientInfo": "me" })), None);
        assert_eq!(completed(json!([])), None);
    }

    #[test]
    fn distinguishes_requests_from_notifications() {
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
