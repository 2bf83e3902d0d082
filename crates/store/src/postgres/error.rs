//! What PostgreSQL's errors mean to an operator.

use std::error::Error as _;

use kit::Error;
use tokio_postgres::error::SqlState;

use super::access::Access;
use crate::failure;

/// The transaction should be repeated as a whole.
pub(super) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    is_stale(error)
        || matches!(
            error.code(),
            Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED)
        )
}

/// Another instance changed a table under a prepared statement ("cached plan
/// must not change result type"; the wording depends on the server's language).
pub(super) fn is_stale(error: &tokio_postgres::Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|error| error.routine() == Some("RevalidateCachedQuery"))
}

/// The server takes no writes: it is a standby, or set to read-only.
pub(super) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// The server has gone, or is going, or has ended the connection.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            code.code().starts_with("08")
                || matches!(
                    *code,
                    SqlState::ADMIN_SHUTDOWN
                        | SqlState::CRASH_SHUTDOWN
                        | SqlState::CANNOT_CONNECT_NOW
                        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
                )
        }
        None => {
            error.is_closed()
                || error
                    .source()
                    .is_some_and(|cause| cause.is::<std::io::Error>())
        }
    }
}

/// A statement failed. A write that is refused as read-only is the server's fault, a
/// read is the job's.
pub(super) fn statement(error: &tokio_postgres::Error, access: Access) -> Error {
    let cause = chain(error);
    if is_lost(error) {
        return failure::interrupted(cause);
    }
    match error.code() {
        Some(&SqlState::QUERY_CANCELED) => Error::timeout().cause(cause),
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) if access == Access::Write => {
            failure::no_primary(cause)
        }
        Some(code) => refusal(code, &cause).unwrap_or_else(|| Error::internal(cause)),
        None => Error::internal(cause),
    }
}

/// No connection could be made.
pub(crate) fn connecting(error: &tokio_postgres::Error) -> Error {
    let cause = chain(error);
    if let Some(error) = handshake(error, &cause) {
        return error;
    }
    if is_lost(error) {
        return failure::unreachable(cause);
    }
    match error.code() {
        Some(code) => refusal(code, &cause).unwrap_or_else(|| failure::unreachable(cause)),
        // Without a code the driver itself gave up: a login method it doesn't
        // have, or a password that is missing.
        None if error.source().is_some() => login(cause),
        None => failure::unreachable(cause),
    }
}

/// TLS was refused, or the other side isn't whom we trust. The driver has no such kind
/// of error, so its words have to tell.
pub(super) fn is_tls(error: &tokio_postgres::Error) -> bool {
    error
        .to_string()
        .starts_with("error performing TLS handshake")
}

/// Why TLS could not be used; `None` for other errors. A connection that ends in the
/// middle says nothing about TLS: the server goes, or a proxy has none to offer.
fn handshake(error: &tokio_postgres::Error, cause: &str) -> Option<Error> {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, Error as Tls};
    let io = error
        .source()
        .and_then(|source| source.downcast_ref::<std::io::Error>());
    let tls = io.and_then(|error| error.get_ref()?.downcast_ref::<Tls>());
    let has_ended = |error: &std::io::Error| {
        use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        let kind = error.kind();
        matches!(
            kind,
            UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe
        )
    };
    if io.is_some_and(has_ended) {
        return None;
    }
    let (message, next) = match tls {
        Some(Tls::InvalidCertificate(
            Bad::NotValidForName | Bad::NotValidForNameContext { .. },
        )) => (
            "The certificate of PostgreSQL is for another host name.",
            "Use a name that stands in the certificate, or `sslmode=verify-ca`.",
        ),
        Some(Tls::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. })) => (
            "The certificate of PostgreSQL has expired.",
            "Renew it on the server.",
        ),
        Some(Tls::InvalidCertificate(_)) => (
            "The certificate of PostgreSQL is not trusted.",
            "Name the certificate of its authority with `sslrootcert=FILE` in the database address.",
        ),
        Some(Tls::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::CertificateUnknown
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::UnknownCA,
        )) => (
            "PostgreSQL refused the client's certificate.",
            "Name one that it accepts with `sslcert` and `sslkey` in the database address.",
        ),
        _ if is_tls(error) && cause.contains("does not support TLS") => (
            "PostgreSQL offers no TLS, and the database address demands it.",
            "Switch TLS on in the server. On a network that you trust, use `sslmode=disable`.",
        ),
        _ if is_tls(error) => (
            "The TLS handshake with PostgreSQL failed.",
            "The log says why.",
        ),
        _ => return None,
    };
    Some(failure::storage(message, next, cause))
}

/// The refusals an operator can do something about.
fn refusal(code: &SqlState, cause: &str) -> Option<Error> {
    Some(match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            login(cause.into())
        }
        SqlState::INVALID_CATALOG_NAME => failure::storage(
            "The PostgreSQL database in the address doesn't exist.",
            "Create it, or correct the address.",
            cause,
        ),
        SqlState::INSUFFICIENT_PRIVILEGE => failure::storage(
            "The PostgreSQL user lacks a right.",
            "Let it own the schema `madoguchi`, or grant it CREATE on the database.",
            cause,
        ),
        SqlState::DISK_FULL => failure::full(cause),
        SqlState::TOO_MANY_CONNECTIONS => failure::crowded(cause),
        SqlState::LOCK_NOT_AVAILABLE => failure::busy(cause),
        _ => return None,
    })
}

fn login(cause: String) -> Error {
    failure::storage(
        "PostgreSQL refused the login.",
        "Check the user and the password in the address.",
        cause,
    )
}

/// The driver's errors say "db error" and keep the rest in their source.
pub(super) fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
