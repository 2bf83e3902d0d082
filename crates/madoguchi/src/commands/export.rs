//! `madoguchi export COUNTER DIR|FILE`.

use std::process::ExitCode;

use kit::{Context, Error, Result, counter::Format};

use crate::{
    cli::{CounterOptions, Export, ExportFormat, Global},
    locale::pick,
    open,
    output::{pretty, print},
    progress::Progress,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Export) -> Result<ExitCode> {
    let options = CounterOptions::default();
    let mut config = open::configuration(global, &options)?;
    config.log_less();
    desk::log::init(&config.settings.log);
    let format = match arguments.format {
        ExportFormat::Json => Format::Json,
        ExportFormat::Csv => Format::Csv,
    };
    let exported = on_one_thread(async {
        let counter = &arguments.counter;
        let opened = open::desk(global, config, &options, Some(counter)).await?;
        let export = opened
            .desk
            .counter(counter)
            .and_then(|served| served.counter.export.clone())
            .ok_or_else(|| Error::new("NO_EXPORT", format!("{counter} has no export.")))?;
        let context = Context::of_the_desk(opened.desk.clock.clone());
        let _shown = Progress::new(pick("Exporting", "書き出し中"));
        let exported = export
            .export(&context, &arguments.target, format, arguments.overwrite)
            .await;
        opened.close().await?;
        exported
    })?;
    match arguments.json {
        true => print(&pretty(&exported)),
        false => print(&exported.message),
    }
}
