//! The series as small curves, in one SVG file.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use anyhow::Result;
use bench::figures::number;

use crate::samples::Sample;

const COLUMNS: usize = 3;
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 90.0;
/// Around a curve: its title above, and space.
const TOP: f64 = 34.0;
const GAP: f64 = 20.0;

/// Writes every series that changes; dots are moments of rest.
pub fn write(folder: &Path, samples: &[Sample]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let names: BTreeSet<&String> = samples.iter().flat_map(|one| one.values.keys()).collect();
    let changing = names.into_iter().filter(|name| {
        let mut values = samples.iter().filter_map(|one| one.values.get(*name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    });
    let mut curves = String::new();
    let mut count = 0;
    for name in changing {
        let (column, row) = (count % COLUMNS, count / COLUMNS);
        let left = GAP + column as f64 * (WIDTH + GAP);
        let top = row as f64 * (HEIGHT + TOP) + TOP;
        curve(&mut curves, samples, name, left, top);
        count += 1;
    }
    let width = GAP + COLUMNS as f64 * (WIDTH + GAP);
    let height = count.div_ceil(COLUMNS) as f64 * (HEIGHT + TOP) + TOP;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{curves}</svg>\n"
    );
    fs::write(folder.join("endurance.svg"), svg)?;
    fs::write(folder.join("endurance.csv"), table(samples))?;
    Ok(())
}

fn curve(out: &mut String, samples: &[Sample], name: &str, left: f64, top: f64) {
    let end = samples.last().map_or(1.0, |one| one.after.as_secs_f64());
    let values = || samples.iter().filter_map(|one| one.values.get(name));
    let most = values().copied().fold(0.0, f64::max);
    let scale = if most > 0.0 { HEIGHT / most } else { 0.0 };
    let place = |one: &Sample| {
        let value = one.values.get(name).copied().unwrap_or_default();
        let x = left + one.after.as_secs_f64() / end * WIDTH;
        (x, top + HEIGHT - value * scale)
    };
    let bottom = top + HEIGHT;
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\">{name}: at most {}</text>\n\
         <path d=\"M{left} {top}V{bottom}H{}\" fill=\"none\" stroke=\"#999\"/>",
        top - 6.0,
        number(most),
        left + WIDTH
    );
    let points: Vec<String> = samples
        .iter()
        .map(|one| {
            let (x, y) = place(one);
            format!("{x:.1},{y:.1}")
        })
        .collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1565c0\"/>",
        points.join(" ")
    );
    for one in samples.iter().filter(|one| one.is_rest) {
        let (x, y) = place(one);
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"#c62828\"/>"
        );
    }
}

fn table(samples: &[Sample]) -> String {
    let names: BTreeSet<&String> = samples.iter().flat_map(|one| one.values.keys()).collect();
    let mut text = String::from("seconds;day;rest;process;calls");
    for name in &names {
        let _ = write!(text, ";{name}");
    }
    for one in samples {
        let rest = u8::from(one.is_rest);
        let seconds = one.after.as_secs();
        let _ = write!(
            text,
            "\n{seconds};{};{rest};{};{}",
            one.day, one.life, one.calls
        );
        for name in &names {
            let value = one.values.get(*name).copied().unwrap_or_default();
            let _ = write!(text, ";{value:.1}");
        }
    }
    text.push('\n');
    text
}
