//! The rows, one file for each kind.

pub mod caldav;
pub mod contacts;
pub mod events;
pub mod outbox;
pub mod reminders;

/// A folded text for `LIKE`, with its own wildcards taken literally.
pub fn containing(folded: &str) -> String {
    let mut pattern = String::with_capacity(folded.len() + 2);
    pattern.push('%');
    for letter in folded.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
