//! An authority that gives out certificates, and clients that trust it.

use std::{fs, os::unix::fs::PermissionsExt, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

use super::{Answer, Desk, Place, request_over};

/// Where a place keeps the certificate of its authority.
pub const AUTHORITY: &str = "authority.pem";

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both as PEM.
pub struct Pair {
    pub cert: String,
    pub key: String,
    pub der: CertificateDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        // Otherwise it has the name of what it signs, which looks self-signed.
        let name = "An authority for tests";
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// An authority whose certificate is in the place.
    pub fn of(place: &Place) -> Self {
        let authority = Self::new();
        place.file(AUTHORITY, &authority.0.pem());
        authority
    }

    /// A certificate for this machine.
    pub fn issue(&self) -> Pair {
        self.issue_with(|_| {})
    }

    pub fn issue_with(&self, change: impl FnOnce(&mut CertificateParams)) -> Pair {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        params.use_authority_key_identifier_extension = true;
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Pair {
            cert: cert.pem(),
            key: key.serialize_pem(),
            der: cert.der().clone(),
        }
    }

    /// One that was good until the end of 2020.
    pub fn issue_expired(&self) -> Pair {
        self.issue_with(|params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2020, 12, 31);
        })
    }

    /// A client that speaks these versions; either when there is none.
    pub fn client(&self, versions: &[&'static SupportedProtocolVersion]) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let versions = match versions {
            [] => rustls::ALL_VERSIONS,
            some => some,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    }

    pub async fn connect(&self, port: u16) -> TlsStream<TcpStream> {
        self.connect_with(port, &[]).await
    }

    pub async fn connect_with(
        &self,
        port: u16,
        versions: &[&'static SupportedProtocolVersion],
    ) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        self.client(versions).connect(name, stream).await.unwrap()
    }

    /// One request over TLS.
    pub async fn request(
        &self,
        port: u16,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        let stream = self.connect(port).await;
        let answer = request_over(stream, port, method, path, headers, body).await;
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }
}

impl Pair {
    /// A certificate that is its own authority.
    pub fn self_signed(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        Self {
            cert: cert.pem(),
            key: key.serialize_pem(),
            der: cert.der().clone(),
        }
    }

    /// Puts it where [`config`] says.
    pub fn install(&self, place: &Place) {
        place.file("desk.pem", &self.cert);
        let key = place.file("desk.key", &self.key);
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// A port that encrypts for a server on another one. Stops when it goes out of scope.
pub struct EncryptingPort {
    pub port: u16,
    task: JoinHandle<()>,
}

impl EncryptingPort {
    pub async fn start(pair: &Pair, to: u16) -> Self {
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![pair.der.clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut client = acceptor.accept(client).await.ok()?;
                    let mut server = TcpStream::connect(("127.0.0.1", to)).await.ok()?;
                    copy_bidirectional(&mut client, &mut server).await.ok()
                });
            }
        });
        Self { port, task }
    }
}

impl Drop for EncryptingPort {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The section of the configuration, for a certificate that is installed.
pub fn config(place: &Place) -> String {
    let path = |name: &str| place.path().join(name).display().to_string();
    format!(
        "[tls]\ncert = '{}'\nkey = '{}'\n",
        path("desk.pem"),
        path("desk.key")
    )
}

/// A desk with TLS on every port, and the authority it is known to.
pub async fn start(more: &str) -> (Desk, Authority) {
    let place = Place::new();
    let authority = Authority::of(&place);
    authority.issue().install(&place);
    let config = format!("{more}\n{}", config(&place));
    let desk = Desk::setup()
        .place(&place)
        .config(&config)
        .own_port("--fixture-port")
        .start()
        .await;
    (desk, authority)
}
