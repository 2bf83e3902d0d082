//! What `serve` shows on a terminal: what runs where, and what to do first.

use std::path::PathBuf;

use kit::context::Language;

use crate::{
    cli::Global,
    invocation,
    output::{Cell, Look, Styled, aligned},
};

/// What a desk has to say when it is ready.
pub struct Page<'a> {
    pub language: Language,
    pub global: &'a Global,
    pub counters: Vec<CounterAddresses>,
    /// The address of the main port; `None` if it is off.
    pub main: Option<String>,
    /// Whether the main port takes no call without a key.
    pub needs_key: bool,
    /// A one-time link.
    pub console: Option<String>,
    pub first_keys: Vec<FirstKey>,
    pub data: Option<PathBuf>,
    /// How to make `madoguchi` a command of the shell.
    pub alias: Option<String>,
}

pub struct CounterAddresses {
    pub name: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    pub addresses: Vec<String>,
    pub needs_key: bool,
}

/// A key that this start created.
pub struct FirstKey {
    pub counter: &'static str,
    pub title: &'static str,
    pub key: String,
}

impl Page<'_> {
    pub fn text(&self) -> Styled {
        let mut text = Styled::default();
        let version = env!("CARGO_PKG_VERSION");
        text.plain("\n  ")
            .add(Look::Bold, &format!("Madoguchi {version}"))
            .plain(self.pick(
                " is running. Press Ctrl+C to stop it.\n",
                " が動いています。Ctrl+Cで終了します。\n",
            ));
        self.add_counters(&mut text);
        self.add_secrets(&mut text);
        self.add_clients(&mut text);
        self.add_first_steps(&mut text);
        text
    }

    fn pick<'a>(&self, english: &'a str, japanese: &'a str) -> &'a str {
        match self.language {
            Language::English => english,
            Language::Japanese => japanese,
        }
    }

    fn command(&self, rest: &str) -> String {
        invocation::command(self.global, rest)
    }

    fn add_counters(&self, text: &mut Styled) {
        let key = self.pick("needs a key", "要キー");
        let mut rows = Vec::new();
        for counter in &self.counters {
            let mut name = Cell::new(Look::Bold, format!("  {}", counter.name));
            let mut about = Cell::from(counter.about);
            for address in &counter.addresses {
                let note = if counter.needs_key { key } else { "" };
                rows.push(vec![name, address.as_str().into(), note.into(), about]);
                (name, about) = ("".into(), "".into());
            }
        }
        text.plain("\n").append(&aligned(&rows)).plain("\n");
    }

    fn add_secrets(&self, text: &mut Styled) {
        if let Some(console) = &self.console {
            let title = self.pick(
                "The console, for you (this link works once, within 10 minutes):",
                "コンソール（このリンクは10分以内に1回だけ使えます）:",
            );
            add(text, title, std::slice::from_ref(console));
        }
        for first in &self.first_keys {
            let title = match self.language {
                Language::English => format!(
                    "The first key for {}, shown only once. Its clients send:",
                    first.title
                ),
                Language::Japanese => format!(
                    "{}の最初のキー（表示は今回だけです）。クライアントは次のヘッダーを送ります:",
                    first.title
                ),
            };
            add(
                text,
                &title,
                &[format!("Authorization: Bearer {}", first.key)],
            );
            let rotate = self.command(&format!("keys rotate {}", first.counter));
            let lost = self.pick("Lost it? Make another: ", "なくしたときは: ");
            text.plain(&format!("    {lost}"))
                .add(Look::Dim, &rotate)
                .plain("\n");
        }
    }

    fn add_clients(&self, text: &mut Styled) {
        let mut commands = Vec::new();
        commands.extend(self.alias.clone());
        if self.needs_key {
            commands.push(self.command("keys create my-agent"));
        }
        commands.push(self.command("install claude-code todo rooms"));
        if let Some(main) = &self.main {
            let mut add = format!("claude mcp add --transport http cinema {main}/mcp/cinema");
            if self.needs_key {
                add.push_str(" --header 'Authorization: Bearer KEY'");
            }
            commands.push(add);
        }
        let title = self.pick(
            "Connect a client, in another terminal (`madoguchi install` lists the clients it finds):",
            "クライアントを接続する（別の端末で。`madoguchi install`は見つかったクライアントを一覧します）:",
        );
        add(text, title, &commands);
    }

    fn add_first_steps(&self, text: &mut Styled) {
        let mut commands = vec!["madoguchi demo tour".to_owned()];
        if let Some(main) = self.main.as_ref().filter(|_| !self.needs_key) {
            commands.push(format!("madoguchi call cinema get_movie_list --url {main}"));
        }
        add(text, self.pick("Try first:", "最初に試す:"), &commands);
        let say = self.pick(
            "Or ask your agent: \"Which films are on tomorrow evening? Find two good seats.\"",
            "または、エージェントに「明日の夜の映画で、良い席を2つ探して」と頼んでみてください。",
        );
        text.plain(&format!("    {say}\n\n"));
        let doctor = self.command("doctor");
        let details = match (&self.data, self.language) {
            (Some(data), Language::English) => format!(
                "  Data: {}. Log lines: --log-level info. Is all well? {doctor}",
                data.display()
            ),
            (Some(data), Language::Japanese) => format!(
                "  データ: {}　ログ表示: --log-level info　診断: {doctor}",
                data.display()
            ),
            (None, _) => String::new(),
        };
        text.add(Look::Dim, &details).plain("\n");
    }
}

fn add(text: &mut Styled, title: &str, lines: &[String]) {
    text.plain("\n  ").plain(title).plain("\n");
    for line in lines {
        text.plain("    ").add(Look::Action, line).plain("\n");
    }
}
