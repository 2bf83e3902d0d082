//! Which files are resources, and their addresses.

use kit::{
    Result,
    resource::{escape, unescape},
};

use crate::{
    files::{
        self, Folder, adr_file, context_file,
        names::{stem_in, task_of},
    },
    model::TaskId,
};

const BASE: &str = "file://.todo/";

/// The addresses of a file: percent-encoded and, if different, plain as in the
/// seed's pattern. Empty for a file that is no resource.
pub fn uris_of(name: &str) -> Vec<String> {
    if !is_resource(name) {
        return Vec::new();
    }
    let plain = format!("{BASE}{name}");
    let encoded = encode(&plain);
    if encoded == plain {
        vec![plain]
    } else {
        vec![encoded, plain]
    }
}

pub fn is_resource(name: &str) -> bool {
    name == files::TASKS
        || name == files::INDEX
        || task_of(name).is_some()
        || stem_in(files::ADRS, name).is_some_and(is_stem)
}

/// Whether a file's name stays in its folder.
fn is_stem(stem: &str) -> bool {
    !stem.is_empty() && !stem.starts_with('.') && !stem.contains(['/', '\\', '\0'])
}

/// The file with that address.
pub fn name_of(uri: &str) -> Option<String> {
    let name = unescape(uri.strip_prefix(BASE)?)?;
    is_resource(&name).then_some(name)
}

pub fn names(folder: &Folder) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in [files::INDEX, files::TASKS] {
        if folder.stamp(name)?.is_some() {
            names.push(name.to_owned());
        }
    }
    names.extend(folder.stems(files::ADRS)?.iter().map(|stem| adr_file(stem)));
    let contexts = folder.stems(files::CONTEXTS)?;
    names.extend(
        contexts
            .iter()
            .filter_map(|stem| TaskId::parse(stem))
            .map(context_file),
    );
    Ok(names)
}

/// The address of a file, percent-encoded where necessary.
pub fn uri_of(name: &str) -> String {
    encode(&format!("{BASE}{name}"))
}

fn encode(uri: &str) -> String {
    escape(uri, ":/!$&'()*+,;=@")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_back() {
        for name in ["task.md", "index.md", "adr/adr-001-x.md", "context/T001.md"] {
            assert_eq!(uris_of(name), [format!("file://.todo/{name}")]);
            assert_eq!(
                name_of(&format!("file://.todo/{name}")).as_deref(),
                Some(name)
            );
        }
        let japanese = "adr/adr-001-認証.md";
        let uris = uris_of(japanese);
        assert_eq!(uris.len(), 2);
        assert!(
            uris.iter()
                .all(|uri| name_of(uri).as_deref() == Some(japanese))
        );
    }

    #[test]
    fn other_addresses_are_rejected() {
        for uri in [
            "file://.todo/../secret.md",
            "file://.todo/adr/../../secret.md",
            "file://.todo/adr/..%2F..%2Fsecret.md",
            "file://.todo/context/T1.md",
            "file://.todo/notes.md",
            "file:///etc/passwd",
            "file://.todo/adr/.md",
            "file://.todo/adr/%4.md",
        ] {
            assert_eq!(name_of(uri), None, "{uri}");
        }
    }
}
