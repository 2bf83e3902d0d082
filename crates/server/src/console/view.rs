//! What a page is rendered from, and what it consists of.

use std::sync::Arc;

use desk::Desk;
use http::{StatusCode, Uri};
use jiff::tz::TimeZone;
use maud::Markup;

use super::words::Words;

/// For whom, and for which address, a page is rendered.
pub struct View {
    pub desk: Arc<Desk>,
    pub words: &'static Words,
    /// Goes into every form. Empty where a script fills it in.
    pub form_token: String,
    pub address: Address,
    /// The reader's.
    pub zone: TimeZone,
}

/// The path and the query of a request.
#[derive(Debug, Default)]
pub struct Address {
    pub path: String,
    query: Vec<(String, String)>,
}

impl Address {
    pub fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default().as_bytes();
        Self {
            path: uri.path().to_owned(),
            query: form_urlencoded::parse(query).into_owned().collect(),
        }
    }

    /// A parameter of the query; `None` if it is missing or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut query = self.query.iter();
        let found = query.find(|(given, value)| given == name && !value.trim().is_empty());
        found.map(|(_, value)| value.trim())
    }

    /// All parameters of the query.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The parts of the path below `/console/NAME/`.
    pub fn below(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').skip(3).filter(|part| !part.is_empty())
    }
}

/// An address with a query.
pub fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(given).finish();
    match query.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{query}"),
    }
}

/// The part of a page that differs.
pub struct Page {
    pub status: StatusCode,
    pub title: String,
    pub main: Markup,
}

impl Page {
    pub fn new(title: impl Into<String>, main: Markup) -> Self {
        Self {
            status: StatusCode::OK,
            title: title.into(),
            main,
        }
    }

    pub fn not_found(words: &Words) -> Self {
        let title = words.pick("Not found", "見つかりません");
        let text = words.pick("There is no such page.", "そのページはありません。");
        Self {
            status: StatusCode::NOT_FOUND,
            title: title.into(),
            main: maud::html! { h1 { (title) } p { (text) } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_and_made() {
        let uri = "/console/tools/cinema/x?a=1&b=%20&c=%E7%AA%93"
            .parse()
            .unwrap();
        let address = Address::of(&uri);
        assert_eq!(address.below().collect::<Vec<_>>(), ["cinema", "x"]);
        assert_eq!((address.get("a"), address.get("b")), (Some("1"), None));
        assert_eq!(address.get("c"), Some("窓"));
        assert_eq!(link("/p", &[("a", ""), ("b", "x&y")]), "/p?b=x%26y");
        assert_eq!(link("/p", &[]), "/p");
    }
}
