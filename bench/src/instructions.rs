//! Instructions per request, counted by valgrind: a figure that a busy machine
//! does not disturb.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};

use crate::{
    contestants::Contestant,
    figures::{Table, number, times},
    load::Limit,
    places::Places,
    server::{Server, free_port, wrapped},
};

/// Two runs differ by so many requests, which takes the start out of the count.
const REQUESTS: u64 = 1_000;

pub async fn count(places: &Places) -> Result<()> {
    let contestants = [
        Contestant::Madoguchi,
        Contestant::PlainRmcp,
        Contestant::Bare,
        Contestant::Cinema,
    ];
    let mut ours = None;
    let mut table = Table::new("server | instructions per request | ratio");
    for contestant in contestants {
        let once = total(places, contestant, REQUESTS).await?;
        let twice = total(places, contestant, 2 * REQUESTS).await?;
        let each = (twice - once) / REQUESTS as f64;
        let ratio = each / *ours.get_or_insert(each);
        table.row(&[contestant.name().to_owned(), number(each), times(ratio)]);
    }
    table.print("Instructions, user space, one connection (valgrind)");
    Ok(())
}

async fn total(places: &Places, contestant: Contestant, requests: u64) -> Result<f64> {
    let data = places.fresh()?;
    let out = data.path().join("callgrind.out");
    let out_option = format!("--callgrind-out-file={}", out.display());
    let port = free_port()?;
    let command = wrapped(
        &["valgrind", "--tool=callgrind", &out_option],
        &contestant.serve(places, port, data.path()),
    );
    let server = Server::spawn(contestant, command, port, places).await?;
    server.call(1, Limit::calls(requests)).await?;
    server.stop()?;
    read_total(&out)
}

/// The last `totals:` line.
fn read_total(out: &Path) -> Result<f64> {
    let text = fs::read_to_string(out).with_context(|| format!("{}", out.display()))?;
    let mut lines = text.lines().rev();
    let total = lines.find_map(|line| line.strip_prefix("totals: "));
    Ok(total.context("a total")?.trim().parse()?)
}
