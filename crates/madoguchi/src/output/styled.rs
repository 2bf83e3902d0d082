//! Text with colours, for a terminal. Every piece is made harmless before it gets a
//! style, so the only control sequences in it are ours. Without a terminal, and with
//! `NO_COLOR`, the styles are left out; `CLICOLOR_FORCE` keeps them.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use kit::{Error, Result};

use super::{ended, shown};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Plain,
    /// A heading or a name.
    Bold,
    /// Details.
    Dim,
    Good,
    Bad,
    /// Something for the reader to do or to paste.
    Action,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Bold => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Action => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Text that was made harmless, with styles.
#[derive(Debug, Clone, Default)]
pub struct Styled(String);

impl Styled {
    pub fn add(&mut self, look: Look, text: &str) -> &mut Self {
        let (style, text) = (look.style(), shown(text));
        match look {
            Look::Plain => self.0.push_str(&text),
            _ => self.0.push_str(&format!("{style}{text}{style:#}")),
        }
        self
    }

    pub fn plain(&mut self, text: &str) -> &mut Self {
        self.add(Look::Plain, text)
    }

    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    pub fn print(&self) -> Result<ExitCode> {
        let end = if self.0.ends_with('\n') { "" } else { "\n" };
        self.write(end)
    }

    /// Without a line break at the end: what follows is typed by the reader.
    pub fn print_unfinished(&self) -> Result<ExitCode> {
        self.write("")
    }

    fn write(&self, end: &str) -> Result<ExitCode> {
        let mut out = AutoStream::auto(io::stdout().lock());
        let written = out.write_all(self.0.as_bytes());
        let written = written.and_then(|()| out.write_all(end.as_bytes()));
        ended(written.and_then(|()| out.flush()))
    }

    #[cfg(test)]
    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn tell(&self) {
        let _ = writeln!(AutoStream::auto(io::stderr().lock()), "{}", self.0);
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        let mut styled = Self::default();
        styled.plain(text);
        styled
    }
}

impl From<String> for Styled {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// Reports on stderr why a command failed.
pub fn report(error: &Error) {
    let mut text = Styled::default();
    text.add(Look::Bad, "error:")
        .plain(&format!(" {}", error.text()));
    if let Some(cause) = &error.cause {
        text.plain("\n").add(Look::Dim, &format!("cause: {cause}"));
    }
    text.tell();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_sequences_remain() {
        let mut styled = Styled::default();
        styled.add(Look::Bold, "a\u{1b}[2J").plain("b\u{1b}[31m");
        assert_eq!(styled.0, "\u{1b}[1ma⟨U+001B⟩[2J\u{1b}[0mb⟨U+001B⟩[31m");
    }
}
