//! Panics, answered as errors.

use std::{any::Any, panic::AssertUnwindSafe};

use futures::FutureExt;
use kit::{Error, Result};

/// Runs `work`. When it panics, the message goes to the log and the caller learns
/// only that something broke on our side.
pub async fn caught<T>(what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| {
        let message = text(&*panic);
        Err(Error::internal(format!("{what} panicked: {message}")))
    })
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
