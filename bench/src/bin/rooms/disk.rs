//! What the disk can do by itself: a short line appended, and on the disk.

use std::{
    fs::File,
    io::Write as _,
    time::{Duration, Instant},
};

use anyhow::Result;
use bench::{
    load::{Limit, Numbers, Outcome},
    places::Places,
    wire::Verdict,
};

pub const LINE: usize = 200;

pub fn take_turn(places: &Places, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    let mut file = File::create(directory.path().join("probe"))?;
    let line = [b'x'; LINE];
    let numbers = Numbers::new(Limit::time(time));
    let mut outcome = Outcome::default();
    while numbers.next().is_some() {
        let started = Instant::now();
        file.write_all(&line)?;
        file.sync_data()?;
        outcome.add(Verdict::Done, started.elapsed());
    }
    Ok(Outcome::merge(vec![outcome], numbers.elapsed()))
}
