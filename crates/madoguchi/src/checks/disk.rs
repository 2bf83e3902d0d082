//! How long the disk of the data directory will suffice.

use desk::audit::{self, AuditLocation, Space};
use kit::{Result, time::Clock};

use crate::{cli::Global, config::Config, open};

/// Whether there is enough space, and how much; `None` if everything is on PostgreSQL.
pub async fn examine(global: &Global, config: &Config) -> Result<Option<(bool, String)>> {
    let own = open::own_rows(global, config);
    let location = open::audit_place(global, config, &own.state)?;
    if !matches!(location, AuditLocation::Directory(_)) {
        return Ok(None);
    }
    let store = location.open()?;
    let settings = config.settings.audit.clone();
    let now = Clock::system().now().as_millisecond();
    let space = audit::blocking(&store, move |store, _| Space::read(store, &settings, now));
    let space = space.await?;
    Ok(Some((!space.is_short(), in_words(&space))))
}

fn in_words(space: &Space) -> String {
    let mut text = match space.free {
        Some(free) => format!("{} free", in_units(free)),
        None => "free space unknown".to_owned(),
    };
    text.push_str(&format!(
        "; the audit trail takes {}",
        in_units(space.bytes)
    ));
    if let Some(per_day) = space.per_day.filter(|bytes| *bytes > 0) {
        text.push_str(&format!(" and grows by {} a day", in_units(per_day)));
    }
    if let Some(days) = space.days_left {
        text.push_str(&format!("; the disk is full in {} days", days.floor()));
    }
    if space.is_short() {
        text.push_str(&format!(". {}", Space::REMEDY));
    }
    text
}

fn in_units(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    let fitting = units.into_iter().find(|(size, _)| bytes >= *size);
    fitting.map_or_else(
        || format!("{bytes} bytes"),
        |(size, unit)| format!("{:.1} {unit}", bytes / size),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_will_be_full_is_reported_with_what_to_do() {
        let mut space = Space {
            bytes: 1_200_000_000,
            free: Some(12_340_000_000),
            per_day: Some(999),
            days_left: None,
        };
        let said = "12.3 GB free; the audit trail takes 1.2 GB and grows by 999 bytes a day";
        assert_eq!(in_words(&space), said);
        space.days_left = Some(6.9);
        let words = in_words(&space);
        assert!(
            words.contains("; the disk is full in 6 days. Free some"),
            "{words}"
        );
        space = Space {
            free: Some(1000),
            days_left: None,
            ..space
        };
        assert!(in_words(&space).starts_with("1.0 kB free"));
        assert!(in_words(&space).contains("max_bytes"));
    }
}
