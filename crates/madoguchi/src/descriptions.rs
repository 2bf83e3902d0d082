//! The counters as they describe themselves, without any data behind them, and
//! the names that a configuration may use.

use std::sync::Arc;

use kit::{
    BoxFuture, Counter, Error, Result, Store,
    counter::Migrations,
    sql::{Budget, ReadJob, WriteJob},
};

use crate::{
    cli::CounterOptions,
    config::Config,
    counters::{self, Registration},
};

/// The counters to open: all of them, or the one that is named.
pub fn chosen(only: Option<&str>, options: &CounterOptions) -> Result<Vec<&'static Registration>> {
    let fixture = options.fixture.then(counters::fixture).flatten();
    let mut chosen: Vec<_> = counters::all().iter().chain(fixture).collect();
    if let Some(only) = only {
        known("counter", only, chosen.iter().map(|counter| counter.name))?;
        chosen.retain(|counter| counter.name == only);
    }
    Ok(chosen)
}

/// The counters as they describe themselves, without any data behind them.
pub fn described(
    config: &Config,
    options: &CounterOptions,
    only: Option<&str>,
) -> Result<Vec<Counter>> {
    let mut described = Vec::new();
    for registration in chosen(only, options)? {
        let settings = config.counters.get(registration.name).cloned();
        described.push(registration.open(settings.unwrap_or_default(), Some(Arc::new(Shut)))?);
    }
    Ok(described)
}

/// A store that fails every request: describing a counter needs no data.
struct Shut;

impl Store for Shut {
    fn read(&self, _: Budget, _: ReadJob<'static>) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the counter was only described",
        ))))
    }

    fn write(&self, _: Budget, _: WriteJob<'static>) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the counter was only described",
        ))))
    }

    fn migrate(&self, _: Migrations) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "the counter was only described",
        ))))
    }

    fn engine(&self) -> &'static str {
        "none"
    }
}

/// Limits, policies and tool lists name counters and tools; a misspelt name
/// would silently do nothing.
pub fn check_names(config: &Config) -> Result<()> {
    let settings = &config.settings;
    let counters = settings
        .limits
        .requests_per_minute
        .keys()
        .map(String::as_str);
    let policies = settings.approval.tools.keys().map(String::as_str);
    let tools = settings.tools.only.iter().chain(&settings.tools.exclude);
    let (counters, policies): (Vec<_>, Vec<_>) = (counters.collect(), policies.collect());
    let tools: Vec<_> = tools.map(String::as_str).collect();
    if counters.is_empty() && policies.is_empty() && tools.is_empty() {
        return Ok(());
    }
    let options = CounterOptions {
        fixture: true,
        ..CounterOptions::default()
    };
    let all = described(config, &options, None)?;
    let names = || all.iter().map(|counter| counter.about.name);
    for name in counters {
        known("counter", name, names())?;
    }
    for policy in policies {
        let (counter, tool) = policy.split_once('.').unwrap_or((policy, ""));
        known("counter", counter, names())?;
        let of_it = all.iter().filter(|c| c.about.name == counter);
        known("tool", tool, of_it.flat_map(tool_names))?;
    }
    for tool in tools {
        known("tool", tool, all.iter().flat_map(tool_names))?;
    }
    Ok(())
}

pub fn tool_names(counter: &Counter) -> impl Iterator<Item = &'static str> + Clone {
    counter
        .tools
        .iter()
        .flat_map(|tool| std::iter::once(tool.name).chain(tool.aliases.iter().copied()))
}

/// An error with the nearest name unless `name` is one of `names`.
pub fn known<'a>(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    let hint = match kit::text::nearest(name, names.clone()) {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => format!("There are: {}.", names.collect::<Vec<_>>().join(", ")),
    };
    let hint = match what {
        "counter" | "tool" => format!("{hint} All of them: madoguchi tools"),
        _ => hint,
    };
    let code = format!("UNKNOWN_{}", what.to_uppercase());
    Err(Error::new(code, format!("There is no {what} `{name}`.")).next(hint))
}
