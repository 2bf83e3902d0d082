//! What can be configured about connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// The address to listen on. Any other than a loopback address needs [tls] and `require_key`, or `trusted_network`.
    pub address: String,
    /// The port; 0 switches the listener off.
    pub port: u16,
    /// Names under which clients may reach this listener (the Host header).
    pub allowed_hosts: Vec<String>,
    /// Web origins whose pages may call, besides this listener's own (its allowed hosts at its own port, and `public_url`), such as https://app.example.com or http://localhost:3000.
    pub allowed_origins: Vec<String>,
    /// Whether every request needs a key.
    pub require_key: bool,
    /// The address at which people reach this listener, if it is behind a proxy.
    pub public_url: String,
    /// Allows a non-loopback address without TLS and without required keys: a container network, or a proxy that ends TLS in front.
    pub trusted_network: bool,
    /// Proxies in front of this listener, as addresses or networks: ["10.0.0.7", "fd00::/8"]. Limits and audit then go by the client's address, which these proxies name in X-Forwarded-For or Forwarded. From anybody else these headers are ignored.
    pub trusted_proxies: Vec<String>,
    /// Shows /metrics to everybody, although `require_key` is set.
    pub public_metrics: bool,
    /// The largest head of a request, that is its first line and headers, in bytes.
    #[schemars(range(min = 1024, max = 1048576))]
    pub max_head_bytes: usize,
    /// The largest request body, in bytes.
    #[schemars(range(min = 1, max = 1073741824))]
    pub max_body_bytes: usize,
    /// How many connections may be open at once. Each key may have half of them, and so may all callers without a key together.
    #[schemars(range(min = 1, max = 1000000))]
    pub max_connections: usize,
    /// How many connections one address (IPv6: one /64 network) may have, counted separately with and without keys; 0 for no limit. `trusted_proxies` have none.
    #[schemars(range(min = 0, max = 1000000))]
    pub max_connections_per_address: usize,
    /// How many further connections may be open that have not yet shown a required key. Beyond that, the oldest connection of the address with the most is closed.
    #[schemars(range(min = 1, max = 4096))]
    pub max_unidentified_connections: usize,
    /// How long a connection may stay open without a valid key where one is needed, in seconds.
    #[schemars(range(min = 1, max = 86400))]
    pub identify_timeout_seconds: u64,
    /// How long a client may read nothing of what is sent to it before its connection is closed, in seconds.
    #[schemars(range(min = 1, max = 86400))]
    pub write_timeout_seconds: u64,
    /// How long a client may take to send a request's headers, in seconds. Idle connections are closed after it too.
    #[schemars(range(min = 1, max = 86400))]
    pub header_timeout_seconds: u64,
    /// How long a client may take to send a request's body, in seconds.
    #[schemars(range(min = 1, max = 86400))]
    pub body_timeout_seconds: u64,
    /// How long the desk goes on serving after SIGTERM, while /readyz already fails, so that a load balancer has time to send calls elsewhere, in seconds. Ctrl-C does not wait.
    #[schemars(range(min = 0, max = 86400))]
    pub drain_seconds: u64,
    /// How long calls in flight may take to finish when the program is asked to stop, in seconds.
    #[schemars(range(min = 0, max = 86400))]
    pub shutdown_seconds: u64,
    /// How long an unused session of an older client is kept, in seconds.
    #[schemars(range(min = 1, max = 2592000))]
    pub session_seconds: u64,
    /// How many sessions of older clients may be open at once; one takes about 140 kB. Beyond it, the longest unused one ends.
    #[schemars(range(min = 1, max = 1000000))]
    pub max_sessions: usize,
    /// How many of them one key may have, and all callers without a key together.
    #[schemars(range(min = 1, max = 1000000))]
    pub max_sessions_per_caller: usize,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            address: "127.0.0.1".into(),
            port: 8010,
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(String::from).into(),
            allowed_origins: Vec::new(),
            require_key: false,
            public_url: String::new(),
            trusted_network: false,
            trusted_proxies: Vec::new(),
            public_metrics: false,
            max_head_bytes: 64 * 1024,
            max_body_bytes: 4 * 1024 * 1024,
            max_connections: 512,
            max_connections_per_address: 512,
            max_unidentified_connections: 128,
            identify_timeout_seconds: 10,
            write_timeout_seconds: 30,
            header_timeout_seconds: 60,
            body_timeout_seconds: 30,
            drain_seconds: 5,
            shutdown_seconds: 30,
            session_seconds: 300,
            max_sessions: 1024,
            max_sessions_per_caller: 64,
        }
    }
}

impl Http {
    /// The settings that every listener has.
    pub fn listener(&self) -> Listener {
        Listener {
            address: self.address.clone(),
            port: self.port,
            allowed_hosts: self.allowed_hosts.clone(),
            allowed_origins: self.allowed_origins.clone(),
            require_key: self.require_key,
            public_url: self.public_url.clone(),
            trusted_network: self.trusted_network,
            trusted_proxies: self.trusted_proxies.clone(),
        }
    }
}

/// A listener beside the main one, for a counter with its own port. The limits on
/// sizes and times are those of [http].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Listener {
    /// The address to listen on. Any other than a loopback address needs [tls] and `require_key`, or `trusted_network`.
    pub address: String,
    /// The port; 0 switches the listener off.
    pub port: u16,
    /// Names under which clients may reach this listener (the Host header).
    pub allowed_hosts: Vec<String>,
    /// Web origins whose pages may call, besides this listener's own (its allowed hosts at its own port, and `public_url`), such as https://app.example.com or http://localhost:3000.
    pub allowed_origins: Vec<String>,
    /// Whether every request needs a key.
    pub require_key: bool,
    /// The address at which people reach this listener, if it is behind a proxy.
    pub public_url: String,
    /// Allows a non-loopback address without TLS and without required keys: a container network, or a proxy that ends TLS in front.
    pub trusted_network: bool,
    /// Proxies in front of this listener, as addresses or networks: ["10.0.0.7", "fd00::/8"]. Limits and audit then go by the client's address, which these proxies name in X-Forwarded-For or Forwarded. From anybody else these headers are ignored.
    pub trusted_proxies: Vec<String>,
}

impl Default for Listener {
    fn default() -> Self {
        let mut listener = Http::default().listener();
        listener.port = 0;
        listener
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// A PEM file with the certificate and its intermediate certificates. Empty: no TLS. Reloaded on SIGHUP.
    pub cert: String,
    /// A PEM file with the certificate's private key.
    pub key: String,
}

impl Tls {
    pub fn is_set(&self) -> bool {
        !self.cert.is_empty() || !self.key.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocket {
    /// The largest message, in bytes; 256 KiB at most for a client without a key.
    #[schemars(range(min = 1, max = 1073741824))]
    pub max_message_bytes: usize,
    /// The largest frame, in bytes.
    #[schemars(range(min = 1, max = 1073741824))]
    pub max_frame_bytes: usize,
    /// How many outgoing messages may wait for a slow client. Then its calls wait, until `write_timeout_seconds` in [http] closes the connection.
    #[schemars(range(min = 1, max = 65536))]
    pub queue: usize,
    /// How often the server pings, in seconds; a client that does not answer two pings is disconnected.
    #[schemars(range(min = 1, max = 86400))]
    pub ping_seconds: u64,
}

impl Default for WebSocket {
    fn default() -> Self {
        Self {
            max_message_bytes: 1024 * 1024,
            max_frame_bytes: 1024 * 1024,
            queue: 64,
            ping_seconds: 30,
        }
    }
}
