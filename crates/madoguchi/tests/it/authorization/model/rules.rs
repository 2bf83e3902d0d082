//! The model: who may do what, in plain Rust, from what is promised to users and
//! not from the code. It says what each step must lead to, and learns from what
//! was seen where more than one outcome is right (a client that leaves).

use std::collections::{BTreeMap, BTreeSet};

use desk::settings::Policy;
use kit::Effect;
use serde_json::Value;

use super::{
    case::{Arguments, Call, Case, Decision, Mistake, Who},
    counter::{COUNTERS, Kind, TOOLS, Work, named},
    reads::Readable,
};

pub const MINUTE: i64 = 60_000;
/// A question lapses, and so does an approval that nobody used.
pub const LAPSES: i64 = 10 * MINUTE;
/// A denial answers the identical call for this long.
const DENIED_FOR: i64 = MINUTE;

/// One call, however it is spelled: what an approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub caller: String,
    pub counter: &'static str,
    pub tool: &'static str,
    /// As JSON text with sorted keys.
    pub arguments: String,
}

#[derive(Debug, Clone)]
pub struct Question {
    pub asked_at: i64,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Pending,
    Approved,
    Denied {
        at: i64,
    },
    /// The approval was used by this call.
    Used {
        by: String,
        answer: Delivery,
    },
}

/// Whether the answer of approved work reached its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// This desk delivered it; another one may learn it a little later.
    Yes(usize),
    Perhaps,
    No,
}

/// A standing grant is for the caller, the tool and the recipient.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    pub caller: String,
    pub counter: String,
    pub tool: String,
    pub recipient: String,
}

