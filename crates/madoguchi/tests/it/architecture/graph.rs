//! Cycles in a graph of files.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

pub type Uses = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The groups of files that use each other, directly or through others.
pub fn cycles(uses: &Uses) -> Vec<Vec<PathBuf>> {
    let reachable: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = uses
        .keys()
        .map(|file| (file, reached(uses, file)))
        .collect();
    let mut cycles: BTreeSet<Vec<PathBuf>> = BTreeSet::new();
    for (file, reached) in &reachable {
        if reached.contains(file) {
            let together = reached
                .iter()
                .filter(|other| reachable[*other].contains(*file));
            cycles.insert(together.map(|other| (*other).clone()).collect());
        }
    }
    cycles.into_iter().collect()
}

fn reached<'a>(uses: &'a Uses, from: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&PathBuf> = uses[from].iter().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(uses.get(file).into_iter().flatten());
        }
    }
    reached
}
