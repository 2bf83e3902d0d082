//! Questions on a terminal.

use std::io::{IsTerminal, Write};

use kit::{Error, Result};

/// Somebody who can answer.
pub struct Terminal(());

/// How often a question is asked again.
const MOST_ATTEMPTS: usize = 5;

impl Terminal {
    /// `None` unless a person reads and writes here.
    pub fn of_process() -> Option<Self> {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        is_terminal.then_some(Self(()))
    }

    /// One or several of the items, by number or name.
    pub fn choose(&self, question: &str, items: &[(&str, &str)]) -> Result<Vec<usize>> {
        let width = items.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = format!("{question}\n");
        for (index, (name, about)) in items.iter().enumerate() {
            text.push_str(&format!("  {:>2}  {name:width$}  {about}\n", index + 1));
        }
        for _ in 0..MOST_ATTEMPTS {
            let answer = self.answer(&format!("{text}Numbers or names, or `all`: "))?;
            if let Some(chosen) = chosen(&answer, items) {
                return Ok(chosen);
            }
            text = "Only what is listed above can be chosen.\n".into();
        }
        Err(nothing_chosen())
    }

    pub fn line(&self, question: &str, default: &str) -> Result<String> {
        let answer = self.answer(&format!("{question} [{default}] "))?;
        Ok(match answer.trim() {
            "" => default.to_owned(),
            answer => answer.to_owned(),
        })
    }

    fn answer(&self, question: &str) -> Result<String> {
        let mut out = std::io::stderr().lock();
        let asked = out
            .write_all(question.as_bytes())
            .and_then(|()| out.flush());
        asked.map_err(Error::internal)?;
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(0) => Err(nothing_chosen()),
            Ok(_) => Ok(answer),
            Err(error) => Err(Error::internal(error)),
        }
    }
}

fn nothing_chosen() -> Error {
    Error::new(
        "NOTHING_CHOSEN",
        "Nothing was chosen, and nothing was changed.",
    )
}

/// The items that an answer names; `None` if it names none, or something else.
fn chosen(answer: &str, items: &[(&str, &str)]) -> Option<Vec<usize>> {
    let is_between = |c: char| c == ',' || c.is_whitespace();
    let mut chosen = Vec::new();
    for word in answer.split(is_between).filter(|word| !word.is_empty()) {
        if word == "all" {
            chosen.extend(0..items.len());
            continue;
        }
        let by_name = items.iter().position(|(name, _)| *name == word);
        let by_number = || word.parse::<usize>().ok()?.checked_sub(1);
        let index = by_name.or_else(by_number)?;
        items.get(index)?;
        chosen.push(index);
    }
    chosen.sort_unstable();
    chosen.dedup();
    (!chosen.is_empty()).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_numbers_and_names() {
        let items = [("cinema", ""), ("rooms", ""), ("todo", "")];
        for (answer, expected) in [
            ("2\n", Some(vec![1])),
            (" todo, 1 todo\n", Some(vec![0, 2])),
            ("all", Some(vec![0, 1, 2])),
            ("", None),
            ("0", None),
            ("4", None),
            ("1 shop", None),
        ] {
            assert_eq!(chosen(answer, &items), expected, "{answer:?}");
        }
    }
}
