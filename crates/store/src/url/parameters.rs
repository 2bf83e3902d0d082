//! The parameters of a PostgreSQL address, with libpq's names and meanings.

use std::{path::PathBuf, str::FromStr, time::Duration};

use kit::Result;
use tokio_postgres::config::{ChannelBinding, SslNegotiation, TargetSessionAttrs};

use super::{
    address::{ClientFiles, HostAddress, PORT, PostgresAddress, Roots, TlsMode, TlsSettings},
    refused::{invalid, unknown_parameter, wrong_value},
};

const KNOWN: [&str; 25] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "gssencmode",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "options",
    "passfile",
    "password",
    "port",
    "ssl",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Settings of Python drivers that change nothing here.
pub(super) const IGNORED: [&str; 8] = [
    "async_fallback",
    "cache",
    "check_same_thread",
    "command_timeout",
    "prepared_statement_cache_size",
    "statement_cache_size",
    "timeout",
    "uri",
];

/// After this time without traffic the connection is probed. The driver's own default
/// is two hours.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What was given, before it is put together.
#[derive(Default)]
struct Given {
    driver: tokio_postgres::Config,
    hosts: Vec<String>,
    ips: Vec<String>,
    ports: Vec<String>,
    password: Option<String>,
    passfile: Option<PathBuf>,
    mode: Option<TlsMode>,
    roots: Option<Roots>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    session: Option<TargetSessionAttrs>,
}

/// The address that these pairs describe. A later pair wins over an earlier one.
pub(super) fn address(pairs: &[(String, String)]) -> Result<PostgresAddress> {
    let mut given = Given::default();
    given.driver.keepalives_idle(KEEPALIVE);
    for (key, value) in pairs {
        if KNOWN.contains(&key.as_str()) {
            if !value.is_empty() {
                given.set(key, value)?;
            }
        } else if !IGNORED.contains(&key.as_str()) {
            return Err(unknown_parameter(key, &KNOWN));
        }
    }
    given.finish()
}

