//! The HTTP client for all servers that this counter writes to.

use std::time::Duration;

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
