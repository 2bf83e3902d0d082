//! Times as people say them, what is said back, and the language it is said in.

use kit::context::Language;
use serde_json::{Value, json};

use crate::assistant::{one, with};

/// The clock stands at ten on a Sunday.
#[tokio::test]
async fn times_in_words_are_resolved_and_echoed() {
    let assistant = one().await;
    for (time, expected) in [
        ("tomorrow at 3pm", "2026-11-16T15:00:00+09:00"),
        ("明日15時", "2026-11-16T15:00:00+09:00"),
        ("+30m", "2026-11-15T10:30:00+09:00"),
        ("30分後", "2026-11-15T10:30:00+09:00"),
        ("来週の金曜 9時", "2026-11-20T09:00:00+09:00"),
        ("friday at noon", "2026-11-20T12:00:00+09:00"),
        (
            "tomorrow at 9am[America/New_York]",
            "2026-11-15T09:00:00-05:00",
        ),
    ] {
        let reminder = json!({"time": time, "note": "x"});
        let answer = assistant.ok("reminder.create", reminder).await;
        assert_eq!(answer["next"], json!([expected]), "{time}");
        assert_eq!(answer["today"], "2026-11-15");
        assert_eq!(answer["time_zone"], "Asia/Tokyo");
        let event = json!({"title": "x", "start": time, "duration_min": 30});
        let answer = assistant.ok("calendar.create", event).await;
        assert_eq!(answer["event"]["start"], expected, "{time}");
    }
}

#[tokio::test]
async fn an_error_about_a_time_says_what_now_is() {
    let assistant = one().await;
    for (time, says) in [
        ("tomorrow", "without a time of day"),
        ("来週の金曜", "without a time of day"),
        ("tomorrow at 3", "morning or in the afternoon"),
        ("soon", "not a time that is understood"),
    ] {
        for (tool, arguments) in [
            ("reminder.create", json!({"time": time, "note": "x"})),
            (
                "calendar.create",
                json!({"title": "x", "start": time, "duration_min": 30}),
            ),
        ] {
            let refused = assistant.refused(tool, arguments).await;
            assert_eq!(refused.code, "INVALID_TIME");
            assert!(refused.message.contains(says), "{refused}");
            let next = refused.next.unwrap();
            assert!(
                next.contains("It is now 2026-11-15T10:00:00+09:00 Sunday"),
                "{next}"
            );
            let details = refused.details.unwrap();
            assert_eq!(details["now"], "2026-11-15T10:00:00+09:00");
        }
    }
}

/// What was meant for today is never moved to tomorrow.
#[tokio::test]
async fn a_time_of_today_that_has_passed_is_refused() {
    let assistant = one().await;
    for time in ["this morning at 9", "今朝9時", "today at 9am"] {
        let reminder = json!({"time": time, "note": "x"});
        let refused = assistant.refused("reminder.create", reminder).await;
        assert_eq!(refused.code, "TIME_PASSED", "{time}");
        let event = json!({"title": "x", "start": time, "duration_min": 30});
        let made = assistant.ok("calendar.create", event).await;
        assert_eq!(made["event"]["start"], "2026-11-15T09:00:00+09:00");
        assert_eq!(made["warnings"][0]["code"], "PAST");
    }
    let wrong = json!({"time": "Friday, Nov 21 at 3pm", "note": "x"});
    let wrong = assistant.refused("reminder.create", wrong).await;
    assert!(wrong.message.contains("do not fit together"), "{wrong}");
}

/// A time without a day keeps the day of what is changed.
#[tokio::test]
async fn only_the_hour_is_changed() {
    let assistant = one().await;
    let event = json!({"title": "x", "start": "2026-11-20T09:00", "duration_min": 30});
    let id = assistant.ok("calendar.create", event).await["id"].clone();
    let later = json!({"id": id, "start": "3pm"});
    let later = assistant.ok("calendar.update", later).await;
    assert_eq!(later["event"]["start"], "2026-11-20T15:00:00+09:00");
    let reminder = json!({"time": "2026-11-20T09:00", "note": "x"});
    let id = assistant.ok("reminder.create", reminder).await["id"].clone();
    let later = json!({"id": id, "time": "15時"});
    let later = assistant.ok("reminder.update", later).await;
    assert_eq!(later["next"], json!(["2026-11-20T15:00:00+09:00"]));
}