impl Given {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let driver = &mut self.driver;
        let list = || {
            value
                .split(',')
                .map(|item| item.trim().to_owned())
                .collect()
        };
        match key {
            "host" => self.hosts = list(),
            "hostaddr" => self.ips = list(),
            "port" => self.ports = list(),
            "password" => self.password = Some(value.into()),
            "passfile" => self.passfile = Some(value.into()),
            "sslmode" => self.mode = Some(mode(value)?),
            "ssl" => self.mode = Some(ssl(value)?),
            "sslrootcert" if value == "system" => self.roots = Some(Roots::System),
            "sslrootcert" => self.roots = Some(Roots::File(value.into())),
            "sslcert" => self.certificate = Some(value.into()),
            "sslkey" => self.key = Some(value.into()),
            "target_session_attrs" => self.session = Some(session(value)?),
            "user" => _ = driver.user(value),
            "dbname" => _ = driver.dbname(value),
            "options" => _ = driver.options(value),
            "application_name" => _ = driver.application_name(value),
            "channel_binding" => _ = driver.channel_binding(binding(value)?),
            "sslnegotiation" => _ = driver.ssl_negotiation(negotiation(value)?),
            // 0 means no limit to libpq; here it means the default.
            "connect_timeout" => match number(key, value)? {
                0 => {}
                seconds => _ = driver.connect_timeout(Duration::from_secs(seconds)),
            },
            "tcp_user_timeout" => match number(key, value)? {
                0 => {}
                ms => _ = driver.tcp_user_timeout(Duration::from_millis(ms)),
            },
            "keepalives" => _ = driver.keepalives(number::<i64>(key, value)? != 0),
            "keepalives_idle" => {
                driver.keepalives_idle(Duration::from_secs(number(key, value)?));
            }
            "keepalives_interval" => {
                driver.keepalives_interval(Duration::from_secs(number(key, value)?));
            }
            "keepalives_count" | "keepalives_retries" => {
                driver.keepalives_retries(number(key, value)?);
            }
            // GSSAPI isn't spoken, so only a demand for it matters.
            _ => match value {
                "disable" | "prefer" => {}
                _ => return Err(wrong_value(key, "`disable`: GSSAPI is not supported")),
            },
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PostgresAddress> {
        let hosts = self.all_hosts()?;
        let tls = self.tls()?;
        let default = match hosts.len() {
            1 => TargetSessionAttrs::Any,
            _ => TargetSessionAttrs::ReadWrite,
        };
        self.driver
            .target_session_attrs(self.session.unwrap_or(default));
        Ok(PostgresAddress {
            hosts,
            driver: self.driver,
            password: self.password,
            passfile: self.passfile,
            tls,
        })
    }

    fn all_hosts(&self) -> Result<Vec<HostAddress>> {
        let count = self.hosts.len().max(self.ips.len()).max(1);
        let fits = |list: &[String], one: bool| {
            list.is_empty() || list.len() == count || (one && list.len() == 1)
        };
        if !fits(&self.hosts, false) || !fits(&self.ips, false) || !fits(&self.ports, true) {
            return Err(invalid(
                "The database address names different numbers of hosts and ports.",
                "Write one port for all hosts, or one for each: `host1:5432,host2:5432`.",
            ));
        }
        let text = |list: &[String], at: usize| {
            let found = list
                .get(at)
                .or_else(|| list.first().filter(|_| list.len() == 1));
            found.filter(|text| !text.is_empty()).cloned()
        };
        let host = |at| {
            let ip = text(&self.ips, at);
            let parsed = ip.as_deref().map(str::parse).transpose();
            Ok(HostAddress {
                name: text(&self.hosts, at)
                    .or(ip)
                    .unwrap_or_else(|| "localhost".into()),
                ip: parsed.map_err(|_| wrong_value("hostaddr", "IP addresses"))?,
                port: match text(&self.ports, at) {
                    Some(port) => number("port", &port)?,
                    None => PORT,
                },
            })
        };
        (0..count).map(host).collect()
    }

    fn tls(&mut self) -> Result<TlsSettings> {
        let system = self.roots == Some(Roots::System);
        let mode = match self.mode {
            None if system => TlsMode::VerifyFull,
            None => TlsMode::Prefer,
            // The system trusts authorities that certify anybody's host.
            Some(mode) if system && mode < TlsMode::VerifyFull => {
                return Err(invalid(
                    "The database address has `sslrootcert=system` and a weaker `sslmode`.",
                    "Write `sslmode=verify-full`.",
                ));
            }
            // As libpq does: who names an authority wants it to be checked.
            Some(TlsMode::Require) if self.roots.is_some() => TlsMode::VerifyCa,
            Some(mode) => mode,
        };
        let client = match (self.certificate.take(), self.key.take()) {
            (Some(certificate), Some(key)) => Some(ClientFiles { certificate, key }),
            (None, None) => None,
            _ => {
                return Err(invalid(
                    "The database address has only one of `sslcert` and `sslkey`.",
                    "Name the client's certificate and its key.",
                ));
            }
        };
        let roots = self.roots.take();
        Ok(TlsSettings {
            mode,
            roots,
            client,
        })
    }
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| wrong_value(key, "a number"))
}

fn mode(value: &str) -> Result<TlsMode> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "disable" => TlsMode::Disable,
        // libpq's `allow` prefers no TLS. Here TLS comes first in both.
        "allow" | "prefer" => TlsMode::Prefer,
        "require" => TlsMode::Require,
        "verify-ca" => TlsMode::VerifyCa,
        "verify-full" => TlsMode::VerifyFull,
        _ => {
            let modes = "disable, prefer, require, verify-ca or verify-full";
            return Err(wrong_value("sslmode", modes));
        }
    })
}

/// As Python drivers spell it: a truth value, or one of the modes.
fn ssl(value: &str) -> Result<TlsMode> {
    match value.to_ascii_lowercase().as_str() {
        "0" | "false" | "no" | "off" => Ok(TlsMode::Disable),
        "1" | "true" | "yes" | "on" => Ok(TlsMode::Require),
        _ => mode(value),
    }
}

fn session(value: &str) -> Result<TargetSessionAttrs> {
    match value {
        "any" => Ok(TargetSessionAttrs::Any),
        "read-write" | "primary" => Ok(TargetSessionAttrs::ReadWrite),
        _ => Err(wrong_value(
            "target_session_attrs",
            "`read-write`: Madoguchi writes to its database",
        )),
    }
}

fn binding(value: &str) -> Result<ChannelBinding> {
    Ok(match value {
        "disable" => ChannelBinding::Disable,
        "prefer" => ChannelBinding::Prefer,
        "require" => ChannelBinding::Require,
        _ => return Err(wrong_value("channel_binding", "disable, prefer or require")),
    })
}

fn negotiation(value: &str) -> Result<SslNegotiation> {
    Ok(match value {
        "postgres" => SslNegotiation::Postgres,
        "direct" => SslNegotiation::Direct,
        _ => return Err(wrong_value("sslnegotiation", "postgres or direct")),
    })
}
