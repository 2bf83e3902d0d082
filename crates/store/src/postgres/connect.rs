//! Makes connections to PostgreSQL: which host, with which password, with or without TLS.

use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{Error, Result};
use tokio::time::timeout;
use tokio_postgres::{
    Client, Config, Socket, config::SslMode, error::SqlState, tls::MakeTlsConnect,
};

use super::{
    error::{self, connecting},
    password::password,
    tls::Tls,
};
use crate::{
    failure,
    url::{HostAddress, PostgresAddress, TlsMode},
};

/// How long one host may take, if the address doesn't say.
const ONE_HOST: Duration = Duration::from_secs(5);
/// The same if there are others to try.
const EACH_HOST: Duration = Duration::from_secs(2);
/// Time for the login, on top of the time for the connection.
const LOGIN: Duration = Duration::from_secs(3);
/// A server that doesn't acknowledge anything for this long is gone.
const SILENCE: Duration = Duration::from_secs(15);

/// How long certificates are used before their files are read again.
const REREAD: Duration = Duration::from_secs(60);

/// Drives a connection; has to be polled for its client to get answers.
pub(crate) type Driver =
    tokio_postgres::Connection<Socket, <Tls as MakeTlsConnect<Socket>>::Stream>;

/// Knows how to reach one database.
pub(crate) struct Connector {
    address: PostgresAddress,
    password_file: Option<PathBuf>,
    tls: Mutex<(Instant, Tls)>,
    /// The host that answered last, which is tried first.
    last: AtomicUsize,
}

/// Why a host didn't serve us.
struct Refusal {
    error: Error,
    /// Another host would refuse for the same reason.
    is_final: bool,
}

impl Connector {
    /// Reads the certificates that the address names.
    pub fn new(address: PostgresAddress, password_file: Option<PathBuf>) -> Result<Self> {
        Ok(Self {
            tls: Mutex::new((Instant::now(), Tls::new(&address.tls)?)),
            address,
            password_file,
            last: AtomicUsize::new(0),
        })
    }

    /// What encrypts connections; also for requests to cancel a statement. Certificates
    /// are read again from time to time, since some are valid for hours only.
    pub fn tls(&self) -> Tls {
        let mut tls = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        let (read, current) = &mut *tls;
        if self.address.tls.names_files() && read.elapsed() >= REREAD {
            *read = Instant::now();
            match Tls::new(&self.address.tls) {
                Ok(new) => *current = new,
                Err(error) => tracing::warn!(
                    cause = ?error.cause,
                    "the certificates for PostgreSQL could not be read again, the old ones stay in use"
                ),
            }
        }
        current.clone()
    }

    /// The longest that [`Self::connect`] takes.
    pub fn limit(&self) -> Duration {
        let hosts = u32::try_from(self.address.hosts.len()).unwrap_or(u32::MAX);
        (self.each() + LOGIN).saturating_mul(hosts)
    }

    fn each(&self) -> Duration {
        let usual = match self.address.hosts.len() {
            1 => ONE_HOST,
            _ => EACH_HOST,
        };
        let given = self.address.driver.get_connect_timeout();
        given.copied().unwrap_or(usual)
    }

    /// Tries all hosts, beginning with the one that answered last.
    pub async fn connect(&self) -> Result<(Client, Driver)> {
        let hosts = &self.address.hosts;
        let first = self.last.load(Ordering::Relaxed);
        let mut causes = Vec::new();
        let mut refusal = None;
        for index in (0..hosts.len()).map(|step| (first + step) % hosts.len()) {
            let Some(host) = hosts.get(index) else {
                continue;
            };
            let attempt = timeout(self.each() + LOGIN, self.connect_to(host)).await;
            let refused = match attempt {
                Ok(Ok(made)) => {
                    self.last.store(index, Ordering::Relaxed);
                    return Ok(made);
                }
                Ok(Err(refused)) => refused,
                Err(_) => Refusal {
                    error: failure::unreachable("no answer in time"),
                    is_final: false,
                },
            };
            let cause = refused.error.cause.as_ref().map(ToString::to_string);
            causes.push(format!("{}: {}", host.name, cause.unwrap_or_default()));
            let is_final = refused.is_final;
            refusal = Some(refused.error);
            if is_final {
                break;
            }
        }
        let error = refusal.unwrap_or_else(|| failure::unreachable("the address names no host"));
        Err(match causes.len() {
            1 => error,
            _ => error.cause(causes.join("; ")),
        })
    }

    async fn connect_to(&self, host: &HostAddress) -> Result<(Client, Driver), Refusal> {
        let config = self.config(host).map_err(|error| Refusal {
            error,
            is_final: true,
        })?;
        let mut attempt = config.connect(self.tls()).await;
        // As libpq: a server that can't or mustn't use TLS is asked without.
        if let Err(error) = &attempt
            && config.get_ssl_mode() == SslMode::Prefer
            && (error::is_tls(error)
                || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION))
        {
            let mut plain = config.clone();
            plain.ssl_mode(SslMode::Disable);
            attempt = plain.connect(self.tls()).await;
        }
        attempt.map_err(|error| {
            let code = error.code().map(SqlState::code).unwrap_or_default();
            Refusal {
                error: connecting(&error),
                is_final: code.starts_with("28") || code.starts_with("3D"),
            }
        })
    }

    /// What the driver needs for one host.
    fn config(&self, host: &HostAddress) -> Result<Config> {
        let mut config = self.address.driver.clone();
        config.host(&host.name).port(host.port);
        if let Some(ip) = host.ip {
            config.hostaddr(ip);
        }
        config.ssl_mode(match self.address.tls.mode {
            // There is no TLS on Unix sockets.
            _ if host.is_socket() => SslMode::Disable,
            TlsMode::Disable => SslMode::Disable,
            TlsMode::Prefer => SslMode::Prefer,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
        });
        if let Some(password) = password(&self.address, host, self.password_file.as_deref())? {
            config.password(password);
        }
        config.connect_timeout(self.each());
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("madoguchi");
        }
        Ok(config)
    }
}
