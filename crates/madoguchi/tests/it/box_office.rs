//! Random customers at a box office on which everything goes wrong, and a checker that
//! reads the history of what they were told.
//!
//! The customers hold, extend, book, cancel, exchange, wait, look and retry at two desks
//! on one database. The nemesis kills desks (SIGKILL) and starts others, moves the clock
//! beyond the end of every hold (on PostgreSQL, whose own clock counts, it makes the
//! desks' clocks wrong by hours), and lets customers hang up before they hear the answer.
//! A customer who heard nothing retries with the same idempotency key.
//!
//! `BOX_OFFICE_KILLS` sets how many desks are killed (12 if unset), `BOX_OFFICE_SEED` the
//! random choices. CONTRIBUTING.md has the command for a long run.

mod checker;
mod customer;
mod history;
mod nemesis;
mod rows;

use std::{
    env,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use store::testing::Postgres;

use self::{customer::Customer, history::World, nemesis::Nemesis, rows::Rows};
use crate::harness::Place;

const CUSTOMERS: u64 = 6;

fn number(variable: &str, otherwise: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is {text}")),
        Err(_) => otherwise,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nobody_loses_or_shares_a_seat_on_sqlite() {
    let found = run(Engine::Sqlite, number("BOX_OFFICE_KILLS", 12), false).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nobody_loses_or_shares_a_seat_on_postgres() {
    let found = run(Engine::Postgres, number("BOX_OFFICE_KILLS", 12), false).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Somebody deletes the owners of seats behind the program's back, so that they are sold
/// again. The checker must notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_planted_double_sale_is_found() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let found = run(engine, 3, true).await;
        let twice = found.iter().any(|problem| problem.contains("two owners"));
        assert!(twice, "{engine:?}: {}", found.join("\n"));
    }
}

#[derive(Debug, Clone, Copy)]
enum Engine {
    Sqlite,
    Postgres,
}

/// Runs the box office until so many desks were killed. Returns what the checker found.
async fn run(engine: Engine, kills: u64, sells_twice: bool) -> Vec<String> {
    let seed = number("BOX_OFFICE_SEED", rand::random());
    eprintln!("{engine:?}, BOX_OFFICE_SEED={seed}");
    let place = Place::new();
    let postgres = Postgres::shared();
    let url = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(postgres.create_database()),
    };
    let mut nemesis = Nemesis::open(&place, url.as_deref(), seed).await;
    let world = nemesis.world().await;
    let rows = Rows::open(&place, url.as_deref()).await;
    rows.sell_most_of(&world.shows).await;
    let customers: Vec<_> = (1..=CUSTOMERS)
        .map(|number| {
            let customer = Customer::new(&world, seed.wrapping_add(number));
            tokio::spawn(customer.shop_until_closing())
        })
        .collect();
    let saboteur = sells_twice.then(|| {
        let (rows, world) = (rows.clone(), Arc::clone(&world));
        tokio::spawn(async move {
            while !world.is_closing() {
                rows.forget_owners().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
    });
    nemesis.rage(&world, kills).await;
    if !sells_twice {
        until_everything_happened(&world).await;
    }
    world.close();
    for done in join_all(customers).await {
        done.unwrap();
    }
    if let Some(saboteur) = saboteur {
        saboteur.await.unwrap();
    }
    let stored = rows.read().await;
    let history = world.history();
    let (answers, jumps) = (history.events.len(), world.jumps());
    eprintln!("{engine:?}: {kills} kills, {jumps} clock jumps, {answers} answers");
    eprintln!("{}", history.kinds());
    checker::check(&history, &stored)
}

/// A history in which something never happened would prove nothing about it. Customers
/// choose at random, so a short one goes on until everything did.
async fn until_everything_happened(world: &World) {
    const LONGEST: Duration = Duration::from_secs(300);
    let deadline = Instant::now() + LONGEST;
    loop {
        let missing = world.history().missing();
        if missing.is_empty() {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "never happened: {missing:?}\n{}",
            world.history().kinds()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
