//! One call, one pipeline: every call of every counter on every transport passes
//! these stations in this order.
//!
//! `identify → limit → resolve tool → authorize → normalise → validate → approve → run → audit → answer`
//!
//! A transport calls [`Desk::admit`] for each request with an id (the first two
//! stations) and, when it is a tool call, [`Desk::call`] for the rest. What the
//! protocol must refuse comes back as a [`Refusal`]; what the tool refuses comes
//! back as an [`Answer`] that says so.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Context, Error, Reply, context::Client, context::Language, ids::CallId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::InHand,
    desk::{Desk, Found, PreparedTool, Window},
    stations::{
        approve::{self, Asking, Leave},
        audit::{OpenRecord, Outcome, Record},
        authorize,
        identify::{Credentials, Identified},
        run, validate,
    },
    transport::language,
};

/// How long an answer may be on its way.
const ARRIVES_WITHIN: Duration = Duration::from_secs(2);

/// A caller who passed `identify` and `limit`.
#[derive(Debug, Clone)]
pub struct Admitted {
    pub who: Identified,
}

/// A tool call in our own words, whatever dialect it came in.
pub struct ToolCall {
    pub admitted: Admitted,
    pub name: String,
    pub arguments: Map<String, Value>,
    pub client: Arc<dyn Client>,
    pub cancel: CancellationToken,
    /// What was asked for; `None` leaves it to what is said.
    pub language: Option<Language>,
}

/// The tool's reply, or its refusal; either way a result, not a protocol error.
#[derive(Debug)]
pub struct Answer {
    /// Also in the log, so that a caller's report leads to the right line.
    pub call: CallId,
    pub result: Result<Reply, Error>,
}

/// Refused before any tool was reached: a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    InvalidKey,
    RateLimited {
        retry_after_ms: u64,
    },
    UnknownTool {
        call: CallId,
        name: String,
        nearest: Option<String>,
    },
}

impl Desk {
    /// The stations every request passes, whatever its method.
    pub async fn admit(
        &self,
        window: &Window,
        credentials: &Credentials,
    ) -> Result<Admitted, Refusal> {
        let counter = window.counter.about.name;

        // identify
        let Some(who) = self.keyring.identify(credentials, counter).await else {
            self.audit.refused(None, counter, self.clock.now());
            return Err(Refusal::InvalidKey);
        };

        // limit
        let caller = &who.caller.id;
        if let Err(retry_after_ms) = self.limiter.admit(caller, counter).await {
            self.audit.refused(Some(caller), counter, self.clock.now());
            return Err(Refusal::RateLimited { retry_after_ms });
        }
        Ok(Admitted { who })
    }

    /// The stations of a tool call.
    pub async fn call(
        self: &Arc<Self>,
        window: &Window,
        call: ToolCall,
    ) -> Result<Answer, Refusal> {
        let started = Instant::now();
        let _under_way = self.under_way.token();
        let who = call.admitted.who;

        let mut context = Context::new(who.caller.clone(), self.clock.clone(), call.client);
        context.cancel = call.cancel;
        context.language = call
            .language
            .unwrap_or_else(|| language::of_arguments(&call.arguments));
        context.zone = window.counter.time_zone.clone();

        // resolve tool
        let found = window.find(&call.name);

        // From here on the call is on record, even when its client goes away.
        let opened = Record {
            call: context.call,
            caller: context.caller.clone(),
            counter: window.counter.about.name,
            tool: found.name(),
            writes: found.writes(),
            started,
            outcome: Outcome::Abandoned,
            approval: None,
            kept: self.audit.kept(&found, &call.name, &call.arguments),
        };
        let mut record = self.audit.open(opened, found.metrics()).await;

        let result = match found {
            Found::Tool(tool) => match record.may_run() {
                Ok(()) => {
                    let cancel = context.cancel.clone();
                    let (context, arguments) = (&mut context, call.arguments);
                    let work = self.work(window, tool, &who, context, arguments, &mut record);
                    while_valid(&who, &cancel, work).await
                }
                Err(error) => Err(error),
            },
            Found::Hidden { reason, .. } => Err(authorize::not_offered(&call.name, reason)),
            Found::Unknown => {
                record.close(Outcome::Refused("UNKNOWN_TOOL".into())).await;
                return Err(Refusal::UnknownTool {
                    call: context.call,
                    nearest: window.nearest_tool(&call.name).map(str::to_owned),
                    name: call.name,
                });
            }
        };

        // audit
        record
            .close(Outcome::of(result.as_ref().map(|(reply, _)| reply)))
            .await;

        // answer
        let result = result.map_err(|error| error.in_language(context.language));
        let result = result.map(|(reply, approval)| {
            if let Some(approval) = approval {
                self.delivered(approval.answered());
            }
            reply
        });
        Ok(Answer {
            call: context.call,
            result,
        })
    }

    /// Nobody dropped this call, so its answer is on its way. That is written
    /// down once the answer had time to arrive: should the program die before,
    /// it is given again to the identical call.
    fn delivered(self: &Arc<Self>, approval: String) {
        let desk = Arc::clone(self);
        self.under_way.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(ARRIVES_WITHIN) => {}
                () = desk.stopping.cancelled() => {}
            }
            if let Err(error) = desk.approvals.delivered(&approval).await {
                tracing::warn!(cause = ?error.cause, "a delivered answer could not be noted");
            }
        });
    }

    async fn work(
        &self,
        window: &Window,
        tool: &PreparedTool,
        who: &Identified,
        context: &mut Context,
        mut arguments: Map<String, Value>,
        record: &mut OpenRecord<'_>,
    ) -> Result<(Reply, Option<InHand>), Error> {
        // authorize
        authorize::check(who, tool)?;

        // normalise
        (tool.tool.normalise)(context, &mut arguments);

        // validate
        let arguments = validate::input(tool, arguments)?;

        // approve
        let asking = Asking {
            desk: self,
            window,
            tool,
            who,
            context,
            arguments: &arguments,
        };
        let approval = match approve::check(&asking).await? {
            Leave::Free { grant, card } => {
                record.set_approval(grant);
                context.card = card.map(Arc::new);
                None
            }
            Leave::Approved(approval) => {
                context.card = Some(Arc::new(approval.card));
                Some(approval.id)
            }
            Leave::Again { approval, reply } => {
                record.set_approval(approval.as_ref().map(|approval| approval.id.clone()));
                return Ok((reply, approval));
            }
            Leave::Ask(reply) => return Ok((reply, None)),
        };
        if approval.is_some() {
            record.set_approval(approval.clone());
        }
        let approval = approval.map(|id| self.approvals.take_in_hand(&id));

        // run
        let used = approval.as_ref().map(|approval| approval.id.as_str());
        let reply = run::run(self, window, tool, context, arguments, used).await?;
        validate::output(tool, &reply)?;
        Ok((reply, approval))
    }
}

/// A key that is revoked while its call is under way calls it off; what is
/// committed by then is still answered.
async fn while_valid<T>(
    who: &Identified,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    let Some(key) = &who.key else {
        return work.await;
    };
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => done,
        () = key.revoked.cancelled() => {
            cancel.cancel();
            work.await
        }
    }
}
