//! A connection to a running desk, with TLS for `https` addresses.

use std::{path::Path, sync::Arc};

use hyper::Uri;
use kit::{Error, Result};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

/// The code of a desk that does not answer.
pub const UNREACHABLE: &str = "UNREACHABLE";

pub trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

/// Opens a connection to an `http` or `https` address.
pub async fn connect(uri: &Uri, ca: Option<&Path>) -> Result<Box<dyn Bytes>> {
    let encrypted = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => {
            let message = format!("`{uri}` is not an http:// or https:// address.");
            return Err(Error::new("INVALID_URL", message));
        }
    };
    if let (false, Some(_)) = (encrypted, ca) {
        let message = "--ca needs an https:// address.";
        return Err(Error::new("INVALID_URL", message));
    }
    let unreachable = |what: &std::io::Error, next: &str| {
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let message = format!("{host} can't be reached: {what}.");
        Error::new(UNREACHABLE, message).next(next)
    };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
    // Before connecting, so that a bad file is not reported as a network error.
    let tls = encrypted.then(|| client(ca)).transpose()?;
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(|error| unreachable(&error, "Is `madoguchi serve` running there?"))?;
    let Some(tls) = tls else {
        return Ok(Box::new(stream));
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        let message = format!("`{host}` is not a name that a certificate can have.");
        Error::new("INVALID_URL", message)
    })?;
    let stream = TlsConnector::from(Arc::new(tls))
        .connect(name, stream)
        .await
        .map_err(|error| {
            unreachable(
                &error,
                "If its certificate is from your own authority, add that with --ca FILE.",
            )
        })?;
    Ok(Box::new(stream))
}

fn client(ca: Option<&Path>) -> Result<ClientConfig> {
    let own = match ca {
        None => Vec::new(),
        Some(path) => authorities(path)?,
    };
    let provider = Arc::new(ring::default_provider());
    let system =
        Verifier::new_with_extra_roots(own.clone(), Arc::clone(&provider)).map_err(|error| {
            let message = format!("No certificates to trust: {error}.");
            Error::new("INVALID_CA", message).next("Name a PEM file with --ca FILE.")
        })?;
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trust { system, own }))
        .with_no_client_auth();
    Ok(client)
}

/// Verifies as the system does, and also accepts exactly the certificate that was
/// given with `--ca`, for desks with a self-signed one.
#[derive(Debug)]
struct Trust {
    system: Verifier,
    own: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = self
            .system
            .verify_server_cert(shown, chain, name, ocsp, now);
        // Only a certificate that is valid otherwise is refused for being an authority.
        let is_authority = matches!(
            judged,
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(
                _
            )))
        );
        if is_authority && self.own.iter().any(|own| own == shown) {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        judged
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls12_signature(message, shown, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system
            .verify_tls13_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let invalid = |what: String| {
        let message = format!("{} {what}.", path.display());
        Error::new("INVALID_CA", message).next("Name a PEM file with certificates.")
    };
    let text = std::fs::read(path).map_err(|error| invalid(format!("can't be read: {error}")))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(invalid("contains no certificate".into())),
        Err(error) => Err(invalid(format!("is not a PEM file: {error}"))),
    }
}
