//! The time that the desk lives in: faster than ours, and with nights in which
//! its machine sleeps.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, ensure};

const SOURCE: &str = include_str!("clock.c");

pub struct Clock {
    library: PathBuf,
    leap_file: PathBuf,
    file: File,
    /// How much faster the desk's time is.
    rate: i64,
    base: i64,
    leapt: AtomicI64,
}

impl Clock {
    /// Compiles what the desk is started with into this folder.
    pub fn new(folder: &Path, rate: i64) -> Result<Self> {
        let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
        fs::write(&source, SOURCE)?;
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O2", "-o"]);
        compiler.arg(&library).arg(&source).arg("-ldl");
        ensure!(compiler.status().context("cc")?.success(), "cc failed");
        let leap_file = folder.join("leap");
        fs::write(&leap_file, 0i64.to_ne_bytes())?;
        let file = File::options().write(true).open(&leap_file)?;
        Ok(Self {
            library,
            leap_file,
            file,
            rate,
            base: real_now()?,
            leapt: AtomicI64::new(0),
        })
    }

    /// Lets a program go by this clock.
    pub fn apply(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library);
        command.env("CLOCK_RATE", self.rate.to_string());
        command.env("CLOCK_BASE", self.base.to_string());
        command.env("CLOCK_LEAP", &self.leap_file);
    }

    /// The desk's machine sleeps for so long.
    pub fn leap(&self, hours: i64) -> Result<()> {
        let more = hours * 3_600_000_000_000;
        let leapt = self.leapt.fetch_add(more, Ordering::Relaxed) + more;
        Ok(self.file.write_all_at(&leapt.to_ne_bytes(), 0)?)
    }

    /// The desk's time in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        let real = real_now().unwrap_or(self.base);
        let now = self.base + (real - self.base) * self.rate + self.leapt.load(Ordering::Relaxed);
        now / 1_000_000
    }

    /// A time of the desk in so many of its minutes, as tools take it.
    pub fn in_minutes(&self, minutes: i64) -> String {
        let seconds = self.now_ms() / 1000 + minutes * 60;
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = date(days);
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn real_now() -> Result<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(i64::try_from(now.as_nanos())?)
}

/// The date of a day since 1970, in the proleptic Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Years that begin in March have their odd day at the end.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_since_1970_are_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_774), (2026, 11, 17));
    }
}
