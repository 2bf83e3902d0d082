//! `madoguchi demo load|remove COUNTER` and `madoguchi demo tour`.

mod tour;

use std::process::ExitCode;

use kit::{Context, Error, Result};
use serde_json::json;

use crate::{
    cli::{CounterOptions, DemoAction, Global},
    locale::pick,
    open,
    output::{pretty, print},
    progress::Progress,
    runtime::on_one_thread,
};

pub fn run(global: &Global, action: &DemoAction) -> Result<ExitCode> {
    match action {
        DemoAction::Load { counter, json } => change(global, counter, true, *json),
        DemoAction::Remove { counter, json } => change(global, counter, false, *json),
        DemoAction::Tour => tour::run(global),
    }
}

fn change(global: &Global, counter: &str, load: bool, as_json: bool) -> Result<ExitCode> {
    let options = CounterOptions::default();
    let mut config = open::configuration(global, &options)?;
    config.log_less();
    desk::log::init(&config.settings.log);
    let message = on_one_thread(async {
        let opened = open::desk(global, config, &options, Some(counter)).await?;
        let demo = opened
            .desk
            .counter(counter)
            .and_then(|served| served.counter.demo.clone())
            .ok_or_else(|| {
                let message = format!("{counter} has no sample data.");
                Error::new("NO_DEMO", message).next("See all counters at work: madoguchi demo tour")
            })?;
        let context = Context::of_the_desk(opened.desk.clock.clone());
        let message = {
            let _shown = Progress::new(pick("Sample data", "サンプルデータ"));
            match load {
                true => demo.load(&context).await?,
                false => demo.remove(&context).await?,
            }
        };
        opened.close().await?;
        Ok(message)
    })?;
    match as_json {
        true => print(&pretty(&json!({ "counter": counter, "message": message }))),
        false => print(&message),
    }
}
