//! Tasks for the innervoice counter.

use serde_json::json;

use super::{Subject, Task};

const CONFIG: &str = "[innervoice]\nlanguage = \"en\"\n[approval]\nhold_seconds = 0\ntools = { \
    \"innervoice.calendar_create\" = \"allow\", \"innervoice.calendar_update\" = \"allow\", \
    \"innervoice.message_send\" = \"allow\", \"innervoice.reminder_create\" = \"allow\" }\n";

pub fn subject() -> Subject {
    let mut tasks = calendar();
    tasks.extend(reminders_and_messages());
    Subject {
        counter: "innervoice",
        config: CONFIG,
        has_demo: false,
        tasks,
    }
}

fn calendar() -> Vec<Task> {
    let dentist = json!({ "title": "Dentist", "start": "tomorrow at 2pm", "duration_min": 30 });
    let meeting = json!({
        "title": "Team meeting", "start": "tomorrow at 10am", "duration_min": 60,
        "repeat": "daily until the end of next month"
    });
    let clash = json!({ "title": "Review", "start": "tomorrow at 2pm", "duration_min": 60 });
    vec![
        Task::new("What do I have to do tomorrow?")
            .given("calendar_create", dentist.clone())
            .call(
                "calendar_list",
                json!({ "from": "tomorrow", "to": "tomorrow" }),
            )
            .shows("Dentist"),
        Task::new("Team meeting every Tuesday at ten until the end of the year.")
            .call(
                "calendar_create",
                json!({
                    "title": "Team meeting", "start": "tuesday at 10am", "duration_min": 60,
                    "repeat": "every tuesday until the end of next year"
                }),
            )
            .shows("FREQ=WEEKLY;BYDAY=TU;UNTIL="),
        Task::new("Only tomorrow's team meeting is cancelled.")
            .given("calendar_create", meeting)
            .call(
                "calendar_list",
                json!({ "query": "team meeting", "limit": 1 }),
            )
            .call(
                "calendar_cancel",
                json!({ "id": "$1/events/0/id", "date": "tomorrow" }),
            )
            .shows("the other times stay"),
        Task::new("Move the dentist to four.")
            .given("calendar_create", dentist.clone())
            .call("calendar_list", json!({ "query": "dentist" }))
            .call(
                "calendar_update",
                json!({ "id": "$1/events/0/id", "start": "16:00" }),
            )
            .shows("T16:00:00+09:00"),
        Task::new("金曜は終日休みにして。")
            .call(
                "calendar_create",
                json!({ "title": "休み", "start": "金曜", "all_day": true }),
            )
            .shows("\"all_day\":true"),
        Task::new("When am I free for an hour tomorrow afternoon?")
            .given("calendar_create", dentist.clone())
            .call(
                "calendar_free_slots",
                json!({
                    "duration_min": 60, "from": "tomorrow", "to": "tomorrow", "earliest": "13:00"
                }),
            )
            .shows("T14:30:00+09:00"),
        Task::new("明日の予定は重なっていない？")
            .given("calendar_create", dentist)
            .given("calendar_create", clash)
            .call("calendar_list", json!({ "from": "明日", "to": "明日" }))
            .shows("overlaps"),
    ]
}

fn reminders_and_messages() -> Vec<Task> {
    let vitamins = json!({ "time": "tomorrow at 8am", "note": "Vitamins", "repeat": "daily" });
    vec![
        Task::new("Remind me of the bread in half an hour.")
            .call(
                "reminder_create",
                json!({ "time": "+30m", "note": "Take out the bread" }),
            )
            .shows("I will remind you"),
        Task::new("Remind me tomorrow to call Ann. (At nine, when asked.)")
            .call(
                "reminder_create",
                json!({ "time": "tomorrow", "note": "Call Ann" }),
            )
            .refused("INVALID_TIME")
            .call(
                "reminder_create",
                json!({ "time": "tomorrow at 9am", "note": "Call Ann" }),
            )
            .shows("tomorrow at 9:00"),
        Task::new("No vitamins tomorrow, but every other day.")
            .given("reminder_create", vitamins)
            .call("reminder_list", json!({}))
            .call(
                "reminder_cancel",
                json!({ "id": "$1/reminders/0/id", "date": "tomorrow" }),
            )
            .shows("The other times stay"),
        Task::new("Write to Ann and Bob that I am late, with a subject.")
            .call(
                "message_send",
                json!({
                    "to": "ann@example.com, bob@example.com", "text": "I am late.",
                    "subject": "Late"
                }),
            )
            .shows("not_configured"),
        Task::new("Take that message back.")
            .given(
                "message_send",
                json!({ "to": "ann@example.com", "text": "I am late." }),
            )
            .call("message_cancel", json!({}))
            .shows("I took back"),
        Task::new("Write to Tanaka, who is not in the address book.")
            .call(
                "message_send",
                json!({ "to": "Tanaka", "text": "I am late." }),
            )
            .refused("RECIPIENT_NOT_FOUND")
            .call("contacts_search", json!({}))
            .shows("The address book is empty"),
    ]
}
