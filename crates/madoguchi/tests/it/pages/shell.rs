//! The terminal of somebody who follows a page: a shell in an empty home, with
//! `madoguchi` on its path.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::symlink,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use store::testing::free_port;

use crate::harness::Place;

/// For one block. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// The ports that pages name. The tests of other pages use them at the same time, so
/// each shell has others, and the pages never see them.
const PORTS: [(&str, &str); 3] = [
    ("8010", "MADOGUCHI_HTTP__PORT"),
    ("8011", "MADOGUCHI_MERCHANT_LISTENER__PORT"),
    ("7777", "MADOGUCHI_INNERVOICE_LISTENER__PORT"),
];

pub struct Shell {
    place: Place,
    bash: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// What a page says, and what it is here.
    replaced: Vec<(String, String)>,
    /// Names in later blocks for what was printed, such as an id.
    named: Vec<(String, String)>,
    blocks: usize,
    /// Processes in the background.
    started: Vec<String>,
}

impl Shell {
    /// `language` is that of the page. `replaced` are texts of the page that stand for
    /// something else here, such as the address of a database.
    pub fn new(language: &str, replaced: &[(String, String)]) -> Self {
        let place = Place::new();
        let programs = place.path().join(".programs");
        fs::create_dir(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_madoguchi"), programs.join("madoguchi")).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        place.enter(&mut command);
        let mut replaced = replaced.to_vec();
        for (port, variable) in PORTS {
            let free = free_port().to_string();
            command.env(variable, &free);
            replaced.push((port.to_owned(), free));
        }
        let mut bash = command
            .args(["--noprofile", "--norc"])
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("LANG", language)
            .env("MADOGUCHI_HTTP__DRAIN_SECONDS", "0")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, answers) = mpsc::channel();
        let stdout = BufReader::new(bash.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self {
            input: bash.stdin.take().unwrap(),
            place,
            bash,
            answers,
            replaced,
            named: Vec::new(),
            blocks: 0,
            started: Vec::new(),
        }
    }

    /// What a word means in the following blocks.
    pub fn name(&mut self, name: &str, value: &str) {
        self.named.retain(|(known, _)| known != name);
        self.named.push((name.to_owned(), value.to_owned()));
    }

    /// Runs commands to their end. Answers what they printed, and whether they went
    /// well: the first that fails ends the block.
    pub fn run(&mut self, commands: &str) -> (String, bool) {
        let (script, output) = self.script(commands);
        // Sourced by this very shell, so that the next block finds its variables and
        // its directory. A subshell would lose them, and `set -e` would end the shell.
        self.say(&format!(
            "trap 'trap - ERR; failed=1; return' ERR; failed=0; . {script} </dev/null >{output} 2>&1; \
             trap - ERR; echo \"done $failed\""
        ));
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer = answer.unwrap_or_else(|_| {
            panic!(
                "the commands did not end:\n{commands}\n{}",
                self.read(&output)
            )
        });
        (self.read(&output), answer == "done 0")
    }

    /// Starts commands that go on while others run, on a terminal of their own if
    /// they look different there.
    pub fn start(&mut self, commands: &str, on_terminal: bool) -> Background {
        let (script, output) = self.script(commands);
        self.say(&if on_terminal {
            format!("script -qefc 'exec bash {script}' {output} </dev/null >/dev/null & echo $!")
        } else {
            format!("bash {script} </dev/null >{output} 2>&1 & echo $!")
        });
        let process = self.answers.recv_timeout(PATIENCE).unwrap();
        self.started.push(process.clone());
        Background { process, output }
    }

    /// Waits until the desk answers.
    pub fn wait_for_desk(&self, background: &Background) {
        let port = self.shown_as("8010");
        let began = Instant::now();
        while !is_ready(port.parse().unwrap()) {
            assert!(
                began.elapsed() < PATIENCE && background.is_alive(),
                "the desk did not start:\n{}",
                self.read(&background.output)
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn stop(&mut self, background: &Background) {
        let process = &background.process;
        end(process, "-TERM");
        self.say(&format!("wait {process}; echo stopped"));
        self.answers.recv_timeout(PATIENCE).unwrap();
    }

    /// What was printed so far, with the names that the page uses.
    pub fn read(&self, output: &str) -> String {
        let mut text = String::from_utf8_lossy(&fs::read(output).unwrap()).replace('\r', "");
        for (shown, real) in &self.replaced {
            text = replace_words(&text, real, shown);
        }
        text.replace(self.place.path().to_str().unwrap(), "/home/you")
    }

    fn shown_as(&self, name: &str) -> &str {
        let mut all = self.replaced.iter();
        all.find(|(known, _)| known == name).map_or("", |it| &it.1)
    }

    /// Writes a script; answers its name and that of the file for its output.
    fn script(&mut self, commands: &str) -> (String, String) {
        self.blocks += 1;
        let mut text = commands.to_owned();
        for (shown, real) in self.replaced.iter().chain(&self.named) {
            text = replace_words(&text, shown, real);
        }
        let name = self.place.path().join(format!(".block-{}", self.blocks));
        fs::write(&name, text).unwrap();
        let name = name.display().to_string();
        let output = format!("{name}.output");
        (name, output)
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }
}

/// Everything that the page has started ends with the page.
impl Drop for Shell {
    fn drop(&mut self) {
        for process in &self.started {
            end(process, "-KILL");
        }
        end(&self.bash.id().to_string(), "-KILL");
        let _ = self.bash.wait();
    }
}

/// Signals a process and all that it has started.
fn end(process: &str, signal: &str) {
    let children = Command::new("pgrep").args(["-P", process]).output();
    let children = children.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    for child in children.unwrap_or_default().lines() {
        end(child, signal);
    }
    let mut kill = Command::new("kill");
    let _ = kill.args([signal, process]).stderr(Stdio::null()).status();
}

pub struct Background {
    process: String,
    pub output: String,
}

impl Background {
    pub fn is_alive(&self) -> bool {
        Path::new("/proc").join(&self.process).exists()
    }
}

/// Replaces a text where it is not a part of a longer word.
fn replace_words(text: &str, old: &str, new: &str) -> String {
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(old) {
        let end = at + old.len();
        let is_part = text[..at].ends_with(is_letter) || text[end..].starts_with(is_letter);
        if !is_part && at >= from {
            replaced.push_str(&text[from..at]);
            replaced.push_str(new);
            from = end;
        }
    }
    replaced + &text[from..]
}

#[test]
fn only_whole_words_are_replaced() {
    let text = "KEY MY_KEY :8010/ 18010 KEY";
    let text = replace_words(text, "KEY", "k");
    assert_eq!(replace_words(&text, "8010", "1"), "k MY_KEY :1/ 18010 k");
}

fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = write!(stream, "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    // A desk with TLS refuses to be asked like this, as soon as it serves.
    ["200", "400"]
        .iter()
        .any(|it| answer.get(9..12) == Some(*it))
}
