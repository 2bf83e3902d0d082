//! What waits for the user, what was decided, and what is allowed for good.
//!
//! An approval is a row: asked for by the station (`stations/approve.rs`),
//! decided by a person (the console, `madoguchi approvals`, or the client's own
//! prompt), used by the call it is about, in that call's own transaction
//! ([`redemption`]). Every change of state is one `UPDATE` that names the state
//! it expects, so that of two people who decide at once one is told so.

pub mod grants;
mod in_hand;
pub mod redemption;

use std::sync::Arc;

use kit::{
    Caller, Error, Result, Row, Sql,
    approval::Card,
    sql::{Budget, Param},
    time::Clock,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::state::{self, DeskState};

pub use grants::{Grant, Granted};
pub use in_hand::{Holder, InHand};

/// How long a question waits for its answer, and an approval for its call.
pub const LAPSES_MS: i64 = 10 * 60 * 1000;

/// How many questions of one caller may wait: nobody reads more.
const MOST_WAITING: i64 = 50;

/// How many questions of one caller are kept that lapsed undecided.
const MOST_LAPSED: i64 = 100;

/// Bytes kept of one question: its arguments and its card.
pub const LONGEST_QUESTION: usize = 128 * 1024;

/// How long decided approvals stay in the lists.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Waits for a person.
    Pending,
    /// Waits for the identical call.
    Approved,
    Denied,
    /// Nobody decided in time, or the approved call never came.
    Expired,
    Used,
}

impl Status {
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Approved,
        Self::Denied,
        Self::Expired,
        Self::Used,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

#[derive(Debug, Clone)]
pub struct Approval {
    pub id: String,
    pub counter: String,
    pub tool: String,
    pub caller: Caller,
    pub arguments: Value,
    pub digest: String,
    pub card: Card,
    /// As of when it was read: what lapsed meanwhile is `Expired`.
    pub status: Status,
    pub created_at: i64,
    pub expires_at: i64,
    pub decided_at: Option<i64>,
    pub decided_by: Option<String>,
    pub reason: Option<String>,
    pub delivered_at: Option<i64>,
}

/// What a person says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This time only.
    Once,
    /// Always, for this caller, tool and recipient.
    Always,
    Deny {
        reason: String,
    },
}

/// A call that needs a person's consent.
#[derive(Debug, Clone)]
pub struct Question {
    pub counter: &'static str,
    pub tool: &'static str,
    pub caller: Caller,
    pub arguments: Value,
    pub digest: String,
    pub card: Card,
}

pub struct Approvals {
    state: Arc<DeskState>,
    clock: Clock,
    /// Counts up whenever something changed, here or in another process.
    changed: watch::Sender<u64>,
    in_hand: in_hand::Calls,
}

const COLUMNS: &str = "id, counter, tool, caller, caller_name, arguments, digest, card, status,
    created_at, expires_at, decided_at, decided_by, reason, delivered_at";

impl Approvals {
    pub fn new(state: &Arc<DeskState>, clock: &Clock) -> Self {
        Self {
            state: Arc::clone(state),
            clock: clock.clone(),
            changed: watch::Sender::new(0),
            in_hand: in_hand::Calls::default(),
        }
    }

    /// Counts up with every change: of this process at once, of others within a
    /// quarter of a second.
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

