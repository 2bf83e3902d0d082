//! A desk in this process, in fact two on the same rows, and everything that can
//! happen to them.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use desk::{
    DESK, Desk, approvals, audit, key_change,
    pipeline::{Answer, ReadRequest, Refusal, ToolCall},
    stations::identify::Credentials,
};
use jiff::Timestamp;
use kit::{Caller, Context, Error, Sql, Store, context::NoClient, sql::Budget, time::Clock};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    case::{Call, Case, Decision, How, Meanwhile, Who},
    client::{Client, Told, until},
    counter::{self, COUNTERS, Execution, Log},
    reads::Readable,
    rules::{Grant, Identity, canonical},
};

mod start;

pub use start::prepare;

/// Nothing takes this long; without it a call that is never answered would
/// hang the test.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct World {
    pub desks: Vec<Arc<Desk>>,
    store: Arc<dyn Store>,
    pub log: Arc<Log>,
    clock: Clock,
    /// The id and the secret of each key.
    keys: Vec<(String, String)>,
    /// The calls of the executions that a step has seen.
    seen: Vec<String>,
    _directory: tempfile::TempDir,
}

/// What came of a call.
#[derive(Debug)]
pub struct Seen {
    /// `None`: its client hung up before the answer.
    pub answer: Option<Answered>,
    /// What was done since the step before.
    pub executions: Vec<Execution>,
    /// How often the client was asked.
    pub prompts: usize,
    /// The client cancelled, or its key was revoked meanwhile.
    pub was_cancelled: bool,
    /// What happened while it was held.
    pub meanwhile: Option<Meanwhile>,
}

#[derive(Debug, Clone)]
pub struct Answered {
    /// Names the call in the audit; refusals before `resolve` have none.
    pub call: Option<String>,
    pub result: Result<Value, String>,
}

struct Begun<'a> {
    future: Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + 'a>>,
    told: Arc<Told>,
    /// Gone when nothing is done for the call any more.
    is_over: Weak<Client>,
    cancel: CancellationToken,
}

impl World {
    /// What a desk does four times a second.
    async fn read_keys(&self) {
        for desk in &self.desks {
            desk.keyring.refresh().await.unwrap();
        }
    }

    pub fn set_clock(&self, now: i64) {
        self.clock.set(Timestamp::from_millisecond(now).unwrap());
        for desk in &self.desks {
            desk.keyring.sweep();
            desk.approvals.announce();
        }
    }

    pub fn caller(&self, who: Who) -> String {
        match who {
            Who::LocalUser => "local".to_owned(),
            Who::Key(index) | Who::LocalWithKey(index) => format!("key:{}", self.keys[index].0),
            Who::Anonymous | Who::NoKey | Who::WrongKey => "anonymous".to_owned(),
        }
    }

    fn credentials(&self, who: Who) -> Credentials {
        match who {
            Who::LocalUser => Credentials::LocalUser,
            Who::Anonymous => Credentials::Nothing {
                key_required: false,
            },
            Who::NoKey => Credentials::Nothing { key_required: true },
            Who::Key(index) => Credentials::Key(self.keys[index].1.clone()),
            Who::LocalWithKey(index) => Credentials::LocalUserWith(self.keys[index].1.clone()),
            Who::WrongKey => {
                let unknown = format!("mdg_{}_{}", "0".repeat(12), "0".repeat(26));
                Credentials::Key(unknown)
            }
        }
    }

    /// A call from its client's first byte to its answer.
    fn begin<'a>(&'a self, call: &'a Call, desk: usize) -> Begun<'a> {
        let desk = &self.desks[desk];
        let served = desk.counter(COUNTERS[call.counter]).unwrap();
        let told = Arc::new(Told::default());
        let client = Arc::new(Client {
            prompt: call.prompt,
            told: Arc::clone(&told),
        });
        let is_over = Arc::downgrade(&client);
        let (cancel, credentials) = (CancellationToken::new(), self.credentials(call.who));
        let token = cancel.clone();
        let future = async move {
            let admitted = desk.admit(served, &credentials, "tools/call").await?;
            let call = ToolCall {
                admitted,
                name: call.name.to_owned(),
                arguments: call.sent(),
                client,
                cancel: token,
                language: None,
            };
            desk.call(served, call).await
        };
        Begun {
            future: Box::pin(future),
            told,
            is_over,
            cancel,
        }
    }

    /// The same call several times at once, at these desks.
    pub async fn together(
        &mut self,
        call: &Call,
        desks: &[usize],
    ) -> (Vec<Answered>, Vec<Execution>) {
        let begun: Vec<_> = desks.iter().map(|desk| self.begin(call, *desk)).collect();
        let (futures, over): (Vec<_>, Vec<_>) = begun
            .into_iter()
            .map(|begun| (begun.future, begun.is_over))
            .unzip();
        let answers = patient(futures::future::join_all(futures)).await;
        for is_over in over {
            self.settle(is_over, false).await;
        }
        let answers = answers.into_iter().map(answered).collect();
        (answers, self.executions().await)
    }

