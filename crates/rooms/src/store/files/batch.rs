//! Messages that are written together, each with its outcome.

use std::{collections::HashMap, io};

use kit::{Result, minute_limit::MINUTE_MS};

use super::{
    log::{
        index::{Files, Index},
        recent,
    },
    room::Room,
    send_queue::Unsent,
};
use crate::{
    Settings, errors,
    model::{
        members::Presence,
        message::{Draft, MessageLine},
    },
    store::messages::Sent,
};

const MEGABYTE: u64 = 1_000_000;

/// Messages that are written together, and the outcome of each.
#[derive(Default)]
pub struct Batch {
    pub bytes: Vec<u8>,
    pub results: Vec<Result<Sent>>,
    pub senders: Vec<String>,
    /// The index in `results` of the message with this sender and clientMessageId.
    client_ids: HashMap<(String, String), usize>,
}

impl Batch {
    /// Adds a message, or the reason why it cannot be sent.
    pub fn add(
        &mut self,
        room: &Room,
        members: &Presence,
        index: &Index,
        files: &Files,
        unsent: &Unsent,
    ) -> io::Result<Result<Sent>> {
        let draft = &unsent.draft;
        if members.users.get(&draft.agent).is_none() {
            return Ok(Err(room.members.not_in_room(&draft.agent)));
        }
        if let Some(before) = self.before(index, files, draft)? {
            return Ok(match draft.became(&before) {
                true => Ok(Sent::again(before)),
                false => Err(errors::client_message_id_reused()),
            });
        }
        let settings = &room.at.data.settings;
        let most_mb = settings.max_archive_mb.get();
        if index.archive.end() >= u64::from(most_mb) * MEGABYTE {
            return Ok(Err(errors::archive_is_full(room.name.as_str(), most_mb)));
        }
        if let Some(wait) = self.wait(settings, index, files, unsent)? {
            let most = settings.sends_per_minute;
            return Ok(Err(errors::rate_limited(most, wait)));
        }
        if let Some(id) = &draft.reply_to
            && index.find(id, files)?.is_none()
        {
            return Ok(Err(errors::message_not_found(id)));
        }
        let sent = Sent::new(&room.name, draft, &unsent.clock, members.users.names());
        serde_json::to_writer(&mut self.bytes, &sent.line)?;
        self.bytes.push(b'\n');
        if !self.senders.contains(&draft.agent) {
            self.senders.push(draft.agent.clone());
        }
        if let Some(client_id) = &draft.client_id {
            let key = (draft.agent.clone(), client_id.clone());
            self.client_ids.insert(key, self.results.len());
        }
        Ok(Ok(sent))
    }

    /// How long the sender has to wait if it has sent too much to this room, through any
    /// process.
    fn wait(
        &self,
        settings: &Settings,
        index: &Index,
        files: &Files,
        unsent: &Unsent,
    ) -> io::Result<Option<i64>> {
        let most = settings.sends_per_minute as usize;
        let agent = &unsent.draft.agent;
        let results = self.results.iter().flatten();
        let here = results.filter(|sent| !sent.repeated && sent.line.agent_name == *agent);
        match most.checked_sub(here.count()) {
            _ if most == 0 => Ok(None),
            None | Some(0) => Ok(Some(MINUTE_MS)),
            Some(most) => recent::wait(index, files, agent, most, unsent.clock.now()),
        }
    }

    /// The message that an earlier send of this draft became, in this batch or on the
    /// disk.
    fn before(
        &self,
        index: &Index,
        files: &Files,
        draft: &Draft,
    ) -> io::Result<Option<MessageLine>> {
        let Some(client_id) = &draft.client_id else {
            return Ok(None);
        };
        let key = (draft.agent.clone(), client_id.clone());
        let here = self
            .client_ids
            .get(&key)
            .and_then(|at| self.results.get(*at));
        if let Some(Ok(sent)) = here {
            return Ok(Some(sent.line.clone()));
        }
        index.find_client_id(&draft.agent, client_id, files)
    }
}