    /// Changes rows and tells everybody who watches.
    async fn write<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = &self.state.get().await?.store;
        let done = store
            .transaction(Budget::default(), move |sql| {
                // First: on PostgreSQL it makes changes wait for each other.
                state::touch(sql, state::APPROVALS)?;
                job(sql)
            })
            .await?;
        self.announce();
        Ok(done)
    }

    /// Newest first; `None`: whatever their status.
    pub async fn list(&self, only: Option<Status>, limit: i64) -> Result<Vec<Approval>> {
        let now = self.now();
        // In the query, so that newer ones of another status hide none of these.
        let (wanted, by_time) = match only {
            None => ("1 = 1", false),
            Some(Status::Pending) => ("status = 'pending' AND expires_at > $2", true),
            Some(Status::Approved) => ("status = 'approved' AND expires_at > $2", true),
            Some(Status::Denied) => ("status = 'denied'", false),
            Some(Status::Used) => ("status = 'used'", false),
            Some(Status::Expired) => (
                "status IN ('pending', 'approved') AND expires_at <= $2",
                true,
            ),
        };
        self.read(move |sql| {
            let sql_text = format!(
                "SELECT {COLUMNS} FROM desk_approvals WHERE {wanted}
                 ORDER BY created_at DESC, id LIMIT $1"
            );
            let parameters = [limit.into(), now.into()];
            let used = if by_time { 2 } else { 1 };
            sql.query(&sql_text, parameters.get(..used).unwrap_or_default())?
                .iter()
                .map(|row| approval(row, now))
                .collect()
        })
        .await
    }

    pub async fn get(&self, id: &str) -> Result<Approval> {
        let (id, now) = (id.to_owned(), self.now());
        self.read(move |sql| one(sql, &id, now)).await
    }

    /// Decides a question. Whoever comes second is told what was decided.
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
            if decision == Decision::Always && !one(sql, &id, now)?.card.allows_standing_grant() {
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
            let approval = one(sql, &id, now)?;
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

    /// The question's row: the one that already waits for the same call, else a
    /// new one.
    pub async fn ask(&self, question: Question) -> Result<Approval> {
        let now = self.now();
        let arguments = question.arguments.to_string();
        let card = serde_json::to_string(&question.card).map_err(Error::internal)?;
        if arguments.len() + card.len() > LONGEST_QUESTION {
            return Err(too_long(arguments.len() + card.len()));
        }
        self.write(move |sql| {
            if let Some(waiting) = latest(sql, &question, now)?
                && waiting.status == Status::Pending
            {
                if waiting.card.state == question.card.state {
                    return Ok(waiting);
                }
                // It shows what is no longer so: nobody should decide about that.
                sql.execute(
                    "UPDATE desk_approvals SET expires_at = $1 WHERE id = $2 AND status = 'pending'",
                    &[now.into(), (&waiting.id).into()],
                )?;
            }
            let waiting = sql.query_one(
                "SELECT COUNT(*) FROM desk_approvals
                 WHERE caller = $1 AND status = 'pending' AND expires_at > $2",
                &[(&*question.caller.id).into(), now.into()],
            )?;
            if waiting.map_or(Ok(0), |row| row.int(0))? >= MOST_WAITING {
                return Err(Error::new(
                    "TOO_MANY_QUESTIONS",
                    format!("{MOST_WAITING} of your calls wait for the user already."),
                )
                .next("Nothing was done. Wait until the user has decided about them."));
            }
            forget_lapsed(sql, &question.caller, now)?;
            let id = kit::ids::random("ap_", 20);
            let recipient = question.card.recipient.as_deref().unwrap_or_default();
            sql.execute(
                "INSERT INTO desk_approvals
                     (id, counter, tool, caller, caller_name, arguments, digest, card, recipient,
                      status, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $11)",
                &[
                    (&id).into(),
                    question.counter.into(),
                    question.tool.into(),
                    (&*question.caller.id).into(),
                    (&*question.caller.name).into(),
                    (&arguments).into(),
                    (&question.digest).into(),
                    (&card).into(),
                    recipient.into(),
                    now.into(),
                    (now + LAPSES_MS).into(),
                ],
            )?;
            one(sql, &id, now)
        })
        .await
    }

    /// The newest approval of exactly this call, whatever became of it.
    pub async fn latest(&self, question: &Question) -> Result<Option<Approval>> {
        let (question, now) = (question.clone(), self.now());
        self.read(move |sql| latest(sql, &question, now)).await
    }

    /// For a call of this process to use; `client` is cancelled when its client
    /// goes away.
    pub fn take_in_hand(&self, id: &str, client: &CancellationToken) -> InHand {
        self.in_hand.take(id, client)
    }

    /// The same, unless another call has it in hand.
    pub fn take_if_free(&self, id: &str, client: &CancellationToken) -> Option<InHand> {
        self.in_hand.take_if_free(id, client)
    }

    /// Whether a call has had the answer that belongs to the approval, or is
    /// having it.
    pub fn holder(&self, approval: &Approval) -> Holder {
        if approval.delivered_at.is_some() {
            return Holder::Waits;
        }
        self.in_hand.holder(&approval.id)
    }

    /// Notes for everybody that the answer has left.
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
        self.in_hand.forget(id);
        Ok(())
    }

    /// Drops what is no longer shown. Called every hour.
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

