//! The tables, and the goals beside them.

use bench::{
    figures::{Goals, Table, median, megabytes, number, spread, times},
    process::Memory,
};

use crate::{
    seen::{CONNECTIONS, Seen, Size, Turn},
    shops::{TOOLS, Tool},
};

const GOAL_P50_MS: f64 = 4.0;
/// By the number of products.
const GOALS_P95_MS: [(u64, f64); 2] = [(100_000, 5.0), (1_000_000, 4.0)];
const LARGEST: u64 = 1_000_000;
const GOAL_MB: f64 = 150.0;
const GOAL_IMPORT_S: f64 = 60.0;
const GOAL_RATIO: f64 = 10.0;

pub fn print(sizes: &[Size]) {
    println!(
        "The merchant counter over HTTP on loopback, keep-alive; stateless `tools/call`; medians \
         of the rounds, ratios within each."
    );
    import(sizes);
    calls(sizes);
    kinds(sizes);
    memory(sizes);
    ratios(sizes);
    meilisearch(sizes);
    goals(sizes);
}

/// Every shop, by its number of products and its name.
fn all(sizes: &[Size]) -> impl Iterator<Item = (String, &Seen)> {
    sizes.iter().flat_map(|size| {
        let name = move |shop: &Seen| format!("{}, {}", count(size.products), shop.name);
        size.shops.iter().map(move |shop| (name(shop), shop))
    })
}

fn count(products: u64) -> String {
    number(products as f64)
}

fn in_megabytes(bytes: u64) -> String {
    megabytes(bytes as f64 / 1024.0)
}

fn import(sizes: &[Size]) {
    let mut table =
        Table::new("products | import, s | products/s | its memory at most | database | index");
    for size in sizes {
        let (imported, seconds) = (&size.imported, size.imported.time.as_secs_f64());
        table.row(&[
            count(size.products),
            number(seconds),
            number(size.products as f64 / seconds),
            megabytes(imported.peak as f64),
            in_megabytes(imported.database),
            in_megabytes(imported.index),
        ]);
    }
    table.print("`madoguchi import merchant`, index included, and what is on disk then");
}

fn of(shop: &Seen, tool: Tool, connections: usize, value: fn(&Turn) -> f64) -> f64 {
    let turns = shop.turns.get(&(tool, connections));
    median(turns.into_iter().flatten().map(value))
}

fn calls(sizes: &[Size]) {
    for tool in TOOLS {
        let mut table = Table::new(
            "products, server | connections | calls/s | p50 ms | p95 ms | CPU s / 10,000",
        );
        for (name, shop) in all(sizes) {
            for connections in CONNECTIONS {
                let figure = |value| number(of(shop, tool, connections, value));
                table.row(&[
                    name.clone(),
                    connections.to_string(),
                    figure(|turn| turn.rate),
                    figure(|turn| turn.p50),
                    figure(|turn| turn.p95),
                    figure(|turn| turn.cpu),
                ]);
            }
        }
        table.print(tool.name());
    }
}

fn kinds(sizes: &[Size]) {
    for (name, shop) in all(sizes) {
        let mut table = Table::new("asked for | right | p50 ms | p95 ms | most");
        for (kind, outcome) in &shop.kinds {
            let right = outcome.done as f64 / outcome.calls() as f64;
            table.row(&[
                kind.name().to_owned(),
                format!("{:.0} %", right * 100.0),
                number(outcome.milliseconds(0.5)),
                number(outcome.milliseconds(0.95)),
                number(outcome.milliseconds(1.0)),
            ]);
        }
        table.print(&format!("Searches by kind, 1 connection: {name}"));
    }
}

fn memory(sizes: &[Size]) {
    let mut table = Table::new(
        "products, server | start until it finds, ms | resident then | \
         resident after the run | of that file-backed | its own | peak",
    );
    for (name, shop) in all(sizes) {
        let Memory {
            resident,
            file,
            peak,
            ..
        } = shop.memory;
        table.row(&[
            name,
            number(shop.start.as_secs_f64() * 1e3),
            megabytes(shop.memory_at_start.resident as f64),
            megabytes(resident as f64),
            megabytes(file as f64),
            megabytes(resident.saturating_sub(file) as f64),
            megabytes(peak as f64),
        ]);
    }
    table.print("Start, and memory (`VmRSS`, `RssFile`, `VmHWM`)");
}

