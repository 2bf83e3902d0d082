//! Repetition compared with an independent implementation.

use innervoice::model::{
    moment,
    repeat::{Rule, Start, Steps},
    repeat_words::{self, Repeat},
};
use jiff::{Timestamp, ToSpan, civil::DateTime};
use serde_json::{Value, json};

use crate::harness::{Place, clients};

const WORDS: &str = "daily | every day | weekdays | weekends | weekly | every monday | \
    mon wed fri | biweekly | every other day | every 3 days | \
    every 2 weeks on tuesday | monthly | every 2 months | quarterly | \
    last day of the month | first monday of every month | \
    last friday of the month | 15th of every month | monthly on the 30th | \
    yearly | hourly | every 5 hours | 毎日 | 平日 | 週末 | 毎週 | 毎週月水金 | 毎週土日 | \
    隔週 | 隔週火曜 | 隔日 | 3日ごと | 毎月 | 毎月末 | 毎月29日 | 毎月第2火曜 | 毎月最終日曜 | 隔月 | 毎年 | \
    6時間ごと";

const RULES: [&str; 20] = [
    "FREQ=DAILY;INTERVAL=10",
    "FREQ=DAILY;BYHOUR=8,20;BYMINUTE=0,30",
    "FREQ=DAILY;BYDAY=MO,TU;BYMONTH=1,3,11",
    "FREQ=DAILY;BYMONTHDAY=1,15,-1",
    "FREQ=DAILY;COUNT=17",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,SU",
    "FREQ=WEEKLY;INTERVAL=3;BYDAY=SA,SU",
    "FREQ=WEEKLY;BYDAY=FR;BYMONTH=6,7",
    "FREQ=MONTHLY",
    "FREQ=MONTHLY;BYMONTHDAY=31",
    "FREQ=MONTHLY;BYMONTHDAY=-3",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    "FREQ=MONTHLY;INTERVAL=2;BYDAY=2SU,-1MO",
    "FREQ=YEARLY;BYMONTH=3,11;BYDAY=2SU",
    "FREQ=YEARLY;BYDAY=20MO",
    "FREQ=YEARLY;BYMONTHDAY=13;BYDAY=FR",
    "FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T000000Z",
    "FREQ=MONTHLY;BYDAY=MO,TU;BYHOUR=0,1,23;BYMINUTE=5,59;BYSETPOS=1,-1,9;COUNT=30",
    "FREQ=YEARLY;BYDAY=1MO,-1FR,53FR;BYHOUR=3,4;BYSETPOS=-1,2,5",
];

/// Difficult starts: an hour that is skipped or repeated, long and short months, a
/// leap day.
const STARTS: [(&str, &str); 6] = [
    ("Asia/Tokyo", "2026-12-31T23:45:00"),
    ("America/New_York", "2026-10-31T01:30:00"),
    ("America/New_York", "2027-01-30T02:30:00"),
    ("Europe/Paris", "2028-02-29T02:30:00"),
    ("Australia/Lord_Howe", "2026-08-29T02:15:00"),
    ("America/Sao_Paulo", "2026-11-02T00:00:00"),
];

fn case(words: &str, zone: &str, start: &str) -> Value {
    let local: DateTime = start.parse().unwrap();
    let rule = match repeat_words::read(
        words,
        local,
        &local.to_zoned(kit::time::zone(zone).unwrap()).unwrap(),
    ) {
        Ok(Some(Repeat::Rule(rule))) => rule,
        other => panic!("{words}: {other:?}"),
    };
    let tz = kit::time::zone(zone).unwrap();
    let until = local.checked_add(1.year().days(40)).unwrap();
    let begin = Start {
        local,
        zone: tz.clone(),
    };
    let just_before = moment::instant(local, &tz).unwrap() - jiff::SignedDuration::from_secs(1);
    let last = moment::instant(until, &tz).unwrap();
    let times: Vec<String> = Rule::parse(&rule)
        .unwrap()
        .next_times(&begin, just_before, 20_000, &Steps::new(1_000_000))
        .unwrap()
        .into_iter()
        .take_while(|at| *at <= last)
        .map(|at: Timestamp| at.to_string())
        .collect();
    json!({
        "words": words, "rule": rule, "start": start, "zone": zone,
        "until": until.to_string(), "times": times,
    })
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_year_of_every_form_is_what_dateutil_says() {
    let mut cases = Vec::new();
    for (zone, start) in STARTS {
        for words in WORDS.split(" | ").chain(RULES) {
            // dateutil compares UNTIL with civil times, so other zones differ.
            if !words.contains("UNTIL") || zone == "Asia/Tokyo" {
                cases.push(case(words, zone, start));
            }
        }
    }
    let (place, cases) = (Place::new(), Value::from(cases).to_string());
    clients::python_reading(&place, "repeats.py", cases)
        .await
        .ok();
}
