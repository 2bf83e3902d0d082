//! Whether something grows that nobody needs.

use std::collections::BTreeSet;

use bench::figures::{Table, median, number, yes_or_no};

use crate::{
    client::World,
    samples::{self, HEAP, RESIDENT, Sample, THREADS},
};

const DAY_MS: f64 = 24.0 * 3_600_000.0;

/// What a series may do.
enum Rule {
    /// Stays, but for so much.
    Level(f64),
    /// What a day leaves behind for a day or two: more on a day with more calls.
    Daily(f64),
    /// So many for each thing of this kind, for so many days after it was made.
    Made {
        each: f64,
        what: &'static [&'static str],
        days: f64,
    },
    /// Shown, and judged by nobody: a file that is written over, or that keeps the
    /// room of rows which are gone.
    Shown,
}

fn kept(each: f64, what: &'static [&'static str]) -> Rule {
    let days = f64::INFINITY;
    Rule::Made { each, what, days }
}

fn for_days(days: f64, what: &'static [&'static str]) -> Rule {
    let each = 1.0;
    Rule::Made { each, what, days }
}

fn rule(series: &str) -> Rule {
    match series {
        RESIDENT | HEAP => Rule::Level(2.0),
        THREADS => Rule::Level(4.0),
        "rows, cinema_reservations" => kept(1.0, &["reservation", "hold"]),
        "rows, cinema_taken_seats" => kept(1.0, &["reservation", "hold"]),
        "rows, cinema_waiting" => for_days(10.0, &["waiting party"]),
        "rows, desk_keys" => kept(1.0, &["key"]),
        "rows, desk_approvals" => for_days(90.1, &["question"]),
        "rows, innervoice_events" => kept(1.0, &["event"]),
        "rows, innervoice_reminders" | "rows, innervoice_firings" => kept(1.0, &["reminder"]),
        "rows, innervoice_outbox" | "rows, innervoice_attempts" => {
            kept(1.0, &["message", "reminder"])
        }
        "rows, merchant_stock_changes" => kept(1.0, &["stock change"]),
        "files, project/.todo/adr" => kept(1.0, &["decision"]),
        "kB, project/.todo/adr" => kept(4.0, &["decision"]),
        // Nine days of the demo, and the week before, which has to pass once.
        "rows, cinema_shows" => Rule::Level(7.0 * 37.0),
        "rows, desk_writes" | "rows, desk_replies" | "rows, desk_redemptions" => Rule::Daily(20.0),
        "rows, merchant_carts" | "rows, merchant_reservations" => Rule::Daily(20.0),
        _ if series.starts_with("rows, ") => Rule::Level(20.0),
        // It is emptied now and then.
        "kB, data/rooms/rooms" => Rule::Shown,
        "kB, data/madoguchi.db" | "kB, data/madoguchi.db-shm" => Rule::Shown,
        "kB, data/madoguchi.db-wal" => Rule::Level(8192.0),
        _ if series.starts_with("kB, data/audit") => Rule::Daily(4096.0),
        _ if series.starts_with("files, data/audit") => Rule::Level(30.0),
        // A visitor who was interrupted leaves a room.
        "files, data/rooms/rooms" => Rule::Level(30.0),
        _ if series.starts_with("kB, ") => Rule::Level(512.0),
        _ => Rule::Level(10.0),
    }
}

/// The share by which days differ although the same is done on them.
const NOISE: f64 = 0.10;

struct Judged {
    first: f64,
    last: f64,
    explained: f64,
    allowed: f64,
}

