//! The part of Meilisearch's filter language that is used: comparisons and lists,
//! joined by AND and OR. In a quoted value a backslash escapes the next character.

use std::iter::Peekable;
use std::str::CharIndices;

use serde_json::Value;

use super::index::{Problem, compare};

pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Is {
        name: String,
        sign: String,
        values: Vec<String>,
    },
}

impl Filter {
    pub fn takes(&self, document: &Value) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.takes(document)),
            Self::Any(parts) => parts.iter().any(|part| part.takes(document)),
            Self::Is { name, sign, values } => {
                let actual = &document[name];
                values.iter().any(|value| holds(actual, sign, value))
            }
        }
    }
}

fn holds(actual: &Value, sign: &str, value: &str) -> bool {
    let text = match actual {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let wanted = value.parse::<f64>().map_or(Value::Null, Value::from);
    let order = compare(actual, &wanted);
    match sign {
        "=" | "IN" => text.to_lowercase() == value.to_lowercase(),
        "!=" => text.to_lowercase() != value.to_lowercase(),
        ">=" => actual.is_number() && order.is_ge(),
        "<=" => actual.is_number() && order.is_le(),
        ">" => actual.is_number() && order.is_gt(),
        _ => actual.is_number() && order.is_lt(),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    filterable: &'a [&'a str],
}

pub fn parse(text: &str, filterable: &[&str]) -> Result<Filter, Problem> {
    let mut parser = Parser {
        text,
        rest: text.char_indices().peekable(),
        filterable,
    };
    let filter = parser.any()?;
    parser.space();
    match parser.rest.next() {
        None => Ok(filter),
        Some((at, _)) => Err(parser.wrong(at)),
    }
}

impl Parser<'_> {
    fn wrong(&self, at: usize) -> Problem {
        let rest = self.text.get(at..).unwrap_or_default();
        let message = format!("Index `products`: Found unexpected characters: `{rest}`.");
        Problem::new(400, "invalid_search_filter", message)
    }

    fn any(&mut self) -> Result<Filter, Problem> {
        let mut parts = vec![self.all()?];
        while self.keyword("OR") {
            parts.push(self.all()?);
        }
        Ok(Filter::Any(parts))
    }

    fn all(&mut self) -> Result<Filter, Problem> {
        let mut parts = vec![self.one()?];
        while self.keyword("AND") {
            parts.push(self.one()?);
        }
        Ok(Filter::All(parts))
    }

    fn one(&mut self) -> Result<Filter, Problem> {
        let start = self.at();
        let name = self.value()?;
        let sign = match self.keyword("IN") {
            true => "IN".to_owned(),
            false => self.sign()?,
        };
        let values = match sign.as_str() {
            "IN" => self.list()?,
            _ => vec![self.value()?],
        };
        if !self.filterable.contains(&name.as_str()) {
            let mut names: Vec<String> = self.filterable.iter().map(|n| format!("`{n}`")).collect();
            names.sort();
            // Positions count from the quote before the filter in the JSON.
            let (from, to) = (start + 2, start + 2 + name.len());
            let value = values.join(", ");
            let message = format!(
                "Index `products`: Attribute `{name}` is not filterable. Available filterable \
                 attribute patterns are: {}.\n{from}:{to} \"{name}\" {sign} \"{value}\"",
                names.join(", ")
            );
            return Err(Problem::new(400, "invalid_search_filter", message));
        }
        Ok(Filter::Is { name, sign, values })
    }

    fn at(&mut self) -> usize {
        self.space();
        self.rest.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn space(&mut self) {
        while self.rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    }

    fn keyword(&mut self, word: &str) -> bool {
        let at = self.at();
        let found = self.text.get(at..).unwrap_or_default().starts_with(word);
        if found {
            self.rest.nth(word.len() - 1);
        }
        found
    }

    fn sign(&mut self) -> Result<String, Problem> {
        let at = self.at();
        let mut sign = String::new();
        while let Some((_, c)) = self.rest.next_if(|(_, c)| "=<>!".contains(*c)) {
            sign.push(c);
        }
        match sign.as_str() {
            "=" | "!=" | "<" | "<=" | ">" | ">=" => Ok(sign),
            _ => Err(self.wrong(at)),
        }
    }

    fn list(&mut self) -> Result<Vec<String>, Problem> {
        let mut values = Vec::new();
        self.expect('[')?;
        loop {
            values.push(self.value()?);
            if !self.keyword(",") {
                self.expect(']')?;
                return Ok(values);
            }
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), Problem> {
        let at = self.at();
        match self.rest.next_if(|(_, c)| *c == wanted) {
            Some(_) => Ok(()),
            None => Err(self.wrong(at)),
        }
    }

    fn value(&mut self) -> Result<String, Problem> {
        let at = self.at();
        if let Some((_, quote)) = self.rest.next_if(|(_, c)| "'\"".contains(*c)) {
            return self.quoted(quote, at);
        }
        let mut word = String::new();
        let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        while let Some((_, c)) = self.rest.next_if(|(_, c)| is_part(*c)) {
            word.push(c);
        }
        match word.is_empty() {
            true => Err(self.wrong(at)),
            false => Ok(word),
        }
    }

    fn quoted(&mut self, quote: char, at: usize) -> Result<String, Problem> {
        let mut value = String::new();
        while let Some((_, c)) = self.rest.next() {
            if c == quote {
                return Ok(value);
            }
            if c != '\\' {
                value.push(c);
                continue;
            }
            match self.rest.next() {
                Some((_, c)) if c == quote || c == '\\' => value.push(c),
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                _ => return Err(self.wrong(at)),
            }
        }
        Err(self.wrong(at))
    }
}
