//! What holds for every text and every rule, not only for those we thought of.

use jiff::{SignedDuration, Timestamp, civil::DateTime};
use kit::Language;
use proptest::prelude::*;

use super::{
    address, duration,
    exceptions::Exceptions,
    ics::{self, IcsEvent},
    moment::{self, Here},
    repeat::{Rule, Start, Steps},
    repeat_words, romaji, spoken, vcard,
};

fn times(rule: &Rule, start: &Start, after: Timestamp, count: usize) -> Vec<Timestamp> {
    let steps = Steps::new(1_000_000);
    rule.next_times(start, after, count, &steps).unwrap()
}

fn now() -> jiff::Zoned {
    "2026-12-31T23:30[Asia/Tokyo]".parse().unwrap()
}

fn zones() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Asia/Tokyo",
        "America/New_York",
        "Europe/Paris",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "America/St_Johns",
        "UTC",
    ])
}

fn locals() -> impl Strategy<Value = DateTime> {
    (2020_i16..2060, 1_i8..=12, 1_i8..=31, 0_i8..24, 0_i8..60)
        .prop_filter_map("a day that exists", |(year, month, day, hour, minute)| {
            DateTime::new(year, month, day, hour, minute, 0, 0).ok()
        })
}

fn rules() -> impl Strategy<Value = String> {
    let freq = prop::sample::select(vec!["HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]);
    let parts = prop::sample::subsequence(
        vec![
            "INTERVAL=2",
            "BYDAY=MO,SU",
            "BYMONTH=2,10",
            "BYMONTHDAY=1,29,-1",
            "BYHOUR=1,2,3",
            "BYMINUTE=30",
            "BYSETPOS=1,-1",
            "COUNT=40",
            "WKST=SU",
        ],
        0..5,
    );
    (freq, parts).prop_map(|(freq, parts)| format!("FREQ={freq};{}", parts.join(";")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// An agent passes on what it was told.
    #[test]
    fn times_are_read_back_as_they_are_said(zone in zones(), local in locals()) {
        let home = kit::time::zone("Asia/Tokyo").unwrap();
        let zone = kit::time::zone(zone).unwrap();
        let now = "2026-06-15T12:00:00+09:00".parse().unwrap();
        let here = Here { zone: home.clone(), now, day: None };
        let at = moment::instant(local, &zone).unwrap();
        for language in [Language::English, Language::Japanese] {
            let said = spoken::time(at, &zone, &home, now, language);
            let read = here.moment(&said);
            let read = read.map_err(|why| TestCaseError::fail(format!("{said}: {why:?}")))?;
            prop_assert_eq!(read.zoned().datetime(), at.to_zoned(zone.clone()).datetime(), "{}", said);
        }
        let in_full = spoken::in_full(at, &zone);
        prop_assert_eq!(here.moment(&in_full).unwrap().at, at, "{}", in_full);
    }

    #[test]
    fn times_rise_from_the_start_on_and_do_not_depend_on_where_one_looks(
        zone in zones(), local in locals(), rule in rules()
    ) {
        // Parts that exclude each other are refused, which is tested elsewhere.
        let Ok(rule) = Rule::parse(&rule) else { return Ok(()) };
        let zone = kit::time::zone(zone).unwrap();
        let start = Start { local, zone: zone.clone() };
        let first = moment::instant(local, &zone).unwrap();
        let found = times(&rule, &start, first - SignedDuration::from_secs(1), 30);
        for pair in found.windows(2) {
            prop_assert!(pair[0] < pair[1]);
            prop_assert_eq!(times(&rule, &start, pair[0], 1), [pair[1]]);
        }
        prop_assert!(found.first().is_none_or(|at| *at >= first));
    }

    #[test]
    fn no_day_is_left_out_of_every_day(zone in zones(), local in locals()) {
        let zone = kit::time::zone(zone).unwrap();
        let start = Start { local, zone: zone.clone() };
        let rule = Rule::parse("FREQ=DAILY").unwrap();
        let first = moment::instant(local, &zone).unwrap();
        let days: Vec<_> = times(&rule, &start, first - SignedDuration::from_secs(1), 400)
            .into_iter()
            .map(|at| at.to_zoned(zone.clone()).date())
            .collect();
        prop_assert_eq!(days.len(), 400);
        for pair in days.windows(2) {
            prop_assert_eq!(pair[0].tomorrow().unwrap(), pair[1]);
        }
    }

    #[test]
    fn monthly_in_words_comes_every_month(zone in zones(), local in locals()) {
        let zone = kit::time::zone(zone).unwrap();
        for text in ["monthly", "毎月"] {
            let Ok(Some(repeat_words::Repeat::Rule(rule))) = repeat_words::read(text, local, &now()) else {
                panic!("{text}")
            };
            let rule = Rule::parse(&rule).unwrap();
            let start = Start { local, zone: zone.clone() };
            let first = moment::instant(local, &zone).unwrap();
            let months: Vec<_> = times(&rule, &start, first - SignedDuration::from_secs(1), 24)
                .into_iter()
                .map(|at| at.to_zoned(zone.clone()).date().first_of_month())
                .collect();
            prop_assert_eq!(months.len(), 24);
            for pair in months.windows(2) {
                let next = pair[0].checked_add(jiff::Span::new().months(1)).unwrap();
                prop_assert_eq!(next, pair[1]);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", lines in "(?s).{0,200}") {
        let here = Here {
            zone: kit::time::zone("Asia/Tokyo").unwrap(),
            now: now().timestamp(),
            day: None,
        };
        let _ = here.moment(&text);
        let _ = here.bound(&text, true);
        let _ = here.day_or_time(&format!("{}年{text}", text.len()));
        let _ = duration::read_minutes(&text);
        let _ = repeat_words::read(&text, "2026-12-31T08:00".parse().unwrap(), &now());
        let _ = romaji::reading(&text);
        let _ = Rule::parse(&text);
        let _ = address::email(&text);
        let _ = address::phone(&text, "81");
        let card = format!("BEGIN:VCARD\n{lines}\nEND:VCARD\n");
        let _ = vcard::read(&card, "81");
    }

    #[test]
    fn whatever_a_title_says_the_file_keeps_its_shape(title in "(?s).{0,200}") {
        let zone = kit::time::zone("America/New_York").unwrap();
        let at: Timestamp = "2026-11-01T05:30:00Z".parse().unwrap();
        let file = ics::calendar("x", &[IcsEvent {
            id: "evt_1",
            title: &title,
            description: &title,
            location: &title,
            starts_at: at,
            ends_at: at,
            zone: &zone,
            sequence: 0,
            is_cancelled: false,
            created_at: at,
            updated_at: at,
            rule: None,
            all_day: false,
            exceptions: &Exceptions::default(),
        }]);
        for line in file.split("\r\n") {
            prop_assert!(line.len() <= 75);
            prop_assert!(!line.contains(['\r', '\n']));
        }
        let unfolded = file.replace("\r\n ", "");
        let begins = unfolded.split("\r\n").filter(|line| line.starts_with("BEGIN:VEVENT"));
        prop_assert_eq!(begins.count(), 1);
    }
}
