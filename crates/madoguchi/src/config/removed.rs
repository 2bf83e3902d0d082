//! Keys that the version before this one had. They have no effect, and whoever
//! sets one gets a warning; in the next version they are unknown keys.

struct RemovedKey {
    section: &'static str,
    key: &'static str,
    /// The first version without it.
    version: &'static str,
    hint: &'static str,
}

const REMOVED: [RemovedKey; 1] = [RemovedKey {
    section: "http",
    key: "direct_path",
    version: "0.1.0",
    hint: "Delete it: the direct path is always on.",
}];

/// Takes removed keys out of the file and the environment. Returns a warning
/// for each.
pub fn take(table: &mut toml::Table, environment: &mut Vec<(String, String)>) -> Vec<String> {
    let mut warnings = Vec::new();
    for removed in &REMOVED {
        let RemovedKey { section, key, .. } = removed;
        let in_file = table.get_mut(*section).and_then(toml::Value::as_table_mut);
        if in_file.and_then(|own| own.remove(*key)).is_some() {
            warnings.push(removed.warning(&format!("`{section}.{key}`")));
        }
        let variable = format!("MADOGUCHI_{section}__{key}").to_uppercase();
        let all = environment.len();
        environment.retain(|(name, _)| *name != variable);
        if environment.len() < all {
            warnings.push(removed.warning(&variable));
        }
    }
    warnings
}

impl RemovedKey {
    fn warning(&self, name: &str) -> String {
        let Self { version, hint, .. } = self;
        format!("{name} has no effect since version {version}. {hint}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_key_is_kept_here_for_one_version() {
        for removed in &REMOVED {
            let RemovedKey { key, version, .. } = removed;
            assert_eq!(*version, env!("CARGO_PKG_VERSION"), "delete {key} here");
        }
    }
}
