//! Repetition: an RFC 5545 rule, expanded in civil time and then resolved with
//! the zone, so that "7:00 every day" stays 7:00 when clocks change.
//!
//! A time that clocks skip comes an hour later that day; one that they repeat
//! comes once. `repeat_words` turns what people say into such rules.

mod expand;
mod parse;
mod rule;
mod say;
mod steps;

pub use rule::{Rule, Start, moved};
pub use say::say;
pub use steps::{Steps, TooCostly};

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::moment;

    /// More steps than any of these rules takes.
    const PLENTY: u32 = 1_000_000;

    fn times(rule: &Rule, start: &Start, after: Timestamp, count: usize) -> Vec<Timestamp> {
        let steps = Steps::new(PLENTY);
        rule.next_times(start, after, count, &steps).unwrap()
    }

    fn firings(zone: &str, start: &str, rule: &str, count: usize) -> Vec<String> {
        let zone = kit::time::zone(zone).unwrap();
        let start = Start {
            local: start.parse().unwrap(),
            zone: zone.clone(),
        };
        let before =
            moment::instant(start.local, &zone).unwrap() - jiff::SignedDuration::from_secs(1);
        let rule = Rule::parse(rule).unwrap();
        times(&rule, &start, before, count)
            .into_iter()
            .map(|at| moment::rfc3339(at, &zone))
            .collect()
    }

    #[test]
    fn a_skipped_hour_fires_and_a_repeated_one_fires_once() {
        let spring = firings("America/New_York", "2026-03-07T02:30", "FREQ=DAILY", 3);
        assert_eq!(
            spring,
            [
                "2026-03-07T02:30:00-05:00",
                "2026-03-08T03:30:00-04:00",
                "2026-03-09T02:30:00-04:00"
            ]
        );
        let autumn = firings("America/New_York", "2026-10-31T01:30", "FREQ=DAILY", 3);
        assert_eq!(
            autumn,
            [
                "2026-10-31T01:30:00-04:00",
                "2026-11-01T01:30:00-04:00",
                "2026-11-02T01:30:00-05:00"
            ]
        );
        let both = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30";
        let both = firings("America/New_York", "2026-03-08T00:00", both, 2);
        assert_eq!(
            both,
            ["2026-03-08T03:30:00-04:00", "2026-03-09T02:30:00-04:00"]
        );
    }

    #[test]
    fn hours_are_real_hours() {
        let autumn = firings("America/New_York", "2026-11-01T00:30", "FREQ=HOURLY", 4);
        assert_eq!(
            autumn,
            [
                "2026-11-01T00:30:00-04:00",
                "2026-11-01T01:30:00-04:00",
                "2026-11-01T01:30:00-05:00",
                "2026-11-01T02:30:00-05:00"
            ]
        );
    }

    #[test]
    fn rules_skip_days_that_a_month_lacks() {
        let monthly = firings("Asia/Tokyo", "2026-01-31T08:00", "FREQ=MONTHLY", 3);
        assert_eq!(monthly[1], "2026-03-31T08:00:00+09:00");
        assert_eq!(monthly[2], "2026-05-31T08:00:00+09:00");
        let leap = firings("Asia/Tokyo", "2028-02-29T08:00", "FREQ=YEARLY", 2);
        assert_eq!(leap[1], "2032-02-29T08:00:00+09:00");
    }

    #[test]
    fn ends_are_kept() {
        let three = firings("Asia/Tokyo", "2026-01-01T08:00", "FREQ=DAILY;COUNT=3", 9);
        assert_eq!(three.len(), 3);
        for until in ["20260103", "20260103T080000", "20260102T230000Z"] {
            let rule = format!("FREQ=DAILY;UNTIL={until}");
            let until = firings("Asia/Tokyo", "2026-01-01T08:00", &rule, 9);
            assert_eq!(until.len(), 3, "{rule}");
        }
        // COUNT counts from the start, not from `after`.
        let zone = kit::time::zone("Asia/Tokyo").unwrap();
        let start = Start {
            local: "2026-01-01T08:00".parse().unwrap(),
            zone,
        };
        let rule = Rule::parse("FREQ=DAILY;COUNT=3").unwrap();
        let later = "2026-01-02T12:00:00+09:00".parse().unwrap();
        assert_eq!(times(&rule, &start, later, 9).len(), 1);
    }

    #[test]
    fn a_rule_that_never_comes_true_ends() {
        let never = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30";
        assert!(firings("Asia/Tokyo", "2026-01-01T08:00", never, 1).is_empty());
        let never = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30";
        assert!(firings("Asia/Tokyo", "2026-01-01T08:00", never, 1).is_empty());
    }

    #[test]
    fn looking_from_later_finds_the_same_times() {
        for rule in [
            "FREQ=DAILY;INTERVAL=3",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,SU",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU",
            "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1",
            "FREQ=MONTHLY;BYDAY=1MO,-1FR",
            "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
            "FREQ=HOURLY;INTERVAL=7",
        ] {
            let zone = kit::time::zone("America/New_York").unwrap();
            let start = Start {
                local: "2025-12-30T23:15".parse().unwrap(),
                zone: zone.clone(),
            };
            let rule = Rule::parse(rule).unwrap();
            let from = moment::instant(start.local, &zone).unwrap();
            let all = times(&rule, &start, from, 60);
            let next = |after| times(&rule, &start, after, 1).pop();
            for pair in all.windows(2) {
                assert_eq!(next(pair[0]), Some(pair[1]), "{rule:?}");
                let just_before = pair[1] - jiff::SignedDuration::from_millis(1);
                assert_eq!(next(just_before), Some(pair[1]), "{rule:?}");
            }
        }
    }

    /// The steps that the next three times after `after` take, and those times.
    fn steps(start: &str, rule: &str, after: &str) -> (u32, Vec<Timestamp>) {
        let zone = kit::time::zone("Asia/Tokyo").unwrap();
        let start = Start {
            local: start.parse().unwrap(),
            zone,
        };
        let rule = Rule::parse(rule).unwrap();
        let steps = Steps::new(PLENTY);
        let found = rule.next_times(&start, after.parse().unwrap(), 3, &steps);
        (PLENTY - steps.left(), found.unwrap())
    }

    /// A rule may name every minute of a year; they are not all computed.
    #[test]
    fn a_rule_costs_the_days_it_looks_at_and_the_times_it_finds() {
        let all = |until: i32| {
            let numbers: Vec<String> = (0..until).map(|number| number.to_string()).collect();
            numbers.join(",")
        };
        let times = format!("BYHOUR={};BYMINUTE={}", all(24), all(60));
        let days = "BYDAY=MO,TU,WE,TH,FR,SA,SU";
        let numbered: Vec<String> = (1..=50).map(|number| format!("{number}MO")).collect();
        for (rule, most) in [
            (
                format!("FREQ=YEARLY;{days};{times};BYSETPOS=1;COUNT=9999"),
                5 * 366,
            ),
            (format!("FREQ=YEARLY;{days};{times}"), 4 * 366 + 3_000),
            (format!("FREQ=YEARLY;{days};{times};BYSETPOS=-1"), 5 * 366),
            // Clocks may have been set, so the times of two days are examined.
            (format!("FREQ=DAILY;{times};COUNT=10000"), 3_000),
            (format!("FREQ=YEARLY;BYDAY={}", numbered.join(",")), 5 * 366),
            (
                format!("FREQ=MONTHLY;BYDAY={}", ["MO"; 100].join(",")),
                5 * 31,
            ),
            ("FREQ=HOURLY;COUNT=10000".to_owned(), 10),
        ] {
            let (taken, found) = steps("2026-01-01T08:00", &rule, "2026-01-03T00:00:00Z");
            assert_eq!(found.len(), 3, "{rule}");
            assert!(taken <= most, "{taken} steps for {rule}");
        }
        // Far into a series, times are counted without being computed.
        let (taken, _) = steps(
            "2026-01-01T08:00",
            "FREQ=HOURLY;COUNT=10000",
            "2027-01-01T00:00:00Z",
        );
        assert!(taken <= 10, "{taken}");
    }

    #[test]
    fn an_expansion_ends_when_its_steps_run_out() {
        let zone = kit::time::zone("Asia/Tokyo").unwrap();
        let start = Start {
            local: "2026-01-01T08:00".parse().unwrap(),
            zone,
        };
        let after = "2025-12-31T00:00:00Z".parse().unwrap();
        let rule = Rule::parse("FREQ=WEEKLY;BYDAY=TH").unwrap();
        let few = Steps::new(30);
        let cut = rule.next_times(&start, after, 100, &few).unwrap_err();
        assert_eq!(cut.found.len(), 3);
        assert_eq!((few.left(), few.ran_out()), (0, true));
        // Then no steps are left for another rule.
        let none = rule.next_times(&start, after, 1, &few).unwrap_err();
        assert_eq!(none.found, []);
        // No error if enough times were found before the steps ran out.
        let enough = Steps::new(30);
        assert_eq!(rule.next_times(&start, after, 3, &enough).unwrap().len(), 3);
    }
}
