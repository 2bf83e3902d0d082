//! What a counter offers, in the protocol's shape. Built once, at start.

use std::{borrow::Cow, ops::Deref, sync::Arc};

use desk::{
    PreparedTool, ServedCounter,
    methods::{self, COMPLETE},
    settings::AnswerText,
    stations::{authorize, identify::Identified},
    views,
};
use jiff::Zoned;
use kit::{Counter, Tool, prompt::Prompt, resource::Shows};
use rmcp::model as mcp;
use serde_json::{Value, json};

use super::apps;

/// How long clients may keep the lists of tools, prompts and templates. They change
/// only when the program is replaced or reconfigured, or when a person denies a tool,
/// which calls of it notice at once.
pub const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// Entries per page of a list.
pub const PAGE: usize = 50;

/// A counter as the protocol shows it.
pub struct PublishedCounter {
    served: Arc<ServedCounter>,
    pub definitions: Definitions,
    /// Whether plain calls skip the protocol crate.
    pub direct_path: bool,
}

impl PublishedCounter {
    pub fn new(served: &Arc<ServedCounter>) -> Arc<Self> {
        Arc::new(Self::of(served, true))
    }

    /// For comparing the direct path with the protocol crate's.
    pub fn without_direct_path(served: &Arc<ServedCounter>) -> Arc<Self> {
        Arc::new(Self::of(served, false))
    }

    fn of(served: &Arc<ServedCounter>, direct_path: bool) -> Self {
        Self {
            definitions: Definitions::new(served),
            served: Arc::clone(served),
            direct_path,
        }
    }

    /// The tools that the caller may use. `all` has one entry for each tool.
    pub fn listed_for<'a, T: Clone>(&self, who: &Identified, all: &'a [T]) -> Listed<'a, T> {
        let may_list = |tool: &Arc<PreparedTool>| authorize::may_list_tool(who, tool);
        if self.tools.iter().all(may_list) {
            return Listed {
                items: Cow::Borrowed(all),
                is_for_all: who.key.is_none(),
            };
        }
        let allowed = self
            .tools
            .iter()
            .zip(all)
            .filter(|(tool, _)| may_list(tool));
        Listed {
            items: allowed.map(|(_, item)| item.clone()).collect(),
            is_for_all: false,
        }
    }

    /// What an agent reads first: how the counter works, and what day it is there.
    /// Tools have the names under which they are listed.
    pub fn instructions(&self, now: &Zoned, own_names: bool) -> String {
        let mut text = self.counter.about.instructions.to_owned();
        for tool in self.tools.iter().filter(|_| own_names) {
            text = text.replace(tool.listed_name, tool.tool.name);
        }
        match now.time_zone().iana_name() {
            Some(zone) => format!("{text} Today is {} ({zone}).", now.date()),
            None => text,
        }
    }

    /// Whether `content` has one line in place of the structured content's JSON.
    pub fn short_text(&self) -> bool {
        self.served.listing.text == AnswerText::Line
    }
}

impl Deref for PublishedCounter {
    type Target = ServedCounter;

    fn deref(&self) -> &ServedCounter {
        &self.served
    }
}

/// A list of tools for one caller.
pub struct Listed<'a, T: Clone> {
    pub items: Cow<'a, [T]>,
    /// Whether everybody gets the same list.
    pub is_for_all: bool,
}

/// The definitions of a counter's tools, all in the same order.
pub struct ToolLists {
    pub json: Vec<Value>,
    pub mcp: Vec<mcp::Tool>,
    /// Under the names that the counter's document gives them, for its own port.
    pub own: Vec<mcp::Tool>,
}

impl ToolLists {
    fn new(served: &ServedCounter, with_views: bool) -> Self {
        let definition = |prepared: &PreparedTool, name: &str| {
            let mut definition = tool_definition(&prepared.tool, name);
            if let Some(fields) = definition.as_object_mut()
                && !served.listing.output_schemas
            {
                fields.remove("outputSchema");
            }
            if with_views && let Some(view) = views::of_tool(served, prepared) {
                apps::link(&mut definition, view);
            }
            definition
        };
        let tools = served.tools.iter();
        let own = tools.clone().map(|it| definition(it, it.tool.name));
        let json: Vec<Value> = tools.map(|it| definition(it, it.listed_name)).collect();
        Self {
            own: own.filter_map(from_json).collect(),
            mcp: json.iter().cloned().filter_map(from_json).collect(),
            json,
        }
    }
}

pub struct Definitions {
    pub tools: ToolLists,
    /// For clients that show views; the others see none of them.
    pub tools_with_views: ToolLists,
    pub prompts: Vec<mcp::Prompt>,
    /// Each with the tools whose data it shows.
    pub templates: Vec<(Shows, mcp::ResourceTemplate)>,
    pub info: mcp::ServerConfig,
    /// The names of tools some of whose arguments must be repeated in HTTP headers.
    with_header_arguments: Vec<String>,
    /// `serverInfo` as JSON text, for stamping results.
    pub server_info: String,
    pub server_info_meta: mcp::MetaObject,
}

