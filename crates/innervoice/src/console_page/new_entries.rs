//! The forms that make events and reminders.

use kit::{
    Context, Language,
    console::{Action, Input, Part, TextInput, pick},
};

use crate::state::CounterState;

pub fn new_event(state: &CounterState, context: &Context) -> Part {
    let text = |argument, english, japanese, is_required| TextInput {
        argument,
        label: pick(context, english, japanese).into(),
        is_required,
        ..TextInput::default()
    };
    Part::Action(Action {
        tool: "calendar.create",
        label: pick(context, "Add the event", "予定を追加").into(),
        fixed: Vec::new(),
        inputs: vec![
            Input::Text(text("title", "New event", "新しい予定", true)),
            Input::Text(TextInput {
                hint: how_times_are_written(state, context.language),
                ..text("start", "Starts", "開始", true)
            }),
            Input::Text(TextInput {
                hint: pick(context, "Minutes, or 1h 30m", "分、または1時間30分").into(),
                value: "60".into(),
                ..text("duration_min", "How long", "長さ", true)
            }),
            Input::Text(text("location", "Place", "場所", false)),
        ],
    })
}

pub fn new_reminder(state: &CounterState, context: &Context) -> Part {
    let text = |argument, english, japanese| TextInput {
        argument,
        label: pick(context, english, japanese).into(),
        is_required: true,
        ..TextInput::default()
    };
    Part::Action(Action {
        tool: "reminder.create",
        label: pick(context, "Add the reminder", "リマインダーを追加").into(),
        fixed: Vec::new(),
        inputs: vec![
            Input::Text(text("note", "New reminder", "新しいリマインダー")),
            Input::Text(TextInput {
                hint: how_times_are_written(state, context.language),
                ..text("time", "When", "いつ")
            }),
        ],
    })
}

fn how_times_are_written(state: &CounterState, language: Language) -> String {
    let zone = state.zone.iana_name().unwrap_or("UTC");
    match language {
        Language::English => {
            format!("Such as tomorrow at 3pm, +30m or 2030-01-31 15:00, in {zone}")
        }
        Language::Japanese => {
            format!("「明日15時」「30分後」「2030-01-31 15:00」など。{zone} の時刻です")
        }
    }
}
