//! How soon the program is ready on data that is there already, and what it holds then:
//! each counter on stdio, and the desk with all of them.

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Result, ensure};

use crate::{
    contestants::Contestant,
    figures::{Goals, Table, median, megabytes, milliseconds, number},
    places::Places,
    server::Server,
    stdio::{self, GOAL_MB, GOAL_MS},
};

const COUNTERS: [&str; 5] = ["cinema", "innervoice", "merchant", "todo", "rooms"];
const DESK_GOAL_MS: f64 = 40.0;
const DESK_GOAL_MB: f64 = 30.0;
/// After its start the desk reads and tidies up; then it is idle.
const UNTIL_IDLE: Duration = Duration::from_secs(10);

pub async fn measure(places: &Places, starts: usize) -> Result<()> {
    ensure!(starts > 0, "at least one start");
    let data = places.fresh()?;
    // Makes the tables and the demo data.
    serve(places, data.path()).await?.stop()?;
    let mut table = Table::new("the program | start to first answer, ms | memory | of it its own");
    let mut goals = Goals::default();

    for counter in COUNTERS {
        let mut measured = Vec::new();
        for start in 0..=starts {
            let command = on_stdio(places, counter, data.path());
            let first = stdio::first_answer(command)?;
            // The very first brings the files into memory.
            if start > 0 {
                measured.push(first);
            }
        }
        let of = |value: fn(&stdio::Start) -> f64| median(measured.iter().map(value));
        let (time, memory) = (of(|one| one.milliseconds), of(|one| one.resident));
        table.row(&[
            format!("`stdio {counter}`"),
            number(time),
            megabytes(memory),
            megabytes(of(|one| one.anonymous)),
        ]);
        goals.under_ms(
            &format!("`stdio {counter}` under {GOAL_MS} ms"),
            time,
            GOAL_MS,
        );
        let met = memory / 1024.0 < GOAL_MB;
        let goal = format!("`stdio {counter}` under {GOAL_MB} MB");
        goals.add(&goal, megabytes(memory), met);
    }

    let mut times = Vec::new();
    for _ in 0..starts {
        let desk = serve(places, data.path()).await?;
        times.push(milliseconds(desk.start));
        desk.stop()?;
    }
    let desk = serve(places, data.path()).await?;
    tokio::time::sleep(UNTIL_IDLE).await;
    let (time, memory) = (median(times), desk.memory()?);
    table.row(&[
        "`serve`, all counters; memory when idle".to_owned(),
        number(time),
        megabytes(memory.resident as f64),
        megabytes(memory.anonymous as f64),
    ]);
    desk.stop()?;
    table.print(&format!("Start and memory, medians of {starts} starts"));
    goals.under_ms(
        &format!("`serve` under {DESK_GOAL_MS} ms"),
        time,
        DESK_GOAL_MS,
    );
    let met = memory.resident as f64 / 1024.0 < DESK_GOAL_MB;
    let goal = format!("`serve` idle under {DESK_GOAL_MB} MB");
    goals.add(&goal, megabytes(memory.resident as f64), met);
    goals.print();
    Ok(())
}

async fn serve(places: &Places, data: &Path) -> Result<Server> {
    Server::start_on(Contestant::Madoguchi, places, data, None).await
}

fn on_stdio(places: &Places, counter: &str, data: &Path) -> Command {
    let mut command = Command::new(&places.madoguchi);
    command
        .args(["stdio", counter, "--data"])
        .arg(data)
        // Todo keeps a project where it is started.
        .current_dir(data);
    command
}
