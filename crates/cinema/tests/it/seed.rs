//! The five tools as their document publishes them.

use serde_json::{Value, json};

use crate::cinema::{TODAY, both, one};

/// The document's definitions and responses, word for word.
fn document() -> Value {
    serde_json::from_str(include_str!("seed.json")).unwrap()
}

#[tokio::test]
async fn tools_are_published_as_written() {
    let counter = one().await.counter.clone();
    assert_eq!(counter.about.server_name, "cinema");
    let document = document();
    let names: Vec<&str> = counter.tools.iter().map(|tool| tool.name).collect();
    let wanted: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(names[..wanted.len()], wanted, "before the others");
    for tool in counter.tools.iter().take(wanted.len()) {
        let seed = &document[tool.name];
        assert_eq!(tool.description, seed["description"], "{}", tool.name);
        let seed = &seed["inputSchema"];
        assert_eq!(tool.input["type"], "object");
        assert_eq!(tool.input["required"], seed["required"], "{}", tool.name);
        for (name, property) in seed["properties"].as_object().unwrap() {
            let mut ours = tool.input["properties"][name].clone();
            // A description may go on to name what else is accepted.
            let (said, words) = (&ours["description"], &property["description"]);
            if said.as_str().unwrap().starts_with(words.as_str().unwrap()) {
                ours["description"] = words.clone();
            }
            assert_eq!(&ours, property, "{}.{name}", tool.name);
        }
    }
    for tool in &counter.tools {
        assert_eq!(tool.hints.read_only, tool.effect == kit::Effect::Read);
        for schema in [Some(&tool.input), tool.output.as_ref()] {
            let schema = schema.unwrap();
            jsonschema::validator_for(schema).unwrap();
            let text = schema.to_string();
            for foreign in ["$ref", "anyOf", "oneOf", "allOf", "null"] {
                assert!(!text.contains(foreign), "{} has {foreign}", tool.name);
            }
        }
    }
}

/// `value` has at least the fields of `shape`, with their types.
fn has_shape(value: &Value, shape: &Value, at: &str) {
    match shape {
        Value::String(kind) => {
            let fits = match kind.as_str() {
                "string" => value.is_string(),
                "number" => value.is_number(),
                other => panic!("{other}"),
            };
            assert!(fits, "{at} is not a {kind}: {value}");
        }
        Value::Array(items) => {
            let values = value.as_array();
            let values = values.unwrap_or_else(|| panic!("{at} is no array"));
            assert!(!values.is_empty(), "{at} is empty");
            for value in values {
                has_shape(value, &items[0], &format!("{at}[]"));
            }
        }
        Value::Object(fields) => {
            for (name, shape) in fields {
                let field = value.get(name);
                let field = field.unwrap_or_else(|| panic!("{at}.{name} is missing"));
                has_shape(field, shape, &format!("{at}.{name}"));
            }
        }
        _ => unreachable!(),
    }
}

fn has_every_field(answer: &Value, tool: &str) {
    has_shape(answer, &document()[tool]["response"], tool);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn films_and_schedules_have_every_field() {
    for cinema in both().await {
        let movies = cinema.movies(json!({"date": TODAY})).await;
        has_every_field(&movies, "get_movie_list");
        let movies = movies["movies"].as_array().unwrap();
        assert!(movies.len() >= 12);
        for movie in movies {
            assert!(movie["age_class"].is_string());
            assert!((1.0..=5.0).contains(&movie["rating"].as_f64().unwrap()));
        }
        let schedules = cinema.schedule("M001", TODAY).await;
        has_every_field(&schedules, "get_show_schedule");
        assert!(schedules["schedules"].as_array().unwrap().len() >= 3);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_and_reservations_have_every_field() {
    for cinema in both().await {
        let schedules = cinema.schedule("M001", "2026-11-16").await;
        let show = &schedules["schedules"][0]["schedule_id"];
        let reserved = cinema.reserve(show, ["A3", "B1"]).await.unwrap();
        has_every_field(&reserved, "reserve_seats");
        let sentence = "Successfully reserved 2 seat(s): A3, B1.";
        assert_eq!(reserved["message"], sentence);
        let reservation = &reserved["reservation"];
        assert_eq!(reservation["status"], "confirmed");
        assert_eq!(reservation["reservation_time"], "2026-11-15T10:00:00+09:00");

        let with_map = json!({"schedule_id": show, "map": true});
        let seats = cinema.ok("get_seat_availability", with_map).await;
        has_every_field(&seats, "get_seat_availability");
        let taken = json!({"row": "A", "occupied_numbers": [3]});
        assert_eq!(seats["occupied_seats"][0], taken);
        assert!(seats["seat_map"].as_str().unwrap().contains("A   ○  ○  ×"));

        let details = cinema.details(&reservation["reservation_id"]).await;
        has_every_field(&details, "get_reservation_details");
        assert_eq!(details["reservation"], *reservation);
        assert_eq!(details["schedule_info"], reserved["schedule_info"]);
        let seat = json!({"seat_id": "A3", "row": "A", "number": 3, "seat_type": "一般"});
        assert_eq!(details["seat_details"][0], seat);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn invalid_dates_and_times_have_their_codes() {
    let cinema = one().await;
    let dates = "15-11-2026|2026-02-30|2026-13-01|soon| |0000-00-00";
    for date in dates.split('|').map(Value::from).chain([json!(5)]) {
        for (tool, mut arguments) in [
            ("get_movie_list", json!({})),
            ("get_show_schedule", json!({"movie_id": "M001"})),
            ("get_seat_availability", json!({"movie_title": "銀河"})),
            (
                "reserve_seats",
                json!({"movie_title": "銀河", "seat_ids": ["A3"]}),
            ),
        ] {
            arguments["date"] = date.clone();
            let error = cinema.refused(tool, arguments).await;
            assert_eq!(error.code, "INVALID_DATE", "{tool} {date}");
            assert_eq!(error.message, "Invalid date format. Use YYYY-MM-DD.");
        }
    }
    for time in ["30:00", "19:60", "noon", "7"] {
        let arguments = json!({"movie_title": "銀河", "date": TODAY, "start_time": time});
        let error = cinema.refused("get_seat_availability", arguments).await;
        assert_eq!(error.code, "INVALID_TIME", "{time}");
        assert_eq!(error.message, "Invalid time format. Use HH:MM.");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn other_invalid_arguments_have_their_codes() {
    let cinema = one().await;
    for (tool, arguments, code) in [
        ("get_movie_list", json!({"limit": 0}), "INVALID_ARGUMENT"),
        ("get_movie_list", json!({"cursor": "x"}), "INVALID_CURSOR"),
        (
            "get_show_schedule",
            json!({"movie_id": "M001"}),
            "INVALID_ARGUMENT",
        ),
        ("reserve_seats", json!({}), "INVALID_ARGUMENT"),
        ("get_reservation_details", json!({}), "INVALID_ARGUMENT"),
    ] {
        assert_eq!(cinema.code(tool, arguments).await, code, "{tool}");
    }
    for none in [json!([]), json!(""), json!(" , "), json!(["", null])] {
        let error = cinema.reserve("S20261116-T1-1", none).await.unwrap_err();
        assert_eq!(error.code, "NO_SEATS");
    }
    let unknown = json!({"reservation_id": "rsv_0"});
    let error = cinema.refused("get_reservation_details", unknown).await;
    assert_eq!(
        error.text(),
        "RESERVATION_NOT_FOUND: Reservation not found. Check the reservation_id that \
         reserve_seats or hold_seats returned."
    );
}
