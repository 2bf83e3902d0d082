//! Medians, and tables in Markdown.

use std::{fmt::Write as _, time::Duration};

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// Takes the heads of the columns, with ` | ` between them. The first column
    /// holds names, the others figures.
    pub fn new(columns: &str) -> Self {
        let columns: Vec<&str> = columns.split(" | ").collect();
        let mut table = Self {
            columns: columns.len(),
            text: String::new(),
        };
        table.row(&columns);
        table.text.push_str("|---|");
        table
            .text
            .push_str(&"---:|".repeat(columns.len().saturating_sub(1)));
        table.text.push('\n');
        table
    }

    pub fn row<S: AsRef<str>>(&mut self, cells: &[S]) {
        debug_assert_eq!(cells.len(), self.columns);
        self.text.push('|');
        for cell in cells {
            let _ = write!(self.text, " {} |", cell.as_ref());
        }
        self.text.push('\n');
    }

    pub fn print(&self, title: &str) {
        println!("\n### {title}\n\n{}", self.text.trim_end());
    }
}

/// What the project promises, and whether this run kept it.
pub struct Goals(Table);

impl Default for Goals {
    fn default() -> Self {
        Self(Table::new("goal | here | met"))
    }
}

impl Goals {
    pub fn add(&mut self, goal: &str, here: String, met: bool) {
        self.0.row(&[goal, &here, yes_or_no(met)]);
    }

    /// A time that is to stay under a limit, both in milliseconds.
    pub fn under_ms(&mut self, goal: &str, here: f64, limit: f64) {
        self.add(goal, format!("{} ms", number(here)), here < limit);
    }

    pub fn print(&self) {
        self.0.print("Goals");
    }
}

pub fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

/// Three digits that mean something.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let decimals = match value.abs() {
        size if size < 0.1 => 4,
        size if size < 1.0 => 3,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    thousands(&format!("{value:.decimals$}"))
}

fn thousands(text: &str) -> String {
    if let Some(positive) = text.strip_prefix('-') {
        return format!("-{}", thousands(positive));
    }
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if !rest.is_empty() {
        grouped.push('.');
        grouped.push_str(rest);
    }
    grouped
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub fn times(ratio: f64) -> String {
    format!("{} ×", number(ratio))
}

/// The median of ratios, and how far the rounds lie apart.
pub fn spread(ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median = times(median(ratios.iter().copied()));
    format!("{median} ({} to {})", number(least), number(most))
}

pub fn megabytes(kilobytes: f64) -> String {
    format!("{} MB", number(kilobytes / 1024.0))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn thousands_are_set_apart() {
        for (value, text) in [
            (-177.0, "-177"),
            (-1234.0, "-1,234"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
