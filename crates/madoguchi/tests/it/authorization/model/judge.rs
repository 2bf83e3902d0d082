//! Runs a case step by step, and compares what came of each step with the model.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kit::Store;
use serde_json::{Value, json};

use super::{
    case::{Call, Case, Decision, Meanwhile, Prompt, Step, Who},
    counter::{BATCH, COUNTERS, Execution, TOOL_FAILED, Work},
    reads::READABLE,
    rules::{
        Basis, Delivery, Expected, Identity, LAPSES, MINUTE, Model, State, canonical, is_undone,
    },
    world::{Answered, Seen, World},
};

mod together;

/// What is wrong, in words.
pub type Verdict = Result<(), String>;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

pub struct Judge<'a> {
    model: Model<'a>,
    world: World,
    started: i64,
    /// Calls and reads that were answered, for the audit: id, caller, tool, code.
    answered: Vec<(String, String, String, Option<String>)>,
    /// Calls that did something.
    done: BTreeSet<String>,
    /// Calls and reads that were let in, or perhaps were.
    made: usize,
    /// The last call.
    last: Option<Identity>,
}

/// The whole case; an error names the step.
pub async fn judge(case: &Case, store: &Arc<dyn Store>, now: i64) -> Verdict {
    let mut judge = Judge::open(case, store, now).await;
    let mut verdict = Ok(());
    for (number, step) in case.steps.iter().enumerate() {
        if verdict.is_ok() {
            let about = |wrong| format!("step {number}, {step:?}: {wrong}");
            verdict = judge.step(step).await.map(drop).map_err(about);
        }
    }
    judge.close(verdict).await
}

impl<'a> Judge<'a> {
    pub async fn open(case: &'a Case, store: &Arc<dyn Store>, now: i64) -> Self {
        Self {
            model: Model::new(case, now),
            world: World::open(case, store, now).await,
            started: now,
            answered: Vec::new(),
            done: BTreeSet::new(),
            made: 0,
            last: None,
        }
    }

    fn advance(&mut self, by: i64) {
        self.model.now += by;
        self.world.set_clock(self.model.now);
    }

    /// `true` when it was a call whose client left.
    pub async fn step(&mut self, step: &Step) -> Result<bool, String> {
        // No two things happen at the same time.
        self.advance(1);
        let mut was_left = false;
        match step {
            Step::Together(call) if !self.model.case.hold => self.together(call).await?,
            Step::Call(call) | Step::Together(call) => was_left = self.call(call).await?,
            Step::Decide(at, decision) => self.decide(*at, *decision).await?,
            Step::RevokeKey(index) => {
                self.world.revoke_key(*index).await;
                self.model.revoked.insert(*index);
            }
            Step::RevokeGrant(at) => {
                let grants = self.world.grants().await;
                if let Some((grant, id)) = grants.get(*at) {
                    self.world.revoke_grant(id).await;
                    let known = self.model.grants.iter().position(|it| it == grant);
                    self.model.grants.remove(known.unwrap());
                }
            }
            Step::WaitMinutes(minutes) => self.advance(minutes * MINUTE),
            Step::Read {
                who,
                desk,
                counter,
                readable,
            } => self.read(*who, *desk, *counter, *readable).await?,
        }
        self.compare().await?;
        Ok(was_left)
    }

    async fn decide(&mut self, at: usize, decision: Decision) -> Verdict {
        let mut shown = self.world.shown().await;
        shown.sort_by_key(|(identity, _)| Some(identity) != self.last.as_ref());
        let Some((identity, id)) = shown.get(at) else {
            return Ok(());
        };
        let decided = self.world.decide(id, decision).await;
        if identity.tool == BATCH && decision == Decision::Always {
            let is_refused = decided == Err("ONCE_ONLY".to_owned());
            ensure!(is_refused, "a batch was granted for good: {decided:?}");
            return Ok(());
        }
        ensure!(decided.is_ok(), "a person could not decide: {decided:?}");
        self.model.decide(identity, decision);
        Ok(())
    }

