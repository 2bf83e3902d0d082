//! Finds tools by a part of a name or of a title.

use kit::{Tool, context::Language};

use super::acts;

/// The tools that somebody means by a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFilter {
    /// In small letters. A name that contains it is meant.
    part: String,
    /// Tools with other names or titles that contain it, by the names of records.
    others: Vec<&'static str>,
}

impl ToolFilter {
    /// `tools`: those whose titles and other names are known. Records may name more.
    pub fn new<'a>(text: &str, tools: impl Iterator<Item = &'a Tool>) -> Self {
        let part = text.trim().to_lowercase();
        let contains = |text: &str| text.to_lowercase().contains(&part);
        let is_meant = |tool: &&Tool| {
            let titles = [Language::English, Language::Japanese].map(|it| tool.title_in(it));
            tool.aliases.iter().chain(&titles).any(|it| contains(it))
        };
        let acts = acts::TITLES.into_iter();
        let acts = acts.filter(|(_, english, japanese)| contains(english) || contains(japanese));
        let mut others: Vec<&'static str> = tools.filter(is_meant).map(|tool| tool.name).collect();
        others.extend(acts.map(|(name, ..)| name));
        Self { part, others }
    }

    pub(super) fn wants(&self, tool: &str) -> bool {
        self.others.contains(&tool) || tool.to_lowercase().contains(&self.part)
    }

    /// The same for the line of a record, without reading all of it.
    pub(super) fn wants_line(&self, line: &str) -> bool {
        let rest = line.split_once("\"tool\":\"").map(|(_, rest)| rest);
        let tool = rest.and_then(|rest| rest.split('"').next());
        tool.is_some_and(|tool| self.wants(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_part_of_a_name_and_acts_by_their_titles() {
        let of = |text: &str| ToolFilter::new(text, std::iter::empty());
        let seats = of(" Seats ");
        assert!(seats.wants("reserve_seats") && !seats.wants("get_movie_list"));
        assert!(seats.wants_line(r#"{"seq":1,"tool":"hold_seats","ms":1.0}"#));
        for line in [
            r#"{"seq":1,"caller":"seats"}"#,
            r#"{"caller_name":"\"tool\":\"seats\"","tool":"x"}"#,
        ] {
            assert!(!seats.wants_line(line), "{line}");
        }
        for text in ["key/", "key made", "キーの作成", "KEY/CREATE"] {
            assert!(of(text).wants("key/create"), "{text}");
        }
        assert!(!of("key made").wants("key/revoke"));
    }
}
