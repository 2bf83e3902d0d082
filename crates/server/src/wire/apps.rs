//! MCP Apps: views that chat clients show beside the answers of tools (the extension
//! `io.modelcontextprotocol/ui`, revision 2026-01-26). Only clients that declare the
//! extension see them in lists.

use base64ct::{Base64, Encoding};
use kit::View;
use rmcp::model as mcp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

const EXTENSION: &str = "io.modelcontextprotocol/ui";
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

const HOST: &str = include_str!("apps/host.js");
const STYLE: &str = concat!(
    include_str!("../styles/colours.css"),
    include_str!("../styles/buttons.css"),
    include_str!("../styles/plan.css"),
    include_str!("apps/view.css")
);

/// Whether a client with these capabilities shows views.
pub fn are_shown_with(capabilities: &Map<String, Value>) -> bool {
    let declared = capabilities.get("extensions");
    let Some(declared) = declared.and_then(|extensions| extensions.get(EXTENSION)) else {
        return false;
    };
    // The extension requires the types; a client that forgot them means this one.
    let types = declared.get("mimeTypes").and_then(Value::as_array);
    types.is_none_or(|types| types.iter().any(|kind| kind == MIME_TYPE))
}

/// The same for capabilities as the protocol crate has them.
pub fn are_shown_by(client: Option<mcp::ClientCapabilities>) -> bool {
    let client = client.filter(|client| client.extensions.is_some());
    let capabilities = client.and_then(|client| serde_json::to_value(client).ok());
    capabilities.is_some_and(|it| it.as_object().is_some_and(are_shown_with))
}

/// Adds the extension to what a counter declares. Views are resources, so it has some.
pub fn declare(capabilities: &mut mcp::ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(EXTENSION.to_owned(), Map::new());
    capabilities.resources.get_or_insert_default();
}

/// Adds a view to the definition of a tool.
pub fn link(definition: &mut Value, view: &View) {
    if let Some(definition) = definition.as_object_mut() {
        let meta = definition.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert("ui".into(), json!({ "resourceUri": view.uri }));
        }
    }
}

/// A view as `resources/list` shows it.
pub fn listed(view: &View) -> mcp::Resource {
    mcp::Resource::new(view.uri, view.name)
        .with_title(view.title)
        .with_description(view.description)
        .with_mime_type(MIME_TYPE)
}

/// A view as `resources/read` shows it.
pub fn contents(view: &View) -> mcp::ResourceContents {
    // No address but its own.
    let csp = json!({ "connectDomains": [], "resourceDomains": [] });
    let mut meta = mcp::MetaObject::new();
    let ui = json!({ "csp": csp, "prefersBorder": true });
    meta.0.insert("ui".into(), ui);
    mcp::ResourceContents::text(page(view), view.uri)
        .with_mime_type(MIME_TYPE)
        .with_meta(meta)
}

/// A page that loads nothing, and runs nothing but its own script.
fn page(view: &View) -> String {
    let style = format!("{STYLE}{}", view.style);
    // In a block, so that its names are not those of the window.
    let script = format!(
        "\"use strict\";\n{{\n{HOST}\n{}\nstart();\n}}\n",
        view.script
    );
    let digest = |text: &str| Base64::encode_string(&Sha256::digest(text.as_bytes()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <main id=\"view\"></main>\n<p id=\"status\" role=\"status\"></p>\n\
         <script>{script}</script>\n</body>\n</html>\n",
        digest(&script),
        digest(&style),
        view.title,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: View = View {
        uri: "ui://test/view",
        name: "view",
        title: "A view",
        description: "For tests.",
        tools: &[],
        script: "draw = () => {};",
        style: ".a { color: red; }",
    };

    #[test]
    fn only_clients_that_declare_this_kind_of_view_see_them() {
        let shown = |extension: Value| {
            let capabilities = json!({ "extensions": { EXTENSION: extension } });
            are_shown_with(capabilities.as_object().unwrap())
        };
        assert!(shown(json!({ "mimeTypes": [MIME_TYPE] })));
        assert!(shown(json!({})));
        assert!(!shown(json!({ "mimeTypes": ["text/html+other"] })));
        assert!(!are_shown_with(&Map::new()));
        assert!(!are_shown_by(Some(mcp::ClientCapabilities::default())));
    }

    #[test]
    fn a_page_needs_nothing_else_and_allows_its_own_script_alone() {
        let page = page(&VIEW);
        for outside in [
            "http://",
            "https://",
            "src=",
            "@import",
            "url(",
            "innerHTML",
            "eval(",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        let (_, rest) = page.split_once("<script>").unwrap();
        let (script, _) = rest.split_once("</script>").unwrap();
        assert!(
            script.ends_with("draw = () => {};\nstart();\n}\n"),
            "{script}"
        );
        let digest = Base64::encode_string(&Sha256::digest(script.as_bytes()));
        assert!(page.contains(&format!("script-src 'sha256-{digest}'")));
    }

    #[test]
    fn a_link_keeps_what_the_tool_says_already() {
        let mut definition = json!({ "name": "a", "_meta": { "other": 1 } });
        link(&mut definition, &VIEW);
        let linked = json!({ "other": 1, "ui": { "resourceUri": VIEW.uri } });
        assert_eq!(definition["_meta"], linked);
    }
}
