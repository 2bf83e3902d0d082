//! All approvals of a desk.

use std::sync::Arc;

use kit::{Error, Result, Sql, approval::Card, sql::Budget, time::Clock};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    approval::{Approval, ApprovalQuestion, Decision, LONGEST_QUESTION, Status},
    grants::{self, Grant, GrantScope},
    in_use::{ApprovalHolder, ApprovalInUse, CallsByApproval},
    rows,
};
use crate::state::{self, DeskState};

/// How many questions of one caller may wait. Nobody reads more.
const MOST_WAITING: i64 = 50;

/// How long decided approvals are listed.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

pub struct Approvals {
    state: Arc<DeskState>,
    clock: Clock,
    /// Counts changes, of this process and of others.
    changed: watch::Sender<u64>,
    in_use: CallsByApproval,
}

impl Approvals {
    pub fn new(state: &Arc<DeskState>, clock: &Clock) -> Self {
        Self {
            state: Arc::clone(state),
            clock: clock.clone(),
            changed: watch::Sender::new(0),
            in_use: CallsByApproval::default(),
        }
    }

    /// Counts changes: of this process at once, of others within a quarter of a
    /// second.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub fn announce(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = &self.state.get().await?.store;
        store.query(Budget::default(), job).await
    }

    /// Changes rows and notifies everybody who watches.
    async fn write<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = &self.state.get().await?.store;
        let done = store
            .transaction(Budget::default(), move |sql| {
                // First, because on PostgreSQL this makes changes wait for each other.
                state::touch(sql, state::APPROVALS)?;
                job(sql)
            })
            .await?;
        self.announce();
        state::announce(store, state::APPROVALS);
        Ok(done)
    }

    /// Newest first; `None`: of any status.
    pub async fn list(&self, only: Option<Status>, limit: i64) -> Result<Vec<Approval>> {
        let now = self.now();
        self.read(move |sql| rows::list(sql, only, limit, now))
            .await
    }

    /// How many questions wait for an answer.
    pub async fn count_waiting(&self) -> Result<i64> {
        let now = self.now();
        self.read(move |sql| rows::count_all_waiting(sql, now))
            .await
    }

    pub async fn get(&self, id: &str) -> Result<Approval> {
        let (id, now) = (id.to_owned(), self.now());
        self.read(move |sql| rows::one(sql, &id, now)).await
    }

    /// Decides a question. Whoever comes second gets an error with the decision.
    pub async fn decide(&self, id: &str, decision: Decision, by: &str) -> Result<Approval> {
        let (id, by, now) = (id.to_owned(), by.to_owned(), self.now());
        self.write(move |sql| {
            let (status, reason) = match &decision {
                Decision::Once | Decision::Always => (Status::Approved, None),
                Decision::Deny { reason } => {
                    let reason = Some(reason.trim()).filter(|reason| !reason.is_empty());
                    (Status::Denied, reason)
                }
            };
            if decision == Decision::Always
                && !rows::one(sql, &id, now)?.card.allows_standing_grant()
            {
                return Err(once_only());
            }
            let changed = sql.execute(
                "UPDATE desk_approvals
                 SET status = $1, decided_at = $2, decided_by = $3, reason = $4
                 WHERE id = $5 AND status = 'pending' AND expires_at > $2",
                &[
                    status.word().into(),
                    now.into(),
                    (&by).into(),
                    reason.into(),
                    (&id).into(),
                ],
            )?;
            let approval = rows::one(sql, &id, now)?;
            if changed == 0 {
                return Err(too_late(&approval));
            }
            if decision == Decision::Always {
                grants::insert(sql, &approval, &by, now)?;
            }
            Ok(approval)
        })
        .await
    }

    /// Adds the question, unless the same one waits already.
    pub async fn ask(&self, question: ApprovalQuestion) -> Result<Approval> {
        let now = self.now();
        let arguments = question.arguments.to_string();
        let card = serde_json::to_string(&question.card).map_err(Error::internal)?;
        if arguments.len() + card.len() > LONGEST_QUESTION {
            return Err(too_long(arguments.len() + card.len()));
        }
        self.write(move |sql| {
            if let Some(waiting) = rows::latest(sql, &question, now)?
                && waiting.status == Status::Pending
            {
                if waiting.card.state == question.card.state {
                    return Ok(waiting);
                }
                // Its card is out of date, so nobody should decide it.
                sql.execute(
                    "UPDATE desk_approvals SET expires_at = $1 WHERE id = $2 AND status = 'pending'",
                    &[now.into(), (&waiting.id).into()],
                )?;
            }
            if rows::count_waiting(sql, &question.caller, now)? >= MOST_WAITING {
                return Err(Error::new(
                    "TOO_MANY_QUESTIONS",
                    format!("{MOST_WAITING} of your calls already wait for the user."),
                )
                .next("Nothing was done. Wait until the user has decided them."));
            }
            rows::delete_expired(sql, &question.caller, now)?;
            let id = rows::insert(sql, &question, &arguments, &card, now)?;
            rows::one(sql, &id, now)
        })
        .await
    }

    /// The newest approval of exactly this call, in any status.
    pub async fn latest(&self, question: &ApprovalQuestion) -> Result<Option<Approval>> {
        let (question, now) = (question.clone(), self.now());
        self.read(move |sql| rows::latest(sql, &question, now))
            .await
    }

    /// Marks the approval as used by a call of this process. `client` is cancelled
    /// when its client disconnects.
    pub fn start_use(&self, id: &str, client: &CancellationToken) -> ApprovalInUse {
        self.in_use.take(id, client)
    }

    /// The same, unless another call uses it.
    pub fn start_use_if_free(&self, id: &str, client: &CancellationToken) -> Option<ApprovalInUse> {
        self.in_use.start_use_if_free(id, client)
    }

    /// Which call has the answer that belongs to the approval, or waits for it.
    pub fn holder(&self, approval: &Approval) -> ApprovalHolder {
        if approval.delivered_at.is_some() {
            return ApprovalHolder::Waiting;
        }
        self.in_use.holder(&approval.id)
    }

    /// Stores that the answer was delivered.
    pub async fn delivered(&self, id: &str) -> Result<()> {
        let (row, now) = (id.to_owned(), self.now());
        self.write(move |sql| {
            sql.execute(
                "UPDATE desk_approvals
                 SET delivered_at = $1, status = 'used', used_at = COALESCE(used_at, $1)
                 WHERE id = $2",
                &[now.into(), (&row).into()],
            )
        })
        .await?;
        self.in_use.forget(id);
        Ok(())
    }

    /// The standing grants in force, newest first.
    pub async fn grants(&self) -> Result<Vec<Grant>> {
        self.read(grants::list).await
    }

    pub async fn revoke_grant(&self, id: &str) -> Result<()> {
        let (id, now) = (id.to_owned(), self.now());
        self.write(move |sql| grants::revoke(sql, &id, now)).await
    }

    /// The grant with which this call needs no approval.
    pub async fn granted(&self, call: GrantScope, card: &Card) -> Result<Option<String>> {
        let card = card.clone();
        self.read(move |sql| call.find(sql, &card)).await
    }

    /// Deletes approvals that are no longer listed. Called every hour.
    pub async fn purge(&self) -> Result<()> {
        let before = self.now() - KEPT_MS;
        let Some(state) = self.state.opened() else {
            return Ok(());
        };
        state
            .store
            .transaction(Budget::default(), move |sql| {
                sql.execute(
                    "DELETE FROM desk_approvals WHERE created_at < $1",
                    &[before.into()],
                )
            })
            .await
            .map(drop)
    }
}

