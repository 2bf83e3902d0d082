//! Links that keep what else the page shows.

use super::{link::Query, page::PageQuery};

impl PageQuery {
    /// The parameters named in `kept` as they are, with those in `set` in their place or
    /// beside them.
    pub fn with(&self, kept: &[&'static str], set: Query) -> Query {
        let is_set = |name: &str| set.iter().any(|(other, _)| *other == name);
        let kept = kept.iter().filter(|name| !is_set(name));
        let kept = kept.filter_map(|name| Some((*name, self.get(name)?.to_owned())));
        let mut query: Query = kept.collect();
        query.extend(set);
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_keeps_what_it_does_not_set() {
        let given = [("view", "month"), ("event", "evt_1"), ("who", "ann")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let query = PageQuery(given.to_vec());
        let set = vec![("view", "week".to_owned()), ("on", "2026-11-16".to_owned())];
        assert_eq!(
            query.with(&["view", "who", "messages"], set),
            [
                ("who", "ann".to_owned()),
                ("view", "week".to_owned()),
                ("on", "2026-11-16".to_owned()),
            ]
        );
    }
}
