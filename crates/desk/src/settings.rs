//! The configuration of the desk. The comment of each field is published: the default
//! file and the schema are generated from it.

mod database;
mod listeners;

use std::{collections::BTreeMap, fmt, net::IpAddr, num::NonZeroU32};

use kit::{Effect, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use database::Database;
pub use listeners::{Http, Listener, Tls, WebSocket};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The main listener: Streamable HTTP, WebSocket, probes.
    pub http: Http,
    /// TLS on every listener.
    pub tls: Tls,
    /// WebSocket connections on the main listener.
    pub websocket: WebSocket,
    /// Where rows are kept.
    pub database: Database,
    /// Logs, always on stderr.
    pub log: Log,
    /// How many requests a caller may make.
    pub limits: Limits,
    /// Which tools the user must approve.
    pub approval: Approval,
    /// Which keys open the desk.
    pub identity: Identity,
    /// Which tools are offered.
    pub tools: Tools,
    /// The record of every call.
    pub audit: Audit,
}

impl Settings {
    /// The address of the console in the user's browser.
    pub fn console_url(&self) -> String {
        let http = &self.http;
        if !http.public_url.is_empty() {
            return http.public_url.trim_end_matches('/').to_owned();
        }
        let host = match http.address.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) if !address.is_unspecified() => format!("[{address}]"),
            Ok(address) if !address.is_unspecified() => address.to_string(),
            _ => "127.0.0.1".to_owned(),
        };
        let scheme = if self.tls.is_set() { "https" } else { "http" };
        format!("{scheme}://{host}:{}", http.port)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// error, warn, info, debug or trace. `LOG_LEVEL` and `--log-level` win over it.
    pub level: Level,
    /// auto (pretty on a terminal, JSON otherwise), pretty or json.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: Level::Info,
            format: LogFormat::Auto,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    /// In any case; also accepts the names of levels in other programs.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "error" | "critical" | "fatal" => Self::Error,
            "warn" | "warning" => Self::Warn,
            "info" | "notice" => Self::Info,
            "debug" => Self::Debug,
            "trace" => Self::Trace,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Auto,
    Pretty,
    Json,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests in any 60 seconds, per caller, for each counter named here: { cinema = 600 }. Counters that are not named have no limit, except innervoice with 100.
    pub requests_per_minute: BTreeMap<String, u32>,
    /// Requests per minute from one address (IPv6: one /64 network), with or without keys; 0 for no limit.
    pub requests_per_minute_per_address: u32,
    /// How many wrong keys one address may send per minute. After that, only known keys are accepted from it until the minute ends; 0 for no limit.
    pub wrong_keys_per_minute: u32,
    /// How many answers to calls with an idempotency key are kept for one caller; each is kept for 24 hours. Beyond it, calls with a new key are refused.
    pub kept_answers_per_caller: NonZeroU32,
}

const KEPT_ANSWERS: NonZeroU32 = NonZeroU32::MIN.saturating_add(99_999);

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: BTreeMap::new(),
            requests_per_minute_per_address: 0,
            wrong_keys_per_minute: 30,
            kept_answers_per_caller: KEPT_ANSWERS,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// How long a call waits for its approval before it is answered with the approval's address, in seconds.
    #[schemars(range(min = 0, max = 600))]
    pub hold_seconds: u64,
    /// allow, ask or deny for single tools: { "cinema.reserve_seats" = "deny" }. Tools that act on the outside world, or change what a person approved, ask unless named here.
    pub tools: BTreeMap<String, Policy>,
    /// How you are told that something waits: email, ntfy, webhook, each as `[innervoice]` has it for reminders. It names the agent and the tool, and leads to the console.
    pub notify: Vec<NoticeChannel>,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            hold_seconds: 45,
            tools: BTreeMap::new(),
            notify: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoticeChannel {
    Email,
    Ntfy,
    Webhook,
}

impl NoticeChannel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Ntfy => "ntfy",
            Self::Webhook => "webhook",
        }
    }
}

