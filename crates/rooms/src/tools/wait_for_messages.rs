//! `wait_for_messages`: waits until there are unread messages.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::{
    arguments::{AgentName, Limit},
    define, tool_names, waiting,
};
use crate::{
    model::{members::Status, message::Message, names::RoomName, owners::Actor},
    state::CounterState,
    store::{News, Room},
};

/// In seconds.
const DEFAULT_TIMEOUT: u32 = 30;
const MAX_TIMEOUT: u32 = 300;
/// The longest wait, with time for a last look.
const TIME_LIMIT: Duration = Duration::from_secs(MAX_TIMEOUT as u64 + 30);
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Names in the warning that everybody waits.
const NAMED: usize = 10;
/// How often to look without being woken: seldom while the files are watched, often
/// if they can't be.
const LOOK_WATCHED: Duration = Duration::from_secs(1);
const LOOK_UNWATCHED: Duration = Duration::from_millis(50);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Your name
    agent_name: AgentName,
    /// The room
    room_name: RoomName,
    /// Seconds
    #[schemars(range(min = 1, max = MAX_TIMEOUT), extend("default" = DEFAULT_TIMEOUT))]
    timeout: Option<f64>,
    /// Only messages that mention you; others stay unread
    #[serde(default)]
    mentions_only: bool,
    #[serde(default)]
    limit: Limit,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    /// Oldest first.
    messages: Vec<Message>,
    count: usize,
    has_new_messages: bool,
    timed_out: bool,
    /// What is left unread.
    unread_count: usize,
    /// Set when everybody online in the room waits, so that nobody will speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_agents: Option<Vec<String>>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("wait_for_messages"),
        "Wait for messages",
        "Get your unread messages of a room, waiting until there are some; they then count as read. Call it again after a time-out instead of polling.",
        Hints::ADDS,
        waiting(state, handle),
    )
    .time_limit(TIME_LIMIT)
}

/// Everybody who is online in a room, if all of them wait.
struct Everybody {
    count: usize,
    names: Vec<String>,
}

struct Wait {
    state: Arc<CounterState>,
    room: Arc<Room>,
    agent: String,
    actor: Actor,
    mentions: bool,
    limit: usize,
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name;
    let agent = input.agent_name.checked()?;
    let seconds = input.timeout.unwrap_or_else(|| DEFAULT_TIMEOUT.into());
    let timeout = Duration::from_secs_f64(seconds.clamp(1.0, MAX_TIMEOUT.into()));
    let deadline = Instant::now() + timeout;

    let _place = state.waits.enter(&context.caller)?;
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
        agent,
        actor,
        mentions: input.mentions_only,
        limit: input.limit.get(),
        state,
        room,
    };

    // First subscribe, then look: nothing that arrives from here on is missed.
    let mut woken = wait.room.subscribe();
    let news = wait.look().await?;
    if !news.messages.is_empty() {
        return Ok(wait.deliver(&context, news, None));
    }
    let waiting = wait.mark(&context, timeout).await?;
    let look_every = match watched {
        true => LOOK_WATCHED,
        false => LOOK_UNWATCHED,
    };
    let started = Instant::now();
    let progress = async |message: String| {
        let (waited, all) = (started.elapsed().as_secs_f64(), timeout.as_secs_f64());
        let client = &context.client;
        client.progress(waited, Some(all), Some(message)).await;
    };
    let mut next_progress = started + PROGRESS_EVERY;
    let mut everybody = None;
    loop {
        woken.borrow_and_update();
        let news = wait.look().await?;
        // Checked before delivery: a cancelled call has read nothing.
        if context.cancel.is_cancelled() {
            return Err(kit::Error::cancelled());
        }
        if !news.messages.is_empty() {
            drop(waiting);
            return Ok(wait.deliver(&context, news, everybody));
        }
        if let Some(all) = wait.who_waits(context.clock.now()).await?
            && everybody.replace(all).is_none()
        {
            progress("Everybody in the room is waiting.".to_owned()).await;
        }
        let now = Instant::now();
        if now >= deadline {
            drop(waiting);
            return Ok(wait.output(news, true, everybody));
        }
        if now >= next_progress {
            next_progress = now + PROGRESS_EVERY;
            progress(format!("Waiting for messages in {}.", wait.room.name)).await;
        }
        let look_again = deadline.min(now + look_every);
        tokio::select! {
            _ = woken.changed() => {}
            () = sleep_until(look_again) => {}
            () = context.cancel.cancelled() => {}
        }
    }
}

impl Wait {
    async fn look(&self) -> Result<News> {
        let (room, agent) = (Arc::clone(&self.room), self.agent.clone());
        let (mentions, limit) = (self.mentions, self.limit);
        let actor = self.actor.clone();
        self.state
            .blocking(move |state| {
                // The room may have gone, the agent have left it, or a key have
                // taken the name, meanwhile.
                let room = state.store.room(&room.name)?;
                room.members.require(&agent)?;
                state.store.names.may_use(&actor, &agent)?;
                room.news(&agent, mentions, limit)
            })
            .await
    }

    async fn mark(&self, context: &Context, timeout: Duration) -> Result<crate::store::Waiting> {
        let (room, agent) = (Arc::clone(&self.room), self.agent.clone());
        let clock = context.clock.clone();
        let until = clock.now() + timeout;
        self.state
            .blocking(move |_| Ok(room.waiting(&agent, until, &clock)))
            .await
    }

    /// Everybody who is online, if there are several and all of them wait.
    async fn who_waits(&self, now: Timestamp) -> Result<Option<Everybody>> {
        let room = Arc::clone(&self.room);
        let look = move |_: &CounterState| {
            let members = room.members.list(now)?;
            let online = members.iter().filter(|m| m.status == Status::Online);
            let (waiting, busy): (Vec<_>, Vec<_>) = online.partition(|member| member.is_waiting);
            let all = waiting.len() > 1 && busy.is_empty();
            Ok(all.then(|| Everybody {
                count: waiting.len(),
                // Few: every waiting call in the room holds them.
                names: waiting
                    .iter()
                    .take(NAMED)
                    .map(|member| member.name.clone())
                    .collect(),
            }))
        };
        self.state.blocking(look).await
    }

    /// Delivers the messages. They count as read from here on, where the call can
    /// no longer be cancelled; the file is written later.
    fn deliver(&self, context: &Context, news: News, everybody: Option<Everybody>) -> Output {
        let position = news.position.clone();
        self.room.reads.advance(&self.agent, position);
        let (room, agent) = (Arc::clone(&self.room), self.agent.clone());
        let now = context.clock.now();
        self.state.store.blocking().run_later(move || {
            room.members.heard_of(&agent, now);
            if let Err(error) = room.save_position(&agent, now) {
                tracing::warn!(%error, cause = ?error.cause, "a read position could not be written");
            }
        });
        self.output(news, false, everybody)
    }

    fn output(&self, news: News, timed_out: bool, everybody: Option<Everybody>) -> Output {
        let messages: Vec<Message> = news.messages.into_iter().map(Message::from).collect();
        Output {
            room_name: self.room.name.to_string(),
            count: messages.len(),
            has_new_messages: !messages.is_empty(),
            timed_out,
            unread_count: news.left,
            warning: everybody.as_ref().map(|all| {
                format!(
                    "All {} agents online in this room were waiting, so nobody would have spoken. \
                     Say something with send_message before you wait again.",
                    all.count
                )
            }),
            waiting_agents: everybody.map(|all| all.names),
            messages,
        }
    }
}
