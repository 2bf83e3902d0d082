//! The modules of a crate, and which file uses which, read from the source.
//!
//! A name counts for the file that defines it: a parent that only re-exports a
//! name is not used by those who take it from there. Code for tests is ignored.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::tokens::{self, Token};

type Names = Vec<String>;

#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Types, functions, constants and so on that it defines.
    items: BTreeSet<String>,
    /// Names it imports or re-exports, with the paths they stand for.
    imports: BTreeMap<String, Names>,
    globs: Vec<Names>,
    /// Paths its code uses.
    paths: BTreeSet<Names>,
}

/// What a path leads to.
enum Target {
    Module(usize),
    /// An item of the module.
    Item(usize),
}

#[derive(Default)]
pub struct Crate {
    modules: Vec<Module>,
}

impl Crate {
    /// Reads a crate from its root file, `lib.rs` or `main.rs`.
    pub fn read(root: &Path) -> Self {
        let mut all = Self::default();
        all.read_file(root, root.parent().unwrap(), None);
        all
    }

    /// Reads the module in `file`, whose children's files are in `folder`.
    fn read_file(&mut self, file: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text = std::fs::read_to_string(file).unwrap();
        self.read_items(&tokens::read(&text), file, folder, parent)
    }

    fn read_items(
        &mut self,
        tokens: &[Token],
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            ..Module::default()
        });
        let mut rest = tokens;
        while !rest.is_empty() {
            let (item, after) = rest.split_at(item_length(rest));
            rest = after;
            if is_for_tests(item) {
                continue;
            }
            match keyword(item) {
                Some(("mod", Some(name))) => {
                    let inside = folder.join(name);
                    let child = match item.last().and_then(|last| last.inside('{')) {
                        Some(items) => self.read_items(items, file, &inside, Some(index)),
                        None => {
                            let beside = folder.join(format!("{name}.rs"));
                            let found = [beside, inside.join("mod.rs")];
                            let found = found.iter().find(|path| path.exists()).unwrap();
                            self.read_file(found, &inside, Some(index))
                        }
                    };
                    self.modules[index].children.insert(name.into(), child);
                }
                Some((keyword, name)) => {
                    let here = &mut self.modules[index];
                    if keyword != "impl" && keyword != "use" {
                        here.items.extend(name.map(str::to_owned));
                    }
                    here.collect(item);
                }
                None => self.modules[index].collect(item),
            }
        }
        index
    }

    /// Each file with the files of the same crate that it uses.
    pub fn uses(&self) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let mut uses: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (index, module) in self.modules.iter().enumerate() {
            let used = uses.entry(module.file.clone()).or_default();
            for path in &module.paths {
                if let Some(Target::Item(found)) = self.resolve(index, path, 0) {
                    let file = &self.modules[found].file;
                    if *file != module.file {
                        used.insert(file.clone());
                    }
                }
            }
        }
        uses
    }

    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        // Two globs may import each other.
        if depth > 20 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules[from].parent?,
            _ => return self.resolve_inside(from, path, depth),
        };
        match rest {
            [] => Some(Target::Module(start)),
            [next, ..] if next == "super" => self.resolve(start, rest, depth + 1),
            _ => self.resolve_inside(start, rest, depth),
        }
    }

    /// A path that begins with a name of the module `at`.
    fn resolve_inside(&self, at: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let module = &self.modules[at];
        if let Some(child) = module.children.get(first) {
            return match rest {
                [] => Some(Target::Module(*child)),
                _ => self.resolve_inside(*child, rest, depth + 1),
            };
        }
        if module.items.contains(first) {
            return Some(Target::Item(at));
        }
        if let Some(import) = module.imports.get(first) {
            // `use rooms::…` in a module called `rooms` names the crate.
            if import.first() == Some(first) {
                return None;
            }
            let mut whole = import.clone();
            whole.extend(rest.iter().cloned());
            return self.resolve(at, &whole, depth + 1);
        }
        module.globs.iter().find_map(|glob| {
            let Some(Target::Module(of)) = self.resolve(at, glob, depth + 1) else {
                return None;
            };
            self.resolve_inside(of, path, depth + 1)
        })
    }
}

