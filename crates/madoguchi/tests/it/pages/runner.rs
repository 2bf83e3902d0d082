//! Does what a page says, from its first line to its last, and compares what is
//! printed with what the page shows.
//!
//! Each `sh` block is run, in order, in one shell. What follows `sh` on the first line:
//!
//! - `not-run="why"`: the block is not run.
//! - `fails`: its last command fails.
//! - `background`: it goes on while the following blocks run, until the next such block
//!   that starts a desk, or the end of the page. `background terminal`: on a terminal.
//! - `retry`: it is run until it prints what the page shows.
//!
//! A `text` block shows what the block before it prints: all of its lines, in this order;
//! others may stand between them. `…` stands for anything. Dates and times count as
//! equal. What follows `text`:
//!
//! - `background`: it is printed by the last block in the background.
//! - `NAME=field`: NAME in later blocks is the value of this field in the JSON that was
//!   printed. `NAME=key_*`: it is the first word that begins with `key_`.
//! - `not-checked="why"`.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    markdown::{Block, blocks, read},
    shell::{Background, Shell},
};

const PATIENCE: Duration = Duration::from_secs(60);
const SETTINGS: [&str; 4] = ["background", "fails", "not-checked", "retry"];

pub fn run(page: &str) {
    run_with(page, &[]);
}

pub fn run_with(page: &str, replaced: &[(String, String)]) {
    let language = match page.contains("/ja/") || page.contains(".ja.") {
        true => "ja_JP.UTF-8",
        false => "en_US.UTF-8",
    };
    let mut reader = Reader {
        page,
        shell: Shell::new(language, replaced),
        desk: None,
        other: None,
    };
    let all = blocks(&read(page));
    let mut seen = 0;
    for (index, block) in all.iter().enumerate() {
        let shown = all.get(index + 1).filter(|next| next.language == "text");
        if block.language == "sh" && !block.has("not-run") {
            reader.follow(block, shown);
            seen += 1;
        } else if block.language == "text" && block.has("background") {
            let background = reader.other.as_ref().expect("a block in the background");
            reader.wait_for(background, block);
        }
    }
    assert!(seen > 0, "{page} has no commands that are run");
}

struct Reader<'a> {
    page: &'a str,
    shell: Shell,
    desk: Option<Background>,
    other: Option<Background>,
}

impl Reader<'_> {
    fn follow(&mut self, block: &Block, shown: Option<&Block>) {
        let place = format!("{}:{}", self.page, block.line);
        let shown = shown.filter(|it| !it.has("background") && !it.has("not-checked"));
        if block.has("background") {
            return self.start(block, shown);
        }
        let began = Instant::now();
        let output = loop {
            let (output, went_well) = self.shell.run(&block.text);
            assert_eq!(
                went_well,
                !block.has("fails"),
                "{place}\n{}\n{output}",
                block.text
            );
            let missing = shown.and_then(|it| missing(&it.text, &output));
            match missing {
                None => break output,
                Some(_) if block.has("retry") && began.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(200));
                }
                Some(line) => panic!("{place} prints no line\n{line}\nbut\n{output}"),
            }
        };
        let names = shown.iter().flat_map(|it| &it.attributes);
        for (name, field) in names.filter(|(name, _)| !SETTINGS.contains(&name.as_str())) {
            let value = value(&output, field);
            let value = value.unwrap_or_else(|| panic!("{place}: no {field} in\n{output}"));
            self.shell.name(name, &value);
        }
    }

    fn start(&mut self, block: &Block, shown: Option<&Block>) {
        let serves = block.text.contains("madoguchi serve");
        if let Some(desk) = self.desk.take_if(|_| serves) {
            self.shell.stop(&desk);
        }
        let background = self.shell.start(&block.text, block.has("terminal"));
        if serves {
            self.shell.wait_for_desk(&background);
        }
        if let Some(shown) = shown {
            self.wait_for(&background, shown);
        }
        match serves {
            true => self.desk = Some(background),
            false => self.other = Some(background),
        }
    }

    fn wait_for(&self, background: &Background, shown: &Block) {
        let began = Instant::now();
        loop {
            let may_go_on = background.is_alive() && began.elapsed() < PATIENCE;
            let printed = self.shell.read(&background.output);
            let Some(line) = missing(&shown.text, &printed) else {
                return;
            };
            assert!(
                may_go_on,
                "{}:{}: no line\n{line}\nin\n{printed}",
                self.page, shown.line,
            );
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The first line that is shown and was not printed.
fn missing(shown: &str, printed: &str) -> Option<String> {
    let printed: Vec<String> = printed
        .lines()
        .map(|it| without_time(it.trim_end()))
        .collect();
    let mut rest = printed.as_slice();
    for line in shown.lines().map(str::trim_end) {
        if line.is_empty() || line.trim() == "…" {
            continue;
        }
        let wanted = without_time(line);
        match rest.iter().position(|it| fits(&wanted, it)) {
            Some(at) => rest = &rest[at + 1..],
            None => return Some(line.to_owned()),
        }
    }
    None
}

/// `…` in a pattern stands for anything.
fn fits(pattern: &str, line: &str) -> bool {
    let parts: Vec<&str> = pattern.split('…').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    if parts.len() == 1 {
        return pattern == line;
    }
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in &parts[1..parts.len() - 1] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The line with `0` for each digit of a date or a time.
fn without_time(line: &str) -> String {
    let forms = ["dddd-dd-dd", "dd:dd:dd", "dd:dd"];
    let mut letters: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let form = forms.iter().find(|form| {
            let here = letters.get(at..at + form.len()).unwrap_or_default();
            here.len() == form.len()
                && here.iter().zip(form.chars()).all(|(letter, wanted)| {
                    wanted == *letter || wanted == 'd' && letter.is_ascii_digit()
                })
        });
        let length = form.map_or(0, |form| form.len());
        for letter in &mut letters[at..at + length] {
            if letter.is_ascii_digit() {
                *letter = '0';
            }
        }
        at += length.max(1);
    }
    letters.into_iter().collect()
}

/// The value of a field of JSON in what was printed, or the first word that begins
/// like `field`, which then ends with `*`.
fn value(output: &str, field: &str) -> Option<String> {
    if let Some(beginning) = field.strip_suffix('*') {
        let mut words = output.split(|it: char| !it.is_alphanumeric() && it != '_');
        return words
            .find(|word| word.starts_with(beginning))
            .map(str::to_owned);
    }
    let rest = output.split_once(&format!("\"{field}\": \""))?.1;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

#[test]
fn what_is_printed_is_compared_line_by_line() {
    let printed = "a 2026-11-16 10:20\n{\n  \"id\": \"x1\",\nend";
    let missing = |shown| missing(shown, printed);
    assert_eq!(
        missing("a 2030-01-02 09:59\n…\n  \"id\": \"…\",\nend\n"),
        None
    );
    assert_eq!(
        missing("a …\nend\na …"),
        Some("a …".into()),
        "the order counts"
    );
    assert_eq!(missing("a 2026-11-16"), Some("a 2026-11-16".into()));
    assert_eq!(missing("a … 00:00 …"), Some("a … 00:00 …".into()));
    assert_eq!(value(printed, "id").as_deref(), Some("x1"));
    assert_eq!(value("a k_1\nk_2", "k_*").as_deref(), Some("k_1"));
}