impl Approval {
    pub fn policy(&self, counter: &str, tool: &Tool) -> Policy {
        self.configured(counter, tool).unwrap_or(match tool.effect {
            Effect::Outside => Policy::Ask,
            Effect::Read | Effect::Write | Effect::Manage => Policy::Allow,
        })
    }

    /// The configured policy of the tool, by any of its names. The strictest of
    /// several applies.
    pub fn configured(&self, counter: &str, tool: &Tool) -> Option<Policy> {
        std::iter::once(tool.name)
            .chain(tool.aliases.iter().copied())
            .filter_map(|name| self.tools.get(&format!("{counter}.{name}")).copied())
            .max()
    }
}

// In order of strictness; not a doc comment, which would be published.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    Allow,
    Ask,
    Deny,
}

impl Policy {
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// As the configuration spells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.word() == word)
    }
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// The secret for hashing keys and signing cookies, at least 32 characters. Set it if desks share a PostgreSQL and should not store it there. Empty: `desk.secret` beside the embedded database, or a row on PostgreSQL.
    pub secret: String,
    /// Keys by the SHA-256 digest of their secret: [{ name = "phone", sha256 = "…" }]. An empty `counters` or `tools` means all.
    pub keys: Vec<KeySettings>,
}

/// Leaves out the secret.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySettings {
    pub name: String,
    pub sha256: String,
    #[serde(default)]
    pub counters: Vec<String>,
    #[serde(default)]
    pub tools: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tools {
    /// Hides and refuses every tool that changes something.
    pub read_only: bool,
    /// Offers these tools alone; empty: all.
    pub only: Vec<String>,
    /// Does not offer these.
    pub exclude: Vec<String>,
    /// Lists the schemas of answers. Without them, lists are about a third shorter.
    pub output_schemas: bool,
    /// The text beside `structuredContent`: json (the same answer, for clients that read text alone) or line (one line).
    pub text: AnswerText,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            read_only: false,
            only: Vec::new(),
            exclude: Vec::new(),
            output_schemas: true,
            text: AnswerText::Json,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerText {
    Json,
    Line,
}

impl Tools {
    /// Why a tool is not offered; `None`: it is.
    pub fn hides(&self, tool: &Tool) -> Option<&'static str> {
        let named = |list: &[String]| list.iter().any(|name| tool.answers_to(name));
        if self.read_only && tool.writes() {
            return Some("this desk is read-only");
        }
        if !self.only.is_empty() && !named(&self.only) {
            return Some("it is not among the tools this desk offers");
        }
        named(&self.exclude).then_some("it is excluded on this desk")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// Whether calls leave a record. Off, they are only logged.
    pub enabled: bool,
    /// What is kept of arguments: redacted (no secrets, long texts cut; can be erased) or none.
    pub arguments: KeepArguments,
    /// Refuses calls that change something while records can't be written, and answers the others only when their record is on disk.
    pub required: bool,
    /// How many days records are kept; 0 keeps them for ever.
    #[schemars(range(min = 0, max = 36500))]
    pub keep_days: u32,
    /// How many bytes the trail may take; beyond it, the oldest records are deleted before `keep_days` have passed. 0 for no limit.
    pub max_bytes: u64,
    /// How reads are recorded: each, or summary (how many of each tool, per caller and minute, without arguments). Changes, refusals, failures and approved calls always have records of their own.
    pub reads: RecordReads,
    /// Where signed heads of the trail are sent, which reveal whether records were removed later: a file to append to, or an http(s) address for POST requests. Empty: nowhere.
    pub ship_to: String,
    /// How often a head is sent, in seconds, if there are new records.
    #[schemars(range(min = 1, max = 86400))]
    pub ship_seconds: u64,
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            enabled: true,
            arguments: KeepArguments::Redacted,
            required: false,
            keep_days: 90,
            max_bytes: 0,
            reads: RecordReads::Each,
            ship_to: String::new(),
            ship_seconds: 300,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordReads {
    Each,
    Summary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepArguments {
    Redacted,
    None,
}
