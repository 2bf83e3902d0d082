//! `wait_for_messages`: waits until there are unread messages.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::{
    arguments::{AgentName, ExistingRoom, Limit},
    define, tool_names, waiting,
};
use crate::{
    errors,
    model::{
        members::Status,
        message::{Form, Message, shown},
        owners::Actor,
    },
    state::CounterState,
    store::{Looked, News, Room, Wanted},
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
/// Names in the warning that everybody waits.
const NAMED: usize = 10;
/// How often to look without being woken: seldom while the files are watched, often
/// if they can't be.
const LOOK_WATCHED: Duration = Duration::from_secs(1);
const LOOK_UNWATCHED: Duration = Duration::from_millis(50);

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
        waiting(state, handle),
    )
    .time_limit(TIME_LIMIT)
}

/// Everybody who is online in a room, if all of them wait.
struct Everybody {
    count: usize,
    names: Vec<String>,
    /// Who began to wait last.
    last: Option<String>,
}

struct Wait {
    state: Arc<CounterState>,
    room: Arc<Room>,
    actor: Actor,
    wanted: Wanted,
    timeout: Duration,
    form: Form,
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name.name()?;
    let agent = input.agent_name.checked()?;
    let seconds = input.timeout.unwrap_or_else(|| DEFAULT_TIMEOUT.into());
    let timeout = Duration::from_secs_f64(seconds.clamp(1.0, MAX_TIMEOUT.into()));

    let place = state.waits.enter(&context.caller);
    let _place = place.map_err(errors::too_many_waiting)?;
    let actor = Actor::of(&context);
    let (member, as_whom, now) = (agent.clone(), actor.clone(), context.clock.now());
    let (room, watched) = state
        .blocking(move |state| {
            let room = state.store.room(&name)?;
            room.members.require(&member)?;
            state.store.act(&as_whom, &room, &member, now)?;
            room.members.heard_of(&member, now);
            Ok((room, state.store.watch()))
        })
        .await?;
    let wait = Wait {
        wanted: Wanted {
            agent,
            mentions: input.mentions_only,
            reply_to: input.reply_to.filter(|id| !id.is_empty()),
            limit: input.limit.get(),
        },
        form: Form {
            compact: input.compact,
            ..Form::default()
        },
        actor,
        timeout,
        state,
        room,
    };
    wait.run(&context, watched).await
}

impl Wait {
    async fn run(&self, context: &Context, watched: bool) -> Result<Output> {
        let started = Instant::now();
        let deadline = started + self.timeout;
        // First subscribe, then look: nothing that arrives from here on is missed.
        let mut woken = self.room.subscribe();
        let news = self.look(None).await?;
        if !news.messages.is_empty() {
            return Ok(self.deliver(context, news));
        }
        let mut looked = news.looked;
        let waiting = self.mark(context).await?;
        let mut everybody = None;
        let look_every = match watched {
            true => LOOK_WATCHED,
            false => LOOK_UNWATCHED,
        };
        let progress = async |message: String| {
            let (waited, all) = (started.elapsed().as_secs_f64(), self.timeout.as_secs_f64());
            let client = &context.client;
            client.progress(waited, Some(all), Some(message)).await;
        };
        let mut next_progress = started + PROGRESS_EVERY;
        loop {
            woken.borrow_and_update();
            let news = self.look(Some(looked)).await;
            let news = news.map_err(errors::while_waiting)?;
            // Checked before delivery: a cancelled call has read nothing.
            context.check_cancelled()?;
            if !news.messages.is_empty() {
                drop(waiting);
                return Ok(self.deliver(context, news));
            }
            looked = news.looked;
            if let Some(all) = self.who_waits(context.clock.now()).await? {
                if started.elapsed() >= QUIET && self.is_to_be_warned(&all, news.total) {
                    drop(waiting);
                    return Ok(self.output(news, false, Some(all)));
                }
                if everybody.replace(all).is_none() {
                    progress("Everybody in the room is waiting.".to_owned()).await;
                }
            }
            let now = Instant::now();
            if now >= deadline {
                drop(waiting);
                return Ok(self.output(news, true, everybody));
            }
            if now >= next_progress {
                next_progress = now + PROGRESS_EVERY;
                progress(format!("Waiting for messages in {}.", self.room.name)).await;
            }
            let look_again = deadline.min(now + look_every);
            tokio::select! {
                _ = woken.changed() => {}
                () = sleep_until(look_again) => {}
                () = context.cancel.cancelled() => {}
            }
        }
    }

