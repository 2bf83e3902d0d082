//! Rust source as trees of names, punctuation and groups in brackets. Comments,
//! texts, numbers and lifetimes are left out.

use std::{iter::Peekable, str::Chars};

#[derive(Debug, PartialEq, Eq)]
pub enum Token {
    Name(String),
    Mark(char),
    /// The opening bracket, and what is inside.
    Group(char, Vec<Token>),
}

impl Token {
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub fn is_mark(&self, wanted: char) -> bool {
        matches!(self, Self::Mark(mark) if *mark == wanted)
    }

    /// What is inside a group with this bracket.
    pub fn inside(&self, bracket: char) -> Option<&[Token]> {
        match self {
            Self::Group(open, inside) if *open == bracket => Some(inside),
            _ => None,
        }
    }
}

pub fn read(text: &str) -> Vec<Token> {
    let mut letters = text.chars().peekable();
    let tokens = group(&mut letters);
    assert_eq!(letters.next(), None, "a bracket is closed twice");
    tokens
}

/// Reads up to the bracket that closes the group, or to the end.
fn group(letters: &mut Peekable<Chars<'_>>) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(letter) = letters.next_if(|letter| !matches!(letter, ')' | ']' | '}')) {
        match letter {
            '(' | '[' | '{' => {
                tokens.push(Token::Group(letter, group(letters)));
                letters.next();
            }
            '"' => skip_text(letters),
            '\'' => skip_character(letters),
            '/' if letters.peek() == Some(&'/') => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            '/' if letters.peek() == Some(&'*') => skip_comment(letters),
            _ if letter.is_alphanumeric() || letter == '_' => {
                let mut name = String::from(letter);
                while let Some(more) = letters.next_if(|l| l.is_alphanumeric() || *l == '_') {
                    name.push(more);
                }
                let is_raw = matches!(name.as_str(), "r" | "br" | "cr");
                match letters.peek() {
                    Some('"' | '#') if is_raw => skip_raw_text(letters),
                    // The text after `b` or `c` is skipped by itself.
                    _ if letter.is_numeric() => {}
                    _ => tokens.push(Token::Name(name)),
                }
            }
            _ if letter.is_whitespace() => {}
            _ => tokens.push(Token::Mark(letter)),
        }
    }
    tokens
}

fn skip_text(letters: &mut Peekable<Chars<'_>>) {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return,
            '\\' => drop(letters.next()),
            _ => {}
        }
    }
}

fn skip_raw_text(letters: &mut Peekable<Chars<'_>>) {
    let mut hashes = 0;
    while letters.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    // `r#name` is a name.
    if letters.next_if_eq(&'"').is_none() {
        return;
    }
    while let Some(letter) = letters.next() {
        let closing =
            (0..hashes).take_while(|_| letter == '"' && letters.next_if_eq(&'#').is_some());
        if letter == '"' && closing.count() == hashes {
            return;
        }
    }
}

/// A character, or the mark of a lifetime.
fn skip_character(letters: &mut Peekable<Chars<'_>>) {
    let mut ahead = letters.clone();
    match (ahead.next(), ahead.next()) {
        (Some('\\'), _) => {
            letters.next();
            letters.next();
            while letters.next_if(|letter| *letter != '\'').is_some() {}
            letters.next();
        }
        (Some(_), Some('\'')) => {
            letters.next();
            letters.next();
        }
        _ => {
            while letters
                .next_if(|l| l.is_alphanumeric() || *l == '_')
                .is_some()
            {}
        }
    }
}

fn skip_comment(letters: &mut Peekable<Chars<'_>>) {
    let (mut depth, mut last) = (0, '/');
    for letter in letters.by_ref() {
        match (last, letter) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                last = letter;
                continue;
            }
        }
        if depth == 0 {
            return;
        }
        last = ' ';
    }
}
