//! Changes of resources: what subscribers receive, and the text in which
//! `desk_writes` keeps them for other processes.

use kit::context::Change;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event(pub Change);

/// One change per line. Addresses contain no line breaks.
pub fn encode(changes: &[Change]) -> String {
    let lines: Vec<&str> = changes
        .iter()
        .map(|change| match change {
            Change::Resource(uri) => uri.as_str(),
            Change::ResourceList => "*resources",
            Change::ToolList => "*tools",
            Change::PromptList => "*prompts",
            Change::Page => "*page",
        })
        .collect();
    lines.join("\n")
}

pub fn decode(text: &str) -> impl Iterator<Item = Change> + '_ {
    text.lines().map(|line| match line {
        "*resources" => Change::ResourceList,
        "*tools" => Change::ToolList,
        "*prompts" => Change::PromptList,
        "*page" => Change::Page,
        uri => Change::Resource(uri.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_survive_the_store() {
        let changes = vec![
            Change::Resource("cinema://shows/S1/seats".into()),
            Change::ResourceList,
            Change::ToolList,
            Change::PromptList,
            Change::Page,
        ];
        assert_eq!(decode(&encode(&changes)).collect::<Vec<_>>(), changes);
        assert_eq!(decode("").count(), 0);
    }
}
