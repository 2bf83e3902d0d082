//! Links between the pages, and the table of contents.

use std::{collections::BTreeSet, path::Path};

use super::markdown::{anchors, files, links, read, root};

/// Pages of the reference, which exist in English alone.
const ENGLISH_ONLY: [&str; 9] = [
    "adding-a-counter.md",
    "agents.md",
    "clients.md",
    "packages.md",
    "performance.md",
    "search-quality.md",
    "security.md",
    "tools.md",
    "decisions/",
];

/// A path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => assert!(parts.pop().is_some(), "{path} leaves the repository"),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn target(page: &str, link: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    plain(&format!("{folder}/{link}"))
}

fn is_external(link: &str) -> bool {
    link.starts_with("http://") || link.starts_with("https://") || link.starts_with("mailto:")
}

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in files() {
        for (line, link) in links(&read(&page)) {
            if is_external(&link) {
                continue;
            }
            seen += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = match path {
                "" => page.clone(),
                path => target(&page, path),
            };
            if !root().join(&path).exists() {
                broken.push(format!("{page}:{line}: {path} does not exist"));
            } else if !anchor.is_empty() && !anchors(&read(&path)).iter().any(|it| it == anchor) {
                broken.push(format!("{page}:{line}: {path} has no heading #{anchor}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(seen > 100, "{seen}");
}

/// The pages below a folder, without the tables of contents.
fn pages(folder: &str) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = files()
        .iter()
        .filter_map(|path| path.strip_prefix(folder))
        .filter(|path| !path.ends_with("SUMMARY.md"))
        .map(str::to_owned)
        .collect();
    if folder == "docs/" {
        all.retain(|path| !path.starts_with("ja/"));
    }
    all
}

#[test]
fn the_tables_of_contents_list_every_page_once() {
    for folder in ["docs/", "docs/ja/"] {
        let listed = links(&read(&format!("{folder}SUMMARY.md")));
        let listed: Vec<String> = listed.into_iter().map(|(_, link)| link).collect();
        let once: BTreeSet<String> = listed.iter().cloned().collect();
        assert_eq!(listed.len(), once.len(), "{folder}: a page is listed twice");
        assert_eq!(once, pages(folder), "{folder}SUMMARY.md");
    }
}

#[test]
fn every_task_has_a_page_in_both_languages() {
    let is_english_only = |page: &String| ENGLISH_ONLY.iter().any(|it| page.starts_with(it));
    let english: BTreeSet<String> = pages("docs/")
        .into_iter()
        .filter(|page| !is_english_only(page))
        .collect();
    let japanese = pages("docs/ja/");
    assert_eq!(english, japanese);
    assert!(english.len() > 10, "{english:?}");
    for page in english {
        for (path, other) in [
            (format!("docs/{page}"), format!("docs/ja/{page}")),
            (format!("docs/ja/{page}"), format!("docs/{page}")),
        ] {
            let text = read(&path);
            let mut all = links(&text).into_iter();
            let leads = all.any(|(_, link)| !is_external(&link) && target(&path, &link) == other);
            assert!(leads, "{path} has no link to {other}");
        }
    }
}

/// The README fits on a screen or two; everything else has a page.
#[test]
fn the_readmes_are_short() {
    for page in ["README.md", "README.ja.md"] {
        let lines = read(page).lines().count();
        assert!(lines <= 80, "{page} has {lines} lines");
    }
}

#[test]
fn pictures_are_small_and_used() {
    let folder = root().join("docs/pictures");
    let used: BTreeSet<String> = files()
        .iter()
        .flat_map(|page| {
            let all = links(&read(page)).into_iter();
            let own = all.filter(|(_, link)| !is_external(link));
            own.map(|(_, link)| target(page, link.split('#').next().unwrap_or_default()))
                .collect::<Vec<_>>()
        })
        .filter(|path| path.starts_with("docs/pictures/"))
        .collect();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let bytes = entry.metadata().unwrap().len();
        assert!(bytes < 60_000, "{name} has {bytes} bytes");
        assert!(
            used.contains(&format!("docs/pictures/{name}")),
            "no page shows {name}"
        );
    }
    assert!(
        used.iter()
            .all(|path| Path::new(&root()).join(path).exists())
    );
    assert!(used.len() > 2, "{used:?}");
}
