//! `docs/commands.md`, from the program's own help.

use std::{fmt::Write as _, process::Command};

use super::check;
use crate::{
    harness::{Output, Place},
    pages::markdown,
};

/// Every command has these; the page shows them once.
const GLOBAL: [&str; 4] = ["--config", "--data", "--log-level", "-h,"];

struct Help {
    /// Without `madoguchi` itself.
    words: Vec<String>,
    about: String,
    usage: String,
    /// Arguments and options, as the program prints them.
    details: String,
    children: Vec<String>,
}

impl Help {
    fn of(words: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_madoguchi"));
        let place = Place::new();
        place.enter(&mut command);
        command.args(words).arg("-h").env("COLUMNS", "100");
        let text = Output::of(&mut command, "").ok().stdout;
        let (about, rest) = text.split_once("\n\nUsage: ").unwrap();
        let (usage, rest) = rest.split_once("\n\n").unwrap();
        let mut children = Vec::new();
        let mut details = String::new();
        for section in rest.trim().split("\n\n").filter(|it| !it.is_empty()) {
            let (head, lines) = section.split_once('\n').unwrap();
            match head {
                "Commands:" => children.extend(names(lines)),
                "Options:" => {
                    let own = own_options(lines);
                    if !own.is_empty() {
                        let _ = write!(details, "\n{head}\n{own}");
                    }
                }
                _ => {
                    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
                    let _ = write!(details, "\n{head}\n{}\n", lines.join("\n"));
                }
            }
        }
        Self {
            words: words.to_vec(),
            about: about.replace('\n', " "),
            usage: usage.replace("\n       ", "\n"),
            details,
            children,
        }
    }

    fn name(&self) -> String {
        format!("madoguchi {}", self.words.join(" "))
    }

    /// Whether it does something by itself.
    fn runs(&self) -> bool {
        !self.usage.lines().next().unwrap().ends_with("<COMMAND>")
    }
}

/// The names in a list of commands; further lines of a description are indented more.
fn names(lines: &str) -> impl Iterator<Item = String> {
    let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let lines = lines.lines().filter_map(|line| line.strip_prefix("  "));
    let lines = lines.filter(|line| !line.starts_with(' '));
    lines.map(first).filter(|name| name != "help")
}

fn own_options(lines: &str) -> String {
    let mut own = String::new();
    let mut is_own = true;
    for line in lines.lines() {
        let text = line.trim_start();
        if text.starts_with('-') {
            is_own = !GLOBAL.iter().any(|it| text.starts_with(it));
        }
        if is_own {
            own.push_str(line.trim_end());
            own.push('\n');
        }
    }
    own
}

fn collect(words: &[String], found: &mut Vec<Help>) {
    let help = Help::of(words);
    let children = help.children.clone();
    if !words.is_empty() {
        found.push(help);
    }
    for child in children {
        collect(&[words, &[child]].concat(), found);
    }
}

fn commands() -> Vec<Help> {
    let mut found = Vec::new();
    collect(&[], &mut found);
    found.retain(Help::runs);
    assert!(found.len() > 20);
    found
}

#[test]
fn the_page_of_commands_is_current() {
    let mut text = String::from(
        "# Commands\n\nGenerated from the program's own help. [日本語](ja/commands.md)\n\n\
         | command | what it does |\n|---|---|\n",
    );
    let all = commands();
    for help in &all {
        let name = help.name();
        let anchor = name.replace(' ', "-");
        let _ = writeln!(text, "| [`{name}`](#{anchor}) | {} |", help.about);
    }
    text.push_str(
        "\nEvery command also takes `--config FILE` (default: `./madoguchi.toml` if it exists), \
         `--data DIR`\n(or `MADOGUCHI_DATA`; default: the platform's own directory), `--log-level LEVEL` \
         and `--help`.\nCommands that print data take `--json`. More: [configure it](configure.md).\n",
    );
    for help in &all {
        let (name, about) = (help.name(), &help.about);
        let _ = writeln!(text, "\n## {name}\n\n{about}.\n\n```text");
        let _ = writeln!(text, "{}\n{}```", help.usage, help.details);
    }
    check("docs/commands.md", &text);
}

#[test]
fn the_japanese_page_has_every_command() {
    let page = markdown::read("docs/ja/commands.md");
    for help in commands() {
        let name = help.name();
        assert!(page.contains(&format!("`{name}")), "{name} is missing");
    }
}
