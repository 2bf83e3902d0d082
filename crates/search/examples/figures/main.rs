//! Measures the time and memory of building and searching.
//!
//!     cargo run --release -p search --example figures [PRODUCTS…]
//!
//! Building and searching run in separate processes, so that each has its own
//! memory figure. With `IN_PIECES` set the index is not compacted; with `SHOW`
//! slow queries and queries without hits are printed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers, which prints and may fail"
)]

mod catalogue;
mod queries;

use std::{
    env, fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use search::{Change, Index, Options, Query, Sort};

const BATCH: i64 = 10_000;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["build", products, directory] => build(products.parse().unwrap(), Path::new(directory)),
        ["search", products, directory] => measure(products.parse().unwrap(), Path::new(directory)),
        ref sizes => {
            let sizes = if sizes.is_empty() {
                &["10000", "100000", "1000000"]
            } else {
                sizes
            };
            for products in sizes {
                let directory = tempfile::tempdir().unwrap();
                for what in ["build", "search"] {
                    let status = Command::new(env::current_exe().unwrap())
                        .args([what, products])
                        .arg(directory.path())
                        .status()
                        .unwrap();
                    assert!(status.success());
                }
            }
        }
    }
}

fn build(products: i64, directory: &Path) {
    let brands = catalogue::brands();
    let index = Index::open(directory, Options::default()).unwrap();
    let own = Peak::watch();
    let mut making = Duration::ZERO;
    let start = Instant::now();
    for first in (1..=products).step_by(BATCH as usize) {
        let began = Instant::now();
        let batch: Vec<Change> = (first..first + BATCH)
            .take_while(|id| *id <= products)
            .map(|id| Change::Put(catalogue::product(id, &brands)))
            .collect();
        making += began.elapsed();
        index.apply(batch, first as u64).unwrap();
    }
    let built = start.elapsed() - making;
    let began = Instant::now();
    if env::var_os("IN_PIECES").is_none() {
        index.compact().unwrap();
    }
    let compacted = began.elapsed();
    let cpu = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    let began = Instant::now();
    for id in 1..=10 {
        let change = Change::Put(catalogue::product(id, &brands));
        index.apply([change], products as u64 + 1).unwrap();
    }
    let one = began.elapsed() / 10;
    std::thread::sleep(Duration::from_secs(3));
    println!("## {products} products\n");
    println!(
        "built in {:.1} s, compacted in {:.1} s ({cpu} s of processor time, with making the products); \
         one change in {:.0} ms; memory of its own: {:.0} MB at most, {:.0} MB afterwards; \
         {:.0} MB on disk\n",
        built.as_secs_f64(),
        compacted.as_secs_f64(),
        one.as_secs_f64() * 1e3,
        own.most(),
        memory("RssAnon"),
        size(directory),
    );
}

/// The peak of the process's own memory, sampled every 20 ms.
struct Peak(Arc<AtomicU64>);

impl Peak {
    fn watch() -> Peak {
        let most = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&most);
        std::thread::spawn(move || {
            loop {
                seen.fetch_max(memory("RssAnon") as u64, Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Peak(most)
    }

    fn most(&self) -> f64 {
        self.0.load(Relaxed) as f64
    }
}

fn measure(products: i64, directory: &Path) {
    let start = Instant::now();
    let index = Index::open(directory, Options::default()).unwrap();
    println!(
        "opened and verified in {:.0} ms, {:.0} MB resident\n",
        start.elapsed().as_secs_f64() * 1e3,
        memory("VmRSS")
    );
    println!(
        "| kind | p50 ms | p95 ms | max ms | p50 by the wall | p95 by the wall | found nothing | mean total |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    measure_kinds(&index, products);
    measure_options(&index, products);
    let everything: Vec<Times> = (0..10)
        .map(|_| timed(&index, &Query::default()).0)
        .collect();
    row("everything", &everything, 0, 0);
    println!(
        "\nafter these: {:.0} MB resident, of which {:.0} MB its own and {:.0} MB of files\n",
        memory("VmRSS"),
        memory("RssAnon"),
        memory("RssFile")
    );
}

/// Each kind of query.
fn measure_kinds(index: &Index, products: i64) {
    let mut all = Vec::new();
    for kind in queries::KINDS {
        let texts = queries::queries(kind, 100, products);
        let mut times = Vec::new();
        let (mut nothing, mut total) = (0, 0);
        for text in &texts {
            let query = Query {
                text: text.clone(),
                in_stock_only: true,
                ..Query::default()
            };
            let (time, hits) = timed(index, &query);
            times.push(time);
            nothing += usize::from(hits.ids.is_empty());
            total += hits.total;
            if env::var_os("SHOW").is_some() && (time.0 > 8.0 || hits.ids.is_empty()) {
                println!("{:.1} ms {text} {:?} {}", time.0, hits.strategy, hits.total);
            }
        }
        all.extend(&times);
        row(kind, &times, nothing, total / texts.len());
    }
    row("all of these", &all, 0, 0);
}

/// One-word queries with another order, with facets or with filters.
fn measure_options(index: &Index, products: i64) {
    type Change = fn(&mut Query);
    let others: [(&str, Change); 5] = [
        ("by price", |query| query.sort = Sort::PriceAsc),
        ("by name", |query| query.sort = Sort::Name),
        ("with facets", |query| query.facets = true),
        ("of a category", |query| {
            query.category = vec!["家電".into()];
        }),
        ("of a price", |query| {
            (query.min_price, query.max_price) = (Some(1_000), Some(2_000));
        }),
    ];
    for (name, change) in others {
        let time = |text: String| {
            let mut query = Query {
                text,
                ..Query::default()
            };
            change(&mut query);
            timed(index, &query).0
        };
        let texts = queries::queries("word", 100, products);
        let times: Vec<Times> = texts.into_iter().map(time).collect();
        row(&format!("word, {name}"), &times, 0, 0);
    }
}

/// Milliseconds of CPU time of the thread, and of wall time.
type Times = (f64, f64);

fn timed(index: &Index, query: &Query) -> (Times, search::Hits) {
    let now = || clock_gettime(ClockId::ThreadCPUTime);
    let (start, began) = (now(), Instant::now());
    let hits = index.search(query).unwrap();
    let (wall, time) = (began.elapsed(), now() - start);
    let cpu = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    ((cpu, wall.as_secs_f64() * 1e3), hits)
}

fn row(name: &str, times: &[Times], nothing: usize, total: usize) {
    let sorted = |one: fn(&Times) -> f64| {
        let mut times: Vec<f64> = times.iter().map(one).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let (cpu, wall) = (sorted(|times| times.0), sorted(|times| times.1));
    let at = |times: &[f64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {nothing} | {total} |",
        at(&cpu, 0.5),
        at(&cpu, 0.95),
        at(&cpu, 1.0),
        at(&wall, 0.5),
        at(&wall, 0.95)
    );
}

/// A line of `/proc/self/status`, in MB.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024.0
}

fn size(directory: &Path) -> f64 {
    let files = fs::read_dir(directory).unwrap();
    let bytes: u64 = files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    bytes as f64 / 1e6
}
