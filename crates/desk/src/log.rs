//! Logs: structured, on stderr only. Pretty on a terminal, JSON otherwise.

use std::io::IsTerminal;

use tracing_subscriber::{
    Layer, Registry, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::settings::{Level, Log, LogFormat};

/// Sets the process's logger. Call once, early.
pub fn init(log: &Log) {
    let level = match log.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    let pretty = match log.format {
        LogFormat::Pretty => true,
        LogFormat::Json => false,
        LogFormat::Auto => std::io::stderr().is_terminal(),
    };
    let layer: Box<dyn Layer<Registry> + Send + Sync> = if pretty {
        Box::new(
            tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(std::io::stderr().is_terminal())
                .with_target(false),
        )
    } else {
        Box::new(
            tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(std::io::stderr),
        )
    };
    // The protocol crate logs every event of a connection. The desk itself logs those
    // that matter.
    let targets = tracing_subscriber::filter::filter_fn(move |metadata| {
        let ceiling = if metadata.target().starts_with("rmcp") && level <= LevelFilter::INFO {
            LevelFilter::ERROR
        } else {
            level
        };
        *metadata.level() <= ceiling
    });
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        tracing::error!(place, "panic: {message}");
    }));
    // A second call, as in tests, changes nothing.
    let _ = tracing_subscriber::registry()
        .with(layer.with_filter(targets))
        .try_init();
}