impl Definitions {
    pub fn new(served: &ServedCounter) -> Self {
        let counter = &served.counter;
        let server_info = json!({
            "name": counter.about.server_name,
            "title": counter.about.title,
            "version": counter.about.version,
        });
        let mut meta = mcp::MetaObject::new();
        meta.0.insert(
            "io.modelcontextprotocol/serverInfo".into(),
            server_info.clone(),
        );
        let tools = ToolLists::new(served, false);
        Self {
            with_header_arguments: with_header_arguments(&tools),
            tools,
            tools_with_views: ToolLists::new(served, true),
            prompts: counter
                .prompts
                .iter()
                .map(|prompt| prompt_definition(prompt))
                .collect(),
            templates: counter
                .resources
                .iter()
                .flat_map(|resources| resources.templates())
                .map(|template| {
                    let shown = mcp::ResourceTemplate::new(template.uri_template, template.name)
                        .with_title(template.title)
                        .with_description(template.description)
                        .with_mime_type(template.mime_type);
                    (template.shows, shown)
                })
                .collect(),
            info: info(counter),
            server_info: server_info.to_string(),
            server_info_meta: meta,
        }
    }

    /// The lists for a client, by whether it shows views.
    pub fn tools_for(&self, shows_views: bool) -> &ToolLists {
        match shows_views {
            true => &self.tools_with_views,
            false => &self.tools,
        }
    }

    pub fn tool(&self, name: &str) -> Option<&mcp::Tool> {
        let mut all = self.tools.mcp.iter().chain(&self.tools.own);
        all.find(|tool| tool.name == name)
    }

    /// Whether some arguments of this tool must be repeated in HTTP headers.
    pub fn has_header_arguments(&self, name: &str) -> bool {
        self.with_header_arguments.iter().any(|tool| tool == name)
    }
}

fn with_header_arguments(tools: &ToolLists) -> Vec<String> {
    let all = tools.mcp.iter().chain(&tools.own);
    let named = all.filter(|tool| {
        let properties = tool.input_schema.get("properties");
        properties.is_some_and(mentions_header)
    });
    named.map(|tool| tool.name.to_string()).collect()
}

fn mentions_header(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.contains_key("x-mcp-header") || object.values().any(mentions_header)
        }
        _ => false,
    }
}

/// A tool as `tools/list` shows it.
pub fn tool_definition(tool: &Tool, name: &str) -> Value {
    let mut definition = serde_json::Map::new();
    let mut put = |key: &str, value: Value| definition.insert(key.into(), value);
    put("name", name.into());
    put("title", tool.title.into());
    put("description", tool.description.into());
    put("inputSchema", tool.input.clone());
    if let Some(output) = &tool.output {
        put("outputSchema", published(output.clone()));
    }
    let hints = json!({
        "readOnlyHint": tool.hints.read_only,
        "destructiveHint": tool.hints.destructive,
        "idempotentHint": tool.hints.idempotent,
        "openWorldHint": tool.hints.open_world,
    });
    put("annotations", hints);
    if let Some(meta) = &tool.meta {
        put("_meta", meta.clone());
    }
    Value::Object(definition)
}

/// The output schema for clients: true of refusals as well, because some clients
/// hold `structuredContent` against it even when `isError` is set. So no field is
/// required, and fields that it does not list are allowed.
fn published(mut schema: Value) -> Value {
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema
}

fn prompt_definition(prompt: &Prompt) -> mcp::Prompt {
    let arguments = prompt
        .arguments
        .iter()
        .map(|argument| {
            mcp::PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(argument.required)
        })
        .collect();
    mcp::Prompt::new(prompt.name, Some(prompt.description), Some(arguments))
        .with_title(prompt.title)
}

fn info(counter: &Counter) -> mcp::ServerConfig {
    let about = &counter.about;
    let lists = if about.lists_change {
        json!({ "listChanged": true })
    } else {
        json!({})
    };
    let mut capabilities = json!({ "logging": {}, "tools": lists });
    if let Some(object) = capabilities.as_object_mut() {
        if !counter.prompts.is_empty() {
            object.insert("prompts".into(), lists);
        }
        if counter.resources.is_some() {
            object.insert(
                "resources".into(),
                json!({ "subscribe": true, "listChanged": true }),
            );
        }
        if methods::offers(counter, COMPLETE.name) {
            object.insert("completions".into(), json!({}));
        }
    }
    let capabilities = from_json(capabilities).unwrap_or_default();
    mcp::ServerConfig::new(capabilities).with_server_info(
        mcp::Implementation::new(about.server_name, about.version)
            .with_title(about.title)
            .with_description(about.description),
    )
}

/// The protocol crate reads what it writes, so this fails for no definition of
/// ours; the tests compare the two lists.
fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value)
        .inspect_err(|error| tracing::error!(%error, "a definition is not valid"))
        .ok()
}
