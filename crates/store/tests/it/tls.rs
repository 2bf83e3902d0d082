//! Encrypted connections to PostgreSQL, and whom they trust.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use store::testing::{Postgres, ServerSetup, ServerTls};
use tempfile::TempDir;

use crate::{open, read};

/// `plain` may come only without TLS, `secure` only with, `certified` with a certificate.
const HBA: &str = "host all postgres 127.0.0.1/32 trust
hostnossl all plain 127.0.0.1/32 trust
hostssl all secure 127.0.0.1/32 scram-sha-256
hostssl all certified 127.0.0.1/32 cert";

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// A certificate and its key, both as PEM.
    fn issue(&self, change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn server(&self, change: impl FnOnce(&mut CertificateParams)) -> Postgres {
        let (certificate, key) = self.issue(change);
        start(certificate, key, self.0.pem())
    }
}

fn start(certificate: String, key: String, root: String) -> Postgres {
    let server = Postgres::start_with(&ServerSetup {
        hba: HBA.into(),
        tls: Some(ServerTls {
            certificate,
            key,
            root,
        }),
        ..ServerSetup::default()
    });
    server.run("CREATE ROLE plain LOGIN; CREATE ROLE certified LOGIN");
    server.run("CREATE ROLE secure LOGIN PASSWORD 'secret'");
    server
}

/// A file of the test, and its path as an address takes it.
fn file(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// Whether the server says that the connection is encrypted.
async fn is_encrypted(url: &str) -> bool {
    let database = open(url).await.unwrap_or_else(|error| {
        panic!("{url}: {} {:?}", error.text(), error.cause);
    });
    let rows = read(&database, |sql| {
        sql.query(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
            &[],
        )
    });
    rows.await.unwrap()[0].int(0).unwrap() == 1
}

/// What is said to somebody who is not connected.
async fn refused(url: &str) -> String {
    let error = match open(url).await {
        Ok(_) => panic!("{url} was let in"),
        Err(error) => error,
    };
    let all = format!("{} {:?}", error.text(), error.cause);
    assert!(!all.contains("secret"), "{all}");
    all
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn each_mode_encrypts_and_verifies_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("An authority for tests");
    let server = authority.server(|_| {});
    let root = file(&directory, "root.pem", &authority.0.pem());
    let other = Authority::new("Another authority").0.pem();
    let other = file(&directory, "other.pem", &other);
    let port = server.port();
    let url = |user: &str, host: &str, query: &str| {
        format!("postgresql://{user}@{host}:{port}/postgres?{query}")
    };
    let secure = |host: &str, query: &str| url("secure:secret", host, query);
    let trusting =
        |mode: &str, root: &Path| format!("sslmode={mode}&sslrootcert={}", root.display());
    for (url, encrypted) in [
        (secure("127.0.0.1", ""), true),
        (secure("127.0.0.1", "sslmode=prefer"), true),
        (secure("127.0.0.1", "sslmode=require"), true),
        (
            secure("127.0.0.1", "sslmode=require&channel_binding=require"),
            true,
        ),
        (secure("127.0.0.1", &trusting("verify-ca", &root)), true),
        (secure("localhost", &trusting("verify-full", &root)), true),
        (
            format!(
                "host=localhost hostaddr=127.0.0.1 port={port} user=secure password=secret \
                 dbname=postgres sslmode=verify-full sslrootcert={}",
                root.display()
            ),
            true,
        ),
        (url("plain", "127.0.0.1", ""), false),
        (url("plain", "127.0.0.1", "sslmode=disable"), false),
        (url("postgres", "127.0.0.1", "sslmode=disable"), false),
    ] {
        assert_eq!(is_encrypted(&url).await, encrypted, "{url}");
    }
    for (url, part) in [
        (secure("127.0.0.1", "sslmode=disable"), "refused the login"),
        (
            url("plain", "127.0.0.1", "sslmode=require"),
            "refused the login",
        ),
        (
            secure("127.0.0.1", &trusting("verify-full", &root)),
            "another host name",
        ),
        (
            secure("localhost", &trusting("verify-full", &other)),
            "not trusted",
        ),
        (
            secure("localhost", &trusting("verify-ca", &other)),
            "not trusted",
        ),
        (
            secure("localhost", &trusting("require", &other)),
            "not trusted",
        ),
        (secure("localhost", "sslrootcert=system"), "not trusted"),
        (
            secure("localhost", "sslmode=verify-full&sslrootcert=/nowhere.pem"),
            "can't be read",
        ),
    ] {
        let said = refused(&url).await;
        assert!(said.contains(part), "{url}: {said}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_without_tls_is_used_only_by_those_who_allow_it() {
    let url = Postgres::shared().url();
    assert!(!is_encrypted(&format!("{url}?sslmode=prefer")).await);
    let said = refused(&format!("{url}?sslmode=require")).await;
    assert!(said.contains("offers no TLS"), "{said}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_certificate_signs_a_client_in() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("An authority for tests");
    let server = authority.server(|_| {});
    let (certificate, key) = authority.issue(|params| {
        params
            .distinguished_name
            .push(DnType::CommonName, "certified");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let certificate = file(&directory, "client.pem", &certificate);
    let key = file(&directory, "client.key", &key);
    let url = format!(
        "postgresql://certified@localhost:{}/postgres?sslmode=require",
        server.port()
    );
    let with = format!(
        "{url}&sslcert={}&sslkey={}",
        certificate.display(),
        key.display()
    );
    assert!(is_encrypted(&with).await);
    let said = refused(&url).await;
    assert!(said.contains("refused"), "{said}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let said = refused(&with).await;
    assert!(said.contains("Other users can read"), "{said}");
}

/// Many servers show a certificate that they signed themselves.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_self_signed_certificate_can_be_trusted_as_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap().pem();
    let server = start(own.clone(), key.serialize_pem(), own.clone());
    let root = file(&directory, "own.pem", &own);
    let url = |host: &str, mode: &str| {
        format!(
            "postgresql://secure:secret@{host}:{}/postgres?sslmode={mode}&sslrootcert={}",
            server.port(),
            root.display()
        )
    };
    assert!(is_encrypted(&url("localhost", "verify-full")).await);
    assert!(is_encrypted(&url("127.0.0.1", "verify-ca")).await);
    let said = refused(&url("127.0.0.1", "verify-full")).await;
    assert!(said.contains("another host name"), "{said}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_expired_certificate_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("An authority for tests");
    let server = authority.server(|params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 12, 31);
    });
    let root = file(&directory, "root.pem", &authority.0.pem());
    let url = format!(
        "postgresql://secure:secret@localhost:{}/postgres?sslmode=verify-full&sslrootcert={}",
        server.port(),
        root.display()
    );
    let said = refused(&url).await;
    assert!(said.contains("has expired"), "{said}");
}
