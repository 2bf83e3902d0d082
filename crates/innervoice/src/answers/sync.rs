//! How an event stands with the CalDAV server, in words.

use kit::context::Language::{self, English, Japanese};

use crate::store::{
    caldav::{Standing, Theirs},
    events::Event,
};

pub fn state(standing: &Standing) -> &'static str {
    match standing {
        Standing::Done => "done",
        Standing::Waiting(_) => "waiting",
        Standing::Conflict(_) => "conflict",
    }
}

/// Why it is not done and what can be done about it; nothing where nothing is
/// the matter.
pub fn note(standing: &Standing, language: Language) -> Option<String> {
    let (why, next) = match (standing, language) {
        (Standing::Done | Standing::Waiting(None), _) => return None,
        (Standing::Waiting(Some(why)), English) => (
            why.as_str(),
            " It is tried again by itself; if that goes on, `madoguchi doctor` tells more.",
        ),
        (Standing::Waiting(Some(why)), Japanese) => (
            why.as_str(),
            " 自動で再試行します。続く場合は`madoguchi doctor`で確認できます。",
        ),
        (Standing::Conflict(Theirs::Changed), English) => (
            "Somebody changed it on the calendar server, so the change made here is not there.",
            RESOLVE,
        ),
        (Standing::Conflict(Theirs::Deleted), English) => (
            "Somebody deleted it on the calendar server, so the change made here is not there.",
            RESOLVE,
        ),
        (Standing::Conflict(Theirs::Changed), Japanese) => (
            "カレンダーサーバー側で変更されたため、ここでの変更はサーバーに反映されていません。",
            RESOLVE_JAPANESE,
        ),
        (Standing::Conflict(Theirs::Deleted), Japanese) => (
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

/// Of an event that was cancelled here and stays there.
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
