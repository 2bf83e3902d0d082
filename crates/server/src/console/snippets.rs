//! A call as text to be copied: for a shell, for the command line, for a client. No key
//! is in it.

use desk::{Desk, PreparedTool, ServedCounter};
use serde_json::{Map, Value, json};

pub struct Snippets {
    pub curl: String,
    pub command: String,
    pub client: String,
    pub needs_key: bool,
}

impl Snippets {
    pub fn new(
        desk: &Desk,
        served: &ServedCounter,
        tool: &PreparedTool,
        arguments: &Map<String, Value>,
    ) -> Self {
        let about = &served.counter.about;
        let (counter, name) = (about.name, tool.listed_name);
        let base = desk.settings.console_url();
        let address = format!("{base}/mcp/{counter}");
        let needs_key = desk.needs_key(counter);
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": name,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        let mut curl = format!("curl -sS {}", quoted(&address));
        if needs_key {
            curl.push_str(" \\\n  -H \"Authorization: Bearer $MADOGUCHI_KEY\"");
        }
        for header in [
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            &format!("Mcp-Name: {name}"),
        ] {
            curl.push_str(&format!(" \\\n  -H {}", quoted(header)));
        }
        curl.push_str(&format!(" \\\n  -d {}", quoted(&body.to_string())));
        let text = Value::Object(arguments.clone()).to_string();
        let mut entry = json!({ "type": "http", "url": address });
        if needs_key && let Some(entry) = entry.as_object_mut() {
            let headers = json!({ "Authorization": "Bearer ${MADOGUCHI_KEY}" });
            entry.insert("headers".into(), headers);
        }
        let client = json!({ "mcpServers": { counter: entry } });
        Self {
            curl,
            command: format!(
                "madoguchi call {counter} {name} {} --url {}",
                quoted(&text),
                quoted(&base)
            ),
            client: serde_json::to_string_pretty(&client).unwrap_or_default(),
            needs_key,
        }
    }
}

/// For a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_any_text_for_one_word() {
        let text = "it's $HOME `x` \"y\" \\ \n";
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf %s {}", quoted(text))])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}
