//! `wait_for_messages`: waits until there are unread messages.

use std::{sync::Arc, time::Duration};

use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::{
    arguments::{AgentName, ExistingRoom, Limit},
    asking, define, tool_names,
};
use crate::{
    errors,
    model::{
        message::{Form, Message, shown},
        names::RoomName,
    },
    state::CounterState,
    store::{AllWaiting, Call, LookedUpTo, News, WaitFilter, Wakeups},
};

/// In seconds.
const DEFAULT_TIMEOUT: u32 = 30;
const MAX_TIMEOUT: u32 = 300;
/// The longest wait, with time for a last look.
const TIME_LIMIT: Duration = Duration::from_secs(MAX_TIMEOUT as u64 + 30);
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// How long a call waits before it is told that everybody waits: others may be about to
/// wake up.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: AgentName,
    room_name: ExistingRoom,
    /// Seconds
    #[schemars(range(min = 1, max = MAX_TIMEOUT), extend("default" = DEFAULT_TIMEOUT))]
    timeout: Option<f64>,
    /// Only messages that mention you; others stay unread
    #[serde(default)]
    mentions_only: bool,
    /// Only replies to this message (id) and later mentions of you
    reply_to: Option<String>,
    #[serde(default)]
    limit: Limit,
    /// As in get_messages
    #[serde(default)]
    compact: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    /// As in get_messages, oldest first
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    messages: Vec<Message>,
    count: usize,
    has_new_messages: bool,
    has_more: bool,
    timed_out: bool,
    unread_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("wait_for_messages"),
        "Wait",
        "Get the unread messages of others in a room, or wait until there are some; what is delivered counts as read. After a time-out call it again instead of polling.",
        Hints::ADDS,
        asking(state, handle),
    )
    .in_japanese("メッセージを待つ")
    .time_limit(TIME_LIMIT)
}

struct Wait {
    state: Arc<CounterState>,
    call: Call,
    room: RoomName,
    agent: String,
    wanted: WaitFilter,
    timeout: Duration,
    form: Form,
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let seconds = input.timeout.unwrap_or_else(|| DEFAULT_TIMEOUT.into());
    let wait = Wait {
        room: input.room_name.name()?,
        agent: input.agent_name.checked()?,
        wanted: WaitFilter {
            mentions: input.mentions_only,
            reply_to: input.reply_to.filter(|id| !id.is_empty()),
            limit: input.limit.get(),
        },
        timeout: Duration::from_secs_f64(seconds.clamp(1.0, MAX_TIMEOUT.into())),
        form: Form {
            compact: input.compact,
            ..Form::default()
        },
        call: Call::of(&context),
        state,
    };
    let place = wait.state.waits.enter(&context.caller);
    let _place = place.map_err(errors::too_many_waiting)?;
    wait.run(&context).await
}

impl Wait {
    async fn run(&self, context: &Context) -> Result<Output> {
        let started = Instant::now();
        let deadline = started + self.timeout;
        let (mut wakeups, news) = self.begin().await?;
        let mut looked = Some(news.looked).filter(|_| news.messages.is_empty());
        if let Some(output) = self.delivered(news).await? {
            return Ok(output);
        }
        let until = self.call.now() + self.timeout;
        let (room, agent) = (self.room.clone(), self.agent.clone());
        let waiting = self
            .state
            .store
            .mark_waiting(self.call.clone(), room, agent, until)
            .await?;
        let mut everybody = None;
        let progress = async |message: String| {
            let (waited, all) = (started.elapsed().as_secs_f64(), self.timeout.as_secs_f64());
            let client = &context.client;
            client.progress(waited, Some(all), Some(message)).await;
        };
        let mut next_progress = started + PROGRESS_EVERY;
        loop {
            wakeups.mark_seen();
            let news = self.look(looked).await.map_err(errors::while_waiting)?;
            // Checked before delivery: a cancelled call has read nothing.
            context.check_cancelled()?;
            if !news.messages.is_empty() {
                if let Some(output) = self.delivered(news).await? {
                    drop(waiting);
                    return Ok(output);
                }
                continue;
            }
            looked = Some(news.looked);
            let (left, total) = (news.left, news.total);
            if let Some(all) = news.everybody {
                if started.elapsed() >= QUIET && self.is_to_be_warned(&all, news.looked, total) {
                    drop(waiting);
                    return Ok(self.nothing(left, false, Some(all)));
                }
                if everybody.replace(all).is_none() {
                    progress("Everybody in the room is waiting.".to_owned()).await;
                }
            }
            let now = Instant::now();
            if now >= deadline {
                drop(waiting);
                return Ok(self.nothing(left, true, everybody));
            }
            if now >= next_progress {
                next_progress = now + PROGRESS_EVERY;
                progress(format!("Waiting for messages in {}.", self.room)).await;
            }
            // The last to wait is told after a while that everybody does.
            let quiet = started + QUIET;
            let next = match now < quiet {
                true => quiet.min(now + wakeups.look_every),
                false => now + wakeups.look_every,
            };
            sleep(&mut wakeups, deadline.min(next), context).await;
        }
    }

