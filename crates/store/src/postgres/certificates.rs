//! Which certificates of PostgreSQL servers are accepted, and which one is shown to them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Error, Result};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;
use x509_cert::der::Decode;

use crate::{
    failure::storage,
    url::{ClientFiles, Roots, TlsMode, TlsSettings},
};

/// The configuration for these settings; reads the files that they name.
pub(super) fn client(settings: &TlsSettings) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(settings, &provider)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &settings.client {
        Some(files) => with_certificate(config, files)?,
        None => config.with_no_client_auth(),
    };
    // Servers from version 17 on want it when TLS begins without negotiation.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(config)
}

type WithVerifier = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

fn with_certificate(config: WithVerifier, files: &ClientFiles) -> Result<ClientConfig> {
    let chain = certificates(&files.certificate)?;
    if others_can_read(&files.key) {
        return Err(
            unusable("Other users can read the client's key.", &files.key)
                .next("Let only its owner read it: chmod 600 FILE"),
        );
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| {
        unusable("The client's key can't be read.", &files.key)
            .next("It has to be a PEM file with a key that has no password.")
            .cause(format!("{}: {error}", files.key.display()))
    })?;
    config.with_client_auth_cert(chain, key).map_err(|error| {
        unusable(
            "The client's certificate can't be used with its key.",
            &files.certificate,
        )
        .cause(error)
    })
}

fn verifier(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>> {
    let algorithms = provider.signature_verification_algorithms;
    let accept = match settings.mode {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => {
            return Ok(Arc::new(Unverified(algorithms)));
        }
        TlsMode::VerifyCa => Accept::AnyName,
        TlsMode::VerifyFull => Accept::ItsName,
    };
    let path = match &settings.roots {
        Some(Roots::File(path)) => path.clone(),
        Some(Roots::System) => return system(provider),
        None => match usual_roots().filter(|path| path.exists()) {
            Some(path) => path,
            None if accept == Accept::ItsName => return system(provider),
            // The system trusts authorities that certify anybody's host.
            None => {
                return Err(storage(
                    "`sslmode=verify-ca` needs the certificate of an authority.",
                    "Name its file with `sslrootcert`, or use `sslmode=verify-full`.",
                    "neither `sslrootcert` nor ~/.postgresql/root.crt",
                ));
            }
        },
    };
    let pinned = certificates(&path)?;
    let mut roots = RootCertStore::empty();
    for certificate in &pinned {
        roots.add(certificate.clone()).map_err(|error| {
            unusable("The certificate in `sslrootcert` can't be used.", &path).cause(error)
        })?;
    }
    Ok(Arc::new(Verified {
        roots,
        pinned,
        accept,
        algorithms,
    }))
}

/// libpq's default for `sslrootcert`.
fn usual_roots() -> Option<PathBuf> {
    Some(Path::new(&env::var_os("HOME")?).join(".postgresql/root.crt"))
}

fn system(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let verifier = Verifier::new(Arc::clone(provider)).map_err(|error| {
        storage(
            "The certificates that this system trusts can't be read.",
            "Install them (Debian: ca-certificates), or name a file with `sslrootcert`.",
            error.to_string(),
        )
    })?;
    Ok(Arc::new(verifier))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unreadable = |error: rustls::pki_types::pem::Error| {
        unusable(
            "A certificate that the database address names can't be read.",
            path,
        )
        .cause(format!("{}: {error}", path.display()))
    };
    let all: std::result::Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)
        .map_err(unreadable)?
        .collect();
    let all = all.map_err(unreadable)?;
    match all.is_empty() {
        true => Err(unusable(
            "A file that the database address names has no certificate.",
            path,
        )),
        false => Ok(all),
    }
}

fn unusable(message: &str, path: &Path) -> Error {
    storage(
        message,
        "Check `sslrootcert`, `sslcert` and `sslkey` in the database address.",
        path.display().to_string(),
    )
}

/// As libpq: only the owner may read a key, and the group too if the owner is root.
#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|about| {
        let allowed = if about.uid() == 0 { 0o640 } else { 0o600 };
        about.mode() & 0o777 & !(allowed | 0o100) != 0
    })
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accept {
    /// A certificate of a known authority, whatever its name.
    AnyName,
    /// One for the host in the address.
    ItsName,
}

#[derive(Debug)]
struct Verified {
    roots: RootCertStore,
    /// A server may show one of these itself, as self-signed servers do.
    pinned: Vec<CertificateDer<'static>>,
    accept: Accept,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let parsed = ParsedCertificate::try_from(shown)?;
        if self.pinned.iter().any(|known| known == shown) {
            check_times(shown, now)?;
        } else {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &self.roots,
                intermediates,
                now,
                algorithms,
            )?;
        }
        if self.accept == Accept::ItsName {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn check_times(
    shown: &CertificateDer<'_>,
    now: UnixTime,
) -> std::result::Result<(), rustls::Error> {
    let parsed = x509_cert::Certificate::from_der(shown);
    let parsed = parsed.map_err(|_| CertificateError::BadEncoding)?;
    let validity = parsed.tbs_certificate().validity();
    let seconds = |time: &x509_cert::time::Time| time.to_unix_duration().as_secs();
    if now.as_secs() < seconds(&validity.not_before) {
        return Err(CertificateError::NotValidYet.into());
    }
    if now.as_secs() > seconds(&validity.not_after) {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// Accepts every server, as `prefer` and `require` do. What it shows isn't even read:
/// old certificates that rustls can't read are common in front of PostgreSQL.
#[derive(Debug)]
struct Unverified(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
