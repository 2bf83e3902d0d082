//! Notices of the desk to the person, through the channels that reminders use.

use std::sync::Arc;

use kit::{Language, Result, Sql, counter::AnswerLanguage, counter::Notice, sql::Budget};

use crate::{
    outbox::subject_of,
    state::CounterState,
    store::outbox::{self, NOTICE, NewItem},
};

/// Stores a notice for each of its channels that is configured. The outbox sends them.
pub async fn store(state: &Arc<CounterState>, notice: Notice) -> Result<()> {
    let now = state.store.clock().now().as_millisecond();
    let store = Arc::clone(&state.store);
    let state = Arc::clone(state);
    let insert = move |sql: &mut dyn Sql| {
        let [english, japanese] = &notice.text;
        let text = match is_japanese(&state) {
            true => japanese,
            false => english,
        };
        let channels = state.channels.for_reminders().into_iter();
        for (channel, address) in channels.filter(|(name, _)| notice.channels.contains(name)) {
            let (address, body) = match channel {
                // It opens there when the notice is tapped.
                "ntfy" => (notice.url.clone(), text.clone()),
                "webhook" => (address, notice.data.to_string()),
                _ => (address, format!("{text}\n\n{}", notice.url)),
            };
            outbox::insert(
                sql,
                &NewItem {
                    id: &format!("{NOTICE}{}-{channel}", notice.id),
                    origin: "notice",
                    firing_id: None,
                    channel,
                    contact_id: None,
                    recipient_name: None,
                    address: &address,
                    subject: &subject_of(text),
                    body: &body,
                    not_before: now,
                    caller: "desk",
                    created_at: now,
                },
            )?;
        }
        Ok(())
    };
    store.transaction(Budget::default(), insert).await
}

fn is_japanese(state: &CounterState) -> bool {
    let language = match state.settings.language() {
        AnswerLanguage::Always(language) => language,
        AnswerLanguage::OfThePerson { otherwise, .. } => otherwise,
        AnswerLanguage::OfTheCall => Language::English,
    };
    language == Language::Japanese
}
