//! The pipeline: every call of every counter on every transport passes these
//! stations in this order.
//!
//! `identify → limit → resolve tool → authorize → normalise → validate → approve → run → audit → answer`
//!
//! A transport calls [`Desk::admit`] for each request with an id (the first two
//! stations) and, for a tool call, [`Desk::call`] for the rest. A protocol error is a
//! [`Refusal`]; an error of the tool is an [`Answer`].
//!
//! Requests that show data without a tool call (resources, prompts, completion,
//! subscriptions) pass [`Desk::read`] instead:
//!
//! `identify → limit → authorize → run → audit → answer`

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Caller, Context, Error, Reply};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::ApprovalInUse,
    desk::Desk,
    methods::{self, TOOLS_CALL},
    panics,
    served_counter::{FoundTool, PreparedTool, ServedCounter},
    stations::{
        approve::{self, ApprovalOutcome, ApprovalRequest},
        audit::{CallRecord, OpenRecord, Outcome},
        authorize,
        identify::{Credentials, Identified, Unidentified},
        inner_calls, run, unknown_arguments, validate,
    },
    trace::Arrival,
};

pub use crate::requests::{Admitted, Answer, ReadRequest, Refusal, ToolCall};

/// How long reading a resource, rendering a prompt or completing may take.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// How long an answer may take to reach its client.
const DELIVERY_TIME: Duration = Duration::from_secs(2);

impl Desk {
    /// The stations every request passes.
    pub async fn admit(
        &self,
        served: &ServedCounter,
        credentials: &Credentials,
        method: &str,
    ) -> Result<Admitted, Refusal> {
        let counter = served.counter.about.name;
        let is_traced = self.tracer.is_on();
        let now = || is_traced.then(Instant::now);

        // identify
        let started = now();
        let who = self.keyring.identify(credentials, counter).await;
        let who = who.map_err(|why| self.refuse_unidentified(served, &why))?;
        let identified = now();
        // What a caller may see and do depends on them.
        if let Err(error) = self.policies.known().await {
            tracing::warn!(%error, cause = ?error.cause, "the policies could not be read");
            let refusal = Refusal::of(&Unidentified::Unavailable, counter);
            return Err(self.refuse(Some(&who.caller), counter, refusal));
        }

        // limit
        let caller = &who.caller;
        if let Err(why) = self.limiter.admit(&caller.id, counter).await {
            return Err(self.refuse(Some(caller), counter, why.into()));
        }
        // The wire knows which clients show views, and refuses the others.
        if !methods::offers_with_views(&served.counter, method) {
            let explained = methods::not_found(&served.counter, method);
            let refusal = Refusal::UnknownMethod(explained);
            return Err(self.refuse(Some(caller), counter, refusal));
        }
        let arrival = started.zip(identified).map(|(started, identified)| {
            Arc::new(Arrival {
                parent: None,
                started,
                identified,
                admitted: Instant::now(),
            })
        });
        Ok(Admitted {
            who,
            address: None,
            arrival,
        })
    }

    /// The stations of a request that shows data without a tool call. `work` begins
    /// only if the caller may see the target.
    pub async fn read<T>(
        &self,
        served: &ServedCounter,
        request: &ReadRequest<'_>,
        work: impl Future<Output = kit::Result<T>>,
    ) -> kit::Result<T> {
        let _in_flight = self.in_flight.token();
        let (context, who) = (request.context, &request.from.who);
        let trace = self
            .tracer
            .begin(request.from.arrival.as_ref(), request.method.name);
        let record = CallRecord {
            call: context.call,
            caller: context.caller.clone(),
            address: request.from.address,
            counter: served.counter.about.name,
            tool: request.method.name,
            writes: false,
            has_ledger_row: false,
            started: Instant::now(),
            outcome: Outcome::Abandoned,
            waited: Duration::ZERO,
            approval: None,
            arguments: self.audit.redacted_target(&request.target),
        };
        let mut record = self.audit.open(record, None, trace).await;

        // authorize, then run
        record.trace.station("authorize");
        let allowed = record
            .may_run()
            .and_then(|()| authorize::read(served, who, &request.target));
        let result = match allowed {
            Ok(()) => {
                record.trace.station("run");
                let work = pin!(in_time(context, work));
                while_valid(who, &context.cancel, work).await
            }
            Err(error) => Err(error),
        };

        // audit
        let outcome = match &result {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::of(Err(error)),
        };
        record.close(outcome).await;
        result.map_err(|error| error.in_language(context.language))
    }