    async fn begin(&self) -> Result<(Wakeups, News)> {
        let (room, agent) = (self.room.clone(), self.agent.clone());
        let (call, wanted) = (self.call.clone(), self.wanted.clone());
        self.state.store.begin_wait(call, room, agent, wanted).await
    }

    async fn look(&self, looked: Option<LookedUpTo>) -> Result<News> {
        let (room, agent) = (self.room.clone(), self.agent.clone());
        let (call, wanted) = (self.call.clone(), self.wanted.clone());
        self.state
            .store
            .look(call, room, agent, wanted, looked)
            .await
    }

    /// Whoever began to wait last is told at once, but only once: it may know better.
    fn is_to_be_warned(&self, all: &AllWaiting, looked: LookedUpTo, messages: usize) -> bool {
        all.last.as_ref() == Some(&self.agent)
            && self
                .state
                .warn_once(&self.room, &self.agent, (looked.generation, messages))
    }

    /// Delivers the messages, which count as read from here on. `None` if there are none,
    /// or another call of this agent has just got them.
    async fn delivered(&self, news: News) -> Result<Option<Output>> {
        if news.messages.is_empty() {
            return Ok(None);
        }
        let (room, agent) = (self.room.clone(), self.agent.clone());
        let delivered = self
            .state
            .store
            .deliver(self.call.clone(), room, agent, news.reached)
            .await?;
        let messages = shown(news.messages, self.form);
        Ok(delivered.then(|| Output {
            count: messages.len(),
            has_new_messages: true,
            has_more: news.has_more,
            messages,
            message: None,
            ..self.nothing(news.left, false, None)
        }))
    }

    fn nothing(&self, unread: usize, timed_out: bool, everybody: Option<AllWaiting>) -> Output {
        Output {
            room_name: self.room.to_string(),
            messages: Vec::new(),
            count: 0,
            has_new_messages: false,
            has_more: false,
            timed_out,
            unread_count: unread,
            message: Some(self.why_empty(unread)),
            warnings: everybody.map(warning).into_iter().collect(),
        }
    }

    fn why_empty(&self, unread: usize) -> String {
        let what = match (&self.wanted.reply_to, self.wanted.mentions) {
            (Some(id), _) => format!("no new answer to {id}"),
            (None, true) => "no new mention of you".to_owned(),
            (None, false) => "no new message".to_owned(),
        };
        let others = match unread {
            0 => String::new(),
            _ => format!(" {unread} other messages are unread."),
        };
        format!("There was {what}.{others}")
    }
}

/// Until there may be news, but not after `next`.
async fn sleep(wakeups: &mut Wakeups, next: Instant, context: &Context) {
    let presence = async {
        match &mut wakeups.presence {
            Some(presence) => {
                let _ = presence.changed().await;
                // Many may begin to wait at the same moment.
                sleep_until(Instant::now() + QUIET).await;
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = wakeups.news.changed() => {}
        () = presence => {}
        () = sleep_until(next) => {}
        () = context.cancel.cancelled() => {}
    }
}

fn warning(everybody: AllWaiting) -> Warning {
    let message = format!(
        "All {} agents online in this room wait, so nobody will speak. Send a message before you \
         wait again.",
        everybody.count
    );
    Warning::new("EVERYBODY_WAITS", message).detail("waitingAgents", everybody.names)
}