/// What a call must lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// One of these codes, and nothing is done.
    Refused(Vec<&'static str>),
    /// It is done once.
    Runs(Basis),
    /// A person is asked, and nothing is done before they say yes.
    Asks,
    /// The answer of an earlier call, and nothing is done.
    Replays {
        by: String,
        /// It may also be a new call.
        perhaps: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The policy allows it, or a standing grant does.
    Free,
    Approval,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: i64,
    started: i64,
    pub revoked: BTreeSet<usize>,
    /// The latest about each call.
    questions: BTreeMap<Identity, Question>,
    /// Calls that were left before anybody could see whether they asked, and when.
    perhaps_asked: BTreeMap<Identity, i64>,
    pub grants: Vec<Grant>,
    /// Which call was done with an idempotency key, and with which arguments.
    keyed: BTreeMap<(String, &'static str, &'static str, String), (String, String)>,
}

/// JSON text that is equal for equal values. Maps keep their insertion order.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().map(|(k, v)| (k, canonical(v))).collect();
            format!("{sorted:?}")
        }
        Value::Array(items) => format!("{:?}", items.iter().map(canonical).collect::<Vec<_>>()),
        other => other.to_string(),
    }
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case, now: i64) -> Self {
        Self {
            case,
            now,
            started: now,
            revoked: BTreeSet::new(),
            questions: BTreeMap::new(),
            perhaps_asked: BTreeMap::new(),
            grants: Vec::new(),
            keyed: BTreeMap::new(),
        }
    }

    fn key(&self, who: Who) -> Option<&'a super::case::Key> {
        match who {
            Who::Key(index) | Who::LocalWithKey(index) => self.case.keys.get(index),
            _ => None,
        }
    }

    /// Why the desk does not let the caller in at this counter. A key that is not
    /// valid learns nothing of its scope.
    pub fn refusal(&self, who: Who, counter: &str) -> Option<&'static str> {
        match who {
            Who::LocalUser | Who::Anonymous => None,
            Who::NoKey | Who::WrongKey => Some("INVALID_KEY"),
            Who::Key(index) | Who::LocalWithKey(index) => {
                let key = &self.case.keys[index];
                let expires = key.expires_minutes.map(|it| self.started + it * MINUTE);
                let is_opened = key.counters.is_empty() || key.counters.contains(&counter);
                let is_valid =
                    !self.revoked.contains(&index) && expires.is_none_or(|at| self.now < at);
                match (is_valid, is_opened) {
                    (true, true) => None,
                    (true, false) => Some("OUT_OF_SCOPE"),
                    (false, _) => Some("INVALID_KEY"),
                }
            }
        }
    }

    fn is_offered(&self, kind: &Kind) -> bool {
        let offer = &self.case.offer;
        let names = |list: &[&str]| list.contains(&kind.name) || list.contains(&kind.alias);
        !(offer.read_only && kind.effect != Effect::Read)
            && (offer.only.is_empty() || names(&offer.only))
            && !names(&offer.exclude)
    }

    /// The key's scope, whatever name the tool is called or listed by.
    fn is_in_scope(&self, who: Who, kind: &Kind) -> bool {
        let Some(key) = self.key(who) else {
            // Who has no key gets at nothing that a key must name, over a network.
            return kind.effect != Effect::Manage || who == Who::LocalUser;
        };
        let is_named = key.tools.contains(&kind.name) || key.tools.contains(&kind.alias);
        let needs_name = kind.effect == Effect::Manage || !key.tools.is_empty();
        !(key.read_only && kind.effect != Effect::Read) && (is_named || !needs_name)
    }

    fn policy(&self, counter: &str, kind: &Kind) -> Policy {
        let set = |name| self.case.policies.get(name).copied();
        // A tool may be named twice; the stricter setting holds.
        let set = set(kind.name).max(set(kind.alias));
        let usual = match kind.effect {
            Effect::Outside => Policy::Ask,
            Effect::Read | Effect::Write | Effect::Manage => Policy::Allow,
        };
        // The settings name the first counter only.
        let set = set.filter(|_| counter == COUNTERS[0]);
        set.unwrap_or(usual)
    }

    /// Whether the client's own prompt may answer for the user.
    pub fn trusts_prompts(&self, who: Who) -> bool {
        match who {
            Who::LocalUser | Who::LocalWithKey(_) => true,
            Who::Key(index) => self.case.keys[index].trusts_prompts,
            Who::Anonymous | Who::NoKey | Who::WrongKey => false,
        }
    }

    /// Whether a read shows what it is asked for.
    pub fn may_read(&self, who: Who, counter: usize, readable: &Readable) -> bool {
        let counter = COUNTERS[counter];
        let kinds = readable.tools.iter().map(|tool| named(tool).unwrap());
        self.refusal(who, counter).is_none()
            && kinds.into_iter().all(|kind| {
                let is_allowed = match self.policy(counter, kind) {
                    Policy::Allow => true,
                    // Else a read would be a way around the question.
                    Policy::Ask => !readable.kind.shows_data(),
                    Policy::Deny => false,
                };
                self.is_offered(kind) && self.is_in_scope(who, kind) && is_allowed
            })
    }

    pub fn expected(&self, call: &Call, identity: &Identity) -> Expected {
        let refused = |code| Expected::Refused(vec![code]);
        if let Some(code) = self.refusal(call.who, identity.counter) {
            return refused(code);
        }
        let Some(kind) = call.kind() else {
            return refused("UNKNOWN_TOOL");
        };
        if !self.is_offered(kind) {
            return refused("TOOL_NOT_OFFERED");
        }
        if !self.is_in_scope(call.who, kind) {
            return refused("FORBIDDEN");
        }
        if let Some(code) = mistaken(kind, call.arguments.mistake, false) {
            return refused(code);
        }
        let inside = self.refusals_inside(call);
        if !inside.is_empty() {
            return Expected::Refused(inside);
        }
        // For a batch, the strictest of all the tools that it runs.
        let inner = call.inner.iter().filter_map(|(name, _)| named(name));
        let all = inner.chain([kind]);
        let policy = all.map(|kind| self.policy(identity.counter, kind)).max();
        if policy == Some(Policy::Deny) {
            return refused("DENIED_BY_POLICY");
        }
        if let Some(done) = self.done_with_key(call, kind, identity) {
            return done;
        }
        let is_granted = !call.is_batch() && self.grants.contains(&self.grant(identity));
        if policy == Some(Policy::Allow) || is_granted {
            return Expected::Runs(Basis::Free);
        }
        self.expected_of_question(call, identity)
    }

    /// A batch is refused as a whole for each call inside that would be refused
    /// alone. Which of them is named first is not promised.
    fn refusals_inside(&self, call: &Call) -> Vec<&'static str> {
        let refusal = |(name, arguments): &(&str, Arguments)| {
            let Some(kind) = named(name) else {
                return Some("INVALID_ARGUMENT");
            };
            match kind {
                kind if !self.is_offered(kind) => Some("TOOL_NOT_OFFERED"),
                // No batch runs another.
                kind if kind.work == Work::Batch => Some("INVALID_ARGUMENT"),
                kind if !self.is_in_scope(call.who, kind) => Some("FORBIDDEN"),
                kind => mistaken(kind, arguments.mistake, true),
            }
        };
        call.inner.iter().filter_map(refusal).collect()
    }

    fn expected_of_question(&self, call: &Call, identity: &Identity) -> Expected {
        let Some(question) = self.questions.get(identity) else {
            return Expected::Asks;
        };
        let is_fresh = self.now < question.asked_at + LAPSES;
        match &question.state {
            State::Pending => Expected::Asks,
            State::Approved if is_fresh => Expected::Runs(Basis::Approval),
            State::Approved => Expected::Asks,
            State::Denied { at } if self.now < at + DENIED_FOR => {
                Expected::Refused(vec!["APPROVAL_DENIED"])
            }
            State::Denied { .. } => Expected::Asks,
            State::Used { by, answer } => {
                let perhaps = Expected::Replays {
                    by: by.clone(),
                    perhaps: true,
                };
                match answer {
                    Delivery::Yes(desk) if *desk == call.desk => Expected::Asks,
                    Delivery::Yes(_) | Delivery::Perhaps => perhaps,
                    Delivery::No if is_fresh => Expected::Replays {
                        by: by.clone(),
                        perhaps: false,
                    },
                    Delivery::No => perhaps,
                }
            }
        }
    }

    /// A retry with an idempotency key is done at most once.
    fn done_with_key(&self, call: &Call, kind: &Kind, identity: &Identity) -> Option<Expected> {
        let (arguments, by) = self.keyed.get(&key_of(call, kind, identity)?)?;
        Some(if *arguments == identity.arguments {
            Expected::Replays {
                by: by.clone(),
                perhaps: false,
            }
        } else {
            Expected::Refused(vec!["IDEMPOTENCY_KEY_REUSED"])
        })
    }

    pub fn note_done(&mut self, call: &Call, identity: &Identity, by: &str) {
        let kind = call.kind().unwrap();
        if let Some(key) = key_of(call, kind, identity) {
            let done = (identity.arguments.clone(), by.to_owned());
            self.keyed.insert(key, done);
        }
    }

    /// The grant that a person's "always" gives for this call.
    pub fn grant(&self, identity: &Identity) -> Grant {
        Grant {
            caller: identity.caller.clone(),
            counter: identity.counter.to_owned(),
            tool: identity.tool.to_owned(),
            recipient: recipient(identity),
        }
    }

    fn waits(&self, question: &Question) -> bool {
        question.state == State::Pending && self.now < question.asked_at + LAPSES
    }

    /// Questions that a person is shown.
    pub fn pending(&self) -> BTreeSet<Identity> {
        let questions = self.questions.iter();
        let shown = questions.filter(|(_, question)| self.waits(question));
        shown.map(|(identity, _)| identity.clone()).collect()
    }

    pub fn ask(&mut self, identity: &Identity) {
        self.perhaps_asked.remove(identity);
        let asked_at = self.now;
        if !self
            .questions
            .get(identity)
            .is_some_and(|it| self.waits(it))
        {
            let state = State::Pending;
            self.questions
                .insert(identity.clone(), Question { asked_at, state });
        }
    }

    pub fn perhaps_ask(&mut self, identity: &Identity) {
        if !self
            .questions
            .get(identity)
            .is_some_and(|it| self.waits(it))
        {
            self.perhaps_asked.insert(identity.clone(), self.now);
        }
    }

    /// Takes over a question that a call asked before its client left.
    pub fn learn_pending(&mut self, shown: &BTreeSet<Identity>) {
        for identity in shown {
            if let Some(asked_at) = self.perhaps_asked.remove(identity) {
                let state = State::Pending;
                self.questions
                    .insert(identity.clone(), Question { asked_at, state });
            }
        }
    }

    pub fn set(&mut self, identity: &Identity, state: State) {
        self.questions.get_mut(identity).unwrap().state = state;
    }

    /// The kept answer of approved work was given to the identical call.
    pub fn replayed(&mut self, identity: &Identity, by: &str, answer: Delivery) {
        if let Some(question) = self.questions.get_mut(identity)
            && let State::Used {
                by: used_by,
                answer: before,
            } = &mut question.state
            && used_by == by
        {
            *before = answer;
        }
    }

    pub fn decide(&mut self, identity: &Identity, decision: Decision) {
        let state = match decision {
            Decision::Once | Decision::Always => State::Approved,
            Decision::Deny => State::Denied { at: self.now },
        };
        self.set(identity, state);
        if decision == Decision::Always {
            self.grants.push(self.grant(identity));
        }
    }
}

