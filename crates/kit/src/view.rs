//! Views: pages that chat clients show beside the answer of a tool (MCP Apps).

/// One view, as data. The server makes a page of it that needs nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Begins with `ui://`.
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// The tools whose answers it shows. Whoever may use one of them may read the view,
    /// which contains no data.
    pub tools: &'static [&'static str],
    /// Draws an answer. It runs after the script that all views share (`host.js` of the
    /// server), which says what it can use.
    pub script: &'static str,
    /// Its own rules, after those that all views share.
    pub style: &'static str,
}
