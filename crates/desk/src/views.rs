//! Which view a chat client shows beside the answer of a tool.

use kit::View;

use crate::{
    served_counter::{PreparedTool, ServedCounter},
    settings::Policy,
};

/// For tools about which the user is asked, if their counter has no view for them. Like
/// every view it shows that something waits and where; it has no way to approve.
pub const APPROVAL: View = View {
    uri: "ui://madoguchi/approval",
    name: "approval",
    title: "Approval",
    description: "What waits for the user's approval, with a link to where they decide.",
    tools: &[],
    script: "",
    style: "",
};

/// The view for a tool's answers.
pub fn of_tool(served: &ServedCounter, tool: &PreparedTool) -> Option<&'static View> {
    let counter = &served.counter;
    let names = |view: &&View| view.tools.iter().any(|name| tool.tool.answers_to(name));
    // Lists of tools name the views, and are made once. A policy may be tightened later.
    let asks = tool.file_policy == Policy::Ask && counter.is_readable();
    let own = counter.views.iter().find(names);
    own.or(asks.then_some(&APPROVAL))
}

/// The view at an address, if any tool of the counter has it.
pub fn find(served: &ServedCounter, uri: &str) -> Option<&'static View> {
    let tools = served.tools.iter();
    let mut views = tools.filter_map(|tool| of_tool(served, tool));
    views.find(|view| view.uri == uri)
}

/// All views of a counter, in the order of its tools.
pub fn all(served: &ServedCounter) -> Vec<&'static View> {
    let mut views: Vec<&'static View> = Vec::new();
    for view in served.tools.iter().filter_map(|tool| of_tool(served, tool)) {
        if !views.contains(&view) {
            views.push(view);
        }
    }
    views
}
