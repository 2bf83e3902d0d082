//! Finding a film and a screening.

use kit::testing::details;
use serde_json::{Value, json};

use crate::cinema::{TODAY, both};

fn titles(answer: &Value) -> Vec<&str> {
    let movies = answer["movies"].as_array().unwrap().iter();
    movies.map(|it| it["title"].as_str().unwrap()).collect()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn films_by_title_and_genre() {
    for cinema in both().await {
        for query in [
            "シャーロック",
            "ｼｬｰﾛｯｸ",
            "しゃーろっく",
            "シャーロック・ホームズ",
            "シャロックホムズ",
            "霧の埠頭",
        ] {
            let answer = cinema.movies(json!({"search_query": query})).await;
            let title = "シャーロック・ホームズ：霧の埠頭";
            assert_eq!(titles(&answer), [title], "{query}");
            assert_eq!(answer.get("approximate"), None);
        }
        for query in ["シャーコック・ホームズ", "銀河鉄通の夜", "clokwork habor"] {
            let answer = cinema.movies(json!({"search_query": query})).await;
            assert_eq!(titles(&answer).len(), 1, "{query}: {answer}");
            assert_eq!(answer["approximate"], true, "{query}");
        }
        let animated = json!({"genre": "ｱﾆﾒ", "date": "今日"});
        assert_eq!(titles(&cinema.movies(animated).await), ["銀河鉄道の夜"]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn films_page_by_page_with_the_best_rated_first() {
    for cinema in both().await {
        let all = cinema.movies(json!({})).await;
        let movies = all["movies"].as_array().unwrap().iter();
        let ratings: Vec<f64> = movies.map(|it| it["rating"].as_f64().unwrap()).collect();
        assert!(ratings.is_sorted_by(|a, b| a >= b), "{ratings:?}");
        let first = cinema.movies(json!({"limit": "7"})).await;
        let next = json!({"limit": 7, "cursor": first["next_cursor"]});
        let rest = cinema.movies(next).await;
        assert_eq!([titles(&first), titles(&rest)].concat(), titles(&all));
        assert_eq!(rest.get("next_cursor"), None);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn films_are_recommended_by_rating_popularity_and_genre() {
    for cinema in both().await {
        let sorted = async |arguments: Value, field: &str| {
            let answer = cinema.movies(arguments.clone()).await;
            let movies = answer["movies"].as_array().unwrap().clone();
            assert_eq!(answer.get("approximate"), None, "{arguments}");
            let falls = movies.is_sorted_by(|a, b| match (&a[field], &b[field]) {
                (Value::String(a), Value::String(b)) => a >= b,
                (a, b) => a.as_f64() >= b.as_f64(),
            });
            assert!(falls, "{arguments} {answer:#}");
            movies
        };
        for (arguments, field, count) in [
            (json!({"sort": "popularity"}), "popularity", 12),
            (json!({"sort": "newest"}), "release_date", 12),
            (json!({"sort": "rating"}), "rating", 12),
            (json!({"search_query": "おすすめ"}), "rating", 12),
            (json!({"search_query": "人気の映画"}), "popularity", 12),
            (json!({"search_query": "popular movies"}), "popularity", 12),
            (json!({"search_query": "おすすめのアニメ"}), "rating", 1),
            (
                json!({"search_query": "best", "genre": "anime"}),
                "rating",
                1,
            ),
        ] {
            assert_eq!(sorted(arguments, field).await.len(), count);
        }
        let unknown = json!({"sort": "length"});
        assert_eq!(
            cinema.code("get_movie_list", unknown).await,
            "INVALID_ARGUMENT"
        );
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_empty_list_of_films_says_why() {
    for cinema in both().await {
        let none = cinema
            .movies(json!({"search_query": "存在しない映画"}))
            .await;
        assert_eq!(none["movies"], json!([]));
        assert!(none["message"].as_str().unwrap().contains("No film"));
        let far = cinema.movies(json!({"date": "2027-11-15"})).await;
        assert_eq!(far["movies"], json!([]));
        // The list is empty after the last screening.
        cinema.set_clock("2027-01-01T00:00:00Z");
        let over = cinema.movies(json!({})).await;
        assert_eq!(over["movies"], json!([]));
        assert!(over["message"].as_str().unwrap().contains("over"));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn schedules_by_id_or_title() {
    for cinema in both().await {
        let by_id = cinema.schedule("M001", TODAY).await;
        for arguments in [
            json!({"movie_title": "銀河鉄道の夜", "date": TODAY}),
            json!({"movie_id": "銀河鉄道の夜", "date": "2026/11/15"}),
            json!({"movie_id": "", "movie_title": "銀河", "date": "2026年11月15日"}),
            json!({"movie_id": "unknown", "movie_title": "銀河", "date": "today"}),
            json!({"movie_id": null, "movie_title": "銀河・鉄道ノ夜", "date": TODAY}),
        ] {
            let answer = cinema.ok("get_show_schedule", arguments.clone()).await;
            assert_eq!(answer, by_id, "{arguments}");
        }
        for schedule in by_id["schedules"].as_array().unwrap() {
            assert_eq!(schedule["date"], TODAY);
            assert_eq!(schedule["movie_title"], "銀河鉄道の夜");
            // It is ten o'clock.
            let begun = schedule["start_time"].as_str().unwrap() <= "10:00";
            assert_eq!(schedule["bookable"], !begun);
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_inexact_title_gets_candidates() {
    for cinema in both().await {
        let film = |id: &str, title: &str, english: &str| json!({"movie_id": id, "title": title, "english_title": english});
        let galaxy = film("M001", "銀河鉄道の夜", "Night on the Galactic Railroad");
        let nocturne = film("M012", "夜想曲第十三番", "Nocturne No. 13");
        for (title, code, message, candidates) in [
            (
                "銀河鉄通の夜",
                "MOVIE_NOT_FOUND",
                "Movie not found.",
                vec![&galaxy],
            ),
            (
                "夜",
                "MOVIE_AMBIGUOUS",
                "Several films match this title.",
                vec![&nocturne, &galaxy],
            ),
        ] {
            let arguments = json!({"movie_id": title, "date": TODAY});
            let error = cinema.refused("get_show_schedule", arguments).await;
            assert_eq!((&*error.code, &*error.message), (code, message));
            let proposed = details(&error)["candidates"].clone();
            let nearest = proposed.as_array().unwrap().iter().take(candidates.len());
            assert_eq!(nearest.collect::<Vec<_>>(), candidates, "{title}");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn alternatives_when_a_day_has_nothing_left() {
    for cinema in both().await {
        let beyond = cinema.schedule("M001", "2027-05-05").await;
        assert_eq!(beyond["schedules"], json!([]));
        assert_eq!(beyond["alternatives"].as_array().unwrap().len(), 5);
        let past = cinema.schedule("M001", "2026-11-01").await;
        for schedule in past["alternatives"].as_array().unwrap() {
            assert_eq!(schedule["bookable"], true);
            assert!(schedule["available_seats_count"].as_i64().unwrap() > 0);
        }
        cinema
            .take("s.film_id = 'M003' AND s.show_date = '2026-11-16'")
            .await;
        let full = cinema.schedule("M003", "2026-11-16").await;
        assert!(full["schedules"].as_array().unwrap().len() >= 3);
        for schedule in full["schedules"].as_array().unwrap() {
            assert_eq!(schedule["available_seats_count"], 0);
            assert_eq!(schedule["bookable"], false);
        }
        assert_eq!(full["alternatives"][0]["date"], "2026-11-17");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_screening_by_what_is_known_of_it() {
    for cinema in both().await {
        let schedules = cinema.schedule("M005", "2026-11-16").await;
        let schedule = &schedules["schedules"][1];
        let id = &schedule["schedule_id"];
        let by_id = cinema.seats(id).await;
        assert_eq!(by_id["schedule_info"]["schedule_id"], *id);
        for count in ["available_seats_count", "total_seats_count"] {
            assert_eq!(by_id[count], schedule[count]);
        }
        let (date, time) = (&schedule["date"], &schedule["start_time"]);
        let hour = time.as_str().unwrap().replace(':', "時") + "分";
        for arguments in [
            json!({"movie_title": "霧の埠頭", "date": date, "start_time": time}),
            json!({"movie_title": "霧の埠頭", "date": "明日", "start_time": hour}),
            json!({"movie_id": "M005", "date": date, "start_time": time}),
            json!({"schedule_id": id, "movie_title": "シャーロック", "date": date}),
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
#[ignore = "needs other programs; scripts/test runs it"]
async fn what_fits_no_screening_or_several_gets_candidates() {
    for cinema in both().await {
        let schedules = cinema.schedule("M005", "2026-11-16").await["schedules"].clone();
        let schedule = &schedules[1];
        let date = &schedule["date"];
        for (arguments, code) in [
            (
                json!({"movie_title": "霧の埠頭", "date": date}),
                "SCHEDULE_AMBIGUOUS",
            ),
            (json!({"movie_title": "霧の埠頭"}), "SCHEDULE_AMBIGUOUS"),
            (json!({}), "SCHEDULE_AMBIGUOUS"),
            (
                json!({"movie_title": "霧の埠頭", "date": date, "start_time": "03:33"}),
                "SCHEDULE_NOT_FOUND",
            ),
            (
                json!({"movie_title": "霧の埠頭", "date": "2027-01-01"}),
                "SCHEDULE_NOT_FOUND",
            ),
            (json!({"schedule_id": "S0"}), "SCHEDULE_NOT_FOUND"),
        ] {
            let error = cinema
                .refused("get_seat_availability", arguments.clone())
                .await;
            assert_eq!(error.code, code, "{arguments}");
            let candidates = details(&error)["candidates"].clone();
            assert!(!candidates.as_array().unwrap().is_empty(), "{arguments}");
            if arguments == json!({"movie_title": "霧の埠頭", "date": date}) {
                let shows = schedules.as_array().unwrap();
                assert_eq!(candidates.as_array().unwrap().len(), shows.len());
                let candidate = candidates[1].as_object().unwrap();
                assert_eq!(candidate.len(), 6);
                for (field, value) in candidate {
                    assert_eq!(schedule[field], *value, "{field}");
                }
            }
        }
        let id = &schedule["schedule_id"];
        for (arguments, code) in [
            (
                json!({"movie_title": "霧の波止場の", "date": date}),
                "MOVIE_NOT_FOUND",
            ),
            (
                json!({"schedule_id": id, "movie_title": "銀河"}),
                "SCHEDULE_MISMATCH",
            ),
        ] {
            assert_eq!(cinema.code("get_seat_availability", arguments).await, code);
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn late_shows_have_two_names() {
    for cinema in both().await {
        let arguments = json!({"date": TODAY, "start_time": "25:10"});
        let house = cinema.ok("get_seat_availability", arguments).await;
        let info = &house["schedule_info"];
        assert_eq!(
            (&info["date"], &info["start_time"]),
            (&json!(TODAY), &json!("25:10"))
        );
        let (id, title) = (&info["schedule_id"], &info["movie_title"]);
        for arguments in [
            json!({"date": "2026-11-16", "start_time": "01:10"}),
            json!({"date": "2026-11-16", "start_time": "1:10", "movie_title": title}),
            json!({"schedule_id": id, "date": "2026-11-16", "start_time": "01:10"}),
            json!({"schedule_id": id, "date": "2026-11-16"}),
            json!({"schedule_id": id, "start_time": "01:10"}),
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
