//! The sync status of an event on the CalDAV server, in words.

use kit::context::Language::{self, English, Japanese};

use crate::store::{
    caldav::{ServerChange, SyncStatus},
    events::Event,
};

pub fn state(standing: &SyncStatus) -> &'static str {
    match standing {
        SyncStatus::Done => "done",
        SyncStatus::Waiting(_) => "waiting",
        SyncStatus::Conflict(_) => "conflict",
    }
}

/// Why the event is not synced and what can be done about it; `None` if it is
/// synced or was not tried yet.
pub fn note(standing: &SyncStatus, language: Language) -> Option<String> {
    let (why, next) = match (standing, language) {
        (SyncStatus::Done | SyncStatus::Waiting(None), _) => return None,
        (SyncStatus::Waiting(Some(why)), English) => (
            why.as_str(),
            " It is retried automatically; if that keeps failing, `madoguchi doctor` tells more.",
        ),
        (SyncStatus::Waiting(Some(why)), Japanese) => (
            why.as_str(),
            " 自動で再試行します。続く場合は`madoguchi doctor`で確認できます。",
        ),
        (SyncStatus::Conflict(ServerChange::Changed), English) => (
            "Somebody changed it on the calendar server, so the change made here is not there.",
            RESOLVE,
        ),
        (SyncStatus::Conflict(ServerChange::Deleted), English) => (
            "Somebody deleted it on the calendar server, so the change made here is not there.",
            RESOLVE,
        ),
        (SyncStatus::Conflict(ServerChange::Changed), Japanese) => (
            "カレンダーサーバー側で変更されたため、ここでの変更はサーバーに反映されていません。",
            RESOLVE_JAPANESE,
        ),
        (SyncStatus::Conflict(ServerChange::Deleted), Japanese) => (
            "カレンダーサーバー側で削除されたため、ここでの変更はサーバーに反映されていません。",
            RESOLVE_JAPANESE,
        ),
    };
    Some(format!("{why}{next}"))
}

const RESOLVE: &str = " Ask the user which one holds: calendar_update with overwrite puts this one \
    there, calendar_cancel gives it up here and leaves the server as it is.";
const RESOLVE_JAPANESE: &str = "どちらを残すか確認してください。calendar_updateのoverwriteでこちらの内容に\
    上書きし、calendar_cancelでこちらだけを取り消します。";

/// For an event that was cancelled here and is still on the server.
pub fn left_there(event: &Event, language: Language) -> String {
    let (title, id) = (&event.title, &event.id);
    match language {
        English => format!(
            "{title} ({id}) was cancelled here, but somebody changed it on the calendar server and \
             it is still there. Delete it in a calendar program if nobody needs it."
        ),
        Japanese => format!(
            "「{title}」（{id}）はここでは取り消されましたが、カレンダーサーバー側で変更されたため残って\
             います。不要ならカレンダーアプリで削除してください。"
        ),
    }
}

/// A sentence to read out, if any event differs.
pub fn summary(differ: usize, language: Language) -> String {
    match (language, differ) {
        (_, 0) => String::new(),
        (English, 1) => " One was changed on the calendar server meanwhile.".into(),
        (English, _) => format!(" {differ} were changed on the calendar server meanwhile."),
        (Japanese, _) => format!("カレンダーサーバー側で変更された予定が{differ}件あります。"),
    }
}
