//! What `--version` says. `build.rs` compiles this file too.

/// The version number, followed by the commit and its day as far as they are known.
pub fn version(number: &str, commit: Option<&str>, day: Option<&str>) -> String {
    let known: Vec<&str> = [commit, day].into_iter().flatten().collect();
    if known.is_empty() {
        number.to_owned()
    } else {
        format!("{number} ({})", known.join(" "))
    }
}

/// The UTC day of a Unix time, such as `2026-11-16`.
pub fn day(seconds: i64) -> String {
    // Years that begin in March: the leap day is the last one of its year, and the
    // lengths of the months before it follow one formula.
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_named() {
        let day = Some("2026-11-16");
        assert_eq!(
            version("0.1.0", Some("bdfa419"), day),
            "0.1.0 (bdfa419 2026-11-16)"
        );
        assert_eq!(version("0.1.0", None, day), "0.1.0 (2026-11-16)");
        assert_eq!(version("0.1.0", None, None), "0.1.0");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_794_786_429, "2026-11-15"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(seconds), expected);
            let time = jiff::Timestamp::from_second(seconds).unwrap();
            assert_eq!(time.strftime("%Y-%m-%d").to_string(), expected);
        }
    }
}
