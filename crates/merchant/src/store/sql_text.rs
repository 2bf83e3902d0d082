//! Parts of statements with many values.

/// Rows of one `INSERT`: far fewer than either engine allows.
pub const ROWS_PER_INSERT: usize = 200;
/// Values of one `IN (…)`.
pub const VALUES_PER_LIST: usize = 500;

/// `$first, $first+1, …` for a list of `count` values.
pub fn placeholders(first: usize, count: usize) -> String {
    let numbers: Vec<String> = (first..first + count).map(|n| format!("${n}")).collect();
    numbers.join(", ")
}