    async fn look(&self, looked: Option<Looked>) -> Result<News> {
        let (before, wanted) = (Arc::clone(&self.room), self.wanted.clone());
        let actor = self.actor.clone();
        self.state
            .blocking(move |state| {
                // Meanwhile the room may be gone, the agent may have left it, or a key may
                // have taken the name.
                let room = state.store.room(&before.name)?;
                let looked = looked.filter(|_| Arc::ptr_eq(&room, &before));
                if !room.members.has(&wanted.agent)? {
                    return Err(room.why_not_in(&wanted.agent));
                }
                state.store.names.may_use(&actor, &wanted.agent)?;
                room.news(&wanted, looked)
            })
            .await
    }

    async fn mark(&self, context: &Context) -> Result<crate::store::Waiting> {
        let (room, agent) = (Arc::clone(&self.room), self.wanted.agent.clone());
        let clock = context.clock.clone();
        let until = clock.now() + self.timeout;
        self.state
            .blocking(move |_| Ok(room.waiting(&agent, until, &clock)))
            .await
    }

    /// Whoever began to wait last is told at once, but only once: it may know better.
    fn is_to_be_warned(&self, all: &Everybody, messages: usize) -> bool {
        let agent = &self.wanted.agent;
        all.last.as_ref() == Some(agent) && self.room.warn_once(agent, messages)
    }

    /// Everybody who is online, if there are several and all of them wait.
    async fn who_waits(&self, now: Timestamp) -> Result<Option<Everybody>> {
        let room = Arc::clone(&self.room);
        let look = move |_: &CounterState| {
            let members = room.members.list(now)?;
            let online = members.iter().filter(|m| m.status == Status::Online);
            let (waiting, busy): (Vec<_>, Vec<_>) = online.partition(|member| member.is_waiting);
            let all = waiting.len() > 1 && busy.is_empty();
            let last = waiting
                .iter()
                .max_by_key(|member| (member.active_at, &member.name));
            let names = waiting.iter().map(|member| member.name.clone());
            Ok(all.then(|| Everybody {
                count: waiting.len(),
                last: last.map(|member| member.name.clone()),
                // Few: every waiting call in the room holds them.
                names: names.take(NAMED).collect(),
            }))
        };
        self.state.blocking(look).await
    }

    /// Delivers the messages. They count as read from here on, where the call can
    /// no longer be cancelled; the file is written later.
    fn deliver(&self, context: &Context, mut news: News) -> Output {
        let agent = &self.wanted.agent;
        let position = std::mem::take(&mut news.position);
        self.room.reads.advance(agent, position);
        let (room, agent) = (Arc::clone(&self.room), agent.clone());
        let now = context.clock.now();
        self.state.store.blocking().run_later(move || {
            room.members.heard_of(&agent, now);
            if let Err(error) = room.save_position(&agent, now) {
                tracing::warn!(%error, cause = ?error.cause, "a read position could not be written");
            }
        });
        self.output(news, false, None)
    }

    fn output(&self, news: News, timed_out: bool, everybody: Option<Everybody>) -> Output {
        let messages = shown(news.messages, self.form);
        Output {
            room_name: self.room.name.to_string(),
            count: messages.len(),
            has_new_messages: !messages.is_empty(),
            has_more: news.has_more,
            timed_out,
            unread_count: news.left,
            message: messages.is_empty().then(|| self.why_empty(news.left)),
            warnings: everybody.map(Everybody::warning).into_iter().collect(),
            messages,
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

impl Everybody {
    fn warning(self) -> Warning {
        let message = format!(
            "All {} agents online in this room wait, so nobody will speak. Send a message before \
             you wait again.",
            self.count
        );
        Warning::new("EVERYBODY_WAITS", message).detail("waitingAgents", self.names)
    }
}
