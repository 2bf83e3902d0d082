//! Waits for the person on a terminal. Without one, the tour goes on by itself.

use std::io::{self, IsTerminal};

use kit::{Error, Result};
use tokio::sync::oneshot;

use crate::{
    locale::pick,
    output::{Look, Styled},
};

/// A question, in English and Japanese.
pub struct Question(&'static str, &'static str);

pub const GO_ON: Question = Question("Enter: go on, q: stop ", "Enterで次へ、qで終了 ");
pub const APPROVE: Question = Question(
    "Enter: approve, n: deny, q: stop ",
    "Enterで承認、nで拒否、qで終了 ",
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Yes,
    No,
    Stop,
}

pub struct Guide {
    /// Whether somebody is there to answer.
    pub asks: bool,
}

impl Guide {
    pub fn new() -> Self {
        Self {
            asks: io::stdin().is_terminal() && io::stdout().is_terminal(),
        }
    }

    pub async fn ask(&self, question: Question) -> Result<Reply> {
        if !self.asks {
            return Ok(Reply::Yes);
        }
        let mut text = Styled::default();
        text.plain("\n  ")
            .add(Look::Bold, pick(question.0, question.1));
        text.print_unfinished()?;
        // On a thread of its own, so that Ctrl+C ends the tour meanwhile.
        let (send, line) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line).map(|_| line);
            let _ = send.send(read);
        });
        let line = line.await.map_err(Error::internal)?;
        let line = line.map_err(Error::internal)?;
        Ok(match line.is_empty() {
            // The input has ended.
            true => Reply::Stop,
            false => reply(&line),
        })
    }
}

fn reply(line: &str) -> Reply {
    match line.trim().to_lowercase().as_str() {
        "q" | "quit" | "ｑ" => Reply::Stop,
        "n" | "no" | "ｎ" => Reply::No,
        _ => Reply::Yes,
    }
}
