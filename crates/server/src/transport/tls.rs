//! TLS: the operator's certificate, checked before anybody is served with it and
//! read again when asked, and the handshake.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use desk::settings;
use jiff::Timestamp;
use kit::{Error, Result};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    sign::{CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use x509_cert::der::Decode;

/// The longest a client may take for its handshake, whatever it may take for more.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// What the first byte of every handshake says.
const HANDSHAKE_RECORD: u8 = 0x16;

/// A certificate that ends sooner is worth a warning.
const SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What a client hears that came without TLS.
pub const SPEAKS_HTTPS: &str = "This port speaks HTTPS. Use https:// or wss://.";

/// What is left to read of a client that came without TLS, so that hanging up
/// does not take the answer away from it.
const LEFT_TO_READ: u64 = 256 * 1024;
const LEFT_TO_READ_TIME: Duration = Duration::from_secs(2);

/// The certificate in use. New connections get the newest.
pub struct Tls {
    settings: settings::Tls,
    current: RwLock<Arc<ServerConfig>>,
}

/// A pair of files that can be used.
pub struct Pair {
    key: CertifiedKey,
    pub ends: Option<Timestamp>,
    /// What the operator should mend some time.
    pub warnings: Vec<String>,
}

impl Tls {
    /// `None` when it is not configured.
    pub fn open(settings: &settings::Tls) -> Result<Option<Arc<Self>>> {
        let Some(pair) = read(settings)? else {
            return Ok(None);
        };
        pair.warn();
        Ok(Some(Arc::new(Self {
            settings: settings.clone(),
            current: RwLock::new(pair.server()?),
        })))
    }

    /// Reads the files again. When they are not good, the old pair stays.
    pub fn reload(&self) -> Result<()> {
        let Some(pair) = read(&self.settings)? else {
            return Ok(());
        };
        pair.warn();
        // The whole configuration, and with it the sessions that clients could
        // resume without being shown the new certificate.
        let server = pair.server()?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = server;
        Ok(())
    }

    /// `None` when no handshake came about; the client has heard why, if it can.
    pub async fn accept(&self, stream: TcpStream, limit: Duration) -> Option<TlsStream<TcpStream>> {
        let handshake = async {
            let mut first = [0];
            match stream.peek(&mut first).await {
                Ok(1) if first == [HANDSHAKE_RECORD] => {}
                Ok(1) if first[0].is_ascii_uppercase() => {
                    refuse_plain(stream).await;
                    return None;
                }
                _ => return None,
            }
            let current = self.current.read();
            let current = Arc::clone(&current.unwrap_or_else(PoisonError::into_inner));
            TlsAcceptor::from(current).accept(stream).await.ok()
        };
        tokio::time::timeout(limit.min(HANDSHAKE), handshake)
            .await
            .ok()?
    }
}

/// To a client that speaks plain HTTP, as far as its first letter tells.
async fn refuse_plain(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{SPEAKS_HTTPS}\n",
        SPEAKS_HTTPS.len() + 1
    );
    if stream.write_all(answer.as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let mut rest = stream.take(LEFT_TO_READ);
    let mut nowhere = tokio::io::sink();
    let rest = tokio::io::copy(&mut rest, &mut nowhere);
    let _ = tokio::time::timeout(LEFT_TO_READ_TIME, rest).await;
}

/// The configured pair, when it is good; `None` when there is none configured.
pub fn read(settings: &settings::Tls) -> Result<Option<Pair>> {
    if !settings.is_set() {
        return Ok(None);
    }
    for (key, value) in [("cert", &settings.cert), ("key", &settings.key)] {
        if value.is_empty() {
            return Err(invalid(format!("{key} in [tls] is missing."))
                .next("Name both files, cert and key, or neither."));
        }
    }
    let chain = chain(&settings.cert)?;
    let key = private_key(&settings.key)?;
    let ends = chain
        .first()
        .map(|first| check_times(&settings.cert, first))
        .transpose()?
        .flatten();
    let key = CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| {
        let message = match error {
            rustls::Error::InconsistentKeys(_) => format!(
                "The key in {} is not that of the certificate in {}.",
                settings.key, settings.cert
            ),
            error => format!(
                "{} and {} can't be used: {error}.",
                settings.cert, settings.key
            ),
        };
        invalid(message).next("Name a certificate and its own key in [tls] cert and key.")
    })?;
    let mut warnings = Vec::new();
    if others_can_read(Path::new(&settings.key)) {
        warnings.push(format!(
            "other users can read the private key; run: chmod 600 {}",
            settings.key
        ));
    }
    if let Some(ends) = ends
        && left(ends).is_some_and(|left| left < SOON)
    {
        warnings.push(format!("the certificate ends on {}", day(ends)));
    }
    Ok(Some(Pair {
        key,
        ends,
        warnings,
    }))
}

