//! Guesses which tool the caller of an unknown one meant, by the words of its name.
//! A wrong guess costs an agent a wrong call, so a name that only looks similar is not
//! offered: `get_theater_list` is not `get_reservation_details`.

use strsim::{damerau_levenshtein, jaro_winkler};

/// Verbs that mean the same in the name of a tool.
const VERBS: [&[&str]; 4] = [
    &[
        "get", "list", "show", "find", "search", "read", "view", "fetch", "lookup", "check",
        "query", "browse",
    ],
    &[
        "create", "add", "new", "make", "book", "reserve", "send", "post", "register", "build",
        "write", "insert", "schedule",
    ],
    &[
        "update", "set", "edit", "change", "modify", "rename", "move", "mark", "reorder",
    ],
    &["delete", "remove", "cancel", "clear", "drop", "destroy"],
];

/// Nouns that say nothing more: `list` in `get_movie_list`.
const SAYS_NOTHING: [&str; 3] = ["list", "detail", "info"];

/// Longer names are no misspellings, and comparing them would take long.
const LONGEST_NAME: usize = 64;

struct Name {
    /// What the tool does, by its row in [`VERBS`].
    verb: Option<usize>,
    /// What it does that to.
    things: Vec<String>,
    joined: String,
}

/// The name that means the same, if there is one.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > LONGEST_NAME {
        return None;
    }
    let given = Name::of(given);
    names
        .into_iter()
        .filter_map(|name| Some((given.likeness(&Name::of(name))?, name)))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

impl Name {
    fn of(name: &str) -> Self {
        let words = words(name);
        let joined = words.concat();
        let row = |word: &String| VERBS.iter().position(|verbs| verbs.contains(&&**word));
        let mut things = words;
        let verb = things.iter().position(|word| row(word).is_some());
        let verb = verb.and_then(|at| row(&things.remove(at)));
        things.retain(|word| !SAYS_NOTHING.contains(&&**word));
        Self {
            verb,
            things,
            joined,
        }
    }

    /// `None` if the other name means something else.
    fn likeness(&self, other: &Self) -> Option<f64> {
        let spelling = jaro_winkler(&self.joined, &other.joined);
        let typos = damerau_levenshtein(&self.joined, &other.joined);
        if typos <= (self.joined.len() / 6).clamp(1, 3) {
            return Some(10.0 - f64::from(u32::try_from(typos).unwrap_or(u32::MAX)));
        }
        if self.verb.is_some() && other.verb.is_some() && self.verb != other.verb {
            return None;
        }
        let is_shared = |thing: &&String| other.things.iter().any(|it| same_thing(thing, it));
        let shared = self.things.iter().filter(is_shared).count();
        if shared == 0 || shared * 2 < self.things.len() {
            return None;
        }
        let missing = self.things.len().max(other.things.len()) - shared;
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        Some(count(shared) - count(missing) / 2.0 + spelling / 4.0)
    }
}

/// The words of `get_movie_list`, `calendar.create` and `getMovieList`, singular and in
/// lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower_case = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && after_lower_case) {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        after_lower_case = character.is_lowercase();
    }
    for word in &mut words {
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn same_thing(a: &str, b: &str) -> bool {
    a == b || (a.len().min(b.len()) >= 4 && damerau_levenshtein(a, b) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 12] = [
        "get_movie_list",
        "get_show_schedule",
        "get_seat_availability",
        "reserve_seats",
        "get_reservation_details",
        "calendar.create",
        "calendar.cancel",
        "search_products",
        "delete_task",
        "list_tasks",
        "update_task",
        "update_adr_status",
    ];

    #[test]
    fn finds_what_means_the_same() {
        for (given, meant) in [
            ("get_movie_lst", "get_movie_list"),
            ("getMovieList", "get_movie_list"),
            ("list_movies", "get_movie_list"),
            ("show_schedule", "get_show_schedule"),
            ("book_seats", "reserve_seats"),
            ("check_seats", "get_seat_availability"),
            ("get_reservation", "get_reservation_details"),
            ("create_calendar_event", "calendar.create"),
            ("delete_calendar_event", "calendar.cancel"),
            ("find_product", "search_products"),
            ("edit_task", "update_task"),
            ("remove_task", "delete_task"),
            ("set_adr_status", "update_adr_status"),
        ] {
            assert_eq!(nearest(given, NAMES), Some(meant), "{given}");
        }
    }

    #[test]
    fn offers_nothing_that_only_looks_similar() {
        let long = "get_movie_list".repeat(1_000);
        for given in [
            "get_theater_list",
            "get_weather",
            "delete_seats",
            "cancel_products",
            "search",
            "get",
            "",
            "映画",
            &long,
        ] {
            assert_eq!(nearest(given, NAMES), None, "{given}");
        }
    }
}
