//! The day's programme, its filters, and what an empty one says.

use kit::{context::Language, testing::details};
use serde_json::{Value, json};

use crate::cinema::{Cinema, TODAY, both, one};

const TOMORROW: &str = "2026-11-16";

async fn programme(cinema: &Cinema, filters: Value) -> Value {
    let mut arguments = json!({"date": TOMORROW});
    arguments
        .as_object_mut()
        .unwrap()
        .extend(filters.as_object().unwrap().clone());
    cinema.ok("get_show_schedule", arguments).await
}

fn schedules(answer: &Value) -> &Vec<Value> {
    answer["schedules"].as_array().unwrap()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_day_without_a_film_is_its_programme() {
    for cinema in both().await {
        for no_film in [
            json!({}),
            json!({"movie_id": ""}),
            json!({"movie_id": "all"}),
            json!({"movie_id": "*"}),
            json!({"movie_title": ""}),
        ] {
            let answer = programme(&cinema, no_film.clone()).await;
            assert_eq!(schedules(&answer).len(), 37, "{no_film}");
            assert_eq!(answer["today"], TODAY);
            assert_eq!(answer["time_zone"], "Asia/Tokyo");
            assert_eq!(answer.get("message"), None);
        }
        let named = cinema.schedule("M001", TOMORROW).await;
        assert_eq!(schedules(&named)[0].get("english_title"), None);
        let mut listed = schedules(&programme(&cinema, json!({})).await).clone();
        listed.retain(|schedule| schedule["movie_id"] == "M001");
        let english = "Night on the Galactic Railroad";
        assert_eq!(listed[0]["english_title"], english);
        // Today's has only what is still to come: it is ten o'clock.
        let today = programme(&cinema, json!({"date": "today"})).await;
        assert!((20..37).contains(&schedules(&today).len()));
        for schedule in schedules(&today) {
            assert!(schedule["start_time"].as_str().unwrap() > "10:00");
        }
    }
}

#[tokio::test]
async fn a_very_long_programme_is_cut_and_says_so() {
    let cinema = one().await;
    for copy in 1..=3 {
        cinema
            .sql(&format!(
                "INSERT INTO cinema_shows SELECT id || '-{copy}', film_id, theater_id, show_date, \
                 start_minute, end_minute, starts_at, 0, 0 FROM cinema_shows \
                 WHERE show_date = '{TOMORROW}' AND is_demo = 1 RETURNING 1"
            ))
            .await;
    }
    let answer = programme(&cinema, json!({})).await;
    assert_eq!(schedules(&answer).len(), 100);
    let last = &schedules(&answer)[99]["start_time"];
    let warning = &answer["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["total"]),
        (&json!("LIST_CUT"), &json!(148))
    );
    let rest = programme(&cinema, json!({"from_time": last})).await;
    assert_eq!(rest.get("warnings"), None);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn filters_narrow_the_programme() {
    for cinema in both().await {
        let evening = json!({"from_time": "18:00", "to_time": "午後8時"});
        let answer = programme(&cinema, evening).await;
        assert!(!schedules(&answer).is_empty());
        for schedule in schedules(&answer) {
            let start = schedule["start_time"].as_str().unwrap();
            assert!(("18:00"..="20:00").contains(&start), "{start}");
        }
        // An end before the start lies after midnight.
        let night = json!({"from_time": "24:30", "to_time": "02:00"});
        let answer = programme(&cinema, night).await;
        assert_eq!(schedules(&answer)[0]["start_time"], "25:10");

        for genre in ["ホラー", "ほらー", "horror"] {
            let answer = programme(&cinema, json!({"genre": genre})).await;
            assert_eq!(schedules(&answer).len(), 3, "{genre}");
            assert_eq!(schedules(&answer)[0]["movie_title"], "怪談・雪の宿");
            assert_eq!(schedules(&answer)[0]["age_class"], "R15+");
        }
        for (class, allowed) in [("G", &["G"][..]), ("pg-12", &["G", "PG12"])] {
            let answer = programme(&cinema, json!({"max_age_class": class})).await;
            assert!(!schedules(&answer).is_empty());
            for schedule in schedules(&answer) {
                let class = schedule["age_class"].as_str().unwrap();
                assert!(allowed.contains(&class), "{class}");
            }
        }
        let together = json!({"min_seats_together": "12"});
        let answer = programme(&cinema, together).await;
        assert!((5..37).contains(&schedules(&answer).len()));
        for schedule in schedules(&answer) {
            assert!(schedule["most_together"].as_u64().unwrap() >= 12);
        }
        let all = json!({"genre": "anime", "from_time": "12:00", "max_age_class": "G"});
        assert_eq!(programme(&cinema, all).await.get("message"), None);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seats_together_are_ordinary_free_and_without_a_gap() {
    for cinema in both().await {
        let show = "S20261116-T4-4";
        let info = cinema.seats(show).await["schedule_info"].clone();
        cinema.clear(show).await;
        let most = async |movie: &Value| {
            let filter = json!({"movie_id": movie, "min_seats_together": 1});
            let answer = programme(&cinema, filter).await;
            let mut found = schedules(&answer).iter();
            let found = found.find(|it| it["schedule_id"] == show).unwrap();
            found["most_together"].as_u64().unwrap()
        };
        assert_eq!(most(&info["movie_id"]).await, 10);
        let middle = format!("s.id = '{show}' AND k.seat_number = 5");
        cinema.take(&middle).await;
        assert_eq!(most(&info["movie_id"]).await, 5);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_empty_programme_names_the_filter_and_what_there_is() {
    for cinema in both().await {
        for (filters, filter, said) in [
            (json!({"genre": "オペラ"}), "genre", "アニメ"),
            (
                json!({"genre": "horror", "max_age_class": "G"}),
                "max_age_class",
                "Age classes then: R15+",
            ),
            (
                json!({"from_time": "05:00", "to_time": "06:00"}),
                "from_time, to_time",
                "from 09:00 to 25:10",
            ),
            (
                json!({"min_seats_together": 20}),
                "min_seats_together",
                "The most is 15",
            ),
        ] {
            let answer = programme(&cinema, filters.clone()).await;
            assert_eq!(answer["schedules"], json!([]), "{filters}");
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains(said), "{message}");
            assert_eq!(answer["details"]["excluded_by"], filter, "{filters}");
        }
        let mystery = json!({"movie_id": "M001", "genre": "mystery"});
        let answer = programme(&cinema, mystery).await;
        assert_eq!(answer["details"]["genres"], json!(["アニメ"]));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn past_days_and_days_beyond_the_programme_say_so() {
    for cinema in both().await {
        for movie in ["", "M001"] {
            let past = cinema.schedule(movie, "2026-11-01").await;
            let message = past["message"].as_str().unwrap();
            assert!(message.starts_with("2026-11-01 is in the past; today is 2026-11-15."));
            assert!(message.contains("The next one: 2026-11-15 "), "{message}");
            let beyond = cinema.schedule(movie, "2027-05-05").await;
            let message = beyond["message"].as_str().unwrap();
            assert!(
                message.contains("the programme ends on 2026-11-23."),
                "{message}"
            );
            let next = &beyond["alternatives"][0];
            assert!(message.contains(next["schedule_id"].as_str().unwrap()));
            let days = json!({"first_date": TODAY, "last_date": "2026-11-23"});
            assert_eq!(beyond["details"]["programme"], days);
            assert_eq!(past["details"]["programme"], days);
        }
        let arguments = json!({"movie_title": "霧の埠頭", "date": "2027-01-01"});
        let error = cinema.refused("get_seat_availability", arguments).await;
        assert!(
            error.text().contains("the programme ends on 2026-11-23"),
            "{error}"
        );
        assert_eq!(details(&error)["candidates"].as_array().unwrap().len(), 5);
        assert!(details(&error)["more"].as_u64().unwrap() > 0);

        // In the evening everything of the film may have begun.
        cinema.set_clock("2026-11-15T23:30:00+09:00");
        let late = cinema.schedule("M005", TODAY).await;
        assert!(schedules(&late).len() >= 3);
        assert!(late["message"].as_str().unwrap().contains("have begun"));
        cinema.set_clock("2027-01-01T00:00:00Z");
        let over = cinema.schedule("", "2027-01-01").await;
        assert!(over["message"].as_str().unwrap().contains("are over"));
    }
}

#[tokio::test]
async fn a_day_without_films_says_why() {
    let mut cinema = one().await;
    for (arguments, said) in [
        (
            json!({"date": "2026-11-01"}),
            "is in the past; today is 2026-11-15",
        ),
        (
            json!({"date": "2027-01-01"}),
            "the programme ends on 2026-11-23",
        ),
        (json!({"genre": "opera"}), "Genres then: SF, "),
        (
            json!({"search_query": "zzzz"}),
            "No film matches `zzzz`. Showing: 夜想曲第十三番, ",
        ),
    ] {
        let answer = cinema.movies(arguments.clone()).await;
        assert_eq!(answer["movies"], json!([]));
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        assert!(answer["details"].is_object(), "{arguments}");
        assert_eq!(answer["today"], TODAY);
    }
    let horror = json!({"search_query": "ginga", "genre": "horror"});
    let answer = cinema.movies(horror).await;
    let message = "`ginga` matches only without this date or genre: 銀河鉄道の夜 (アニメ).";
    assert_eq!(answer["message"], message);
    cinema.context.language = Language::Japanese;
    let answer = cinema.schedule("M001", "2027-05-05").await;
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.contains("発表済みの上映は2026-11-23までです。次の回は"),
        "{message}"
    );
}

/// As with a schedule id: neither is guessed to be the right one.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_title_of_another_film_than_the_id_is_refused() {
    let cinema = one().await;
    let film = cinema.ok("get_movie_list", json!({})).await["movies"][0].clone();
    let other = cinema.ok("get_movie_list", json!({})).await["movies"][1].clone();
    let both = |title: &Value| json!({"movie_id": film["movie_id"], "movie_title": title, "date": TOMORROW});
    cinema.ok("get_show_schedule", both(&film["title"])).await;
    for title in [&other["title"], &json!("no such film")] {
        let refused = cinema.refused("get_show_schedule", both(title)).await;
        assert_eq!(refused.code, "MOVIE_MISMATCH");
        assert!(refused.message.contains(film["title"].as_str().unwrap()));
    }
    // An unknown id may come with a title that is known.
    let unknown = json!({"movie_id": "x-404", "movie_title": film["title"], "date": TOMORROW});
    cinema.ok("get_show_schedule", unknown).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_window_that_ends_after_midnight_lists_the_shows_before() {
    let cinema = one().await;
    let count = async |filters: Value| schedules(&programme(&cinema, filters).await).len();
    let all = count(json!({})).await;
    assert_eq!(count(json!({"from_time": "00:00"})).await, all);
    assert_eq!(count(json!({"to_time": "05:00"})).await, all);
    let late = count(json!({"from_time": "24:00", "to_time": "29:00"})).await;
    assert!(late > 0);
    assert_eq!(
        count(json!({"from_time": "00:00", "to_time": "05:00"})).await,
        late
    );
    let swapped = json!({"date": TOMORROW, "from_time": "21:00", "to_time": "18:00"});
    let refused = cinema.refused("get_show_schedule", swapped).await;
    assert_eq!(refused.code, "INVALID_TIME");
    assert!(refused.message.contains("18:00 is before from_time 21:00"));
}
