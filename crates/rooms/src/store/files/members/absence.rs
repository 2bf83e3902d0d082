//! Members whose signs of life have stopped: idle ones, and those whom this
//! process served when it ends.

use jiff::Timestamp;
use kit::Result;

use super::Members;
use crate::{
    model::members::{Activities, Status},
    store::rooms::Member,
};

impl Members {
    /// Writes down who is offline by now, and a damaged file anew. Returns
    /// whether anything changed.
    pub fn sweep(&self, now: Timestamp) -> Result<bool> {
        let before = self.load()?;
        let is_gone = |member: &Member| {
            let noted = before.users.get(&member.name).map(|user| user.status);
            member.status == Status::Offline && noted == Some(Status::Online)
        };
        if !self.is_damaged()? && !self.list(now)?.iter().any(is_gone) {
            return Ok(false);
        }
        let held = self.at.lock()?;
        self.edit(&held, |presence| {
            // Somebody may have come back while the locks were waited for.
            for member in self.list(now)? {
                if let Some(user) = presence.users.get_mut(&member.name) {
                    user.status = member.status;
                }
            }
            Ok(true)
        })?;
        Ok(true)
    }

    /// Takes everybody offline whom this process served last.
    pub fn retire(&self) -> Result<()> {
        if self.local().heard.is_empty() {
            return Ok(());
        }
        let held = self.at.data.lock_room(&self.at.name)?;
        if self.at.registry.require(&self.at.name).is_err() {
            return Ok(());
        }
        let mut activities = Activities::clone(&*self.activities()?);
        let members = self.load()?;
        let is_ours = |name: &str| {
            let activity = activities.get(name);
            activity.is_some_and(|activity| activity.process == self.at.data.process.id())
        };
        let users = members.users.iter();
        let online = users.filter(|(_, user)| user.status == Status::Online);
        let ours: Vec<&str> = online
            .map(|(name, _)| name)
            .filter(|name| is_ours(name))
            .collect();
        if ours.is_empty() {
            return Ok(());
        }
        self.edit(&held, |presence| {
            for name in &ours {
                if let Some(user) = presence.users.get_mut(name) {
                    user.status = Status::Offline;
                }
            }
            Ok(true)
        })?;
        for name in &ours {
            activities.remove(name);
        }
        self.save_activities(&activities)
    }
}