fn key_of(
    call: &Call,
    kind: &Kind,
    identity: &Identity,
) -> Option<(String, &'static str, &'static str, String)> {
    let request = call.arguments.request.filter(|_| kind.keyed)?;
    let caller = identity.caller.clone();
    Some((caller, identity.counter, identity.tool, request.to_owned()))
}

fn recipient(identity: &Identity) -> String {
    let kind = TOOLS.iter().find(|kind| kind.name == identity.tool);
    let people = ["ann", "bob"].into_iter();
    let mut named = people.filter(|name| identity.arguments.contains(name));
    match kind.is_some_and(|kind| kind.recipient) {
        true => named.next().unwrap_or_default().to_owned(),
        false => String::new(),
    }
}

/// The code that answers a mistake in the arguments. A read goes on without an
/// argument it does not know, unless it is part of a batch.
fn mistaken(kind: &Kind, mistake: Option<Mistake>, is_inside: bool) -> Option<&'static str> {
    match mistake? {
        Mistake::Missing => Some("INVALID_ARGUMENT"),
        Mistake::Unknown if kind.effect == Effect::Read && !is_inside => None,
        Mistake::Unknown => Some("UNKNOWN_ARGUMENT"),
    }
}

/// Whether the tool's work is undone: it fails inside a transaction.
pub fn is_undone(call: &Call) -> bool {
    let kind = call.kind();
    call.fails() && kind.is_some_and(|kind| kind.work == Work::Transaction)
}
