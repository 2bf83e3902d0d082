//! One turn of bookings. Each has a database of its own, in which the confirmed
//! bookings are counted afterwards.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Result, anyhow, ensure};
use bench::{
    load::{self, Numbers, Outcome},
    places::Places,
};
use tokio::runtime;

use crate::{
    bare::BareLoop,
    cinema_on_disk::{self, CinemaOnDisk},
    in_process,
    servers::BookingServer,
    workload::Workload,
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Bare,
    Store,
    Http,
    FastMcp,
}

/// In the order in which they have their turns.
pub const WAYS: [Way; 4] = [Way::Bare, Way::Store, Way::Http, Way::FastMcp];

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "a bare SQLite loop",
            Self::Store => "the store, in process",
            Self::Http => "madoguchi serve, over HTTP",
            Self::FastMcp => "FastMCP 4.1.4 and SQLite, over HTTP",
        }
    }

    fn is_in_process(self) -> bool {
        matches!(self, Self::Bare | Self::Store)
    }
}

pub fn take(places: &Places, way: Way, callers: usize, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    let data = directory.path();
    runtime(way.is_in_process())?.block_on(async {
        let cinema = CinemaOnDisk::create(data).await?;
        let workload = Arc::new(Workload::plan(&cinema).await?);
        if way.is_in_process() {
            cinema.add_desk_tables().await?;
        }
        // Every way starts from a closed file, without the log of what was loaded.
        cinema.close().await?;
        let cinema = CinemaOnDisk::open(data).await?;
        let outcome = match way {
            Way::Store => {
                let counter = Arc::clone(&cinema.counter);
                let numbers = Numbers::new(workload.limit(time));
                in_process::call(callers, numbers, move |number| {
                    in_process::book(Arc::clone(&counter), Arc::clone(&workload), number)
                })
                .await?
            }
            Way::Bare => {
                cinema.close().await?;
                bare(data, workload, callers, time).await?
            }
            Way::Http | Way::FastMcp => {
                cinema.close().await?;
                let server = match way {
                    Way::FastMcp => BookingServer::fastmcp(places, data).await?,
                    _ => BookingServer::madoguchi(places, data).await?,
                };
                let (target, limit) = (server.target("reserve_seats"), workload.limit(time));
                let outcome = load::run(&target, &workload, callers, limit).await?;
                server.stop()?;
                outcome
            }
        };
        if way == Way::Store {
            cinema.close().await?;
        }
        verify(data, &outcome).await?;
        Ok(outcome)
    })
}

/// In-process callers use all cores. The load generator of a server stays on one,
/// whatever the server takes.
pub fn runtime(in_process: bool) -> Result<runtime::Runtime> {
    let mut builder = match in_process {
        true => runtime::Builder::new_multi_thread(),
        false => runtime::Builder::new_current_thread(),
    };
    Ok(builder.enable_all().build()?)
}

async fn bare(
    data: &Path,
    workload: Arc<Workload>,
    callers: usize,
    time: Duration,
) -> Result<Outcome> {
    let (bare, thread) = BareLoop::open(&cinema_on_disk::file(data))?;
    let numbers = Numbers::new(workload.limit(time));
    let outcome = in_process::call(callers, numbers, move |number| {
        in_process::book_bare(bare.clone(), Arc::clone(&workload), number)
    })
    .await;
    // Why the loop ended says more than that its callers were left alone.
    let ended = thread.join().map_err(|_| anyhow!("the bare loop panicked"));
    ended??;
    outcome
}

/// What was promised is there: as many reservations as were confirmed.
pub async fn verify(data: &Path, outcome: &Outcome) -> Result<()> {
    let cinema = CinemaOnDisk::open(data).await?;
    let kept = cinema.reservations().await?;
    ensure!(
        kept == outcome.done,
        "{} bookings confirmed, {kept} kept",
        outcome.done
    );
    cinema.close().await
}
