//! Reads a desk's response: one JSON message, or a stream that reports progress first.

use http_body_util::BodyExt;
use hyper::{Response, StatusCode, body::Incoming, header::CONTENT_TYPE};
use kit::{Error, Result};
use serde_json::Value;

use super::progress::Progress;

/// The message that answers the request.
pub async fn read(
    response: Response<Incoming>,
    unreachable: impl Fn(String) -> Error,
) -> Result<Value> {
    let status = response.status();
    let media_type = response.headers().get(CONTENT_TYPE);
    let is_stream = media_type.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    let mut body = response.into_body();
    if !is_stream {
        let body = body.collect().await;
        let body = body.map_err(|error| unreachable(error.to_string()))?;
        return parse(status, &body.to_bytes());
    }
    let progress = Progress::default();
    let mut events = Events::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unreachable(error.to_string()))?;
        let Ok(bytes) = frame.into_data() else {
            continue;
        };
        for event in events.add(&bytes) {
            let message = parse(status, &event)?;
            if message.get("id").is_some() {
                return Ok(message);
            }
            let said = message.pointer("/params/message").and_then(Value::as_str);
            if let Some(said) = said {
                progress.show(said);
            }
        }
    }
    Err(unreachable("the answer ended too early".to_owned()))
}

fn parse(status: StatusCode, body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body).map_err(|_| {
        let text = String::from_utf8_lossy(body);
        Error::new(
            "REFUSED",
            format!("The desk answered {status}: {}", text.trim()),
        )
    })
}

/// Server-sent events that arrive in pieces.
#[derive(Default)]
struct Events {
    rest: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// The data of the events that are complete by now.
    fn add(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.rest.extend_from_slice(bytes);
        let mut complete = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = line.trim_ascii_end();
            if let Some(data) = line.strip_prefix(b"data:") {
                self.data.extend_from_slice(data.trim_ascii_start());
            } else if line.is_empty() && !self.data.is_empty() {
                complete.push(std::mem::take(&mut self.data));
            }
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_are_found_in_pieces_of_any_length() {
        let stream =
            b": hello\n\nid: 1\ndata: {\"a\":\ndata: 1}\n\nretry: 3\n\ndata:{}\r\n\r\ndata: cut";
        for length in 1..stream.len() {
            let mut events = Events::default();
            let found: Vec<Vec<u8>> = stream
                .chunks(length)
                .flat_map(|piece| events.add(piece))
                .collect();
            assert_eq!(found, [&b"{\"a\":1}"[..], b"{}"], "pieces of {length}");
        }
    }
}
