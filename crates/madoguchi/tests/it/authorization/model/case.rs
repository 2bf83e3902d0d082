//! A case: a desk's settings, keys, and a sequence of steps.

use std::{collections::BTreeMap, fmt};

use desk::settings::Policy;
use serde_json::{Map, Value, json};

use super::counter::{FAILS, Kind, Work, named};

mod generate;

pub use generate::case;

#[derive(Debug, Clone)]
pub struct Case {
    pub offer: Offer,
    /// By the tool's name or alias, for the first counter.
    pub policies: BTreeMap<&'static str, Policy>,
    pub keys: Vec<Key>,
    /// Whether calls wait for a person, or are answered at once.
    pub hold: bool,
    pub steps: Vec<Step>,
}

/// One line for each part.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            offer,
            policies,
            keys,
            hold,
            steps,
        } = self;
        writeln!(
            f,
            "{offer:?}\npolicies {policies:?}\ncalls are held: {hold}"
        )?;
        for (number, key) in keys.iter().enumerate() {
            writeln!(f, "key {number}: {key:?}")?;
        }
        for (number, step) in steps.iter().enumerate() {
            writeln!(f, "step {number}: {step:?}")?;
        }
        Ok(())
    }
}

/// `--read-only`, `--tools` and `--exclude-tools`.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    pub read_only: bool,
    pub only: Vec<&'static str>,
    pub exclude: Vec<&'static str>,
}

#[derive(Debug, Clone)]
pub struct Key {
    /// Empty: all of them.
    pub counters: Vec<&'static str>,
    /// Empty: all that need not be named.
    pub tools: Vec<&'static str>,
    pub read_only: bool,
    pub trusts_prompts: bool,
    pub expires_minutes: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    LocalUser,
    /// Nobody, where a key is not required.
    Anonymous,
    /// Nobody, where a key is required.
    NoKey,
    Key(usize),
    /// The user's own process, held to a key.
    LocalWithKey(usize),
    WrongKey,
}

#[derive(Debug, Clone)]
pub enum Step {
    Call(Call),
    /// The call several times at once, at both desks. Where calls are held, only
    /// once.
    Together(Call),
    /// A person decides about one of the questions that wait: first that of the
    /// last call.
    Decide(usize, Decision),
    RevokeKey(usize),
    RevokeGrant(usize),
    WaitMinutes(i64),
    Read {
        who: Who,
        desk: usize,
        counter: usize,
        readable: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Once,
    Always,
    Deny,
}

#[derive(Debug, Clone)]
pub struct Call {
    pub who: Who,
    /// Two processes serve the same data.
    pub desk: usize,
    pub counter: usize,
    /// A name, an alias, or neither.
    pub name: &'static str,
    pub arguments: Arguments,
    /// The calls inside; only a batch has them.
    pub inner: Vec<(&'static str, Arguments)>,
    pub prompt: Prompt,
    pub leaves: Option<Leaves>,
    pub meanwhile: Meanwhile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    pub n: i64,
    /// Writes the number as text: the same call in other words.
    pub as_text: bool,
    pub to: &'static str,
    pub request: Option<&'static str>,
    pub mistake: Option<Mistake>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// What is required is not there.
    Missing,
    /// There is an argument that no tool has.
    Unknown,
}

/// What the client's own prompt answers, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    None,
    Answers(Decision),
    /// The user closes it.
    Closes,
}

/// When a client leaves, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaves {
    pub when: When,
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Right after this many polls of the call.
    Polls(usize),
    /// After this many polls, once the call could go on.
    Woken(usize),
    /// After other tasks ran this often.
    Yields(usize),
    /// When the tool's work has begun.
    Begun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Its connection ends: the call's future is dropped.
    HangsUp,
    /// `notifications/cancelled`: the call's token.
    Cancels,
}

/// What happens while a call is held for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    Decides(Decision),
    Lapses,
    RevokesKey,
    ClientCancels,
}

impl Arguments {
    /// As a client sends them.
    fn sent(&self, kind: Option<&Kind>) -> Map<String, Value> {
        let mut sent = self.meant(kind);
        if self.as_text {
            sent.insert("n".into(), self.n.to_string().into());
        }
        self.mistaken(&mut sent);
        sent
    }

    fn mistaken(&self, arguments: &mut Map<String, Value>) {
        match self.mistake {
            None => {}
            Some(Mistake::Missing) => {
                arguments.shift_remove(arguments.keys().next().cloned().unwrap().as_str());
            }
            Some(Mistake::Unknown) => {
                arguments.insert("nn".into(), 1.into());
            }
        }
    }

    /// As the tool gets them.
    fn meant(&self, kind: Option<&Kind>) -> Map<String, Value> {
        let mut meant = Map::new();
        meant.insert("n".into(), json!(self.n));
        if kind.is_some_and(|kind| kind.recipient) {
            meant.insert("to".into(), self.to.into());
        }
        if let Some(request) = self.request
            && kind.is_some_and(|kind| kind.keyed)
        {
            meant.insert("request_id".into(), request.into());
        }
        meant
    }
}

impl Call {
    pub fn kind(&self) -> Option<&'static Kind> {
        named(self.name)
    }

    pub fn is_batch(&self) -> bool {
        self.kind().is_some_and(|kind| kind.work == Work::Batch)
    }

    /// Whether the tool answers with a failure of its own.
    pub fn fails(&self) -> bool {
        self.arguments.n == FAILS && !self.is_batch()
    }

    /// The arguments as a client sends them.
    pub fn sent(&self) -> Map<String, Value> {
        if !self.is_batch() {
            return self.arguments.sent(self.kind());
        }
        let calls = self.inner.iter().map(
            |(name, arguments)| json!({ "tool": name, "arguments": arguments.sent(named(name)) }),
        );
        let mut sent = Map::from_iter([("calls".to_owned(), calls.collect())]);
        self.arguments.mistaken(&mut sent);
        sent
    }

    /// The arguments as the tool gets them.
    pub fn meant(&self) -> Map<String, Value> {
        if !self.is_batch() {
            return self.arguments.meant(self.kind());
        }
        let calls = self.inner.iter().map(|(name, arguments)| {
            let kind = named(name);
            let name = kind.map_or(*name, |kind| kind.name);
            json!({ "tool": name, "arguments": arguments.meant(kind) })
        });
        Map::from_iter([("calls".to_owned(), calls.collect())])
    }
}