    async fn read(&mut self, who: Who, desk: usize, counter: usize, readable: usize) -> Verdict {
        let readable = &READABLE[readable];
        let seen = self.world.read(who, desk, counter, readable).await;
        let may = self.model.may_read(who, counter, readable);
        let (began, result) = (seen.began, &seen.result);
        ensure!(
            began == may && result.is_ok() == may,
            "{readable:?} may be read: {may}, was read: {began}, {result:?}"
        );
        let codes = [
            "INVALID_KEY",
            "FORBIDDEN",
            "TOOL_NOT_OFFERED",
            "DENIED_BY_POLICY",
        ];
        let code = seen.result.err();
        let is_refusal = code.as_deref().is_none_or(|code| codes.contains(&code));
        ensure!(is_refusal, "a read was refused with {code:?}");
        if let Some(call) = seen.call {
            let (caller, tool) = (self.world.caller(who), readable.method().name);
            self.made += 1;
            self.answered.push((call, caller, tool.to_owned(), code));
        }
        Ok(())
    }

    fn identity(&mut self, call: &Call) -> Identity {
        let identity = Identity {
            caller: self.world.caller(call.who),
            counter: COUNTERS[call.counter],
            tool: call.kind().map_or("unknown", |kind| kind.name),
            arguments: canonical(&Value::Object(call.meant())),
        };
        self.last = Some(identity.clone());
        identity
    }

    async fn call(&mut self, call: &Call) -> Result<bool, String> {
        let identity = self.identity(call);
        let expected = self.model.expected(call, &identity);
        let trusted = self.model.trusts_prompts(call.who);
        let case = self.model.case;
        let seen = self.world.call(call, &identity, case).await;
        self.note(&identity, seen.answer.as_ref(), &seen.executions);
        let is_left = call.leaves.is_some() && (seen.answer.is_none() || seen.was_cancelled);
        let about = |wrong| format!("{wrong}\nexpected {expected:?}\nseen {seen:?}");
        ensure!(
            trusted || seen.prompts == 0,
            "an untrusted client was asked: {seen:?}"
        );
        about_it(&identity, &seen.executions)?;
        self.outcome(call, &identity, &expected, &seen, is_left)
            .map_err(about)?;
        Ok(is_left)
    }

    /// For the audit.
    fn note(&mut self, identity: &Identity, answer: Option<&Answered>, executions: &[Execution]) {
        self.made += 1;
        self.done
            .extend(executions.iter().map(|it| it.call.clone()));
        if let Some(answer) = answer
            && let Some(id) = &answer.call
        {
            let (caller, tool) = (identity.caller.clone(), identity.tool.to_owned());
            let code = answer.result.clone().err();
            self.answered.push((id.clone(), caller, tool, code));
        }
    }

    fn outcome(
        &mut self,
        call: &Call,
        identity: &Identity,
        expected: &Expected,
        seen: &Seen,
        is_left: bool,
    ) -> Verdict {
        match expected {
            Expected::Refused(codes) => {
                nothing_done(seen)?;
                answered_with(seen, is_left, codes)
            }
            Expected::Runs(basis) => self.ran(call, identity, *basis, seen, is_left),
            Expected::Asks => self.asked(call, identity, seen, is_left),
            Expected::Replays { by, perhaps } => {
                let result = seen.answer.as_ref().map(|answer| &answer.result);
                let is_replay = match result {
                    Some(Ok(reply)) => reply["call"] == **by,
                    Some(Err(code)) => code == TOOL_FAILED && call.fails(),
                    None => false,
                };
                // A new call may end in the same failure.
                let is_replay = is_replay && seen.executions.is_empty();
                if *perhaps && !is_replay {
                    return self.asked(call, identity, seen, is_left);
                }
                nothing_done(seen)?;
                if is_replay {
                    let answer = match is_left {
                        true => Delivery::Perhaps,
                        false => Delivery::Yes(call.desk),
                    };
                    self.model.replayed(identity, by, answer);
                    return Ok(());
                }
                answered_with(seen, is_left, &[])
            }
        }
    }

