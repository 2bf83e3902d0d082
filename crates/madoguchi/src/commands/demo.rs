//! `madoguchi demo load|remove COUNTER`.

use std::process::ExitCode;

use kit::{Context, Error, Result};

use crate::{
    cli::{CounterOptions, DemoAction, Global},
    open,
    output::print,
    runtime::on_one_thread,
};

pub fn run(global: &Global, action: &DemoAction) -> Result<ExitCode> {
    let (DemoAction::Load { counter } | DemoAction::Remove { counter }) = action;
    let options = CounterOptions::default();
    let config = open::configuration(global, &options)?;
    desk::log::init(&config.settings.log);
    on_one_thread(async {
        let opened = open::desk(global, config, &options, Some(counter)).await?;
        let demo = opened
            .desk
            .window(counter)
            .and_then(|window| window.counter.demo.clone())
            .ok_or_else(|| Error::new("NO_DEMO", format!("{counter} has no sample data.")))?;
        let context = Context::of_the_desk(opened.desk.clock.clone());
        let message = match action {
            DemoAction::Load { .. } => demo.load(&context).await?,
            DemoAction::Remove { .. } => demo.remove(&context).await?,
        };
        opened.close().await?;
        print(&message)
    })
}