/// Within the work's transaction. `false` when it can't be used any more.
pub fn mark_used(sql: &mut dyn Sql, id: &str, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE desk_approvals SET status = 'used', used_at = $1
         WHERE id = $2 AND status = 'approved' AND expires_at > $1",
        &[now.into(), id.into()],
    )?;
    if changed == 1 {
        state::touch(sql, state::APPROVALS)?;
    }
    Ok(changed == 1)
}

/// Drops the oldest questions of a caller that lapsed undecided: an agent can
/// ask at any rate, and nobody looks at these.
fn forget_lapsed(sql: &mut dyn Sql, caller: &Caller, now: i64) -> Result<()> {
    sql.execute(
        "DELETE FROM desk_approvals
         WHERE caller = $1 AND status = 'pending' AND expires_at <= $2
           AND id NOT IN (
               SELECT id FROM desk_approvals
               WHERE caller = $1 AND status = 'pending' AND expires_at <= $2
               ORDER BY created_at DESC, id LIMIT $3)",
        &[(&*caller.id).into(), now.into(), MOST_LAPSED.into()],
    )?;
    Ok(())
}

/// The tool only asked back: the approval waits for the next round of the call.
pub fn give_back(sql: &mut dyn Sql, id: &str) -> Result<()> {
    sql.execute(
        "UPDATE desk_approvals SET status = 'approved', used_at = NULL
         WHERE id = $1 AND status = 'used'",
        &[id.into()],
    )?;
    sql.execute(
        "DELETE FROM desk_redemptions WHERE approval = $1",
        &[id.into()],
    )?;
    state::touch(sql, state::APPROVALS)
}

fn latest(sql: &mut dyn Sql, question: &Question, now: i64) -> Result<Option<Approval>> {
    let row = sql.query_one(
        &format!(
            "SELECT {COLUMNS} FROM desk_approvals
             WHERE digest = $1 AND caller = $2 AND counter = $3 AND tool = $4
             ORDER BY created_at DESC, id DESC LIMIT 1"
        ),
        &[
            (&question.digest).into(),
            (&*question.caller.id).into(),
            question.counter.into(),
            question.tool.into(),
        ],
    )?;
    row.map(|row| approval(&row, now)).transpose()
}

fn one(sql: &mut dyn Sql, id: &str, now: i64) -> Result<Approval> {
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM desk_approvals WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    match row {
        Some(row) => approval(&row, now),
        None => Err(
            Error::new("APPROVAL_NOT_FOUND", "There is no approval of that id.")
                .next("See what there is with: madoguchi approvals list"),
        ),
    }
}

fn approval(row: &Row, now: i64) -> Result<Approval> {
    let json = |text: String| serde_json::from_str(&text).map_err(Error::internal);
    let expires_at = row.int(10)?;
    let status = Status::parse(&row.text(8)?)
        .ok_or_else(|| Error::internal("an approval has an unknown status"))?;
    let waits = matches!(status, Status::Pending | Status::Approved);
    Ok(Approval {
        id: row.text(0)?,
        counter: row.text(1)?,
        tool: row.text(2)?,
        caller: Caller::new(&row.text(3)?, &row.text(4)?),
        arguments: json(row.text(5)?)?,
        digest: row.text(6)?,
        card: serde_json::from_str(&row.text(7)?).map_err(Error::internal)?,
        status: if waits && expires_at <= now {
            Status::Expired
        } else {
            status
        },
        created_at: row.int(9)?,
        expires_at,
        decided_at: row.opt_int(11)?,
        decided_by: row.opt_text(12)?,
        reason: row.opt_text(13)?,
        delivered_at: row.opt_int(14)?,
    })
}

fn once_only() -> Error {
    Error::new(
        "ONCE_ONLY",
        "This call can be approved this time only: it runs several tools, or changes something that exists.",
    )
    .next("Nothing was decided. Approve it without a standing grant, or deny it.")
}

fn too_long(bytes: usize) -> Error {
    Error::new(
        "TOO_LONG_TO_APPROVE",
        format!(
            "The user has to approve this call, and it is too long for that: {bytes} bytes with what the user is shown, where {LONGEST_QUESTION} is the most."
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
        Status::Expired => ("APPROVAL_EXPIRED", "This question has lapsed"),
        Status::Denied => ("ALREADY_DECIDED", "This was denied already"),
        _ => ("ALREADY_DECIDED", "This was approved already"),
    };
    let by = approval.decided_by.as_deref();
    let by = by.map_or(String::new(), |by| format!(", by {by}"));
    Error::new(code, format!("{what}{by}.")).next("Nothing was changed.")
}
