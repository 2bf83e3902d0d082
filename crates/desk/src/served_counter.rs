//! A counter prepared for serving: its tools are indexed by name and have their
//! policies and metric handles.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
};

use jsonschema::Validator;
use kit::{
    Caller, Counter, Error, Result, Run, Tool, context::Change, counter::ErrorShape,
    resource::Shows,
};
use serde_json::Value;
use tokio::sync::broadcast;

use crate::{
    answer_cache::AnswerCache,
    events::Event,
    language::LastLanguage,
    metrics::{Metrics, ToolMetrics},
    nearest_tool,
    settings::{Policy, Settings, Tools},
};

/// How many changes a slow subscriber may lag behind without missing any.
const EVENT_BACKLOG: usize = 1024;

pub struct ServedCounter {
    pub counter: Counter,
    /// In the order of `tools/list`, without those the settings hide.
    pub tools: Vec<Arc<PreparedTool>>,
    by_name: HashMap<&'static str, Arc<PreparedTool>>,
    /// Those that only its page in the console uses.
    page_tools: HashMap<&'static str, Arc<PreparedTool>>,
    /// By any of its names: the tool's own name, and why it is not offered.
    hidden: HashMap<&'static str, (&'static str, &'static str)>,
    /// How lists and answers are shown.
    pub listing: Tools,
    pub events: broadcast::Sender<Event>,
    pub last_language: LastLanguage,
}

pub struct PreparedTool {
    pub tool: Arc<Tool>,
    /// The spelling shown in lists.
    pub listed_name: &'static str,
    input: OnceLock<Validator>,
    output: OnceLock<Validator>,
    /// What the configuration says, or the default.
    pub file_policy: Policy,
    /// Whether the operator configured the policy.
    pub policy_is_configured: bool,
    /// A [`Policy`] that a person set later. It counts where it is stricter.
    tightened: AtomicU8,
    pub metrics: ToolMetrics,
    pub answer_cache: AnswerCache,
}

impl ServedCounter {
    pub(crate) fn new(counter: Counter, settings: &Settings, metrics: &Metrics) -> Result<Self> {
        let mut tools = Vec::new();
        let mut by_name = HashMap::new();
        let mut hidden = HashMap::new();
        for tool in &counter.tools {
            if let Some(reason) = settings.tools.hides(tool) {
                for name in names(tool) {
                    hidden.insert(name, (tool.name, reason));
                }
                continue;
            }
            let prepared = Arc::new(PreparedTool::new(
                Arc::clone(tool),
                &counter,
                settings,
                metrics,
            )?);
            for name in names(tool) {
                if by_name.insert(name, Arc::clone(&prepared)).is_some() {
                    return Err(Error::internal(format!("two tools answer to {name}")));
                }
            }
            tools.push(prepared);
        }
        check_tools_of_reads(&counter)?;
        let mut page_tools = HashMap::new();
        for tool in counter.page.iter().flat_map(|page| page.tools()) {
            let name = tool.name;
            let prepared = PreparedTool::new(tool, &counter, settings, metrics)?;
            page_tools.insert(name, Arc::new(prepared));
        }
        Ok(Self {
            counter,
            tools,
            by_name,
            page_tools,
            hidden,
            listing: settings.tools.clone(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
            last_language: LastLanguage::default(),
        })
    }

    pub fn find(&self, name: &str) -> FoundTool<'_> {
        if let Some(tool) = self.by_name.get(name) {
            return FoundTool::Tool(tool);
        }
        match self.hidden.get(name) {
            Some((name, reason)) => FoundTool::Hidden { name, reason },
            None => FoundTool::Unknown,
        }
    }

    /// The tool that this caller means. The console has some of its own.
    pub fn find_for(&self, caller: &Caller, name: &str) -> FoundTool<'_> {
        match self.page_tools.get(name) {
            Some(tool) if *caller == Caller::console() => FoundTool::Tool(tool),
            _ => self.find(name),
        }
    }

    /// Whether the tool may need an approval but has no transaction in which to use
    /// it. Such work continues when its client disconnects.
    pub fn may_outlive_its_client(&self, name: &str) -> bool {
        let FoundTool::Tool(tool) = self.find(name) else {
            return false;
        };
        let may_ask = tool.policy() == Policy::Ask
            || tool.tool.inner_calls.is_some()
            || tool.tool.implied_tools.is_some();
        may_ask && !tool.tool.run.is_transaction()
    }

    /// Notifies subscribers. Call this after the change is committed.
    pub fn publish(&self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
            // An error only means that there are no subscribers.
            let _ = self.events.send(Event(change));
        }
    }

    /// The shape of its tools' refusals.
    pub fn error_shape(&self) -> ErrorShape {
        self.counter.about.conventions.error_shape
    }

    /// The health of the counter's background work.
    pub fn health(&self) -> Option<Value> {
        self.counter.background.as_ref()?.health()
    }

    /// The tool that the caller of an unknown one probably meant.
    pub fn nearest_tool(&self, name: &str) -> Option<&str> {
        let names = self.tools.iter().flat_map(|tool| names(&tool.tool));
        nearest_tool::nearest(name, names)
    }
}

