//! Tells the person that something waits for their approval. No call waits for this.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use kit::{Result, counter::Notice};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    approvals::{Approval, Status},
    desk::Desk,
    served_counter::FoundTool,
    settings::NoticeChannel,
};

/// How many questions are looked at. More can't be read by anybody.
const MOST: i64 = 100;
/// How many notices are sent in a minute. Later ones wait, unless they are decided first.
const MOST_PER_MINUTE: usize = 6;
const MINUTE: Duration = Duration::from_secs(60);
/// How long after a failure the rows are asked again.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);

/// Runs until the desk stops. Several desks may run it on the same data: each notice is
/// sent once.
pub async fn run(desk: Arc<Desk>) {
    if desk.settings.approval.notify.is_empty() {
        return;
    }
    let mut changes = desk.approvals.changes();
    let mut sender = Sender::default();
    loop {
        changes.mark_unchanged();
        let pause = match sender.round(&desk).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, "a notice could not be stored; it is tried again");
                Some(AFTER_TROUBLE)
            }
        };
        let later = async {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = later => {}
            () = desk.stopping.cancelled() => return,
        }
    }
}

#[derive(Default)]
struct Sender {
    /// Of what waits now.
    notified: HashSet<String>,
    /// When the last ones were sent, and whose questions they were about.
    sent: VecDeque<(Instant, Arc<str>)>,
}

impl Sender {
    /// Sends what is new. Returns when to look again, if not only after a change.
    async fn round(&mut self, desk: &Desk) -> Result<Option<Duration>> {
        let pending = desk.approvals.list(Some(Status::Pending), MOST).await?;
        self.notified
            .retain(|id| pending.iter().any(|approval| approval.id == *id));
        loop {
            let pause = self.pause(Instant::now());
            let Some(approval) = self.next(&pending) else {
                return Ok(None);
            };
            if pause.is_some() {
                return Ok(pause);
            }
            let notice = notice(desk, approval);
            for served in &desk.counters {
                if let Some(background) = &served.counter.background {
                    background.notify(notice.clone()).await?;
                }
            }
            self.notified.insert(approval.id.clone());
            let caller = Arc::clone(&approval.caller.id);
            self.sent.push_back((Instant::now(), caller));
        }
    }

    /// The oldest question of the caller about whom the person was told least. One caller
    /// with many questions must not hold up the notices of all others.
    fn next<'a>(&self, pending: &'a [Approval]) -> Option<&'a Approval> {
        let told = |approval: &&Approval| {
            let sent = self.sent.iter();
            sent.filter(|(_, of)| *of == approval.caller.id).count()
        };
        let oldest_first = pending.iter().rev();
        oldest_first
            .filter(|approval| !self.notified.contains(&approval.id))
            .min_by_key(told)
    }

    /// How long the next notice has to wait.
    fn pause(&mut self, now: Instant) -> Option<Duration> {
        let is_past = |(sent, _): &(Instant, Arc<str>)| now - *sent >= MINUTE;
        while self.sent.front().is_some_and(is_past) {
            self.sent.pop_front();
        }
        let (first, _) = self.sent.front()?;
        let is_full = self.sent.len() >= MOST_PER_MINUTE;
        is_full.then(|| (*first + MINUTE).saturating_duration_since(now))
    }
}

fn notice(desk: &Desk, approval: &Approval) -> Notice {
    let served = desk.counter(&approval.counter);
    let title = served.and_then(|served| match served.find(&approval.tool) {
        FoundTool::Tool(tool) => Some(tool.tool.title),
        FoundTool::Hidden { .. } | FoundTool::Unknown => None,
    });
    let title = title.unwrap_or(&approval.tool);
    let caller = kit::text::visible(&approval.caller.name);
    let url = format!(
        "{}/console/approvals#{}",
        desk.settings.console_url(),
        approval.id
    );
    let channels = desk.settings.approval.notify.iter();
    Notice {
        id: approval.id.clone(),
        channels: channels.map(|it| NoticeChannel::name(*it)).collect(),
        text: [
            format!("{caller} asks for your approval: {title}"),
            format!("{caller} が承認を求めています: {title}"),
        ],
        data: json!({
            "type": "approval.waiting",
            "id": approval.id,
            "counter": approval.counter,
            "tool": approval.tool,
            "caller": approval.caller.name,
            "url": url,
            "expires_at": jiff::Timestamp::from_millisecond(approval.expires_at)
                .map(|at| at.to_string())
                .ok(),
        }),
        url,
    }
}

#[cfg(test)]
mod tests {
    use kit::{Caller, approval::Card};

    use super::*;

    fn question(id: &str, caller: &str) -> Approval {
        Approval {
            id: id.into(),
            counter: "cinema".into(),
            tool: "reserve_seats".into(),
            caller: Caller::with_key(caller, caller),
            arguments: json!({}),
            digest: String::new(),
            card: Card::default(),
            status: Status::Pending,
            created_at: 0,
            expires_at: 0,
            decided_at: None,
            decided_by: None,
            reason: None,
            delivered_at: None,
        }
    }

    #[test]
    fn a_caller_with_many_questions_does_not_hold_up_the_others() {
        // The newest comes first.
        let mut pending = vec![question("of-b", "b")];
        pending.extend((0..50).rev().map(|at| question(&format!("{at}-of-a"), "a")));
        let mut sender = Sender::default();
        let mut told = Vec::new();
        for _ in 0..3 {
            let next = sender.next(&pending).unwrap();
            told.push(next.id.as_str());
            sender.notified.insert(next.id.clone());
            let caller = Arc::clone(&next.caller.id);
            sender.sent.push_back((Instant::now(), caller));
        }
        assert_eq!(told, ["0-of-a", "of-b", "1-of-a"]);
    }

    #[test]
    fn a_minute_has_few_notices_and_the_next_one_more() {
        let mut sender = Sender::default();
        let start = Instant::now();
        for _ in 0..MOST_PER_MINUTE {
            assert_eq!(sender.pause(start), None);
            sender.sent.push_back((start, "key:a".into()));
        }
        let half = start + MINUTE / 2;
        assert_eq!(sender.pause(half), Some(MINUTE / 2));
        assert_eq!(sender.pause(start + MINUTE), None);
    }
}
