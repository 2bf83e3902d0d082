//! The pages that people read: their commands work and print what the page shows, their
//! links lead somewhere, and their examples of the configuration are valid.

mod links;
pub mod markdown;
mod runner;
mod shell;

use std::fs;

use store::testing::Postgres;

use crate::harness::Place;
use markdown::{blocks, files, read};

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        /// The pages whose commands are run.
        const PAGES: &[&str] = &[$($path),*];

        mod commands_of {
            $(
                #[test]
                fn $name() {
                    super::follow($path);
                }
            )*
        }
    };
}

// A test for each page, so that they run beside each other.
pages! {
    readme: "README.md",
    readme_ja: "README.ja.md",
    approve_and_audit: "docs/approve-and-audit.md",
    approve_and_audit_ja: "docs/ja/approve-and-audit.md",
    back_up: "docs/back-up.md",
    back_up_ja: "docs/ja/back-up.md",
    be_reminded: "docs/be-reminded.md",
    be_reminded_ja: "docs/ja/be-reminded.md",
    book_seats: "docs/book-seats.md",
    book_seats_ja: "docs/ja/book-seats.md",
    clients: "docs/clients.md",
    configure: "docs/configure.md",
    configure_ja: "docs/ja/configure.md",
    console: "docs/console.md",
    console_ja: "docs/ja/console.md",
    connect: "docs/connect.md",
    connect_ja: "docs/ja/connect.md",
    install: "docs/install.md",
    install_ja: "docs/ja/install.md",
    keys: "docs/keys.md",
    keys_ja: "docs/ja/keys.md",
    let_agents_talk: "docs/let-agents-talk.md",
    let_agents_talk_ja: "docs/ja/let-agents-talk.md",
    network: "docs/network.md",
    network_ja: "docs/ja/network.md",
    plan_a_project: "docs/plan-a-project.md",
    plan_a_project_ja: "docs/ja/plan-a-project.md",
    postgres: "docs/postgres.md",
    postgres_ja: "docs/ja/postgres.md",
    run_a_shop: "docs/run-a-shop.md",
    run_a_shop_ja: "docs/ja/run-a-shop.md",
    troubleshooting: "docs/troubleshooting.md",
    troubleshooting_ja: "docs/ja/troubleshooting.md",
}

fn follow(page: &str) {
    if !page.ends_with("postgres.md") && !page.ends_with("back-up.md") {
        return runner::run(page);
    }
    let shown = "postgres://desk:secret@127.0.0.1/madoguchi".to_owned();
    let server = Postgres::shared();
    runner::run_with(page, &[(shown, server.create_database())]);
}

#[test]
fn every_command_is_run_or_says_why_not() {
    let programs = [
        "madoguchi ",
        "cargo ",
        "scripts/",
        "claude ",
        "curl ",
        "npx ",
        "uvx ",
    ];
    let mut wrong = Vec::new();
    for page in files() {
        for block in blocks(&read(&page)) {
            let place = format!("{page}:{}", block.line);
            let is_command = |line: &str| {
                let rest = programs.iter().find_map(|it| line.strip_prefix(*it));
                rest.is_some_and(|rest| !rest.starts_with(' '))
            };
            match block.language.as_str() {
                "sh" => match block.attribute("not-run") {
                    None if PAGES.contains(&page.as_str()) => {}
                    None => wrong.push(format!("{place} is not run: add the page to PAGES")),
                    Some("") => wrong.push(format!("{place} does not say why it is not run")),
                    Some(_) => {}
                },
                "text" if block.attribute("not-checked") == Some("") => {
                    wrong.push(format!("{place} does not say why it is not checked"));
                }
                "bash" | "shell" | "console" | "zsh" => {
                    wrong.push(format!("{place} is called {}, not sh", block.language));
                }
                "" if block.text.lines().any(is_command) => {
                    wrong.push(format!("{place} has commands and is not called sh"));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn configurations_that_pages_show_are_valid() {
    let mut seen = 0;
    for page in files() {
        // The guide to a new counter has its own tests.
        if page == "docs/adding-a-counter.md" {
            continue;
        }
        for block in blocks(&read(&page)) {
            if block.language == "toml" {
                let place = Place::new();
                let file = place.file("madoguchi.toml", &block.text);
                let checked = place.run(&["config", "check", file.to_str().unwrap()]);
                // A certificate that is elsewhere can't be checked; the rest of the file was.
                let lacks_certificate = checked.stderr.contains("INVALID_TLS: /etc/madoguchi/");
                assert!(
                    checked.code == Some(0) || lacks_certificate,
                    "{page}:{}: {checked:?}",
                    block.line
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 2, "{seen}");
}

/// Each page begins with its title; what to paste comes soon after it.
#[test]
fn pages_begin_with_what_to_paste() {
    for page in PAGES.iter().filter(|page| page.starts_with("docs/")) {
        let text = fs::read_to_string(markdown::root().join(page)).unwrap();
        assert!(text.starts_with("# "), "{page}");
        let first = blocks(&text)[0].clone();
        assert_eq!(first.language, "sh", "{page}");
        assert!(
            first.line <= 14,
            "{page}: the first command is on line {}",
            first.line
        );
    }
}