    /// For a request without valid credentials.
    pub fn refuse_unidentified(&self, served: &ServedCounter, why: &Unidentified) -> Refusal {
        let counter = served.counter.about.name;
        let caller = match why {
            Unidentified::OutOfScope(caller) => Some(caller),
            Unidentified::InvalidKey | Unidentified::Unavailable => None,
        };
        self.refuse(caller, counter, Refusal::of(why, counter))
    }

    /// Counts a refusal before the tool is known.
    fn refuse(&self, caller: Option<&Caller>, counter: &'static str, refusal: Refusal) -> Refusal {
        let code = refusal.code();
        self.audit.refused(caller, counter, code, self.clock.now());
        refusal
    }

    /// The stations of a tool call. When this future is dropped, work that was begun
    /// with an approval continues; all other work is cancelled.
    pub async fn call(
        self: &Arc<Self>,
        served: &ServedCounter,
        call: ToolCall,
    ) -> Result<Answer, Refusal> {
        let client = call.cancel.clone();
        let served = match self.counter(served.counter.about.name) {
            Some(served) if served.may_outlive_its_client(&call.name) => served,
            _ => return self.answered(&client, self.pass(served, call).await),
        };
        let (desk, served) = (Arc::clone(self), Arc::clone(served));
        let gone = client.clone().drop_guard();
        let work = self
            .in_flight
            .spawn(async move { desk.pass(&served, call).await });
        let done = match work.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down, and this future with it.
                Err(_) => std::future::pending().await,
            },
        };
        gone.disarm();
        self.answered(&client, done)
    }

    /// Returns the answer. If the client cancelled, the answer is kept for the
    /// identical call.
    fn answered(
        self: &Arc<Self>,
        client: &CancellationToken,
        done: Result<(Answer, Option<ApprovalInUse>), Refusal>,
    ) -> Result<Answer, Refusal> {
        let (answer, approval) = done?;
        if let Some(approval) = approval.filter(|_| !client.is_cancelled()) {
            self.delivered(approval.answered());
        }
        Ok(answer)
    }

    async fn pass(
        &self,
        served: &ServedCounter,
        call: ToolCall,
    ) -> Result<(Answer, Option<ApprovalInUse>), Refusal> {
        let started = Instant::now();
        let _under_way = self.in_flight.token();
        let mut context = self.context(served, &call);
        let Admitted { who, address, .. } = call.admitted;
        let arrival = call.admitted.arrival.as_ref();
        let mut trace = self.tracer.begin(arrival, TOOLS_CALL.name);

        // resolve tool
        trace.station("resolve");
        let found = served.find_for(&context.caller, &call.name);

        // From here on the call is recorded, even if its client disconnects.
        let opened = CallRecord {
            call: context.call,
            caller: context.caller.clone(),
            address,
            counter: served.counter.about.name,
            tool: found.name(),
            writes: found.writes(),
            has_ledger_row: found.has_ledger_row(),
            started,
            outcome: Outcome::Abandoned,
            waited: Duration::ZERO,
            approval: None,
            arguments: self.audit.redacted(&found, &call.name, &call.arguments),
        };
        let mut record = self.audit.open(opened, found.metrics(), trace).await;

        let result = match found {
            FoundTool::Tool(tool) => match record.may_run() {
                Ok(()) => {
                    let cancel = context.cancel.clone();
                    let (context, arguments) = (&mut context, call.arguments);
                    let work = self.work(served, tool, &who, context, arguments, &mut record);
                    let work = pin!(work);
                    while_valid(&who, &cancel, work).await
                }
                Err(error) => Err(error),
            },
            FoundTool::Hidden { reason, .. } => Err(authorize::not_offered(&call.name, reason)),
            FoundTool::Unknown => {
                record.close(Outcome::Refused("UNKNOWN_TOOL".into())).await;
                return Err(Refusal::UnknownTool {
                    call: context.call,
                    nearest: served.nearest_tool(&call.name).map(str::to_owned),
                    name: call.name,
                });
            }
        };

        let (result, approval) = match result {
            Ok((result, approval)) => (result, approval),
            Err(error) => (Err(error), None),
        };

        // audit
        record.close(Outcome::of(result.as_ref())).await;

        // answer
        let answer = Answer {
            call: context.call,
            result: result.map_err(|error| {
                let error = error.in_language(context.language);
                error.shortened(served.error_shape())
            }),
        };
        Ok((answer, approval))
    }

    /// What a handler gets besides its arguments.
    fn context(&self, served: &ServedCounter, call: &ToolCall) -> Context {
        let (caller, client) = (call.admitted.who.caller.clone(), Arc::clone(&call.client));
        let mut context = Context::new(caller, self.clock.clone(), client);
        context.cancel = call.cancel.clone();
        context.language = served.last_language.choose(
            served.counter.about.conventions.language,
            call.language,
            &call.arguments,
        );
        context.zone = served.counter.time_zone.clone();
        context
    }

    /// The answer is being sent. It is stored as delivered after the time it may take
    /// to arrive. If the program dies before that, the identical call gets the answer
    /// again.
    fn delivered(self: &Arc<Self>, approval: String) {
        let desk = Arc::clone(self);
        self.in_flight.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(DELIVERY_TIME) => {}
                () = desk.stopping.cancelled() => {}
            }
            if let Err(error) = desk.approvals.delivered(&approval).await {
                tracing::warn!(cause = ?error.cause, "a delivered answer could not be stored as such");
            }
        });
    }

    async fn work(
        &self,
        served: &ServedCounter,
        tool: &PreparedTool,
        who: &Identified,
        context: &mut Context,
        mut arguments: Map<String, Value>,
        record: &mut OpenRecord<'_>,
    ) -> Result<(Result<Reply, Error>, Option<ApprovalInUse>), Error> {
        // authorize
        record.trace.station("authorize");
        authorize::check(who, tool)?;
        let key = who.key.as_ref();
        context.key_names_tool =
            key.is_some_and(|key| key.names(|name| tool.tool.answers_to(name)));

        // normalise
        record.trace.station("normalise");
        tool.tool.normalised(context, &mut arguments);

        // validate
        record.trace.station("validate");
        let unknown = unknown_arguments::take(tool, &mut arguments);
        if tool.tool.writes() {
            unknown_arguments::refuse(tool, &unknown)?;
        }
        let mut arguments = validate::input(tool, arguments)?;
        let others = inner_calls::check(served, tool, who, context, &mut arguments, record)?;

        // approve
        record.trace.station("approve");
        let request = ApprovalRequest {
            desk: self,
            served,
            tool,
            who,
            context,
            arguments: &arguments,
            others: &others,
        };
        let approval = match approve::check(&request, record).await? {
            ApprovalOutcome::NotRequired { grant, card } => {
                record.set_approval(grant);
                context.card = card.map(Arc::new);
                None
            }
            ApprovalOutcome::Approved(approval) => {
                context.card = Some(Arc::new(approval.card));
                Some(approval.id)
            }
            ApprovalOutcome::Replay { approval, answer } => {
                record.set_approval(approval.as_ref().map(|approval| approval.id.clone()));
                let answer =
                    answer.and_then(|reply| unknown_arguments::warn(tool, &unknown, reply));
                return Ok((answer, approval));
            }
            ApprovalOutcome::AskClient(reply) => return Ok((Ok(reply), None)),
        };
        if approval.is_some() {
            record.set_approval(approval.clone());
        }
        let client = &context.cancel;
        let approval = approval.map(|id| self.approvals.start_use(&id, client));

        // run
        record.trace.station("run");
        let used = approval.as_ref().map(|approval| approval.id.as_str());
        let trace = &mut record.trace;
        let ran = run::run(self, served, tool, context, arguments, used, trace).await;
        let result = ran.result.and_then(|reply| {
            let reply = unknown_arguments::warn(tool, &unknown, reply)?;
            validate::output(tool, &reply)?;
            Ok(reply)
        });
        Ok((result, approval.filter(|_| ran.is_kept)))
    }
}

/// Ends work that takes too long, is cancelled or panics.
async fn in_time<T>(
    context: &Context,
    work: impl Future<Output = kit::Result<T>>,
) -> kit::Result<T> {
    tokio::select! {
        biased;
        result = panics::caught("the read", work) => result,
        () = tokio::time::sleep(READ_LIMIT) => Err(Error::timeout()),
        () = context.cancel.cancelled() => Err(Error::cancelled()),
    }
}

/// Cancels work when the caller's key is revoked. If the work is already committed,
/// it is still answered.
async fn while_valid<T>(
    who: &Identified,
    cancel: &CancellationToken,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> T {
    let Some(key) = &who.key else {
        return work.await;
    };
    tokio::select! {
        biased;
        done = work.as_mut() => done,
        () = key.revoked.cancelled() => {
            cancel.cancel();
            work.await
        }
    }
}
