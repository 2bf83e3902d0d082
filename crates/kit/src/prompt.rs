//! Prompts: texts that a person picks to start an agent.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    context::{ClientRequest, Context},
    error::{Error, INVALID_ARGUMENT, Result},
    language::Language,
    text::{cut, visible},
    today::Today,
};

/// Characters of a person's text that a prompt repeats.
const LONGEST_TEXT: usize = 500;

pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: Vec<Argument>,
    /// The tools that the prompt uses, at least one. A caller needs the right to all
    /// of them.
    pub tools: &'static [&'static str],
    pub render: Render,
}

impl Prompt {
    /// The values of an argument that begin with `typed`; `None` if it has no fixed
    /// values.
    pub fn fixed_values(&self, argument: &str, typed: &str) -> Option<Vec<String>> {
        let argument = self.arguments.iter().find(|it| it.name == argument)?;
        let typed = typed.to_lowercase();
        let fitting = argument.values.iter().filter(|it| it.starts_with(&typed));
        (!argument.values.is_empty()).then(|| fitting.map(|it| (*it).to_owned()).collect())
    }

    pub fn check_arguments(&self, arguments: &Map<String, Value>) -> Result<()> {
        let mut required = self.arguments.iter().filter(|argument| argument.required);
        match required.find(|argument| !arguments.contains_key(argument.name)) {
            None => Ok(()),
            Some(missing) => Err(Error::new(
                INVALID_ARGUMENT,
                format!("The argument `{}` is missing.", missing.name),
            )
            .next("prompts/list lists the arguments.")),
        }
    }
}

pub type Render =
    Arc<dyn Fn(Context, Map<String, Value>) -> BoxFuture<'static, Result<Rendered>> + Send + Sync>;

#[derive(Debug, Clone)]
pub enum Rendered {
    Messages(Vec<Message>),
    /// As [`crate::Reply::InputRequired`], for prompts.
    InputRequired {
        requests: Vec<(String, ClientRequest)>,
        state: Option<String>,
    },
}

#[derive(Debug, Clone)]
pub struct Argument {
    pub name: &'static str,
    pub description: &'static str,
    pub required: bool,
    /// All possible values; empty if it takes any text.
    pub values: &'static [&'static str],
}

impl Argument {
    /// An optional argument in a person's own words.
    pub const fn optional(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            required: false,
            values: &[],
        }
    }
}

/// A prompt of one user message that needs no data.
pub fn text(text: fn(&Context, &Map<String, Value>) -> Result<String>) -> Render {
    Arc::new(move |context, arguments| {
        let text = text(&context, &arguments);
        let rendered = text.map(|text| Rendered::Messages(vec![Message::user(text)]));
        Box::pin(std::future::ready(rendered))
    })
}

/// Today at the counter, with the zone if it has a name: `2026-11-15 (Asia/Tokyo)`.
pub fn today(context: &Context) -> String {
    Today::of(context).sentence()
}

/// The argument that [`language`] reads.
pub const LANGUAGE: Argument = Argument {
    name: "language",
    description: "The language to serve in: ja or en",
    required: false,
    values: &["ja", "en"],
};

/// The language that the arguments name, else the caller's.
pub fn language(context: &Context, arguments: &Map<String, Value>) -> Result<Language> {
    match given(arguments, LANGUAGE.name) {
        None => Ok(context.language),
        Some("ja") => Ok(Language::Japanese),
        Some("en") => Ok(Language::English),
        Some(other) => {
            let (shown, _) = cut(other, 20);
            let message = format!("`{}` is not a language of this prompt.", visible(shown));
            Err(Error::new("INVALID_LANGUAGE", message).next("Use ja or en."))
        }
    }
}

/// The text of an argument, unless it is blank.
pub fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let text = arguments.get(name)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}

/// The text of an argument as one visible line, for a prompt that repeats it.
pub fn given_line(arguments: &Map<String, Value>, name: &str) -> Result<Option<String>> {
    let Some(text) = given(arguments, name) else {
        return Ok(None);
    };
    if cut(text, LONGEST_TEXT).1 > 0 {
        let message = format!("`{name}` is longer than {LONGEST_TEXT} characters.");
        return Err(Error::new(INVALID_ARGUMENT, message).next("Say it in fewer words."));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(Some(visible(&words.join(" "))))
}

/// One message of a rendered prompt; `content` is a content block.
#[derive(Debug, Clone)]
pub struct Message {
    pub role: Role,
    pub content: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: serde_json::json!({ "type": "text", "text": text.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_persons_words_become_one_visible_line_of_bounded_length() {
        let line = |text: &str| {
            let arguments = Map::from_iter([("goal".to_owned(), json!(text))]);
            given_line(&arguments, "goal")
        };
        assert_eq!(line("  ").unwrap(), None);
        assert_eq!(
            line("Ship\n it\u{202e} ").unwrap().unwrap(),
            "Ship it⟨U+202E⟩"
        );
        assert!(line(&"あ".repeat(LONGEST_TEXT)).is_ok());
        assert!(line(&"あ".repeat(LONGEST_TEXT + 1)).is_err());
    }

    fn arguments(given: &[(&str, &str)]) -> Map<String, Value> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), json!(value));
        given.iter().map(owned).collect()
    }

    #[test]
    fn arguments_of_a_prompt_are_checked_and_completed() {
        let goal = Argument {
            required: true,
            ..Argument::optional("goal", "The goal")
        };
        let prompt = Prompt {
            name: "plan",
            title: "Plan",
            description: "Plans.",
            arguments: vec![goal, LANGUAGE],
            tools: &["a"],
            render: text(|_, _| Ok(String::new())),
        };
        assert!(prompt.check_arguments(&arguments(&[("goal", "x")])).is_ok());
        let missing = prompt.check_arguments(&arguments(&[("language", "ja")]));
        let message = missing.unwrap_err().message;
        assert_eq!(message, "The argument `goal` is missing.");
        let values = |typed| prompt.fixed_values("language", typed);
        assert_eq!(values("J"), Some(vec!["ja".to_owned()]));
        assert_eq!(values("").unwrap().len(), 2);
        assert_eq!(values("x"), Some(Vec::new()));
        assert_eq!(prompt.fixed_values("goal", ""), None);
        assert_eq!(prompt.fixed_values("other", ""), None);
    }

    #[test]
    fn the_language_is_the_one_that_is_named_or_the_callers() {
        let mut context = Context::of_the_desk(crate::time::Clock::system());
        context.language = Language::Japanese;
        for (given, expected) in [
            ("en", Language::English),
            ("ja", Language::Japanese),
            (" ", Language::Japanese),
        ] {
            let found = language(&context, &arguments(&[("language", given)]));
            assert_eq!(found.unwrap(), expected, "{given}");
        }
        let refused = language(&context, &arguments(&[("language", "fr")]));
        assert_eq!(refused.unwrap_err().code, "INVALID_LANGUAGE");
    }
}
