//! Stateless requests of revision 2026-07-28, and what is read from the answers.

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

pub const REVISION: &str = "2026-07-28";

/// What each request of that revision says of itself, as a field of its `params`.
pub const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0.1.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#,
);

/// A `tools/list` as one line, for stdio.
pub fn list_line() -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#)
}

/// A call of a tool as one line, for stdio.
pub fn call_line(id: u64, tool: &str, arguments: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{META}}}}}"#
    )
}

/// Where calls of one tool go.
#[derive(Debug, Clone)]
pub struct Target {
    pub port: u16,
    head: String,
    /// None where the arguments are the whole body.
    tool: Option<&'static str>,
}

impl Target {
    pub fn new(port: u16, path: &str, tool: &'static str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\n\
             Host: 127.0.0.1:{port}\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {REVISION}\r\n\
             Mcp-Method: tools/call\r\n\
             Mcp-Name: {tool}\r\n\
             Content-Length: "
        );
        let tool = Some(tool);
        Self { port, head, tool }
    }

    /// Requests whose body is what [`Work::arguments`] says, to a server of another kind.
    pub fn plain(port: u16, path: &str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\n\
             Host: 127.0.0.1:{port}\r\n\
             Content-Type: application/json\r\n\
             Content-Length: "
        );
        let tool = None;
        Self { port, head, tool }
    }

    /// The same with a key.
    pub fn with_key(self, key: &str) -> Self {
        let head = format!("Authorization: Bearer {key}\r\nContent-Length: ");
        Self {
            head: self.head.replace("Content-Length: ", &head),
            ..self
        }
    }

    /// A whole HTTP request.
    pub fn request(&self, id: u64, arguments: &str) -> String {
        let body = match self.tool {
            Some(tool) => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{META}}}}}"#
            ),
            None => arguments.to_owned(),
        };
        format!("{}{}\r\n\r\n{body}", self.head, body.len())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<C> {
    id: u64,
    result: CallResult<C>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<C> {
    structured_content: C,
    #[serde(default)]
    is_error: bool,
}

fn read<'a, C: Deserialize<'a>>(id: u64, body: &'a [u8]) -> Result<CallResult<C>> {
    let answer: Answer<C> = serde_json::from_slice(body)
        .with_context(|| format!("not an answer: {}", String::from_utf8_lossy(body)))?;
    ensure!(answer.id == id, "answer {} to request {id}", answer.id);
    Ok(answer.result)
}

/// What a call that went well returned.
pub fn result<'a, C: Deserialize<'a>>(id: u64, body: &'a [u8]) -> Result<C> {
    let result: CallResult<C> = read(id, body)?;
    let body = String::from_utf8_lossy(body);
    ensure!(!result.is_error, "an error: {body}");
    Ok(result.structured_content)
}

/// One kind of call, numbered: what is asked, and whether the answer is right.
pub trait Work: Send + Sync + 'static {
    fn arguments(&self, number: u64) -> String;
    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict>;

    /// What HTTP says to it.
    fn status(&self) -> u16 {
        200
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Done,
    /// The tool said no, as it should.
    Refused,
}

/// `fixture_sum`, with other numbers every time.
pub struct Sums;

const TERM: u64 = 4_000;

#[derive(Deserialize)]
struct Sum {
    sum: u64,
}

impl Work for Sums {
    fn arguments(&self, number: u64) -> String {
        format!(r#"{{"a":{number},"b":{TERM}}}"#)
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let result: CallResult<Sum> = read(number, body)?;
        let (sum, right) = (result.structured_content.sum, number + TERM);
        ensure!(sum == right && !result.is_error, "{sum} for {right}");
        Ok(Verdict::Done)
    }
}

/// `fixture_sum` where the desk refuses it.
pub struct Refused {
    /// 401 or 429, which the message says too.
    pub status: u16,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalCode,
}

#[derive(Deserialize)]
struct RefusalCode {
    code: u16,
}

impl Work for Refused {
    fn arguments(&self, number: u64) -> String {
        Sums.arguments(number)
    }

    fn check(&self, _: u64, body: &[u8]) -> Result<Verdict> {
        let refusal: Refusal = serde_json::from_slice(body)?;
        ensure!(refusal.error.code == self.status, "{}", refusal.error.code);
        Ok(Verdict::Refused)
    }

    fn status(&self) -> u16 {
        self.status
    }
}

/// `get_movie_list` without arguments.
pub struct Films;

#[derive(Deserialize)]
struct FilmList {
    movies: Vec<serde::de::IgnoredAny>,
}

impl Work for Films {
    fn arguments(&self, _: u64) -> String {
        "{}".to_owned()
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let result: CallResult<FilmList> = read(number, body)?;
        ensure!(
            !result.structured_content.movies.is_empty(),
            "an empty programme"
        );
        Ok(Verdict::Done)
    }
}

/// What `reserve_seats` says when somebody was quicker.
pub const SEATS_TAKEN: &str = "SEATS_TAKEN";

/// Whether a booking was made; any error but "taken" fails the run. FastMCP says
/// "taken" in a plain result.
pub fn check_booking(id: u64, body: &[u8]) -> Result<Verdict> {
    let result: CallResult<Value> = read(id, body)?;
    match &result.structured_content["error"]["code"] {
        Value::String(code) if code == SEATS_TAKEN => Ok(Verdict::Refused),
        Value::Null if !result.is_error => Ok(Verdict::Done),
        _ => bail!("refused for another reason: {}", result.structured_content),
    }
}