    /// A person is asked; and perhaps somebody decides while the call waits.
    fn asked(&mut self, call: &Call, identity: &Identity, seen: &Seen, is_left: bool) -> Verdict {
        let trusted = self.model.trusts_prompts(call.who);
        let by_prompt = match call.prompt {
            // It is not offered for a batch, so it is a no.
            Prompt::Answers(Decision::Always) if trusted && call.is_batch() => {
                Some(Meanwhile::Decides(Decision::Deny))
            }
            Prompt::Answers(decision) if trusted => Some(Meanwhile::Decides(decision)),
            _ => None,
        };
        let Some(meanwhile) = seen.meanwhile.or(by_prompt) else {
            nothing_done(seen)?;
            let code = seen.answer.as_ref().map(|answer| &answer.result);
            match is_left && code != Some(&Err("APPROVAL_REQUIRED".to_owned())) {
                true => self.model.perhaps_ask(identity),
                false => self.model.ask(identity),
            }
            return answered_with(seen, is_left, &["APPROVAL_REQUIRED"]);
        };
        self.model.ask(identity);
        match meanwhile {
            Meanwhile::Decides(Decision::Deny) => {
                self.model.decide(identity, Decision::Deny);
                nothing_done(seen)?;
                answered_with(seen, is_left, &["APPROVAL_DENIED"])
            }
            Meanwhile::Decides(decision) => {
                // No standing grant for a batch: the person says yes to this one.
                let decision = if call.is_batch() {
                    Decision::Once
                } else {
                    decision
                };
                self.model.decide(identity, decision);
                self.ran(call, identity, Basis::Approval, seen, is_left)
            }
            Meanwhile::Lapses => {
                self.model.now += LAPSES;
                nothing_done(seen)?;
                // The key may expire in the same moment.
                let both: &[&str] = match self.model.refusal(call.who, identity.counter).is_none() {
                    true => &["APPROVAL_EXPIRED"],
                    false => &["APPROVAL_EXPIRED", "CANCELLED"],
                };
                answered_with(seen, is_left, both)
            }
            Meanwhile::RevokesKey | Meanwhile::ClientCancels => {
                if let (Meanwhile::RevokesKey, Who::Key(index) | Who::LocalWithKey(index)) =
                    (meanwhile, call.who)
                {
                    self.model.revoked.insert(index);
                }
                nothing_done(seen)?;
                answered_with(seen, is_left, &["CANCELLED"])
            }
        }
    }

    /// The call may be done, once.
    fn ran(
        &mut self,
        call: &Call,
        identity: &Identity,
        basis: Basis,
        seen: &Seen,
        is_left: bool,
    ) -> Verdict {
        let (fails, undone) = (call.fails(), is_undone(call));
        let most = usize::from(!undone);
        let count = seen.executions.len();
        ensure!(count <= most, "it was done {count} times");
        ensure!(is_left || count == most, "it was not done");
        let done = seen.executions.first();
        let result = seen.answer.as_ref().map(|answer| &answer.result);
        let is_transaction = call.kind().unwrap().work == Work::Transaction;
        match result {
            Some(Ok(reply)) => {
                let own = done.is_some_and(|done| reply["call"] == *done.call);
                ensure!(own && !fails, "the answer is of another call, or of none");
            }
            Some(Err(code)) if code == TOOL_FAILED => ensure!(fails, "it failed"),
            Some(Err(code)) if code == "CANCELLED" && is_left => {
                ensure!(
                    !(is_transaction && done.is_some()),
                    "it was done, and cancelled"
                );
            }
            Some(Err(code)) => return Err(format!("it was refused with {code}")),
            None => ensure!(is_left, "there is no answer"),
        }
        let Some(done) = done else {
            return Ok(());
        };
        if !fails {
            self.model.note_done(call, identity, &done.call);
        }
        if basis == Basis::Approval {
            let answer = match (is_left, result) {
                (false, _) => Delivery::Yes(call.desk),
                (true, Some(_)) => Delivery::Perhaps,
                (true, None) => Delivery::No,
            };
            let by = done.call.clone();
            self.model.set(identity, State::Used { by, answer });
            let is_task = matches!(call.kind().unwrap().work, Work::Task | Work::Batch);
            ensure!(
                !is_task || self.world.log.has_ended(&done.call),
                "work that a person approved was begun and not ended"
            );
        }
        Ok(())
    }

