//! The way to a desk elsewhere, encrypted where its address says so.

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
        let message = "--ca is for https:// addresses, and this is none.";
        return Err(Error::new("INVALID_URL", message));
    }
    let unreachable = |what: &std::io::Error, next: &str| {
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let message = format!("{host} can't be reached: {what}.");
        Error::new("UNREACHABLE", message).next(next)
    };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
    // Before anything is sent: a file that is no good is no matter of the network.
    let tls = encrypted.then(|| client(ca)).transpose()?;
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(|error| unreachable(&error, "Is `madoguchi serve` running there?"))?;
    let Some(tls) = tls else {
        return Ok(Box::new(stream));
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        let message = format!("`{host}` can't stand in a certificate.");
        Error::new("INVALID_URL", message)
    })?;
    let stream = TlsConnector::from(Arc::new(tls))
        .connect(name, stream)
        .await
        .map_err(|error| {
            unreachable(
                &error,
                "If its certificate comes from an authority of your own, name that with --ca FILE.",
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

/// The system's judgement, and one thing it does not allow: a desk may show the
/// very certificate that was named, as those do that signed theirs themselves.
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
        // Authorities are not to be shown; that is said only of good ones.
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
        Ok(_) => Err(invalid("holds no certificate".into())),
        Err(error) => Err(invalid(format!("is no PEM file: {error}"))),
    }
}
