//! What was measured, ratios within a round, and the goals.

use bench::{
    figures::{Goals, Table, median, number, spread},
    load::Outcome,
};

use crate::{reads::Company, turns::Way};

/// The outcomes of one kind of turn, one for each round.
pub struct Measured<K> {
    pub kind: K,
    pub rounds: Vec<Outcome>,
}

impl<K> Measured<K> {
    fn median(&self, value: impl Fn(&Outcome) -> f64) -> f64 {
        median(self.rounds.iter().map(value))
    }

    /// Its value as a multiple of another's, round by round.
    fn ratios(&self, to: &Self, value: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        let pairs = self.rounds.iter().zip(&to.rounds);
        pairs
            .map(|(own, other)| value(own) / value(other))
            .collect()
    }
}

fn bookings(outcome: &Outcome) -> f64 {
    outcome.done as f64 / outcome.elapsed.as_secs_f64()
}

fn p50(outcome: &Outcome) -> f64 {
    outcome.milliseconds(0.5)
}

fn p99(outcome: &Outcome) -> f64 {
    outcome.milliseconds(0.99)
}

/// How a booking was made, and by how many callers at once.
pub type BookingKind = (Way, usize);

pub fn of_bookings(measured: &[Measured<BookingKind>], goals: &mut Goals) {
    let mut table = Table::new(
        "through | callers | requests/s | bookings/s | of the bare loop | refused | p50 ms | p99 ms",
    );
    for turns in measured {
        let (way, callers) = turns.kind;
        let floor = measured
            .iter()
            .find(|other| other.kind == (Way::Bare, callers));
        let shares = floor.map_or(Vec::new(), |floor| turns.ratios(floor, bookings));
        let refused = turns.median(|outcome| outcome.refused as f64 / outcome.calls() as f64);
        table.row(&[
            way.name().to_owned(),
            callers.to_string(),
            number(turns.median(Outcome::per_second)),
            number(turns.median(bookings)),
            spread(&shares),
            format!("{:.0} %", refused * 100.0),
            number(turns.median(p50)),
            number(turns.median(p99)),
        ]);
        let (share, words, p99_limit) = match way {
            Way::Store => (0.5, "half", 10.0),
            Way::Http => (0.25, "a quarter", 15.0),
            Way::Bare | Way::FastMcp => continue,
        };
        let name = way.name();
        goals.add(
            &format!("{name} ({callers} at once): at least {words} of the bare loop"),
            spread(&shares),
            median(shares.iter().copied()) >= share,
        );
        if callers == 64 {
            let goal = format!("{name} ({callers} at once): p99 under {p99_limit} ms");
            goals.under_ms(&goal, turns.median(p99), p99_limit);
        }
    }
    table.print("Bookings of 4 seats on SQLite, durable when answered; medians");
}

/// Whether a read passes the whole program, and who else calls.
pub type ReadKind = (bool, Company);

pub fn of_reads(measured: &[Measured<ReadKind>], goals: &mut Goals) {
    let mut table =
        Table::new("read through | beside | reads/s | p50 ms | p99 ms | p99 of the quiet one");
    for turns in measured {
        let (over_http, company) = turns.kind;
        let way = if over_http { Way::Http } else { Way::Store };
        let quiet = measured
            .iter()
            .find(|other| other.kind == (over_http, Company::Alone));
        let ratios = quiet.map_or(Vec::new(), |quiet| turns.ratios(quiet, p99));
        table.row(&[
            way.name().to_owned(),
            company.name().to_owned(),
            number(turns.median(Outcome::per_second)),
            number(turns.median(p50)),
            number(turns.median(p99)),
            spread(&ratios),
        ]);
        if company == Company::Writers {
            goals.add(
                &format!(
                    "reads beside 16 writers, {}: p99 at most twice the quiet one",
                    way.name()
                ),
                spread(&ratios),
                median(ratios.iter().copied()) <= 2.0,
            );
        }
    }
    table.print("`get_seat_availability` by one reader; medians");
}
