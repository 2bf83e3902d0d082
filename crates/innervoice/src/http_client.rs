//! The HTTP client for all servers that this counter writes to.

use std::{error, io, time::Duration};

use kit::{Error, Result};
use reqwest::{Client, redirect::Policy};

const CONNECT: Duration = Duration::from_secs(10);

pub fn client(timeout: Duration) -> Result<Client> {
    // With two TLS libraries linked in, rustls has to be told which to use.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT)
        .timeout(timeout)
        // A redirect would send passwords and messages to another server.
        .redirect(Policy::none())
        .build()
        .map_err(Error::internal)
}

/// Whether a connection failed because the server's certificate was refused.
pub fn is_untrusted(error: &(dyn error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // The source of an error of I/O is not the error that it wraps.
        let wrapped = error.downcast_ref::<io::Error>();
        next = match wrapped.and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}
