//! Where the program runs: its data, its home, its working directory.

use std::{
    fs,
    io::Write,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;

use super::mentions;

/// A directory of its own, gone with its last clone. Nothing of the
/// environment reaches the program but `PATH`.
#[derive(Clone)]
pub struct Place {
    directory: Arc<TempDir>,
    /// The address of the database of every command here.
    pub database: Option<Arc<str>>,
}

impl Place {
    pub fn new() -> Self {
        Self {
            directory: Arc::new(tempfile::tempdir().unwrap()),
            database: None,
        }
    }

    /// One whose data is in a new database on PostgreSQL.
    pub fn on_postgres() -> Self {
        let url = store::testing::Postgres::shared().create_database();
        Self {
            database: Some(url.into()),
            ..Self::new()
        }
    }

    /// The same place after its configuration moved to a new database on PostgreSQL.
    pub fn moved_to_postgres(&self) -> Self {
        Self {
            directory: Arc::clone(&self.directory),
            database: Self::on_postgres().database,
        }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The program with this place's data, still without arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_madoguchi"));
        self.enter(&mut command);
        command.env("MADOGUCHI_DATA", self.data());
        let database = self.database.as_deref();
        command.envs(database.map(|url| ("MADOGUCHI_DATABASE__URL", url)));
        command
    }

    /// The same as a user who is not the superuser, and whose place this then is.
    pub fn command_by_somebody(&self) -> Command {
        let mut command = Command::new(self.program_for_others());
        self.enter(&mut command);
        command.env("MADOGUCHI_DATA", self.data());
        if is_root() {
            // Another one for each test process: limits count all that a user has.
            let user = 61_000 + std::process::id() % 4_000;
            std::os::unix::fs::chown(self.path(), Some(user), Some(user)).unwrap();
            command.uid(user).gid(user);
        }
        command
    }

    /// The program, where others can execute it.
    pub fn program_for_others(&self) -> PathBuf {
        fs::set_permissions(self.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = self.path().join("madoguchi");
        if !program.exists() {
            fs::hard_link(env!("CARGO_BIN_EXE_madoguchi"), &program)
                .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_madoguchi"), &program).map(drop))
                .unwrap();
        }
        program
    }

    /// Makes this place the home and working directory of a command.
    pub fn enter(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
            .env("HOME", self.path())
            .current_dir(self.path());
    }

    /// Runs a command of the program to its end.
    pub fn run<S: AsRef<str>>(&self, arguments: &[S]) -> Output {
        let mut command = self.command();
        command.args(arguments.iter().map(AsRef::as_ref));
        Output::of(&mut command, "")
    }

    /// The same with arguments that stand in one text, with spaces between them.
    pub fn run_line(&self, arguments: &str) -> Output {
        self.run(&arguments.split(' ').collect::<Vec<_>>())
    }

    /// The same with some variables set.
    pub fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = self.command();
        command.args(arguments).envs(environment.iter().copied());
        Output::of(&mut command, "")
    }

    /// Creates a key; the arguments are its name and what it may do.
    #[track_caller]
    pub fn create_key(&self, arguments: &[&str]) -> String {
        let made = self.run(&[&["keys", "create", "--json"], arguments].concat());
        made.ok().json()["key"].as_str().unwrap().to_owned()
    }

    pub fn load_demo(&self, environment: &[(String, String)]) {
        self.load_demo_of("cinema", environment);
    }

    pub fn load_demo_of(&self, counter: &str, environment: &[(String, String)]) {
        let mut command = self.command();
        command
            .args(["demo", "load", counter])
            .envs(environment.iter().cloned());
        Output::of(&mut command, "").ok();
    }
}

/// Whether these tests may do everything.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// What a command left behind.
#[derive(Debug)]
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    pub fn of(command: &mut Command, input: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // A command that never reads its input is none the worse for it.
        let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// It must have gone well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// It must have failed; returns what it said about it.
    #[track_caller]
    pub fn failed(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "{self:?}");
        self.stderr
    }

    /// It must have failed and said this.
    #[track_caller]
    pub fn fails_with(self, said: &str) {
        mentions(&self.failed(), &[said]);
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