impl Pair {
    fn warn(&self) {
        for warning in &self.warnings {
            tracing::warn!("TLS: {warning}");
        }
    }

    fn server(self) -> Result<Arc<ServerConfig>> {
        let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(Error::internal)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(self.key)));
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(server))
    }
}

fn chain(path: &str) -> Result<Vec<CertificateDer<'static>>> {
    let text = text("cert", path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|error| not_pem("cert", path, &error))?;
    if chain.is_empty() {
        return Err(not_pem("cert", path, &pem::Error::NoItemsFound));
    }
    Ok(chain)
}

fn private_key(path: &str) -> Result<PrivateKeyDer<'static>> {
    let text = text("key", path)?;
    if is_encrypted(&text) {
        return Err(invalid(format!("The key in {path} has a passphrase."))
            .next("Name a key without one in [tls] key; keep it from others with chmod 600."));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| not_pem("key", path, &error))
}

fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

fn text(key: &str, path: &str) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error: io::Error| {
        invalid(format!("{path} can't be read: {error}.")).next(format!(
            "Name a PEM file that this user can read in [tls] {key}."
        ))
    })
}

fn not_pem(key: &str, path: &str, error: &pem::Error) -> Error {
    let what = match key {
        "cert" => "certificate",
        _ => "private key",
    };
    let message = match error {
        pem::Error::NoItemsFound => format!("There is no {what} in {path}."),
        error => format!("{path} is no PEM file: {error}."),
    };
    invalid(message).next(format!(
        "Name a PEM file with a {what} in [tls] {key}: it has a line BEGIN {}.",
        what.to_uppercase()
    ))
}

/// When the certificate ends; an error when that was, or when it has not begun.
/// What can't be read here is left to the clients to judge.
fn check_times(path: &str, certificate: &CertificateDer<'_>) -> Result<Option<Timestamp>> {
    let Ok(certificate) = x509_cert::Certificate::from_der(certificate) else {
        return Ok(None);
    };
    let validity = certificate.tbs_certificate().validity();
    let at = |time: &x509_cert::time::Time| {
        Timestamp::try_from(UNIX_EPOCH + time.to_unix_duration()).unwrap_or(Timestamp::MAX)
    };
    let (begins, ends, now) = (
        at(&validity.not_before),
        at(&validity.not_after),
        Timestamp::now(),
    );
    if ends <= now {
        let message = format!("The certificate in {path} ended on {}.", day(ends));
        return Err(invalid(message).next("Renew it, or name another in [tls] cert."));
    }
    if begins > now {
        let message = format!("The certificate in {path} begins only on {}.", day(begins));
        return Err(invalid(message).next("Check the clock of this machine, or name another."));
    }
    Ok(Some(ends))
}

fn left(ends: Timestamp) -> Option<Duration> {
    SystemTime::from(ends)
        .duration_since(SystemTime::now())
        .ok()
}

/// The day of a time, as people write it.
pub fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}

fn invalid(message: String) -> Error {
    Error::new("INVALID_TLS", message)
}