fn once_only() -> Error {
    Error::new(
        "ONCE_ONLY",
        "This call can be approved only once, because it runs several tools or changes something that exists.",
    )
    .next("Nothing was decided. Approve it without a standing grant, or deny it.")
}

fn too_long(bytes: usize) -> Error {
    Error::new(
        "TOO_LONG_TO_APPROVE",
        format!(
            "This call needs the user's approval and is too long for that: {bytes} bytes with what the user is shown, of {LONGEST_QUESTION} at most."
        ),
    )
    .next("Nothing was done. Make several shorter calls.")
    .japanese(format!(
        "承認が必要な呼び出しですが、長すぎて表示できません({bytes}バイト、上限{LONGEST_QUESTION}バイト)。何も行っていません。短い呼び出しに分けてください。"
    ))
    .details(serde_json::json!({ "bytes": bytes, "most": LONGEST_QUESTION }))
}

fn too_late(approval: &Approval) -> Error {
    let (code, what) = match approval.status {
        Status::Expired => ("APPROVAL_EXPIRED", "This question has expired"),
        Status::Denied => ("ALREADY_DECIDED", "This is already denied"),
        _ => ("ALREADY_DECIDED", "This is already approved"),
    };
    let by = approval.decided_by.as_deref();
    let by = by.map_or(String::new(), |by| format!(", by {by}"));
    Error::new(code, format!("{what}{by}.")).next("Nothing was changed.")
}
