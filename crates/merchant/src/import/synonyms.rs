//! A file of synonyms: on each line the words and phrases that mean the same, separated
//! by commas; or the same as a JSON list of lists.

use std::{fs, path::Path};

use kit::{Error, Result, counter::Problem, file_rows::unreadable, text::clean};

/// A larger file is a mistake.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;
const MOST_GROUPS: usize = 10_000;
const MOST_WORDS: usize = 50;
const LONGEST_WORD: usize = 100;

#[derive(Default)]
pub struct SynonymFile {
    pub groups: Vec<Vec<String>>,
    /// Lines that were skipped.
    pub problems: Vec<Problem>,
}

pub fn read(path: &Path) -> Result<SynonymFile> {
    let size = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if size.len() > LARGEST_FILE {
        return Err(invalid("it is larger than 4 MiB"));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8"))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        let groups: Vec<Vec<String>> = serde_json::from_str(text)
            .map_err(|error| invalid(&format!("it is not a JSON list of lists: {error}")))?;
        return Ok(collect((1..).zip(groups)));
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    Ok(collect(lines.map(|(number, line)| {
        let words = line.split([',', '、', '，', '\t']);
        (number, words.map(str::to_owned).collect())
    })))
}

fn collect(lines: impl Iterator<Item = (u64, Vec<String>)>) -> SynonymFile {
    let mut file = SynonymFile::default();
    for (line, words) in lines {
        let mut group: Vec<String> = Vec::new();
        for word in words.iter().map(|word| clean(word, LONGEST_WORD)) {
            if !word.is_empty() && !group.contains(&word) && group.len() < MOST_WORDS {
                group.push(word);
            }
        }
        let problem = match group.len() {
            _ if file.groups.len() == MOST_GROUPS => format!("more than {MOST_GROUPS} groups"),
            0 | 1 => "a group needs two words or more, separated by commas".to_owned(),
            _ => {
                file.groups.push(group);
                continue;
            }
        };
        file.problems.push(Problem::new(line, problem));
    }
    file
}

fn invalid(why: &str) -> Error {
    Error::new(
        "INVALID_FILE",
        format!("The synonyms can't be read: {why}."),
    )
    .next(
        "Give a text file (UTF-8) with a group on each line, such as: running shoes, \
         ランニングシューズ",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_from_lines_or_json() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("synonyms");
        for (text, groups, problems) in [
            (
                "# shoes\n\nshoes, 靴 、 shoes\nalone\n",
                vec![vec!["shoes", "靴"]],
                vec![4],
            ),
            (
                "\u{feff}a\tb\r\nc，d\r\n",
                vec![vec!["a", "b"], vec!["c", "d"]],
                vec![],
            ),
            (" [[\"a\", \"b\"], [\"c\"]]", vec![vec!["a", "b"]], vec![2]),
            ("", vec![], vec![]),
        ] {
            fs::write(&path, text).unwrap();
            let file = read(&path).unwrap();
            assert_eq!(file.groups, groups, "{text}");
            let lines: Vec<u64> = file.problems.iter().map(|it| it.line).collect();
            assert_eq!(lines, problems, "{text}");
        }
        for wrong in [&b"[1]"[..], b"\xff\xfe"] {
            fs::write(&path, wrong).unwrap();
            assert_eq!(read(&path).err().unwrap().code, "INVALID_FILE");
        }
        assert_eq!(read(folder.path()).err().unwrap().code, "FILE_READ_ERROR");
    }
}
