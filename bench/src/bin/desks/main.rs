//! Several desks on one PostgreSQL beside one desk on SQLite: calls per second and
//! latency, and how soon an agent at one desk hears what was said at another.

mod cinema;
mod postgres;
mod turns;
mod waking;

use anyhow::Result;
use bench::{
    figures::{Goals, Table, median, number, spread},
    load::Outcome,
    options::Turns,
    process::{load_average, print_load},
};
use clap::Parser;

use cinema::Call;
use postgres::Postgres;
use turns::Installation;

const CALLERS: [usize; 2] = [16, 64];
const CALLS: [Call; 2] = [Call::Book, Call::ReadSeats];
/// In the order in which they have their turns.
const INSTALLATIONS: [Installation; 4] = [
    Installation::Sqlite,
    Installation::Postgres { desks: 1 },
    Installation::Postgres { desks: 2 },
    Installation::Postgres { desks: 4 },
];
const GOAL_WAKE_MS: f64 = 20.0;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: Turns,
    /// The folder of PostgreSQL's programs
    #[arg(long)]
    postgres: std::path::PathBuf,
}

/// The outcomes of one kind of turn, one for each round.
struct Measured {
    call: Call,
    callers: usize,
    installation: Installation,
    rounds: Vec<Outcome>,
}

impl Measured {
    fn median(&self, value: impl Fn(&Outcome) -> f64) -> f64 {
        median(self.rounds.iter().map(value))
    }

    /// Its calls per second as a multiple of another's, round by round.
    fn ratios(&self, to: &Self) -> Vec<f64> {
        let pairs = self.rounds.iter().zip(&to.rounds);
        pairs
            .map(|(own, other)| own.per_second() / other.per_second())
            .collect()
    }
}

fn main() -> Result<()> {
    let Cli { turns, postgres } = Cli::parse();
    let (places, time) = (turns.places()?, turns.time());
    let load = load_average()?;
    let postgres = Postgres::start(&postgres, &places.logs)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut measured = Vec::new();
    for call in CALLS {
        for callers in CALLERS {
            measured.extend(INSTALLATIONS.map(|installation| Measured {
                call,
                callers,
                installation,
                rounds: Vec::new(),
            }));
        }
    }
    for round in 0..turns.rounds {
        for one in &mut measured {
            let turn = turns::take(
                &places,
                &postgres,
                one.installation,
                one.call,
                one.callers,
                time,
            );
            one.rounds.push(runtime.block_on(turn)?);
        }
        eprintln!("round {} of {}", round + 1, turns.rounds);
    }
    report(&measured);
    match runtime.block_on(waking::measure(&places, &postgres))? {
        Some(woken) => {
            let (p50, p99) = (woken.milliseconds(0.5), woken.milliseconds(0.99));
            println!(
                "\nA message at one desk reaches `wait_for_messages` at another: p50 {} ms, p99 {} ms, {} times.",
                number(p50),
                number(p99),
                woken.done
            );
            let mut goals = Goals::default();
            goals.under_ms("waking across desks: p99 under 20 ms", p99, GOAL_WAKE_MS);
            goals.print();
        }
        None => println!("\nRooms are not in the database: waking across desks is not measured."),
    }
    print_load(&load)
}

fn report(measured: &[Measured]) {
    let mut table = Table::new(
        "call | callers | served by | calls/s | of one desk on SQLite | p50 ms | p99 ms",
    );
    for one in measured {
        let same = |other: &&Measured| other.call == one.call && other.callers == one.callers;
        let embedded = measured
            .iter()
            .filter(same)
            .find(|other| other.installation == Installation::Sqlite);
        let ratios = embedded.map_or(Vec::new(), |embedded| one.ratios(embedded));
        table.row(&[
            one.call.tool().to_owned(),
            one.callers.to_string(),
            one.installation.name(),
            number(one.median(Outcome::per_second)),
            spread(&ratios),
            number(one.median(|outcome| outcome.milliseconds(0.5))),
            number(one.median(|outcome| outcome.milliseconds(0.99))),
        ]);
    }
    table.print("Desks on one PostgreSQL; medians");
}
