//! `madoguchi config default|check|schema`.

use std::process::ExitCode;

use kit::Result;
use serde_json::json;

use crate::{
    cli::{ConfigAction, Global},
    config::{self, Sources},
    config_check, counters,
    output::{pretty, print, tell},
};

pub fn run(global: &Global, action: &ConfigAction) -> Result<ExitCode> {
    let counters = counters::all();
    match action {
        ConfigAction::Default => print(&config::default_file(counters)?),
        ConfigAction::Schema => print(&pretty(&config::schema(counters))),
        ConfigAction::Check { file, json } => {
            let named = file.as_deref().or(global.config.as_deref());
            let sources = Sources::of_process(named, global.data.as_deref());
            let config = config::load(&sources, counters)?;
            config_check::check(global, &config)?;
            if *json {
                let checked = json!({
                    "ok": true, "file": sources.file, "warnings": config.warnings,
                });
                return print(&pretty(&checked));
            }
            for warning in &config.warnings {
                tell(&format!("warning: {warning}"));
            }
            match &sources.file {
                Some(file) => print(&format!("{} is fine.", file.display())),
                None => print(
                    "There is no madoguchi.toml here; the defaults and the environment are fine.",
                ),
            }
        }
    }
}
