//! What a PostgreSQL address says.

use std::{fmt, net::IpAddr, path::PathBuf};

/// The port of an address that names none.
pub(super) const PORT: u16 = 5432;

/// Servers of one database, and how to sign in to it. Printed without user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    /// Tried in this order; never empty.
    pub(crate) hosts: Vec<HostAddress>,
    /// What the driver takes as it is: all but hosts, passwords and TLS.
    pub(crate) driver: tokio_postgres::Config,
    pub(crate) password: Option<String>,
    /// A file of passwords in place of `PGPASSFILE` and `~/.pgpass`.
    pub(crate) passfile: Option<PathBuf>,
    pub(crate) tls: TlsSettings,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HostAddress {
    /// A host name, an IP address, or the directory of a Unix socket.
    pub name: String,
    /// Connects here without resolving the name.
    pub ip: Option<IpAddr>,
    pub port: u16,
}

impl HostAddress {
    pub fn is_socket(&self) -> bool {
        self.name.starts_with('/')
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TlsSettings {
    pub mode: TlsMode,
    pub roots: Option<Roots>,
    pub client: Option<ClientFiles>,
}

impl TlsSettings {
    pub fn names_files(&self) -> bool {
        self.client.is_some() || matches!(self.roots, Some(Roots::File(_)))
    }
}

/// As libpq's `sslmode`. Only the last two protect against a false server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TlsMode {
    Disable,
    /// TLS if the server has it; its certificate isn't checked.
    Prefer,
    /// TLS, without a check of the certificate.
    Require,
    /// The certificate must be signed by a known authority.
    VerifyCa,
    /// It must also be for the host name in the address.
    VerifyFull,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The authorities that this machine trusts.
    System,
    File(PathBuf),
}

/// A certificate to sign in with, and its key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Without user and password, for logs and `doctor`.
impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgresql://")?;
        for (index, host) in self.hosts.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match host.name.contains(':') {
                true => write!(f, "{comma}[{}]", host.name)?,
                false => write!(f, "{comma}{}", host.name)?,
            }
            if host.port != PORT {
                write!(f, ":{}", host.port)?;
            }
        }
        write!(f, "/{}", self.driver.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