    pub async fn call(&mut self, call: &Call, identity: &Identity, case: &Case) -> Seen {
        let Begun {
            mut future,
            told,
            is_over,
            cancel,
        } = self.begin(call, call.desk);
        let mut meanwhile = None;
        let decides = matches!(call.meanwhile, Meanwhile::Decides(_));
        // A client that leaves while a person decides leaves after that.
        let leaves_first = call.leaves.filter(|_| !(case.hold && decides));
        let first = async {
            match leaves_first {
                Some(leaves) => until(future.as_mut(), leaves.when, &self.log).await,
                None => Some(future.as_mut().await),
            }
        };
        let first = async {
            tokio::select! {
                biased;
                answer = pin!(first) => Ok(answer),
                () = told.held.notified(), if case.hold => Err(()),
            }
        };
        let answer = match patient(first).await {
            Ok(answer) => answer,
            Err(()) if call.leaves.is_none() || decides => {
                meanwhile = Some(call.meanwhile);
                self.happens(call, identity, &cancel).await;
                match call.leaves {
                    Some(leaves) => patient(until(future.as_mut(), leaves.when, &self.log)).await,
                    None => Some(patient(future.as_mut()).await),
                }
            }
            Err(()) => None,
        };
        let answer = match (answer, call.leaves.map(|leaves| leaves.how)) {
            (None, Some(How::Cancels)) => {
                cancel.cancel();
                Some(patient(future.as_mut()).await)
            }
            (answer, _) => answer,
        };
        drop(future);
        let was_left = call.leaves.is_some();
        self.settle(is_over, was_left).await;
        Seen {
            answer: answer.map(answered),
            executions: self.executions().await,
            prompts: told.prompts.load(Ordering::SeqCst),
            was_cancelled: cancel.is_cancelled(),
            meanwhile,
        }
    }

