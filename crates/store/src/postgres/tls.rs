//! TLS to PostgreSQL, for the driver.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use kit::{BoxFuture, Result};
use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, ServerName},
};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};
use x509_cert::der::Decode;

use super::certificates;
use crate::url::TlsSettings;

/// Makes TLS connections. Clones share the configuration.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Reads the files that the settings name.
    pub fn new(settings: &TlsSettings) -> Result<Self> {
        Ok(Self(Arc::new(certificates::client(settings)?)))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<Box<client::TlsStream<S>>>;
    type TlsConnect = TlsTo;
    type Error = io::Error;

    /// Also called for connections without TLS, where the name may be none.
    fn make_tls_connect(&mut self, name: &str) -> io::Result<TlsTo> {
        Ok(TlsTo {
            name: ServerName::try_from(name.to_owned()).ok(),
            connector: TlsConnector::from(Arc::clone(&self.0)),
        })
    }
}

pub(crate) struct TlsTo {
    name: Option<ServerName<'static>>,
    connector: TlsConnector,
}

impl<S> TlsConnect<S> for TlsTo
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<Box<client::TlsStream<S>>>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Stream>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or_else(|| {
                io::Error::other("the host is no name that a certificate can have")
            })?;
            let stream = Box::new(self.connector.connect(name, stream).await?);
            let (_, session) = stream.get_ref();
            let certificates = session.peer_certificates().and_then(<[_]>::first);
            Ok(Encrypted {
                end_point: certificates.and_then(end_point),
                stream,
            })
        })
    }
}

/// A stream that the driver takes for an encrypted one.
pub(crate) struct Encrypted<S> {
    pub stream: S,
    /// Ties a login to the server's certificate.
    pub end_point: Option<Vec<u8>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let end_point = self.end_point.clone();
        end_point.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// The digest that ties a login to this certificate (RFC 5929): the hash of its
/// signature, or SHA-256 in place of a weaker one.
fn end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let parsed = x509_cert::Certificate::from_der(certificate).ok()?;
    let algorithm = parsed.signature_algorithm().oid.to_string();
    Some(match algorithm.as_str() {
        // RSA with MD5, SHA-1 and SHA-256; ECDSA with SHA-1 and SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2" => Sha256::digest(certificate).to_vec(),
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Sha384::digest(certificate).to_vec(),
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Sha512::digest(certificate).to_vec(),
        // Ed25519 and others have no such hash.
        _ => return None,
    })
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
