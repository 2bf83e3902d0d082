//! `madoguchi demo load|remove COUNTER`.

use std::process::ExitCode;

use kit::{Context, Error, Result};

use super::{on_one_thread, output::print};
use crate::{
    cli::{DemoAction, Global, Offer},
    open,
};

pub fn run(global: &Global, action: &DemoAction) -> Result<ExitCode> {
    let (DemoAction::Load { counter } | DemoAction::Remove { counter }) = action;
    let offer = Offer::default();
    let config = open::configuration(global, &offer)?;
    desk::log::init(&config.settings.log);
    on_one_thread(async {
        let opened = open::desk(global, config, &offer, Some(counter)).await?;
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