    /// Waits until nothing is done for a call any more: its work and every job in
    /// a store hold its client.
    async fn settle(&self, is_over: Weak<Client>, was_left: bool) {
        let over = async {
            while is_over.strong_count() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        patient(over).await;
        if was_left {
            // Behind whatever it still had for the writer.
            let nothing = |_: &mut dyn Sql| Ok(());
            let behind = self.store.transaction(Budget::default(), nothing);
            behind.await.unwrap();
        }
    }

    /// Something happens while the call is held.
    async fn happens(&self, call: &Call, identity: &Identity, cancel: &CancellationToken) {
        let shown = self.shown().await;
        let mut shown = shown.iter().filter(|(about, _)| about == identity);
        let (_, id) = shown.next().expect("a held call has a question");
        match call.meanwhile {
            Meanwhile::Decides(decision) => {
                let decided = self.decide(id, decision).await;
                if call.is_batch() && decision == Decision::Always {
                    assert_eq!(decided, Err("ONCE_ONLY".to_owned()));
                    self.decide(id, Decision::Once).await.unwrap();
                } else {
                    decided.unwrap();
                }
            }
            Meanwhile::Lapses => {
                let lapsed = self.clock.now().as_millisecond() + super::rules::LAPSES;
                self.set_clock(lapsed);
            }
            Meanwhile::RevokesKey => match call.who {
                Who::Key(index) | Who::LocalWithKey(index) => self.revoke_key(index).await,
                _ => cancel.cancel(),
            },
            Meanwhile::ClientCancels => cancel.cancel(),
        }
    }

    pub async fn decide(&self, id: &str, decision: Decision) -> Result<(), String> {
        let decision = match decision {
            Decision::Once => approvals::Decision::Once,
            Decision::Always => approvals::Decision::Always,
            Decision::Deny => approvals::Decision::Deny {
                reason: String::new(),
            },
        };
        // Both desks are told, as they would be within a quarter of a second.
        let decided = self.desks[0].approvals.decide(id, decision, "a test").await;
        self.desks[1].approvals.announce();
        decided.map(drop).map_err(|error| error.code.into_owned())
    }

    /// The questions a person is shown, by what they are about.
    pub async fn shown(&self) -> Vec<(Identity, String)> {
        let approvals = &self.desks[0].approvals;
        let pending = approvals
            .list(Some(approvals::Status::Pending), 1_000)
            .await;
        let shown = pending.unwrap().into_iter().map(|approval| {
            let counter = COUNTERS.into_iter().find(|name| *name == approval.counter);
            let identity = Identity {
                caller: approval.caller.id.to_string(),
                counter: counter.unwrap(),
                tool: counter::named(&approval.tool).unwrap().name,
                arguments: canonical(&approval.arguments),
            };
            (identity, approval.id)
        });
        let mut shown: Vec<_> = shown.collect();
        shown.sort();
        shown
    }

    pub async fn grants(&self) -> Vec<(Grant, String)> {
        let grants = self.desks[0].approvals.grants().await.unwrap();
        let grant = |grant: approvals::Grant| {
            let about = Grant {
                caller: grant.caller.id.to_string(),
                counter: grant.counter,
                tool: grant.tool,
                recipient: grant.recipient,
            };
            (about, grant.id)
        };
        let mut grants: Vec<_> = grants.into_iter().map(grant).collect();
        grants.sort();
        grants
    }

    pub async fn revoke_grant(&self, id: &str) {
        self.desks[0].approvals.revoke_grant(id).await.unwrap();
    }

    pub async fn revoke_key(&self, index: usize) {
        let id = &self.keys[index].0;
        let revoked = key_change::revoke(&self.desks[0], Caller::local_user(), id);
        revoked.await.unwrap();
        self.read_keys().await;
    }

    /// What was done since this was last asked.
    async fn executions(&mut self) -> Vec<Execution> {
        let mut all = counter::committed(&self.store).await;
        all.extend(self.log.begun());
        let ids = all.iter().map(|execution| execution.call.clone()).collect();
        let mut before = std::mem::replace(&mut self.seen, ids);
        // One call may do something twice, or later: each time counts.
        all.retain(|execution| {
            let known = before.iter().position(|id| *id == execution.call);
            known.map(|at| before.swap_remove(at)).is_none()
        });
        all
    }

    /// Whether the read's work began, and what it answered.
    pub async fn read(
        &self,
        who: Who,
        desk: usize,
        counter: usize,
        readable: &Readable,
    ) -> ReadSeen {
        let desk = &self.desks[desk];
        let served = desk.counter(COUNTERS[counter]).unwrap();
        let credentials = self.credentials(who);
        let method = readable.method();
        let Ok(admitted) = desk.admit(served, &credentials, method.name).await else {
            return ReadSeen {
                call: None,
                began: false,
                result: Err("INVALID_KEY".to_owned()),
            };
        };
        let caller = admitted.who.caller.clone();
        let context = Context::new(caller, self.clock.clone(), Arc::new(NoClient));
        let (uris, reference) = ([readable.what.to_owned()], readable.reference());
        let request = ReadRequest {
            from: &admitted,
            method,
            target: readable.target(&uris, reference.as_ref()),
            context: &context,
        };
        let began = AtomicUsize::new(0);
        let work = async {
            began.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let result = desk.read(served, &request, work).await;
        ReadSeen {
            call: Some(context.call.to_string()),
            began: began.load(Ordering::SeqCst) > 0,
            result: result.map_err(|error| error.code.into_owned()),
        }
    }

    /// Ends both desks, and returns every record of their trail from `since` on that is
    /// about a caller.
    pub async fn close(self, since: i64) -> Vec<Value> {
        for desk in &self.desks {
            desk.audit.close().await;
        }
        let trail = self.desks[0].audit.trail.clone().unwrap();
        // Files are each case's own, and are told apart by the real clock.
        let is_shared = self.store.engine() == "postgres";
        let filter = audit::Filter {
            since: is_shared.then_some(since),
            ..audit::Filter::default()
        };
        let read = audit::blocking(&trail.store, move |store, _| {
            audit::find(store, &filter, None, audit::UNWATCHED)
        });
        let found = read.await.unwrap();
        for desk in &self.desks {
            // What still waits to note that an answer arrived.
            desk.stopping.cancel();
            desk.in_flight.close();
            patient(desk.in_flight.wait()).await;
        }
        let found = found.into_iter().map(|found| found.json);
        found.filter(|record| record["counter"] != DESK).collect()
    }
}

pub struct ReadSeen {
    pub call: Option<String>,
    pub began: bool,
    pub result: Result<(), String>,
}

async fn patient<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, work).await;
    done.expect("it takes forever")
}

fn answered(answer: Result<Answer, Refusal>) -> Answered {
    let refused = |call, code: &str| Answered {
        call,
        result: Err(code.to_owned()),
    };
    match answer {
        Ok(answer) => Answered {
            call: Some(answer.call.to_string()),
            result: match answer.result {
                Ok(reply) => match reply.json() {
                    Some(json) => Ok(json.parse().unwrap()),
                    None => panic!("{reply:?}"),
                },
                Err(Error { code, .. }) => Err(code.into_owned()),
            },
        },
        Err(Refusal::InvalidKey) => refused(None, "INVALID_KEY"),
        Err(Refusal::OutOfScope { .. }) => refused(None, "OUT_OF_SCOPE"),
        Err(Refusal::UnknownTool { call, .. }) => refused(Some(call.to_string()), "UNKNOWN_TOOL"),
        Err(other) => panic!("{other:?}"),
    }
}