/// Prints a line for each series. Returns whether nothing grows that should not.
pub fn report(world: &World, samples: &[Sample], days: usize) -> bool {
    let mut table = Table::new(
        "at rest | first quarter | last quarter | growth | explained by the work | no growth beyond it",
    );
    let names: BTreeSet<&String> = samples.iter().flat_map(|one| one.values.keys()).collect();
    let mut grown = Vec::new();
    let mut steady = 0;
    for name in names {
        let Some(judged) = judge(world, samples, days, name) else {
            continue;
        };
        let growth = judged.last - judged.first;
        let is_shown_only = matches!(rule(name), Rule::Shown);
        let fine = is_shown_only || growth <= judged.explained + judged.allowed;
        if fine && growth == 0.0 {
            steady += 1;
            continue;
        }
        if !fine {
            grown.push(name.clone());
        }
        table.row(&[
            name.clone(),
            number(judged.first),
            number(judged.last),
            signed(growth),
            if is_shown_only {
                "–".to_owned()
            } else {
                signed(judged.explained)
            },
            if is_shown_only {
                "–"
            } else {
                yes_or_no(fine)
            }
            .to_owned(),
        ]);
    }
    table.print("Growth");
    println!("\n{steady} more series did not change at all.");
    match grown.as_slice() {
        [] => println!("\nNothing grows that nobody needs."),
        _ => println!("\n**Grows without need:** {}.", grown.join("; ")),
    }
    grown.is_empty()
}

fn signed(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value))
}

fn judge(world: &World, samples: &[Sample], days: usize, name: &str) -> Option<Judged> {
    let (first, last) = quarters(samples, days, name);
    if first.is_empty() || last.is_empty() {
        return None;
    }
    let value = |one: &&Sample| one.values.get(name).copied().unwrap_or_default();
    let before = median(first.iter().map(value));
    let after = median(last.iter().map(value));
    // Days with more work may have more of everything.
    let work = |of: &[&Sample]| median(of.iter().map(|one| calls_of_day(samples, one)));
    let busier = (work(&last) / work(&first) - 1.0).max(0.0);
    let (explained, slack) = match rule(name) {
        Rule::Level(slack) => (0.0, slack),
        Rule::Daily(slack) => (before * busier, slack),
        Rule::Made { each, what, days } => {
            let made = |of: &[&Sample]| {
                let counts = of.iter().map(|one| {
                    let since = one.at_ms as f64 - days * DAY_MS;
                    let counts = what.iter().map(|what| {
                        let times = world.tally.times(what);
                        let in_time = |at: &&i64| **at <= one.at_ms && **at as f64 >= since;
                        times.iter().filter(in_time).count()
                    });
                    counts.sum::<usize>() as f64
                });
                median(counts)
            };
            (each * (made(&last) - made(&first)), 20.0)
        }
        Rule::Shown => (0.0, f64::INFINITY),
    };
    Some(Judged {
        first: before,
        last: after,
        explained,
        allowed: slack + NOISE * before,
    })
}

/// The samples at rest to compare. What belongs to a process is compared within the
/// longest life of one.
fn quarters<'a>(
    samples: &'a [Sample],
    days: usize,
    name: &str,
) -> (Vec<&'a Sample>, Vec<&'a Sample>) {
    let mut rests: Vec<&Sample> = samples.iter().filter(|one| one.is_rest).collect();
    let mut warm_up = (days / 6).max(1);
    if samples::is_of_process(name) {
        let lives: BTreeSet<usize> = rests.iter().map(|one| one.life).collect();
        let length = |life: &usize| rests.iter().filter(|one| one.life == *life).count();
        let longest = lives.into_iter().max_by_key(length).unwrap_or_default();
        rests.retain(|one| one.life == longest);
        warm_up = 1;
    }
    let rests = rests.get(warm_up..).unwrap_or_default();
    let quarter = (rests.len() / 4).max(1);
    let first = rests.iter().take(quarter).copied().collect();
    let last = rests.iter().rev().take(quarter).copied().collect();
    (first, last)
}

/// How many calls there were on the day of this sample.
fn calls_of_day(samples: &[Sample], of: &Sample) -> f64 {
    let rests = samples.iter().filter(|one| one.is_rest);
    let before = rests.filter(|one| one.day < of.day).map(|one| one.calls);
    (of.calls - before.max().unwrap_or_default()) as f64
}
