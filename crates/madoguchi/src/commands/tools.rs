//! `madoguchi tools`: lists the tools.

use std::process::ExitCode;

use kit::Result;
use serde_json::{Value, json};
use server::wire::definitions::tool_definition;

use crate::{
    cli::{Global, ToolsArgs},
    descriptions, open,
    output::{Look, Styled, pretty, print},
};

pub fn run(global: &Global, arguments: &ToolsArgs) -> Result<ExitCode> {
    let config = open::configuration(global, &arguments.options)?;
    let only = arguments.counter.as_deref();
    let hides = config.settings.tools.clone();
    descriptions::check_names(&config)?;
    let counters = descriptions::described(&config, &arguments.options, only)?;
    let mut text = Styled::default();
    let mut all = Vec::new();
    for counter in &counters {
        let tools = counter
            .tools
            .iter()
            .filter(|tool| hides.hides(tool).is_none());
        for tool in tools {
            let name = tool.client_safe_name();
            if arguments.json {
                let mut definition = tool_definition(tool, name);
                if let Some(object) = definition.as_object_mut() {
                    object.insert("counter".into(), counter.about.name.into());
                }
                all.push(definition);
            } else {
                let required = tool.input.get("required").and_then(Value::as_array);
                let names: Vec<String> = tool
                    .input
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| {
                        let needed = required.is_some_and(|r| r.iter().any(|n| n == name));
                        if needed {
                            name.clone()
                        } else {
                            format!("[{name}]")
                        }
                    })
                    .collect();
                text.plain(&format!("{} ", counter.about.name))
                    .add(Look::Bold, name)
                    .plain(&format!(" {}\n    {}\n", names.join(" "), tool.description));
            }
        }
    }
    if arguments.json {
        return print(&pretty(&json!(all)));
    }
    text.print()
}
