//! What a client can read, by its `Accept` header. The protocol wants both JSON
//! and event streams named; many a small client names less, and gets JSON
//! wherever one message is the whole answer.

use http::{HeaderMap, header};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedTypes {
    /// Both, by name: as the protocol wants it.
    Both,
    /// Whatever comes, and so JSON first.
    Anything,
    JsonOnly,
    /// Nothing that this desk writes.
    Neither,
}

impl AcceptedTypes {
    pub fn of(headers: &HeaderMap) -> Self {
        let mut named = headers.get_all(header::ACCEPT).iter().peekable();
        if named.peek().is_none() {
            return Self::Anything;
        }
        let (mut json, mut events, mut anything) = (false, false, false);
        for range in named
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
        {
            let kind = range.split(';').next().unwrap_or_default().trim();
            json |= kind.eq_ignore_ascii_case(JSON) || kind.eq_ignore_ascii_case("application/*");
            events |= kind.eq_ignore_ascii_case(EVENTS);
            anything |= kind == "*/*";
        }
        match (json, events, anything) {
            (true, true, _) => Self::Both,
            (_, _, true) => Self::Anything,
            (true, false, _) => Self::JsonOnly,
            (false, _, _) => Self::Neither,
        }
    }

    pub fn json_first(self) -> bool {
        matches!(self, Self::Anything | Self::JsonOnly)
    }

    pub fn stream(self) -> bool {
        matches!(self, Self::Both | Self::Anything)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_clients_can_read() {
        let reads = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            AcceptedTypes::of(&headers)
        };
        assert_eq!(reads(&[]), AcceptedTypes::Anything);
        assert_eq!(reads(&["*/*"]), AcceptedTypes::Anything);
        assert_eq!(reads(&["text/html, */*;q=0.8"]), AcceptedTypes::Anything);
        assert_eq!(
            reads(&["application/json, text/plain, */*"]),
            AcceptedTypes::Anything
        );
        assert_eq!(reads(&["application/json"]), AcceptedTypes::JsonOnly);
        assert_eq!(
            reads(&["Application/JSON; charset=utf-8"]),
            AcceptedTypes::JsonOnly
        );
        assert_eq!(reads(&["Application/*;q=0.5"]), AcceptedTypes::JsonOnly);
        assert_eq!(
            reads(&["application/json, text/event-stream"]),
            AcceptedTypes::Both
        );
        assert_eq!(
            reads(&["text/event-stream", "application/json;q=0.9"]),
            AcceptedTypes::Both
        );
        assert_eq!(reads(&["text/event-stream"]), AcceptedTypes::Neither);
        assert_eq!(reads(&["text/html"]), AcceptedTypes::Neither);
        assert_eq!(reads(&[""]), AcceptedTypes::Neither);
    }
}
