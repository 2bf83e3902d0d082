//! Durations in words.

/// Minutes: `30`, `"３０"`, `"30分"`, `"1時間半"`, `"1h 30m"`, `"PT45M"`.
pub fn read_minutes(text: &str) -> Option<f64> {
    let text = kit::text::narrow(text).to_lowercase();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let text = text.strip_prefix("pt").unwrap_or(&text);
    let mut total = 0.0;
    let mut rest = text.trim();
    let mut units = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let after = after.trim_start();
        let (minutes, unit) = UNITS
            .iter()
            .find_map(|(unit, minutes)| after.starts_with(unit).then_some((*minutes, *unit)))?;
        total += number * minutes;
        units += 1;
        rest = after.get(unit.len()..)?.trim_start();
        if let Some(half) = rest.strip_prefix('半') {
            total += minutes / 2.0;
            rest = half.trim_start();
        }
    }
    (units > 0).then_some(total)
}

/// Longer spellings first.
const UNITS: [(&str, f64); 15] = [
    ("minutes", 1.0),
    ("minute", 1.0),
    ("mins", 1.0),
    ("min", 1.0),
    ("分間", 1.0),
    ("分", 1.0),
    ("hours", 60.0),
    ("hour", 60.0),
    ("hrs", 60.0),
    ("hr", 60.0),
    ("時間", 60.0),
    ("h", 60.0),
    ("days", 1440.0),
    ("日", 1440.0),
    ("m", 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_in_words() {
        for (text, minutes) in [
            ("30", 30.0),
            ("３０", 30.0),
            ("30分", 30.0),
            ("1時間", 60.0),
            ("1時間半", 90.0),
            ("1時間30分", 90.0),
            ("1h30m", 90.0),
            ("1h 30m", 90.0),
            ("PT45M", 45.0),
            ("90 min", 90.0),
            ("1.5 hours", 90.0),
        ] {
            assert_eq!(read_minutes(text), Some(minutes), "{text}");
        }
        for text in ["", "soon", "half", "30 parsecs", "NaN", "inf"] {
            assert_eq!(read_minutes(text), None, "{text}");
        }
    }
}
