//! Reads of the seat map: alone, beside writers, and beside as many other readers,
//! which shows what busy cores alone do to them.

use std::{sync::Arc, thread, time::Duration};

use anyhow::{Result, anyhow};
use bench::{
    load::{self, Limit, Numbers, Outcome},
    places::Places,
};

use crate::{
    cinema_on_disk::CinemaOnDisk, in_process, servers::BookingServer, turns, workload::Workload,
};

/// How many callers keep the store busy.
const OTHERS: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Company {
    Alone,
    Writers,
    Readers,
}

pub const COMPANIES: [Company; 3] = [Company::Alone, Company::Writers, Company::Readers];

impl Company {
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "nobody",
            Self::Writers => "16 writers",
            Self::Readers => "16 readers",
        }
    }
}

/// What one reader sees.
pub fn in_store(places: &Places, company: Company, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    turns::runtime(true)?.block_on(async {
        let cinema = CinemaOnDisk::create(directory.path()).await?;
        cinema.add_desk_tables().await?;
        let workload = Arc::new(Workload::plan(&cinema).await?);
        cinema.close().await?;
        let cinema = CinemaOnDisk::open(directory.path()).await?;
        let reads = Arc::new(workload.reads());
        let counter = Arc::clone(&cinema.counter);
        let read = move |number| in_process::read(Arc::clone(&counter), Arc::clone(&reads), number);
        let counter = Arc::clone(&cinema.counter);
        let limit = workload.limit(time);
        let book =
            move |number| in_process::book(Arc::clone(&counter), Arc::clone(&workload), number);
        let numbers = || Numbers::new(Limit::time(time));
        let others = async {
            match company {
                Company::Alone => Ok(Outcome::default()),
                Company::Writers => in_process::call(OTHERS, Numbers::new(limit), book).await,
                Company::Readers => in_process::call(OTHERS, numbers(), read.clone()).await,
            }
        };
        let reader = in_process::call(1, numbers(), read.clone());
        let (seen, others) = tokio::try_join!(reader, others)?;
        cinema.close().await?;
        if company == Company::Writers {
            turns::verify(directory.path(), &others).await?;
        }
        Ok(seen)
    })
}

/// The same over HTTP. The reader has a thread of its own.
pub fn over_http(places: &Places, company: Company, time: Duration) -> Result<Outcome> {
    let directory = places.fresh()?;
    turns::runtime(false)?.block_on(async {
        let cinema = CinemaOnDisk::create(directory.path()).await?;
        let workload = Arc::new(Workload::plan(&cinema).await?);
        cinema.close().await?;
        let server = BookingServer::madoguchi(places, directory.path()).await?;
        let reads = Arc::new(workload.reads());
        let target = server.target("get_seat_availability");
        let reader = thread::spawn({
            let (target, reads) = (target.clone(), Arc::clone(&reads));
            move || {
                let seen = load::run(&target, &reads, 1, Limit::time(time));
                turns::runtime(false)?.block_on(seen)
            }
        });
        let others = match company {
            Company::Alone => Outcome::default(),
            Company::Writers => {
                let (target, limit) = (server.target("reserve_seats"), workload.limit(time));
                load::run(&target, &workload, OTHERS, limit).await?
            }
            Company::Readers => load::run(&target, &reads, OTHERS, Limit::time(time)).await?,
        };
        let seen = reader
            .join()
            .map_err(|_| anyhow!("the reader panicked"))??;
        server.stop()?;
        if company == Company::Writers {
            turns::verify(directory.path(), &others).await?;
        }
        Ok(seen)
    })
}
