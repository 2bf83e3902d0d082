//! Long lists in errors and empty answers, cut to what a reader takes in.

/// How many candidates an answer offers.
pub const SHORTLIST: usize = 5;

/// The first candidates of a list, and how many were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortlist<T> {
    pub shown: Vec<T>,
    pub more: usize,
}

/// Keeps the first five. Sort the items by nearness before.
pub fn shortlist<T>(items: impl IntoIterator<Item = T>) -> Shortlist<T> {
    let mut items = items.into_iter();
    Shortlist {
        shown: items.by_ref().take(SHORTLIST).collect(),
        more: items.count(),
    }
}

impl<T: AsRef<str>> Shortlist<T> {
    /// `a, b, c and 7 more`; empty for an empty list.
    pub fn sentence(&self) -> String {
        let shown: Vec<&str> = self.shown.iter().map(AsRef::as_ref).collect();
        let shown = shown.join(", ");
        match self.more {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    /// The same in Japanese: `a、b、cほか7件`.
    pub fn japanese(&self) -> String {
        let shown: Vec<&str> = self.shown.iter().map(AsRef::as_ref).collect();
        let shown = shown.join("、");
        match self.more {
            0 => shown,
            more => format!("{shown}ほか{more}件"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_says_by_how_much() {
        let long = shortlist(["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(long.sentence(), "a, b, c, d, e and 2 more");
        assert_eq!(long.japanese(), "a、b、c、d、eほか2件");
        let short = shortlist(["a", "b"]);
        assert_eq!(short.sentence(), "a, b");
        assert_eq!(short.more, 0);
    }
}