    /// What a person is shown is what the model says.
    async fn compare(&mut self) -> Verdict {
        let shown = self.world.shown().await;
        let identities: BTreeSet<_> = shown.iter().map(|(identity, _)| identity.clone()).collect();
        ensure!(identities.len() == shown.len(), "asked twice: {shown:?}");
        self.model.learn_pending(&identities);
        let expected = self.model.pending();
        ensure!(
            identities == expected,
            "questions that wait: {identities:?}, expected: {expected:?}"
        );
        let grants = self.world.grants().await;
        let grants: Vec<_> = grants.into_iter().map(|(grant, _)| grant).collect();
        self.model.grants.sort();
        let expected = &self.model.grants;
        ensure!(
            grants == *expected,
            "grants: {grants:?}, expected: {expected:?}"
        );
        Ok(())
    }

    /// Ends the desk; then every call has its record, and nothing was done without.
    pub async fn close(self, verdict: Verdict) -> Verdict {
        let records = self.world.close(self.started).await;
        verdict?;
        let mut calls = BTreeMap::new();
        for record in records.iter().filter(|record| record["kind"] == "call") {
            let id = record["call"].as_str().unwrap().to_owned();
            let twice = calls.insert(id, record);
            ensure!(twice.is_none(), "recorded twice: {record}");
        }
        let (recorded, made) = (calls.len(), self.made);
        ensure!(recorded <= made, "{recorded} records for {made} calls");
        for (id, caller, tool, code) in &self.answered {
            let Some(record) = calls.get(id) else {
                return Err(format!("no record of {tool} by {caller}, {code:?}"));
            };
            let is_right = record["caller"] == **caller
                && record["tool"] == **tool
                && record["code"] == json!(code);
            ensure!(is_right, "{tool} by {caller}, {code:?}: {record}");
        }
        for id in &self.done {
            ensure!(calls.contains_key(id), "done without a record: {id}");
        }
        Ok(())
    }
}

/// What was done is what this call is about.
fn about_it(identity: &Identity, executions: &[Execution]) -> Verdict {
    for execution in executions {
        let is_it = execution.caller == identity.caller
            && execution.counter == identity.counter
            && execution.tool == identity.tool
            && canonical(&execution.arguments) == identity.arguments;
        ensure!(
            is_it,
            "something else was done: {execution:?} for {identity:?}"
        );
    }
    Ok(())
}

fn nothing_done(seen: &Seen) -> Verdict {
    ensure!(seen.executions.is_empty(), "it was done");
    Ok(())
}

/// The answer has one of these codes. A client that left may have none, or be
/// told that it left.
fn answered_with(seen: &Seen, is_left: bool, codes: &[&str]) -> Verdict {
    let code = match seen.answer.as_ref().map(|answer| &answer.result) {
        None => None,
        Some(Ok(reply)) => return Err(format!("it was answered: {reply}")),
        Some(Err(code)) => Some(code.as_str()),
    };
    let is_right = match code {
        None => is_left,
        Some("CANCELLED") if is_left => true,
        Some(code) => codes.contains(&code),
    };
    ensure!(
        is_right,
        "the answer is {code:?}, and should be one of {codes:?}"
    );
    Ok(())
}