/// What is said names what changed, and nothing else.
#[tokio::test]
async fn what_is_said_of_a_change_is_true() {
    let mut assistant = one().await;
    let event = json!({"title": "dentist", "start": "2026-11-16T09:00", "duration_min": 30});
    let id = assistant.ok("calendar.create", event).await["id"].clone();
    for (change, changed, english, japanese) in [
        (
            json!({"location": "Ueno"}),
            json!(["location"]),
            "I changed dentist: the place is Ueno.",
            "「dentist」はすでにその内容なので、変更はありません。",
        ),
        (
            json!({"start": "2026-11-16T15:00", "duration_min": 45}),
            json!(["start", "duration_min"]),
            "I changed dentist: it is now tomorrow at 15:00, it lasts 45 minutes.",
            "「dentist」はすでにその内容なので、変更はありません。",
        ),
        (
            json!({"clear": ["location"]}),
            json!(["location"]),
            "I changed dentist: it has no place any more.",
            "「dentist」はすでにその内容なので、変更はありません。",
        ),
    ] {
        let mut arguments = change;
        arguments["id"] = id.clone();
        assistant.context.language = Language::English;
        let answer = assistant.ok("calendar.update", arguments.clone()).await;
        assert_eq!(answer["message"], english);
        assert_eq!(answer["changed"], changed);
        // The same again changes nothing, and says so.
        assistant.context.language = Language::Japanese;
        let again = assistant.ok("calendar.update", arguments).await;
        assert_eq!(again["message"], japanese);
        assert_eq!(again["changed"], json!([]));
    }
    let change = json!({"id": id, "title": "歯医者", "start": "2026-11-17T15:00"});
    let said = assistant.says("calendar.update", change).await;
    assert_eq!(
        said,
        "「dentist」を変更しました。件名は「歯医者」です、日時は11月17日(火)15時です。"
    );
}

/// No names of arguments or tools, no commands, no backticks.
#[tokio::test]
async fn refusals_can_be_read_out() {
    let mut assistant = one().await;
    assistant.know_people().await;
    let calls = [
        ("reminder.create", json!({"time": "tomorrow", "note": "x"})),
        ("reminder.create", json!({"time": "soon", "note": "x"})),
        (
            "reminder.create",
            json!({"time": "2026-11-15T09:00", "note": "x"}),
        ),
        (
            "reminder.create",
            json!({"time": "+1h", "note": "x", "repeat": "sometimes"}),
        ),
        ("message.send", json!({"to": "田中", "text": "x"})),
        ("message.send", json!({"to": "徳川", "text": "x"})),
        (
            "message.send",
            json!({"to": "花子", "text": "x", "platform": "sms"}),
        ),
        ("message.cancel", json!({"id": "msg_none"})),
        ("calendar.update", json!({"id": "evt_none", "title": "x"})),
        ("calendar.list", json!({"query": "none"})),
        ("calendar.list", json!({})),
        ("reminder.list", json!({})),
        ("contacts.search", json!({"query": "徳川"})),
    ];
    for language in [Language::English, Language::Japanese] {
        assistant.context.language = language;
        for (tool, arguments) in &calls {
            let said = assistant.says(tool, arguments.clone()).await;
            let is_japanese = said.contains(['。', 'か']);
            assert_eq!(is_japanese, language == Language::Japanese, "{said}");
            for unfit in [
                "`",
                "_",
                "madoguchi",
                "http",
                "details",
                "contact_id",
                "RRULE",
            ] {
                assert!(!said.contains(unfit), "{tool} {arguments}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn the_setting_decides_the_language() {
    use kit::counter::AnswerLanguage::{Always, OfThePerson};
    for (language, zone, expected) in [
        ("ja", "Asia/Tokyo", Some(Language::Japanese)),
        ("en", "Asia/Tokyo", Some(Language::English)),
        ("", "Asia/Tokyo", None),
    ] {
        let settings = json!({"language": language, "time_zone": zone});
        let assistant = with(serde_json::from_value(settings).unwrap()).await;
        let rule = assistant.counter.about.conventions.language;
        match expected {
            Some(expected) => assert_eq!(rule, Always(expected)),
            None => {
                assert!(matches!(rule, OfThePerson { spoken, .. } if !spoken.contains(&"title")))
            }
        }
    }
    assert!(serde_json::from_value::<innervoice::Settings>(json!({"language": "fr"})).is_err());
    let _ = Value::Null;
}
