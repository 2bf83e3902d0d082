//! The merchant counter of the running program, over HTTP, with catalogues of
//! several sizes; with the smallest also the same tools written with FastMCP and
//! SQLite, and searches of Meilisearch, turn by turn.

mod catalogue;
mod meilisearch;
mod queries;
mod report;
mod seen;
mod shops;
mod words;
mod work;

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use bench::{
    load::{Limit, Outcome},
    options::Turns as TurnOptions,
};
use clap::Parser;

use catalogue::Catalogue;
use meilisearch::Meilisearch;
use queries::{KINDS, Kind};
use seen::{CONNECTIONS, Seen, Size, Turn, Turns};
use shops::{Cores, Shop, TOOLS, Tool};

/// Fewer would leave words of the questions without a product.
const FEWEST_PRODUCTS: u64 = 500;
const WARM_UP: Limit = Limit {
    calls: 2_000,
    time: Duration::from_secs(2),
};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    turns: TurnOptions,
    /// How many products the catalogues have
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000")]
    products: Vec<u64>,
    /// Where to run the servers, as taskset names cores
    #[arg(long)]
    core: Option<String>,
    /// Where to run the import, likewise
    #[arg(long)]
    cores: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut cli = Cli::parse();
    cli.products.sort_unstable();
    cli.products.dedup();
    let smallest = cli.products.first().copied().unwrap_or(0);
    ensure!(
        smallest >= FEWEST_PRODUCTS,
        "at least {FEWEST_PRODUCTS} products"
    );
    let mut sizes = Vec::new();
    for products in &cli.products {
        let is_compared = *products == smallest;
        let size = measure(&cli, *products, is_compared)
            .await
            .with_context(|| format!("with {products} products"))?;
        sizes.push(size);
    }
    report::print(&sizes);
    Ok(())
}

async fn measure(cli: &Cli, products: u64, is_compared: bool) -> Result<Size> {
    let (places, rounds) = (cli.turns.places()?, cli.turns.rounds);
    let cores = Cores {
        servers: cli.core.clone(),
        all: cli.cores.clone(),
    };
    eprintln!("{products} products: import");
    let catalogue = Arc::new(Catalogue::new(products)?);
    let folder = places.fresh()?;
    let (file, data) = (folder.path().join("catalogue"), folder.path().join("data"));
    catalogue.write(&file)?;
    let imported = shops::import(&places, &cores, &file, &data, products).await?;
    let mut shops = vec![Shop::madoguchi(&places, &cores, &catalogue, &data).await?];
    if is_compared {
        let other = Shop::fastmcp(&places, &cores, &catalogue, &file, folder.path()).await?;
        shops.push(other);
    }
    let mut meilisearch = match is_compared {
        true => Some(Meilisearch::start(&places, &cores, &catalogue, &file, folder.path()).await?),
        false => None,
    };
    std::fs::remove_file(&file)?;

    let mut kinds: Vec<Vec<(Kind, Outcome)>> = Vec::new();
    for shop in &shops {
        let mut of_shop = Vec::new();
        for kind in KINDS {
            shop.ask(kind).await?;
            of_shop.push((kind, shop.ask(kind).await?));
        }
        for tool in TOOLS {
            shop.call(tool, CONNECTIONS[1], WARM_UP).await?;
        }
        kinds.push(of_shop);
    }
    let mut turns: Vec<Turns> = shops.iter().map(|_| Turns::new()).collect();
    let time = Limit::time(cli.turns.time());
    for round in 0..rounds {
        for tool in TOOLS {
            for connections in CONNECTIONS {
                for (shop, turns) in shops.iter().zip(&mut turns) {
                    let turn = take_turn(shop, tool, connections, time).await?;
                    turns.entry((tool, connections)).or_default().push(turn);
                }
                if tool == Tool::Search
                    && let Some(server) = &mut meilisearch
                {
                    server.take_turn(connections, time).await?;
                }
            }
        }
        eprintln!("{products} products: round {} of {rounds}", round + 1);
    }
    let mut seen = Vec::new();
    for ((shop, kinds), turns) in shops.into_iter().zip(kinds).zip(turns) {
        seen.push(Seen {
            name: shop.name,
            start: shop.start,
            memory_at_start: shop.memory,
            memory: shop.memory_now()?,
            kinds,
            turns,
        });
        shop.close(&places)?;
    }
    Ok(Size {
        products,
        imported,
        shops: seen,
        meilisearch: meilisearch.map(Meilisearch::close).transpose()?,
    })
}

async fn take_turn(shop: &Shop, tool: Tool, connections: usize, limit: Limit) -> Result<Turn> {
    let before = shop.cpu_seconds()?;
    let outcome = shop.call(tool, connections, limit).await?;
    Ok(Turn::new(&outcome, shop.cpu_seconds()? - before))
}
