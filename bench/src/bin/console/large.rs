//! How large the first view is, and how soon pages of much data are there.

use std::{fmt::Write as _, fs, path::Path, process::Command, time::Duration};

use anyhow::{Result, ensure};
use bench::{
    figures::{Goals, Table, median, milliseconds, number},
    load::Limit,
    places::Places,
    room_logs,
    wire::Films,
};
use serde_json::json;

use crate::{
    browser::Browser,
    desk::{self, Desk},
};

const FIRST_VIEW_KB: f64 = 100.0;
const GOAL_MS: f64 = 300.0;
const LOADS: usize = 20;
const TASKS: usize = 999;
const SEAT_ROWS: u8 = 25;
const SEATS_A_ROW: usize = 40;
const MESSAGES: usize = 10_000;
const CONNECTIONS: usize = 16;
const FILES: [&str; 5] = [
    "/console/console.css",
    "/console/pages.css",
    "/console/own_page.css",
    "/console/pages.js",
    "/console/reader.js",
];

pub async fn measure(
    places: &Places,
    core: Option<&str>,
    records: u64,
    goals: &mut Goals,
) -> Result<()> {
    let data = places.fresh()?;
    desk::configure(data.path())?;
    write_board(&data.path().join("project/.todo"))?;
    let rooms = [("full".to_owned(), MESSAGES)];
    room_logs::write(&data.path().join("rooms-of-agents"), &rooms)?;
    import_hall(places, data.path())?;
    let desk = Desk::start(places, data, core).await?;
    let browser = Browser::sign_in(&desk).await?;
    first_view(&browser, goals).await?;
    eprintln!("{records} calls, for the audit");
    let limit = Limit::calls(records);
    desk.load("cinema", "get_movie_list", Films, CONNECTIONS, limit)
        .await?;
    let mut table = Table::new("page | kB | ms, median | slowest of 20");
    for (what, path, shows) in [
        ("a board of 999 tasks", "/console/todo?all=1", "card-T999"),
        ("a hall of 1,000 seats", "/console/cinema?show=S1", "Y40"),
        (
            "a room of 10,000 messages",
            "/console/rooms?room=full",
            "message 9999",
        ),
        ("the audit", "/console/audit", "Movies now showing"),
        (
            "the audit, records of a tool that was never called",
            "/console/audit?tool=hold_seats",
            "",
        ),
        ("the overview", "/", "Overview"),
    ] {
        let mut times = Vec::new();
        let mut size = 0;
        for _ in 0..LOADS {
            let page = browser.page(path).await?;
            ensure!(page.html.contains(shows), "no {shows} in {path}");
            size = page.html.len();
            times.push(milliseconds(page.took));
        }
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let typical = median(times);
        table.row(&[
            what.to_owned(),
            number(size as f64 / 1000.0),
            number(typical),
            number(slowest),
        ]);
        goals.under_ms(&format!("{what}: under 300 ms"), typical, GOAL_MS);
        // The next is not to be asked for while this one's work goes on.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    table.print(&format!(
        "Pages of much data, {records} records in the audit"
    ));
    desk.stop()
}

/// The frame with its files, and then its content: all that a browser loads at first.
async fn first_view(browser: &Browser, goals: &mut Goals) -> Result<()> {
    let frame = browser.load("/", false).await?.html;
    // Scripts that wait for the document hold up nothing that is painted.
    let scripts = frame.matches("<script").count();
    let waiting = frame.matches("<script type=\"module\"").count();
    goals.add(
        "first paint waits for no script",
        format!("{scripts} scripts, {waiting} of them deferred"),
        scripts == waiting && frame.contains("<nav"),
    );
    let mut size = frame.len() + browser.page("/").await?.html.len();
    for file in FILES {
        size += browser.load(file, false).await?.html.len();
    }
    let size = size as f64 / 1000.0;
    let goal = "the first view: under 100 kB, not compressed";
    goals.add(goal, format!("{} kB", number(size)), size < FIRST_VIEW_KB);
    Ok(())
}

fn write_board(todo: &Path) -> Result<()> {
    let mut tasks = String::from("# Task\n");
    for number in 1..=TASKS {
        if number % 50 == 1 {
            writeln!(tasks, "\n## Category {number}")?;
        }
        let mark = ["[ ]", "[-]", "[x]"][number % 3];
        writeln!(tasks, "- {mark} Task {number} #T{number:03}")?;
    }
    fs::create_dir_all(todo)?;
    Ok(fs::write(todo.join("task.md"), tasks)?)
}

fn import_hall(places: &Places, data: &Path) -> Result<()> {
    let rows = (b'A'..b'A' + SEAT_ROWS).map(
        |row| json!({ "row": char::from(row).to_string(), "numbers": format!("1-{SEATS_A_ROW}") }),
    );
    let cinema = json!({
        "films": [{ "movie_id": "F1", "title": "Solaris", "duration": 167 }],
        "halls": [{ "theater_id": "H1", "name": "Hall 1", "rows": rows.collect::<Vec<_>>() }],
        "shows": [{ "schedule_id": "S1", "movie_id": "F1", "theater_id": "H1",
            "date": "2036-05-01", "start_time": "19:30" }],
        "prices": [{ "price_class": "general", "name": "一般", "english_name": "General",
            "price_yen": 1900 }],
    });
    let file = data.join("cinema.json");
    fs::write(&file, cinema.to_string())?;
    let mut command = Command::new(&places.madoguchi);
    command.args(["import", "cinema"]).arg(&file);
    command.arg("--data").arg(data);
    command.arg("--config").arg(data.join("desk.toml"));
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the hall is not imported: {said}");
    Ok(())
}