/// The tools that a prompt, template or view names decide who may see it, so they must
/// exist.
fn check_tools_of_reads(counter: &Counter) -> Result<()> {
    let prompts = counter.prompts.iter();
    let prompts = prompts.map(|prompt| (prompt.name, prompt.tools));
    let templates = counter.resources.iter();
    let templates = templates.flat_map(|resources| resources.templates());
    let templates = templates.flat_map(|template| {
        let Shows { read, listed } = template.shows;
        [(template.name, read), (template.name, listed)]
    });
    let views = counter.views.iter().map(|view| (view.name, view.tools));
    for (name, tools) in prompts.chain(templates).chain(views) {
        if tools.is_empty() {
            return Err(Error::internal(format!("{name} names no tool")));
        }
        if let Some(unknown) = tools.iter().find(|tool| counter.tool(tool).is_none()) {
            let message = format!("{name} names {unknown}, which is no tool");
            return Err(Error::internal(message));
        }
    }
    Ok(())
}

fn names(tool: &Tool) -> impl Iterator<Item = &'static str> + use<> {
    std::iter::once(tool.name).chain(tool.aliases.iter().copied())
}

impl PreparedTool {
    fn new(
        tool: Arc<Tool>,
        counter: &Counter,
        settings: &Settings,
        metrics: &Metrics,
    ) -> Result<Self> {
        let prepared = Self {
            input: OnceLock::new(),
            output: OnceLock::new(),
            listed_name: tool.client_safe_name(),
            file_policy: settings.approval.policy(counter.about.name, &tool),
            tightened: AtomicU8::new(Policy::Allow as u8),
            policy_is_configured: settings
                .approval
                .configured(counter.about.name, &tool)
                .is_some(),
            metrics: metrics.of_tool(counter.about.name, tool.client_safe_name()),
            answer_cache: AnswerCache::default(),
            tool,
        };
        // In tests, invalid schemas are found at once.
        if cfg!(debug_assertions) {
            prepared.input()?;
            prepared.output()?;
        }
        Ok(prepared)
    }

    /// The policy in force: never looser than the configuration says.
    pub fn policy(&self) -> Policy {
        let tightened = match self.tightened.load(Ordering::Relaxed) {
            0 => Policy::Allow,
            1 => Policy::Ask,
            _ => Policy::Deny,
        };
        self.file_policy.max(tightened)
    }

    /// Whether somebody chose the policy. Then it applies to every call, even to calls
    /// that the tool itself would exempt.
    pub fn policy_is_chosen(&self) -> bool {
        self.policy_is_configured || self.policy() > self.file_policy
    }

    pub(crate) fn tighten(&self, policy: Policy) {
        self.tightened.store(policy as u8, Ordering::Relaxed);
    }

    /// Compiled when first needed, so that a client of one tool does not wait for
    /// the validators of all.
    pub fn input(&self) -> Result<&Validator> {
        self.compiled(&self.input, &self.tool.input)
    }

    pub fn output(&self) -> Result<Option<&Validator>> {
        let schema = self.tool.output.as_ref();
        schema
            .map(|schema| self.compiled(&self.output, schema))
            .transpose()
    }

    fn compiled<'a>(&self, cell: &'a OnceLock<Validator>, schema: &Value) -> Result<&'a Validator> {
        if let Some(validator) = cell.get() {
            return Ok(validator);
        }
        let validator = jsonschema::draft202012::new(schema).map_err(|error| {
            let name = self.tool.name;
            Error::internal(format!("the schema of {name} is not valid: {error}"))
        })?;
        Ok(cell.get_or_init(|| validator))
    }
}

/// The result of looking up a tool by name.
pub enum FoundTool<'a> {
    Tool(&'a Arc<PreparedTool>),
    /// It exists, but this desk does not offer it. The caller sees the reason.
    Hidden {
        name: &'static str,
        reason: &'static str,
    },
    Unknown,
}

impl FoundTool<'_> {
    /// The tool's own name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tool(tool) => tool.tool.name,
            Self::Hidden { name, .. } => name,
            Self::Unknown => "unknown",
        }
    }

    pub fn writes(&self) -> bool {
        matches!(self, Self::Tool(tool) if tool.tool.writes())
    }

    /// Whether a successful call leaves a row that is committed with its change.
    pub fn has_ledger_row(&self) -> bool {
        let in_transaction = |run: &Run| matches!(run, Run::Transaction(_) | Run::Prepared(_));
        matches!(self, Self::Tool(tool) if in_transaction(&tool.tool.run))
    }

    pub fn metrics(&self) -> Option<&ToolMetrics> {
        match self {
            Self::Tool(tool) => Some(&tool.metrics),
            Self::Hidden { .. } | Self::Unknown => None,
        }
    }
}
