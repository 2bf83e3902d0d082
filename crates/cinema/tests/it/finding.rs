//! Finding a film and a screening.

use serde_json::{Value, json};

use crate::cinema::{TODAY, both, details};

fn titles(answer: &Value) -> Vec<&str> {
    let movies = answer["movies"].as_array().unwrap();
    movies
        .iter()
        .map(|movie| movie["title"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn films_by_title_genre_and_page() {
    for cinema in both().await {
        for query in [
            "シャーロック",
            "ｼｬｰﾛｯｸ",
            "しゃーろっく",
            "シャーロック・ホームズ",
            "シャロックホムズ",
            "霧の埠頭",
        ] {
            let answer = cinema
                .ok("get_movie_list", json!({"search_query": query}))
                .await;
            assert_eq!(
                titles(&answer),
                ["シャーロック・ホームズ：霧の埠頭"],
                "{query}"
            );
            assert_eq!(answer.get("approximate"), None);
        }
        for query in ["シャーロク・ホームズ", "銀河鉄通の夜", "clokwork habor"] {
            let answer = cinema
                .ok("get_movie_list", json!({"search_query": query}))
                .await;
            assert_eq!(titles(&answer).len(), 1, "{query}: {answer}");
            assert_eq!(answer["approximate"], true, "{query}");
        }
        let none = cinema
            .ok("get_movie_list", json!({"search_query": "存在しない映画"}))
            .await;
        assert_eq!(none["movies"], json!([]));
        assert!(none["message"].as_str().unwrap().contains("No film"));

        let answer = cinema
            .ok("get_movie_list", json!({"genre": "ｱﾆﾒ", "date": "今日"}))
            .await;
        assert_eq!(titles(&answer), ["銀河鉄道の夜"]);

        let all = cinema.ok("get_movie_list", json!({})).await;
        let ratings: Vec<f64> = all["movies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|movie| movie["rating"].as_f64().unwrap())
            .collect();
        assert!(ratings.is_sorted_by(|a, b| a >= b), "{ratings:?}");
        let first = cinema.ok("get_movie_list", json!({"limit": "7"})).await;
        let rest = cinema
            .ok(
                "get_movie_list",
                json!({"limit": 7, "cursor": first["next_cursor"]}),
            )
            .await;
        assert_eq!([titles(&first), titles(&rest)].concat(), titles(&all));
        assert_eq!(rest.get("next_cursor"), None);

        let far = cinema
            .ok("get_movie_list", json!({"date": "2027-11-15"}))
            .await;
        assert_eq!(far["movies"], json!([]));
        // The list is empty after the last screening.
        cinema.set_clock("2027-01-01T00:00:00Z");
        let over = cinema.ok("get_movie_list", json!({})).await;
        assert_eq!(over["movies"], json!([]));
        assert!(over["message"].as_str().unwrap().contains("over"));
    }
}

#[tokio::test]
async fn schedules_by_id_or_title() {
    for cinema in both().await {
        let by_id = cinema
            .ok(
                "get_show_schedule",
                json!({"movie_id": "M001", "date": TODAY}),
            )
            .await;
        for arguments in [
            json!({"movie_title": "銀河鉄道の夜", "date": TODAY}),
            json!({"movie_id": "銀河鉄道の夜", "date": "2026/11/15"}),
            json!({"movie_id": "", "movie_title": "銀河", "date": "2026年11月15日"}),
            json!({"movie_id": "unknown", "movie_title": "銀河", "date": "today"}),
            json!({"movie_id": null, "movie_title": "銀河・鉄道ノ夜", "date": TODAY}),
        ] {
            assert_eq!(
                cinema.ok("get_show_schedule", arguments.clone()).await,
                by_id,
                "{arguments}"
            );
        }
        for schedule in by_id["schedules"].as_array().unwrap() {
            assert_eq!(schedule["date"], TODAY);
            assert_eq!(schedule["movie_title"], "銀河鉄道の夜");
            // It is ten o'clock.
            let begun = schedule["start_time"].as_str().unwrap() <= "10:00";
            assert_eq!(schedule["bookable"], !begun);
        }
        let error = cinema
            .refused(
                "get_show_schedule",
                json!({"movie_id": "銀河鉄通の夜", "date": TODAY}),
            )
            .await;
        assert_eq!(
            (&*error.code, &*error.message),
            ("MOVIE_NOT_FOUND", "Movie not found.")
        );
        assert_eq!(
            details(&error)["candidates"][0],
            json!({"movie_id": "M001", "title": "銀河鉄道の夜"})
        );
        let error = cinema
            .refused(
                "get_show_schedule",
                json!({"movie_title": "夜", "date": TODAY}),
            )
            .await;
        assert_eq!(error.code, "MOVIE_AMBIGUOUS");
        assert_eq!(
            details(&error)["candidates"],
            json!([
                {"movie_id": "M001", "title": "銀河鉄道の夜"},
                {"movie_id": "M012", "title": "夜想曲第十三番"},
            ])
        );
    }
}

#[tokio::test]
async fn alternatives_when_a_day_has_nothing_left() {
    for cinema in both().await {
        let beyond = json!({"movie_id": "M001", "date": "2027-05-05"});
        let answer = cinema.ok("get_show_schedule", beyond).await;
        assert_eq!(answer["schedules"], json!([]));
        assert_eq!(answer["alternatives"].as_array().unwrap().len(), 5);
        let past = json!({"movie_id": "M001", "date": "2026-11-01"});
        let answer = cinema.ok("get_show_schedule", past).await;
        for schedule in answer["alternatives"].as_array().unwrap() {
            assert_eq!(schedule["bookable"], true);
            assert!(schedule["available_seats_count"].as_i64().unwrap() > 0);
        }
        // A full day: every seat of the film's screenings is taken.
        cinema
            .sql(
                "INSERT INTO cinema_taken_seats \
                 SELECT s.id, k.seat_row, k.seat_number, 'all', NULL FROM cinema_shows s \
                 JOIN cinema_seats k ON k.theater_id = s.theater_id \
                 WHERE s.film_id = 'M003' AND s.show_date = '2026-11-16' \
                 ON CONFLICT DO NOTHING RETURNING 1",
            )
            .await;
        let full = json!({"movie_id": "M003", "date": "2026-11-16"});
        let answer = cinema.ok("get_show_schedule", full).await;
        assert!(answer["schedules"].as_array().unwrap().len() >= 3);
        for schedule in answer["schedules"].as_array().unwrap() {
            assert_eq!(schedule["available_seats_count"], 0);
            assert_eq!(schedule["bookable"], false);
        }
        assert_eq!(answer["alternatives"][0]["date"], "2026-11-17");
    }
}

#[tokio::test]
async fn a_screening_by_what_is_known_of_it() {
    for cinema in both().await {
        let schedules = cinema
            .ok(
                "get_show_schedule",
                json!({"movie_id": "M005", "date": "2026-11-16"}),
            )
            .await["schedules"]
            .clone();
        let schedule = &schedules[1];
        let by_id = cinema
            .ok(
                "get_seat_availability",
                json!({"schedule_id": schedule["schedule_id"]}),
            )
            .await;
        assert_eq!(
            by_id["schedule_info"]["schedule_id"],
            schedule["schedule_id"]
        );
        assert_eq!(
            by_id["available_seats_count"],
            schedule["available_seats_count"]
        );
        assert_eq!(by_id["total_seats_count"], schedule["total_seats_count"]);
        let (date, time) = (&schedule["date"], &schedule["start_time"]);
        let hour = time.as_str().unwrap().replace(':', "時") + "分";
        for arguments in [
            json!({"movie_title": "霧の埠頭", "date": date, "start_time": time}),
            json!({"movie_title": "霧の埠頭", "date": "明日", "start_time": hour}),
            json!({"schedule_id": schedule["schedule_id"], "movie_title": "シャーロック", "date": date}),
        ] {
            let answer = cinema.ok("get_seat_availability", arguments.clone()).await;
            assert_eq!(answer, by_id, "{arguments}");
        }
        // Less is enough if it fits only one screening.
        let late = json!({"start_time": "25:10", "date": TODAY});
        cinema.ok("get_seat_availability", late).await;
    }
}

#[tokio::test]
async fn what_fits_no_screening_or_several_gets_candidates() {
    for cinema in both().await {
        let tomorrow = json!({"movie_id": "M005", "date": "2026-11-16"});
        let schedules = cinema.ok("get_show_schedule", tomorrow).await["schedules"].clone();
        let schedule = &schedules[1];
        let date = &schedule["date"];
        let error = cinema
            .refused(
                "get_seat_availability",
                json!({"movie_title": "霧の埠頭", "date": date}),
            )
            .await;
        assert_eq!(error.code, "SCHEDULE_AMBIGUOUS");
        let candidates = details(&error)["candidates"].as_array().unwrap().clone();
        assert_eq!(candidates.len(), schedules.as_array().unwrap().len());
        assert_eq!(
            candidates[1],
            json!({
                "schedule_id": schedule["schedule_id"],
                "movie_title": schedule["movie_title"],
                "date": schedule["date"],
                "start_time": schedule["start_time"],
                "theater_id": schedule["theater_id"],
                "available_seats_count": schedule["available_seats_count"],
            })
        );
        for (arguments, code) in [
            (
                json!({"movie_title": "霧の埠頭", "date": date, "start_time": "03:33"}),
                "SCHEDULE_NOT_FOUND",
            ),
            (
                json!({"movie_title": "霧の埠頭", "date": "2027-01-01"}),
                "SCHEDULE_NOT_FOUND",
            ),
            (json!({"schedule_id": "S0"}), "SCHEDULE_NOT_FOUND"),
            (json!({}), "SCHEDULE_AMBIGUOUS"),
            (json!({"movie_title": "霧の埠頭"}), "SCHEDULE_AMBIGUOUS"),
        ] {
            let error = cinema
                .refused("get_seat_availability", arguments.clone())
                .await;
            assert_eq!(error.code, code, "{arguments}");
            let candidates = details(&error)["candidates"].clone();
            assert!(!candidates.as_array().unwrap().is_empty(), "{arguments}");
        }
        let error = cinema
            .refused(
                "get_seat_availability",
                json!({"movie_title": "霧の波止場の", "date": date}),
            )
            .await;
        assert_eq!(error.code, "MOVIE_NOT_FOUND");
        let wrong = json!({"schedule_id": schedule["schedule_id"], "movie_title": "銀河"});
        assert_eq!(
            cinema.code("get_seat_availability", wrong).await,
            "SCHEDULE_MISMATCH"
        );
    }
}

#[tokio::test]
async fn late_shows_have_two_names() {
    for cinema in both().await {
        let house = cinema
            .ok(
                "get_seat_availability",
                json!({"date": TODAY, "start_time": "25:10"}),
            )
            .await;
        let info = &house["schedule_info"];
        assert_eq!(
            (&info["date"], &info["start_time"]),
            (&json!(TODAY), &json!("25:10"))
        );
        for arguments in [
            json!({"date": "2026-11-16", "start_time": "01:10"}),
            json!({"date": "2026-11-16", "start_time": "1:10", "movie_title": info["movie_title"]}),
            json!({"schedule_id": info["schedule_id"], "date": "2026-11-16", "start_time": "01:10"}),
            json!({"schedule_id": info["schedule_id"], "date": "2026-11-16"}),
            json!({"schedule_id": info["schedule_id"], "start_time": "01:10"}),
        ] {
            let answer = cinema.ok("get_seat_availability", arguments.clone()).await;
            assert_eq!(answer, house, "{arguments}");
        }
        // It can be booked until it begins, after midnight.
        let book = json!({"date": "2026-11-16", "start_time": "01:10", "seat_ids": ["A4"]});
        cinema.set_clock("2026-11-16T01:09:59+09:00");
        cinema.ok("reserve_seats", book.clone()).await;
        cinema.set_clock("2026-11-16T01:10:00+09:00");
        assert_eq!(cinema.code("reserve_seats", book).await, "SHOW_STARTED");
    }
}