impl Module {
    /// Takes in what code uses: its imports and the paths in it.
    fn collect(&mut self, tokens: &[Token]) {
        let mut path = Names::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            match token {
                Token::Name(name) if name == "use" => {
                    let is_public = tokens[..at].iter().any(|token| token.name() == Some("pub"));
                    let length = tokens[at..].iter().position(|token| token.is_mark(';'));
                    let end = length.map_or(tokens.len(), |length| at + length);
                    self.import(&tokens[at + 1..end], &[], is_public);
                    at = end;
                }
                // Fields and methods are not paths.
                Token::Name(name) if path.is_empty() => {
                    if !before.is_some_and(|before| before.is_mark('.')) {
                        path.push(name.clone());
                    }
                }
                Token::Name(name) => path.push(name.clone()),
                Token::Mark('#') if is_for_tests(&tokens[at..]) => {
                    at += item_length(&tokens[at..]);
                    continue;
                }
                Token::Mark(_) => {}
                Token::Group(_, inside) => self.collect(inside),
            }
            at += 1;
            match tokens.get(at..at + 2) {
                Some([one, two]) if one.is_mark(':') && two.is_mark(':') && !path.is_empty() => {
                    at += 2
                }
                // `name: value` names a field or an argument.
                Some([one, _]) if one.is_mark(':') && path.len() == 1 => path.clear(),
                _ if path.is_empty() => {}
                _ => drop(self.paths.insert(std::mem::take(&mut path))),
            }
        }
    }

    /// One tree of a `use`, below the path `above`.
    fn import(&mut self, tree: &[Token], above: &[String], is_public: bool) {
        let mut path = above.to_vec();
        let mut new_name = None;
        for (at, token) in tree.iter().enumerate() {
            match token {
                Token::Name(name) if name == "as" => {
                    new_name = tree.get(at + 1).and_then(Token::name);
                    break;
                }
                Token::Name(name) if name == "self" && !path.is_empty() => {}
                Token::Name(name) => path.push(name.clone()),
                Token::Mark('*') => return self.globs.push(path),
                Token::Mark(_) => {}
                Token::Group(_, inside) => {
                    for tree in inside.split(|token| token.is_mark(',')) {
                        self.import(tree, &path, is_public);
                    }
                    return;
                }
            }
        }
        let Some(name) = new_name.map(str::to_owned).or_else(|| path.last().cloned()) else {
            return;
        };
        if !is_public {
            self.paths.insert(path.clone());
        }
        self.imports.insert(name, path);
    }
}

/// How many tokens the first item has, with its attributes.
fn item_length(tokens: &[Token]) -> usize {
    let ends_with_semicolon = matches!(
        keyword(tokens),
        Some(("use" | "const" | "static" | "type", _))
    );
    let end = tokens.iter().position(|token| {
        token.is_mark(';') || !ends_with_semicolon && token.inside('{').is_some()
    });
    end.map_or(tokens.len(), |end| end + 1)
}

/// The word that says what an item is, and the item's name.
fn keyword(item: &[Token]) -> Option<(&str, Option<&str>)> {
    let words = [
        "fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod", "use", "impl",
    ];
    let mut names = item
        .iter()
        .filter_map(Token::name)
        .skip_while(|word| !words.contains(word));
    match (names.next()?, names.next()) {
        ("const", Some("fn")) => Some(("fn", names.next())),
        ("static", Some("mut")) => Some(("static", names.next())),
        found => Some(found),
    }
}

/// Whether the attributes of the first item make it a part of the tests.
fn is_for_tests(item: &[Token]) -> bool {
    let mut rest = item;
    while let [Token::Mark('#'), attribute, after @ ..] = rest {
        match attribute.inside('[') {
            Some([name, condition]) if name.name() == Some("cfg") => {
                let words = words(std::slice::from_ref(condition));
                if words.contains(&"test") && !words.contains(&"not") {
                    return true;
                }
            }
            Some([name]) if name.name() == Some("test") => return true,
            _ => {}
        }
        rest = after;
    }
    false
}

fn words(tokens: &[Token]) -> Vec<&str> {
    let all = tokens.iter().flat_map(|token| match token {
        Token::Group(_, inside) => words(inside),
        other => other.name().into_iter().collect(),
    });
    all.collect()
}
