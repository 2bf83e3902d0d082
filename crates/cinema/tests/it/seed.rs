//! The five tools as their document publishes them.

use serde_json::{Value, json};

use crate::cinema::{Cinema, TODAY, both, one};

/// The document's input schemas, word for word.
fn published() -> Value {
    json!({
        "get_movie_list": {
            "description": "Get a list of currently showing movies. Supports filtering by date and partial search by movie title.",
            "properties": {
                "date": {"type": "string", "description": "Screening date in YYYY-MM-DD format. If not specified, returns all currently showing movies", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
                "search_query": {"type": "string", "description": "Keyword for partial movie title search"},
                "genre": {"type": "string", "description": "Filter by genre"}
            },
            "required": []
        },
        "get_show_schedule": {
            "description": "Get screening schedule for a specified movie. Also returns seat availability information.",
            "properties": {
                "movie_id": {"type": "string", "description": "Movie ID"},
                "movie_title": {"type": "string", "description": "Movie title (can be used as alternative to movie_id)"},
                "date": {"type": "string", "description": "Screening date in YYYY-MM-DD format", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"}
            },
            "required": ["movie_id", "date"]
        },
        "get_seat_availability": {
            "description": "Get detailed seat availability for a specified screening session.",
            "properties": {
                "movie_title": {"type": "string", "description": "Movie title (can be used as alternative to schedule_id)"},
                "date": {"type": "string", "description": "Screening date in YYYY-MM-DD format", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
                "start_time": {"type": "string", "description": "Start time in HH:MM format", "pattern": "^\\d{2}:\\d{2}$"}
            },
            "required": []
        },
        "reserve_seats": {
            "description": "Reserve specified seats. Supports multiple seat reservations simultaneously.",
            "properties": {
                "schedule_id": {"type": "string", "description": "Schedule ID"},
                "seat_ids": {"type": "array", "description": "List of seat IDs to reserve", "items": {"type": "string"}, "minItems": 1}
            },
            "required": ["seat_ids"]
        },
        "get_reservation_details": {
            "description": "Get detailed information for a reservation by reservation ID.",
            "properties": {
                "reservation_id": {"type": "string", "description": "Reservation ID"}
            },
            "required": ["reservation_id"]
        }
    })
}

#[tokio::test]
async fn tools_are_published_as_written() {
    let counter = one().await.counter;
    assert_eq!(counter.about.server_name, "cinema");
    let published = published();
    let names: Vec<&str> = counter.tools.iter().map(|tool| tool.name).collect();
    let wanted: Vec<&String> = published.as_object().unwrap().keys().collect();
    assert_eq!(names, wanted);
    for tool in &counter.tools {
        let seed = &published[tool.name];
        assert_eq!(tool.description, seed["description"], "{}", tool.name);
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
            let values = value
                .as_array()
                .unwrap_or_else(|| panic!("{at} is no array"));
            assert!(!values.is_empty(), "{at} is empty");
            for value in values {
                has_shape(value, &items[0], &format!("{at}[]"));
            }
        }
        Value::Object(fields) => {
            for (name, shape) in fields {
                let field = value
                    .get(name)
                    .unwrap_or_else(|| panic!("{at}.{name} is missing"));
                has_shape(field, shape, &format!("{at}.{name}"));
            }
        }
        _ => unreachable!(),
    }
}

async fn first_schedule(cinema: &Cinema, movie: &str) -> Value {
    let answer = cinema
        .ok(
            "get_show_schedule",
            json!({"movie_id": movie, "date": "2026-11-16"}),
        )
        .await;
    answer["schedules"][0].clone()
}

#[tokio::test]
async fn films_and_schedules_have_every_field() {
    for cinema in both().await {
        let movies = cinema.ok("get_movie_list", json!({"date": TODAY})).await;
        let shape = json!({"movies": [{
            "movie_id": "string", "title": "string", "genre": "string", "duration": "number",
            "rating": "number", "description": "string", "release_date": "string",
            "age_class": "string"
        }]});
        has_shape(&movies, &shape, "get_movie_list");
        assert!(movies["movies"].as_array().unwrap().len() >= 12);
        for movie in movies["movies"].as_array().unwrap() {
            assert!((1.0..=5.0).contains(&movie["rating"].as_f64().unwrap()));
        }

        let schedules = cinema
            .ok(
                "get_show_schedule",
                json!({"movie_id": "M001", "date": TODAY}),
            )
            .await;
        let shape = json!({"schedules": [{
            "schedule_id": "string", "movie_id": "string", "date": "string",
            "start_time": "string", "end_time": "string", "theater_id": "string",
            "movie_title": "string", "available_seats_count": "number",
            "total_seats_count": "number"
        }]});
        has_shape(&schedules, &shape, "get_show_schedule");
        assert!(schedules["schedules"].as_array().unwrap().len() >= 3);
    }
}

#[tokio::test]
async fn seats_and_reservations_have_every_field() {
    for cinema in both().await {
        let schedule = first_schedule(&cinema, "M001").await;
        let id = schedule["schedule_id"].as_str().unwrap();
        let reserved = cinema
            .ok(
                "reserve_seats",
                json!({"schedule_id": id, "seat_ids": ["A3", "B1"]}),
            )
            .await;
        let info = json!({
            "movie_id": "string", "movie_title": "string", "date": "string",
            "start_time": "string", "end_time": "string", "theater_id": "string"
        });
        let reservation = json!({
            "reservation_id": "string", "schedule_id": "string", "seat_ids": ["string"],
            "reservation_time": "string", "status": "string"
        });
        let shape = json!({
            "reservation": reservation, "schedule_info": info, "message": "string"
        });
        has_shape(&reserved, &shape, "reserve_seats");
        assert_eq!(
            reserved["message"],
            "Successfully reserved 2 seat(s): A3, B1."
        );
        assert_eq!(reserved["reservation"]["status"], "confirmed");
        assert_eq!(
            reserved["reservation"]["reservation_time"],
            "2026-11-15T10:00:00+09:00"
        );

        let seats = cinema
            .ok("get_seat_availability", json!({"schedule_id": id}))
            .await;
        let shape = json!({
            "schedule_info": {
                "schedule_id": "string", "movie_id": "string", "date": "string",
                "start_time": "string", "end_time": "string", "theater_id": "string",
                "movie_title": "string"
            },
            "available_seats": [{"row": "string", "available_numbers": ["number"]}],
            "occupied_seats": [{"row": "string", "occupied_numbers": ["number"]}]
        });
        has_shape(&seats, &shape, "get_seat_availability");
        assert_eq!(
            seats["occupied_seats"][0],
            json!({"row": "A", "occupied_numbers": [3]})
        );
        assert!(seats["seat_map"].as_str().unwrap().contains("A   ○  ○  ×"));

        let details = cinema
            .ok(
                "get_reservation_details",
                json!({"reservation_id": reserved["reservation"]["reservation_id"]}),
            )
            .await;
        let shape = json!({
            "reservation": reservation, "schedule_info": info,
            "seat_details": [{
                "seat_id": "string", "row": "string", "number": "number", "seat_type": "string"
            }]
        });
        has_shape(&details, &shape, "get_reservation_details");
        assert_eq!(details["reservation"], reserved["reservation"]);
        assert_eq!(details["schedule_info"], reserved["schedule_info"]);
        assert_eq!(
            details["seat_details"][0],
            json!({"seat_id": "A3", "row": "A", "number": 3, "seat_type": "一般"})
        );
    }
}

#[tokio::test]
async fn invalid_dates_and_times_have_their_codes() {
    let cinema = one().await;
    for date in [
        "15-11-2026",
        "2026-02-30",
        "2026-13-01",
        "soon",
        " ",
        "0000-00-00",
    ] {
        for (tool, mut arguments) in [
            ("get_movie_list", json!({})),
            ("get_show_schedule", json!({"movie_id": "M001"})),
            (
                "get_seat_availability",
                json!({"movie_title": "銀河鉄道の夜"}),
            ),
            (
                "reserve_seats",
                json!({"movie_title": "銀河鉄道の夜", "seat_ids": ["A3"]}),
            ),
        ] {
            arguments["date"] = date.into();
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
    assert_eq!(
        cinema.code("get_movie_list", json!({"date": 5})).await,
        "INVALID_DATE"
    );
}

#[tokio::test]
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
    let error = cinema
        .refused("get_show_schedule", json!({"date": TODAY}))
        .await;
    assert_eq!(error.code, "INVALID_ARGUMENT");
    assert!(error.message.contains("movie_title"), "{error}");
    for none in [json!([]), json!(""), json!(" , "), json!(["", null])] {
        let arguments = json!({"schedule_id": "S20261116-T1-1", "seat_ids": none});
        assert_eq!(cinema.code("reserve_seats", arguments).await, "NO_SEATS");
    }
    let error = cinema
        .refused(
            "get_reservation_details",
            json!({"reservation_id": "rsv_0"}),
        )
        .await;
    assert_eq!(
        error.text(),
        "RESERVATION_NOT_FOUND: Reservation not found. Check the reservation_id that \
         reserve_seats returned."
    );
}