/// How much more the program does in the same time, or for the same CPU.
fn against(size: &Size, tool: Tool, connections: usize, value: fn(&Turn) -> f64) -> Vec<f64> {
    let [here, other] = &size.shops[..] else {
        return Vec::new();
    };
    let key = (tool, connections);
    let (Some(here), Some(other)) = (here.turns.get(&key), other.turns.get(&key)) else {
        return Vec::new();
    };
    let pairs = here.iter().zip(other);
    pairs
        .map(|(here, other)| value(here) / value(other))
        .collect()
}

fn ratios(sizes: &[Size]) {
    let Some(size) = sizes.first() else { return };
    let mut table = Table::new("tool | connections | calls/s | calls per CPU second");
    for tool in TOOLS {
        for connections in CONNECTIONS {
            let per_cpu = against(size, tool, connections, |turn| 1.0 / turn.cpu);
            table.row(&[
                tool.name().to_owned(),
                connections.to_string(),
                spread(&against(size, tool, connections, |turn| turn.rate)),
                times(median(per_cpu)),
            ]);
        }
    }
    table.print(&format!(
        "madoguchi as a multiple of FastMCP, {} products",
        count(size.products)
    ));
}

fn meilisearch(sizes: &[Size]) {
    let compared = sizes
        .iter()
        .find_map(|size| Some((size, size.shops.first()?, size.meilisearch.as_ref()?)));
    let Some((size, shop, other)) = compared else {
        return;
    };
    let mut table =
        Table::new("searches of | right | connections | p50 ms | p95 ms | CPU s / 10,000 | memory");
    let asked: u64 = shop.kinds.iter().map(|(_, outcome)| outcome.calls()).sum();
    let done: u64 = shop.kinds.iter().map(|(_, outcome)| outcome.done).sum();
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    for connections in CONNECTIONS {
        let ours = |value| number(of(shop, Tool::Search, connections, value));
        table.row(&[
            shop.name.to_owned(),
            percent(done as f64 / asked as f64),
            connections.to_string(),
            ours(|turn| turn.p50),
            ours(|turn| turn.p95),
            ours(|turn| turn.cpu),
            megabytes(shop.memory.resident as f64),
        ]);
        let turns = || other.turns.get(&connections).into_iter().flatten();
        let theirs = |value: fn(&Turn) -> f64| number(median(turns().map(value)));
        table.row(&[
            "Meilisearch 1.21".to_owned(),
            percent(other.right),
            connections.to_string(),
            theirs(|turn| turn.p50),
            theirs(|turn| turn.p95),
            theirs(|turn| turn.cpu),
            megabytes(other.memory.resident as f64),
        ]);
    }
    table.print(&format!(
        "The same questions to Meilisearch itself, {} products",
        count(size.products)
    ));
}

fn goals(sizes: &[Size]) {
    let mut goals = Goals::default();
    let find = |products| sizes.iter().find(|size| size.products == products);
    for (products, goal) in GOALS_P95_MS {
        let Some(shop) = find(products).and_then(|size| size.shops.first()) else {
            continue;
        };
        let here = of(shop, Tool::Search, 1, |turn| turn.p95);
        let name = format!("search p95 < {goal} ms, {} products", count(products));
        goals.under_ms(&name, here, goal);
    }
    if let Some(size) = find(LARGEST) {
        let here = size.imported.time.as_secs_f64();
        let name = format!("import < {GOAL_IMPORT_S} s, {} products", count(LARGEST));
        goals.add(&name, format!("{} s", number(here)), here < GOAL_IMPORT_S);
    }
    if let Some(shop) = find(LARGEST).and_then(|size| size.shops.first()) {
        let here = of(shop, Tool::Search, 1, |turn| turn.p50);
        let name = format!("search p50 < {GOAL_P50_MS} ms, {} products", count(LARGEST));
        goals.under_ms(&name, here, GOAL_P50_MS);
        let Memory { resident, file, .. } = shop.memory;
        goals.add(
            &format!("memory < {GOAL_MB} MB, {} products", count(LARGEST)),
            format!(
                "{}, {} of it file-backed",
                megabytes(resident as f64),
                megabytes(file as f64)
            ),
            resident as f64 / 1024.0 < GOAL_MB,
        );
    }
    if let Some(size) = sizes.first() {
        for tool in TOOLS {
            let here = against(size, tool, CONNECTIONS[1], |turn| turn.rate);
            goals.add(
                &format!("{} ≥ {GOAL_RATIO} × FastMCP's calls/s", tool.name()),
                spread(&here),
                median(here) >= GOAL_RATIO,
            );
        }
    }
    goals.print();
    println!(
        "\nLatency goals at 1 connection, rates at {}. Meilisearch 1.50 on 1,000,000 products, \
         measured elsewhere: p50 4.0 ms, p95 7.7 ms, 1 GB.",
        CONNECTIONS[1]
    );
}
